/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/limits.h"
#include "tests/unit/rule_fixture.h"

#define N(a) (sizeof(a) / sizeof(*(a)))
#define NO   VERDICT_NONE
#define OK   VERDICT_ALLOW
#define DENY VERDICT_DENY
#define ASK  VERDICT_ASK

struct match_case {
	const char *rules, *command;
	enum verdict verdict;
};

static void check_commands(const struct match_case *cases, size_t n)
{
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < n; i++) {
		struct ruleset *set = rule_set_of(cases[i].rules);
		enum verdict verdict;

		rule_fixture_command(&f, "Bash", bytes_of(cases[i].command));
		verdict = rule_verdict(set, &f.call);
		ck_assert_msg(verdict == cases[i].verdict, "%s: %s: %s%s%s", cases[i].rules,
			cases[i].command, verdict_name(verdict), f.shell.reason ? ", " : "",
			f.shell.reason ? f.shell.reason : "");
		ruleset_free(set);
	}
	rule_fixture_free(&f);
}

START_TEST(what_allows)
{
	static const struct match_case cases[] = {
		/* exact */
		{"allow Bash(npm run build)", "npm run build", OK},
		{"allow Bash(npm run build)", "npm   run 'build'", OK},
		{"allow Bash(npm run build)", "npm run build2", NO},
		{"allow Bash(npm run build)", "npm run build x", NO},
		{"allow Bash(npm run build)", "npm run", NO},
		{"allow Bash(npm run build)", "npm 'run build'", NO},
		{"allow Bash(npm run build)", "npm run build && npm run build", OK},
		{"allow Bash('a b' c)", "'a b' c", OK},
		{"allow Bash('a b' c)", "a b c", NO},
		{"allow Bash('' x)", "x", NO},
		{"allow Bash(x '')", "x", NO},
		/* prefix at a word boundary */
		{"allow Bash(git diff:*)", "git diff", OK},
		{"allow Bash(git diff *)", "git diff", OK},
		{"allow Bash(git diff:*)", "git diff --stat HEAD", OK},
		{"allow Bash(git diff:*)", "git difftool", NO},
		{"allow Bash(git diff:*)", "git -C . diff", NO},
		{"allow Bash(git diff:*)", "/usr/bin/git diff", NO},
		{"allow Bash(git diff:*)", "\\git diff", OK},
		{"allow Bash(git diff:*)", "GIT diff", NO},
		{"allow Bash(git sta*)", "git status -s", OK},
		{"allow Bash(git sta*)", "git sta", NO}, /* an alias may run anything */
		{"allow Bash(ls sta*)", "ls sta", OK},
		{"allow Bash(git sta*)", "git st", NO},
		/* anywhere */
		{"allow Bash(npm * build)", "npm run build", OK},
		{"allow Bash(npm * build)", "npm a b build", OK},
		{"allow Bash(npm * build)", "npm build", NO},
		{"allow Bash(npm * build)", "npm run build x", NO},
		{"allow Bash(ls *.c)", "ls x y.c", OK},
		{"allow Bash(ls *.c)", "ls *.c", OK},
		{"allow Bash(ls '\\*.c')", "ls '*.c'", OK},
		{"allow Bash(ls '\\*.c')", "ls *.c", NO},
		{"allow Bash(ls '\\*.c')", "ls x.c", NO},
		{"allow Bash(ls \\*.c)", "ls *.c", OK},
		{"allow Bash(ls \\\\*.c)", "ls *.c", NO},
		{"allow Bash(ls \\\\*.c)", "ls '*.c'", OK},
		{"allow Bash(ls [ab])", "ls [ab]", OK},
		{"allow Bash(ls '[ab]')", "ls [ab]", NO},
		/* home */
		{"allow Bash(cat ~/x)", "cat ~/x", OK},
		{"allow Bash(cat ~/x)", "cat \"$HOME/x\"", OK},
		{"allow Bash(cat ~/x)", "cat /home/u/x", OK},
		{"allow Bash(cat ~/x)", "cat '~/x'", NO},
		{"allow Bash(cat '~/x')", "cat ~/x", NO},
		{"allow Bash(cat /home/u/x)", "cat ~/x", OK},
		{"allow Bash(ls ~/*)", "ls ~/x", OK},
		{"allow Bash(ls ~/*)", "ls /home/ux", NO},
		/* every command */
		{"allow Bash(grep:*)\nallow Bash(head:*)", "grep p f | head -20", OK},
		{"allow Bash(grep:*)", "grep p f | head -20", NO},
		{"allow Bash(git log:*)", "git log -1; touch z", NO},
		{"allow Bash(ls:*)", "ls && (ls; { ls; })", OK},
		{"allow Bash(ls:*)", "if ls; then ls -l; fi", OK},
		{"allow Bash(ls:*)", "ls & rm x", NO},
		{"allow Bash(ls:*)", "ls\nrm x", NO},
		{"allow Bash(ls:*)", "ls || ! ls", OK},
		/* dynamic, redirected, assigned */
		{"allow Bash(ls:*)", "ls `id`", NO},
		{"allow Bash(ls:*)", "ls $(ls)", NO},
		{"allow Bash(ls:*)", "ls <(ls)", NO},
		{"allow Bash(ls:*)", "ls $X", NO},
		{"allow Bash(ls:*)", "ls \"$X\"", NO},
		{"allow Bash(ls:*)", "ls > f", NO},
		{"allow Bash(ls:*)", "ls >> f", NO},
		{"allow Bash(ls:*)", "ls >/dev/null 2>&1", OK},
		{"allow Bash(ls:*)", "X=1 ls", NO},
		{"allow Bash(ls:*)", "X=1; ls", NO},
		{"allow Bash(ls:*)", "PATH=/tmp/b:$PATH ls", NO},
		{"allow Bash(ls:*)", "export X=1; ls", NO},
		{"allow Bash(cat:*)", "cat$IFS/etc/passwd", NO},
		{"allow Bash(ls:*)", "ls() { rm x; }; ls", NO},
		{"allow Bash(cat:*)", "cat < f", NO}, /* nobody says where it is */
		{"allow Bash(cat:*)", "cat <<< x", OK},
		{"allow Bash(cat:*)", "cat <<'E'\n$(rm x)\nE\n", OK},
		{"allow Bash(cat:*)", "cat <<E\n$(rm x)\nE\n", NO},
		{"allow Bash(mkdir -p src/a src/b)", "mkdir -p src/{a,b}", OK},
		{"allow Bash(mkdir:*)", "mkdir -p src/{a,b}", OK},
		/* the very text */
		{"allow Bash(ls > f)", "ls > f", OK},
		{"allow Bash(ls > f)", "ls  > f", NO},
		{"allow Bash(ls > f)", "ls > f; ls > f", NO},
		{"allow Bash(ls $X)", "ls $X", OK},
		{"allow Bash(ls $X)", "ls $Y", NO},
		{"allow Bash(git status && rm -rf ./tmp)", "git status && rm -rf ./tmp", OK},
		{"allow Bash(git status && rm -rf ./tmp)", "rm -rf ./tmp", NO},
		{"allow Bash(X=1 ls)", "X=1 ls", OK},
		{"allow Bash(X=1 ls)", "ls", NO},
		{"allow Bash(for i in a\\{0A}do ls\\{0A}done)", "for i in a\ndo ls\ndone", OK},
		{"allow Bash(ls # x)", "ls # x", OK},
		{"allow Bash(ls # x)", "ls", NO},
		{"allow Bash(cd * && ls)", "cd x && ls", NO},
		/* whole tool */
		{"allow Bash", "ls $(id) > f", OK},
		{"allow Bash(*)", "echo 'x", OK},
		{"allow Bash(**)", "ls -l | wc", OK},
		{"allow Bash(**)", "ls > f", NO},
		{"allow @execute", "ls", OK},
		{"allow Read", "ls", NO},
		/* cd */
		{"allow Bash(ls)", "cd src && ls", OK},
		{"allow Bash(ls)", "cd .. && ls", NO},
		{"allow Bash(ls)", "cd /w/proj-evil && ls", NO},
		{"allow Bash(ls)", "cd src", NO},
		{"allow Bash(cd:*)", "cd /tmp/x && python3 s.py", NO},
		{"allow Bash(cd:*)\nallow Bash(ls)", "cd /tmp && ls", OK},
		/* comments */
		{"allow Bash(git status)", "git status # && rm -rf /", OK},
		{"allow Bash(ls)", "# nothing", NO},
		{"allow Bash(ls)", "", NO},
	};

	check_commands(cases, N(cases));
}
END_TEST

