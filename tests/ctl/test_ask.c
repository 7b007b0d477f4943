/* SPDX-License-Identifier: MIT */
/* approvalctl ask and check, with the real broker. */
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

START_TEST(allowed)
{
	struct run ask;
	struct json_object *j;
	char id[64], *text;

	RUN(&ask, "ask", "--title", "build", "--", "sh", "-c",
		"touch \"$0\"; echo ran; read x; exit 3", live.witness);
	watch_offered(&live.watch, id);
	ck_assert(!live_witnessed(&live));

	text = OUTPUT(0, "list");
	live_plain(text, 8);
	live_has(text, id);
	live_has(text, "\tAWAITING\t");
	live_has(text, "echo ran");
	free(text);

	text = OUTPUT(0, "list", "--json");
	j = json_tokener_parse(text);
	ck_assert_ptr_nonnull(j);
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
	ck_assert_str_eq(json_text(j, "type"), "request");
	ck_assert_str_eq(json_text(j, "request"), id);
	ck_assert_str_eq(json_text(j, "state"), "AWAITING");
	ck_assert_str_eq(json_text(j, "agent"), "approvalctl");
	ck_assert_str_eq(json_text(j, "tool"), "Bash");
	ck_assert_uint_eq(strlen(json_text(j, "digest")), 64);
	json_object_put(j);
	free(text);

	text = OUTPUT(0, "show", id + 32);
	live_has(text, id);
	live_has(text, "AWAITING");
	live_has(text, "\n  |   \"command\": \"sh -c 'touch ");
	free(text);

	/* by the end of its id, as tables show it */
	text = OUTPUT(0, "allow", id + 32);
	live_plain(text, 4);
	live_has(text, id);
	live_has(text, "\tallowed\t");
	free(text);

	j = watch_event(&live.watch, "resolved");
	ck_assert_str_eq(json_text(j, "request"), id);
	ck_assert_str_eq(json_text(j, "verdict"), "allow");
	ck_assert_str_eq(json_text(j, "source"), "user");
	json_object_put(j);
	run_until(&ask, "ran\n");
	ck_assert(live_witnessed(&live));

	/* the second answer changes nothing, and is told so */
	text = OUTPUT(STATUS_FAILED, "deny", id);
	live_has(text, "\tgone\tALLOWED by user\t");
	free(text);
	text = OUTPUT(STATUS_FAILED, "deny", "--json", id);
	live_has(text, "\"result\":\"gone\",\"state\":\"ALLOWED\",\"source\":\"user\"");
	free(text);

	run_close_in(&ask);
	ck_assert_int_eq(run_wait(&ask), 3);
	ck_assert_str_eq(ask.text, "ran\n");
	run_free(&ask);
	j = watch_event(&live.watch, "outcome");
	ck_assert_str_eq(json_text(j, "state"), "FAILED");
	ck_assert_str_eq(json_text(j, "ran_anyway"), "false");
	json_object_put(j);
}
END_TEST

START_TEST(denied)
{
	struct run ask;
	char id[64], *text;

	RUN(&ask, "ask", "--", "touch", live.witness);
	watch_offered(&live.watch, id);
	text = OUTPUT(0, "deny", id, "--reason", "keep\033[2J it");
	live_has(text, "\tdenied\t");
	free(text);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	ck_assert_str_eq(ask.text, "");
	live_has(ask.error, "not run: denied by user\n");
	live_has(ask.error, "keep\\x1b[2J it\n");
	live_has(ask.error, "Message:");
	ck_assert(!live_witnessed(&live));
	run_free(&ask);
}
END_TEST

START_TEST(expired)
{
	struct run ask;

	ck_assert_int_eq(RUN_WHOLE(&ask, "ask", "--timeout", "300ms", "--", "touch", live.witness),
		STATUS_EXPIRED);
	ck_assert(!live_witnessed(&live));
	run_free(&ask);
}
END_TEST

START_TEST(interrupted)
{
	struct run ask;
	struct json_object *j;
	char id[64];

	RUN(&ask, "ask", "--", "touch", live.witness);
	watch_offered(&live.watch, id);
	kill(ask.pid, SIGINT);
	j = watch_event(&live.watch, "withdrawn");
	ck_assert_str_eq(json_text(j, "request"), id);
	ck_assert_str_eq(json_text(j, "state"), "ABANDONED");
	json_object_put(j);
	ck_assert_int_eq(run_wait(&ask), STATUS_SIGNAL + SIGINT);
	live_has(ask.error, "not run: cancelled");
	ck_assert(!live_witnessed(&live));
	run_free(&ask);
}
END_TEST

START_TEST(not_to_be_run)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "--", "./no-such-program");
	watch_offered(&live.watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_NO_PROGRAM);
	run_free(&ask);
	json_object_put(watch_event(&live.watch, "outcome"));

	RUN(&ask, "ask", "--", live.broker.dir);
	watch_offered(&live.watch, id);
	EXPECT(0, "allow", id);
	/* valgrind has its own idea of what execve answers */
	if (!broker_valgrind())
		ck_assert_int_eq(run_wait(&ask), STATUS_CANNOT_RUN);
	else
		run_wait(&ask);
	run_free(&ask);

	RUN(&ask, "ask", "--", "sh", "-c", "kill -9 $$");
	watch_offered(&live.watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_SIGNAL + SIGKILL);
	run_free(&ask);
}
END_TEST

