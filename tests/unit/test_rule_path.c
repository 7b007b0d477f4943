/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/fold.h"
#include "broker/core/rules/operand.h"
#include "broker/core/rules/path_pattern.h"
#include "broker/core/rules/pathname.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

/* A string that may hold NULs. */
#define BYTES(s)                                                                               \
	(struct bytes)                                                                         \
	{                                                                                      \
		(s), sizeof(s) - 1                                                             \
	}

/* ---- names ---- */

START_TEST(names_are_made_normal)
{
	static const struct {
		const char *path, *folder, *expect; /* NULL: none */
	} cases[] = {
		{"/a/b", "/x", "/a/b"},
		{"/", "", "/"},
		{"//", "", "/"},
		{"/a//b///c/", "", "/a/b/c"},
		{"/a/./b/.", "", "/a/b"},
		{"/a/../b", "", "/b"},
		{"/../../a", "", "/a"},
		{"/a/b/../..", "", "/"},
		{"a", "/w", "/w/a"},
		{"./a", "/w/", "/w/a"},
		{"../a", "/w/p", "/w/a"},
		{"../../../a", "/w/p", "/a"},
		{".", "/w", "/w"},
		{"...", "/w", "/w/..."},
		{"..a/b", "/w", "/w/..a/b"},
		{"a\nb/\xff", "/w", "/w/a\nb/\xff"},
		{"~/x", "/w", "/w/~/x"},
		{"a", "", NULL},
		{"a", "w", NULL},
		{"", "/w", NULL},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct pathname name;
		const int err = pathname_make(
			&name, bytes_of(cases[i].path), bytes_of(cases[i].folder));

		if (!cases[i].expect) {
			ck_assert_msg(err == -EINVAL, "%s: %s", cases[i].path, name.text);
			continue;
		}
		ck_assert_int_eq(err, 0);
		ck_assert_str_eq(name.text, cases[i].expect);
		ck_assert_uint_eq(name.len, strlen(cases[i].expect));
	}
}
END_TEST

START_TEST(names_have_limits)
{
	char long_path[LIMIT_TEXT + 2];
	struct pathname name;

	memset(long_path, 'a', sizeof(long_path));
	long_path[0] = '/';
	ck_assert_int_eq(
		pathname_make(&name, (struct bytes){long_path, LIMIT_TEXT}, bytes_of("")), 0);
	ck_assert_uint_eq(name.len, LIMIT_TEXT);
	ck_assert_int_eq(
		pathname_make(&name, (struct bytes){long_path, LIMIT_TEXT + 1}, bytes_of("")),
		-ENAMETOOLONG);
	/* each is short enough, together they are not */
	ck_assert_int_eq(pathname_make(&name, (struct bytes){long_path + 1, LIMIT_TEXT - 10},
				 (struct bytes){long_path, 100}),
		-ENAMETOOLONG);
	ck_assert_int_eq(pathname_make(&name, BYTES("/a\0b"), bytes_of("")), -EINVAL);
	ck_assert_int_eq(pathname_make(&name, bytes_of("a"), BYTES("/a\0b")), -EINVAL);
}
END_TEST

START_TEST(tilde_is_home)
{
	struct pathname name;

	ck_assert_int_eq(pathname_tilde(&name, bytes_of("~"), bytes_of("/home/u")), 0);
	ck_assert_str_eq(name.text, "/home/u");
	ck_assert_int_eq(pathname_tilde(&name, bytes_of("~//a/../b"), bytes_of("/home/u")), 0);
	ck_assert_str_eq(name.text, "/home/u/b");
	ck_assert_int_eq(pathname_tilde(&name, bytes_of("~/"), bytes_of("/home/u/")), 0);
	ck_assert_str_eq(name.text, "/home/u");
	ck_assert_int_eq(pathname_tilde(&name, bytes_of("~root/x"), bytes_of("/home/u")), 1);
	ck_assert_int_eq(pathname_tilde(&name, bytes_of("/x"), bytes_of("/home/u")), 1);
	ck_assert_int_eq(pathname_tilde(&name, bytes_of("~/x"), bytes_of("")), -EINVAL);
}
END_TEST

