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

/* The id that `ask` says is to be allowed. */
static void id_said(const struct run *ask, char id[64])
{
	static const char before[] = "'approvalctl allow ";
	const char *const at = strstr(ask->error, before);

	ck_assert_ptr_nonnull(at);
	snprintf(id, 64, "%.40s", at + sizeof(before) - 1);
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
	/* watch may have it in its snapshot, or be told of it */
	run_until_error(&ask, "approvalctl deny");
	id_said(&ask, id);
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

	RUN(&ask, "ask", "--", "touch", ".");
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

	RUN(&ask, "ask", "-q", "--", "touch", ".");
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

	RUN(&ask, "ask", "--", "touch", ".");
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
	RUN(&ask, "ask", "--", "touch", ".");
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

/* What became of it, by its whole id and by the end that lists show. */
static void is_gone(const char *verb, const char *id, const char *how)
{
	char want[128], *text;
	struct run r;

	for (int part = 0; part < 2; part++) {
		text = OUTPUT(STATUS_FAILED, verb, part ? id + 28 : id);
		snprintf(want, sizeof(want), "%s\tgone\t%s\t", id, how);
		live_has(text, want);
		live_plain(text, 4);
		free(text);
	}
	ck_assert_int_eq(RUN_WHOLE(&r, "show", id), STATUS_FAILED);
	snprintf(want, sizeof(want), "approvalctl: it has ended: %s\n", how);
	live_has(r.error, want);
	run_free(&r);
}

/* A decision that comes after the session has ended is told what became of the request, though
 * the broker has forgotten it; and also by the next broker. */
START_TEST(too_late)
{
	struct run ask;
	char ids[3][64];

	for (int i = 0; i < 3; i++) {
		RUN(&ask, "ask", "--", "touch", ".");
		watch_offered(&live.watch, ids[i]);
		if (i < 2)
			EXPECT(0, i ? "deny" : "allow", ids[i]);
		else
			kill(ask.pid, SIGINT);
		ck_assert_int_eq(run_wait(&ask),
			i == 0	 ? 0
			: i == 1 ? STATUS_DENIED
				 : STATUS_SIGNAL + SIGINT);
		run_free(&ask);
	}
	for (int i = 0; i < 2; i++) {
		is_gone("allow", ids[0], "SUCCEEDED by user");
		is_gone("deny", ids[0], "SUCCEEDED by user");
		is_gone("allow", ids[1], "DENIED by user");
		is_gone("allow", ids[2], "ABANDONED by abort");
		broker_away();
		broker_back();
	}
	/* a part that more than one has is none, and what never was is not found */
	for (int i = 0; i < 2; i++) {
		char *text = OUTPUT(STATUS_FAILED, "allow", i ? "req_" : "0000000000");

		live_has(text, "\tnot_found\t");
		free(text);
	}
}
END_TEST

/* What ends well is nowhere called an abort; what is given up is. */
START_TEST(ends_well)
{
	struct run ask;
	char id[64], *text;

	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&live.watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	run_free(&ask);
	text = OUTPUT(0, "history");
	live_has(text, "\tturn_ended\t");
	live_has(text, "\tsession_ended\t");
	ck_assert_ptr_null(strstr(text, "abort"));
	free(text);

	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&live.watch, id);
	kill(ask.pid, SIGKILL);
	json_object_put(watch_event(&live.watch, "withdrawn"));
	ck_assert_int_eq(run_wait(&ask), -SIGKILL);
	run_free(&ask);
	text = OUTPUT(0, "history", "--event", "turn_ended", "--source", "abort");
	live_has(text, "\tturn_ended\t");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl while it waits");
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
	tcase_add_test(tc, too_late);
	tcase_add_test(tc, ends_well);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
