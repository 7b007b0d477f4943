/* SPDX-License-Identifier: MIT */
/* approvalctl with the real broker. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

static struct broker broker;
static struct run watch;
static char witness[128]; /* a file that only a command that runs makes */

static void setup(void)
{
	broker_init(&broker);
	setenv("APPROVAL_SOCKET", broker.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", broker.frontend, 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	snprintf(witness, sizeof(witness), "%s/witness", broker.dir);
	broker_start(&broker, NULL);
	watch_start(&watch);
}

static void teardown(void)
{
	kill(watch.pid, SIGINT);
	ck_assert_int_eq(run_wait(&watch), 0);
	run_free(&watch);
	broker_stop(&broker);
	broker_fini(&broker);
}

static bool witnessed(void)
{
	return !access(witness, F_OK);
}

/* Runs a command to its end and gives back its whole output, to be freed. */
static char *output_of(int status, const char *const *words)
{
	struct run r;

	run_whole(&r, words);
	ck_assert_msg(r.status == status, "'%s %s' exited with %d: %s%s", words[0],
		words[1] ? words[1] : "", r.status, r.text, r.error);
	free(r.error);
	return r.text;
}
#define OUTPUT(status, ...) output_of(status, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(status, ...) free(OUTPUT(status, __VA_ARGS__))

static void has(const char *text, const char *what)
{
	ck_assert_msg(strstr(text, what), "no '%s' in '%s'", what, text);
}

/* Plain text for programs: no escape sequence, every line of n cells. */
static void plain(const char *text, size_t cells)
{
	ck_assert_ptr_null(strchr(text, '\033'));
	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		size_t n = 1;

		for (const char *p = text; p < end; p++)
			n += *p == '\t';
		ck_assert_uint_eq(n, cells);
	}
	ck_assert_str_eq(text, "");
}

START_TEST(allowed)
{
	struct run ask;
	struct json_object *j;
	char id[64], *text;

	RUN(&ask, "ask", "--title", "build", "--", "sh", "-c",
		"touch \"$0\"; echo ran; read x; exit 3", witness);
	watch_offered(&watch, id);
	ck_assert(!witnessed());

	text = OUTPUT(0, "list");
	plain(text, 7);
	has(text, id);
	has(text, "\tAWAITING\t");
	has(text, "echo ran");
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
	has(text, id);
	has(text, "AWAITING");
	has(text, "\n  |   \"command\": \"sh -c 'touch ");
	free(text);

	/* by the end of its id, as tables show it */
	text = OUTPUT(0, "allow", id + 32);
	plain(text, 4);
	has(text, id);
	has(text, "\tallowed\t");
	free(text);

	j = watch_event(&watch, "resolved");
	ck_assert_str_eq(json_text(j, "request"), id);
	ck_assert_str_eq(json_text(j, "verdict"), "allow");
	ck_assert_str_eq(json_text(j, "source"), "user");
	json_object_put(j);
	run_until(&ask, "ran\n");
	ck_assert(witnessed());

	/* the second answer changes nothing, and is told so */
	text = OUTPUT(STATUS_FAILED, "deny", id);
	has(text, "\tgone\tALLOWED by user\t");
	free(text);
	text = OUTPUT(STATUS_FAILED, "deny", "--json", id);
	has(text, "\"result\":\"gone\",\"state\":\"ALLOWED\",\"source\":\"user\"");
	free(text);

	run_close_in(&ask);
	ck_assert_int_eq(run_wait(&ask), 3);
	ck_assert_str_eq(ask.text, "ran\n");
	run_free(&ask);
	j = watch_event(&watch, "outcome");
	ck_assert_str_eq(json_text(j, "state"), "FAILED");
	ck_assert_str_eq(json_text(j, "ran_anyway"), "false");
	json_object_put(j);
}
END_TEST

START_TEST(denied)
{
	struct run ask;
	char id[64], *text;

	RUN(&ask, "ask", "--", "touch", witness);
	watch_offered(&watch, id);
	text = OUTPUT(0, "deny", id, "--reason", "keep\033[2J it");
	has(text, "\tdenied\t");
	free(text);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	ck_assert_str_eq(ask.text, "");
	has(ask.error, "not run: denied by user\n");
	has(ask.error, "keep\\x1b[2J it\n");
	has(ask.error, "Message:");
	ck_assert(!witnessed());
	run_free(&ask);
}
END_TEST

