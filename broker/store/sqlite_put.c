/* SPDX-License-Identifier: MIT */
/* Writing: each function is one or two prepared statements. */
#include "broker/store/sqlite_column.h"
#include "broker/store/sqlite_private.h"

#include <stdlib.h>

/* Columns that follow a list: their names, marks, and what an update does with them. */
#define UPSERT(table, columns, names, marks, updates)                                          \
	"INSERT INTO " table " (id, uuid" columns(COLUMN_NAME) names                           \
		") VALUES (?, ?" columns(COLUMN_MARK) marks                                    \
		") ON CONFLICT (id) DO UPDATE SET uuid = excluded.uuid" columns(COLUMN_UPDATE) \
			updates

static const char *const statement_text[STATEMENT_N] = {
	[STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",
	[STATEMENT_SESSION] = UPSERT("session", SESSION_COLUMNS, "", "", ""),
	/* where the history stood when the turn began stays */
	[STATEMENT_TURN] = UPSERT("turn", TURN_COLUMNS, ", begun_seq", ", ?", ""),
	/* and so does the body */
	[STATEMENT_REQUEST] =
		UPSERT("request", REQUEST_COLUMNS, ", paths" BODY_COLUMNS(COLUMN_NAME),
			", ?" BODY_COLUMNS(COLUMN_MARK), ", paths = excluded.paths"),
	/* one that is there is replaced; a new one must have an id above the given one */
	[STATEMENT_RULE] =
		"REPLACE INTO rule (id" RULE_COLUMNS(COLUMN_NAME) ") SELECT ?" RULE_COLUMNS(
			COLUMN_MARK) " WHERE ?1 > ? OR EXISTS "
				     "(SELECT 1 FROM rule WHERE id = ?1)",
	[STATEMENT_RULE_MATCHES] = "UPDATE rule SET matches = ?, matched_at = ? WHERE id = ?",
	[STATEMENT_TRUST] = "REPLACE INTO trust (uid" TRUST_COLUMNS(
		COLUMN_NAME) ") VALUES (?" TRUST_COLUMNS(COLUMN_MARK) ")",
	[STATEMENT_TRUST_REMOVE] = "DELETE FROM trust WHERE uid = ? AND project = ?",
	[STATEMENT_SESSION_REMOVE] = "DELETE FROM session WHERE id = ?",
	[STATEMENT_TURN_REMOVE] = "DELETE FROM turn WHERE id = ?",
	[STATEMENT_RULE_REMOVE] = "DELETE FROM rule WHERE id = ?",
	[STATEMENT_REQUEST_REMOVE] = "DELETE FROM request WHERE id = ?",
	[STATEMENT_BODY] = "REPLACE INTO request_body (id" BODY_COLUMNS(
		COLUMN_NAME) ") VALUES (?" BODY_COLUMNS(COLUMN_MARK) ")",
	[STATEMENT_BODY_REMOVE] = "DELETE FROM request_body WHERE id = ?",
	[STATEMENT_HISTORY] = "INSERT INTO history (seq" HISTORY_COLUMNS(
		COLUMN_NAME) ") VALUES (?" HISTORY_COLUMNS(COLUMN_MARK) ")",
	[STATEMENT_META] =
		"UPDATE meta SET alive = ?, newest = ?, mark_seq = ?, mark_hash = ?, "
		"anchor_seq = ?, anchor_hash = ?, anchor_row = ?, rule_id = ?",
};

int sqlite_statement(struct sqlite *s, enum statement which, sqlite3_stmt **out)
{
	int rc = SQLITE_OK;

	if (!s->statements[which])
		rc = sqlite3_prepare_v3(s->db, statement_text[which], -1,
			SQLITE_PREPARE_PERSISTENT, &s->statements[which], NULL);
	*out = s->statements[which];
	return rc == SQLITE_OK ? 0 : sqlite_error(s, rc);
}

int sqlite_run(struct sqlite *s, enum statement which)
{
	sqlite3_stmt *stmt;
	int err = sqlite_statement(s, which, &stmt), rc;

	if (err)
		return err;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		err = sqlite_error(s, rc);
	sqlite3_reset(stmt);
	return err;
}

/* Runs a statement that was bound. */
static int run_bound(struct sqlite *s, enum statement which, const struct column *c)
{
	return c->err ? c->err : sqlite_run(s, which);
}

/* ---- the paths of a request, as one blob ---- */

#define PATH_INSIDE   1u
#define PATH_GIVEN    2u
#define PATH_RESOLVED 4u

static size_t path_text_size(const struct str *text)
{
	return text ? 4 + (size_t)text->len : 0;
}

static uint8_t *path_text_write(uint8_t *p, const struct str *text)
{
	if (!text)
		return p;
	for (int i = 0; i < 4; i++)
		*p++ = (uint8_t)(text->len >> (24 - 8 * i));
	memcpy(p, text->data, text->len);
	return p + text->len;
}

/* A byte of flags, then length and bytes of each text that there is. */
static int paths_encode(const struct request_record *r, uint8_t **out, size_t *size)
{
	uint8_t *p;

	*out = NULL;
	*size = 0;
	if (r->n_paths > LIMIT_PATHS)
		return -EINVAL;
	for (unsigned i = 0; i < r->n_paths; i++)
		*size += 1 + path_text_size(r->paths[i].given) +
			 path_text_size(r->paths[i].resolved);
	if (*size == 0)
		return 0;
	if (*size > LIMIT_FRAME)
		return -EINVAL;
	p = *out = malloc(*size);
	if (!p)
		return -ENOMEM;
	for (unsigned i = 0; i < r->n_paths; i++) {
		const struct request_path *path = &r->paths[i];

		*p++ = (uint8_t)((path->inside ? PATH_INSIDE : 0) |
				 (path->given ? PATH_GIVEN : 0) |
				 (path->resolved ? PATH_RESOLVED : 0));
		p = path_text_write(p, path->given);
		p = path_text_write(p, path->resolved);
	}
	return 0;
}

static int path_text_read(struct bytes *rest, struct str **out)
{
	const uint8_t *p = rest->data;
	size_t len;

	if (rest->len < 4)
		return -EUCLEAN;
	len = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	if (len > rest->len - 4)
		return -EUCLEAN;
	*out = str_new(p + 4, len);
	*rest = (struct bytes){p + 4 + len, rest->len - 4 - len};
	return *out ? 0 : -ENOMEM;
}

int sqlite_paths_decode(struct bytes blob, struct request_record *r)
{
	struct request_path paths[LIMIT_PATHS];
	unsigned n = 0;
	int err = 0;

	memset(paths, 0, sizeof(paths));
	while (!err && blob.len) {
		unsigned flags = *(const uint8_t *)blob.data;
		struct request_path *path = &paths[n];

		if (n == LIMIT_PATHS || flags & ~(PATH_INSIDE | PATH_GIVEN | PATH_RESOLVED)) {
			err = -EUCLEAN;
			break;
		}
		n++;
		blob = (struct bytes){(const char *)blob.data + 1, blob.len - 1};
		path->inside = flags & PATH_INSIDE;
		if (flags & PATH_GIVEN)
			err = path_text_read(&blob, &path->given);
		if (!err && flags & PATH_RESOLVED)
			err = path_text_read(&blob, &path->resolved);
	}
	if (!err && n) {
		r->paths = malloc(n * sizeof(*paths));
		if (!r->paths)
			err = -ENOMEM;
	}
	if (!err && n) {
		memcpy(r->paths, paths, n * sizeof(*paths));
		r->n_paths = (uint8_t)n;
		return 0;
	}
	while (n--) {
		str_unref(paths[n].given);
		str_unref(paths[n].resolved);
	}
	return err;
}

/* ---- records ---- */

static int undo_note(
	struct sqlite *s, enum record_kind kind, const struct uuid *id, int64_t row, bool added)
{
	if (s->n_undo == s->cap_undo) {
		size_t more = s->cap_undo ? s->cap_undo * 2 : 64;
		struct sqlite_undo *p = reallocarray(s->undo, more, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->undo = p;
		s->cap_undo = more;
	}
	s->undo[s->n_undo++] = (struct sqlite_undo){*id, row, kind, added};
	return 0;
}

/* The rowid of a record; a new one gets the next. */
static int row_of(struct sqlite *s, enum record_kind kind, const struct uuid *id, int64_t *row,
	bool *added)
{
	int err;

	*row = rowmap_get(&s->rows[kind], id);
	*added = *row == 0;
	if (*row)
		return 0;
	*row = s->now.last_row[kind] + 1;
	err = rowmap_add(&s->rows[kind], id, *row);
	if (err)
		return err;
	err = undo_note(s, kind, id, *row, true);
	if (err) {
		rowmap_remove(&s->rows[kind], id);
		return err;
	}
	s->now.last_row[kind] = *row;
	uuid_raise(&s->now.newest, id);
	return 0;
}

static int put_session(struct sqlite *s, int64_t row, const struct session_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_SESSION, &c->stmt);

	if (err)
		return err;
	bind_i64(c, &row, 0);
	bind_key(c, &r->id, 0);
	SESSION_COLUMNS(COLUMN_BIND)
	return run_bound(s, STATEMENT_SESSION, c);
}

static int put_turn(struct sqlite *s, int64_t row, const struct turn_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_TURN, &c->stmt);

	if (err)
		return err;
	bind_i64(c, &row, 0);
	bind_key(c, &r->id, 0);
	TURN_COLUMNS(COLUMN_BIND)
	/* its rows may have come before it, in the same transaction */
	bind_u64(c, &s->saved.head.seq, 0);
	return run_bound(s, STATEMENT_TURN, c);
}

