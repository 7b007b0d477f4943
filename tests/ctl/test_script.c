/* SPDX-License-Identifier: MIT */
/* approvalctl in scripts, with the real broker: one object for each thing that was done, and exit
 * statuses. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "tests/ctl/live.h"

static struct live live;

static void setup(void)
{
	char text[256];

	live_init(&live);
	snprintf(text, sizeof(text), "[floor]\nuser-file = %s/floor\n", live.broker.dir);
	broker_configure(&live.broker, text);
}

static void teardown(void)
{
	live_fini(&live);
}

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* What a command prints is one object on one line. To be released. */
static struct json_object *object_of(const char *const *words)
{
	char *const text = live_output(0, words), *const end = strchr(text, '\n');
	struct json_object *j;

	ck_assert_msg(end && !end[1], "%s %s: not one line: '%s'", words[0], words[1], text);
	j = json_tokener_parse(text);
	ck_assert_msg(json_object_is_type(j, json_type_object), "%s", text);
	free(text);
	return j;
}
#define OBJECT(...) object_of((const char *const[]){__VA_ARGS__, "--json", NULL})

/* The command's one object has this member. */
static void expect(const char *key, const char *value, struct json_object *j)
{
	ck_assert_msg(!strcmp(json_text(j, key), value), "%s is not %s: %s", key, value,
		json_object_to_json_string(j));
	json_object_put(j);
}

START_TEST(rules)
{
	char id[32];
	struct json_object *j;

	expect("reloaded", "true", OBJECT("rules", "reload"));
	j = OBJECT("rules", "add", "deny Bash(frob)");
	snprintf(id, sizeof(id), "%s", json_text(j, "id"));
	expect("existed", "false", j);
	expect("existed", "true", OBJECT("rules", "add", "deny Bash(frob)"));
	j = OBJECT("rules", "remove", id);
	ck_assert_str_eq(json_text(j, "id"), id);
	expect("removed", "true", j);
	expect("verdict", "allow", OBJECT("explain", "--input", "{\"command\":\"ls\"}"));
	expect("verdict", "allow", OBJECT("check", "--input", "{\"command\":\"ls\"}"));
}
END_TEST

