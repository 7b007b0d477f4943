/* SPDX-License-Identifier: MIT */
/*
 * explain: what would be said of a call at this moment, and why. As a request it waits for
 * the resolver, but it makes, counts and records nothing.
 */
#include "broker/io/gateway_explain.h"
#include "broker/io/gateway_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

/* ---- what is asked ---- */

struct explain_call {
	struct wire_explain m;
	struct session *session; /* NULL: of none yet */
	uint32_t uid;
	int mode, kind; /* -1: not given */
	struct bytes cwd, workspace, home;
	struct facts_draft draft;
};

static int answer_not_found(
	struct gateway *g, struct client *client, uint32_t call, const char *what)
{
	answer_error(g, client, call, WIRE_NOT_FOUND, what, NULL, none);
	return 1;
}

/* Whose call it would be. 1: answered. */
static int who_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct explain_call *c)
{
	const struct frontend *const frontend = client->frontend;
	struct uuid id;

	if (c->m.session.data) {
		if (c->m.workspace.data || WIRE_HAS(&c->m, explain, uid))
			return answer_bad_value(g, client, f->id, "session");
		if (id_parse(ID_SESSION, c->m.session, &id) == 0)
			c->session = session_find(&g->engine.r, &id);
		if (!c->session || c->session->s.r.ended ||
			!frontend_sees(frontend, &c->session->e))
			return answer_not_found(g, client, f->id, "there is no such session");
		c->uid = c->session->s.r.uid;
		return 0;
	}
	c->uid = WIRE_HAS(&c->m, explain, uid) ? c->m.uid : frontend->uid;
	if (c->uid != frontend->uid && !frontend->admin) {
		answer_error(g, client, f->id, WIRE_FORBIDDEN,
			"this frontend does not answer for that user", NULL, none);
		return 1;
	}
	return 0;
}

static bool path_given(struct bytes path)
{
	return !path.data || (path.len && *(const char *)path.data == '/' &&
				     !memchr(path.data, '\0', path.len));
}

static int call_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct explain_call *c)
{
	const char *home;
	int err;

	if (!c->m.tool.len)
		return answer_bad_value(g, client, f->id, "tool");
	c->kind = c->m.kind.data ? kind_parse(c->m.kind) : -1;
	if (c->m.kind.data && c->kind < 0)
		return answer_bad_value(g, client, f->id, "kind");
	if (!path_given(c->m.cwd))
		return answer_bad_value(g, client, f->id, "cwd");
	if (!path_given(c->m.workspace))
		return answer_bad_value(g, client, f->id, "workspace");
	err = who_parse(g, client, f, c);
	if (err)
		return err;
	c->cwd = c->m.cwd;
	if (c->session) {
		if (!c->cwd.data)
			c->cwd = str_bytes(c->session->s.r.cwd);
		c->workspace = str_bytes(c->session->s.r.workspace);
		c->home = str_bytes(c->session->owner->home);
		return 0;
	}
	err = home_of(g, c->uid, &home);
	c->home = bytes_of(home);
	return err;
}

static int explain_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct explain_call *c)
{
	struct wire_problem problem;
	int v;

	*c = (struct explain_call){.kind = -1, .mode = -1};
	v = wire_decode(&wire_explain_spec, f->params, &c->m, &problem);
	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	if (c->m.mode.data) {
		c->mode = mode_parse(c->m.mode);
		if (c->mode < 0)
			return answer_bad_value(g, client, f->id, "mode");
	}
	return c->m.request.data ? 0 : call_parse(g, client, f, c);
}

/* ---- of a request ---- */

/* Of a request that waits, as it was shown. 1: answered; or an error. */
static int request_explain(struct gateway *g, struct client *client, const struct wire_frame *f,
	const struct explain_call *c)
{
	struct explain_answer a;
	struct request *q = NULL;
	struct explained x;
	struct uuid id;
	int err;

	if (id_parse(ID_REQUEST, c->m.request, &id) == 0)
		q = request_find(&g->engine.r, &id);
	if (!q || q->s.r.check || !frontend_sees(client->frontend, &q->e) ||
		!request_state_pending(q->s.r.state))
		return answer_not_found(g, client, f->id, "no such request is pending");
	if (q->s.r.type != REQUEST_TYPE_TOOL_CALL) {
		answer_error(g, client, f->id, WIRE_UNSUPPORTED, "it is no tool call", "name",
			bytes_of(request_type_name(q->s.r.type)));
		return 1;
	}
	err = engine_explain_request(&g->engine, gateway_now(g), q, &a);
	if (err < 0)
		return err;
	x = (struct explained){.a = &a,
		.session = request_session(q),
		.uid = request_session(q)->s.r.uid,
		.tool = str_bytes(q->s.r.tool),
		.cwd = str_bytes(q->s.r.cwd),
		.workspace = str_bytes(request_session(q)->s.r.workspace),
		.kind = q->s.r.kind,
		.mutating = q->s.r.mutating,
		.paths = q->s.r.paths,
		.n_paths = q->s.r.n_paths + q->s.r.n_operands};
	explain_answer(g, client, f->id, &x);
	return 1;
}

