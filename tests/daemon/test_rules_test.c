/* SPDX-License-Identifier: MIT */
/* approvalctl rules test: of a file, and of the rules in force in the real broker. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static char project[96], file[128];

static void file_write(const char *path, const char *text)
{
	FILE *const f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	fclose(f);
}

static void setup(void)
{
	char text[256];

	broker_init(&b);
	setenv("APPROVAL_SOCKET", b.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	snprintf(project, sizeof(project), "%s/p", b.dir);
	ck_assert_int_eq(mkdir(project, 0700), 0);
	snprintf(file, sizeof(file), "%s/rules", b.dir);
	file_write(file,
		"# two lines\n\nallow Bash(git push *)\ndeny Bash(git push --force *)\n"
		"ask Bash(twist)\nallow Bash(echo *)\nallow Bash(frob)\n"
		"allow Read(/src/**)\nallow WebFetch(domain:example.org)\n");
	snprintf(text, sizeof(text), "[rules]\nuser-file = %s\n", file);
	broker_configure(&b, text);
}

static void teardown(void)
{
	broker_fini(&b);
}

/* What is said is anywhere in the output; the exit status. */
static int test(const char *const *words, const char *said)
{
	const char *all[RUN_ARGS + 1] = {"rules", "test"};
	struct run r;
	int n = 2, status;

	while (*words)
		all[n++] = *words++;
	status = run_whole(&r, all);
	ck_assert_msg(strstr(r.text, said) || strstr(r.error, said), "no \"%s\" in:\n%s%s",
		said, r.text, r.error);
	run_free(&r);
	return status;
}
#define TEST(said, ...) test((const char *const[]){__VA_ARGS__, NULL}, said)
#define FILE_TEST(said, ...)                                                                   \
	TEST(said, "--rules", file, "--workspace", project, "--cwd", project, __VA_ARGS__)

START_TEST(of_a_file)
{
	struct json_object *j, *matches;
	struct run r;

	ck_assert_int_eq(
		FILE_TEST("deny Bash(git push --force *)", "git", "push", "--force"), 77);
	ck_assert_int_eq(FILE_TEST("By the rules: deny", "git push --force"), 77);
	ck_assert_int_eq(FILE_TEST("By the rules: allow\n", "--", "git", "push", "x"), 0);
	ck_assert_int_eq(FILE_TEST("By the rules: ask", "twist"), 79);
	ck_assert_int_eq(FILE_TEST("nothing is said", "other"), 1);
	ck_assert_int_eq(FILE_TEST("by several rules together", "echo x && frob"), 0);
	ck_assert_int_eq(FILE_TEST("nothing is said", "echo x > y"), 1);
	ck_assert_int_eq(FILE_TEST("rules:8", "--path", "src/a/b.c"), 0);
	ck_assert_int_eq(FILE_TEST("nothing is said", "--tool", "Grep", "--path", "src"), 1);
	ck_assert_int_eq(FILE_TEST("nothing is said", "--path", "/src/x"), 1);
	ck_assert_int_eq(FILE_TEST("nothing is said", "--tool", "Edit", "--path", "src/x"), 1);
	ck_assert_int_eq(FILE_TEST("rules:9", "--url", "https://www.example.org/x"), 0);
	ck_assert_int_eq(FILE_TEST("nothing is said", "--url", "https://example.com/"), 1);
	ck_assert_int_eq(
		FILE_TEST("By the rules: ask", "--input", "{\"command\": \"twist\"}"), 79);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "rules", "test", "--rules", file, "--json", "git push -f"), 77);
	j = json_tokener_parse(r.text);
	ck_assert_str_eq(json_text(j, "verdict"), "deny");
	ck_assert(json_object_object_get_ex(j, "matches", &matches));
	ck_assert_uint_eq(json_object_array_length(matches), 2);
	ck_assert_str_eq(json_text(json_object_array_get_idx(matches, 0), "verdict"), "allow");
	ck_assert_str_eq(json_text(json_object_array_get_idx(matches, 1), "verdict"), "deny");
	json_object_put(j);
	run_free(&r);
}
END_TEST

START_TEST(wrong)
{
	ck_assert_int_eq(FILE_TEST("a command line, --path", "--json"), 2);
	ck_assert_int_eq(FILE_TEST("one of a command line", "--path", "x", "ls"), 2);
	ck_assert_int_eq(FILE_TEST("no JSON", "--input", "{"), 2);
	ck_assert_int_eq(
		TEST("--session is of a broker", "--rules", file, "--session", "s", "ls"), 2);
	ck_assert_int_eq(TEST("No such file", "--rules", "/nonexistent", "ls"), 66);
	ck_assert_int_eq(
		TEST("No such file", "--rules", file, "--cwd", "/nonexistent", "ls"), 66);
	file_write(file, "allow Bash(x)\nalow Bash(y)\n");
	ck_assert_int_eq(FILE_TEST("rules:2:1:", "x"), 65);
	ck_assert_int_eq(TEST("no broker", "ls"), 69);
}
END_TEST

/* Of the broker: those for this project alone, and what the rest of it says. */
START_TEST(in_force)
{
	struct json_object *j, *explain;
	char other[96], rules[160];
	struct run r;

	snprintf(other, sizeof(other), "%s/q", b.dir);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	snprintf(rules, sizeof(rules), "%s/.approvald", project);
	ck_assert_int_eq(mkdir(rules, 0700), 0);
	strcat(rules, "/rules");
	file_write(rules, "allow Bash(inert)\ndeny Bash(denied)\n");
	broker_start(&b, NULL);
	ck_assert_int_eq(
		RUN_WHOLE(&r, "rules", "add", "--project", project, "ask Bash(frob)"), 0);
	run_free(&r);
	ck_assert_int_eq(TEST("standing rule 1", "--cwd", project, "frob"), 79);
	ck_assert_int_eq(TEST("By the rules: allow", "--cwd", other, "frob"), 0);
	ck_assert_int_eq(
		TEST("With floor, mode and policies: ask", "--cwd", project, "frob"), 79);
	ck_assert_int_eq(TEST("/.approvald/rules:2", "--cwd", project, "denied"), 77);
	ck_assert_int_eq(TEST("nothing is said", "--cwd", project, "inert"), 1);
	ck_assert_int_eq(TEST("nothing is said", "--cwd", other, "denied"), 1);
	/* a rule says allow, and the floor asks */
	ck_assert_int_eq(RUN_WHOLE(&r, "rules", "test", "--json", "--cwd", project,
				 "echo x && git push origin +main"),
		0);
	j = json_tokener_parse(r.text);
	ck_assert_str_eq(json_text(j, "verdict"), "allow");
	ck_assert(json_object_object_get_ex(j, "explain", &explain));
	ck_assert_str_eq(json_text(explain, "verdict"), "ask");
	ck_assert_str_eq(json_text(explain, "floor"), "force-push");
	json_object_put(j);
	run_free(&r);
	broker_stop(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rules test");
	TCase *tc = tcase_create("rules test");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, of_a_file);
	tcase_add_test(tc, wrong);
	tcase_add_test(tc, in_force);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
