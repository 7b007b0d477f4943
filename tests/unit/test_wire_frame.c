/* SPDX-License-Identifier: MIT */
/* Messages as MessagePack-RPC: what is taken, what is answered, what ends a connection. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/limits.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

/* The object, kept for as long as a test looks at its frame. */
static uint8_t kept[LIMIT_NAME + 64];

static int decode(struct bytes object, struct wire_frame *f)
{
	ck_assert_int_eq(wire_scan_value(object), 0);
	ck_assert_uint_le(object.len, sizeof(kept));
	memcpy(kept, object.data, object.len);
	return wire_frame_decode((struct bytes){kept, object.len}, f);
}

START_TEST(call)
{
	struct wire_frame f;

	ck_assert_int_eq(
		decode(BYTES(0x94, 0, 7, 0xa2, 'g', 'o', 0x91, 0x81, 0xa1, 'a', 1), &f), 0);
	ck_assert_int_eq(f.type, WIRE_CALL);
	ck_assert_uint_eq(f.id, 7);
	ck_assert(bytes_is(f.method, "go"));
	ck_assert(bytes_equal(f.params, BYTES(0x81, 0xa1, 'a', 1)));
	ck_assert_ptr_null(f.error.data);
	ck_assert_ptr_null(f.result.data);
}
END_TEST

START_TEST(notification)
{
	struct wire_frame f;

	ck_assert_int_eq(decode(BYTES(0x93, 2, 0xc4, 2, 'g', 'o', 0x91, 0x80), &f), 0);
	ck_assert_int_eq(f.type, WIRE_NOTIFY);
	ck_assert(bytes_is(f.method, "go"));
	ck_assert(bytes_equal(f.params, BYTES(0x80)));
}
END_TEST

START_TEST(reply)
{
	struct wire_frame f;

	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0xc0, 0xc0), &f), 0);
	ck_assert_int_eq(f.type, WIRE_REPLY);
	ck_assert(bytes_equal(f.result, BYTES(0xc0)));
	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0xc0, 0x92, 1, 2), &f), 0);
	ck_assert_ptr_null(f.error.data);
	ck_assert(bytes_equal(f.result, BYTES(0x92, 1, 2)));
	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0x81, 0xa1, 'c', 1, 0xc0), &f), 0);
	ck_assert(bytes_equal(f.error, BYTES(0x81, 0xa1, 'c', 1)));
	ck_assert_ptr_null(f.result.data);
	/* whatever stands beside an error is no result */
	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0x80, 0x92, 1, 2), &f), 0);
	ck_assert_ptr_null(f.result.data);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0xa1, 'e', 0xc0), &f), -EBADMSG);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 7, 0xc2, 0xc0), &f), -EBADMSG);
}
END_TEST

/* An id is a number of 32 bits, in whatever format it is written. */
START_TEST(ids)
{
	struct wire_frame f;

	ck_assert_int_eq(
		decode(BYTES(0x94, 1, 0xce, 0xff, 0xff, 0xff, 0xff, 0xc0, 0xc0), &f), 0);
	ck_assert_uint_eq(f.id, UINT32_MAX);
	ck_assert_int_eq(
		decode(BYTES(0x94, 1, 0xd3, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xc0, 0xc0),
			&f),
		0);
	ck_assert_uint_eq(f.id, UINT32_MAX);
	ck_assert_int_eq(
		decode(BYTES(0x94, 1, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0xc0, 0xc0), &f), -EBADMSG);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 0xff, 0xc0, 0xc0), &f), -EBADMSG);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 0xc0, 0xc0, 0xc0), &f), -EBADMSG);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 0xa1, '7', 0xc0, 0xc0), &f), -EBADMSG);
	ck_assert_int_eq(decode(BYTES(0x94, 1, 0xca, 0, 0, 0, 0, 0xc0, 0xc0), &f), -EBADMSG);
}
END_TEST

