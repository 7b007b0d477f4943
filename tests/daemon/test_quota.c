/* SPDX-License-Identifier: MIT */
/*
 * What one connection, one uid and everybody together may have at once: the last one
 * that fits and the next, and that it fits again once there is room. Others are served
 * all the while.
 */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/neighbour.h"

static struct broker b;
static struct neighbour other;

static void start(const char *config)
{
	broker_init(&b);
	broker_configure(&b, config);
	broker_start(&b, NULL);
	neighbour_start(&other, &b);
	neighbour_round(&other);
}

static void stop(void)
{
	neighbour_round(&other);
	neighbour_end(&other);
	broker_stop(&b);
	broker_fini(&b);
}

static void limited(const struct wire_frame *f, const char *limit)
{
	ck_assert(f->type == WIRE_REPLY && bytes_is(raw_text(f->error, "code"), "limit"));
	ck_assert(bytes_is(raw_text(raw_member(f->error, "data"), "limit"), limit));
}

static void waits(struct raw *r)
{
	struct wire_frame f = raw_next(r);

	ck_assert(f.type == WIRE_NOTIFY && bytes_is(f.method, "request_state"));
}

static uint32_t set_mode_send(struct raw *r)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "set_mode"));
	wire_map_strz(&m, "mode", "normal");
	wire_close(&m);
	return raw_send(r);
}

static uint32_t cancel_send(struct raw *r, const char *call)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "cancel"));
	wire_map_strz(&m, "tool_call_id", call);
	wire_close(&m);
	return raw_send(r);
}

/* ---- an agent's process and the test take turns ---- */

static int to_agent[2], to_test[2];
static pid_t agent;

static void step_tell(int fd)
{
	ck_assert_int_eq(write(fd, "s", 1), 1);
}

static void step_await(int fd)
{
	char c;

	ck_assert_msg(read(fd, &c, 1) == 1, "the other side failed");
}

static void agent_run(void (*body)(void))
{
	ck_assert(pipe(to_agent) == 0 && pipe(to_test) == 0);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0) {
		close(to_test[0]);
		body();
		_exit(0);
	}
	close(to_test[1]);
}

static void agent_end(void)
{
	int status;

	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the agent failed");
	close(to_test[0]);
	close(to_agent[0]);
	close(to_agent[1]);
}

/* ---- outstanding calls of a connection ---- */

static void outstanding_body(void)
{
	struct wire_frame f;
	struct pollfd p;
	uint32_t mode, first = 0;
	struct raw r;
	char call[16];

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "edge").error.data);
	for (unsigned n = 0; n < LIMIT_OUTSTANDING; n++) {
		snprintf(call, sizeof(call), "c%u", n);
		if (n == LIMIT_OUTSTANDING - 1) {
			/* one less than the limit: the next is taken and answered */
			f = raw_reply(&r, set_mode_send(&r));
			ck_assert(!f.error.data);
		}
		mode = raw_request(&r, call, "Frobnicate", call);
		first = first ? first : mode;
		waits(&r);
	}
	mode = set_mode_send(&r);
	step_tell(to_test[1]);
	step_await(to_agent[0]);
	/* meanwhile others were served, and this was not read */
	p = (struct pollfd){.fd = r.fd, .events = POLLIN};
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_uint_eq(r.len, r.taken);
	step_tell(to_test[1]);
	f = raw_next(&r);
	ck_assert(f.type == WIRE_REPLY && f.id == first);
	ck_assert(bytes_is(raw_text(f.result, "verdict"), "deny"));
	f = raw_next(&r);
	ck_assert(f.type == WIRE_REPLY && f.id == mode && !f.error.data);
	raw_close(&r);
}

/* The oldest that waits. */
static void deny_first(struct raw *person)
{
	char request[64] = "";
	struct bytes item, id;
	struct wire_frame f;
	struct wire_iter it;
	struct wire_open m;

	wire_map_open(&m, raw_call(person, "list"));
	wire_map_u64(&m, "limit", 1);
	wire_close(&m);
	f = raw_reply(person, raw_send(person));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "request");
	ck_assert_uint_lt(id.len, sizeof(request));
	memcpy(request, id.data, id.len);
	f = raw_reply(
		person, raw_decide(person, bytes_of(request), (struct bytes){NULL, 0}, "deny"));
	ck_assert(!f.error.data);
}

