/* SPDX-License-Identifier: MIT */
/* The agent's commands about its tool calls. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

/* ---- checks that were answered ask ---- */

/* An entry: 16 bytes of hash, 2 of length, the tool_call_id. */
#define CHECK_HEAD 18u

static size_t check_size(const struct str *list, size_t at)
{
	return CHECK_HEAD +
	       ((size_t)(uint8_t)list->data[at + 16] << 8 | (uint8_t)list->data[at + 17]);
}

int session_remember(struct engine *e, struct request *q)
{
	struct session *s = q->s.session;
	const struct str *old = s->s.checks;
	size_t call = q->s.r.call->len, skip = 0, n = 0, len = old ? old->len : 0;
	char buf[LIMIT_RECENT_CHECKS * (CHECK_HEAD + LIMIT_NAME)];
	struct str *fresh;

	for (size_t at = 0; at < len; at += check_size(old, at))
		n++;
	if (n >= LIMIT_RECENT_CHECKS)
		skip = check_size(old, 0);
	if (len > skip)
		memcpy(buf, old->data + skip, len - skip);
	len -= skip;
	if (call > LIMIT_NAME || len + CHECK_HEAD + call > sizeof(buf))
		return 0;
	memcpy(buf + len, q->s.input_hash, 16);
	buf[len + 16] = (char)(call >> 8);
	buf[len + 17] = (char)(call & 0xff);
	memcpy(buf + len + CHECK_HEAD, q->s.r.call->data, call);
	fresh = str_new(buf, len + CHECK_HEAD + call);
	if (!fresh)
		return -ENOMEM;
	if (entity_touch(&e->r, s) < 0) {
		str_unref(fresh);
		return -ENOMEM;
	}
	return entity_set_str(&e->r, s, &s->s.checks, fresh);
}

/* Takes the last check with that input (or, with call, that id) out of the list. */
static int check_take(struct engine *e, struct session *s, const uint8_t hash[16],
	struct bytes call, struct bytes *found)
{
	struct str *old = s->s.checks, *fresh;
	size_t hit = SIZE_MAX, size;
	char *buf;

	*found = none;
	for (size_t at = 0; old && at < old->len; at += check_size(old, at)) {
		struct bytes id = {
			old->data + at + CHECK_HEAD, check_size(old, at) - CHECK_HEAD};

		if (call.data ? bytes_equal(id, call) : memcmp(old->data + at, hash, 16) == 0)
			hit = at;
	}
	if (hit == SIZE_MAX)
		return 0;
	size = check_size(old, hit);
	TRY(effect_keep(e, old)); /* *found points into it */
	*found = (struct bytes){old->data + hit + CHECK_HEAD, size - CHECK_HEAD};
	buf = malloc(old->len);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, old->data, hit);
	memcpy(buf + hit, old->data + hit + size, old->len - hit - size);
	fresh = str_new(buf, old->len - size);
	free(buf);
	if (!fresh)
		return -ENOMEM;
	if (entity_touch(&e->r, s) < 0) {
		str_unref(fresh);
		return -ENOMEM;
	}
	return entity_set_str(&e->r, s, &s->s.checks, fresh);
}

/* ---- request, check ---- */

static int resubmit(struct engine *e, const struct command *c, struct request *q)
{
	struct effect *f;

	if (memcmp(q->s.input_hash, c->request.facts.input_hash, 16) != 0 ||
		!str_equal(q->s.r.tool, c->request.tool)) {
		TRY(reply_error(e, c, ENGINE_MISMATCH,
			"this tool_call_id was submitted with another tool or input", NULL,
			NULL));
		return 0;
	}
	if (request_state_pending(q->s.r.state))
		return request_attach(e, q, c->link, c->call);
	switch ((enum request_state)q->s.r.state) {
	case REQUEST_ALLOWED:
		if (q->s.r.delivered &&
			e->now.mono - q->s.delivered_at > (int64_t)TIME_RECLAIM_MS * 1000)
			break;
		if (q->s.grace) { /* a kept decision is claimed */
			TRY(entity_touch(&e->r, q));
			q->s.grace = 0;
			request_reindex(&e->r, q);
		}
		return request_answer_again(e, q, c->link, c->call);
	case REQUEST_DENIED:
	case REQUEST_EXPIRED: return request_answer_again(e, q, c->link, c->call);
	default: break;
	}
	TRY(reply_gone(e, c->link, c->call, q));
	f = &e->out.items[e->out.n - 1];
	f->frontend = NULL;
	return 0;
}

