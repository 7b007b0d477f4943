/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/trie.h"
#include "libapproval/limits.h"
#include "tests/unit/rule_fixture.h"

static const struct rule_origin user = {.scope = RULE_USER, .uid = 1000};

static struct rule_origin file_of(const char *name, enum rule_scope scope)
{
	return (struct rule_origin){.scope = scope,
		.uid = RULE_ANY_UID,
		.file = bytes_of(name),
		.by = bytes_of(name)};
}

static int load(struct ruleset *set, const struct rule_origin *origin, const char *text)
{
	struct rule_problem problems[2];
	size_t n;

	return ruleset_load(set, origin, bytes_of(text), problems, 2, &n);
}

static void add(
	struct ruleset *set, const struct rule_origin *origin, uint64_t id, const char *line)
{
	struct rule_problem problem;

	ck_assert_int_eq(ruleset_add(set, origin, id, bytes_of(line), &problem), 0);
}

START_TEST(loading_is_all_or_nothing)
{
	struct ruleset *set = ruleset_new();
	const struct rule_origin a = file_of("a.rules", RULE_ADMIN);
	struct rule_problem problems[2];
	size_t n;

	ck_assert_int_eq(load(set, &a, "# c\n\nallow Bash(ls)\r\ndeny Bash(rm:*) # why"), 0);
	ck_assert_uint_eq(ruleset_count(set), 2);
	ck_assert_int_eq(ruleset_load(set, &a,
				 bytes_of("allow Bash(ls)\nalow x\n\nallow Bash(\ndeny @x"),
				 problems, 2, &n),
		1);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(problems[0].line, 2);
	ck_assert_uint_eq(problems[0].column, 1);
	ck_assert_int_eq(problems[0].error, RULE_ERROR_VERDICT);
	ck_assert_uint_eq(problems[1].line, 4);
	ck_assert_int_eq(problems[1].error, RULE_ERROR_UNCLOSED);
	/* the old ones stay */
	ck_assert_uint_eq(ruleset_count(set), 2);
	ck_assert_uint_eq(ruleset_next(set, NULL)->line, 3);
	ck_assert_int_eq(load(set, &a, "ask *"), 0);
	ck_assert_uint_eq(ruleset_count(set), 1);
	ck_assert_int_eq(load(set, &a, ""), 0);
	ck_assert_uint_eq(ruleset_count(set), 0);
	ruleset_free(set);
}
END_TEST

START_TEST(files_are_apart)
{
	struct ruleset *set = ruleset_new();
	const struct rule_origin a = file_of("a", RULE_ADMIN), b = file_of("b", RULE_ADMIN);
	struct rule_origin of_project = file_of("a", RULE_PROJECT);

	ck_assert_int_eq(load(set, &a, "ask @read"), 0);
	ck_assert_int_eq(load(set, &b, "ask @edit"), 0);
	of_project.project = bytes_of("/w/proj");
	ck_assert_int_eq(load(set, &of_project, "ask @fetch"), 0);
	add(set, &user, 1, "ask @move");
	ck_assert_uint_eq(ruleset_count(set), 4);
	ruleset_unload(set, &a);
	ck_assert_uint_eq(ruleset_count(set), 3);
	of_project.project = bytes_of("/w/other");
	ruleset_unload(set, &of_project);
	ck_assert_uint_eq(ruleset_count(set), 3);
	ruleset_free(set);
}
END_TEST

START_TEST(counts_survive_a_reload)
{
	struct ruleset *set = ruleset_new();
	const struct rule_origin a = file_of("a", RULE_ADMIN);
	const struct rule_entry *e;

	ck_assert_int_eq(load(set, &a, "allow Bash(ls)\nallow Bash(pwd)\ndeny Bash(ls)"), 0);
	e = ruleset_next(set, NULL);
	ruleset_hit(set, e, 77);
	ruleset_hit(set, e, 78);
	ruleset_hit(set, ruleset_next(set, ruleset_next(set, e)), 5);
	ck_assert_int_eq(load(set, &a, "deny Bash(ls)\nallow Bash(id)\nallow Bash(ls)"), 0);
	e = ruleset_next(set, NULL);
	ck_assert_uint_eq(e->matches, 1);
	e = ruleset_next(set, e);
	ck_assert_uint_eq(e->matches, 0);
	e = ruleset_next(set, e);
	ck_assert_uint_eq(e->matches, 2);
	ck_assert_int_eq(e->matched_at, 78);
	ck_assert_ptr_null(ruleset_next(set, e));
	ruleset_free(set);
}
END_TEST

