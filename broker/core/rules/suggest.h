/* SPDX-License-Identifier: MIT */
/* The rules that a person is offered with a request. */
#ifndef CORE_RULES_SUGGEST_H
#define CORE_RULES_SUGGEST_H

#include "broker/core/rules/ruleset.h"

#define SUGGEST_MAX 8u

enum suggestion_kind {
	SUGGEST_EXACT,	/* this very command or path: what "Always" stores */
	SUGGEST_PREFIX, /* commands that begin with the same words */
	SUGGEST_FOLDER, /* all below the folder */
	SUGGEST_HOST,	/* the host and its subdomains */
	SUGGEST_TOOL,	/* the whole tool */
};

struct suggestion {
	enum suggestion_kind kind;
	char *text; /* a rule that allows, on one line */
};

struct suggestions {
	struct suggestion items[SUGGEST_MAX];
	size_t n;
};

/*
 * The exact ones come first (a path through a symlink needs two, and so does a call with
 * two paths: all of kind SUGGEST_EXACT are needed together), then broader ones. There may be
 * none: of what can't be read, of what is too long. None of a command that runs others is
 * broader than exact. 0 or -ENOMEM; what is there is to be freed, whatever is returned.
 */
int suggest(const struct rule_call *call, struct suggestions *out);
void suggestions_free(struct suggestions *list);

#endif
