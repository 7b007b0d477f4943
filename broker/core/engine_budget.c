/* SPDX-License-Identifier: MIT */
/* Ceilings of turns and sessions: their clocks, what reaches them, and who raises them. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1000000
/* Of a session, where none are configured: so often those of its turns. */
#define SESSION_TURNS 10

static const struct bytes none;

/* The turn that may be suspended; NULL: there is none. */
static struct turn *present(const struct session *s)
{
	return s->s.turn && !turn_state_over(s->s.turn->s.r.state) ? s->s.turn : NULL;
}

/* ---- what is used ---- */

static int64_t bounded(uint64_t n)
{
	return n > BUDGET_MOST ? BUDGET_MOST : (int64_t)n;
}

static int64_t since_mark(const struct turn *t, struct instant now)
{
	return now.mono > t->s.b.mark_mono ? now.mono - t->s.b.mark_mono : 0;
}

static void times_add(const struct turn *t, struct instant now, int64_t *active, int64_t *wall)
{
	const struct turn_budget *b = &t->s.b;
	const int64_t d = since_mark(t, now);

	*active = budget_add(*active, budget_add(b->active, b->active_runs ? d : 0));
	*wall = budget_add(*wall, budget_add(b->wall, b->wall_runs ? d : 0));
}

static uint64_t turn_calls(const struct turn *t)
{
	return t->s.r.calls + t->s.b.calls + t->s.b.calls_live;
}

static void amounts_set(const struct engine *e, struct budget_amounts *out,
	const struct usage *u, int64_t active, int64_t wall, uint64_t calls)
{
	out->of[BUDGET_TOKENS] = budget_tokens(u, &e->config.weights);
	out->of[BUDGET_TIME] = active;
	out->of[BUDGET_WALL] = wall;
	out->of[BUDGET_CALLS] = bounded(calls);
	out->of[BUDGET_COST] = bounded(u->cost_microusd);
}

void turn_usage(const struct turn *t, struct usage *out)
{
	*out = t->s.r.usage;
	usage_add(out, &t->s.b.more);
}

void turn_used(const struct engine *e, const struct turn *t, struct instant now,
	struct budget_amounts *out)
{
	int64_t active = 0, wall = 0;
	struct usage u;

	turn_usage(t, &u);
	times_add(t, now, &active, &wall);
	amounts_set(e, out, &u, active, wall, turn_calls(t));
}

void session_used(const struct engine *e, const struct session *s, struct instant now,
	struct budget_amounts *out)
{
	const struct session_budget *b = &s->s.b;
	const struct turn *t = s->s.turn;
	int64_t active = b->active, wall = b->wall;
	uint64_t calls = b->calls + b->calls_live;
	struct usage sum = b->usage, u;

	if (t && !t->s.b.closed) {
		turn_usage(t, &u);
		usage_add(&sum, &u);
		times_add(t, now, &active, &wall);
		calls += turn_calls(t);
	}
	amounts_set(e, out, &sum, active, wall, calls);
}

bool session_spent(const struct engine *e, const struct session *s)
{
	struct budget_amounts used;

	session_used(e, s, e->now, &used);
	for (int k = 0; k < BUDGET_N; k++)
		if (used.of[k])
			return true;
	return false;
}

/* ---- clocks ---- */

/*
 * Brings what is used up to now. A sub-agent's time counts in the sessions above it whose
 * own time stands, else it would be counted twice.
 */
static int clock_settle(struct engine *e, struct turn *t)
{
	struct turn_budget *b = &t->s.b;
	const int64_t d = since_mark(t, e->now);

	b->mark_mono = e->now.mono;
	b->mark_wall = e->now.wall;
	if (!d || !b->wall_runs)
		return 0;
	b->wall = budget_add(b->wall, d);
	if (b->active_runs)
		b->active = budget_add(b->active, d);
	for (struct session *s = t->s.session->s.parent; s; s = s->s.parent) {
		const struct turn *x = present(s);
		const bool wall = !x || !x->s.b.wall_runs;
		const bool active = b->active_runs && (!x || !x->s.b.active_runs);

		if (!wall && !active)
			continue;
		TRY(entity_touch(&e->r, s));
		if (wall)
			s->s.b.wall = budget_add(s->s.b.wall, d);
		if (active)
			s->s.b.active = budget_add(s->s.b.active, d);
		TRY(mark_dirty(e, s));
	}
	return 0;
}

