/* SPDX-License-Identifier: MIT */
/* The commands of frontends. */
#include "broker/core/engine_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/pipeline.h"


static unsigned policy_free_bit(const struct engine *e)
{
	const struct frontend *f;
	uint32_t used = 0;
	unsigned bit = 0;

	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (f->s.policy < LIMIT_POLICIES)
			used |= 1u << f->s.policy;
	while (bit < LIMIT_POLICIES && used & (1u << bit))
		bit++;
	return bit;
}

int on_frontend_hello(struct engine *e, const struct command *c)
{
	struct frontend *f = c->frontend;
	struct effect *out;

	if (f->s.greeted)
		return reply_error(
			e, c, ENGINE_STATE, "hello was said already", "state", "open");
	TRY(entity_touch(&e->r, f));
	if (c->greet.role == ROLE_POLICY) {
		f->s.policy = (uint8_t)policy_free_bit(e);
		if (f->s.policy == LIMIT_POLICIES)
			return reply_error(
				e, c, ENGINE_LIMIT, "too many policies", "limit", "policies");
		if (c->greet.headless && marks_headless_add(e, f) > 0) {
			f->s.policy = LIMIT_POLICIES;
			return reply_error(e, c, ENGINE_LIMIT,
				"too many users have a policy that is headless", "limit",
				"headless");
		}
	}
	f->s.greeted = true;
	f->s.role = (uint8_t)c->greet.role;
	f->s.answers = c->greet.answers;
	f->s.reasons = c->greet.reasons;
	TRY(set_bytes(e, f, &f->s.name, c->greet.name));
	if (c->greet.role == ROLE_POLICY) {
		marks_lost_remove(e, f);
		if (c->greet.headless)
			TRY(deny_alone(e));
	}
	TRY(reply_new(e, c, REPLY_GREETING, &out));
	return 0;
}

int deny_alone(struct engine *e)
{
	static const struct uuid start;
	struct decision_terms terms = {.source = SOURCE_BROKER, .step = STEP_HUMAN};
	struct entity *x;
	struct uuid at = start;

	while ((x = registry_next(&e->r, &at))) {
		struct request *q = ENTITY_OF(x, request);

		at = *entity_id(x);
		if (x->type == ENTITY_REQUEST && q->s.r.state == REQUEST_AWAITING &&
			request_alone(e, q))
			TRY(request_finish(e, q, REQUEST_ON_DENY, &terms));
	}
	return 0;
}

/* A policy that leaves has not answered: what waits for it asks a person. */
static int policy_leave(struct engine *e, struct frontend *f, bool polite)
{
	static const struct uuid start;
	uint32_t bit = 1u << f->s.policy;
	struct uuid at = start;
	struct entity *x;

	if (!polite)
		TRY(marks_lost_add(e, f));
	while ((x = registry_next(&e->r, &at))) {
		struct request *q = ENTITY_OF(x, request);

		at = *entity_id(x);
		if (x->type != ENTITY_REQUEST || !(q->s.offered & bit))
			continue;
		TRY(entity_touch(&e->r, q));
		q->s.offered &= ~bit;
		if (!(q->s.review & bit))
			continue;
		q->s.review &= ~bit;
		if (q->s.review_verdict != VERDICT_DENY)
			q->s.review_verdict = VERDICT_ASK;
		if (!q->s.review)
			TRY(request_reviewed(e, q));
	}
	return 0;
}

int on_frontend_gone(struct engine *e, const struct command *c)
{
	struct frontend *f = c->frontend;
	bool polite = c->type == COMMAND_FRONTEND_BYE, was = f->s.greeted;
	enum role role = f->s.role;

	TRY(entity_touch(&e->r, f));
	f->s.greeted = f->s.subscribed = false;
	if (was && role == ROLE_POLICY)
		TRY(policy_leave(e, f, polite));
	/* a hello on the same connection begins anew; only seq goes on */
	f->s.policy = LIMIT_POLICIES;
	f->s.complete = false;
	f->s.cursor = (struct uuid){0};
	f->s.timeouts = 0;
	if (was && role == ROLE_HUMAN)
		TRY(deny_alone(e));
	return polite ? reply_new(e, c, REPLY_EMPTY, NULL) : 0;
}

static int not_greeted(struct engine *e, const struct command *c)
{
	return reply_error(e, c, ENGINE_NO_SESSION, "say hello first", NULL, NULL);
}

int on_subscribe(struct engine *e, const struct command *c)
{
	struct frontend *f = c->frontend;
	struct effect *out;

	if (!f->s.greeted)
		return not_greeted(e, c);
	if (c->subscribe.has_cursor
			? !f->s.subscribed || f->s.complete ||
				  uuid_compare(&c->subscribe.cursor, &f->s.cursor) != 0
			: f->s.subscribed)
		return reply_error(e, c, ENGINE_INVALID,
			"the cursor is not that of the page before on this connection", "param",
			"cursor");
	TRY(entity_touch(&e->r, f));
	f->s.subscribed = true;
	if (f->s.role == ROLE_POLICY)
		f->s.complete = true;
	TRY(reply_new(e, c, REPLY_PAGE, &out));
	out->reply.cursor = f->s.cursor;
	out->reply.limit = c->subscribe.limit;
	return 0;
}

