/* SPDX-License-Identifier: MIT */
#include "broker/core/tool.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct tool *find(const char *name)
{
	return tool_find(bytes_of(name));
}

START_TEST(sorted)
{
	size_t n = 0;

	for (; tool_at(n); n++) {
		const struct tool *t = tool_at(n);

		if (n > 0)
			ck_assert_msg(strcmp(tool_at(n - 1)->name, t->name) < 0,
				"%s stands before %s", tool_at(n - 1)->name, t->name);
		ck_assert_ptr_eq(find(t->name), t);
	}
	ck_assert_uint_ge(n, 80);
	ck_assert_ptr_null(tool_at(n + 1));
}
END_TEST

/* What the lines of the table must have in common. */
START_TEST(consistent)
{
	for (size_t i = 0; tool_at(i); i++) {
		const struct tool *t = tool_at(i);
		uint8_t roles = 0;

		ck_assert_uint_lt(t->kind, KIND_N);
		ck_assert_msg(!kind_mutates((enum kind)t->kind) || t->flags & TOOL_MUTATES,
			"%s changes things", t->name);
		ck_assert_msg(!(t->flags & TOOL_HARMLESS) ||
				      (!(t->flags & TOOL_MUTATES) && t->fields->len == 0),
			"%s is not harmless", t->name);
		ck_assert_msg(!(t->flags & TOOL_CWD) || t->kind == KIND_SEARCH, "%s", t->name);
		for (const struct tool_field *f = t->fields; f->len; f++) {
			ck_assert_uint_eq(f->len, strlen(f->name));
			ck_assert_ptr_eq(tool_field_find(t, bytes_of(f->name)), f);
			roles |= (uint8_t)(1u << f->role);
		}
		ck_assert_msg(!(t->needs & ~roles), "%s needs what it has not", t->name);
		/* a read without a path would be inside of everything */
		if (t->kind == KIND_READ)
			ck_assert_uint_ne(t->needs & (1u << TOOL_PATH | 1u << TOOL_FILES), 0);
		if (t->kind == KIND_SEARCH)
			ck_assert_msg(t->flags & TOOL_CWD || t->needs & 1u << TOOL_PATH, "%s",
				t->name);
	}
}
END_TEST

START_TEST(known)
{
	static const struct {
		const char *name;
		enum kind kind;
		unsigned flags;
	} want[] = {
		/* Claude Code */
		{"Bash", KIND_EXECUTE, TOOL_MUTATES},
		{"BashOutput", KIND_THINK, TOOL_HARMLESS},
		{"KillShell", KIND_EXECUTE, TOOL_MUTATES},
		{"Read", KIND_READ, 0},
		{"Edit", KIND_EDIT, TOOL_MUTATES},
		{"Write", KIND_EDIT, TOOL_MUTATES},
		{"MultiEdit", KIND_EDIT, TOOL_MUTATES},
		{"NotebookEdit", KIND_EDIT, TOOL_MUTATES},
		{"Glob", KIND_SEARCH, TOOL_CWD},
		{"Grep", KIND_SEARCH, TOOL_CWD | TOOL_CONTENT},
		{"LS", KIND_SEARCH, 0},
		{"WebFetch", KIND_FETCH, 0},
		{"WebSearch", KIND_FETCH, 0},
		{"Task", KIND_THINK, 0},
		{"Agent", KIND_THINK, 0},
		{"AskUserQuestion", KIND_OTHER, 0},
		{"ExitPlanMode", KIND_OTHER, 0},
		{"TodoWrite", KIND_THINK, TOOL_HARMLESS},
		/* Codex */
		{"shell", KIND_EXECUTE, TOOL_MUTATES},
		{"local_shell", KIND_EXECUTE, TOOL_MUTATES},
		{"exec_command", KIND_EXECUTE, TOOL_MUTATES},
		{"write_stdin", KIND_EXECUTE, TOOL_MUTATES},
		{"apply_patch", KIND_EDIT, TOOL_MUTATES},
		{"update_plan", KIND_THINK, TOOL_HARMLESS},
		{"view_image", KIND_READ, 0},
		{"web_search", KIND_FETCH, 0},
		/* Gemini CLI */
		{"run_shell_command", KIND_EXECUTE, TOOL_MUTATES},
		{"read_file", KIND_READ, 0},
		{"read_many_files", KIND_READ, 0},
		{"write_file", KIND_EDIT, TOOL_MUTATES},
		{"replace", KIND_EDIT, TOOL_MUTATES},
		{"glob", KIND_SEARCH, TOOL_CWD},
		{"search_file_content", KIND_SEARCH, TOOL_CWD | TOOL_CONTENT},
		{"list_directory", KIND_SEARCH, 0},
		{"web_fetch", KIND_FETCH, 0},
		{"google_web_search", KIND_FETCH, 0},
		{"save_memory", KIND_OTHER, TOOL_MUTATES},
		{"write_todos", KIND_THINK, TOOL_HARMLESS},
		/* OpenCode */
		{"bash", KIND_EXECUTE, TOOL_MUTATES},
		{"read", KIND_READ, 0},
		{"edit", KIND_EDIT, TOOL_MUTATES},
		{"write", KIND_EDIT, TOOL_MUTATES},
		{"patch", KIND_EDIT, TOOL_MUTATES},
		{"grep", KIND_SEARCH, TOOL_CWD | TOOL_CONTENT},
		{"list", KIND_SEARCH, TOOL_CWD},
		{"webfetch", KIND_FETCH, 0},
		{"todowrite", KIND_THINK, TOOL_HARMLESS},
		{"todoread", KIND_THINK, TOOL_HARMLESS},
		{"task", KIND_THINK, 0},
		/* Agent Client Protocol */
		{"delete", KIND_DELETE, TOOL_MUTATES},
		{"move", KIND_MOVE, TOOL_MUTATES},
		{"search", KIND_SEARCH, TOOL_CONTENT},
		{"execute", KIND_EXECUTE, TOOL_MUTATES},
		{"fetch", KIND_FETCH, 0},
		{"think", KIND_THINK, TOOL_HARMLESS},
		{"switch_mode", KIND_OTHER, 0},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct tool *t = find(want[i].name);

		ck_assert_msg(t != NULL, "%s is not known", want[i].name);
		ck_assert_msg(t->kind == want[i].kind, "kind of %s", want[i].name);
		ck_assert_msg(t->flags == want[i].flags, "flags of %s", want[i].name);
	}
}
END_TEST

