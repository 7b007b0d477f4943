/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <string.h>

enum mode session_mode(const struct session *s)
{
	enum mode mode = s->s.r.claim;

	/* a person's ceiling holds for the sub-agents, too */
	for (; s; s = session_above(s))
		if (s->s.r.ceiling < mode)
			mode = s->s.r.ceiling;
	return mode;
}

unsigned session_chain(const struct session *s, const struct session *out[LIMIT_CHAIN])
{
	const struct session *up[LIMIT_CHAIN];
	unsigned n = 0;

	for (; s && n < LIMIT_CHAIN; s = session_above(s))
		up[n++] = s;
	for (unsigned i = 0; i < n; i++)
		out[i] = up[n - 1 - i];
	return n;
}

static unsigned depth(const struct session *s)
{
	unsigned n = 0;

	for (; s; s = session_above(s))
		n++;
	return n;
}

static bool same_process(const struct process_id *a, const struct process_id *b)
{
	return a->pid == b->pid && a->start == b->start;
}

static bool in_chain(const struct command_hello *h, const struct process_id *p)
{
	for (unsigned i = 0; i < h->n_chain; i++)
		if (same_process(&h->chain[i], p))
			return true;
	return false;
}

/* The session that a new one is a child of: as named, or whose subject's tree it is said in. */
static struct session *parent_of(struct engine *e, const struct command *c)
{
	const struct command_hello *h = &c->hello;
	struct session *p;

	if (h->parent_key.data) {
		p = session_find_key(&e->r, c->link->uid, h->agent, h->parent_key);
		if (p && (!p->s.r.alive || in_chain(h, &p->s.r.subject)))
			return p;
	}
	for (unsigned i = 0; i < h->n_chain; i++) {
		p = session_find_subject(&e->r, &h->chain[i]);
		if (!p)
			p = session_find_retired(&e->r, &h->chain[i]);
		if (p && p->s.r.uid == c->link->uid)
			return p;
	}
	return NULL;
}

int session_effect(struct engine *e, struct session *s, enum effect_type type)
{
	struct effect *f;

	if (!s->s.r.subject.pid)
		return 0;
	f = effect_add(e, type);
	if (!f)
		return -ENOMEM;
	f->process = s->s.r.subject;
	return 0;
}

static int session_make(struct engine *e, const struct command *c, struct session **out)
{
	const struct command_hello *h = &c->hello;
	struct owner *o = owner_get(&e->r, c->link->uid);
	struct session *s, *root = parent_of(e, c), *parent = root;
	char key[ID_STRING_SIZE];
	struct uuid id;

	*out = NULL;
	if (!o)
		return -ENOMEM;
	if (root && root->s.r.ended) /* it only counts */
		parent = NULL;
	if (o->sessions >= e->config.max_sessions)
		return reply_error(e, c, ENGINE_LIMIT, "too many sessions of this user",
			"limit", "sessions");
	if (depth(parent) >= LIMIT_CHAIN)
		return reply_error(e, c, ENGINE_LIMIT, "sub-agents are nested too deeply",
			"limit", "chain");
	id = engine_new_id(e);
	id_format(key, ID_SESSION, &id);
	s = session_new(&e->r, h->key.data ? h->key : bytes_of(key));
	if (!s)
		return -ENOMEM;
	s->owner = o;
	s->s.r.id = id;
	TRY(set_shared(e, s, &s->s.r.agent, h->agent, parent ? parent->s.r.agent : NULL));
	TRY(set_bytes(e, s, &s->s.r.title, h->title));
	TRY(set_shared(e, s, &s->s.r.cwd, h->cwd, parent ? parent->s.r.cwd : NULL));
	TRY(set_shared(
		e, s, &s->s.r.workspace, h->workspace, parent ? parent->s.r.workspace : NULL));
	TRY(set_shared(e, s, &s->s.r.exe, h->exe, parent ? parent->s.r.exe : NULL));
	s->s.r.uid = c->link->uid;
	s->s.r.since = e->now.wall;
	s->s.r.subject = h->subject;
	/* who claims nothing is bound by the ceiling alone */
	s->s.r.claim = h->claim < 0 ? MODE_YOLO : (uint8_t)h->claim;
	s->s.r.ceiling = parent ? parent->s.r.ceiling : (uint8_t)e->config.default_mode;
	s->s.r.channel_ms = h->channel_ms;
	s->s.r.fail_closed = h->fail_closed;
	s->s.r.alive = h->subject.pid != 0;
	TRY(session_budget_open(e, s, h->has_budget ? &h->budget : NULL));
	s->s.parent = root;
	if (parent && parent->s.turn)
		s->s.r.parent_turn = parent->s.turn->s.r.id;
	TRY(entity_index(&e->r, s));
	TRY(mark_dirty(e, s));
	TRY(history_session(
		e, s, HISTORY_SESSION_OPENED, (struct bytes){NULL, 0}, session_key(s)));
	if (s->s.r.alive)
		TRY(session_effect(e, s, EFFECT_WATCH));
	*out = s;
	return event_emit(e, EVENT_SESSION, s);
}

