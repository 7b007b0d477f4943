/* SPDX-License-Identifier: MIT */
/* Files that are none of ours, rows that went bad, and values that would be. */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int try_open(void)
{
	struct journal *j = NULL;
	int err = journal_open_sqlite(&j, fixture_path());

	ck_assert(!err == (j != NULL));
	journal_close(j);
	return err;
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

static void write_file(const void *data, size_t len)
{
	FILE *f = fopen(fixture_path(), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	fclose(f);
}

START_TEST(not_ours)
{
	static char garbage[20000];
	struct stat st;

	tamper("CREATE TABLE theirs (x)");
	ck_assert_int_eq(try_open(), -EUCLEAN);
	tamper("PRAGMA application_id = 7; PRAGMA user_version = 1");
	ck_assert_int_eq(try_open(), -EUCLEAN);
	unlink(fixture_path());
	tamper("PRAGMA user_version = 1");
	ck_assert_int_eq(try_open(), -EUCLEAN);

	memset(garbage, 'x', sizeof(garbage));
	write_file(garbage, sizeof(garbage));
	ck_assert_int_eq(try_open(), -EUCLEAN);
	write_file(garbage, 10);
	ck_assert_int_eq(try_open(), -EUCLEAN);
	ck_assert_int_eq(stat(fixture_path(), &st), 0);
	ck_assert_int_eq(st.st_size, 10); /* and it is still there */
	write_file("", 0);
	ck_assert_int_eq(try_open(), 0);
	unlink(fixture_path());
	ck_assert_int_eq(mkdir(fixture_path(), 0700), 0);
	ck_assert_int_lt(try_open(), 0);
}
END_TEST

START_TEST(truncated)
{
	struct journal *j = open_db();
	struct stat st;

	must_begin(j);
	for (unsigned i = 0; i < 500; i++)
		put_decision(j, i, 1, 2, 3);
	must_commit(j);
	journal_close(j);
	ck_assert_int_eq(stat(fixture_path(), &st), 0);
	ck_assert_int_eq(truncate(fixture_path(), st.st_size - 4096), 0);
	ck_assert_int_eq(try_open(), -EUCLEAN);
	ck_assert_int_eq(truncate(fixture_path(), 50), 0);
	ck_assert_int_eq(try_open(), -EUCLEAN);
}
END_TEST

/* Its rows are decisions: who else may write them decides. */
START_TEST(of_others)
{
	journal_close(open_db());
	ck_assert_int_eq(chmod(fixture_path(), 0660), 0);
	ck_assert_int_eq(try_open(), -EPERM);
	ck_assert_int_eq(chmod(fixture_path(), 0602), 0);
	ck_assert_int_eq(try_open(), -EPERM);
	ck_assert_int_eq(chmod(fixture_path(), 0644), 0);
	ck_assert_int_eq(try_open(), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(fixture_path(), 12345, (gid_t)-1), 0);
		ck_assert_int_eq(try_open(), -EPERM);
	}
}
END_TEST

/* A log is played into it, and so that is as good as the database. */
START_TEST(beside_it_of_others)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	const char *const path = fixture_path_with(ends[_i]);
	int fd;

	journal_close(open_db());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(try_open(), 0);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0666), 0);
	close(fd);
	ck_assert_int_eq(try_open(), -EPERM);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink(fixture_path(), path), 0);
	ck_assert_int_eq(try_open(), -EPERM);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(chmod(fixture_dir(), 0777), 0);
	ck_assert_int_eq(try_open(), -EPERM);
	ck_assert_int_eq(chmod(fixture_dir(), 0700), 0);
	ck_assert_int_eq(try_open(), 0);
}
END_TEST

/* Neither one that leads nowhere, which would be created there, nor one to a database. */
START_TEST(link_in_its_place)
{
	char other[512];

	snprintf(other, sizeof(other), "%s-other", fixture_path());
	ck_assert_int_eq(symlink(other, fixture_path()), 0);
	ck_assert_int_eq(try_open(), -ELOOP);
	ck_assert_int_eq(access(other, F_OK), -1);
	ck_assert_int_eq(unlink(fixture_path()), 0);
	ck_assert_int_eq(try_open(), 0);
	ck_assert_int_eq(rename(fixture_path(), other), 0);
	ck_assert_int_eq(symlink(other, fixture_path()), 0);
	ck_assert_int_eq(try_open(), -ELOOP);
	ck_assert_int_eq(unlink(fixture_path()), 0);
	ck_assert_int_eq(unlink(other), 0);
}
END_TEST

