/* SPDX-License-Identifier: MIT */
/* The agent's commands about its tool calls. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/pipeline.h"

static const struct bytes none;

/* ---- request, check ---- */

/* A check that nobody has seen yet: what it says of itself now is what counts. */
static int retell(struct engine *e, struct request *q, const struct command_request *m)
{
	TRY(set_bytes(e, q, &q->s.r.summary, m->summary));
	TRY(set_bytes(e, q, &q->s.r.description, m->description));
	q->s.r.kind = (uint8_t)m->facts.kind;
	q->s.r.mutating = m->facts.mutating;
	q->s.facts = m->facts.flags;
	memcpy(q->s.r.digest, m->facts.digest, sizeof(q->s.r.digest));
	return 0;
}

/* A request takes the place of a check that is still being answered. */
static int check_promote(struct engine *e, struct request *q, const struct command_request *m)
{
	TRY(entity_touch(&e->r, q));
	if (q->s.r.state == REQUEST_HELD)
		TRY(retell(e, q, m));
	q->s.r.check = false;
	q->s.r.on_disconnect = (uint8_t)m->on_disconnect;
	q->s.r.elsewhere = m->elsewhere;
	q->s.r.fail_closed |= m->fail_closed;
	q->s.r.takes_input = m->takes_input;
	q->s.r.multi = m->multi;
	request_reindex(&e->r, q);
	TRY(mark_dirty(e, q));
	if (q->s.r.state != REQUEST_HELD)
		return 0;
	q->s.shown = true;
	return event_emit(e, EVENT_OFFERED, q);
}

static int reply_ask(struct engine *e, const struct command *c, struct request *q)
{
	struct effect *f;

	TRY(reply_new(e, c, REPLY_ASK, &f));
	f->reply.step = q->s.r.step;
	f->reply.call_name = request_call(q);
	return 0;
}

/* Is it the same call? What is not part of its input, but of what was shown, counts too. */
static bool is_same(const struct request *q, const struct command_request *m)
{
	const struct bytes cwd = m->cwd.data ? m->cwd : str_bytes(request_session(q)->s.r.cwd);

	/* policies are asked already about what the check claimed */
	if (q->s.r.check && q->s.r.state == REQUEST_REVIEW &&
		(q->s.r.kind != m->facts.kind || q->s.r.mutating != m->facts.mutating))
		return false;
	return memcmp(q->s.input_hash, m->facts.input_hash, 16) == 0 &&
	       str_equal(q->s.r.tool, m->tool) && q->s.r.type == m->type &&
	       bytes_equal(str_bytes(q->s.r.cwd), cwd);
}

/* What was kept over the end of its turn goes on in the present one. */
static int request_rejoin(
	struct engine *e, const struct command *c, struct request *q, struct turn **out)
{
	struct turn *old = q->s.turn;

	*out = old;
	if (!turn_state_over(old->s.r.state) || request_session(q)->s.turn == old)
		return 0;
	TRY(turn_for_call(e, request_session(q), c->request.turn_key, out));
	TRY(request_move(e, q, *out));
	TRY(turn_settle(e, *out));
	return turn_settle(e, old);
}

static int resubmit_pending(struct engine *e, const struct command *c, struct request *q)
{
	struct turn *t;

	if (c->request.check && !q->s.r.check)
		return reply_ask(e, c, q); /* it stays the request's */
	if (!c->request.check && q->s.r.check)
		TRY(check_promote(e, q, &c->request));
	TRY(request_attach(e, q, c->link, c->call));
	if (!request_state_pending(q->s.r.state))
		return 0;
	TRY(request_rejoin(e, c, q, &t));
	if (q->s.r.state != REQUEST_HELD && request_state_pending(q->s.r.state) &&
		pipeline_bars(request_session(q), t))
		return request_evaluate(e, q);
	return 0;
}

/* A decision is given again; one that was kept is claimed by that. */
static int resubmit_decided(struct engine *e, const struct command *c, struct request *q)
{
	struct session *s = request_session(q);
	struct turn *t = q->s.turn, *old = t;
	bool first = !request_decision(q)->delivered;

	if (q->s.r.state == REQUEST_ALLOWED) {
		/* an allow is a release, also the second time */
		if (turn_state_over(t->s.r.state))
			TRY(turn_for_call(e, s, c->request.turn_key, &t));
		if (pipeline_bars(s, t))
			return reply_error(e, c, ENGINE_STATE,
				"the session's turn is suspended, or was ended", "state",
				turn_state_name(t->s.r.state));
		if (t != old)
			TRY(request_move(e, q, t));
	}
	TRY(request_answer_again(e, q, c->link, c->call));
	if (first) {
		q->s.grace = 0;
		request_reindex(&e->r, q);
		if (request_lasts(q)) {
			TRY(mark_dirty(e, q));
		} else {
			TRY(mark_removed(e, q));
			TRY(request_shed(e, q));
		}
	}
	TRY(turn_settle(e, t));
	return t == old ? 0 : turn_settle(e, old);
}

