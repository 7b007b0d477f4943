/* SPDX-License-Identifier: MIT */
/* Every allocation fails once: nothing leaks, and what was there stays as it was. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/lint.h"
#include "broker/core/rules/suggest.h"
#include "tests/unit/fail_alloc.h"
#include "tests/unit/rule_fixture.h"

/* The n-th allocation from here on fails; for n from 1 until none did. */
static void begin(unsigned n)
{
	fail_alloc(n);
}

static bool end(void)
{
	fail_alloc(0);
	return fail_alloc_did();
}

static const char lines[] =
	"allow Bash(ls:*)\nallow Bash(a && b)\ndeny Bash(rm -rf / x*)\n"
	"deny Bash(cat ~/x)\nask Read(/src/**)\nallow WebFetch(domain:a.b)\n"
	"deny Bash(x | *)\nask mcp__a__*\nallow Frob\nallow Bash(git sta*)\n";

static const struct rule_origin origin = {.scope = RULE_ADMIN,
	.uid = RULE_ANY_UID,
	.file = {"f", 1},
	.by = {"b", 1},
	.project = {"p", 1}};

START_TEST(sets)
{
	for (unsigned n = 1;; n++) {
		struct ruleset *set;
		bool failed;

		begin(n);
		set = ruleset_new();
		failed = end();
		ck_assert(failed == !set);
		ruleset_free(set);
		if (!failed)
			break;
	}
}
END_TEST

START_TEST(loads)
{
	struct ruleset *set = rule_set_of("ask Bash(old)\nallow Bash(ls:*)");
	struct rule_problem problem;
	size_t problems;
	unsigned n;

	for (n = 1;; n++) {
		bool failed;
		int how;

		begin(n);
		how = ruleset_load(set, &origin, bytes_of(lines), &problem, 1, &problems);
		failed = end();
		if (!failed) {
			ck_assert_int_eq(how, 0);
			break;
		}
		/* a tree that can't grow is only slower */
		if (how == 0)
			ruleset_unload(set, &origin);
		else
			ck_assert_int_eq(how, -ENOMEM);
		ck_assert_uint_eq(ruleset_count(set), 2);
	}
	ck_assert_uint_gt(n, 50);
	ck_assert_uint_eq(ruleset_count(set), 12);
	ruleset_free(set);
}
END_TEST

START_TEST(standing)
{
	const char *line = lines;

	for (uint64_t id = 1; *line; id++) {
		const char *const eol = strchr(line, '\n');
		struct ruleset *set = rule_set_of("ask Bash(old)");

		for (unsigned n = 1;; n++) {
			struct rule_problem problem;
			bool failed;
			int how;

			begin(n);
			how = ruleset_add(set, &origin, id,
				(struct bytes){line, (size_t)(eol - line)}, &problem);
			failed = end();
			if (how == 0)
				ck_assert(ruleset_remove(set, id));
			else
				ck_assert_int_eq(how, -ENOMEM);
			ck_assert_uint_eq(ruleset_count(set), 1);
			if (!failed)
				break;
		}
		ruleset_free(set);
		line = eol + 1;
	}
}
END_TEST

START_TEST(questions)
{
	static const char command[] = "ls -l; cat /home/u/x";
	struct rule_fixture f;

	rule_fixture_init(&f);
	rule_fixture_command(&f, "Bash", bytes_of(command));
	for (unsigned n = 1;; n++) {
		struct ruleset *set = rule_set_of(lines);
		struct lint_warning w[8];
		struct suggestions list;
		struct rule_match match;
		size_t count;
		bool failed;
		int how;

		begin(n);
		how = ruleset_match(set, VERDICT_DENY, &f.call, &match);
		failed = end();
		ck_assert_int_eq(how, failed ? -ENOMEM : 1);
		begin(n);
		how = ruleset_lint(set, w, 8, &count);
		ck_assert_int_eq(how, end() ? -ENOMEM : 0);
		begin(n);
		how = suggest(&f.call, &list);
		failed |= fail_alloc_did();
		ck_assert_int_eq(how, end() ? -ENOMEM : 0);
		suggestions_free(&list);
		ruleset_free(set);
		if (!failed)
			break;
	}
	rule_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_memory");
	TCase *t = tcase_create("memory");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, sets);
	tcase_add_test(t, loads);
	tcase_add_test(t, standing);
	tcase_add_test(t, questions);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
