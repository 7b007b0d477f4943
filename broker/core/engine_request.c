/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "broker/core/pipeline.h"

static const struct bytes none;

bool policy_is(const struct frontend *f)
{
	return f->s.greeted && f->s.role == ROLE_POLICY;
}

bool policy_awaited(const struct frontend *f)
{
	return f->s.timeouts < 3;
}

bool policy_in(const struct frontend *f, uint32_t mask)
{
	return f->s.policy < LIMIT_POLICIES && mask & (1u << f->s.policy);
}

bool frontend_answers(const struct frontend *f, uint32_t uid, enum request_type type)
{
	return f->s.subscribed && (f->admin || f->uid == uid) && f->s.answers & (1u << type);
}

static bool answers(const struct frontend *f, const struct request *q)
{
	return frontend_answers(f, request_session(q)->s.r.uid, q->s.r.type);
}

bool alone_denies(struct engine *e, uint32_t uid, enum request_type type, bool fail_closed)
{
	struct frontend *f;

	if (!fail_closed && !e->config.when_alone_deny && !e->config.headless &&
		!marks_headless(e, uid))
		return false;
	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (f->s.greeted && f->s.role == ROLE_HUMAN && frontend_answers(f, uid, type))
			return false;
	return true;
}

bool request_alone(struct engine *e, const struct request *q)
{
	const struct session *s = request_session(q);

	return !q->s.recovered && alone_denies(e, s->s.r.uid, q->s.r.type,
					  q->s.r.fail_closed || s->s.r.fail_closed);
}

/* ---- states ---- */

int decision_say(struct engine *e, struct request *q, struct bytes reason, struct bytes by)
{
	struct decision *d = request_decide(q);

	if (!d)
		return -ENOMEM;
	TRY(set_bytes(e, q, &d->reason, reason));
	return set_bytes(e, q, &d->by, by);
}

static int state_set(struct engine *e, struct request *q, enum request_state state)
{
	request_set_state(&e->r, q, state);
	return q->e.indexed ? 0 : entity_index(&e->r, q);
}

static int waiter_set(struct engine *e, struct request *q, struct link *l, uint32_t call)
{
	TRY(entity_touch(&e->r, q));
	q->s.waiter = l;
	q->s.call_id = call;
	if (q->e.indexed)
		request_reindex(&e->r, q);
	return 0;
}

static int answer_waiter(struct engine *e, struct request *q, struct link *l, uint32_t call)
{
	struct effect *f = effect_add(e, EFFECT_VERDICT);
	struct decision *d;

	if (!f)
		return -ENOMEM;
	f->link = l;
	f->call = call;
	f->request = q;
	d = request_decide(q);
	if (!d)
		return -ENOMEM;
	if (!d->delivered) {
		d->delivered = true;
		d->delivered_at = e->now.mono;
		if (q->counted_orphaned)
			request_reindex(&e->r, q);
	}
	return 0;
}

int request_answer_again(struct engine *e, struct request *q, struct link *l, uint32_t call)
{
	TRY(entity_touch(&e->r, q));
	return answer_waiter(e, q, l, call);
}

/* Policies that were shown it and have not answered learn that they need not. */
static int policies_release(struct engine *e, struct request *q, enum event_kind kind)
{
	struct frontend *f;

	if (!q->s.offered)
		return 0;
	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (policy_in(f, q->s.offered))
			TRY(event_send(e, f, kind, q));
	q->s.review = q->s.offered = 0;
	return 0;
}

int request_forget(struct engine *e, struct request *q)
{
	TRY(mark_removed(e, q));
	return entity_remove(&e->r, q);
}

/* A turn remembers only so many decided calls. */
static int turn_trim(struct engine *e, struct turn *t)
{
	while (t->n_settled > LIMIT_TURN_CALLS) {
		struct request *q = TAILQ_FIRST(&t->settled);

		if (q->s.r.state == REQUEST_ALLOWED) {
			struct turn *ending = e->ending;

			e->ending = t; /* or this would be done within it */
			TRY(request_finish(e, q, REQUEST_ON_CLOSE, NULL));
			e->ending = ending;
		}
		TRY(request_forget(e, q));
	}
	return 0;
}

/* ---- the ways of a request ---- */