static int resubmit(struct engine *e, const struct command *c, struct request *q)
{
	struct effect *f;

	if (!is_same(q, &c->request))
		return reply_error(e, c, ENGINE_MISMATCH,
			"this tool_call_id was submitted with another tool, type, input or cwd",
			NULL, NULL);
	if (request_state_pending(q->s.r.state))
		return resubmit_pending(e, c, q);
	switch ((enum request_state)q->s.r.state) {
	case REQUEST_ALLOWED:
		if (request_decision(q)->delivered &&
			e->now.mono - request_decision(q)->delivered_at >
				(int64_t)TIME_RECLAIM_MS * 1000)
			break;
		return resubmit_decided(e, c, q);
	case REQUEST_DENIED:
	case REQUEST_EXPIRED: return resubmit_decided(e, c, q);
	default: break;
	}
	TRY(reply_gone(e, c->link, c->call, q));
	f = &e->out.items[e->out.n - 1];
	f->frontend = NULL;
	return 0;
}

int request_take_paths(struct request *q, const struct request_path *paths, unsigned n_paths,
	unsigned n_operands)
{
	const unsigned n = n_paths + n_operands;

	if (!n)
		return 0;
	q->s.r.paths = calloc(n, sizeof(*q->s.r.paths));
	if (!q->s.r.paths)
		return -ENOMEM;
	q->s.r.n_paths = (uint8_t)n_paths;
	q->s.r.n_operands = (uint8_t)n_operands;
	for (unsigned i = 0; i < n; i++) {
		q->s.r.paths[i] = paths[i];
		str_ref(q->s.r.paths[i].given);
		str_ref(q->s.r.paths[i].resolved);
	}
	return 0;
}

static int request_fill(struct engine *e, struct request *q, const struct command *c,
	struct session *s, struct turn *t)
{
	const struct command_request *m = &c->request;
	struct request_data *r = &q->s.r;
	const struct request *before = TAILQ_LAST(&t->requests, request_list);
	struct bytes cwd = m->cwd.data ? m->cwd : str_bytes(s->s.r.cwd);

	q->s.turn = t;
	TRY(set_shared(e, q, &r->tool, m->tool, before ? before->s.r.tool : NULL));
	TRY(set_bytes(e, q, &r->input, m->input));
	TRY(set_bytes(e, q, &r->summary, m->summary));
	TRY(set_bytes(e, q, &r->description, m->description));
	TRY(set_bytes(e, q, &r->command, m->facts.command));
	TRY(set_bytes(e, q, &r->url, m->facts.url));
	TRY(set_bytes(e, q, &r->extra, m->extra));
	if (s->s.r.cwd && bytes_equal(cwd, str_bytes(s->s.r.cwd)))
		r->cwd = str_ref(s->s.r.cwd);
	else
		TRY(set_bytes(e, q, &r->cwd, cwd));
	TRY(request_take_paths(q, m->facts.paths, m->facts.n_paths, m->facts.n_operands));
	r->since = e->now.wall;
	r->type = (uint8_t)m->type;
	r->kind = (uint8_t)m->facts.kind;
	r->mutating = m->facts.mutating;
	r->on_disconnect = (uint8_t)m->on_disconnect;
	r->elsewhere = m->elsewhere;
	r->fail_closed = m->fail_closed;
	r->takes_input = m->takes_input;
	r->multi = m->multi;
	r->check = m->check;
	memcpy(r->digest, m->facts.digest, sizeof(r->digest));
	memcpy(q->s.input_hash, m->facts.input_hash, 16);
	memcpy(q->s.signature, m->facts.signature, 16);
	q->s.facts = m->facts.flags;
	q->s.waiter = c->link;
	q->s.call_id = c->call;
	r->state = REQUEST_REVIEW; /* request_next(REQUEST_NONE, REQUEST_ON_SUBMIT) */
	request_set_deadline(e, q, m);
	return 0;
}

/*
 * A request without an id is submitted again without one: it is the one of the
 * same tool and input whose connection was lost.
 */
static struct request *request_orphan(struct session *s, const struct command_request *m)
{
	struct request *q;
	unsigned n = 0;
	struct turn *t;

	LIST_FOREACH (t, &s->turns, in_session)
		for (q = t->n_orphaned ? TAILQ_FIRST(&t->requests) : NULL; q && n < LIMIT_MATCH;
			q = TAILQ_NEXT(q, in_turn), n++)
			if (q->counted_orphaned && is_same(q, m))
				return q;
	return NULL;
}

