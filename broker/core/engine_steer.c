/* SPDX-License-Identifier: MIT */
/* A person's suspend, resume and end_turn. */
#include "broker/core/engine_private.h"

#include <errno.h>

static const struct bytes none;

static int suspend_session(
	struct engine *e, const struct command *c, struct session *s, uint32_t *changed)
{
	struct turn *t = s->s.turn;

	if (!t) /* between turns: the next one is suspended already */
		TRY(turn_begin(e, s, none, &t));
	/* one that a person ended passes it on to its successor */
	if (t->s.r.causes & CAUSE_HAND)
		return 0;
	(*changed)++;
	return turn_suspend(e, t, CAUSE_HAND, c->by, c->steer.reason);
}

static int resume_session(
	struct engine *e, const struct command *c, struct session *s, uint32_t *changed)
{
	struct turn *t = s->s.turn;
	const struct command_steer *m = &c->steer;
	bool raises;

	if (!t)
		return 0;
	/* what a person has stopped is not given more by the way, nor is everybody */
	raises = !turn_state_over(t->s.r.state) &&
		 (m->has_raise || (t->s.r.causes == CAUSE_BUDGET && !m->all));
	if (raises) {
		int still = budget_raise(e, t, m->has_raise ? &m->raise : NULL);

		if (still < 0)
			return still;
		if (still && m->all)
			return 0;
		if (still) {
			TRY(reply_error(e, c, ENGINE_STATE,
				"more than that is used already: the turn would be suspended "
				"again "
				"at once",
				"state", turn_state_name(t->s.r.state)));
			return 1;
		}
	} else if (!(t->s.r.causes & CAUSE_HAND)) {
		return 0;
	} else {
		/* what was reached before a person came in between */
		TRY(budget_check(e, t, s));
	}
	(*changed)++;
	if (raises && t->s.r.causes & CAUSE_BUDGET)
		TRY(turn_resume(e, t, CAUSE_BUDGET, c->by, none));
	if (t->s.r.causes & CAUSE_HAND)
		TRY(turn_resume(e, t, CAUSE_HAND, c->by, none));
	else if (raises)
		TRY(turn_tell(e, t));
	return session_settle(e, s);
}

/* A person ends the turn, and those of its children. */
static int end_turns(struct engine *e, const struct command *c, struct session *s,
	enum source source, uint32_t *changed)
{
	struct turn *t = s->s.turn;
	struct session *child, *next;

	if (t && !turn_state_over(t->s.r.state)) {
		if (t->s.r.causes & CAUSE_BUDGET) /* that is why, whoever says so */
			source = SOURCE_BUDGET;
		(*changed)++;
		TRY(turn_end(e, t, REQUEST_ON_DENY, source, c->by, c->steer.reason));
	}
	LIST_FOREACH_SAFE (child, &s->children, in_parent, next)
		TRY(end_turns(e, c, child, source, changed));
	return session_settle(e, s);
}

static int end_session_turn(
	struct engine *e, const struct command *c, struct session *s, uint32_t *changed)
{
	return end_turns(e, c, s, SOURCE_USER, changed);
}

static int steer(struct engine *e, const struct command *c,
	int (*act)(struct engine *e, const struct command *c, struct session *s,
		uint32_t *changed))
{
	static const struct uuid start;
	struct uuid at = start;
	uint32_t changed = 0;
	struct effect *out;
	struct entity *x;

	if (!c->frontend->s.greeted)
		return reply_error(e, c, ENGINE_NO_SESSION, "say hello first", NULL, NULL);
	if (c->frontend->s.role != ROLE_HUMAN)
		return reply_error(
			e, c, ENGINE_FORBIDDEN, "only a person may do that", NULL, NULL);
	if (!c->steer.all) {
		struct session *s = session_find(&e->r, &c->steer.session);

		int err;

		if (!s || s->s.r.ended || !frontend_sees(c->frontend, &s->e))
			return reply_error(
				e, c, ENGINE_NOT_FOUND, "no such session", NULL, NULL);
		err = act(e, c, s, &changed);
		if (err)
			return err < 0 ? err : 0; /* answered */
	} else {
		while ((x = registry_next(&e->r, &at))) {
			at = *entity_id(x);
			if (x->type == ENTITY_SESSION && frontend_sees(c->frontend, x) &&
				!ENTITY_OF(x, session)->s.r.ended)
				TRY(act(e, c, ENTITY_OF(x, session), &changed));
		}
	}
	TRY(reply_new(e, c, REPLY_COUNT, &out));
	out->reply.count = changed;
	return 0;
}

int on_suspend(struct engine *e, const struct command *c)
{
	return steer(e, c, suspend_session);
}

int on_resume(struct engine *e, const struct command *c)
{
	return steer(e, c, resume_session);
}

int on_end_turn(struct engine *e, const struct command *c)
{
	return steer(e, c, end_session_turn);
}