/* An agent's new connection joins a session that exists. Answers and leaves *ok false where it
 * may not. */
static int session_join(struct engine *e, const struct command *c, struct session *s, bool *ok)
{
	const struct command_hello *h = &c->hello;

	*ok = false;
	if (h->no_resume)
		return reply_error(
			e, c, ENGINE_STATE, "the session exists already", "state", "open");
	if (s->s.r.alive && s->s.r.subject.pid && !in_chain(h, &s->s.r.subject) &&
		!same_process(&h->subject, &s->s.r.subject))
		return reply_error(e, c, ENGINE_FORBIDDEN,
			"the session belongs to a living process that the caller does not "
			"descend "
			"from",
			NULL, NULL);
	*ok = true;
	TRY(entity_touch(&e->r, s));
	if (h->claim >= 0 && s->s.r.claim != h->claim) {
		s->s.r.claim = (uint8_t)h->claim;
		TRY(mark_dirty(e, s));
		TRY(event_emit(e, EVENT_SESSION, s));
	}
	if (h->channel_ms && h->channel_ms != s->s.r.channel_ms) {
		s->s.r.channel_ms = h->channel_ms;
		TRY(mark_dirty(e, s));
	}
	if (h->fail_closed && !s->s.r.fail_closed) { /* only tighter */
		s->s.r.fail_closed = true;
		TRY(mark_dirty(e, s));
	}
	if (h->has_budget)
		TRY(session_budget_lower(e, s, &h->budget));
	if (!s->s.r.alive && h->subject.pid) {
		/* its subject died: whoever comes back is the new one */
		entity_unindex(&e->r, s);
		s->s.r.subject = h->subject;
		s->s.r.alive = true;
		TRY(entity_index(&e->r, s));
		TRY(mark_dirty(e, s));
		TRY(session_effect(e, s, EFFECT_WATCH));
	}
	if (s->s.r.recovered) {
		s->s.r.recovered = false;
		if (s->s.turn && !turn_state_over(s->s.turn->s.r.state)) {
			TRY(turn_event(e, s->s.turn, TURN_ON_RETURN));
			TRY(turn_tell(e, s->s.turn));
			TRY(turn_settle(e, s->s.turn));
		}
		TRY(event_emit(e, EVENT_SESSION, s));
	}
	return 0;
}

/* The folder of a uid, which is the same for all of its sessions: no part of the batch. */
static int home_note(struct engine *e, uint32_t uid, struct bytes home)
{
	struct owner *const o = owner_get(&e->r, uid);
	struct str *s;

	if (!o)
		return -ENOMEM;
	if (!home.data || (o->home && str_equal(o->home, home)))
		return 0;
	s = str_new(home.data, home.len);
	if (!s)
		return -ENOMEM;
	str_unref(o->home);
	o->home = s;
	return 0;
}