/* ---- decide ---- */

static struct decided refuse(
	const struct command_decision *d, enum decision_result result, const char *message)
{
	return (struct decided){.request = d->request, .result = result, .message = message};
}

static struct decided gone(const struct command_decision *d, const struct request *q)
{
	return (struct decided){.request = d->request,
		.result = RESULT_GONE,
		.state = q->s.r.state,
		.source = request_decision(q)->source};
}

/* Would the pipeline deny the call, or ask for it, with the edited input? */
static int recheck(struct engine *e, const struct request *q, const struct facts *facts,
	struct pipeline_result *out)
{
	struct pipeline_call call;

	judge_request(e, q, &call);
	call.mutating = facts->mutating;
	call.call.kind = facts->kind;
	call.call.facts = facts->flags;
	call.call.command = facts->command;
	call.call.url = facts->url;
	call.call.paths = facts->paths;
	call.call.n_paths = facts->n_paths;
	call.call.n_operands = facts->n_operands;
	return pipeline_recheck(&call, out);
}

/* What was asked, for the record of a decision that changed it. */
static int edit_describe(struct engine *e, const struct request *q, struct bytes *out)
{
	static const char edited[] = "edited", asked[] = ", asked was: ";
	const struct bytes command = str_bytes(q->s.r.command);
	char text[sizeof(edited) + sizeof(asked) + DECIDED_COMMAND];
	size_t n = sizeof(edited) - 1, cut = command.len;
	struct str *s;
	int err;

	memcpy(text, edited, n);
	if (cut > DECIDED_COMMAND)
		cut = DECIDED_COMMAND;
	if (cut) {
		memcpy(text + n, asked, sizeof(asked) - 1);
		n += sizeof(asked) - 1;
		memcpy(text + n, command.data, cut);
		n += cut;
	}
	s = str_new(text, n);
	if (!s)
		return -ENOMEM;
	*out = str_bytes(s);
	err = effect_keep(e, s);
	str_unref(s);
	return err;
}

/* From here on the request is what runs: its command, digest and paths are the edited ones. */
static int take_edit(struct engine *e, struct request *q, const struct command_decision *d,
	struct decision_terms *terms)
{
	struct decision *made;

	TRY(entity_touch(&e->r, q));
	made = request_decide(q);
	if (!made)
		return -ENOMEM;
	TRY(set_bytes(e, q, &made->updated_input, d->updated_input));
	TRY(set_bytes(e, q, &made->answers, d->answers));
	if (!d->updated_input.data)
		return 0;
	TRY(edit_describe(e, q, &terms->detail));
	TRY(set_bytes(e, q, &q->s.r.command, d->facts->command));
	TRY(set_bytes(e, q, &q->s.r.url, d->facts->url));
	request_drop_paths(q);
	memcpy(q->s.r.digest, d->facts->digest, sizeof(q->s.r.digest));
	memcpy(made->edited_hash, d->facts->input_hash, sizeof(made->edited_hash));
	return 0;
}

static int decide_by(struct engine *e, struct request *q, const struct command_decision *d,
	enum request_event event, struct decision_terms *terms, struct decided *out)
{
	struct always always = {.n = 0};
	int err;

	if (d->scope != SCOPE_ONCE) {
		TRY(always_find(e, q, d, &always, out));
		if (!always.n)
			return 0;
	}
	err = event == REQUEST_ON_ALLOW ? take_edit(e, q, d, terms) : 0;
	if (err == 0)
		err = always_emit(e, q, d, &always);
	if (err == 0)
		err = request_finish(e, q, event, terms);
	always_free(&always);
	return err;
}

