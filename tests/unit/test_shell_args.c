/* SPDX-License-Identifier: MIT */
/* Options and operands, and the tables of commands. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/shell_fixture.h"

/* Options as -name or -name=value, ~ before global ones, operands as they are, text in (). */
static void expect_args(const char *text, const char *expected)
{
	struct shell_case *const c = calloc(1, sizeof(*c));
	struct shell_args args;
	struct shell_arg arg;
	char line[1024] = "";

	ck_assert_ptr_nonnull(c);
	shell_case_read(c, text, SHELL_BASH);
	ck_assert_uint_ge(c->shell.n, 1);
	shell_args_begin(&args, c->shell.commands[0].words, c->shell.commands[0].nwords);
	while (shell_args_next(&args, &arg)) {
		const bool option =
			arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL;

		strcat(line, *line ? " " : "");
		strcat(line, arg.kind == SHELL_ARG_GLOBAL ? "~" : "");
		strcat(line, arg.kind == SHELL_ARG_SUBCOMMAND ? "*" : "");
		strcat(line, option ? "-" : "");
		strncat(line, option ? arg.name.data : "", arg.name.len);
		strcat(line, option && arg.has_value ? "=" : "");
		strcat(line, arg.is_text ? "(" : "");
		strncat(line, arg.value.len ? arg.value.data : "", arg.value.len);
		strcat(line, arg.is_text ? ")" : "");
		strcat(line, arg.kind == SHELL_ARG_END ? "--" : "");
	}
	ck_assert_msg(strcmp(line, expected) == 0, "%s: %s, not %s", text, line, expected);
	shell_case_free(c);
	free(c);
}

START_TEST(args)
{
	static const struct shell_pair pairs[] = {{"rm -rfv a", "-r -f -v a"},
		{"rm --recursive --force /", "-r -f /"}, {"rm --recurs x -- -f", "-r x -- -f"},
		{"/bin/rm -fr x", "-f -r x"}, {"head -n 5 -c3 f", "-n=(5) -c=(3) f"},
		{"head -20 f", "-20 f"}, {"grep -15if p x", "-15 -i -f=p x"},
		{"zip -9r a b", "-9 -r a b"}, {"comm -12 a b", "-12 a b"},
		{"perl -0777ne x", "-0777 -n -e=(x)"},
		{"git -C /r -c a=b push -f origin +x", "~-C=/r ~-c=(a=b) *push -f origin +x"},
		{"git push --force-with-lease=a o", "*push -force-with-lease=(a) o"},
		{"git push --force-with-lease o", "*push -force-with-lease o"},
		{"git commit -am 'a b' f", "*commit -a -m=(a b) f"},
		{"git commit --message=x", "*commit -m=(x)"}, {"grep -rn x f", "-r -n (x) f"},
		{"grep -e x f", "-e=(x) f"}, {"grep -f p f", "-f=p f"},
		{"sed -n 1p f", "-n (1p) f"}, {"sed -i.bak x f", "-i=(.bak) (x) f"},
		{"find a -name x -type f", "a -name=x -type=(f)"}, {"echo a -n", "(a) -n"},
		{"cp -t d a b", "-t=d a b"}, {"frob -abc --x=1 y", "-a -b -c -x=1 y"},
		{"tar -xzf a.tar -C d", "-x -z -f=a.tar -C=d"}, {"curl -so f u", "-s -o=f u"},
		{"gcc -Wall -O2 -o a a.c", "-Wall -O2 -o=a a.c"}, {"ls -", "-"}, {"ls", ""},
		{"rm -", "-"}, {"sort -k2,2 -o f g", "-k=(2,2) -o=f g"},
		{"git --no-pager log -5", "~-P *log -5"}, {"grep f -e x", "f -e=(x)"},
		{"sed f --expression=x", "f -e=(x)"}, {"sed f -- -e", "(f) -- -e"},
		{"awk x -v f", "(x) -v f"}, {"git diff -U f -U3 -M", "*diff -U f -U=(3) -M"},
		{"git grep f -e x", "*grep f -e=(x)"}, {"rg --files f", "-files f"},
		{"find . -print -delete", ". -print -delete"}, {"date -Is -r f", "-I=(s) -r=f"},
		{"od -w -w8 -Ax f", "-w -w=(8) -A=(x) f"}, {"stat -t f", "-t f"},
		{"jq --arg a b .c f", "-arg=(b) (.c) f"},
		{"jq --rawfile a f .c g", "-rawfile=f (.c) g"}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		expect_args(pairs[i].text, pairs[i].line);
}
END_TEST

static void expect_traits(const char *const *texts, size_t n, unsigned trait, unsigned value)
{
	for (size_t i = 0; i < n; i++) {
		struct shell_case *const c = calloc(1, sizeof(*c));

		ck_assert_ptr_nonnull(c);
		shell_case_read(c, texts[i], SHELL_BASH);
		ck_assert_uint_ge(c->shell.n, 1);
		ck_assert_msg((shell_traits(&c->shell.commands[0]) & trait) == value, "%s: %x",
			texts[i], shell_traits(&c->shell.commands[0]));
		shell_case_free(c);
		free(c);
	}
}

#define TRAITS(trait, value, ...)                                                              \
	expect_traits((const char *const[]){__VA_ARGS__},                                      \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), trait,      \
		value)