static void bind_body(struct column *c, const struct request_record *r)
{
	BODY_COLUMNS(COLUMN_BIND)
}

static int put_body(struct sqlite *s, int64_t row, const struct request_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_BODY, &c->stmt);

	if (err)
		return err;
	bind_i64(c, &row, 0);
	bind_body(c, r);
	return run_bound(s, STATEMENT_BODY, c);
}

static int put_request(
	struct sqlite *s, int64_t row, bool added, const struct request_record *r)
{
	static const struct request_record none;
	size_t size = str_bytes(r->input).len + str_bytes(r->description).len +
		      str_bytes(r->extra).len;
	bool apart = size > SQLITE_BODY_INLINE;
	struct column column = {.i = 1}, *c = &column;
	struct bytes blob;
	uint8_t *paths;
	int err;

	err = paths_encode(r, &paths, &blob.len);
	blob.data = paths;
	if (!err)
		err = sqlite_statement(s, STATEMENT_REQUEST, &c->stmt);
	if (err)
		goto out;
	bind_i64(c, &row, 0);
	bind_key(c, &r->id, 0);
	REQUEST_COLUMNS(COLUMN_BIND)
	bind_rowblob(c, &blob, 0);
	bind_body(c, apart || !added ? &none : r);
	err = run_bound(s, STATEMENT_REQUEST, c);
	if (!err && apart && added)
		err = put_body(s, row, r);
out:
	free(paths);
	return err;
}

