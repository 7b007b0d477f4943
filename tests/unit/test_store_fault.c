/* SPDX-License-Identifier: MIT */
/*
 * What goes wrong while the database is open: each failure has its errno, leaves
 * nothing of the transaction behind, and passes when its cause does.
 */
#include "config.h"

#include "broker/store/sqlite_private.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fill(struct journal *j, unsigned seed)
{
	for (unsigned i = 0; i < 50; i++) {
		put_session(j, 100 + i, i + seed, i % 2);
		put_turn(j, 300 + i, 100 + i, i + seed, i % 3);
		put_request(j, 500 + i, 100 + i, 300 + i, i + seed, i % 5);
		put_decision(j, i + seed, 100 + i, 300 + i, 700 + i);
		put_rule(j, 1 + i, i + seed, i % 2);
	}
}

static struct journal *open_filled(void)
{
	struct journal *j = open_db();

	must_begin(j);
	fill(j, 1);
	must_put(j, JOURNAL_ALIVE, &(int64_t){99});
	must_commit(j);
	return j;
}

/* It can be written to again, and what is written is there after opening it anew. */
static void expect_works(struct journal *j, char *before)
{
	char *after;

	if (before)
		expect_same(dump_all(j), before);
	must_begin(j);
	fill(j, 2);
	put_session(j, 900, 1, true);
	put_rule(j, 51, 1, true);
	must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){50, 3, 4}));
	remove_rule(j, 49);
	must_commit(j);
	ck_assert_uint_eq(verify_all(j, 1000), 0);
	after = dump_all(j);
	journal_close(j);
	j = open_db();
	expect_same(dump_all(j), after);
	ck_assert_uint_eq(verify_all(j, 1000), 0);
	journal_close(j);
}

/* Writes until something fails, and gives that. Everything is rolled back. */
static int write_until_failure(struct journal *j, unsigned rows)
{
	int err = journal_begin(j);

	if (err)
		return err;
	for (unsigned i = 0; i < rows && !err; i++) {
		struct history_row row = test_decision(i, 1, 2, 3);
		struct rule_record rule = test_rule(60 + i, i, true);

		err = journal_put(j, JOURNAL_HISTORY, &row);
		if (!err)
			err = journal_put(j, JOURNAL_RULE, &rule);
		rule_release(&rule);
		if (!err && i == 9)
			err = journal_put(j, JOURNAL_RULE_REMOVE, &(uint64_t){50});
		if (!err && i == 10)
			err = journal_put(
				j, JOURNAL_SESSION_REMOVE, (struct uuid[]){test_id(101)});
	}
	if (!err)
		err = journal_commit(j);
	journal_rollback(j);
	return err;
}

START_TEST(full_by_pages)
{
	struct journal *j = open_filled();
	char *before = dump_all(j);
	int64_t pages, max;
	char sql[64];

	ck_assert_int_eq(sqlite_integer(sqlite_of(j)->db, "PRAGMA page_count", &pages), 0);
	snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %lld", (long long)pages + 3);
	ck_assert_int_eq(sqlite_integer(sqlite_of(j)->db, sql, &max), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(write_until_failure(j, 2000), -ENOSPC);
		free(before);
		before = dump_all(j);
	}
	ck_assert_int_eq(
		sqlite_integer(sqlite_of(j)->db, "PRAGMA max_page_count = 1000000", &max), 0);
	expect_works(j, before);
}
END_TEST

/* Moves the test's folder to a file system of its own. False: not allowed here. */
static bool own_file_system(const char *options)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
		mount("none", fixture_dir(), "tmpfs", 0, options) < 0)
		return false;
	return true;
}

