/* SPDX-License-Identifier: MIT */
/* A journal that is as durable as the process: for tests, and --store=memory. */
#include "broker/store/memory_private.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>

int memory_grow(void **array, size_t *cap, size_t used, size_t size)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *p;

	if (used < *cap)
		return 0;
	p = reallocarray(*array, more, size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = more;
	return 0;
}

/* ---- entities ---- */

/* A rule's id in the place of a uuid, in the same order. */
static struct uuid rule_key(uint64_t id)
{
	uint64_t order = htobe64(id);
	struct uuid key = {{0}};

	memcpy(key.b + sizeof(key.b) - sizeof(order), &order, sizeof(order));
	return key;
}

/* What names trust, in the place of a uuid. */
static struct uuid trust_key(const struct trust_record *r)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	struct sha256_ctx c;
	struct uuid key;

	sha256_init(&c);
	sha256_update(&c, sizeof(r->uid), (const uint8_t *)&r->uid);
	sha256_update(&c, r->project->len, (const uint8_t *)r->project->data);
	sha256_digest(&c, sizeof(hash), hash);
	memcpy(key.b, hash, sizeof(key.b));
	return key;
}

struct entity *memory_entity(struct memory *m, enum record_kind kind, const struct uuid *id)
{
	struct entity *e;

	HASH_FIND(hh, m->entities[kind], id, sizeof(*id), e);
	return e;
}

static void entity_free(enum record_kind kind, struct entity *e)
{
	if (!e)
		return;
	record_release(kind, &e->record);
	free(e);
}

/* Puts e (NULL: nothing) where the entity of that id is, which is given back. */
static struct entity *entity_swap(
	struct memory *m, enum record_kind kind, const struct uuid *id, struct entity *e)
{
	struct entity *old = memory_entity(m, kind, id);

	if (old)
		HASH_DELETE(hh, m->entities[kind], old);
	if (e)
		HASH_ADD(hh, m->entities[kind], id, sizeof(e->id), e);
	return old;
}

/* What is given once is kept: see journal.h. */
static void body_keep(struct request_record *now, const struct request_record *before)
{
	struct str *const kept[] = {before->input, before->description, before->extra};
	struct str **const place[] = {&now->input, &now->description, &now->extra};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		str_ref(kept[i]);
		str_unref(*place[i]);
		*place[i] = kept[i];
	}
}

static int entity_put(
	struct memory *m, enum record_kind kind, const struct uuid *id, const void *record)
{
	struct entity *e, *old = memory_entity(m, kind, id);
	int err;

	err = memory_grow((void **)&m->undo, &m->cap_undo, m->n_undo, sizeof(*m->undo));
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	err = record_copy(kind, &e->record, record);
	if (err) {
		free(e);
		return err;
	}
	e->id = *id;
	e->order = old ? old->order : ++m->now.order;
	e->begun = old ? old->begun : m->saved.head.seq;
	if (old && kind == RECORD_REQUEST)
		body_keep(&e->record.request, &old->record.request);
	entity_swap(m, kind, id, e);
	m->undo[m->n_undo++] = (struct undo){old, *id, kind};
	return 0;
}

static int record_put(struct memory *m, enum record_kind kind, const void *record)
{
	const struct uuid *id = record_id(kind, record);

	uuid_raise(&m->now.state.newest, id);
	return entity_put(m, kind, id, record);
}

static int entity_remove(struct memory *m, enum record_kind kind, const struct uuid *id)
{
	int err;

	if (!memory_entity(m, kind, id))
		return 0;
	err = memory_grow((void **)&m->undo, &m->cap_undo, m->n_undo, sizeof(*m->undo));
	if (err)
		return err;
	m->undo[m->n_undo].id = *id;
	m->undo[m->n_undo].kind = kind;
	m->undo[m->n_undo].entity = entity_swap(m, kind, id, NULL);
	m->n_undo++;
	return 0;
}

static int rule_put(struct memory *m, const struct rule_record *r)
{
	struct uuid key = rule_key(r->id);

	if (!rule_record_valid(r))
		return -EINVAL;
	if (r->id <= m->now.state.rule_id && !memory_entity(m, RECORD_RULE, &key))
		return -EINVAL;
	if (r->id > m->now.state.rule_id)
		m->now.state.rule_id = r->id;
	return entity_put(m, RECORD_RULE, &key, r);
}

static int rule_remove(struct memory *m, uint64_t id)
{
	struct uuid key = rule_key(id);

	return entity_remove(m, RECORD_RULE, &key);
}

static int rule_put_matches(struct memory *m, const struct rule_matches *n)
{
	struct uuid key = rule_key(n->id);
	struct entity *e = memory_entity(m, RECORD_RULE, &key);
	struct rule_record r;

	if (n->matched_at < 0)
		return -EINVAL;
	if (!e)
		return 0;
	r = e->record.rule;
	r.matches = n->matches;
	r.matched_at = n->matched_at;
	return entity_put(m, RECORD_RULE, &key, &r);
}

static int trust_put(struct memory *m, const struct trust_record *r)
{
	struct uuid key;

	if (!trust_record_valid(r))
		return -EINVAL;
	key = trust_key(r);
	return entity_put(m, RECORD_TRUST, &key, r);
}

