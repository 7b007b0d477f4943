/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontends/common/duration.h"

START_TEST(parse)
{
	static const struct {
		const char *s;
		int64_t ms;
	} good[] = {
		{"0", 0},
		{"90", 90000},
		{"90s", 90000},
		{"500ms", 500},
		{"5m", 300000},
		{"1h30m", 5400000},
		{"2d", 172800000},
		{"1d1h1m1s1ms", 90061001},
	};
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "s", "1x", "1.5s", "1m1m",
		"1s1m", "1m30", "1h30", "0x10", "1e3", "5mm"};
	int64_t ms;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(!duration_parse(good[i].s, &ms), "'%s'", good[i].s);
		ck_assert_int_eq(ms, good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(duration_parse(bad[i], &ms) == -EINVAL, "'%s'", bad[i]);
	ck_assert_int_eq(duration_parse("99999999999999999999", &ms), -ERANGE);
	ck_assert_int_eq(duration_parse("9223372036854775807d", &ms), -ERANGE);
	ck_assert_int_eq(duration_parse("36525d1ms", &ms), -ERANGE);
	ck_assert_int_eq(duration_parse("36525d", &ms), 0);
}
END_TEST

static void format_is(int64_t ms, const char *s)
{
	char out[DURATION_SIZE];

	ck_assert_str_eq(duration_format(out, ms), s);
}

START_TEST(format)
{
	format_is(-5, "0ms");
	format_is(850, "850ms");
	format_is(12000, "12s");
	format_is(59999, "59s");
	format_is(200000, "3m20s");
	format_is(7500000, "2h05m");
	format_is(356400000, "4d03h");
	format_is(INT64_MAX, "106751991167d07h");
}
END_TEST

START_TEST(relative)
{
	char out[DURATION_SIZE];

	ck_assert_str_eq(time_relative(out, 100000, 88000), "12s ago");
	ck_assert_str_eq(time_relative(out, 100000, 130000), "in 30s");
	ck_assert_str_eq(time_relative(out, 100000, 100999), "now");
	/* nothing overflows, whatever a broker says */
	time_relative(out, INT64_MIN, INT64_MAX);
	time_relative(out, INT64_MAX, INT64_MIN);
	time_relative(out, -1, INT64_MIN);
}
END_TEST

START_TEST(times)
{
	int64_t ms, now = 1000000000000;
	char out[TIME_SIZE];

	setenv("TZ", "UTC-2", 1); /* POSIX: two hours east */
	tzset();
	ck_assert_int_eq(time_parse("2h", now, &ms), 0);
	ck_assert_int_eq(ms, now - 7200000);
	ck_assert_int_eq(time_parse("2001-09-09 03:46:40", now, &ms), 0);
	ck_assert_int_eq(ms, now);
	ck_assert_int_eq(time_parse("2001-09-09T01:46:40Z", now, &ms), 0);
	ck_assert_int_eq(ms, now);
	ck_assert_int_eq(time_parse("2001-09-09 03:46", now, &ms), 0);
	ck_assert_int_eq(ms, now - 40000);
	ck_assert_int_eq(time_parse("2001-09-09", now, &ms), 0);
	ck_assert_int_eq(time_parse("yesterday", now, &ms), -EINVAL);
	ck_assert_int_eq(time_parse("2001-09-09 03:46:40 x", now, &ms), -EINVAL);
	ck_assert_int_eq(time_parse("2001-13-09", now, &ms), -EINVAL);
	ck_assert_str_eq(time_format(out, now), "2001-09-09 03:46:40 +0200");
	ck_assert_str_eq(time_format(out, 0), "-");
	ck_assert_str_eq(time_short(out, now, now), "03:46:40");
	ck_assert_str_eq(time_short(out, now, now - 86400000), "2001-09-08 03:46");
	ck_assert_str_eq(time_short(out, now, now + 86400000), "2001-09-10 03:46");
	/* the same day of another year */
	ck_assert_str_eq(time_short(out, now, now - INT64_C(365) * 86400000),
		"2000-09-09 03:46");
	ck_assert_str_eq(time_short(out, now, 0), "-");
	ck_assert_uint_lt(strlen(time_short(out, now, INT64_MAX)), TIME_SIZE);
	ck_assert_uint_lt(strlen(time_format(out, INT64_MAX)), TIME_SIZE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("duration");
	TCase *tc = tcase_create("duration");
	SRunner *sr = srunner_create(s);

	tcase_add_test(tc, parse);
	tcase_add_test(tc, format);
	tcase_add_test(tc, relative);
	tcase_add_test(tc, times);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
