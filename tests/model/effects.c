/* SPDX-License-Identifier: MIT */
/* What the world hears of a step: answers, events, notes and records, each held against the
 * last. */
#include "tests/model/world.h"

#include <stdarg.h>
#include <string.h>

#include "broker/core/pipeline.h"
#include "broker/core/turn.h"

__attribute__((format(printf, 2, 3))) static void tell(struct world *w, const char *format, ...)
{
	size_t n = strlen(w->told);
	va_list args;

	va_start(args, format);
	vsnprintf(w->told + n, sizeof(w->told) - n, format, args);
	va_end(args);
	if (strlen(w->told) + 1 >= sizeof(w->told))
		world_fail(w, "too much is told in one step");
}

static struct actor *actor_of(const struct effect *f)
{
	return f->link ? f->link->owner : f->frontend->owner;
}

static const char *turn_text(struct world *w, const struct turn *t, char out[64])
{
	if (!t)
		return "-";
	snprintf(out, 64, "t%u %s", world_turn(w, &t->s.r.id), turn_state_name(t->s.r.state));
	return out;
}

/* ---- answers ---- */

static void call_open(struct world *w, const struct command *c)
{
	struct actor *a = c->link ? c->link->owner : c->frontend ? c->frontend->owner : NULL;

	if (!a || c->type == COMMAND_LINK_GONE || c->type == COMMAND_FRONTEND_GONE)
		return;
	if (w->book.n_calls == WORLD_ITEMS)
		world_fail(w, "too many open calls");
	w->book.calls[w->book.n_calls++] = (struct open_call){
		(unsigned)(a - w->book.actors), c->call, c->type == COMMAND_REQUEST};
}

static void call_close(struct world *w, const struct effect *f)
{
	unsigned actor = (unsigned)(actor_of(f) - w->book.actors);
	struct book *b = &w->book;

	for (unsigned i = 0; i < b->n_calls; i++)
		if (b->calls[i].actor == actor && b->calls[i].call == f->call) {
			b->calls[i] = b->calls[--b->n_calls];
			return;
		}
	world_fail(w, "%s: call %u is answered, but was not open", actor_of(f)->name, f->call);
}

/* ---- what a frontend knows ---- */

static struct view_item *item_find(struct actor *a, const struct uuid *id)
{
	for (unsigned i = 0; i < a->n_items; i++)
		if (uuid_compare(&a->items[i].id, id) == 0)
			return &a->items[i];
	return NULL;
}

static void item_put(struct world *w, struct actor *a, const struct entity *x)
{
	const struct request *q = (const struct request *)(const void *)x;
	const struct turn *t = (const struct turn *)(const void *)x;
	const struct session *s = (const struct session *)(const void *)x;
	struct view_item *v = item_find(a, entity_id(x));
	bool over = x->type == ENTITY_TURN	? t->s.r.state == TURN_ENDED
		    : x->type == ENTITY_SESSION ? s->s.r.ended
						: false;

	if (over) {
		if (v)
			*v = a->items[--a->n_items];
		return;
	}
	if (!v) {
		if (a->n_items == WORLD_ITEMS)
			world_fail(w, "too many items");
		v = &a->items[a->n_items++];
	}
	*v = (struct view_item){.id = *entity_id(x), .type = x->type};
	if (x->type == ENTITY_REQUEST) {
		v->state = q->s.r.state;
		v->attached = q->s.waiter != NULL;
	} else if (x->type == ENTITY_TURN) {
		v->state = t->s.r.state;
	}
}

static void item_drop(struct world *w, struct actor *a, const struct request *q)
{
	struct view_item *v = item_find(a, &q->s.r.id);

	if (!v)
		world_fail(w, "%s is told of the end of %s, which it does not know", a->name,
			q->call);
	*v = a->items[--a->n_items];
}

