/* SPDX-License-Identifier: MIT */
/* The arithmetic of ceilings, at its edges. */
#include "broker/core/budget.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

static const struct budget_weights weights = BUDGET_WEIGHTS_DEFAULT;
static const struct bytes nobody;

static struct budget_amounts amounts(
	int64_t tokens, int64_t time, int64_t wall, int64_t calls, int64_t cost)
{
	return (struct budget_amounts){{tokens, time, wall, calls, cost}};
}

static void same(const struct budget_amounts *a, struct budget_amounts b)
{
	ck_assert_mem_eq(a, &b, sizeof(b));
}

START_TEST(weighted)
{
	static const struct {
		struct usage u;
		int64_t tokens;
	} cases[] = {
		{{0, 0, 0, 0, 0}, 0},
		{{1, 2, 0, 4, 9}, 7},
		{{0, 0, 10, 0, 0}, 1},
		{{0, 0, 1, 0, 0}, 1}, /* a tenth, rounded up */
		{{0, 0, 11, 0, 0}, 2},
		{{999, 999, 999, 999, 0}, 3097},
		{{0, 0, 1000000, 0, 0}, 100000},
		{{(uint64_t)1 << 53, 0, 0, 0, 0}, (int64_t)1 << 53},
		{{INT64_MAX, 0, 0, 0, 0}, INT64_MAX},
		{{(uint64_t)1 << 63, 0, 0, 0, 0}, BUDGET_MOST},
		{{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0}, BUDGET_MOST},
		{{0, 0, UINT64_MAX, 0, 0}, 1844674407370955162},
	};
	const struct budget_weights none = {0, 0, 0, 0};
	const struct budget_weights most = {
		BUDGET_WEIGHT_MOST, BUDGET_WEIGHT_MOST, BUDGET_WEIGHT_MOST, BUDGET_WEIGHT_MOST};
	const struct usage all = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(budget_tokens(&cases[i].u, &weights), cases[i].tokens);
	ck_assert_int_eq(budget_tokens(&all, &none), 0);
	ck_assert_int_eq(budget_tokens(&all, &most), BUDGET_MOST);
	ck_assert_int_eq(budget_tokens(&(struct usage){.input = 3}, &most), 3000);
}
END_TEST

START_TEST(saturates)
{
	struct usage u = {UINT64_MAX - 1, 1, 0, 0, UINT64_MAX}, more = {5, 5, 5, 5, 5};

	usage_add(&u, &more);
	ck_assert(u.input == UINT64_MAX && u.output == 6 && u.cache_read == 5);
	ck_assert(u.cost_microusd == UINT64_MAX);
	ck_assert_int_eq(budget_add(BUDGET_MOST, 1), BUDGET_MOST);
	ck_assert_int_eq(budget_add(BUDGET_MOST, BUDGET_MOST), BUDGET_MOST);
	ck_assert_int_eq(budget_add(1, 2), 3);
	ck_assert_int_eq(budget_raised(BUDGET_MOST - 1, 5), BUDGET_MOST);
	ck_assert_int_eq(budget_raised(0, 5), 5);
	ck_assert_int_eq(budget_raised(7, 0), 7);
	/* what is not bounded stays so, and what was not said raises nothing */
	ck_assert_int_eq(budget_raised(BUDGET_NONE, 5), BUDGET_NONE);
	ck_assert_int_eq(budget_raised(7, BUDGET_NONE), 7);
}
END_TEST

/* Lost, repeated, late and decreasing reports: each field is the most that was ever said. */
START_TEST(cumulative)
{
	static const struct usage reports[] = {{10, 1, 0, 0, 0}, {10, 1, 0, 0, 0},
		{5, 9, 0, 0, 0}, {0, 0, 0, 0, 0}, {12, 2, 3, 4, 5}, {UINT64_MAX, 0, 0, 0, 0},
		{1, 1, 1, 1, 1}};
	struct usage u = {0}, sum = {0}, more;

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		const struct usage before = u;

		usage_raise(&u, &reports[i], &more);
		ck_assert(u.input >= before.input && u.output >= before.output);
		usage_add(&sum, &more);
		ck_assert_mem_eq(&sum, &u, sizeof(u));
	}
	ck_assert(u.input == UINT64_MAX && u.output == 9 && u.cost_microusd == 5);
}
END_TEST

START_TEST(reached)
{
	for (int k = 0; k < BUDGET_N; k++) {
		const enum budget_kind kind = (enum budget_kind)k;
		const bool calls = kind == BUDGET_CALLS;

		ck_assert(!budget_reached(kind, BUDGET_MOST, BUDGET_NONE));
		ck_assert(budget_reached(kind, 0, 0) == !calls); /* nothing is allowed */
		ck_assert(budget_reached(kind, 1, 0));
		ck_assert(!budget_reached(kind, 9, 10));
		/* the tenth call may be made, an eleventh is asked for in vain */
		ck_assert(budget_reached(kind, 10, 10) == !calls);
		ck_assert(budget_reached(kind, 11, 10));
		ck_assert(budget_reached(kind, BUDGET_MOST, BUDGET_MOST) == !calls);
	}
}
END_TEST

