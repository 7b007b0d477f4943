/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EFFECTS_KEPT 1024

struct effect *effect_add(struct engine *e, enum effect_type type)
{
	struct effects *o = &e->out;

	if (o->n == o->size) {
		size_t size = o->size ? o->size * 2 : 32;
		struct effect *items = reallocarray(o->items, size, sizeof(*items));

		if (!items)
			return NULL;
		o->items = items;
		o->size = size;
	}
	memset(&o->items[o->n], 0, sizeof(o->items[0]));
	o->items[o->n].type = type;
	return &o->items[o->n++];
}

int effect_keep(struct engine *e, struct str *s)
{
	struct str_list *l = &e->out.keep;

	if (!s)
		return 0;
	if (l->n == l->size) {
		size_t size = l->size ? l->size * 2 : 16;
		struct str **items = reallocarray(l->items, size, sizeof(*items));

		if (!items)
			return -ENOMEM;
		l->items = items;
		l->size = size;
	}
	l->items[l->n++] = str_ref(s);
	return 0;
}

void effects_clear(struct engine *e)
{
	struct effects *o = &e->out;

	for (size_t i = 0; i < o->keep.n; i++)
		str_unref(o->keep.items[i]);
	o->keep.n = 0;
	o->n = 0;
	/* one step in a million ends a hundred thousand requests */
	if (o->size > EFFECTS_KEPT) {
		free(o->items);
		o->items = NULL;
		o->size = 0;
	}
	if (o->keep.size > EFFECTS_KEPT) {
		free(o->keep.items);
		o->keep.items = NULL;
		o->keep.size = 0;
	}
	free(o->results);
	o->results = NULL;
	e->n_dirty = 0;
}

static struct effect *answer(struct engine *e, const struct command *c, enum effect_type type)
{
	struct effect *f = effect_add(e, type);

	if (!f)
		return NULL;
	f->link = c->link;
	f->frontend = c->frontend;
	f->call = c->call;
	return f;
}

int reply_new(
	struct engine *e, const struct command *c, enum reply_kind kind, struct effect **out)
{
	struct effect *f = answer(e, c, EFFECT_REPLY);

	if (!f)
		return -ENOMEM;
	f->reply.kind = kind;
	if (out)
		*out = f;
	return 0;
}

int reply_error(struct engine *e, const struct command *c, enum engine_error code,
	const char *message, const char *key, const char *value)
{
	struct effect *f = answer(e, c, EFFECT_ERROR);

	if (!f)
		return -ENOMEM;
	f->error.code = code;
	f->error.message = message;
	f->error.key = key;
	f->error.value = value;
	return 0;
}

int reply_gone(struct engine *e, struct link *l, uint32_t call, const struct request *q)
{
	struct command c = {.link = l, .call = call};
	struct effect *f = answer(e, &c, EFFECT_ERROR);

	if (!f)
		return -ENOMEM;
	f->error.code = ENGINE_GONE;
	f->error.message = request_state_pending(q->s.r.state)
				   ? "this call does not wait for the request any more"
				   : "the request has ended";
	f->error.state = q->s.r.state;
	f->error.source = request_decision(q)->source;
	return 0;
}

/* ---- the store ---- */

int mark_dirty(struct engine *e, void *entity)
{
	struct entity *x = entity;

	if (x->dirty)
		return 0;
	TRY(entity_touch(&e->r, x)); /* so that a rollback forgets the mark */
	if (e->n_dirty == e->dirty_size) {
		size_t size = e->dirty_size ? e->dirty_size * 2 : 64;
		struct entity **items = reallocarray(e->dirty, size, sizeof(*items));

		if (!items)
			return -ENOMEM;
		e->dirty = items;
		e->dirty_size = size;
	}
	x->dirty = true;
	e->dirty[e->n_dirty++] = x;
	return 0;
}

static const enum journal_op op_put[] = {
	[ENTITY_SESSION] = JOURNAL_SESSION,
	[ENTITY_TURN] = JOURNAL_TURN,
	[ENTITY_REQUEST] = JOURNAL_REQUEST,
};
static const enum journal_op op_remove[] = {
	[ENTITY_SESSION] = JOURNAL_SESSION_REMOVE,
	[ENTITY_TURN] = JOURNAL_TURN_REMOVE,
	[ENTITY_REQUEST] = JOURNAL_REQUEST_REMOVE,
};

int mark_removed(struct engine *e, void *entity)
{
	struct entity *x = entity;
	struct effect *f;

	TRY(entity_touch(&e->r, x));
	x->dirty = false;
	if (!x->stored)
		return 0;
	f = effect_add(e, EFFECT_STORE);
	if (!f)
		return -ENOMEM;
	f->store.op = op_remove[x->type];
	f->store.entity = x;
	x->stored = false;
	return 0;
}

int flush_dirty(struct engine *e)
{
	/* a session before its turns, a turn before its requests */
	for (int pass = ENTITY_SESSION; pass <= ENTITY_REQUEST; pass++)
		for (size_t i = 0; i < e->n_dirty; i++) {
			struct entity *x = e->dirty[i];
			struct effect *f;

			if (x->type != pass || !x->dirty)
				continue;
			f = effect_add(e, EFFECT_STORE);
			if (!f)
				return -ENOMEM;
			f->store.op = op_put[pass];
			f->store.entity = x;
			x->dirty = false;
			x->stored = true;
		}
	e->n_dirty = 0;
	return 0;
}

/* ---- events ---- */

