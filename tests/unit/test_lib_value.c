/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/approval.h"
#include "libapproval/limits.h"

static struct approval_pack *pack;

static void setup(void)
{
	ck_assert_int_eq(approval_pack_new(&pack), 0);
}

static void teardown(void)
{
	approval_pack_free(pack);
}

static struct approval_value *parse_pack(void)
{
	struct approval_value *v;
	size_t len;
	const void *data = approval_pack_data(pack, &len);

	ck_assert_int_eq(approval_value_parse(data, len, &v), 0);
	return v;
}

START_TEST(test_round_trip)
{
	const struct approval_value *key, *value;
	struct approval_value *v;
	size_t len;

	approval_pack_map(pack, 10);
	approval_pack_str(pack, "nil");
	approval_pack_nil(pack);
	approval_pack_str(pack, "yes");
	approval_pack_bool(pack, true);
	approval_pack_str(pack, "minus");
	approval_pack_int(pack, INT64_MIN);
	approval_pack_str(pack, "big");
	approval_pack_uint(pack, UINT64_MAX);
	approval_pack_str(pack, "half");
	approval_pack_float(pack, 0.5);
	approval_pack_str(pack, "text");
	approval_pack_strn(pack, "a\0b", 3);
	approval_pack_str(pack, "bin");
	approval_pack_bin(pack, "\xff", 1);
	approval_pack_str(pack, "array");
	approval_pack_array(pack, 2);
	approval_pack_int(pack, 7);
	approval_pack_array(pack, 0);
	approval_pack_str(pack, "raw");
	approval_pack_raw(pack, "\x92\x01\x02", 3);
	approval_pack_str(pack, "null");
	ck_assert_int_eq(approval_pack_str(pack, NULL), 0);

	v = parse_pack();
	ck_assert_int_eq(approval_value_type(v), APPROVAL_MAP);
	ck_assert_uint_eq(approval_value_count(v), 10);
	ck_assert_int_eq(approval_value_type(approval_value_get(v, "nil")), APPROVAL_NIL);
	ck_assert(approval_value_bool(approval_value_get(v, "yes")));
	ck_assert_int_eq(approval_value_type(approval_value_get(v, "minus")), APPROVAL_INT);
	ck_assert_int_eq(approval_value_int(approval_value_get(v, "minus")), INT64_MIN);
	ck_assert_uint_eq(approval_value_uint(approval_value_get(v, "minus")), 0);
	ck_assert_int_eq(approval_value_type(approval_value_get(v, "big")), APPROVAL_UINT);
	ck_assert_int_eq(approval_value_int(approval_value_get(v, "big")), INT64_MAX);
	ck_assert_uint_eq(approval_value_uint(approval_value_get(v, "big")), UINT64_MAX);
	ck_assert(approval_value_float(approval_value_get(v, "half")) == 0.5);
	ck_assert(approval_value_float(approval_value_get(v, "minus")) < -9e18);
	ck_assert_mem_eq(approval_value_str(approval_value_get(v, "text"), &len), "a\0b\0", 4);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(approval_value_str(approval_value_get(v, "bin"), &len), "\xff\0", 2);
	ck_assert_uint_eq(len, 1);
	value = approval_value_get(v, "array");
	ck_assert_int_eq(approval_value_int(approval_value_at(value, 0)), 7);
	ck_assert_int_eq(approval_value_type(approval_value_at(value, 1)), APPROVAL_ARRAY);
	ck_assert_ptr_null(approval_value_at(value, 2));
	ck_assert_ptr_null(approval_value_at(v, 0));
	value = approval_value_get(v, "raw");
	ck_assert_mem_eq(approval_value_raw(value, &len), "\x92\x01\x02", 3);
	ck_assert_uint_eq(len, 3);
	ck_assert_int_eq(approval_value_type(approval_value_get(v, "null")), APPROVAL_NIL);
	ck_assert_ptr_nonnull(approval_value_get(v, "null"));
	ck_assert_ptr_null(approval_value_get(v, "other"));
	ck_assert(approval_value_pair(v, 9, &key, &value));
	ck_assert_str_eq(approval_value_str(key, NULL), "null");
	ck_assert(!approval_value_pair(v, 10, &key, &value));
	ck_assert_ptr_null(key);
	approval_value_free(v);
}
END_TEST

