/* SPDX-License-Identifier: MIT */
/* What the store gave back after a restart, and sleeps of the machine. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <string.h>

#include "broker/core/pipeline.h"

static void take_newest(struct engine *e, const struct uuid *id)
{
	if (uuid_compare(id, &e->newest) > 0)
		e->newest = *id;
}

int engine_record_session(const struct session *s, struct session_record *out)
{
	const struct session_data *r = &s->s.r;

	*out = (struct session_record){.id = r->id,
		.parent = s->s.parent ? s->s.parent->s.r.id : (struct uuid){{0}},
		.parent_turn = r->parent_turn,
		.agent = r->agent,
		.key = str_new(s->key, s->key_len),
		.title = r->title,
		.cwd = r->cwd,
		.workspace = r->workspace,
		.exe = r->exe,
		.cursor = r->cursor,
		.subject = r->subject,
		.since = r->since,
		.channel_ms = r->channel_ms,
		.uid = r->uid,
		.claim = r->claim,
		.ceiling = r->ceiling,
		.fail_closed = r->fail_closed,
		.ended = r->ended,
		.budget = session_budget_pack(session_budget(s))};
	return out->key && out->budget ? 0 : -ENOMEM;
}

int engine_record_turn(const struct turn *t, struct turn_record *out)
{
	*out = t->s.r;
	out->budget = turn_budget_pack(&t->s.b);
	return out->budget ? 0 : -ENOMEM;
}

int engine_restore_session(struct engine *e, const struct session_record *r)
{
	const struct bytes agent = str_bytes(r->agent), key = str_bytes(r->key);
	struct session *s;

	if (key.len > LIMIT_NAME || (!r->ended && session_find_key(&e->r, r->uid, agent, key)))
		return -EUCLEAN;
	s = session_new(&e->r, key);
	if (!s)
		return -ENOMEM;
	s->owner = owner_get(&e->r, r->uid);
	if (!s->owner)
		return -ENOMEM;
	s->s.r = (struct session_data){.id = r->id,
		.parent_turn = r->parent_turn,
		.agent = str_ref(r->agent),
		.title = str_ref(r->title),
		.cwd = str_ref(r->cwd),
		.workspace = str_ref(r->workspace),
		.exe = str_ref(r->exe),
		.cursor = str_ref(r->cursor),
		.subject = r->subject,
		.since = r->since,
		.channel_ms = r->channel_ms,
		.uid = r->uid,
		.claim = r->claim,
		.ceiling = r->ceiling,
		.fail_closed = r->fail_closed,
		.ended = r->ended,
		.alive = r->subject.pid != 0,
		.recovered = true};
	if (!r->budget) { /* of an older version */
		TRY(session_budget_open(e, s, NULL));
	} else {
		struct session_budget b;

		if (session_budget_unpack(r->budget, &b) < 0)
			return -EUCLEAN;
		TRY(session_budget_set(s, &b));
	}
	s->s.parent = session_find(&e->r, &r->parent);
	s->e.stored = true;
	take_newest(e, &r->id);
	return entity_index(&e->r, s);
}

int engine_restore_turn(struct engine *e, const struct turn_record *r)
{
	struct session *s = session_find(&e->r, &r->session);
	struct turn *t;

	if (!s)
		return -EUCLEAN;
	t = turn_new(&e->r);
	if (!t)
		return -ENOMEM;
	t->s.r = *r;
	t->s.r.budget = NULL;
	str_ref(r->key);
	str_ref(r->reason);
	t->s.session = s;
	if (r->budget && turn_budget_unpack(r->budget, &t->s.b) < 0)
		return -EUCLEAN;
	if (!r->budget) {
		struct budget_amounts session;

		budget_config(e, s, &t->s.b.ceiling, &session);
	}
	t->s.r.calls = t->s.r.denied = 0; /* counted again from the history */
	t->e.stored = true;
	take_newest(e, &r->id);
	TRY(entity_index(&e->r, t));
	/* the last one is the present one, unless it only keeps requests */
	if (r->state != TURN_ABANDONING)
		s->s.turn = t;
	return 0;
}

