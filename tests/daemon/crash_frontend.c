/* SPDX-License-Identifier: MIT */
#include "tests/daemon/crash_world.h"

#include <check.h>
#include <string.h>

static struct call *call_by_request(struct world *w, struct bytes request)
{
	for (unsigned i = 0; i < *w->n; i++)
		if (request.len && bytes_is(request, w->calls[i].request))
			return &w->calls[i];
	return NULL;
}

/* A request stays what it was: its id never changes. */
static struct call *item_take(struct world *w, struct bytes item)
{
	struct bytes digest = raw_text(item, "digest"), request = raw_text(item, "request");
	char name[TEXT_MAX];
	struct call *c;

	text_of(name, raw_text(item, "tool_call_id"));
	c = call_get(w, name);
	if (c->request[0])
		ck_assert_msg(bytes_is(request, c->request), "%s is now another request", name);
	if (c->noted[0])
		ck_assert_msg(
			bytes_is(request, c->noted), "%s was noted as another request", name);
	text_of(c->request, request);
	ck_assert_uint_eq(digest.len, sizeof(c->digest));
	memcpy(c->digest, digest.data, sizeof(c->digest));
	return c;
}

static void decide_send(struct world *w, struct call *c, const char *verdict)
{
	struct wire_buffer *b = raw_call(&w->f, "decide");
	struct wire_open m, a, d;

	wire_map_open(&m, b);
	wire_map_key(&m, "decisions");
	wire_array_open(&a, b);
	wire_array_item(&a);
	wire_map_open(&d, b);
	wire_map_strz(&d, "request", c->request);
	wire_map_bin(&d, "digest", (struct bytes){c->digest, sizeof(c->digest)});
	wire_map_strz(&d, "verdict", verdict);
	wire_close(&d);
	wire_close(&a);
	wire_close(&m);
	c->decide_rpc = w->f.id;
	c->said = verdict;
	try_send(&w->f); /* its end is seen by who reads */
}

/* What a load wants for a call: the same whenever it is asked. */
static void load_decide(struct world *w, struct call *c)
{
	if (w->loaded && !c->decide_rpc)
		decide_send(w, c, (c - w->calls) % 3 ? "allow" : "deny");
}

static void event_take(struct world *w, const struct wire_frame *f)
{
	struct call *c;

	if (bytes_is(f->method, "offered")) {
		struct bytes item = raw_member(f->params, "item");

		c = item_take(w, item);
		c->offered = true;
		if (c->link == 0)
			text_of(w->session, raw_text(item, "session"));
		load_decide(w, c);
	} else if (bytes_is(f->method, "resolved") || bytes_is(f->method, "withdrawn")) {
		c = call_by_request(w, raw_text(f->params, "request"));
		ck_assert_ptr_nonnull(c);
		ck_assert_msg(!c->ended, "the end of %s was told twice", c->name);
		c->ended = true;
		text_of(c->resolved, raw_text(f->params, "verdict"));
	}
}

static void decide_answer(struct world *w, const struct wire_frame *f)
{
	struct bytes element;
	struct wire_iter it;
	char result[TEXT_MAX];

	for (unsigned i = 0; i < *w->n; i++) {
		struct call *c = &w->calls[i];

		if (c->decide_rpc != f->id)
			continue;
		ck_assert_msg(!f->error.data, "decide failed");
		ck_assert_int_eq(wire_iter_array(&it, raw_member(f->result, "results")), 0);
		ck_assert(wire_array_next(&it, &element));
		text_of(result, raw_text(element, "result"));
		ck_assert_msg(
			strcmp(result, "ok") == 0, "%s was not decided: %s", c->name, result);
		c->decided = true;
	}
}

/* Takes one message; false when the broker is gone. */
static bool frame_take(struct world *w, struct wire_frame *f)
{
	if (!raw_next_or_end(&w->f, f)) {
		w->dead = true;
		return false;
	}
	if (f->type == WIRE_NOTIFY)
		event_take(w, f);
	else
		decide_answer(w, f);
	return true;
}

/* The reply of the last call. */
static bool reply_take(struct world *w, uint32_t id, struct wire_frame *f)
{
	do
		if (!frame_take(w, f))
			return false;
	while (f->type != WIRE_REPLY || f->id != id);
	return true;
}

static bool call_run(struct world *w, struct wire_frame *f)
{
	return try_send(&w->f) ? reply_take(w, w->f.id, f) : (w->dead = true, false);
}

/* Pulls all pages of a method; false when the broker is gone. */
static bool pages_pull(struct world *w, const char *method, const char *cursor,
	void (*take)(struct world *w, struct bytes item))
{
	uint8_t at[512];
	size_t len = 0;
	bool more = true;

	while (more) {
		struct bytes item, next;
		struct wire_value v;
		struct wire_frame f;
		struct wire_open m;
		struct wire_iter it;

		wire_map_open(&m, raw_call(&w->f, method));
		wire_map_u64(&m, "limit", 500);
		if (len)
			wire_map_raw(&m, cursor, (struct bytes){at, len});
		wire_close(&m);
		if (!call_run(w, &f))
			return false;
		ck_assert(!f.error.data);
		next = raw_member(f.result, "more");
		ck_assert_int_eq(wire_read(&next, &v), 0);
		more = v.boolean;
		next = raw_member(f.result, "cursor");
		ck_assert_uint_le(len = next.len, sizeof(at));
		memcpy(at, next.data, len);
		/* last: what takes an item may send */
		ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
		while (wire_array_next(&it, &item))
			take(w, item);
	}
	return true;
}

