/* SPDX-License-Identifier: MIT */
/*
 * Two frontends decide the same request at the same moment: one wins, the other is
 * told so with the winner's state, and the agent gets the winner's verdict.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define ROUNDS 2000

struct offer {
	char request[64];
	uint8_t digest[32];
};

static void agent_run(const char *path, int in, int out)
{
	struct raw r;
	char call[32], verdict;

	raw_connect(&r, path);
	raw_hello_agent(&r, "race");
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct wire_frame f;

		snprintf(call, sizeof(call), "c%u", i);
		f = raw_reply(&r, raw_request(&r, call, "Frobnicate", call));
		verdict = bytes_is(raw_text(f.result, "verdict"), "allow") ? 'a' : 'd';
		/* not the next one before both frontends have been told of this one */
		if (write(out, &verdict, 1) != 1 || read(in, &verdict, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void frontend_start(struct raw *r, const char *path)
{
	struct wire_buffer *b;
	struct wire_open m;

	raw_connect(r, path);
	raw_hello_frontend(r, "human");
	b = raw_call(r, "subscribe");
	wire_map_open(&m, b);
	wire_close(&m);
	raw_reply(r, raw_send(r));
}

static void offer_take(struct raw *r, struct offer *o)
{
	struct bytes item = raw_member(raw_notification(r, "offered").params, "item");
	struct bytes id = raw_text(item, "request"), digest = raw_text(item, "digest");

	snprintf(o->request, sizeof(o->request), "%.*s", (int)id.len, (const char *)id.data);
	ck_assert_uint_eq(digest.len, sizeof(o->digest));
	memcpy(o->digest, digest.data, digest.len);
}

static uint32_t decide(struct raw *r, const struct offer *o, const char *verdict)
{
	return raw_decide(
		r, bytes_of(o->request), (struct bytes){o->digest, sizeof(o->digest)}, verdict);
}

/* True for ok; what else must be gone, with that state. */
static bool won(struct raw *r, uint32_t id, const char *other_state)
{
	struct wire_frame f = raw_reply(r, id);
	struct bytes element;
	struct wire_iter it;

	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert(wire_array_next(&it, &element));
	if (bytes_is(raw_text(element, "result"), "ok"))
		return true;
	ck_assert(bytes_is(raw_text(element, "result"), "gone"));
	ck_assert(bytes_is(raw_text(element, "state"), other_state));
	ck_assert(bytes_is(raw_text(element, "source"), "user"));
	return false;
}

START_TEST(one_wins)
{
	struct raw allows, denies;
	unsigned allowed = 0;
	struct broker b;
	int p[2], go[2];
	pid_t pid;

	broker_init(&b);
	broker_start(&b, NULL);
	frontend_start(&allows, b.frontend);
	frontend_start(&denies, b.frontend);
	ck_assert(pipe(p) == 0 && pipe(go) == 0);
	pid = fork();
	if (pid == 0)
		agent_run(b.agent, go[0], p[1]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct offer o, same;
		uint32_t a, d;
		bool first, second;
		char verdict;

		offer_take(&allows, &o);
		offer_take(&denies, &same);
		ck_assert_str_eq(o.request, same.request);
		if (i % 2) {
			a = decide(&allows, &o, "allow");
			d = decide(&denies, &o, "deny");
		} else {
			d = decide(&denies, &o, "deny");
			a = decide(&allows, &o, "allow");
		}
		first = won(&allows, a, "DENIED");
		second = won(&denies, d, "ALLOWED");
		ck_assert_msg(first != second, "%s: %s", o.request,
			first ? "both decided" : "neither decided");
		ck_assert_int_eq(read(p[0], &verdict, 1), 1);
		ck_assert_int_eq(verdict, first ? 'a' : 'd');
		allowed += first;
		ck_assert_int_eq(write(go[1], &verdict, 1), 1);
	}
	printf("%u of %u were allowed\n", allowed, ROUNDS);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	raw_close(&allows);
	raw_close(&denies);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("races of decisions");
	TCase *t = tcase_create("two frontends");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_test(t, one_wins);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
