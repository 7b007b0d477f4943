/* SPDX-License-Identifier: MIT */
/* The agent's side, asynchronous: every phase in which a broker or a call can go. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/wire/message.h"
#include "tests/unit/lib_client.h"

/* ---- lost connections ---- */

START_TEST(test_lost_before_welcome)
{
	struct answer answer;
	struct told told = {0};

	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	/* before hello is read, and after */
	peer_accept(&peer, client);
	peer_hang_up(&peer);
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	peer_hang_up(&peer);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	ck_assert_int_eq(told.connected, 1);
	ck_assert_int_eq(told.disconnected, 0);
}
END_TEST

START_TEST(test_lost_in_every_byte_of_the_answer)
{
	struct wire_request_reply r = {
		.tool_call_id = bytes_of("c1"),
		.verdict = bytes_of("deny"),
	};
	struct answer answer;
	struct wire_buffer b;
	size_t cut, len;

	ask(&answer, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, 0x10000);
	wire_encode(&wire_request_reply_spec, &r, &b);
	len = b.len;
	wire_buffer_free(&b);
	/* a few cuts: the pauses between the connections grow */
	for (cut = 1; cut < len; cut += len / 5) {
		wire_buffer_init(&b, LIMIT_FRAME);
		wire_pack_reply_ok(&b, peer.id);
		wire_encode(&wire_request_reply_spec, &r, &b);
		peer_send(&peer, client, b.data, cut);
		wire_buffer_free(&b);
		peer_hang_up(&peer);
		peer_greet(&peer, client);
		ck_assert(!answer.done);
		peer_expect(&peer, client, "request");
		ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	}
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.times, 1);
}
END_TEST

START_TEST(test_restart)
{
	enum { N = 20 };
	struct answer answers[N];
	struct told told = {0};
	char id[16];
	int i;

	approval_on_event(client, on_event, &told);
	for (i = 0; i < N; i++) {
		snprintf(id, sizeof(id), "c%d", i);
		ask(&answers[i], id);
	}
	peer_greet(&peer, client);
	for (i = 0; i < N; i++)
		peer_expect(&peer, client, "request");
	peer_stop(&peer);
	peer_hang_up(&peer);
	peer_run(client, &told.any_disconnected);
	ck_assert_ptr_null(approval_hello(client));
	peer.epoch = "second";
	peer_listen(&peer);
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	/* into the session that the broker named */
	ck_assert_str_eq(peer_param(&peer, "session"), "made-by-the-broker");
	peer_welcome(&peer, client);
	for (i = 0; i < N; i++) {
		snprintf(id, sizeof(id), "c%d", i);
		peer_expect(&peer, client, "request");
		ck_assert_str_eq(peer_param(&peer, "tool_call_id"), id);
		peer_verdict(&peer, client, peer.id, id, i % 2 ? "allow" : "deny");
	}
	for (i = 0; i < N; i++) {
		peer_run(client, &answers[i].done);
		ck_assert_int_eq(answers[i].times, 1);
		ck_assert_int_eq(answers[i].verdict, i % 2 ? APPROVAL_ALLOW : APPROVAL_DENY);
	}
	ck_assert_int_eq(told.connected, 2);
	ck_assert_int_eq(told.disconnected, 1);
	ck_assert_str_eq(approval_value_text(approval_hello(client), "epoch"), "second");
}
END_TEST

START_TEST(test_what_is_not_repeated)
{
	struct answer sent = {0}, waiting = {0};
	struct told told = {0};

	approval_on_event(client, on_event, &told);
	ck_assert_int_eq(
		approval_call(client, "once", "\x80", 1, false, on_reply, &sent, NULL), 0);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "once");
	peer_hang_up(&peer);
	peer_run(client, &sent.done);
	ck_assert_int_eq(sent.status, -ENOTCONN);
	ck_assert_str_eq(sent.code, "");
	/* one that has not left yet may still go */
	ck_assert_int_eq(
		approval_call(client, "once", "\x80", 1, false, on_reply, &waiting, NULL), 0);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "once");
	peer_reply(&peer, client, peer.id, "reason", "fine", NULL);
	peer_run(client, &waiting.done);
	ck_assert_int_eq(waiting.status, 0);
	ck_assert_str_eq(waiting.reason, "fine");
	ck_assert_int_eq(sent.times, 1);
}
END_TEST

