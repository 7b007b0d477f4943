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
	" AND (?11 IS NULL OR source = ?11) AND (?12 IS NULL OR uid = ?12)"                    \
	" AND (?13 IS NULL OR rule = ?13)"

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

/* The bounds are of the slice that is looked at. */
struct bounds {
	int64_t after, before;
};

static int bind_query(sqlite3_stmt *stmt, const struct history_query *q,
	const struct bounds *bounds, uint32_t limit)
{
	struct column column = {.stmt = stmt, .i = 1}, *c = &column;

	bind_filter(c, true, bounds->after);
	bind_filter(c, true, bounds->before);
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
	bind_name(c, q->rule);
	bind_filter(c, true, limit);
	return c->err;
}

#define SLICE(end, order)                                                                      \
	"SELECT count(*), " end "(seq) FROM (SELECT seq FROM history WHERE seq > ?1 AND seq <" \
	" ?2 ORDER BY seq " order " LIMIT ?3)"

/* How many rows the next slice has, and the last of them. */
static int slice_find(struct sqlite *s, sqlite3_stmt *stmt, const struct bounds *bounds,
	int64_t *rows, int64_t *last)
{
	struct column column = {.stmt = stmt, .i = 1}, *c = &column;
	int rc;

	bind_filter(c, true, bounds->after);
	bind_filter(c, true, bounds->before);
	bind_filter(c, true, HISTORY_SLICE);
	if (c->err)
		return c->err;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		return sqlite_error(s, rc);
	*rows = sqlite3_column_int64(stmt, 0);
	*last = sqlite3_column_int64(stmt, 1);
	sqlite3_reset(stmt);
	return 0;
}

/* Gives what is asked for of a slice. *given rises; *seq is that of the last row given. */
static int slice_read(struct sqlite *s, sqlite3_stmt *stmt,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint32_t *given,
	uint64_t *seq)
{
	int rc;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct history_row r;
		int err = sqlite_read_row(stmt, &r);

		if (!err)
			err = row(arg, &r);
		if (err < 0)
			return err;
		*seq = r.seq;
		(*given)++;
	}
	sqlite3_reset(stmt);
	return sqlite_error(s, rc);
}

static int64_t seq_bound(uint64_t seq)
{
	return (int64_t)(seq < INT64_MAX ? seq : INT64_MAX);
}

int sqlite_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached)
{
	struct bounds rest = {
		seq_bound(q->after), q->before ? seq_bound(q->before) : INT64_MAX};
	struct sqlite *s = sqlite_of(j);
	sqlite3_stmt *slice SQLITE_SCOPED = NULL;
	sqlite3_stmt *rows SQLITE_SCOPED = NULL;
	uint32_t given = 0;
	int err = 0;

	if (!j->open)
		err = sqlite_ready(s);
	if (!err)
		err = sqlite_prepare(
			s, q->newest ? SLICE("min", "DESC") : SLICE("max", ""), &slice);
	if (!err)
		err = sqlite_prepare(s,
			q->newest ? SELECT WHERE " ORDER BY seq DESC LIMIT ?14"
				  : SELECT WHERE " ORDER BY seq LIMIT ?14",
			&rows);
	while (!err && given < q->limit) {
		struct bounds here = rest;
		int64_t n = 0, last = 0;

		err = slice_find(s, slice, &rest, &n, &last);
		if (err || !n) {
			*reached = 0;
			break;
		}
		if (q->newest)
			here.after = last - 1;
		else
			here.before = last + 1;
		err = bind_query(rows, q, &here, q->limit - given);
		if (!err)
			err = slice_read(s, rows, row, arg, &given, reached);
		if (err || given == q->limit)
			break;
		*reached = n < HISTORY_SLICE ? 0 : (uint64_t)last;
		if (!*reached || (q->go_on && !q->go_on(arg)))
			break;
		if (q->newest)
			rest.before = last;
		else
			rest.after = last;
	}
	return err;
}
