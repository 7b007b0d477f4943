/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <assert.h>
#include <errno.h>

static const struct bytes none;

bool turn_held(const struct turn *t)
{
	return t && !turn_state_over(t->s.r.state) && (t->s.r.causes || t->s.inherited);
}

/* Any ancestor counts, also across one that is between turns. */
bool session_inherits(const struct session *s)
{
	for (s = s->s.parent; s; s = s->s.parent)
		if (s->s.turn && !turn_state_over(s->s.turn->s.r.state) &&
			s->s.turn->s.r.causes)
			return true;
	return false;
}

int turn_event(struct engine *e, struct turn *t, enum turn_event event)
{
	enum turn_state next = turn_next(t->s.r.state, event);

	assert(next != TURN_NONE);
	if (next == t->s.r.state)
		return 0;
	TRY(entity_touch(&e->r, t));
	if (next == TURN_SUSPENDED || t->s.r.state == TURN_SUSPENDED)
		TRY(session_effect(e, t->s.session, EFFECT_HOLD));
	t->s.r.state = (uint8_t)next;
	return turn_clock(e, t);
}

int turn_tell(struct engine *e, struct turn *t)
{
	TRY(mark_dirty(e, t));
	return event_emit(e, EVENT_TURN, t);
}

int turn_settle(struct engine *e, struct turn *t)
{
	if (t == e->ending)
		return 0;
	TRY(turn_clock(e, t));
	switch ((enum turn_state)t->s.r.state) {
	case TURN_ABANDONING:
		if (t->n_kept || t->n_pending)
			return 0;
		return turn_end(e, t, REQUEST_ON_CLOSE, t->s.r.ended_by, none, none);
	case TURN_REDRIVING:
		if (t->n_recovered)
			return 0;
		TRY(turn_event(e, t, TURN_ON_REDRIVEN));
		TRY(turn_event(e, t, t->n_pending ? TURN_ON_PEND : TURN_ON_CLEAR));
		return turn_tell(e, t);
	case TURN_RUNNING:
	case TURN_WAITING:
	case TURN_RECOVERED:
	case TURN_SUSPENDED:
		return turn_event(e, t, t->n_pending ? TURN_ON_PEND : TURN_ON_CLEAR);
	case TURN_NONE:
	case TURN_ENDED:
	case TURN_STATE_N: break;
	}
	return 0;
}

int turn_forget(struct engine *e, struct turn *t)
{
	struct request *q, *next;

	TAILQ_FOREACH_SAFE (q, &t->requests, in_turn, next)
		TRY(request_forget(e, q));
	TRY(mark_removed(e, t));
	return entity_remove(&e->r, t);
}

/* Takes an ended turn that was kept, so that calls were denied, out of the way. */
static int turn_drop(struct engine *e, struct session *s)
{
	struct turn *t = s->s.turn;

	if (!t)
		return 0;
	TRY(entity_touch(&e->r, s));
	s->s.turn = NULL;
	return t->s.r.state == TURN_ENDED ? turn_forget(e, t) : 0;
}

int turn_begin(struct engine *e, struct session *s, struct bytes key, struct turn **out)
{
	struct turn *t = turn_new(&e->r);

	if (!t)
		return -ENOMEM;
	TRY(turn_drop(e, s));
	t->s.session = s;
	t->s.r.id = engine_new_id(e);
	t->s.r.session = s->s.r.id;
	t->s.r.since = e->now.wall;
	t->s.inherited = session_inherits(s);
	TRY(set_bytes(e, t, &t->s.r.key, key));
	TRY(turn_event(e, t, t->s.inherited ? TURN_ON_BEGIN_HELD : TURN_ON_BEGIN));
	TRY(entity_index(&e->r, t));
	TRY(entity_touch(&e->r, s));
	s->s.turn = t;
	TRY(history_turn(e, t, HISTORY_TURN_BEGUN, SOURCE_NONE, none, none));
	*out = t;
	TRY(turn_tell(e, t));
	return turn_budget_open(e, t);
}

/* What is suspended does not get free by a new turn: causes and reason go on. */
static int turn_carry(struct engine *e, struct turn *t, const struct turn_record *from)
{
	TRY(entity_touch(&e->r, t));
	t->s.r.causes |= from->causes;
	if (t->s.r.state != TURN_SUSPENDED)
		TRY(turn_event(e, t, TURN_ON_SUSPEND));
	return entity_set_str(&e->r, t, &t->s.r.reason, str_ref(from->reason));
}

int request_move(struct engine *e, struct request *q, struct turn *to)
{
	TRY(entity_touch(&e->r, q));
	entity_unindex(&e->r, q);
	q->s.turn = to;
	TRY(entity_index(&e->r, q));
	if (q->e.stored)
		TRY(mark_dirty(e, q));
	return q->s.shown && request_state_pending(q->s.r.state)
		       ? event_emit(e, EVENT_REFRESHED, q)
		       : 0;
}