START_TEST(nearest)
{
	struct budget_amounts used = amounts(5, 5, 5, 5, 5), c = amounts(-1, -1, -1, -1, -1);

	ck_assert(budget_is_clear(&c));
	ck_assert_int_eq(budget_first(&used, &c), -1);
	c = amounts(6, 6, 5, 4, 6);
	ck_assert(!budget_is_clear(&c));
	ck_assert_int_eq(budget_first(&used, &c), BUDGET_WALL);
	c = amounts(10, 3, 5, 7, 9);
	budget_lower(&c, &(struct budget_amounts){{-1, 4, 2, 0, -1}});
	same(&c, amounts(10, 3, 2, 0, 9));
	c = amounts(-1, -1, 1, 1, 1);
	budget_lower(&c, &(struct budget_amounts){{0, 7, -1, 2, 1}});
	same(&c, amounts(0, 7, 1, 1, 1));
	budget_clear(&c);
	c.of[BUDGET_COST] = 3;
	budget_fill(&c, &(struct budget_amounts){{-1, 0, BUDGET_MOST / 2, 7, 9}}, 10);
	same(&c, amounts(-1, 0, BUDGET_MOST, 70, 3));
}
END_TEST

START_TEST(warned)
{
	static const int64_t edges[][2] = {{10, 8}, {100, 80}, {1, 1}, {4, 4}, {5, 4}, {11, 9},
		{BUDGET_MOST, BUDGET_MOST - BUDGET_MOST / 5}};

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		const struct budget_amounts c = amounts(edges[i][0], -1, -1, -1, -1);
		struct budget_amounts used = amounts(edges[i][1], 9, 9, 9, 9);

		ck_assert_uint_eq(budget_near(&used, &c), 1u << BUDGET_TOKENS);
		used.of[BUDGET_TOKENS]--;
		ck_assert_uint_eq(budget_near(&used, &c), 0);
	}
	/* of nothing there is no most */
	ck_assert_uint_eq(budget_near(&(struct budget_amounts){{7, 7, 7, 7, 7}},
				  &(struct budget_amounts){{0, -1, 0, 0, -1}}),
		0);
	/* until then, and from there on */
	ck_assert_int_eq(budget_left(0, 100, true), 80);
	ck_assert_int_eq(budget_left(79, 100, true), 1);
	ck_assert_int_eq(budget_left(80, 100, true), 20);
	ck_assert_int_eq(budget_left(0, 100, false), 100);
	ck_assert_int_eq(budget_left(100, 100, false), 1);
	ck_assert_int_eq(budget_left(BUDGET_MOST, 100, true), 1);
	ck_assert_int_eq(budget_left(0, BUDGET_MOST, false), BUDGET_MOST);
	ck_assert_int_eq(budget_left(7, BUDGET_NONE, true), -1);
	ck_assert_int_eq(budget_left(0, 0, true), 1);
}
END_TEST

START_TEST(found)
{
	struct budget_rule rules[] = {
		{NULL, NULL, -1, {{1000, -1, -1, 50, -1}}, {{-1, -1, -1, -1, 77}}},
		{(char[]){"claude"}, NULL, -1, {{2000, -1, 9, 40, -1}}, {{-1, -1, -1, -1, -1}}},
		{NULL, (char[]){"/home/u/w"}, -1, {{500, -1, -1, -1, -1}},
			{{-1, -1, -1, -1, 9}}},
		{NULL, NULL, 1001, {{-1, 5, -1, -1, -1}}, {{-1, -1, -1, -1, -1}}},
		{(char[]){"x"}, (char[]){"/"}, 1000, {{0, 0, 0, 0, 0}}, {{0, 0, 0, 0, 0}}},
	};
	const size_t n = sizeof(rules) / sizeof(rules[0]);
	struct budget_amounts t, s;

	budget_find(rules, n, bytes_of("codex"), nobody, 1000, 3600, &t, &s);
	same(&t, amounts(1000, -1, 3600, 50, -1));
	same(&s, amounts(-1, -1, -1, -1, 77));
	budget_find(
		rules, n, bytes_of("claude"), bytes_of("/home/u/w/sub"), 1001, 3600, &t, &s);
	same(&t, amounts(500, 5, 9, 40, -1));
	same(&s, amounts(-1, -1, -1, -1, 9));
	/* whole components alone */
	budget_find(rules, n, bytes_of("codex"), bytes_of("/home/u/w2"), 1, 3600, &t, &s);
	ck_assert_int_eq(t.of[BUDGET_TOKENS], 1000);
	budget_find(rules, n, bytes_of("codex"), bytes_of("/home/u/w"), 1, 3600, &t, &s);
	ck_assert_int_eq(t.of[BUDGET_TOKENS], 500);
	budget_find(rules, n, bytes_of("x"), bytes_of("/any"), 1000, 3600, &t, &s);
	same(&t, amounts(0, 0, 0, 0, 0));
	budget_find(NULL, 0, nobody, nobody, 0, BUDGET_NONE, &t, &s);
	ck_assert(budget_is_clear(&t) && budget_is_clear(&s));
}
END_TEST