static int nothing(void *arg, const void *r)
{
	return 0;
}

static int load_status(void)
{
	static const struct journal_loader loader = {
		(int (*)(void *, const struct session_record *))nothing,
		(int (*)(void *, const struct turn_record *))nothing,
		(int (*)(void *, const struct request_record *))nothing,
		(int (*)(void *, const struct history_row *))nothing,
		(int (*)(void *, const struct rule_record *))nothing,
	};
	struct journal *j = NULL;
	struct journal_state state;
	int err = journal_open_sqlite(&j, fixture_path());

	if (!err)
		err = journal_load(j, &loader, NULL, &state);
	journal_close(j);
	return err;
}

static const char *const corruptions[] = {
	"UPDATE session SET claim = 4 WHERE id = 3",
	"UPDATE session SET claim = -1 WHERE id = 3",
	"UPDATE session SET claim = NULL WHERE id = 3",
	"UPDATE session SET ended = 2 WHERE id = 3",
	"UPDATE session SET ended = NULL WHERE id = 3",
	"UPDATE session SET uid = 4294967296 WHERE id = 3",
	"UPDATE session SET uid = 'root' WHERE id = 3",
	"UPDATE session SET uuid = NULL WHERE id = 3",
	"UPDATE session SET uuid = x'00' WHERE id = 3",
	"UPDATE session SET uuid = zeroblob(16) WHERE id = 3",
	"UPDATE session SET uuid = (SELECT uuid FROM session WHERE id = 4) WHERE id = 3",
	"UPDATE session SET parent = x'0011' WHERE id = 3",
	"UPDATE session SET agent = CAST('x' AS BLOB) WHERE id = 3",
	"UPDATE session SET cursor = 'text' WHERE id = 3",
	"UPDATE turn SET state = 8 WHERE id = 3",
	"UPDATE turn SET state = NULL WHERE id = 3",
	"UPDATE turn SET causes = 4 WHERE id = 3",
	"UPDATE turn SET session = NULL WHERE id = 3",
	"UPDATE turn SET begun_seq = -1 WHERE id = 3",
	"UPDATE turn SET input = 'many' WHERE id = 3",
	"UPDATE request SET state = 14 WHERE id = 3",
	"UPDATE request SET verdict = 5 WHERE id = 3",
	"UPDATE request SET type = 200 WHERE id = 3",
	"UPDATE request SET mutating = 2 WHERE id = 3",
	"UPDATE request SET digest = x'00' WHERE id = 3",
	"UPDATE request SET digest = zeroblob(33) WHERE id = 3",
	"UPDATE request SET input = 'text' WHERE id = 3",
	"UPDATE request SET input = zeroblob(4194305) WHERE id = 3",
	"UPDATE request SET paths = x'08' WHERE id = 3",
	"UPDATE request SET paths = x'02' WHERE id = 3",
	"UPDATE request SET paths = x'0200000002ff' WHERE id = 3",
	"UPDATE request SET paths = x'02ffffffffff' WHERE id = 3",
	"UPDATE request SET paths = zeroblob(33) WHERE id = 3",
	/* rule 3 is of an administrator, rule 4 of a session */
	"UPDATE rule SET id = 0 WHERE id = 3",
	"UPDATE rule SET id = -3 WHERE id = 3",
	"UPDATE rule SET scope = 0 WHERE id = 3",
	"UPDATE rule SET scope = 5 WHERE id = 3",
	"UPDATE rule SET scope = NULL WHERE id = 3",
	"UPDATE rule SET scope = 3 WHERE id = 3",
	"UPDATE rule SET scope = 4 WHERE id = 4",
	"UPDATE rule SET uid = NULL WHERE id = 3",
	"UPDATE rule SET uid = 4294967296 WHERE id = 3",
	"UPDATE rule SET uid = 4294967295 WHERE id = 4",
	"UPDATE rule SET owner = x'00112233445566778899aabbccddeeff' WHERE id = 3",
	"UPDATE rule SET owner = NULL WHERE id = 4",
	"UPDATE rule SET owner = x'00' WHERE id = 4",
	"UPDATE rule SET project = '' WHERE id = 4",
	"UPDATE rule SET rule = NULL WHERE id = 3",
	"UPDATE rule SET rule = '' WHERE id = 3",
	"UPDATE rule SET rule = rule || char(10) || 'allow Bash' WHERE id = 3",
	"UPDATE rule SET rule = CAST(x'616c6c6f7700' AS TEXT) WHERE id = 3",
	"UPDATE rule SET rule = CAST(rule AS BLOB) WHERE id = 3",
	"UPDATE rule SET rule = printf('allow Bash(%65536d)', 1) WHERE id = 3",
	"UPDATE rule SET made_by = NULL WHERE id = 3",
	"UPDATE rule SET origin = '' WHERE id = 3",
	"UPDATE rule SET made = -1 WHERE id = 3",
	"UPDATE rule SET expires = -1 WHERE id = 3",
	"UPDATE rule SET expires = NULL WHERE id = 4",
	"UPDATE rule SET expires = 'never' WHERE id = 4",
	"UPDATE rule SET matches = NULL WHERE id = 3",
	"UPDATE rule SET matched_at = -1 WHERE id = 3",
	"UPDATE history SET event = 19 WHERE seq = 3",
	"UPDATE history SET rule = x'00' WHERE seq = 3",
	"UPDATE history SET rule_id = 'x' WHERE seq = 3",
	"UPDATE history SET floor = x'00' WHERE seq = 3",
	"UPDATE history SET event = NULL WHERE seq = 3",
	"UPDATE history SET turn = x'01' WHERE seq = 3",
	"UPDATE history SET turn = 'text' WHERE seq = 20",
	"UPDATE history SET hash = x'01' WHERE seq = 20",
	"UPDATE history SET state = 14 WHERE seq = 3",
	"UPDATE meta SET mark_seq = 'x'",
	"UPDATE meta SET newest = x'01'",
	"UPDATE meta SET rule_id = -1",
	"UPDATE meta SET rule_id = 'x'",
	"UPDATE meta SET anchor_hash = x'01'",
	"DELETE FROM meta",
	"DROP TABLE request_body",
	"DROP TABLE rule",
	"ALTER TABLE request RENAME COLUMN state TO status",
};