static void sooner(int64_t *left, const struct turn_budget *b,
	const struct budget_amounts *used, const struct budget_amounts *ceiling, uint8_t warned)
{
	for (int k = BUDGET_TIME; k <= BUDGET_WALL; k++) {
		const bool warn = !(warned & 1u << k);
		int64_t l = budget_left(used->of[k], ceiling->of[k], warn);

		/* one that stands may have been reached before that */
		if (budget_reached((enum budget_kind)k, used->of[k], ceiling->of[k]))
			*left = 0;
		else if (l >= 0 && (k == BUDGET_WALL ? b->wall_runs : b->active_runs) &&
			(*left < 0 || l < *left))
			*left = l;
	}
}

/* The next instant at which a ceiling may be reached by time, or is nearly. */
static void due_set_next(struct engine *e, struct turn *t)
{
	const struct turn_budget *b = &t->s.b;
	struct budget_amounts used;
	int64_t left = -1;

	if (b->wall_runs) {
		turn_used(e, t, e->now, &used);
		sooner(&left, b, &used, &b->ceiling, b->warned);
		for (struct session *s = t->s.session; s; s = s->s.parent) {
			session_used(e, s, e->now, &used);
			sooner(&left, b, &used, &s->s.b.ceiling, s->s.b.warned);
		}
	}
	turn_set_due(&e->r, t, left < 0 ? 0 : budget_add(e->now.mono, left));
}

/* Does every unfinished call wait for a person? */
static bool waits(const struct turn *t)
{
	return t->n_awaiting && t->n_awaiting == t->n_pending && !t->n_allowed;
}

int turn_clock(struct engine *e, struct turn *t)
{
	const enum turn_state state = t->s.r.state;
	struct turn_budget *b = &t->s.b;
	const bool wall = state != TURN_NONE && state != TURN_SUSPENDED &&
			  !turn_state_over(state);
	const bool active = wall && !waits(t);

	if (wall == b->wall_runs && active == b->active_runs)
		return 0;
	TRY(entity_touch(&e->r, t));
	/* so that a crash loses no more; less is not worth a record */
	if (since_mark(t, e->now) >= SECOND && t->e.stored)
		TRY(mark_dirty(e, t));
	TRY(clock_settle(e, t));
	b->wall_runs = wall;
	b->active_runs = active;
	due_set_next(e, t);
	return 0;
}

int turn_due_now(struct engine *e, struct turn *t)
{
	TRY(entity_touch(&e->r, t));
	TRY(clock_settle(e, t));
	TRY(budget_check(e, t, t->s.session));
	if (t->s.b.wall_runs)
		due_set_next(e, t);
	return 0;
}

/* ---- ceilings ---- */

void budget_config(const struct engine *e, const struct session *s, struct budget_amounts *turn,
	struct budget_amounts *session)
{
	const struct engine_config *c = &e->config;

	budget_find(c->budgets, c->n_budgets, str_bytes(s->s.r.agent),
		str_bytes(s->s.r.workspace), s->s.r.uid, c->wall ? c->wall : BUDGET_NONE, turn,
		session);
	budget_lower(turn, &s->s.b.asked);
	budget_fill(session, turn, SESSION_TURNS);
}

void session_budget_open(struct engine *e, struct session *s, const struct budget_amounts *asked)
{
	struct budget_amounts turn;

	if (asked)
		budget_lower(&s->s.b.asked, asked);
	budget_config(e, s, &turn, &s->s.b.ceiling);
}

int session_budget_lower(
	struct engine *e, struct session *s, const struct budget_amounts *asked)
{
	struct budget_amounts session;
	struct turn *t = present(s);

	if (budget_is_clear(asked))
		return 0;
	TRY(entity_touch(&e->r, s));
	budget_lower(&s->s.b.asked, asked);
	budget_clear(&session);
	budget_fill(&session, asked, SESSION_TURNS);
	budget_lower(&s->s.b.ceiling, &session);
	TRY(mark_dirty(e, s));
	if (t)
		return turn_budget_lower(e, t, asked);
	return 0;
}

int turn_budget_lower(struct engine *e, struct turn *t, const struct budget_amounts *asked)
{
	if (budget_is_clear(asked))
		return 0;
	TRY(entity_touch(&e->r, t));
	budget_lower(&t->s.b.ceiling, asked);
	due_set_next(e, t);
	TRY(mark_dirty(e, t));
	return budget_check(e, t, t->s.session);
}

int turn_budget_open(struct engine *e, struct turn *t)
{
	struct budget_amounts session;

	budget_config(e, t->s.session, &t->s.b.ceiling, &session);
	due_set_next(e, t);
	return budget_check(e, t, t->s.session);
}