int turn_supersede(struct engine *e, struct session *s, struct bytes key, struct turn **out)
{
	struct turn *old = s->s.turn, *t;
	struct request *q, *next;
	struct session *child;
	struct turn_record carried = {0};
	bool ended = !old || old->s.r.state == TURN_ENDED;

	if (old)
		carried = old->s.r; /* its strings last until the commit */
	TRY(turn_begin(e, s, key, &t));
	*out = t;
	if (carried.causes) {
		if (!ended)
			TRY(turn_budget_carry(e, t, old));
		TRY(turn_carry(e, t, &carried));
	}
	if (ended)
		return turn_inherit(e, s);
	/* whose agent waits, or may come back, goes on in the new turn */
	TAILQ_FOREACH_SAFE (q, &old->requests, in_turn, next)
		if (request_state_pending(q->s.r.state) &&
			(q->s.waiter || q->s.recovered ||
				q->s.r.on_disconnect == DISCONNECT_KEEP))
			TRY(request_move(e, q, t));
	TRY(turn_settle(e, t));
	TRY(turn_end(e, old, REQUEST_ON_SUPERSEDE, SOURCE_ABORT, none, none));
	LIST_FOREACH (child, &s->children, in_parent) {
		struct turn *fresh;

		if (child->s.turn && !turn_state_over(child->s.turn->s.r.state))
			TRY(turn_supersede(e, child, none, &fresh));
	}
	TRY(turn_inherit(e, s));
	return budget_check(e, t, s);
}

int turn_for_call(struct engine *e, struct session *s, struct bytes key, struct turn **out)
{
	struct turn *t = s->s.turn;

	if (t && (!key.data || (t->s.r.key && str_equal(t->s.r.key, key)))) {
		*out = t;
		return 0;
	}
	if (key.data && t && !t->s.r.key && !turn_state_over(t->s.r.state)) {
		/* an implicit turn becomes the agent's own when it is told its id */
		TRY(entity_touch(&e->r, t));
		TRY(set_bytes(e, t, &t->s.r.key, key));
		TRY(mark_dirty(e, t));
		*out = t;
		return 0;
	}
	if (key.data)
		return turn_supersede(e, s, key, out);
	return turn_begin(e, s, key, out);
}

/* ---- ends ---- */

/* Pending requests of a turn that ends: which end they come to. */
static int request_close(struct engine *e, struct request *q, enum request_event event,
	enum source by, struct bytes who, struct bytes reason)
{
	struct decision_terms terms = {.source = SOURCE_ABORT, .step = STEP_NONE};

	if (q->s.r.state == REQUEST_ALLOWED)
		return request_finish(
			e, q, event == REQUEST_ON_DENY ? REQUEST_ON_CLOSE : event, NULL);
	if (event == REQUEST_ON_DENY) {
		terms.source = by;
		terms.step = STEP_SUSPENDED;
		terms.reason = reason;
		terms.by = who;
	}
	return request_finish(e, q, event, &terms);
}

/* A kept request or its decision outlives the subject, and a decision the turn. */
static bool request_stays(const struct request *q, enum request_event event)
{
	return request_kept(q) && (event == REQUEST_ON_DIE || event == REQUEST_ON_SUPERSEDE);
}

/* The turn of a suspended session goes: its children stay suspended, by causes of their own. */
static int turn_bequeath(struct engine *e, struct turn *t)
{
	struct session *child;

	LIST_FOREACH (child, &t->s.session->children, in_parent) {
		struct turn *heir = child->s.turn;

		if (!heir)
			TRY(turn_begin(e, child, none, &heir));
		if (turn_state_over(heir->s.r.state))
			continue;
		TRY(turn_carry(e, heir, &t->s.r));
		TRY(turn_tell(e, heir));
	}
	return 0;
}

int turn_end(struct engine *e, struct turn *t, enum request_event event, enum source by,
	struct bytes who, struct bytes reason)
{
	struct session *s = t->s.session;
	struct request *q, *next;
	bool stays = false, forced = event == REQUEST_ON_DENY;
	/* an end that nothing waited for is none that anything was aborted by */
	bool aborted = event == REQUEST_ON_DIE;
	/* what is suspended when its subject dies, and keeps requests, stays suspended */
	bool held = event == REQUEST_ON_DIE && s->s.turn == t && turn_held(t) && t->n_kept;