static int put_record(struct sqlite *s, enum record_kind kind, const void *record)
{
	bool added;
	int64_t row;
	int err = row_of(s, kind, record_id(kind, record), &row, &added);

	if (err)
		return err;
	switch (kind) {
	case RECORD_SESSION: return put_session(s, row, record);
	case RECORD_TURN: return put_turn(s, row, record);
	default: return put_request(s, row, added, record);
	}
}

static int run_with_row(struct sqlite *s, enum statement which, int64_t row)
{
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, which, &c->stmt);

	if (err)
		return err;
	bind_i64(c, &row, 0);
	return run_bound(s, which, c);
}

static int remove_record(struct sqlite *s, enum record_kind kind, const struct uuid *id)
{
	int64_t row = rowmap_get(&s->rows[kind], id);
	int err;

	if (!row)
		return 0;
	err = undo_note(s, kind, id, row, false);
	if (err)
		return err;
	rowmap_remove(&s->rows[kind], id);
	/* the id may stand nowhere else from now on */
	s->now.meta_due = true;
	err = run_with_row(s, (enum statement)(STATEMENT_SESSION_REMOVE + kind), row);
	if (!err && kind == RECORD_REQUEST)
		err = run_with_row(s, STATEMENT_BODY_REMOVE, row);
	return err;
}

/* ---- rules ---- */

static int put_rule(struct sqlite *s, const struct rule_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = rule_record_valid(r) ? 0 : -EINVAL;

	if (!err)
		err = sqlite_statement(s, STATEMENT_RULE, &c->stmt);
	if (err)
		return err;
	bind_u64(c, &r->id, 0);
	RULE_COLUMNS(COLUMN_BIND)
	bind_u64(c, &s->now.rule_id, 0);
	err = run_bound(s, STATEMENT_RULE, c);
	if (!err && sqlite3_changes(s->db) == 0)
		err = -EINVAL;
	if (!err && r->id > s->now.rule_id) {
		/* it stays used, whatever becomes of the rule */
		s->now.rule_id = r->id;
		s->now.meta_due = true;
	}
	return err;
}

