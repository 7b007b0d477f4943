/* SPDX-License-Identifier: MIT */
/* The readers of other agents' rules, their limits, and how patterns meet. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import.h"
#include "frontends/ctl/import_glob.h"
#include "libapproval/limits.h"

/* ---- readers ---- */

enum reader { JSON, JSONC, TOML, STARLARK };

static struct node *read_text(struct memory *m, enum reader reader, const char *text,
	size_t len, struct reader_error *error)
{
	switch (reader) {
	case TOML: return import_toml_read(m, text, len, error);
	case STARLARK: return import_starlark_read(m, text, len, error);
	default: return import_json_read(m, text, len, reader == JSONC, error);
	}
}

static void is_bad(enum reader reader, const char *text, unsigned line, unsigned column)
{
	struct memory m = {0};
	struct reader_error error;

	ck_assert_msg(!read_text(&m, reader, text, strlen(text), &error), "'%s'", text);
	ck_assert(!m.failed);
	ck_assert_ptr_nonnull(error.text);
	ck_assert_msg(error.line == line && error.column == column, "'%s': %u:%u: %s", text,
		error.line, error.column, error.text);
	memory_free(&m);
}

/* The string at key of the top. */
static void is_string(enum reader reader, const char *text, const char *key, const char *expect)
{
	struct memory m = {0};
	struct reader_error error = {0, 0, ""};
	struct node *const top = read_text(&m, reader, text, strlen(text), &error);

	ck_assert_msg(top != NULL, "'%s': %s", text, error.text);
	ck_assert_msg(node_is(node_get(top, key), expect), "'%s'", text);
	memory_free(&m);
}

START_TEST(json)
{
	is_string(JSON, "{\"a\": \"x\\u0041\\n\"}", "a", "xA\n");
	is_string(JSONC, "{ // one\n \"a\" /* two */ : \"x//y\", /* three */ }", "a", "x//y");
	is_string(JSONC, "/**/{\"b\": [1, 2,], \"a\": \"/*\"}", "a", "/*");
	is_bad(JSON, "", 1, 1);
	is_bad(JSON, "{\"a\": 1", 1, 8);
	is_bad(JSON, "{\"a\": 1} x", 1, 10);
	is_bad(JSON, "{\"a\": \"x\n", 1, 7);
	is_bad(JSON, "{\n// x\n}", 2, 1);
	is_bad(JSON, "[1]", 1, 1);
	is_bad(JSON, "{\"a\": 1,\n \"a\": 2}", 1, 1);
	is_bad(JSON, "{\"a\": {\"b\": 1, \"b\": {}}}", 1, 1);
	is_bad(JSON, "{\"a\": \"\\u0000\"}", 1, 1);
	is_bad(JSON, "{\"a\": 1,}", 1, 9);
	is_bad(JSONC, "{\"a\": 1,,}", 1, 10);
	is_bad(JSONC, "{\"a\": /* x", 1, 7);
	is_bad(JSON, "{\"a\": \"\xff\"}", 1, 8);
}
END_TEST

START_TEST(toml)
{
	is_string(TOML, "a = 'x\\y' # z", "a", "x\\y");
	is_string(TOML, "a = \"\"\"\nx\\\n   y\\t\"\"\"", "a", "xy\t");
	is_string(TOML, "a = \"\"\"x\"\"\"\"\"", "a", "x\"\"");
	is_string(TOML, "a = '''x\n'y'''", "a", "x\n'y");
	is_string(TOML, "\"a\" = \"\\u00e4\\U0001F600\"", "a", "\xc3\xa4\xf0\x9f\x98\x80");
	is_string(TOML, "b = [1, [2.5, {c = true}], # x\n]\r\na = 'x'", "a", "x");
	is_string(TOML, "a = 'x'\nb = 1979-05-27T07:32:00Z\n[c.d]\n[c]\ne.f = +1\n[[g]]\n[[g]]",
		"a", "x");
	is_bad(TOML, "a", 1, 2);
	is_bad(TOML, "a = ", 1, 5);
	is_bad(TOML, "a = x", 1, 6);
	is_bad(TOML, "a = 'x", 1, 7);
	is_bad(TOML, "a = 'x' b", 1, 9);
	is_bad(TOML, "a = 1\na = 2", 2, 1);
	is_bad(TOML, "[a]\n[a]", 2, 3);
	is_bad(TOML, "a.b = 1\n[a]", 2, 3);
	is_bad(TOML, "a = {b = 1}\na.c = 2", 2, 3);
	is_bad(TOML, "a = {b = 1}\n[a.c]", 2, 4);
	is_bad(TOML, "a = [1]\n[[a]]", 2, 4);
	is_bad(TOML, "[[a]]\n[a]", 2, 3);
	is_bad(TOML, "a = [1 2]", 1, 8);
	is_bad(TOML, "a = {b = 1,}", 1, 12);
	is_bad(TOML, "a = \"\\x41\"", 1, 7);
	is_bad(TOML, "a = \"\\u0000\"", 1, 7);
	is_bad(TOML, "a = \"x\ny\"", 1, 7);
	is_bad(TOML, "a = 'x\xff'", 1, 7);
	is_bad(TOML, "[a", 1, 3);
	is_bad(TOML, "= 1", 1, 1);
}
END_TEST

