/* SPDX-License-Identifier: MIT */
/* A person ends a session's processes; the engine ends its turn, and says whose they are. */
#include "broker/core/engine_private.h"

#include <errno.h>

/* Its calls are denied from now on, and those of its children. */
static int turns_end(struct engine *e, const struct command *c, struct session *s)
{
	struct turn *t = s->s.turn;
	struct session *child, *next;

	if (t && !turn_state_over(t->s.r.state))
		TRY(turn_end(e, t, REQUEST_ON_DENY, SOURCE_USER, c->by, c->steer.reason));
	LIST_FOREACH_SAFE (child, &s->children, in_parent, next)
		TRY(turns_end(e, c, child));
	return 0;
}

int on_kill(struct engine *e, const struct command *c)
{
	struct session *s = session_find(&e->r, &c->steer.session);

	if (!c->frontend->s.greeted || !s || !frontend_sees(c->frontend, &s->e))
		return reply_error(e, c, ENGINE_NOT_FOUND, "no such session", NULL, NULL);
	if (c->frontend->s.role != ROLE_HUMAN)
		return reply_error(
			e, c, ENGINE_FORBIDDEN, "only a person may do that", NULL, NULL);
	if (!s->s.r.alive || !s->s.r.subject.pid)
		return reply_error(
			e, c, ENGINE_STATE, "its process has ended", "state", "ended");
	TRY(history_session(e, s, HISTORY_KILLED, c->by, c->steer.reason));
	TRY(session_effect(e, s, EFFECT_KILL));
	e->out.items[e->out.n - 1].kill.grace = c->steer.grace;
	TRY(turns_end(e, c, s));
	return reply_new(e, c, REPLY_EMPTY, NULL);
}
