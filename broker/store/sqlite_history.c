/* SPDX-License-Identifier: MIT */
/* Reading the history. */
#include "broker/store/sqlite_column.h"
#include "broker/store/sqlite_private.h"

/* a part of a statement, for sqlite_read_row */
#define SELECT "SELECT seq" HISTORY_COLUMNS(COLUMN_NAME) " FROM history"

const char sqlite_history_select[] = SELECT;

int sqlite_read_row(sqlite3_stmt *stmt, struct history_row *row)
{
	struct column column = {.stmt = stmt}, *c = &column;
	struct history_row *r = row;

	read_u64(c, &r->seq, 0);
	HISTORY_COLUMNS(COLUMN_READ)
	return c->err;
}

/* A filter that is not set is NULL. */
#define WHERE                                                                                  \
	" WHERE seq > ?1 AND seq < ?2 AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at <= "  \
	"?4) AND (?5 IS NULL OR session = ?5) AND (?6 IS NULL OR request = ?6)"                \
	" AND (?7 IS NULL OR agent = ?7) AND (?8 IS NULL OR tool = ?8)"                        \
	" AND (?9 IS NULL OR event = ?9) AND (?10 IS NULL OR verdict = ?10)"                   \
	" AND (?11 IS NULL OR source = ?11) AND (?12 IS NULL OR uid = ?12)"

static void bind_filter(struct column *c, bool set, int64_t v)
{
	if (set)
		bind_i64(c, &v, 0);
	else
		bind_done(c, sqlite3_bind_null(c->stmt, c->i));
}

static void bind_name(struct column *c, struct bytes name)
{
	struct bytes none = {NULL, 0};

	bind_rowtext(c, name.len ? &name : &none, 0);
}

static int bind_query(sqlite3_stmt *stmt, const struct history_query *q)
{
	struct column column = {.stmt = stmt, .i = 1}, *c = &column;

	bind_filter(c, true, (int64_t)(q->after < INT64_MAX ? q->after : INT64_MAX));
	bind_filter(
		c, true, (int64_t)(q->before && q->before < INT64_MAX ? q->before : INT64_MAX));
	bind_filter(c, q->since != 0, q->since);
	bind_filter(c, q->until != 0, q->until);
	bind_uuid(c, &q->session, 0);
	bind_uuid(c, &q->request, 0);
	bind_name(c, q->agent);
	bind_name(c, q->tool);
	bind_filter(c, q->event >= 0, q->event);
	bind_filter(c, q->verdict >= 0, q->verdict);
	bind_filter(c, q->source >= 0, q->source);
	bind_filter(c, !q->all_uids, q->uid);
	bind_filter(c, true, q->limit);
	return c->err;
}

int sqlite_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg)
{
	struct sqlite *s = sqlite_of(j);
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int err = 0, rc;

	if (!j->open)
		err = sqlite_ready(s);
	if (!err)
		err = sqlite_prepare(s,
			q->newest ? SELECT WHERE " ORDER BY seq DESC LIMIT ?13"
				  : SELECT WHERE " ORDER BY seq LIMIT ?13",
			&stmt);
	if (!err)
		err = bind_query(stmt, q);
	if (err)
		return err;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct history_row r;

		err = sqlite_read_row(stmt, &r);
		if (!err)
			err = row(arg, &r);
		if (err < 0)
			return err;
	}
	return sqlite_error(s, rc);
}