static void take_page(struct world *w, const struct effect *f)
{
	struct actor *a = actor_of(f);
	unsigned limit = f->reply.limit ? f->reply.limit : 1000, n = 0;
	struct uuid at = f->reply.cursor;
	struct entity *x = NULL;

	tell(w, "%s<page", a->name);
	if (f->frontend->s.role != ROLE_POLICY)
		while ((x = engine_page(&w->e, f->frontend, &at)) && n++ < limit) {
			const struct request *q = ENTITY_OF(x, request);

			if (item_find(a, entity_id(x)))
				world_fail(w, "%s is shown an item twice", a->name);
			item_put(w, a, x);
			at = *entity_id(x);
			if (x->type == ENTITY_REQUEST)
				tell(w, " %s", q->call);
		}
	a->cursor = at;
	a->more = x != NULL;
	tell(w, "%s", a->more ? " more" : "");
	if (engine_page_told(&w->e, f->frontend, &at, a->more) < 0)
		world_fail(w, "engine_page_told failed");
}

static void take_event(struct world *w, const struct effect *f)
{
	static const char *const names[] = {
		"offered", "refreshed", "resolved", "withdrawn", "outcome", "turn", "session",
		"warning"};
	struct actor *a = actor_of(f);
	struct entity *x = f->event.entity;
	struct request *q = ENTITY_OF(x, request);
	char text[64];

	if (f->event.seq != a->seq + 1)
		world_fail(w, "%s: event %llu after %llu", a->name,
			(unsigned long long)f->event.seq, (unsigned long long)a->seq);
	a->seq++;
	tell(w, "%s:%s", a->name, names[f->event.kind]);
	switch (f->event.kind) {
	case EVENT_OFFERED:
	case EVENT_REFRESHED:
		if ((f->event.kind == EVENT_OFFERED) == !!item_find(a, entity_id(x)))
			world_fail(w, "%s: %s %s", a->name, names[f->event.kind], q->call);
		item_put(w, a, x);
		tell(w, " %s %s", q->call, request_state_name(q->s.r.state));
		break;
	case EVENT_RESOLVED:
	case EVENT_WITHDRAWN:
		item_drop(w, a, q);
		tell(w, " %s %s %s", q->call, request_state_name(q->s.r.state),
			source_name(request_decision(q)->source));
		break;
	case EVENT_OUTCOME:
		if (x->type == ENTITY_REQUEST)
			tell(w, " %s", q->call);
		else
			tell(w, " %.*s", (int)f->event.call_name.len,
				(const char *)f->event.call_name.data);
		tell(w, " %s%s", request_state_name(f->event.state),
			f->event.ran_anyway ? " ran_anyway" : "");
		break;
	case EVENT_TURN:
		item_put(w, a, x);
		tell(w, " %s", turn_text(w, ENTITY_OF(x, turn), text));
		break;
	case EVENT_WARNING:
		tell(w, " %s %s", x->type == ENTITY_TURN ? "turn" : "session",
			budget_kind_name((enum budget_kind)f->event.warning));
		break;
	case EVENT_SESSION:
		item_put(w, a, x);
		tell(w, " %s", ENTITY_OF(x, session)->key);
		if (ENTITY_OF(x, session)->s.r.ended)
			tell(w, " ended");
		break;
	}
}

static void take_results(struct world *w, const struct command *c, const struct effect *f)
{
	static const char *const names[] = {"ok", "gone", "not_found", "mismatch", "held",
		"forbidden", "refused", "invalid"};
	struct actor *a = actor_of(f);

	tell(w, "%s<results", a->name);
	for (unsigned i = 0; i < f->reply.count; i++) {
		const struct decided *d = &f->reply.results[i];
		const struct seen_request *seen = world_seen_id(w, &d->request);
		struct view_item *v = item_find(a, &d->request);

		tell(w, " %s", names[d->result]);
		if (d->result == RESULT_REFUSED)
			tell(w, ":%s", step_name(d->step));
		if (d->result == RESULT_GONE) {
			tell(w, ":%s:%s", request_state_name(d->state), source_name(d->source));
			/* what nobody was shown may end unknown without a row of its own */
			if (c->type == COMMAND_DECIDE &&
				(!seen || (seen->state != d->state &&
						  (seen->state != REQUEST_ALLOWED ||
							  d->state != REQUEST_UNKNOWN))))
				world_fail(w, "gone, but not so");
		}
		if (c->type == COMMAND_VERDICT && d->result == RESULT_OK && v)
			*v = a->items[--a->n_items];
	}
}

