/* SPDX-License-Identifier: MIT */
/* Effects become records and messages. */
#include <config.h>

#include "broker/io/gateway_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- replies ---- */

static void reply_hello(struct gateway *g, struct wire_buffer *b, const struct effect *e)
{
	const struct session *s = e->reply.session;
	const struct turn *t = e->reply.turn, *u;
	struct wire_mark from = wire_buffer_mark(b);
	struct wire_open m, a, p;
	const struct request *q;

	wire_map_open(&m, b);
	wire_map_u64(&m, "protocol", GATEWAY_PROTOCOL);
	wire_map_strz(&m, "broker", "approvald " PACKAGE_VERSION);
	wire_map_strz(&m, "epoch", g->epoch);
	item_put_id(&m, "session", ID_SESSION, &s->s.r.id);
	wire_map_str(&m, "agent_session", session_key(s));
	wire_map_strz(&m, "mode", mode_name(session_mode(s)));
	wire_map_strz(&m, "ceiling", mode_name(s->s.r.ceiling));
	wire_map_str(&m, "workspace", str_bytes(s->s.r.workspace));
	if (t) {
		wire_map_key(&m, "turn");
		wire_map_open(&p, b);
		item_put_id(&p, "turn", ID_TURN, &t->s.r.id);
		wire_map_str(&p, "agent_turn", str_bytes(t->s.r.key));
		wire_map_strz(&p, "state", turn_state_name(t->s.r.state));
		wire_close(&p);
	} else {
		wire_map_nil(&m, "turn");
	}
	wire_map_bin(&m, "cursor", str_bytes(s->s.r.cursor));
	wire_map_u64(&m, "seq", t ? t->s.r.usage_seq : 0);
	wire_map_key(&m, "pending");
	wire_array_open(&a, b);
	LIST_FOREACH(u, &s->turns, in_session)
		TAILQ_FOREACH(q, &u->requests, in_turn) {
			if (!request_state_pending(q->s.r.state) || q->s.r.check)
				continue;
			if (!page_room(b, from)) /* more than one message takes */
				break;
			wire_array_item(&a);
			wire_map_open(&p, b);
			item_put_id(&p, "request", ID_REQUEST, &q->s.r.id);
			wire_map_str(&p, "tool_call_id", request_call(q));
			wire_map_strz(&p, "state", request_state_name(q->s.r.state));
			wire_close(&p);
		}
	wire_close(&a);
	wire_close(&m);
}

static const char *const result_names[] = {
	[RESULT_OK] = "ok",
	[RESULT_GONE] = "gone",
	[RESULT_NOT_FOUND] = "not_found",
	[RESULT_MISMATCH] = "digest_mismatch",
	[RESULT_HELD] = "held",
	[RESULT_FORBIDDEN] = "forbidden",
	[RESULT_REFUSED] = "refused",
	[RESULT_INVALID] = "invalid",
};

static void reply_result(struct gateway *g, struct wire_buffer *b, const struct client *client,
	const struct decided *given, bool named)
{
	struct decided d = ended_recall(g, client, *given);
	struct wire_open m;

	wire_map_open(&m, b);
	if (named)
		item_put_id(&m, "request", ID_REQUEST, &d.request);
	wire_map_strz(&m, "result", result_names[d.result]);
	if (d.result == RESULT_GONE) {
		wire_map_strz(&m, "state", request_state_name(d.state));
		wire_map_strz(&m, "source", source_name(d.source));
	}
	if (d.result == RESULT_REFUSED)
		wire_map_strz(&m, "step", step_name(d.step));
	if (d.message)
		wire_map_strz(&m, "message", d.message);
	wire_close(&m);
}

struct snapshot {
	struct gateway *g;
	struct frontend *frontend;
};

static struct entity *snapshot_next(void *arg, const struct uuid *after)
{
	const struct snapshot *s = arg;

	if (s->frontend->s.role == ROLE_POLICY)
		return NULL;
	return engine_page(&s->g->engine, s->frontend, after);
}

static int reply_page(struct gateway *g, struct wire_buffer *b, const struct effect *e)
{
	struct snapshot s = { g, e->frontend };
	struct uuid at = e->reply.cursor;
	struct wire_open m;
	bool more;

	wire_map_open(&m, b);
	wire_map_strz(&m, "epoch", g->epoch);
	more = page_pack(g, &m, &at, e->reply.limit, snapshot_next, &s);
	wire_close(&m);
	return engine_page_told(&g->engine, e->frontend, &at, more);
}

