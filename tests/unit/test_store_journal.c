/* SPDX-License-Identifier: MIT */
/* What both journals promise: each test runs over memory and over SQLite. */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <stdlib.h>

START_TEST(empty)
{
	struct journal *j = open_one(_i);
	struct history_query q = query_all();
	struct journal_stats stats;
	char *load = dump_load(j), *rows = dump_history(j, &q);

	ck_assert_str_eq(
		load, "state alive=0 newest=\"00000000000000000000000000000000\" rule_id=0\n");
	ck_assert_str_eq(rows, "");
	ck_assert_uint_eq(verify_all(j, 10), 0);
	ck_assert_int_eq(journal_probe(j), 0);
	journal_stats(j, &stats);
	ck_assert_uint_eq(stats.commits, 0);
	ck_assert_uint_eq(stats.history_rows, 0);
	ck_assert_str_eq(stats.path, _i == MEMORY ? "memory" : fixture_path());
	free(load);
	free(rows);
	journal_close(j);
	journal_close(NULL);
}
END_TEST

START_TEST(records_come_back)
{
	struct journal *j = open_one(_i);
	struct session_record s[2] = {test_session(1, 3, true), test_session(2, 4, false)};
	struct session_record s3 = test_session(3, 5, false);
	struct turn_record t[2] = {test_turn(11, 1, 6, true), test_turn(12, 2, 7, false)};
	struct request_record r[3] = {test_request(21, 1, 11, 255, true),
		test_request(22, 2, 12, 8, false), test_request(23, 2, 12, 127, false)};
	char *expected = NULL;
	size_t len;
	FILE *f = open_memstream(&expected, &len);

	must_begin(j);
	/* in no order */
	must_put(j, JOURNAL_SESSION, &s3);
	must_put(j, JOURNAL_SESSION, &s[1]);
	must_put(j, JOURNAL_SESSION, &s[0]);
	for (int i = 0; i < 2; i++)
		must_put(j, JOURNAL_TURN, &t[i]);
	for (int i = 0; i < 3; i++)
		must_put(j, JOURNAL_REQUEST, &r[i]);
	must_put(j, JOURNAL_ALIVE, &(int64_t){4711});
	must_commit(j);

	for (int i = 0; i < 2; i++)
		dump_session(f, &s[i]);
	dump_session(f, &s3);
	for (int i = 0; i < 2; i++)
		dump_turn(f, &t[i]);
	for (int i = 0; i < 3; i++)
		dump_request(f, &r[i]);
	fputs("state alive=4711 newest=\"018bcfe568177000800000000000"
	      "0017\" rule_id=0\n",
		f);
	fclose(f);
	expect_same(dump_load(j), expected);

	for (int i = 0; i < 2; i++) {
		session_release(&s[i]);
		turn_release(&t[i]);
	}
	session_release(&s3);
	for (int i = 0; i < 3; i++)
		request_release(&r[i]);
	journal_close(j);
}
END_TEST

/* The body of a request stays; everything else is as it was put last. */
START_TEST(records_change)
{
	struct journal *j = open_one(_i);

	for (unsigned big = 0; big < 2; big++) {
		unsigned id = 20 + big;
		struct request_record r = test_request(id, 1, 11, 3, true);
		struct request_record changed = test_request(id, 2, 12, 4, big);
		struct request_record expected = changed;
		char *want = NULL, *got, *line;
		size_t len;
		FILE *f = open_memstream(&want, &len);

		if (big) {
			void *data = calloc(1, 70000);

			str_unref(r.input);
			r.input = str_new(data, 70000);
			free(data);
		}
		put_alone(j, JOURNAL_REQUEST, &r);
		put_alone(j, JOURNAL_REQUEST, &changed);
		put_alone(j, JOURNAL_REQUEST, &changed);
		expected.input = r.input;
		expected.description = r.description;
		expected.extra = r.extra;
		dump_request(f, &expected);
		fclose(f);
		got = dump_load(j);
		line = strstr(got, want);
		ck_assert_msg(line != NULL, "%.300s\nis not in\n%.300s", want, got);
		free(got);
		free(want);
		request_release(&r);
		request_release(&changed);
	}

	must_begin(j);
	put_session(j, 1, 1, true);
	put_turn(j, 11, 1, 1, true);
	must_commit(j);
	must_begin(j);
	put_session(j, 1, 2, false);
	put_turn(j, 11, 1, 2, false);
	must_put(j, JOURNAL_REQUEST_REMOVE, (struct uuid[]){test_id(20)});
	must_put(j, JOURNAL_REQUEST_REMOVE, (struct uuid[]){test_id(21)});
	must_commit(j);
	{
		struct session_record s = test_session(1, 2, false);
		struct turn_record t = test_turn(11, 1, 2, false);
		char *want = NULL;
		size_t len;
		FILE *f = open_memstream(&want, &len);

		dump_session(f, &s);
		dump_turn(f, &t);
		fputs("state alive=0 newest=\"018bcfe568157000800000000000"
		      "0015\" rule_id=0\n",
			f);
		fclose(f);
		expect_same(dump_load(j), want);
		session_release(&s);
		turn_release(&t);
	}
	must_begin(j);
	must_put(j, JOURNAL_SESSION_REMOVE, (struct uuid[]){test_id(1)});
	must_put(j, JOURNAL_TURN_REMOVE, (struct uuid[]){test_id(11)});
	must_put(j, JOURNAL_TURN_REMOVE, (struct uuid[]){test_id(11)}); /* no error */
	must_commit(j);
	{
		char *got = dump_load(j);

		/* the largest id is known, though it stands nowhere else */
		ck_assert_str_eq(got, "state alive=0 newest=\"018bcfe568157000800000000000"
				      "0015\" rule_id=0\n");
		free(got);
	}
	journal_close(j);
}
END_TEST