START_TEST(expired)
{
	struct run ask;

	ck_assert_int_eq(RUN_WHOLE(&ask, "ask", "--timeout", "300ms", "--", "touch", witness),
		STATUS_EXPIRED);
	ck_assert(!witnessed());
	run_free(&ask);
}
END_TEST

START_TEST(interrupted)
{
	struct run ask;
	struct json_object *j;
	char id[64];

	RUN(&ask, "ask", "--", "touch", witness);
	watch_offered(&watch, id);
	kill(ask.pid, SIGINT);
	j = watch_event(&watch, "withdrawn");
	ck_assert_str_eq(json_text(j, "request"), id);
	ck_assert_str_eq(json_text(j, "state"), "ABANDONED");
	json_object_put(j);
	ck_assert_int_eq(run_wait(&ask), STATUS_SIGNAL + SIGINT);
	has(ask.error, "not run: cancelled");
	ck_assert(!witnessed());
	run_free(&ask);
}
END_TEST

START_TEST(not_to_be_run)
{
	struct run ask;
	char id[64];

	RUN(&ask, "ask", "--", "./no-such-program");
	watch_offered(&watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_NO_PROGRAM);
	run_free(&ask);
	json_object_put(watch_event(&watch, "outcome"));

	RUN(&ask, "ask", "--", broker.dir);
	watch_offered(&watch, id);
	EXPECT(0, "allow", id);
	/* valgrind has its own idea of what execve answers */
	if (!broker_valgrind())
		ck_assert_int_eq(run_wait(&ask), STATUS_CANNOT_RUN);
	else
		run_wait(&ask);
	run_free(&ask);

	RUN(&ask, "ask", "--", "sh", "-c", "kill -9 $$");
	watch_offered(&watch, id);
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_SIGNAL + SIGKILL);
	run_free(&ask);
}
END_TEST