START_TEST(suspended)
{
	struct run ask;
	struct json_object *j;
	char id[64], session[64], *text;

	RUN(&ask, "ask", "--", "touch", live.witness);
	j = watch_event(&live.watch, "offered");
	snprintf(id, sizeof(id), "%s", json_item_text(j, "request"));
	snprintf(session, sizeof(session), "%s", json_item_text(j, "session"));
	json_object_put(j);

	text = OUTPUT(0, "sessions");
	live_plain(text, 9);
	live_has(text, session);
	free(text);
	text = OUTPUT(0, "turns", "--session", session + 32);
	live_plain(text, 10);
	live_has(text, "\tWAITING\t");
	free(text);
	text = OUTPUT(0, "mode", session + 32, "plan");
	live_has(text, "plan, at most plan");
	free(text);
	EXPECT(0, "mode", session, "normal");

	text = OUTPUT(0, "suspend", "--all", "--reason", "lunch");
	ck_assert_str_eq(text, "1 turn suspended\n");
	free(text);
	text = OUTPUT(0, "list");
	live_has(text, "\tHELD\t");
	free(text);
	text = OUTPUT(STATUS_FAILED, "allow", id);
	live_has(text, "\theld\t");
	free(text);
	text = OUTPUT(0, "resume", session + 32);
	ck_assert_str_eq(text, "1 turn resumed\n");
	free(text);
	text = OUTPUT(0, "list");
	live_has(text, "\tAWAITING\t");
	free(text);

	text = OUTPUT(0, "end-turn", session, "--reason", "enough");
	ck_assert_str_eq(text, "1 turn ended\n");
	free(text);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	live_has(ask.error, "suspended: lunch");
	ck_assert(!live_witnessed(&live));
	run_free(&ask);
}
END_TEST

START_TEST(restart)
{
	struct run ask;
	struct json_object *j;
	char id[64];

	RUN(&ask, "ask", "--", "touch", live.witness);
	watch_offered(&live.watch, id);
	broker_kill(&live.broker);
	json_object_put(watch_event(&live.watch, "disconnected"));
	broker_start(&live.broker, NULL);
	/* the same request, in the snapshot of the new broker */
	do {
		j = watch_event(&live.watch, "item");
		if (!strcmp(json_item_text(j, "request"), id))
			break;
	} while (json_object_put(j));
	json_object_put(j);
	json_object_put(watch_event(&live.watch, "snapshot"));
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	ck_assert(live_witnessed(&live));
	run_free(&ask);
}
END_TEST

/* What an agent started is no person. */
START_TEST(self_approval)
{
	struct run other, ask;
	char id[64], second[64];

	RUN(&other, "ask", "--", "touch", live.witness);
	watch_offered(&live.watch, id);
	RUN(&ask, "ask", "--", "./approvalctl", "allow", id);
	watch_offered(&live.watch, second);
	EXPECT(0, "allow", second);
	ck_assert_int_eq(run_wait(&ask), STATUS_FAILED);
	live_has(ask.error, "Only a person answers");
	run_free(&ask);
	ck_assert(!live_witnessed(&live));
	EXPECT(0, "deny", id);
	ck_assert_int_eq(run_wait(&other), STATUS_DENIED);
	run_free(&other);
}
END_TEST

START_TEST(checks)
{
	char *text;
	struct json_object *j;

	text = OUTPUT(STATUS_ASK, "check", "--", "touch", "x");
	live_has(text, "ask\n");
	free(text);
	text = OUTPUT(
		STATUS_ASK, "check", "--json", "--tool", "Frob", "--input", "{\"a\":[1]}");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "verdict"), "ask");
	json_object_put(j);
	free(text);
	/* what it is called through says that it executes, which is known of every command;
	 * valgrind resolves no path */
	if (broker_valgrind())
		return;
	text = OUTPUT(0, "check", "--", "ls", "-l");
	live_has(text, "allow\n");
	free(text);
}
END_TEST

START_TEST(checks_denied)
{
	char *text;

	broker_stop(&live.broker);
	broker_configure(&live.broker, "[broker]\ndefault-mode = plan\n");
	broker_start(&live.broker, NULL);
	text = OUTPUT(STATUS_DENIED, "check", "--", "touch", "x");
	live_has(text, "deny\n");
	live_has(text, "mode");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl ask and check");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, allowed);
	tcase_add_test(tc, denied);
	tcase_add_test(tc, expired);
	tcase_add_test(tc, interrupted);
	tcase_add_test(tc, not_to_be_run);
	tcase_add_test(tc, suspended);
	if (!broker_valgrind()) /* sessions do not outlive it there */
		tcase_add_test(tc, restart);
	tcase_add_test(tc, self_approval);
	tcase_add_test(tc, checks);
	tcase_add_test(tc, checks_denied);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
