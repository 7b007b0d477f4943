/* SPDX-License-Identifier: MIT */
#include "broker/core/registry.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the batch did to one entity. */
struct undo {
	struct undo *next;
	struct entity *entity;
	bool fresh;   /* made in this batch */
	bool removed; /* taken out in this batch */
	bool stored;
	bool pathless; /* a request whose paths go at the commit */
	bool placed;   /* a request that keeps its place in its turn's list */
	/* Before the batch, and after it that of a request's decision; empty where fresh. */
	_Alignas(8) char state[];
};

static void *state_of(struct entity *e, size_t *size)
{
	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION:
		*size = sizeof(struct session_state);
		return &ENTITY_OF(e, session)->s;
	case ENTITY_TURN: *size = sizeof(struct turn_state_data); return &ENTITY_OF(e, turn)->s;
	case ENTITY_REQUEST:
		*size = sizeof(struct request_state_data);
		return &ENTITY_OF(e, request)->s;
	case ENTITY_LINK: *size = sizeof(struct link_state); return &ENTITY_OF(e, link)->s;
	case ENTITY_FRONTEND: break;
	}
	*size = sizeof(struct frontend_state);
	return &ENTITY_OF(e, frontend)->s;
}

static struct undo *undo_add(struct registry *r, struct entity *e, bool fresh)
{
	size_t size = 0;
	void *state = state_of(e, &size);
	struct decision *d =
		e->type == ENTITY_REQUEST ? ENTITY_OF(e, request)->s.decision : NULL;
	struct undo *u = malloc(sizeof(*u) + (fresh ? 0 : size + (d ? sizeof(*d) : 0)));

	if (!u)
		return NULL;
	*u = (struct undo){.entity = e, .fresh = fresh, .stored = e->stored};
	if (!fresh) {
		memcpy(u->state, state, size);
		if (d)
			memcpy(u->state + size, d, sizeof(*d));
	}
	*r->undo.last = u;
	r->undo.last = &u->next;
	e->undo = u;
	return u;
}

static void *entity_new(struct registry *r, size_t size, enum entity_type type)
{
	struct entity *e = calloc(1, size);

	if (!e)
		return NULL;
	e->type = type;
	if (!undo_add(r, e, true)) {
		free(e);
		return NULL;
	}
	return e;
}

/* Of a struct that ends in a name: with room for that, and as large as the struct at least. */
static size_t size_with(size_t size, size_t name_at, struct bytes name)
{
	size_t n = name_at + name.len + 1;

	return n > size ? n : size;
}

static uint16_t name_put(char *out, struct bytes name)
{
	assert(name.len <= LIMIT_NAME);
	if (name.len)
		memcpy(out, name.data, name.len);
	return (uint16_t)name.len;
}

struct session *session_new(struct registry *r, struct bytes key)
{
	size_t size = size_with(sizeof(struct session), offsetof(struct session, key), key);
	struct session *s = entity_new(r, size, ENTITY_SESSION);

	if (s) {
		s->key_len = name_put(s->key, key);
		LIST_INIT(&s->links);
		LIST_INIT(&s->children);
		LIST_INIT(&s->turns);
		RB_INIT(&s->calls);
	}
	return s;
}

struct turn *turn_new(struct registry *r)
{
	struct turn *t = NULL;

	if (due_reserve(&r->dues, r->n_held + 1) == 0)
		t = entity_new(r, sizeof(*t), ENTITY_TURN);
	if (t) {
		r->n_held++;
		budget_clear(&t->s.b.ceiling);
		TAILQ_INIT(&t->requests);
		TAILQ_INIT(&t->settled);
	}
	return t;
}

struct request *request_new(struct registry *r, struct bytes call)
{
	size_t size = size_with(sizeof(struct request), offsetof(struct request, call), call);
	struct request *q = NULL;

	if (due_reserve(&r->dues, r->n_held + 1) == 0)
		q = entity_new(r, size, ENTITY_REQUEST);
	if (q) {
		q->call_len = name_put(q->call, call);
		r->n_held++;
	}
	return q;
}

struct link *link_new(struct registry *r, uint32_t uid, void *owner)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->type = ENTITY_LINK;
	l->uid = uid;
	l->owner = owner;
	LIST_INIT(&l->waiting);
	l->indexed = true;
	r->n_links++;
	return l;
}

void link_free(struct registry *r, struct link *l)
{
	if (!l)
		return;
	assert(!l->s.session && LIST_EMPTY(&l->waiting) && !l->undo);
	r->n_links--;
	free(l);
}

