/* SPDX-License-Identifier: MIT */
/* Reading values: every format and its edges, iterators, and bytes that were never scanned. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/limits.h"
#include "libapproval/wire/code.h"
#include "libapproval/wire/value.h"

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

static struct wire_value read_one(struct bytes in)
{
	struct wire_value v;

	ck_assert_int_eq(wire_read(&in, &v), 0);
	ck_assert_uint_eq(in.len, 0);
	return v;
}

static void check_uint(struct bytes in, uint64_t expected)
{
	const struct wire_value v = read_one(in);

	ck_assert_int_eq(v.kind, WIRE_KIND_UINT);
	ck_assert_uint_eq(v.u64, expected);
}

static void check_int(struct bytes in, int64_t expected)
{
	const struct wire_value v = read_one(in);

	ck_assert_int_eq(v.kind, WIRE_KIND_INT);
	ck_assert_int_eq(v.i64, expected);
}

START_TEST(integers)
{
	check_uint(BYTES(0x00), 0);
	check_uint(BYTES(0x7f), 127);
	check_uint(BYTES(0xcc, 0xff), 255);
	check_uint(BYTES(0xcd, 0xff, 0xfe), 65534);
	check_uint(BYTES(0xce, 0xff, 0xff, 0xff, 0xfe), 4294967294);
	check_uint(BYTES(0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), UINT64_MAX);
	check_int(BYTES(0xff), -1);
	check_int(BYTES(0xe0), -32);
	check_int(BYTES(0xd0, 0x80), -128);
	check_int(BYTES(0xd1, 0x80, 0x00), -32768);
	check_int(BYTES(0xd2, 0x80, 0x00, 0x00, 0x00), INT32_MIN);
	check_int(BYTES(0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0), INT64_MIN);
	/* the sign is the value's, not the format's */
	check_uint(BYTES(0xd0, 0x7f), 127);
	check_uint(BYTES(0xd1, 0x7f, 0xff), 32767);
	check_uint(BYTES(0xd2, 0x7f, 0xff, 0xff, 0xff), INT32_MAX);
	check_uint(BYTES(0xd3, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), INT64_MAX);
}
END_TEST

START_TEST(scalars)
{
	ck_assert_int_eq(read_one(BYTES(0xc0)).kind, WIRE_KIND_NIL);
	ck_assert_int_eq(read_one(BYTES(0xc2)).kind, WIRE_KIND_BOOL);
	ck_assert(!read_one(BYTES(0xc2)).boolean);
	ck_assert(read_one(BYTES(0xc3)).boolean);
	ck_assert_int_eq(read_one(BYTES(0xca, 0xbf, 0xc0, 0, 0)).kind, WIRE_KIND_FLOAT);
	ck_assert_double_eq(read_one(BYTES(0xca, 0xbf, 0xc0, 0, 0)).f64, -1.5);
	ck_assert_double_eq(read_one(BYTES(0xcb, 0x40, 0x09, 0, 0, 0, 0, 0, 0)).f64, 3.125);
}
END_TEST

static void check_bytes(struct bytes in, enum wire_kind kind, const char *expected, int ext)
{
	const struct wire_value v = read_one(in);

	ck_assert_int_eq(v.kind, kind);
	ck_assert_ptr_nonnull(v.bytes.data);
	ck_assert(bytes_is(v.bytes, expected));
	if (kind == WIRE_KIND_EXT)
		ck_assert_int_eq(v.ext, ext);
}

