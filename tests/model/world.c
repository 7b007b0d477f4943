/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"
#include "tests/model/world.h"
#include "tests/unit/fail_alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000ll

void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->config = (struct engine_config){
		.policy_time = 2 * SECOND,
		.grace = 30 * SECOND,
		.default_mode = MODE_NORMAL,
		.repeat_limit = 1,
		.max_sessions = 100,
		.max_pending = 100,
		.max_pending_bytes = 1 << 20,
		.weights = BUDGET_WEIGHTS_DEFAULT,
	};
	w->now = (struct instant){.mono = 1000 * SECOND, .wall = 1700000000 * SECOND};
	w->store = store_new();
	if (engine_init(&w->e, &w->config) < 0)
		world_fail(w, "engine_init failed");
}

static void actor_close(struct world *w, struct actor *a)
{
	if (a->link)
		engine_link_close(&w->e, a->link);
	if (a->frontend)
		engine_frontend_close(&w->e, a->frontend);
	memset(a, 0, sizeof(*a));
}

static void engine_drop(struct world *w)
{
	engine_clear(&w->e);
	for (unsigned i = 0; i < WORLD_ACTORS; i++)
		actor_close(w, &w->book.actors[i]);
	engine_fini(&w->e);
}

void world_fini(struct world *w)
{
	engine_drop(w);
	store_free(w->store);
	judge_fini(&w->judge);
	for (unsigned i = 0; i < w->n_trace; i++)
		free(w->trace[i]);
}

void world_fail(struct world *w, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	for (unsigned i = 0; i < w->n_trace; i++)
		fprintf(stderr, "\t\"%s\",\n", w->trace[i]);
	fprintf(stderr, "told: %s\n", w->told);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

struct actor *world_actor(struct world *w, const char *name)
{
	struct actor *a = NULL;

	for (unsigned i = 0; i < WORLD_ACTORS; i++) {
		if (strcmp(w->book.actors[i].name, name) == 0)
			return &w->book.actors[i];
		if (!a && !w->book.actors[i].name[0])
			a = &w->book.actors[i];
	}
	if (!a)
		world_fail(w, "too many actors");
	snprintf(a->name, sizeof(a->name), "%s", name);
	/* the second character may name another uid */
	if (strchr("HOP", name[0]))
		a->frontend = engine_frontend_open(
			&w->e, name[1] == 'x' ? 2000 : 1000, name[1] == 'r', a);
	else
		a->link = engine_link_open(&w->e, name[1] == 'x' ? 2000 : 1000, a);
	if (!a->frontend && !a->link)
		world_fail(w, "no connection");
	return a;
}

struct uuid world_seed(struct world *w)
{
	static const uint8_t zero[10];

	return uuid_make(1000000 + 16 * ++w->seeds, zero);
}

struct seen_request *world_seen_id(struct world *w, const struct uuid *id)
{
	for (unsigned i = 0; i < w->book.n_seen; i++)
		if (uuid_compare(&w->book.seen[i].id, id) == 0)
			return &w->book.seen[i];
	return NULL;
}

struct seen_request *world_seen(struct world *w, const char *call)
{
	for (unsigned i = w->book.n_seen; i-- > 0;)
		if (strcmp(w->book.seen[i].call, call) == 0)
			return &w->book.seen[i];
	return NULL;
}

unsigned world_turn(struct world *w, const struct uuid *id)
{
	struct book *b = &w->book;

	for (unsigned i = 0; i < b->n_turns; i++)
		if (uuid_compare(&b->turns[i], id) == 0)
			return i + 1;
	if (b->n_turns == WORLD_ITEMS)
		world_fail(w, "too many turns");
	b->turns[b->n_turns++] = *id;
	return b->n_turns;
}

static void expect_print(struct world *w, const char *before, const char *when)
{
	char *after = world_print(w);

	if (strcmp(before, after) != 0)
		world_fail(w, "%s: not restored\n--- before\n%s--- after\n%s", when, before,
			after);
	free(after);
}

static int run(struct world *w, const struct command *given, const struct effects **out)
{
	struct command c = *given;

	c.seed = world_seed(w);
	w->n_steps++;
	return engine_step(&w->e, w->now, &c, out);
}

static void undone(struct world *w, const struct command *c)
{
	char *before = world_print(w);
	const struct effects *out;
	unsigned long n_allocations;

	fail_alloc(0);
	if (run(w, c, &out) < 0)
		world_fail(w, "a step failed");
	n_allocations = fail_alloc(0);
	engine_rollback(&w->e);
	w->n_rollbacks++;
	expect_print(w, before, "rollback");
	for (unsigned long n = 1; w->starve_each && n <= n_allocations; n++) {
		int err;

		fail_alloc(n);
		err = run(w, c, &out);
		fail_alloc(0);
		/* buffers that have grown need not grow again */
		if (err != 0 && err != -ENOMEM)
			world_fail(w, "allocation %lu failed: error %d", n, err);
		engine_rollback(&w->e);
		w->n_starved++;
		expect_print(w, before, "rollback without memory");
	}
	free(before);
}

void world_step(struct world *w, const struct command *c)
{
	const struct effects *out;

	if (w->rollback_each)
		undone(w, c);
	if (run(w, c, &out) < 0)
		world_fail(w, "a step failed");
	world_take(w, c, out);
	if (!w->hold)
		world_commit(w);
}

void world_commit(struct world *w)
{
	engine_commit(&w->e);
	store_commit(w->store);
	for (unsigned i = 0; i < WORLD_ACTORS; i++)
		if (w->book.actors[i].left)
			actor_close(w, &w->book.actors[i]);
	if (!w->quiet) {
		world_check(w);
		store_compare(w, w->store);
	}
}

void world_undo(struct world *w, const struct book *before)
{
	engine_rollback(&w->e);
	store_rollback(w->store);
	w->book = *before;
	w->n_rollbacks++;
}

void world_try(struct world *w, const struct command *c, void (*seen)(void *arg), void *arg)
{
	const struct effects *out;

	w->spare = w->book;
	if (run(w, c, &out) < 0)
		world_fail(w, "a step failed");
	world_take(w, c, out);
	world_check(w);
	seen(arg);
	world_undo(w, &w->spare);
}

static void note_reviews(struct world *w)
{
	static const struct uuid start;
	struct entity *x;

	w->n_reviews = 0;
	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x)))
		if (x->type == ENTITY_REQUEST &&
			ENTITY_OF(x, request)->s.r.state == REQUEST_REVIEW &&
			w->n_reviews < WORLD_ITEMS)
			w->reviews[w->n_reviews++] = *entity_id(x);
}

