/* SPDX-License-Identifier: MIT */
/* Blocking calls; the broker's script runs in a thread of its own. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test_lib_peer.h"

static struct peer peer;
static struct approval *client;
static pthread_t thread;

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

static void play(void *(*script)(void *))
{
	ck_assert_int_eq(pthread_create(&thread, NULL, script, NULL), 0);
}

static void played(void)
{
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static struct approval_request request_of(const char *id)
{
	struct approval_request r;

	approval_request_init(&r);
	r.tool = "Bash";
	r.tool_call_id = id;
	return r;
}

/* ---- requests ---- */

static void *answer_after_restart(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "request");
	peer_stop(&peer);
	peer_hang_up(&peer);
	peer.epoch = "second";
	peer_listen(&peer);
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "request");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	peer_verdict(&peer, NULL, peer.id, "c1", "allow");
	return NULL;
}

START_TEST(test_request)
{
	struct approval_request r = request_of("c1");
	const struct approval_decision *d;

	play(answer_after_restart);
	ck_assert_int_eq(approval_request_wait(client, &r, -1, &d), 0);
	played();
	ck_assert_int_eq(d->verdict, APPROVAL_ALLOW);
	ck_assert_str_eq(d->request, "req_1");
	ck_assert_str_eq(d->tool_call_id, "c1");
	ck_assert_str_eq(d->turn, "turn_1");
	ck_assert_str_eq(d->source, "user");
	ck_assert_str_eq(d->scope, "once");
	ck_assert_str_eq(d->step, "human");
	ck_assert_str_eq(d->state, "ALLOWED");
	ck_assert_str_eq(d->message, "");
	ck_assert_int_eq(d->digest[0], 0xd1);
	ck_assert_ptr_null(d->updated_input);
	ck_assert_ptr_null(d->answers);
	ck_assert_str_eq(approval_last_error(client)->code, "");
}
END_TEST

static void *answer_error(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "request");
	peer_error(&peer, NULL, peer.id, WIRE_LIMIT, "too many");
	peer_expect(&peer, NULL, "check");
	peer_verdict(&peer, NULL, peer.id, NULL, "ask");
	return NULL;
}

START_TEST(test_error)
{
	struct approval_request r = request_of("c1");
	const struct approval_decision *d;
	const struct approval_error *e;

	play(answer_error);
	ck_assert_int_eq(approval_request_wait(client, &r, -1, &d), -EREMOTEIO);
	ck_assert_ptr_null(d);
	e = approval_last_error(client);
	ck_assert_str_eq(e->code, "limit");
	ck_assert_str_eq(e->message, "too many");
	ck_assert_str_eq(approval_value_text(e->data, "limit"), "a thing");
	/* the next one forgets it */
	ck_assert_int_eq(approval_check_wait(client, &r, -1, &d), 0);
	ck_assert_int_eq(d->verdict, APPROVAL_ASK);
	ck_assert_str_eq(approval_last_error(client)->code, "");
	played();
}
END_TEST

static void *expect_cancel(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "request");
	peer_expect(&peer, NULL, "cancel");
	ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
	return NULL;
}

START_TEST(test_timeout_cancels)
{
	struct approval_request r = request_of("c1");
	const struct approval_decision *d;
	int64_t start = peer_now();

	play(expect_cancel);
	ck_assert_int_eq(approval_request_wait(client, &r, 200, &d), -ETIMEDOUT);
	ck_assert_int_ge(peer_now() - start, 195);
	ck_assert_ptr_null(d);
	played(); /* the cancelling has left, though nobody dispatches */
}
END_TEST

