/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a whole conversation fails once: nothing is allowed that
 * was not, nothing hangs, and (as the sanitizers and valgrind see) nothing leaks.
 * The linker puts the functions below in the place of the library's.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/unit/fail_alloc.h"
#include "tests/unit/test_lib_peer.h"

int __real_approval_dispatch(struct approval *a);
int __wrap_approval_dispatch(struct approval *a);

/* The client's code runs, not the scripted broker's: what it allocates may fail. */
static void client_enter(void)
{
	fail_alloc_hold(-1);
}

static void client_leave(void)
{
	fail_alloc_hold(1);
}

int __wrap_approval_dispatch(struct approval *a)
{
	int rc;

	client_enter();
	rc = __real_approval_dispatch(a);
	client_leave();
	return rc;
}

static struct peer peer;

struct outcome {
	bool done;
	int times, status;
	enum approval_verdict verdict;
};

static void on_decision(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct outcome *o = arg;

	o->done = true;
	o->times++;
	o->status = status;
	o->verdict = d ? d->verdict : APPROVAL_NONE;
}

static void on_reply(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct outcome *o = arg;

	o->done = true;
	o->times++;
	o->status = status;
}

/* Answers whatever comes, on as many connections as it takes. */
static void serve(struct approval *a, const bool *done)
{
	int64_t end = peer_now() + PEER_PATIENCE_MS;

	while (!*done) {
		struct pollfd set[3] = {
			{.fd = peer.listener, .events = POLLIN},
			{.fd = peer.fd, .events = POLLIN},
			{.fd = approval_fd(a), .events = approval_events(a)},
		};
		int64_t timeout = approval_timeout(a);
		char byte;

		ck_assert_int_lt(peer_now(), end);
		ck_assert_int_ge(
			poll(set, 3, timeout < 0 || timeout > 100 ? 100 : (int)timeout), 0);
		approval_dispatch(a);
		if (set[0].revents)
			peer_accept(&peer, NULL);
		else if (set[1].revents &&
			 recv(peer.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			peer_hang_up(&peer);
		else if (set[1].revents && peer_take(&peer)) {
			if (strcmp(peer.method, "hello") == 0)
				peer_welcome(&peer, NULL);
			else if (strcmp(peer.method, "request") == 0)
				peer_verdict(&peer, NULL, peer.id, "c1", "deny");
			else if (strcmp(peer.method, "subscribe") == 0)
				peer_page(&peer);
			else
				peer_error(&peer, NULL, peer.id, WIRE_GONE, "over");
		}
	}
}

/* One conversation of an agent; true when it came to its end. */
static void agent_once(void)
{
	struct approval_options o = peer_options(&peer);
	struct approval_request r;
	struct outcome decision = {0}, reply = {0};
	struct approval *a;
	int rc;

	client_enter();
	rc = approval_new(&a, &o);
	client_leave();
	if (rc < 0) {
		ck_assert_int_eq(rc, -ENOMEM);
		ck_assert_ptr_null(a);
		return;
	}
	approval_request_init(&r);
	r.tool = "Bash";
	r.tool_call_id = "c1";
	client_enter();
	rc = approval_request(a, &r, on_decision, &decision, NULL);
	client_leave();
	if (!rc) {
		serve(a, &decision.done);
		ck_assert_int_eq(decision.times, 1);
		ck_assert_int_eq(decision.status, 0);
		ck_assert_int_eq(decision.verdict, APPROVAL_DENY);
		client_enter();
		rc = approval_call(a, "other", "\x80", 1, true, on_reply, &reply, NULL);
		client_leave();
	}
	if (!rc) {
		serve(a, &reply.done);
		ck_assert_int_eq(reply.status, -EREMOTEIO);
	} else {
		ck_assert_int_eq(rc, -ENOMEM);
	}
	approval_free(a);
}

static bool snapshot;

static void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	if (event == APPROVAL_SNAPSHOT)
		snapshot = true;
}

static void frontend_once(void)
{
	static const unsigned char digest[32];
	struct approval_options o = peer_options(&peer);
	struct approval_answer answer = {
		.size = sizeof(answer),
		.request = "req_1",
		.digest = digest,
		.verdict = APPROVAL_ALLOW,
	};
	struct outcome reply = {0};
	struct approval *a;
	int rc;

	client_enter();
	rc = approval_new(&a, &o);
	client_leave();
	if (rc < 0) {
		ck_assert_int_eq(rc, -ENOMEM);
		return;
	}
	snapshot = false;
	approval_on_event(a, on_event, NULL);
	ck_assert_int_eq(approval_subscribe(a), 0);
	serve(a, &snapshot);
	client_enter();
	rc = approval_decide(a, &answer, 1, on_reply, &reply, NULL);
	client_leave();
	if (!rc) {
		serve(a, &reply.done);
		/* answered, or lost with the connection that memory was short for; never twice
		 */
		ck_assert(reply.status == -EREMOTEIO || reply.status == -ENOTCONN);
		ck_assert_int_eq(reply.times, 1);
	} else {
		ck_assert_int_eq(rc, -ENOMEM);
	}
	approval_free(a);
}

static void blocking_once(void)
{
	/* without a broker: the failure itself must be told without a leak */
	struct approval_options o = peer_options(&peer);
	const struct approval_decision *d;
	struct approval_request r;
	struct approval *a;
	int rc;

	o.socket = "/nowhere/sock";
	o.retry_ms = 1;
	approval_request_init(&r);
	r.tool = "Bash";
	client_enter();
	rc = approval_new(&a, &o);
	if (!rc)
		rc = approval_request_wait(a, &r, -1, &d);
	client_leave();
	ck_assert(rc == -ETIMEDOUT || rc == -ENOMEM);
	if (!a)
		return;
	ck_assert_ptr_null(d);
	ck_assert_ptr_nonnull(approval_last_error(a)->message);
	client_enter();
	approval_bye(a, false, 0);
	approval_free(a);
	client_leave();
}

static void values_once(void)
{
	struct approval_value *v = NULL, *copy = NULL;
	struct approval_pack *p;
	const void *data;
	size_t len;
	int rc;

	client_enter();
	rc = approval_pack_new(&p);
	if (!rc) {
		approval_pack_array(p, 2);
		approval_pack_str(p, "one");
		rc = approval_pack_bin(p, "two", 3);
		data = approval_pack_data(p, &len);
		if (!rc)
			rc = approval_value_parse(data, len, &v);
		if (!rc)
			rc = approval_value_dup(v, &copy);
		approval_pack_free(p);
	}
	client_leave();
	ck_assert(rc == 0 || rc == -ENOMEM);
	ck_assert_int_eq(rc == 0, copy != NULL);
	approval_value_free(v);
	approval_value_free(copy);
}

/* Fails the first allocation, then the second, … until a run needs no more. */
static void fail_each(enum approval_side side, void (*once)(void))
{
	long n;

	fail_alloc_hold(1); /* but for the client's */
	peer_open(&peer, side);
	for (n = 0; n < 1000; n++) {
		fail_alloc((unsigned long)n + 1);
		once();
		peer_hang_up(&peer);
		/* what nobody accepted belongs to the past */
		peer_stop(&peer);
		peer_listen(&peer);
		if (!fail_alloc_did())
			break;
	}
	fail_alloc(0);
	ck_assert_int_gt(n, 2);
	ck_assert_int_lt(n, 1000);
	peer_close(&peer);
}

START_TEST(test_agent)
{
	fail_each(APPROVAL_AGENT, agent_once);
}
END_TEST

START_TEST(test_frontend)
{
	fail_each(APPROVAL_FRONTEND, frontend_once);
}
END_TEST

START_TEST(test_blocking)
{
	fail_each(APPROVAL_AGENT, blocking_once);
}
END_TEST

START_TEST(test_values)
{
	fail_each(APPROVAL_AGENT, values_once);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_memory");
	TCase *t = tcase_create("memory");
	SRunner *sr = srunner_create(s);
	int n;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_agent);
	tcase_add_test(t, test_frontend);
	tcase_add_test(t, test_blocking);
	tcase_add_test(t, test_values);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	n = srunner_ntests_failed(sr);
	srunner_free(sr);
	return n ? EXIT_FAILURE : EXIT_SUCCESS;
}