int request_ask(struct engine *e, struct request *q, enum step step)
{
	bool shown = q->s.shown;
	struct effect *f;

	TRY(entity_touch(&e->r, q));
	q->s.r.step = (uint8_t)step;
	request_timers_start(e, q);
	if (q->s.r.check) {
		struct command c = {.link = q->s.waiter, .call = q->s.call_id};

		if (q->s.waiter) {
			TRY(reply_new(e, &c, REPLY_ASK, &f));
			f->reply.step = step;
			f->reply.call_name = request_call(q);
			TRY(session_remember(e, q));
		}
		TRY(waiter_set(e, q, NULL, 0));
		TRY(entity_remove(&e->r, q));
		return turn_settle(e, q->s.turn);
	}
	if (request_alone(e, q)) {
		struct decision_terms terms = {.source = SOURCE_BROKER, .step = STEP_HUMAN};

		return request_finish(e, q, REQUEST_ON_DENY, &terms);
	}
	q->s.shown = true;
	TRY(state_set(e, q, request_next(q->s.r.state, REQUEST_ON_ASK)));
	TRY(mark_dirty(e, q));
	TRY(event_emit(e, shown ? EVENT_REFRESHED : EVENT_OFFERED, q));
	TRY(note_request(e, q));
	return turn_settle(e, q->s.turn);
}

int request_hold(struct engine *e, struct request *q)
{
	bool shown = q->s.shown;

	TRY(entity_touch(&e->r, q));
	request_timers_stop(e, q);
	TRY(state_set(e, q, request_next(q->s.r.state, REQUEST_ON_HOLD)));
	q->s.r.step = STEP_SUSPENDED;
	TRY(policies_release(e, q, EVENT_WITHDRAWN));
	TRY(turn_settle(e, q->s.turn));
	if (q->s.r.check)
		return 0;
	q->s.shown = true;
	TRY(mark_dirty(e, q));
	TRY(note_request(e, q));
	return event_emit(e, shown ? EVENT_REFRESHED : EVENT_OFFERED, q);
}

int request_reviewed(struct engine *e, struct request *q)
{
	struct decision_terms terms = {.source = SOURCE_POLICY, .step = STEP_POLICY};
	enum verdict v = q->s.review_verdict;

	TRY(entity_touch(&e->r, q));
	TRY(policies_release(e, q, EVENT_WITHDRAWN));
	q->s.review_due = 0;
	terms.reason = str_bytes(request_decision(q)->reason);
	terms.by = str_bytes(request_decision(q)->by);
	if (v == VERDICT_DENY)
		return request_finish(e, q, REQUEST_ON_DENY, &terms);
	if (q->s.asked_by)
		return request_ask(e, q, q->s.asked_by);
	if (v == VERDICT_ALLOW)
		return request_finish(e, q, REQUEST_ON_ALLOW, &terms);
	return request_ask(e, q, v == VERDICT_ASK ? STEP_POLICY : STEP_HUMAN);
}

static bool policy_connected(
	struct engine *e, struct bytes name, uint32_t uid, enum request_type type)
{
	struct frontend *f;

	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (policy_is(f) && bytes_equal(str_bytes(f->s.name), name) &&
			frontend_answers(f, uid, type))
			return true;
	return false;
}

bool policy_missing(struct engine *e, uint32_t uid, enum request_type type)
{
	for (unsigned i = 0; i < e->config.n_required; i++)
		if (!policy_connected(e, bytes_of(e->config.required[i]), uid, type))
			return true;
	for (unsigned i = 0; i < e->marks.n_lost; i++) {
		const struct lost_policy *l = &e->marks.lost[i];

		if ((l->admin || l->uid == uid) && l->answers & (1u << type) &&
			(!l->name || !policy_connected(e, str_bytes(l->name), uid, type)))
			return true;
	}
	return e->marks.lost_more;
}