START_TEST(hostile_text)
{
	struct run ask, tty;
	char id[64], *text;

	RUN(&ask, "ask", "--summary", "\033]0;x\a\342\200\256", "--title", "\233\n", "--",
		"touch", "\033[2J", "a\tb");
	watch_offered(&watch, id);
	text = OUTPUT(0, "list");
	plain(text, 7);
	has(text, "\tBash: touch '\\x1b[2J' 'a\\tb'\t");
	free(text);
	text = OUTPUT(0, "show", id);
	ck_assert_ptr_null(strchr(text, '\033'));
	has(text, "\\x1b]0;x\\x07\\u{202e}");
	has(text, "\\x9b\\n");
	free(text);
	text = OUTPUT(0, "list", "--json");
	ck_assert_ptr_null(strstr(text, "\342\200\256"));
	has(text, "\\u202e");
	free(text);

	/* on a terminal our own colours are the only escape sequences */
	run_start_tty(&tty, (const char *const[]){"list", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	has(tty.text, "\033[1mID\033[0m");
	ck_assert_ptr_null(strstr(tty.text, "\033]"));
	ck_assert_ptr_null(strstr(tty.text, "\033[2J"));
	ck_assert_ptr_null(strstr(tty.text, id)); /* the end of it alone */
	has(tty.text, id + 32);
	run_free(&tty);

	setenv("NO_COLOR", "1", 1);
	run_start_tty(&tty, (const char *const[]){"list", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	ck_assert_ptr_null(strchr(tty.text, '\033'));
	run_free(&tty);

	EXPECT(0, "deny", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);
}
END_TEST

/* However wide the terminal, a row of a table is one line. */
START_TEST(narrow)
{
	static const char *const words[] = {
		"list", "history", "sessions", "turns", "rules", "stats"};
	struct run ask, tty;
	char id[64], *save;

	RUN(&ask, "ask", "--title", "a title that takes a whole line of its own, nearly", "--",
		"sh", "-c", "echo a command that is far too long for most terminals; exit 3");
	watch_offered(&watch, id);
	EXPECT(0, "rules", "add", "deny Bash(some command with many words that is never run)");
	setenv("NO_COLOR", "1", 1);
	for (unsigned short width = 30; width <= 150; width += 10)
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			run_start_tty_of(
				&tty, width, (const char *const[]){words[i], NULL});
			ck_assert_int_eq(run_wait(&tty), 0);
			for (char *line = strtok_r(tty.text, "\r\n", &save); line;
				line = strtok_r(NULL, "\r\n", &save))
				ck_assert_msg(strlen(line) <= width, "%s at %d: '%s'",
					words[i], width, line);
			run_free(&tty);
		}
	/* what is asked for comes before why it is asked about */
	run_start_tty_of(&tty, 80, (const char *const[]){"list", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	has(tty.text, "Bash: sh -c");
	has(tty.text, "\n[+1 column: WHY]");
	run_free(&tty);
	run_start_tty_of(&tty, 100, (const char *const[]){"list", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	has(tty.text, " WHY");
	run_free(&tty);
	EXPECT(0, "deny", id);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);
}
END_TEST

START_TEST(bulk)
{
	struct run ask[3], tty;
	char id[64], *text;

	for (int i = 0; i < 3; i++) {
		RUN(&ask[i], "ask", "--", "touch", ".");
		watch_offered(&watch, id);
	}
	EXPECT(STATUS_USAGE, "allow", "--all"); /* nobody there to confirm */

	/* the wrong number decides nothing */
	run_start_tty(&tty, (const char *const[]){"deny", "--all", NULL});
	run_until(&tty, "Type 3 to deny them all");
	run_write(&tty, "2\n");
	ck_assert_int_eq(run_wait(&tty), STATUS_FAILED);
	has(tty.text, "nothing was decided");
	run_free(&tty);

	run_start_tty(&tty, (const char *const[]){"allow", "--session", "ses_", "--all", NULL});
	ck_assert_int_eq(run_wait(&tty), STATUS_FAILED); /* more than one session is that */
	run_free(&tty);

	run_start_tty(&tty, (const char *const[]){"deny", id, NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	has(tty.text, "To deny: ");
	run_free(&tty);
	ck_assert_int_eq(run_wait(&ask[2]), STATUS_DENIED);

	text = OUTPUT(0, "allow", "--all", "--yes", "--json");
	for (const char *p = text, *end; (end = strchr(p, '\n')); p = end + 1)
		ck_assert_ptr_nonnull(strstr(p, "\"verdict\":\"allow\",\"result\":\"ok\""));
	free(text);
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			ck_assert_int_eq(run_wait(&ask[i]), 0);
		run_free(&ask[i]);
	}
	text = OUTPUT(0, "deny", "--all", "--yes");
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(wrong_ids)
{
	struct run ask, r;
	char id[64], session[64] = "";
	struct json_object *j;

	ck_assert_int_eq(RUN_WHOLE(&r, "show", "nothing-has-this"), STATUS_FAILED);
	has(r.error, "approvalctl list");
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", "abc", "nothing-has-this"), STATUS_FAILED);
	plain(r.text, 4);
	has(r.text, "nothing-has-this\tnot_found\t");
	run_free(&r);

	RUN(&ask, "ask", "--", "touch", ".");
	j = watch_event(&watch, "offered");
	snprintf(id, sizeof(id), "%s", json_item_text(j, "request"));
	snprintf(session, sizeof(session), "%s", json_item_text(j, "session"));
	json_object_put(j);
	/* one that is wrong does not keep the others from being decided */
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", session, id), STATUS_FAILED);
	has(r.text, "\tinvalid\t");
	has(r.text, "\tallowed\t");
	run_free(&r);
	ck_assert_int_eq(run_wait(&ask), 0);
	run_free(&ask);
	ck_assert_int_eq(RUN_WHOLE(&r, "mode", id, "plan"), STATUS_FAILED);
	run_free(&r);
}
END_TEST

START_TEST(suspended)
{
	struct run ask;
	struct json_object *j;
	char id[64], session[64], *text;

	RUN(&ask, "ask", "--", "touch", witness);
	j = watch_event(&watch, "offered");
	snprintf(id, sizeof(id), "%s", json_item_text(j, "request"));
	snprintf(session, sizeof(session), "%s", json_item_text(j, "session"));
	json_object_put(j);

	text = OUTPUT(0, "sessions");
	plain(text, 9);
	has(text, session);
	free(text);
	text = OUTPUT(0, "turns", "--session", session + 32);
	plain(text, 10);
	has(text, "\tWAITING\t");
	free(text);
	text = OUTPUT(0, "mode", session + 32, "plan");
	has(text, "plan, at most plan");
	free(text);
	EXPECT(0, "mode", session, "normal");

	text = OUTPUT(0, "suspend", "--all", "--reason", "lunch");
	ck_assert_str_eq(text, "1 turn suspended\n");
	free(text);
	text = OUTPUT(0, "list");
	has(text, "\tHELD\t");
	free(text);
	text = OUTPUT(STATUS_FAILED, "allow", id);
	has(text, "\theld\t");
	free(text);
	text = OUTPUT(0, "resume", session + 32);
	ck_assert_str_eq(text, "1 turn resumed\n");
	free(text);
	text = OUTPUT(0, "list");
	has(text, "\tAWAITING\t");
	free(text);

	text = OUTPUT(0, "end-turn", session, "--reason", "enough");
	ck_assert_str_eq(text, "1 turn ended\n");
	free(text);
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	has(ask.error, "suspended: lunch");
	ck_assert(!witnessed());
	run_free(&ask);
}
END_TEST

START_TEST(restart)
{
	struct run ask;
	struct json_object *j;
	char id[64];

	RUN(&ask, "ask", "--", "touch", witness);
	watch_offered(&watch, id);
	broker_kill(&broker);
	json_object_put(watch_event(&watch, "disconnected"));
	broker_start(&broker, NULL);
	/* the same request, in the snapshot of the new broker */
	do {
		j = watch_event(&watch, "item");
		if (!strcmp(json_item_text(j, "request"), id))
			break;
	} while (json_object_put(j));
	json_object_put(j);
	json_object_put(watch_event(&watch, "snapshot"));
	EXPECT(0, "allow", id);
	ck_assert_int_eq(run_wait(&ask), 0);
	ck_assert(witnessed());
	run_free(&ask);
}
END_TEST

/* What an agent started is no person. */
START_TEST(self_approval)
{
	struct run other, ask;
	char id[64], second[64];

	RUN(&other, "ask", "--", "touch", witness);
	watch_offered(&watch, id);
	RUN(&ask, "ask", "--", "./approvalctl", "allow", id);
	watch_offered(&watch, second);
	EXPECT(0, "allow", second);
	ck_assert_int_eq(run_wait(&ask), STATUS_FAILED);
	has(ask.error, "Only a person answers");
	run_free(&ask);
	ck_assert(!witnessed());
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
	has(text, "ask\n");
	free(text);
	text = OUTPUT(
		STATUS_ASK, "check", "--json", "--tool", "Frob", "--input", "{\"a\":[1]}");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "verdict"), "ask");
	json_object_put(j);
	free(text);
	/* what it is called through says that it executes, which is known of every command */
	text = OUTPUT(0, "check", "--", "ls", "-l");
	has(text, "allow\n");
	free(text);
}
END_TEST

START_TEST(checks_denied)
{
	char *text;

	broker_stop(&broker);
	broker_configure(&broker, "[broker]\ndefault-mode = plan\n");
	broker_start(&broker, NULL);
	text = OUTPUT(STATUS_DENIED, "check", "--", "touch", "x");
	has(text, "deny\n");
	has(text, "mode");
	free(text);
}
END_TEST

START_TEST(records)
{
	struct run ask;
	struct json_object *j;
	char id[64], *text;

	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&watch, id);
	EXPECT(0, "deny", id, "--reason", "no");
	run_wait(&ask);
	run_free(&ask);

	text = OUTPUT(0, "history");
	plain(text, 9);
	has(text, "\tdecision\tapprovalctl\tdeny\tuser\tBash\t");
	free(text);
	text = OUTPUT(0, "history", "--json", "--event", "decision", "-n", "1");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "verdict"), "deny");
	ck_assert_str_eq(json_text(j, "reason"), "no");
	ck_assert_str_eq(json_text(j, "request"), id);
	json_object_put(j);
	free(text);
	text = OUTPUT(0, "history", "--verdict", "allow");
	ck_assert_str_eq(text, "");
	free(text);
	text = OUTPUT(0, "history", "--until", "1h");
	ck_assert_str_eq(text, "");
	free(text);
	EXPECT(STATUS_USAGE, "history", "--verdict", "perhaps");

	text = OUTPUT(0, "history", "--verify");
	has(text, "The history holds: ");
	free(text);
	text = OUTPUT(0, "history", "--verify", "--json");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "ok"), "true");
	ck_assert_uint_eq(strlen(json_text(j, "head")), 64);
	json_object_put(j);
	free(text);

	text = OUTPUT(0, "stats");
	plain(text, 2);
	has(text, "\nstore\tok\n");
	free(text);
	text = OUTPUT(0, "stats", "--json");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "version"), PACKAGE_VERSION);
	json_object_put(j);
	free(text);
}
END_TEST

