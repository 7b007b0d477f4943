/* SPDX-License-Identifier: MIT */
/* Reading what a database holds when it is opened, and giving it to the core. */
#include "broker/store/sqlite_column.h"
#include "broker/store/sqlite_private.h"

static int restore_meta(struct sqlite *s)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	struct column column = {.i = 0}, *c = &column;
	struct sqlite_state *r = &s->now;
	int err, rc;

	err = sqlite_prepare(s,
		"SELECT alive, newest, mark_seq, mark_hash, anchor_seq, anchor_hash, "
		"anchor_row, rule_id "
		"FROM meta WHERE id = 1",
		&stmt);
	if (err)
		return err;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? -EUCLEAN : sqlite_error(s, rc);
	c->stmt = stmt;
	read_i64(c, &r->alive, 0);
	read_uuid(c, &r->newest, 0);
	read_u64(c, &r->mark.seq, 0);
	read_hash(c, &r->mark.hash, 0);
	read_u64(c, &r->anchor.last.seq, 0);
	read_hash(c, &r->anchor.last.hash, 0);
	read_u64(c, &r->anchor.row, 0);
	r->rule_id = (uint64_t)read_range(c, 0, INT64_MAX);
	return c->err;
}

/*
 * The head is the last row; but where rows are missing before the mark, the
 * chain goes on from the mark, so that verifying will find the gap.
 */
static int restore_head(struct sqlite *s)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	struct column column = {.i = 0}, *c = &column;
	struct chain_link last = s->now.anchor.last;
	int err, rc;

	err = sqlite_prepare(
		s, "SELECT seq, hash FROM history ORDER BY seq DESC LIMIT 1", &stmt);
	if (err)
		return err;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		c->stmt = stmt;
		read_u64(c, &last.seq, 0);
		read_hash(c, &last.hash, 0);
		if (c->err)
			return c->err;
	} else if (rc != SQLITE_DONE) {
		return sqlite_error(s, rc);
	}
	s->now.head = last.seq >= s->now.mark.seq ? last : s->now.mark;
	return 0;
}

/* The rows that were written after meta was. */
static int restore_newest(struct sqlite *s)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int err, rc;

	err = sqlite_prepare(
		s, "SELECT session, turn, request FROM history WHERE seq > ?", &stmt);
	if (err)
		return err;
	sqlite3_bind_int64(stmt, 1, (int64_t)s->now.mark.seq);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct column column = {.stmt = stmt}, *c = &column;

		for (int i = 0; i < 3; i++) {
			struct uuid id;

			read_uuid(c, &id, 0);
			uuid_raise(&s->now.newest, &id);
		}
		if (c->err)
			return c->err;
	}
	return sqlite_error(s, rc);
}

static int restore_rows(struct sqlite *s, enum record_kind kind, const char *sql)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int err, rc;

	err = sqlite_prepare(s, sql, &stmt);
	if (err)
		return err;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct column column = {.stmt = stmt}, *c = &column;
		struct uuid id;
		int64_t row;

		row = read_range(c, 1, INT64_MAX);
		read_key(c, &id, 0);
		if (c->err)
			return c->err;
		if (rowmap_get(&s->rows[kind], &id))
			return -EUCLEAN;
		err = rowmap_add(&s->rows[kind], &id, row);
		if (err)
			return err;
		s->now.last_row[kind] = row;
		uuid_raise(&s->now.newest, &id);
	}
	return sqlite_error(s, rc);
}

/* A rule that somebody else put there has used its id, too. */
static int restore_rule_id(struct sqlite *s)
{
	int64_t max;
	int err = sqlite_integer(s->db, "SELECT max(id) FROM rule", &max);

	if (!err && max > (int64_t)s->now.rule_id)
		s->now.rule_id = (uint64_t)max;
	return err;
}

int sqlite_restore(struct sqlite *s)
{
	int err;

	s->now = (struct sqlite_state){0};
	err = restore_meta(s);
	if (!err)
		err = restore_head(s);
	if (!err)
		err = restore_newest(s);
	if (!err)
		err = restore_rows(
			s, RECORD_SESSION, "SELECT id, uuid FROM session ORDER BY id");
	if (!err)
		err = restore_rows(s, RECORD_TURN, "SELECT id, uuid FROM turn ORDER BY id");
	if (!err)
		err = restore_rows(
			s, RECORD_REQUEST, "SELECT id, uuid FROM request ORDER BY id");
	if (!err)
		err = restore_rule_id(s);
	return err;
}

/* ---- load ---- */

static int read_session(struct column *c, struct session_record *r)
{
	read_key(c, &r->id, 0);
	SESSION_COLUMNS(COLUMN_READ)
	return c->err;
}

static int read_rule(struct column *c, struct rule_record *r)
{
	read_u64(c, &r->id, 0);
	RULE_COLUMNS(COLUMN_READ)
	return c->err ? c->err : rule_record_valid(r) ? 0 : -EUCLEAN;
}

static int read_trust(struct column *c, struct trust_record *r)
{
	read_u32(c, &r->uid, 0);
	TRUST_COLUMNS(COLUMN_READ)
	return c->err ? c->err : trust_record_valid(r) ? 0 : -EUCLEAN;
}