START_TEST(test_no_broker)
{
	struct approval_options o = peer_options(&peer);
	struct approval_request r = request_of("c1");
	const struct approval_decision *d;
	struct approval_value *v = (struct approval_value *)1;

	peer_stop(&peer);
	o.retry_ms = 50;
	approval_free(client);
	ck_assert_int_eq(approval_new(&client, &o), 0);
	ck_assert_int_eq(approval_request_wait(client, &r, -1, &d), -ETIMEDOUT);
	ck_assert_str_eq(approval_last_error(client)->code, "");
	ck_assert_ptr_nonnull(strstr(approval_last_error(client)->message, "no broker at"));
	/* for good */
	ck_assert_int_eq(approval_call_wait(client, "x", "\x80", 1, -1, &v), -ETIMEDOUT);
	ck_assert_ptr_null(v);
	ck_assert_int_eq(approval_wait(client, -1), -ETIMEDOUT);
	ck_assert_int_eq(approval_flush(client, -1), -ETIMEDOUT);
	ck_assert_int_eq(approval_bye(client, true, -1), 0);
}
END_TEST

START_TEST(test_short_timeouts)
{
	struct approval_value *v;
	int64_t start = peer_now();

	/* nobody answers hello */
	ck_assert_int_eq(approval_call_wait(client, "x", "\x80", 1, 0, &v), -ETIMEDOUT);
	ck_assert_int_eq(approval_call_wait(client, "x", "\x80", 1, 30, &v), -ETIMEDOUT);
	ck_assert_int_eq(approval_flush(client, 30), -ETIMEDOUT);
	ck_assert_int_eq(approval_wait(client, 30), -ETIMEDOUT);
	ck_assert_int_ge(peer_now() - start, 85);
}
END_TEST

static void *answer_call(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "anything");
	peer_reply(&peer, NULL, peer.id, "k", "v", NULL);
	return NULL;
}

START_TEST(test_call)
{
	struct approval_value *v;

	play(answer_call);
	ck_assert_int_eq(approval_call_wait(client, "anything", "\x80", 1, -1, &v), 0);
	ck_assert_str_eq(approval_value_text(v, "k"), "v");
	approval_value_free(v);
	played();
}
END_TEST

/* ---- what an agent tells ---- */

static void *take_all(void *arg)
{
	static const char *const methods[] = {
		"usage", "turn_end", "outcome", "settled", "cancel", "set_mode"};
	char id[64];
	size_t i;

	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "turn_begin");
	/* without an id it makes one, so that a repetition begins no second turn */
	snprintf(id, sizeof(id), "%s", peer_param(&peer, "turn_id"));
	ck_assert_uint_gt(strlen(id), 16);
	ck_assert_str_eq(peer_param(&peer, "prompt"), "do it");
	peer_hang_up(&peer);
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "turn_begin");
	ck_assert_str_eq(peer_param(&peer, "turn_id"), id);
	peer_reply(&peer, NULL, peer.id, "turn", "turn_1", "state", "RUNNING", NULL);
	for (i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		peer_expect(&peer, NULL, methods[i]);
		if (i == 0) {
			ck_assert_int_eq(
				approval_value_int(approval_value_get(peer.params, "seq")), 3);
			ck_assert_str_eq(peer_param(&peer, "cursor"), "here");
			ck_assert_ptr_null(approval_value_get(peer.params, "cost_microusd"));
		} else if (i == 1) {
			ck_assert_int_eq(
				approval_value_int(approval_value_get(
					approval_value_get(peer.params, "usage"), "input")),
				100);
		} else if (i == 2) {
			ck_assert_str_eq(peer_param(&peer, "outcome"), "succeeded");
			ck_assert_str_eq(peer_param(&peer, "tool_call_id"), "c1");
		}
		peer_reply(&peer, NULL, peer.id, "state", "x", NULL);
	}
	return NULL;
}

