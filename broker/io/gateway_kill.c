/* SPDX-License-Identifier: MIT */
/* The call by which a person ends a session's processes. */
#include "broker/io/gateway_private.h"

int frontend_kill(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct command c = {.type = COMMAND_KILL, .call = f->id, .by = bytes_of(client->name)};
	struct wire_kill m;
	struct wire_problem problem;
	int v = wire_decode(&wire_kill_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (id_parse(ID_SESSION, m.session, &c.steer.session) < 0)
		return answer_bad_value(g, client, f->id, "session"), 0;
	c.steer.reason = m.reason;
	c.steer.grace =
		(int64_t)(WIRE_HAS(&m, kill, grace_ms) ? m.grace_ms : TIME_KILL_MS) * 1000;
	gateway_step(g, client, &c);
	return 0;
}