	if (t->s.r.state == TURN_ENDED)
		return 0;
	TRY(entity_touch(&e->r, t));
	if (!held) {
		if (s->s.turn == t && t->s.r.causes && !forced)
			TRY(turn_bequeath(e, t));
		t->s.r.causes = 0;
		t->s.r.ended_by = (uint8_t)by;
		if (reason.data)
			TRY(set_bytes(e, t, &t->s.r.reason, reason));
		TRY(turn_event(e, t, TURN_ON_ABANDON));
		TRY(turn_budget_close(e, t));
	}
	e->ending = t; /* no request settles the turn meanwhile */
	TAILQ_FOREACH_SAFE (q, &t->requests, in_turn, next) {
		if (request_stays(q, event)) {
			stays = true;
		} else if (!request_state_terminal(q->s.r.state)) {
			aborted |= request_state_pending(q->s.r.state);
			TRY(request_close(e, q, event, by, who, reason));
		}
	}
	e->ending = NULL;
	if (held)
		return turn_tell(e, t);
	if (s->s.turn == t && !forced)
		TRY(turn_drop(e, s));
	if (stays)
		return turn_tell(e, t);
	TRY(turn_note_late(e, t));
	TRY(turn_note_last(e, t));
	TRY(turn_event(e, t, TURN_ON_END));
	t->s.r.ended_at = e->now.wall;
	TRY(history_turn(e, t, HISTORY_TURN_ENDED,
		by == SOURCE_ABORT && !aborted ? SOURCE_NONE : by, who, reason));
	e->out.items[e->out.n - 1].row.count = t->s.unknown;
	TAILQ_FOREACH_SAFE (q, &t->requests, in_turn, next)
		TRY(request_forget(e, q));
	TRY(turn_tell(e, t));
	if (forced && s->s.turn == t)
		return 0; /* it stays, and its calls are denied, until the next begins */
	return turn_forget(e, t);
}

/* ---- suspension ---- */

static int turn_hold(struct engine *e, struct turn *t)
{
	struct request *q;

	if (t->s.r.state == TURN_SUSPENDED || turn_state_over(t->s.r.state))
		return 0;
	TRY(turn_event(e, t, TURN_ON_SUSPEND));
	TRY(note_session(e, t->s.session, NOTE_SUSPENDED, t));
	TRY(turn_tell(e, t));
	TAILQ_FOREACH (q, &t->requests, in_turn)
		if (q->s.r.state == REQUEST_REVIEW || q->s.r.state == REQUEST_AWAITING)
			TRY(request_hold(e, q));
	return 0;
}

static int turn_free_again(struct engine *e, struct turn *t)
{
	struct request *q, *next;

	if (t->s.r.state != TURN_SUSPENDED)
		return 0;
	TRY(entity_touch(&e->r, t));
	TRY(turn_event(e, t, TURN_ON_RESUME));
	TRY(set_bytes(e, t, &t->s.r.reason, none));
	TRY(turn_settle(e, t));
	TRY(note_session(e, t->s.session, NOTE_RESUMED, t));
	TRY(turn_tell(e, t));
	TAILQ_FOREACH_SAFE (q, &t->requests, in_turn, next)
		if (q->s.r.state == REQUEST_HELD)
			TRY(request_evaluate(e, q));
	return turn_settle(e, t);
}

int turn_inherit(struct engine *e, struct session *parent)
{
	struct session *child;

	LIST_FOREACH (child, &parent->children, in_parent) {
		struct turn *t = child->s.turn;
		bool inherits = session_inherits(child);

		if (t && !turn_state_over(t->s.r.state) && t->s.inherited != inherits) {
			TRY(entity_touch(&e->r, t));
			t->s.inherited = inherits;
			if (t->s.r.causes)
				TRY(turn_tell(e, t));
			else if (inherits)
				TRY(turn_hold(e, t));
			else
				TRY(turn_free_again(e, t));
		}
		TRY(turn_inherit(e, child));
	}
	return 0;
}

int turn_suspend(struct engine *e, struct turn *t, enum turn_cause cause, struct bytes by,
	struct bytes reason)
{
	TRY(entity_touch(&e->r, t));
	t->s.r.causes |= (uint8_t)cause;
	if (reason.data)
		TRY(set_bytes(e, t, &t->s.r.reason, reason));
	TRY(history_turn(e, t, HISTORY_TURN_SUSPENDED,
		cause == CAUSE_BUDGET ? SOURCE_BUDGET : SOURCE_USER, by, reason));
	if (t->s.r.state == TURN_SUSPENDED || turn_state_over(t->s.r.state))
		TRY(turn_tell(e, t));
	else
		TRY(turn_hold(e, t));
	return turn_inherit(e, t->s.session);
}

int turn_resume(struct engine *e, struct turn *t, enum turn_cause cause, struct bytes by,
	struct bytes reason)
{
	TRY(entity_touch(&e->r, t));
	t->s.r.causes &= (uint8_t)~cause;
	TRY(history_turn(e, t, HISTORY_TURN_RESUMED,
		cause == CAUSE_BUDGET ? SOURCE_BUDGET : SOURCE_USER, by, reason));
	if (turn_held(t) || turn_state_over(t->s.r.state))
		TRY(turn_tell(e, t));
	else
		TRY(turn_free_again(e, t));
	return turn_inherit(e, t->s.session);
}