START_TEST(what_allows_what_runs_others)
{
	static const struct match_case cases[] = {
		{"allow Bash(npm test)", "timeout 60 npm test", OK},
		{"allow Bash(npm test)", "nice -n 5 nohup npm test", OK},
		{"allow Bash(npm test)", "bash -c 'npm test'", OK},
		{"allow Bash(npm test)", "bash -lc \"npm test\"", OK},
		{"allow Bash(npm test)", "bash -c 'npm test; id'", NO},
		{"allow Bash(npm test)", "eval npm test", OK},
		{"allow Bash(npm test)", "sudo npm test", NO},
		{"allow Bash(npm test)", "env A=1 npm test", NO},
		{"allow Bash(npm test)", "env npm test", OK},
		{"allow Bash(npm test)", "xargs npm test", NO},
		{"allow Bash(grep:*)\nallow Bash(ls:*)", "ls | xargs grep x", NO},
		{"allow Bash(xargs:*)\nallow Bash(ls:*)", "ls | xargs rm", NO},
		{"allow Bash(xargs rm)\nallow Bash(ls:*)", "ls | xargs rm", OK},
		{"allow Bash(sudo:*)", "sudo rm x", NO},
		{"allow Bash(python3:*)", "python3 -c x", NO},
		{"allow Bash(python3:*)", "python3 x.py", NO},
		{"allow Bash(python3 x.py)", "python3 x.py", OK},
		{"allow Bash(python3 x.py)", "python3 x.py y", NO},
		{"allow Bash(python3:*)", "python3 --version", OK},
		{"allow Bash(python3 -c 'print(1)')", "python3 -c 'print(1)'", OK},
		{"allow Bash(python3 -c 'print(1)')", "python3 -c 'print(2)'", NO},
		{"allow Bash(python3 -c *)", "python3 -c 'print(2)'", NO},
		{"allow Bash(bash)\nallow Bash(cat:*)", "cat x | bash", NO},
		{"allow Bash(python3)\nallow Bash(cat:*)", "cat x | python3", NO},
		{"allow Bash(python3 -)\nallow Bash(cat:*)", "cat x | python3 -", NO},
		{"allow Bash(python3 x.py)\nallow Bash(cat:*)", "cat x | python3 x.py", OK},
		{"allow Bash(find:*)", "find . -name x", OK},
		{"allow Bash(find:*)", "find . -delete", NO},
		{"allow Bash(find:*)", "find . -exec rm {} ;", NO},
		{"allow Bash(find:*)", "find . -exec rm {} \\;", NO},
		{"allow Bash(find:*)\nallow Bash(rm:*)", "find . -exec rm {} \\;", NO},
		{"allow Bash(find . -delete)", "find . -delete", OK},
		{"allow Bash(sed:*)", "sed -n 1p f", OK},
		{"allow Bash(sed:*)", "sed 'w /tmp/x' f", NO},
		{"allow Bash(sed:*)", "sed -i s/a/b/ f", NO},
		{"allow Bash(sed:*)", "sed '1e id' f", NO},
		{"allow Bash(awk:*)", "awk '{print $1}' f", OK},
		{"allow Bash(awk:*)", "awk 'BEGIN{system(\"id\")}'", NO},
		{"allow Bash(git:*)", "git status", OK},
		{"allow Bash(git:*)", "git -c core.fsmonitor='sh -c id' status", NO},
		{"allow Bash(git:*)", "git difftool", NO},
		{"allow Bash(rg:*)", "rg --pre ./x y", NO},
		{"allow Bash(rg:*)", "rg y", OK},
		{"allow Bash(tar:*)", "tar xf a --to-command=./x", NO},
		{"allow Bash(ssh:*)", "ssh host id", NO},
		{"allow Bash(vim:*)", "vim x", NO},
	};

	check_commands(cases, N(cases));
}
END_TEST

