/* SPDX-License-Identifier: MIT */
/*
 * How the members of records and rows stand in columns. Each list is X(type,
 * column, member, bound): the type names a bind_ and a read_ function below,
 * and bound is the number of values of an enumeration. Statements, binding and
 * reading are all made from these lists; the tables themselves are made by the
 * migrations, whose text never changes. Before the lists of the records stand
 * their rowid and uuid, before that of a rule its id, of trust its uid, of the history its seq.
 */
#ifndef STORE_SQLITE_COLUMN_H
#define STORE_SQLITE_COLUMN_H

#include "broker/core/types.h"
#include "libapproval/limits.h"

#include <errno.h>
#include <sqlite3.h>

#define SESSION_COLUMNS(X)                                                                     \
	X(uuid, parent, parent, 0)                                                             \
	X(uuid, parent_turn, parent_turn, 0)                                                   \
	X(text, agent, agent, 0)                                                               \
	X(text, agent_session, key, 0)                                                         \
	X(text, title, title, 0)                                                               \
	X(text, cwd, cwd, 0)                                                                   \
	X(text, workspace, workspace, 0)                                                       \
	X(text, exe, exe, 0)                                                                   \
	X(blob, cursor, cursor, 0)                                                             \
	X(u32, pid, subject.pid, 0)                                                            \
	X(u64, pid_start, subject.start, 0)                                                    \
	X(i64, since, since, 0)                                                                \
	X(i64, channel_ms, channel_ms, 0)                                                      \
	X(u32, uid, uid, 0)                                                                    \
	X(u8, claim, claim, MODE_N)                                                            \
	X(u8, ceiling, ceiling, MODE_N)                                                        \
	X(flag, fail_closed, fail_closed, 0)                                                   \
	X(flag, ended, ended, 0)                                                               \
	X(blob, budget, budget, 0)

#define TURN_COLUMNS(X)                                                                        \
	X(key, session, session, 0)                                                            \
	X(text, agent_turn, key, 0)                                                            \
	X(text, reason, reason, 0)                                                             \
	X(u64, input, usage.input, 0)                                                          \
	X(u64, output, usage.output, 0)                                                        \
	X(u64, cache_read, usage.cache_read, 0)                                                \
	X(u64, cache_write, usage.cache_write, 0)                                              \
	X(u64, cost_microusd, usage.cost_microusd, 0)                                          \
	X(u64, usage_seq, usage_seq, 0)                                                        \
	X(i64, since, since, 0)                                                                \
	X(i64, ended_at, ended_at, 0)                                                          \
	X(u32, calls, calls, 0)                                                                \
	X(u32, denied, denied, 0)                                                              \
	X(u8, state, state, TURN_STATE_N)                                                      \
	X(u8, causes, causes, (CAUSE_HAND | CAUSE_BUDGET) + 1)                                 \
	X(u8, ended_by, ended_by, SOURCE_N)                                                    \
	X(blob, budget, budget, 0)

/* its id is the rowid */
#define RULE_COLUMNS(X)                                                                        \
	X(u8, scope, scope, SCOPE_N)                                                           \
	X(u32, uid, uid, 0)                                                                    \
	X(uuid, owner, owner, 0)                                                               \
	X(text, project, project, 0)                                                           \
	X(text, rule, text, 0)                                                                 \
	X(text, made_by, by, 0)                                                                \
	X(text, origin, origin, 0)                                                             \
	X(i64, made, made, 0)                                                                  \
	X(i64, expires, expires, 0)                                                            \
	X(u64, matches, matches, 0)                                                            \
	X(i64, matched_at, matched_at, 0)

/* before them its uid, which with the project is the key */
#define TRUST_COLUMNS(X)                                                                       \
	X(text, project, project, 0)                                                           \
	X(hash, hash, hash, 0)                                                                 \
	X(text, made_by, by, 0)                                                                \
	X(i64, made, made, 0)

