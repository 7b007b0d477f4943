/* SPDX-License-Identifier: MIT */
/* The calls of frontends that change something; what only asks is in gateway_query.c. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

/* Who decides, for the record: "uid 1000 pid 4242 approvalctl 0.1.0". */
static int name_make(struct client *client, struct bytes said)
{
	const struct peer *p = client->peer;

	free(client->name);
	client->name = NULL;
	if (asprintf(&client->name, "uid %u pid %u %.*s", p->uid,
		p->process ? p->process->id.pid : 0,
		    (int)said.len, (const char *)said.data) < 0)
		client->name = NULL;
	return client->name ? 0 : -ENOMEM;
}

static int greet_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct command *c)
{
	struct wire_frontend_hello m;
	struct wire_problem problem;
	struct bytes element, name;
	struct wire_iter it;
	int v = wire_decode(&wire_frontend_hello_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	if (m.protocol != GATEWAY_PROTOCOL)
		return answer_error(g, client, f->id, WIRE_PROTOCOL, "this broker speaks version 1",
			       "supported", bytes_of("1")),
		       1;
	v = role_parse(m.role);
	if (v < 0)
		return answer_bad_value(g, client, f->id, "role");
	c->type = COMMAND_FRONTEND_HELLO;
	c->greet.role = (enum role)v;
	c->greet.reasons = m.reasons;
	c->greet.headless = m.headless;
	c->greet.name = m.name;
	c->greet.answers = 1u << REQUEST_TYPE_TOOL_CALL | 1u << REQUEST_TYPE_PERMISSIONS;
	if (m.answers.data) {
		c->greet.answers = 0;
		if (wire_iter_array(&it, m.answers) != 0)
			return answer_bad_value(g, client, f->id, "answers");
		while (wire_array_next(&it, &element)) {
			v = wire_text(element, &name) == 0 ? request_type_parse(name) : -1;
			if (v < 0)
				return answer_bad_value(g, client, f->id, "answers");
			c->greet.answers |= (uint8_t)(1u << v);
		}
	}
	/* a second hello is refused, and does not change who decides */
	return client->frontend->s.greeted ? 0 : name_make(client, m.client);
}

static int subscribe_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct command *c)
{
	struct wire_subscribe m;
	struct wire_problem problem;
	int v = wire_decode(&wire_subscribe_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	c->type = COMMAND_SUBSCRIBE;
	c->subscribe.limit = m.limit;
	if (m.cursor.data) {
		if (m.cursor.len != sizeof(c->subscribe.cursor))
			return answer_bad_value(g, client, f->id, "cursor");
		c->subscribe.has_cursor = true;
		memcpy(c->subscribe.cursor.b, m.cursor.data, m.cursor.len);
	}
	return 0;
}

/* ---- the answer of a policy ---- */

static int frontend_verdict(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct command c = { .type = COMMAND_VERDICT, .call = f->id, .by = bytes_of(client->name) };
	struct command_decision d = { .has_digest = true };
	struct wire_verdict m;
	struct wire_problem problem;
	int v = wire_decode(&wire_verdict_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (id_parse(ID_REQUEST, m.request, &d.request) < 0)
		return answer_bad_value(g, client, f->id, "request"), 0;
	v = verdict_parse(m.verdict);
	if (v <= VERDICT_NONE)
		return answer_bad_value(g, client, f->id, "verdict"), 0;
	d.verdict = (enum verdict)v;
	d.reason = m.reason;
	memcpy(d.digest, m.digest.data, sizeof(d.digest));
	c.decide.items = &d;
	c.decide.n = 1;
	gateway_step(g, client, &c);
	return 0;
}

/* ---- steering ---- */

static int steer_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct command *c)
{
	struct wire_frontend_set_mode mode;
	struct wire_suspend suspend;
	struct wire_resume resume;
	struct wire_budget raise;
	struct wire_end_turn end;
	struct wire_problem problem;
	struct bytes session = none;
	int v;

	c->by = bytes_of(client->name);
	switch (method) {
	case WIRE_FRONTEND_SET_MODE:
		c->type = COMMAND_CEILING;
		v = wire_decode(&wire_frontend_set_mode_spec, f->params, &mode, &problem);
		session = mode.session;
		break;
	case WIRE_FRONTEND_SUSPEND:
		c->type = COMMAND_SUSPEND;
		v = wire_decode(&wire_suspend_spec, f->params, &suspend, &problem);
		session = suspend.session;
		c->steer.all = suspend.all;
		c->steer.reason = suspend.reason;
		break;
	case WIRE_FRONTEND_RESUME:
		c->type = COMMAND_RESUME;
		v = wire_decode(&wire_resume_spec, f->params, &resume, &problem);
		session = resume.session;
		c->steer.all = resume.all;
		if (v == 0)
			v = wire_decode(&wire_budget_spec, f->params, &raise, &problem);
		c->steer.has_raise = v == 0 && raise.present;
		if (c->steer.has_raise)
			amounts_take(&raise, &c->steer.raise);
		break;
	default:
		c->type = COMMAND_END_TURN;
		v = wire_decode(&wire_end_turn_spec, f->params, &end, &problem);
		session = end.session;
		c->steer.reason = end.reason;
	}
	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	if (method == WIRE_FRONTEND_SET_MODE) {
		v = mode_parse(mode.mode);
		if (v < 0)
			return answer_bad_value(g, client, f->id, "mode");
		c->steer.mode = (enum mode)v;
	}
	if (session.data ? id_parse(ID_SESSION, session, &c->steer.session) < 0 || c->steer.all
			 : !c->steer.all)
		return answer_bad_value(g, client, f->id, "session");
	if ((c->type == COMMAND_RESUME || c->type == COMMAND_END_TURN) &&
		enforce_stuck(g, client, f->id, session.data ? &c->steer.session : NULL))
		return 1;
	return 0;
}

int frontend_frame(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw)
{
	struct command c = { .call = f->id };
	int method = wire_frontend_method_find(f->method), v;

	/* judged at the first call, and anew at each that may change something */
	if (frontend_refused(g, client, f->id))
		return 0;
	if (method < 0) {
		answer_error(g, client, f->id, WIRE_UNKNOWN_METHOD, "no such method on this socket",
			"method", f->method);
		return 0;
	}
	if (method != WIRE_FRONTEND_HELLO && !client->frontend->s.greeted) {
		answer_error(g, client, f->id, WIRE_NO_SESSION, "say hello first", NULL, none);
		return 0;
	}
	switch (method) {
	case WIRE_FRONTEND_HELLO: v = greet_parse(g, client, f, &c); break;
	case WIRE_FRONTEND_SUBSCRIBE: v = subscribe_parse(g, client, f, &c); break;
	case WIRE_FRONTEND_DECIDE: return frontend_decide(g, client, f, raw);
	case WIRE_FRONTEND_VERDICT: return frontend_verdict(g, client, f);
	case WIRE_FRONTEND_SET_MODE:
	case WIRE_FRONTEND_SUSPEND:
	case WIRE_FRONTEND_RESUME:
	case WIRE_FRONTEND_END_TURN: v = steer_parse(g, client, f, method, &c); break;
	case WIRE_FRONTEND_KILL: return frontend_kill(g, client, f);
	case WIRE_FRONTEND_RULES_LIST:
	case WIRE_FRONTEND_RULES_ADD:
	case WIRE_FRONTEND_RULES_LINT:
	case WIRE_FRONTEND_RULES_REMOVE: return frontend_rules(g, client, f, method);
	case WIRE_FRONTEND_EXPLAIN: return frontend_explain(g, client, f, raw);
	case WIRE_FRONTEND_RULES_PROJECT:
	case WIRE_FRONTEND_RULES_PROJECTS:
	case WIRE_FRONTEND_RULES_TRUST: return frontend_trust(g, client, f, method, raw);
	case WIRE_FRONTEND_FLOOR_LIST:
	case WIRE_FRONTEND_RELOAD: return frontend_floor(g, client, f, method);
	case WIRE_FRONTEND_BYE:
		c.type = COMMAND_FRONTEND_BYE;
		v = 0;
		break;
	default: return frontend_query(g, client, f, method);
	}
	if (v == 0)
		gateway_step(g, client, &c);
	return v < 0 ? v : 0;
}