/* Takes all the room that is left. */
static void fill_file_system(void)
{
	static const char block[4096];
	int fd = open(fixture_path_with("-filler"), O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		continue;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
}

START_TEST(full_disk)
{
	struct journal *j;
	char *before;

	if (!own_file_system("size=4m")) {
		fprintf(stderr, "full_disk: no right to mount, not tested\n");
		return;
	}
	j = open_filled();
	before = dump_all(j);
	fill_file_system();
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(write_until_failure(j, 500), -ENOSPC);
	expect_same(dump_all(j), before);
	ck_assert_int_eq(journal_prune(j, &(struct retention){.max_age_us = 1}, INT64_MAX, 999),
		-ENOSPC);
	before = dump_all(j);
	/* what is full at the start can't be opened, or only be read */
	journal_close(j);
	j = NULL;
	if (journal_open_sqlite(&j, fixture_path()) == 0) {
		ck_assert_int_eq(write_until_failure(j, 500), -ENOSPC);
		journal_close(j);
	}
	ck_assert_int_eq(unlink(fixture_path_with("-filler")), 0);
	expect_works(open_db(), before);
}
END_TEST

START_TEST(full_disk_passes)
{
	struct journal *j;
	char *before;

	if (!own_file_system("size=4m"))
		return;
	j = open_filled();
	before = dump_all(j);
	fill_file_system();
	ck_assert_int_eq(write_until_failure(j, 500), -ENOSPC);
	ck_assert_int_eq(journal_probe(j), -ENOSPC);
	ck_assert_int_eq(unlink(fixture_path_with("-filler")), 0);
	ck_assert_int_eq(journal_probe(j), 0);
	expect_works(j, before);
}
END_TEST

START_TEST(read_only_file_system)
{
	struct journal *j = NULL;
	char *before;

	if (!own_file_system("size=4m"))
		return;
	before = dump_all(j = open_filled());
	journal_close(j);
	ck_assert_int_eq(mount("none", fixture_dir(), "", MS_REMOUNT | MS_RDONLY, ""), 0);
	ck_assert_int_eq(journal_open_sqlite(&j, fixture_path()), -EROFS);
	ck_assert_int_eq(mount("none", fixture_dir(), "", MS_REMOUNT, ""), 0);
	expect_works(open_db(), before);
}
END_TEST

static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(fixture_dir(), 65534, 65534), 0);
	ck_assert_int_eq(setgid(65534), 0);
	ck_assert_int_eq(setuid(65534), 0);
}

START_TEST(read_only_folder)
{
	struct journal *j = NULL;
	char *before;

	become_nobody();
	ck_assert_int_eq(chmod(fixture_dir(), 0500), 0);
	ck_assert_int_eq(journal_open_sqlite(&j, fixture_path()), -EROFS);
	ck_assert_int_eq(chmod(fixture_dir(), 0700), 0);
	j = open_filled();
	before = dump_all(j);

	/* what is open has its log already, even where it is opened anew */
	ck_assert_int_eq(chmod(fixture_dir(), 0500), 0);
	must_begin(j);
	must_commit(j);
	sqlite_of(j)->suspect = true;
	must_begin(j);
	must_commit(j);
	ck_assert_int_eq(journal_probe(j), 0);
	ck_assert_int_eq(chmod(fixture_dir(), 0700), 0);
	expect_works(j, before);
}
END_TEST

START_TEST(read_only_file)
{
	struct journal *j = NULL;

	become_nobody();
	journal_close(open_filled());
	ck_assert_int_eq(chmod(fixture_path(), 0400), 0);
	ck_assert_int_eq(journal_open_sqlite(&j, fixture_path()), -EROFS);
	ck_assert_int_eq(chmod(fixture_path(), 0600), 0);
	expect_works(open_db(), NULL);
}
END_TEST

START_TEST(no_folder)
{
	struct journal *j = NULL;
	char path[4096 + 8];

	snprintf(path, sizeof(path), "%s/none/state.db", fixture_dir());
	ck_assert_int_eq(journal_open_sqlite(&j, path), -EIO);
	ck_assert_ptr_null(j);
}
END_TEST

/* Which of the files somebody deleted. */
static const char *const deletions[][4] = {
	{""},
	{"-wal"},
	{"-shm", "-wal"},
	{"", "-wal"},
	{"", "-wal", "-shm", "-lock"},
};
#define DELETIONS ((int)(sizeof(deletions) / sizeof(deletions[0])))

static void delete (int which)
{
	for (int i = 0; i < 4 && deletions[which][i]; i++)
		ck_assert_int_eq(unlink(fixture_path_with(deletions[which][i])), 0);
}

START_TEST(deleted_while_open)
{
	struct journal *j = open_filled();
	char *before = dump_all(j);

	for (int i = 0; i < 3; i++) {
		delete (_i);
		if (i == 0)
			expect_same(dump_all(j), before); /* reading brings it back, too */
		must_begin(j);
		fill(j, 5);
		must_commit(j);
		before = dump_all(j);
		ck_assert_int_eq(access(fixture_path(), F_OK), 0);
		ck_assert_int_ne(access(fixture_path_with("-rescue"), F_OK), 0);
		if (_i == DELETIONS - 1)
			close(open(fixture_path_with("-lock"), O_CREAT | O_WRONLY, 0600));
		if (_i == 2)
			close(open(fixture_path_with("-shm"), O_CREAT | O_WRONLY, 0600));
		if (i < 2)
			free(before);
	}
	expect_works(j, before);
}
END_TEST

/* In the midst of a transaction: that one is still good, or it fails as a whole. */
START_TEST(deleted_in_a_transaction)
{
	struct journal *j = open_filled();
	char *before;
	int err;

	must_begin(j);
	fill(j, 5);
	before = dump_history(j, (struct history_query[]){query_all()});
	delete (_i);
	err = journal_commit(j);
	ck_assert_int_eq(err, 0);
	must_begin(j);
	must_commit(j);
	expect_same(dump_history(j, (struct history_query[]){query_all()}), before);
	expect_works(j, NULL);
}
END_TEST