START_TEST(below_is_by_components)
{
	static const struct {
		const char *path, *folder, *expect;
	} cases[] = {
		{"/w/p/a", "/w/p", "a"},
		{"/w/p", "/w/p", ""},
		{"/w/proj-evil/a", "/w/proj", NULL},
		{"/w", "/w/p", NULL},
		{"/a", "/", "a"},
		{"/", "/", ""},
		{"/a", "/b", NULL},
	};

	for (size_t i = 0; i < N(cases); i++) {
		const struct bytes below =
			pathname_below(bytes_of(cases[i].path), bytes_of(cases[i].folder));

		if (cases[i].expect)
			ck_assert_msg(below.data && bytes_is(below, cases[i].expect), "%s",
				cases[i].path);
		else
			ck_assert_ptr_null(below.data);
	}
}
END_TEST

/* ---- patterns ---- */

struct pattern_case {
	const char *pattern, *below;
	int strict, loose; /* whether it matches */
};

START_TEST(patterns_match)
{
	static const struct pattern_case cases[] = {
		/* in any folder, as there is no slash */
		{"a.c", "a.c", 1, 1},
		{"a.c", "x/y/a.c", 1, 1},
		{"a.c", "x/a.cc", 0, 0},
		{"*.c", "x/a.c", 1, 1},
		{"node_modules", "p/node_modules/q/r.js", 1, 1},
		{"build/", "p/build/x", 1, 1},
		{"build/", "p/build", 0, 1},
		/* anchored */
		{"./a.c", "a.c", 1, 1},
		{"./a.c", "x/a.c", 0, 0},
		{"src/a.c", "src/a.c", 1, 1},
		{"src/a.c", "x/src/a.c", 0, 0},
		{"/src", "src", 1, 1},
		{"/src", "src/a/b", 1, 1},
		{"/src", "srcs/a", 0, 0},
		{"/src/", "src", 0, 1},
		{"/src/", "src/a", 1, 1},
		{"/src/**", "src", 0, 1},
		{"/src/**", "src/a", 1, 1},
		{"/src/**", "src/a/b/c", 1, 1},
		{"/src/**/**", "src/a/b/c", 1, 1},
		{"/src/*", "src/a", 1, 1},
		{"/src/*", "src/a/b", 1, 1}, /* a folder that matches, and what is in it */
		{"/src/*", "src", 0, 0},
		{"/src/*.c", "src/x/a.c", 0, 0},
		{"/**/a.c", "a.c", 1, 1},
		{"/**/a.c", "x/y/a.c", 1, 1},
		{"/a/**/b", "a/b", 1, 1},
		{"/a/**/b", "a/x/y/b", 1, 1},
		{"/a/**/b", "a/x/y/c", 0, 0},
		{"/a/**/b/**/c", "a/1/b/2/3/c", 1, 1},
		{"/a/**/b/**/c", "a/b/c", 1, 1},
		{"/a/**/b/**/c", "a/c/b", 0, 0},
		{"**", "a/b", 1, 1},
		{"**", "", 0, 1},
		{"/**", "a", 1, 1},
		{"/", "", 1, 1},
		{"/", "a/b", 1, 1},
		{".", "a/b", 1, 1},
		{"//", "etc/passwd", 1, 1},
		{"~", ".ssh/id", 1, 1},
		{"~/n/**", "n/a", 1, 1},
		{"~/n/**", "na", 0, 0},
		/* within a component */
		{"/a*c", "abc", 1, 1},
		{"/a*c", "ac", 1, 1},
		{"/a*c", "a/c", 0, 0},
		{"/a**c", "abbc", 1, 1},
		{"/a**c", "ab/c", 0, 0},
		{"/a\\**", "a*x", 1, 1},
		{"/a\\**", "axx", 0, 0},
		{"/a?c", "abc", 1, 1},
		{"/a?c",
			"a\xc3\xa4"
			"c",
			1, 1},
		{"/a?c",
			"a\xff"
			"c",
			1, 1},
		{"/a??c",
			"a\xc3\xa4"
			"c",
			0, 0},
		{"/a?c", "ac", 0, 0},
		{"/a?c", "a/c", 0, 0},
		{"/[a-c]x", "bx", 1, 1},
		{"/[a-c]x", "dx", 0, 0},
		{"/[!a-c]x", "dx", 1, 1},
		{"/[^a-c]x", "ax", 0, 0},
		{"/[]x]", "]", 1, 1},
		{"/[!]x]", "x", 0, 0},
		{"/[a-]", "-", 1, 1},
		{"/[\\]]", "]", 1, 1},
		{"/[[:digit:]_]", "7", 1, 1},
		{"/[[:digit:]_]", "_", 1, 1},
		{"/[[:digit:]_]", "a", 0, 0},
		{"/[[:alnum:]]", "5", 1, 1},
		{"/[\xc3\xa0-\xc3\xa9]", "\xc3\xa4", 1, 1},
		{"/\\*", "*", 1, 1},
		{"/\\*", "a", 0, 0},
		{"/\\!a", "!a", 1, 1},
		{"/a\nb", "a\nb", 1, 1},
		{"/a*", "a\nb", 1, 1},
		{"/*\xfe", "a\xfe", 1, 1},
		/* as written */
		{"/a//b/./c", "a/b/c", 1, 1},
		{"/A", "a", 0, 0},
		{"/*****a", "bbbbbbbbbbbbbbbbbbbbbbb", 0, 0},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct path_pattern p;
		char buf[64];
		size_t at;

		ck_assert_msg(
			path_pattern_parse(&p, bytes_of(cases[i].pattern), buf, &at) == PATH_OK,
			"%s", cases[i].pattern);
		ck_assert_msg(
			path_pattern_match(&p, bytes_of(cases[i].below), 0) == cases[i].strict,
			"%s: %s", cases[i].pattern, cases[i].below);
		ck_assert_msg(path_pattern_match(&p, bytes_of(cases[i].below), PATH_LOOSE) ==
				      cases[i].loose,
			"%s: %s, loosely", cases[i].pattern, cases[i].below);
	}
}
END_TEST