static const struct session *session_of(const struct entity *x)
{
	switch ((enum entity_type)x->type) {
	case ENTITY_SESSION: return (const struct session *)(const void *)x;
	case ENTITY_TURN: return ((const struct turn *)(const void *)x)->s.session;
	case ENTITY_REQUEST: return request_session((const struct request *)(const void *)x);
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
	return NULL;
}

bool frontend_sees(const struct frontend *f, const struct entity *x)
{
	const struct session *s = session_of(x);

	return s && (f->admin || f->uid == s->s.r.uid);
}

static bool knows(const struct frontend *f, const struct entity *x)
{
	return f->s.subscribed && !policy_is(f) && frontend_sees(f, x) &&
	       (f->s.complete || uuid_compare(entity_id(x), &f->s.cursor) <= 0);
}

int event_send(struct engine *e, struct frontend *f, enum event_kind kind, void *entity)
{
	struct effect *x;

	TRY(entity_touch(&e->r, f));
	x = effect_add(e, EFFECT_EVENT);
	if (!x)
		return -ENOMEM;
	x->frontend = f;
	x->event.kind = kind;
	x->event.entity = entity;
	x->event.seq = ++f->s.seq;
	return 0;
}

int engine_event_number(struct engine *e, struct frontend *f, uint32_t uid, uint64_t *seq)
{
	*seq = 0;
	if (!f->s.subscribed || policy_is(f) ||
		!(f->admin || f->uid == uid || uid == RULE_UID_ADMIN))
		return 0;
	TRY(entity_touch(&e->r, f));
	*seq = ++f->s.seq;
	return 0;
}

int event_emit(struct engine *e, enum event_kind kind, void *entity)
{
	struct frontend *f;

	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (knows(f, entity))
			TRY(event_send(e, f, kind, entity));
	return 0;
}

int event_outcome(struct engine *e, struct session *s, struct request *q,
	enum request_state state, bool ran_anyway, struct bytes call, struct bytes tool)
{
	struct entity *x = q ? &q->e : &s->e;
	struct frontend *f;

	TAILQ_FOREACH (f, &e->r.frontends, in_engine) {
		struct effect *out;

		if (!knows(f, x))
			continue;
		TRY(event_send(e, f, EVENT_OUTCOME, x));
		out = &e->out.items[e->out.n - 1];
		out->event.state = state;
		out->event.ran_anyway = ran_anyway;
		out->event.call_name = call;
		out->event.tool = tool;
	}
	return 0;
}

int note_session(struct engine *e, struct session *s, enum note_kind kind, struct turn *t)
{
	struct link *l;

	LIST_FOREACH (l, &s->links, in_session) {
		struct effect *f = effect_add(e, EFFECT_NOTE);

		if (!f)
			return -ENOMEM;
		f->link = l;
		f->note.kind = kind;
		f->note.turn = t;
	}
	return 0;
}

int note_request(struct engine *e, struct request *q)
{
	struct effect *f;

	if (!q->s.waiter)
		return 0;
	f = effect_add(e, EFFECT_NOTE);
	if (!f)
		return -ENOMEM;
	f->link = q->s.waiter;
	f->note.kind = NOTE_REQUEST;
	f->note.request = q;
	return 0;
}

/* ---- history ---- */

static struct history_row *row_new(
	struct engine *e, enum history_event event, const struct session *s)
{
	struct effect *f = effect_add(e, EFFECT_HISTORY);
	struct history_row *row;

	if (!f)
		return NULL;
	row = &f->row;
	row->at = e->now.wall;
	row->event = event;
	row->uid = s->s.r.uid;
	row->pid = s->s.r.subject.pid;
	row->session = s->s.r.id;
	row->agent = str_bytes(s->s.r.agent);
	row->workspace = str_bytes(s->s.r.workspace);
	row->exe = str_bytes(s->s.r.exe);
	row->mode = (uint8_t)session_mode(s);
	return row;
}

int history_session(struct engine *e, struct session *s, enum history_event event,
	struct bytes by, struct bytes detail)
{
	struct history_row *row = row_new(e, event, s);

	if (!row)
		return -ENOMEM;
	row->by = by;
	row->detail = detail;
	row->cwd = str_bytes(s->s.r.cwd);
	return 0;
}

int history_turn(struct engine *e, struct turn *t, enum history_event event, enum source source,
	struct bytes by, struct bytes reason)
{
	struct history_row *row = row_new(e, event, t->s.session);

	if (!row)
		return -ENOMEM;
	row->turn = t->s.r.id;
	row->source = (uint8_t)source;
	row->by = by;
	row->reason = reason;
	row->detail = str_bytes(t->s.r.key);
	return 0;
}

int history_request(
	struct engine *e, struct request *q, enum history_event event, struct bytes detail)
{
	const struct request_data *r = &q->s.r;
	const struct decision *d = request_decision(q);
	struct history_row *row = row_new(e, event, request_session(q));

	if (!row)
		return -ENOMEM;
	row->turn = q->s.turn->s.r.id;
	row->request = r->id;
	row->call = request_call(q);
	row->tool = str_bytes(r->tool);
	row->command = str_bytes(r->command);
	row->cwd = str_bytes(r->cwd);
	row->reason = str_bytes(d->reason);
	row->by = str_bytes(d->by);
	row->detail = detail;
	memcpy(row->digest, r->digest, sizeof(row->digest));
	row->type = r->type;
	row->kind = r->kind;
	row->verdict = d->verdict;
	row->source = d->source;
	row->scope = d->scope;
	row->step = r->step;
	row->state = r->state;
	if (r->why) {
		struct why why;

		why_read(r->why, &why);
		row->rule = why.rule;
		row->rule_id = why.rule_id;
		row->floor = why.floor;
		TRY(effect_keep(e, r->why));
	}
	if (event == HISTORY_DECISION || event == HISTORY_ENDED) {
		struct str *input = d->updated_input ? d->updated_input : r->input;

		row->input = str_bytes(input); /* as it was decided */
		TRY(effect_keep(e, input));
	}
	return 0;
}