START_TEST(test_no_reconnect)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer;
	struct told told = {0};

	o.no_reconnect = true;
	client_with(&o);
	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_hang_up(&peer);
	peer_run(client, &told.any_gave_up);
	ck_assert_int_eq(answer.status, -ENOTCONN);
	ck_assert_int_eq(told.disconnected, 1);
	ck_assert_int_eq(told.gave_up, 1);
	ck_assert_int_eq(approval_dispatch(client), -ENOTCONN);
}
END_TEST

START_TEST(test_gives_up)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer, waiting;
	struct told told = {0};
	int64_t start;

	o.retry_ms = 100;
	client_with(&o);
	approval_on_event(client, on_event, &told);
	peer_stop(&peer);
	ask(&answer, "c1");
	start = peer_now();
	peer_run(client, &told.any_gave_up);
	ck_assert_int_ge(peer_now() - start, 95);
	ck_assert_int_eq(answer.status, -ETIMEDOUT);
	ck_assert_str_eq(told.code, "");
	ck_assert_ptr_nonnull(strstr(told.message, peer.path));
	ck_assert_ptr_nonnull(strstr(told.message, "No such file"));

	/* one that takes connections and says nothing is no broker either */
	client_with(&o);
	memset(&told, 0, sizeof(told));
	approval_on_event(client, on_event, &told);
	peer_listen(&peer);
	ask(&waiting, "c1");
	peer_accept(&peer, client);
	peer_run(client, &told.any_gave_up);
	ck_assert_int_eq(waiting.status, -ETIMEDOUT);
}
END_TEST

/* ---- nonsense ---- */

START_TEST(test_garbage)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{"\xc1", 1},				     /* no MessagePack */
		{"GET / HTTP/1.0\r\n\r\n", 18},		     /* another protocol */
		{"\x94\x00\x01\xa1x\x91\x80", 7},	     /* a call */
		{"\x93\x02\xa1x\x90", 5},		     /* a notification without params */
		{"\x93\x02\xa1x\x91\x90", 6},		     /* with params that are no map */
		{"\x91\x01", 2},			     /* too short a reply */
		{"\x94\x05\x01\xc0\xc0", 5},		     /* no such message */
		{"\xdd\x7f\xff\xff\xff", 5},		     /* a bomb */
		{"\x94\x01\xce\x00\x01\x00\x00\x01\xc0", 9}, /* an error that is no map */
	};
	struct answer answer;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct approval_options o = peer_options(&peer);

		client_with(&o);
		ask(&answer, "c1");
		peer_greet(&peer, client);
		peer_expect(&peer, client, "request");
		peer_send(&peer, client, cases[i].bytes, cases[i].len);
		peer_expect_end(&peer, client);
		ck_assert_msg(!answer.done, "case %zu", i);
		peer_greet(&peer, client);
		peer_expect(&peer, client, "request");
		ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
		peer_verdict(&peer, client, peer.id, "c1", "allow");
		peer_run(client, &answer.done);
		ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	}
}
END_TEST

START_TEST(test_byte_by_byte)
{
	struct answer answer;
	struct told told = {0};

	approval_on_event(client, on_event, &told);
	peer.trickle = true;
	ask(&answer, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_notify(&peer, client, "turn_suspended", "turn", "turn_7", "cause", "hand", NULL);
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	ck_assert_int_eq(told.notified, 1);
	ck_assert_str_eq(told.name, "turn_suspended");
	ck_assert_str_eq(told.text, "turn_7");
}
END_TEST

START_TEST(test_unknown_reply_is_passed_over)
{
	struct answer answer;

	ask(&answer, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id + 7, "c1", "allow");
	peer_verdict(&peer, client, 1, "c1", "allow");
	approval_dispatch(client);
	ck_assert(!answer.done);
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_DENY);
}
END_TEST

/* ---- cancelling ---- */

START_TEST(test_cancel_sent)
{
	struct answer answer, other;
	struct approval_call *call = ask(&answer, "c1");
	uint32_t id;

	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	id = peer.id;
	approval_call_cancel(call);
	peer_expect(&peer, client, "cancel");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	ck_assert_uint_ne(peer.id, id);
	peer_error(&peer, client, id, WIRE_GONE, "it was cancelled");
	peer_reply(&peer, client, peer.id, "state", "ABANDONED", NULL);
	/* the connection lives */
	ask(&other, "c2");
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c2", "allow");
	peer_run(client, &other.done);
	ck_assert_int_eq(answer.times, 0);
}
END_TEST