START_TEST(patterns_that_are_none)
{
	static const struct {
		const char *pattern;
		enum path_error error;
		size_t at;
	} cases[] = {
		{"", PATH_EMPTY, 0},
		{"!x", PATH_NEGATED, 0},
		{"~root/x", PATH_USER, 0},
		{"a/../b", PATH_UP, 2},
		{"..", PATH_UP, 0},
		{"/a/[b", PATH_CLASS, 3},
		{"/[]", PATH_CLASS, 1},
		{"/[a/]", PATH_CLASS, 1},
		{"/a\\", PATH_ESCAPE, 2},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct path_pattern p;
		char buf[32];
		size_t at = 99;

		ck_assert_msg(path_pattern_parse(&p, bytes_of(cases[i].pattern), buf, &at) ==
				      cases[i].error,
			"%s", cases[i].pattern);
		ck_assert_msg(at == cases[i].at, "%s: at %zu", cases[i].pattern, at);
	}
}
END_TEST

START_TEST(anchors)
{
	static const struct {
		const char *pattern;
		enum path_anchor anchor;
		const char *text;
		unsigned flags;
	} cases[] = {
		{"//etc/x", PATH_ROOT, "etc/x", PATH_LITERAL},
		{"/etc/x", PATH_PROJECT, "etc/x", PATH_LITERAL},
		{"~/x/", PATH_HOME, "x", PATH_LITERAL | PATH_BELOW},
		{"./x", PATH_CWD, "x", PATH_LITERAL},
		{"x", PATH_CWD, "x", PATH_LITERAL | PATH_ANY_DEPTH},
		{"x/y*", PATH_CWD, "x/y*", 0},
		{"///a", PATH_ROOT, "a", PATH_LITERAL},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct path_pattern p;
		char buf[32];
		size_t at;

		ck_assert_int_eq(
			path_pattern_parse(&p, bytes_of(cases[i].pattern), buf, &at), 0);
		ck_assert_int_eq(p.anchor, cases[i].anchor);
		ck_assert_uint_eq(p.flags, cases[i].flags);
		ck_assert_msg(bytes_is(p.text, cases[i].text), "%s", cases[i].pattern);
	}
}
END_TEST

