/* SPDX-License-Identifier: MIT */
/* The calls of agents. */
#include "broker/io/gateway_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

/* A value that a call gave and that names no member of its list. */
struct bad_value {
	enum wire_code code;
	const char *param;
};

void problem_answer(struct gateway *g, struct client *client, uint32_t call, int code,
	const struct wire_problem *problem)
{
	if (code == WIRE_TOO_LARGE)
		answer_error(g, client, call, WIRE_TOO_LARGE, problem->message, "limit",
			bytes_of(problem->param));
	else
		answer_error(g, client, call, WIRE_INVALID, problem->message, "param",
			bytes_of(problem->param));
}

static int unsupported(struct gateway *g, struct client *client, uint32_t call, struct bytes name)
{
	answer_error(g, client, call, WIRE_UNSUPPORTED, "this broker does not know that", "name",
		name);
	return 0;
}

/* ---- request, check ---- */

struct request_call {
	struct wire_request m;
	enum request_type type;
	int kind, on_disconnect;
	struct facts_draft draft;
};

/* What people choose from: 0, or what is wrong with it. */
static int options_check(struct bytes options, struct wire_problem *problem)
{
	struct wire_option option;
	struct bytes element;
	struct wire_iter it;
	int v = 0;

	if (!options.data || wire_iter_array(&it, options) != 0)
		return 0;
	*problem = (struct wire_problem){ "options", "are too many" };
	if (it.left > LIMIT_OPTIONS)
		return WIRE_TOO_LARGE;
	while (v == 0 && wire_array_next(&it, &element))
		v = wire_decode(&wire_option_spec, element, &option, problem);
	problem->param = "options";
	return v;
}

static int request_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct request_call *r)
{
	struct wire_problem problem;
	struct session *s = client->link->s.session;
	struct facts_input in;
	int v = wire_decode(&wire_request_spec, f->params, &r->m, &problem);

	if (v == 0)
		v = options_check(r->m.options, &problem);
	if (v) {
		problem_answer(g, client, f->id, v, &problem);
		return 1;
	}
	r->type = REQUEST_TYPE_TOOL_CALL;
	if (r->m.type.data) {
		v = request_type_parse(r->m.type);
		if (v < 0)
			return unsupported(g, client, f->id, r->m.type), 1;
		r->type = (enum request_type)v;
	}
	r->kind = -1;
	if (r->m.kind.data) {
		r->kind = kind_parse(r->m.kind);
		if (r->kind < 0)
			return unsupported(g, client, f->id, r->m.kind), 1;
	}
	r->on_disconnect = DISCONNECT_WAIT;
	if (r->m.on_disconnect.data) {
		r->on_disconnect = disconnect_parse(r->m.on_disconnect);
		if (r->on_disconnect < 0)
			return answer_bad_value(g, client, f->id, "on_disconnect");
	}
	if (r->m.cwd.data && (!r->m.cwd.len || *(const char *)r->m.cwd.data != '/'))
		return answer_bad_value(g, client, f->id, "cwd");
	in = (struct facts_input){ .tool = r->m.tool, .input = r->m.input, .type = r->type,
		.claimed_kind = r->kind, .claimed_mutating = r->m.mutating,
		.cwd = r->m.cwd.data ? r->m.cwd : str_bytes(s->s.r.cwd),
		.workspace = str_bytes(s->s.r.workspace), .home = bytes_of(client->home) };
	return facts_collect(&g->judge, &in, &r->draft);
}

/* Options and schema together, as they are kept: a map of what was given. */
static int extra_pack(const struct wire_request *m, struct wire_buffer *b)
{
	struct wire_open map;

	wire_buffer_init(b, LIMIT_INPUT);
	if (!m->options.data && !m->schema.data)
		return 0;
	wire_map_open(&map, b);
	if (m->options.data)
		wire_map_raw(&map, "options", m->options);
	if (m->schema.data)
		wire_map_raw(&map, "schema", m->schema);
	wire_close(&map);
	return b->error;
}

