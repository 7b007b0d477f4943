/* SPDX-License-Identifier: MIT */
/* Deadlines, graces and the time of policies: data, of which the nearest is the engine's. */
#include "broker/core/engine_private.h"

/* 0 means none: what is over has one microsecond left. */
static int64_t left_of(int64_t at, int64_t now)
{
	if (!at)
		return 0;
	return at > now ? at - now : 1;
}

void request_timers_stop(struct engine *e, struct request *q)
{
	struct request_state_data *s = &q->s;

	if (s->stopped)
		return;
	s->stopped = true;
	s->review_due = 0;
	s->deadline = left_of(s->deadline, e->now.mono);
	s->grace = left_of(s->grace, e->now.mono);
}

static int64_t at_least_minimum(int64_t left)
{
	int64_t least = (int64_t)TIME_MIN_REMAINING_MS * 1000;

	return left > least ? left : least;
}

void request_timers_start(struct engine *e, struct request *q)
{
	struct request_state_data *s = &q->s;

	if (!s->stopped)
		return;
	s->stopped = false;
	if (s->deadline)
		s->deadline = e->now.mono + at_least_minimum(s->deadline);
	if (s->grace)
		s->grace += e->now.mono;
}

void request_lift(struct engine *e, struct request *q)
{
	struct request_state_data *s = &q->s;

	if (!s->deadline || s->stopped)
		return;
	s->deadline = e->now.mono + at_least_minimum(s->deadline - e->now.mono);
}

static int64_t shorter(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* The channel's own limit less a margin, so that the broker answers first. */
static int64_t channel_limit(int64_t channel_ms)
{
	int64_t margin = TIME_CHANNEL_MARGIN_MS;

	if (!channel_ms)
		return 0;
	if (channel_ms < 2 * margin)
		margin = channel_ms / 2;
	return (channel_ms - margin) * 1000;
}

void request_set_deadline(struct engine *e, struct request *q, const struct command_request *c)
{
	int64_t left = e->config.deadline;

	left = shorter(left, c->timeout_ms * 1000);
	left = shorter(left, channel_limit(c->channel_ms ? c->channel_ms
							 : request_session(q)->s.r.channel_ms));
	if (left)
		q->s.deadline = e->now.mono + left;
}

int request_due_now(struct engine *e, struct request *q)
{
	struct decision_terms timeout = {.source = SOURCE_TIMEOUT, .step = STEP_DEADLINE};
	struct decision_terms lost = {.source = SOURCE_ABORT};
	struct session *s = request_session(q);
	int64_t now = e->now.mono;
	struct frontend *f;

	if (q->s.deadline && q->s.deadline <= now && request_state_pending(q->s.r.state)) {
		TRY(request_finish(e, q, REQUEST_ON_EXPIRE, &timeout));
	} else if (q->s.grace && q->s.grace <= now && request_state_terminal(q->s.r.state)) {
		struct turn *t = q->s.turn;

		TRY(request_forget(e, q)); /* a denial that nobody claimed */
		TRY(turn_settle(e, t));
	} else if (q->s.grace && q->s.grace <= now) {
		TRY(request_finish(e, q, REQUEST_ON_GRACE,
			q->s.r.state == REQUEST_ALLOWED ? NULL : &lost));
	} else {
		TRY(entity_touch(&e->r, q));
		TAILQ_FOREACH (f, &e->r.frontends, in_engine)
			if (policy_in(f, q->s.review)) {
				TRY(entity_touch(&e->r, f));
				if (f->s.timeouts < 3)
					f->s.timeouts++;
			}
		if (q->s.review_verdict != VERDICT_DENY)
			q->s.review_verdict = VERDICT_ASK;
		TRY(request_reviewed(e, q));
	}
	return session_settle(e, s);
}