/* ---- with its paths ---- */

static int call_explain(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct explain_call *c, const struct resolver_result *result)
{
	struct request_path paths[LIMIT_LOOKUPS];
	struct explain_answer a;
	struct facts facts;
	unsigned n;
	int err = paths_take(&c->draft, result, paths, &n);

	if (err == 0)
		err = facts_finish(&c->draft, paths, n, &facts);
	if (err == 0) {
		const struct explain_question q = {c->session, c->uid, c->mode, &facts,
			c->m.tool, c->cwd, c->workspace, c->home};

		err = engine_explain(&g->engine, gateway_now(g), &q, &a);
	}
	if (err == 0) {
		const struct explained x = {&a, c->session, c->uid, c->m.tool, c->cwd,
			c->workspace, facts.kind, facts.mutating, result && result->timed_out,
			paths, n};

		explain_answer(g, client, f->id, &x);
	}
	paths_release(paths, n);
	return err < 0 ? err : 1;
}

/* ---- the way: its place, its paths, the answer ---- */

static void explain_resolved(void *arg, struct resolver_result *result);
static void explain_again(struct pending_call *p);

/* It waits for the resolver, from now on or still. */
static int stay(struct pending_call *p, struct resolver_job *job, struct bytes raw)
{
	if (!p->bytes)
		return pending_call_park(p, job, raw);
	p->job = job;
	p->client->waiting = p;
	return 0;
}

/* Without a workspace more is asked about, never less: no memory for one is no error. */
static void place_take(struct pending_call *p, const struct resolver_result *result)
{
	const bool given = result->n > 0;
	const char *const at = given ? result->paths[0].resolved : result->workspace;
	const char *const as = given ? result->paths[0].lexical : result->alias;

	p->placed = true;
	p->workspace = at ? strdup(at) : NULL;
	p->alias = as && at && strcmp(at, as) != 0 ? strdup(as) : NULL;
}

/*
 * The workspace of a call that no session makes: as given, or the one that a session which
 * begins in its cwd would have. 0: it is on its way; 1: found.
 */
static int place_find(struct pending_call *p, const struct explain_call *c, struct bytes raw)
{
	const bool given = c->m.workspace.data;
	struct resolver_result *result = NULL;
	struct resolver_job *job = NULL;
	char cwd[LIMIT_TEXT + 1];
	const struct resolver_spec spec = {
		.cwd = cwd, .home = c->home.data, .paths = &c->m.workspace, .n = given ? 1 : 0};
	const int64_t now = gateway_now(p->g).mono;
	int err;

	path_copy(cwd, sizeof(cwd), c->cwd);
	if (!given && !c->cwd.data)
		return p->placed = true, 1;
	err = given ? resolver_paths(
			      p->g->resolver, &spec, now, explain_resolved, p, &result, &job)
		    : resolver_workspace(p->g->resolver, &spec, NULL, now, explain_resolved, p,
			      &result, &job);
	if (err == 0)
		return stay(p, job, raw);
	if (err == 1) {
		place_take(p, result);
		resolver_result_free(result);
	}
	return err;
}

/* As of place_find. */
static int paths_find(struct pending_call *p, const struct explain_call *c, struct bytes raw,
	struct resolver_result **result)
{
	const struct session *const s = c->session;
	const struct link *const link = s ? LIST_FIRST(&s->links) : NULL;
	struct resolver_job *job = NULL;
	char cwd[LIMIT_TEXT + 1];
	const struct resolver_spec spec = {
		.subject = s ? subject_of_session(p->g, s) : NULL,
		.cwd = cwd,
		.home = c->home.data,
		.workspace = c->workspace.data,
		.alias = link ? client_of((struct link *)(uintptr_t)link)->alias : p->alias,
		.paths = c->draft.paths,
		.n = c->draft.n_paths,
	};
	int err;

