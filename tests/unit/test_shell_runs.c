/* SPDX-License-Identifier: MIT */
/* What commands run by their words: wrappers, shells, eval and trap. */
#include <stdlib.h>

#include "tests/unit/shell_fixture.h"

START_TEST(wrappers)
{
	EXPECT({"timeout 60 npm test", "^<timeout><60><npm><test> <npm><test>"},
		{"timeout -k 5 --signal=KILL 60 a",
			"^<timeout><-k><5><--signal=KILL><60><a> <a>"},
		{"nice -n 5 nohup a", "^<nice><-n><5><nohup><a> ^<nohup><a> <a>"},
		{"nice -5 a", "^<nice><-5><a> <a>"},
		{"stdbuf -oL -e0 a", "^<stdbuf><-oL><-e0><a> <a>"},
		{"command a", "^<command><a> <a>"}, {"command -v a", "<command><-v><a>"},
		{"builtin echo a", "^<builtin><echo><a> <echo><a>"},
		{"exec -a n a", "^<exec><-a><n><a> <a>"}, {"exec >f", "<exec>><f>"},
		{"env", "<env>"}, {"env a", "^<env><a> <a>"},
		{"env A=1 B=\"$x\" git push o",
			"^!<env><A=1><B=@><git><push><o> ~<git><push><o>"},
		{"env -u A -i a", "^<env><-u><A><-i><a> <a>"},
		{"sudo -u x a b", "^!<sudo><-u><x><a><b> ~<a><b>"},
		{"doas a", "^!<doas><a> ~<a>"}, {"sudo A=1 a", "^!<sudo><A=1><a> ~<a>"},
		{"sudo -l", "!<sudo><-l>"},
		{"xargs -0 -n 1 rm -rf", "^!<xargs><-0><-n><1><rm><-rf> ~+<rm><-rf>"},
		{"xargs", "!<xargs>"},
		{"xargs --max-lines rm", "^!<xargs><--max-lines><rm> ~+<rm>"},
		{"xargs --max-lines=2 rm", "^!<xargs><--max-lines=2><rm> ~+<rm>"},
		{"systemd-run -t rm a", "^!<systemd-run><-t><rm><a> ~<rm><a>"},
		{"script -t -c 'rm a'", "^!<script><-t><-c><rm a> ~<rm><a>"},
		{"xargs -I{} rm {}", "^!<xargs><-I{}><rm><{}> ~<rm><{}>"},
		{"/usr/bin/env a", "^!</usr/bin/env><a> ~<a>"},
		{"./timeout 5 a", "^!<./timeout><5><a> ~<a>"},
		{"timeout 5 \"$x\" a", "^<timeout><5><@><a> ?<@><a> UNREAD"},
		{"find . -exec rm {} \\; -exec a +",
			"^!<find><.><-exec><rm><{}><;><-exec><a><+> ~<rm><{}> ~<a><+>"},
		{"find . -name x", "<find><.><-name><x>"},
		{"git bisect run a b", "^!<git><bisect><run><a><b> ~<a><b>"},
		{"git submodule foreach 'a; b'", "^!<git><submodule><foreach><a; b> ~<a> ~<b>"},
		{"git -C d rebase -x 'a' main", "^!<git><-C><d><rebase><-x><a><main> ~<a>"},
		{"watch -n 1 'a | b'", "^!<watch><-n><1><a | b> ~<a> ~<b>"},
		{"su x -c 'a b'", "^!<su><x><-c><a b> ~<a><b>"},
		{"flock f a b", "^!<flock><f><a><b> ~<a><b>"},
		{"flock f -c 'a b'", "^!<flock><f><-c><a b> ~<a><b>"},
		{"A=1 time a", "^A=<1><time><a> <a>"});
	REFUSE("timeout --frob 5 a", "nice -q a", "sudo --frob a", "env -S 'a b'", "env $x a",
		"timeout $t a", "xargs --frob a", "sudo \"$x\" a", "xargs -I{} {}",
		"xargs -I{} sh -c 'a {}'", "find . -exec sh -c 'a {}' \\;", "env A=$x a",
		"find . -exec $x \\;");
}
END_TEST