START_TEST(corrupt_rows)
{
	struct journal *j = open_db();
	int err;

	fill(j);
	journal_close(j);
	ck_assert_int_eq(load_status(), 0);
	tamper(corruptions[_i]);
	err = load_status();
	/* a schema that was changed shows as a statement that can't be prepared */
	if (strstr(corruptions[_i], " TABLE "))
		ck_assert_int_lt(err, 0);
	else
		ck_assert_msg(err == -EUCLEAN, "%s: %d", corruptions[_i], err);
}
END_TEST

/* What load would call corrupt is not let in. */
START_TEST(values_out_of_range)
{
	struct journal *j = open_db();
	struct session_record s = test_session(1, 1, false);
	struct request_record r = test_request(21, 1, 11, 1, false);
	struct history_row row = test_decision(1, 1, 2, 3);
	char *huge = calloc(1, (4 << 20) + 1), *before = dump_load(j);

#define REFUSED(op, record, member, value)                                                     \
	do {                                                                                   \
		__typeof__((record).member) good = (record).member;                            \
		(record).member = value;                                                       \
		must_begin(j);                                                                 \
		ck_assert_int_eq(journal_put(j, op, &(record)), -EINVAL);                      \
		journal_rollback(j);                                                           \
		(record).member = good;                                                        \
	} while (0)
	REFUSED(JOURNAL_SESSION, s, ceiling, MODE_N);
	REFUSED(JOURNAL_SESSION, s, id, ((struct uuid){{0}}));
	REFUSED(JOURNAL_REQUEST, r, state, REQUEST_STATE_N);
	REFUSED(JOURNAL_REQUEST, r, n_paths, 33);
	REFUSED(JOURNAL_REQUEST, r, session, ((struct uuid){{0}}));
	REFUSED(JOURNAL_HISTORY, row, event, HISTORY_N);
	REFUSED(JOURNAL_HISTORY, row, event, (enum history_event) - 1);
	REFUSED(JOURNAL_HISTORY, row, mode, MODE_N);
	REFUSED(JOURNAL_HISTORY, row, input, ((struct bytes){huge, (4 << 20) + 1}));
#undef REFUSED
	expect_same(dump_load(j), before);
	put_alone(j, JOURNAL_HISTORY, &row);
	ck_assert_uint_eq(verify_count(j), 1);
	free(huge);
	session_release(&s);
	request_release(&r);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("corrupt");
	TCase *tc = tcase_create("corrupt");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, not_ours);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, of_others);
	tcase_add_loop_test(tc, beside_it_of_others, 0, 3);
	tcase_add_test(tc, link_in_its_place);
	tcase_add_loop_test(
		tc, corrupt_rows, 0, (int)(sizeof(corruptions) / sizeof(corruptions[0])));
	tcase_add_test(tc, values_out_of_range);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