struct frontend *frontend_new(struct registry *r, uint32_t uid, bool admin, void *owner)
{
	struct frontend *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->e.type = ENTITY_FRONTEND;
	f->e.indexed = true;
	f->uid = uid;
	f->admin = admin;
	f->owner = owner;
	f->s.policy = LIMIT_POLICIES;
	r->n_frontends++;
	TAILQ_INSERT_TAIL(&r->frontends, f, in_engine);
	return f;
}

void frontend_free(struct registry *r, struct frontend *f)
{
	if (!f)
		return;
	assert(!f->e.undo);
	TAILQ_REMOVE(&r->frontends, f, in_engine);
	r->n_frontends--;
	str_unref(f->s.name);
	free(f);
}

/* ---- strings ---- */

int entity_set_str(struct registry *r, void *entity, struct str **member, struct str *s)
{
	struct entity *e = entity;

	assert(e->undo);
	if (e->undo->fresh) {
		str_unref(*member);
	} else {
		/* the saved state refers to the old one, the present state to the new one */
		if (*member && str_list_add(&r->unref_on_commit, *member) < 0)
			goto fail;
		if (s && str_list_add(&r->unref_on_rollback, s) < 0) {
			if (*member)
				r->unref_on_commit.n--;
			goto fail;
		}
	}
	*member = s;
	return 0;
fail:
	str_unref(s);
	return -ENOMEM;
}

bool entity_str_is_new(void *entity, struct str **member)
{
	struct entity *e = entity;
	size_t size = 0, at = (size_t)((char *)member - (char *)state_of(e, &size));
	struct str *before;

	assert(e->undo && at + sizeof(before) <= size);
	if (e->undo->fresh)
		return true;
	memcpy(&before, e->undo->state + at, sizeof(before));
	return before != *member;
}

/* ---- lifetime ---- */

static void session_free(struct session *s)
{
	assert(LIST_EMPTY(&s->links) && LIST_EMPTY(&s->children) && LIST_EMPTY(&s->turns) &&
		RB_EMPTY(&s->calls));
	str_unref(s->s.r.agent);
	str_unref(s->s.r.title);
	str_unref(s->s.r.cwd);
	str_unref(s->s.r.workspace);
	str_unref(s->s.r.exe);
	str_unref(s->s.r.cursor);
	str_unref(s->s.checks);
	str_unref(s->s.late);
	str_unref(s->s.last);
	str_unref(s->s.budget);
	str_unref(s->s.adopter);
	free(s);
}

static void turn_free(struct registry *r, struct turn *t)
{
	r->n_held--;
	assert(TAILQ_EMPTY(&t->requests) && TAILQ_EMPTY(&t->settled));
	str_unref(t->s.r.key);
	str_unref(t->s.r.reason);
	str_unref(t->s.denials);
	free(t);
}

static void paths_free(struct request_data *p)
{
	for (unsigned i = 0; i < p->n_paths + p->n_operands; i++) {
		str_unref(p->paths[i].given);
		str_unref(p->paths[i].resolved);
	}
	free(p->paths);
	p->paths = NULL;
	p->n_paths = p->n_operands = 0;
}

struct decision *request_decide(struct request *q)
{
	assert(q->e.undo);
	if (!q->s.decision)
		q->s.decision = calloc(1, sizeof(*q->s.decision));
	return q->s.decision;
}

/* The strings of the batch are released by its lists. */
static void decision_restore(struct request *q, const struct undo *u)
{
	const struct request_state_data *before = (const void *)u->state;

	if (!before->decision)
		free(q->s.decision);
	else
		memcpy(before->decision, before + 1, sizeof(*before->decision));
}

void request_drop_paths(struct request *q)
{
	assert(q->e.undo);
	q->e.undo->pathless = true;
}

static void request_free(struct registry *r, struct request *q)
{
	struct request_data *p = &q->s.r;
	struct decision *d = q->s.decision;

	r->n_held--;
	str_unref(p->tool);
	str_unref(p->input);
	str_unref(p->summary);
	str_unref(p->description);
	str_unref(p->command);
	str_unref(p->cwd);
	str_unref(p->extra);
	str_unref(p->url);
	str_unref(p->why);
	paths_free(p);
	if (d) {
		str_unref(d->reason);
		str_unref(d->by);
		str_unref(d->updated_input);
		str_unref(d->answers);
		free(d);
	}
	free(q);
}

static void entity_free(struct registry *r, struct entity *e)
{
	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION: session_free(ENTITY_OF(e, session)); break;
	case ENTITY_TURN: turn_free(r, ENTITY_OF(e, turn)); break;
	case ENTITY_REQUEST: request_free(r, ENTITY_OF(e, request)); break;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
}

int entity_touch(struct registry *r, void *entity)
{
	struct entity *e = entity;

	if (e->undo || undo_add(r, e, false))
		return 0;
	return -ENOMEM;
}

