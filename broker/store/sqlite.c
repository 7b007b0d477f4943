/* SPDX-License-Identifier: MIT */
/* The journal in an SQLite database: its transactions, and its life. */
#include "config.h"

#include "broker/store/sqlite_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

int sqlite_begin(struct journal *j)
{
	struct sqlite *s = sqlite_of(j);
	int err = sqlite_ready(s);

	if (err)
		return err;
	s->saved = s->now;
	return sqlite_run(s, STATEMENT_BEGIN);
}

static bool mark_due(const struct sqlite_state *now)
{
	return now->head.seq - now->mark.seq >= SQLITE_MARK_ROWS ||
	       now->last_at - now->marked_at >= SQLITE_MARK_US;
}

int sqlite_commit(struct journal *j)
{
	struct sqlite *s = sqlite_of(j);
	int err = 0;

	if (s->now.meta_due || mark_due(&s->now))
		err = sqlite_put_meta(s);
	if (!err) {
		err = sqlite_run(s, STATEMENT_COMMIT);
		s->doubt = err != 0;
	}
	if (err)
		return err;
	s->n_undo = 0;
	for (int kind = 0; kind < RECORD_N; kind++)
		rowmap_trim(&s->rows[kind]);
	return 0;
}

void sqlite_rollback(struct journal *j)
{
	struct sqlite *s = sqlite_of(j);

	/* some failures have rolled back already */
	if (!sqlite3_get_autocommit(s->db))
		sqlite_run(s, STATEMENT_ROLLBACK);
	if (!sqlite3_get_autocommit(s->db))
		s->suspect = true;
	while (s->n_undo) {
		const struct sqlite_undo *u = &s->undo[--s->n_undo];

		/* there is room, since removing gives none back */
		if (u->added)
			rowmap_remove(&s->rows[u->kind], &u->id);
		else
			rowmap_add(&s->rows[u->kind], &u->id, u->row);
	}
	s->now = s->saved;
}

/* Writes the table meta: only writing shows whether it can be done. */
static int write_meta(struct journal *j)
{
	struct sqlite *s = sqlite_of(j);
	int err = sqlite_begin(j);

	if (err)
		return err;
	s->now.meta_due = true;
	err = sqlite_touch(s);
	if (!err)
		err = sqlite_commit(j);
	if (err)
		sqlite_rollback(j);
	return err;
}

static int sqlite_probe(struct journal *j)
{
	struct statvfs st;
	int err = write_meta(j);

	if (err)
		return err;
	/* that much may have found room in the log's old part, more will not */
	if (statvfs(sqlite_of(j)->path, &st) == 0 && st.f_bavail == 0)
		return -ENOSPC;
	return 0;
}

static void sqlite_stats(struct journal *j, struct journal_stats *out)
{
	struct sqlite *s = sqlite_of(j);

	out->history_rows = s->now.head.seq - s->now.anchor.last.seq;
	snprintf(out->path, sizeof(out->path), "%s", s->path);
}

static void sqlite_free(struct sqlite *s)
{
	sqlite_close_db(s);
	for (int kind = 0; kind < RECORD_N; kind++)
		rowmap_free(&s->held[kind]);
	if (s->lock >= 0)
		close(s->lock);
	sqlite3_free(s->path);
	sqlite3_free(s->lock_path);
	sqlite3_free(s->wal_path);
	free(s->undo);
	free(s);
}

static void sqlite_close(struct journal *j)
{
	struct sqlite *s = sqlite_of(j);

	/* a mark at the very end; where it can't be written the old one has to do */
	if (s->db && s->now.head.seq != s->now.mark.seq)
		(void)write_meta(j);
	sqlite_free(s);
}

static const struct journal_ops sqlite_ops = {
	.close = sqlite_close,
	.load = sqlite_load,
	.begin = sqlite_begin,
	.put = sqlite_put,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.history = sqlite_history,
	.verify = sqlite_verify,
	.prune = sqlite_prune,
	.probe = sqlite_probe,
	.stats = sqlite_stats,
};

int journal_open_sqlite(struct journal **out, const char *path)
{
	struct sqlite *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->base.ops = &sqlite_ops;
	s->lock = -1;
	s->path = sqlite3_mprintf("%s", path);
	s->lock_path = sqlite3_mprintf("%s-lock", path);
	s->wal_path = sqlite3_mprintf("%s-wal", path);
	if (s->path && s->lock_path && s->wal_path)
		err = sqlite_lock(s);
	if (!err)
		err = sqlite_open_db(s);
	if (err) {
		sqlite_free(s);
		return err;
	}
	*out = &s->base;
	return 0;
}
