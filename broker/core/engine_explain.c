/* SPDX-License-Identifier: MIT */
#include "broker/core/engine_explain.h"

#include "broker/core/engine_private.h"

static const enum request_type type = REQUEST_TYPE_TOOL_CALL;

struct frontend *engine_policy_next(struct engine *e, uint32_t uid, struct frontend *prev)
{
	struct frontend *f = prev ? TAILQ_NEXT(prev, in_engine) : TAILQ_FIRST(&e->r.frontends);

	while (f && !(policy_is(f) && frontend_answers(f, uid, type) && policy_awaited(f)))
		f = TAILQ_NEXT(f, in_engine);
	return f;
}

static bool policy_given_up(struct engine *e, uint32_t uid)
{
	struct frontend *f;

	TAILQ_FOREACH (f, &e->r.frontends, in_engine)
		if (policy_is(f) && frontend_answers(f, uid, type) && !policy_awaited(f))
			return true;
	return false;
}

static int look(struct engine *e, const struct pipeline_call *call, bool fail_closed,
	struct explain_answer *out)
{
	const uint32_t uid = call->call.uid;
	int err;

	*out = (struct explain_answer){.mode = call->mode};
	err = pipeline_run(call, &out->trace, &out->result);
	if (err < 0)
		return err;
	out->review = out->result.answer == PIPELINE_ASK || out->result.answer == PIPELINE_PASS;
	out->policy_missing = policy_missing(e, uid, type) || policy_given_up(e, uid);
	out->alone = alone_denies(e, uid, type, fail_closed);
	return 0;
}

int engine_explain(struct engine *e, struct instant now, const struct explain_question *q,
	struct explain_answer *out)
{
	const struct session *const s = q->session;
	/* as that of a session which has none yet and that a call would begin */
	const struct turn begun = {
		.s = {
			.r.state = s && session_inherits(s) ? TURN_SUSPENDED : TURN_RUNNING,
			.session = q->session,
		}};
	const struct turn *const turn = s && s->s.turn ? s->s.turn : &begun;
	const struct pipeline_call call = {
		.session = s,
		.turn = s ? turn : NULL,
		.type = type,
		.mode = q->mode >= 0 ? (enum mode)q->mode
			: s	     ? session_mode(s)
				     : e->config.default_mode,
		.mutating = q->facts->mutating,
		.denials = denials_count(turn->s.denials, q->facts->signature),
		.repeat_limit = e->config.repeat_limit,
		.judge = e->judge,
		.call =
			{
				.tool = q->tool,
				.command = q->facts->command,
				.url = q->facts->url,
				.kind = q->facts->kind,
				.facts = q->facts->flags,
				.paths = q->facts->paths,
				.n_paths = q->facts->n_paths,
				.n_operands = q->facts->n_operands,
				.cwd = q->cwd,
				.workspace = q->workspace,
				.home = q->home,
				.uid = s ? s->s.r.uid : q->uid,
				.session = s ? s->s.r.id : (struct uuid){{0}},
				.turn = s ? turn->s.r.id : (struct uuid){{0}},
				.now = now.wall,
			},
	};

	return look(e, &call, s && s->s.r.fail_closed, out);
}

int engine_explain_request(struct engine *e, struct instant now, const struct request *q,
	struct explain_answer *out)
{
	struct pipeline_call call;

	judge_request(e, q, &call);
	call.call.now = now.wall;
	return look(e, &call, q->s.r.fail_closed || request_session(q)->s.r.fail_closed, out);
}
