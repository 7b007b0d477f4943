/* SPDX-License-Identifier: MIT */
/*
 * Death in the midst of it: what was reported as committed is there afterwards,
 * whole transactions only, and the chain holds.
 */
#include "config.h"

#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH 5u

/*
 * Transaction n: a pending request comes, the one three before it goes, a rule comes,
 * the one before it has decided, the one two before it goes, and rows. Its session tells how
 * far it went.
 */
static void write_batch(struct journal *j, unsigned n)
{
	must_begin(j);
	put_session(j, 1, n, true);
	put_request(j, 1000 + n, 1, 2, n, n % 2);
	if (n > 3)
		must_put(j, JOURNAL_REQUEST_REMOVE, (struct uuid[]){test_id(1000 + n - 3)});
	put_rule(j, n, n, n % 2);
	if (n > 1)
		must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){n - 1, n, n}));
	if (n > 2)
		remove_rule(j, n - 2);
	for (unsigned i = 0; i < BATCH; i++)
		put_decision(j, n * BATCH + i, 1, 2, 1000 + n);
	must_put(j, JOURNAL_ALIVE, &(int64_t){n});
	must_commit(j);
}

/* What a journal gives after n transactions. */
static char *expected_load(unsigned n)
{
	struct journal *j = NULL;
	char *load;

	ck_assert_int_eq(journal_open_memory(&j), 0);
	for (unsigned i = 1; i <= n; i++)
		write_batch(j, i);
	load = dump_load(j);
	journal_close(j);
	return load;
}

/* The database must be as after some number of transactions from min to max: which. */
static unsigned check_database(unsigned min, unsigned max)
{
	struct journal *j = open_db();
	struct journal_stats stats;
	char *load = dump_load(j), *expected;
	unsigned n;

	journal_stats(j, &stats);
	ck_assert_uint_eq(stats.history_rows % BATCH, 0);
	n = (unsigned)stats.history_rows / BATCH;
	ck_assert_uint_ge(n, min);
	ck_assert_uint_le(n, max);
	expected = expected_load(n);
	ck_assert_str_eq(load, expected);
	ck_assert_uint_eq(verify_count(j), stats.history_rows);
	free(load);
	free(expected);
	journal_close(j);
	return n;
}

/* Writes transactions from the given one on and reports each, until it is killed. */
static void child(unsigned from, int report)
{
	struct journal *j = open_db();

	for (unsigned n = from;; n++) {
		write_batch(j, n);
		if (write(report, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

START_TEST(killed_at_any_time)
{
	unsigned done = 0, kills = 0;

	srandom(4711);
	while (kills < 24) {
		struct timespec wait = {.tv_nsec = random() % 12000000};
		unsigned n, reported = done;
		int fds[2], status;
		pid_t pid;

		ck_assert_int_eq(pipe(fds), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			close(fds[0]);
			child(done + 1, fds[1]);
		}
		close(fds[1]);
		/* every other time it has begun: the rest may hit the opening, too */
		if (kills % 2) {
			ck_assert_int_eq(read(fds[0], &n, sizeof(n)), sizeof(n));
			reported = n;
		}
		/* the moment is the point here, not something to wait for */
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		while (read(fds[0], &n, sizeof(n)) == sizeof(n))
			reported = n;
		close(fds[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		done = check_database(reported, reported + 1);
		kills++;
	}
	ck_assert_uint_ge(done, 12);
}
END_TEST

/* How many of the transactions are whole after so many operations. */
static unsigned committed_after(uint64_t operations)
{
	unsigned n = 0;

	while (n < 5) {
		uint64_t needs =
			1 + 3 + (n + 1 > 1) + (n + 1 > 2) + (n + 1 > 3) + BATCH + 1 + 1;

		if (operations < needs)
			break;
		operations -= needs;
		n++;
	}
	return n;
}

struct death {
	uint64_t at;
	int report;
};

/* Tells that the time has come, and waits for the end. */
static void die_at(void *arg, uint64_t n)
{
	const struct death *d = arg;

	if (n != d->at)
		return;
	if (write(d->report, &n, sizeof(n)) == sizeof(n))
		pause();
	_exit(1);
}

/* The same at each operation of the journal. */
START_TEST(killed_at_each_operation)
{
	struct death d;

	for (d.at = 1; d.at < 200; d.at++) {
		int fds[2], status;
		uint64_t n = 0;
		bool died;
		pid_t pid;

		ck_assert_int_eq(pipe(fds), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			struct journal *j = open_db();

			d.report = fds[1];
			journal_set_trace(j, die_at, &d);
			for (unsigned i = 1; i <= 5; i++)
				write_batch(j, i);
			journal_close(j);
			_exit(0);
		}
		close(fds[1]);
		died = read(fds[0], &n, sizeof(n)) == sizeof(n);
		close(fds[0]);
		if (died)
			kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		check_database(committed_after(d.at - 1), committed_after(d.at - 1));
		fixture_teardown();
		fixture_setup();
		if (!died) {
			ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
			break;
		}
	}
	/* 64 operations, and closing */
	ck_assert_uint_eq(d.at, 66);
}
END_TEST

/* Pruning in one transaction: all of it or nothing. */
START_TEST(killed_while_pruning)
{
	for (int i = 0; i < 10; i++) {
		unsigned done = 1 + (unsigned)random() % 8;
		struct journal *j = open_db();
		struct journal_stats stats;
		int fds[2], status;
		pid_t pid;

		for (unsigned n = 1; n <= 200; n++)
			write_batch(j, n);
		journal_close(j);
		ck_assert_int_eq(pipe(fds), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			struct retention r = {.max_age_us = 1};

			j = open_db();
			for (int64_t now = 0;; now += 10000000)
				if (journal_prune(j, &r, now, 30) > 0 &&
					write(fds[1], "", 1) != 1)
					_exit(1);
		}
		close(fds[1]);
		/* in the midst of those that follow */
		while (done--) {
			char c;

			ck_assert_int_eq(read(fds[0], &c, 1), 1);
		}
		kill(pid, SIGKILL);
		close(fds[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		j = open_db();
		journal_stats(j, &stats);
		ck_assert_uint_eq(verify_count(j), stats.history_rows);
		journal_close(j);
		fixture_teardown();
		fixture_setup();
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("crash");
	TCase *tc = tcase_create("crash");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, killed_at_any_time);
	tcase_add_test(tc, killed_at_each_operation);
	tcase_add_test(tc, killed_while_pruning);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
