/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/client_state.h"

/* brings a machine into each state */
static struct conn in_state(enum conn_state state, int64_t now)
{
	static const enum conn_event way[] = {CONN_DUE, CONN_OPENED, CONN_WELCOME, CONN_LOST};
	struct conn c;
	int i;

	conn_init(&c, 30000, false);
	if (state == CONN_CLOSED) {
		conn_step(&c, CONN_CLOSE, now, 0);
	} else {
		for (i = 0; i < 4 && c.state != state; i++)
			conn_step(&c, way[i], now, 0);
	}
	ck_assert_int_eq(c.state, state);
	return c;
}

START_TEST(test_every_cell)
{
	int state, event;

	for (state = 0; state < CONN_STATES; state++) {
		for (event = 0; event < CONN_EVENTS; event++) {
			struct conn c = in_state(state, 1000);
			unsigned int todo = conn_step(&c, event, 2000, 0);

			ck_assert_int_lt(c.state, CONN_STATES);
			/* closed is for good */
			if (state == CONN_CLOSED) {
				ck_assert_int_eq(c.state, CONN_CLOSED);
				ck_assert_int_eq(todo & ~CONN_DO_CANCEL, 0);
			}
			/* closing and refusing are heard everywhere */
			if (event == CONN_CLOSE || event == CONN_REFUSED)
				ck_assert_int_eq(c.state, CONN_CLOSED);
			/* whoever leaves a state that holds a socket drops it */
			if (state >= CONN_CONNECTING && state <= CONN_READY &&
				(c.state == CONN_WAITING || c.state == CONN_CLOSED))
				ck_assert(todo & CONN_DO_DROP);
			/* the loss of a working connection is told, of another is not */
			if (state == CONN_READY && c.state == CONN_WAITING)
				ck_assert(todo & CONN_DO_DISCONNECTED);
			if (state != CONN_READY)
				ck_assert(!(todo & CONN_DO_DISCONNECTED));
			/* what is outstanding ends exactly when all is over */
			if (state != CONN_CLOSED)
				ck_assert_int_eq(c.state == CONN_CLOSED,
					!!(todo & (CONN_DO_GIVE_UP | CONN_DO_CANCEL)));
		}
	}
}
END_TEST

START_TEST(test_backoff_doubles)
{
	static const int64_t pauses[] = {20, 40, 80, 160, 320, 640, 1000, 1000, 1000};
	struct conn c;
	enum conn_event event;
	int64_t now = 5000;
	size_t i;

	conn_init(&c, -1, false);
	for (i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		ck_assert_int_eq(conn_poll(&c, now, &event), 1);
		ck_assert_int_eq(event, CONN_DUE);
		ck_assert_int_eq(conn_step(&c, CONN_DUE, now, 0), CONN_DO_CONNECT);
		/* this jitter is the middle */
		conn_step(&c, CONN_FAILED, now, (uint32_t)(pauses[i] / 4));
		ck_assert_int_eq(c.state, CONN_WAITING);
		ck_assert_int_eq(conn_deadline(&c, now) - now, pauses[i]);
		ck_assert_int_eq(conn_poll(&c, now + pauses[i] - 1, &event), 0);
		now += pauses[i];
	}
}
END_TEST

START_TEST(test_jitter_is_bounded)
{
	uint32_t jitter;

	for (jitter = 0; jitter < 100; jitter++) {
		struct conn c;

		conn_init(&c, -1, false);
		conn_step(&c, CONN_DUE, 0, 0);
		conn_step(&c, CONN_FAILED, 0, jitter * 2654435761u);
		ck_assert_int_ge(c.due, 15);
		ck_assert_int_le(c.due, 25);
	}
}
END_TEST