int engine_record_request(
	const struct engine *e, const struct request *q, struct request_record *out)
{
	const struct request_data *r = &q->s.r;
	const struct decision *d = request_decision(q);
	int64_t deadline = q->s.deadline;

	if (deadline && !q->s.stopped)
		deadline += e->now.wall - e->now.mono;
	*out = (struct request_record){.id = r->id,
		.session = request_session(q)->s.r.id,
		.turn = q->s.turn->s.r.id,
		.call = str_new(q->call, q->call_len),
		.tool = r->tool,
		.input = r->input,
		.summary = r->summary,
		.description = r->description,
		.command = r->command,
		.cwd = r->cwd,
		.extra = r->extra,
		.paths = r->paths,
		.reason = d->reason,
		.by = d->by,
		.updated_input = d->updated_input,
		.answers = d->answers,
		.since = r->since,
		.deadline = deadline,
		.decided_at = d->decided_at,
		.type = r->type,
		.kind = r->kind,
		.state = r->state,
		.on_disconnect = r->on_disconnect,
		.step = r->step,
		.verdict = d->verdict,
		.source = d->source,
		.scope = d->scope,
		.n_paths = r->n_paths,
		.mutating = r->mutating,
		.elsewhere = r->elsewhere,
		.fail_closed = r->fail_closed,
		.takes_input = r->takes_input,
		.multi = r->multi,
		.delivered = d->delivered,
		.check = r->check};
	memcpy(out->digest, r->digest, sizeof(out->digest));
	return out->call ? 0 : -ENOMEM;
}

static void take_record(struct request *q, const struct request_record *r)
{
	q->s.r = (struct request_data){.id = r->id,
		.tool = str_ref(r->tool),
		.input = str_ref(r->input),
		.summary = str_ref(r->summary),
		.description = str_ref(r->description),
		.command = str_ref(r->command),
		.cwd = str_ref(r->cwd),
		.extra = str_ref(r->extra),
		.since = r->since,
		.type = r->type,
		.kind = r->kind,
		.state = r->state,
		.on_disconnect = r->on_disconnect,
		.step = r->step,
		.mutating = r->mutating,
		.elsewhere = r->elsewhere,
		.fail_closed = r->fail_closed,
		.takes_input = r->takes_input,
		.multi = r->multi,
		.check = r->check};
	memcpy(q->s.r.digest, r->digest, sizeof(q->s.r.digest));
}

/* One that waits has none, unless policies have said something. */
static int take_decision(struct request *q, const struct request_record *r)
{
	struct decision *d;

	if (request_state_pending(r->state) && !r->reason && !r->by)
		return 0;
	d = request_decide(q);
	if (!d)
		return -ENOMEM;
	d->reason = str_ref(r->reason);
	d->by = str_ref(r->by);
	d->updated_input = str_ref(r->updated_input);
	d->answers = str_ref(r->answers);
	d->decided_at = r->decided_at;
	memcpy(d->edited_hash, q->s.input_hash, sizeof(d->edited_hash));
	d->verdict = r->verdict;
	d->source = r->source;
	d->scope = r->scope;
	d->delivered = r->delivered;
	return 0;
}

static bool restorable(enum request_state state)
{
	return request_state_pending(state) || state == REQUEST_ALLOWED ||
	       state == REQUEST_DENIED || state == REQUEST_EXPIRED;
}

/* A state without its verdict is none that the broker has written. */
static bool verdict_fits(const struct request_record *r)
{
	if (request_state_pending(r->state))
		return r->verdict == VERDICT_NONE;
	return r->verdict == (r->state == REQUEST_ALLOWED ? VERDICT_ALLOW : VERDICT_DENY);
}

/* A decision that lasts: kept until it is claimed, or more than the history tells. */
static void restore_decided(struct request *q, struct instant now)
{
	struct decision *d = q->s.decision;
	const int64_t keep = (int64_t)TIME_KEEP_MS * 1000;
	int64_t left = d->decided_at + keep - now.wall;

	if (left > keep) /* the clock was set back */
		left = keep;
	d->delivered_at = now.mono;
	if (q->s.r.on_disconnect == DISCONNECT_KEEP && !d->delivered)
		q->s.grace = now.mono + (left > 0 ? left : 1);
}

/* A call that was submitted in this turn, and did not come over from the one before. */
static int recount(struct engine *e, struct turn *t, const struct uuid *request)
{
	if (uuid_compare(request, &t->s.r.id) < 0)
		return 0;
	t->s.r.calls++;
	return budget_recount(e, t, request);
}

