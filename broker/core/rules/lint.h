/* SPDX-License-Identifier: MIT */
/* What is probably not meant in a set of rules. A warning changes nothing. */
#ifndef CORE_RULES_LINT_H
#define CORE_RULES_LINT_H

#include "broker/core/rules/ruleset.h"

#define LINT_LIST(X)                                                                           \
	X(INNER_STAR, "inner-star",                                                            \
		"a * before the end also admits options and further words: git * main admits " \
		"git push --force main")                                                       \
	X(ANY_COMMAND, "any-command", "the name of the command is a wildcard: it may be any")  \
	X(RUNS_OTHERS, "runs-others",                                                          \
		"this command can run others: with a wildcard it is only allowed where it "    \
		"does not, never with code or a script")                                       \
	X(SHADOWED, "shadowed", "another rule covers all that this one does")                  \
	X(NEVER, "never",                                                                      \
		"it can never match: each simple command is compared by itself, and a text "   \
		"only where there is no wildcard")                                             \
	X(TEXT_ONLY, "text-only",                                                              \
		"it is compared with the whole text as written, so that any other spelling "   \
		"gets by it")                                                                  \
	X(PROJECT_ROOT, "project-root",                                                        \
		"/ is the root of the project; // is that of the system")                      \
	X(COMMENT_INSIDE, "comment-inside", "what looks like a comment is part of the rule")   \
	X(UNKNOWN_TOOL, "unknown-tool", "no known agent has a tool of this name; case counts")

#define LINT_ENTRY(name, code, text) LINT_##name,
enum lint_code { LINT_LIST(LINT_ENTRY) LINT_N };

const char *lint_code_name(enum lint_code code);
const char *lint_code_text(enum lint_code code);

struct lint_warning {
	enum lint_code code;
	const struct rule_entry *rule;
	const struct rule_entry *other; /* of LINT_SHADOWED; or NULL */
};

/*
 * The first `room` of the *n warnings, in the order of the rules. 0; 1: it was too much to
 * compare all with all, so that some that shadow others are not told of; -ENOMEM.
 */
int ruleset_lint(struct ruleset *set, struct lint_warning *warnings, size_t room, size_t *n);

/* Whether every call that b is for is one that a is for, as far as their texts tell. */
bool rule_covers(const struct rule *a, const struct rule *b, char *scratch);
/* Room that rule_covers needs for b. */
size_t rule_covers_size(const struct rule *b);

#endif
