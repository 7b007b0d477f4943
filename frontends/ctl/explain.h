/* SPDX-License-Identifier: MIT */
/* The ways of `explain`. Each returns the exit status. */
#ifndef CTL_EXPLAIN_H
#define CTL_EXPLAIN_H

#include "frontends/ctl/ctl.h"
#include "frontends/ctl/request.h"

/* JSON lines from standard input, without a broker. */
int explain_offline(struct ctl *c);

/* What the broker is asked; NULL: not given. */
struct explain_given {
	const char *request, *session, *mode, *tool, *kind, *input, *cwd, *workspace;
	int64_t uid;  /* -1: one's own */
	char **words; /* a command line */
	int n_words;
};
/* One word is a command line by itself; several are quoted for one, as those of `ask`. */
int explain_line(struct ctl_request *q, char **words, int n);
int explain_live(struct ctl *c, struct options *o, const struct explain_given *g);

#endif
