/* SPDX-License-Identifier: MIT */
/* What is found in the inputs of known and unknown tools. */
#include "tests/unit/facts_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/wire/scan.h"

static void check_text(struct bytes b, const char *want, const char *what)
{
	if (!want)
		ck_assert_msg(!b.data, "%s: %.*s", what, (int)b.len, (const char *)b.data);
	else
		ck_assert_msg(b.data && bytes_is(b, want), "%s: %.*s, not %s", what, (int)b.len,
			(const char *)b.data, want);
}

struct input_case {
	const char *tool, *json;
	enum kind kind;
	bool mutating;
	unsigned flags;
	const char *command;
	const char *paths[4];
};

static void check_cases(const struct input_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct input_case *want = &cases[i];
		unsigned n_paths = 0;
		struct call c;
		char what[512];

		snprintf(what, sizeof(what), "%s %s", want->tool, want->json);
		collect(&c, want->tool, want->json);
		finish(&c);
		check_text(c.facts.command, want->command, what);
		while (n_paths < 4 && want->paths[n_paths])
			n_paths++;
		ck_assert_msg(
			c.draft.n_paths == n_paths, "%s: %u paths", what, c.draft.n_paths);
		for (unsigned j = 0; j < n_paths; j++)
			check_text(c.draft.paths[j], want->paths[j], what);
		ck_assert_msg(
			c.facts.kind == want->kind, "%s: %s", what, kind_name(c.facts.kind));
		ck_assert_msg(c.facts.mutating == want->mutating, "%s: mutating", what);
		/* what is not read at all is not known either; which is which: see `unread` */
		ck_assert_msg((c.facts.flags & ~FACT_UNREAD) == want->flags,
			"%s: flags %u, not %u", what, c.facts.flags, want->flags);
		ck_assert_msg(!(c.facts.flags & FACT_UNREAD) || want->flags & FACT_UNRESOLVED,
			"%s: unread, but resolved", what);
		ck_assert_ptr_eq(c.facts.paths, c.paths);
		ck_assert_uint_eq(c.facts.n_paths, n_paths);
		done(&c);
	}
}
#define CHECK_CASES(cases) check_cases(cases, sizeof(cases) / sizeof((cases)[0]))

