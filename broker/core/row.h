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
	uint8_t digest[32];  /* all zero: none */
	uint8_t type, kind, verdict, source, scope, step, state, mode;
	uint64_t count; /* of lost denials, or anchored rows */
	uint8_t hash[32];
};

enum journal_op {
	JOURNAL_SESSION,	/* arg: const struct session_record * */
	JOURNAL_SESSION_REMOVE, /* arg: const struct uuid * */
	JOURNAL_TURN,
	JOURNAL_TURN_REMOVE,
	JOURNAL_REQUEST,
	JOURNAL_REQUEST_REMOVE,
	JOURNAL_HISTORY, /* arg: const struct history_row * */
	JOURNAL_ALIVE,	 /* arg: const int64_t *: wall clock, the broker lives */
};

#endif
