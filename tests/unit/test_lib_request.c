/* SPDX-License-Identifier: MIT */
/* The agent's side, asynchronous: what is asked and answered. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "libapproval/wire/message.h"
#include "tests/unit/lib_client.h"

/* ---- requests ---- */

START_TEST(test_allow_and_deny)
{
	struct answer one, two;
	uint32_t first;

	ask(&one, "c1");
	ask(&two, "c2");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	ck_assert_str_eq(peer_param(&peer, "tool"), "Bash");
	ck_assert_int_eq(
		approval_value_type(approval_value_get(peer.params, "input")), APPROVAL_MAP);
	first = peer.id;
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c2");
	ck_assert_uint_ne(first, peer.id);
	/* in another order than they were asked */
	peer_verdict(&peer, client, peer.id, "c2", "deny");
	peer_run(client, &two.done);
	ck_assert(!one.done);
	peer_verdict(&peer, client, first, "c1", "allow");
	peer_run(client, &one.done);
	ck_assert_int_eq(one.status, 0);
	ck_assert_int_eq(one.verdict, APPROVAL_ALLOW);
	ck_assert(one.digest);
	ck_assert_str_eq(one.id, "c1");
	ck_assert_int_eq(two.verdict, APPROVAL_DENY);
	ck_assert_str_eq(two.reason, "because");
	ck_assert_str_eq(two.message, "not performed");
	ck_assert_int_eq(one.times + two.times, 2);
}
END_TEST

START_TEST(test_all_params)
{
	struct approval_request r = request_of("c1");
	struct answer answer = {0};

	r.type = "question";
	r.input = "\x81\xa1k\xa1v";
	r.input_len = 5;
	r.kind = "execute";
	r.summary = "s";
	r.description = "d";
	r.cwd = "/";
	r.turn_id = "t";
	r.on_disconnect = "keep";
	r.timeout_ms = 1;
	r.channel_ms = 2;
	r.mutating = r.fail_closed = r.elsewhere = r.takes_input = r.multi = true;
	r.options = "\x90";
	r.options_len = 1;
	r.schema = "\x80";
	r.schema_len = 1;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), 0);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_uint_eq(approval_value_count(peer.params), 19);
	ck_assert_str_eq(
		approval_value_text(approval_value_get(peer.params, "input"), "k"), "v");
	ck_assert_str_eq(peer_param(&peer, "on_disconnect"), "keep");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, 0);
}
END_TEST

START_TEST(test_made_id_is_kept)
{
	struct answer answer;
	char id[64];

	ask(&answer, NULL);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	snprintf(id, sizeof(id), "%s", peer_param(&peer, "tool_call_id"));
	ck_assert_uint_eq(strlen(id), 5 + 32);
	peer_hang_up(&peer);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), id);
	peer_verdict(&peer, client, peer.id, id, "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
}
END_TEST

START_TEST(test_no_id)
{
	struct approval_request r = request_of(NULL);
	struct answer answer = {0};
	struct approval_call *call;

	r.no_tool_call_id = true;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, &call), 0);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_ptr_null(approval_value_get(peer.params, "tool_call_id"));
	peer_verdict(&peer, client, peer.id, "of-the-check", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	ck_assert_str_eq(answer.id, "of-the-check");
	/* nothing to name it by: it is forgotten here only */
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, &call), 0);
	peer_expect(&peer, client, "request");
	approval_call_cancel(call);
	peer_expect_nothing(&peer, client);
}
END_TEST

START_TEST(test_check)
{
	struct approval_request r = request_of("c1");
	struct answer answer = {0};

	ck_assert_int_eq(approval_check(client, &r, on_decision, &answer, NULL), 0);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "check");
	peer_verdict(&peer, client, peer.id, NULL, "ask");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, 0);
	ck_assert_int_eq(answer.verdict, APPROVAL_ASK);
}
END_TEST

START_TEST(test_error_reply)
{
	struct answer answer;

	ask(&answer, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_error(&peer, client, peer.id, WIRE_MISMATCH, "other input");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -EREMOTEIO);
	ck_assert_str_eq(answer.code, "mismatch");
}
END_TEST

/* ---- never an allow in doubt ---- */

static void expect_doubt(const struct wire_request_reply *r)
{
	struct wire_buffer b;
	struct answer answer;

	ask(&answer, "c1");
	peer_expect(&peer, client, "request");
	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, peer.id);
	wire_encode(&wire_request_reply_spec, r, &b);
	peer_send_buffer(&peer, client, &b);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -EPROTO);
}