int engine_restore_request(struct engine *e, struct instant now, int64_t alive,
	const struct request_record *r, const struct facts *facts)
{
	struct session *s = session_find(&e->r, &r->session);
	struct turn *t = turn_find(&e->r, &r->turn);
	struct request *q;

	if (!s || !t || t->s.session != s || !restorable(r->state) || !verdict_fits(r) ||
		str_bytes(r->call).len > LIMIT_NAME || request_find_call(s, str_bytes(r->call)))
		return -EUCLEAN;
	q = request_new(&e->r, str_bytes(r->call));
	if (!q)
		return -ENOMEM;
	q->s.turn = t;
	q->s.facts = facts->flags;
	memcpy(q->s.input_hash, facts->input_hash, 16);
	memcpy(q->s.signature, facts->signature, 16);
	take_record(q, r);
	TRY(request_take_paths(q, r->paths, r->n_paths, 0));
	TRY(set_bytes(e, q, &q->s.r.url, facts->url));
	TRY(take_decision(q, r));
	q->e.stored = true;
	take_newest(e, &r->id);
	if (!request_state_pending(r->state)) {
		restore_decided(q, now);
		return entity_index(&e->r, q);
	}
	TRY(recount(e, t, &r->id));
	q->s.recovered = true;
	q->s.shown = r->state != REQUEST_REVIEW;
	q->s.stopped = true;
	q->s.grace = r->on_disconnect == DISCONNECT_KEEP ? 0 : e->config.grace;
	/*
	 * Deadlines stood still while the broker was down. By the clock that set them: what
	 * it was set to since then says nothing of how long a request may wait.
	 */
	if (r->state == REQUEST_HELD) {
		q->s.deadline = r->deadline;
	} else if (r->deadline) {
		int64_t died = alive > r->since ? alive : r->since;

		if (__builtin_sub_overflow(r->deadline, died, &q->s.deadline) ||
			q->s.deadline <= 0)
			q->s.deadline = 1;
	}
	return entity_index(&e->r, q);
}

/* It is over: whoever submits it again is told so, as long as the turn lives. */
static int restore_outcome(struct engine *e, struct request *q, uint8_t state)
{
	if (turn_state_over(q->s.turn->s.r.state) || q->s.turn->n_settled > LIMIT_TURN_CALLS)
		return request_forget(e, q);
	TRY(entity_touch(&e->r, q));
	q->s.r.state = state;
	q->s.grace = 0;
	request_reindex(&e->r, q);
	return mark_removed(e, q);
}

/* As when it was denied: repeated calls are counted on. */
static int restore_denial(struct engine *e, struct turn *t, const uint8_t signature[16])
{
	struct str *list;

	TRY(entity_touch(&e->r, t));
	list = denials_add(t->s.denials, signature);
	if (!list)
		return -ENOMEM;
	return entity_set_str(&e->r, t, &t->s.denials, list);
}

int engine_restore_decision(struct engine *e, struct instant now, const struct history_row *row,
	const uint8_t input_hash[16], const uint8_t *signature)
{
	struct session *s = session_find(&e->r, &row->session);
	struct turn *t = turn_find(&e->r, &row->turn);
	struct decision *d;
	struct request *q;

	take_newest(e, &row->request);
	if (!s || !t || t->s.session != s)
		return 0; /* of a turn that has ended */
	if (row->call.len > LIMIT_NAME)
		return -EUCLEAN;
	q = request_find(&e->r, &row->request);
	if (row->event != HISTORY_DECISION) {
		if (q && !request_state_pending(q->s.r.state) && row->event == HISTORY_OUTCOME)
			return restore_outcome(e, q, row->state);
		return 0;
	}
	TRY(recount(e, t, &row->request));
	if (row->verdict == VERDICT_DENY)
		t->s.r.denied++;
	if (signature && denial_counts(row->type, row->state, row->source, row->step))
		TRY(restore_denial(e, t, signature));
	if (q || request_find_call(s, row->call) || turn_state_over(t->s.r.state) ||
		(row->state != REQUEST_ALLOWED && row->state != REQUEST_DENIED &&
			row->state != REQUEST_EXPIRED) ||
		(row->state != REQUEST_ALLOWED && t->n_settled >= LIMIT_TURN_CALLS))
		return 0;
	q = request_new(&e->r, row->call);
	if (!q)
		return -ENOMEM;
	q->s.turn = t;
	q->s.r.id = row->request;
	TRY(set_bytes(e, q, &q->s.r.tool, row->tool));
	if (row->command.len <= DECIDED_COMMAND)
		TRY(set_bytes(e, q, &q->s.r.command, row->command));
	TRY(set_bytes(e, q, &q->s.r.cwd, row->cwd));
	TRY(decision_say(e, q, row->reason, row->by));
	memcpy(q->s.r.digest, row->digest, sizeof(row->digest));
	memcpy(q->s.input_hash, input_hash, 16);
	q->s.r.type = row->type;
	q->s.r.kind = row->kind;
	q->s.r.state = row->state;
	q->s.r.step = row->step;
	d = q->s.decision;
	d->verdict = row->verdict;
	d->source = row->source;
	d->scope = row->scope;
	d->decided_at = row->at;
	/* whether it was delivered is not known: the minute counts from now */
	d->delivered = true;
	d->delivered_at = now.mono;
	return entity_index(&e->r, q);
}