static void fill(struct journal *j)
{
	must_begin(j);
	for (unsigned i = 0; i < 100; i++) {
		put_session(j, 100 + i, i, i % 2);
		put_turn(j, 300 + i, 100 + i, i, i % 3);
		put_request(j, 500 + i, 100 + i, 300 + i, i, i % 5);
		put_decision(j, i, 100 + i, 300 + i, 700 + i);
		put_rule(j, 1 + i, i, i % 2);
	}
	must_put(j, JOURNAL_ALIVE, &(int64_t){99});
	must_commit(j);
}

static void disturb(struct journal *j)
{
	for (unsigned i = 0; i < 100; i += 2) {
		put_session(j, 100 + i, i + 1, !(i % 2));
		put_request(j, 500 + i, 100 + i, 300 + i, i + 1, !(i % 5));
		put_decision(j, i, 100 + i, 300 + i, 900 + i);
		put_rule(j, 1 + i, i + 1, !(i % 2));
		put_rule(j, 201 + i, i, i % 2);
		must_put(j, JOURNAL_RULE_MATCHES, (&(struct rule_matches){2 + i, i, 7}));
		if (i % 4)
			continue;
		must_put(j, JOURNAL_SESSION_REMOVE, (struct uuid[]){test_id(100 + i)});
		must_put(j, JOURNAL_TURN_REMOVE, (struct uuid[]){test_id(300 + i)});
		must_put(j, JOURNAL_REQUEST_REMOVE, (struct uuid[]){test_id(500 + i)});
		remove_rule(j, 1 + i);
		remove_rule(j, 199 + i);
		if (i % 8)
			continue;
		put_session(j, 100 + i, i + 2, i % 2);
		put_request(j, 500 + i, 100 + i, 300 + i, i + 2, i % 2);
		put_session(j, 1200 + i, i + 2, i % 2);
	}
	must_put(j, JOURNAL_ALIVE, &(int64_t){100});
}

START_TEST(rollback_undoes_all)
{
	struct journal *j = open_one(_i);
	struct history_query q = query_all();
	struct journal_stats before, after;
	char *load, *rows;

	fill(j);
	load = dump_load(j);
	rows = dump_history(j, &q);
	journal_stats(j, &before);
	for (int i = 0; i < 3; i++) {
		must_begin(j);
		disturb(j);
		journal_rollback(j);
		journal_rollback(j); /* nothing */
	}
	journal_stats(j, &after);
	ck_assert_uint_eq(before.commits, after.commits);
	ck_assert_uint_eq(before.rows, after.rows);
	ck_assert_uint_eq(before.history_rows, after.history_rows);
	expect_same(dump_load(j), load);
	expect_same(dump_history(j, &q), rows);
	ck_assert_uint_eq(verify_count(j), 100);

	/* and the same in earnest */
	must_begin(j);
	disturb(j);
	must_commit(j);
	ck_assert_uint_eq(verify_count(j), 150);
	journal_stats(j, &after);
	ck_assert_uint_eq(after.history_rows, 150);
	ck_assert_uint_eq(after.commits, before.commits + 1);
	ck_assert_uint_gt(after.rows, before.rows + 150);
	journal_close(j);
}
END_TEST

