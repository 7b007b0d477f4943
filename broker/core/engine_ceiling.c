/* SPDX-License-Identifier: MIT */
/* What has reached a ceiling is suspended; and a person raises it. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <string.h>

static const struct bytes none;

/* A ceiling's holder: a turn, or a session with all its turns. */
struct pool {
	const char *of;
	struct turn *turn; /* NULL: the session */
	struct session *session;
	struct budget_amounts used, ceiling, next;
	uint8_t warned;
};

static void pool_turn(const struct engine *e, struct turn *t, struct pool *p)
{
	*p = (struct pool){.of = "turn",
		.turn = t,
		.session = t->s.session,
		.ceiling = t->s.b.ceiling,
		.warned = t->s.b.warned};
	turn_used(e, t, e->now, &p->used);
}

static void pool_session(const struct engine *e, struct session *s, struct pool *p)
{
	*p = (struct pool){.of = "session",
		.session = s,
		.ceiling = session_budget(s)->ceiling,
		.warned = session_budget(s)->warned};
	session_used(e, s, e->now, &p->used);
}

static int pool_change(struct engine *e, const struct pool *p,
	const struct budget_amounts *ceiling, uint8_t warned)
{
	struct session_budget *b;

	if (p->turn) {
		TRY(entity_touch(&e->r, p->turn));
		p->turn->s.b.ceiling = *ceiling;
		p->turn->s.b.warned = warned;
		return mark_dirty(e, p->turn);
	}
	b = session_budget_edit(e, p->session);
	if (!b)
		return -ENOMEM;
	b->ceiling = *ceiling;
	b->warned = warned;
	return mark_dirty(e, p->session);
}

static int trip(struct engine *e, struct turn *t, const struct pool *p, enum budget_kind kind)
{
	char text[BUDGET_TEXT];
	struct str *s;
	int err;

	budget_describe(text, p->of, kind, p->used.of[kind], p->ceiling.of[kind]);
	s = str_new(text, strlen(text));
	if (!s)
		return -ENOMEM;
	err = effect_keep(e, s);
	if (err == 0)
		err = turn_suspend(e, t, CAUSE_BUDGET, none, str_bytes(s));
	str_unref(s);
	return err;
}

static int warn(struct engine *e, const struct pool *p, uint8_t bits)
{
	TRY(pool_change(e, p, &p->ceiling, p->warned | bits));
	for (int k = 0; k < BUDGET_N; k++) {
		size_t from = e->out.n;

		if (!(bits & 1u << k) ||
			budget_reached((enum budget_kind)k, p->used.of[k], p->ceiling.of[k]))
			continue;
		TRY(event_emit(
			e, EVENT_WARNING, p->turn ? (void *)p->turn : (void *)p->session));
		for (; from < e->out.n; from++)
			e->out.items[from].event.warning = (uint8_t)k;
	}
	return 0;
}

static int pool_check(struct engine *e, const struct pool *p, struct turn *holder)
{
	const uint8_t bits = budget_near(&p->used, &p->ceiling) & (uint8_t)~p->warned;
	const int kind = budget_first(&p->used, &p->ceiling);

	if (bits)
		TRY(warn(e, p, bits));
	if (kind < 0 || !holder || turn_state_over(holder->s.r.state) ||
		holder->s.r.causes & CAUSE_BUDGET)
		return 0;
	return trip(e, holder, p, (enum budget_kind)kind);
}

int budget_check(struct engine *e, struct turn *t, struct session *from)
{
	for (struct session *s = from; s; s = s->s.parent) {
		struct turn *x = turn_present(s);
		struct pool p;

		if (x) {
			pool_turn(e, x, &p);
			TRY(pool_check(e, &p, x));
		}
		pool_session(e, s, &p);
		TRY(pool_check(e, &p, x ? x : t));
	}
	return 0;
}

/* ---- raised by a person ---- */

/* All that suspend this very turn. */
static unsigned pools_of(
	const struct engine *e, struct turn *t, struct pool pools[LIMIT_CHAIN + 2])
{
	struct session *s = t->s.session;
	unsigned n = 0;

	pool_turn(e, t, &pools[n++]);
	pool_session(e, s, &pools[n++]);
	/* at most so many, and what has ended beside */
	for (s = s->s.parent; s && n < LIMIT_CHAIN + 2; s = s->s.parent)
		if (!turn_present(s))
			pool_session(e, s, &pools[n++]);
	return n;
}

/* What a ceiling is raised by: as was said, or as much again as is configured. */
static int64_t step_of(const struct pool *p, int k, const struct budget_amounts *by,
	const struct budget_amounts *configured)
{
	const bool reached =
		budget_reached((enum budget_kind)k, p->used.of[k], p->ceiling.of[k]);

	if (by && by->of[k] >= 0)
		return p->turn || reached ? by->of[k] : 0;
	if (by || !reached)
		return 0;
	return configured->of[k] >= 0 ? configured->of[k] : p->ceiling.of[k];
}

int budget_offer(const struct engine *e, struct turn *t, struct budget_amounts *out)
{
	struct pool pools[LIMIT_CHAIN + 2];
	const unsigned n = pools_of(e, t, pools);
	struct budget_amounts turn, session;

	budget_clear(out);
	budget_config(e, t->s.session, &turn, &session);
	for (unsigned i = 0; i < n; i++)
		for (int k = 0; k < BUDGET_N; k++) {
			int64_t by = step_of(&pools[i], k, NULL, i ? &session : &turn);

			if (by > out->of[k] && by > 0)
				out->of[k] = by;
		}
	return budget_is_clear(out);
}

int budget_raise(struct engine *e, struct turn *t, const struct budget_amounts *by)
{
	struct pool pools[LIMIT_CHAIN + 2];
	const unsigned n = pools_of(e, t, pools);
	struct budget_amounts turn, session;

	budget_config(e, t->s.session, &turn, &session);
	for (unsigned i = 0; i < n; i++) {
		struct pool *p = &pools[i];

		p->next = p->ceiling;
		for (int k = 0; k < BUDGET_N; k++)
			p->next.of[k] = budget_raised(
				p->next.of[k], step_of(p, k, by, i ? &session : &turn));
		if (budget_first(&p->used, &p->next) >= 0)
			return 1;
	}
	for (unsigned i = 0; i < n; i++) {
		struct pool *p = &pools[i];

		if (memcmp(&p->next, &p->ceiling, sizeof(p->next)) != 0)
			TRY(pool_change(
				e, p, &p->next, p->warned & budget_near(&p->used, &p->next)));
	}
	TRY(entity_touch(&e->r, t));
	turn_due_set(e, t);
	return 0;
}