START_TEST(runs_others)
{
	TRAITS(SHELL_RUNS_OTHERS, SHELL_RUNS_OTHERS, "python3 -c x", "python3 x.py", "python3",
		"python3.11 x", "python3 -m timeit x", "node -e x", "node x.js", "perl -ne x",
		"ruby x", "awk 'BEGIN{system(\"x\")}'", "awk '{print | \"sh\"}'",
		"awk '{print > \"f\"}'", "awk -f x", "awk '{\"x\" | getline}'",
		"find . -exec a \\;", "find . -delete", "find . -fprint f",
		"find . -okdir a \\;", "find . -fls f", "sed 'w f' x", "sed -n 's/a/b/w f' x",
		"sed 's/a/b/e' x", "sed 1e x", "sed -i s/a/b/ x", "sed -e p -e 'w x' y",
		"sed --in-place=x s/a/b/ y", "sed -f x y", "sed \"$x\" y",
		"sed -n '/a/{p;w x\n}' f", "sed 's[/[]/w x' f", "rg --pre x y",
		"git -c a=b status", "git difftool", "git frob", "git submodule foreach a",
		"git rebase -i", "git rebase --exec a", "git log --output=x",
		"git diff --ext-diff", "git grep -O x", "git clone -u x y", "git clone ext::x",
		"git --exec-path=x status", "git config alias.x y", "tar --to-command=x -xf y",
		"tar -I x -cf y z", "tar --checkpoint-action=exec=x -cf y",
		"tar --to-comm x -xf y", "ssh h x", "vim x", "nano x", "ed x", "emacs x",
		"sort -o a b", "sort --outp=a b", "sort --compress-program=x y", "curl -o f u",
		"tar -T l -cf x", "make --eval=x", "go test -exec x ./a", "less +!x f",
		"less -o l f", "bat --pager=x f", "psql -c x", "man -C f ls",
		"curl --libcurl f u", "yq -i x f", "awk '/\"/{system(\"x\")}'", "sed ':a e x'",
		"cargo --config x build", "bash x.sh", "bash", "source x", ". x", "crontab x",
		"man -P x y", "date -s x", "tree -o f", "fd -x a");
	TRAITS(SHELL_RUNS_OTHERS, 0, "awk '{print $1}'",
		"awk -F: '$3 > 5 && $2 >= 1 {print $1}' f", "sed -n 1p f",
		"sed -e 's/a|b/c/g' -e '/x/d' f", "sed -n '/a/,/b/p' f", "sed '$d;s,a,b,2' f",
		"find . -name x -type f", "rg x y", "git status", "git push", "git commit -m x",
		"git log -5", "tar -xzf a", "sort -k2 a", "curl u", "python3 --version",
		"python3 -m pytest x", "node --version", "bash -c a", "ls", "make", "npm test",
		"rm x", "less f", "go test ./a", "cargo build", "diff a b", "bat f", "yq .a f");
}
END_TEST

