/* SPDX-License-Identifier: MIT */
/* A store in memory, as simple as can be: what a journal is asked to keep, and a restart from
 * it. */
#include "broker/core/engine_private.h"
#include "tests/model/world.h"

#include <stdlib.h>
#include <string.h>

#define STORE_MAX 512

struct kept {
	bool used;
	enum journal_op op; /* JOURNAL_SESSION, _TURN, _REQUEST */
	struct uuid id;
	union {
		struct session_record session;
		struct turn_record turn;
		struct request_record request;
	};
};

struct kept_row {
	struct history_row row;
	struct str *call, *tool, *input, *cwd, *reason, *by;
	bool final;
};

struct model_store {
	struct kept kept[STORE_MAX];
	unsigned n_kept; /* used ones are below */
	struct kept_row rows[4 * STORE_MAX];
	unsigned n_rows, n_final;
	/* of the batch */
	struct kept batch[STORE_MAX];
	bool removes[STORE_MAX];
	unsigned n_batch;
};

static void each_string(struct kept *k, struct str *(*f)(struct str *s))
{
	struct session_record *s = &k->session;
	struct turn_record *t = &k->turn;
	struct request_record *q = &k->request;

	switch (k->op) {
	case JOURNAL_SESSION:
		f(s->agent), f(s->key), f(s->title), f(s->cwd), f(s->workspace), f(s->exe);
		f(s->cursor), f(s->budget);
		break;
	case JOURNAL_TURN: f(t->key), f(t->reason), f(t->budget); break;
	case JOURNAL_REQUEST:
		f(q->call), f(q->tool), f(q->input), f(q->summary), f(q->description);
		f(q->command), f(q->cwd), f(q->extra), f(q->reason), f(q->by);
		f(q->updated_input), f(q->answers);
		break;
	default: break;
	}
}

static void row_free(struct kept_row *r)
{
	str_unref(r->call);
	str_unref(r->tool);
	str_unref(r->input);
	str_unref(r->cwd);
	str_unref(r->reason);
	str_unref(r->by);
}

struct model_store *store_new(void)
{
	struct model_store *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	return s;
}

static void batch_clear(struct model_store *s)
{
	for (unsigned i = 0; i < s->n_batch; i++)
		if (!s->removes[i])
			each_string(&s->batch[i], str_unref);
	s->n_batch = 0;
}

void store_free(struct model_store *s)
{
	batch_clear(s);
	for (unsigned i = 0; i < s->n_kept; i++)
		if (s->kept[i].used)
			each_string(&s->kept[i], str_unref);
	for (unsigned i = 0; i < s->n_rows; i++)
		row_free(&s->rows[i]);
	free(s);
}

static struct str *copy(struct bytes b)
{
	return b.data ? str_new(b.data, b.len) : NULL;
}

void store_take(struct model_store *s, const struct engine *engine, const struct effect *e)
{
	struct kept *k = &s->batch[s->n_batch];
	struct entity *x = e->store.entity;
	struct str *name = NULL, *budget = NULL; /* made for the record */

	if (s->n_batch == STORE_MAX || s->n_rows == 4 * STORE_MAX)
		abort();
	if (e->type == EFFECT_HISTORY) {
		struct kept_row *r = &s->rows[s->n_rows++];

		*r = (struct kept_row){.row = e->row,
			.call = copy(e->row.call),
			.tool = copy(e->row.tool),
			.input = copy(e->row.input),
			.cwd = copy(e->row.cwd),
			.reason = copy(e->row.reason),
			.by = copy(e->row.by)};
		return;
	}
	*k = (struct kept){.used = true, .op = e->store.op, .id = *entity_id(x)};
	s->removes[s->n_batch++] = false;
	switch (e->store.op) {
	case JOURNAL_SESSION:
		if (engine_record_session(ENTITY_OF(x, session), &k->session) < 0)
			abort();
		name = k->session.key;
		budget = k->session.budget;
		break;
	case JOURNAL_TURN:
		if (engine_record_turn(ENTITY_OF(x, turn), &k->turn) < 0)
			abort();
		budget = k->turn.budget;
		break;
	case JOURNAL_REQUEST:
		if (engine_record_request(engine, ENTITY_OF(x, request), &k->request) < 0)
			abort();
		name = k->request.call;
		k->request.paths = NULL; /* no rule of the core needs them again */
		k->request.n_paths = 0;
		break;
	default: s->removes[s->n_batch - 1] = true; return;
	}
	each_string(k, str_ref);
	str_unref(name);
	str_unref(budget);
}

