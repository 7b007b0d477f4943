/* SPDX-License-Identifier: MIT */
/* The agent's side, asynchronous: every phase in which a broker can go. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/wire/message.h"
#include "tests/unit/test_lib_peer.h"

static struct peer peer;
static struct approval *client;

/* ---- what the client told ---- */

struct told {
	int connected, disconnected, gave_up, notified;
	bool any_connected, any_disconnected, any_gave_up, any_notified;
	char name[64], text[64], code[32], message[256];
};

static void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct told *t = arg;

	switch (event) {
	case APPROVAL_CONNECTED:
		t->connected++;
		t->any_connected = true;
		ck_assert_ptr_eq(value, approval_hello(a));
		break;
	case APPROVAL_DISCONNECTED:
		t->disconnected++;
		t->any_disconnected = true;
		break;
	case APPROVAL_GAVE_UP:
		t->gave_up++;
		t->any_gave_up = true;
		snprintf(t->code, sizeof(t->code), "%s", error->code);
		snprintf(t->message, sizeof(t->message), "%s", error->message);
		break;
	case APPROVAL_NOTIFICATION:
		t->notified++;
		t->any_notified = true;
		snprintf(t->name, sizeof(t->name), "%s", name);
		snprintf(t->text, sizeof(t->text), "%s", approval_value_text(value, "turn"));
		break;
	case APPROVAL_SNAPSHOT: ck_abort_msg("an agent has no snapshot"); break;
	}
}

struct answer {
	bool done;
	int times, status;
	enum approval_verdict verdict;
	char reason[64], message[64], code[32], id[64];
	bool digest;
};

static void on_decision(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->times++;
	answer->status = status;
	ck_assert_int_eq(!status, d != NULL);
	ck_assert_ptr_nonnull(error);
	snprintf(answer->code, sizeof(answer->code), "%s", error->code);
	if (!d)
		return;
	answer->verdict = d->verdict;
	answer->digest = d->digest != NULL;
	snprintf(answer->reason, sizeof(answer->reason), "%s", d->reason);
	snprintf(answer->message, sizeof(answer->message), "%s", d->message);
	snprintf(answer->id, sizeof(answer->id), "%s", d->tool_call_id);
}

static void on_reply(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->times++;
	answer->status = status;
	ck_assert_int_eq(!status, result != NULL);
	snprintf(answer->code, sizeof(answer->code), "%s", error->code);
	snprintf(answer->message, sizeof(answer->message), "%s", error->message);
	if (result)
		snprintf(answer->reason, sizeof(answer->reason), "%s",
			approval_value_text(result, "reason"));
}

static struct approval_request request_of(const char *id)
{
	struct approval_request r;

	approval_request_init(&r);
	r.tool = "Bash";
	r.tool_call_id = id;
	return r;
}

static struct approval_call *ask(struct answer *answer, const char *id)
{
	struct approval_request r = request_of(id);
	struct approval_call *call;

	memset(answer, 0, sizeof(*answer));
	ck_assert_int_eq(approval_request(client, &r, on_decision, answer, &call), 0);
	ck_assert_ptr_nonnull(call);
	return call;
}

static void setup(void)
{
	peer_open(&peer, APPROVAL_AGENT);
	client = peer_client(&peer);
}

static void teardown(void)
{
	approval_free(client);
	peer_close(&peer);
}

static void client_with(const struct approval_options *o)
{
	approval_free(client);
	ck_assert_int_eq(approval_new(&client, o), 0);
}

/* ---- hello ---- */

START_TEST(test_hello)
{
	struct approval_options o = peer_options(&peer);
	struct told told = {0};
	struct stat mine, theirs;

	o.title = "a title";
	o.mode = "plan";
	o.fail_closed = true;
	o.channel_ms = 600000;
	o.subject_pidfd =
		open(peer.folder, O_RDONLY | O_CLOEXEC); /* any will do for this peer */
	ck_assert_int_ge(o.subject_pidfd, 0);
	client_with(&o);
	fstat(o.subject_pidfd, &mine);
	close(o.subject_pidfd); /* it was duplicated */
	approval_on_event(client, on_event, &told);
	ck_assert_int_eq(approval_fd(client), -1);
	ck_assert_int_eq(approval_timeout(client), 0);
	ck_assert_ptr_null(approval_hello(client));
	ck_assert_str_eq(approval_socket(client), peer.path);

	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	ck_assert_str_eq(peer_param(&peer, "client"), "test 1");
	ck_assert_str_eq(peer_param(&peer, "agent"), "tester");
	ck_assert_str_eq(peer_param(&peer, "title"), "a title");
	ck_assert_str_eq(peer_param(&peer, "mode"), "plan");
	ck_assert_int_eq(approval_value_int(approval_value_get(peer.params, "protocol")), 1);
	ck_assert_int_eq(
		approval_value_int(approval_value_get(peer.params, "channel_ms")), 600000);
	ck_assert(approval_value_bool(approval_value_get(peer.params, "subject")));
	ck_assert(approval_value_bool(approval_value_get(peer.params, "fail_closed")));
	ck_assert_ptr_null(approval_value_get(peer.params, "session"));
	ck_assert_int_ge(peer.passed_fd, 0);
	fstat(peer.passed_fd, &theirs);
	ck_assert_uint_eq(mine.st_ino, theirs.st_ino);
	ck_assert_int_eq(told.connected, 0);

	peer_welcome(&peer, client);
	peer_run(client, &told.any_connected);
	ck_assert_int_eq(told.connected, 1);
	ck_assert_str_eq(approval_value_text(approval_hello(client), "session"), "ses_1");
	ck_assert_str_eq(approval_status(client), "connected");
	ck_assert_int_eq(approval_timeout(client), -1);
	ck_assert_int_eq(approval_events(client), 1 /* POLLIN */);
}
END_TEST

