/* SPDX-License-Identifier: MIT */
/* Reading, verifying and pruning the history, over memory and over SQLite. */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <stdlib.h>

/* A hundred decisions: row n is of seed n - 1 and of that second. */
static void fill(struct journal *j)
{
	must_begin(j);
	for (unsigned i = 0; i < 100; i++)
		put_decision(j, i, 100 + i, 300 + i, 700 + i);
	must_commit(j);
}

static unsigned count(struct journal *j, const struct history_query *q)
{
	char *got = dump_history(j, q);
	unsigned n = count_lines(got);

	free(got);
	return n;
}

/* The seq of the first row that a query gives, or 0. */
static uint64_t first_of(struct journal *j, const struct history_query *q)
{
	char *got = dump_history(j, q);
	uint64_t seq = *got ? strtoull(got + strlen("row seq="), NULL, 10) : 0;

	free(got);
	return seq;
}

START_TEST(history_filters)
{
	struct journal *j = open_one(_i);
	struct history_query q;
	struct history_row other = test_decision(7, 1, 2, 3);

	fill(j); /* seq is seed + 1 */
	other.uid = 1001;
	other.event = HISTORY_OUTCOME;
	other.agent = bytes_of("codex");
	other.rule = bytes_of("deny Bash(rm *)");
	put_alone(j, JOURNAL_HISTORY, &other);

#define QUERY(n, first, ...)                                                                   \
	do {                                                                                   \
		q = query_all();                                                               \
		__VA_ARGS__;                                                                   \
		ck_assert_uint_eq(count(j, &q), n);                                            \
		ck_assert_uint_eq(first_of(j, &q), first);                                     \
	} while (0)
	QUERY(101, 1, (void)q);
	QUERY(101, 101, q.newest = true);
	QUERY(10, 1, q.limit = 10);
	QUERY(10, 101, q.limit = 10; q.newest = true);
	QUERY(0, 0, q.limit = 0);
	QUERY(51, 51, q.after = 50);
	QUERY(49, 1, q.before = 50);
	QUERY(8, 42, q.after = 41; q.before = 50);
	QUERY(8, 49, q.after = 41; q.before = 50; q.newest = true);
	QUERY(0, 0, q.after = UINT64_MAX);
	QUERY(101, 1, q.before = UINT64_MAX);
	QUERY(90, 11, q.since = 10000000);
	QUERY(12, 1, q.until = 10000000);
	QUERY(1, 11, q.since = 10000000; q.until = 10000000);
	QUERY(1, 43, q.session = test_id(142));
	QUERY(1, 43, q.request = test_id(742));
	QUERY(0, 0, q.request = test_id(741); q.session = test_id(142));
	QUERY(0, 0, q.session = test_id(9));
	QUERY(100, 1, q.agent = bytes_of("claude"));
	QUERY(1, 101, q.agent = bytes_of("codex"));
	QUERY(0, 0, q.agent = bytes_of("Codex"));
	QUERY(0, 0, q.agent = bytes_of("code"));
	QUERY(51, 2, q.tool = bytes_of("Bash"));
	QUERY(0, 0, q.tool = bytes_of("Bash' OR 1"));
	QUERY(15, 2, q.rule = bytes_of("allow Bash(rm *\xff)"));
	QUERY(1, 101, q.rule = bytes_of("deny Bash(rm *)"));
	QUERY(0, 0, q.rule = bytes_of("deny Bash(rm"));
	QUERY(0, 0, q.rule = bytes_of("private-keys"));
	QUERY(3, 16, q.rule = bytes_of("allow Bash(rm *\xff)"); q.verdict = VERDICT_DENY);
	QUERY(20, 1, q.verdict = VERDICT_DENY);
	QUERY(81, 2, q.source = SOURCE_MODE);
	QUERY(0, 0, q.verdict = VERDICT_DENY; q.source = SOURCE_MODE);
	QUERY(1, 101, q.event = HISTORY_OUTCOME);
	QUERY(0, 0, q.event = HISTORY_SESSION_OPENED);
	QUERY(100, 1, q.all_uids = false; q.uid = 1000);
	QUERY(1, 101, q.all_uids = false; q.uid = 1001);
	QUERY(0, 0, q.all_uids = false; q.uid = 0);
#undef QUERY
	journal_close(j);
}
END_TEST