static struct kept *kept_find(struct model_store *s, const struct uuid *id)
{
	for (unsigned i = 0; i < s->n_kept; i++)
		if (s->kept[i].used && uuid_compare(&s->kept[i].id, id) == 0)
			return &s->kept[i];
	return NULL;
}

void store_commit(struct model_store *s)
{
	for (unsigned i = 0; i < s->n_batch; i++) {
		struct kept *k = kept_find(s, &s->batch[i].id);

		if (k) {
			each_string(k, str_unref);
			k->used = false;
		}
		if (s->removes[i])
			continue;
		for (k = s->kept; k->used; k++)
			if (k == s->kept + STORE_MAX - 1)
				abort();
		if (k == s->kept + s->n_kept)
			s->n_kept++;
		*k = s->batch[i];
	}
	s->n_batch = 0; /* the references are the store's now */
	s->n_final = s->n_rows;
}

void store_rollback(struct model_store *s)
{
	batch_clear(s);
	while (s->n_rows > s->n_final)
		row_free(&s->rows[--s->n_rows]);
}

unsigned long store_rows(const struct model_store *s, enum history_event event)
{
	unsigned long n = 0;

	for (unsigned i = 0; i < s->n_rows; i++)
		n += s->rows[i].row.event == event;
	return n;
}

/* ---- restart ---- */

static int by_id(const void *a, const void *b)
{
	const struct kept *const *x = a, *const *y = b;

	return uuid_compare(&(*x)->id, &(*y)->id);
}