START_TEST(test_backoff_starts_anew_only_after_a_while)
{
	struct conn c = in_state(CONN_READY, 1000);

	/* lost at once, again and again: the pause grows */
	conn_step(&c, CONN_LOST, 1001, 0);
	ck_assert_int_eq(c.due, 1001 + 15);
	conn_step(&c, CONN_DUE, 1020, 0);
	conn_step(&c, CONN_OPENED, 1020, 0);
	conn_step(&c, CONN_WELCOME, 1020, 0);
	conn_step(&c, CONN_LOST, 1021, 0);
	ck_assert_int_eq(c.due, 1021 + 30);
	/* one that worked for a while: the pause is short again */
	conn_step(&c, CONN_DUE, 1100, 0);
	conn_step(&c, CONN_OPENED, 1100, 0);
	conn_step(&c, CONN_WELCOME, 1100, 0);
	conn_step(&c, CONN_LOST, 2100, 0);
	ck_assert_int_eq(c.due, 2100 + 15);
}
END_TEST

START_TEST(test_expiry)
{
	enum conn_event event;
	struct conn c;

	conn_init(&c, 100, false);
	ck_assert_int_eq(conn_poll(&c, 1000, &event), 1);
	conn_step(&c, CONN_DUE, 1000, 0);
	conn_step(&c, CONN_OPENED, 1010, 0);
	/* a broker that does not answer hello is none */
	ck_assert_int_eq(conn_deadline(&c, 1010), 1100);
	ck_assert_int_eq(conn_poll(&c, 1099, &event), 0);
	ck_assert_int_eq(conn_poll(&c, 1100, &event), 1);
	ck_assert_int_eq(event, CONN_EXPIRED);
	/* hello answered: no clock runs */
	conn_step(&c, CONN_WELCOME, 1050, 0);
	ck_assert_int_eq(conn_deadline(&c, 1050), -1);
	ck_assert_int_eq(conn_poll(&c, 1000000, &event), 0);
	/* the clock starts again with the loss */
	conn_step(&c, CONN_LOST, 5000, 0);
	conn_step(&c, CONN_DUE, 5020, 0);
	conn_step(&c, CONN_FAILED, 5020, 0);
	conn_step(&c, CONN_DUE, 5090, 0);
	conn_step(&c, CONN_FAILED, 5090, 0);
	/* the end comes before the next attempt */
	ck_assert_int_eq(conn_deadline(&c, 5090), 5100);
	ck_assert_int_eq(conn_poll(&c, 5100, &event), 1);
	ck_assert_int_eq(event, CONN_EXPIRED);
	ck_assert_int_eq(conn_step(&c, event, 5100, 0), CONN_DO_GIVE_UP);
	ck_assert_int_eq(conn_deadline(&c, 5100), -1);
}
END_TEST

START_TEST(test_no_expiry)
{
	struct conn c;

	conn_init(&c, -1, false);
	conn_step(&c, CONN_DUE, 0, 0);
	conn_step(&c, CONN_OPENED, 0, 0);
	ck_assert_int_eq(conn_deadline(&c, INT64_C(1) << 50), -1);
}
END_TEST

START_TEST(test_once)
{
	struct conn c;

	conn_init(&c, 1000, true);
	/* not being there at first is no loss */
	conn_step(&c, CONN_DUE, 0, 0);
	conn_step(&c, CONN_FAILED, 0, 0);
	ck_assert_int_eq(c.state, CONN_WAITING);
	conn_step(&c, CONN_DUE, 20, 0);
	conn_step(&c, CONN_OPENED, 20, 0);
	conn_step(&c, CONN_WELCOME, 20, 0);
	ck_assert_int_eq(conn_step(&c, CONN_LOST, 30, 0),
		CONN_DO_DROP | CONN_DO_DISCONNECTED | CONN_DO_GIVE_UP);
	ck_assert_int_eq(c.state, CONN_CLOSED);
}
END_TEST

START_TEST(test_names)
{
	int state;

	for (state = 0; state < CONN_STATES; state++)
		ck_assert_str_ne(conn_state_name(state), "unknown");
	ck_assert_str_eq(conn_state_name(CONN_STATES), "unknown");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_state");
	TCase *t = tcase_create("state");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, test_every_cell);
	tcase_add_test(t, test_backoff_doubles);
	tcase_add_test(t, test_jitter_is_bounded);
	tcase_add_test(t, test_backoff_starts_anew_only_after_a_while);
	tcase_add_test(t, test_expiry);
	tcase_add_test(t, test_no_expiry);
	tcase_add_test(t, test_once);
	tcase_add_test(t, test_names);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