static int take_reply(struct gateway *g, const struct effect *e)
{
	struct client *client = e->link ? client_of(e->link) : client_of_frontend(e->frontend);
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m, a;
	int err = 0;

	wire_pack_reply_ok(b, e->call);
	switch (e->reply.kind) {
	case REPLY_HELLO: reply_hello(g, b, e); break;
	case REPLY_PAGE: err = reply_page(g, b, e); break;
	case REPLY_EMPTY:
		wire_map_open(&m, b);
		wire_close(&m);
		break;
	case REPLY_TURN:
		wire_map_open(&m, b);
		item_put_id(&m, "turn", ID_TURN,
			e->reply.turn ? &e->reply.turn->s.r.id : &e->reply.cursor);
		wire_map_strz(&m, "state",
			turn_state_name(e->reply.turn ? e->reply.turn->s.r.state : TURN_ENDED));
		wire_close(&m);
		break;
	case REPLY_STATE:
		wire_map_open(&m, b);
		wire_map_strz(&m, "state", request_state_name(e->reply.state));
		wire_close(&m);
		break;
	case REPLY_MODE:
		wire_map_open(&m, b);
		wire_map_strz(&m, "mode", mode_name(session_mode(e->reply.session)));
		wire_map_strz(&m, "ceiling", mode_name(e->reply.session->s.r.ceiling));
		wire_close(&m);
		break;
	case REPLY_COUNT:
		wire_map_open(&m, b);
		wire_map_u64(&m, "turns", e->reply.count);
		wire_close(&m);
		break;
	case REPLY_RESULT: reply_result(g, b, client, &e->reply.results[0], false); break;
	case REPLY_RESULTS:
		wire_map_open(&m, b);
		wire_map_key(&m, "results");
		wire_array_open(&a, b);
		for (uint32_t i = 0; i < e->reply.count; i++) {
			wire_array_item(&a);
			reply_result(g, b, client, &e->reply.results[i], true);
		}
		wire_close(&a);
		wire_close(&m);
		break;
	case REPLY_GREETING: {
		char name[32];

		snprintf(name, sizeof(name), "fe_%" PRIu64, client->serial);
		wire_map_open(&m, b);
		wire_map_u64(&m, "protocol", GATEWAY_PROTOCOL);
		wire_map_strz(&m, "broker", "approvald " PACKAGE_VERSION);
		wire_map_strz(&m, "epoch", g->epoch);
		wire_map_strz(&m, "frontend", name);
		wire_map_u64(&m, "uid", e->frontend->uid);
		wire_close(&m);
		break;
	}
	case REPLY_ASK:
		wire_map_open(&m, b);
		wire_map_nil(&m, "request");
		wire_map_str(&m, "tool_call_id", e->reply.call_name);
		wire_map_strz(&m, "verdict", verdict_name(VERDICT_ASK));
		wire_map_strz(&m, "step", step_name(e->reply.step));
		wire_map_strz(&m, "reason", step_why(e->reply.step));
		wire_close(&m);
		break;
	}
	stage_end(g, client, true);
	return err;
}

static void take_verdict(struct gateway *g, const struct effect *e)
{
	const struct request *q = e->request;
	const struct request_data *r = &q->s.r;
	const struct decision *d = request_decision(q);
	bool allow = d->verdict == VERDICT_ALLOW && r->state == REQUEST_ALLOWED;
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m;

	wire_pack_reply_ok(b, e->call);
	wire_map_open(&m, b);
	item_put_id(&m, "request", ID_REQUEST, &r->id);
	wire_map_str(&m, "tool_call_id", request_call(q));
	item_put_id(&m, "turn", ID_TURN, &q->s.turn->s.r.id);
	wire_map_strz(&m, "verdict", verdict_name(allow ? VERDICT_ALLOW : VERDICT_DENY));
	wire_map_strz(&m, "source", source_name(d->source));
	wire_map_strz(&m, "scope", scope_name(d->scope));
	wire_map_strz(&m, "step", step_name(r->step));
	wire_map_strz(&m, "state", request_state_name(r->state));
	wire_map_str(&m, "reason", d->reason ? str_bytes(d->reason) : (struct bytes){ "", 0 });
	wire_map_strz(&m, "message",
		allow ? "" : denial_message(d->source, r->step, r->state));
	wire_map_bin(&m, "digest", (struct bytes){ r->digest, sizeof(r->digest) });
	item_put_rule(&m, r->why);
	if (allow && d->updated_input)
		wire_map_raw(&m, "updated_input", str_bytes(d->updated_input));
	if (allow && d->answers)
		wire_map_raw(&m, "answers", str_bytes(d->answers));
	wire_close(&m);
	stage_end(g, client_of(e->link), true);
}

