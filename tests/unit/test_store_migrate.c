/* SPDX-License-Identifier: MIT */
/*
 * Databases of older versions. Each stands in tests/unit/data as SQL text, written by the
 * program of that time from the records that a function here makes, so that what comes
 * over can be compared with what was meant, to the last hash.
 */
#include "config.h"

#include "broker/store/sqlite_private.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- version 1: no rules, and nothing of them in the history; 2: no trust; 3: no ceilings ---- */

#define OLD_VERSIONS 3

/* That the test is about. */
static int version = 1;

static void fill(struct journal *j)
{
	struct history_row suspended = {.at = 30000000,
		.event = HISTORY_TURN_SUSPENDED,
		.state = TURN_SUSPENDED,
		.uid = 1000,
		.session = test_id(101),
		.turn = test_id(301),
		.by = bytes_of("uid 1000"),
		.reason = bytes_of("")};

	must_begin(j);
	for (unsigned i = 0; i < 6; i++) {
		put_session(j, 100 + i, i, i % 2);
		put_turn(j, 300 + i, 100 + i, i, i % 3);
		put_request(j, 500 + i, 100 + i, 300 + i, i, i % 5);
	}
	for (unsigned i = 0; i < 24; i++) {
		struct history_row row = test_decision(i, 100 + i % 6, 300 + i % 6, 700 + i);

		if (version == 1) {
			row.rule = row.floor = (struct bytes){NULL, 0};
			row.rule_id = 0;
		}
		must_put(j, JOURNAL_HISTORY, &row);
	}
	for (unsigned i = 1; version > 1 && i < 6; i++)
		put_rule(j, i, i, i % 2);
	if (version > 1)
		remove_rule(j, 5);
	for (unsigned i = 0; version > 2 && i < 3; i++)
		put_trust(j, 1000 + i, i, i);
	must_put(j, JOURNAL_HISTORY, &suspended);
	must_put(j, JOURNAL_SESSION_REMOVE, (struct uuid[]){test_id(105)});
	must_put(j, JOURNAL_ALIVE, &(int64_t){99});
	must_commit(j);
	/* twice, so that the second anchor stands behind the first */
	ck_assert_int_eq(
		journal_prune(j, &(struct retention){.max_age_us = 5000000}, 15000000, 4), 4);
	ck_assert_int_eq(
		journal_prune(j, &(struct retention){.max_age_us = 5000000}, 15000000, 100), 6);
}

/* A session and a turn get what they had not before. */
static void put_budgets(struct journal *j, unsigned session, unsigned turn)
{
	struct session_record s = test_session(session, 9, true);
	struct turn_record t = test_turn(turn, session, 9, true);

	s.budget = str_new("\0session", 8);
	t.budget = str_new("\0turn", 5);
	must_put(j, JOURNAL_SESSION, &s);
	must_put(j, JOURNAL_TURN, &t);
	session_release(&s);
	turn_release(&t);
}

static char *expected(void)
{
	struct journal *j = NULL;
	char *all;

	ck_assert_int_eq(journal_open_memory(&j), 0);
	fill(j);
	all = dump_all(j);
	journal_close(j);
	return all;
}

/* The whole database as one transaction, in the log alone or in the file. */
static char *fixture_sql(bool in_log)
{
	static const char *const names[OLD_VERSIONS] = {TEST_DATA "/store_v1.sql",
		TEST_DATA "/store_v2.sql", TEST_DATA "/store_v3.sql"};
	const char *const name = names[version - 1];
	FILE *f = fopen(name, "r");
	char *text = NULL, *sql;
	size_t size = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(getdelim(&text, &size, '\0', f), 0);
	fclose(f);
	sql = sqlite3_mprintf("PRAGMA synchronous = OFF; PRAGMA journal_mode = %s; "
			      "PRAGMA wal_autocheckpoint = 0; BEGIN; %s; COMMIT",
		in_log ? "WAL" : "MEMORY", text);
	free(text);
	return sql;
}

static int64_t integer(const char *sql)
{
	int64_t v = -1;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(fixture_path(), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite_integer(db, sql, &v), 0);
	sqlite3_close(db);
	return v;
}

