/* SPDX-License-Identifier: MIT */
/* Lists, compound commands, redirections, here-documents: every command is found. */
#include <string.h>

#include "tests/unit/shell_fixture.h"

START_TEST(lists)
{
	EXPECT({"a && b || c; d & e | f |& g\nh", "<a> <b> <c> b<d> <e> <f> <g> <h>"},
		{"a &&\n b |\n# c\n d", "<a> <b> <d>"}, {"! git push", "<git><push>"},
		{"time -p ls", "<ls>"}, {"! ! a", "<a>"}, {"# only", ""}, {"", ""},
		{"\n\n", ""}, {"a;", "<a>"}, {"a &", "b<a>"}, {"a \\\n && b", "<a> <b>"},
		{"a &\\\n& b", "<a> <b>"}, {"a # && b", "<a>"}, {"a;#b\nc", "<a> <c>"},
		{"x=1 y= a", "x=<1>y=<><a>"}, {"x=1", "x=<1>"}, {"x+=a y[1]=b", "x=<a>y=<b>"},
		{"x=(a 'b c' $d)", "x=<a>x=<b c>x=<@>"},
		{"declare -a x=(a b)", "x=<a>x=<b><declare><-a><x=@>"});
	REFUSE("a && ", "a |", "&& a", "a ;; b", "a || | b", "(a", "a)", "{ a", "{ a }", "a; }",
		"; a", "()", "( )", "{ }", "a &\\\n> b", "in", "! ", "time", "a | ! b",
		"x=(a; b)", "x=([a b]=c)", "alias ls='rm -rf /'");
}
END_TEST

START_TEST(compound)
{
	EXPECT({"(rm -rf /)", "<rm><-rf></>"}, {"{ a; b; } >f", "<a> <b> #><f>"},
		{"if a; then b; elif c; then d; else e; fi", "<a> <b> <c> <d> <e>"},
		{"while a; do b; done <f", "<a> <b> #<<f>"},
		{"until a\ndo\nb\ndone", "<a> <b>"},
		{"for x in a {b,c}; do d $x; done", "#<for><a><b><c> <d><@>"},
		{"for x; do a; done", "#<for> <a>"}, {"for x in a; { b; }", "#<for><a> <b>"},
		{"for ((i=0;i<2;i++)); do a; done", "#<for> <a>"},
		{"select x in a; do b; done", "#<select><a> <b>"},
		{"case x in (a|b) c;; *) d;& e) esac", "#<case><x> <c> <d>"},
		{"case x in esac", "#<case><x>"}, {"f() { a; }; f b", "f<a> <f><b>"},
		{"function f { a; } >x", "f<a> #f><x>"}, {"f()\n(a)", "f<a>"},
		{"coproc a", "b<a>"}, {"coproc n { a; }", "b<a>"},
		{"[[ -f a && $x == b* || ! ( c < d ) ]]", "#<[[><-f><a><@><b*><c><d>"},
		{"[[ $x =~ ^(a|b)+$ ]] && c", "#<[[><@><^(a|b)+$> <c>"},
		{"((x + 1)) || b", "#<((> <b>"}, {"if (a) then b; fi", "<a> <b>"},
		{"echo if then fi", "<echo><if><then><fi>"});
	REFUSE("if a; then fi", "if a; fi", "for x in a do b; done", "for x in a; b; done",
		"case x in a b;; esac", "while; do a; done", "[[ a b ]]", "[[ ]]", "[[ a &&",
		"((a)", "((a) )", "f() a", "f() { a; } b", "cd() { :; }", "exit() { :; }",
		"function eval { :; }", "{ a; } b");
}
END_TEST

START_TEST(substitutions)
{
	EXPECT({"ls `id`", "<ls><@> <id>"}, {"a \"$(b \"$(c)\")\"", "<a><@> <b><@> <c>"},
		{"a `b \\`c\\``", "<a><@> <b><@> <c>"}, {"a <(b) >(c)", "<a><@><@> <b> <c>"},
		{"a ${x:-$(b)} $((1 + $(c))) ${y[$(d)]}", "<a><@><@><@> <b> <c> <d>"},
		{"x=$(a) y=`b`", "x=<@>y=<@> <a> <b>"},
		{"a >$(b) <<<$(c)", "<a>><@><<<<@> <b> <c>"},
		{"for x in $(a); do b; done", "#<for><@> <a> <b>"},
		{"case $(a) in $(b)) c;; esac", "#<case><@> <a> <b> <c>"},
		{"[[ $(a) =~ x$(b) ]]", "#<[[><@><x@> <a> <b>"}, {"(( $(a) ))", "#<((> <a>"},
		{"a=($(b) `c`)", "a=<@>a=<@> <b> <c>"},
		{"echo \"${x:+\"$(a)\"}\"", "<echo><@> <a>"},
		{"echo '$(a)' \\`a\\`", "<echo><$(a)><`a`>"}, {"$(a) b", "?<@><b> <a> UNREAD"});
	REFUSE("echo '$(a)' \\`a`", "a <((b))", "echo $(x=(\\; b))", "echo {a,$(b)}");
}
END_TEST

