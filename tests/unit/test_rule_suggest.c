/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/suggest.h"
#include "tests/unit/rule_fixture.h"

#define N(a) (sizeof(a) / sizeof(*(a)))
#define MAX  3

struct suggest_case {
	const char *tool, *about;
	const char *expect[MAX];
};

static void check(const struct suggest_case *c, const struct suggestions *list)
{
	size_t n = 0;

	while (n < MAX && c->expect[n])
		n++;
	for (size_t i = 0; i < list->n && i < n; i++)
		ck_assert_msg(strcmp(list->items[i].text, c->expect[i]) == 0, "%s: %s",
			c->about, list->items[i].text);
	ck_assert_msg(list->n == n, "%s: %zu, %s", c->about, list->n,
		list->n > n ? list->items[n].text : "");
}

START_TEST(commands)
{
	static const struct suggest_case cases[] = {
		{"Bash", "ls -l", {"allow Bash(ls -l)", "allow Bash(ls:*)"}},
		{"run_shell_command", "ls", {"allow Bash(ls)", "allow Bash(ls:*)"}},
		{"Bash", "git status -s",
			{"allow Bash(git status -s)", "allow Bash(git status:*)"}},
		{"Bash", "git -C x status", {"allow Bash(git -C x status)"}},
		{"Bash", "npm run build -- -x",
			{"allow Bash(npm run build -- -x)", "allow Bash(npm run build:*)"}},
		{"Bash", "cd src && make -j2",
			{"allow Bash(cd src && make -j2)", "allow Bash(make:*)"}},
		{"Bash", "timeout 5 make",
			{"allow Bash(timeout 5 make)", "allow Bash(make:*)"}},
		{"Bash", "ls | wc", {"allow Bash(ls | wc)"}},
		{"Bash", "ls *.c", {"allow Bash(ls \\*.c)", "allow Bash(ls:*)"}},
		{"Bash", "ls > f", {"allow Bash(ls > f)"}},
		{"Bash", "A=1 ls", {"allow Bash(A=1 ls)"}},
		{"Bash", "ls $X", {"allow Bash(ls $X)"}},
		{"Bash", "(ls) # x", {"allow Bash((ls) \\{23} x)", "allow Bash(ls:*)"}},
		{"Bash", "for i in a\ndo ls\ndone",
			{"allow Bash(for i in a\\{0A}do ls\\{0A}done)"}},
		{"Bash", " ls ", {"allow Bash(\\{20}ls\\{20})", "allow Bash(ls:*)"}},
		/* nothing broader */
		{"Bash", "python3 x.py", {"allow Bash(python3 x.py)"}},
		{"Bash", "rm -r x", {"allow Bash(rm -r x)"}},
		{"Bash", "/bin/rm x", {"allow Bash(/bin/rm x)"}},
		{"Bash", "sudo ls", {"allow Bash(sudo ls)"}},
		{"Bash", "ls | xargs grep x", {"allow Bash(ls | xargs grep x)"}},
		{"Bash", "find . -delete", {"allow Bash(find . -delete)"}},
		{"Bash", "bash", {"allow Bash(bash)"}},
		{"Bash", "'a b' c", {"allow Bash('a b' c)"}},
		/* nothing */
		{"Bash", "echo 'x", {NULL}},
		{"Bash", "", {NULL}},
	};
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(cases); i++) {
		struct suggestions list;

		rule_fixture_command(&f, cases[i].tool, bytes_of(cases[i].about));
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		check(&cases[i], &list);
		suggestions_free(&list);
	}
	rule_fixture_free(&f);
}
END_TEST

START_TEST(paths)
{
	static const struct suggest_case cases[] = {
		{"Edit", "src/a.c", {"allow Edit(//w/proj/src/a.c)", "allow Edit(/src/**)"}},
		{"write_file", "/w/proj/a.c", {"allow Edit(//w/proj/a.c)", "allow Edit(/**)"}},
		{"Read", "~/n/a", {"allow Read(//home/u/n/a)", "allow Read(~/n/**)"}},
		{"Read", "/home/u/a", {"allow Read(//home/u/a)"}},
		{"Read", "/home/x", {"allow Read(//home/x)"}},
		{"Read", "/etc/hosts", {"allow Read(//etc/hosts)", "allow Read(//etc/**)"}},
		{"Read", "/x", {"allow Read(//x)"}},
		{"Read", "/t/a*[b]\\?",
			{"allow Read(//t/a\\*\\[b\\]\\\\\\?)", "allow Read(//t/**)"}},
		{"Read", "/t/a\n#(b) ",
			{"allow Read(//t/a\\{0A}\\{23}(b)\\{20})", "allow Read(//t/**)"}},
		{"Grep", "/t/x", {"allow @search(//t/x)", "allow @search(//t/**)"}},
		{"delete", "/t/x", {"allow @delete(//t/x)", "allow @delete(//t/**)"}},
	};
	struct rule_fixture f;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(cases); i++) {
		struct suggestions list;

		rule_fixture_path(&f, cases[i].tool, cases[i].about);
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		check(&cases[i], &list);
		for (size_t k = 0; k < list.n; k++) {
			struct ruleset *set = rule_set_of(list.items[k].text);

			ck_assert_msg(rule_verdict(set, &f.call) == VERDICT_ALLOW, "%s: %s",
				cases[i].about, list.items[k].text);
			ruleset_free(set);
		}
		suggestions_free(&list);
	}
	/* a link: both names, and nothing broader */
	rule_fixture_path(&f, "Read", "~/n/link");
	f.path.resolved = bytes_of("/data/x");
	{
		static const struct suggest_case link = {"Read", "link",
			{"allow Read(//home/u/n/link)", "allow Read(//data/x)"}};
		struct suggestions list;

		ck_assert_int_eq(suggest(&f.call, &list), 0);
		check(&link, &list);
		suggestions_free(&list);
		f.path.resolved = (struct bytes){NULL, 0};
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		ck_assert_uint_eq(list.n, 0);
	}
	rule_fixture_free(&f);
}
END_TEST

