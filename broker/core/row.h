/* SPDX-License-Identifier: MIT */
/* What the engine asks the journal to keep. */
#ifndef CORE_ROW_H
#define CORE_ROW_H

#include "broker/core/types.h"

/*
 * A row of the history. Strings need not outlive the call. Unused members are
 * zero. seq and hash are set by the store.
 */
struct history_row {
	uint64_t seq;
	int64_t at; /* wall clock, microseconds */
	enum history_event event;
	uint32_t uid;
	uint32_t pid;
	struct uuid session, turn, request; /* nil: none */
	struct bytes agent, call, tool, command, cwd, workspace, exe;
	struct bytes input; /* MessagePack; decisions only */
	struct bytes reason, by;
	struct bytes detail; /* small text: outcome summary, agent's session or turn id, mode */
	struct bytes rule;   /* the text of the one that decided or asked, or that changed */
	struct bytes floor;  /* the name of the entry that was hit */
	uint64_t rule_id;    /* of a standing rule; 0: none */
	uint8_t digest[32];  /* all zero: none */
	uint8_t type, kind, verdict, source, scope, step, state, mode;
	uint64_t count; /* of lost denials, anchored rows, or a rule's matches */
	uint8_t hash[32];
};

/*
 * Begins the row of RULE_ADDED, RULE_REMOVED or RULE_EXPIRED: who (by; none for the last)
 * did it to which rule. Its texts are the record's.
 */
void rule_row(struct history_row *row, enum history_event event, const struct rule_record *r,
	struct bytes by, int64_t now);

/* The row of PROJECT_TRUSTED or PROJECT_UNTRUSTED: who did it, and to which hash. */
void trust_row(struct history_row *row, enum history_event event, const struct trust_record *r,
	struct bytes by, int64_t now);

/* How often a rule that exists has decided by now. */
struct rule_matches {
	uint64_t id;
	uint64_t matches;
	int64_t matched_at; /* wall clock */
};

enum journal_op {
	JOURNAL_SESSION,	/* arg: const struct session_record * */
	JOURNAL_SESSION_REMOVE, /* arg: const struct uuid * */
	JOURNAL_TURN,
	JOURNAL_TURN_REMOVE,
	JOURNAL_REQUEST,
	JOURNAL_REQUEST_REMOVE,
	JOURNAL_RULE,	      /* arg: const struct rule_record * */
	JOURNAL_RULE_REMOVE,  /* arg: const uint64_t * */
	JOURNAL_RULE_MATCHES, /* arg: const struct rule_matches * */
	JOURNAL_TRUST,	      /* arg: const struct trust_record * */
	JOURNAL_TRUST_REMOVE, /* arg: the same, of which uid and project count */
	JOURNAL_HISTORY,      /* arg: const struct history_row * */
	JOURNAL_ALIVE,	      /* arg: const int64_t *: wall clock, the broker lives */
};

#endif
