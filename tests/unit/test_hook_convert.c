/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/hook/convert.h"
#include "frontends/hook/stream.h"
#include "libapproval/approval.h"
#include "libapproval/limits.h"

/* JSON to MessagePack and back; the result's text, or NULL and *error. */
static char *round_trip(const char *json, int *error)
{
	struct json_object *in = NULL, *out = NULL;
	struct approval_pack *p = NULL;
	struct approval_value *v = NULL;
	const void *data;
	char *text = NULL;
	size_t len;

	ck_assert_int_eq(stream_parse(json, strlen(json), &in), 0);
	ck_assert_int_eq(approval_pack_new(&p), 0);
	*error = convert_pack(p, in);
	if (*error == 0) {
		data = approval_pack_data(p, &len);
		ck_assert_int_eq(approval_value_parse(data, len, &v), 0);
		*error = convert_json(v, &out);
		if (*error == 0)
			text = strdup(json_object_to_json_string_ext(
				out, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(in);
	json_object_put(out);
	approval_value_free(v);
	approval_pack_free(p);
	return text;
}

START_TEST(test_same)
{
	static const char *const same[] = {
		"[null]",
		"{}",
		"{\"z\":1,\"a\":[true,false,null,\"x\"],\"m\":{\"k\":-1}}",
		"[9223372036854775807,-9223372036854775808,18446744073709551615,0]",
		"[1.5,-0.25]",
		"\"\"",
		"\"a\\u0000b\\n\\\"\\\\\"",
		"{\"é€𝄞\":\"é€𝄞\"}",
		"{\"\":{\"\":[]}}",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		int error;
		char *text = round_trip(same[i], &error);

		ck_assert_int_eq(error, 0);
		ck_assert_str_eq(text, same[i]);
		free(text);
	}
}
END_TEST

static char *nested(unsigned depth)
{
	char *s = malloc(2 * depth + 2);

	memset(s, '[', depth);
	s[depth] = '1';
	memset(s + depth + 1, ']', depth);
	s[2 * depth + 1] = '\0';
	return s;
}

START_TEST(test_limits)
{
	char *s = nested(LIMIT_VALUE_DEPTH), *text, *big;
	int error;

	text = round_trip(s, &error);
	ck_assert_int_eq(error, 0);
	free(text);
	free(s);
	s = nested(LIMIT_VALUE_DEPTH + 1);
	ck_assert_ptr_null(round_trip(s, &error));
	ck_assert_int_eq(error, -E2BIG);
	free(s);

	big = malloc(LIMIT_INPUT + 3);
	memset(big, 'x', LIMIT_INPUT + 2);
	big[0] = big[LIMIT_INPUT - 6] = '"';
	big[LIMIT_INPUT - 5] = '\0'; /* and five bytes that say how long it is */
	text = round_trip(big, &error);
	ck_assert_int_eq(error, 0);
	free(text);
	big[LIMIT_INPUT - 6] = big[LIMIT_INPUT - 5] = 'x';
	big[LIMIT_INPUT + 1] = '"';
	big[LIMIT_INPUT + 2] = '\0';
	ck_assert_ptr_null(round_trip(big, &error));
	ck_assert_int_eq(error, -E2BIG);
	free(big);
}
END_TEST

START_TEST(test_count)
{
	char *s = malloc(2 * LIMIT_VALUE_COUNT + 3), *at = s, *text;
	int error;

	*at++ = '[';
	for (unsigned i = 0; i < LIMIT_VALUE_COUNT; i++) {
		*at++ = '1';
		*at++ = ',';
	}
	at[-1] = ']';
	*at = '\0';
	ck_assert_ptr_null(round_trip(s, &error));
	ck_assert_int_eq(error, -E2BIG);
	s[2] = ' '; /* one comma, and a digit that then ends the list, less */
	s[1] = ' ';
	text = round_trip(s, &error);
	ck_assert_int_eq(error, 0);
	free(text);
	free(s);
}
END_TEST

START_TEST(test_not_json)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{"\xc4\x01\x41", 3},	     /* bin */
		{"\xd4\x05\x00", 3},	     /* ext */
		{"\x81\x01\x02", 3},	     /* a key that is a number */
		{"\x81\xc4\x01\x41\x02", 5}, /* a key that is binary */
		{"\x82\xa1"
		 "a\x01\xa1"
		 "a\x02",
			7}, /* a key twice */
		{"\x81\xa2"
		 "a\x00\x01",
			5},				     /* a key with NUL */
		{"\xa1\xff", 2},			     /* no UTF-8 */
		{"\xa3\xed\xa0\x80", 4},		     /* a surrogate */
		{"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", 9}, /* infinity */
		{"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", 9}, /* no number */
		{"\x91\xc4\x00", 3},			     /* inside */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct approval_value *v = NULL;
		struct json_object *out = NULL;

		ck_assert_int_eq(approval_value_parse(bad[i].bytes, bad[i].len, &v), 0);
		ck_assert_int_eq(convert_json(v, &out), -EINVAL);
		ck_assert_ptr_null(out);
		approval_value_free(v);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_convert");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_test(t, test_same);
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_count);
	tcase_add_test(t, test_not_json);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