/* A long history comes in pages. */
START_TEST(pages)
{
	char *text;
	size_t lines[2] = {0, 0};

	for (int i = 0; i < 60; i++)
		EXPECT(STATUS_ASK, "check", "--", "touch", ".");
	for (int i = 0; i < 2; i++) {
		text = OUTPUT(0, "history", i ? "--oldest" : "--json", "-n", i ? "0" : "50");
		for (const char *p = text; (p = strchr(p, '\n')); p++)
			lines[i]++;
		free(text);
	}
	ck_assert_uint_eq(lines[0], 50);
	ck_assert_uint_ge(lines[1], 60);
}
END_TEST

/* `watch | head` ends with head, not with the next event. */
START_TEST(reader_gone)
{
	struct run other;

	watch_start(&other);
	close(other.out);
	other.out = -1;
	ck_assert_int_eq(run_wait(&other), 0);
	run_free(&other);
}
END_TEST

START_TEST(doctor)
{
	char *text, path[256];
	struct json_object *j;

	/* the variables of this test are what it warns of */
	text = OUTPUT(STATUS_FAILED, "doctor");
	has(text, "warning  APPROVAL_SOCKET leads to ");
	has(text, "ok       the broker answers: approvald " PACKAGE_VERSION);
	has(text, "ok       store ");
	ck_assert_ptr_null(strstr(text, "problem"));
	free(text);

	unsetenv("APPROVAL_SOCKET");
	unsetenv("APPROVAL_FRONTEND_SOCKET");
	setenv("XDG_RUNTIME_DIR", broker.dir, 1);
	snprintf(path, sizeof(path), "mv %s/run %s/approvald", broker.dir, broker.dir);
	ck_assert_int_eq(system(path), 0);
	text = OUTPUT(0, "doctor", "--json");
	for (char *save, *line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		j = json_tokener_parse(line);
		ck_assert_ptr_nonnull(j);
		ck_assert(!strcmp(json_text(j, "level"), "ok") ||
			  !strcmp(json_text(j, "level"), "note"));
		json_object_put(j);
	}
	free(text);

	snprintf(path, sizeof(path), "chmod 755 %s/approvald", broker.dir);
	ck_assert_int_eq(system(path), 0);
	text = OUTPUT(STATUS_FAILED, "doctor");
	has(text, "has mode 0755: others can get at the sockets");
	free(text);
	snprintf(path, sizeof(path), "chmod 700 %s/approvald; mv %s/approvald %s/run",
		broker.dir, broker.dir, broker.dir);
	ck_assert_int_eq(system(path), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl and the broker");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, allowed);
	tcase_add_test(tc, denied);
	tcase_add_test(tc, expired);
	tcase_add_test(tc, interrupted);
	tcase_add_test(tc, not_to_be_run);
	tcase_add_test(tc, hostile_text);
	tcase_add_test(tc, narrow);
	tcase_add_test(tc, bulk);
	tcase_add_test(tc, wrong_ids);
	tcase_add_test(tc, suspended);
	if (!broker_valgrind()) /* sessions do not outlive it there */
		tcase_add_test(tc, restart);
	tcase_add_test(tc, self_approval);
	tcase_add_test(tc, checks);
	tcase_add_test(tc, checks_denied);
	tcase_add_test(tc, records);
	tcase_add_test(tc, pages);
	tcase_add_test(tc, reader_gone);
	tcase_add_test(tc, doctor);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
