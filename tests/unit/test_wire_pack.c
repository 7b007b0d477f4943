/* SPDX-License-Identifier: MIT */
/* Writing: the exact bytes, the buffer's bound and its sticky error. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/limits.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

static struct wire_buffer buffer;

static void setup(void)
{
	wire_buffer_init(&buffer, LIMIT_FRAME);
}

static void teardown(void)
{
	wire_buffer_free(&buffer);
}

/* What was written since the last look. */
static void check_written(struct bytes expected)
{
	ck_assert_int_eq(buffer.error, 0);
	ck_assert(bytes_equal(wire_buffer_bytes(&buffer), expected));
	wire_buffer_reset(&buffer, SIZE_MAX);
}

START_TEST(values)
{
	wire_pack_nil(&buffer);
	wire_pack_bool(&buffer, true);
	wire_pack_bool(&buffer, false);
	ck_assert_uint_eq(buffer.values, 3);
	check_written(BYTES(0xc0, 0xc3, 0xc2));
	ck_assert_uint_eq(buffer.values, 0);
	wire_pack_u64(&buffer, 127);
	wire_pack_u64(&buffer, 128);
	wire_pack_u64(&buffer, UINT64_MAX);
	check_written(BYTES(0x7f, 0xcc, 0x80, 0xcf, 255, 255, 255, 255, 255, 255, 255, 255));
	wire_pack_i64(&buffer, -1);
	wire_pack_i64(&buffer, 5);
	wire_pack_i64(&buffer, INT64_MIN);
	check_written(BYTES(0xff, 5, 0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0));
	wire_pack_f64(&buffer, 3.125);
	check_written(BYTES(0xcb, 0x40, 0x09, 0, 0, 0, 0, 0, 0));
	wire_pack_strz(&buffer, "hi");
	wire_pack_strz(&buffer, "");
	wire_pack_strz(&buffer, NULL);
	wire_pack_str(&buffer, (struct bytes){NULL, 0});
	check_written(BYTES(0xa2, 'h', 'i', 0xa0, 0xc0, 0xc0));
	wire_pack_bin(&buffer, bytes_of("hi"));
	wire_pack_bin(&buffer, (struct bytes){NULL, 0});
	check_written(BYTES(0xc4, 2, 'h', 'i', 0xc0));
	wire_pack_array(&buffer, 2);
	wire_pack_map(&buffer, 1);
	wire_pack_raw(&buffer, BYTES(0x92, 1, 0x90));
	wire_pack_raw(&buffer, (struct bytes){NULL, 0});
	ck_assert_uint_eq(buffer.values, 6);
	check_written(BYTES(0x92, 0x81, 0x92, 1, 0x90, 0xc0));
}
END_TEST

/* Only what is exactly one value can get into a message. */
START_TEST(raw_must_be_one_value)
{
	static const struct {
		uint8_t data[4];
		size_t len;
	} cases[] = {{{0x92, 1}, 2}, {{1, 2}, 2}, {{0xc1}, 1}, {{0}, 0}};

	wire_pack_raw(&buffer, (struct bytes){cases[_i].data, cases[_i].len});
	ck_assert_int_eq(buffer.error, -EINVAL);
	ck_assert_uint_eq(buffer.len, 0);
}
END_TEST

START_TEST(opened_map)
{
	struct wire_open m, a;

	wire_map_open(&m, &buffer);
	wire_map_nil(&m, "a");
	wire_map_bool(&m, "b", true);
	wire_map_u64(&m, "c", 1);
	wire_map_i64(&m, "d", -1);
	wire_map_str(&m, "e", bytes_of("x"));
	wire_map_strz(&m, "f", NULL);
	wire_map_bin(&m, "g", bytes_of("y"));
	wire_map_raw(&m, "h", BYTES(0x90));
	wire_map_key(&m, "i");
	wire_array_open(&a, &buffer);
	wire_array_item(&a);
	wire_pack_u64(&buffer, 9);
	wire_close(&a);
	wire_close(&m);
	ck_assert_uint_eq(buffer.values, 20);
	check_written(BYTES(0xde, 0, 9, 0xa1, 'a', 0xc0, 0xa1, 'b', 0xc3, 0xa1, 'c', 1, 0xa1,
		'd', 0xff, 0xa1, 'e', 0xa1, 'x', 0xa1, 'f', 0xc0, 0xa1, 'g', 0xc4, 1, 'y', 0xa1,
		'h', 0x90, 0xa1, 'i', 0xdc, 0, 1, 9));
}
END_TEST

START_TEST(opened_limit)
{
	for (uint32_t n = UINT16_MAX; n <= UINT16_MAX + 1u; n++) {
		struct wire_open a;
		struct wire_value v;
		struct bytes in;

		wire_buffer_reset(&buffer, SIZE_MAX);
		wire_array_open(&a, &buffer);
		for (uint32_t i = 0; i < n; i++) {
			wire_array_item(&a);
			wire_pack_nil(&buffer);
		}
		wire_close(&a);
		ck_assert_int_eq(buffer.error, n == UINT16_MAX ? 0 : -EMSGSIZE);
		in = wire_buffer_bytes(&buffer);
		ck_assert_int_eq(wire_read(&in, &v), 0);
		ck_assert_uint_eq(v.count, n == UINT16_MAX ? n : 0);
	}
}
END_TEST