START_TEST(what_denies)
{
	static const struct match_case cases[] = {
		{"deny Bash(rm -rf /)", "rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "rm -fr /", DENY},
		{"deny Bash(rm -rf /)", "rm -f -r /", DENY},
		{"deny Bash(rm -rf /)", "rm / -rf", DENY},
		{"deny Bash(rm -rf /)", "rm --recursive --force /", DENY},
		{"deny Bash(rm --recursive --force /)", "rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "rm -rfv /", DENY},
		{"deny Bash(rm -rf /)", "rm -rf --no-preserve-root /", DENY},
		{"deny Bash(rm -rf /)", "rm -rf -- /", DENY},
		{"deny Bash(rm -rf /)", "rm -rf //", DENY},
		{"deny Bash(rm -rf /)", "rm -rf /.", DENY},
		{"deny Bash(rm -rf /)", "rm -rf /tmp/..", DENY},
		{"deny Bash(rm -rf /)", "rm -rf '/'", DENY},
		{"deny Bash(rm -rf /)", "r''m -rf /", DENY},
		{"deny Bash(rm -rf /)", "/bin/rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "../bin/rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "rm \\\n -rf /", DENY},
		{"deny Bash(rm -rf /)", "rm -r /", NO},
		{"deny Bash(rm -rf /)", "rm -- -rf /", NO},
		{"deny Bash(rm -rf /)", "rm -rf /tmp/x", NO},
		{"deny Bash(rm -rf /)", "rm -rf ./*", NO},
		{"deny Bash(rm -rf /)", "rm -rf *", NO},
		{"deny Bash(rm -rf /)", "echo rm -rf /", NO},
		{"deny Bash(rm -rf /)", "echo 'rm -rf /'", NO},
		{"deny Bash(rm -rf /)", "ls & rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "(rm -rf /)", DENY},
		{"deny Bash(rm -rf /)", "{ rm -rf /; }", DENY},
		{"deny Bash(rm -rf /)", "echo $(rm -rf /)", DENY},
		{"deny Bash(rm -rf /)", "echo `rm -rf /`", DENY},
		{"deny Bash(rm -rf /)", "f() { rm -rf /; }", DENY},
		{"deny Bash(rm -rf /)", "trap 'rm -rf /' EXIT", DENY},
		{"deny Bash(rm -rf /)", "eval 'rm -rf' /", DENY},
		{"deny Bash(rm -rf /)", "sudo rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "sudo -u root env A=1 nice rm -rf /", DENY},
		{"deny Bash(rm -rf /)", "bash -lc 'sh -c \"rm -rf /\"'", DENY},
		{"deny Bash(rm -rf /)", "for i in 1; do rm -rf /; done", DENY},
		{"deny Bash(rm -rf /)", "case x in x) rm -rf /;; esac", DENY},
		{"deny Bash(rm -rf /)", "cat <<E\n$(rm -rf /)\nE", DENY},
		{"deny Bash(rm -rf /)", "cat <<'E'\nrm -rf /\nE", NO},
		{"deny Bash(/bin/rm:*)", "/bin/rm x", DENY},
		{"deny Bash(/bin/rm:*)", "rm x", NO},
		{"deny Bash(rm:*)", "rm", DENY},
		{"deny Bash(rm *)", "rm", DENY},
		{"deny Bash(rm:*)", "rmdir x", NO},
		{"deny Bash(git push:*)", "git push", DENY},
		{"deny Bash(git push:*)", "git -C /r push", DENY},
		{"deny Bash(git push:*)", "git -c a=b --no-pager push origin", DENY},
		{"deny Bash(git push:*)", "git --git-dir=/x push origin", DENY},
		{"deny Bash(git push:*)", "git pull", NO},
		{"deny Bash(git push:*)", "git stash push", NO},
		{"deny Bash(git push:*)", "git log push", NO},
		{"deny Bash(git push:*)", "find . -exec git push \\;", DENY},
		{"deny Bash(git push:*)", "ls | xargs git push", DENY},
		{"deny Bash(git push origin main)", "git push -o x origin main", DENY},
		{"deny Bash(git push --force:*)", "git push origin main -f", DENY},
		{"deny Bash(git push -f:*)", "git push origin --force", DENY},
		{"deny Bash(git push --force*)", "git push origin --force-with-lease", DENY},
		{"deny Bash(git push --force*)", "git push --force origin main", DENY},
		{"deny Bash(git push --force*)", "git push origin main", NO},
		{"deny Bash(git switch -f:*)", "git switch main -f", DENY},
		{"deny Bash(git reset --hard *)", "git -C /r reset --hard", DENY},
		{"deny Bash(git * main)", "git push --force main", DENY},
		{"deny Bash(git log --output=*)", "git log --output=x", DENY},
		{"deny Bash(git log --output=*)", "git log --output x", DENY},
		{"deny Bash(git log --output=*)", "git log", NO},
		{"deny Bash(git -C /x push)", "git -C /x push", DENY},
		{"deny Bash(git -C /x push)", "git -C /y push", NO},
		{"deny Bash(* --force)", "foo --force", DENY},
		{"deny Bash(* --force)", "foo x --force", DENY},
		{"deny Bash(cat /etc/passwd)", "cat /etc/pass*", DENY},
		{"deny Bash(cat /etc/passwd)", "cat /etc/p[a]sswd", DENY},
		{"deny Bash(cat /etc/passwd)", "cat /etc/*/x", NO},
		{"deny Bash(cat /etc/passwd)", "cat /etc/{passwd,group}", NO},
		{"deny Bash(cat * /etc/passwd)", "cat x /etc/passwd", DENY},
		{"deny Bash(cat ~/x)", "cat ~/x", DENY},
		{"deny Bash(cat ~/x)", "cat $HOME/./x", DENY},
		{"deny Bash(cat ~/x:*)", "cat /home/u/x y", DENY},
		{"deny Bash(cat /home/u/x)", "cat ~/x", DENY},
		{"deny Bash(grep * /etc/*)", "grep root /etc/passwd", DENY},
		{"deny Bash(rm -rf:*)", "\\rm -rf x", DENY},
		{"deny Bash(curl * | sh)", "curl -s x | sh", DENY},
		{"deny Bash(a && b)", "a && b", DENY},
		{"deny Bash(a && b)", "a;b", NO},
		{"deny Bash(sudo:*)", "sudo ls", DENY},
		{"deny Bash(bash -c:*)", "bash -lc 'ls'", DENY},
		/* any part that is read is seen */
		{"deny Bash(rm:*)", "rm x; echo 'unterminated", DENY},
		{"deny Bash(git push:*)", "git$IFS\"push\"", NO}, /* unread: asked */
		/* precedence, whatever the order */
		{"allow Bash(grep:*)\ndeny Bash(grep x)", "grep x", DENY},
		{"deny Bash(grep x)\nallow Bash(grep:*)", "grep x", DENY},
		{"ask Bash(git push:*)\nallow Bash(git:*)", "git push", ASK},
		{"ask Bash(git push:*)\ndeny Bash(git:*)", "git push", DENY},
		{"ask Bash", "ls", ASK},
		{"ask *\nallow Bash(ls)", "ls", ASK},
		/* paths that a command touches */
		{"deny Read(//etc/shadow)", "cat < /etc/shadow", DENY},
		{"deny Read(//etc/shadow)", "cat /etc/shadow", DENY},
		{"deny Read(secret/**)", "cd secret && cat x", DENY},
		{"deny Edit(/src/**)", "echo x > src/a", DENY},
		{"deny Edit(/src/**)", "cd src; echo x >> a", DENY},
		{"deny Edit(/src/**)", "cat src/a", NO},
		{"deny Read(//etc/shadow)", "echo /etc/shadow", NO},
	};

	check_commands(cases, N(cases));
}
END_TEST

struct path_case {
	const char *rules, *tool, *path;
	enum verdict verdict;
};

START_TEST(paths)
{
	static const struct path_case cases[] = {
		{"allow Read(~/n/**)", "Read", "/home/u/n/a", OK},
		{"allow Read(~/n/**)", "Read", "~/n/a", OK},
		{"allow Read(~/n/**)", "read_file", "/home/u/n/a", OK},
		{"allow Read(~/n/**)", "Edit", "/home/u/n/a", NO},
		{"allow Read(~/n/**)", "Read", "/home/u/n/../.ssh/id", NO},
		{"allow Read(~/n/**)", "Read", "/home/u/na", NO},
		{"allow Read(//etc/hosts)", "Read", "/etc//hosts", OK},
		{"allow Read(/etc/hosts)", "Read", "/etc/hosts", NO},
		{"allow Read(/etc/hosts)", "Read", "/w/proj/etc/hosts", OK},
		{"allow Read(./x)", "Read", "x", OK},
		{"allow Read(*.md)", "Read", "docs/a.md", OK},
		{"allow Read(*.md)", "Read", "/tmp/a.md", NO},
		{"allow Edit(/src/**)", "Write", "/w/proj/src/a", OK},
		{"allow Edit(/src/**)", "write_file", "src/a/b", OK},
		{"allow Edit(/src/**)", "Write", "/w/proj/src", NO},
		{"allow Edit(/src/**)", "Write", "/w/proj-evil/src/a", NO},
		{"allow Edit(/src/**)", "delete", "/w/proj/src/a", NO},
		{"deny Edit(/src/**)", "delete", "/w/proj/src/a", DENY},
		{"deny Edit(/src/**)", "delete", "/w/proj/src", DENY},
		{"deny Edit(/src/**)", "Write", "/w/proj/src/a", DENY},
		{"deny Edit(/src/**)", "Write", "/w/proj/x/../src/a", DENY},
		{"deny Edit(/src/**)", "Read", "/w/proj/src/a", NO},
		{"deny Read(~/.x/**)", "Grep", "/home/u/.x", DENY},
		{"deny Read(~/.x/**)", "Read", "~/.x/y", DENY},
		{"deny Read", "Grep", "/w/proj", NO},
		{"deny Grep(/a/**)", "Grep", "a/b", DENY},
		{"deny Grep(/a/**)", "Read", "a/b", NO},
		{"deny @delete(/a)", "delete", "a", DENY},
		{"deny Read(//t\\{0A}x)", "Read", "/t\nx", DENY},
		{"deny Read(//t\xff)", "Read", "/t\xff", DENY},
		{"ask Read(/.env)\nallow Read", "Read", ".env", ASK},
	};
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(cases); i++) {
		struct ruleset *set = rule_set_of(cases[i].rules);
		enum verdict verdict;

		rule_fixture_path(&f, cases[i].tool, cases[i].path);
		verdict = rule_verdict(set, &f.call);
		ck_assert_msg(verdict == cases[i].verdict, "%s: %s(%s): %s", cases[i].rules,
			cases[i].tool, cases[i].path, verdict_name(verdict));
		ruleset_free(set);
	}
	rule_fixture_free(&f);
}
END_TEST

START_TEST(paths_given_and_resolved)
{
	struct rule_fixture f;
	struct ruleset *allow = rule_set_of("allow Read(~/n/**)");
	struct ruleset *deny = rule_set_of("deny Read(//etc/**)");
	struct ruleset *both = rule_set_of("allow Read(~/n/**)\nallow Read(//data/**)");

	rule_fixture_init(&f);
	rule_fixture_path(&f, "Read", "~/n/link");
	f.path.resolved = bytes_of("/etc/shadow");
	ck_assert_int_eq(rule_verdict(allow, &f.call), NO);
	ck_assert_int_eq(rule_verdict(deny, &f.call), DENY);
	f.path.resolved = bytes_of("/data/x");
	ck_assert_int_eq(rule_verdict(allow, &f.call), NO);
	ck_assert_int_eq(rule_verdict(both, &f.call), OK);
	/* a home that is a link */
	f.path.resolved = bytes_of("/var/home/u/n/link");
	ck_assert_int_eq(rule_verdict(allow, &f.call), NO);
	f.call.home_resolved = bytes_of("/var/home/u");
	ck_assert_int_eq(rule_verdict(allow, &f.call), OK);
	/* what can't be resolved */
	f.path.resolved = (struct bytes){NULL, 0};
	ck_assert_int_eq(rule_verdict(allow, &f.call), NO);
	f.path.given = bytes_of("/etc/shadow");
	ck_assert_int_eq(rule_verdict(deny, &f.call), DENY);
	/* no home, no rule for it */
	rule_fixture_path(&f, "Read", "/home/u/n/a");
	f.call.home = (struct bytes){NULL, 0};
	ck_assert_int_eq(rule_verdict(allow, &f.call), NO);
	rule_fixture_free(&f);
	ruleset_free(allow);
	ruleset_free(deny);
	ruleset_free(both);
}
END_TEST

START_TEST(every_path)
{
	struct rule_fixture f;
	struct ruleset *set = rule_set_of("allow move(/a/**)");
	struct rule_path two[2];

	rule_fixture_init(&f);
	rule_fixture_path(&f, "move", "/w/proj/a/x");
	ck_assert_int_eq(rule_verdict(set, &f.call), OK);
	two[0] = two[1] = f.path;
	two[1].given = two[1].resolved = bytes_of("/w/proj/b/x");
	f.call.paths = two;
	f.call.n_paths = 2;
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	two[1].given = two[1].resolved = bytes_of("/w/proj/a/y");
	ck_assert_int_eq(rule_verdict(set, &f.call), OK);
	f.call.unread = true;
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	f.call.unread = false;
	f.call.n_paths = 0;
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(input_from_files)
{
	struct rule_fixture f;
	struct ruleset *set = rule_set_of("allow Bash(cat:*)\nallow Read(~/n/**)");
	struct rule_path reads[1] = {
		{.given = bytes_of("f"), .resolved = bytes_of("/w/proj/f"), .inside = true}};

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("cat < f"));
	f.call.reads = reads;
	f.call.n_reads = 1;
	ck_assert_int_eq(rule_verdict(set, &f.call), OK);
	reads[0].inside = false;
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	reads[0].given = bytes_of("~/n/x");
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	reads[0].resolved = bytes_of("/home/u/n/x");
	ck_assert_int_eq(rule_verdict(set, &f.call), OK);
	f.call.n_reads = 0;
	ck_assert_int_eq(rule_verdict(set, &f.call), NO);
	{
		const struct shell_command *command;
		struct rule_reads at = {0, 0};
		const struct shell_redirect *r;

		rule_fixture_command(
			&f, "Bash", bytes_of("ls; cat <a >b 2<c; cd x; cat <d <<<e"));
		r = rule_reads_next(&f.shell, &at, &command);
		ck_assert(r && bytes_is(r->target.text, "a"));
		r = rule_reads_next(&f.shell, &at, &command);
		ck_assert(r && bytes_is(r->target.text, "c"));
		r = rule_reads_next(&f.shell, &at, &command);
		ck_assert(r && bytes_is(r->target.text, "d"));
		ck_assert(bytes_is(command->cwd->path[0], RULE_WORKSPACE "/x"));
		ck_assert_ptr_null(rule_reads_next(&f.shell, &at, &command));
	}
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(hosts)
{
	static const struct path_case cases[] = {
		{"allow WebFetch(domain:example.org)", "WebFetch", "https://example.org/x", OK},
		{"allow WebFetch(domain:example.org)", "webfetch", "https://a.EXAMPLE.org./",
			OK},
		{"allow WebFetch(domain:example.org)", "WebFetch",
			"https://example.org.evil.test/", NO},
		{"allow WebFetch(domain:example.org)", "WebFetch",
			"https://example.org@evil.test/", NO},
		{"allow WebFetch(domain:example.org)", "WebFetch",
			"https://example.org\\@evil.test/", NO},
		{"allow WebFetch(domain:example.org)", "WebFetch", "https:example.org", NO},
		{"allow WebFetch(domain:example.org)", "WebFetch", "example.org", NO},
		{"allow WebFetch(domain:*.example.org)", "WebFetch", "https://example.org", NO},
		{"allow WebFetch(domain:*.example.org)", "WebFetch", "https://a.example.org",
			OK},
		{"deny WebFetch(domain:example.org)", "WebFetch", "https://EXAMPLE.ORG.:8443/",
			DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch",
			"https://good.test\\@example.org/", DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch",
			"https://example.org\\@good.test/", DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch", "https:\\\\ex%61mple.org",
			DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch",
			"https://\xef\xbd\x85xample.org/", DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch", "https://a\xcc\x88.test/",
			DENY},
		{"deny WebFetch(domain:example.org)", "WebFetch", "https://good.test/", NO},
		{"deny WebFetch(domain:127.0.0.1)", "WebFetch", "http://0x7f.1/", DENY},
		{"deny WebFetch(domain:127.0.0.1)", "WebFetch", "http://[::ffff:127.0.0.1]/",
			DENY},
		{"deny WebFetch", "WebSearch", "https://good.test/", DENY},
		{"deny WebFetch(domain:\xc3\xa4.de)", "WebFetch", "https://xn--4ca.de/", DENY},
	};
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(cases); i++) {
		struct ruleset *set = rule_set_of(cases[i].rules);
		enum verdict verdict;

		rule_fixture_url(&f, cases[i].tool, cases[i].path);
		verdict = rule_verdict(set, &f.call);
		ck_assert_msg(verdict == cases[i].verdict, "%s: %s: %s", cases[i].rules,
			cases[i].path, verdict_name(verdict));
		ruleset_free(set);
	}
	rule_fixture_free(&f);
}
END_TEST

START_TEST(tools)
{
	static const struct {
		const char *rules, *tool;
		enum kind claimed;
		enum verdict verdict;
	} cases[] = {
		{"deny mcp__github__*", "mcp__github__create_issue", KIND_OTHER, DENY},
		{"deny mcp__github__*", "mcp__github2__x", KIND_OTHER, NO},
		{"deny mcp__github", "mcp__github__create_issue", KIND_OTHER, DENY},
		{"deny mcp__github", "mcp__github2__x", KIND_OTHER, NO},
		{"deny mcp__github__a*", "mcp__github__ab", KIND_OTHER, DENY},
		{"deny mcp__github__a*", "mcp__github__b", KIND_OTHER, NO},
		{"allow mcp__x__y", "mcp__x__y", KIND_OTHER, OK},
		{"allow mcp__x__y", "mcp__x__yy", KIND_OTHER, NO},
		/* what no table knows has the kind that it says */
		{"allow mcp__x__y", "mcp__x__y", KIND_EXECUTE, OK},
		{"deny @execute", "mcp__x__y", KIND_EXECUTE, DENY},
		{"allow @execute", "mcp__x__y", KIND_EXECUTE, NO},
		{"deny @other", "mcp__x__y", KIND_OTHER, DENY},
		{"deny @other", "Read", KIND_OTHER, NO},
		/* a claim only tightens */
		{"deny @read", "Read", KIND_EXECUTE, DENY},
		{"allow Read", "Read", KIND_EXECUTE, NO},
		{"allow Read", "Read", KIND_THINK, OK},
		{"deny Bash", "Read", KIND_EXECUTE, DENY},
		{"allow Bash", "run_shell_command", KIND_OTHER, OK},
		{"allow bash", "Bash", KIND_OTHER, NO},
		{"allow bash", "bash", KIND_OTHER, OK},
		{"allow FrobnicateAll", "FrobnicateAll", KIND_OTHER, OK},
		{"allow FrobnicateAll", "Frobnicateall", KIND_OTHER, NO},
		{"allow *", "x", KIND_OTHER, OK},
		{"allow Edit", "Write", KIND_OTHER, OK},
	};
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(cases); i++) {
		struct ruleset *set = rule_set_of(cases[i].rules);
		enum verdict verdict;

		rule_fixture_path(&f, cases[i].tool, "x");
		f.call.n_paths = 0;
		f.call.claimed = cases[i].claimed;
		verdict = rule_verdict(set, &f.call);
		ck_assert_msg(verdict == cases[i].verdict, "%s: %s: %s", cases[i].rules,
			cases[i].tool, verdict_name(verdict));
		ruleset_free(set);
	}
	rule_fixture_free(&f);
}
END_TEST

/* ---- the handed cases, as far as rules decide them ---- */

/* More options and operands than rules look at: nobody knows, but of what allows. */
START_TEST(too_many_operands)
{
	struct ruleset *const set = rule_set_of("deny Bash(frob -z *)\nallow Bash(frob:*)\n");
	const unsigned letters = LIMIT_RULE_ARGS - 5000;
	const size_t room = LIMIT_RULE_ARGS + 5100;
	char *const text = malloc(room);
	struct rule_fixture f;
	struct rule_match match;
	size_t n = (size_t)snprintf(text, room, "frob -");

	rule_fixture_init(&f);
	memset(text + n, 'a', letters);
	n += letters;
	for (unsigned i = letters; i < LIMIT_RULE_ARGS; i++)
		n += (size_t)snprintf(text + n, room - n, " x");
	rule_fixture_command(&f, "Bash", (struct bytes){text, n});
	ck_assert_int_eq(ruleset_match(set, VERDICT_DENY, &f.call, &match), 0);
	n += (size_t)snprintf(text + n, room - n, " x");
	rule_fixture_command(&f, "Bash", (struct bytes){text, n});
	ck_assert_int_eq(ruleset_match(set, VERDICT_DENY, &f.call, &match), 2);
	ck_assert_int_eq(ruleset_match(set, VERDICT_ALLOW, &f.call, &match), 1);
	rule_fixture_free(&f);
	ruleset_free(set);
	free(text);
}
END_TEST

static const char *field(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ? json_object_get_string(v) : NULL;
}

static bool expects(struct json_object *o, const char *verdict)
{
	struct json_object *list;

	ck_assert(json_object_object_get_ex(o, "expect", &list));
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strcmp(json_object_get_string(json_object_array_get_idx(list, i)),
			    verdict) == 0)
			return true;
	return false;
}

static struct ruleset *case_rules(struct json_object *o)
{
	struct json_object *list;
	char text[1024] = "";

	ck_assert(json_object_object_get_ex(o, "rules", &list));
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		strcat(text, json_object_get_string(json_object_array_get_idx(list, i)));
		strcat(text, "\n");
	}
	return rule_set_of(text);
}