int turn_budget_carry(struct engine *e, struct turn *t, struct turn *old)
{
	struct turn_budget *b = &t->s.b;
	const struct turn_budget before = *b;

	TRY(entity_touch(&e->r, t));
	TRY(entity_touch(&e->r, old));
	*b = old->s.b;
	b->due = before.due;
	b->wall_runs = before.wall_runs;
	b->active_runs = before.active_runs;
	b->mark_mono = before.mark_mono;
	b->mark_wall = before.mark_wall;
	b->closed = false;
	usage_add(&b->more, &old->s.r.usage);
	b->calls += b->calls_live + old->s.r.calls;
	b->calls_live = 0;
	budget_lower(&b->ceiling, &t->s.session->s.b.asked);
	old->s.b.closed = true;
	due_set_next(e, t);
	return mark_dirty(e, t);
}

/* What of n was counted as of a turn that lives is of one that is over from now on. */
static uint64_t calls_keep(uint64_t *live, uint64_t *kept, uint64_t n)
{
	const uint64_t m = n < *live ? n : *live;

	*live -= m;
	*kept += m;
	return n - m;
}

int turn_budget_close(struct engine *e, struct turn *t)
{
	struct session *s = t->s.session;
	struct turn_budget *b = &t->s.b;
	struct usage u;

	if (b->closed)
		return 0;
	TRY(entity_touch(&e->r, t));
	TRY(entity_touch(&e->r, s));
	TRY(clock_settle(e, t));
	b->closed = true;
	turn_usage(t, &u);
	usage_add(&s->s.b.usage, &u);
	s->s.b.active = budget_add(s->s.b.active, b->active);
	s->s.b.wall = budget_add(s->s.b.wall, b->wall);
	s->s.b.calls += t->s.r.calls + b->calls;
	s->s.b.calls_live += b->calls_live;
	TRY(mark_dirty(e, s));
	for (s = s->s.parent; s; s = s->s.parent) {
		struct turn *x = present(s);
		uint64_t n = t->s.r.calls;

		if (n && x && x->s.b.calls_live) {
			TRY(entity_touch(&e->r, x));
			n = calls_keep(&x->s.b.calls_live, &x->s.b.calls, n);
			TRY(mark_dirty(e, x));
		}
		if (n && s->s.b.calls_live) {
			TRY(entity_touch(&e->r, s));
			calls_keep(&s->s.b.calls_live, &s->s.b.calls, n);
			TRY(mark_dirty(e, s));
		}
	}
	return 0;
}

/* ---- what is charged to the sessions above ---- */

int budget_call(struct engine *e, struct turn *t)
{
	for (struct session *s = t->s.session->s.parent; s; s = s->s.parent) {
		struct turn *x = present(s);

		TRY(entity_touch(&e->r, x ? (void *)x : (void *)s));
		if (x)
			x->s.b.calls_live++;
		else
			s->s.b.calls_live++;
	}
	return budget_check(e, t, t->s.session);
}

int budget_charge(struct engine *e, struct session *s, const struct usage *more)
{
	static const struct usage nothing;

	if (memcmp(more, &nothing, sizeof(nothing)) == 0)
		return 0;
	for (; s; s = s->s.parent) {
		struct turn *x = present(s);

		TRY(entity_touch(&e->r, x ? (void *)x : (void *)s));
		usage_add(x ? &x->s.b.more : &s->s.b.usage, more);
		TRY(mark_dirty(e, x ? (void *)x : (void *)s));
	}
	return 0;
}

/* ---- what reaches them ---- */

/* A ceiling's holder: a turn, or a session with all its turns. */
struct pool {
	const char *of;
	void *entity;
	struct budget_amounts used, *ceiling, next;
	uint8_t *warned;
};

static void pool_turn(const struct engine *e, struct turn *t, struct pool *p)
{
	*p = (struct pool){.of = "turn",
		.entity = t,
		.ceiling = &t->s.b.ceiling,
		.warned = &t->s.b.warned};
	turn_used(e, t, e->now, &p->used);
}

static void pool_session(const struct engine *e, struct session *s, struct pool *p)
{
	*p = (struct pool){.of = "session",
		.entity = s,
		.ceiling = &s->s.b.ceiling,
		.warned = &s->s.b.warned};
	session_used(e, s, e->now, &p->used);
}