static int put_rule_matches(struct sqlite *s, const struct rule_matches *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = r->matched_at >= 0 ? 0 : -EINVAL;

	if (!err)
		err = sqlite_statement(s, STATEMENT_RULE_MATCHES, &c->stmt);
	if (err)
		return err;
	bind_u64(c, &r->matches, 0);
	bind_i64(c, &r->matched_at, 0);
	bind_u64(c, &r->id, 0);
	return run_bound(s, STATEMENT_RULE_MATCHES, c);
}

/* ---- trust ---- */

static int put_trust(struct sqlite *s, const struct trust_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = trust_record_valid(r) ? 0 : -EINVAL;

	if (!err)
		err = sqlite_statement(s, STATEMENT_TRUST, &c->stmt);
	if (err)
		return err;
	bind_u32(c, &r->uid, 0);
	TRUST_COLUMNS(COLUMN_BIND)
	return run_bound(s, STATEMENT_TRUST, c);
}

static int remove_trust(struct sqlite *s, const struct trust_record *r)
{
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_TRUST_REMOVE, &c->stmt);

	if (err)
		return err;
	bind_u32(c, &r->uid, 0);
	bind_text(c, &r->project, 0);
	return run_bound(s, STATEMENT_TRUST_REMOVE, c);
}

/* ---- the rest ---- */

int sqlite_put_history(struct sqlite *s, const struct history_row *given)
{
	struct history_row row = *given;
	const struct history_row *r = &row;
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_HISTORY, &c->stmt);

	if (err)
		return err;
	chain_append(&s->now.head, &row);
	s->now.last_at = row.at;
	bind_u64(c, &r->seq, 0);
	HISTORY_COLUMNS(COLUMN_BIND)
	uuid_raise(&s->now.newest, &r->session);
	uuid_raise(&s->now.newest, &r->turn);
	uuid_raise(&s->now.newest, &r->request);
	return run_bound(s, STATEMENT_HISTORY, c);
}

int sqlite_put_meta(struct sqlite *s)
{
	struct sqlite_state *r = &s->now;
	struct column column = {.i = 1}, *c = &column;
	int err = sqlite_statement(s, STATEMENT_META, &c->stmt);

	if (err)
		return err;
	r->mark = r->head;
	r->marked_at = r->last_at;
	r->meta_due = false;
	bind_i64(c, &r->alive, 0);
	bind_uuid(c, &r->newest, 0);
	bind_u64(c, &r->mark.seq, 0);
	bind_hash(c, &r->mark.hash, 0);
	bind_u64(c, &r->anchor.last.seq, 0);
	bind_hash(c, &r->anchor.last.hash, 0);
	bind_u64(c, &r->anchor.row, 0);
	bind_u64(c, &r->rule_id, 0);
	return run_bound(s, STATEMENT_META, c);
}

int sqlite_put(struct journal *j, enum journal_op op, const void *arg)
{
	struct sqlite *s = sqlite_of(j);
	enum record_kind kind;
	bool removes;

	if (record_op(op, &kind, &removes))
		return removes ? remove_record(s, kind, arg) : put_record(s, kind, arg);
	switch (op) {
	case JOURNAL_HISTORY: return sqlite_put_history(s, arg);
	case JOURNAL_RULE: return put_rule(s, arg);
	case JOURNAL_RULE_REMOVE:
		return run_with_row(s, STATEMENT_RULE_REMOVE, *(const int64_t *)arg);
	case JOURNAL_RULE_MATCHES: return put_rule_matches(s, arg);
	case JOURNAL_TRUST: return put_trust(s, arg);
	case JOURNAL_TRUST_REMOVE: return remove_trust(s, arg);
	case JOURNAL_ALIVE:
		s->now.alive = *(const int64_t *)arg;
		s->now.meta_due = true;
		return 0;
	default: return -EINVAL;
	}
}

int sqlite_touch(struct sqlite *s)
{
	char sql[64];

	sqlite3_snprintf(sizeof(sql), sql, "PRAGMA user_version = %d", sqlite_version());
	return sqlite_error(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}