static void take_reply(struct world *w, const struct command *c, const struct effect *f)
{
	struct actor *a = actor_of(f);
	char text[64];

	call_close(w, f);
	switch (f->reply.kind) {
	case REPLY_EMPTY: tell(w, "%s<", a->name); break;
	case REPLY_HELLO:
		tell(w, "%s<hello %s %s %s", a->name, f->reply.session->key,
			mode_name(session_mode(f->reply.session)),
			turn_text(w, f->reply.turn, text));
		break;
	case REPLY_TURN:
		tell(w, "%s<turn %s", a->name, turn_text(w, f->reply.turn, text));
		break;
	case REPLY_STATE:
		tell(w, "%s<state %s", a->name, request_state_name(f->reply.state));
		break;
	case REPLY_MODE:
		tell(w, "%s<mode %s", a->name, mode_name(session_mode(f->reply.session)));
		break;
	case REPLY_COUNT: tell(w, "%s<count %u", a->name, f->reply.count); break;
	case REPLY_RESULT:
	case REPLY_RESULTS: take_results(w, c, f); break;
	case REPLY_GREETING: tell(w, "%s<greeting", a->name); break;
	case REPLY_PAGE: take_page(w, f); break;
	case REPLY_ASK:
		tell(w, "%s<ask %.*s %s", a->name, (int)f->reply.call_name.len,
			(const char *)f->reply.call_name.data, step_name(f->reply.step));
		break;
	}
}

static void take_verdict(struct world *w, const struct effect *f)
{
	const struct request *q = f->request;
	const struct request_data *r = &q->s.r;
	const struct decision *d = request_decision(q);
	bool allow = d->verdict == VERDICT_ALLOW && r->state == REQUEST_ALLOWED;
	struct seen_request *seen = world_seen_id(w, &r->id);

	call_close(w, f);
	tell(w, "%s<%s %s %s %s %s", actor_of(f)->name, allow ? "allow" : "deny", q->call,
		source_name(d->source), step_name(r->step), request_state_name(r->state));
	if (d->reason)
		tell(w, " \"%s\"", str_text(d->reason));
	if (allow && d->updated_input)
		tell(w, " edited %s", str_text(d->updated_input));
	if (!allow)
		return;
	if (pipeline_bars(request_session(q), q->s.turn))
		world_fail(w, "%s is released in a turn that releases nothing", q->call);
	if (!seen || seen->verdict != VERDICT_ALLOW)
		world_fail(w, "%s is released without a recorded allow", q->call);
	if (seen->edited != !!d->updated_input)
		world_fail(w, "%s is released otherwise than it was allowed", q->call);
}

static void take_error(struct world *w, const struct effect *f)
{
	static const char *const names[] = {"no_session", "forbidden", "not_found", "gone",
		"mismatch", "state", "limit", "invalid", "unsupported"};

	call_close(w, f);
	tell(w, "%s!%s", actor_of(f)->name, names[f->error.code]);
	if (f->error.code == ENGINE_GONE)
		tell(w, " %s %s", request_state_name(f->error.state),
			source_name(f->error.source));
	else if (f->error.value)
		tell(w, " %s", f->error.value);
}

/* ---- records ---- */

static void take_row(struct world *w, const struct history_row *row)
{
	struct book *b = &w->book;
	struct seen_request *s;

	if (uuid_is_nil(&row->request))
		return;
	s = world_seen_id(w, &row->request);
	if (!s) {
		if (b->n_seen == WORLD_SEEN)
			world_fail(w, "too many requests");
		s = &b->seen[b->n_seen++];
		*s = (struct seen_request){.id = row->request};
		snprintf(s->call, sizeof(s->call), "%.*s", (int)row->call.len,
			(const char *)row->call.data);
	}
	switch (row->event) {
	case HISTORY_DECISION:
		if (s->state != REQUEST_NONE)
			world_fail(w, "%s is decided twice", s->call);
		s->verdict = row->verdict;
		break;
	case HISTORY_ENDED:
		if (s->state != REQUEST_NONE)
			world_fail(w, "%s ends twice", s->call);
		break;
	case HISTORY_OUTCOME:
		if (s->state != REQUEST_ALLOWED)
			world_fail(w, "%s has an outcome, but is not allowed", s->call);
		break;
	case HISTORY_RAN_ANYWAY:
		if (s->state == REQUEST_ALLOWED)
			world_fail(w, "%s ran anyway, but is allowed", s->call);
		return;
	default: return;
	}
	s->state = row->state;
}

