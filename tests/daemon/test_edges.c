/* SPDX-License-Identifier: MIT */
/*
 * Every limit of doc/protocol.md at its value and one above: what only gives an error,
 * what ends the connection, and that others are served after either.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/neighbour.h"

static const uint64_t count_max = UINT64_C(1) << 53;
static const uint64_t duration_max = UINT64_C(315360000000);

static struct broker b;
static struct neighbour other;

static void setup(void)
{
	broker_init(&b);
	broker_configure(&b, "[broker]\ngrace = 1ms\n");
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

static void fill(char *text, size_t len)
{
	memset(text, 'x', len);
	text[len] = '\0';
}

/* ---- a value that is too long gives an error ---- */

enum form {
	TEXT,
	PATH,
	BIN,
	COUNT,
	INPUT,
	DEPTH,
	VALUES,
	OPTIONS,
	OPTION_LABEL,
	OPTIONS_SIZE,
	SCHEMA_SIZE
};

struct edge {
	const char *method, *param;
	enum form form;
	uint64_t most;
	const char *code; /* one above it */
};

static const struct edge agent_edges[] = {
	{"hello", "client", TEXT, LIMIT_NAME, "invalid"},
	{"hello", "agent", TEXT, LIMIT_NAME, "invalid"},
	{"hello", "session", TEXT, LIMIT_NAME, "invalid"},
	{"hello", "parent", TEXT, LIMIT_NAME, "invalid"},
	{"hello", "title", TEXT, LIMIT_TEXT, "invalid"},
	{"hello", "cwd", PATH, LIMIT_TEXT, "invalid"},
	{"hello", "channel_ms", COUNT, duration_max, "invalid"},
	{"turn_begin", "turn_id", TEXT, LIMIT_NAME, "invalid"},
	{"turn_begin", "prompt", TEXT, LIMIT_INPUT, "invalid"},
	{"usage", "seq", COUNT, count_max, "invalid"},
	{"usage", "input", COUNT, count_max, "invalid"},
	{"usage", "cost_microusd", COUNT, count_max, "invalid"},
	{"usage", "cursor", BIN, LIMIT_CURSOR, "too_large"},
	{"request", "tool_call_id", TEXT, LIMIT_NAME, "invalid"},
	{"request", "tool", TEXT, LIMIT_NAME, "invalid"},
	{"request", "turn_id", TEXT, LIMIT_NAME, "invalid"},
	{"request", "summary", TEXT, LIMIT_TEXT, "invalid"},
	{"request", "description", TEXT, LIMIT_DESCRIPTION, "invalid"},
	{"request", "cwd", PATH, LIMIT_TEXT, "invalid"},
	{"request", "timeout_ms", COUNT, duration_max, "invalid"},
	{"request", "channel_ms", COUNT, duration_max, "invalid"},
	{"request", "input", INPUT, LIMIT_INPUT, "too_large"},
	{"request", "input", DEPTH, LIMIT_VALUE_DEPTH, "too_large"},
	{"request", "input", VALUES, LIMIT_VALUE_COUNT, "too_large"},
	{"check", "input", INPUT, LIMIT_INPUT, "too_large"},
	{"request", "options", OPTIONS, LIMIT_OPTIONS, "too_large"},
	{"request", "options", OPTION_LABEL, LIMIT_TEXT, "invalid"},
	{"request", "options", OPTIONS_SIZE, LIMIT_INPUT / 4, "too_large"},
	{"request", "schema", SCHEMA_SIZE, LIMIT_INPUT / 4, "too_large"},
	{"cancel", "tool_call_id", TEXT, LIMIT_NAME, "invalid"},
	{"cancel", "reason", TEXT, LIMIT_TEXT, "invalid"},
	{"outcome", "summary", TEXT, LIMIT_TEXT, "invalid"},
	{"settled", "tool", TEXT, LIMIT_NAME, "invalid"},
};

static const struct edge frontend_edges[] = {
	{"hello", "client", TEXT, LIMIT_NAME, "invalid"},
	{"hello", "name", TEXT, LIMIT_NAME, "invalid"},
	{"get", "id", TEXT, LIMIT_NAME, "invalid"},
	{"list", "limit", COUNT, LIMIT_PAGE, "invalid"},
	{"subscribe", "limit", COUNT, LIMIT_PAGE, "invalid"},
	{"history", "limit", COUNT, LIMIT_PAGE, "invalid"},
	{"history", "agent", TEXT, LIMIT_NAME, "invalid"},
	{"history", "tool", TEXT, LIMIT_NAME, "invalid"},
	{"suspend", "reason", TEXT, LIMIT_TEXT, "invalid"},
	{"end_turn", "reason", TEXT, LIMIT_TEXT, "invalid"},
};