static int read_turn(struct column *c, struct turn_record *r)
{
	read_key(c, &r->id, 0);
	TURN_COLUMNS(COLUMN_READ)
	return c->err;
}

static int read_request(struct column *c, struct request_record *r)
{
	struct bytes paths;

	read_key(c, &r->id, 0);
	REQUEST_COLUMNS(COLUMN_READ)
	BODY_COLUMNS(COLUMN_READ)
	read_rowblob(c, &paths, 0);
	if (c->err)
		return c->err;
	return sqlite_paths_decode(paths, r);
}

static int give(
	enum record_kind kind, sqlite3_stmt *stmt, const struct journal_loader *l, void *arg)
{
	struct column c = {.stmt = stmt};
	union record r;
	int err;

	memset(&r, 0, sizeof(r));
	switch (kind) {
	case RECORD_SESSION:
		err = read_session(&c, &r.session);
		if (!err)
			err = l->session(arg, &r.session);
		break;
	case RECORD_TURN:
		err = read_turn(&c, &r.turn);
		if (!err)
			err = l->turn(arg, &r.turn);
		break;
	case RECORD_RULE:
		err = read_rule(&c, &r.rule);
		if (!err)
			err = l->rule(arg, &r.rule);
		break;
	case RECORD_TRUST:
		err = read_trust(&c, &r.trust);
		if (!err)
			err = l->trust(arg, &r.trust);
		break;
	default:
		err = read_request(&c, &r.request);
		if (!err)
			err = l->request(arg, &r.request);
		break;
	}
	record_release(kind, &r);
	return err < 0 ? err : 0;
}

static int load_records(
	struct sqlite *s, enum record_kind kind, const struct journal_loader *l, void *arg)
{
	static const char *const select[RECORD_N] = {
		[RECORD_SESSION] = "SELECT uuid" SESSION_COLUMNS(
			COLUMN_NAME) " FROM session ORDER BY uuid",
		[RECORD_TURN] =
			"SELECT uuid" TURN_COLUMNS(COLUMN_NAME) " FROM turn ORDER BY id",
		[RECORD_RULE] = "SELECT id" RULE_COLUMNS(COLUMN_NAME) " FROM rule ORDER BY id",
		[RECORD_TRUST] = "SELECT uid" TRUST_COLUMNS(
			COLUMN_NAME) " FROM trust ORDER BY uid, project",
		[RECORD_REQUEST] = "SELECT uuid" REQUEST_COLUMNS(
			COLUMN_NAME) ", coalesce(request.input, b.input),"
				     " coalesce(request.description, b.description),"
				     " coalesce(request.extra, b.extra), paths"
				     " FROM request LEFT JOIN request_body AS b ON b.id = "
				     "request.id"
				     " ORDER BY request.id",
	};
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int err, rc;

	err = sqlite_prepare(s, select[kind], &stmt);
	if (err)
		return err;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		err = give(kind, stmt, l, arg);
		if (err)
			return err;
	}
	return sqlite_error(s, rc);
}

/* The turns that have not ended, and where the history stood when the first of them began. */
static int live_turns(struct sqlite *s, struct rowmap *live, uint64_t *first)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	int err, rc;

	*first = INT64_MAX;
	err = sqlite_prepare(s, "SELECT uuid, begun_seq FROM turn WHERE state IS NOT ?", &stmt);
	if (err)
		return err;
	sqlite3_bind_int(stmt, 1, TURN_ENDED);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct column column = {.stmt = stmt}, *c = &column;
		struct uuid id;
		uint64_t begun;

		read_key(c, &id, 0);
		begun = (uint64_t)read_range(c, 0, INT64_MAX);
		if (c->err)
			return c->err;
		if (begun < *first)
			*first = begun;
		err = rowmap_get(live, &id) ? 0 : rowmap_add(live, &id, 1);
		if (err)
			return err;
	}
	return sqlite_error(s, rc);
}

static int load_decisions(struct sqlite *s, const struct rowmap *live, uint64_t first,
	const struct journal_loader *l, void *arg)
{
	sqlite3_stmt *stmt SQLITE_SCOPED = NULL;
	char sql[1024];
	int err, rc;

	sqlite3_snprintf(sizeof(sql), sql, "%s WHERE seq > %lld ORDER BY seq",
		sqlite_history_select, (long long)first);
	err = sqlite_prepare(s, sql, &stmt);
	if (err)
		return err;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct history_row row;

		err = sqlite_read_row(stmt, &row);
		if (!err && (row.event == HISTORY_DECISION || row.event == HISTORY_OUTCOME) &&
			rowmap_get(live, &row.turn))
			err = l->decision(arg, &row);
		if (err < 0)
			return err;
	}
	return sqlite_error(s, rc);
}

int sqlite_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state)
{
	struct sqlite *s = sqlite_of(j);
	struct rowmap live = {0};
	uint64_t first = 0;
	int err = sqlite_ready(s);

	*state = (struct journal_state){s->now.alive, s->now.newest, s->now.rule_id};
	for (int kind = 0; kind < RECORD_N && !err; kind++)
		err = load_records(s, (enum record_kind)kind, l, arg);
	if (!err)
		err = live_turns(s, &live, &first);
	if (!err && live.used)
		err = load_decisions(s, &live, first, l, arg);
	rowmap_free(&live);
	return err;
}
