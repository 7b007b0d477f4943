/* SPDX-License-Identifier: MIT */
/* Where commands run, and what feeds them. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/shell_fixture.h"

/* The directories of the command `x`, each followed by a space; "?": not known. */
static void expect_cwd(const char *text, const char *where)
{
	struct shell_case *const c = calloc(1, sizeof(*c));
	char line[1024] = "";
	bool found = false;

	ck_assert_ptr_nonnull(c);
	shell_case_read(c, text, SHELL_BASH);
	for (uint32_t i = 0; i < c->shell.n; i++) {
		const struct shell_command *const k = &c->shell.commands[i];

		if (!bytes_is(shell_name(k), "x"))
			continue;
		found = true;
		if (k->cwd->n == 0)
			strcat(line, "? ");
		for (uint32_t n = 0; n < k->cwd->n; n++) {
			strncat(line, k->cwd->path[n].data, k->cwd->path[n].len);
			strcat(line, " ");
		}
	}
	ck_assert_msg(
		found && strcmp(line, where) == 0, "%s: in %s, not in %s", text, line, where);
	shell_case_free(c);
	free(c);
}

START_TEST(directories)
{
	static const struct shell_pair pairs[] = {{"x", "/w/proj "},
		{"cd a && x", "/w/proj/a "}, {"cd a; x", "/w/proj/a /w/proj "},
		{"cd a || exit; x", "/w/proj/a "},
		{"cd a || { echo n; exit 1; }; x", "/w/proj/a "}, {"cd a || x", "/w/proj "},
		{"if ! cd a; then exit; fi; x", "/w/proj/a "},
		{"if cd a; then x; fi", "/w/proj/a "},
		{"if cd a; then y; else x; fi", "/w/proj "}, {"cd ../../../b && x", "/b "},
		{"cd / && x", "/ "}, {"cd && x", "/home/u "},
		{"cd ~/a//./b/ && x", "/home/u/a/b "}, {"cd -- -a && x", "/w/proj/-a "},
		{"cd -P a && x", "/w/proj/a "}, {"cd - && x", "? "}, {"cd \"$d\" && x", "? "},
		{"cd $d && cd /a && x", "/a "}, {"cd a* && x", "? "},
		{"(cd a && x); x", "/w/proj/a /w/proj "}, {"(cd a); x", "/w/proj "},
		{"cd a | x; x", "/w/proj /w/proj "}, {"cd a & x", "/w/proj "},
		{"y $(cd a && x); x", "/w/proj/a /w/proj "}, {"{ cd a; } && x", "/w/proj/a "},
		{"cd a && cd b && x", "/w/proj/a/b "}, {"pushd a && x", "/w/proj/a "},
		{"pushd a && popd; x", "? "}, {"for i in 1; do x; cd ..; done; x", "? ? "},
		{"while y; do (cd a && x); done; x", "/w/proj/a /w/proj "},
		{"f() { cd /a; x; }; f; x", "? ? "}, {"f() { x; }; x", "? /w/proj "},
		{"f() (cd a; y); x", "/w/proj "}, {"eval 'cd a' && x", "/w/proj/a "},
		{"bash -c 'cd a && x'; x", "/w/proj/a /w/proj "},
		{"command cd a && x", "/w/proj/a "}, {"env -C a x", "/w/proj/a "},
		{"trap x EXIT", "? "}, {"case y in a) cd a;; esac; x", "/w/proj /w/proj/a "},
		{"CDPATH=/q; cd a && x", "? "}, {"CDPATH=/q; cd ./a && x", "/w/proj/a "},
		{"exit; x", "/w/proj "}, {"cd a && y || exit; x", "/w/proj/a "},
		{"cd a && y; x", "/w/proj/a /w/proj "}, {"find . -execdir x \\;", "? "},
		{"! cd a || x", "/w/proj/a "}, {"cd 1;cd 2;cd 3;x", "? "},
		{"builtin cd a && x", "/w/proj/a "}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		expect_cwd(pairs[i].text, pairs[i].line);
}
END_TEST

/* The names of the commands that may write to x's input. */
static void expect_from(const char *text, const char *names)
{
	struct shell_case *const c = calloc(1, sizeof(*c));
	char line[256] = "";

	ck_assert_ptr_nonnull(c);
	shell_case_read(c, text, SHELL_BASH);
	for (uint32_t i = 0; i < c->shell.n; i++) {
		const struct shell_command *const k = &c->shell.commands[i];

		if (!bytes_is(shell_name(k), "x"))
			continue;
		for (uint32_t n = k->from; n < k->from_end; n++) {
			const struct bytes name = shell_name(&c->shell.commands[n]);

			strncat(line, name.len ? name.data : "-", name.len ? name.len : 1);
			strcat(line, " ");
		}
	}
	ck_assert_msg(strcmp(line, names) == 0, "%s: from %s, not from %s", text, line, names);
	shell_case_free(c);
	free(c);
}

START_TEST(pipes)
{
	static const struct shell_pair pairs[] = {{"a | x", "a "}, {"a | b | x", "b "},
		{"(a; b) | x", "a b "}, {"a | (b; x)", "a "}, {"a | { x; }", "a "},
		{"a | while b; do x; done", "a "}, {"x", ""}, {"a; x", ""},
		{"a | sudo x", "a "}, {"a | y $(x)", "a "}, {"a > >(x)", "a "},
		{"a |& x", "a "}, {"x | a", ""}, {"{ x; } <<<b", "- "}, {"a | b && x", ""},
		{"a | bash -c 'x; y'", "a "}, {"f() { x; }; a | f", ""}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		expect_from(pairs[i].text, pairs[i].line);
}
END_TEST

static const struct shell_nest *nest_of(const struct shell *shell, uint32_t command)
{
	ck_assert_uint_lt(command, shell->n);
	return &shell->nests[shell->commands[command].nest];
}

START_TEST(nests)
{
	struct shell_case *const c = calloc(1, sizeof(*c));
	const struct shell *const s = &c->shell;

	ck_assert_ptr_nonnull(c);
	shell_case_read(c, "a <(b $(d)) | (e); bash -c 'f'; g() { h; }", SHELL_BASH);
	ck_assert_uint_eq(s->n, 7);
	ck_assert_uint_eq(nest_of(s, 0)->kind, SHELL_TOP);
	ck_assert_uint_eq(nest_of(s, 1)->kind, SHELL_PROC_IN);
	ck_assert_uint_eq(nest_of(s, 1)->owner, 0);
	ck_assert_uint_eq(nest_of(s, 2)->kind, SHELL_SUBSTITUTED);
	ck_assert_uint_eq(nest_of(s, 2)->owner, 1);
	ck_assert_uint_eq(nest_of(s, 2)->parent, s->commands[1].nest);
	ck_assert_uint_eq(nest_of(s, 3)->kind, SHELL_SUBSHELL);
	ck_assert_uint_eq(nest_of(s, 5)->kind, SHELL_TEXT);
	ck_assert_uint_eq(nest_of(s, 5)->owner, 4);
	ck_assert_uint_eq(s->commands[5].via, 4);
	ck_assert_uint_eq(nest_of(s, 6)->kind, SHELL_FUNCTION);
	ck_assert(s->commands[6].flags & SHELL_STDIN_UNKNOWN);
	shell_case_free(c);
	free(c);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("shell_place");
	TCase *const t = tcase_create("all");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, directories);
	tcase_add_test(t, pipes);
	tcase_add_test(t, nests);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