START_TEST(standing_rules)
{
	struct ruleset *set = ruleset_new();
	struct rule_problem problem;
	struct rule_origin origin = user;
	const struct rule_entry *e;

	origin.by = bytes_of("alice");
	origin.made = 5;
	add(set, &origin, 7, "allow Bash(a\nb)");
	ck_assert_int_eq(ruleset_add(set, &user, 7, bytes_of("ask *"), &problem), -EEXIST);
	ck_assert_int_eq(ruleset_add(set, &user, 0, bytes_of("ask *"), &problem), -EEXIST);
	ck_assert_int_eq(ruleset_add(set, &user, 8, bytes_of("allow Bash(x"), &problem), 1);
	ck_assert_int_eq(problem.error, RULE_ERROR_UNCLOSED);
	ck_assert_uint_eq(problem.column, 11);
	ck_assert_int_eq(ruleset_add(set, &user, 8, bytes_of(" # x"), &problem), 1);
	ck_assert_ptr_null(ruleset_find(set, 8));
	e = ruleset_find(set, 7);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(str_text(e->by), "alice");
	ck_assert_int_eq(e->made, 5);
	ck_assert_ptr_null(e->file);
	ck_assert(!ruleset_remove(set, 8));
	ck_assert(ruleset_remove(set, 7));
	ck_assert(!ruleset_remove(set, 7));
	ck_assert_uint_eq(ruleset_count(set), 0);
	ruleset_free(set);
}
END_TEST

