/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/lint.h"
#include "tests/unit/rule_fixture.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

struct expected {
	enum lint_code code;
	uint32_t line, other;
};

#define MAX 4

START_TEST(warnings)
{
	static const struct {
		const char *rules;
		size_t n;
		struct expected expect[MAX];
	} cases[] = {
		{"allow Bash(git diff:*)\nallow Bash(ls)\ndeny Bash(git push:*)", 0, {{0}}},
		{"allow Bash(git * main)", 2,
			{{LINT_RUNS_OTHERS, 1, 0}, {LINT_INNER_STAR, 1, 0}}},
		{"allow Bash(ls * main)", 1, {{LINT_INNER_STAR, 1, 0}}},
		{"deny Bash(git * main)", 0, {{0}}},
		{"allow Bash(ls * main:*)", 1, {{LINT_INNER_STAR, 1, 0}}},
		{"allow Bash(git sta*)", 1, {{LINT_RUNS_OTHERS, 1, 0}}}, /* by an alias */
		{"allow Bash(* --version)", 1, {{LINT_ANY_COMMAND, 1, 0}}},
		{"allow Bash(python3:*)", 1, {{LINT_RUNS_OTHERS, 1, 0}}},
		{"allow Bash(python3 x.py)", 0, {{0}}},
		{"allow Bash(find:*)\nallow Bash(sudo:*)\nallow Bash(xargs grep:*)", 3,
			{{LINT_RUNS_OTHERS, 1, 0}, {LINT_RUNS_OTHERS, 2, 0},
				{LINT_RUNS_OTHERS, 3, 0}}},
		{"deny Bash(python3:*)", 0, {{0}}},
		{"allow Bash(ls:*)\nallow Bash(cat:*)\nallow Bash(make:*)", 0, {{0}}},
		{"allow Bash(cd x && make:*)", 1, {{LINT_NEVER, 1, 0}}},
		{"allow Bash(cd x && make)", 0, {{0}}},
		{"deny Bash(curl * | sh)", 1, {{LINT_TEXT_ONLY, 1, 0}}},
		{"deny Read(/etc/passwd)\ndeny Read(/etcetera)\ndeny Read(//etc/x)", 1,
			{{LINT_PROJECT_ROOT, 1, 0}}},
		{"deny Bash(echo \"x) # y\")", 1, {{LINT_COMMENT_INSIDE, 1, 0}}},
		{"deny Bsh\ndeny BASH\ndeny mcp__a__b\ndeny web_fetch", 2,
			{{LINT_UNKNOWN_TOOL, 1, 0}, {LINT_UNKNOWN_TOOL, 2, 0}}},
		/* shadows */
		{"allow Bash(ls:*)\nallow Bash(ls -l)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Bash(ls -l)\nallow Bash(ls:*)", 1, {{LINT_SHADOWED, 1, 2}}},
		{"allow Bash(ls)\nallow Bash(ls)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Bash(ls:*)\nallow Bash(lsof)", 0, {{0}}},
		{"allow Bash(ls:*)\nallow Bash(ls*)", 2,
			{{LINT_SHADOWED, 1, 2}, {LINT_ANY_COMMAND, 2, 0}}},
		{"allow Bash\nallow Bash(ls)\nallow Read", 1, {{LINT_SHADOWED, 2, 1}}},
		{"deny Bash(git:*)\nallow Bash(git push:*)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Bash(ls:*)\ndeny Bash(ls x:*)", 0, {{0}}},
		{"ask *\nallow Read(//a)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"deny Bash(git push origin:*)\nask Bash(git push origin main)", 1,
			{{LINT_SHADOWED, 2, 1}}},
		{"deny Bash(git push origin)\nask Bash(git push origin main)", 0, {{0}}},
		{"allow Bash(a && b)\nallow Bash(a && b)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"deny Bash(rm * x)\nallow Bash(rm a b x)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Read(/src/**)\nallow Read(/src/a.c)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Read(/src)\nallow Read(/src/**)", 1, {{LINT_SHADOWED, 2, 1}}},
		{"allow Read(/src/a)\nallow Read(~/src/a)\nallow Read(/src/*.c)", 0, {{0}}},
		{"allow Edit(/src/**)\nallow Read(/src/a)", 0, {{0}}},
		{"deny WebFetch(domain:b)\nallow WebFetch(domain:a.b)", 1,
			{{LINT_SHADOWED, 2, 1}}},
		{"deny WebFetch(domain:*.b)\nallow WebFetch(domain:b)", 0, {{0}}},
		{"deny mcp__a__*\nallow mcp__a__b\nallow mcp__ab__c", 1,
			{{LINT_SHADOWED, 2, 1}}},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct ruleset *set = rule_set_of(cases[i].rules);
		struct lint_warning w[MAX];
		size_t n = 99;

		ck_assert_int_eq(ruleset_lint(set, w, MAX, &n), 0);
		ck_assert_msg(n == cases[i].n, "%s: %zu: %s at %u", cases[i].rules, n,
			n ? lint_code_name(w[n - 1].code) : "", n ? w[n - 1].rule->line : 0);
		for (size_t k = 0; k < n; k++) {
			const struct expected *const e = &cases[i].expect[k];

			ck_assert_msg(w[k].code == e->code && w[k].rule->line == e->line,
				"%s: %s %u", cases[i].rules, lint_code_name(w[k].code),
				w[k].rule->line);
			ck_assert_uint_eq(w[k].other ? w[k].other->line : 0, e->other);
			ck_assert_str_ne(lint_code_text(w[k].code), "");
		}
		ruleset_free(set);
	}
}
END_TEST

/* Many rules that all begin alike are not all compared; many that do not, are. */
START_TEST(bounded)
{
	const struct rule_origin o = {
		.scope = RULE_USER, .uid = RULE_ANY_UID, .file = bytes_of("rules")};
	struct rule_problem problem;
	struct lint_warning w[MAX];

	for (int alike = 0; alike < 2; alike++) {
		struct ruleset *set = ruleset_new();
		char *text = NULL;
		size_t len, n;
		FILE *f = open_memstream(&text, &len);

		ck_assert_ptr_nonnull(f);
		for (unsigned i = 0; i < 4000; i++)
			fprintf(f, "deny Bash(%s%u x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*y%u c)\n",
				alike ? "a*" : "a", i, i);
		fclose(f);
		ck_assert_int_eq(
			ruleset_load(set, &o, (struct bytes){text, len}, &problem, 1, &n), 0);
		ck_assert_int_eq(ruleset_lint(set, w, MAX, &n), alike);
		ruleset_free(set);
		free(text);
	}
}
END_TEST

START_TEST(only_what_reaches_shadows)
{
	struct ruleset *set = ruleset_new();
	struct rule_origin o = {.scope = RULE_SESSION, .uid = 1000, .owner = {{1}}};
	struct rule_problem problem;
	struct lint_warning w[MAX];
	size_t n;

	ck_assert_int_eq(ruleset_add(set, &o, 1, bytes_of("deny Bash"), &problem), 0);
	o.scope = RULE_USER;
	ck_assert_int_eq(ruleset_add(set, &o, 2, bytes_of("allow Bash(ls)"), &problem), 0);
	ck_assert_int_eq(ruleset_lint(set, w, MAX, &n), 0);
	ck_assert_uint_eq(n, 0);
	o.expires = 10;
	ck_assert_int_eq(ruleset_add(set, &o, 3, bytes_of("deny Bash"), &problem), 0);
	ck_assert_int_eq(ruleset_lint(set, w, MAX, &n), 0);
	/* the user's deny covers the session's as long as it lasts, no longer */
	ck_assert_uint_eq(n, 0);
	o.expires = 0;
	o.uid = RULE_ANY_UID;
	ck_assert_int_eq(ruleset_add(set, &o, 4, bytes_of("deny Bash"), &problem), 0);
	/* room for fewer */
	ck_assert_int_eq(ruleset_lint(set, w, 1, &n), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(w[0].rule->id, 2);
	ck_assert_uint_eq(w[0].other->id, 4);
	ruleset_free(set);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_lint");
	TCase *t = tcase_create("warnings");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, warnings);
	tcase_add_test(t, bounded);
	tcase_add_test(t, only_what_reaches_shadows);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
