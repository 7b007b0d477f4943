/* SPDX-License-Identifier: MIT */
/* What the implementations of the journal share. */
#ifndef STORE_JOURNAL_PRIVATE_H
#define STORE_JOURNAL_PRIVATE_H

#include "broker/store/journal.h"

/*
 * Pruning by size leaves the newest rows, and takes many at once: each time adds
 * a row, the anchor's, so that it would not come to an end otherwise.
 */
#define JOURNAL_KEPT_ROWS  1000u
#define JOURNAL_PRUNE_ROWS 64u

/* How many rows go for size, of so many, where that many would have to. */
static inline uint64_t prune_rows(uint64_t rows, uint64_t over)
{
	if (over == 0 || rows < JOURNAL_KEPT_ROWS + JOURNAL_PRUNE_ROWS)
		return 0;
	if (over < JOURNAL_PRUNE_ROWS)
		return JOURNAL_PRUNE_ROWS;
	return over < rows - JOURNAL_KEPT_ROWS ? over : rows - JOURNAL_KEPT_ROWS;
}

/*
 * journal.c has checked before that begin comes outside of a transaction, put
 * and commit inside of one that has not failed, and all but history, verify and
 * stats outside.
 */
struct journal_ops {
	void (*close)(struct journal *j);
	int (*load)(struct journal *j, const struct journal_loader *l, void *arg,
		struct journal_state *state);
	int (*begin)(struct journal *j);
	int (*put)(struct journal *j, enum journal_op op, const void *arg);
	int (*commit)(struct journal *j);
	void (*rollback)(struct journal *j);
	int (*history)(struct journal *j, const struct history_query *q,
		int (*row)(void *arg, const struct history_row *row), void *arg,
		uint64_t *reached); /* which is 0 */
	int (*verify)(struct journal *j, uint64_t after, uint32_t limit,
		struct history_verification *out);
	int (*prune)(struct journal *j, const struct retention *r, int64_t now, uint32_t limit);
	int (*probe)(struct journal *j);
	void (*stats)(struct journal *j, struct journal_stats *out);
};

/* The first member of each implementation's own structure. */
struct journal {
	const struct journal_ops *ops;
	void (*trace)(void *arg, uint64_t n);
	void *trace_arg;
	void (*committed)(void *arg, uint64_t n);
	void *committed_arg;
	uint64_t traced;
	uint64_t commits, rows, rows_open;
	int failed; /* what the present transaction failed with */
	bool open;  /* inside of a transaction */
};

#endif
