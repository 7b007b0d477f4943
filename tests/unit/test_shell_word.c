/* SPDX-License-Identifier: MIT */
/* Words: quotes, expansions, braces, patterns. */
#include <stdlib.h>
#include <string.h>

#include "libapproval/limits.h"
#include "tests/unit/shell_fixture.h"

START_TEST(quotes)
{
	EXPECT({"ls -la", "<ls><-la>"}, {"\\rm -rf x", "<rm><-rf><x>"}, {"r''m x", "<rm><x>"},
		{"echo 'a b' \"c d\"", "<echo><a b><c d>"},
		{"echo a\\ b \\; \\#c", "<echo><a b><;><#c>"},
		{"cat ~/.s''sh/id", "<cat></home/u/.ssh/id>"},
		{"echo \"a\\\"b\\$c\\\\d\\e\"", "<echo><a\"b$c\\d\\e>"},
		{"echo ''", "<echo><>"}, {"echo $'a\\n\\x41\\101\\'\\q'", "<echo><a\nAA'\\q>"},
		{"echo $'\\u41\\U00000042'", "<echo><AB>"}, {"echo $'\\u00e9'", "<echo><@>"},
		{"echo $\"hi\"", "<echo><@hi>"}, {"echo a\\\nb", "<echo><ab>"},
		{"echo \"a\\\nb\"", "<echo><ab>"}, {"echo a#b #c", "<echo><a#b>"},
		{"echo \"$\" $ a$", "<echo><$><$><a$>"},
		{"git   push\torigin", "<git><push><origin>"}, {"echo \r", "<echo><\r>"},
		{"echo \xc2\xa0x", "<echo><\xc2\xa0x>"}, {"ｒm x", "<ｒm><x>"});
}
END_TEST

START_TEST(not_read)
{
	REFUSE("echo \"a", "echo 'a", "echo a\\", "echo $'a", "echo `a", "echo $(a", "echo ${a",
		"echo ${}", "echo ${x@P}", "echo ${ ls; }", "echo ${|ls}", "echo $[1]",
		"echo $((1)", "echo $'\\0'", "echo $'\\cx'", "echo $\\\n(ls)", "$X -rf ~",
		"cat$IFS/etc/passwd", "*/x", "~user/x", "`x`", "$(x)", "{$x,y}", "x[1 2]=3",
		"f\\\noo x", "PS4='$(x)' ls", "PS4=`x`", "echo ${x:-{a}}",
		"echo \"${x:-'a'}\"");
}
END_TEST

START_TEST(expansions)
{
	EXPECT({"echo $x \"$x\" ${x:-a} a$x", "<echo><@><@><@><a@>"},
		{"echo $HOME \"$HOME/x\" ${HOME}y ~ ~/z",
			"<echo></home/u></home/u/x></home/uy></home/u></home/u/z>"},
		{"echo $PWD ~+", "<echo></w/proj></w/proj>"},
		{"echo ~x ~- '~' \\~ \"~\" a~", "<echo><@><@><~><~><~><a~>"},
		{"echo A=~/x --b=~/x A=y:~/z", "<echo><A=/home/u/x><--b=~/x><A=y:/home/u/z>"},
		{"x=~/a:~/b", "x=</home/u/a:/home/u/b>"},
		{"echo $((1+2)) $1 $@ $$", "<echo><@><@><@><@>"},
		{"HOME=/x; echo ~ $HOME", "HOME=</x> <echo><@><@>"},
		{"read HOME; echo ~", "<read><HOME> <echo><@>"},
		{"export \"$v\"; echo ~", "<export><@> <echo><@>"},
		{"((HOME=1)); echo ~", "#<((> <echo><@>"},
		{"IFS=/; echo $HOME", "IFS=</> <echo><@>"}, {"echo ${HOME:=/x}", "<echo><@>"},
		{"echo $TMPDIR/x", "<echo><@/x>"});
}
END_TEST

START_TEST(braces)
{
	EXPECT({"mkdir -p src/{a,b}", "<mkdir><-p><src/a><src/b>"},
		{"echo {1..3} {c..a} {01..3} {5..1..2}",
			"<echo><1><2><3><c><b><a><01><02><03><5><3><1>"},
		{"echo {a,b}{c,d}", "<echo><ac><ad><bc><bd>"},
		{"echo {a,{b,c}d}e", "<echo><ae><bde><cde>"},
		{"echo x{,y} {} {a} {a,b", "<echo><x><xy><{}><{a}><{a,b>"},
		{"echo {'a b',\"c\"} '{a,b}' \\{a,b}", "<echo><a b><c><{a,b}><{a,b}>"},
		{"echo {~,$HOME}/x {$x,y}", "<echo></home/u/x></home/u/x><@><y>"},
		{"x={a,b}", "x=<{a,b}>"}, {"rm {-rf,/}", "<rm><-rf></>"},
		{"{rm,-rf,/}", "<rm><-rf></>"});
	shell_expect("echo {$(ls),b}", NULL);
	shell_expect("echo {1..100000}", NULL);
	shell_expect("echo {1..99}{1..99}", NULL);
	shell_expect("echo {a..Z}", NULL);
	shell_expect("cat < {a,b}", NULL);
}
END_TEST

static const struct shell_word *word(const struct shell_case *c, uint32_t command, uint32_t i)
{
	ck_assert_uint_lt(command, c->shell.n);
	ck_assert_uint_lt(i, c->shell.commands[command].nwords);
	return &c->shell.commands[command].words[i];
}

