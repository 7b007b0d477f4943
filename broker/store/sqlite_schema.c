/* SPDX-License-Identifier: MIT */
/* The tables, their migrations, and the view that people read. */
#include "broker/store/sqlite_private.h"

#include <errno.h>

/*
 * The text of a step never changes once it was released: a new version is a new
 * step at the end.
 */
static const struct sqlite_migration migrations[] = {
	{1, "CREATE TABLE meta ("
	    " id INTEGER PRIMARY KEY CHECK (id = 1),"
	    " alive INTEGER NOT NULL,"
	    " newest BLOB,"
	    " mark_seq INTEGER NOT NULL,"
	    " mark_hash BLOB,"
	    " anchor_seq INTEGER NOT NULL,"
	    " anchor_hash BLOB,"
	    " anchor_row INTEGER NOT NULL);"
	    "INSERT INTO meta VALUES (1, 0, NULL, 0, NULL, 0, NULL, 0);"
	    "CREATE TABLE session ("
	    " id INTEGER PRIMARY KEY, uuid BLOB, parent BLOB, parent_turn BLOB,"
	    " agent TEXT, agent_session TEXT, title TEXT, cwd TEXT, workspace TEXT,"
	    " exe TEXT, cursor BLOB, pid INTEGER, pid_start INTEGER, since INTEGER,"
	    " channel_ms INTEGER, uid INTEGER, claim INTEGER, ceiling INTEGER,"
	    " fail_closed INTEGER, ended INTEGER);"
	    "CREATE TABLE turn ("
	    " id INTEGER PRIMARY KEY, uuid BLOB, session BLOB, agent_turn TEXT,"
	    " reason TEXT, input INTEGER, output INTEGER, cache_read INTEGER,"
	    " cache_write INTEGER, cost_microusd INTEGER, usage_seq INTEGER,"
	    " since INTEGER, ended_at INTEGER, calls INTEGER, denied INTEGER,"
	    " state INTEGER, causes INTEGER, ended_by INTEGER,"
	    " begun_seq INTEGER NOT NULL);"
	    "CREATE TABLE request ("
	    " id INTEGER PRIMARY KEY, uuid BLOB, session BLOB, turn BLOB, call TEXT,"
	    " tool TEXT, summary TEXT, command TEXT, cwd TEXT, reason TEXT,"
	    " decided_by TEXT, updated_input BLOB, answers BLOB, digest BLOB,"
	    " since INTEGER, deadline INTEGER, decided_at INTEGER, type INTEGER,"
	    " kind INTEGER, state INTEGER, on_disconnect INTEGER, step INTEGER,"
	    " verdict INTEGER, source INTEGER, scope INTEGER, mutating INTEGER,"
	    " elsewhere INTEGER, fail_closed INTEGER, takes_input INTEGER,"
	    " multi INTEGER, delivered INTEGER, check_only INTEGER, paths BLOB,"
	    " input BLOB, description TEXT, extra BLOB);"
	    "CREATE TABLE request_body ("
	    " id INTEGER PRIMARY KEY, input BLOB, description TEXT, extra BLOB);"
	    "CREATE TABLE history ("
	    " seq INTEGER PRIMARY KEY, at INTEGER, event INTEGER, uid INTEGER,"
	    " pid INTEGER, session BLOB, turn BLOB, request BLOB, agent TEXT,"
	    " call TEXT, tool TEXT, command TEXT, cwd TEXT, workspace TEXT, exe TEXT,"
	    " input BLOB, reason TEXT, decided_by TEXT, detail TEXT, digest BLOB,"
	    " type INTEGER, kind INTEGER, verdict INTEGER, source INTEGER,"
	    " scope INTEGER, step INTEGER, state INTEGER, mode INTEGER,"
	    " count INTEGER, hash BLOB);"},
	{2, "CREATE TABLE rule ("
	    " id INTEGER PRIMARY KEY, scope INTEGER, uid INTEGER, owner BLOB,"
	    " project TEXT, rule TEXT, made_by TEXT, origin TEXT, made INTEGER,"
	    " expires INTEGER, matches INTEGER, matched_at INTEGER);"
	    "ALTER TABLE meta ADD COLUMN rule_id INTEGER NOT NULL DEFAULT 0;"
	    "ALTER TABLE history ADD COLUMN rule TEXT;"
	    "ALTER TABLE history ADD COLUMN rule_id INTEGER NOT NULL DEFAULT 0;"
	    "ALTER TABLE history ADD COLUMN floor TEXT;"},
	{3, "CREATE TABLE trust ("
	    " uid INTEGER NOT NULL, project TEXT NOT NULL, hash BLOB, made_by TEXT,"
	    " made INTEGER, PRIMARY KEY (uid, project)) WITHOUT ROWID;"},
	{4, "ALTER TABLE session ADD COLUMN budget BLOB;"
	    "ALTER TABLE turn ADD COLUMN budget BLOB;"},
};