/* paths and body follow */
#define REQUEST_COLUMNS(X)                                                                     \
	X(key, session, session, 0)                                                            \
	X(uuid, turn, turn, 0)                                                                 \
	X(text, call, call, 0)                                                                 \
	X(text, tool, tool, 0)                                                                 \
	X(text, summary, summary, 0)                                                           \
	X(text, command, command, 0)                                                           \
	X(text, cwd, cwd, 0)                                                                   \
	X(text, reason, reason, 0)                                                             \
	X(text, decided_by, by, 0)                                                             \
	X(blob, updated_input, updated_input, 0)                                               \
	X(blob, answers, answers, 0)                                                           \
	X(hash, digest, digest, 0)                                                             \
	X(i64, since, since, 0)                                                                \
	X(i64, deadline, deadline, 0)                                                          \
	X(i64, decided_at, decided_at, 0)                                                      \
	X(u8, type, type, REQUEST_TYPE_N)                                                      \
	X(u8, kind, kind, KIND_N)                                                              \
	X(u8, state, state, REQUEST_STATE_N)                                                   \
	X(u8, on_disconnect, on_disconnect, DISCONNECT_N)                                      \
	X(u8, step, step, STEP_N)                                                              \
	X(u8, verdict, verdict, VERDICT_N)                                                     \
	X(u8, source, source, SOURCE_N)                                                        \
	X(u8, scope, scope, SCOPE_N)                                                           \
	X(flag, mutating, mutating, 0)                                                         \
	X(flag, elsewhere, elsewhere, 0)                                                       \
	X(flag, fail_closed, fail_closed, 0)                                                   \
	X(flag, takes_input, takes_input, 0)                                                   \
	X(flag, multi, multi, 0)                                                               \
	X(flag, delivered, delivered, 0)                                                       \
	X(flag, check_only, check, 0)

/* What is given once: see journal.h. */
#define BODY_COLUMNS(X)                                                                        \
	X(blob, input, input, 0)                                                               \
	X(text, description, description, 0)                                                   \
	X(blob, extra, extra, 0)

#define HISTORY_COLUMNS(X)                                                                     \
	X(i64, at, at, 0)                                                                      \
	X(event, event, event, HISTORY_N)                                                      \
	X(u32, uid, uid, 0)                                                                    \
	X(u32, pid, pid, 0)                                                                    \
	X(uuid, session, session, 0)                                                           \
	X(uuid, turn, turn, 0)                                                                 \
	X(uuid, request, request, 0)                                                           \
	X(rowtext, agent, agent, 0)                                                            \
	X(rowtext, call, call, 0)                                                              \
	X(rowtext, tool, tool, 0)                                                              \
	X(rowtext, command, command, 0)                                                        \
	X(rowtext, cwd, cwd, 0)                                                                \
	X(rowtext, workspace, workspace, 0)                                                    \
	X(rowtext, exe, exe, 0)                                                                \
	X(rowblob, input, input, 0)                                                            \
	X(rowtext, reason, reason, 0)                                                          \
	X(rowtext, decided_by, by, 0)                                                          \
	X(rowtext, detail, detail, 0)                                                          \
	X(rowtext, rule, rule, 0)                                                              \
	X(u64, rule_id, rule_id, 0)                                                            \
	X(rowtext, floor, floor, 0)                                                            \
	X(hash, digest, digest, 0)                                                             \
	X(u8, type, type, REQUEST_TYPE_N)                                                      \
	X(u8, kind, kind, KIND_N)                                                              \
	X(u8, verdict, verdict, VERDICT_N)                                                     \
	X(u8, source, source, SOURCE_N)                                                        \
	X(u8, scope, scope, SCOPE_N)                                                           \
	X(u8, step, step, STEP_N)                                                              \
	X(u8, state, state, REQUEST_STATE_N)                                                   \
	X(u8, mode, mode, MODE_N)                                                              \
	X(u64, count, count, 0)                                                                \
	X(hash, hash, hash, 0)

_Static_assert(
	(int)TURN_STATE_N <= (int)REQUEST_STATE_N, "a row's state is of a turn or a request");

/* for statements; for binding and reading, with a struct column *c and a record r */
#define COLUMN_NAME(type, column, member, bound)   ", " #column
#define COLUMN_MARK(type, column, member, bound)   ", ?"
#define COLUMN_UPDATE(type, column, member, bound) ", " #column " = excluded." #column
#define COLUMN_BIND(type, column, member, bound)   bind_##type(c, &r->member, bound);
#define COLUMN_READ(type, column, member, bound)   read_##type(c, &r->member, bound);