static void request_step(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct request_call *r, bool check, struct resolver_result *result)
{
	struct command c = { .type = COMMAND_REQUEST, .call = f->id };
	struct command_request *m = &c.request;
	struct request_path paths[LIMIT_LOOKUPS];
	struct wire_buffer extra;
	unsigned n;
	int err = paths_take(&r->draft, result, paths, &n);

	resolver_result_free(result);
	if (err == 0)
		err = facts_finish(&r->draft, paths, n, &m->facts);
	m->type = r->type;
	m->check = check;
	m->call = r->m.tool_call_id;
	m->tool = r->m.tool;
	m->input = r->m.input;
	m->summary = r->m.summary;
	m->description = r->m.description;
	m->cwd = r->m.cwd;
	m->turn_key = r->m.turn_id;
	m->timeout_ms = (int64_t)r->m.timeout_ms;
	m->channel_ms = (int64_t)r->m.channel_ms;
	m->on_disconnect = (enum disconnect)r->on_disconnect;
	m->fail_closed = r->m.fail_closed;
	m->elsewhere = r->m.elsewhere;
	m->takes_input = r->m.takes_input;
	m->multi = r->m.multi;
	if (extra_pack(&r->m, &extra) < 0)
		err = -ENOMEM;
	m->extra = extra.len ? wire_buffer_bytes(&extra) : none;
	if (err == 0)
		gateway_step(g, client, &c);
	else
		pending_call_fail(g, client, f->id, err);
	wire_buffer_free(&extra);
	paths_release(paths, n);
	facts_release(&r->draft);
}

static bool is_check(const struct wire_frame *f)
{
	return bytes_is(f->method, "check");
}

static void request_resolved(void *arg, struct resolver_result *result)
{
	struct pending_call *p = arg;
	struct gateway *g = p->g;
	struct client *client = p->client;
	struct request_call r;
	struct wire_frame f = { .id = 0 };
	int err;

	pending_call_unpark(p);
	/* a copy of what has been read before */
	err = wire_frame_decode((struct bytes){ p->bytes, p->len }, &f) < 0 ? -EBADMSG : 0;
	if (err == 0 && !client->link->s.session) {
		answer_error(g, client, f.id, WIRE_NO_SESSION, "the session has ended", NULL, none);
		err = 1;
	}
	if (err == 0)
		err = request_parse(g, client, &f, &r);
	if (err == 0) {
		request_step(g, client, &f, &r, is_check(&f), result);
		result = NULL;
	}
	resolver_result_free(result);
	pending_call_free(p);
	if (err < 0)
		pending_call_fail(g, client, f.id, err);
	client_go_on(client);
}

/* Each call counts by which an agent makes a record, or work, of its own accord. */
static bool rate_refused(struct gateway *g, struct client *client, uint32_t call, int64_t now)
{
	int limit = account_charge_rate(client->peer->account, now);

	if (limit)
		answer_error(g, client, call, WIRE_LIMIT, "too many calls a second of this user",
			"limit", bytes_of(account_limit_name(limit)));
	return limit != 0;
}

static int agent_request(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw);

static void request_again(struct pending_call *p)
{
	const struct bytes raw = { p->bytes, p->len };
	struct gateway *g = p->g;
	struct client *client = p->client;
	struct wire_frame f = { .id = 0 };
	int err;

	pending_call_unpark(p);
	/* a copy of what has been read before */
	err = wire_frame_decode(raw, &f) < 0 ? -EBADMSG : 0;
	if (err == 0)
		err = agent_request(g, client, &f, raw);
	pending_call_free(p);
	if (err < 0)
		pending_call_fail(g, client, f.id, err);
	client_go_on(client);
}

/* The rules of its project are read first. 1: it may go on; 0: it waits; -ENOMEM. */
static int project_await(struct gateway *g, struct client *client, struct bytes raw)
{
	const struct session *s = client->link->s.session;
	struct pending_call *p;
	int err = pending_call_new(g, client, &p);

	if (err < 0)
		return err;
	p->again = request_again;
	err = project_wait(
		p, s->s.r.uid, str_bytes(s->s.r.workspace), subject_process(g, client), raw);
	if (err != 0)
		pending_call_free(p);
	return err;
}