/* Whether it can be told what a call does. */
START_TEST(unread)
{
	static const struct {
		const char *tool, *json;
		bool unread;
	} cases[] = {
		{"Bash", "{\"command\":\"ls\"}", false},
		{"Bash", "{\"command\":[\"ls\",\"x\"]}", false},
		{"Bash", "{\"command\":\"ls\",\"other\":\"x\"}", false},
		{"Bash", "{\"command\":\"ls\",\"cmd\":\"rm x\"}", true},
		{"Bash", "{\"cmd\":\"ls\",\"command\":\"rm x\"}", true},
		{"Bash", "{\"command\":[\"ls\",5]}", true},
		{"Bash", "{\"command\":{\"a\":\"ls\"}}", true},
		{"Bash", "{}", true},
		{"Read", "{\"file_path\":\"x\"}", false},
		{"Read", "{\"file_path\":[\"x\",{}]}", true},
		{"Read", "{\"filename\":\"x\"}", true},
		{"Unknown", "{\"command\":{}}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct call c;

		collect(&c, cases[i].tool, cases[i].json);
		ck_assert_msg(!!(c.draft.flags & FACT_UNREAD) == cases[i].unread, "%s %s",
			cases[i].tool, cases[i].json);
		finish(&c);
		done(&c);
	}
}
END_TEST

START_TEST(paths)
{
	static const struct input_case cases[] = {
		{"Read", "{\"file_path\":\"/w/proj/a.c\",\"offset\":3}", KIND_READ, false,
			INSIDE, NULL, {"/w/proj/a.c"}},
		{"Read", "{\"file_path\":\"a.c\"}", KIND_READ, false, INSIDE, NULL, {"a.c"}},
		{"Read", "{\"file_path\":\"/etc/passwd\"}", KIND_READ, false, NO_FLAGS, NULL,
			{"/etc/passwd"}},
		{"Read", "{\"file_path\":\"/w/proj/.env\"}", KIND_READ, false, INSIDE,
			NULL, {"/w/proj/.env"}},
		{"Read", "{\"file_path\":\"/w/proj/src/credentials.ts\"}", KIND_READ, false,
			INSIDE, NULL, {"/w/proj/src/credentials.ts"}},
		{"Edit", "{\"file_path\":\"a.c\",\"old_string\":\"x\",\"new_string\":\"y\"}",
			KIND_EDIT, true, INSIDE, NULL, {"a.c"}},
		{"Write", "{\"content\":\"x\",\"file_path\":\"a.c\"}", KIND_EDIT, true, INSIDE,
			NULL, {"a.c"}},
		{"NotebookEdit", "{\"notebook_path\":\"a.ipynb\"}", KIND_EDIT, true, INSIDE,
			NULL, {"a.ipynb"}},
		{"read", "{\"filePath\":\"a.c\"}", KIND_READ, false, INSIDE, NULL, {"a.c"}},
		{"read_file", "{\"absolute_path\":\"/w/proj/a\"}", KIND_READ, false, INSIDE,
			NULL, {"/w/proj/a"}},
		{"view_image", "{\"path\":\"a.png\"}", KIND_READ, false, INSIDE, NULL,
			{"a.png"}},
		{"read_many_files", "{\"paths\":[\"a\",\"b/c\"]}", KIND_READ, false, INSIDE,
			NULL, {"a", "b/c"}},
		{"read_many_files", "{\"include\":[\"src/**/*.ts\"]}", KIND_READ, false, UNSURE,
			NULL, {"src/**/*.ts"}},
		{"read_many_files", "{\"paths\":[\"a\",\".env\"]}", KIND_READ, false,
			INSIDE, NULL, {"a", ".env"}},
		{"delete", "{\"path\":\"a\"}", KIND_DELETE, true, INSIDE, NULL, {"a"}},
		{"move", "{\"source\":\"a\",\"destination\":\"/etc/b\"}", KIND_MOVE, true,
			NO_FLAGS, NULL, {"a", "/etc/b"}},
		/* a path that the table did not ask for counts as well */
		{"Read", "{\"file_path\":\"a\",\"path\":\"/etc/b\"}", KIND_READ, false,
			NO_FLAGS, NULL, {"a", "/etc/b"}},
		{"Read", "{\"file_path\":\"a\",\"path\":null}", KIND_READ, false, INSIDE, NULL,
			{"a"}},
	};

	CHECK_CASES(cases);
}
END_TEST

START_TEST(searches)
{
	static const struct input_case cases[] = {
		{"Grep", "{\"pattern\":\"x\",\"path\":\"/w/proj\"}", KIND_SEARCH, false, INSIDE,
			NULL, {"/w/proj"}},
		{"Grep", "{\"pattern\":\"x\"}", KIND_SEARCH, false, INSIDE, NULL, {CWD}},
		{"Grep", "{\"pattern\":\"/etc/../x\"}", KIND_SEARCH, false, INSIDE, NULL,
			{CWD}},
		{"Grep", "{\"pattern\":\"x\",\"path\":\"~\"}", KIND_SEARCH, false, INSIDE, NULL,
			{"~"}}, /* this test's resolver knows no "~" */
		{"Grep", "{\"pattern\":\"x\",\"glob\":\"*.c\"}", KIND_SEARCH, false, INSIDE,
			NULL, {CWD}},
		/* the floor is asked about what it chooses */
		{"Grep", "{\"pattern\":\"K\",\"glob\":\"**/.env\"}", KIND_SEARCH, false,
			INSIDE, NULL, {"**/.env", CWD}},
		{"Grep", "{\"pattern\":\"x\",\"path\":null}", KIND_SEARCH, false, INSIDE, NULL,
			{CWD}},
		{"Glob", "{\"pattern\":\"**/*.{ts,tsx}\"}", KIND_SEARCH, false, INSIDE, NULL,
			{CWD}},
		{"Glob", "{\"pattern\":\"/etc/*\"}", KIND_SEARCH, false, NO_FLAGS, NULL,
			{"/etc/*", CWD}},
		{"Glob", "{\"pattern\":\"/w/proj/**/*.c\"}", KIND_SEARCH, false, INSIDE, NULL,
			{"/w/proj/**/*.c", CWD}},
		{"Glob", "{\"pattern\":\"~/x/*\"}", KIND_SEARCH, false, INSIDE, NULL,
			{"~/x/*", CWD}},
		{"Glob", "{\"pattern\":\"../*\"}", KIND_SEARCH, false, NO_FLAGS, NULL,
			{"../*", CWD}},
		{"Glob", "{\"pattern\":\"a/../../*\"}", KIND_SEARCH, false, NO_FLAGS, NULL,
			{"a/../../*", CWD}},
		{"Glob", "{\"pattern\":\"a..b/*\"}", KIND_SEARCH, false, INSIDE, NULL, {CWD}},
		/* from which folder it climbs is not known here */
		{"Glob", "{\"pattern\":\"../*\",\"path\":\"/w/proj/s\"}", KIND_SEARCH, false,
			UNSURE, NULL, {"../*", "/w/proj/s"}},
		{"Glob", "{\"pattern\":\"{.,}./x\"}", KIND_SEARCH, false, UNSURE, NULL, {CWD}},
		{"Glob", "{\"pattern\":\"{a,/etc/x}\"}", KIND_SEARCH, false, UNSURE, NULL,
			{CWD}},
		{"Glob", "{\"pattern\":\"[.]./x\"}", KIND_SEARCH, false, UNSURE, NULL, {CWD}},
		{"Glob", "{\"pattern\":\"\\\\.\\\\./x\"}", KIND_SEARCH, false, UNSURE, NULL,
			{CWD}},
		{"Glob", "{\"path\":\"/w/proj\"}", KIND_SEARCH, true, UNSURE, NULL,
			{"/w/proj"}},
		{"LS", "{\"path\":\"/w/proj\"}", KIND_SEARCH, false, INSIDE, NULL, {"/w/proj"}},
		{"list", "{}", KIND_SEARCH, false, INSIDE, NULL, {CWD}},
		{"search", "{\"query\":\"x\"}", KIND_SEARCH, true, UNSURE, NULL, {NULL}},
	};

	CHECK_CASES(cases);
}
END_TEST

START_TEST(commands)
{
	static const struct input_case cases[] = {
		{"Bash", "{\"command\":\"make\",\"description\":\"d\"}", KIND_EXECUTE, true,
			NO_FLAGS, "make", {NULL}},
		{"bash", "{\"command\":\"make\",\"workdir\":\"/w/proj/a\"}", KIND_EXECUTE, true,
			INSIDE, "make", {"/w/proj/a"}},
		{"run_shell_command", "{\"command\":\"git push\"}", KIND_EXECUTE, true,
			NO_FLAGS, "git push", {NULL}},
		{"exec_command", "{\"cmd\":\"ls -l\"}", KIND_EXECUTE, true, NO_FLAGS, "ls -l",
			{NULL}},
		{"exec_command", "{\"cmd\":\"ls\",\"shell\":\"python3\"}", KIND_EXECUTE, true,
			UNSURE, "ls", {NULL}},
		{"exec_command", "{\"cmd\":\"ls\",\"shell\":null}", KIND_EXECUTE, true,
			NO_FLAGS, "ls", {NULL}},
		{"shell", "{\"command\":[\"bash\",\"-lc\",\"echo 'a' \\\"b\\\"\"]}",
			KIND_EXECUTE, true, NO_FLAGS, "bash -lc 'echo '\\''a'\\'' \"b\"'",
			{NULL}},
		{"shell", "{\"command\":[\"ls\",\"\",\"a b\",\"$x\",\"a=b\",\"-l\"]}",
			KIND_EXECUTE, true, NO_FLAGS, "ls '' 'a b' '$x' 'a=b' -l", {NULL}},
		/* words, not an assignment and not a keyword */
		{"shell", "{\"command\":[\"A=1\",\"ls\"]}", KIND_EXECUTE, true, NO_FLAGS,
			"'A=1' ls", {NULL}},
		{"shell", "{\"command\":[\"time\",\"if\"]}", KIND_EXECUTE, true, NO_FLAGS,
			"'time' if", {NULL}},
		{"shell", "{\"command\":[\"~/x\",\"#\",\"!\",\"*\",\"a\\nb\"]}", KIND_EXECUTE,
			true, NO_FLAGS, "'~/x' '#' '!' '*' 'a\nb'", {NULL}},
		{"shell", "{\"command\":[]}", KIND_EXECUTE, true, UNSURE, NULL, {NULL}},
		{"shell", "{\"command\":[\"ls\",1]}", KIND_EXECUTE, true, UNSURE, NULL, {NULL}},
		{"shell", "{\"command\":[[\"ls\"]]}", KIND_EXECUTE, true, UNSURE, NULL, {NULL}},
		{"Bash", "{\"command\":\"ls\",\"cmd\":\"rm\"}", KIND_EXECUTE, true, UNSURE,
			"ls", {NULL}},
		{"Bash", "{\"command\":7}", KIND_EXECUTE, true, UNSURE, NULL, {NULL}},
		{"Bash", "{}", KIND_EXECUTE, true, UNSURE, NULL, {NULL}},
		{"local_shell", "{\"action\":{\"command\":[\"ls\"]}}", KIND_EXECUTE, true,
			UNSURE, NULL, {NULL}},
		{"write_stdin", "{\"session_id\":1,\"chars\":\"x\"}", KIND_EXECUTE, true,
			NO_FLAGS, NULL, {NULL}},
	};

	CHECK_CASES(cases);
}
END_TEST

#define PATCH                                                                                  \
	"*** Begin Patch\\n*** Update File: src/a.c\\n*** Move to: src/b.c\\n@@\\n-x\\n+y\\n"  \
	"*** Delete File: old\\r\\n*** Add File: new\\n+*** Add File: /etc/no\\n*** End Patch"

START_TEST(patches)
{
	static const struct input_case cases[] = {
		{"apply_patch", "{\"input\":\"" PATCH "\"}", KIND_EDIT, true, INSIDE, NULL,
			{"src/a.c", "src/b.c", "old", "new"}},
		{"apply_patch", "{\"command\":\"" PATCH "\"}", KIND_EDIT, true, INSIDE, NULL,
			{"src/a.c", "src/b.c", "old", "new"}},
		{"apply_patch", "\"" PATCH "\"", KIND_EDIT, true, INSIDE, NULL,
			{"src/a.c", "src/b.c", "old", "new"}},
		{"patch", "{\"patchText\":\"" PATCH "\"}", KIND_EDIT, true, INSIDE, NULL,
			{"src/a.c", "src/b.c", "old", "new"}},
		{"apply_patch", "{\"input\":\"  \\t*** Add File:  /etc/x \\n+a\"}", KIND_EDIT,
			true, NO_FLAGS, NULL, {"/etc/x"}},
		{"apply_patch", "{\"input\":\"\\u00a0*** Add File: .env\"}", KIND_EDIT, true,
			INSIDE, NULL, {".env"}},
		{"apply_patch", "{\"input\":\"*** Add File: .env\\u00a0\"}", KIND_EDIT, true,
			UNSURE, NULL, {".env\xc2\xa0"}},
		{"apply_patch", "{\"input\":\"*** Add File: \\n\"}", KIND_EDIT, true, UNSURE,
			NULL, {""}},
		{"apply_patch", "{\"input\":\"*** Begin Patch\\n*** End Patch\"}", KIND_EDIT,
			true, UNSURE, NULL, {NULL}},
		{"apply_patch", "{\"input\":[\"" PATCH "\"]}", KIND_EDIT, true, UNSURE, NULL,
			{NULL}},
		{"apply_patch", "{\"input\":\"*** Add File: a\",\"patch\":\"*** Add File: b\"}",
			KIND_EDIT, true, UNSURE, NULL, {"a"}},
		{"apply_patch", "{}", KIND_EDIT, true, UNSURE, NULL, {NULL}},
	};

	CHECK_CASES(cases);
}
END_TEST

/* Other tools, and inputs that are not what their tool takes. */
START_TEST(others)
{
	static const struct input_case cases[] = {
		{"TodoWrite", "{\"todos\":[]}", KIND_THINK, false, HARMLESS, NULL, {NULL}},
		{"update_plan", "[1]", KIND_THINK, false, HARMLESS, NULL, {NULL}},
		{"BashOutput", "{\"bash_id\":\"1\"}", KIND_THINK, false, HARMLESS, NULL,
			{NULL}},
		{"ExitPlanMode", "{\"plan\":\"x\"}", KIND_OTHER, false, NO_FLAGS, NULL, {NULL}},
		{"Task", "{\"prompt\":\"x\"}", KIND_THINK, false, NO_FLAGS, NULL, {NULL}},
		{"WebSearch", "{\"query\":\"x\"}", KIND_FETCH, false, NO_FLAGS, NULL, {NULL}},
		{"WebFetch", "{\"url\":\"https://example.org\",\"prompt\":\"x\"}", KIND_FETCH,
			false, NO_FLAGS, NULL, {NULL}},
		{"WebFetch", "{\"url\":[\"https://example.org\"]}", KIND_FETCH, true, UNSURE,
			NULL, {NULL}},
		{"FrobnicateAll", "{\"x\":1}", KIND_OTHER, true, NO_FLAGS, NULL, {NULL}},
		{"FrobnicateAll", "null", KIND_OTHER, true, NO_FLAGS, NULL, {NULL}},
		{"mcp__github__create_issue", "{\"path\":\"/w/proj/a\"}", KIND_OTHER, true,
			NO_FLAGS, NULL, {NULL}},
		{"", "{}", KIND_OTHER, true, NO_FLAGS, NULL, {NULL}},
		{"Read", "{}", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "null", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "[\"/w/proj/a\"]", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "\"/w/proj/a\"", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "{\"file_path\":null}", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "{\"file_path\":1}", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "{\"file_path\":{\"a\":1}}", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Read", "{\"file_path\":[\"a\",true]}", KIND_READ, true, UNSURE, NULL, {"a"}},
		{"Read", "{\"FILE_PATH\":\"a\"}", KIND_READ, true, UNSURE, NULL, {NULL}},
		{"Grep", "{\"pattern\":\"x\",\"path\":1}", KIND_SEARCH, true, UNSURE, NULL,
			{NULL}},
	};
	struct call c;

	CHECK_CASES(cases);
	collect(&c, "WebFetch", "{\"url\":\"https://example.org\"}");
	check_text(c.draft.url, "https://example.org", "url");
	done(&c);
}
END_TEST

/* Bytes that are no MessagePack, or not whole, are only unread. */
START_TEST(broken)
{
	static const char whole[] = "\x82\xa9"
				    "file_path"
				    "\xa1"
				    "a"
				    "\xa1"
				    "x"
				    "\x01";
	const size_t len = sizeof(whole) - 1;
	struct call c = {0};

	ck_assert_int_eq(wire_scan_value((struct bytes){whole, len}), 0);
	collect_with(&c, &usual, "Read", (struct bytes){whole, len});
	ck_assert(!c.draft.mutating && c.draft.n_paths == 1);
	for (size_t i = 0; i < len; i++) {
		char *copy = malloc(i + 1); /* so that a read past the end is seen */

		memcpy(copy, whole, i);
		collect_with(&c, &usual, "Read", (struct bytes){copy, i});
		ck_assert(c.draft.mutating && c.draft.flags & FACT_UNRESOLVED);
		facts_release(&c.draft);
		free(copy);
	}
	collect_with(&c, &usual, "Read", (struct bytes){NULL, 0});
	ck_assert(c.draft.mutating && c.draft.flags & FACT_UNRESOLVED);
	ck_assert_int_eq(facts_finish(&c.draft, NULL, 0, &c.facts), 0);
	collect_with(&c, &usual, "Bash",
		(struct bytes){"\x81\xa7"
			       "command"
			       "\x92\xa1"
			       "a",
			11});
	ck_assert(!c.draft.command.data && c.draft.flags & FACT_UNRESOLVED);
	facts_release(&c.draft);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("facts");
	TCase *tc = tcase_create("facts");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, paths);
	tcase_add_test(tc, unread);
	tcase_add_test(tc, searches);
	tcase_add_test(tc, commands);
	tcase_add_test(tc, patches);
	tcase_add_test(tc, others);
	tcase_add_test(tc, broken);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