START_TEST(bound)
{
	char text[400];

	memset(text, 't', sizeof(text));
	wire_buffer_init(&buffer, 403);
	wire_pack_str(&buffer, (struct bytes){text, sizeof(text)});
	ck_assert_int_eq(buffer.error, 0);
	ck_assert_uint_eq(buffer.len, 403);
	ck_assert_uint_le(buffer.cap, 403);
	wire_pack_nil(&buffer);
	ck_assert_int_eq(buffer.error, -EMSGSIZE);
	ck_assert_uint_eq(buffer.len, 403);
	/* sticky: nothing is written any more, not even what would fit */
	wire_buffer_rewind(&buffer, (struct wire_mark){.len = 0, .error = -EMSGSIZE});
	wire_pack_nil(&buffer);
	ck_assert_uint_eq(buffer.len, 0);
	ck_assert_int_eq(wire_buffer_reserve(&buffer, 1), -EMSGSIZE);
	wire_buffer_fail(&buffer, -EINVAL);
	ck_assert_int_eq(buffer.error, -EMSGSIZE);
	wire_buffer_reset(&buffer, 0);
	ck_assert_ptr_null(buffer.data);
	ck_assert_int_eq(wire_buffer_reserve(&buffer, 403), 0);
	ck_assert_int_eq(wire_buffer_reserve(&buffer, 404), -EMSGSIZE);
	/* a bound smaller than what is allocated at first */
	wire_buffer_free(&buffer);
	wire_buffer_init(&buffer, 2);
	wire_pack_strz(&buffer, "x");
	ck_assert_int_eq(buffer.error, 0);
	wire_pack_nil(&buffer);
	ck_assert_int_eq(buffer.error, -EMSGSIZE);
	/* lengths that would overflow a sum */
	wire_buffer_reset(&buffer, SIZE_MAX);
	ck_assert_int_eq(wire_buffer_reserve(&buffer, SIZE_MAX), -EMSGSIZE);
}
END_TEST

START_TEST(rewind_takes_back)
{
	struct wire_mark mark;

	wire_buffer_init(&buffer, 4);
	wire_pack_nil(&buffer);
	mark = wire_buffer_mark(&buffer);
	wire_pack_strz(&buffer, "too long for it");
	ck_assert_int_eq(buffer.error, -EMSGSIZE);
	wire_buffer_rewind(&buffer, mark);
	ck_assert_int_eq(buffer.error, 0);
	ck_assert_uint_eq(buffer.values, 1);
	wire_pack_bool(&buffer, true);
	check_written(BYTES(0xc0, 0xc3));
	/* only that it did not fit can be taken back */
	mark = wire_buffer_mark(&buffer);
	wire_pack_raw(&buffer, BYTES(0xc1));
	wire_buffer_rewind(&buffer, mark);
	ck_assert_int_eq(buffer.error, -EINVAL);
}
END_TEST

START_TEST(memory_is_handed_over)
{
	uint8_t *data;
	size_t len;

	wire_pack_strz(&buffer, "hi");
	data = wire_buffer_take(&buffer, &len);
	ck_assert_uint_eq(len, 3);
	ck_assert_ptr_nonnull(data);
	ck_assert_int_eq(data[0], 0xa2);
	free(data);
	ck_assert_uint_eq(buffer.len, 0);
	wire_pack_nil(&buffer);
	check_written(BYTES(0xc0));
	wire_buffer_append(&buffer, "ab", 2);
	wire_buffer_append(&buffer, NULL, 0);
	ck_assert_uint_eq(buffer.values, 0);
	check_written(BYTES('a', 'b'));
}
END_TEST

START_TEST(messages)
{
	struct wire_frame f;
	struct wire_error e;

	wire_pack_call(&buffer, 7, bytes_of("go"));
	wire_pack_map(&buffer, 0);
	check_written(BYTES(0x94, 0, 7, 0xa2, 'g', 'o', 0x91, 0x80));
	wire_pack_notify(&buffer, bytes_of("go"));
	wire_pack_map(&buffer, 0);
	check_written(BYTES(0x93, 2, 0xa2, 'g', 'o', 0x91, 0x80));
	wire_pack_reply_ok(&buffer, 7);
	wire_pack_bool(&buffer, true);
	check_written(BYTES(0x94, 1, 7, 0xc0, 0xc3));

	wire_pack_reply_error(
		&buffer, 7, WIRE_GONE, "it has ended", "state", bytes_of("DENIED"));
	ck_assert_int_eq(wire_frame_decode(wire_buffer_bytes(&buffer), &f), 0);
	ck_assert_int_eq(f.type, WIRE_REPLY);
	ck_assert_int_eq(wire_decode(&wire_error_spec, f.error, &e, NULL), 0);
	ck_assert(bytes_is(e.code, "gone"));
	ck_assert(bytes_is(e.message, "it has ended"));
	ck_assert(bytes_equal(e.data, BYTES(0x81, 0xa5, 's', 't', 'a', 't', 'e', 0xa6, 'D', 'E',
					      'N', 'I', 'E', 'D')));
	wire_buffer_reset(&buffer, SIZE_MAX);
	wire_pack_reply_error(&buffer, 7, WIRE_STORE, NULL, NULL, bytes_of("ignored"));
	ck_assert_int_eq(wire_scan_value(wire_buffer_bytes(&buffer)), 0);
	ck_assert_int_eq(wire_frame_decode(wire_buffer_bytes(&buffer), &f), 0);
	ck_assert_int_eq(wire_decode(&wire_error_spec, f.error, &e, NULL), 0);
	ck_assert_ptr_null(e.message.data);
	ck_assert_ptr_null(e.data.data);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire pack");
	TCase *const t = tcase_create("pack");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, values);
	tcase_add_loop_test(t, raw_must_be_one_value, 0, 4);
	tcase_add_test(t, opened_map);
	tcase_add_test(t, opened_limit);
	tcase_add_test(t, bound);
	tcase_add_test(t, rewind_takes_back);
	tcase_add_test(t, memory_is_handed_over);
	tcase_add_test(t, messages);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
