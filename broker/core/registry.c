/* SPDX-License-Identifier: MIT */
#include "broker/core/registry.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct uuid *entity_id(const struct entity *e)
{
	static const struct uuid nil;

	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION: return &((const struct session *)(const void *)e)->s.r.id;
	case ENTITY_TURN: return &((const struct turn *)(const void *)e)->s.r.id;
	case ENTITY_REQUEST: return &((const struct request *)(const void *)e)->s.r.id;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
	return &nil;
}

static int id_compare(const struct entity *a, const struct entity *b)
{
	return uuid_compare(entity_id(a), entity_id(b));
}

static int key_compare(const struct session *a, const struct session *b)
{
	int c;

	if (a->s.r.uid != b->s.r.uid)
		return a->s.r.uid < b->s.r.uid ? -1 : 1;
	c = bytes_compare(session_key(a), session_key(b));
	return c ? c : bytes_compare(str_bytes(a->s.r.agent), str_bytes(b->s.r.agent));
}

static int subject_compare(const struct session *a, const struct session *b)
{
	const struct process_id *p = &a->s.r.subject, *q = &b->s.r.subject;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return uuid_compare(&a->s.r.id, &b->s.r.id);
}

static int call_compare(const struct request *a, const struct request *b)
{
	return bytes_compare(request_call(a), request_call(b));
}

RB_GENERATE_STATIC(entity_id_tree, entity, by_id, id_compare)
RB_GENERATE_STATIC(session_key_tree, session, by_key, key_compare)
RB_GENERATE_STATIC(session_subject_tree, session, by_subject, subject_compare)
RB_GENERATE_STATIC(call_tree, request, by_call, call_compare)

void registry_init(struct registry *r)
{
	memset(r, 0, sizeof(*r));
	RB_INIT(&r->ids);
	RB_INIT(&r->keys);
	RB_INIT(&r->subjects);
	RB_INIT(&r->retired);
	RB_INIT(&r->owners);
	TAILQ_INIT(&r->frontends);
	r->undo.last = &r->undo.first;
}

/* ---- indexes ---- */

