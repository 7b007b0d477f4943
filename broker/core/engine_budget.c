/* SPDX-License-Identifier: MIT */
/* Ceilings of turns and sessions: their clocks, what reaches them, and who raises them. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <string.h>

#define SECOND 1000000
/* Of a session, where none are configured: so often those of its turns. */
#define SESSION_TURNS 10

struct turn *turn_present(const struct session *s)
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
	const struct session_budget *b = session_budget(s);
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
		const struct turn *x = turn_present(s);
		const bool wall = !x || !x->s.b.wall_runs;
		const bool active = b->active_runs && (!x || !x->s.b.active_runs);
		struct session_budget *up;

		if (!wall && !active)
			continue;
		up = session_budget_edit(e, s);
		if (!up)
			return -ENOMEM;
		if (wall)
			up->wall = budget_add(up->wall, d);
		if (active)
			up->active = budget_add(up->active, d);
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
void turn_due_set(struct engine *e, struct turn *t)
{
	const struct turn_budget *b = &t->s.b;
	struct budget_amounts used;
	int64_t left = -1;

	if (b->wall_runs) {
		turn_used(e, t, e->now, &used);
		sooner(&left, b, &used, &b->ceiling, b->warned);
		for (struct session *s = t->s.session; s; s = s->s.parent) {
			session_used(e, s, e->now, &used);
			sooner(&left, b, &used, &session_budget(s)->ceiling,
				session_budget(s)->warned);
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
	const bool wall =
		state != TURN_NONE && state != TURN_SUSPENDED && !turn_state_over(state);
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
	turn_due_set(e, t);
	return 0;
}

int turn_due_now(struct engine *e, struct turn *t)
{
	TRY(entity_touch(&e->r, t));
	TRY(clock_settle(e, t));
	TRY(budget_check(e, t, t->s.session));
	if (t->s.b.wall_runs)
		turn_due_set(e, t);
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
	budget_lower(turn, &session_budget(s)->asked);
	budget_fill(session, turn, SESSION_TURNS);
}

struct session_budget *session_budget_edit(struct engine *e, struct session *s)
{
	struct str *copy;

	if (entity_touch(&e->r, s) < 0)
		return NULL;
	/* it is shared by sessions that have used nothing, and by what a rollback restores */
	if (!s->s.budget || s->s.budget->refs > 1 || !entity_str_is_new(s, &s->s.budget)) {
		copy = str_new(session_budget(s), sizeof(struct session_budget));
		if (!copy || entity_set_str(&e->r, s, &s->s.budget, copy) < 0)
			return NULL;
	}
	return (void *)s->s.budget->data;
}

int session_budget_set(struct session *s, const struct session_budget *b)
{
	struct owner *o = s->owner;
	const struct bytes bytes = {b, sizeof(*b)};

	if (!o->budget || !str_equal(o->budget, bytes)) {
		struct str *fresh = str_new(b, sizeof(*b));

		if (!fresh)
			return -ENOMEM;
		str_unref(o->budget);
		o->budget = fresh;
	}
	s->s.budget = str_ref(o->budget);
	return 0;
}

int session_budget_open(struct engine *e, struct session *s, const struct budget_amounts *asked)
{
	struct session_budget b = *session_budget(s);
	struct budget_amounts turn;

	budget_config(e, s, &turn, &b.ceiling);
	if (asked) {
		struct budget_amounts session = BUDGET_CLEAR;

		b.asked = *asked;
		budget_fill(&session, asked, SESSION_TURNS);
		budget_lower(&b.ceiling, &session);
	}
	return session_budget_set(s, &b);
}

int session_budget_lower(
	struct engine *e, struct session *s, const struct budget_amounts *asked)
{
	struct budget_amounts session;
	struct session_budget *b;
	struct turn *t = turn_present(s);

	if (budget_is_clear(asked))
		return 0;
	b = session_budget_edit(e, s);
	if (!b)
		return -ENOMEM;
	budget_lower(&b->asked, asked);
	budget_clear(&session);
	budget_fill(&session, asked, SESSION_TURNS);
	budget_lower(&b->ceiling, &session);
	TRY(mark_dirty(e, s));
	return t ? turn_budget_lower(e, t, asked) : 0;
}

int turn_budget_lower(struct engine *e, struct turn *t, const struct budget_amounts *asked)
{
	if (budget_is_clear(asked))
		return 0;
	TRY(entity_touch(&e->r, t));
	budget_lower(&t->s.b.ceiling, asked);
	turn_due_set(e, t);
	TRY(mark_dirty(e, t));
	return budget_check(e, t, t->s.session);
}

int turn_budget_open(struct engine *e, struct turn *t)
{
	struct budget_amounts session;

	budget_config(e, t->s.session, &t->s.b.ceiling, &session);
	turn_due_set(e, t);
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
	budget_lower(&b->ceiling, &session_budget(t->s.session)->asked);
	old->s.b.closed = true;
	turn_due_set(e, t);
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
	struct session_budget *all;
	struct usage u;

	if (b->closed)
		return 0;
	TRY(entity_touch(&e->r, t));
	TRY(clock_settle(e, t));
	all = session_budget_edit(e, s);
	if (!all)
		return -ENOMEM;
	b->closed = true;
	turn_usage(t, &u);
	usage_add(&all->usage, &u);
	all->active = budget_add(all->active, b->active);
	all->wall = budget_add(all->wall, b->wall);
	all->calls += t->s.r.calls + b->calls;
	all->calls_live += b->calls_live;
	TRY(mark_dirty(e, s));
	for (s = s->s.parent; s; s = s->s.parent) {
		struct turn *x = turn_present(s);
		uint64_t n = t->s.r.calls;

		if (n && x && x->s.b.calls_live) {
			TRY(entity_touch(&e->r, x));
			n = calls_keep(&x->s.b.calls_live, &x->s.b.calls, n);
			TRY(mark_dirty(e, x));
		}
		if (n && session_budget(s)->calls_live) {
			all = session_budget_edit(e, s);
			if (!all)
				return -ENOMEM;
			calls_keep(&all->calls_live, &all->calls, n);
			TRY(mark_dirty(e, s));
		}
	}
	return 0;
}

/* ---- what is charged to the sessions above ---- */

/* A call of a turn that lives, below the session. */
static int call_count(struct engine *e, struct session *s, const struct uuid *request)
{
	struct turn *x = turn_present(s);
	struct session_budget *b;

	if (x && uuid_compare(request, &x->s.r.id) > 0) {
		TRY(entity_touch(&e->r, x));
		x->s.b.calls_live++;
		return 0;
	}
	b = session_budget_edit(e, s);
	if (!b)
		return -ENOMEM;
	b->calls_live++;
	return 0;
}

int budget_recount(struct engine *e, struct turn *t, const struct uuid *request)
{
	struct session *s = turn_state_over(t->s.r.state) ? NULL : t->s.session->s.parent;

	for (; s; s = s->s.parent)
		TRY(call_count(e, s, request));
	return 0;
}

int budget_call(struct engine *e, struct turn *t, const struct uuid *request)
{
	TRY(budget_recount(e, t, request));
	return budget_check(e, t, t->s.session);
}

int session_usage_add(struct engine *e, struct session *s, const struct usage *more)
{
	struct session_budget *b = session_budget_edit(e, s);

	if (!b)
		return -ENOMEM;
	usage_add(&b->usage, more);
	return mark_dirty(e, s);
}

int budget_charge(struct engine *e, struct session *s, const struct usage *more)
{
	static const struct usage nothing;

	if (memcmp(more, &nothing, sizeof(nothing)) == 0)
		return 0;
	for (; s; s = s->s.parent) {
		struct turn *x = turn_present(s);

		if (!x) {
			TRY(session_usage_add(e, s, more));
			continue;
		}
		TRY(entity_touch(&e->r, x));
		usage_add(&x->s.b.more, more);
		TRY(mark_dirty(e, x));
	}
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