static int request_review(struct engine *e, struct request *q, enum step asked_by)
{
	struct frontend *f;
	enum request_type type = q->s.r.type;

	q->s.review = q->s.offered = 0;
	q->s.review_verdict = VERDICT_NONE;
	if (q->s.decision)
		TRY(decision_say(e, q, none, none));
	q->s.asked_by = (uint8_t)asked_by;
	/* no question is answered by a machine */
	if (type != REQUEST_TYPE_TOOL_CALL && type != REQUEST_TYPE_PERMISSIONS)
		return request_reviewed(e, q);
	if (policy_missing(e, request_session(q)->s.r.uid, type))
		q->s.review_verdict = VERDICT_ASK;
	TAILQ_FOREACH (f, &e->r.frontends, in_engine) {
		if (!policy_is(f) || !answers(f, q))
			continue;
		if (!policy_awaited(f))
			q->s.review_verdict = VERDICT_ASK;
		else
			q->s.review |= 1u << f->s.policy;
	}
	if (!q->s.review)
		return request_reviewed(e, q);
	request_timers_start(e, q);
	q->s.review_due = e->now.mono + e->config.policy_time;
	TRY(state_set(e, q, REQUEST_REVIEW));
	if (!q->s.r.check)
		TRY(mark_dirty(e, q));
	TRY(turn_settle(e, q->s.turn));
	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (policy_is(f) && answers(f, q)) {
			q->s.offered |= 1u << f->s.policy;
			TRY(event_send(e, f, EVENT_OFFERED, q));
		}
	return q->s.shown ? event_emit(e, EVENT_REFRESHED, q) : 0;
}

int request_evaluate(struct engine *e, struct request *q)
{
	struct pipeline_call call;
	struct pipeline_result r;
	struct decision_terms terms;
	char reason[LIMIT_TEXT];

	judge_request(e, q, &call);
	TRY(pipeline_run(&call, NULL, &r));
	terms = (struct decision_terms){.source = r.source, .step = r.step, .reason = r.reason};
	TRY(entity_touch(&e->r, q));
	TRY(request_note_why(e, q, &r));
	rule_count(e, &r);
	if (r.answer == PIPELINE_DENY && r.rule.rule) {
		struct why why;

		why_read(q->s.r.why, &why);
		terms.reason = rule_reason(why.rule, reason);
	}
	switch (r.answer) {
	case PIPELINE_HOLD: return request_hold(e, q);
	case PIPELINE_DENY: return request_finish(e, q, REQUEST_ON_DENY, &terms);
	case PIPELINE_ALLOW: return request_finish(e, q, REQUEST_ON_ALLOW, &terms);
	case PIPELINE_ASK: return request_review(e, q, r.step);
	case PIPELINE_PASS: break;
	}
	return request_review(e, q, STEP_NONE);
}

bool denial_counts(uint8_t type, uint8_t state, uint8_t source, uint8_t step)
{
	return state == REQUEST_DENIED && (source == SOURCE_USER || source == SOURCE_POLICY) &&
	       step != STEP_SUSPENDED && type == REQUEST_TYPE_TOOL_CALL;
}

static int count_denial(struct engine *e, struct request *q)
{
	struct turn *t = q->s.turn;
	struct str *list;

	TRY(entity_touch(&e->r, t));
	t->s.r.denied++;
	if (!denial_counts(q->s.r.type, q->s.r.state, request_decision(q)->source, q->s.r.step))
		return 0;
	list = denials_add(t->s.denials, q->s.signature);
	if (!list)
		return -ENOMEM;
	return entity_set_str(&e->r, t, &t->s.denials, list);
}

static enum history_event row_of(enum request_state was, enum request_event event)
{
	if (event == REQUEST_ON_ALLOW || event == REQUEST_ON_DENY || event == REQUEST_ON_EXPIRE)
		return HISTORY_DECISION;
	return was == REQUEST_ALLOWED ? HISTORY_OUTCOME : HISTORY_ENDED;
}

bool request_lasts(const struct request *q)
{
	if (request_state_pending(q->s.r.state))
		return !q->s.r.check;
	return request_kept(q) ||
	       (q->s.r.state == REQUEST_ALLOWED &&
		       (request_decision(q)->updated_input || request_decision(q)->answers));
}

int request_shed(struct engine *e, struct request *q)
{
	TRY(entity_set_str(&e->r, q, &q->s.r.input, NULL));
	TRY(entity_set_str(&e->r, q, &q->s.r.description, NULL));
	if (str_bytes(q->s.r.command).len > DECIDED_COMMAND) {
		/* its row of the history may still be to be written */
		TRY(effect_keep(e, q->s.r.command));
		TRY(entity_set_str(&e->r, q, &q->s.r.command, NULL));
	}
	request_drop_paths(q);
	TRY(entity_set_str(&e->r, q, &q->s.r.url, NULL));
	return entity_set_str(&e->r, q, &q->s.r.extra, NULL);
}