#define MIGRATIONS (sizeof(migrations) / sizeof(migrations[0]))

int sqlite_version(void)
{
	return migrations[MIGRATIONS - 1].version;
}

static int step_apply(sqlite3 *db, const struct sqlite_migration *m)
{
	char version[128];
	int err;

	sqlite3_snprintf(sizeof(version), version,
		"PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;",
		SQLITE_APPLICATION_ID, m->version);
	err = sqlite_exec(db, "BEGIN IMMEDIATE");
	if (err)
		return err;
	err = sqlite_exec(db, m->sql);
	if (!err)
		err = sqlite_exec(db, version);
	if (err && !sqlite3_get_autocommit(db))
		sqlite_exec(db, "ROLLBACK");
	return err;
}

int sqlite_migrate(sqlite3 *db, const struct sqlite_migration *m, size_t n)
{
	int64_t version = 0, application = 0, tables = 0;
	bool changed = false;
	int err;

	err = sqlite_integer(db, "PRAGMA user_version", &version);
	if (!err)
		err = sqlite_integer(db, "PRAGMA application_id", &application);
	if (!err)
		err = sqlite_integer(db, "SELECT count(*) FROM sqlite_schema", &tables);
	if (err)
		return err;
	if (application ? application != SQLITE_APPLICATION_ID : version || tables)
		return -EUCLEAN;
	if (version > m[n - 1].version)
		return -EPROTO;
	for (size_t i = 0; i < n; i++) {
		if (m[i].version <= version)
			continue;
		err = step_apply(db, &m[i]);
		if (err)
			return err;
		changed = true;
	}
	/* older programs look for the version in the file, not in the log */
	return changed ? sqlite_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)") : 0;
}

/* ---- the view ---- */

#define VIEW_NAME(noun)                                                                        \
	static const char *view_##noun(int v)                                                  \
	{                                                                                      \
		return noun##_name((enum noun)v);                                              \
	}

/* clang-format off */
VIEW_NAME(history_event)
VIEW_NAME(request_type)
VIEW_NAME(kind)
VIEW_NAME(verdict)
VIEW_NAME(source)
VIEW_NAME(scope)
VIEW_NAME(step)
VIEW_NAME(mode)
VIEW_NAME(request_state)
VIEW_NAME(turn_state)
/* clang-format on */

static void view_case(sqlite3_str *sql, const char *column, int n, const char *(*name)(int v))
{
	sqlite3_str_appendf(sql, "CASE %s", column);
	for (int i = 0; i < n; i++)
		sqlite3_str_appendf(sql, " WHEN %d THEN %Q", i, name(i));
	sqlite3_str_appendf(sql, " ELSE %s END", column);
}

static void view_names(sqlite3_str *sql, const char *column, int n, const char *(*name)(int v))
{
	sqlite3_str_appendall(sql, ", ");
	view_case(sql, column, n, name);
	sqlite3_str_appendf(sql, " AS %s", column);
}

