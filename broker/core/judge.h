/* SPDX-License-Identifier: MIT */
/*
 * One tool call in the eyes of rules and floor: its command read, its paths in their
 * order. Pure. What the steps of the pipeline say about it is in pipeline.c.
 */
#ifndef CORE_JUDGE_H
#define CORE_JUDGE_H

#include "broker/core/floor/floor.h"
#include "broker/core/rules/ruleset.h"
#include "broker/core/shell/shell.h"
#include "broker/core/types.h"
#include "libapproval/limits.h"

/* What calls are held against. */
struct judge {
	struct ruleset *rules;
	struct floor *floor;
	struct shell_arena arena; /* of the last command that was read */
	char *text;		  /* LIMIT_OPERAND_BYTES, for the paths that it names */
	/*
	 * A broker's alone, else NULL: why it does not know the rules of a workspace, so that
	 * a person is asked of whatever would be allowed there; NULL: it knows them.
	 */
	const char *(*unknown)(void *arg, uint32_t uid, struct bytes workspace);
	void *unknown_arg;
};

/* No rules, and the shipped floor, which owner may switch off. -ENOMEM. */
int judge_init(struct judge *j, enum floor_owner owner);
void judge_fini(struct judge *j); /* also of a zeroed one */

/* What is known of a call. Anything absent has data NULL. */
struct judge_call {
	struct bytes tool, command, url;
	enum kind kind; /* with what the agent claims */
	uint8_t facts;	/* enum call_fact */
	/* those of the tool's input, then those of its command, as judge_operands gives them */
	const struct request_path *paths;
	unsigned n_paths, n_operands;
	struct bytes cwd, workspace, home; /* absolute */
	uint32_t uid;
	struct uuid session, turn;
	int64_t now; /* wall clock */
};

/* A path that a command names: absolute, as far as its text tells. */
struct judge_operand {
	struct bytes path;
	unsigned use; /* enum floor_use, of all the places where it stands */
};

struct judge_operands {
	struct judge_operand items[LIMIT_OPERANDS];
	unsigned n;
	bool all; /* there are no more than these */
};

/*
 * Each path of a command once, in a fixed order. Their text lives as long as the command
 * and until the judge reads another one.
 */
void judge_operands(struct judge *j, struct bytes command, struct bytes cwd, struct bytes home,
	struct bytes workspace, struct judge_operands *out);

/* A call prepared. It refers to the call, and to the judge until that reads another one. */
struct judged {
	const struct judge_call *call;
	struct shell shell;
	struct judge_operands operands;
	struct rule_call rule;
	struct floor_call floor;
	struct rule_path paths[LIMIT_PATHS], reads[LIMIT_OPERANDS];
	struct floor_path floor_paths[LIMIT_PATHS + LIMIT_OPERANDS];
};
void judge_prepare(struct judge *j, const struct judge_call *call, struct judged *out);

/* Whether every path that its command names could be resolved; true without a command. */
bool judged_known(const struct judged *c);

/*
 * Whether the call is a command that only reads, inside the workspace: each simple command
 * is on the published table with options that only read; nothing is dynamic, written,
 * assigned or unread; and what it names is known to be inside.
 */
bool judged_reads(const struct judged *c);

#endif