/* ---- binding ---- */

/* Goes through the columns; err is the first failure: -EINVAL or -ENOMEM. */
struct column {
	sqlite3_stmt *stmt;
	int i; /* of the next column; binding begins with 1, reading with 0 */
	int err;
};

static inline void bind_done(struct column *c, int rc)
{
	c->i++;
	if (rc != SQLITE_OK && !c->err)
		c->err = rc == SQLITE_NOMEM ? -ENOMEM : -EINVAL;
}

static inline void bind_i64(struct column *c, const int64_t *v, unsigned bound)
{
	bind_done(c, sqlite3_bind_int64(c->stmt, c->i, *v));
}

/* SQLite's integers are signed: above 2^63 the value shows negative, and reads back. */
static inline void bind_u64(struct column *c, const uint64_t *v, unsigned bound)
{
	bind_done(c, sqlite3_bind_int64(c->stmt, c->i, (int64_t)*v));
}

static inline void bind_u32(struct column *c, const uint32_t *v, unsigned bound)
{
	bind_done(c, sqlite3_bind_int64(c->stmt, c->i, *v));
}

/* A value out of range is refused here, since load would find it corrupt. */
static inline void bind_bounded(struct column *c, unsigned v, unsigned bound)
{
	bind_done(c, v < bound ? sqlite3_bind_int(c->stmt, c->i, (int)v) : SQLITE_RANGE);
}

static inline void bind_u8(struct column *c, const uint8_t *v, unsigned bound)
{
	bind_bounded(c, *v, bound);
}

static inline void bind_event(struct column *c, const enum history_event *v, unsigned bound)
{
	bind_bounded(c, (unsigned)*v, bound);
}

static inline void bind_flag(struct column *c, const bool *v, unsigned bound)
{
	bind_done(c, sqlite3_bind_int(c->stmt, c->i, *v));
}

static inline void bind_rowtext(struct column *c, const struct bytes *v, unsigned bound)
{
	if (v->len > LIMIT_FRAME)
		bind_done(c, SQLITE_TOOBIG);
	else
		bind_done(c,
			sqlite3_bind_text(c->stmt, c->i, v->data, (int)v->len, SQLITE_STATIC));
}

static inline void bind_rowblob(struct column *c, const struct bytes *v, unsigned bound)
{
	if (v->len > LIMIT_FRAME)
		bind_done(c, SQLITE_TOOBIG);
	else
		bind_done(c,
			sqlite3_bind_blob(c->stmt, c->i, v->data, (int)v->len, SQLITE_STATIC));
}

static inline void bind_text(struct column *c, struct str *const *v, unsigned bound)
{
	struct bytes b = str_bytes(*v);

	bind_rowtext(c, &b, bound);
}

static inline void bind_blob(struct column *c, struct str *const *v, unsigned bound)
{
	struct bytes b = str_bytes(*v);

	bind_rowblob(c, &b, bound);
}

/* nil is NULL */
static inline void bind_uuid(struct column *c, const struct uuid *v, unsigned bound)
{
	bind_done(c, sqlite3_bind_blob(c->stmt, c->i, uuid_is_nil(v) ? NULL : v->b,
			     sizeof(v->b), SQLITE_STATIC));
}

/* never nil */
static inline void bind_key(struct column *c, const struct uuid *v, unsigned bound)
{
	if (uuid_is_nil(v))
		bind_done(c, SQLITE_RANGE);
	else
		bind_uuid(c, v, bound);
}

/* all zero is NULL */
static inline void bind_hash(struct column *c, const uint8_t (*v)[32], unsigned bound)
{
	static const uint8_t zero[32];

	bind_done(c, sqlite3_bind_blob(c->stmt, c->i, memcmp(*v, zero, 32) == 0 ? NULL : *v, 32,
			     SQLITE_STATIC));
}

/* ---- reading ---- */