START_TEST(test_telling)
{
	struct approval_usage u = {
		.size = sizeof(u),
		.seq = 3,
		.input = 100,
		.output = 7,
		.cursor = "here",
		.cursor_len = 4,
	};

	play(take_all);
	ck_assert_int_eq(approval_turn_begin(client, NULL, "do it", -1), 0);
	ck_assert_int_eq(approval_usage(client, &u, -1), 0);
	ck_assert_int_eq(approval_turn_end(client, "t", &u, -1), 0);
	ck_assert_int_eq(approval_outcome(client, "c1", "succeeded", NULL, -1), 0);
	ck_assert_int_eq(approval_settled(client, NULL, "deny", -1), 0);
	ck_assert_int_eq(approval_cancel(client, "c1", NULL, -1), 0);
	ck_assert_int_eq(approval_set_mode(client, "plan", -1), 0);
	played();
	ck_assert_int_eq(approval_outcome(client, "c1", NULL, NULL, -1), -EINVAL);
	ck_assert_int_eq(approval_set_mode(client, NULL, -1), -EINVAL);
	u.cursor = NULL;
	ck_assert_int_eq(approval_usage(client, &u, -1), -EINVAL);
	u.size = 0;
	ck_assert_int_eq(approval_usage(client, &u, -1), -EINVAL);
	ck_assert_int_eq(approval_turn_end(client, NULL, &u, -1), -EINVAL);
}
END_TEST

/* ---- bye ---- */

static void *answer_bye(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "bye");
	ck_assert(approval_value_bool(approval_value_get(peer.params, "end")));
	peer_reply(&peer, NULL, peer.id, NULL);
	peer_expect_end(&peer, NULL);
	return NULL;
}

START_TEST(test_bye)
{
	struct approval_value *v;

	/* ends a session even if it must first connect for it */
	play(answer_bye);
	ck_assert_int_eq(approval_bye(client, true, -1), 0);
	played();
	ck_assert_int_eq(approval_bye(client, true, -1), 0);
	ck_assert_int_eq(approval_call_wait(client, "x", "\x80", 1, -1, &v), -ECANCELED);
}
END_TEST

START_TEST(test_bye_of_nobody)
{
	ck_assert_int_eq(approval_bye(client, false, -1), 0);
	ck_assert_int_eq(approval_fd(client), -1);
}
END_TEST

/* ---- flush, wait, signals ---- */

static void *take_once(void *arg)
{
	peer_greet(&peer, NULL);
	peer_expect(&peer, NULL, "once");
	return NULL;
}

START_TEST(test_flush)
{
	ck_assert_int_eq(approval_call(client, "once", "\x80", 1, false, NULL, NULL, NULL), 0);
	play(take_once);
	ck_assert_int_eq(approval_flush(client, -1), 0);
	played();
}
END_TEST

static sem_t handled;

static void on_signal(int sig)
{
	sem_post(&handled);
}

static bool woken; /* atomic */

static void *interrupt(void *arg)
{
	const pthread_t *whom = arg;

	peer_greet(&peer, NULL);
	/* one that comes before the wait begins wakes nobody: until one is seen */
	while (!__atomic_load_n(&woken, __ATOMIC_ACQUIRE)) {
		pthread_kill(*whom, SIGUSR1);
		while (sem_wait(&handled) < 0)
			;
	}
	return NULL;
}

START_TEST(test_signal_wakes_wait)
{
	struct sigaction sa = {.sa_handler = on_signal};
	pthread_t self = pthread_self();
	int rc;

	ck_assert_int_eq(sem_init(&handled, 0, 0), 0);
	sigaction(SIGUSR1, &sa, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, interrupt, &self), 0);
	do
		rc = approval_wait(client, -1);
	while (rc == 0);
	__atomic_store_n(&woken, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(rc, -EINTR);
	played();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lib_wait");
	TCase *t = tcase_create("wait");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, test_request);
	tcase_add_test(t, test_error);
	tcase_add_test(t, test_timeout_cancels);
	tcase_add_test(t, test_no_broker);
	tcase_add_test(t, test_short_timeouts);
	tcase_add_test(t, test_call);
	tcase_add_test(t, test_telling);
	tcase_add_test(t, test_bye);
	tcase_add_test(t, test_bye_of_nobody);
	tcase_add_test(t, test_flush);
	tcase_add_test(t, test_signal_wakes_wait);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