struct portions {
	unsigned rows, slices, most;
};

static int portion_row(void *arg, const struct history_row *row)
{
	struct portions *p = arg;

	(void)row;
	p->rows++;
	return 0;
}

static bool portion_goes_on(void *arg)
{
	struct portions *p = arg;

	return ++p->slices < p->most;
}

/* However few rows are looked at in one go, each is once: also where none is given. */
START_TEST(history_portions)
{
	struct journal *j = open_one(_i);

	must_begin(j);
	for (unsigned i = 0; i < 1000; i++)
		put_decision(j, i, 1, 2, 3);
	must_commit(j);
	for (int newest = 0; newest < 2; newest++)
		for (unsigned most = 1; most < 4; most++)
			for (int none = 0; none < 2; none++) {
				struct history_query q = query_all();
				struct portions p = {.most = most};
				uint64_t at = 0;
				unsigned calls = 0;

				q.newest = newest;
				q.go_on = portion_goes_on;
				if (none)
					q.agent = bytes_of("nobody");
				do {
					uint64_t before = at;

					p.slices = 0;
					ck_assert_int_eq(
						journal_history(j, &q, portion_row, &p, &at),
						0);
					ck_assert_uint_le(p.slices, most);
					ck_assert(!at || !before ||
						  (newest ? at < before : at > before));
					*(newest ? &q.before : &q.after) = at;
					calls++;
				} while (at);
				ck_assert_uint_eq(p.rows, none ? 0 : 1000);
				ck_assert_uint_eq(calls, (1000 + most * HISTORY_SLICE - 1) /
								 (most * HISTORY_SLICE));
			}
	journal_close(j);
}
END_TEST

/* A limit that is reached says where to go on, too. */
START_TEST(history_limit)
{
	struct journal *j = open_one(_i);
	struct history_query q = query_all();
	struct portions p = {0};
	uint64_t at = 0;

	fill(j);
	q.limit = 70;
	ck_assert_int_eq(journal_history(j, &q, portion_row, &p, &at), 0);
	ck_assert_uint_eq(at, 70);
	q.after = at;
	ck_assert_int_eq(journal_history(j, &q, portion_row, &p, &at), 0);
	ck_assert_uint_eq(at, 0);
	ck_assert_uint_eq(p.rows, 100);
	journal_close(j);
}
END_TEST

/* What is written by the open transaction shows in it, and is gone after a rollback. */
START_TEST(history_in_transaction)
{
	struct journal *j = open_one(_i);
	struct history_query q = query_all();
	struct history_verification v;

	fill(j);
	must_begin(j);
	put_decision(j, 1, 1, 2, 3);
	ck_assert_uint_eq(count(j, &q), 101);
	ck_assert_int_eq(journal_verify(j, 0, 1000, &v), 0);
	ck_assert_uint_eq(v.checked, 101);
	journal_rollback(j);
	ck_assert_uint_eq(count(j, &q), 100);
	journal_close(j);
}
END_TEST

START_TEST(verify_in_chunks)
{
	struct journal *j = open_one(_i);
	struct history_verification v, w;

	fill(j);
	for (uint32_t chunk = 1; chunk < 103; chunk += 3)
		ck_assert_uint_eq(verify_all(j, chunk), 0);
	ck_assert_int_eq(journal_verify(j, 0, 100, &v), 0);
	ck_assert_uint_eq(v.checked, 100);
	ck_assert_uint_eq(v.next, 0);
	ck_assert_int_eq(journal_verify(j, 60, 100, &w), 0);
	ck_assert_uint_eq(w.checked, 40);
	ck_assert_int_eq(memcmp(v.head, w.head, 32), 0);
	ck_assert_int_eq(journal_verify(j, 60, 40, &w), 0);
	ck_assert_uint_eq(w.next, 0);
	ck_assert_int_eq(journal_verify(j, 60, 39, &w), 0);
	ck_assert_uint_eq(w.next, 99);
	ck_assert_int_eq(journal_verify(j, 5000, 39, &w), 0);
	ck_assert_uint_eq(w.checked, 0);
	ck_assert_uint_eq(w.bad_seq, 0);
	journal_close(j);
}
END_TEST

