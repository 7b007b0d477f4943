/* SPDX-License-Identifier: MIT */
/* What only a database has: files, versions, other processes, rows that went bad. */
#include "config.h"

#include "broker/store/sqlite_private.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_open(void)
{
	struct journal *j = NULL;
	int err = journal_open_sqlite(&j, fixture_path());

	ck_assert(!err == (j != NULL));
	journal_close(j);
	return err;
}

/* The whole of a file, to be freed; NULL where there is none. */
static char *slurp(const char *path, size_t *len)
{
	struct stat st;
	char *data;
	FILE *f = fopen(path, "r");

	*len = 0;
	if (!f)
		return NULL;
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	data = malloc((size_t)st.st_size + 1);
	*len = fread(data, 1, (size_t)st.st_size, f);
	fclose(f);
	return data;
}

static void fill(struct journal *j)
{
	must_begin(j);
	for (unsigned i = 0; i < 20; i++) {
		put_session(j, 100 + i, i, i % 2);
		put_turn(j, 300 + i, 100 + i, i, i % 3);
		put_request(j, 500 + i, 100 + i, 300 + i, i, i % 5);
		put_decision(j, i, 100 + i, 300 + i, 700 + i);
		put_rule(j, 1 + i, i, i % 2);
	}
	must_put(j, JOURNAL_ALIVE, &(int64_t){99});
	must_commit(j);
}

START_TEST(survives_reopening)
{
	struct journal *j = open_db();
	struct history_query q = query_all();
	char *load, *rows;

	fill(j);
	must_begin(j);
	must_put(j, JOURNAL_SESSION_REMOVE, (struct uuid[]){test_id(101)});
	remove_rule(j, 20);
	must_commit(j);
	must_begin(j);
	put_decision(j, 1, 100, 300, 5000); /* an id that stands in the history alone */
	put_request(j, 502, 100, 300, 9, true);
	must_commit(j);
	for (int i = 0; i < 3; i++) {
		load = dump_load(j);
		rows = dump_history(j, &q);
		ck_assert_ptr_nonnull(strstr(load, "newest=\"018bcfe57b88"));
		ck_assert_ptr_nonnull(strstr(load, i ? " rule_id=30\n" : " rule_id=20\n"));
		journal_close(j);
		j = open_db();
		expect_same(dump_load(j), load);
		expect_same(dump_history(j, &q), rows);
		must_begin(j);
		put_decision(j, 1, 100, 300, 600);
		put_request(j, 503, 100, 300, (unsigned)i, true);
		put_session(j, 800 + (unsigned)i, 1, true);
		put_rule(j, 3, (unsigned)i, true);
		if (i == 0) {
			put_rule(j, 30, 1, true);
			remove_rule(j, 30);
		}
		must_commit(j);
		ck_assert_uint_eq(verify_count(j), (uint64_t)(22 + i));
	}
	journal_close(j);
}
END_TEST

START_TEST(files_are_private)
{
	struct journal *j;
	struct stat st;

	umask(0);
	j = open_db();
	fill(j);
	for (int i = 0; i < 3; i++) {
		static const char *const ends[] = {"", "-wal", "-lock"};

		ck_assert_int_eq(stat(fixture_path_with(ends[i]), &st), 0);
		ck_assert_uint_eq(st.st_mode & 0777, 0600);
	}
	journal_close(j);
}
END_TEST

/* ---- other processes ---- */

/*
 * Runs fn in a process of its own, since locks belong to processes. It is killed
 * afterwards: nothing is closed on its way out.
 */
static int elsewhere(int (*fn)(void))
{
	int fds[2], status, result = -1;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		result = fn();
		if (write(fds[1], &result, sizeof(result)) == sizeof(result))
			pause();
		_exit(1);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &result, sizeof(result)), sizeof(result));
	close(fds[0]);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return result;
}

static int second_broker(void)
{
	struct journal *j = NULL;

	return -journal_open_sqlite(&j, fixture_path());
}