START_TEST(test_wrong_types_are_harmless)
{
	struct approval_value *v;
	size_t len = 1;

	ck_assert_int_eq(approval_value_type(NULL), APPROVAL_NIL);
	ck_assert(!approval_value_bool(NULL));
	ck_assert_int_eq(approval_value_int(NULL), 0);
	ck_assert_str_eq(approval_value_str(NULL, &len), "");
	ck_assert_uint_eq(len, 0);
	ck_assert_uint_eq(approval_value_count(NULL), 0);
	ck_assert_ptr_null(approval_value_at(NULL, 0));
	ck_assert_ptr_null(approval_value_get(NULL, "x"));
	ck_assert_str_eq(approval_value_text(NULL, "x"), "");
	ck_assert_ptr_null(approval_value_raw(NULL, &len));
	ck_assert(!approval_value_pair(NULL, 0, NULL, NULL));
	approval_value_free(NULL);

	approval_pack_str(pack, "text");
	v = parse_pack();
	ck_assert_int_eq(approval_value_int(v), 0);
	ck_assert(!approval_value_bool(v));
	ck_assert_uint_eq(approval_value_count(v), 0);
	ck_assert_ptr_null(approval_value_get(v, "text"));
	approval_value_free(v);
}
END_TEST

START_TEST(test_floats_saturate)
{
	static const struct {
		double f;
		int64_t i;
		uint64_t u;
	} cases[] = {
		{1.9, 1, 1},
		{-1.9, -1, 0},
		{1e30, INT64_MAX, UINT64_MAX},
		{-1e30, INT64_MIN, 0},
		{NAN, 0, 0},
		{INFINITY, INT64_MAX, UINT64_MAX},
		{0x1p63, INT64_MAX, UINT64_C(1) << 63},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct approval_value *v;

		approval_pack_reset(pack);
		approval_pack_float(pack, cases[i].f);
		v = parse_pack();
		ck_assert_int_eq(approval_value_int(v), cases[i].i);
		ck_assert_uint_eq(approval_value_uint(v), cases[i].u);
		approval_value_free(v);
	}
}
END_TEST

START_TEST(test_dup_outlives)
{
	struct approval_value *v, *copy;
	size_t len;

	approval_pack_map(pack, 1);
	approval_pack_str(pack, "k");
	approval_pack_array(pack, 2);
	approval_pack_str(pack, "one");
	approval_pack_raw(pack, "\xd4\x05\x01", 3); /* an ext */
	v = parse_pack();
	ck_assert_int_eq(approval_value_dup(approval_value_get(v, "k"), &copy), 0);
	approval_value_free(v);
	ck_assert_str_eq(approval_value_str(approval_value_at(copy, 0), NULL), "one");
	ck_assert_int_eq(approval_value_type(approval_value_at(copy, 1)), APPROVAL_EXT);
	ck_assert_mem_eq(approval_value_raw(copy, &len), "\x92\xa3one\xd4\x05\x01", 8);
	ck_assert_uint_eq(len, 8);
	approval_value_free(copy);
	ck_assert_int_eq(approval_value_dup(NULL, &copy), -EINVAL);
	ck_assert_ptr_null(copy);
}
END_TEST

