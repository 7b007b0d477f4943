/* SPDX-License-Identifier: MIT */
/*
 * Slow clients: a frontend that subscribes and never reads, messages that come a byte
 * at a time, and messages that are cut anywhere. Nobody else waits for them.
 */
#include <check.h>
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

static void setup(void)
{
	broker_init(&b);
	broker_configure(&b, "[limits]\nrate = 0\n");
	broker_start(&b, NULL);
	neighbour_start(&other, &b);
}

static void teardown(void)
{
	neighbour_round(&other);
	neighbour_end(&other);
	broker_stop(&b);
	broker_fini(&b);
}

/* ---- it subscribes and never reads ---- */

#define EVENTS	 4000u /* requests, most of them cancelled: twice as many events, 25 MB */
#define KEPT	 10u   /* each such one is left pending */
#define AHEAD	 400u  /* at most so many before they are read: less than LIMIT_OUTPUT */
#define TEXT_LEN 4000u

static void flood_body(int up, int down)
{
	static char text[TEXT_LEN + 1];
	struct wire_open m;
	struct raw r;
	char call[16], c = 'r';

	memset(text, 'x', TEXT_LEN);
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "flood").error.data);
	for (unsigned n = 0; n < EVENTS; n++) {
		snprintf(call, sizeof(call), "f%u", n);
		raw_request(&r, call, "Frobnicate", text);
		raw_notification(&r, "request_state");
		if (n % KEPT) {
			wire_map_open(&m, raw_call(&r, "cancel"));
			wire_map_strz(&m, "tool_call_id", call);
			wire_close(&m);
			ck_assert(!raw_reply(&r, raw_send(&r)).error.data);
		}
		if (n % AHEAD == AHEAD - 1)
			ck_assert_int_eq(read(down, &c, 1), 1);
	}
	ck_assert_int_eq(write(up, &c, 1), 1);
	ck_assert_int_eq(read(down, &c, 1), 0);
	raw_close(&r);
	_exit(0);
}

static bool seen[EVENTS];

/* Of the flood's requests. */
static unsigned call_number(struct bytes item)
{
	struct bytes call = raw_text(item, "tool_call_id");
	char text[16] = "";
	unsigned n = EVENTS;

	if (call.len < sizeof(text) && call.len)
		memcpy(text, call.data, call.len);
	return sscanf(text, "f%u", &n) == 1 && n < EVENTS ? n : EVENTS;
}

/* The snapshot, whole; the number of the flood's requests that wait, each told of once. */
static unsigned subscribe(struct raw *r)
{
	struct raw_pages pages = {.r = r, .method = "subscribe"};
	struct bytes page, item;
	struct wire_iter it;
	unsigned n = 0;

	memset(seen, 0, sizeof(seen));
	while (raw_pages_next(&pages, &page, &it)) {
		ck_assert_uint_le(pages.len, 64);
		while (wire_array_next(&it, &item)) {
			unsigned i = call_number(item);

			if (i == EVENTS || !bytes_is(raw_text(item, "state"), "AWAITING"))
				continue;
			ck_assert_msg(!seen[i], "f%u was told of twice", i);
			seen[i] = true;
			n++;
		}
	}
	return n;
}

static struct raw subscriber(void)
{
	struct raw r;

	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	return r;
}

static uint64_t connections(void)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(&other.person, "stats"));
	wire_close(&m);
	return raw_uint(
		raw_reply(&other.person, raw_send(&other.person)).result, "connections");
}

/* Reads all of the flood's events in time, and has a neighbour that is served. */
static void read_flood(struct raw *r, int down)
{
	unsigned offered = 0, withdrawn = 0;

	for (uint64_t seq = 1; offered < EVENTS || withdrawn < EVENTS - EVENTS / KEPT; seq++) {
		struct wire_frame f = raw_next(r);

		ck_assert_int_eq(f.type, WIRE_NOTIFY);
		ck_assert_uint_eq(raw_uint(f.params, "seq"), seq);
		if (bytes_is(f.method, "offered") &&
			call_number(raw_member(f.params, "item")) < EVENTS &&
			++offered % AHEAD == 0)
			ck_assert_int_eq(write(down, "n", 1), 1);
		withdrawn += bytes_is(f.method, "withdrawn");
		if (seq % 1000 == 0)
			neighbour_round(&other);
	}
}

/* What it was sent before it was closed has no gap either. */
static uint64_t read_rest(struct raw *r)
{
	struct wire_frame f;
	uint64_t seq = 0;

	while (raw_next_or_end(r, &f))
		ck_assert_uint_eq(raw_uint(f.params, "seq"), ++seq);
	return seq;
}

