/* SPDX-License-Identifier: MIT */
/*
 * One rule, as a line of text has it: VERDICT TOOL[(SPEC)]. See approval-rules(5).
 */
#ifndef CORE_RULES_RULE_H
#define CORE_RULES_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/core/rules/command_pattern.h"
#include "broker/core/rules/path_pattern.h"
#include "broker/core/rules/urlhost.h"
#include "broker/core/types.h"

enum rule_tool {
	RULE_TOOL_KIND,	  /* every tool of a kind: Bash, Read, Edit, WebFetch, @kind */
	RULE_TOOL_NAME,	  /* the agent's own name */
	RULE_TOOL_SERVER, /* all tools of an MCP server, or those whose name begins so */
	RULE_TOOL_ANY,	  /* * */
};

enum rule_spec {
	RULE_SPEC_ALL, /* none, or (*) */
	RULE_SPEC_COMMAND,
	RULE_SPEC_PATH,
	RULE_SPEC_HOST,
};

struct rule_host {
	struct urlhost host;
	bool only_below; /* *.x: its subdomains alone */
};

struct rule {
	struct bytes name; /* of the tool, as written */
	struct bytes text; /* SPEC as written; empty with RULE_SPEC_ALL */
	uint8_t verdict;   /* enum verdict: allow, ask or deny */
	uint8_t tool;	   /* enum rule_tool */
	uint8_t kind;	   /* enum kind: of the tool, as far as the name tells */
	uint8_t spec;	   /* enum rule_spec */
	union {
		struct command_pattern command;
		struct path_pattern path;
		struct rule_host *host;
	};
};

/* Why a line is no rule; the text of each is what a person is told. */
#define RULE_ERROR_LIST(X)                                                                     \
	X(LONG, "the rule is too long")                                                        \
	X(VERDICT, "a rule begins with allow, ask or deny")                                    \
	X(NO_TOOL, "the name of a tool is missing")                                            \
	X(TOOL, "no name of a tool")                                                           \
	X(KIND, "no kind of tool has this name")                                               \
	X(AFTER, "there is text behind the rule")                                              \
	X(UNCLOSED, "the closing parenthesis is missing")                                      \
	X(NO_SPEC, "this tool takes nothing in parentheses but *")                             \
	X(EMPTY, "there is nothing in the parentheses")                                        \
	X(ESCAPE, "no such escape")                                                            \
	X(QUOTE, "a quotation mark is not closed")                                             \
	X(NEGATED, "a pattern can't be negated; write \\! for a name that begins so")          \
	X(USER, "only ~/ is known; write ./~ for a name that begins so")                       \
	X(UP, "a pattern can't lead upwards")                                                  \
	X(CLASS, "a bracket is not closed")                                                    \
	X(DOMAIN, "only domain:NAME is known here")                                            \
	X(HOST, "no name of a host")                                                           \
	X(BYTE, "a NUL can't be part of a rule")

#define RULE_ERROR_ENTRY(name, text) RULE_ERROR_##name,
enum rule_error { RULE_OK, RULE_ERROR_LIST(RULE_ERROR_ENTRY) RULE_ERROR_N };

/* "" for RULE_OK. */
const char *rule_error_text(enum rule_error error);

enum rule_parsed {
	RULE_PARSED,
	RULE_BLANK, /* only space, or a comment */
	RULE_BAD,
};

/*
 * Parses one line, without its end. RULE_PARSED: *out is to be freed. RULE_BAD: *error
 * and *column, counted in bytes from 1, say why and where. -ENOMEM.
 */
int rule_parse(struct bytes line, struct rule **out, enum rule_error *error, size_t *column);
/* NULL is fine. */
void rule_free(struct rule *rule);

/*
 * The rule in its normal form, which reads as the same rule, and a NUL: at most
 * rule_print_size bytes. Returns the length without the NUL.
 */
size_t rule_print(const struct rule *rule, char *out);
size_t rule_print_size(const struct rule *rule);
/* The same in memory of its own, which the caller frees; len may be NULL. NULL: none is left. */
char *rule_text(const struct rule *rule, size_t *len);

/* Whether the name is one that a rule may have, and what it stands for. */
enum rule_error rule_tool_parse(struct bytes name, struct rule *out);

#endif
