/* SPDX-License-Identifier: MIT */
/* What approvalctl says while it waits, with the real broker: one that is late, goes and comes
 * back, suspends, refuses. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/exit.h"
#include "tests/ctl/live.h"

static struct live live;

static void setup(void)
{
	live_init(&live);
}

static void teardown(void)
{
	live_fini(&live);
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void broker_away(void)
{
	broker_stop(&live.broker);
	json_object_put(watch_event(&live.watch, "disconnected"));
}

static void broker_back(void)
{
	broker_start(&live.broker, NULL);
	json_object_put(watch_event(&live.watch, "snapshot"));
}

/* Each thing once, in its order: no broker, how to start one, it is there, how to answer. */
START_TEST(late)
{
	struct run ask;
	char id[64], line[160];

	broker_away();
	RUN(&ask, "ask", "--", "touch", live.witness);
	run_until_error(&ask, "; waiting for a broker\nStart one with 'approvald &'");
	broker_back();
	watch_offered(&live.watch, id);
	run_until_error(&ask, "approvalctl deny");
	snprintf(line, sizeof(line),
		"approvalctl: the broker is there\n"
		"approvalctl: waiting for an answer: 'approvalctl allow %s'",
		id);
	run_until_error(&ask, line);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	ck_assert(live_witnessed(&live));
	ck_assert_uint_eq(times(ask.error, "no broker at "), 1);
	ck_assert_uint_eq(times(ask.error, "waiting for a broker"), 1);
	ck_assert_uint_eq(times(ask.error, "waiting for an answer"), 1);
	run_free(&ask);
}
END_TEST

START_TEST(gone_and_back)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "--", "true");
	watch_offered(&live.watch, id);
	run_until_error(&ask, "waiting for an answer");
	broker_away();
	run_until_error(&ask, "the broker is gone; waiting for it to come back\n");
	broker_back();
	run_until_error(&ask, "the broker is there\n");
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	ck_assert_uint_eq(times(ask.error, "waiting for an answer"), 1);
	ck_assert_uint_eq(times(ask.error, "waiting for a broker"), 0);
	run_free(&ask);
}
END_TEST

START_TEST(quiet)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "-q", "--", "true");
	watch_offered(&live.watch, id);
	EXPECT(0, "suspend", "--all");
	EXPECT(0, "resume", "--all");
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	ck_assert_str_eq(ask.error, "");
	run_free(&ask);
}
END_TEST

/* Who suspends without a reason has none shown. */
START_TEST(suspended_silently)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "--", "true");
	watch_offered(&live.watch, id);
	EXPECT(0, "suspend", "--all");
	run_until_error(&ask, "approvalctl: suspended by a person\n");
	EXPECT(0, "resume", "--all");
	run_until_error(&ask, "approvalctl: resumed\n");
	EXPECT(0, "suspend", "--all", "--reason", "lunch");
	run_until_error(&ask, "approvalctl: suspended: lunch\n");
	EXPECT(0, "resume", "--all");
	EXPECT(0, "deny", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);
}
END_TEST

/* A watch without a broker would show nothing, as one without requests does. */
START_TEST(watch_waits)
{
	struct run watch;
	char id[64];
	struct run ask;

	broker_away();
	RUN(&watch, "watch");
	run_until_error(&watch, "; waiting for a broker\nStart one with 'approvald &'");
	broker_back();
	run_until_error(&watch, "the broker is there\n");
	RUN(&ask, "ask", "--", "true");
	watch_offered(&live.watch, id);
	run_until(&watch, id);
	EXPECT(0, "deny", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);
	kill(watch.pid, SIGINT);
	ck_assert_int_eq(run_wait(&watch), 0);
	ck_assert_uint_eq(times(watch.error, "waiting for a broker"), 1);
	ck_assert_uint_eq(times(watch.error, "the broker is there"), 1);
	run_free(&watch);
}
END_TEST

/* Where an agent runs it, the broker is there: it is the agent that is refused. */
START_TEST(doctor_inside)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "--", "./approvalctl", "doctor");
	watch_offered(&live.watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_FAILED);
	live_has(ask.text, "problem  the broker refuses what runs inside an agent, as this does");
	live_has(ask.text, "-> run doctor, and whatever answers, from a terminal that is not an "
			   "agent's");
	ck_assert_ptr_null(strstr(ask.text, "no broker"));
	run_free(&ask);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl ask and watch");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, late);
	if (!broker_valgrind()) /* sessions do not outlive it there */
		tcase_add_test(tc, gone_and_back);
	tcase_add_test(tc, quiet);
	tcase_add_test(tc, suspended_silently);
	tcase_add_test(tc, watch_waits);
	tcase_add_test(tc, doctor_inside);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
