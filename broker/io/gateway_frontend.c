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
	if (asprintf(&client->name, "uid %u pid %u %.*s", p->uid, p->process ? p->process->id.pid : 0,
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

/* ---- decide ---- */

/* Of an edited input. */
struct edit {
	struct facts facts;
	struct request_path *paths;
	unsigned n;
	char *text; /* what the command points into where it was joined */
};

static void edit_release(struct edit *edit)
{
	for (unsigned i = 0; i < edit->n; i++)
		str_unref(edit->paths[i].given);
	free(edit->paths);
	free(edit->text);
}

/*
 * An edited input is looked at as a request's would be, but its paths are not
 * resolved: it is judged by what it names.
 */
static int edit_facts(struct gateway *g, struct command_decision *d, struct edit *edit)
{
	struct request *q = request_find(&g->engine.r, &d->request);
	struct facts_draft draft;
	struct facts_input in;
	int err;

	if (!q)
		return 0;
	in = (struct facts_input){ .tool = str_bytes(q->s.r.tool), .input = d->updated_input,
		.type = q->s.r.type, .claimed_kind = -1, .claimed_mutating = q->s.r.mutating,
		.cwd = str_bytes(q->s.r.cwd),
		.workspace = str_bytes(request_session(q)->s.r.workspace),
		.home = str_bytes(request_session(q)->owner->home) };
	err = facts_collect(&g->judge, &in, &draft);
	if (err < 0)
		return err;
	edit->paths = calloc(draft.n_paths ? draft.n_paths : 1, sizeof(*edit->paths));
	if (!edit->paths)
		err = -ENOMEM;
	for (size_t i = 0; err == 0 && i < draft.n_paths; i++) {
		edit->paths[i].given = str_new(draft.paths[i].data, draft.paths[i].len);
		err = edit->paths[i].given ? 0 : -ENOMEM;
		edit->n += err == 0;
	}
	if (err == 0)
		err = facts_finish(&draft, edit->paths, edit->n, &edit->facts);
	edit->text = draft.text;
	draft.text = NULL;
	facts_release(&draft);
	d->facts = &edit->facts;
	return err;
}

static int decision_parse(struct gateway *g, struct bytes element, struct command_decision *d,
	struct edit *edit)
{
	struct wire_decision m;
	struct wire_problem problem;
	int v;

	memset(d, 0, sizeof(*d));
	d->malformed = true;
	if (wire_decode(&wire_decision_spec, element, &m, &problem))
		return 0;
	if (id_parse(ID_REQUEST, m.request, &d->request) < 0)
		return 0;
	v = verdict_parse(m.verdict);
	if (v < 0)
		return 0;
	d->verdict = (enum verdict)v;
	v = m.scope.data ? scope_parse(m.scope) : SCOPE_ONCE;
	if (v < 0)
		return 0;
	d->scope = (enum scope)v;
	d->malformed = false;
	d->has_digest = m.digest.data != NULL;
	if (d->has_digest)
		memcpy(d->digest, m.digest.data, sizeof(d->digest));
	d->reason = m.reason;
	d->rule = m.rule;
	d->updated_input = m.updated_input;
	d->answers = m.answers;
	return d->updated_input.data ? edit_facts(g, d, edit) : 0;
}

static int frontend_decide(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct command c = { .type = COMMAND_DECIDE, .call = f->id, .by = bytes_of(client->name) };
	struct wire_decide m;
	struct wire_problem problem;
	struct command_decision *items = NULL;
	struct edit *edits = NULL;
	struct bytes element;
	struct wire_iter it;
	unsigned n = 0;
	int err = wire_decode(&wire_decide_spec, f->params, &m, &problem);

	if (err)
		return problem_answer(g, client, f->id, err, &problem), 0;
	if (wire_iter_array(&it, m.decisions) != 0 || it.left > LIMIT_DECISIONS)
		return answer_bad_value(g, client, f->id, "decisions"), 0;
	items = calloc(it.left + 1, sizeof(*items));
	edits = calloc(it.left + 1, sizeof(*edits));
	err = items && edits ? 0 : -ENOMEM;
	while (err == 0 && wire_array_next(&it, &element)) {
		err = decision_parse(g, element, &items[n], &edits[n]);
		n++;
	}
	if (err == 0) {
		c.decide.items = items;
		c.decide.n = n;
		gateway_step(g, client, &c);
	}
	for (unsigned i = 0; i < n; i++)
		edit_release(&edits[i]);
	free(items);
	free(edits);
	return err;
}

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
	case WIRE_FRONTEND_DECIDE: return frontend_decide(g, client, f);
	case WIRE_FRONTEND_VERDICT: return frontend_verdict(g, client, f);
	case WIRE_FRONTEND_SET_MODE:
	case WIRE_FRONTEND_SUSPEND:
	case WIRE_FRONTEND_RESUME:
	case WIRE_FRONTEND_END_TURN: v = steer_parse(g, client, f, method, &c); break;
	case WIRE_FRONTEND_RULES_LIST:
	case WIRE_FRONTEND_RULES_ADD:
	case WIRE_FRONTEND_RULES_LINT:
	case WIRE_FRONTEND_RULES_REMOVE: return frontend_rules(g, client, f, method);
	case WIRE_FRONTEND_EXPLAIN: return frontend_explain(g, client, f, raw);
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