int on_hello(struct engine *e, const struct command *c)
{
	const struct command_hello *h = &c->hello;
	struct session *s = NULL;
	struct effect *f;

	if (c->link->s.session)
		return reply_error(
			e, c, ENGINE_STATE, "hello was said already", "state", "open");
	TRY(home_note(e, c->link->uid, h->home));
	if (h->key.data)
		s = session_find_key(&e->r, c->link->uid, h->agent, h->key);
	if (!s)
		TRY(session_adopt(e, c, &s));
	if (s) {
		bool ok;

		TRY(session_join(e, c, s, &ok));
		if (!ok)
			return 0;
	} else {
		TRY(session_make(e, c, &s));
		if (!s)
			return 0;
	}
	TRY(entity_touch(&e->r, c->link));
	entity_unindex(&e->r, c->link);
	c->link->s.session = s;
	TRY(entity_index(&e->r, c->link));
	TRY(reply_new(e, c, REPLY_HELLO, &f));
	f->reply.session = s;
	f->reply.turn = s->s.turn;
	return 0;
}

int link_leave(struct engine *e, struct link *l, bool answer)
{
	struct request *q;

	while ((q = LIST_FIRST(&l->waiting))) {
		uint32_t call = q->s.call_id;

		TRY(request_detach(e, q));
		if (answer)
			TRY(reply_gone(e, l, call, q));
	}
	TRY(entity_touch(&e->r, l));
	entity_unindex(&e->r, l);
	l->s.session = NULL;
	return entity_index(&e->r, l);
}

/*
 * While its subject lives, a session that has ended stays as the parent of those that come
 * from there, so that its ceilings and what it has used go on: but nobody sees it.
 */
static int session_retire(struct engine *e, struct session *s)
{
	entity_unindex(&e->r, s);
	s->s.r.ended = true;
	TRY(entity_index(&e->r, s));
	TRY(history_session(
		e, s, HISTORY_SESSION_ENDED, (struct bytes){NULL, 0}, session_key(s)));
	TRY(mark_dirty(e, s));
	return event_emit(e, EVENT_SESSION, s);
}

/* The children go to the session above. */
static int session_remove(struct engine *e, struct session *s)
{
	struct session *child;

	while ((child = LIST_FIRST(&s->children))) {
		TRY(entity_touch(&e->r, child));
		entity_unindex(&e->r, child);
		child->s.parent = s->s.parent;
		TRY(entity_index(&e->r, child));
		TRY(mark_dirty(e, child));
		TRY(event_emit(e, EVENT_SESSION, child));
	}
	if (s->s.r.alive)
		TRY(session_effect(e, s, EFFECT_UNWATCH));
	if (!s->s.r.ended) {
		s->s.r.ended = true;
		TRY(history_session(e, s, HISTORY_SESSION_ENDED, (struct bytes){NULL, 0},
			session_key(s)));
		TRY(event_emit(e, EVENT_SESSION, s));
	}
	TRY(mark_removed(e, s));
	return entity_remove(&e->r, s);
}

int session_end(struct engine *e, struct session *s, enum request_event event)
{
	struct link *l;
	struct turn *t, *next;

	LIST_FOREACH_SAFE (t, &s->turns, in_session, next)
		TRY(turn_end(e, t, event, SOURCE_ABORT, (struct bytes){NULL, 0},
			(struct bytes){NULL, 0}));
	/* a turn that a person ended stays until its session goes */
	LIST_FOREACH_SAFE (t, &s->turns, in_session, next)
		TRY(turn_forget(e, t));
	while ((l = LIST_FIRST(&s->links))) {
		TRY(entity_touch(&e->r, l));
		entity_unindex(&e->r, l);
		l->s.session = NULL;
		TRY(entity_index(&e->r, l));
	}
	TRY(entity_touch(&e->r, s));
	s->s.turn = NULL;
	TRY(turn_inherit(e, s));
	if (s->s.r.alive && s->s.r.subject.pid && !s->s.parent && session_spent(e, s))
		return session_retire(e, s);
	return session_remove(e, s);
}

int session_settle(struct engine *e, struct session *s)
{
	struct turn *t;

	/* whoever waits may come back within the grace; kept requests outlive the subject */
	if (s->s.r.ended || s->s.r.alive || s->n_links || s->n_pending || turn_held(s->s.turn))
		return 0;
	LIST_FOREACH (t, &s->turns, in_session)
		if (t->n_kept)
			return 0;
	return session_end(e, s, REQUEST_ON_CLOSE);
}