START_TEST(documents)
{
	EXPECT({"cat <<'E'\ngit push\n$(x)\nE", "<cat><<<git push\n$(x)\n>"},
		{"cat <<E\n$(rm e) $x \\$y\nE\nls", "<cat><<<@ @ $y\n> <rm><e> <ls>"},
		{"cat <<-E | b\n\ta\n\tE\nc", "<cat><<<a\n> <b> <c>"},
		{"a <<E; b <<F\n1\nE\n2\nF", "<a><<<1\n> <b><<<2\n>"},
		{"a <<E && {\n1\nE\nb; }", "<a><<<1\n> <b>"},
		{"git commit -m \"$(cat <<'E'\ndon't (1\nE\n)\"",
			"<git><commit><-m><@> <cat><<<don't (1\n>"},
		{"cat <<\\E <<<x\n$(a)\nE", "<cat><<<$(a)\n><<<<x>"},
		{"cat <<''\na\n\nb", "<cat><<<a\n> <b>"},
		{"cat <<E\na\\\nb \"q\" `c`\nE", "<cat><<<ab \"q\" @\n> <c>"});
	REFUSE("cat <<E", "cat <<E\na", "cat <<E\na\nE x", "cat <<$x\n$x", "cat <<E\nE\\\n\nE",
		"cat <<E\nE\\\nE\nE", "x=$(cat <<E\nE)\nrm x\nE\n)", "x=$(cat <<E)\nE",
		"cat <<E x=(a\n)\nE");
}
END_TEST

START_TEST(redirections)
{
	EXPECT({"a >x 2>>y <z <>w >|v", "<a>><x>>><y><<z><><w>><v>"},
		{"a >/dev/null 2>&1 <&3 3>&- >&2", "<a>0</dev/null>&<1>&<3>&<->&<2>"},
		{"a &>x &>>y >&z", "<a>><x>>><y>><z>"}, {">x", "><x>"}, {">x a", "<a>><x>"},
		{"a {fd}>x", "<a>><x>"}, {"a 2 >x", "<a><2>><x>"}, {"a x2>y", "<a><x2>><y>"},
		{"a >/dev/stderr >/dev/fd/3", "<a>&</dev/stderr>&</dev/fd/3>"},
		{"a > \"$x\"", "<a>><@>"}, {"a > ~/.ssh/k", "<a>></home/u/.ssh/k>"},
		{"a > *.c", "<a>><*.c>"}, {"a <<< \"b c\"", "<a><<<<b c>"});
	REFUSE("a >", "a > | b", "a >\\\n(b)", "a <&x", "a 2>&x", "a 12345>x", "a >{b,c}",
		"a <<<");
}
END_TEST

/* What a plain sh would read otherwise is not read for it. */
START_TEST(sh)
{
	static const char *const texts[] = {"a $'b'", "a $\"b\"", "a &> b", "a |& b",
		"((rm -rf x))", "[[ a || rm ]]", "function f { a; }", "x+=1", "x=(a)",
		"a <<< b", "a <(b)", "coproc a", "a {fd}>x", "for ((;;)); do a; done",
		"select x in a; do b; done", "a >& b", "x[1]=2"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		shell_expect_sh(texts[i], NULL);
	shell_expect_sh("a $(b) && c >d 2>&1", "<a><@> <b> <c>><d>&<1>");
	shell_expect_sh("time ls", "^<time><ls> <ls>");
	shell_expect("sh -c \"a \\$'b'\"", NULL);
}
END_TEST

START_TEST(options_that_change_the_reading)
{
	REFUSE("shopt -s expand_aliases", "shopt -s extglob", "set -o posix", "set -H",
		"set -k", "set +B", "set $x", "enable -n cd", "bind x", "mapfile -C 'rm x' y",
		"compgen -C x", "x='a[$(b)]'; ((x))", "printf -v 'a[$(b)]' c",
		"test -v 'a[`b`]'", "read 'a[$(b)]'", "unset 'a[$(b)]'", "let 'a[$(b)]'",
		"declare 'a[$(b)]=1'", "echo ${x@P}");
	EXPECT({"set -euo pipefail; a", "<set><-euo><pipefail> <a>"},
		{"shopt -s nullglob globstar", "<shopt><-s><nullglob><globstar>"},
		{"set -- -H x", "<set><--><-H><x>"}, {"echo 'a[$(b)]'", "<echo><a[$(b)]>"});
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("shell_list");
	TCase *const t = tcase_create("all");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, lists);
	tcase_add_test(t, compound);
	tcase_add_test(t, substitutions);
	tcase_add_test(t, documents);
	tcase_add_test(t, redirections);
	tcase_add_test(t, sh);
	tcase_add_test(t, options_that_change_the_reading);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