static int64_t nearest(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

static int64_t request_due(const struct request *q)
{
	const struct request_state_data *s = &q->s;

	if (s->stopped)
		return 0;
	switch ((enum request_state)s->r.state) {
	case REQUEST_REVIEW: return nearest(nearest(s->deadline, s->grace), s->review_due);
	case REQUEST_AWAITING: return nearest(s->deadline, s->grace);
	case REQUEST_ALLOWED:
	case REQUEST_DENIED:
	case REQUEST_EXPIRED: return s->grace; /* of a kept decision: claimed until then */
	default: return 0;
	}
}

/* What a client gave, and what was made of it. */
static uint32_t request_bytes(const struct request *q)
{
	const struct request_data *r = &q->s.r;
	const struct decision *d = request_decision(q);
	const struct str *const texts[] = {r->input, r->summary, r->description, r->command,
		r->url, r->extra, d->updated_input, d->answers};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		n += str_bytes(texts[i]).len;
	for (unsigned i = 0; i < r->n_paths + r->n_operands; i++)
		n += str_bytes(r->paths[i].given).len + str_bytes(r->paths[i].resolved).len;
	return (uint32_t)n;
}

/* Pending, or a decision that is kept: both stay for as long as the agent likes. */
static void request_charge(struct request *q)
{
	struct owner *o = request_session(q)->owner;

	q->charged = true;
	q->counted_bytes = request_bytes(q);
	o->pending++;
	o->pending_bytes += q->counted_bytes;
}

static void request_count(struct registry *r, struct request *q)
{
	struct session *s = request_session(q);
	struct turn *t = q->s.turn;
	bool pending = request_state_pending(q->s.r.state);

	if (pending || request_kept(q))
		request_charge(q);
	if (pending) {
		q->counted_pending = true;
		t->n_pending++;
		s->n_pending++;
		r->n_pending++;
		if (q->s.recovered) {
			q->counted_recovered = true;
			t->n_recovered++;
		}
		if (q->s.r.state == REQUEST_AWAITING) {
			q->counted_awaiting = true;
			t->n_awaiting++;
		}
	} else if (!q->charged) {
		q->counted_settled = true;
		t->n_settled++;
		TAILQ_INSERT_TAIL(&t->settled, q, in_settled);
	}
	if (q->s.r.state == REQUEST_ALLOWED) {
		q->counted_allowed = true;
		t->n_allowed++;
	}
	if (request_kept(q)) {
		q->counted_kept = true;
		t->n_kept++;
	}
	if (request_orphaned(q)) {
		q->counted_orphaned = true;
		t->n_orphaned++;
	}
	if (q->s.waiter) {
		LIST_INSERT_HEAD(&q->s.waiter->waiting, q, in_waiter);
		q->in_waiting = true;
	}
}

void request_uncount(struct registry *r, struct request *q)
{
	struct session *s = request_session(q);
	struct turn *t = q->s.turn;

	if (q->counted_pending) {
		t->n_pending--;
		s->n_pending--;
		r->n_pending--;
	}
	if (q->charged) {
		s->owner->pending--;
		s->owner->pending_bytes -= q->counted_bytes;
	}
	if (q->counted_settled) {
		t->n_settled--;
		TAILQ_REMOVE(&t->settled, q, in_settled);
	}
	if (q->counted_recovered)
		t->n_recovered--;
	if (q->counted_awaiting)
		t->n_awaiting--;
	if (q->counted_allowed)
		t->n_allowed--;
	if (q->counted_kept)
		t->n_kept--;
	if (q->counted_orphaned)
		t->n_orphaned--;
	if (q->in_waiting)
		LIST_REMOVE(q, in_waiter);
	q->counted_pending = q->counted_recovered = q->counted_kept = false;
	q->counted_awaiting = q->counted_allowed = false;
	q->counted_settled = q->counted_orphaned = q->in_waiting = q->charged = false;
}

void request_recount(struct registry *r, struct request *q)
{
	request_count(r, q);
	due_set(&r->dues, &q->e, q->e.indexed ? request_due(q) : 0);
}

void request_reindex(struct registry *r, struct request *q)
{
	assert(q->e.undo && q->e.indexed);
	request_uncount(r, q);
	request_recount(r, q);
}

void turn_set_due(struct registry *r, struct turn *t, int64_t at)
{
	t->s.b.due = at;
	if (t->e.indexed)
		due_set(&r->dues, &t->e, at);
}

void request_set_state(struct registry *r, struct request *q, enum request_state state)
{
	q->s.r.state = state;
	if (q->e.indexed)
		request_reindex(r, q);
}

static void request_index(struct registry *r, struct request *q)
{
	struct turn *t = q->s.turn;
	struct request *before;

	RB_INSERT(call_tree, &request_session(q)->calls, q);
	/* in the order in which they arose; nearly always the last */
	TAILQ_FOREACH_REVERSE(before, &t->requests, request_list, in_turn)
	if (uuid_compare(&before->s.r.id, &q->s.r.id) < 0)
		break;
	if (before)
		TAILQ_INSERT_AFTER(&t->requests, before, q, in_turn);
	else
		TAILQ_INSERT_HEAD(&t->requests, q, in_turn);
	request_count(r, q);
	r->n_requests++;
}

static void request_unindex(struct registry *r, struct request *q)
{
	RB_REMOVE(call_tree, &request_session(q)->calls, q);
	TAILQ_REMOVE(&q->s.turn->requests, q, in_turn);
	request_uncount(r, q);
	r->n_requests--;
}

static void session_index(struct registry *r, struct session *s)
{
	if (!s->s.r.ended) {
		s->owner->sessions++;
		r->n_sessions++;
		RB_INSERT(session_key_tree, &r->keys, s);
		s->keyed = true;
	}
	if (s->s.r.alive && s->s.r.subject.pid) {
		RB_INSERT(session_subject_tree, s->s.r.ended ? &r->retired : &r->subjects, s);
		s->watched = true;
	}
	if (s->s.parent) {
		LIST_INSERT_HEAD(&s->s.parent->children, s, in_parent);
		s->in_family = true;
	}
}

static void session_unindex(struct registry *r, struct session *s)
{
	if (s->keyed) {
		s->owner->sessions--;
		r->n_sessions--;
		RB_REMOVE(session_key_tree, &r->keys, s);
	}
	if (s->watched)
		RB_REMOVE(session_subject_tree, s->keyed ? &r->subjects : &r->retired, s);
	if (s->in_family)
		LIST_REMOVE(s, in_parent);
	s->keyed = s->watched = s->in_family = false;
}

/*
 * Ids rise, so that what is new is the last: it is put behind the present last one
 * without a comparison on each level.
 */
static void ids_insert(struct registry *r, struct entity *e)
{
	struct entity *last = RB_MAX(entity_id_tree, &r->ids);

	if (!last || id_compare(e, last) < 0) {
		RB_INSERT(entity_id_tree, &r->ids, e);
		return;
	}
	RB_SET(e, last, by_id);
	RB_RIGHT(last, by_id) = e;
	entity_id_tree_RB_INSERT_COLOR(&r->ids, e);
}

int entity_index(struct registry *r, void *entity)
{
	struct entity *e = entity;

	assert(!e->indexed);
	e->indexed = true;
	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION: session_index(r, entity); break;
	case ENTITY_TURN:
		LIST_INSERT_HEAD(
			&ENTITY_OF(e, turn)->s.session->turns, ENTITY_OF(e, turn), in_session);
		r->n_turns++;
		break;
	case ENTITY_REQUEST: request_index(r, entity); break;
	case ENTITY_LINK: {
		struct link *l = entity;

		if (l->s.session) {
			LIST_INSERT_HEAD(&l->s.session->links, l, in_session);
			l->s.session->n_links++;
		}
		return 0;
	}
	case ENTITY_FRONTEND: return 0;
	}
	ids_insert(r, e);
	if (e->type == ENTITY_REQUEST)
		due_set(&r->dues, e, request_due(entity));
	else if (e->type == ENTITY_TURN)
		due_set(&r->dues, e, ENTITY_OF(e, turn)->s.b.due);
	return 0;
}

