/* SPDX-License-Identifier: MIT */
/*
 * Two frontends, each a process of its own, decide the same request at the same
 * moment: one wins, the other is told so with the winner's state, both are told the
 * winner's verdict by an event, and the agent gets it.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define ROUNDS 2000

/* What a frontend saw of a round. */
struct sight {
	char request[64];
	bool allows; /* what it wanted */
	bool ok;     /* it was the first */
	/* when it was not: what it was told */
	char result[16], state[16], source[16];
	char resolved[16]; /* the verdict in the event */
};

/* Of one child; the test holds the other ends. */
struct child {
	pid_t pid;
	int from;
};

static void text_of(char *out, size_t size, struct bytes b)
{
	snprintf(out, size, "%.*s", (int)b.len, b.data ? (const char *)b.data : "");
}

static void agent_run(const char *path, int go, int out)
{
	struct raw r;
	char call[32], verdict;

	raw_connect(&r, path);
	raw_hello_agent(&r, "race");
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct wire_frame f;

		if (read(go, &verdict, 1) != 1)
			_exit(1);
		snprintf(call, sizeof(call), "c%u", i);
		f = raw_reply(&r, raw_request(&r, call, "Frobnicate", call));
		verdict = bytes_is(raw_text(f.result, "verdict"), "allow") ? 'a' : 'd';
		if (write(out, &verdict, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* The reply and the event, in whatever order they come. */
static void outcome_take(struct raw *r, uint32_t id, struct sight *s)
{
	bool replied = false;

	while (!replied || !s->resolved[0]) {
		struct wire_frame f = raw_next(r);
		struct bytes element;
		struct wire_iter it;

		if (f.type == WIRE_REPLY && f.id == id) {
			ck_assert_int_eq(
				wire_iter_array(&it, raw_member(f.result, "results")), 0);
			ck_assert(wire_array_next(&it, &element));
			text_of(s->result, sizeof(s->result), raw_text(element, "result"));
			text_of(s->state, sizeof(s->state), raw_text(element, "state"));
			text_of(s->source, sizeof(s->source), raw_text(element, "source"));
			s->ok = strcmp(s->result, "ok") == 0;
			replied = true;
		} else if (f.type == WIRE_NOTIFY && bytes_is(f.method, "resolved") &&
			   bytes_is(raw_text(f.params, "request"), s->request)) {
			text_of(s->resolved, sizeof(s->resolved),
				raw_text(f.params, "verdict"));
		}
	}
}

/* which: 0 or 1; the two never want the same. */
static void frontend_run(const char *path, unsigned which, int go, int out)
{
	struct wire_open m;
	struct raw r;
	char c = 'r';

	raw_connect(&r, path);
	raw_hello_frontend(&r, "human");
	wire_map_open(&m, raw_call(&r, "subscribe"));
	wire_close(&m);
	raw_reply(&r, raw_send(&r));
	if (write(out, &c, 1) != 1)
		_exit(1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sight s = {.allows = (i + which) % 2 == 0};
		struct bytes item = raw_member(raw_notification(&r, "offered").params, "item");
		struct bytes digest = raw_text(item, "digest");
		uint8_t seen[32];
		uint32_t id;

		text_of(s.request, sizeof(s.request), raw_text(item, "request"));
		ck_assert_uint_eq(digest.len, sizeof(seen));
		memcpy(seen, digest.data, sizeof(seen));
		/* both have it: they are let go together */
		if (write(out, &c, 1) != 1 || read(go, &c, 1) != 1)
			_exit(1);
		id = raw_decide(&r, bytes_of(s.request), (struct bytes){seen, sizeof(seen)},
			s.allows ? "allow" : "deny");
		outcome_take(&r, id, &s);
		if (write(out, &s, sizeof(s)) != (ssize_t)sizeof(s))
			_exit(1);
	}
	_exit(0);
}

static struct child frontend_start(const struct broker *b, unsigned which, int go)
{
	struct child c;
	int p[2];
	char ready;

	ck_assert_int_eq(pipe(p), 0);
	c.pid = fork();
	ck_assert_int_ge(c.pid, 0);
	if (c.pid == 0)
		frontend_run(b->frontend, which, go, p[1]);
	close(p[1]);
	c.from = p[0];
	ck_assert_int_eq(read(c.from, &ready, 1), 1);
	return c;
}

static void round_judge(const struct sight *a, const struct sight *b, char told)
{
	const struct sight *winner = a->ok ? a : b, *loser = a->ok ? b : a;
	const char *verdict = winner->allows ? "allow" : "deny";

	ck_assert_str_eq(a->request, b->request);
	ck_assert_msg(a->ok != b->ok, "%s: %s", a->request,
		a->ok ? "both decided" : "neither decided");
	ck_assert_str_eq(loser->result, "gone");
	ck_assert_str_eq(loser->state, winner->allows ? "ALLOWED" : "DENIED");
	ck_assert_str_eq(loser->source, "user");
	ck_assert_str_eq(winner->resolved, verdict);
	ck_assert_str_eq(loser->resolved, verdict);
	ck_assert_int_eq(told, verdict[0]);
}

START_TEST(one_wins)
{
	unsigned allowed = 0, first = 0;
	struct child f[2], agent;
	int out[2], go[2], start[2];
	struct broker b;

	broker_init(&b);
	broker_start(&b, NULL);
	ck_assert(pipe(out) == 0 && pipe(go) == 0 && pipe(start) == 0);
	for (unsigned i = 0; i < 2; i++)
		f[i] = frontend_start(&b, i, start[0]);
	agent = (struct child){.pid = fork(), .from = out[0]};
	ck_assert_int_ge(agent.pid, 0);
	if (agent.pid == 0)
		agent_run(b.agent, go[0], out[1]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sight s[2];
		char told;

		ck_assert_int_eq(write(go[1], "g", 1), 1);
		for (unsigned k = 0; k < 2; k++)
			ck_assert_int_eq(read(f[k].from, &told, 1), 1);
		ck_assert_int_eq(write(start[1], "gg", 2), 2);
		for (unsigned k = 0; k < 2; k++)
			ck_assert_int_eq(
				read(f[k].from, &s[k], sizeof(s[k])), (ssize_t)sizeof(s[k]));
		ck_assert_int_eq(read(agent.from, &told, 1), 1);
		round_judge(&s[0], &s[1], told);
		allowed += told == 'a';
		first += s[0].ok;
	}
	printf("%u rounds: %u allowed, the first frontend won %u\n", ROUNDS, allowed, first);
	for (unsigned i = 0; i < 3; i++) {
		pid_t pid = i < 2 ? f[i].pid : agent.pid;
		int status;

		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
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