START_TEST(outstanding)
{
	start("");
	agent_run(outstanding_body);
	step_await(to_test[0]);
	for (unsigned i = 0; i < 3; i++)
		neighbour_round(&other);
	step_tell(to_agent[1]);
	step_await(to_test[0]);
	deny_first(&other.person);
	agent_end();
	stop();
}
END_TEST

/* ---- pending requests of a uid ---- */

static void pending_agent(const struct broker *broker, unsigned n)
{
	struct wire_frame f;
	char call[16];
	struct raw r;

	raw_connect(&r, broker->agent);
	ck_assert(!raw_hello_agent(&r, "edge").error.data);
	for (unsigned i = 0; i < n; i++) {
		snprintf(call, sizeof(call), "c%u", i);
		raw_request(&r, call, "Frobnicate", call);
		waits(&r);
	}
	f = raw_reply(&r, raw_request(&r, "more", "Frobnicate", "more"));
	limited(&f, "pending");
	ck_assert(!raw_reply(&r, cancel_send(&r, "c0")).error.data);
	raw_request(&r, "more", "Frobnicate", "more");
	raw_notification(&r, "request_state");
	/* for the others: what was refused left nothing */
	ck_assert(!raw_reply(&r, cancel_send(&r, "c1")).error.data);
	raw_close(&r);
}

START_TEST(pending)
{
	start("[limits]\npending = 10\n");
	in_child(pending_agent, &b, 10);
	stop();
}
END_TEST

static void bytes_agent(const struct broker *broker, unsigned n)
{
	static char text[900u << 10];
	struct wire_frame f;
	struct raw r;

	memset(text, 'x', sizeof(text) - 1);
	raw_connect(&r, broker->agent);
	ck_assert(!raw_hello_agent(&r, "edge").error.data);
	raw_request(&r, "c0", "Frobnicate", text);
	waits(&r);
	raw_request(&r, "c1", "Frobnicate", text);
	waits(&r);
	f = raw_reply(&r, raw_request(&r, "c2", "Frobnicate", text));
	limited(&f, "pending-bytes");
	ck_assert(!raw_reply(&r, cancel_send(&r, "c0")).error.data);
	raw_request(&r, "c2", "Frobnicate", text);
	raw_notification(&r, "request_state");
	raw_close(&r);
}

START_TEST(pending_bytes)
{
	start("[limits]\npending-bytes = 2M\n");
	in_child(bytes_agent, &b, 0);
	stop();
}
END_TEST

/* ---- a decision's own values: it alone is wrong then ---- */

static void decision_try(const char *key, bool raw, size_t len, const char *result)
{
	static char text[LIMIT_INPUT + 1];
	struct bytes value = {text, raw ? len - 5 : len}, item;
	struct wire_buffer *out = raw_call(&other.person, "decide");
	struct wire_open m, a, d;
	struct wire_frame f;
	struct wire_iter it;

	memset(text, 'x', sizeof(text));
	wire_map_open(&m, out);
	wire_map_key(&m, "decisions");
	wire_array_open(&a, out);
	wire_array_item(&a);
	wire_map_open(&d, out);
	wire_map_strz(&d, "request", "req_00000000-0000-7000-8000-000000000000");
	wire_map_strz(&d, "verdict", "deny");
	wire_map_str(&d, key, value);
	wire_close(&d);
	wire_close(&a);
	wire_close(&m);
	f = raw_reply(&other.person, raw_send(&other.person));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert(wire_array_next(&it, &item));
	ck_assert_msg(bytes_is(raw_text(item, "result"), result), "%s of %zu", key, len);
}

START_TEST(decision_values)
{
	start("");
	decision_try("reason", false, LIMIT_TEXT, "not_found");
	decision_try("reason", false, LIMIT_TEXT + 1, "invalid");
	decision_try("updated_input", true, LIMIT_INPUT, "not_found");
	decision_try("updated_input", true, LIMIT_INPUT + 1, "invalid");
	decision_try("answers", true, LIMIT_INPUT, "not_found");
	decision_try("answers", true, LIMIT_INPUT + 1, "invalid");
	stop();
}
END_TEST

/* ---- sessions, and how deep they are nested ---- */