START_TEST(test_subject_goes_with_hello_only)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer;
	int i;

	o.subject_pidfd = open(peer.folder, O_RDONLY | O_CLOEXEC);
	client_with(&o);
	close(o.subject_pidfd);
	ask(&answer, "c1");
	for (i = 0; i < 2; i++) { /* on each connection */
		peer_accept(&peer, client);
		peer_expect(&peer, client, "hello");
		ck_assert_int_ge(peer.passed_fd, 0);
		close(peer.passed_fd);
		peer.passed_fd = -1;
		peer_welcome(&peer, client);
		peer_expect(&peer, client, "request");
		ck_assert_int_eq(peer.passed_fd, -1);
	}
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
}
END_TEST

START_TEST(test_bad_options)
{
	struct approval_options o = peer_options(&peer);
	struct approval *a;
	char longer[LIMIT_NAME + 2];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	o.agent = NULL;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	ck_assert_ptr_null(a);
	o.agent = longer;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	o.agent = "x";
	o.size = 0;
	ck_assert_int_eq(approval_new(&a, &o), -EINVAL);
	o.size = sizeof(o);
	o.subject_pidfd = 4000;
	ck_assert_int_eq(approval_new(&a, &o), -EBADF);
}
END_TEST

START_TEST(test_structures_may_grow)
{
	struct {
		struct approval_options o;
		int newer;
	} wide = {.o = peer_options(&peer)};
	struct approval *a;

	/* a caller that is newer than the library, and does not use what is new */
	wide.o.size = sizeof(wide);
	ck_assert_int_eq(approval_new(&a, &wide.o), 0);
	approval_free(a);
	wide.newer = 1;
	ck_assert_int_eq(approval_new(&a, &wide.o), -E2BIG);
	/* one that is older */
	wide.o.size = offsetof(struct approval_options, role);
	ck_assert_int_eq(approval_new(&a, &wide.o), 0);
	approval_free(a);
}
END_TEST

START_TEST(test_hello_refused)
{
	struct answer answer;
	struct told told = {0};

	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	peer_error(&peer, client, peer.id, WIRE_BAD_SUBJECT, "no\nsuch thing");
	peer_run(client, &told.any_gave_up);
	ck_assert(answer.done);
	ck_assert_int_eq(answer.status, -EREMOTEIO);
	ck_assert_str_eq(answer.code, "bad_subject");
	ck_assert_str_eq(told.code, "bad_subject");
	ck_assert_str_eq(told.message, "no\nsuch thing");
	/* the status stays on one line */
	ck_assert_ptr_null(strchr(approval_status(client), '\n'));
	ck_assert_ptr_nonnull(strstr(approval_status(client), "no?such thing"));
	ck_assert_int_eq(told.disconnected, 0);
	ck_assert_int_eq(approval_fd(client), -1);
	ck_assert_int_eq(approval_timeout(client), -1);
	ck_assert_int_eq(approval_dispatch(client), -EREMOTEIO);
	ck_assert_int_eq(
		approval_call(client, "x", "\x80", 1, true, NULL, NULL, NULL), -EREMOTEIO);
}
END_TEST

START_TEST(test_hello_put_off)
{
	static const enum wire_code codes[] = {WIRE_SHUTDOWN, WIRE_STORE, WIRE_LIMIT};
	struct answer answer;
	struct told told = {0};
	size_t i;

	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	for (i = 0; i < 3; i++) {
		peer_accept(&peer, client);
		peer_expect(&peer, client, "hello");
		peer_error(&peer, client, peer.id, codes[i], "later");
		peer_expect_end(&peer, client);
	}
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
	ck_assert_int_eq(told.gave_up, 0);
}
END_TEST