START_TEST(folder_deleted)
{
	struct journal *j = open_filled();
	char *before = dump_all(j);

	fixture_teardown();
	ck_assert_int_eq(journal_begin(j), -EIO);
	ck_assert_int_eq(journal_probe(j), -EIO);
	ck_assert_int_eq(mkdir(fixture_dir(), 0700), 0);
	expect_works(j, before);
}
END_TEST

static void copy_file(const char *from, const char *to)
{
	char command[9000];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	ck_assert_int_eq(system(command), 0);
}

/* Somebody put an older copy in its place: that is what counts from then on. */
/* An old copy lacks what is held here: nothing is written to it, nor read before a start. */
START_TEST(replaced_while_open)
{
	struct journal *j = open_filled();
	char copy[4200], *old = dump_all(j);

	snprintf(copy, sizeof(copy), "%s", fixture_path_with("-copy"));
	journal_close(j);
	copy_file(fixture_path(), copy);
	j = open_db();
	must_begin(j);
	fill(j, 7);
	must_commit(j);
	ck_assert_int_eq(rename(copy, fixture_path()), 0);
	ck_assert_int_eq(journal_begin(j), -ESTALE);
	ck_assert_int_eq(journal_begin(j), -ESTALE);
	ck_assert_int_eq(journal_probe(j), -ESTALE);
	journal_close(j);
	expect_works(open_db(), old);
}
END_TEST

/* One that holds the same is as good, as after mounting its file system anew. */
START_TEST(replaced_by_the_same)
{
	struct journal *j = open_filled();
	char copy[4200], *before = dump_all(j);

	snprintf(copy, sizeof(copy), "%s", fixture_path_with("-copy"));
	journal_close(j);
	copy_file(fixture_path(), copy);
	j = open_db();
	ck_assert_int_eq(rename(copy, fixture_path()), 0);
	expect_works(j, before);
}
END_TEST

START_TEST(replaced_by_garbage)
{
	struct journal *j = open_filled();
	char *before = dump_all(j), kept[4200];
	FILE *f;

	snprintf(kept, sizeof(kept), "%s", fixture_path_with("-kept"));
	ck_assert_int_eq(rename(fixture_path(), kept), 0);
	f = fopen(fixture_path(), "w");
	for (int i = 0; i < 10000; i++)
		fputc('x', f);
	fclose(f);
	ck_assert_int_eq(journal_begin(j), -EUCLEAN);
	ck_assert_int_eq(journal_begin(j), -EUCLEAN);
	ck_assert_int_eq(journal_probe(j), -EUCLEAN);
	/* a new one would lack what is held */
	ck_assert_int_eq(unlink(fixture_path()), 0);
	ck_assert_int_eq(journal_begin(j), -ESTALE);
	ck_assert_int_eq(access(fixture_path(), F_OK), -1);
	/* and this one lacks what was in its log alone */
	ck_assert_int_eq(rename(kept, fixture_path()), 0);
	ck_assert_int_eq(journal_begin(j), -ESTALE);
	free(before);
	journal_close(j);
	expect_works(open_db(), NULL);
}
END_TEST

/* Overwritten in place: what is read then is corrupt, until a good file is back. */
START_TEST(overwritten_while_open)
{
	struct journal *j = open_filled();
	char *before = dump_all(j), copy[4200], *data = malloc(1 << 16);
	FILE *f;

	snprintf(copy, sizeof(copy), "%s", fixture_path_with("-copy"));
	journal_close(j);
	copy_file(fixture_path(), copy);
	j = open_db();
	memset(data, 'x', 1 << 16);
	f = fopen(fixture_path(), "r+");
	fwrite(data, 1, 1 << 16, f);
	fclose(f);
	sqlite3_db_release_memory(sqlite_of(j)->db);
	ck_assert_int_eq(write_until_failure(j, 5000), -EUCLEAN);
	ck_assert_int_eq(write_until_failure(j, 5000), -EUCLEAN);
	/* another file that holds the same is as good */
	ck_assert_int_eq(rename(copy, fixture_path()), 0);
	expect_works(j, before);
	free(data);
}
END_TEST

/* ---- writes that fail ---- */

/* of the test's own process: the write that fails, counted down, and with what */
static int write_countdown, write_error;

static ssize_t failing_write(int fd, const void *data, size_t len)
{
	if (write_countdown > 0 && --write_countdown == 0) {
		errno = write_error;
		return -1;
	}
	return write(fd, data, len);
}