/* in_log: by a process that is killed, so that it is as after a crash of the old program. */
static void write_old(bool in_log)
{
	char *sql = fixture_sql(in_log);
	int status;
	pid_t pid;

	if (!in_log) {
		tamper(sql);
		sqlite3_free(sql);
		return;
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		sqlite3 *db;

		if (sqlite3_open(fixture_path(), &db) ||
			sqlite3_exec(db, sql, NULL, NULL, NULL))
			_exit(1);
		sqlite3_free(sql);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(access(fixture_path_with("-wal"), F_OK), 0);
	sqlite3_free(sql);
}

/* All of it is there as it was. */
static struct journal *open_new(void)
{
	struct journal *j = open_db();

	expect_same(dump_all(j), expected());
	ck_assert_uint_eq(verify_count(j), 17);
	ck_assert_int_eq(integer("PRAGMA user_version"), sqlite_version());
	return j;
}

/* And what is new can be written behind it. */
START_TEST(comes_over)
{
	struct journal *j;
	struct history_row row;
	struct rule_record rule;
	char *all;

	version = 1 + _i / 2;
	write_old(_i % 2);
	j = open_new();
	for (uint32_t chunk = 1; chunk < 20; chunk += 6)
		ck_assert_uint_eq(verify_all(j, chunk), 0);
	must_begin(j);
	put_rule(j, 6, 1, true);
	put_trust(j, 1000, 1, 1);
	put_budgets(j, 103, 303);
	put_decision(j, 29, 1, 2, 3); /* by a rule, and at the floor */
	rule = test_rule(6, 1, true);
	rule_row(&row, HISTORY_RULE_ADDED, &rule, str_bytes(rule.by), 31000000);
	must_put(j, JOURNAL_HISTORY, &row);
	rule_release(&rule);
	must_commit(j);
	ck_assert_uint_eq(verify_count(j), 19);
	all = dump_all(j);
	journal_close(j);
	ck_assert_int_eq(integer("SELECT count(*) FROM history_text WHERE seq > 27 AND rule "
				 "LIKE '%Bash%'"),
		2);
	j = open_db();
	expect_same(dump_all(j), all);
	/* the old part goes, the chain goes on */
	ck_assert_int_eq(
		journal_prune(j, &(struct retention){.max_age_us = 1}, 29000000, 1000), 14);
	ck_assert_uint_eq(verify_count(j), 6);
	journal_close(j);
}
END_TEST

/* Text that is put into the new columns of an old row was not there when it was written. */
START_TEST(rows_stay_proven)
{
	static const char *const changes[] = {
		"UPDATE history SET rule = 'allow Bash' WHERE seq = 20",
		"UPDATE history SET rule = '' WHERE seq = 20",
		"UPDATE history SET floor = 'x' WHERE seq = 20",
		"UPDATE history SET rule_id = 1 WHERE seq = 20",
		"UPDATE history SET tool = 'x' WHERE seq = 20",
	};

	version = 1 + _i;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct journal *j;

		write_old(false);
		journal_close(open_db());
		tamper(changes[i]);
		j = open_db();
		ck_assert_uint_eq(verify_all(j, 5), 20);
		journal_close(j);
		fixture_teardown();
		fixture_setup();
	}
}
END_TEST

/* What was changed before the migration is found after it, too. */
START_TEST(changes_are_found)
{
	struct journal *j;

	version = 1 + _i;
	write_old(false);
	tamper("UPDATE history SET tool = 'x' WHERE seq = 20");
	j = open_db();
	ck_assert_uint_eq(verify_all(j, 5), 20);
	journal_close(j);
}
END_TEST

/* ---- a migration that does not come to its end ---- */

/* of the test's own process: the write that fails, counted down; or it is its death */
static int write_countdown;
static bool write_kills;

static bool write_fails(void)
{
	if (write_countdown == 0 || --write_countdown > 0)
		return false;
	if (write_kills)
		kill(getpid(), SIGKILL);
	errno = ENOSPC;
	return true;
}

static ssize_t failing_write(int fd, const void *data, size_t len)
{
	return write_fails() ? -1 : write(fd, data, len);
}

static ssize_t failing_pwrite(int fd, const void *data, size_t len, off_t at)
{
	return write_fails() ? -1 : pwrite(fd, data, len, at);
}

static void install_failing_writes(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)failing_write);
	vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)failing_pwrite);
	vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)failing_pwrite);
}

/* Whatever write it is that fails for lack of room: there is the old version or the new. */
START_TEST(full_in_migration)
{
	unsigned failures = 0;
	int n;

	version = 1 + _i / 2;
	install_failing_writes();
	for (n = 1; n < 1000; n++) {
		struct journal *j = NULL;
		bool failed;
		int err;

		write_old(_i % 2);
		write_countdown = n;
		err = journal_open_sqlite(&j, fixture_path());
		failed = write_countdown == 0;
		write_countdown = 0;
		journal_close(j);
		if (err) {
			ck_assert_int_eq(err, -ENOSPC);
			failures++;
		}
		journal_close(open_new());
		fixture_teardown();
		fixture_setup();
		if (!failed)
			break;
	}
	ck_assert_int_lt(n, 1000);
	ck_assert_uint_gt(failures, 5);
}
END_TEST

/* The same when it is the broker's end. */
START_TEST(killed_in_migration)
{
	int n;

	version = 1 + _i / 2;
	install_failing_writes();
	for (n = 1; n < 1000; n++) {
		int status;
		pid_t pid;

		write_old(_i % 2);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			struct journal *j = NULL;

			write_kills = true;
			write_countdown = n;
			_exit(journal_open_sqlite(&j, fixture_path()) ? 1 : 0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		journal_close(open_new());
		fixture_teardown();
		fixture_setup();
		if (WIFEXITED(status)) {
			ck_assert_int_eq(WEXITSTATUS(status), 0);
			break;
		}
	}
	ck_assert_int_gt(n, 5);
	ck_assert_int_lt(n, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migrate");
	TCase *tc = tcase_create("migrate");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 120);
	/* each version, in the file and in the log */
	tcase_add_loop_test(tc, comes_over, 0, 2 * OLD_VERSIONS);
	tcase_add_loop_test(tc, rows_stay_proven, 0, OLD_VERSIONS);
	tcase_add_loop_test(tc, changes_are_found, 0, OLD_VERSIONS);
	tcase_add_loop_test(tc, full_in_migration, 0, 2 * OLD_VERSIONS);
	tcase_add_loop_test(tc, killed_in_migration, 0, 2 * OLD_VERSIONS);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
