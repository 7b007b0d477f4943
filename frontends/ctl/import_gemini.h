/* SPDX-License-Identifier: MIT */
/* What Gemini CLI's settings and its policy files have in common. */
#ifndef CTL_IMPORT_GEMINI_H
#define CTL_IMPORT_GEMINI_H

#include "frontends/ctl/import_rule.h"

/* A rule for a tool by Gemini's name; more than one where the tool has two. 0, -ENOMEM, -EINVAL
 */
struct gemini_rule {
	enum import_verdict verdict;
	const struct node *at;
	const char *tool;
	const char *prefix; /* of a shell command, at a word boundary; NULL: any */
	const char *regex;  /* of one; NULL */
	bool pattern;	    /* of the arguments: not to be said */
	const char *when;   /* it holds only sometimes: why; NULL: always */
	bool silent;
};
int gemini_rule(struct import *im, const struct gemini_rule *rule);
bool gemini_is_shell(const char *tool);

extern const struct known_tool gemini_known[];

#endif