START_TEST(test_doubtful_verdicts)
{
	static const uint8_t digest[WIRE_DIGEST];
	static const char *const verdicts[] = {
		"ask", "defer", "Allow", "allowed", "allow ", ""};
	struct wire_request_reply r = {
		.request = bytes_of("req_1"),
		.tool_call_id = bytes_of("c1"),
		.digest = {digest, sizeof(digest)},
	};
	struct answer answer;
	size_t i;

	peer_greet(&peer, client);
	for (i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++) {
		r.verdict = bytes_of(verdicts[i]);
		expect_doubt(&r);
	}
	r.verdict = (struct bytes){"allow\0", 6};
	expect_doubt(&r);
	r.verdict = bytes_of("allow");
	r.digest = (struct bytes){NULL, 0}; /* of nothing */
	expect_doubt(&r);
	r.digest = (struct bytes){digest, sizeof(digest)};
	r.tool_call_id = bytes_of("c2"); /* of another call */
	expect_doubt(&r);
	r.tool_call_id = (struct bytes){NULL, 0}; /* of some call */
	expect_doubt(&r);
	/* no verdict; a verdict that is no str */
	ask(&answer, "c1");
	peer_expect(&peer, client, "request");
	peer_reply(&peer, client, peer.id, "request", "req_1", NULL);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -EPROTO);
	ask(&answer, "c1");
	peer_expect(&peer, client, "request");
	peer_reply(&peer, client, peer.id, "verdict", NULL, NULL);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -EPROTO);
	/* two verdicts */
	ask(&answer, "c1");
	peer_expect(&peer, client, "request");
	peer_reply(&peer, client, peer.id, "verdict", "deny", "verdict", "allow", NULL);
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.status, -EPROTO);
}
END_TEST

/* ---- limits ---- */

START_TEST(test_limits)
{
	static char big[LIMIT_INPUT + 64];
	struct approval_request r = request_of("c1");
	struct answer answer = {0};
	char deep[LIMIT_DEPTH + 1];

	memset(big, 0xc0, sizeof(big));
	r.input = big;
	r.input_len = LIMIT_INPUT + 1;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EMSGSIZE);
	/* not one value */
	r.input_len = 2;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EINVAL);
	r.input_len = 0;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EINVAL);
	/* as deep as a message may be, but inside of one */
	memset(deep, 0x91, sizeof(deep));
	deep[LIMIT_DEPTH - 1] = (char)0xc0;
	r.input = deep;
	r.input_len = LIMIT_DEPTH;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EMSGSIZE);
	r = request_of("c1");
	r.tool = NULL;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EINVAL);
	r = request_of("c1");
	r.size = 1;
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), -EINVAL);
	ck_assert_int_eq(
		approval_call(client, "x", "\x90", 1, true, NULL, NULL, NULL), -EINVAL);
	ck_assert_int_eq(
		approval_call(client, "x", "\x80\x80", 2, true, NULL, NULL, NULL), -EINVAL);
	ck_assert_int_eq(
		approval_call(client, "x", big, LIMIT_FRAME + 1, true, NULL, NULL, NULL),
		-EMSGSIZE);
	ck_assert_int_eq(approval_call(client, "x", NULL, 0, true, NULL, NULL, NULL), -EINVAL);
	ck_assert_int_eq(approval_subscribe(client), -EINVAL);
	ck_assert_int_eq(answer.times, 0);
	peer_greet(&peer, client);
	peer_expect_nothing(&peer, client);
}
END_TEST

START_TEST(test_large_input)
{
	struct approval_pack *pack;
	struct approval_request r = request_of("c1");
	struct answer answer = {0};
	char *text = malloc(LIMIT_INPUT);
	size_t len;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', LIMIT_INPUT);
	approval_pack_new(&pack);
	approval_pack_map(pack, 1);
	approval_pack_str(pack, "content");
	approval_pack_strn(pack, text, LIMIT_INPUT - 64);
	r.input = approval_pack_data(pack, &r.input_len);
	ck_assert_int_eq(approval_request(client, &r, on_decision, &answer, NULL), 0);
	approval_pack_free(pack);
	/* far more than the socket holds, lost half way, sent again */
	peer_greet(&peer, client);
	peer_hang_up(&peer);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	approval_value_str(
		approval_value_get(approval_value_get(peer.params, "input"), "content"), &len);
	ck_assert_uint_eq(len, LIMIT_INPUT - 64);
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	free(text);
}
END_TEST

START_TEST(test_many_calls)
{
	enum { MANY = LIMIT_OUTSTANDING - 64 };
	struct answer answer = {0};
	int i;

	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(approval_call(client, "usage", "\x80", 1, true, on_reply,
					 &answer, NULL),
			0);
	ck_assert_int_eq(
		approval_call(client, "usage", "\x80", 1, true, on_reply, &answer, NULL),
		-EAGAIN);
	peer_greet(&peer, client);
	for (i = 0; i < MANY; i++) {
		peer_expect(&peer, client, "usage");
		peer_reply(&peer, client, peer.id, NULL);
	}
	while (answer.times < MANY) {
		answer.done = false;
		peer_run(client, &answer.done);
	}
	ck_assert_int_eq(answer.times, MANY);
	ck_assert_int_eq(approval_call(client, "usage", "\x80", 1, true, NULL, NULL, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_request");
	SRunner *sr = srunner_create(s);
	TCase *t;
	int failed;

	t = client_tcase(s, "requests");
	tcase_add_test(t, test_allow_and_deny);
	tcase_add_test(t, test_all_params);
	tcase_add_test(t, test_made_id_is_kept);
	tcase_add_test(t, test_no_id);
	tcase_add_test(t, test_check);
	tcase_add_test(t, test_error_reply);
	tcase_add_test(t, test_doubtful_verdicts);
	t = client_tcase(s, "limits");
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_large_input);
	tcase_add_test(t, test_many_calls);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
