/* SPDX-License-Identifier: MIT */
/* What `history` is asked for. */
#ifndef CTL_HISTORY_H
#define CTL_HISTORY_H

#include "frontends/ctl/ctl.h"

struct history_filter {
	const char *session; /* a whole id */
	const char *agent, *tool, *rule, *verdict, *source, *event;
	int64_t since, until; /* -1: none */
	uint64_t limit;	      /* 0: all */
};

/*
 * What would have been said of the recorded calls with the rules of a file. An exit status.
 */
int history_replay(struct ctl *c, const struct history_filter *f, const char *path);

#endif
