/* SPDX-License-Identifier: MIT */
/*
 * What the broker itself finds out about a tool call: its kind, whether it changes
 * anything, its command and its paths, from the tool's name and input alone. What
 * the agent claims only tightens. In two halves, since paths are resolved between
 * them: facts_collect, the resolver, facts_finish.
 */
#ifndef IO_FACTS_H
#define IO_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/core/engine.h"
#include "libapproval/limits.h"

struct facts_input {
	struct bytes tool;
	struct bytes input; /* MessagePack, scanned; data NULL: none */
	enum request_type type;
	int claimed_kind; /* enum kind; -1: none */
	bool claimed_mutating;
	struct bytes cwd, workspace, home; /* data NULL: none */
};

/*
 * Bytes point into the facts_input's, which must outlive the draft, or into the
 * draft's own text.
 */
struct facts_draft {
	struct facts_input in;
	enum kind kind;
	bool mutating;
	uint8_t flags; /* enum call_fact, as far as known without the resolver */
	uint8_t n_paths, n_own; /* all; those of the input, which come first */
	struct bytes command;		 /* data NULL: none */
	struct bytes url;		 /* data NULL: none */
	/* to be resolved from cwd, in this order; then those that the command names */
	struct bytes paths[LIMIT_LOOKUPS];
	char *text;			 /* of a command that was joined; see facts_release */
};

/*
 * An input that is not as the table of tools says (not a map, a field of another
 * type, one given twice, a missing one, one that changes what the others mean) is
 * no error: it is FACT_UNRESOLVED and mutating. What reads but can't be known whole
 * (more than LIMIT_PATHS paths in it, a path over LIMIT_TEXT, wildcards that choose what
 * is read) is FACT_UNRESOLVED. -ENOMEM is the only error, and leaves nothing to
 * release. judge: reads the command for what it names, whose paths live until it reads
 * another; NULL: they are not looked for.
 *
 * Where a claim changed the kind, the call is FACT_UNRESOLVED as well, and whoever
 * compares kinds must still look at the tool's own: tool_find. Else a claim could
 * lead a call past a rule that denies its kind.
 */
int facts_collect(
	struct judge *judge, const struct facts_input *in, struct facts_draft *draft);

/*
 * paths are the draft's, resolved, in the same order; another number of them than
 * the draft's counts as unresolved, but for those of the command, of which the last may be
 * missing. *out refers to the draft, its input and paths.
 * 0; there is no error at present, but the caller is to expect one.
 */
int facts_finish(const struct facts_draft *draft, const struct request_path *paths, unsigned n,
	struct facts *out);

/* Frees what the draft owns; a cleared draft is fine. */
void facts_release(struct facts_draft *draft);

/* The first 16 bytes of SHA-256 of an input, as in struct facts: for calls that only name one.
 */
void facts_input_hash(struct bytes input, uint8_t out[16]);

#endif