START_TEST(flags)
{
	struct shell_case c;

	shell_case_read(&c,
		"x *.c 'a*'*\\? [ab] $y \"$y\" \"$@\" ~/a $(z) <(z) {a,b} \"q\" [ a]",
		SHELL_BASH);
	ck_assert_uint_eq(word(&c, 0, 1)->flags, SHELL_GLOB);
	ck_assert(bytes_is(word(&c, 0, 1)->pattern, "*.c"));
	ck_assert_uint_eq(word(&c, 0, 2)->flags, SHELL_GLOB | SHELL_QUOTED);
	ck_assert(bytes_is(word(&c, 0, 2)->text, "a**?"));
	ck_assert(bytes_is(word(&c, 0, 2)->pattern, "a\\**\\?"));
	ck_assert_uint_eq(word(&c, 0, 3)->flags, SHELL_GLOB);
	ck_assert_uint_eq(word(&c, 0, 4)->flags, SHELL_DYNAMIC | SHELL_SPLITS);
	ck_assert_uint_eq(word(&c, 0, 5)->flags, SHELL_DYNAMIC | SHELL_QUOTED);
	ck_assert_uint_eq(word(&c, 0, 6)->flags, SHELL_DYNAMIC | SHELL_SPLITS | SHELL_QUOTED);
	ck_assert_uint_eq(word(&c, 0, 7)->flags, SHELL_HOMED);
	ck_assert_uint_eq(word(&c, 0, 8)->flags, SHELL_DYNAMIC | SHELL_SPLITS | SHELL_SUBST);
	ck_assert_uint_eq(word(&c, 0, 9)->flags, SHELL_DYNAMIC | SHELL_PROC);
	ck_assert_uint_eq(word(&c, 0, 10)->flags, SHELL_BRACE);
	ck_assert_uint_eq(word(&c, 0, 12)->flags, SHELL_QUOTED);
	ck_assert_uint_eq(word(&c, 0, 13)->flags, 0);
	ck_assert_uint_eq(word(&c, 0, 14)->flags, 0);
	ck_assert_uint_eq(word(&c, 0, 3)->offset, 14);
	ck_assert_uint_eq(c.shell.flags, SHELL_HAS_DYNAMIC | SHELL_HAS_SUBST | SHELL_COMPOUND);
	shell_case_free(&c);
}
END_TEST

/* A value that would be split, or matched against names, is known between quotes alone. */
START_TEST(odd_home)
{
	const struct shell_context context = {
		.cwd = bytes_of("/w"), .home = bytes_of("/home/a b"), .tmpdir = bytes_of("/t")};
	struct shell_arena arena;
	struct shell s;

	ck_assert_int_eq(shell_arena_init(&arena), 0);
	shell_read(bytes_of("x $HOME \"$HOME\" ~/y $TMPDIR/z"), &context, &arena, &s);
	ck_assert_uint_eq(s.commands[0].words[1].flags, SHELL_DYNAMIC | SHELL_SPLITS);
	ck_assert(bytes_is(s.commands[0].words[2].text, "/home/a b"));
	ck_assert(bytes_is(s.commands[0].words[3].text, "/home/a b/y"));
	ck_assert(bytes_is(s.commands[0].words[4].text, "/t/z"));
	shell_arena_free(&arena);
}
END_TEST

static void expect_limit(const char *unit, size_t n, const char *before)
{
	const size_t len = strlen(unit);
	char *const text = malloc(strlen(before) + n * len + 1);

	ck_assert_ptr_nonnull(text);
	strcpy(text, before);
	for (size_t i = 0; i < n; i++)
		memcpy(text + strlen(before) + i * len, unit, len + 1);
	shell_expect(text, NULL);
	free(text);
}

START_TEST(limits)
{
	expect_limit("a", LIMIT_SHELL_TEXT + 1, "");
	expect_limit("a;", LIMIT_SHELL_COMMANDS + 1, "");
	expect_limit("$(", LIMIT_SHELL_DEPTH + 1, "echo ");
	expect_limit("(", 100000, "");
	expect_limit("{ ", 100000, "");
	expect_limit("`", 100000, "");
	expect_limit("${x:-", 100000, "echo ");
	expect_limit("$(", 100000, "\"");
	expect_limit("! ", 100000, "");
	expect_limit("sudo ", 100000, "");
	expect_limit("eval ", 100000, "");
	expect_limit("if ", 100000, "");
	expect_limit("[[ ! ( ", 10000, "");
	expect_limit("a ", LIMIT_SHELL_TEXT / 2, "");
	expect_limit("a", LIMIT_SHELL_LETTERS, "ls -");
	expect_limit(" -aaaaaaa", LIMIT_SHELL_LETTERS / 8 + 1, "ls");
}
END_TEST

/* NUL ends a command for some and not for others. */
START_TEST(nul)
{
	const struct shell_context context = {.cwd = bytes_of("/w")};
	struct shell_arena arena;
	struct shell s;

	ck_assert_int_eq(shell_arena_init(&arena), 0);
	shell_read((struct bytes){"git status\0", 11}, &context, &arena, &s);
	ck_assert(s.flags & SHELL_UNREAD);
	shell_read((struct bytes){NULL, 0}, &context, &arena, &s);
	ck_assert_uint_eq(s.flags, 0);
	ck_assert_uint_eq(s.n, 0);
	shell_arena_free(&arena);
	shell_read(bytes_of("ls"), &context, &arena, &s);
	ck_assert(s.flags & SHELL_UNREAD);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("shell_word");
	TCase *const t = tcase_create("all");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, quotes);
	tcase_add_test(t, not_read);
	tcase_add_test(t, expansions);
	tcase_add_test(t, braces);
	tcase_add_test(t, flags);
	tcase_add_test(t, odd_home);
	tcase_add_test(t, limits);
	tcase_add_test(t, nul);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