static int restart_session(struct engine *e, struct session *s)
{
	struct effect *f;

	/* without a subject there is nobody to wait for but a new connection */
	if (!s->s.r.alive)
		return session_settle(e, s);
	f = effect_add(e, EFFECT_WATCH);
	if (!f)
		return -ENOMEM;
	f->process = s->s.r.subject;
	return 0;
}

static int restart_turn(struct engine *e, struct turn *t, int64_t alive)
{
	TRY(turn_budget_restart(e, t, alive));
	if (t->s.r.state == TURN_ENDED)
		return 0;
	TRY(turn_event(e, t, TURN_ON_RESTART));
	TRY(mark_dirty(e, t));
	if (turn_state_over(t->s.r.state))
		return 0;
	t->s.inherited = session_inherits(t->s.session);
	if (turn_held(t))
		return turn_event(e, t, TURN_ON_SUSPEND);
	if (t->s.r.state == TURN_SUSPENDED) /* its ancestor's cause is gone */
		return turn_event(e, t, TURN_ON_RESUME);
	return 0;
}

/* Every pending request stays pending, and is answerable. */
static int restart_request(struct engine *e, struct request *q)
{
	if (!request_state_pending(q->s.r.state))
		return 0;
	TRY(entity_touch(&e->r, q));
	if (q->s.turn->s.r.state == TURN_SUSPENDED)
		return request_hold(e, q);
	if (turn_state_over(q->s.turn->s.r.state)) /* kept beyond its turn */
		return request_ask(e, q, STEP_HUMAN);
	if (q->s.r.state == REQUEST_HELD || q->s.r.state == REQUEST_REVIEW)
		return request_evaluate(e, q);
	return request_ask(e, q, q->s.r.step);
}

/* Those that were only kept for a decision which is gone end now. */
static int turns_settle(struct engine *e)
{
	struct uuid at = {0};
	struct entity *x;

	while ((x = registry_next(&e->r, &at))) {
		at = *entity_id(x);
		if (x->type == ENTITY_TURN)
			TRY(turn_settle(e, ENTITY_OF(x, turn)));
	}
	/* what has run out meanwhile */
	for (at = (struct uuid){0}; (x = registry_next(&e->r, &at)); at = *entity_id(x)) {
		struct turn *t = ENTITY_OF(x, turn);

		if (x->type == ENTITY_TURN && !turn_state_over(t->s.r.state))
			TRY(budget_check(e, t, t->s.session));
	}
	return 0;
}

int on_restarted(struct engine *e, const struct command *c)
{
	static const struct uuid start;

	for (int pass = ENTITY_SESSION; pass <= ENTITY_REQUEST; pass++) {
		struct uuid at = start;
		struct entity *x;

		while ((x = registry_next(&e->r, &at))) {
			at = *entity_id(x);
			if ((int)x->type != pass)
				continue;
			if (pass == ENTITY_SESSION)
				TRY(restart_session(e, ENTITY_OF(x, session)));
			else if (pass == ENTITY_TURN)
				TRY(restart_turn(e, ENTITY_OF(x, turn), c->alive));
			else
				TRY(restart_request(e, ENTITY_OF(x, request)));
		}
	}
	return turns_settle(e);
}

int on_slept(struct engine *e)
{
	static const struct uuid start;
	struct uuid at = start;
	struct entity *x;

	while ((x = registry_next(&e->r, &at))) {
		struct request *q = ENTITY_OF(x, request);

		at = *entity_id(x);
		if (x->type != ENTITY_REQUEST || !request_state_pending(q->s.r.state) ||
			!q->s.deadline || q->s.stopped)
			continue;
		TRY(entity_touch(&e->r, q));
		request_lift(e, q);
		request_reindex(&e->r, q);
		if (!q->s.r.check)
			TRY(mark_dirty(e, q));
		if (q->s.shown)
			TRY(event_emit(e, EVENT_REFRESHED, q));
	}
	return 0;
}