/* What is wrong in the files is said where they were to be read again. */
START_TEST(reload)
{
	char path[128], config[256], *text;
	struct run r;

	snprintf(path, sizeof(path), "%s/rules", live.broker.dir);
	file_write(path, "deny Bash(first)\n");
	snprintf(config, sizeof(config), "[rules]\nuser-file = %s\n", path);
	broker_configure(&live.broker, config);
	EXPECT(0, "rules", "reload");

	file_write(path, "deny Bash(second)\nperhaps Bash(third)\ndeny Bash(\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "reload"), STATUS_FAILED);
	snprintf(config, sizeof(config), "%s:2:1: ", path);
	live_has(r.error, config);
	snprintf(config, sizeof(config), "; %s:3:", path);
	live_has(r.error, config);
	live_has(r.error, "; what was in force stays\n");
	run_free(&r);
	text = OUTPUT(0, "rules");
	live_has(text, "\tdeny Bash(first)\t");
	ck_assert_ptr_null(strstr(text, "second"));
	free(text);

	broker_configure(&live.broker, "[broker]\nheadless = perhaps\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "reload"), STATUS_FAILED);
	snprintf(config, sizeof(config), "%s:2: ", live.broker.config);
	live_has(r.error, config);
	run_free(&r);
}
END_TEST

START_TEST(floor_changes)
{
	struct json_object *j;
	char file[128];

	EXPECT(0, "rules", "reload");
	snprintf(file, sizeof(file), "%s/floor", live.broker.dir);
	j = OBJECT("floor", "add", "plans", "read,write", "*.plan");
	ck_assert_str_eq(json_text(j, "file"), file);
	ck_assert_str_eq(json_text(j, "entry"), "plans read,write *.plan");
	expect("existed", "false", j);
	expect("existed", "true", OBJECT("floor", "add", "plans", "read,write", "*.plan"));
	json_object_put(OBJECT("floor", "add", "plans", "run", "*.plans"));
	j = OBJECT("floor", "remove", "plans");
	ck_assert_str_eq(json_text(j, "file"), file);
	ck_assert_str_eq(json_text(j, "name"), "plans");
	expect("removed", "2", j);
}
END_TEST

/* What went wrong, and what to do then. */
static void fails(int status, const char *said, const char *const *words)
{
	struct run r;

	ck_assert_int_eq(run_whole(&r, words), status);
	ck_assert_msg(strstr(r.error, said), "no '%s' in '%s'", said, r.error);
	run_free(&r);
}
#define FAILS(status, said, ...) fails(status, said, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(faults)
{
	static const char gone[] = "/nonexistent/project";
	char folder[128], path[256];

	snprintf(folder, sizeof(folder), "%s/home", live.broker.dir);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	/* there is nothing that could be trusted */
	FAILS(STATUS_NO_INPUT, "No such file", "rules", "trust", "--yes", gone);
	FAILS(STATUS_NO_INPUT, "there is no such file", "rules", "trust", "--yes", folder);
	setenv("HOME", folder, 1);
	FAILS(STATUS_NO_INPUT, "no project: it is the home folder", "rules", "trust", "--yes",
		folder);
	setenv("HOME", "/nonexistent", 1);
	/* it is there, but is not what it should be */
	snprintf(path, sizeof(path), "%s/.approvald", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.approvald/rules", folder);
	file_write(path, "perhaps\n");
	FAILS(STATUS_DATA, "rules:1:1: ", "rules", "trust", "--yes", folder);
	FAILS(STATUS_DATA, ":1:1: ", "rules", "test", "--rules", path, "x");
	FAILS(STATUS_DATA, ":1:1: ", "history", "--replay", path);
	FAILS(STATUS_NO_INPUT, "No such file", "rules", "test", "--rules", gone, "x");
	FAILS(STATUS_NO_INPUT, "No such file", "history", "--replay", gone);
	FAILS(STATUS_DATA, "column", "floor", "add", "x", "everything", "y");

	/* each hint is about what was asked for; a folder that is gone does not keep its trust */
	FAILS(STATUS_FAILED, "'approvalctl rules' shows", "rules", "remove", "99");
	FAILS(STATUS_FAILED, "'approvalctl rules trust --list' shows", "rules", "trust",
		"--remove", gone);
	FAILS(STATUS_FAILED, "'approvalctl sessions' show", "mode", "abcdef", "plan");
	FAILS(STATUS_FAILED, "there is no entry", "floor", "remove", "x");
}
END_TEST

START_TEST(trust)
{
	char project[128], path[256];
	struct json_object *j;

	snprintf(project, sizeof(project), "%s/project", live.broker.dir);
	ck_assert_int_eq(mkdir(project, 0700), 0);
	snprintf(path, sizeof(path), "%s/.approvald", project);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.approvald/rules", project);
	file_write(path, "allow Bash(frob)\n");

	j = OBJECT("rules", "trust", project, "--yes");
	ck_assert_str_eq(json_text(j, "project"), project);
	expect("state", "trusted", j);
	expect("state", "trusted", OBJECT("rules", "trust", "--list"));
	j = OBJECT("rules", "trust", project, "--remove");
	ck_assert_str_eq(json_text(j, "project"), project);
	expect("state", "untrusted", j);
}
END_TEST

START_TEST(sessions)
{
	char session[64], id[64];
	struct json_object *j;
	struct run ask;

	RUN(&ask, "ask", "--", "touch", ".");
	j = watch_event(&live.watch, "offered");
	snprintf(session, sizeof(session), "%s", json_item_text(j, "session"));
	snprintf(id, sizeof(id), "%s", json_item_text(j, "request"));
	json_object_put(j);
	expect("mode", "plan", OBJECT("mode", session, "plan"));
	expect("ceiling", "normal", OBJECT("mode", session, "normal"));
	expect("request", id, OBJECT("show", id));
	expect("session", session, OBJECT("sessions"));
	expect("session", session, OBJECT("turns"));
	expect("turns", "1", OBJECT("suspend", session));
	expect("turns", "0", OBJECT("suspend", "--all"));
	expect("turns", "1", OBJECT("resume", session));
	expect("turns", "0", OBJECT("resume", "--all"));
	expect("turns", "1", OBJECT("end-turn", session));
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);

	RUN(&ask, "ask", "--", "touch", ".");
	watch_offered(&live.watch, id);
	expect("result", "ok", OBJECT("deny", id));
	ck_assert_int_eq(run_wait(&ask), STATUS_DENIED);
	run_free(&ask);
	expect("ok", "true", OBJECT("history", "--verify"));
	expect("version", PACKAGE_VERSION, OBJECT("stats"));
}
END_TEST

/* Where nobody can be asked, all tell so: the request, the check, explain, and doctor. A `watch`
 * looks on all the while: it answers nothing, so it is nobody that can be asked. */
START_TEST(nobody)
{
	char *text;

	EXPECT(STATUS_ASK, "check", "--", "frob");
	for (int deny = 0; deny < 2; deny++) {
		broker_configure(&live.broker,
			deny ? "[broker]\nwhen-alone = deny\n" : "[broker]\nheadless = yes\n");
		EXPECT(0, "rules", "reload");
		EXPECT(STATUS_DENIED, "ask", "--", "frob");
		/* whoever checks may have somebody to ask */
		text = OUTPUT(STATUS_ASK, "check", "--", "frob");
		free(text);
		text = OUTPUT(STATUS_DENIED, "explain", "--", "frob");
		live_has(text, "Message:      ");
		free(text);
		text = OUTPUT(STATUS_FAILED, "doctor");
		live_has(text, deny ? "when-alone = deny: while" : "headless: while no frontend");
		free(text);
		expect("headless", deny ? "" : "configuration", OBJECT("stats"));
		expect("when_alone", "deny", OBJECT("stats"));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("approvalctl in scripts");
	TCase *tc = tcase_create("live");
	SRunner *sr = srunner_create(s);

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rules);
	tcase_add_test(tc, reload);
	tcase_add_test(tc, floor_changes);
	tcase_add_test(tc, faults);
	tcase_add_test(tc, trust);
	tcase_add_test(tc, sessions);
	tcase_add_test(tc, nobody);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