/*
 * Each value must be just as binding would have written it: anything else is
 * corrupt, or was written by somebody else. err is the first failure: -EUCLEAN
 * or -ENOMEM.
 */
static inline bool read_is(struct column *c, int type)
{
	if (sqlite3_column_type(c->stmt, c->i) == type)
		return true;
	if (!c->err)
		c->err = -EUCLEAN;
	return false;
}

static inline int64_t read_range(struct column *c, int64_t min, int64_t max)
{
	int64_t v = read_is(c, SQLITE_INTEGER) ? sqlite3_column_int64(c->stmt, c->i) : min;

	c->i++;
	if (v >= min && v <= max)
		return v;
	if (!c->err)
		c->err = -EUCLEAN;
	return min;
}

static inline void read_i64(struct column *c, int64_t *v, unsigned bound)
{
	*v = read_range(c, INT64_MIN, INT64_MAX);
}

static inline void read_u64(struct column *c, uint64_t *v, unsigned bound)
{
	*v = (uint64_t)read_range(c, INT64_MIN, INT64_MAX);
}

static inline void read_u32(struct column *c, uint32_t *v, unsigned bound)
{
	*v = (uint32_t)read_range(c, 0, UINT32_MAX);
}

static inline void read_u8(struct column *c, uint8_t *v, unsigned bound)
{
	*v = (uint8_t)read_range(c, 0, (int64_t)bound - 1);
}

static inline void read_event(struct column *c, enum history_event *v, unsigned bound)
{
	*v = (enum history_event)read_range(c, 0, (int64_t)bound - 1);
}

static inline void read_flag(struct column *c, bool *v, unsigned bound)
{
	*v = read_range(c, 0, 1) != 0;
}

/* The bytes of a column of that type, or none where it is NULL. */
static inline struct bytes read_bytes(struct column *c, int type)
{
	struct bytes b = {NULL, 0};

	if (sqlite3_column_type(c->stmt, c->i) != SQLITE_NULL && read_is(c, type)) {
		b.data = sqlite3_column_blob(c->stmt, c->i);
		b.len = (size_t)sqlite3_column_bytes(c->stmt, c->i);
		if (!b.data)
			b.data = ""; /* SQLite has no address for an empty one */
		if (b.len > LIMIT_FRAME && !c->err)
			c->err = -EUCLEAN;
	}
	c->i++;
	return b;
}

static inline void read_rowtext(struct column *c, struct bytes *v, unsigned bound)
{
	*v = read_bytes(c, SQLITE_TEXT);
}

static inline void read_rowblob(struct column *c, struct bytes *v, unsigned bound)
{
	*v = read_bytes(c, SQLITE_BLOB);
}

static inline void read_str(struct column *c, struct str **v, int type)
{
	struct bytes b = read_bytes(c, type);

	*v = NULL;
	if (c->err || !b.data)
		return;
	*v = str_new(b.data, b.len);
	if (!*v)
		c->err = -ENOMEM;
}

static inline void read_text(struct column *c, struct str **v, unsigned bound)
{
	read_str(c, v, SQLITE_TEXT);
}

static inline void read_blob(struct column *c, struct str **v, unsigned bound)
{
	read_str(c, v, SQLITE_BLOB);
}

/* Exactly len bytes that are not all zero, or NULL for zeros. */
static inline void read_exact(struct column *c, uint8_t *v, size_t len)
{
	static const uint8_t zero[32];
	struct bytes b = read_bytes(c, SQLITE_BLOB);

	memset(v, 0, len);
	if (!b.data)
		return;
	if (b.len == len && memcmp(b.data, zero, len) != 0)
		memcpy(v, b.data, len);
	else if (!c->err)
		c->err = -EUCLEAN;
}

static inline void read_uuid(struct column *c, struct uuid *v, unsigned bound)
{
	read_exact(c, v->b, sizeof(v->b));
}

static inline void read_key(struct column *c, struct uuid *v, unsigned bound)
{
	read_uuid(c, v, bound);
	if (uuid_is_nil(v) && !c->err)
		c->err = -EUCLEAN;
}

static inline void read_hash(struct column *c, uint8_t (*v)[32], unsigned bound)
{
	read_exact(c, *v, 32);
}

#endif