int request_take_paths(struct request *q, const struct request_path *paths, unsigned n)
{
	if (!n)
		return 0;
	q->s.r.paths = calloc(n, sizeof(*q->s.r.paths));
	if (!q->s.r.paths)
		return -ENOMEM;
	q->s.r.n_paths = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		q->s.r.paths[i] = paths[i];
		str_ref(q->s.r.paths[i].given);
		str_ref(q->s.r.paths[i].resolved);
	}
	return 0;
}

static int request_fill(struct engine *e, struct request *q, const struct command *c,
	struct session *s, struct turn *t, struct bytes call)
{
	const struct command_request *m = &c->request;
	struct request_record *r = &q->s.r;
	struct bytes cwd = m->cwd.data ? m->cwd : str_bytes(s->s.r.cwd);

	q->s.session = s;
	q->s.turn = t;
	r->session = s->s.r.id;
	r->turn = t->s.r.id;
	TRY(set_bytes(e, q, &r->call, call));
	TRY(set_bytes(e, q, &r->tool, m->tool));
	TRY(set_bytes(e, q, &r->input, m->input));
	TRY(set_bytes(e, q, &r->summary, m->summary));
	TRY(set_bytes(e, q, &r->description, m->description));
	TRY(set_bytes(e, q, &r->command, m->facts.command));
	TRY(set_bytes(e, q, &r->extra, m->extra));
	if (s->s.r.cwd && bytes_equal(cwd, str_bytes(s->s.r.cwd)))
		r->cwd = str_ref(s->s.r.cwd);
	else
		TRY(set_bytes(e, q, &r->cwd, cwd));
	TRY(request_take_paths(q, m->facts.paths, m->facts.n_paths));
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

int on_request(struct engine *e, const struct command *c)
{
	const struct command_request *m = &c->request;
	struct session *s = c->link->s.session;
	struct bytes call = m->call;
	struct request *q = NULL;
	struct turn *t;
	char made[ID_STRING_SIZE];

	if (call.data)
		q = request_find_call(s, call);
	if (q)
		return resubmit(e, c, q);
	if (s->owner->pending >= e->config.max_pending)
		return reply_error(e, c, ENGINE_LIMIT, "too many pending requests of this user",
			"limit", "pending");
	if (s->owner->pending_bytes + m->input.len > e->config.max_pending_bytes)
		return reply_error(e, c, ENGINE_LIMIT,
			"the pending requests of this user hold too many bytes", "limit",
			"pending-bytes");
	TRY(turn_for_call(e, s, m->turn_key, &t));
	q = request_new(&e->r);
	if (!q)
		return -ENOMEM;
	q->s.r.id = engine_new_id(e);
	if (!call.data) {
		TRY(check_take(e, s, m->facts.input_hash, none, &call));
		if (call.data && request_find_call(s, call))
			call = none;
	}
	if (!call.data) {
		id_format(made, ID_REQUEST, &q->s.r.id);
		call = bytes_of(made);
	}
	TRY(request_fill(e, q, c, s, t, call));
	if (!turn_state_over(t->s.r.state)) {
		TRY(entity_touch(&e->r, t));
		t->s.r.calls++;
	}
	return request_evaluate(e, q);
}

/* ---- what becomes of a call ---- */

/* The request that a call is about; NULL: none. */
static struct request *about(struct engine *e, const struct command *c)
{
	const struct command_about *a = &c->about;
	struct session *s = c->link->s.session;
	struct request *q = NULL;
	struct turn *t;

	if (!uuid_is_nil(&a->request)) {
		q = request_find(&e->r, &a->request);
		return q && q->s.session == s ? q : NULL;
	}
	if (a->call.data)
		q = request_find_call(s, a->call);
	if (q || !a->has_input)
		return q;
	LIST_FOREACH (t, &s->turns, in_session)
		TAILQ_FOREACH (q, &t->requests, in_turn)
			if (!request_state_terminal(q->s.r.state) && q->s.r.elsewhere &&
				memcmp(q->s.input_hash, a->input_hash, 16) == 0 &&
				str_equal(q->s.r.tool, a->tool))
				return q;
	return NULL;
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
		call = str_bytes(q->s.r.call);
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