int store_restore(struct engine *e, struct instant now, struct model_store *s, int64_t alive)
{
	struct kept *list[STORE_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < s->n_kept; i++)
		if (s->kept[i].used)
			list[n++] = &s->kept[i];
	qsort(list, n, sizeof(list[0]), by_id);
	for (int op = 0; op < 3; op++) {
		static const enum journal_op ops[] = {
			JOURNAL_SESSION, JOURNAL_TURN, JOURNAL_REQUEST};

		for (size_t i = 0; i < n; i++) {
			struct facts facts = {0};
			int err = 0;

			if (list[i]->op != ops[op])
				continue;
			if (op == 0)
				err = engine_restore_session(e, &list[i]->session);
			if (op == 1)
				err = engine_restore_turn(e, &list[i]->turn);
			if (op == 2) {
				struct request_record *r = &list[i]->request;

				script_hash(str_bytes(r->input), facts.input_hash, 16);
				script_signature(str_bytes(r->tool), str_bytes(r->input),
					facts.signature);
				err = engine_restore_request(e, now, alive, r, &facts);
			}
			if (err < 0)
				return err;
		}
	}
	for (unsigned i = 0; i < s->n_rows; i++) {
		struct kept_row *r = &s->rows[i];
		struct history_row row = r->row;
		uint8_t hash[16], signature[16];
		int err;

		if (row.event != HISTORY_DECISION && row.event != HISTORY_OUTCOME)
			continue;
		row.call = str_bytes(r->call);
		row.tool = str_bytes(r->tool);
		row.input = str_bytes(r->input);
		row.cwd = str_bytes(r->cwd);
		row.reason = str_bytes(r->reason);
		row.by = str_bytes(r->by);
		row.agent = row.command = row.workspace = row.exe = row.detail =
			(struct bytes){NULL, 0};
		script_hash(row.input, hash, sizeof(hash));
		script_signature(row.tool, row.input, signature);
		err = engine_restore_decision(e, now, &row, hash, signature);
		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- comparison ---- */

static void differ(struct world *w, const struct entity *x, const char *what)
{
	char id[ID_STRING_SIZE];

	id_format(id,
		x->type == ENTITY_SESSION ? ID_SESSION
		: x->type == ENTITY_TURN  ? ID_TURN
					  : ID_REQUEST,
		entity_id(x));
	world_fail(w, "store: %s %s", id, what);
}

static void compare_request(struct world *w, const struct request *q, const struct kept *k)
{
	struct request_record record, *a = &record;
	const struct request_record *b = &k->request;

	if (engine_record_request(&w->e, q, a) < 0)
		abort();
	str_unref(a->call);
	if (a->state != b->state || uuid_compare(&a->turn, &b->turn) != 0 ||
		uuid_compare(&a->session, &b->session) != 0 || a->deadline != b->deadline ||
		a->step != b->step || a->on_disconnect != b->on_disconnect ||
		a->verdict != b->verdict || a->input != b->input ||
		a->updated_input != b->updated_input || a->answers != b->answers ||
		a->delivered != b->delivered || a->check)
		differ(w, &q->e, "is kept otherwise");
}

static void compare_turn(struct world *w, const struct turn *t, const struct kept *k)
{
	const struct turn_record *a = &t->s.r, *b = &k->turn;
	bool moves = a->state == TURN_RUNNING || a->state == TURN_WAITING ||
		     a->state == TURN_REDRIVING;
	bool moved = b->state == TURN_RUNNING || b->state == TURN_WAITING ||
		     b->state == TURN_REDRIVING || b->state == TURN_RECOVERED;

	/* waiting is found out again after a restart */
	if ((a->state != b->state && !(moves && moved)) || a->causes != b->causes ||
		a->key != b->key || a->usage_seq != b->usage_seq || a->reason != b->reason ||
		memcmp(&a->usage, &b->usage, sizeof(a->usage)) != 0 ||
		a->ended_by != b->ended_by)
		differ(w, &t->e, "is kept otherwise");
}

static void compare_session(struct world *w, const struct session *s, const struct kept *k)
{
	struct session_record record, *a = &record;
	const struct session_record *b = &k->session;
	bool same;

	if (engine_record_session(s, a) < 0)
		abort();
	str_unref(a->key);
	same = str_equal(a->budget, str_bytes(b->budget));
	str_unref(a->budget);
	if (!same || a->ceiling != b->ceiling || a->claim != b->claim || a->cursor != b->cursor ||
		a->fail_closed != b->fail_closed || a->channel_ms != b->channel_ms ||
		uuid_compare(&a->parent, &b->parent) != 0 ||
		a->subject.pid != b->subject.pid || a->subject.start != b->subject.start)
		differ(w, &s->e, "is kept otherwise");
}

void store_compare(struct world *w, struct model_store *s)
{
	static const struct uuid start;
	struct entity *x;
	unsigned n = 0, have = 0;

	for (unsigned i = 0; i < s->n_kept; i++)
		have += s->kept[i].used;
	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x))) {
		struct kept *k = kept_find(s, entity_id(x));
		bool wanted = x->type != ENTITY_REQUEST || request_lasts(ENTITY_OF(x, request));

		if (!!k != x->stored)
			differ(w, x, "is marked otherwise than it is kept");
		if (wanted != !!k)
			differ(w, x, wanted ? "is not kept" : "is kept needlessly");
		if (!k)
			continue;
		n++;
		if (x->type == ENTITY_SESSION)
			compare_session(w, ENTITY_OF(x, session), k);
		else if (x->type == ENTITY_TURN)
			compare_turn(w, ENTITY_OF(x, turn), k);
		else
			compare_request(w, ENTITY_OF(x, request), k);
	}
	if (n != have)
		world_fail(w, "store: %u records, %u entities", have, n);
}