#define N_OF(list) (sizeof(list) / sizeof(*(list)))

static void pack_option(struct wire_buffer *out, const char *label, size_t len)
{
	struct wire_open m;

	wire_map_open(&m, out);
	wire_map_strz(&m, "id", "o");
	wire_map_str(&m, "label", (struct bytes){label, len});
	wire_close(&m);
}

/* An array of options that is so long: all of one size, and one that fills up. */
static void pack_options_size(struct wire_buffer *out, size_t size, const char *text)
{
	size_t start = out->len, each = size / LIMIT_OPTIONS, head;

	wire_pack_array(out, LIMIT_OPTIONS);
	head = out->len;
	pack_option(out, text, each - 32);
	head = out->len - head - (each - 32);
	for (unsigned i = 2; i < LIMIT_OPTIONS; i++)
		pack_option(out, text, each - head);
	pack_option(out, text, start + size - out->len - head);
}

static void pack_value(struct wire_buffer *out, const struct edge *e, uint64_t n)
{
	static char text[LIMIT_INPUT + 2];
	struct bytes bytes = {text, n};
	struct wire_open a;

	fill(text, sizeof(text) - 1);
	switch (e->form) {
	case PATH: text[0] = '/'; /* fall through */
	case TEXT: wire_pack_str(out, bytes); break;
	case BIN: wire_pack_bin(out, bytes); break;
	case COUNT: wire_pack_u64(out, n); break;
	case INPUT:
	case SCHEMA_SIZE: /* the heads of a map and of a long text, and a key of one letter */
		wire_map_open(&a, out);
		n -= out->data[out->len - 1] == 0x80 ? 1 : 3;
		n -= 2 + (n - 2 > UINT16_MAX + 3u ? 5 : 3);
		wire_map_str(&a, "x", (struct bytes){text, n});
		wire_close(&a);
		break;
	case DEPTH:
		for (; n > 1; n--)
			wire_pack_array(out, 1);
		wire_pack_array(out, 0);
		break;
	case VALUES:
		wire_pack_array(out, (uint32_t)n - 1);
		for (; n > 1; n--)
			wire_pack_nil(out);
		break;
	case OPTIONS:
		wire_pack_array(out, (uint32_t)n);
		for (; n > 0; n--)
			pack_option(out, "l", 1);
		break;
	case OPTION_LABEL:
		wire_pack_array(out, 1);
		pack_option(out, text, n);
		break;
	case OPTIONS_SIZE: pack_options_size(out, n, text); break;
	}
}

/* What the method wants beside the parameter that is tried. */
static void pack_rest(struct wire_open *m, const struct edge *e)
{
	static const struct {
		const char *method, *key, *text; /* NULL: the number 1 */
	} list[] = {
		{"hello", "protocol", NULL},
		{"hello", "client", "test"},
		{"hello", "agent", "test"},
		{"hello", "role", "human"},
		{"usage", "seq", NULL},
		{"usage", "input", NULL},
		{"usage", "output", NULL},
		{"usage", "cache_read", NULL},
		{"usage", "cache_write", NULL},
		{"request", "tool", "Frobnicate"},
		{"request", "input", "x"},
		{"check", "tool", "Frobnicate"},
		{"cancel", "tool_call_id", "none"},
		{"outcome", "tool_call_id", "none"},
		{"outcome", "outcome", "succeeded"},
		{"end_turn", "session", "ses_00000000-0000-7000-8000-000000000000"},
		{"suspend", "session", "ses_00000000-0000-7000-8000-000000000000"},
	};

	for (size_t i = 0; i < N_OF(list); i++) {
		if (strcmp(list[i].method, e->method) != 0 ||
			strcmp(list[i].key, e->param) == 0)
			continue;
		if (list[i].text)
			wire_map_strz(m, list[i].key, list[i].text);
		else
			wire_map_u64(m, list[i].key, 1);
	}
}

/* The reply, or that a request waits for a person. */
static struct wire_frame answer(struct raw *r, uint32_t id)
{
	struct wire_frame f;