int entity_remove(struct registry *r, void *entity)
{
	struct entity *e = entity;
	int err = entity_touch(r, e);

	if (err < 0)
		return err;
	entity_unindex(r, e);
	e->undo->removed = true;
	return 0;
}

/* Frees in the order request, turn, session, so that each one's lists are empty by then. */
static void undo_free(struct registry *r, bool commit)
{
	struct undo *u, *next;

	for (int pass = ENTITY_REQUEST; pass >= (int)ENTITY_SESSION; pass--) {
		for (u = r->undo.first; u; u = u->next)
			if (u->entity && (int)u->entity->type == pass &&
				(commit ? u->removed : u->fresh)) {
				entity_free(r, u->entity);
				u->entity = NULL;
			}
	}
	for (u = r->undo.first; u; u = next) {
		next = u->next;
		if (u->entity && commit && u->pathless)
			paths_free(&ENTITY_OF(u->entity, request)->s.r);
		if (u->entity)
			u->entity->undo = NULL;
		free(u);
	}
	r->undo.first = NULL;
	r->undo.last = &r->undo.first;
}

void registry_each_fresh_request(
	struct registry *r, void (*each)(void *arg, const struct request *q), void *arg)
{
	for (const struct undo *u = r->undo.first; u; u = u->next) {
		const struct request *q = ENTITY_OF(u->entity, request);

		if (u->fresh && u->entity->type == ENTITY_REQUEST && q->s.turn && q->s.r.tool &&
			!q->s.r.check)
			each(arg, q);
	}
}

void registry_commit(struct registry *r)
{
	undo_free(r, true);
	str_list_release(&r->unref_on_commit);
	str_list_reset(&r->unref_on_rollback);
	due_trim(&r->dues, r->n_held);
}

/* Requests are listed in the order in which they arose, also after a batch was undone. */
static bool keeps_place(const struct undo *u)
{
	const struct request_state_data *before = (const void *)u->state;

	return !u->fresh && u->entity->type == ENTITY_REQUEST && u->entity->indexed &&
	       before->turn == ENTITY_OF(u->entity, request)->s.turn;
}

void registry_rollback(struct registry *r)
{
	struct undo *u;

	for (u = r->undo.first; u; u = u->next) {
		u->placed = keeps_place(u);
		if (u->placed)
			request_uncount(r, ENTITY_OF(u->entity, request));
		else
			entity_unindex(r, u->entity);
	}
	for (u = r->undo.first; u; u = u->next) {
		size_t size = 0;
		void *state = state_of(u->entity, &size);

		if (u->fresh)
			continue;
		if (u->entity->type == ENTITY_REQUEST)
			decision_restore(ENTITY_OF(u->entity, request), u);
		memcpy(state, u->state, size);
		u->entity->dirty = false;
		u->entity->stored = u->stored;
	}
	/* sessions before what is in them, since their members hold the lists */
	for (int pass = ENTITY_SESSION; pass <= ENTITY_FRONTEND; pass++)
		for (u = r->undo.first; u; u = u->next) {
			if ((int)u->entity->type != pass || u->fresh)
				continue;
			if (u->placed)
				request_recount(r, ENTITY_OF(u->entity, request));
			else
				entity_index(r, u->entity);
		}
	undo_free(r, false);
	str_list_release(&r->unref_on_rollback);
	str_list_reset(&r->unref_on_commit);
}

void registry_clear(struct registry *r)
{
	static const struct uuid nil;
	struct entity *e, *next;

	registry_rollback(r);
	for (int pass = ENTITY_REQUEST; pass >= (int)ENTITY_SESSION; pass--)
		for (e = registry_next(r, &nil); e; e = next) {
			struct uuid id = *entity_id(e);

			next = registry_next(r, &id);
			if ((int)e->type != pass)
				continue;
			if (e->type == ENTITY_SESSION) {
				struct session *s = ENTITY_OF(e, session), *c;
				struct link *l;

				while ((c = LIST_FIRST(&s->children))) { /* they arose later */
					LIST_REMOVE(c, in_parent);
					c->in_family = false;
				}
				while ((l = LIST_FIRST(&s->links))) {
					LIST_REMOVE(l, in_session);
					l->s.session = NULL;
				}
			}
			entity_unindex(r, e);
			entity_free(r, e);
		}
}

void registry_fini(struct registry *r)
{
	registry_clear(r);
	assert(!r->n_links && TAILQ_EMPTY(&r->frontends));
	owners_free(r);
	due_free(&r->dues);
	free(r->unref_on_commit.items);
	free(r->unref_on_rollback.items);
}