START_TEST(others)
{
	static const struct suggest_case urls[] = {
		{"WebFetch", "https://a.Example.org/x",
			{"allow WebFetch(domain:a.example.org)"}},
		{"WebFetch", "https:a.example.org", {NULL}},
		{"WebFetch", "http://127.0.0.1:80/", {"allow WebFetch(domain:127.0.0.1)"}},
	};
	static const struct suggest_case tools[] = {
		{"mcp__a__b", "", {"allow mcp__a__b"}},
		{"mcp__a", "", {NULL}}, /* would be the whole server */
		{"mcp__a__*", "", {NULL}},
		{"*", "", {NULL}},
		{"@read", "", {NULL}},
		{"a b", "", {NULL}},
		{"Frob", "", {"allow Frob"}},
		{"Agent", "", {"allow Agent"}},
		{"WebSearch", "", {"allow WebSearch"}},
	};
	struct rule_fixture f;
	struct suggestions list;

	rule_fixture_init(&f);
	for (size_t i = 0; i < N(urls); i++) {
		rule_fixture_url(&f, urls[i].tool, urls[i].about);
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		check(&urls[i], &list);
		suggestions_free(&list);
	}
	for (size_t i = 0; i < N(tools); i++) {
		rule_fixture_path(&f, tools[i].tool, "x");
		f.call.n_paths = 0;
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		check(&tools[i], &list);
		suggestions_free(&list);
	}
	/* what bars every allow */
	rule_fixture_command(&f, "Bash", bytes_of("ls"));
	f.call.unread = true;
	ck_assert_int_eq(suggest(&f.call, &list), 0);
	ck_assert_uint_eq(list.n, 0);
	rule_fixture_path(&f, "Read", "x");
	f.call.claimed = KIND_EXECUTE;
	ck_assert_int_eq(suggest(&f.call, &list), 0);
	ck_assert_uint_eq(list.n, 0);
	rule_fixture_free(&f);
}
END_TEST

/* ---- "Always" is this text and no other ---- */

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static size_t random_text(char *text, size_t size, uint64_t *seed)
{
	static const char *const pieces[] = {"a", "ls", "b", " ", " ", " ", "'", "\"", "\\",
		"*", "?", "[", "]", "#", "$", "$X", "$(", ")", "(", "`", ";", "&&", "|", ">",
		"<", "\n", "\t", "{", "}", ",", "~", "!", "=", ":", ":*", "\\*", "\\{",
		"\\{0A}", ") #", "-r", "--", "\xc3\xa4", "\xff", "\x01", "\x7f", "cat <<E\n",
		"\nE\n", "cd ", "/", "..", "rm"};
	size_t n = 0, count = 1 + next(seed) % 10;

	while (count--) {
		const char *const piece = pieces[next(seed) % N(pieces)];
		const size_t len = strlen(piece);

		if (n + len > size)
			break;
		memcpy(text + n, piece, len);
		n += len;
	}
	return n;
}

/* The words of the one command of a text that is not more than that; false: it is. */
static bool same_words(const struct shell_command *a, const struct shell_command *b)
{
	if (a->nwords != b->nwords)
		return false;
	for (uint32_t i = 0; i < a->nwords; i++)
		if (!bytes_equal(a->words[i].text, b->words[i].text) ||
			(a->words[i].flags ^ b->words[i].flags) & SHELL_GLOB ||
			(a->words[i].flags & SHELL_GLOB &&
				!bytes_equal(a->words[i].pattern, b->words[i].pattern)))
			return false;
	return true;
}

/*
 * The rule made for a text allows it, as a text. It allows another only where that is
 * made of the same command, word for word.
 */