START_TEST(byte_strings)
{
	check_bytes(BYTES(0xa0), WIRE_KIND_STR, "", 0);
	check_bytes(BYTES(0xa2, 'h', 'i'), WIRE_KIND_STR, "hi", 0);
	check_bytes(BYTES(0xd9, 2, 'h', 'i'), WIRE_KIND_STR, "hi", 0);
	check_bytes(BYTES(0xda, 0, 2, 'h', 'i'), WIRE_KIND_STR, "hi", 0);
	check_bytes(BYTES(0xdb, 0, 0, 0, 2, 'h', 'i'), WIRE_KIND_STR, "hi", 0);
	check_bytes(BYTES(0xc4, 0), WIRE_KIND_BIN, "", 0);
	check_bytes(BYTES(0xc4, 2, 'h', 'i'), WIRE_KIND_BIN, "hi", 0);
	check_bytes(BYTES(0xc5, 0, 2, 'h', 'i'), WIRE_KIND_BIN, "hi", 0);
	check_bytes(BYTES(0xc6, 0, 0, 0, 2, 'h', 'i'), WIRE_KIND_BIN, "hi", 0);
	check_bytes(BYTES(0xd4, 0xff, 'h'), WIRE_KIND_EXT, "h", -1);
	check_bytes(BYTES(0xd5, 5, 'h', 'i'), WIRE_KIND_EXT, "hi", 5);
	check_bytes(BYTES(0xd6, 5, 'h', 'i', 'h', 'o'), WIRE_KIND_EXT, "hiho", 5);
	check_bytes(BYTES(0xc7, 0, 5), WIRE_KIND_EXT, "", 5);
	check_bytes(BYTES(0xc7, 2, 5, 'h', 'i'), WIRE_KIND_EXT, "hi", 5);
	check_bytes(BYTES(0xc8, 0, 2, 5, 'h', 'i'), WIRE_KIND_EXT, "hi", 5);
	check_bytes(BYTES(0xc9, 0, 0, 0, 2, 5, 'h', 'i'), WIRE_KIND_EXT, "hi", 5);
}
END_TEST

/* ext32 of the greatest length: one more with its type byte, which must not wrap around. */
START_TEST(ext_of_the_greatest_length)
{
	struct bytes in = BYTES(0xc9, 0xff, 0xff, 0xff, 0xff, 1, 2, 3), cursor = in;
	struct wire_value v;

	ck_assert_int_eq(wire_read(&cursor, &v), -EBADMSG);
	cursor = in;
	ck_assert_int_eq(wire_skip(&cursor, NULL), -EBADMSG);
}
END_TEST

START_TEST(containers_give_their_head)
{
	struct bytes in = BYTES(0x82, 0xa1, 'a', 1, 0xa1, 'b', 2);
	struct wire_value v;

	ck_assert_int_eq(wire_read(&in, &v), 0);
	ck_assert_int_eq(v.kind, WIRE_KIND_MAP);
	ck_assert_uint_eq(v.count, 2);
	ck_assert_uint_eq(in.len, 6);
	/* a count that the bytes at hand can't hold is refused at the head */
	in = BYTES(0x82, 1, 2, 3);
	ck_assert_int_eq(wire_read(&in, &v), -EBADMSG);
	in = BYTES(0xdd, 0xff, 0xff, 0xff, 0xff, 1);
	ck_assert_int_eq(wire_read(&in, &v), -EBADMSG);
}
END_TEST

START_TEST(skip_takes_one)
{
	const struct bytes in = BYTES(0x92, 0x81, 0xa1, 'k', 0x90, 7, 0xc0, 0x01);
	struct bytes cursor = in, value;

	ck_assert_int_eq(wire_skip(&cursor, &value), 0);
	ck_assert_ptr_eq(value.data, in.data);
	ck_assert_uint_eq(value.len, 6);
	ck_assert_int_eq(wire_skip(&cursor, NULL), 0);
	ck_assert_int_eq(wire_skip(&cursor, &value), 0);
	ck_assert_uint_eq(cursor.len, 0);
	ck_assert_int_eq(wire_skip(&cursor, &value), -EBADMSG);
}
END_TEST

/* A failure leaves the cursor where it was. */
START_TEST(skip_fails_without_trace)
{
	for (size_t n = 0; n < 9; n++) {
		const struct bytes in =
			BYTES(0x92, 0x81, 0xa2, 'k', 'k', 0x91, 0xcd, 0x01, 0x02, 7);
		struct bytes cursor = {in.data, n};

		ck_assert_int_eq(wire_skip(&cursor, NULL), -EBADMSG);
		ck_assert_ptr_eq(cursor.data, in.data);
		ck_assert_uint_eq(cursor.len, n);
	}
}
END_TEST

START_TEST(measure_limits)
{
	uint8_t deep[LIMIT_DEPTH + 1];
	struct wire_measure m;

	memset(deep, 0x91, sizeof(deep));
	deep[LIMIT_DEPTH - 1] = 0x90;
	ck_assert_int_eq(wire_measure((struct bytes){deep, LIMIT_DEPTH}, &m), 0);
	ck_assert_uint_eq(m.depth, LIMIT_DEPTH);
	ck_assert_uint_eq(m.values, LIMIT_DEPTH);
	deep[LIMIT_DEPTH - 1] = 0x91;
	deep[LIMIT_DEPTH] = 0x90;
	ck_assert_int_eq(wire_measure((struct bytes){deep, sizeof(deep)}, &m), -EMSGSIZE);
	ck_assert_int_eq(wire_measure(BYTES(0x01), &m), 0);
	ck_assert_uint_eq(m.depth, 0);
	ck_assert_uint_eq(m.values, 1);
	ck_assert_int_eq(wire_measure(BYTES(0x01, 0x02), &m), -EBADMSG);
	ck_assert_int_eq(wire_measure(BYTES(0x91), &m), -EBADMSG);
}
END_TEST