/* As it is charged to its owner. */
static uint64_t bytes_wanted(const struct command_request *m)
{
	uint64_t n = (uint64_t)m->input.len + m->summary.len + m->description.len +
		     m->facts.command.len + m->facts.url.len + m->extra.len;

	for (unsigned i = 0; i < m->facts.n_paths + m->facts.n_operands; i++)
		n += str_bytes(m->facts.paths[i].given).len +
		     str_bytes(m->facts.paths[i].resolved).len;
	return n;
}

int on_request(struct engine *e, const struct command *c)
{
	const struct command_request *m = &c->request;
	struct session *s = c->link->s.session;
	struct bytes call = m->call;
	struct request *q = NULL;
	struct turn *t;
	char made[ID_STRING_SIZE];
	bool again = false; /* a check that was answered ask has counted already */
	struct uuid id;

	q = call.data ? request_find_call(s, call) : request_orphan(s, m);
	if (q)
		return resubmit(e, c, q);
	if (s->owner->pending >= e->config.max_pending)
		return reply_error(e, c, ENGINE_LIMIT, "too many pending requests of this user",
			"limit", "pending");
	if (s->owner->pending_bytes + bytes_wanted(m) > e->config.max_pending_bytes)
		return reply_error(e, c, ENGINE_LIMIT,
			"the pending requests of this user hold too many bytes", "limit",
			"pending-bytes");
	TRY(turn_for_call(e, s, m->turn_key, &t));
	id = engine_new_id(e);
	if (!call.data) {
		TRY(check_take(e, s, m->facts.input_hash, none, &call));
		if (call.data && request_find_call(s, call))
			call = none;
		again = call.data != NULL;
	}
	if (!call.data) {
		id_format(made, ID_REQUEST, &id);
		call = bytes_of(made);
	}
	q = request_new(&e->r, call);
	if (!q)
		return -ENOMEM;
	q->s.r.id = id;
	TRY(request_fill(e, q, c, s, t));
	if (!turn_state_over(t->s.r.state)) {
		TRY(entity_touch(&e->r, t));
		t->s.r.calls += !again;
		if (!again)
			TRY(budget_call(e, t, &id));
	}
	return request_evaluate(e, q);
}

/* ---- what becomes of a call ---- */

/*
 * How well a request without an id fits: an outcome is most likely that of a call
 * that was allowed; else what the agent shows beside the broker comes first.
 */
static int fitness(const struct request *q, const struct command *c)
{
	const struct command_about *a = &c->about;
	bool outcome = c->type == COMMAND_OUTCOME;

	if (memcmp(outcome ? request_run_hash(q) : q->s.input_hash, a->input_hash, 16) != 0 ||
		!str_equal(q->s.r.tool, a->tool))
		return 0;
	if (q->s.r.state == REQUEST_ALLOWED)
		return outcome ? 3 : 0;
	if (!request_state_pending(q->s.r.state) || q->s.r.check)
		return 0;
	return q->s.r.elsewhere ? 2 : 1;
}

/* The request that a call is about; NULL: none. */
static struct request *about(struct engine *e, const struct command *c)
{
	const struct command_about *a = &c->about;
	struct session *s = c->link->s.session;
	struct request *q = NULL, *best = NULL;
	struct turn *t;
	int best_fit = 0;
	unsigned n = 0;

	if (!uuid_is_nil(&a->request)) {
		q = request_find(&e->r, &a->request);
		return q && request_session(q) == s ? q : NULL;
	}
	if (a->call.data)
		q = request_find_call(s, a->call);
	if (q || a->call.data || !a->has_input)
		return q;
	LIST_FOREACH (t, &s->turns, in_session)
		TAILQ_FOREACH (q, &t->requests, in_turn) {
			int fit = fitness(q, c);

			if (n++ == LIMIT_MATCH)
				return best;
			if (fit > best_fit ||
				(fit && fit == best_fit &&
					uuid_compare(&q->s.r.id, &best->s.r.id) < 0)) {
				best = q;
				best_fit = fit;
			}
		}
	return best;
}

static int reply_state(struct engine *e, const struct command *c, enum request_state state)
{
	struct effect *f;

	TRY(reply_new(e, c, REPLY_STATE, &f));
	f->reply.state = state;
	return 0;
}

static int not_found(struct engine *e, const struct command *c)
{
	return reply_error(
		e, c, ENGINE_NOT_FOUND, "no such request in this session", NULL, NULL);
}