/* Time may suspend a turn while the broker is down; what was suspended stays so. */
static void note_budgets(struct world *w, bool after)
{
	static const struct uuid start;
	struct entity *x;

	if (!after)
		w->n_budgets = 0;
	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x))) {
		struct turn *t = ENTITY_OF(x, turn);
		bool was = false;

		if (x->type != ENTITY_TURN)
			continue;
		if (!after && t->s.r.state == TURN_SUSPENDED && w->n_budgets < WORLD_ITEMS)
			w->budgets[w->n_budgets++] = *entity_id(x);
		for (unsigned i = 0; i < w->n_budgets; i++)
			was |= uuid_compare(&w->budgets[i], entity_id(x)) == 0;
		if (after && was && t->s.r.state != TURN_SUSPENDED)
			world_fail(w, "a suspended turn is free after a restart");
		if (after && !was && t->s.r.state == TURN_SUSPENDED && !t->s.inherited &&
			t->s.r.causes != CAUSE_BUDGET)
			world_fail(w, "a turn is suspended by a restart");
	}
}

static bool in_review(const struct world *w, const struct uuid *id)
{
	for (unsigned i = 0; i < w->n_reviews; i++)
		if (uuid_compare(&w->reviews[i], id) == 0)
			return true;
	return false;
}

/* What a restart must not lose. */
static char *lasting(struct world *w)
{
	static const struct uuid start;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct entity *x;

	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x))) {
		const struct request *q = ENTITY_OF(x, request);
		const struct session *s = ENTITY_OF(x, session);
		const struct turn *t = ENTITY_OF(x, turn);
		char id[ID_STRING_SIZE];

		id_format(id, ID_REQUEST, entity_id(x));
		/* what is in review is evaluated again, and the mode may deny it now */
		if (x->type == ENTITY_REQUEST && request_lasts(q) &&
			!in_review(w, &q->s.r.id) &&
			(request_session(q)->s.r.subject.pid ||
				request_state_pending(q->s.r.state) || request_kept(q)))
			fprintf(f, "%s request %s %s %s\n", id, q->call,
				request_state_pending(q->s.r.state)
					? "pending"
					: request_state_name(q->s.r.state),
				str_text(request_decision(q)->updated_input));
		/* without a subject it ends with its last connection */
		if (x->type == ENTITY_SESSION && s->s.r.subject.pid)
			fprintf(f, "%s session %s %s %s %d\n", id, s->key,
				mode_name(s->s.r.ceiling), mode_name(s->s.r.claim),
				s->s.r.fail_closed);
		if (x->type == ENTITY_TURN && t->s.session->s.r.subject.pid)
			fprintf(f, "%s turn %s hand %d ended %d usage %llu %llu\n", id,
				str_text(t->s.r.key), t->s.r.causes & CAUSE_HAND,
				t->s.r.state == TURN_ENDED,
				(unsigned long long)t->s.r.usage.input,
				(unsigned long long)t->s.r.usage_seq);
	}
	fclose(f);
	return text;
}

void world_restart(struct world *w, int64_t down)
{
	struct command c = {.type = COMMAND_RESTARTED, .alive = w->now.wall};
	int64_t died = w->now.wall;
	char *before, *after;
	bool rollback_each = w->rollback_each;

	note_reviews(w);
	note_budgets(w, false);
	before = lasting(w);
	engine_drop(w);
	w->book.n_calls = 0;
	w->now.mono += down;
	w->now.wall += down;
	if (engine_init(&w->e, &w->config) < 0)
		world_fail(w, "engine_init failed");
	w->e.judge = w->judge.floor ? &w->judge : NULL;
	if (store_restore(&w->e, w->now, w->store, died) < 0)
		world_fail(w, "what is stored can't be restored");
	engine_commit(&w->e);
	w->rollback_each = rollback_each;
	world_step(w, &c);
	after = lasting(w);
	note_budgets(w, true);
	if (strcmp(before, after) != 0)
		world_fail(w, "restart:\n--- before\n%s--- after\n%s", before, after);
	free(before);
	free(after);
}