START_TEST(test_bad_bytes)
{
	static const struct {
		const char *bytes;
		size_t len;
		int rc;
	} cases[] = {
		{"", 0, -EBADMSG},
		{"\xc1", 1, -EBADMSG},
		{"\x92\x01", 2, -EBADMSG},		/* cut off */
		{"\x01\x02", 2, -EBADMSG},		/* two values */
		{"\xda\xff\xff", 3, -EBADMSG},		/* a length with nothing behind it */
		{"\xdd\xff\xff\xff\xff", 5, -EMSGSIZE}, /* a count like a bomb */
		{"\xdf\x7f\xff\xff\xff", 5, -EMSGSIZE},
	};
	struct approval_value *v;
	char deep[LIMIT_DEPTH + 2];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		v = (struct approval_value *)1;
		ck_assert_msg(
			approval_value_parse(cases[i].bytes, cases[i].len, &v) == cases[i].rc,
			"case %zu", i);
		ck_assert_ptr_null(v);
	}
	ck_assert_int_eq(approval_value_parse(NULL, 1, &v), -EINVAL);

	memset(deep, 0x91, sizeof(deep));
	deep[LIMIT_DEPTH] = (char)0xc0;
	ck_assert_int_eq(approval_value_parse(deep, LIMIT_DEPTH + 1, &v), 0);
	approval_value_free(v);
	deep[LIMIT_DEPTH] = (char)0x91;
	deep[LIMIT_DEPTH + 1] = (char)0xc0;
	ck_assert_int_eq(approval_value_parse(deep, LIMIT_DEPTH + 2, &v), -EMSGSIZE);
	ck_assert_ptr_null(v);
}
END_TEST

START_TEST(test_every_prefix_is_refused)
{
	struct approval_value *v;
	size_t len, i;
	const char *data;

	approval_pack_map(pack, 2);
	approval_pack_str(pack, "command");
	approval_pack_str(pack, "rm -r ./build");
	approval_pack_str(pack, "n");
	approval_pack_array(pack, 3);
	approval_pack_int(pack, -70000);
	approval_pack_float(pack, 1.5);
	approval_pack_bin(pack, "xyz", 3);
	data = approval_pack_data(pack, &len);
	for (i = 0; i < len; i++)
		ck_assert_int_eq(approval_value_parse(data, i, &v), -EBADMSG);
	ck_assert_int_eq(approval_value_parse(data, len, &v), 0);
	approval_value_free(v);
}
END_TEST

START_TEST(test_pack_errors_stick)
{
	size_t len = 1;

	ck_assert_int_eq(approval_pack_raw(pack, "\x92\x01", 2), -EINVAL);
	ck_assert_int_eq(approval_pack_nil(pack), -EINVAL);
	ck_assert_ptr_null(approval_pack_data(pack, &len));
	ck_assert_uint_eq(len, 0);
	approval_pack_reset(pack);
	ck_assert_int_eq(approval_pack_nil(pack), 0);
	ck_assert_int_eq(approval_pack_strn(pack, NULL, 1), -EINVAL);
	approval_pack_reset(pack);
	ck_assert_int_eq(approval_pack_array(pack, LIMIT_ELEMENTS + 1), -EMSGSIZE);
	approval_pack_reset(pack);
	ck_assert_int_eq(approval_pack_bin(pack, NULL, 0), 0);
	ck_assert_mem_eq(approval_pack_data(pack, &len), "\xc4\x00", 2);
}
END_TEST

START_TEST(test_pack_is_bounded)
{
	static char chunk[1 << 20];
	int i, rc = 0;

	approval_pack_array(pack, 5);
	for (i = 0; i < 5 && !rc; i++)
		rc = approval_pack_bin(pack, chunk, sizeof(chunk));
	ck_assert_int_eq(rc, -EMSGSIZE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_value");
	TCase *t = tcase_create("value");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_round_trip);
	tcase_add_test(t, test_wrong_types_are_harmless);
	tcase_add_test(t, test_floats_saturate);
	tcase_add_test(t, test_dup_outlives);
	tcase_add_test(t, test_bad_bytes);
	tcase_add_test(t, test_every_prefix_is_refused);
	tcase_add_test(t, test_pack_errors_stick);
	tcase_add_test(t, test_pack_is_bounded);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
