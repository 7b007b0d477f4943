/* SPDX-License-Identifier: MIT */
/* Messages by hand: the bytes, what is left out, what may not be sent, and the methods. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/wire/message.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})
START_TEST(no_map)
{
	struct wire_problem problem;
	struct wire_get g;

	ck_assert_int_eq(wire_decode(&wire_get_spec, BYTES(0x90), &g, &problem), WIRE_INVALID);
	ck_assert_str_eq(problem.param, "params");
	ck_assert_int_eq(wire_decode(&wire_get_spec, BYTES(0xc0), &g, &problem), WIRE_INVALID);
	/* keys of another type */
	ck_assert_int_eq(wire_decode(&wire_get_spec,
				 BYTES(0x82, 0xa2, 'i', 'd', 0xa1, 'x', 1, 2), &g, &problem),
		WIRE_INVALID);
	ck_assert_str_eq(problem.param, "params");
	ck_assert_int_eq(wire_decode(&wire_get_spec, BYTES(0x81, 0xc0, 0xc0), &g, &problem),
		WIRE_INVALID);
	ck_assert_int_eq(wire_decode(&wire_get_spec, BYTES(0x81, 0x80, 0xc0), &g, &problem),
		WIRE_INVALID);
}
END_TEST

START_TEST(request)
{
	const struct bytes input =
		BYTES(0x81, 0xa7, 'c', 'o', 'm', 'm', 'a', 'n', 'd', 0xa2, 'l', 's');
	struct wire_request r = {.tool = bytes_of("Bash"), .input = input}, q;
	struct wire_buffer b;

	WIRE_PUT(&r, request, timeout_ms, 5000);
	WIRE_PUT(&r, request, multi, false);
	wire_buffer_init(&b, LIMIT_FRAME);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), 0);
	ck_assert_int_eq(wire_decode(&wire_request_spec, wire_buffer_bytes(&b), &q, NULL), 0);
	ck_assert(bytes_is(q.tool, "Bash"));
	/* the digest is made of these very bytes */
	ck_assert(bytes_equal(q.input, input));
	ck_assert(WIRE_HAS(&q, request, timeout_ms));
	ck_assert_uint_eq(q.timeout_ms, 5000);
	ck_assert(WIRE_HAS(&q, request, multi));
	ck_assert(!q.multi);
	ck_assert(!WIRE_HAS(&q, request, mutating));
	ck_assert(!WIRE_HAS(&q, request, channel_ms));
	ck_assert(WIRE_HAS(&q, request, tool));
	ck_assert_ptr_null(q.kind.data);
	wire_buffer_free(&b);
}
END_TEST

/* Absent members are written as nil where the protocol says so, and left out elsewhere. */
START_TEST(nil_or_left_out)
{
	const struct wire_decision_result left_out = {
		.request = bytes_of("r"), .result = bytes_of("ok")};
	const struct wire_state_reply nilled = {0};
	const struct wire_history_verify_reply number = {.ok = true};
	struct wire_history_verify_reply back;
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	ck_assert_int_eq(wire_encode(&wire_decision_result_spec, &left_out, &b), 0);
	ck_assert_uint_eq(b.data[0], 0x82);
	wire_buffer_reset(&b, SIZE_MAX);
	ck_assert_int_eq(wire_encode(&wire_state_reply_spec, &nilled, &b), 0);
	ck_assert(bytes_equal(
		wire_buffer_bytes(&b), BYTES(0x81, 0xa5, 's', 't', 'a', 't', 'e', 0xc0)));
	wire_buffer_reset(&b, SIZE_MAX);
	ck_assert_int_eq(wire_encode(&wire_history_verify_reply_spec, &number, &b), 0);
	ck_assert_uint_eq(b.data[0], 0x84); /* checked, next, ok, head */
	ck_assert_int_eq(wire_decode(&wire_history_verify_reply_spec, wire_buffer_bytes(&b),
				 &back, NULL),
		0);
	ck_assert(back.ok);
	ck_assert(!WIRE_HAS(&back, history_verify_reply, next));
	wire_buffer_free(&b);
}
END_TEST

START_TEST(encoder_refuses)
{
	struct wire_request r = {.tool = bytes_of("Bash")};
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), -EINVAL);
	wire_buffer_reset(&b, SIZE_MAX);
	r.input = BYTES(0x92, 1);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), -EINVAL);
	wire_buffer_reset(&b, SIZE_MAX);
	r.input = BYTES(0x80);
	r.options = BYTES(0x80);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), -EINVAL);
	wire_buffer_reset(&b, SIZE_MAX);
	r.options = BYTES(0x90);
	r.schema = BYTES(0x90);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), -EINVAL);
	wire_buffer_reset(&b, SIZE_MAX);
	r.schema = BYTES(0x80);
	ck_assert_int_eq(wire_encode(&wire_request_spec, &r, &b), 0);
	wire_buffer_free(&b);
}
END_TEST