static void check_case(struct rule_fixture *f, struct json_object *o)
{
	const char *source = field(o, "source"), *tool = field(o, "tool");
	struct json_object *input, *command;
	struct ruleset *set;
	enum verdict verdict;

	if (expects(o, "error"))
		return;
	ck_assert(json_object_object_get_ex(o, "input", &input));
	if (json_object_object_get_ex(input, "command", &command))
		rule_fixture_command(f, tool,
			(struct bytes){json_object_get_string(command),
				(size_t)json_object_get_string_len(command)});
	else if (field(input, "url"))
		rule_fixture_url(f, tool, field(input, "url"));
	else
		rule_fixture_path(
			f, tool, field(input, "file_path") ? field(input, "file_path") : ".");
	set = case_rules(o);
	verdict = rule_verdict(set, &f->call);
	ruleset_free(set);
	if (source && strcmp(source, "rule") == 0)
		ck_assert_msg(expects(o, verdict_name(verdict)), "%s: %s", field(o, "name"),
			verdict_name(verdict));
	else if (!source)
		/* not allowed by a rule, and not denied, unless that is expected */
		ck_assert_msg(
			verdict == NO || verdict == ASK || expects(o, verdict_name(verdict)),
			"%s: %s", field(o, "name"), verdict_name(verdict));
	else
		ck_assert_msg(verdict != DENY, "%s", field(o, "name"));
}

START_TEST(handed_cases)
{
	FILE *file = fopen(TEST_CASES, "r");
	char line[4096];
	unsigned n = 0;
	struct rule_fixture f;

	ck_assert_ptr_nonnull(file);
	rule_fixture_init(&f);
	while (fgets(line, sizeof(line), file)) {
		struct json_object *o = json_tokener_parse(line);

		ck_assert_ptr_nonnull(o);
		check_case(&f, o);
		json_object_put(o);
		n++;
	}
	ck_assert_uint_gt(n, 100);
	rule_fixture_free(&f);
	fclose(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_match");
	TCase *t = tcase_create("matching");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, what_allows);
	tcase_add_test(t, what_allows_what_runs_others);
	tcase_add_test(t, what_denies);
	tcase_add_test(t, paths);
	tcase_add_test(t, paths_given_and_resolved);
	tcase_add_test(t, every_path);
	tcase_add_test(t, input_from_files);
	tcase_add_test(t, hosts);
	tcase_add_test(t, tools);
	tcase_add_test(t, too_many_operands);
	tcase_add_test(t, handed_cases);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