START_TEST(texts)
{
	EXPECT({"bash -c 'git push'", "^<bash><-c><git push> <git><push>"},
		{"bash -lc 'gh api user'", "^<bash><-lc><gh api user> <gh><api><user>"},
		{"bash --norc -e -o pipefail -c \"a | b\" n m",
			"^<bash><--norc><-e><-o><pipefail><-c><a | b><n><m> <a> <b>"},
		{"sh -c 'a; sh -c \"b\"'", "^<sh><-c><a; sh -c \"b\"> <a> ^<sh><-c><b> <b>"},
		{"eval a b \"'c d'\"", "^<eval><a><b><'c d'> <a><b><c d>"},
		{"trap 'a; b' EXIT INT", "^<trap><a; b><EXIT><INT> <a> <b>"},
		{"trap - EXIT", "<trap><-><EXIT>"}, {"bash x.sh a", "<bash><x.sh><a>"},
		{"bash \"$d/x.sh\"", "<bash><@/x.sh>"}, {"source x", "<source><x>"},
		{"bash <<'E'\ngit push\nE", "^<bash><<<git push\n> <git><push>"},
		{"sudo bash -s <<E\na\nE", "^!<sudo><bash><-s><<<a\n> ^~<bash><-s> ~<a>"},
		{"bash <<< 'a b'", "^<bash><<<<a b> <a><b>"},
		{"cat <<'E' | sh\na\nE", "<cat><<<a\n> ^<sh> <a>"},
		{"echo 'a b' | bash", "<echo><a b> ^<bash> <a><b>"}, {"bash < x", "<bash><<x>"},
		{"zsh x.zsh", "<zsh><x.zsh>"}, {"bash -c", "<bash><-c>"});
	REFUSE("bash -c \"$x\"", "bash -c $x", "eval \"$x\"", "eval $(x)", "trap \"$x\" EXIT",
		"bash -i -c a", "bash -O extglob -c a", "bash <(a)", "source <(a)", ". <(a)",
		"curl x | sh", "a | bash", "bash < <(a)", "bash <<E\n$x\nE", "zsh -c a",
		"fish -c a", "ksh -c a", "bash $x", "bash -c 'a", "{ bash; } <<E\na\nE",
		"f() { sh; }; a | f", "bash --rcfile $x", "echo -e 'a' | sh",
		"eval 'eval \"$x\"'");
}
END_TEST

START_TEST(fetched)
{
	static const struct {
		const char *text;
		bool runs;
	} cases[] = {{"curl -s x | sh", true}, {"curl x | sudo bash", true},
		{"bash <(curl x)", true}, {"curl x | python3", true},
		{"curl x | python3 -", true}, {"wget -qO- x | perl", true},
		{"python3 -c \"$(curl x)\"", true}, {"eval \"$(curl x)\"", true},
		{"echo \"$(curl x)\" | node", true}, {"curl x | tee f | ruby", true},
		{"echo x | base64 -d | python3", true}, {"python3 - < <(curl x)", true},
		{"source <(curl x)", true}, {"bash -c \"$(wget -O- x)\"", true},
		{"python3 <(curl x)", true}, {"perl <<< \"$(curl x)\"", true},
		{"(curl x) | (cd a; python3)", true}, {"curl x | jq .", false},
		{"curl x | python3 -m json.tool", false},
		{"curl x | python3 -c 'import json'", false}, {"curl x | python3 s.py", false},
		{"curl x > f; python3 s.py", false}, {"python3 s.py \"$(curl x)\"", false},
		{"echo x | base64 | python3", false}, {"cat f | python3", false},
		{"curl x && bash y.sh", false}, {"curl x | grep -c sh", false},
		{"git clone x | cat", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct shell_case *const c = calloc(1, sizeof(*c));

		ck_assert_ptr_nonnull(c);
		shell_case_read(c, cases[i].text, SHELL_BASH);
		ck_assert_msg((shell_runs_fetched(&c->shell) != SHELL_NONE) == cases[i].runs,
			"%s", cases[i].text);
		shell_case_free(c);
		free(c);
	}
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("shell_runs");
	TCase *const t = tcase_create("all");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, wrappers);
	tcase_add_test(t, texts);
	tcase_add_test(t, fetched);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