	do
		f = raw_next(r);
	while (f.type != WIRE_NOTIFY && (f.type != WIRE_REPLY || f.id != id));
	return f;
}

static struct wire_frame edge_try(struct raw *r, const struct edge *e, uint64_t n)
{
	struct wire_buffer *out = raw_call(r, e->method);
	struct wire_open m;

	wire_map_open(&m, out);
	pack_rest(&m, e);
	wire_map_key(&m, e->param);
	pack_value(out, e, n);
	wire_close(&m);
	return answer(r, raw_send(r));
}

static void judge(const struct edge *e, const struct wire_frame *f, bool over)
{
	bool large = strcmp(e->code, "too_large") == 0;
	struct bytes code = raw_text(f->error, "code"), data = raw_member(f->error, "data");

	if (!over) {
		ck_assert_msg(!bytes_is(code, "invalid") && !bytes_is(code, "too_large"),
			"%s.%s (%d): %.*s", e->method, e->param, (int)e->form, (int)code.len,
			(const char *)code.data);
		return;
	}
	ck_assert_msg(bytes_is(code, e->code), "%s.%s (%d): '%.*s'", e->method, e->param,
		(int)e->form, (int)code.len, code.data ? (const char *)code.data : "");
	ck_assert_msg(bytes_is(raw_text(data, large ? "limit" : "param"), e->param),
		"%s.%s (%d): not named", e->method, e->param, (int)e->form);
}

/* The value above first: it only gives an error, so the same connection goes on. */
static void edge_run(const char *path, const struct edge *e, bool agent)
{
	struct wire_frame f;
	struct raw r;

	raw_connect(&r, path);
	if (strcmp(e->method, "hello") != 0) {
		f = agent ? raw_hello_agent(&r, "edge") : raw_hello_frontend(&r, "human");
		ck_assert(!f.error.data);
	}
	f = edge_try(&r, e, e->most + 1);
	judge(e, &f, true);
	f = edge_try(&r, e, e->most);
	judge(e, &f, false);
	raw_close(&r);
}

static void edge_agent(const struct broker *broker, unsigned n)
{
	edge_run(broker->agent, &agent_edges[n], true);
}

START_TEST(errors_of_agents)
{
	in_child(edge_agent, &b, (unsigned)_i);
	neighbour_round(&other);
}
END_TEST

START_TEST(errors_of_frontends)
{
	edge_run(b.frontend, &frontend_edges[_i], false);
}
END_TEST

/* The largest input is shown whole, and can be decided. */
static void whole_input_agent(const struct broker *broker, unsigned n)
{
	const struct edge e = {"request", "input", INPUT, LIMIT_INPUT, ""};
	struct wire_frame f;
	struct raw r;
	char id[64] = "";

	raw_connect(&r, broker->agent);
	ck_assert(!raw_hello_agent(&r, "edge").error.data);
	f = edge_try(&r, &e, e.most);
	ck_assert(f.type == WIRE_NOTIFY && bytes_is(f.method, "request_state"));
	memcpy(id, raw_text(f.params, "request").data, raw_text(f.params, "request").len);
	ck_assert_int_eq(write((int)n, id, sizeof(id)), (ssize_t)sizeof(id));
	do
		f = raw_next(&r);
	while (f.type != WIRE_REPLY);
	ck_assert(bytes_is(raw_text(f.result, "verdict"), "deny"));
	raw_close(&r);
	_exit(0);
}

static struct wire_frame get_item(struct raw *r, const char *id)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "get"));
	wire_map_strz(&m, "id", id);
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

START_TEST(whole_input)
{
	struct wire_frame f;
	int p[2];
	char id[64];

	ck_assert_int_eq(pipe(p), 0);
	if (fork() == 0)
		whole_input_agent(&b, (unsigned)p[1]);
	ck_assert_int_eq(read(p[0], id, sizeof(id)), (ssize_t)sizeof(id));
	f = get_item(&other.person, id);
	ck_assert_uint_eq(raw_member(raw_member(f.result, "item"), "input").len, LIMIT_INPUT);
	f = raw_reply(&other.person,
		raw_decide(&other.person, bytes_of(id), (struct bytes){NULL, 0}, "deny"));
	ck_assert(!f.error.data);
}
END_TEST

/* ---- decisions in one call ---- */

static struct wire_frame decide_many(struct raw *r, unsigned n)
{
	struct wire_buffer *out = raw_call(r, "decide");
	struct wire_open m, a, d;

