/* SPDX-License-Identifier: MIT */
/* One call held against rules, each by itself and all together. */
#ifndef CTL_RULES_MATCH_H
#define CTL_RULES_MATCH_H

#include "broker/io/explain.h"
#include "frontends/common/text.h"
#include "frontends/ctl/ctl.h"

struct match_rule {
	const char *text; /* a line; not ended */
	size_t len;
	uint32_t line;			   /* of the file, or in the order of those in force */
	const struct approval_value *item; /* of those in force; NULL: of the file */
	const char *verdict;		   /* that it speaks for by itself; NULL: none */
};

/* Begins zeroed. What the functions are given lives as long as it. */
struct match {
	struct ctl *c;
	struct explainer *x;
	struct explain_rules *one, *all;
	struct explain_call call;
	struct explain_path *paths;
	struct match_rule *rules;
	size_t n, size;
	const char *file;
	struct text whole;	     /* the text of all */
	struct approval_value *live; /* what `explain` said; NULL: of a file */
	struct items items;
	struct explain_match result;
};

/* All return an exit status; what went wrong has been said. */
int match_open(struct match *m, struct ctl *c);
void match_close(struct match *m);
int match_file(struct match *m, const char *name, const char *text, size_t len);
/* Those of the broker that are for calls as in m->live; of this session's turn, too. */
int match_in_force(struct match *m, const struct approval_value *session);

void match_call(struct match *m, const char *tool, const void *input, size_t len);
/* Absolute; NULL: none. Paths are resolved by their text. */
void match_place(struct match *m, const char *cwd, const char *workspace, const char *home);
/* As the broker has resolved them. */
int match_place_live(struct match *m);

int match_run(struct match *m);
/* Prints it; the status is that of what the rules say: see approvalctl(1). */
int match_show(const struct match *m);

#endif