static int agent_request(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw)
{
	struct session *s = client->link->s.session;
	int64_t now = gateway_now(g).mono;
	struct resolver_result *result = NULL;
	struct resolver_job *job = NULL;
	struct pending_call *p;
	struct request_call r;
	int err;

	if (!s)
		return answer_error(g, client, f->id, WIRE_NO_SESSION,
			       "say hello first; or the session has ended", NULL, none),
		       0;
	err = project_await(g, client, raw);
	if (err != 1)
		return err;
	err = request_parse(g, client, f, &r);
	if (err)
		return err < 0 ? err : 0;
	if (r.draft.n_paths) {
		char cwd[LIMIT_TEXT + 1];
		struct resolver_spec spec = { .subject = subject_process(g, client),
			.cwd = cwd, .home = client->home,
			.workspace = s->s.r.workspace ? str_text(s->s.r.workspace) : NULL,
			.alias = client->alias, .paths = r.draft.paths, .n = r.draft.n_paths };

		path_copy(cwd, sizeof(cwd), r.draft.in.cwd);
		err = pending_call_new(g, client, &p);
		if (err < 0)
			return facts_release(&r.draft), err;
		err = resolver_paths(g->resolver, &spec, now, request_resolved, p, &result, &job);
		if (err == 0) {
			err = pending_call_park(p, job, raw);
			if (err < 0)
				pending_call_free(p);
			return facts_release(&r.draft), err;
		}
		pending_call_free(p);
		if (err < 0)
			return facts_release(&r.draft), err;
	}
	request_step(g, client, f, &r, is_check(f), result);
	return 0;
}

/* ---- the rest ---- */

static int turn_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct command_turn *t)
{
	struct wire_turn_begin begin;
	struct wire_turn_end end;
	struct wire_turn_usage u;
	struct wire_usage usage;
	struct wire_problem problem;
	int v;

	switch (method) {
	case WIRE_AGENT_TURN_BEGIN:
		v = wire_decode(&wire_turn_begin_spec, f->params, &begin, &problem);
		t->key = begin.turn_id;
		if (!v && budget_parse(g, client, f->id, begin.budget, &t->has_budget, &t->budget))
			return 1;
		break;
	case WIRE_AGENT_TURN_END:
		v = wire_decode(&wire_turn_end_spec, f->params, &end, &problem);
		t->key = end.turn_id;
		if (v || !end.usage.data)
			break;
		v = wire_decode(&wire_turn_usage_spec, end.usage, &u, &problem);
		t->has_usage = true;
		t->usage_seq = u.seq;
		t->usage = (struct usage){ u.input, u.output, u.cache_read, u.cache_write,
			u.cost_microusd };
		t->cursor = u.cursor;
		break;
	default:
		v = wire_decode(&wire_usage_spec, f->params, &usage, &problem);
		t->key = usage.turn_id;
		t->has_usage = true;
		t->usage_seq = usage.seq;
		t->usage = (struct usage){ usage.input, usage.output, usage.cache_read,
			usage.cache_write, usage.cost_microusd };
		t->cursor = usage.cursor;
	}
	if (v)
		problem_answer(g, client, f->id, v, &problem);
	return v;
}