static bool pending(struct bytes item)
{
	struct bytes state = raw_text(item, "state");

	return bytes_is(raw_text(item, "type"), "request") &&
	       (bytes_is(state, "REVIEW") || bytes_is(state, "AWAITING") ||
		       bytes_is(state, "HELD"));
}

static void snapshot_take(struct world *w, struct bytes item)
{
	if (pending(item))
		load_decide(w, item_take(w, item));
}

void frontend_start(struct world *w, bool subscribe)
{
	struct wire_frame f;
	struct wire_open m;

	raw_connect(&w->f, w->b.frontend);
	for (unsigned i = 0; i < *w->n; i++)
		w->calls[i].decide_rpc = 0;
	wire_map_open(&m, raw_call(&w->f, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "role", "human");
	wire_close(&m);
	if (call_run(w, &f) && subscribe)
		pages_pull(w, "subscribe", "cursor", snapshot_take);
}

void frontend_await(struct world *w, const char *event, struct call *c)
{
	char found[TEXT_MAX];
	struct wire_frame f;

	while (!w->dead && frame_take(w, &f)) {
		if (f.type != WIRE_NOTIFY || !bytes_is(f.method, event))
			continue;
		text_of(found, raw_text(raw_member(f.params, "item"), "tool_call_id"));
		if (strcmp(found, c->name) == 0 ||
			call_by_request(w, raw_text(f.params, "request")) == c)
			return;
	}
}

void frontend_drain(struct world *w)
{
	struct wire_frame f;

	while (frame_take(w, &f))
		;
}

void frontend_decide(struct world *w, struct call *c, const char *verdict)
{
	struct wire_frame f;

	if (w->dead)
		return;
	decide_send(w, c, verdict);
	reply_take(w, c->decide_rpc, &f);
}

void frontend_late(struct world *w, struct call *c, char state[TEXT_MAX])
{
	struct bytes element, result;
	struct wire_iter it;
	struct wire_frame f;

	/* not kept as what was said of it: nothing is to come of this */
	raw_decide(&w->f, bytes_of(c->request[0] ? c->request : c->noted),
		(struct bytes){c->digest, sizeof(c->digest)},
		strcmp(c->recorded, "allow") == 0 ? "deny" : "allow");
	do
		ck_assert(raw_next_or_end(&w->f, &f));
	while (f.type != WIRE_REPLY || f.id != w->f.id);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert(wire_array_next(&it, &element));
	result = raw_text(element, "result");
	ck_assert_msg(bytes_is(result, "gone"), "%s: a late decision is not told what was: %.*s",
		c->name, (int)result.len, (const char *)result.data);
	text_of(state, raw_text(element, "state"));
}

void frontend_steer(struct world *w, const char *method)
{
	struct wire_frame f;
	struct wire_open m;

	if (w->dead)
		return;
	w->steered = method;
	w->steer_sure = false;
	wire_map_open(&m, raw_call(&w->f, method));
	wire_map_strz(&m, "session", w->session);
	wire_close(&m);
	w->steer_sure = call_run(w, &f) && !f.error.data;
}

/* ---- after the restart ---- */

static void list_take(struct world *w, struct bytes item)
{
	ck_assert(pending(item));
	text_of(item_take(w, item)->state, raw_text(item, "state"));
}

static void history_take(struct world *w, struct bytes item)
{
	struct bytes event = raw_text(item, "event"), request = raw_text(item, "request");
	char name[TEXT_MAX];
	struct call *c;

	if (!request.len)
		return;
	text_of(name, raw_text(item, "tool_call_id"));
	c = call_get(w, name);
	if (c->request[0])
		ck_assert_msg(bytes_is(request, c->request), "%s is recorded as another", name);
	if (bytes_is(event, "decision")) {
		c->decisions++;
		text_of(c->recorded, raw_text(item, "verdict"));
	}
	c->ends += bytes_is(event, "ended");
	c->outcomes += bytes_is(event, "outcome");
}

static void history_verify(struct world *w)
{
	struct wire_frame f;
	struct wire_open m;
	struct wire_value v;
	struct bytes ok, next;
	uint64_t after = 0;

	do {
		wire_map_open(&m, raw_call(&w->f, "history_verify"));
		if (after)
			wire_map_u64(&m, "after", after);
		wire_close(&m);
		ck_assert(call_run(w, &f) && !f.error.data);
		ok = raw_member(f.result, "ok");
		ck_assert_int_eq(wire_read(&ok, &v), 0);
		ck_assert_msg(v.kind == WIRE_KIND_BOOL && v.boolean, "the chain is broken");
		next = raw_member(f.result, "next");
		ck_assert_int_eq(wire_read(&next, &v), 0);
		after = v.kind == WIRE_KIND_UINT ? v.u64 : 0;
	} while (after);
}

void frontend_read(struct world *w)
{
	for (unsigned i = 0; i < *w->n; i++) {
		struct call *c = &w->calls[i];

		c->state[0] = c->recorded[0] = 0;
		c->decisions = c->ends = c->outcomes = 0;
	}
	ck_assert(pages_pull(w, "list", "cursor", list_take));
	ck_assert(pages_pull(w, "history", "after", history_take));
	history_verify(w);
}
