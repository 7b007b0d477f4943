/* SPDX-License-Identifier: MIT */
/* The parts of the SQLite journal. */
#ifndef STORE_SQLITE_PRIVATE_H
#define STORE_SQLITE_PRIVATE_H

#include "broker/store/chain.h"
#include "broker/store/journal_private.h"
#include "broker/store/record.h"
#include "broker/store/rowmap.h"

#include <sqlite3.h>

#define SQLITE_APPLICATION_ID 0x61707276 /* "aprv" */
#define SQLITE_BUSY_MS	      100	 /* a person's sqlite3 may hold the lock for a moment */
#define SQLITE_CACHE_KIB      1000
#define SQLITE_WAL_KEEP	      (4 << 20) /* bytes of the log that stay after it grew */
/* how far the mark lags behind at most: see struct sqlite_state */
#define SQLITE_MARK_ROWS 4096
#define SQLITE_MARK_US	 (30 * INT64_C(1000000))

/*
 * Input, description and options of a request that take more than this stand in
 * a table of their own, so that a change of its state does not write them again.
 */
#define SQLITE_BODY_INLINE 2048u

enum statement {
	STATEMENT_BEGIN,
	STATEMENT_COMMIT,
	STATEMENT_ROLLBACK,
	STATEMENT_SESSION,
	STATEMENT_TURN,
	STATEMENT_RULE,
	STATEMENT_TRUST,
	STATEMENT_REQUEST,
	STATEMENT_SESSION_REMOVE, /* RECORD_* from here */
	STATEMENT_TURN_REMOVE,
	STATEMENT_RULE_REMOVE,
	STATEMENT_TRUST_REMOVE,
	STATEMENT_REQUEST_REMOVE,
	STATEMENT_RULE_MATCHES,
	STATEMENT_BODY,
	STATEMENT_BODY_REMOVE,
	STATEMENT_HISTORY,
	STATEMENT_META,
	STATEMENT_N,
};

/* What a transaction changes beside the tables, and a rollback takes back. */
struct sqlite_state {
	struct chain_link head;
	/*
	 * The head as it is written in the table meta. It lags behind, so that
	 * a decision writes one row and no more; rows up to it that are missing
	 * show that the end of the history was cut off.
	 */
	struct chain_link mark;
	struct chain_anchor anchor;
	int64_t alive;
	struct uuid newest;
	uint64_t rule_id;
	int64_t last_row[RECORD_N];
	int64_t last_at, marked_at; /* times of the last row, and of the mark */
	bool meta_due;		    /* to be written at commit */
};

/* An entry of a rowmap that the present transaction added or removed. */
struct sqlite_undo {
	struct uuid id;
	int64_t row;
	enum record_kind kind;
	bool added;
};

struct sqlite_file {
	uint64_t dev;
	uint64_t ino; /* 0: none */
};

struct sqlite {
	struct journal base;
	char *path, *lock_path, *wal_path;
	int lock;
	sqlite3 *db; /* NULL: it could not be reopened */
	struct sqlite_file file, wal;
	sqlite3_stmt *statements[STATEMENT_N];
	struct sqlite_state now, saved;
	struct rowmap rows[RECORD_N]; /* none of rules and trust */
	/* while it is closed in between: what the database that is opened has to hold */
	struct rowmap held[RECORD_N];
	bool holds;
	struct sqlite_undo *undo;
	size_t n_undo, cap_undo;
	bool doubt;   /* the log may hold a commit that failed: to be overwritten */
	bool suspect; /* after a failure that opening anew may cure */
};

static inline struct sqlite *sqlite_of(struct journal *j)
{
	return (struct sqlite *)j;
}

/* sqlite_error.c */

/* The errno of a result code of the connection; notes whether to open anew. */
int sqlite_error(struct sqlite *s, int rc);
/* The same for a connection by itself. */
int sqlite_errno(sqlite3 *db, int rc);
/* Of a system call. */
int sqlite_system_errno(int err);
/* Runs statements that give no rows. */
int sqlite_exec(sqlite3 *db, const char *sql);
/* The first column of the first row as an integer; 0 where there is no row. */
int sqlite_integer(sqlite3 *db, const char *sql, int64_t *out);

/* Prepares a statement to be used once, with SQLITE_SCOPED. */
int sqlite_prepare(struct sqlite *s, const char *sql, sqlite3_stmt **out);

/* sqlite_schema.c */

struct sqlite_migration {
	int version; /* that it leads to */
	const char *sql;
};

/*
 * Brings an open database to the newest version, each step in one transaction.
 * -EPROTO if it is newer, -EUCLEAN if it is none of ours.
 */
int sqlite_migrate(sqlite3 *db, const struct sqlite_migration *m, size_t n);
int sqlite_schema(sqlite3 *db); /* the same with the list that stands there */
int sqlite_version(void);	/* the newest */

/* sqlite_open.c */

int sqlite_lock(struct sqlite *s);
int sqlite_open_db(struct sqlite *s);
void sqlite_close_db(struct sqlite *s);
/*
 * Makes sure that there is an open database and that it is the file at the
 * path. Outside of a transaction. One that was deleted is written anew.
 */
int sqlite_ready(struct sqlite *s);

/* sqlite_load.c */

/* Reads meta, head and row numbers of a database just opened. */
int sqlite_restore(struct sqlite *s);
int sqlite_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state);

/* sqlite_put.c */

int sqlite_statement(struct sqlite *s, enum statement which, sqlite3_stmt **out);
/* Steps a statement that gives no rows, and resets it. */
int sqlite_run(struct sqlite *s, enum statement which);
int sqlite_put(struct journal *j, enum journal_op op, const void *arg);
int sqlite_put_history(struct sqlite *s, const struct history_row *given);
int sqlite_put_meta(struct sqlite *s);
/* Writes a page: an update to what is there already writes none. */
int sqlite_touch(struct sqlite *s);
/* Fills in paths and n_paths, which were empty. */
int sqlite_paths_decode(struct bytes blob, struct request_record *r);

/* sqlite_history.c */

int sqlite_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached);
/* Reads the row that the statement stands on, prepared from sqlite_history_select. */
int sqlite_read_row(sqlite3_stmt *stmt, struct history_row *row);
extern const char sqlite_history_select[]; /* SELECT … FROM history */

/* sqlite_verify.c */

int sqlite_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out);
int sqlite_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit);

/* sqlite.c: transactions that prune shares */
int sqlite_begin(struct journal *j);
int sqlite_commit(struct journal *j);
void sqlite_rollback(struct journal *j);

static inline void sqlite_finalize_p(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}
#define SQLITE_SCOPED __attribute__((cleanup(sqlite_finalize_p)))

#endif