static void check_text(struct bytes raw, const char *expected)
{
	struct bytes t;

	ck_assert_int_eq(wire_text(raw, &t), expected ? 0 : -EINVAL);
	ck_assert(!expected || bytes_is(t, expected));
}

START_TEST(text)
{
	check_text(BYTES(0xa2, 'h', 'i'), "hi");
	check_text(BYTES(0xc4, 2, 'h', 'i'), "hi");
	check_text(BYTES(0x01), NULL);
	check_text(BYTES(0xc0), NULL);
	check_text(BYTES(0xd4, 1, 'h'), NULL);
	check_text(BYTES(0xa2, 'h'), NULL);
	check_text(BYTES(0xa1, 'h', 0xc0), NULL);
}
END_TEST

START_TEST(iterators)
{
	const struct bytes array = BYTES(0x93, 1, 0x91, 2, 0xa1, 'x');
	const struct bytes map = BYTES(0x82, 0xa1, 'a', 0x90, 0xa1, 'b', 0x81, 1, 2);
	struct wire_iter it;
	struct bytes key, value;

	ck_assert_int_eq(wire_iter_array(&it, array), 0);
	ck_assert_uint_eq(it.left, 3);
	ck_assert(wire_array_next(&it, &value));
	ck_assert_uint_eq(value.len, 1);
	ck_assert(wire_array_next(&it, &value));
	ck_assert_uint_eq(value.len, 2);
	ck_assert(wire_array_next(&it, &value));
	ck_assert_int_eq(wire_text(value, &key), 0);
	ck_assert(bytes_is(key, "x"));
	ck_assert(!wire_array_next(&it, &value));
	ck_assert_uint_eq(it.rest.len, 0);

	ck_assert_int_eq(wire_iter_map(&it, map), 0);
	ck_assert(wire_map_next(&it, &key, &value));
	ck_assert_uint_eq(value.len, 1);
	ck_assert(wire_map_next(&it, &key, &value));
	ck_assert_uint_eq(value.len, 3);
	ck_assert(!wire_map_next(&it, &key, &value));

	ck_assert_int_eq(wire_iter_map(&it, array), -EINVAL);
	ck_assert(!wire_map_next(&it, &key, &value));
	ck_assert_int_eq(wire_iter_array(&it, map), -EINVAL);
	ck_assert_int_eq(wire_iter_array(&it, (struct bytes){NULL, 0}), -EINVAL);
	ck_assert(!wire_array_next(&it, &value));
}
END_TEST

START_TEST(codes)
{
	for (int c = WIRE_OK + 1; c < WIRE_CODE_N; c++) {
		ck_assert_str_ne(wire_code_name(c), "?");
		ck_assert_int_eq(wire_code_parse(bytes_of(wire_code_name(c))), c);
	}
	ck_assert_str_eq(wire_code_name(WIRE_GONE), "gone");
	ck_assert_str_eq(wire_code_name(WIRE_OK), "?");
	ck_assert_str_eq(wire_code_name(WIRE_CODE_N), "?");
	ck_assert_str_eq(wire_code_name((enum wire_code) - 1), "?");
	ck_assert_int_eq(wire_code_parse(bytes_of("?")), -EINVAL);
	ck_assert_int_eq(wire_code_parse(bytes_of("Gone")), -EINVAL);
	ck_assert_int_eq(wire_code_parse(bytes_of("")), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire value");
	TCase *const t = tcase_create("values");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_add_test(t, integers);
	tcase_add_test(t, scalars);
	tcase_add_test(t, byte_strings);
	tcase_add_test(t, ext_of_the_greatest_length);
	tcase_add_test(t, containers_give_their_head);
	tcase_add_test(t, skip_takes_one);
	tcase_add_test(t, skip_fails_without_trace);
	tcase_add_test(t, measure_limits);
	tcase_add_test(t, text);
	tcase_add_test(t, iterators);
	tcase_add_test(t, codes);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