START_TEST(kept)
{
	struct turn_budget t = {.ceiling = {{1, -1, BUDGET_MOST, 0, 5}},
		.more = {UINT64_MAX, 2, 3, 4, 5},
		.active = 7,
		.wall = BUDGET_MOST,
		.mark_wall = 1700000000000000,
		.calls = 9,
		.warned = 31,
		.wall_runs = true};
	struct session_budget s = {.ceiling = {{-1, -1, -1, -1, -1}},
		.asked = {{1, 2, 3, 4, 5}},
		.usage = {1, 2, 3, 4, UINT64_MAX},
		.active = 1,
		.wall = 2,
		.calls = 3,
		.warned = 4};
	struct turn_budget t2;
	struct session_budget s2;
	struct str *a = turn_budget_pack(&t), *b = session_budget_pack(&s);

	ck_assert(a && b && a->len != b->len);
	ck_assert_int_eq(turn_budget_unpack(a, &t2), 0);
	ck_assert_mem_eq(&t2.ceiling, &t.ceiling, sizeof(t.ceiling));
	ck_assert_mem_eq(&t2.more, &t.more, sizeof(t.more));
	ck_assert(t2.active == 7 && t2.wall == BUDGET_MOST && t2.mark_wall == t.mark_wall);
	ck_assert(t2.calls == 9 && t2.warned == 31 && t2.wall_runs && !t2.active_runs);
	ck_assert_int_eq(session_budget_unpack(b, &s2), 0);
	ck_assert_mem_eq(&s2, &s, sizeof(s));
	/* nothing else is taken */
	ck_assert_int_eq(turn_budget_unpack(b, &t2), -EUCLEAN);
	ck_assert_int_eq(session_budget_unpack(a, &s2), -EUCLEAN);
	ck_assert_int_eq(turn_budget_unpack(NULL, &t2), -EUCLEAN);
	a->data[0] = (char)0x80; /* a ceiling below none */
	ck_assert_int_eq(turn_budget_unpack(a, &t2), -EUCLEAN);
	a->data[0] = 0;
	a->data[a->len - 1] = 4; /* unknown clocks */
	ck_assert_int_eq(turn_budget_unpack(a, &t2), -EUCLEAN);
	b->data[b->len - 1] = 32; /* an unknown warning */
	ck_assert_int_eq(session_budget_unpack(b, &s2), -EUCLEAN);
	str_unref(a);
	str_unref(b);
}
END_TEST

START_TEST(described)
{
	char text[BUDGET_TEXT];

	budget_describe(text, "turn", BUDGET_TOKENS, 1200, 1000);
	ck_assert_str_eq(text, "the turn's ceiling is reached: tokens 1200 of 1000");
	budget_describe(text, "session", BUDGET_WALL, 90999999, 60000000);
	ck_assert_str_eq(text, "the session's ceiling is reached: wall 90 of 60 seconds");
	budget_describe(text, "turn", BUDGET_TIME, 300999, 300000);
	ck_assert_str_eq(text, "the turn's ceiling is reached: time 300 of 300 ms");
	budget_describe(text, "turn", BUDGET_COST, 5250000, 5000000);
	ck_assert_str_eq(text, "the turn's ceiling is reached: cost 5.25 of 5.00");
	budget_describe(text, "session", BUDGET_COST, BUDGET_MOST, BUDGET_MOST);
	ck_assert_uint_lt(strlen(text), BUDGET_TEXT - 1);
	ck_assert_str_eq(budget_kind_name(BUDGET_N), "?");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core: budget");
	TCase *t = tcase_create("budget");
	SRunner *r;
	int failed;

	suite_add_tcase(s, t);
	tcase_add_test(t, weighted);
	tcase_add_test(t, saturates);
	tcase_add_test(t, cumulative);
	tcase_add_test(t, reached);
	tcase_add_test(t, nearest);
	tcase_add_test(t, warned);
	tcase_add_test(t, found);
	tcase_add_test(t, kept);
	tcase_add_test(t, described);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