int request_finish(struct engine *e, struct request *q, enum request_event event,
	const struct decision_terms *terms)
{
	struct request_data *r = &q->s.r;
	enum request_state was = r->state, next = request_next(was, event);
	struct turn *t = q->s.turn;
	struct link *waiter = q->s.waiter;
	uint32_t call = q->s.call_id;
	bool decided = event == REQUEST_ON_ALLOW || event == REQUEST_ON_DENY;

	assert(next != REQUEST_NONE);
	TRY(entity_touch(&e->r, q));
	if (terms) {
		struct decision *d = request_decide(q);

		if (!d)
			return -ENOMEM;
		d->source = (uint8_t)terms->source;
		d->scope = (uint8_t)terms->scope;
		d->decided_at = e->now.wall;
		d->verdict = event == REQUEST_ON_ALLOW ? VERDICT_ALLOW : VERDICT_DENY;
		if (terms->step != STEP_NONE)
			r->step = (uint8_t)terms->step;
		TRY(decision_say(e, q, terms->reason, terms->by));
	}
	q->s.deadline = q->s.grace = q->s.review_due = 0;
	q->s.stopped = q->s.recovered = false;
	TRY(policies_release(e, q, decided ? EVENT_RESOLVED : EVENT_WITHDRAWN));
	TRY(waiter_set(e, q, NULL, 0));
	TRY(state_set(e, q, next));
	/* of calls that nobody was asked about, the end of the turn tells how many */
	if (next == REQUEST_UNKNOWN && !q->s.shown) {
		TRY(entity_touch(&e->r, t));
		t->s.unknown++;
	} else {
		TRY(history_request(e, q, row_of(was, event), terms ? terms->detail : none));
	}
	if (q->s.shown && request_state_pending(was))
		TRY(event_emit(e, decided ? EVENT_RESOLVED : EVENT_WITHDRAWN, q));
	else if (q->s.shown)
		TRY(event_outcome(e, request_session(q), q, next, false, none, none));
	if (waiter)
		TRY(answer_waiter(e, q, waiter, call));
	if (r->on_disconnect == DISCONNECT_KEEP && !request_decision(q)->delivered &&
		(next == REQUEST_ALLOWED || next == REQUEST_DENIED ||
			next == REQUEST_EXPIRED)) {
		q->s.grace = e->now.mono + (int64_t)TIME_KEEP_MS * 1000;
		request_reindex(&e->r, q);
	}
	if (next == REQUEST_DENIED || next == REQUEST_EXPIRED)
		TRY(count_denial(e, q));
	if (request_lasts(q)) {
		TRY(mark_dirty(e, q));
	} else {
		TRY(mark_removed(e, q));
		if (request_state_pending(was))
			TRY(request_shed(e, q));
	}
	TRY(turn_settle(e, t));
	return t == e->ending ? 0 : turn_trim(e, t);
}

/* ---- connections ---- */

int request_attach(struct engine *e, struct request *q, struct link *l, uint32_t call)
{
	struct link *before = q->s.waiter;

	if (before)
		TRY(reply_gone(e, before, q->s.call_id, q));
	TRY(entity_touch(&e->r, q));
	q->s.recovered = false;
	q->s.grace = 0;
	TRY(waiter_set(e, q, l, call));
	TRY(turn_settle(e, q->s.turn));
	if (q->s.r.state == REQUEST_HELD)
		TRY(note_request(e, q));
	if (q->s.r.state == REQUEST_AWAITING && request_alone(e, q)) {
		struct decision_terms terms = {.source = SOURCE_BROKER, .step = STEP_HUMAN};

		return request_finish(e, q, REQUEST_ON_DENY, &terms);
	}
	return q->s.shown ? event_emit(e, EVENT_REFRESHED, q) : 0;
}

int request_detach(struct engine *e, struct request *q)
{
	struct decision_terms terms = {.source = SOURCE_ABORT};

	TRY(waiter_set(e, q, NULL, 0));
	if (q->s.r.check) {
		TRY(policies_release(e, q, EVENT_WITHDRAWN));
		TRY(entity_remove(&e->r, q));
		return turn_settle(e, q->s.turn);
	}
	switch ((enum disconnect)q->s.r.on_disconnect) {
	case DISCONNECT_CANCEL: return request_finish(e, q, REQUEST_ON_CANCEL, &terms);
	case DISCONNECT_WAIT:
		q->s.grace = q->s.stopped ? e->config.grace : e->now.mono + e->config.grace;
		break;
	case DISCONNECT_KEEP:
	case DISCONNECT_N: break;
	}
	request_reindex(&e->r, q);
	return q->s.shown ? event_emit(e, EVENT_REFRESHED, q) : 0;
}