/* The id as it is on the wire: prefix and UUID. */
static void view_id(sqlite3_str *sql, const char *column, const char *prefix)
{
	static const struct {
		int first, length;
	} parts[] = {{1, 8}, {9, 4}, {13, 4}, {17, 4}, {21, 12}};

	sqlite3_str_appendf(sql, ", CASE WHEN %s IS NOT NULL THEN %Q", column, prefix);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sqlite3_str_appendf(sql, " || %Q || lower(substr(hex(%s), %d, %d))",
			i ? "-" : "", column, parts[i].first, parts[i].length);
	}
	sqlite3_str_appendf(sql, " END AS %s", column);
}

static void view_state(sqlite3_str *sql)
{
	sqlite3_str_appendf(sql, ", CASE WHEN event IN (%d, %d, %d, %d) THEN ",
		HISTORY_TURN_BEGUN, HISTORY_TURN_ENDED, HISTORY_TURN_SUSPENDED,
		HISTORY_TURN_RESUMED);
	view_case(sql, "state", TURN_STATE_N, view_turn_state);
	sqlite3_str_appendall(sql, " ELSE ");
	view_case(sql, "state", REQUEST_STATE_N, view_request_state);
	sqlite3_str_appendall(sql, " END AS state");
}

static char *view_text(sqlite3 *db)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendall(sql, "CREATE VIEW history_text AS SELECT seq, "
				   "strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000000.0, "
				   "'unixepoch') AS at");
	view_names(sql, "event", HISTORY_N, view_history_event);
	sqlite3_str_appendall(sql, ", uid, pid");
	view_id(sql, "session", "ses_");
	view_id(sql, "turn", "turn_");
	view_id(sql, "request", "req_");
	sqlite3_str_appendall(sql, ", agent, call");
	view_names(sql, "type", REQUEST_TYPE_N, view_request_type);
	sqlite3_str_appendall(sql, ", tool");
	view_names(sql, "kind", KIND_N, view_kind);
	sqlite3_str_appendall(sql, ", command, cwd, workspace, exe");
	view_names(sql, "verdict", VERDICT_N, view_verdict);
	view_names(sql, "source", SOURCE_N, view_source);
	view_names(sql, "scope", SCOPE_N, view_scope);
	view_names(sql, "step", STEP_N, view_step);
	view_state(sql);
	view_names(sql, "mode", MODE_N, view_mode);
	sqlite3_str_appendall(sql, ", rule, nullif(rule_id, 0) AS rule_id, floor, reason, "
				   "decided_by, detail, count, length(input) AS "
				   "input_size, lower(hex(digest)) AS digest, "
				   "lower(hex(hash)) AS hash FROM history");
	return sqlite3_str_finish(sql);
}

/*
 * The view names values that this program knows, so it follows the program and
 * is no part of the versions.
 */
static int view_refresh(sqlite3 *db)
{
	char *view = view_text(db), *query = NULL;
	int64_t same = 0;
	int err = -ENOMEM;

	if (view)
		query = sqlite3_mprintf("SELECT sql = %Q FROM sqlite_schema "
					"WHERE type = 'view' AND name = 'history_text'",
			view);
	if (!query)
		goto out;
	err = sqlite_integer(db, query, &same);
	if (err || same)
		goto out;
	sqlite3_free(query);
	query = sqlite3_mprintf(
		"BEGIN IMMEDIATE; DROP VIEW IF EXISTS history_text; %s; COMMIT", view);
	err = query ? sqlite_exec(db, query) : -ENOMEM;
	if (err && !sqlite3_get_autocommit(db))
		sqlite_exec(db, "ROLLBACK");
out:
	sqlite3_free(query);
	sqlite3_free(view);
	return err;
}

int sqlite_schema(sqlite3 *db)
{
	int err = sqlite_migrate(db, migrations, MIGRATIONS);

	return err ? err : view_refresh(db);
}
