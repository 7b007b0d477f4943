/* SPDX-License-Identifier: MIT */
/* What holds after every step: counts, timers, and the promises of doc/states.md. */
#include <string.h>

#include "broker/core/engine_private.h"
#include "tests/model/world.h"

#define HOLDS(w, x, condition)                                                                 \
	do {                                                                                   \
		if (!(condition))                                                              \
			broken(w, x, #condition);                                              \
	} while (0)

__attribute__((noreturn)) static void broken(
	struct world *w, const struct entity *x, const char *condition)
{
	char *text = world_print(w);
	char id[ID_STRING_SIZE];

	id_format(id, ID_REQUEST, entity_id(x));
	world_fail(w, "broken for %s: %s\n%s", id, condition, text);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return !a ? b : !b ? a : a < b ? a : b;
}

static void check_request(struct world *w, const struct request *q)
{
	const struct request_state_data *s = &q->s;
	const struct entity *x = &q->e;
	enum request_state state = s->r.state;
	bool pending = request_state_pending(state), found = false;
	const struct turn *t = s->turn;
	const struct request *o;
	int64_t due = 0;

	HOLDS(w, x, state != REQUEST_NONE);
	HOLDS(w, x, t && t->e.indexed && t->s.session->e.indexed);
	TAILQ_FOREACH (o, &t->requests, in_turn)
		found |= o == q;
	HOLDS(w, x, found);
	HOLDS(w, x, request_find_call(t->s.session, request_call(q)) == q);
	/* timers */
	if (state == REQUEST_REVIEW || state == REQUEST_AWAITING)
		due = sooner(s->deadline, s->grace);
	if (state == REQUEST_REVIEW)
		due = sooner(due, s->review_due);
	if (!pending)
		due = s->grace;
	HOLDS(w, x, due_at(&w->e.r.dues, x) == due);
	HOLDS(w, x, s->stopped == (state == REQUEST_HELD));
	HOLDS(w, x, state == REQUEST_REVIEW ? s->review_due && s->review : !s->review);
	HOLDS(w, x, state == REQUEST_REVIEW || !s->offered);
	HOLDS(w, x, s->review == (s->review & s->offered));
	HOLDS(w, x, pending || !s->deadline);
	/* attachment: whoever is not there is waited for, but not for ever */
	HOLDS(w, x, !s->waiter || (pending && s->waiter->s.session == t->s.session));
	HOLDS(w, x, !s->waiter || (!s->recovered && !s->grace));
	HOLDS(w, x, !pending || s->waiter || s->grace || s->r.on_disconnect == DISCONNECT_KEEP);
	HOLDS(w, x, !s->r.check || !pending || s->waiter);
	/* the turn: a suspended one holds everything, one that is over has nothing pending */
	HOLDS(w, x, (state == REQUEST_HELD) == (pending && t->s.r.state == TURN_SUSPENDED));
	HOLDS(w, x, t->s.r.state != TURN_ENDED || !pending);
	HOLDS(w, x, t->s.r.state != TURN_ENDED || state != REQUEST_ALLOWED);
	HOLDS(w, x, t->s.r.state != TURN_ABANDONING || request_kept(q) || !pending);
	HOLDS(w, x, t->s.r.state != TURN_ABANDONING || !s->waiter);
	HOLDS(w, x, !pending || state == REQUEST_REVIEW || s->r.check || s->shown);
	HOLDS(w, x, (request_decision(q)->verdict == VERDICT_NONE) == pending);
	HOLDS(w, x, state != REQUEST_ALLOWED || request_decision(q)->verdict == VERDICT_ALLOW);
}

/* Nothing goes on in a turn that has reached a ceiling, but until time is looked at. */
static void check_ceilings(struct world *w, const struct turn *t)
{
	const struct session *s = t->s.session;
	struct instant mark = w->now;
	struct budget_amounts used;

	if (turn_state_over(t->s.r.state) || t->s.r.state == TURN_SUSPENDED ||
		(t->s.b.due && t->s.b.due <= mark.mono))
		return;
	mark.mono = t->s.b.mark_mono;
	turn_used(&w->e, t, mark, &used);
	HOLDS(w, &t->e, budget_first(&used, &t->s.b.ceiling) < 0);
	session_used(&w->e, s, mark, &used);
	HOLDS(w, &t->e, budget_first(&used, &session_budget(s)->ceiling) < 0);
	for (int k = BUDGET_TIME; k <= BUDGET_WALL; k++)
		HOLDS(w, &t->e,
			t->s.b.ceiling.of[k] < 0 || t->s.b.due ||
				(k == BUDGET_TIME && !t->s.b.active_runs));
}

static void check_turn(struct world *w, const struct turn *t)
{
	const struct entity *x = &t->e;
	uint32_t pending = 0, recovered = 0, kept = 0, settled = 0, orphaned = 0;
	uint32_t awaiting = 0, allowed = 0;
	bool over = t->s.r.state == TURN_ENDED || t->s.r.state == TURN_ABANDONING;
	const struct session *s = t->s.session;
	const struct request *q;

	TAILQ_FOREACH (q, &t->requests, in_turn) {
		bool is = request_state_pending(q->s.r.state);

		pending += is;
		recovered += is && q->s.recovered;
		kept += request_kept(q);
		settled += !is && !request_kept(q);
		orphaned += request_orphaned(q);
		awaiting += q->s.r.state == REQUEST_AWAITING;
		allowed += q->s.r.state == REQUEST_ALLOWED;
	}
	HOLDS(w, x, pending == t->n_pending && recovered == t->n_recovered);
	HOLDS(w, x, kept == t->n_kept && settled == t->n_settled);
	HOLDS(w, x, orphaned == t->n_orphaned);
	HOLDS(w, x, t->s.r.state != TURN_RUNNING || !pending);
	HOLDS(w, x, t->s.r.state != TURN_WAITING || pending);
	HOLDS(w, x, t->s.r.state != TURN_REDRIVING || recovered);
	HOLDS(w, x, t->s.r.state != TURN_ABANDONING || kept);
	HOLDS(w, x, t->s.r.state != TURN_RECOVERED || s->s.r.recovered);
	HOLDS(w, x,
		s->s.turn == t ? t->s.r.state != TURN_ABANDONING
			       : t->s.r.state == TURN_ABANDONING);
	HOLDS(w, x, t->n_awaiting == awaiting && t->n_allowed == allowed);
	HOLDS(w, x, t->s.b.closed == over);
	HOLDS(w, x, t->s.b.wall_runs == (!over && t->s.r.state != TURN_SUSPENDED));
	HOLDS(w, x,
		t->s.b.active_runs ==
			(t->s.b.wall_runs && !(awaiting && awaiting == pending && !allowed)));
	HOLDS(w, x, due_at(&w->e.r.dues, x) == t->s.b.due);
	HOLDS(w, x, !t->s.b.due || t->s.b.wall_runs);
	check_ceilings(w, t);
	HOLDS(w, x, over || t->s.inherited == session_inherits(s));
	HOLDS(w, x, over || (t->s.r.state == TURN_SUSPENDED) == turn_held(t));
}

static void check_session(struct world *w, const struct session *s, unsigned n_turns)
{
	const struct entity *x = &s->e;
	uint32_t links = 0, pending = 0;
	unsigned turns = 0;
	const struct link *l;
	const struct turn *t;
	const struct session *c;

	LIST_FOREACH (l, &s->links, in_session) {
		links++;
		HOLDS(w, x, l->s.session == s);
	}
	LIST_FOREACH (t, &s->turns, in_session) {
		turns++;
		pending += t->n_pending;
		HOLDS(w, x, t->s.session == s);
	}
	LIST_FOREACH (c, &s->children, in_parent)
		HOLDS(w, x, c->s.parent == s);
	HOLDS(w, x, links == s->n_links && pending == s->n_pending && turns <= n_turns);
	HOLDS(w, x, s->watched == (s->s.r.alive && s->s.r.subject.pid));
	/* one that has ended only counts what its subject uses */
	if (s->s.r.ended) {
		HOLDS(w, x, s->watched && !s->s.parent && !links && !turns && !s->s.turn);
		HOLDS(w, x, session_find_key(&w->e.r, s->s.r.uid, str_bytes(s->s.r.agent),
				    session_key(s)) != s);
		return;
	}
	/* a session without anybody goes, unless something is left to be answered */
	HOLDS(w, x, s->s.r.alive || links || pending || turns);
}

static void check_calls(struct world *w)
{
	static const struct uuid start;
	const struct book *b = &w->book;
	unsigned waiting = 0;
	struct entity *x;

	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x))) {
		const struct request *q = ENTITY_OF(x, request);
		const struct actor *a;
		bool open = false;

		if (x->type != ENTITY_REQUEST || !q->s.waiter)
			continue;
		waiting++;
		a = q->s.waiter->owner;
		for (unsigned i = 0; i < b->n_calls; i++)
			open |= b->calls[i].actor == (unsigned)(a - b->actors) &&
				b->calls[i].call == q->s.call_id;
		HOLDS(w, x, open);
	}
	if (waiting != b->n_calls)
		world_fail(w, "%u calls wait, %u are open", waiting, b->n_calls);
}

