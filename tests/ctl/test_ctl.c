/* SPDX-License-Identifier: MIT */
/* approvalctl with the real broker: what it shows, and what a person does with it. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* In the broker's folder. */
static void file_write(char path[128], const char *name, const char *text)
{
	FILE *f;

	snprintf(path, 128, "%s/%s", live.broker.dir, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(hostile_text)
{
	struct run ask, tty;
	char id[64], *text;

	RUN(&ask, "ask", "--summary", "\033]0;x\a\342\200\256", "--title", "\233\n", "--",
		"touch", "\033[2J", "a\tb");
	watch_offered(&live.watch, id);
	text = OUTPUT(0, "list");
	live_plain(text, 8);
	live_has(text, "\tBash: touch '\\x1b[2J' 'a\\tb'\t");
	free(text);
	text = OUTPUT(0, "show", id);
	ck_assert_ptr_null(strchr(text, '\033'));
	live_has(text, "\\x1b]0;x\\x07\\u{202e}");
	live_has(text, "\\x9b\\n");
	free(text);
	text = OUTPUT(0, "list", "--json");
	ck_assert_ptr_null(strstr(text, "\342\200\256"));
	live_has(text, "\\u202e");
	free(text);

	/* on a terminal our own colours are the only escape sequences */
	run_start_tty(&tty, (const char *const[]){"list", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	live_has(tty.text, "\033[1mID\033[0m");
	ck_assert_ptr_null(strstr(tty.text, "\033]"));
	ck_assert_ptr_null(strstr(tty.text, "\033[2J"));
	ck_assert_ptr_null(strstr(tty.text, id)); /* the end of it alone */
	live_has(tty.text, id + 32);
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

/* Before an answer is given all of it is shown, as `show` does. */
START_TEST(confirmation)
{
	static const char *const lines[] = {"Agent:        approvalctl", "Title:        a title",
		"Mode:         normal", "Tool:         Bash (execute, changes things)",
		"Description:\r\n  | because it is needed", "Command:\r\n  | sudo -n true",
		"Why:          floor: ", "Floor:        privilege: ", "Asked:        ",
		"Deadline:     never", "Process:      ", "Directory:    "};
	static const char *const words[][4] = {
		{"show", NULL}, {"allow", NULL}, {"deny", "--all", NULL}};
	struct run ask, tty;
	char id[64], *text;

	setenv("NO_COLOR", "1", 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		RUN(&ask, "ask", "--title", "a title", "--reason", "because it is needed", "--",
			"sudo", "-n", "true");
		watch_offered(&live.watch, id);
		if (words[i][1])
			run_start_tty_of(&tty, 200, words[i]);
		else
			run_start_tty_of(
				&tty, 200, (const char *const[]){words[i][0], id, NULL});
		if (words[i][1])
			run_until(&tty, "Type 1 to deny this one");
		if (words[i][1])
			run_write(&tty, "1\n");
		ck_assert_int_eq(run_wait(&tty), 0);
		for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
			live_has(tty.text, lines[k]);
		run_free(&tty);
		text = OUTPUT(0, "list");
		if (i == 0)
			live_has(text, "\tAWAITING\tnormal\t");
		free(text);
		if (i == 0)
			EXPECT(0, "deny", id);
		/* allowed, it does whatever sudo does here, if there is one */
		ck_assert((run_wait(&ask) == STATUS_DENIED) == (i != 1));
		run_free(&ask);
	}
}
END_TEST

/* However wide the terminal, a row of a table is one line. */
START_TEST(narrow)
{
	static const char *const words[] = {
		"list", "history", "sessions", "turns", "rules", "stats"};
	char rules[128];
	const struct {
		unsigned short width;
		const char *words[4], *titles[7], *gone;
	} kept[] = {
		{60, {"list"}, {"ID", "WHAT"}, "\n[a wider terminal or --json shows them]"},
		{80, {"list"}, {"ID", "DEADLINE", "MODE", "WHO", "WHAT", "WHY"}, "[+"},
		{70, {"sessions"}, {"SESSION", "PENDING"}, " DIRECTORY"},
		{80, {"rules"}, {"ID", "RULE                                   "}, " FROM"},
		{80, {"history", "--replay", rules},
			{"WHAT", "WAS", "WOULD BE", "BECAUSE OF"}, NULL},
	};
	struct run ask, tty;
	char id[64], *save;

	file_write(rules, "rules", "deny Bash(ls)\n");
	EXPECT(0, "ask", "--", "ls");
	RUN(&ask, "ask", "--title", "a title that takes a whole line of its own, nearly", "--",
		"sh", "-c", "echo a command that is far too long for most terminals; exit 3");
	watch_offered(&live.watch, id);
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
	/* what a table is about stays the longest, wherever its column stands */
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		run_start_tty_of(&tty, kept[i].width, kept[i].words);
		ck_assert_int_eq(run_wait(&tty), 0);
		for (const char *const *title = kept[i].titles; *title; title++)
			live_has(strtok_r(strdupa(tty.text), "\r\n", &save), *title);
		if (kept[i].gone)
			live_has(tty.text, kept[i].gone);
		run_free(&tty);
	}
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
		watch_offered(&live.watch, id);
	}
	EXPECT(STATUS_USAGE, "allow", "--all"); /* nobody there to confirm */

	/* the wrong number decides nothing */
	run_start_tty(&tty, (const char *const[]){"deny", "--all", NULL});
	run_until(&tty, "Type 3 to deny them all");
	run_write(&tty, "2\n");
	ck_assert_int_eq(run_wait(&tty), STATUS_FAILED);
	live_has(tty.text, "nothing was decided");
	run_free(&tty);

	run_start_tty(&tty, (const char *const[]){"allow", "--session", "ses_", "--all", NULL});
	ck_assert_int_eq(run_wait(&tty), STATUS_FAILED); /* more than one session is that */
	run_free(&tty);

	run_start_tty(&tty, (const char *const[]){"deny", id, NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	live_has(tty.text, "To deny: ");
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
	live_has(r.error, "approvalctl list");
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", "abc", "nothing-has-this"), STATUS_FAILED);
	live_plain(r.text, 4);
	live_has(r.text, "nothing-has-this\tnot_found\t");
	run_free(&r);

	RUN(&ask, "ask", "--", "touch", ".");
	j = watch_event(&live.watch, "offered");
	snprintf(id, sizeof(id), "%s", json_item_text(j, "request"));
	snprintf(session, sizeof(session), "%s", json_item_text(j, "session"));
	json_object_put(j);
	/* one that is wrong does not keep the others from being decided */
	ck_assert_int_eq(RUN_WHOLE(&r, "allow", session, id), STATUS_FAILED);
	live_has(r.text, "\tinvalid\t");
	live_has(r.text, "\tallowed\t");
	run_free(&r);
	ck_assert_int_eq(run_wait(&ask), 0);
	run_free(&ask);
	ck_assert_int_eq(RUN_WHOLE(&r, "mode", id, "plan"), STATUS_FAILED);
	run_free(&r);
}
END_TEST

START_TEST(records)
{
	struct run ask;
	struct json_object *j;
	char id[64], *text;

	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&live.watch, id);
	EXPECT(0, "deny", id, "--reason", "no");
	run_wait(&ask);
	run_free(&ask);

	text = OUTPUT(0, "history");
	live_plain(text, 9);
	live_has(text, "\tdecision\tapprovalctl\tdeny\tuser\tBash\t");
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
	live_has(text, "The history holds: ");
	free(text);
	text = OUTPUT(0, "history", "--verify", "--json");
	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "ok"), "true");
	ck_assert_uint_eq(strlen(json_text(j, "head")), 64);
	json_object_put(j);
	free(text);

	text = OUTPUT(0, "stats");
	live_plain(text, 2);
	live_has(text, "\nstore\tok\n");
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
	int status, elsewhere = 0;
	struct run r;

	/* the variables of this test are what it warns of */
	text = OUTPUT(STATUS_FAILED, "doctor");
	live_has(text, "warning  APPROVAL_SOCKET leads to ");
	live_has(text, "ok       the broker answers: approvald " PACKAGE_VERSION);
	live_has(text, "ok       store ");
	ck_assert_ptr_null(strstr(text, "problem"));
	free(text);

	unsetenv("APPROVAL_SOCKET");
	unsetenv("APPROVAL_FRONTEND_SOCKET");
	setenv("XDG_RUNTIME_DIR", live.broker.dir, 1);
	snprintf(path, sizeof(path), "mv %s/run %s/approvald", live.broker.dir, live.broker.dir);
	ck_assert_int_eq(system(path), 0);
	status = RUN_WHOLE(&r, "doctor", "--json");
	for (char *save, *line = strtok_r(r.text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		j = json_tokener_parse(line);
		ck_assert_ptr_nonnull(j);
		/* what another test holds meanwhile is no broker's that is known here */
		if (strstr(json_text(j, "what"), "/approval-run-"))
			elsewhere = 1;
		else
			ck_assert_msg(!strcmp(json_text(j, "level"), "ok") ||
					      !strcmp(json_text(j, "level"), "note"),
				"%s", line);
		json_object_put(j);
	}
	ck_assert_int_eq(status, elsewhere);
	run_free(&r);

	snprintf(path, sizeof(path), "chmod 755 %s/approvald", live.broker.dir);
	ck_assert_int_eq(system(path), 0);
	text = OUTPUT(STATUS_FAILED, "doctor");
	live_has(text, "has mode 0755: others can get at the sockets");
	free(text);
	snprintf(path, sizeof(path), "chmod 700 %s/approvald; mv %s/approvald %s/run",
		live.broker.dir, live.broker.dir, live.broker.dir);
	ck_assert_int_eq(system(path), 0);
}
END_TEST

/* What would be left out of account is refused, before any broker is asked. */
static const char *const apart[][4] = {
	{"history", "--verify", "--since", "1h"},
	{"history", "--verify", "--until", "1h"},
	{"history", "--verify", "--limit", "3"},
	{"history", "--verify", "--oldest"},
	{"history", "--verify", "--session", "ses_1"},
	{"history", "--verify", "--agent", "a"},
	{"history", "--verify", "--tool", "Bash"},
	{"history", "--verify", "--rule", "r"},
	{"history", "--verify", "--verdict", "allow"},
	{"history", "--verify", "--source", "user"},
	{"history", "--verify", "--event", "decision"},
	{"history", "--verify", "--replay", "/dev/null"},
};

START_TEST(options_apart)
{
	const char *const *w = apart[_i];

	EXPECT(STATUS_USAGE, w[0], w[1], w[2], w[3]);
}
END_TEST

/* On a terminal nothing found is said; to a program it is no output. */
START_TEST(nothing_found)
{
	struct run tty;
	char *text;

	run_start_tty(&tty, (const char *const[]){"history", "--until", "1h", NULL});
	ck_assert_int_eq(run_wait(&tty), 0);
	live_has(tty.text, "The history has no such record.");
	run_free(&tty);
	text = OUTPUT(0, "history", "--until", "1h");
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(reload_json)
{
	struct json_object *j;
	char *text = OUTPUT(0, "rules", "reload", "--json");

	j = json_tokener_parse(text);
	ck_assert_str_eq(json_text(j, "reloaded"), "true");
	json_object_put(j);
	free(text);
	text = OUTPUT(0, "rules", "reload");
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(trust_apart)
{
	EXPECT(STATUS_USAGE, "rules", "trust", "--list", "--uid", "0");
	EXPECT(STATUS_USAGE, "rules", "trust", "--list", "--remove");
	EXPECT(STATUS_USAGE, "rules", "trust", "--list", "--yes");
	EXPECT(STATUS_USAGE, "rules", "trust", "--remove", "--hash", "00");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl and the broker");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, hostile_text);
	tcase_add_test(tc, confirmation);
	tcase_add_test(tc, narrow);
	tcase_add_test(tc, bulk);
	tcase_add_test(tc, wrong_ids);
	tcase_add_test(tc, records);
	tcase_add_test(tc, pages);
	tcase_add_test(tc, reader_gone);
	tcase_add_test(tc, doctor);
	tcase_add_loop_test(tc, options_apart, 0, sizeof(apart) / sizeof(apart[0]));
	tcase_add_test(tc, trust_apart);
	tcase_add_test(tc, nothing_found);
	tcase_add_test(tc, reload_json);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