static int decode_input(struct wire_buffer *b, struct bytes input)
{
	struct wire_problem problem;
	struct wire_request r;
	struct wire_open m;
	int rc;

	wire_buffer_reset(b, SIZE_MAX);
	wire_map_open(&m, b);
	wire_map_strz(&m, "tool", "Bash");
	wire_map_raw(&m, "input", input);
	wire_close(&m);
	rc = wire_decode(&wire_request_spec, wire_buffer_bytes(b), &r, &problem);
	ck_assert_str_eq(problem.param, rc ? "input" : "params");
	return rc;
}

/* What is passed on inside other messages must leave them room. */
START_TEST(free_values)
{
	static uint8_t wide[3 + LIMIT_VALUE_COUNT];
	uint8_t deep[LIMIT_VALUE_DEPTH + 1];
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	memset(deep, 0x91, sizeof(deep));
	deep[LIMIT_VALUE_DEPTH - 1] = 0x90;
	ck_assert_int_eq(decode_input(&b, (struct bytes){deep, LIMIT_VALUE_DEPTH}), 0);
	deep[LIMIT_VALUE_DEPTH - 1] = 0x91;
	deep[LIMIT_VALUE_DEPTH] = 0x90;
	ck_assert_int_eq(decode_input(&b, (struct bytes){deep, sizeof(deep)}), WIRE_TOO_LARGE);
	for (uint32_t values = LIMIT_VALUE_COUNT; values <= LIMIT_VALUE_COUNT + 1; values++) {
		memcpy(wide,
			(const uint8_t[]){
				0xdc, (uint8_t)((values - 1) >> 8), (uint8_t)(values - 1)},
			3);
		ck_assert_int_eq(decode_input(&b, (struct bytes){wide, 3 + values - 1}),
			values == LIMIT_VALUE_COUNT ? 0 : WIRE_TOO_LARGE);
	}
	wire_buffer_free(&b);
}
END_TEST

/* Each form of extension, at the top and inside; the same bytes as a str are none. */
START_TEST(no_extension_types)
{
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	ck_assert_int_eq(decode_input(&b, BYTES(0xc7, 0, 1)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0xc8, 0, 0, 1)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0xc9, 0, 0, 0, 0, 1)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0xd4, 0xff, 0)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0x91, 0xd4, 0xff, 0)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0x81, 0xd4, 0xff, 0, 0xc0)), WIRE_INVALID);
	ck_assert_int_eq(decode_input(&b, BYTES(0xa3, 0xd4, 0xff, 0)), 0);
	ck_assert_int_eq(decode_input(&b, BYTES(0xd3, 0, 0, 0, 0, 0, 0, 0, 0)), 0);
	ck_assert_int_eq(decode_input(&b, BYTES(0xd9, 1, 0xc7)), 0);
	wire_buffer_free(&b);
}
END_TEST

/* The most that one request can bring still fits into the prompt that shows it. */
START_TEST(free_values_leave_room)
{
	const uint32_t text =
		16 * LIMIT_TEXT + LIMIT_PATHS * 2 * LIMIT_TEXT + LIMIT_DESCRIPTION;

	ck_assert_uint_le(5 * LIMIT_VALUE_COUNT + 200 + 8 * LIMIT_PATHS, LIMIT_ELEMENTS);
	ck_assert_uint_le(3 * LIMIT_INPUT + 2 * WIRE_EXTRA_MAX + text, LIMIT_FRAME);
	ck_assert_uint_le(LIMIT_VALUE_DEPTH + 5, LIMIT_DEPTH);
}
END_TEST

START_TEST(methods)
{
	for (int i = 0; i < WIRE_AGENT_METHOD_N; i++) {
		ck_assert_int_eq(wire_agent_method_find(wire_agent_methods[i].name), i);
		ck_assert_ptr_nonnull(wire_agent_methods[i].params);
		ck_assert_ptr_nonnull(wire_agent_methods[i].reply);
	}
	for (int i = 0; i < WIRE_FRONTEND_METHOD_N; i++)
		ck_assert_int_eq(wire_frontend_method_find(wire_frontend_methods[i].name), i);
	ck_assert_int_eq(wire_agent_method_find(bytes_of("check")), WIRE_AGENT_CHECK);
	ck_assert_int_eq(wire_frontend_method_find(bytes_of("decide")), WIRE_FRONTEND_DECIDE);
	ck_assert_ptr_eq(wire_agent_methods[WIRE_AGENT_CHECK].params, &wire_request_spec);
	/* one socket's methods are not the other's */
	ck_assert_int_eq(wire_agent_method_find(bytes_of("decide")), -1);
	ck_assert_int_eq(wire_frontend_method_find(bytes_of("request")), -1);
	ck_assert_int_eq(wire_agent_method_find(bytes_of("Hello")), -1);
	ck_assert_int_eq(wire_agent_method_find(bytes_of("hello ")), -1);
	ck_assert_int_eq(wire_agent_method_find((struct bytes){NULL, 0}), -1);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire message");
	TCase *const t = tcase_create("messages");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, no_map);
	tcase_add_test(t, request);
	tcase_add_test(t, nil_or_left_out);
	tcase_add_test(t, encoder_refuses);
	tcase_add_test(t, free_values);
	tcase_add_test(t, no_extension_types);
	tcase_add_test(t, free_values_leave_room);
	tcase_add_test(t, methods);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