static int query_view(const char *sql, const char *expected)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db;
	const char *got;
	int result = 1;

	if (sqlite3_open_v2(fixture_path(), &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW) {
		got = (const char *)sqlite3_column_text(stmt, 0);
		result = got && strcmp(got, expected) == 0 ? 0 : 2;
		if (result)
			fprintf(stderr, "got %s\nnot %s\n", got, expected);
	} else {
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return result;
}

static int reader(void)
{
	return query_view("SELECT group_concat(seq || event || verdict || source || tool) FROM "
			  "(SELECT * FROM history_text WHERE seq IN (1, 2))",
		       "1decisiondenyuserRead,2decisionallowmodeBash") ||
	       query_view(
		       "SELECT at || ' ' || session || ' ' || turn || ' ' || request || ' ' || "
		       "type || ' ' || kind || ' ' || scope || ' ' || step || ' ' || state || "
		       "' ' || mode FROM history_text WHERE seq = 3",
		       "1970-01-01T00:00:02.000Z ses_018bcfe5-6866-7000-8000-000000000066 "
		       "turn_018bcfe5-692e-7000-8000-00000000012e "
		       "req_018bcfe5-6abe-7000-8000-0000000002be "
		       "tool_call execute once mode ALLOWED normal") ||
	       query_view("SELECT state || coalesce(session, '-') FROM history_text WHERE seq "
			  "= 21",
		       "SUSPENDED-");
}

START_TEST(other_processes)
{
	struct journal *j = open_db(), *second = NULL;
	struct history_row suspended = {
		.event = HISTORY_TURN_SUSPENDED, .state = TURN_SUSPENDED};

	fill(j);
	put_alone(j, JOURNAL_HISTORY, &suspended);
	ck_assert_int_eq(elsewhere(second_broker), EBUSY);
	ck_assert_int_eq(journal_open_sqlite(&second, fixture_path()), -EBUSY);
	ck_assert_int_eq(elsewhere(reader), 0);
	must_begin(j);
	put_decision(j, 1, 2, 3, 4);
	ck_assert_int_eq(elsewhere(reader), 0);
	must_commit(j);
	journal_close(j);
	ck_assert_int_eq(elsewhere(second_broker), 0);
}
END_TEST

/* A reader that never ends does not stop the writer. */
START_TEST(long_reader)
{
	struct journal *j = open_db();
	sqlite3 *db;

	fill(j);
	ck_assert_int_eq(sqlite3_open(fixture_path(), &db), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(db, "BEGIN; SELECT count(*) FROM history", NULL, NULL, NULL),
		SQLITE_OK);
	for (unsigned i = 0; i < 50; i++) {
		must_begin(j);
		for (unsigned k = 0; k < 100; k++)
			put_decision(j, k, 1, 2, 3);
		must_commit(j);
	}
	sqlite3_close(db);
	ck_assert_uint_eq(verify_count(j), 5020);
	journal_close(j);
}
END_TEST

START_TEST(locked_by_a_writer)
{
	struct journal *j = open_db();
	sqlite3 *db;
	char *before;

	fill(j);
	before = dump_load(j);
	ck_assert_int_eq(sqlite3_open(fixture_path(), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(journal_begin(j), -EBUSY);
	ck_assert_int_eq(journal_probe(j), -EBUSY);
	ck_assert_int_eq(
		journal_prune(j, &(struct retention){.max_age_us = 1}, INT64_MAX, 9), -EBUSY);
	expect_same(dump_load(j), before); /* reading goes on */
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_eq(journal_probe(j), 0);
	must_begin(j);
	put_decision(j, 1, 2, 3, 4);
	must_commit(j);
	journal_close(j);
}
END_TEST

/* ---- versions ---- */

static void set_version(int version)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", version);
	tamper(sql);
}

START_TEST(newer_version_in_the_file)
{
	size_t before_len, after_len;
	char *before, *after;

	journal_close(open_db());
	set_version(sqlite_version() + 1);
	before = slurp(fixture_path(), &before_len);
	ck_assert_int_eq(try_open(), -EPROTO);
	after = slurp(fixture_path(), &after_len);
	ck_assert_uint_eq(before_len, after_len);
	ck_assert_int_eq(memcmp(before, after, before_len), 0);
	ck_assert_int_ne(access(fixture_path_with("-wal"), F_OK), 0);
	free(before);
	free(after);
	set_version(sqlite_version());
	ck_assert_int_eq(try_open(), 0);
}
END_TEST

/* Leaves the log as a crash would. */
static int raise_version(void)
{
	char sql[64];
	sqlite3 *db;

	if (sqlite3_open(fixture_path(), &db) != SQLITE_OK)
		return 1;
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", sqlite_version() + 1);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

START_TEST(newer_version_in_the_log)
{
	size_t len[2], after_len;
	char *before[2], *after;

	journal_close(open_db());
	ck_assert_int_eq(elsewhere(raise_version), 0);
	before[0] = slurp(fixture_path(), &len[0]);
	before[1] = slurp(fixture_path_with("-wal"), &len[1]);
	ck_assert_uint_gt(len[1], 0);
	ck_assert_int_eq(try_open(), -EPROTO);
	for (int i = 0; i < 2; i++) {
		after = slurp(fixture_path_with(i ? "-wal" : ""), &after_len);
		ck_assert_uint_eq(len[i], after_len);
		ck_assert_int_eq(memcmp(before[i], after, after_len), 0);
		free(before[i]);
		free(after);
	}
}
END_TEST

/* The mechanism, on versions that never were. */
START_TEST(migrations)
{
	static const struct sqlite_migration list[] = {
		{1, "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)"},
		{2, "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1"},
		{4, "CREATE TABLE b AS SELECT x + y AS z FROM a; DROP TABLE a"},
	};
	static const struct sqlite_migration broken[] = {
		{1, "SELECT 1"},
		{2, "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1"},
		{3, "CREATE TABLE c (z); INSERT INTO nowhere VALUES (1)"},
	};
	int64_t v;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(fixture_path(), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite_migrate(db, list, 1), 0);
	ck_assert_int_eq(sqlite_integer(db, "SELECT x FROM a", &v), 0);
	ck_assert_int_eq(v, 1);
	/* a step that fails leaves the version before it */
	ck_assert_int_lt(sqlite_migrate(db, broken, 3), 0);
	ck_assert_int_eq(sqlite_integer(db, "PRAGMA user_version", &v), 0);
	ck_assert_int_eq(v, 2);
	ck_assert_int_eq(sqlite_integer(db, "SELECT count(*) FROM sqlite_schema", &v), 0);
	ck_assert_int_eq(v, 1);
	ck_assert_int_eq(sqlite_migrate(db, list, 3), 0);
	ck_assert_int_eq(sqlite_integer(db, "SELECT z FROM b", &v), 0);
	ck_assert_int_eq(v, 3);
	ck_assert_int_eq(sqlite_integer(db, "PRAGMA user_version", &v), 0);
	ck_assert_int_eq(v, 4);
	ck_assert_int_eq(sqlite_integer(db, "PRAGMA application_id", &v), 0);
	ck_assert_int_eq(v, SQLITE_APPLICATION_ID);
	ck_assert_int_eq(sqlite_migrate(db, list, 3), 0);
	ck_assert_int_eq(sqlite_migrate(db, list, 2), -EPROTO);
	sqlite3_close(db);
}
END_TEST

START_TEST(view_follows_the_program)
{
	journal_close(open_db());
	tamper("DROP VIEW history_text; CREATE VIEW history_text AS SELECT 1 AS seq");
	journal_close(open_db());
	ck_assert_int_eq(
		query_view("SELECT count(*) FROM pragma_table_info('history_text')", "33"), 0);
}
END_TEST

/* A large request does not go through the log again with each change of its state. */
START_TEST(large_bodies_are_written_once)
{
	struct journal *j = open_db();
	struct request_record r = test_request(21, 1, 11, 1, true);
	void *data = calloc(1, 1 << 20);
	struct stat st[2];

	str_unref(r.input);
	r.input = str_new(data, 1 << 20);
	put_alone(j, JOURNAL_REQUEST, &r);
	ck_assert_int_eq(stat(fixture_path_with("-wal"), &st[0]), 0);
	for (int i = 0; i < 10; i++) {
		r.state = (uint8_t)(i % 2 ? REQUEST_AWAITING : REQUEST_HELD);
		put_alone(j, JOURNAL_REQUEST, &r);
	}
	ck_assert_int_eq(stat(fixture_path_with("-wal"), &st[1]), 0);
	ck_assert_int_lt(st[1].st_size - st[0].st_size, 1 << 18);
	must_begin(j);
	must_put(j, JOURNAL_REQUEST_REMOVE, &r.id);
	must_commit(j);
	journal_close(j);
	ck_assert_int_eq(query_view("SELECT count(*) FROM request_body", "0"), 0);
	free(data);
	request_release(&r);
}
END_TEST

/* Somebody else wrote to the history: the next row finds its place taken. */
START_TEST(foreign_rows)
{
	struct journal *j = open_db();
	struct history_row row = test_decision(1, 1, 2, 3);

	fill(j);
	tamper("INSERT INTO history (seq, hash) VALUES (21, x'00')");
	must_begin(j);
	ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), -EIO);
	journal_rollback(j);
	ck_assert_int_eq(journal_begin(j), -EUCLEAN);
	ck_assert_int_eq(journal_probe(j), -EUCLEAN);
	tamper("DELETE FROM history WHERE seq = 21");
	put_alone(j, JOURNAL_HISTORY, &row);
	ck_assert_uint_eq(verify_count(j), 21);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sqlite");
	TCase *tc = tcase_create("sqlite");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, survives_reopening);
	tcase_add_test(tc, files_are_private);
	tcase_add_test(tc, other_processes);
	tcase_add_test(tc, long_reader);
	tcase_add_test(tc, locked_by_a_writer);
	tcase_add_test(tc, newer_version_in_the_file);
	tcase_add_test(tc, newer_version_in_the_log);
	tcase_add_test(tc, migrations);
	tcase_add_test(tc, view_follows_the_program);
	tcase_add_test(tc, foreign_rows);
	tcase_add_test(tc, large_bodies_are_written_once);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