static int trip(struct engine *e, struct turn *t, const struct pool *p, enum budget_kind kind)
{
	char text[BUDGET_TEXT];
	struct str *s;
	int err;

	budget_describe(text, p->of, kind, p->used.of[kind], p->ceiling->of[kind]);
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
	TRY(entity_touch(&e->r, p->entity));
	*p->warned |= bits;
	TRY(mark_dirty(e, p->entity));
	for (int k = 0; k < BUDGET_N; k++) {
		size_t from = e->out.n;

		if (!(bits & 1u << k) ||
			budget_reached((enum budget_kind)k, p->used.of[k], p->ceiling->of[k]))
			continue;
		TRY(event_emit(e, EVENT_WARNING, p->entity));
		for (; from < e->out.n; from++)
			e->out.items[from].event.warning = (uint8_t)k;
	}
	return 0;
}

static int pool_check(struct engine *e, const struct pool *p, struct turn *holder)
{
	const uint8_t bits = budget_near(&p->used, p->ceiling) & (uint8_t)~*p->warned;
	const int kind = budget_first(&p->used, p->ceiling);

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
		struct turn *x = present(s);
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
		if (!present(s))
			pool_session(e, s, &pools[n++]);
	return n;
}

/* What a ceiling is raised by: as was said, or as much again as is configured. */
static int64_t step_of(const struct pool *p, int k, const struct budget_amounts *by,
	const struct budget_amounts *configured)
{
	const bool reached =
		budget_reached((enum budget_kind)k, p->used.of[k], p->ceiling->of[k]);

	if (by && by->of[k] >= 0)
		return strcmp(p->of, "turn") == 0 || reached ? by->of[k] : 0;
	if (by || !reached)
		return 0;
	return configured->of[k] >= 0 ? configured->of[k] : p->ceiling->of[k];
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

		p->next = *p->ceiling;
		for (int k = 0; k < BUDGET_N; k++)
			p->next.of[k] = budget_raised(
				p->next.of[k], step_of(p, k, by, i ? &session : &turn));
		if (budget_first(&p->used, &p->next) >= 0)
			return 1;
	}
	for (unsigned i = 0; i < n; i++) {
		struct pool *p = &pools[i];

		if (memcmp(&p->next, p->ceiling, sizeof(p->next)) == 0)
			continue;
		TRY(entity_touch(&e->r, p->entity));
		*p->ceiling = p->next;
		*p->warned &= budget_near(&p->used, &p->next);
		TRY(mark_dirty(e, p->entity));
	}
	TRY(entity_touch(&e->r, t));
	due_set_next(e, t);
	return 0;
}

/* ---- after a restart ---- */

/* Until when, and since when, the turn was active, as far as the store knows. */
static int64_t active_since(const struct turn *t, int64_t alive)
{
	int64_t from = t->s.b.mark_wall, to = alive > from ? alive : from;
	int64_t asked = 0, decided = 0;
	const struct request *q;

	TAILQ_FOREACH (q, &t->requests, in_turn) {
		if (q->s.r.state == REQUEST_AWAITING && q->s.r.since > asked)
			asked = q->s.r.since;
		if (request_decision(q)->decided_at > decided)
			decided = request_decision(q)->decided_at;
	}
	if (!t->s.b.active_runs)
		from = decided > from ? decided : to;
	if (waits(t) && asked < to)
		to = asked;
	return to > from ? to - from : 0;
}

/*
 * The turn's wall time went on while the broker was down, since its agent did, too; its
 * active time did not, since nobody can say what it did. By the wall clock, there being no
 * other: one that was set back meanwhile takes nothing away.
 */
int turn_budget_restart(struct engine *e, struct turn *t, int64_t alive)
{
	struct turn_budget *b = &t->s.b;
	int64_t down = e->now.wall > b->mark_wall ? e->now.wall - b->mark_wall : 0;

	TRY(entity_touch(&e->r, t));
	b->closed = turn_state_over(t->s.r.state);
	if (b->wall_runs) {
		b->wall = budget_add(b->wall, down);
		b->active = budget_add(b->active, active_since(t, alive));
	}
	b->mark_mono = e->now.mono;
	b->mark_wall = e->now.wall;
	b->wall_runs = b->active_runs = false;
	return 0;
}

void budget_recount(struct turn *t, const struct uuid *request)
{
	if (turn_state_over(t->s.r.state))
		return;
	for (struct session *s = t->s.session->s.parent; s; s = s->s.parent) {
		struct turn *x = present(s);

		if (x && uuid_compare(request, &x->s.r.id) > 0)
			x->s.b.calls_live++;
		else
			s->s.b.calls_live++;
	}
}