START_TEST(reads_only)
{
	TRAITS(SHELL_READS_ONLY, SHELL_READS_ONLY, "ls -la", "cat x", "head -5 x",
		"tail -n 3 x", "grep -rn --include='*.c' x .", "rg -n x", "wc -l x", "pwd",
		"git status", "git diff HEAD~1", "git log --oneline -5 -- x", "git show HEAD:x",
		"git branch --list", "git branch -a", "git branch", "git -C x status",
		"git --no-pager log", "find . -name x", "sort -u x", "uniq x", "diff -u a b",
		"stat x", "sed -n 1p f", "awk '{print $1}' f", "jq .a f", "echo x", "test -f x",
		"git remote -v", "git stash list", "git tag -l", "git tag -l 'v*'",
		"git config --get user.name", "git config --local -l", "git branch --list x",
		"tree -L 2", "printf %s x", "ls --color=auto");
	TRAITS(SHELL_READS_ONLY, 0, "rm x", "./cat x", "/bin/cat x", "git log --output=x",
		"git branch x", "git branch -D x", "git tag x", "git stash",
		"git remote add a b", "git config a b", "git -c a=b log", "git -C x show ..",
		"git fetch", "git diff --no-index a b", "find . -delete", "find . -exec a \\;",
		"sort -o a b", "uniq a b", "sed -i p x", "tee x", "sed 'w x' y",
		"printf -v x y", "date -s x", "hostname x", "rg --pre x y", "ls --frob",
		"grep --frob x", "git worktree add x", "git reflog expire", "xxd a b", "make",
		"env", "$x", "git --git-dir=x log", "tree -o x", "git show --ext-diff",
		"git config --get a", "git config -l", "git config --global -l",
		"git branch -l x", "git log --show-signature", "git log --format=%G?",
		"git log --pretty='%+GG'", "git branch --format='%(signature)'",
		"git for-each-ref --sort=signature:grade", "git log --stdin",
		"git cat-file --batch", "find . -print -delete", "find -L .", "find . -follow",
		"grep -R x .", "grep -5R x .", "rg -L x", "rg --follow x", "tree -l", "ls -L",
		"du -L", "diff -r a b", "md5sum -c x", "strings @x", "file -z x", "hostname -f",
		"ps e", "ps aux e", "ps auxe", "ps -auxe", "ps -axe", "ps -f e",
		"ps axo environ", "ps -o pid,environ", "ps --no-headers e", "ps -ex",
		"ps -pC e", "ls --hum", "sort --rev x", "sort --r x", "grep --inc=x y z",
		"grep x* f", "jq x* f", "echo /etc/*", "echo ../*", "sed ':a w f' x",
		"sed 'b e id' x", "sed ':a}w f' x", "sed 'ba#;w X' x", "sed 'b}!i~2 w X' x",
		"awk '/\"/{system(\"x\")}' f", "awk '/\"/{print > \"f\"}'",
		"awk '# \"\n{print > \"f\"}'", "awk 'BEGIN{x=1system(\"id\")}'",
		"awk 'BEGIN{print \"x\" \\\n> 5}'", "awk '{a=b/\"c\"/d}' f", "command -p x");
	TRAITS(SHELL_READS_ONLY, SHELL_READS_ONLY, "ps", "ps aux", "ps -ef", "ps -eo pid,comm",
		"ps -o pid= -p 1", "ps aux --sort=-rss", "ps -aux", "ps axo pid,comm",
		"ps -fu root", "sed ':a;N;$!ba;s/\\n/ /g' f", "sed '/x/{s/a/b/;b}' f",
		"sed -n '/a/b e; p; :e' f", "awk '/a|b/{print $1 \" -> \" $2}' f",
		"awk '$1 ~ /^\"x/ {print}' f", "awk '{print $1/$2}' f",
		"awk -F/ '{n=split($0, a, \"|\"); print n}' f",
		"awk '# a\n/x/{n++} END{print n}' f", "command -v ls", "date -Iseconds",
		"echo *", "find . -print0", "find . -path ./a -prune -o -name x -print",
		"od -Ax -tx1 f", "head --lines=3 f", "git log --format='%h %s'", "git diff -U3",
		"diff -u a b", "git log -p -M --stat");
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("shell_args");
	TCase *const t = tcase_create("all");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, args);
	tcase_add_test(t, runs_others);
	tcase_add_test(t, reads_only);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