START_TEST(prune_by_age)
{
	struct journal *j = open_one(_i);
	struct retention r = {.max_age_us = 50 * 1000000};
	struct history_query q = query_all();
	struct journal_stats stats;
	char *got;

	fill(j); /* row n is of second n - 1 */
	ck_assert_int_eq(journal_prune(j, &(struct retention){0}, INT64_MAX, 1000), 0);
	ck_assert_int_eq(journal_prune(j, &r, 50 * 1000000, 1000), 0);
	ck_assert_int_eq(journal_prune(j, &r, 90 * 1000000, 15), 15);
	ck_assert_uint_eq(verify_count(j), 86);
	ck_assert_int_eq(journal_prune(j, &r, 90 * 1000000, 15), 15);
	ck_assert_int_eq(journal_prune(j, &r, 90 * 1000000, 15), 10);
	ck_assert_int_eq(journal_prune(j, &r, 90 * 1000000, 15), 0);
	ck_assert_uint_eq(first_of(j, &q), 41);
	ck_assert_uint_eq(verify_count(j), 63);
	for (uint32_t chunk = 1; chunk < 9; chunk++)
		ck_assert_uint_eq(verify_all(j, chunk), 0);
	q.event = HISTORY_ANCHOR;
	ck_assert_uint_eq(count(j, &q), 3);
	q.newest = true;
	q.limit = 1;
	got = dump_history(j, &q);
	ck_assert_ptr_nonnull(strstr(got, "row seq=103 at=90000000"));
	ck_assert_ptr_nonnull(strstr(got, " count=10 "));
	free(got);
	journal_stats(j, &stats);
	ck_assert_uint_eq(stats.history_rows, 63);

	/* all of it; the chain goes on */
	ck_assert_int_eq(journal_prune(j, &r, 1000 * 1000000, 1000), 63);
	ck_assert_uint_eq(verify_count(j), 1);
	ck_assert_int_eq(journal_prune(j, &r, 1000 * 1000000, 1000), 0);
	must_begin(j);
	ck_assert_int_eq(journal_prune(j, &r, 2000 * 1000000, 1000), -EINVAL);
	put_decision(j, 1, 1, 2, 3);
	must_commit(j);
	ck_assert_uint_eq(verify_count(j), 2);
	ck_assert_uint_eq(first_of(j, &(struct history_query){.limit = 1,
					      .event = HISTORY_DECISION,
					      .verdict = -1,
					      .source = -1,
					      .all_uids = true}),
		105);
	journal_close(j);
}
END_TEST

START_TEST(prune_by_size)
{
	struct journal *j = open_one(_i);
	struct retention r = {.max_bytes = 600000};
	int removed = 0, n, calls = 0;

	must_begin(j);
	for (unsigned i = 0; i < 4000; i++)
		put_decision(j, i, 1, 2, 3);
	must_commit(j);
	while ((n = journal_prune(j, &r, 1, 500)) > 0) {
		removed += n;
		ck_assert_int_le(n, 500);
		ck_assert_int_lt(++calls, 100);
	}
	ck_assert_int_eq(n, 0);
	ck_assert_int_gt(removed, 1000);
	ck_assert_int_lt(removed, 3000);
	ck_assert_uint_eq(verify_count(j), (uint64_t)(4000 - removed + calls));

	/* it comes to an end, however little is allowed */
	r.max_bytes = 1;
	calls = 0;
	while ((n = journal_prune(j, &r, 1, 500)) > 0)
		ck_assert_int_lt(++calls, 100);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_ge(verify_count(j), 1000);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("history");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, history_filters, 0, JOURNALS);
	tcase_add_loop_test(tc, history_portions, 0, JOURNALS);
	tcase_add_loop_test(tc, history_limit, 0, JOURNALS);
	tcase_add_loop_test(tc, history_in_transaction, 0, JOURNALS);
	tcase_add_loop_test(tc, verify_in_chunks, 0, JOURNALS);
	tcase_add_loop_test(tc, prune_by_age, 0, JOURNALS);
	tcase_add_loop_test(tc, prune_by_size, 0, JOURNALS);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