	wire_map_open(&m, out);
	wire_map_key(&m, "decisions");
	wire_array_open(&a, out);
	for (unsigned i = 0; i < n; i++) {
		wire_array_item(&a);
		wire_map_open(&d, out);
		wire_map_strz(&d, "request", "req_00000000-0000-7000-8000-000000000000");
		wire_map_strz(&d, "verdict", "deny");
		wire_close(&d);
	}
	wire_close(&a);
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

START_TEST(decisions)
{
	struct wire_frame f;
	struct wire_iter it;
	struct bytes item;

	f = decide_many(&other.person, LIMIT_DECISIONS + 1);
	ck_assert(bytes_is(raw_text(f.error, "code"), "invalid"));
	ck_assert(bytes_is(raw_text(raw_member(f.error, "data"), "param"), "decisions"));
	f = decide_many(&other.person, LIMIT_DECISIONS);
	ck_assert(!f.error.data);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert_uint_eq(it.left, LIMIT_DECISIONS);
	while (wire_array_next(&it, &item))
		ck_assert(bytes_is(raw_text(item, "result"), "not_found"));
}
END_TEST

/* ---- what ends the connection ---- */

enum shape { FRAME_SIZE, FRAME_DEPTH, FRAME_VALUES };

static const struct {
	enum shape shape;
	uint32_t most;
} frames[] = {
	{FRAME_SIZE, LIMIT_FRAME},
	{FRAME_DEPTH, LIMIT_DEPTH},
	{FRAME_VALUES, LIMIT_ELEMENTS},
};

/* A call with a key that is not known, which makes the message what is wanted. */
static void pack_frame(struct raw *r, const char *method, enum shape shape, uint32_t n)
{
	const uint32_t outer = 3; /* the message, its params, their map */
	struct wire_buffer *out = raw_call(r, method);
	static char filler[LIMIT_FRAME];
	struct wire_open m;

	wire_map_open(&m, out);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "role", "human");
	wire_map_key(&m, "x");
	switch (shape) {
	case FRAME_SIZE:
		n -= (uint32_t)out->len + 5;
		wire_pack_bin(out, (struct bytes){filler, n});
		break;
	case FRAME_DEPTH:
		for (n -= outer; n > 1; n--)
			wire_pack_array(out, 1);
		wire_pack_array(out, 0);
		break;
	case FRAME_VALUES:
		n -= out->values + 1;
		wire_pack_array(out, n);
		while (n-- > 0)
			wire_pack_nil(out);
		break;
	}
	wire_close(&m);
}

/* The broker may close before all is sent. */
static void send_some(struct raw *r)
{
	for (size_t at = 0; at < r->out.len;) {
		ssize_t n = send(r->fd, r->out.data + at, r->out.len - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
}

/* A frontend's hello has to be short, so that only what comes after it tries the limit. */
static void frame_connect(struct raw *r, const char *path, bool frontend)
{
	raw_connect(r, path);
	if (frontend)
		ck_assert(!raw_hello_frontend(r, "human").error.data);
}

static void frame_try(const char *path, unsigned n, bool frontend)
{
	const char *method = frontend ? "stats" : "hello";
	struct wire_frame f;
	struct raw r;

	frame_connect(&r, path, frontend);
	pack_frame(&r, method, frames[n].shape, frames[n].most);
	raw_send(&r);
	ck_assert(!raw_reply(&r, r.id).error.data);
	raw_close(&r);
	frame_connect(&r, path, frontend);
	pack_frame(&r, method, frames[n].shape, frames[n].most + 1);
	send_some(&r);
	ck_assert_int_eq(raw_next_or_end(&r, &f), 0);
	raw_close(&r);
}

static void frame_agent(const struct broker *broker, unsigned n)
{
	frame_try(broker->agent, n, false);
}

START_TEST(ends_of_connections)
{
	in_child(frame_agent, &b, (unsigned)_i);
	neighbour_round(&other);
	frame_try(b.frontend, (unsigned)_i, true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("limits and one above");
	TCase *t = tcase_create("edges");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, errors_of_agents, 0, (int)N_OF(agent_edges));
	tcase_add_loop_test(t, errors_of_frontends, 0, (int)N_OF(frontend_edges));
	tcase_add_test(t, whole_input);
	tcase_add_test(t, decisions);
	tcase_add_loop_test(t, ends_of_connections, 0, (int)N_OF(frames));
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