START_TEST(always_is_exact)
{
	struct rule_fixture f, g;
	uint64_t seed = 31;
	unsigned made = 0, also = 0;

	rule_fixture_init(&f);
	rule_fixture_init(&g);
	for (int round = 0; round < 100000; round++) {
		char text[96], other[128];
		const size_t n = random_text(text, sizeof(text), &seed);
		size_t m = n;
		struct suggestions list;
		struct ruleset *set;
		struct rule_match match;
		const struct rule *rule;

		rule_fixture_command(&f, "Bash", (struct bytes){text, n});
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		if (f.shell.flags & SHELL_UNREAD || n == 0) {
			ck_assert_uint_eq(list.n, 0);
			continue;
		}
		ck_assert_msg(list.n > 0, "%.*s", (int)n, text);
		ck_assert_int_eq(list.items[0].kind, SUGGEST_EXACT);
		ck_assert(!strpbrk(list.items[0].text, "\n\r"));
		set = rule_set_of(list.items[0].text);
		ck_assert_msg(rule_verdict(set, &f.call) == VERDICT_ALLOW, "%.*s: %s", (int)n,
			text, list.items[0].text);
		rule = ruleset_next(set, NULL)->rule;
		ck_assert(rule->spec == RULE_SPEC_COMMAND && !rule->command.wild &&
			  bytes_equal(rule->command.exact, f.call.command));
		made++;
		/* one byte more, less, or another; or another text altogether */
		memcpy(other, text, n);
		switch (next(&seed) % 4) {
		case 0: other[next(&seed) % n] ^= (char)(1 << next(&seed) % 7); break;
		case 1: memmove(other, other + 1, --m); break;
		case 2: m += random_text(other + m, sizeof(other) - m, &seed); break;
		default: m = random_text(other, sizeof(other), &seed); break;
		}
		rule_fixture_command(&g, "Bash", (struct bytes){other, m});
		if (ruleset_match(set, VERDICT_ALLOW, &g.call, &match) == 1 &&
			!bytes_equal(g.call.command, f.call.command)) {
			ck_assert(rule->command.simple);
			ck_assert(!(g.shell.flags &
				    (SHELL_UNREAD | SHELL_HAS_WRITE | SHELL_HAS_DYNAMIC)));
			for (uint32_t i = 0; i < g.shell.n; i++) {
				const struct shell_command *const c = &g.shell.commands[i];

				if (c->nwords == 0 || c->to ||
					c->flags & (SHELL_KEYWORD | SHELL_WRAPS))
					continue;
				ck_assert_msg(same_words(c, &f.shell.commands[0]), "%s: %.*s",
					list.items[0].text, (int)m, other);
			}
			also++;
		}
		ruleset_free(set);
		suggestions_free(&list);
	}
	ck_assert_uint_gt(made, 10000);
	ck_assert_uint_gt(also, 100);
	rule_fixture_free(&f);
	rule_fixture_free(&g);
}
END_TEST

/* A path, whatever its name, and no other that is not below it. */
START_TEST(always_is_this_path)
{
	struct rule_fixture f;
	uint64_t seed = 32;

	rule_fixture_init(&f);
	for (int round = 0; round < 50000; round++) {
		char path[64] = "/t/", other[64];
		size_t n = 3 + random_text(path + 3, sizeof(path) - 4, &seed);
		struct suggestions list;
		struct ruleset *set;

		path[n] = 0;
		rule_fixture_path(&f, "Read", path);
		ck_assert_int_eq(suggest(&f.call, &list), 0);
		if (f.path.resolved.len == 1) { /* the root is never offered */
			ck_assert_uint_eq(list.n, 0);
			continue;
		}
		ck_assert_uint_gt(list.n, 0);
		ck_assert(!strpbrk(list.items[0].text, "\n\r"));
		set = rule_set_of(list.items[0].text);
		ck_assert_msg(rule_verdict(set, &f.call) == VERDICT_ALLOW, "%s: %s", path,
			list.items[0].text);
		strcpy(other, path);
		other[3 + next(&seed) % (n - 3 ? n - 3 : 1)] ^= (char)(1 << next(&seed) % 7);
		if (strlen(other) == n && n > 3) {
			struct bytes resolved;
			char first[256];
			size_t len = f.path.resolved.len;

			memcpy(first, f.path.resolved.data, len);
			rule_fixture_path(&f, "Read", other);
			resolved = f.path.resolved;
			if (rule_verdict(set, &f.call) == VERDICT_ALLOW)
				ck_assert_msg(
					resolved.len >= len &&
						memcmp(resolved.data, first, len) == 0 &&
						(resolved.len == len ||
							((const char *)resolved.data)[len] ==
								'/'),
					"%s: %s", other, list.items[0].text);
		}
		ruleset_free(set);
		suggestions_free(&list);
	}
	rule_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_suggest");
	TCase *t = tcase_create("suggestions");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, commands);
	tcase_add_test(t, paths);
	tcase_add_test(t, others);
	tcase_add_test(t, always_is_exact);
	tcase_add_test(t, always_is_this_path);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