/* What was told is what a snapshot would show now. */
static void check_view(struct world *w, const struct actor *a)
{
	static const struct uuid start;
	const struct frontend *f = a->frontend;
	bool policy = f->s.greeted && f->s.role == ROLE_POLICY;
	unsigned n = 0;
	struct entity *x;

	if (!f->s.subscribed)
		return;
	for (x = registry_next(&w->e.r, &start); x; x = registry_next(&w->e.r, entity_id(x))) {
		const struct request *q = ENTITY_OF(x, request);
		const struct turn *t = ENTITY_OF(x, turn);
		const struct view_item *v = NULL;
		bool wanted;

		for (unsigned i = 0; i < a->n_items; i++)
			if (uuid_compare(&a->items[i].id, entity_id(x)) == 0)
				v = &a->items[i];
		if (policy)
			wanted = x->type == ENTITY_REQUEST && f->s.policy < LIMIT_POLICIES &&
				 q->s.offered & (1u << f->s.policy);
		else
			wanted = frontend_sees(f, x) && !entity_retired(x) &&
				 (f->s.complete ||
					 uuid_compare(entity_id(x), &a->cursor) <= 0) &&
				 (x->type != ENTITY_REQUEST ||
					 (q->s.shown && request_state_pending(q->s.r.state))) &&
				 (x->type != ENTITY_TURN || t->s.r.state != TURN_ENDED);
		if (wanted != !!v)
			world_fail(w, "%s %s", a->name,
				wanted ? "was not told of an item" : "believes in an item");
		if (!v)
			continue;
		n++;
		if (x->type == ENTITY_REQUEST && !policy)
			HOLDS(w, x, v->state == q->s.r.state && v->attached == !!q->s.waiter);
		if (x->type == ENTITY_TURN && v->state != t->s.r.state)
			/* these follow from the requests, and are not told one by one */
			HOLDS(w, x,
				(v->state == TURN_RUNNING || v->state == TURN_WAITING) &&
					(t->s.r.state == TURN_RUNNING ||
						t->s.r.state == TURN_WAITING));
	}
	if (n != a->n_items)
		world_fail(w, "%s believes in %u items, there are %u", a->name, a->n_items, n);
}