/* Requests that are pending have no row yet; decisions about them need their name. */
static void take_stored(struct world *w, const struct effect *f)
{
	struct book *b = &w->book;
	const struct request *q = ENTITY_OF(f->store.entity, request);
	struct seen_request *s;

	if (f->store.op != JOURNAL_REQUEST)
		return;
	s = world_seen_id(w, &q->s.r.id);
	if (!s) {
		if (b->n_seen == WORLD_SEEN)
			world_fail(w, "too many requests");
		s = &b->seen[b->n_seen++];
		*s = (struct seen_request){.id = q->s.r.id};
		snprintf(s->call, sizeof(s->call), "%s", q->call);
	}
	s->edited |= request_decision(q)->updated_input != NULL;
}

static void take_one(struct world *w, const struct command *c, const struct effect *f)
{
	char text[64];

	switch (f->type) {
	case EFFECT_REPLY: take_reply(w, c, f); break;
	case EFFECT_VERDICT: take_verdict(w, f); break;
	case EFFECT_ERROR: take_error(w, f); break;
	case EFFECT_EVENT: take_event(w, f); break;
	case EFFECT_NOTE:
		tell(w, "%s~", actor_of(f)->name);
		if (f->note.kind == NOTE_REQUEST)
			tell(w, "%s %s", f->note.request->call,
				request_state_name(f->note.request->s.r.state));
		else
			tell(w, "%s %s",
				f->note.kind == NOTE_SUSPENDED ? "suspended" : "resumed",
				turn_text(w, f->note.turn, text));
		break;
	case EFFECT_STORE: store_take(w->store, &w->e, f); return;
	case EFFECT_HISTORY:
		store_take(w->store, &w->e, f);
		if (f->row.event == HISTORY_DECISION && f->row.detail.len)
			tell(w, "row '%.*s' (%.*s); ", (int)f->row.command.len,
				(const char *)f->row.command.data, (int)f->row.detail.len,
				(const char *)f->row.detail.data);
		if (f->row.event != HISTORY_RAN_ANYWAY)
			return;
		tell(w, "ran_anyway");
		break;
	case EFFECT_WATCH: tell(w, "watch %u", f->process.pid); break;
	case EFFECT_RULE: tell(w, "rule %s", str_text(f->rule.text)); break;
	case EFFECT_UNWATCH: tell(w, "unwatch %u", f->process.pid); break;
	case EFFECT_HOLD: tell(w, "hold %u", f->process.pid); break;
	case EFFECT_KILL: tell(w, "kill %u", f->kill.process.pid); break;
	}
	tell(w, "; ");
}

void world_take(struct world *w, const struct command *c, const struct effects *out)
{
	struct actor *gone = NULL;

	w->told[0] = '\0';
	/* in a batch that is held, the connection of before goes on for the next one */
	if (c->type == COMMAND_HELLO)
		((struct actor *)c->link->owner)->left = false;
	if (c->type == COMMAND_FRONTEND_HELLO)
		((struct actor *)c->frontend->owner)->left = false;
	call_open(w, c);
	/* records first: a release is held against them, and all is committed together */
	for (size_t i = 0; i < out->n; i++) {
		if (out->items[i].type == EFFECT_HISTORY)
			take_row(w, &out->items[i].row);
		if (out->items[i].type == EFFECT_STORE)
			take_stored(w, &out->items[i]);
	}
	if (c->frontend &&
		(c->type == COMMAND_FRONTEND_GONE || c->type == COMMAND_FRONTEND_BYE))
		((struct actor *)c->frontend->owner)->n_items = 0;
	for (size_t i = 0; i < out->n; i++)
		take_one(w, c, &out->items[i]);
	if (c->type == COMMAND_LINK_GONE)
		gone = c->link->owner;
	if (c->type == COMMAND_FRONTEND_GONE)
		gone = c->frontend->owner;
	if (!gone)
		return;
	gone->left = true;
	for (unsigned i = 0; i < w->book.n_calls;)
		if (w->book.calls[i].actor == (unsigned)(gone - w->book.actors))
			w->book.calls[i] = w->book.calls[--w->book.n_calls];
		else
			i++;
}
