/* SPDX-License-Identifier: MIT */
/*
 * The durable store behind a small interface with two implementations: SQLite,
 * and memory for tests. One writer, one thread. All writes happen between
 * journal_begin and journal_commit; a commit that returned 0 is on the disk.
 *
 * Errors: 0, or a negative errno: -ENOSPC (full), -EROFS (not writable), -EBUSY
 * (locked by another process), -EUCLEAN (corrupt), -EPROTO (written by a newer
 * version), -EPERM (others may write to it), -ELOOP (a symbolic link is in its place),
 * -ESTALE (another file is in its place that does not hold the same, and is read at the
 * next start alone), -ENOMEM, -EINVAL (a value that can't be stored, or a call at the wrong
 * time), -EIO (else). After an error inside a transaction the caller calls
 * journal_rollback; the next journal_begin tries again, reopening the database
 * where that may help.
 *
 * A record that is put again replaces the one of its id, but for the input,
 * description and extra of a request: they are as the first put had them. To
 * remove what is not there is no error, nor are matches of a rule that is not
 * there. Trust of the same uid and project is replaced. The id of a rule that is put first
 * must be above all that ever were.
 */
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include "broker/core/row.h"

struct journal;

/*
 * What load gives back, in this order: sessions (in order of id), turns, rules (in
 * order of id), trust (in order of uid and project), requests, then the decisions of turns
 * that live (history rows with event DECISION or OUTCOME, oldest first). Records and rows
 * belong to the store and
 * are valid during the call; their strings may be kept with str_ref. A negative
 * return ends the load and is passed on. All that is stored is given, what has
 * ended included: its owner removes it. *state is set before the first call.
 */
struct journal_loader {
	int (*session)(void *arg, const struct session_record *r);
	int (*turn)(void *arg, const struct turn_record *r);
	int (*request)(void *arg, const struct request_record *r);
	int (*decision)(void *arg, const struct history_row *row);
	int (*rule)(void *arg, const struct rule_record *r);
	int (*trust)(void *arg, const struct trust_record *r);
};

struct journal_state {
	int64_t alive;	    /* wall clock of the last sign of life; 0: new store */
	struct uuid newest; /* largest id ever written */
	uint64_t rule_id;   /* largest id of a rule ever written; 0: none was */
};

struct history_query {
	uint64_t after;	 /* seq > after */
	uint64_t before; /* seq < before; 0: no bound */
	uint32_t limit;
	bool newest;		      /* the last ones first */
	int64_t since, until;	      /* microseconds; 0: no bound */
	struct uuid session, request; /* nil: any */
	struct bytes agent, tool;     /* len 0: any */
	struct bytes rule;	      /* its whole text; len 0: any */
	int event, verdict, source;   /* -1: any */
	bool all_uids;
	uint32_t uid;
	/* asked after every HISTORY_SLICE rows looked at; false ends; NULL: to the end */
	bool (*go_on)(void *arg);
};

#define HISTORY_SLICE 64u

struct history_verification {
	uint64_t checked, next; /* next 0: the end was reached */
	uint64_t bad_seq;	/* 0: it holds; else the first row changed or missing */
	uint8_t head[32];	/* hash of the last row checked */
};

struct journal_stats {
	uint64_t commits, rows; /* since it was opened: transactions, and puts in them */
	uint64_t history_rows;	/* that there are */
	char path[256];
};

struct retention {
	int64_t max_age_us; /* 0: no bound */
	uint64_t max_bytes; /* of the database, free pages not counted; 0: no bound */
};

/* Opens; path is the database file; its folder exists. *out is set on success. */
int journal_open_sqlite(struct journal **out, const char *path);
int journal_open_memory(struct journal **out);
/* Keeps nothing. */
int journal_open_none(struct journal **out);
/*
 * For tests of what uses a journal: while err is a negative errno, begin,
 * commit, prune and probe of a journal in memory fail with it.
 */
void journal_memory_fail(struct journal *j, int err);
void journal_close(struct journal *j); /* NULL is fine */

/* *state is set before the first call of the loader. */
int journal_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state);

int journal_begin(struct journal *j);
int journal_put(struct journal *j, enum journal_op op, const void *arg);
int journal_commit(struct journal *j);
void journal_rollback(struct journal *j); /* outside a transaction: nothing */

/*
 * Rows belong to the store and are valid during the callback; a negative return ends and is
 * passed on. *reached: where the limit or go_on ended it, to go on after (or before, with
 * newest); 0: nothing is left. It may be NULL.
 */
int journal_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached);
/* Recomputes the chain over at most limit rows after a seq; over fewer where they are large. */
int journal_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out);
/*
 * Removes at most limit of the oldest rows that are past the retention and
 * leaves an anchor (seq and hash of the last one removed, and a history row of
 * event ANCHOR that tells their number), so that journal_verify still holds.
 * Returns the number removed, or a negative errno. Its own transaction.
 */
int journal_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit);
/* Quick check of the health of the store: 0, or why it can't be written. */
int journal_probe(struct journal *j);
void journal_stats(struct journal *j, struct journal_stats *out);

/* A test hook: called before each store operation with its running number (from 1). */
void journal_set_trace(struct journal *j, void (*trace)(void *arg, uint64_t n), void *arg);
/* The same: called after each commit that succeeded with its running number (from 1). */
void journal_set_committed(struct journal *j, void (*fn)(void *arg, uint64_t n), void *arg);

#endif