START_TEST(never_reads)
{
	struct raw slow = subscriber(), fast = subscriber();
	int up[2], down[2], status;
	uint64_t told;
	pid_t agent;
	char c;

	ck_assert_uint_eq(subscribe(&slow), 0);
	ck_assert_uint_eq(subscribe(&fast), 0);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0) {
		close(down[1]);
		flood_body(up[1], down[0]);
	}
	read_flood(&fast, down[1]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	/* the agents, the person and who reads */
	ck_assert_uint_eq(connections(), 4);
	told = read_rest(&slow);
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_lt(told, EVENTS);
	raw_close(&slow);

	slow = subscriber();
	ck_assert_uint_eq(subscribe(&slow), EVENTS / KEPT);
	for (unsigned i = 0; i < EVENTS; i += KEPT)
		ck_assert_msg(seen[i], "f%u is not in the snapshot", i);
	neighbour_round(&other);
	ck_assert_uint_eq(raw_uint(raw_notification(&slow, "offered").params, "seq"), 1);
	raw_close(&slow);
	raw_close(&fast);
	close(down[1]);
	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* ---- messages in pieces ---- */

#define MESSAGES 3u

struct stream {
	uint8_t data[1024];
	size_t len, ends[MESSAGES];
};

static void stream_add(struct stream *s, unsigned n, const struct raw *r)
{
	ck_assert_uint_le(s->len + r->out.len, sizeof(s->data));
	memcpy(s->data + s->len, r->out.data, r->out.len);
	s->len += r->out.len;
	s->ends[n] = s->len;
}

/* Calls 1 to 3 of an agent, or of a frontend. */
static void stream_make(struct stream *s, bool agent)
{
	static const char *const methods[2][MESSAGES] = {
		{"hello", "subscribe", "stats"}, {"hello", "turn_begin", "set_mode"}};
	struct raw r = {.fd = -1};

	memset(s, 0, sizeof(*s));
	wire_buffer_init(&r.out, LIMIT_FRAME);
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct wire_open m;

		wire_map_open(&m, raw_call(&r, methods[agent][i]));
		if (i == 0) {
			wire_map_u64(&m, "protocol", 1);
			wire_map_strz(&m, "client", "test");
			wire_map_strz(&m, "agent", "test");
			wire_map_strz(&m, "session", "cut");
			wire_map_strz(&m, "role", "human");
		}
		if (agent && i == 2)
			wire_map_strz(&m, "mode", "normal");
		wire_close(&m);
		stream_add(s, i, &r);
	}
	wire_buffer_free(&r.out);
}

/* Until the broker has read what was sent on any connection before. */
static void settle(struct raw *with)
{
	struct wire_open m;
	struct wire_frame f;

	wire_map_open(&m, raw_call(with, "stats"));
	wire_close(&m);
	f = raw_reply(with, raw_send(with));
	/* an agent is told that there is no such method here, which is an answer, too */
	ck_assert(f.type == WIRE_REPLY);
}

static void piece_send(struct raw *r, const struct stream *s, size_t from, size_t to)
{
	ck_assert_int_eq(
		send(r->fd, s->data + from, to - from, MSG_NOSIGNAL), (ssize_t)(to - from));
}

static void answered(struct raw *r)
{
	for (uint32_t id = 1; id <= MESSAGES; id++) {
		struct wire_frame f = raw_next(r);

		ck_assert(f.type == WIRE_REPLY && f.id == id);
		ck_assert(!f.error.data);
	}
}

/* In three pieces: cut at two places, which may be the same. */
static void cut_try(
	const char *path, const struct stream *s, struct raw *with, size_t first, size_t second)
{
	struct raw r;

	raw_connect(&r, path);
	if (first) {
		piece_send(&r, s, 0, first);
		settle(with);
	}
	if (second > first) {
		piece_send(&r, s, first, second);
		settle(with);
	}
	piece_send(&r, s, second, s->len);
	answered(&r);
	raw_close(&r);
}

/* At every byte; and around each boundary of messages together with all others. */
static void cut_all(const char *path, struct raw *with, bool agent)
{
	struct stream s;

	stream_make(&s, agent);
	for (size_t at = 0; at < s.len; at++)
		cut_try(path, &s, with, at, at);
	for (unsigned i = 0; i < MESSAGES - 1; i++)
		for (size_t at = s.ends[i] - 1; at <= s.ends[i] + 1; at++)
			for (size_t to = at + 1; to<s.len; to += to> s.ends[1] + 1 ? 7 : 3)
				cut_try(path, &s, with, at, to);
}

START_TEST(frontend_cut)
{
	cut_all(b.frontend, &other.person, false);
}
END_TEST

static void agent_cut_body(const struct broker *broker, unsigned n)
{
	struct raw with;

	(void)n;
	raw_connect(&with, broker->agent);
	cut_all(broker->agent, &with, true);
	raw_close(&with);
}

START_TEST(agent_cut)
{
	in_child(agent_cut_body, &b, 0);
}
END_TEST

START_TEST(frontend_byte_by_byte)
{
	struct stream s;
	struct raw r;

	stream_make(&s, false);
	raw_connect(&r, b.frontend);
	for (size_t at = 0; at < s.len; at++) {
		piece_send(&r, &s, at, at + 1);
		settle(&other.person);
	}
	answered(&r);
	/* it is subscribed like any other */
	neighbour_round(&other);
	ck_assert_uint_eq(raw_uint(raw_next(&r).params, "seq"), 1);
	raw_notification(&r, "offered");
	raw_close(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slow clients");
	TCase *t = tcase_create("slow");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, never_reads);
	tcase_add_test(t, frontend_byte_by_byte);
	tcase_add_test(t, frontend_cut);
	tcase_add_test(t, agent_cut);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