void world_check(struct world *w)
{
	static const struct uuid start;
	struct registry *r = &w->e.r;
	size_t n[3] = {0}, pending = 0;
	struct entity *x;
	int64_t due = 0;

	for (x = registry_next(r, &start); x; x = registry_next(r, entity_id(x)))
		n[x->type] += !entity_retired(x);
	for (x = registry_next(r, &start); x; x = registry_next(r, entity_id(x))) {
		HOLDS(w, x, x->indexed && !x->dirty);
		if (x->type == ENTITY_REQUEST || x->type == ENTITY_TURN)
			due = sooner(due, due_at(&r->dues, x));
		switch ((enum entity_type)x->type) {
		case ENTITY_SESSION:
			check_session(w, ENTITY_OF(x, session), (unsigned)n[ENTITY_TURN]);
			break;
		case ENTITY_TURN: check_turn(w, ENTITY_OF(x, turn)); break;
		case ENTITY_REQUEST:
			check_request(w, ENTITY_OF(x, request));
			pending += request_state_pending(ENTITY_OF(x, request)->s.r.state);
			break;
		case ENTITY_LINK:
		case ENTITY_FRONTEND: break;
		}
	}
	if (n[ENTITY_SESSION] != r->n_sessions || n[ENTITY_TURN] != r->n_turns ||
		n[ENTITY_REQUEST] != r->n_requests || pending != r->n_pending)
		world_fail(w, "the registry counts wrong");
	if (due != engine_next_deadline(&w->e))
		world_fail(w, "the next deadline is %lld, not %lld",
			(long long)engine_next_deadline(&w->e), (long long)due);
	check_calls(w);
	for (unsigned i = 0; i < WORLD_ACTORS; i++)
		if (w->book.actors[i].frontend && !w->book.actors[i].left)
			check_view(w, &w->book.actors[i]);
}