static int about_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct command_about *a)
{
	struct wire_cancel cancel;
	struct wire_settled settled;
	struct wire_outcome outcome;
	struct wire_problem problem;
	struct bytes request = none, input = none;
	int v, e;

	switch (method) {
	case WIRE_AGENT_CANCEL:
		v = wire_decode(&wire_cancel_spec, f->params, &cancel, &problem);
		a->call = cancel.tool_call_id;
		a->reason = cancel.reason;
		request = cancel.request;
		break;
	case WIRE_AGENT_SETTLED:
		v = wire_decode(&wire_settled_spec, f->params, &settled, &problem);
		a->call = settled.tool_call_id;
		a->tool = settled.tool;
		request = settled.request;
		input = settled.input;
		a->verdict = VERDICT_NONE;
		if (v || !settled.verdict.data)
			break;
		e = verdict_parse(settled.verdict);
		if (e != VERDICT_ALLOW && e != VERDICT_DENY)
			return answer_bad_value(g, client, f->id, "verdict");
		a->verdict = (enum verdict)e;
		break;
	default:
		v = wire_decode(&wire_outcome_spec, f->params, &outcome, &problem);
		a->call = outcome.tool_call_id;
		a->tool = outcome.tool;
		a->reason = outcome.summary;
		request = outcome.request;
		input = outcome.input;
		if (v)
			break;
		if (bytes_is(outcome.outcome, "succeeded"))
			a->outcome = REQUEST_SUCCEEDED;
		else if (bytes_is(outcome.outcome, "failed"))
			a->outcome = REQUEST_FAILED;
		else if (bytes_is(outcome.outcome, "not_run"))
			a->outcome = REQUEST_NOT_RUN;
		else
			return answer_bad_value(g, client, f->id, "outcome");
	}
	if (v) {
		problem_answer(g, client, f->id, v, &problem);
		return v;
	}
	if (request.data && id_parse(ID_REQUEST, request, &a->request) < 0)
		return answer_bad_value(g, client, f->id, "request");
	if (input.data) {
		if (!a->tool.data)
			return answer_bad_value(g, client, f->id, "tool");
		a->has_input = true;
		facts_input_hash(input, a->input_hash);
	}
	return 0;
}

static int mode_parse_call(struct gateway *g, struct client *client, const struct wire_frame *f,
	enum mode *mode)
{
	struct wire_agent_set_mode m;
	struct wire_problem problem;
	int v = wire_decode(&wire_agent_set_mode_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	v = mode_parse(m.mode);
	if (v < 0)
		return unsupported(g, client, f->id, m.mode), 1;
	*mode = (enum mode)v;
	return 0;
}

int agent_frame(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct bytes raw)
{
	struct command c = { .call = f->id };
	int method = wire_agent_method_find(f->method), v = 0;

	/* these end what was counted when it began */
	if (method != WIRE_AGENT_CANCEL && method != WIRE_AGENT_SETTLED &&
		method != WIRE_AGENT_BYE && rate_refused(g, client, f->id, gateway_now(g).mono))
		return 0;
	switch (method) {
	case WIRE_AGENT_HELLO: return agent_hello(g, client, f, raw);
	case WIRE_AGENT_REQUEST:
	case WIRE_AGENT_CHECK: return agent_request(g, client, f, raw);
	case WIRE_AGENT_TURN_BEGIN:
	case WIRE_AGENT_TURN_END:
	case WIRE_AGENT_USAGE:
		c.type = method == WIRE_AGENT_TURN_BEGIN ? COMMAND_TURN_BEGIN
			 : method == WIRE_AGENT_TURN_END ? COMMAND_TURN_END
							 : COMMAND_USAGE;
		v = turn_parse(g, client, f, method, &c.turn);
		break;
	case WIRE_AGENT_CANCEL:
	case WIRE_AGENT_SETTLED:
	case WIRE_AGENT_OUTCOME:
		c.type = method == WIRE_AGENT_CANCEL	? COMMAND_CANCEL
			 : method == WIRE_AGENT_SETTLED ? COMMAND_SETTLED
							: COMMAND_OUTCOME;
		v = about_parse(g, client, f, method, &c.about);
		break;
	case WIRE_AGENT_SET_MODE:
		c.type = COMMAND_CLAIM;
		v = mode_parse_call(g, client, f, &c.steer.mode);
		break;
	case WIRE_AGENT_BYE: {
		struct wire_agent_bye m;
		struct wire_problem problem;

		c.type = COMMAND_BYE;
		v = wire_decode(&wire_agent_bye_spec, f->params, &m, &problem);
		if (v)
			problem_answer(g, client, f->id, v, &problem);
		c.bye.end = m.end;
		break;
	}
	default:
		answer_error(g, client, f->id, WIRE_UNKNOWN_METHOD, "no such method on this socket",
			"method", f->method);
		return 0;
	}
	if (v == 0)
		gateway_step(g, client, &c);
	return 0;
}