static void take_error(struct gateway *g, const struct effect *e)
{
	static const enum wire_code codes[] = {
		[ENGINE_NO_SESSION] = WIRE_NO_SESSION,
		[ENGINE_FORBIDDEN] = WIRE_FORBIDDEN,
		[ENGINE_NOT_FOUND] = WIRE_NOT_FOUND,
		[ENGINE_GONE] = WIRE_GONE,
		[ENGINE_MISMATCH] = WIRE_MISMATCH,
		[ENGINE_STATE] = WIRE_STATE,
		[ENGINE_LIMIT] = WIRE_LIMIT,
		[ENGINE_INVALID] = WIRE_INVALID,
		[ENGINE_UNSUPPORTED] = WIRE_UNSUPPORTED,
	};
	struct client *client = e->link ? client_of(e->link) : client_of_frontend(e->frontend);

	if (e->error.code == ENGINE_GONE)
		gone_answer(g, client, e->call, e->error.message, NULL, e->error.state,
			e->error.source);
	else
		batch_error(g, client, e->call, codes[e->error.code], e->error.message,
			e->error.key, bytes_of(e->error.value));
}

/* ---- events and notes ---- */

static const char *event_name(enum event_kind kind)
{
	switch (kind) {
	case EVENT_OFFERED: return "offered";
	case EVENT_REFRESHED: return "refreshed";
	case EVENT_RESOLVED: return "resolved";
	case EVENT_WITHDRAWN: return "withdrawn";
	case EVENT_OUTCOME: return "outcome";
	case EVENT_TURN: return "turn_changed";
	case EVENT_SESSION: return "session_changed";
	case EVENT_WARNING: return "budget_warning";
	}
	return "?";
}

static void put_end(struct wire_open *m, const struct request *q, bool resolved)
{
	const struct decision *d = request_decision(q);

	item_put_id(m, "request", ID_REQUEST, &q->s.r.id);
	wire_map_strz(m, "state", request_state_name(q->s.r.state));
	if (resolved)
		wire_map_strz(m, "verdict", verdict_name(d->verdict));
	wire_map_strz(m, "source", source_name(d->source));
	if (resolved)
		wire_map_strz(m, "scope", scope_name(d->scope));
	wire_map_str(m, "reason", str_bytes(d->reason));
	wire_map_str(m, "by", str_bytes(d->by));
	wire_map_i64(m, "at", d->decided_at / 1000);
}

static void put_outcome(struct gateway *g, struct wire_open *m, const struct effect *e)
{
	const struct entity *x = e->event.entity;
	const struct request *q = x->type == ENTITY_REQUEST ? ENTITY_OF(x, request) : NULL;
	const struct session *s = q ? request_session(q) : ENTITY_OF(x, session);

	if (q)
		item_put_id(m, "request", ID_REQUEST, &q->s.r.id);
	else
		wire_map_nil(m, "request");
	item_put_id(m, "session", ID_SESSION, &s->s.r.id);
	wire_map_str(m, "tool_call_id", q ? request_call(q) : e->event.call_name);
	wire_map_str(m, "tool", q ? str_bytes(q->s.r.tool) : e->event.tool);
	wire_map_strz(m, "state", request_state_name(e->event.state));
	wire_map_bool(m, "ran_anyway", e->event.ran_anyway);
	wire_map_i64(m, "at", gateway_now(g).wall / 1000);
}

static void take_event(struct gateway *g, const struct effect *e)
{
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m;

	wire_pack_notify(b, bytes_of(event_name(e->event.kind)));
	wire_map_open(&m, b);
	wire_map_strz(&m, "epoch", g->epoch);
	wire_map_u64(&m, "seq", e->event.seq);
	switch (e->event.kind) {
	case EVENT_OFFERED:
	case EVENT_REFRESHED:
	case EVENT_TURN:
	case EVENT_SESSION:
		wire_map_key(&m, "item");
		item_pack(g, b, e->event.entity, false);
		break;
	case EVENT_RESOLVED: put_end(&m, ENTITY_OF(e->event.entity, request), true); break;
	case EVENT_WITHDRAWN: put_end(&m, ENTITY_OF(e->event.entity, request), false); break;
	case EVENT_OUTCOME: put_outcome(g, &m, e); break;
	case EVENT_WARNING: item_put_warning(g, &m, e); break;
	}
	wire_close(&m);
	stage_end(g, client_of_frontend(e->frontend), false);
}