int session_die(struct engine *e, struct session *s)
{
	struct turn *t, *next;
	struct link *l;

	if (s->s.r.ended)
		return session_remove(e, s);
	TRY(entity_touch(&e->r, s));
	entity_unindex(&e->r, s);
	s->s.r.alive = false;
	s->s.r.recovered = false;
	TRY(entity_index(&e->r, s));
	TRY(mark_dirty(e, s));
	TRY(session_effect(e, s, EFFECT_UNWATCH));
	LIST_FOREACH_SAFE (t, &s->turns, in_session, next)
		TRY(turn_end(e, t, REQUEST_ON_DIE, SOURCE_ABORT, (struct bytes){NULL, 0},
			(struct bytes){NULL, 0}));
	TRY(turn_inherit(e, s));
	LIST_FOREACH (t, &s->turns, in_session)
		if (t->n_kept)
			break;
	if (!t)
		return session_end(e, s, REQUEST_ON_DIE);
	/* whoever is left says hello again, and is the subject then */
	while ((l = LIST_FIRST(&s->links)))
		TRY(link_leave(e, l, true));
	return event_emit(e, EVENT_SESSION, s);
}

int on_bye(struct engine *e, const struct command *c)
{
	struct session *s = c->link->s.session;

	TRY(link_leave(e, c->link, true));
	if (c->bye.end && s->s.r.alive && session_launched(s) && !turn_held(s->s.turn)) {
		TRY(session_abandon(e, s));
		return reply_new(e, c, REPLY_EMPTY, NULL);
	}
	/* a suspended session stays while its subject lives, or a new one would escape */
	if (c->bye.end && !(s->s.r.alive && turn_held(s->s.turn)))
		TRY(session_end(e, s, REQUEST_ON_CLOSE));
	else
		TRY(session_settle(e, s));
	return reply_new(e, c, REPLY_EMPTY, NULL);
}

static int reply_mode(struct engine *e, const struct command *c, struct session *s)
{
	struct effect *f;

	TRY(reply_new(e, c, REPLY_MODE, &f));
	f->reply.session = s;
	return 0;
}

int on_claim(struct engine *e, const struct command *c)
{
	struct session *s = c->link->s.session;

	if (s->s.r.claim != c->steer.mode) {
		TRY(entity_touch(&e->r, s));
		s->s.r.claim = (uint8_t)c->steer.mode;
		TRY(mark_dirty(e, s));
		TRY(history_session(e, s, HISTORY_MODE_SET, str_bytes(s->s.r.agent),
			bytes_of(mode_name(s->s.r.claim))));
		TRY(event_emit(e, EVENT_SESSION, s));
	}
	return reply_mode(e, c, s);
}

int on_ceiling(struct engine *e, const struct command *c)
{
	struct session *s = session_find(&e->r, &c->steer.session);

	if (!s || s->s.r.ended || !frontend_sees(c->frontend, &s->e))
		return reply_error(e, c, ENGINE_NOT_FOUND, "no such session", NULL, NULL);
	if (c->frontend->s.role != ROLE_HUMAN)
		return reply_error(
			e, c, ENGINE_FORBIDDEN, "only a person sets a mode", NULL, NULL);
	if (s->s.r.ceiling != c->steer.mode) {
		TRY(entity_touch(&e->r, s));
		s->s.r.ceiling = (uint8_t)c->steer.mode;
		TRY(mark_dirty(e, s));
		TRY(history_session(
			e, s, HISTORY_MODE_SET, c->by, bytes_of(mode_name(s->s.r.ceiling))));
		TRY(event_emit(e, EVENT_SESSION, s));
	}
	return reply_mode(e, c, s);
}

struct session *engine_subject_session(struct engine *e, const struct process_id *p)
{
	return session_find_subject(&e->r, p);
}

bool engine_held(const struct session *s)
{
	return turn_held(s->s.turn);
}