static void starlark_is(const char *text, const char *expect)
{
	struct memory m = {0};
	struct reader_error error = {0, 0, ""};
	struct node *const top = read_text(&m, STARLARK, text, strlen(text), &error);

	ck_assert_msg(top != NULL, "'%s': %s", text, error.text);
	ck_assert_msg(top->first && node_is(node_get(top->first, "a"), expect), "'%s'", text);
	memory_free(&m);
}

START_TEST(starlark)
{
	starlark_is("# x\nf(a = \"x\\ty\\u00e4\")", "x\ty\xc3\xa4");
	starlark_is("f(\n\ta = r'x\\'y', # z\n\tb = [[1], True, None,],\n)\n", "x\\'y");
	starlark_is("f(a = \"\"\"x\n\"y\"\"\")", "x\n\"y");
	is_bad(STARLARK, "x = 1", 1, 3);
	is_bad(STARLARK, "f(a = 1 + 2)", 1, 9);
	is_bad(STARLARK, "f(a = \"x\" \"y\")", 1, 11);
	is_bad(STARLARK, "f(a = \"x\" % 1)", 1, 11);
	is_bad(STARLARK, "f(a = g())", 1, 7);
	is_bad(STARLARK, "f(a = b)", 1, 7);
	is_bad(STARLARK, "f(a = [b for b in [1]])", 1, 8);
	is_bad(STARLARK, "f(a = 1, a = 2)", 1, 11);
	is_bad(STARLARK, "if True:\n f(a = 1)", 1, 4);
	is_bad(STARLARK, " f(a = 1)", 1, 2);
	is_bad(STARLARK, "f(a = 1)(2)", 1, 9);
	is_bad(STARLARK, "f(a = 1).b", 1, 9);
	is_bad(STARLARK, "f(a = 'x", 1, 9);
	is_bad(STARLARK, "f(a = 'x\ny')", 1, 9);
	is_bad(STARLARK, "f(a = '\\q')", 1, 9);
	is_bad(STARLARK, "f(a = f'x')", 1, 7);
	is_bad(STARLARK, "f(**x)", 1, 3);
	is_bad(STARLARK, "f(a = 1", 1, 8);
	is_bad(STARLARK, "f(a = 12345678901)", 1, 16);
	is_bad(STARLARK, "def f():\n  pass", 1, 5);
	is_bad(STARLARK, "load('x', 'y')\nx", 2, 2);
}
END_TEST

/* ---- limits ---- */

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
	struct text t = {0};

	text_add(&t, head);
	while (n-- > 0)
		text_add(&t, part);
	text_add(&t, tail);
	ck_assert(!t.failed);
	return t.data;
}

static void limit(enum reader reader, const char *head, const char *part, size_t n,
	const char *tail, const char *why)
{
	char *const text = repeat(head, part, n, tail);
	struct memory m = {0};
	struct reader_error error;

	ck_assert(!read_text(&m, reader, text, strlen(text), &error));
	ck_assert_str_eq(error.text, why);
	memory_free(&m);
	free(text);
}

START_TEST(limits)
{
	const char *const deep = "it is nested too deeply", *const many =
								    "there are too many values";

	limit(TOML, "a = ", "[", 100000, "", deep);
	limit(TOML, "a = ", "{a=", 100000, "", deep);
	limit(TOML, "a", ".a", 1000, " = 1", deep);
	limit(STARLARK, "f(a = ", "[", 100000, "", deep);
	limit(TOML, "a = [", "1,", LIMIT_IMPORT_NODES, "]", many);
	limit(STARLARK, "f(a = [", "1,", LIMIT_IMPORT_NODES, "])", many);
	limit(JSON, "{\"a\": [1", ",1", LIMIT_IMPORT_NODES, "]}", many);
	limit(JSON, "{\"a\": ", "[", 1000, "", "nesting too deep");
}
END_TEST

