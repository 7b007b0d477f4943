/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"

static void utf8_locale(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

/* The line that MessagePack bytes become. */
static void line_is(const void *data, size_t len, const char *expected)
{
	struct approval_value *v;
	char *s = NULL;
	size_t size;
	struct output o = {.file = open_memstream(&s, &size)};

	ck_assert_int_eq(approval_value_parse(data, len, &v), 0);
	ck_assert_int_eq(json_write_value(&o, v), 0);
	fclose(o.file);
	ck_assert_str_eq(s, expected);
	free(s);
	approval_value_free(v);
}
#define LINE_IS(bytes, expected) line_is(bytes, sizeof(bytes) - 1, expected "\n")

START_TEST(scalars)
{
	LINE_IS("\xc0", "null");
	LINE_IS("\xc3", "true");
	LINE_IS("\xff", "-1");
	LINE_IS("\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808");
	LINE_IS("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615");
	LINE_IS("\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00", "0.5");
	LINE_IS("\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", "null"); /* NaN */
	LINE_IS("\xcb\xff\xf0\x00\x00\x00\x00\x00\x00", "null"); /* -inf */
	LINE_IS("\xa3"
		"abc",
		"\"abc\"");
	LINE_IS("\xc4\x03\x00\x9f\xff", "\"009fff\"");
	LINE_IS("\xd4\x05\x2a", "{\"$ext\":\"d4052a\"}");
}
END_TEST

START_TEST(strings)
{
	LINE_IS("\xa2\xff\x1b", "\"\\\\xff\\u001b\"");
	LINE_IS("\xa3\x61\x00\x62", "\"a\\u0000b\"");
	LINE_IS("\xa3\xe2\x80\xae", "\"\\u202e\"");
	LINE_IS("\xa2\xc3\xa4", "\"\xc3\xa4\"");
	LINE_IS("\xa3</a", "\"</a\"");
}
END_TEST

START_TEST(containers)
{
	LINE_IS("\x90", "[]");
	LINE_IS("\x80", "{}");
	LINE_IS("\x93\x01\xc0\x91\x02", "[1,null,[2]]");
	LINE_IS("\x82\xa1"
		"a\x01\xa1"
		"b\x81\xa1"
		"c\xc2",
		"{\"a\":1,\"b\":{\"c\":false}}");
}
END_TEST

START_TEST(maps_that_hide)
{
	/* the same key twice */
	LINE_IS("\x82\xa1"
		"a\x01\xa1"
		"a\x02",
		"{\"$map\":[[\"a\",1],[\"a\",2]]}");
	/* keys that become the same */
	LINE_IS("\x82\xa1\xff\x01\xa4\\xff\x02",
		"{\"$map\":[[\"\\\\xff\",1],[\"\\\\xff\",2]]}");
	/* keys that JSON has not, or cuts off */
	LINE_IS("\x81\x07\x01", "{\"$map\":[[7,1]]}");
	LINE_IS("\x81\xa3"
		"a\x00"
		"b\x01",
		"{\"$map\":[[\"a\\u0000b\",1]]}");
	LINE_IS("\x81\xc4\x01"
		"a\x01",
		"{\"$map\":[[\"61\",1]]}");
}
END_TEST

START_TEST(null_value)
{
	struct json_object *j;

	ck_assert_int_eq(json_from_value(NULL, &j), 0);
	ck_assert_ptr_null(j);
}
END_TEST

static void round_trip(const char *text)
{
	struct json_object *j;
	struct approval_pack *p;
	struct approval_value *v;
	const char *why;
	size_t len;

	ck_assert_msg(!json_parse(text, &j, &why), "'%s': %s", text, why);
	ck_assert_int_eq(approval_pack_new(&p), 0);
	ck_assert_int_eq(json_to_pack(j, p), 0);
	json_object_put(j);

	const void *data = approval_pack_data(p, &len);
	ck_assert_int_eq(approval_value_parse(data, len, &v), 0);
	ck_assert_int_eq(json_from_value(v, &j), 0);
	ck_assert_str_eq(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN), text);
	json_object_put(j);
	approval_value_free(v);
	approval_pack_free(p);
}

START_TEST(parsed)
{
	round_trip("null");
	round_trip("7");
	round_trip("-9223372036854775808");
	round_trip("18446744073709551615");
	round_trip("0.5");
	round_trip("\"a\\u0000b\"");
	round_trip("[1,[true,false],null,{\"a\":{\"b\":\"c\"}}]");
}
END_TEST

START_TEST(not_parsed)
{
	static const char *const bad[] = {"", " ", "{", "{\"a\"}", "[1,]", "1 2", "nul", "'a'",
		"{\"a\":1}x", "\"\xff\"", "[1", "\"a"};
	struct json_object *j;
	const char *why;
	char deep[201];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(json_parse(bad[i], &j, &why) == -EINVAL, "'%s'", bad[i]);
		ck_assert_ptr_null(j);
		ck_assert_uint_gt(strlen(why), 0);
	}
	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	deep[200] = '\0';
	ck_assert_int_eq(json_parse(deep, &j, &why), -EINVAL);
}
END_TEST

START_TEST(blocks)
{
	struct approval_value *v;
	char *s = NULL;
	size_t size;
	struct output o = {.file = open_memstream(&s, &size)};

	ck_assert_int_eq(approval_value_parse("\x81\xa1"
					      "a\xa2\n\x1b",
				 6, &v),
		0);
	ck_assert_int_eq(json_block(&o, "Input", v), 0);
	fclose(o.file);
	ck_assert_str_eq(s, "Input:\n  | {\n  |   \"a\": \"\\n\\u001b\"\n  | }\n");
	free(s);
	approval_value_free(v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *tc = tcase_create("json");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, utf8_locale, NULL);
	tcase_add_test(tc, scalars);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, containers);
	tcase_add_test(tc, maps_that_hide);
	tcase_add_test(tc, null_value);
	tcase_add_test(tc, parsed);
	tcase_add_test(tc, not_parsed);
	tcase_add_test(tc, blocks);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