START_TEST(scopes)
{
	struct rule_fixture f;
	struct ruleset *set = ruleset_new();
	struct rule_origin o = {.scope = RULE_SESSION, .uid = 1000, .owner = {{1}}};

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("ls"));
	add(set, &o, 1, "allow Bash(ls)");
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	f.call.session = o.owner;
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_ALLOW);
	f.call.uid = 1001;
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	f.call.uid = 1000;
	o.scope = RULE_TURN;
	add(set, &o, 2, "deny Bash(ls)");
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_ALLOW);
	f.call.turn = o.owner;
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_DENY);
	ck_assert_uint_eq(ruleset_drop_owner(set, &o.owner), 2);
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);

	o = (struct rule_origin){
		.scope = RULE_PROJECT, .uid = RULE_ANY_UID, .project = bytes_of("/w/proj")};
	add(set, &o, 3, "allow Bash(ls)");
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_ALLOW);
	f.call.workspace = bytes_of("/w/other");
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	f.call.workspace = (struct bytes){NULL, 0};
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(first_by_scope_then_number)
{
	struct rule_fixture f;
	struct ruleset *set = ruleset_new();
	struct rule_match match;
	struct rule_origin o = user;
	const struct rule_origin admin = file_of("a", RULE_ADMIN);

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("git push origin"));
	o.scope = RULE_SESSION;
	add(set, &o, 1, "deny Bash(git push:*)");
	add(set, &user, 2, "deny Bash(git:*)");
	add(set, &user, 3, "deny Bash");
	ck_assert_int_eq(ruleset_match(set, VERDICT_DENY, &f.call, &match), 1);
	ck_assert_uint_eq(match.rule->id, 2);
	ck_assert_int_eq(load(set, &admin, "deny Bash(git * origin)"), 0);
	ck_assert_int_eq(ruleset_match(set, VERDICT_DENY, &f.call, &match), 1);
	ck_assert_str_eq(str_text(match.rule->file), "a");
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(all_that_allowed)
{
	struct rule_fixture f;
	struct ruleset *set = rule_set_of("allow Bash(ls:*)\nallow Bash(wc)\nallow Bash(id)");
	struct rule_match match;

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("ls | wc; ls -l"));
	ck_assert_int_eq(ruleset_match(set, VERDICT_ALLOW, &f.call, &match), 1);
	ck_assert_uint_eq(match.rule->line, 1);
	ck_assert_uint_eq(match.n_others, 1);
	ck_assert_uint_eq(match.others[0]->line, 2);
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(expiry)
{
	struct rule_fixture f;
	struct ruleset *set = ruleset_new();
	struct rule_origin o = user;

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("ls"));
	o.expires = 2000;
	add(set, &o, 1, "allow Bash(ls)");
	f.call.now = 1999;
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_ALLOW);
	ck_assert_ptr_null(ruleset_expired(set, 1999));
	f.call.now = 2000;
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	ck_assert_uint_eq(ruleset_expired(set, 2000)->id, 1);
	ck_assert(ruleset_remove(set, 1));
	ck_assert_ptr_null(ruleset_expired(set, 3000));
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(not_trusted)
{
	struct rule_fixture f;
	struct ruleset *set = ruleset_new();
	struct rule_origin o = file_of("p", RULE_PROJECT);

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of("ls"));
	o.project = bytes_of("/w/proj");
	o.tighten_only = true;
	ck_assert_int_eq(load(set, &o, "allow Bash(ls)\ndeny Bash(rm:*)"), 0);
	ck_assert_uint_eq(ruleset_count(set), 2);
	ck_assert(ruleset_next(set, NULL)->inert);
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_NONE);
	rule_fixture_command(&f, "Bash", bytes_of("rm x"));
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_DENY);
	o.tighten_only = false;
	ck_assert_int_eq(load(set, &o, "allow Bash(ls)\ndeny Bash(rm:*)"), 0);
	rule_fixture_command(&f, "Bash", bytes_of("ls"));
	ck_assert_int_eq(rule_verdict(set, &f.call), VERDICT_ALLOW);
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(limits)
{
	struct ruleset *set = ruleset_new();
	const struct rule_origin a = file_of("a", RULE_ADMIN);
	char *text = malloc(LIMIT_RULE_FILE + 1);
	struct rule_problem problem;
	size_t n = 0;

	memset(text, '#', LIMIT_RULE_FILE + 1);
	ck_assert_int_eq(ruleset_load(set, &a, (struct bytes){text, LIMIT_RULE_FILE + 1},
				 &problem, 1, &n),
		-EFBIG);
	for (unsigned i = 0; i < LIMIT_RULES + 1; i++)
		n += (size_t)sprintf(text + n, "ask t%u\n", i);
	ck_assert_int_eq(
		ruleset_load(set, &a, (struct bytes){text, n}, &problem, 1, &n), -ENOSPC);
	ck_assert_uint_eq(ruleset_count(set), 0);
	n = (size_t)(strstr(text, "ask t65536\n") - text);
	ck_assert_int_eq(ruleset_load(set, &a, (struct bytes){text, n}, &problem, 1, &n), 0);
	ck_assert_uint_eq(ruleset_count(set), LIMIT_RULES);
	ck_assert_int_eq(ruleset_add(set, &user, 1, bytes_of("ask *"), &problem), -ENOSPC);
	/* the same again: the old ones make room */
	n = (size_t)(strstr(text, "ask t65536\n") - text);
	ck_assert_int_eq(ruleset_load(set, &a, (struct bytes){text, n}, &problem, 1, &n), 0);
	free(text);
	ruleset_free(set);
}
END_TEST