	path_copy(cwd, sizeof(cwd), c->cwd);
	err = resolver_paths(p->g->resolver, &spec, gateway_now(p->g).mono, explain_resolved, p,
		result, &job);
	return err == 0 ? stay(p, job, raw) : err;
}

/* Its paths are looked for unless result has them. As of place_find. */
static int call_run(struct pending_call *p, const struct wire_frame *f, struct explain_call *c,
	struct bytes raw, const struct resolver_result *result)
{
	struct gateway *const g = p->g;
	struct resolver_result *found = NULL;
	const struct facts_input in = {.tool = c->m.tool,
		.input = c->m.input,
		.type = REQUEST_TYPE_TOOL_CALL,
		.claimed_kind = c->kind,
		.claimed_mutating = c->m.mutating,
		.cwd = c->cwd,
		.workspace = c->workspace,
		.home = c->home};
	int err = facts_collect(&g->judge, &in, &c->draft);

	if (err < 0)
		return err;
	err = result || !c->draft.n_paths ? 1 : paths_find(p, c, raw, &found);
	if (err == 1)
		err = call_explain(g, p->client, f, c, result ? result : found);
	resolver_result_free(found);
	facts_release(&c->draft);
	return err;
}

static int explain_run(struct pending_call *p, const struct wire_frame *f, struct bytes raw,
	const struct resolver_result *result)
{
	struct explain_call c;
	int err;

	/* what is committed is what counts */
	batch_commit(p->g);
	/* an answer that went out with it may have found out that the peer has gone */
	if (p->client->closed)
		return 1;
	err = explain_parse(p->g, p->client, f, &c);
	if (err)
		return err;
	if (c.m.request.data)
		return request_explain(p->g, p->client, f, &c);
	if (!c.session) {
		err = p->placed ? 1 : place_find(p, &c, raw);
		if (err != 1)
			return err;
		c.workspace = bytes_of(p->workspace);
	}
	p->again = explain_again;
	err = project_wait(p, c.uid, c.workspace,
		c.session ? subject_of_session(p->g, c.session) : NULL, raw);
	return err == 1 ? call_run(p, f, &c, raw, result) : err;
}

/* It is answered; where something failed, with that. */
static void explain_end(struct gateway *g, struct client *client, uint32_t call, int err)
{
	if (err < 0)
		pending_call_fail(g, client, call, err);
	else
		batch_commit(g);
}

/* 0: it waits again. */
static void explain_went_on(struct pending_call *p, uint32_t call, int err)
{
	struct client *const client = p->client;
	struct gateway *const g = p->g;

	if (err == 0)
		return;
	pending_call_free(p);
	explain_end(g, client, call, err);
	client_go_on(client);
}

static void explain_resolved(void *arg, struct resolver_result *result)
{
	struct pending_call *const p = arg;
	const bool placed = p->placed;
	struct wire_explain m;
	struct wire_frame f = {.id = 0};
	int err;

	pending_call_unpark(p);
	/* a copy of what has been read before */
	err = wire_frame_decode((struct bytes){p->bytes, p->len}, &f) < 0 ||
			      wire_decode(&wire_explain_spec, f.params, &m, NULL) != 0
		      ? -EBADMSG
		      : 0;
	if (err == 0 && !m.session.data && !placed) {
		place_take(p, result);
		resolver_result_free(result);
		result = NULL;
	}
	if (err == 0)
		err = explain_run(p, &f, none, result);
	resolver_result_free(result);
	explain_went_on(p, f.id, err);
}

/* The rules of its project have been read. */
static void explain_again(struct pending_call *p)
{
	struct wire_frame f = {.id = 0};
	int err;

	pending_call_unpark(p);
	err = wire_frame_decode((struct bytes){p->bytes, p->len}, &f) < 0 ? -EBADMSG : 0;
	if (err == 0)
		err = explain_run(p, &f, none, NULL);
	explain_went_on(p, f.id, err);
}

int frontend_explain(
	struct gateway *g, struct client *client, const struct wire_frame *f, struct bytes raw)
{
	struct pending_call *p;
	int err;

	if (account_charge_rate(client->peer->account, gateway_now(g).mono)) {
		answer_error(g, client, f->id, WIRE_LIMIT,
			"too many calls a second of this user", "limit", bytes_of("rate"));
		return 0;
	}
	err = pending_call_new(g, client, &p);
	if (err < 0)
		return err;
	err = explain_run(p, f, raw, NULL);
	if (err == 0)
		return 0;
	pending_call_free(p);
	explain_end(g, client, f->id, err);
	return 0;
}
