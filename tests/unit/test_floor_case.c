/* SPDX-License-Identifier: MIT */
/* The collected cases through the reader and the floor, with paths by their text alone. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/floor_fixture.h"

typedef void case_fn(const struct floor_case *c, const struct floor *floor,
	const struct shell_arena *arena, unsigned *hits, unsigned *others);

static void each_case(const char *path, case_fn *fn, unsigned *hits, unsigned *others)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	struct shell_arena arena;
	FILE *f = fopen(path, "re");
	char line[65536];

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(floor);
	ck_assert_int_eq(shell_arena_init(&arena), 0);
	while (fgets(line, sizeof(line), f)) {
		struct json_object *o = json_tokener_parse(line);
		struct floor_case c;

		ck_assert_msg(o != NULL, "%s", line);
		case_read(o, &c);
		fn(&c, floor, &arena, hits, others);
		json_object_put(o);
	}
	fclose(f);
	shell_arena_free(&arena);
	floor_free(floor);
}

/* The handed cases: what names the floor as its source is on it, what is allowed is not. */
static void check_handed(const struct floor_case *c, const struct floor *floor,
	const struct shell_arena *arena, unsigned *hits, unsigned *others)
{
	struct floor_hit hit;
	const bool on = case_check(floor, arena, c, &hit);

	if (c->source && strcmp(c->source, "floor") == 0) {
		/* NUL ends the text here: the reader's own tests have it */
		if (strcmp(c->name, "NUL is unreadable") != 0)
			ck_assert_msg(on, "%s", c->name);
		(*hits)++;
	} else if (strcmp(c->expect, "allow") == 0) {
		ck_assert_msg(!on, "%s: %s", c->name, on ? hit.name : "");
		(*others)++;
	}
}

START_TEST(handed)
{
	unsigned hits = 0, others = 0;

	each_case(TEST_CASES, check_handed, &hits, &others);
	ck_assert_uint_ge(hits, 25);
	ck_assert_uint_ge(others, 30);
}
END_TEST

/* Our own: they name the entry, too, or expect none. */
static void check_own(const struct floor_case *c, const struct floor *floor,
	const struct shell_arena *arena, unsigned *hits, unsigned *others)
{
	struct floor_hit hit = {0};
	const bool on = case_check(floor, arena, c, &hit);

	if (c->floor) {
		ck_assert_msg(on, "%s: not on the floor", c->name);
		ck_assert_msg(strcmp(hit.name, c->floor) == 0, "%s: %s, not %s", c->name,
			hit.name, c->floor);
		ck_assert_ptr_nonnull(hit.about);
		ck_assert(hit.offset == SHELL_NONE || c->command);
		(*hits)++;
	} else {
		ck_assert_msg(!on, "%s: %s by %.*s", c->name, on ? hit.name : "",
			on ? (int)hit.what.len : 0, on ? (const char *)hit.what.data : "");
		(*others)++;
	}
}

START_TEST(own)
{
	unsigned hits = 0, others = 0;

	each_case(FLOOR_CASES, check_own, &hits, &others);
	ck_assert_uint_ge(hits, 150);
	ck_assert_uint_ge(others, 150);
}
END_TEST

/* Commands from the standard input, one a line: what the floor says of each. */
static int try_lines(void)
{
	struct floor *const floor = floor_new(FLOOR_USER);
	struct shell_arena arena;
	char line[65536];

	if (!floor || shell_arena_init(&arena))
		return EXIT_FAILURE;
	while (fgets(line, sizeof(line), stdin)) {
		struct floor_hit hit;

		line[strcspn(line, "\n")] = 0;
		if (command_check(floor, &arena, line, &hit))
			printf("%s\t%s (%s: %.*s)\n", line, hit.name, hit.about,
				(int)hit.what.len, (const char *)hit.what.data);
		else
			printf("%s\t-\n", line);
	}
	shell_arena_free(&arena);
	floor_free(floor);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	Suite *s = suite_create("floor_case");
	TCase *tc = tcase_create("cases");
	SRunner *sr;
	int failed;

	if (argc > 1 && strcmp(argv[1], "--try") == 0)
		return try_lines();
	tcase_add_test(tc, handed);
	tcase_add_test(tc, own);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
