/* SPDX-License-Identifier: MIT */
/* Ceilings as the protocol has them. */
#include "broker/io/gateway_private.h"

/* Times are in milliseconds there. */
static const struct {
	const char *key;
	int64_t unit;
} amounts[BUDGET_N] = {
	[BUDGET_TOKENS] = {"tokens", 1},
	[BUDGET_TIME] = {"time_ms", 1000},
	[BUDGET_WALL] = {"wall_ms", 1000},
	[BUDGET_CALLS] = {"calls", 1},
	[BUDGET_COST] = {"cost_microusd", 1},
};

/* Only those that are there. */
static void put_amounts(struct wire_open *m, const char *key, const struct budget_amounts *a)
{
	struct wire_open p;

	wire_map_key(m, key);
	wire_map_open(&p, m->b);
	for (int k = 0; k < BUDGET_N; k++)
		if (a->of[k] >= 0)
			wire_map_i64(&p, amounts[k].key, a->of[k] / amounts[k].unit);
	wire_close(&p);
}

static void put_level(struct wire_open *m, const char *of, int k, int64_t used, int64_t ceiling)
{
	wire_map_strz(m, "of", of);
	wire_map_strz(m, "what", budget_kind_name((enum budget_kind)k));
	wire_map_i64(m, "used", used / amounts[k].unit);
	wire_map_i64(m, "ceiling", ceiling / amounts[k].unit);
}

/* Beside what is used: what is reached. */
static void put_reached(struct wire_open *a, const char *of, const struct session *s,
	const struct budget_amounts *used, const struct budget_amounts *ceiling)
{
	struct wire_open m;

	for (int k = 0; k < BUDGET_N; k++) {
		if (!budget_reached((enum budget_kind)k, used->of[k], ceiling->of[k]))
			continue;
		wire_array_item(a);
		wire_map_open(&m, a->b);
		put_level(&m, of, k, used->of[k], ceiling->of[k]);
		item_put_id(&m, "session", ID_SESSION, &s->s.r.id);
		wire_close(&m);
	}
}

void item_put_budget(struct gateway *g, struct wire_open *m, struct turn *t)
{
	const struct instant now = gateway_now(g);
	struct budget_amounts used, offer;
	struct wire_open p, a;

	wire_map_key(m, "budget");
	wire_map_open(&p, m->b);
	turn_used(&g->engine, t, now, &used);
	put_amounts(&p, "used", &used);
	put_amounts(&p, "ceiling", &t->s.b.ceiling);
	session_used(&g->engine, t->s.session, now, &used);
	put_amounts(&p, "session_used", &used);
	put_amounts(&p, "session_ceiling", &session_budget(t->s.session)->ceiling);
	wire_map_bool(&p, "wall_runs", t->s.b.wall_runs);
	wire_map_bool(&p, "time_runs", t->s.b.active_runs);
	wire_map_key(&p, "reached");
	wire_array_open(&a, m->b);
	for (const struct session *s = t->s.session; s; s = s->s.parent) {
		if (s->s.turn && !s->s.turn->s.b.closed) {
			turn_used(&g->engine, s->s.turn, now, &used);
			put_reached(&a, "turn", s, &used, &s->s.turn->s.b.ceiling);
		}
		session_used(&g->engine, s, now, &used);
		put_reached(&a, "session", s, &used, &session_budget(s)->ceiling);
	}
	wire_close(&a);
	if (t->s.r.causes & CAUSE_BUDGET && budget_offer(&g->engine, t, &offer) == 0)
		put_amounts(&p, "offer", &offer);
	wire_close(&p);
}

void item_put_warning(struct gateway *g, struct wire_open *m, const struct effect *e)
{
	struct entity *x = e->event.entity;
	struct turn *t = x->type == ENTITY_TURN ? ENTITY_OF(x, turn) : NULL;
	struct session *s = t ? t->s.session : ENTITY_OF(x, session);
	const struct budget_amounts *ceiling =
		t ? &t->s.b.ceiling : &session_budget(s)->ceiling;
	const int k = e->event.warning;
	struct budget_amounts used;

	if (t)
		turn_used(&g->engine, t, gateway_now(g), &used);
	else
		session_used(&g->engine, s, gateway_now(g), &used);
	item_put_id(m, "session", ID_SESSION, &s->s.r.id);
	if (t)
		item_put_id(m, "turn", ID_TURN, &t->s.r.id);
	else
		wire_map_nil(m, "turn");
	put_level(m, t ? "turn" : "session", k, used.of[k], ceiling->of[k]);
}

/* Those that were given; BUDGET_NONE for the others. */
void amounts_take(const struct wire_budget *b, struct budget_amounts *out)
{
	const uint64_t given[BUDGET_N] = {[BUDGET_TOKENS] = b->tokens,
		[BUDGET_TIME] = b->time_ms,
		[BUDGET_WALL] = b->wall_ms,
		[BUDGET_CALLS] = b->calls,
		[BUDGET_COST] = b->cost_microusd};
	const bool has[BUDGET_N] = {[BUDGET_TOKENS] = WIRE_HAS(b, budget, tokens),
		[BUDGET_TIME] = WIRE_HAS(b, budget, time_ms),
		[BUDGET_WALL] = WIRE_HAS(b, budget, wall_ms),
		[BUDGET_CALLS] = WIRE_HAS(b, budget, calls),
		[BUDGET_COST] = WIRE_HAS(b, budget, cost_microusd)};

	for (int k = 0; k < BUDGET_N; k++)
		out->of[k] = has[k] ? (int64_t)given[k] * amounts[k].unit : BUDGET_NONE;
}

int budget_parse(struct gateway *g, struct client *client, uint32_t call, struct bytes map,
	bool *has, struct budget_amounts *out)
{
	struct wire_problem problem;
	struct wire_budget b;
	int v;

	*has = map.data != NULL;
	if (!*has)
		return 0;
	v = wire_decode(&wire_budget_spec, map, &b, &problem);
	if (v)
		return problem_answer(g, client, call, v, &problem), 1;
	amounts_take(&b, out);
	return 0;
}