START_TEST(case_may_be_ignored)
{
	static const struct {
		const char *pattern, *path;
		bool equal;
	} cases[] = {
		{".ssh", ".SSH", true},
		{".ssh", ".\xc5\xbf\xc5\xbfh", true}, /* long s */
		{".kube",
			".\xe2\x84\xaa"
			"ube",
			true}, /* Kelvin sign */
		{"\xc3\xa4", "\xc3\x84", true},
		{"\xd0\xb6", "\xd0\x96", true}, /* Cyrillic */
		{"\xcf\x83", "\xcf\x82", true}, /* final sigma */
		{"[a-z]x", "QX", true},
		{"[A-Z]x", "qX", true},
		{"a", "\xd0\xb0", false}, /* Cyrillic a: another letter on every file system */
		{"\xff", "\xdf", false},
	};

	for (size_t i = 0; i < N(cases); i++)
		ck_assert_msg(path_component_match(bytes_of(cases[i].pattern),
				      bytes_of(cases[i].path), PATH_FOLD) == cases[i].equal,
			"%s: %s", cases[i].pattern, cases[i].path);
	ck_assert(fold_equal(bytes_of("\xc3\x84"
				      "bC"),
		bytes_of("\xc3\xa4"
			 "Bc")));
	ck_assert(!fold_equal(bytes_of("ab"), bytes_of("abc")));
	ck_assert(!fold_equal(bytes_of("\xc3"), bytes_of("\xe3")));
}
END_TEST

START_TEST(code_points_are_strict)
{
	static const struct {
		const char *text;
		uint32_t c;
		size_t len;
	} cases[] = {
		{"a", 'a', 1},
		{"\xc3\xa4", 0xe4, 2},
		{"\xe2\x82\xac", 0x20ac, 3},
		{"\xf0\x9f\x98\x80", 0x1f600, 4},
		{"\xc0\x80", FOLD_INVALID + 0xc0, 1}, /* too long for a NUL */
		{"\xe0\x80\x80", FOLD_INVALID + 0xe0, 1},
		{"\xed\xa0\x80", FOLD_INVALID + 0xed, 1},     /* half of a pair */
		{"\xf4\x90\x80\x80", FOLD_INVALID + 0xf4, 1}, /* past the end */
		{"\xe2\x82", FOLD_INVALID + 0xe2, 1},
		{"\x80", FOLD_INVALID + 0x80, 1},
		{"\xff", FOLD_INVALID + 0xff, 1},
	};

	for (size_t i = 0; i < N(cases); i++) {
		size_t len;

		ck_assert_uint_eq(fold_next(bytes_of(cases[i].text), &len), cases[i].c);
		ck_assert_uint_eq(len, cases[i].len);
	}
	/* no code point is folded twice, and none into another's fold */
	for (uint32_t c = 0; c < 0x110000; c++)
		ck_assert_uint_eq(fold_case(fold_case(c)), fold_case(c));
}
END_TEST