START_TEST(no_rpc)
{
	static const struct {
		uint8_t data[16];
		size_t len;
	} cases[] = {
		{{0x90}, 1},
		{{0x91, 0}, 2},
		{{0x80}, 1},				  /* no array */
		{{0x94, 3, 7, 0xa1, 'a', 0x91, 0x80}, 7}, /* no such type */
		{{0x94, 0xff, 7, 0xa1, 'a', 0x91, 0x80}, 7},
		{{0x94, 0xc0, 7, 0xa1, 'a', 0x91, 0x80}, 7},
		{{0x93, 0, 7, 0xa1, 'a'}, 5},		     /* too short */
		{{0x95, 0, 7, 0xa1, 'a', 0x91, 0x80, 0}, 8}, /* too long */
		{{0x94, 2, 0xa1, 'a', 0x91, 0x80, 0}, 7},
		{{0x93, 1, 7, 0xc0}, 4},
		{{0x94, 0, 7, 1, 0x91, 0x80}, 6}, /* method is no str */
		{{0x94, 0, 7, 0xc0, 0x91, 0x80}, 6},
		{{0x94, 0, 7, 0xa1, 'a', 0x80}, 6}, /* params are no array */
		{{0x94, 0, 7, 0xa1, 'a', 0xc0}, 6},
	};
	struct wire_frame f;

	ck_assert_int_eq(decode((struct bytes){cases[_i].data, cases[_i].len}, &f), -EBADMSG);
}
END_TEST

/* Well formed, but wrong in its content: it can be answered. */
START_TEST(wrong_params)
{
	static const struct {
		uint8_t data[16];
		size_t len;
	} cases[] = {
		{{0x94, 0, 7, 0xa1, 'a', 0x90}, 6},
		{{0x94, 0, 7, 0xa1, 'a', 0x92, 0x80, 0x80}, 8},
		{{0x94, 0, 7, 0xa1, 'a', 0x91, 0xc0}, 7},
		{{0x94, 0, 7, 0xa1, 'a', 0x91, 0x90}, 7},
		{{0x94, 0, 7, 0xa1, 'a', 0x91, 0xa1, 'x'}, 8},
	};
	struct wire_frame f;

	ck_assert_int_eq(
		decode((struct bytes){cases[_i].data, cases[_i].len}, &f), WIRE_INVALID);
	ck_assert_int_eq(f.type, WIRE_CALL);
	ck_assert_uint_eq(f.id, 7);
	ck_assert(bytes_is(f.method, "a"));
	ck_assert_ptr_null(f.params.data);
}
END_TEST

START_TEST(method_length)
{
	char name[LIMIT_NAME + 1];
	struct wire_frame f;
	struct wire_buffer b;

	memset(name, 'm', sizeof(name));
	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_call(&b, 1, (struct bytes){name, LIMIT_NAME});
	wire_pack_map(&b, 0);
	ck_assert_int_eq(decode(wire_buffer_bytes(&b), &f), 0);
	wire_buffer_reset(&b, b.cap);
	wire_pack_call(&b, 1, (struct bytes){name, LIMIT_NAME + 1});
	wire_pack_map(&b, 0);
	ck_assert_int_eq(decode(wire_buffer_bytes(&b), &f), WIRE_INVALID);
	ck_assert_uint_eq(f.id, 1);
	wire_buffer_free(&b);
}
END_TEST

/* Never scanned, and cut off anywhere. */
START_TEST(cut_off)
{
	static const uint8_t calls[] = {0x94, 0, 0xcd, 1, 2, 0xd9, 2, 'g', 'o', 0x91, 0x80};
	static const uint8_t replies[] = {0x94, 1, 0xcd, 1, 2, 0x81, 0xa1, 'c', 1, 0x91, 0xc0};
	struct wire_frame f;

	for (size_t n = 0; n < sizeof(calls); n++) {
		uint8_t *const part = malloc(n + 1);

		ck_assert_ptr_nonnull(part);
		memcpy(part, calls, n);
		ck_assert_int_eq(wire_frame_decode((struct bytes){part, n}, &f), -EBADMSG);
		memcpy(part, replies, n);
		ck_assert_int_eq(wire_frame_decode((struct bytes){part, n}, &f), -EBADMSG);
		free(part);
	}
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire frame");
	TCase *const t = tcase_create("frames");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_add_test(t, call);
	tcase_add_test(t, notification);
	tcase_add_test(t, reply);
	tcase_add_test(t, ids);
	tcase_add_loop_test(t, no_rpc, 0, 14);
	tcase_add_loop_test(t, wrong_params, 0, 5);
	tcase_add_test(t, method_length);
	tcase_add_test(t, cut_off);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