void entity_unindex(struct registry *r, void *entity)
{
	struct entity *e = entity;

	if (!e->indexed)
		return;
	if (e->type == ENTITY_LINK) {
		struct link *l = entity;

		if (l->s.session) {
			LIST_REMOVE(l, in_session);
			l->s.session->n_links--;
		}
		e->indexed = false;
		return;
	}
	if (e->type == ENTITY_FRONTEND) {
		e->indexed = false;
		return;
	}
	if (e->type == ENTITY_REQUEST || e->type == ENTITY_TURN)
		due_set(&r->dues, e, 0);
	RB_REMOVE(entity_id_tree, &r->ids, e);
	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION: session_unindex(r, entity); break;
	case ENTITY_TURN:
		LIST_REMOVE(ENTITY_OF(e, turn), in_session);
		r->n_turns--;
		break;
	case ENTITY_REQUEST: request_unindex(r, entity); break;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
	e->indexed = false;
}

/* ---- look-ups ---- */

static struct entity *entity_find(
	struct registry *r, const struct uuid *id, enum entity_type type)
{
	/* the comparison reads the id of a session; the larger records are not needed */
	struct session key = {.e.type = ENTITY_SESSION, .s.r.id = *id};
	struct entity *e = RB_FIND(entity_id_tree, &r->ids, &key.e);

	return e && e->type == type ? e : NULL;
}

struct session *session_find(struct registry *r, const struct uuid *id)
{
	return ENTITY_OF(entity_find(r, id, ENTITY_SESSION), session);
}

struct turn *turn_find(struct registry *r, const struct uuid *id)
{
	return ENTITY_OF(entity_find(r, id, ENTITY_TURN), turn);
}

struct request *request_find(struct registry *r, const struct uuid *id)
{
	return ENTITY_OF(entity_find(r, id, ENTITY_REQUEST), request);
}

struct session *session_find_key(
	struct registry *r, uint32_t uid, struct bytes agent, struct bytes key)
{
	struct session *s = RB_ROOT(&r->keys);

	while (s) {
		int c = (uid > s->s.r.uid) - (uid < s->s.r.uid);

		if (!c)
			c = bytes_compare(key, session_key(s));
		if (!c)
			c = bytes_compare(agent, str_bytes(s->s.r.agent));
		if (!c)
			return s;
		s = c < 0 ? RB_LEFT(s, by_key) : RB_RIGHT(s, by_key);
	}
	return NULL;
}

struct request *request_find_call(struct session *s, struct bytes call)
{
	struct request *q = RB_ROOT(&s->calls);

	while (q) {
		int c = bytes_compare(call, request_call(q));

		if (!c)
			return q;
		q = c < 0 ? RB_LEFT(q, by_call) : RB_RIGHT(q, by_call);
	}
	return NULL;
}

static struct session *find_subject(
	struct session_subject_tree *tree, const struct process_id *p)
{
	struct session key = {.s.r.subject = *p}, *s;

	s = RB_NFIND(session_subject_tree, tree, &key);
	if (s && s->s.r.subject.pid == p->pid && s->s.r.subject.start == p->start)
		return s;
	return NULL;
}

struct session *session_find_subject(struct registry *r, const struct process_id *p)
{
	return find_subject(&r->subjects, p);
}

struct session *session_find_retired(struct registry *r, const struct process_id *p)
{
	return find_subject(&r->retired, p);
}

struct entity *registry_next(struct registry *r, const struct uuid *after)
{
	struct session key = {.e.type = ENTITY_SESSION, .s.r.id = uuid_next(after)};

	return RB_NFIND(entity_id_tree, &r->ids, &key.e);
}

struct entity *registry_first_due(struct registry *r)
{
	return due_first(&r->dues);
}