START_TEST(test_cancel_unsent)
{
	struct answer answer, other;

	approval_call_cancel(ask(&answer, "c1"));
	ask(&other, "c2");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c2");
	peer_expect_nothing(&peer, client);
	peer_verdict(&peer, client, peer.id, "c2", "allow");
	peer_run(client, &other.done);
	ck_assert_int_eq(answer.times, 0);
	approval_call_cancel(NULL);
}
END_TEST

START_TEST(test_cancel_while_away)
{
	struct answer answer;
	struct told told = {0};
	struct approval_call *call = ask(&answer, "c1");

	approval_on_event(client, on_event, &told);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_hang_up(&peer);
	peer_run(client, &told.any_disconnected);
	/* the broker may have it in its store */
	approval_call_cancel(call);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "cancel");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	/* nor is the cancelling lost with the next connection */
	peer_hang_up(&peer);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "cancel");
	peer_reply(&peer, client, peer.id, "state", "ABANDONED", NULL);
	peer_expect_nothing(&peer, client);
	ck_assert_int_eq(answer.times, 0);
}
END_TEST

struct chain {
	struct approval_call *self, *other;
	bool done;
};

static void on_chain(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	static struct answer next; /* the test forks: one use */
	struct chain *c = arg;
	struct approval_request r = request_of("next");
	struct approval_value *v;

	approval_call_cancel(c->self); /* too late, and harmless */
	approval_call_cancel(c->other);
	ck_assert_int_eq(approval_request(a, &r, on_decision, &next, NULL), 0);
	ck_assert_int_eq(approval_dispatch(a), -EDEADLK);
	ck_assert_int_eq(approval_wait(a, 0), -EDEADLK);
	ck_assert_int_eq(approval_flush(a, 0), -EDEADLK);
	ck_assert_int_eq(approval_bye(a, true, 0), -EDEADLK);
	ck_assert_int_eq(approval_call_wait(a, "x", "\x80", 1, 0, &v), -EDEADLK);
	ck_assert_int_eq(approval_turn_begin(a, NULL, NULL, 0), -EDEADLK);
	c->done = true;
}

START_TEST(test_calls_from_a_callback)
{
	struct approval_request r = request_of("c1");
	struct chain chain = {0};
	struct answer other;
	uint32_t first;

	ck_assert_int_eq(approval_request(client, &r, on_chain, &chain, &chain.self), 0);
	chain.other = ask(&other, "c2");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	first = peer.id;
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, first, "c1", "allow");
	peer_run(client, &chain.done);
	peer_expect(&peer, client, "cancel");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c2");
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "next");
	ck_assert_int_eq(other.times, 0);
}
END_TEST

START_TEST(test_free_ends_calls)
{
	struct answer sent, unsent;

	ask(&sent, "c1");
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ask(&unsent, "c2");
	approval_free(client);
	client = NULL;
	ck_assert_int_eq(sent.status, -ECANCELED);
	ck_assert_int_eq(unsent.status, -ECANCELED);
	ck_assert_int_eq(sent.times + unsent.times, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_loss");
	SRunner *sr = srunner_create(s);
	TCase *t;
	int failed;

	t = client_tcase(s, "losses");
	tcase_add_test(t, test_lost_before_welcome);
	tcase_add_test(t, test_lost_in_every_byte_of_the_answer);
	tcase_add_test(t, test_restart);
	tcase_add_test(t, test_what_is_not_repeated);
	tcase_add_test(t, test_no_reconnect);
	tcase_add_test(t, test_gives_up);
	t = client_tcase(s, "nonsense");
	tcase_add_test(t, test_garbage);
	tcase_add_test(t, test_byte_by_byte);
	tcase_add_test(t, test_unknown_reply_is_passed_over);
	t = client_tcase(s, "cancelling");
	tcase_add_test(t, test_cancel_sent);
	tcase_add_test(t, test_cancel_unsent);
	tcase_add_test(t, test_cancel_while_away);
	tcase_add_test(t, test_calls_from_a_callback);
	tcase_add_test(t, test_free_ends_calls);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
