/* SPDX-License-Identifier: MIT */
#include "tests/daemon/failing_store.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void token_send(int fd, char c)
{
	ck_assert_int_eq(write(fd, &c, 1), 1);
}

static char token_wait(int fd)
{
	char c = 0;

	ck_assert_int_eq(read(fd, &c, 1), 1);
	return c;
}

static struct bytes ask(struct raw *r, const char *method, const char *key, const char *value)
{
	struct wire_frame reply;
	struct wire_open m;

	wire_map_open(&m, raw_call(r, method));
	if (key)
		wire_map_strz(&m, key, value);
	wire_close(&m);
	reply = raw_reply(r, raw_send(r));
	return reply.error.data ? reply.error : reply.result;
}

struct bytes failing_ask(
	struct failing *w, const char *method, const char *key, const char *value)
{
	return ask(&w->f, method, key, value);
}

bool failing_works(struct failing *w)
{
	return bytes_is(raw_text(ask(&w->f, "stats", NULL, NULL), "store"), "ok");
}

void failing_await(struct failing *w)
{
	while (!failing_works(w))
		;
}

/* ---- the agent: waits with one request, then is denied while the store fails ---- */

static void agent_run(struct failing *w)
{
	struct wire_frame reply;
	struct raw waits, r;
	uint32_t pending;

	raw_connect(&waits, w->b.agent);
	ck_assert(!raw_hello_agent(&waits, "a").error.data);
	pending = raw_request(&waits, "waits", "Frobnicate", "x");
	raw_notification(&waits, "request_state");
	raw_connect(&r, w->b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	token_send(w->up[1], 'r');
	while (token_wait(w->down[0]) == 'n') {
		static unsigned n;
		char call[16];

		snprintf(call, sizeof(call), "c%u", n++);
		reply = raw_reply(&r, raw_request(&r, call, "Frobnicate", call));
		ck_assert(!reply.error.data);
		token_send(w->up[1],
			bytes_is(raw_text(reply.result, "verdict"), "deny") &&
					bytes_is(raw_text(reply.result, "source"), "broker")
				? 'd'
				: '?');
		/* another command is told so */
		ck_assert(bytes_is(
			raw_text(ask(&r, "turn_begin", "turn_id", call), "code"), "store"));
	}
	/* what was pending is answered when the store works again */
	reply = raw_reply(&waits, pending);
	token_send(w->up[1], bytes_is(raw_text(reply.result, "verdict"), "allow") ? 'a' : '?');
	_exit(0);
}

void failing_start(struct failing *w)
{
	broker_start(&w->b, NULL);
	raw_connect(&w->f, w->b.frontend);
	raw_hello_frontend(&w->f, "human");
	ck_assert(pipe(w->up) == 0 && pipe(w->down) == 0);
	w->agent = fork();
	ck_assert_int_ge(w->agent, 0);
	if (w->agent == 0) {
		close(w->f.fd);
		agent_run(w);
	}
	ck_assert_int_eq(token_wait(w->up[0]), 'r');
}

void failing_deny(struct failing *w, unsigned n)
{
	while (n--) {
		token_send(w->down[1], 'n');
		ck_assert_int_eq(token_wait(w->up[0]), 'd');
	}
}

void failing_allow(struct failing *w)
{
	struct bytes item, id, digest, result;
	char request[64];
	uint8_t d[32];
	struct wire_iter it;

	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&w->f, "list", NULL, NULL), "items")), 0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "request");
	digest = raw_text(item, "digest");
	snprintf(request, sizeof(request), "%.*s", (int)id.len, (const char *)id.data);
	memcpy(d, digest.data, 32);
	result = raw_reply(
		&w->f, raw_decide(&w->f, bytes_of(request), (struct bytes){d, 32}, "allow"))
			 .result;
	ck_assert_int_eq(wire_iter_array(&it, raw_member(result, "results")), 0);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "result"), "ok"));
}

static bool member_true(struct bytes map, const char *key)
{
	struct bytes v = raw_member(map, key);

	return v.len == 1 && *(const uint8_t *)v.data == 0xc3;
}

void failing_history(struct failing *w, const char *key, const char *value,
	void (*take)(void *arg, struct bytes row), void *arg)
{
	uint64_t after = 0;
	bool more;

	do {
		struct bytes page, row;
		struct wire_iter it;
		struct wire_open m;

		wire_map_open(&m, raw_call(&w->f, "history"));
		wire_map_strz(&m, key, value);
		wire_map_u64(&m, "after", after);
		wire_close(&m);
		page = raw_reply(&w->f, raw_send(&w->f)).result;
		ck_assert_int_eq(wire_iter_array(&it, raw_member(page, "items")), 0);
		while (wire_array_next(&it, &row))
			take(arg, row);
		/* a page may end early, also before the first row that is like that */
		more = member_true(page, "more");
		after = more ? raw_uint(page, "cursor") : 0;
	} while (more);
}

static void recorded_take(void *arg, struct bytes row)
{
	uint64_t *n = arg;

	if (!bytes_is(raw_text(row, "event"), "decision"))
		return;
	ck_assert(bytes_is(raw_text(row, "mode"), "normal"));
	++*n;
}

uint64_t failing_recorded(struct failing *w)
{
	uint64_t n = 0;

	failing_history(w, "source", "broker", recorded_take, &n);
	return n;
}

uint64_t failing_verify(struct failing *w)
{
	uint64_t n = 0, after = 0;
	struct wire_value next;

	do {
		struct bytes page, v;
		struct wire_open m;

		wire_map_open(&m, raw_call(&w->f, "history_verify"));
		wire_map_u64(&m, "after", after);
		wire_close(&m);
		page = raw_reply(&w->f, raw_send(&w->f)).result;
		ck_assert(member_true(page, "ok"));
		n += raw_uint(page, "checked");
		v = raw_member(page, "next");
		ck_assert_int_eq(wire_read(&v, &next), 0);
		after = next.u64;
	} while (next.kind == WIRE_KIND_UINT);
	return n;
}

void failing_whole(struct failing *w, void (*mend)(struct failing *w))
{
	struct bytes id;
	char session[64];
	struct wire_iter it;
	struct bytes item;

	failing_deny(w, 3);
	ck_assert(!failing_works(w));
	/* what was pending stays so */
	ck_assert_uint_eq(raw_uint(ask(&w->f, "stats", NULL, NULL), "pending"), 1);
	/* the switch works all the same */
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&w->f, "sessions", NULL, NULL), "items")),
		0);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "session");
	snprintf(session, sizeof(session), "%.*s", (int)id.len, (const char *)id.data);
	ck_assert_uint_eq(raw_uint(ask(&w->f, "suspend", "session", session), "turns"), 1);
	mend(w);
	failing_await(w);
	/* by itself, before anything else is written */
	ck_assert_uint_eq(failing_recorded(w), 3);
	ck_assert_uint_eq(raw_uint(ask(&w->f, "resume", "session", session), "turns"), 1);
	failing_allow(w);
	token_send(w->down[1], 'e');
	ck_assert_int_eq(token_wait(w->up[0]), 'a');
	ck_assert_int_eq(waitpid(w->agent, NULL, 0), w->agent);
	ck_assert_uint_eq(failing_recorded(w), 3);
	raw_close(&w->f);
	broker_stop(&w->b);
}