/* A broker that stops does not decide: the next one does. Only what can't be repeated is told. */
START_TEST(test_call_put_off)
{
	struct answer answer, plain = {0};
	uint32_t id;

	peer_greet(&peer, client);
	ck_assert_int_eq(
		approval_call(client, "x", "\x80", 1, false, on_reply, &plain, NULL), 0);
	ask(&answer, "c1");
	peer_expect(&peer, client, "x");
	peer_error(&peer, client, peer.id, WIRE_SHUTDOWN, "stopping");
	peer_run(client, &plain.done);
	ck_assert_int_eq(plain.status, -EREMOTEIO);
	ck_assert_str_eq(plain.code, "shutdown");
	peer_expect(&peer, client, "request");
	id = peer.id;
	peer_error(&peer, client, id, WIRE_SHUTDOWN, "stopping");
	peer_expect_end(&peer, client);
	ck_assert(!answer.done);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	peer_verdict(&peer, client, peer.id, "c1", "allow");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_ALLOW);
}
END_TEST

START_TEST(test_hello_nonsense)
{
	struct answer answer;

	ask(&answer, "c1");
	peer_accept(&peer, client);
	peer_expect(&peer, client, "hello");
	/* a result that lacks everything */
	peer_reply(&peer, client, peer.id, NULL);
	peer_expect_end(&peer, client);
	peer_greet(&peer, client);
	peer_expect(&peer, client, "request");
	peer_verdict(&peer, client, peer.id, "c1", "deny");
	peer_run(client, &answer.done);
	ck_assert_int_eq(answer.verdict, APPROVAL_DENY);
}
END_TEST

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

/* ---- who serves ---- */

START_TEST(test_agent_serves_itself)
{
	struct approval_options o = peer_options(&peer);
	struct answer answer;
	struct told told = {0};

	o.trust_socket = false;
	client_with(&o);
	approval_on_event(client, on_event, &told);
	ask(&answer, "c1");
	peer_run(client, &told.any_gave_up);
	ck_assert_int_eq(answer.status, -EACCES);
	ck_assert_str_eq(answer.code, "");
	ck_assert_ptr_nonnull(strstr(told.message, "started by it"));
	/* and was not told a word */
	peer_accept(&peer, NULL);
	peer_expect_end(&peer, NULL);
}
END_TEST

static TCase *tcase(Suite *s, const char *name)
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	suite_add_tcase(s, t);
	return t;
}

int main(void)
{
	Suite *s = suite_create("lib_client");
	SRunner *sr = srunner_create(s);
	TCase *t;
	int failed;

	t = tcase(s, "hello");
	tcase_add_test(t, test_hello);
	tcase_add_test(t, test_subject_goes_with_hello_only);
	tcase_add_test(t, test_bad_options);
	tcase_add_test(t, test_structures_may_grow);
	tcase_add_test(t, test_hello_refused);
	tcase_add_test(t, test_hello_put_off);
	tcase_add_test(t, test_call_put_off);
	tcase_add_test(t, test_hello_nonsense);
	t = tcase(s, "requests");
	tcase_add_test(t, test_allow_and_deny);
	tcase_add_test(t, test_all_params);
	tcase_add_test(t, test_made_id_is_kept);
	tcase_add_test(t, test_no_id);
	tcase_add_test(t, test_check);
	tcase_add_test(t, test_error_reply);
	tcase_add_test(t, test_doubtful_verdicts);
	t = tcase(s, "losses");
	tcase_add_test(t, test_lost_before_welcome);
	tcase_add_test(t, test_lost_in_every_byte_of_the_answer);
	tcase_add_test(t, test_restart);
	tcase_add_test(t, test_what_is_not_repeated);
	tcase_add_test(t, test_no_reconnect);
	tcase_add_test(t, test_gives_up);
	t = tcase(s, "nonsense");
	tcase_add_test(t, test_garbage);
	tcase_add_test(t, test_byte_by_byte);
	tcase_add_test(t, test_unknown_reply_is_passed_over);
	t = tcase(s, "cancelling");
	tcase_add_test(t, test_cancel_sent);
	tcase_add_test(t, test_cancel_unsent);
	tcase_add_test(t, test_cancel_while_away);
	tcase_add_test(t, test_calls_from_a_callback);
	tcase_add_test(t, test_free_ends_calls);
	t = tcase(s, "limits");
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_large_input);
	tcase_add_test(t, test_many_calls);
	t = tcase(s, "trust");
	tcase_add_test(t, test_agent_serves_itself);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