static int import_status(enum import_source source, const char *text, size_t *lines)
{
	const struct import_options options = {.source = source};
	const struct import_line *list;
	struct import *im;
	const int r = import_run(&im, &options, text, strlen(text));

	*lines = import_lines(im, &list);
	import_free(im);
	return r;
}

START_TEST(many_rules)
{
	size_t n;
	char *text = repeat("{\"permissions\": {\"allow\": [\"Bash\"", ",\"Bash(x *)\"",
		LIMIT_IMPORT_RULES - 2, "]}}");

	ck_assert_int_eq(import_status(IMPORT_CLAUDE, text, &n), 0);
	ck_assert_uint_eq(n, 2); /* the same line is written once */
	free(text);
	text = repeat("{\"permissions\": {\"allow\": [\"Bash\"", ",\"Bash(x *)\"",
		LIMIT_IMPORT_RULES, "]}}");
	ck_assert_int_eq(import_status(IMPORT_CLAUDE, text, &n), -EINVAL);
	ck_assert_uint_eq(n, 0);
	free(text);
	/* patterns over whose comparison the steps run out */
	text = repeat("{\"permission\": {\"bash\": {\"*a*b*", "a*b*", 500, "\": \"ask\"}}}");
	ck_assert_int_eq(import_status(IMPORT_OPENCODE, text, &n), 0);
	ck_assert_uint_eq(n, 1);
	free(text);
	text = repeat("prefix_rule(pattern = [\"a\"", ", [\"b\", \"c\"]", 9, "])");
	ck_assert_int_eq(import_status(IMPORT_CODEX, text, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(text);
}
END_TEST

/* ---- patterns ---- */

static void glob_make(struct memory *m, struct glob *g, const char *text)
{
	const size_t len = strlen(text);
	const bool open = len > 2 && !strcmp(text + len - 2, " *");

	ck_assert(glob_new(m, g, text, open ? len - 2 : len, true, true));
	if (open)
		ck_assert(glob_append(m, g, GLOB_OPEN));
}

START_TEST(patterns)
{
	/* meets: in both orders; covers: the first all of the second, the second of the first
	 */
	static const struct {
		const char *a, *b;
		bool meet, covers, covered;
	} cases[] = {
		{"git *", "git push *", true, true, false},
		{"git *", "git", true, true, false},
		{"git *", "gitk", false, false, false},
		{"git*", "gitk", true, true, false},
		{"git*", "git *", true, true, false},
		{"*", "git *", true, true, false},
		{"*", "", true, true, false},
		{"* main", "git *", true, false, false},
		{"* main", "git push", false, false, false},
		{"* main", "git push main", true, true, false},
		{"*.env", "*.env.example", false, false, false},
		{"a*b*c", "a*c", true, false, true},
		{"a*c", "a*b*c", true, true, false},
		{"a?c", "abc", true, true, false},
		{"a?c", "a?c", true, true, true},
		{"a*c", "a?c", true, true, false},
		{"a?c", "a*c", true, false, true},
		{"a?", "ab *", true, false, false},
		{"git push *", "git pu*", true, false, true},
		{"git push *", "git push *", true, true, true},
		{"git push x", "git push *", true, false, true},
		{"x", "y", false, false, false},
		{"*a*", "*b*", true, false, false},
	};
	struct memory m = {0};
	struct glob_effort effort = {LIMIT_IMPORT_STEPS}, none = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct glob a, b;

		glob_make(&m, &a, cases[i].a);
		glob_make(&m, &b, cases[i].b);
		ck_assert_msg(glob_may_meet(&a, &b, &effort) == cases[i].meet, "'%s' '%s'",
			cases[i].a, cases[i].b);
		ck_assert_msg(glob_may_meet(&b, &a, &effort) == cases[i].meet, "'%s' '%s'",
			cases[i].b, cases[i].a);
		ck_assert_msg(glob_covers(&a, &b, &effort) == cases[i].covers, "'%s' '%s'",
			cases[i].a, cases[i].b);
		ck_assert_msg(glob_covers(&b, &a, &effort) == cases[i].covered, "'%s' '%s'",
			cases[i].b, cases[i].a);
		/* without a step left the answer is the careful one */
		ck_assert(glob_may_meet(&a, &b, &none));
		ck_assert(!glob_covers(&a, &b, &none));
	}
	memory_free(&m);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("import");
	TCase *const t = tcase_create("import");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, json);
	tcase_add_test(t, toml);
	tcase_add_test(t, starlark);
	tcase_add_test(t, limits);
	tcase_add_test(t, many_rules);
	tcase_add_test(t, patterns);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