static int trust_remove(struct memory *m, const struct trust_record *r)
{
	struct uuid key = trust_key(r);

	return entity_remove(m, RECORD_TRUST, &key);
}

/* ---- load ---- */

static int by_id(const struct entity *a, const struct entity *b)
{
	return uuid_compare(&a->id, &b->id);
}

static int by_order(const struct entity *a, const struct entity *b)
{
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_project(const struct entity *a, const struct entity *b)
{
	const struct trust_record *const x = &a->record.trust, *const y = &b->record.trust;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return strcmp(str_text(x->project), str_text(y->project));
}

static int memory_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state)
{
	struct memory *m = memory_of(j);
	struct entity *e;
	int err;

	*state = m->now.state;
	HASH_SORT(m->entities[RECORD_SESSION], by_id);
	HASH_SORT(m->entities[RECORD_TURN], by_order);
	HASH_SORT(m->entities[RECORD_RULE], by_id);
	HASH_SORT(m->entities[RECORD_TRUST], by_project);
	HASH_SORT(m->entities[RECORD_REQUEST], by_order);
	for (e = m->entities[RECORD_SESSION]; e; e = e->hh.next) {
		err = l->session(arg, &e->record.session);
		if (err < 0)
			return err;
	}
	for (e = m->entities[RECORD_TURN]; e; e = e->hh.next) {
		err = l->turn(arg, &e->record.turn);
		if (err < 0)
			return err;
	}
	for (e = m->entities[RECORD_RULE]; e; e = e->hh.next) {
		err = l->rule(arg, &e->record.rule);
		if (err < 0)
			return err;
	}
	for (e = m->entities[RECORD_TRUST]; e; e = e->hh.next) {
		err = l->trust(arg, &e->record.trust);
		if (err < 0)
			return err;
	}
	for (e = m->entities[RECORD_REQUEST]; e; e = e->hh.next) {
		err = l->request(arg, &e->record.request);
		if (err < 0)
			return err;
	}
	return memory_load_decisions(m, l, arg);
}

/* ---- transactions ---- */

static int memory_begin(struct journal *j)
{
	struct memory *m = memory_of(j);

	m->saved = m->now;
	return m->fail;
}

static int memory_put(struct journal *j, enum journal_op op, const void *arg)
{
	struct memory *m = memory_of(j);
	enum record_kind kind;
	bool removes;

	if (record_op(op, &kind, &removes))
		return removes ? entity_remove(m, kind, arg) : record_put(m, kind, arg);
	switch (op) {
	case JOURNAL_HISTORY: return memory_history_put(m, arg);
	case JOURNAL_RULE: return rule_put(m, arg);
	case JOURNAL_RULE_REMOVE: return rule_remove(m, *(const uint64_t *)arg);
	case JOURNAL_RULE_MATCHES: return rule_put_matches(m, arg);
	case JOURNAL_TRUST: return trust_put(m, arg);
	case JOURNAL_TRUST_REMOVE: return trust_remove(m, arg);
	case JOURNAL_ALIVE: m->now.state.alive = *(const int64_t *)arg; return 0;
	default: return -EINVAL;
	}
}

static int memory_commit(struct journal *j)
{
	struct memory *m = memory_of(j);

	if (m->fail)
		return m->fail;
	while (m->n_undo) {
		struct undo *u = &m->undo[--m->n_undo];

		entity_free(u->kind, u->entity);
	}
	return 0;
}

static void memory_rollback(struct journal *j)
{
	struct memory *m = memory_of(j);

	while (m->n_undo) {
		struct undo *u = &m->undo[--m->n_undo];

		entity_free(u->kind, entity_swap(m, u->kind, &u->id, u->entity));
	}
	memory_history_undo(m, m->saved.head.seq);
	m->now = m->saved;
}

static int memory_probe(struct journal *j)
{
	return memory_of(j)->fail;
}

static void memory_stats(struct journal *j, struct journal_stats *out)
{
	out->history_rows = memory_of(j)->n_rows;
	strcpy(out->path, "memory");
}

static void memory_close(struct journal *j)
{
	struct memory *m = memory_of(j);

	for (int kind = 0; kind < RECORD_N; kind++) {
		struct entity *e, *next;

		HASH_ITER (hh, m->entities[kind], e, next) {
			HASH_DELETE(hh, m->entities[kind], e);
			entity_free((enum record_kind)kind, e);
		}
	}
	memory_history_undo(m, 0);
	free(m->rows);
	free(m->undo);
	free(m);
}

static const struct journal_ops memory_ops = {
	.close = memory_close,
	.load = memory_load,
	.begin = memory_begin,
	.put = memory_put,
	.commit = memory_commit,
	.rollback = memory_rollback,
	.history = memory_history,
	.verify = memory_verify,
	.prune = memory_prune,
	.probe = memory_probe,
	.stats = memory_stats,
};

int journal_open_memory(struct journal **out)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->base.ops = &memory_ops;
	*out = &m->base;
	return 0;
}

void journal_memory_fail(struct journal *j, int err)
{
	memory_of(j)->fail = err;
}