static int decide_one(struct engine *e, const struct command *c,
	const struct command_decision *d, struct decided *out)
{
	struct decision_terms terms = {.source = SOURCE_USER,
		.step = STEP_HUMAN,
		.scope = d->scope,
		.reason = d->reason,
		.by = c->by};
	struct frontend *f = c->frontend;
	struct request *q;

	*out = refuse(d, RESULT_OK, NULL);
	if (d->malformed)
		return *out = refuse(d, RESULT_INVALID, "the decision does not parse"), 0;
	q = request_find(&e->r, &d->request);
	if (!q || q->s.r.check || !frontend_sees(f, &q->e))
		return *out = refuse(d, RESULT_NOT_FOUND, NULL), 0;
	if (f->s.role != ROLE_HUMAN || !(f->s.answers & (1u << q->s.r.type)))
		return *out = refuse(d, RESULT_FORBIDDEN,
			       "this frontend did not say in hello that it answers such "
			       "requests"),
		       0;
	if (!request_state_pending(q->s.r.state))
		return *out = gone(d, q), 0;
	if (d->has_digest && memcmp(d->digest, q->s.r.digest, sizeof(d->digest)) != 0)
		return *out = refuse(d, RESULT_MISMATCH, NULL), 0;
	if (d->rule.data && d->scope == SCOPE_ONCE)
		return *out = refuse(d, RESULT_INVALID, "a rule wants a scope beyond once"), 0;
	if (d->verdict == VERDICT_DENY)
		return decide_by(e, q, d, REQUEST_ON_DENY, &terms, out);
	if (d->verdict != VERDICT_ALLOW)
		return *out = refuse(d, RESULT_INVALID, "the verdict is allow or deny"), 0;
	if (!d->has_digest)
		return *out = refuse(d, RESULT_INVALID, "an allow names the digest it showed"),
		       0;
	if (q->s.r.state == REQUEST_HELD)
		return *out = refuse(d, RESULT_HELD, "its turn is suspended"), 0;
	if (q->s.r.state == REQUEST_REVIEW)
		return *out = refuse(d, RESULT_HELD, "policies are still being asked"), 0;
	if (q->s.r.type == REQUEST_TYPE_QUESTION && !d->answers.data)
		return *out = refuse(d, RESULT_INVALID, "a question wants answers"), 0;
	if (d->updated_input.data) {
		struct pipeline_result r;

		if (!q->s.r.takes_input)
			return *out = refuse(
				       d, RESULT_INVALID, "the agent takes no edited input"),
			       0;
		if (d->facts->flags & FACT_UNSEEN) {
			*out = refuse(d, RESULT_REFUSED,
				"the paths of the edited input can't be looked at now");
			out->step = STEP_FLOOR;
			return 0;
		}
		TRY(recheck(e, q, d->facts, &r));
		if (r.answer == PIPELINE_DENY || r.answer == PIPELINE_ASK) {
			*out = refuse(d, RESULT_REFUSED, "the edited input is refused");
			out->step = r.step;
			return 0;
		}
	}
	return decide_by(e, q, d, REQUEST_ON_ALLOW, &terms, out);
}

int on_decide(struct engine *e, const struct command *c)
{
	struct effect *out;

	if (!c->frontend->s.greeted)
		return not_greeted(e, c);
	e->out.results = calloc(c->decide.n + 1, sizeof(*e->out.results));
	if (!e->out.results)
		return -ENOMEM;
	for (unsigned i = 0; i < c->decide.n; i++)
		TRY(decide_one(e, c, &c->decide.items[i], &e->out.results[i]));
	TRY(reply_new(e, c, REPLY_RESULTS, &out));
	out->reply.results = e->out.results;
	out->reply.count = c->decide.n;
	return 0;
}

static int verdict_one(struct engine *e, const struct command *c,
	const struct command_decision *d, struct decided *out)
{
	struct frontend *f = c->frontend;
	struct request *q = request_find(&e->r, &d->request);
	uint32_t bit;

	*out = refuse(d, RESULT_OK, NULL);
	f->s.timeouts = 0; /* it answers, late or not */
	if (d->malformed)
		return *out = refuse(d, RESULT_INVALID, "the verdict does not parse"), 0;
	if (!q || !frontend_sees(f, &q->e))
		return *out = refuse(d, RESULT_NOT_FOUND, NULL), 0;
	bit = 1u << f->s.policy;
	if (q->s.r.state != REQUEST_REVIEW || !(q->s.offered & bit))
		return *out = gone(d, q), 0;
	if (memcmp(d->digest, q->s.r.digest, sizeof(d->digest)) != 0)
		return *out = refuse(d, RESULT_MISMATCH, NULL), 0;
	TRY(entity_touch(&e->r, q));
	q->s.review &= ~bit;
	q->s.offered &= ~bit;
	/* deny beats ask beats allow; the first of the strongest is named */
	if ((d->verdict == VERDICT_DENY && q->s.review_verdict != VERDICT_DENY) ||
		(d->verdict == VERDICT_ASK && q->s.review_verdict != VERDICT_DENY &&
			q->s.review_verdict != VERDICT_ASK) ||
		(d->verdict == VERDICT_ALLOW && q->s.review_verdict == VERDICT_NONE)) {
		q->s.review_verdict = (uint8_t)d->verdict;
		TRY(decision_say(e, q, d->reason, f->s.name ? str_bytes(f->s.name) : c->by));
	}
	if (!q->s.review || d->verdict == VERDICT_DENY)
		return request_reviewed(e, q);
	return 0;
}

int on_verdict(struct engine *e, const struct command *c)
{
	struct effect *out;

	if (!policy_is(c->frontend))
		return reply_error(
			e, c, ENGINE_FORBIDDEN, "only a policy gives verdicts", NULL, NULL);
	e->out.results = calloc(1, sizeof(*e->out.results));
	if (!e->out.results)
		return -ENOMEM;
	TRY(entity_touch(&e->r, c->frontend));
	TRY(verdict_one(e, c, c->decide.items, e->out.results));
	TRY(reply_new(e, c, REPLY_RESULT, &out));
	out->reply.results = e->out.results;
	out->reply.count = 1;
	return 0;
}