/* The turn whose cause suspends this one: itself, or the nearest of an ancestor. */
static const struct turn *suspended_by(const struct turn *t)
{
	for (const struct session *s = t->s.session; !t->s.r.causes && s; s = s->s.parent)
		if (s->s.turn && s->s.turn->s.r.causes)
			return s->s.turn;
	return t;
}

static void take_note(struct gateway *g, const struct effect *e)
{
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m;
	const struct turn *t = e->note.turn, *by;

	switch (e->note.kind) {
	case NOTE_SUSPENDED:
		wire_pack_notify(b, bytes_of("turn_suspended"));
		wire_map_open(&m, b);
		item_put_id(&m, "turn", ID_TURN, &t->s.r.id);
		by = suspended_by(t);
		wire_map_strz(&m, "cause", by->s.r.causes & CAUSE_BUDGET ? "budget" : "hand");
		wire_map_str(&m, "reason", str_bytes(by->s.r.reason));
		break;
	case NOTE_RESUMED:
		wire_pack_notify(b, bytes_of("turn_resumed"));
		wire_map_open(&m, b);
		item_put_id(&m, "turn", ID_TURN, &t->s.r.id);
		break;
	case NOTE_REQUEST:
		wire_pack_notify(b, bytes_of("request_state"));
		wire_map_open(&m, b);
		item_put_id(&m, "request", ID_REQUEST, &e->note.request->s.r.id);
		wire_map_str(&m, "tool_call_id", request_call(e->note.request));
		wire_map_strz(&m, "state", request_state_name(e->note.request->s.r.state));
		break;
	}
	wire_close(&m);
	stage_end(g, client_of(e->link), false);
}

/* ---- records ---- */

static int take_store(struct gateway *g, const struct effect *e)
{
	struct entity *x = e->store.entity;

	switch (e->store.op) {
	case JOURNAL_SESSION:
	case JOURNAL_TURN:
	case JOURNAL_REQUEST: return entity_put(g, x, batch_store);
	case JOURNAL_SESSION_REMOVE:
	case JOURNAL_TURN_REMOVE: {
		int err = standing_drop_owner(g, entity_id(x));

		return err < 0 ? err : batch_store(g, e->store.op, entity_id(x));
	}
	case JOURNAL_REQUEST_REMOVE: return batch_store(g, e->store.op, entity_id(x));
	default: break;
	}
	return 0;
}

int effects_take(struct gateway *g, struct bytes by, const struct effects *out)
{
	for (size_t i = 0; i < out->n; i++) {
		const struct effect *e = &out->items[i];
		int err = 0;

		switch (e->type) {
		case EFFECT_REPLY: err = take_reply(g, e); break;
		case EFFECT_VERDICT: take_verdict(g, e); break;
		case EFFECT_ERROR: take_error(g, e); break;
		case EFFECT_EVENT: take_event(g, e); break;
		case EFFECT_NOTE: take_note(g, e); break;
		case EFFECT_STORE: err = take_store(g, e); break;
		case EFFECT_HISTORY:
			err = ended_note(g, &e->row);
			if (err == 0)
				err = batch_store(g, JOURNAL_HISTORY, &e->row);
			break;
		case EFFECT_WATCH: err = subject_change(g, &e->process, true); break;
		case EFFECT_RULE: err = standing_from(g, by, e); break;
		case EFFECT_HOLD: err = enforce_change(g, &e->process, false, 0); break;
		case EFFECT_KILL:
			err = enforce_change(g, &e->kill.process, true, e->kill.grace);
			break;
		case EFFECT_UNWATCH: err = subject_change(g, &e->process, false); break;
		}
		if (err == 0 && g->stage.error)
			err = g->stage.error;
		/* what is to stand still does so, though the step can't be recorded */
		while (err < 0 && ++i < out->n)
			if (out->items[i].type == EFFECT_HOLD)
				enforce_change(g, &out->items[i].process, false, 0);
		if (err < 0)
			return err;
	}
	return 0;
}