int on_cancel(struct engine *e, const struct command *c)
{
	struct decision_terms terms = {.source = SOURCE_ABORT, .reason = c->about.reason};
	struct request *q = about(e, c);

	if (!q)
		return not_found(e, c);
	if (request_next(q->s.r.state, REQUEST_ON_CANCEL) == REQUEST_NONE)
		return reply_gone(e, c->link, c->call, q);
	TRY(request_finish(
		e, q, REQUEST_ON_CANCEL, request_state_pending(q->s.r.state) ? &terms : NULL));
	return reply_state(e, c, q->s.r.state);
}

static int settle(struct engine *e, const struct command *c, struct request *q)
{
	struct decision_terms terms = {.source = SOURCE_ELSEWHERE, .reason = c->about.reason};

	switch (c->about.verdict) {
	case VERDICT_ALLOW: terms.by = bytes_of("allowed in the agent"); break;
	case VERDICT_DENY: terms.by = bytes_of("denied in the agent"); break;
	default: terms.by = bytes_of("settled in the agent"); break;
	}
	return request_finish(e, q, REQUEST_ON_SETTLE, &terms);
}

int on_settled(struct engine *e, const struct command *c)
{
	const struct command_about *a = &c->about;
	struct session *s = c->link->s.session;
	struct request *q, *next;
	struct turn *t, *next_turn;

	if (a->call.data || !uuid_is_nil(&a->request) || a->has_input) {
		q = about(e, c);
		if (!q)
			return not_found(e, c);
		if (request_next(q->s.r.state, REQUEST_ON_SETTLE) == REQUEST_NONE)
			return reply_gone(e, c->link, c->call, q);
		TRY(settle(e, c, q));
		return reply_state(e, c, q->s.r.state);
	}
	LIST_FOREACH_SAFE (t, &s->turns, in_session, next_turn)
		TAILQ_FOREACH_SAFE (q, &t->requests, in_turn, next)
			if (request_state_pending(q->s.r.state) && q->s.r.elsewhere)
				TRY(settle(e, c, q));
	return reply_state(e, c, REQUEST_ELSEWHERE);
}

/* It ran though nobody allowed it: recorded and announced. */
static int ran_anyway(struct engine *e, const struct command *c, struct request *q)
{
	const struct command_about *a = &c->about;
	struct session *s = c->link->s.session;
	struct bytes call = a->call, tool = a->tool;

	if (q) {
		call = request_call(q);
		tool = str_bytes(q->s.r.tool);
		TRY(history_request(e, q, HISTORY_RAN_ANYWAY, a->reason));
	} else {
		struct history_row *row;

		TRY(history_session(e, s, HISTORY_RAN_ANYWAY, none, a->reason));
		row = &e->out.items[e->out.n - 1].row;
		row->call = call;
		row->tool = tool;
	}
	return event_outcome(e, s, q, a->outcome, true, call, tool);
}

static enum request_event event_of(enum request_state outcome)
{
	switch (outcome) {
	case REQUEST_SUCCEEDED: return REQUEST_ON_SUCCEEDED;
	case REQUEST_FAILED: return REQUEST_ON_FAILED;
	default: return REQUEST_ON_NOT_RUN;
	}
}

int on_outcome(struct engine *e, const struct command *c)
{
	const struct command_about *a = &c->about;
	struct session *s = c->link->s.session;
	struct request *q = about(e, c);
	enum request_state state = a->outcome;
	struct bytes asked = none;

	if (!q) {
		/* a check that was answered ask: the agent's own dialog allowed it */
		if (a->call.data)
			TRY(check_take(e, s, NULL, a->call, &asked));
		if (state == REQUEST_NOT_RUN)
			return reply_state(e, c, state);
		if (outcome_is_late(s, a))
			return reply_state(e, c, REQUEST_UNKNOWN);
		if (!asked.data)
			TRY(ran_anyway(e, c, NULL));
		return reply_state(e, c, asked.data ? REQUEST_ELSEWHERE : state);
	}
	if (request_state_pending(q->s.r.state)) {
		if (!q->s.r.elsewhere && state != REQUEST_NOT_RUN)
			TRY(ran_anyway(e, c, q));
		TRY(settle(e, c, q));
		return reply_state(e, c, q->s.r.state);
	}
	if (request_next(q->s.r.state, event_of(state)) != REQUEST_NONE) {
		TRY(request_finish(e, q, event_of(state), NULL));
		return reply_state(e, c, q->s.r.state);
	}
	if (state == REQUEST_NOT_RUN)
		return reply_state(e, c, q->s.r.state);
	if (q->s.r.state == REQUEST_DENIED || q->s.r.state == REQUEST_EXPIRED ||
		q->s.r.state == REQUEST_ABANDONED || q->s.r.state == REQUEST_INTERRUPTED) {
		TRY(ran_anyway(e, c, q));
		return reply_state(e, c, q->s.r.state);
	}
	return reply_gone(e, c->link, c->call, q);
}