START_TEST(unknown)
{
	static const char *const names[] = {"", "bAsh", "BASH", "Bas", "Bash ", "Bash2",
		" Bash", "mcp__github__create_issue", "mcp__Bash", "FrobnicateAll", "other",
		"A", "zzz", "Skill", "\xff"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(find(names[i]) == NULL, "%s", names[i]);
	ck_assert_ptr_null(tool_find((struct bytes){NULL, 0}));
	ck_assert_ptr_null(tool_find((struct bytes){"Read\0", 5}));
	ck_assert_ptr_null(tool_find((struct bytes){"\0", 1}));
	/* a name need not end in a NUL */
	ck_assert_ptr_eq(tool_find((struct bytes){"Readable", 4}), find("Read"));
}
END_TEST

START_TEST(fields)
{
	static const struct {
		const char *tool, *field;
		int role; /* -1: none */
	} want[] = {
		{"Bash", "command", TOOL_COMMAND},
		{"exec_command", "cmd", TOOL_COMMAND},
		{"exec_command", "workdir", TOOL_PATH},
		{"exec_command", "shell", TOOL_OPAQUE},
		{"Read", "file_path", TOOL_PATH},
		{"Read", "File_Path", -1},
		{"Read", "file_pat", -1},
		{"Read", "", -1},
		{"read", "filePath", TOOL_PATH},
		{"read_file", "absolute_path", TOOL_PATH},
		{"NotebookEdit", "notebook_path", TOOL_PATH},
		{"list_dir", "dir_path", TOOL_PATH},
		{"read_many_files", "paths", TOOL_FILES},
		{"Glob", "pattern", TOOL_PATTERN},
		{"Grep", "pattern", -1},
		{"Grep", "glob", TOOL_PATTERN},
		{"apply_patch", "input", TOOL_PATCH},
		{"patch", "patchText", TOOL_PATCH},
		{"WebFetch", "url", TOOL_URL},
		{"TodoWrite", "todos", -1},
		{"move", "destination", TOOL_PATH},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct tool_field *f =
			tool_field_find(find(want[i].tool), bytes_of(want[i].field));

		ck_assert_msg((f ? (int)f->role : -1) == want[i].role, "%s of %s",
			want[i].field, want[i].tool);
	}
}
END_TEST

/* Whatever is claimed, no call becomes less than the table says. */
START_TEST(claims)
{
	for (int ours = 0; ours < KIND_N; ours++)
		for (int claimed = 0; claimed < KIND_N; claimed++) {
			enum kind k = kind_tighten((enum kind)ours, (enum kind)claimed);

			ck_assert(k == (enum kind)ours || k == (enum kind)claimed);
			if (kind_mutates((enum kind)ours))
				ck_assert(kind_mutates(k));
			if (ours == KIND_OTHER)
				ck_assert(k == KIND_OTHER || k == KIND_EXECUTE);
			/* once tightened, the first kind does not come back */
			ck_assert_int_eq(kind_tighten(k, (enum kind)ours), k);
		}
	ck_assert_int_eq(kind_tighten(KIND_READ, KIND_EXECUTE), KIND_EXECUTE);
	ck_assert_int_eq(kind_tighten(KIND_READ, KIND_EDIT), KIND_EDIT);
	ck_assert_int_eq(kind_tighten(KIND_EDIT, KIND_DELETE), KIND_DELETE);
	ck_assert_int_eq(kind_tighten(KIND_EXECUTE, KIND_READ), KIND_EXECUTE);
	ck_assert_int_eq(kind_tighten(KIND_READ, KIND_SEARCH), KIND_READ);
	ck_assert_int_eq(kind_tighten(KIND_READ, KIND_OTHER), KIND_READ);
	ck_assert_int_eq(kind_tighten(KIND_READ, KIND_N), KIND_READ);
	ck_assert_int_eq(kind_tighten(KIND_READ, (enum kind) - 1), KIND_READ);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool");
	TCase *tc = tcase_create("table");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, sorted);
	tcase_add_test(tc, consistent);
	tcase_add_test(tc, known);
	tcase_add_test(tc, unknown);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, claims);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