static void sessions_agent(const struct broker *broker, unsigned n)
{
	struct wire_frame f;
	struct wire_open m;
	char key[16];
	struct raw r;

	for (unsigned i = 0; i < n; i++) {
		raw_connect(&r, broker->agent);
		snprintf(key, sizeof(key), "s%u", i);
		ck_assert(!raw_hello_agent(&r, key).error.data);
		if (i + 1 < n)
			raw_close(&r);
	}
	{
		struct raw more;

		raw_connect(&more, broker->agent);
		f = raw_hello_agent(&more, "more");
		limited(&f, "sessions");
		wire_map_open(&m, raw_call(&r, "bye"));
		wire_map_bool(&m, "end", true);
		wire_close(&m);
		ck_assert(!raw_reply(&r, raw_send(&r)).error.data);
		/* the same connection, since only the call was refused */
		ck_assert(!raw_hello_agent(&more, "more").error.data);
		raw_close(&more);
	}
	raw_close(&r);
}

START_TEST(sessions)
{
	start("[limits]\nsessions = 6\n");
	in_child(sessions_agent, &b, 5); /* and the other's */
	stop();
}
END_TEST

static struct wire_frame hello_below(struct raw *r, unsigned depth)
{
	struct wire_open m;
	char key[16], parent[16];

	snprintf(key, sizeof(key), "d%u", depth);
	snprintf(parent, sizeof(parent), "d%u", depth - 1);
	wire_map_open(&m, raw_call(r, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "session", key);
	if (depth)
		wire_map_strz(&m, "parent", parent);
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

static void chain_agent(const struct broker *broker, unsigned n)
{
	struct wire_frame f;
	struct raw r;

	for (unsigned depth = 0; depth <= LIMIT_CHAIN; depth++) {
		raw_connect(&r, broker->agent);
		f = hello_below(&r, depth);
		if (depth == LIMIT_CHAIN)
			limited(&f, "chain");
		else
			ck_assert(!f.error.data);
		raw_close(&r);
	}
}

START_TEST(chain)
{
	start("");
	in_child(chain_agent, &b, 0);
	stop();
}
END_TEST

/* ---- connections ---- */

/* Whether it is served: what is over the limit is closed at once, unread. */
static bool served(struct raw *r, const char *key)
{
	struct wire_buffer *out = raw_call(r, "hello");
	struct wire_frame f;
	struct wire_open m;

	wire_map_open(&m, out);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "role", "human");
	wire_map_strz(&m, "session", key);
	wire_close(&m);
	if (send(r->fd, out->data, out->len, MSG_NOSIGNAL) != (ssize_t)out->len)
		return false;
	if (!raw_next_or_end(r, &f))
		return false;
	ck_assert(!f.error.data);
	return true;
}

/* A connection is given back after the loop turn in which its end is seen. */
static void served_again(const char *path)
{
	for (;;) {
		struct raw r;
		bool yes;

		raw_connect(&r, path);
		yes = served(&r, "again");
		raw_close(&r);
		if (yes)
			return;
	}
}

static void connections_agent(const struct broker *broker, unsigned n)
{
	struct raw r[16], more;

	ck_assert_uint_le(n, sizeof(r) / sizeof(*r));
	for (unsigned i = 0; i < n; i++) {
		raw_connect(&r[i], broker->agent);
		ck_assert(served(&r[i], "edge"));
	}
	raw_connect(&more, broker->agent);
	ck_assert(!served(&more, "edge"));
	raw_close(&more);
	raw_close(&r[0]);
	served_again(broker->agent);
}

START_TEST(connections)
{
	start("[limits]\nconnections = 8\n");
	in_child(connections_agent, &b, 7); /* and the other agent's */
	stop();
}
END_TEST

START_TEST(frontends)
{
	static struct raw r[LIMIT_FRONTENDS];
	struct raw more;

	start("");
	for (unsigned i = 1; i < LIMIT_FRONTENDS; i++) { /* the other is one */
		raw_connect(&r[i], b.frontend);
		ck_assert(served(&r[i], NULL));
	}
	raw_connect(&more, b.frontend);
	ck_assert(!served(&more, NULL));
	raw_close(&more);
	neighbour_round(&other);
	raw_close(&r[1]);
	served_again(b.frontend);
	for (unsigned i = 2; i < LIMIT_FRONTENDS; i++)
		raw_close(&r[i]);
	stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("quotas and one above");
	TCase *t = tcase_create("quota");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_test(t, outstanding);
	tcase_add_test(t, pending);
	tcase_add_test(t, pending_bytes);
	tcase_add_test(t, decision_values);
	tcase_add_test(t, sessions);
	tcase_add_test(t, chain);
	tcase_add_test(t, connections);
	tcase_add_test(t, frontends);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
