/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "broker/io/flood.h"
#include "libapproval/limits.h"

#define MINUTE ((int64_t)TIME_FLOOD_MS * 1000)
#define START  INT64_C(5000000)

static struct flood f;

static void setup(void)
{
	f = (struct flood){0};
}

/* The first is written, the rest is a count for each minute, for as long as it goes on. */
START_TEST(endless)
{
	uint64_t key = 0;
	int64_t now = START;

	ck_assert(flood_pass(&f, 7, now));
	for (unsigned minute = 0; minute < 5; minute++) {
		for (unsigned i = 0; i < 1000; i++)
			ck_assert(!flood_pass(&f, 7, now + i));
		ck_assert_uint_eq(flood_over(&f, now + MINUTE - 1, &key), 0);
		now += MINUTE;
		/* late, and not told yet */
		ck_assert(!flood_pass(&f, 7, now));
		ck_assert_uint_eq(flood_over(&f, now, &key), 1001);
		ck_assert_uint_eq(key, 7);
		ck_assert_uint_eq(flood_over(&f, now, &key), 0);
	}
	/* a minute in which nothing came: the next one is a first one */
	ck_assert(!flood_pass(&f, 7, now + MINUTE - 1));
	ck_assert_uint_eq(flood_over(&f, now + MINUTE, &key), 1);
	ck_assert_uint_eq(flood_over(&f, now + 2 * MINUTE, &key), 0);
	ck_assert(flood_pass(&f, 7, now + 2 * MINUTE));
}
END_TEST

START_TEST(rare)
{
	uint64_t key;

	for (unsigned i = 0; i < 100; i++) {
		ck_assert(flood_pass(&f, i % 3, START + i * MINUTE));
		ck_assert_uint_eq(flood_over(&f, START + i * MINUTE, &key), 0);
	}
}
END_TEST

START_TEST(kinds)
{
	uint64_t key;

	ck_assert(flood_pass(&f, 1, START));
	ck_assert(flood_pass(&f, 2, START));
	ck_assert(!flood_pass(&f, 1, START));
	ck_assert(!flood_pass(&f, 2, START + 1));
	ck_assert(!flood_pass(&f, 2, START + 1));
	ck_assert_uint_eq(flood_over(&f, START + MINUTE, &key), 1);
	ck_assert_uint_eq(key, 1);
	ck_assert_uint_eq(flood_over(&f, START + MINUTE, &key), 2);
	ck_assert_uint_eq(key, 2);
	ck_assert_uint_eq(flood_over(&f, START + MINUTE, &key), 0);
}
END_TEST

/* However many kinds there are, so many lines are written in a minute and no more. */
START_TEST(many_kinds)
{
	unsigned written = 0, told = 0;
	uint64_t key, counted = 0, n;

	for (unsigned i = 0; i < 10000; i++)
		written += flood_pass(&f, i, START);
	ck_assert_uint_eq(written, FLOOD_KINDS);
	while ((n = flood_over(&f, START + MINUTE, &key))) {
		ck_assert_uint_eq(key, FLOOD_OTHERS);
		counted += n;
		told++;
	}
	ck_assert_uint_eq(told, 1);
	ck_assert_uint_eq(counted, 10000 - FLOOD_KINDS);
	/* their places are free again */
	ck_assert(flood_pass(&f, 99999, START + MINUTE));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floods of the log");
	TCase *tc = tcase_create("flood");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, endless);
	tcase_add_test(tc, rare);
	tcase_add_test(tc, kinds);
	tcase_add_test(tc, many_kinds);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