static ssize_t failing_pwrite(int fd, const void *data, size_t len, off_t at)
{
	if (write_countdown > 0 && --write_countdown == 0) {
		errno = write_error;
		return -1;
	}
	return pwrite(fd, data, len, at);
}

static void install_failing_writes(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)failing_write);
	vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)failing_pwrite);
	vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)failing_pwrite);
}

/* Each write in turn fails once, in a transaction that takes the log to a checkpoint. */
START_TEST(writes_fail)
{
	static const int errors[][2] = {{EIO, -EIO}, {ENOSPC, -ENOSPC}};
	struct journal *j = open_filled();
	unsigned failures = 0;

	install_failing_writes();
	sqlite3_exec(sqlite_of(j)->db, "PRAGMA wal_autocheckpoint = 20", NULL, NULL, NULL);
	for (int n = 1; n < 2000; n++) {
		char *before = dump_all(j);
		int err;

		must_begin(j);
		fill(j, (unsigned)n);
		write_error = errors[_i][0];
		write_countdown = n;
		err = journal_commit(j);
		if (write_countdown > 0) {
			/* it was not that many */
			write_countdown = 0;
			free(before);
			ck_assert_int_eq(err, 0);
			break;
		}
		if (err) {
			failures++;
			ck_assert_int_eq(err, errors[_i][1]);
			journal_rollback(j);
			expect_same(dump_all(j), before);
		} else {
			free(before); /* only the checkpoint failed, which is tried again */
		}
		ck_assert_uint_eq(verify_all(j, 1000), 0);
		must_begin(j);
		fill(j, (unsigned)n);
		must_commit(j);
	}
	ck_assert_uint_gt(failures, 5);
	expect_works(j, NULL);
}
END_TEST

/* ---- the disk does not take what was written ---- */

/* of the test's own process, which SQLite's calls come to: how many will fail */
static int sync_failures;

int fdatasync(int fd)
{
	if (sync_failures > 0) {
		sync_failures--;
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

/* A commit that failed stands in the log by then: it does not come back with the next one. */
START_TEST(syncs_fail)
{
	struct journal *j = open_filled();
	char *before = dump_all(j);
	int err;

	must_begin(j);
	put_session(j, 901, 1, true);
	put_request(j, 902, 100, 300, 1, true);
	put_rule(j, 60, 1, true);
	sync_failures = _i;
	ck_assert_int_eq(journal_commit(j), -EIO);
	journal_rollback(j);
	while ((err = journal_probe(j)) != 0)
		ck_assert_int_eq(err, -EIO);
	/* it has not said so without trying */
	ck_assert_int_eq(sync_failures, 0);
	expect_works(j, before);
}
END_TEST

/* Nor when another writer is in the way at first: what is in doubt is not read anew meanwhile. */
START_TEST(syncs_fail_while_locked)
{
	struct journal *j = open_filled();
	char *before = dump_all(j);
	sqlite3 *other;

	must_begin(j);
	put_session(j, 901, 1, true);
	put_rule(j, 60, 1, true);
	sync_failures = 1;
	ck_assert_int_eq(journal_commit(j), -EIO);
	journal_rollback(j);
	ck_assert_int_eq(sqlite3_open(fixture_path(), &other), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(journal_probe(j), -EBUSY);
	ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	ck_assert_int_eq(journal_probe(j), 0);
	expect_works(j, before);
}
END_TEST

/* A probe finds out that the disk fails also when nothing was written before. */
START_TEST(probe_writes)
{
	struct journal *j = open_filled();

	sync_failures = 2;
	ck_assert_int_eq(journal_probe(j), -EIO);
	ck_assert_int_eq(journal_probe(j), -EIO);
	ck_assert_int_eq(journal_probe(j), 0);
	expect_works(j, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fault");
	TCase *tc = tcase_create("fault");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, full_by_pages);
	tcase_add_test(tc, full_disk);
	tcase_add_test(tc, full_disk_passes);
	tcase_add_test(tc, read_only_file_system);
	tcase_add_test(tc, read_only_folder);
	tcase_add_test(tc, read_only_file);
	tcase_add_test(tc, no_folder);
	tcase_add_loop_test(tc, deleted_while_open, 0, DELETIONS);
	tcase_add_loop_test(tc, deleted_in_a_transaction, 0, DELETIONS);
	tcase_add_test(tc, folder_deleted);
	tcase_add_test(tc, replaced_while_open);
	tcase_add_test(tc, replaced_by_the_same);
	tcase_add_test(tc, replaced_by_garbage);
	tcase_add_test(tc, overwritten_while_open);
	tcase_add_loop_test(tc, writes_fail, 0, 2);
	tcase_add_loop_test(tc, syncs_fail, 1, 8);
	tcase_add_test(tc, syncs_fail_while_locked);
	tcase_add_test(tc, probe_writes);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