/* Both journals hold the same after the same, to the last hash. */
START_TEST(journals_agree)
{
	struct journal *a = open_one(MEMORY), *b = open_one(SQLITE);
	struct history_query q = query_all();

	fill(a);
	fill(b);
	must_begin(a);
	disturb(a);
	must_commit(a);
	must_begin(b);
	disturb(b);
	must_commit(b);
	expect_same(dump_history(a, &q), dump_history(b, &q));
	expect_same(dump_load(a), dump_load(b));
	ck_assert_int_eq(
		journal_prune(a, &(struct retention){.max_age_us = 5000000}, 55000000, 1000),
		50);
	ck_assert_int_eq(
		journal_prune(b, &(struct retention){.max_age_us = 5000000}, 55000000, 1000),
		50);
	expect_same(dump_history(a, &q), dump_history(b, &q));
	journal_close(a);
	journal_close(b);
}
END_TEST

START_TEST(decisions_of_live_turns)
{
	struct journal *j = open_one(_i);
	struct history_row outcome = test_decision(5, 1, 12, 24);
	struct turn_record ended = test_turn(11, 1, 1, true);
	char *got;

	must_begin(j);
	put_session(j, 1, 1, true);
	put_turn(j, 11, 1, 1, true);
	put_decision(j, 1, 1, 11, 21);
	put_decision(j, 2, 1, 12, 22); /* before the turn was told of */
	must_commit(j);
	must_begin(j);
	put_decision(j, 3, 1, 12, 23); /* in the same transaction the order is free */
	put_turn(j, 12, 1, 1, true);
	must_commit(j);
	must_begin(j);
	put_decision(j, 4, 1, 11, 24);
	outcome.event = HISTORY_OUTCOME;
	must_put(j, JOURNAL_HISTORY, &outcome);
	outcome.event = HISTORY_ENDED;
	must_put(j, JOURNAL_HISTORY, &outcome);
	put_turn(j, 12, 1, 2, true); /* told again: its begin stays */
	ended.state = TURN_ENDED;
	must_put(j, JOURNAL_TURN, &ended);
	turn_release(&ended);
	must_commit(j);

	got = dump_load(j);
	ck_assert_uint_eq(count_lines(got), 1 + 2 + 2 + 1);
	ck_assert_ptr_null(strstr(got, "row seq=1"));
	ck_assert_ptr_null(strstr(got, "row seq=2"));
	ck_assert_ptr_nonnull(strstr(got, "row seq=3 "));
	ck_assert_ptr_null(strstr(got, "row seq=4"));
	ck_assert_ptr_nonnull(strstr(got, "row seq=5 "));
	ck_assert_ptr_null(strstr(got, "row seq=6"));
	free(got);
	journal_close(j);
}
END_TEST

static int refuse_session(void *arg, const struct session_record *r)
{
	++*(int *)arg;
	return -ECANCELED;
}

static int refuse_row(void *arg, const struct history_row *r)
{
	return ++*(int *)arg == 3 ? -ECANCELED : 0;
}

static int state_known(void *arg, const struct session_record *r)
{
	const struct journal_state *state = arg;

	ck_assert_int_eq(state->alive, 99);
	ck_assert_int_eq(uuid_compare(&state->newest, (struct uuid[]){test_id(799)}), 0);
	return -ECANCELED;
}

START_TEST(state_comes_first)
{
	static const struct journal_loader loader = {.session = state_known};
	struct journal *j = open_one(_i);
	struct journal_state state;

	fill(j);
	ck_assert_int_eq(journal_load(j, &loader, &state, &state), -ECANCELED);
	journal_close(j);
}
END_TEST

START_TEST(callbacks_end_it)
{
	static const struct journal_loader loader = {.session = refuse_session};
	struct journal *j = open_one(_i);
	struct history_query q = query_all();
	struct journal_state state;
	int calls = 0;

	fill(j);
	ck_assert_int_eq(journal_load(j, &loader, &calls, &state), -ECANCELED);
	ck_assert_int_eq(calls, 1);
	calls = 0;
	ck_assert_int_eq(journal_history(j, &q, refuse_row, &calls, NULL), -ECANCELED);
	ck_assert_int_eq(calls, 3);
	must_begin(j); /* nothing is left open */
	put_session(j, 1, 1, true);
	must_commit(j);
	journal_close(j);
}
END_TEST