/* Rules come and go, and what is found is what a walk over all of them finds. */
START_TEST(index_as_a_walk)
{
	static const char *const lines[] = {"allow Bash(ls)", "allow Bash(ls:*)",
		"allow Bash(* x)", "deny Bash(rm:*)", "deny Bash(rm -r x)", "deny Bash(* -f)",
		"ask Bash(rm x)", "allow Bash(ls | wc)", "deny Bash(ls | *)",
		"allow Read(//a/**)", "deny Read(//a/b)", "allow Read(*.c)", "allow mcp__a__*",
		"ask mcp__a__b", "deny @read", "allow *", "allow WebFetch(domain:a.b)",
		"deny WebFetch(domain:b)", "allow Bash(cat ~/x)"};
	static const char *const commands[] = {
		"ls", "ls x", "rm x -r", "ls | wc", "cat ~/x", "x -f"};
	enum { N_LINES = sizeof(lines) / sizeof(*lines), N_IDS = 40 };
	struct ruleset *set = ruleset_new();
	uint8_t present[N_IDS + 1] = {0};
	struct rule_fixture f;
	uint64_t seed = 11;

	rule_fixture_init(&f);
	for (int round = 0; round < 3000; round++) {
		const uint64_t id = 1 + (seed >> 40) % N_IDS;
		struct ruleset *fresh;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (present[id]) {
			ck_assert(ruleset_remove(set, id));
			present[id] = 0;
		} else {
			present[id] = (uint8_t)(1 + (seed >> 33) % N_LINES);
			add(set, &user, id, lines[present[id] - 1]);
		}
		if (round % 10)
			continue;
		fresh = ruleset_new();
		for (uint64_t i = N_IDS; i > 0; i--)
			if (present[i])
				add(fresh, &user, i, lines[present[i] - 1]);
		for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
			rule_fixture_command(&f, "Bash", bytes_of(commands[i]));
			ck_assert_int_eq(
				rule_verdict(set, &f.call), rule_verdict(fresh, &f.call));
		}
		rule_fixture_path(&f, "Read", "/a/b.c");
		ck_assert_int_eq(rule_verdict(set, &f.call), rule_verdict(fresh, &f.call));
		rule_fixture_url(&f, "WebFetch", "https://x.a.b/");
		ck_assert_int_eq(rule_verdict(set, &f.call), rule_verdict(fresh, &f.call));
		ruleset_free(fresh);
	}
	for (uint64_t i = 1; i <= N_IDS; i++)
		if (present[i])
			ck_assert(ruleset_remove(set, i));
	ck_assert_uint_eq(ruleset_count(set), 0);
	rule_fixture_free(&f);
	ruleset_free(set);
}
END_TEST

START_TEST(tree_of_words)
{
	struct trie t = {0};
	struct trie_link links[1000] = {{0}};
	struct trie_node *root = trie_make(&t, NULL, bytes_of("root")), *n;
	char word[16];

	root->children++;
	for (unsigned i = 0; i < 1000; i++) {
		sprintf(word, "w%u", i);
		n = trie_make(&t, trie_make(&t, root, bytes_of(word)), bytes_of("x"));
		ck_assert_ptr_nonnull(n);
		trie_link(n, &links[i]);
	}
	ck_assert_uint_eq(t.n, 2001);
	for (unsigned i = 0; i < 1000; i++) {
		sprintf(word, "w%u", i);
		n = trie_step(&t, trie_step(&t, root, bytes_of(word)), bytes_of("x"));
		ck_assert_ptr_eq(n->links, &links[i]);
		ck_assert_ptr_null(trie_step(&t, n, bytes_of("x")));
	}
	ck_assert_ptr_null(trie_step(&t, root, bytes_of("w1000")));
	for (unsigned i = 0; i < 1000; i++)
		trie_unlink(&t, &links[i]);
	trie_unlink(&t, &links[0]); /* in no list any more */
	ck_assert_uint_eq(t.n, 1);
	trie_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_set");
	TCase *t = tcase_create("sets");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, loading_is_all_or_nothing);
	tcase_add_test(t, files_are_apart);
	tcase_add_test(t, counts_survive_a_reload);
	tcase_add_test(t, standing_rules);
	tcase_add_test(t, scopes);
	tcase_add_test(t, first_by_scope_then_number);
	tcase_add_test(t, all_that_allowed);
	tcase_add_test(t, expiry);
	tcase_add_test(t, not_trusted);
	tcase_add_test(t, limits);
	tcase_add_test(t, index_as_a_walk);
	tcase_add_test(t, tree_of_words);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