START_TEST(operands_are_made_normal)
{
	static const char *const cases[][2] = {
		{"/", "/"},
		{"//", "/"},
		{"/.", "/"},
		{"/./", "/"},
		{"/..", "/"},
		{"/a/../", "/"},
		{"/a/", "/a"},
		{"./a", "a"},
		{"./", "."},
		{"a/..", "."},
		{"../a", "../a"},
		{"../../", "../.."},
		{"a/../../b", "../b"},
		{"a//b", "a/b"},
		{"a", "a"},
		{"", ""},
		{"..", ".."},
		{"-x", "-x"},
		{"/a/b/../c/.", "/a/c"},
		{"./..", ".."},
	};

	for (size_t i = 0; i < N(cases); i++) {
		char out[32];
		const size_t n = operand_normal(bytes_of(cases[i][0]), out);

		ck_assert_msg(bytes_is((struct bytes){out, n}, cases[i][1]), "%s: %.*s",
			cases[i][0], (int)n, out);
		strcpy(out, cases[i][0]);
		ck_assert_uint_eq(operand_normal(bytes_of(out), out), n);
	}
}
END_TEST

/* A slower matcher of components, by recursion. */
static bool slow(const char *p, const char *end, const char *t, const char *t_end)
{
	if (p == end)
		return t == t_end;
	if (*p == '*')
		return slow(p + 1, end, t, t_end) ||
		       (t < t_end && *t != '/' && slow(p, end, t + 1, t_end));
	if (t == t_end)
		return false;
	if (*p == '?')
		return *t != '/' && slow(p + 1, end, t + 1, t_end);
	return *p == *t && slow(p + 1, end, t + 1, t_end);
}

static bool slow_path(const char *p, const char *t)
{
	const char *const p_end = strchrnul(p, '/'), *const t_end = strchrnul(t, '/');

	if (*p == 0)
		return true;
	if (p_end - p == 2 && memcmp(p, "**", 2) == 0 && *p_end) {
		if (slow_path(p_end + 1, t))
			return true;
		return *t && slow_path(p, *t_end ? t_end + 1 : t_end);
	}
	if (*t == 0 || !slow(p, p_end, t, t_end))
		return false;
	return slow_path(*p_end ? p_end + 1 : p_end, *t_end ? t_end + 1 : t_end);
}

START_TEST(as_the_slow_one)
{
	static const char pieces[] = "aab*?//*";
	uint64_t seed = 1;
	unsigned matched = 0;

	for (int round = 0; round < 200000; round++) {
		char pattern[16] = "/", text[16], buf[16];
		struct path_pattern p;
		size_t n = 1, m = 0, at;

		for (size_t len = 1 + (seed >> 40) % 9; n <= len; n++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			pattern[n] = pieces[(seed >> 33) % (sizeof(pieces) - 1)];
			if (pattern[n] == '/' && (pattern[n - 1] == '/' || n == 1))
				pattern[n] = 'a';
		}
		if (pattern[n - 1] == '/' || pattern[n - 1] == '*')
			pattern[n - 1] = 'b';
		pattern[n] = 0;
		for (size_t len = 1 + (seed >> 44) % 9; m < len; m++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[m] = "aab/"[(seed >> 33) % 4];
			if (text[m] == '/' && (m == 0 || text[m - 1] == '/'))
				text[m] = 'a';
		}
		if (text[m - 1] == '/')
			text[m - 1] = 'b';
		text[m] = 0;
		ck_assert_int_eq(path_pattern_parse(&p, bytes_of(pattern), buf, &at), 0);
		ck_assert_msg(path_pattern_match(&p, bytes_of(text), 0) ==
				      slow_path(pattern + 1, text),
			"%s: %s", pattern, text);
		matched += slow_path(pattern + 1, text);
	}
	ck_assert_uint_gt(matched, 2000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_path");
	TCase *t = tcase_create("paths");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, names_are_made_normal);
	tcase_add_test(t, names_have_limits);
	tcase_add_test(t, tilde_is_home);
	tcase_add_test(t, below_is_by_components);
	tcase_add_test(t, patterns_match);
	tcase_add_test(t, patterns_that_are_none);
	tcase_add_test(t, anchors);
	tcase_add_test(t, case_may_be_ignored);
	tcase_add_test(t, code_points_are_strict);
	tcase_add_test(t, operands_are_made_normal);
	tcase_add_test(t, as_the_slow_one);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