START_TEST(wrong_time)
{
	static const struct journal_loader loader = {0};
	struct journal *j = open_one(_i);
	struct journal_state state;
	int64_t now = 1;

	ck_assert_int_eq(journal_put(j, JOURNAL_ALIVE, &now), -EINVAL);
	ck_assert_int_eq(journal_commit(j), -EINVAL);
	journal_rollback(j);
	must_begin(j);
	ck_assert_int_eq(journal_begin(j), -EINVAL);
	ck_assert_int_eq(journal_load(j, &loader, NULL, &state), -EINVAL);
	/* after a failure nothing goes on but a rollback */
	put_session(j, 1, 1, true);
	ck_assert_int_eq(journal_put(j, (enum journal_op)99, &now), -EINVAL);
	ck_assert_int_eq(journal_put(j, JOURNAL_ALIVE, &now), -EINVAL);
	ck_assert_int_eq(journal_commit(j), -EINVAL);
	ck_assert_int_eq(journal_probe(j), -EINVAL);
	journal_rollback(j);
	ck_assert_int_eq(journal_probe(j), 0);
	{
		char *got = dump_load(j);

		ck_assert_ptr_null(strstr(got, "session"));
		free(got);
	}
	/* closing rolls back */
	must_begin(j);
	put_session(j, 1, 1, true);
	journal_close(j);
	if (_i == SQLITE) {
		char *got;

		j = open_one(_i);
		got = dump_load(j);
		ck_assert_ptr_null(strstr(got, "session"));
		free(got);
		journal_close(j);
	}
}
END_TEST

static void note(void *arg, uint64_t n)
{
	uint64_t *last = arg;

	ck_assert_uint_eq(n, *last + 1);
	*last = n;
}

START_TEST(trace)
{
	struct journal *j = open_one(_i);
	struct history_verification v;
	struct history_query q = query_all();
	uint64_t n = 0, commits = 0;

	journal_set_trace(j, note, &n);
	journal_set_committed(j, note, &commits);
	must_begin(j);
	ck_assert_uint_eq(n, 1);
	put_decision(j, 1, 1, 2, 3);
	put_session(j, 1, 1, true);
	ck_assert_uint_eq(n, 3);
	must_commit(j);
	ck_assert_uint_eq(n, 4);
	ck_assert_uint_eq(commits, 1);
	must_begin(j);
	journal_rollback(j);
	journal_rollback(j);
	ck_assert_uint_eq(n, 6);
	ck_assert_uint_eq(commits, 1);
	free(dump_load(j));
	free(dump_history(j, &q));
	journal_verify(j, 0, 1, &v);
	journal_prune(j, &(struct retention){0}, 0, 1);
	journal_probe(j);
	ck_assert_uint_eq(n, 11);
	journal_close(j);
	ck_assert_uint_eq(n, 12);
}
END_TEST

START_TEST(memory_fails_on_demand)
{
	struct journal *j = open_one(MEMORY);
	char *before;

	fill(j);
	before = dump_load(j);
	journal_memory_fail(j, -ENOSPC);
	ck_assert_int_eq(journal_probe(j), -ENOSPC);
	ck_assert_int_eq(journal_begin(j), -ENOSPC);
	ck_assert_int_eq(
		journal_prune(j, &(struct retention){.max_age_us = 1}, INT64_MAX, 9), -ENOSPC);
	journal_memory_fail(j, 0);
	must_begin(j);
	disturb(j);
	journal_memory_fail(j, -EIO);
	ck_assert_int_eq(journal_commit(j), -EIO);
	ck_assert_int_eq(journal_commit(j), -EIO);
	journal_rollback(j);
	journal_memory_fail(j, 0);
	expect_same(dump_load(j), before);
	must_begin(j);
	disturb(j);
	must_commit(j);
	journal_close(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("journal");
	TCase *tc = tcase_create("journal");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, empty, 0, JOURNALS);
	tcase_add_loop_test(tc, records_come_back, 0, JOURNALS);
	tcase_add_loop_test(tc, records_change, 0, JOURNALS);
	tcase_add_loop_test(tc, rollback_undoes_all, 0, JOURNALS);
	tcase_add_test(tc, journals_agree);
	tcase_add_loop_test(tc, decisions_of_live_turns, 0, JOURNALS);
	tcase_add_loop_test(tc, state_comes_first, 0, JOURNALS);
	tcase_add_loop_test(tc, callbacks_end_it, 0, JOURNALS);
	tcase_add_loop_test(tc, wrong_time, 0, JOURNALS);
	tcase_add_loop_test(tc, trace, 0, JOURNALS);
	tcase_add_test(tc, memory_fails_on_demand);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
