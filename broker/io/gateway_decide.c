/* SPDX-License-Identifier: MIT */
/*
 * decide: what people say of requests. An edited input is judged as a request is: the rules
 * of its project are read first, and its paths are resolved, and so the call may have to wait;
 * the decisions are then taken together.
 */
#include "broker/io/gateway_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of one decision; without an edited input nothing is in it. */
struct edit {
	struct facts facts;
	struct request_path *paths;
	unsigned n;
	bool ruled;	/* its project was looked at: once, however long the others take */
	bool looked;	/* the paths are known, as far as they can be */
	bool timed_out; /* they could not be looked at in time */
	bool known;	/* the facts, of the copy of the frame that lasts: not to be made again */
	char *text;	/* what the command points into where it was joined */
};

void edits_free(struct edit *edits, unsigned n)
{
	for (unsigned i = 0; edits && i < n; i++) {
		paths_release(edits[i].paths, edits[i].n);
		free(edits[i].paths);
		free(edits[i].text);
	}
	free(edits);
}

/* ---- an edited input ---- */

static int look_keep(
	struct edit *edit, struct facts_draft *d, const struct resolver_result *result)
{
	edit->looked = true;
	edit->timed_out = result->timed_out;
	edit->paths = calloc(result->n ? result->n : 1, sizeof(*edit->paths));
	return edit->paths ? paths_take(d, result, edit->paths, &edit->n) : -ENOMEM;
}

static void decide_resolved(void *arg, struct resolver_result *result);
static void decide_again(struct pending_call *p);

/* 1: found; 0: they are on their way, and decide_resolved takes them; negative. */
static int paths_find(struct pending_call *p, const struct session *s,
	struct facts_draft *d, struct edit *edit)
{
	const struct link *const link = LIST_FIRST(&s->links);
	struct resolver_result *result = NULL;
	char cwd[LIMIT_TEXT + 1];
	const struct resolver_spec spec = {
		.subject = subject_of_session(p->g, s),
		.cwd = cwd,
		.home = s->owner->home ? str_text(s->owner->home) : NULL,
		.workspace = s->s.r.workspace ? str_text(s->s.r.workspace) : NULL,
		.alias = link ? client_of((struct link *)(uintptr_t)link)->alias : NULL,
		.paths = d->paths,
		.n = d->n_paths,
	};
	int err;

	if (!d->n_paths)
		return edit->looked = true, 1;
	path_copy(cwd, sizeof(cwd), d->in.cwd);
	err = resolver_paths(p->g->resolver, &spec, gateway_now(p->g).mono, decide_resolved, p,
		&result, &p->job);
	if (err != 1)
		return err;
	err = look_keep(edit, d, result);
	resolver_result_free(result);
	return err < 0 ? err : 1;
}

/* The rules of its project are read first. As paths_find, but decide_again goes on. */
static int project_await(
	struct pending_call *p, const struct session *s, struct edit *edit, struct bytes raw)
{
	int err;

	if (edit->ruled)
		return 1;
	p->again = decide_again;
	err = project_wait(p, s->s.r.uid, str_bytes(s->s.r.workspace),
		subject_of_session(p->g, s), raw);
	edit->ruled = err >= 0;
	return err;
}

/*
 * What the edited input comes to. result: of its paths, when they had to be waited for.
 * As paths_find.
 */
static int edit_look(struct pending_call *p, struct command_decision *d, struct edit *edit,
	const struct resolver_result *result, struct bytes raw)
{
	struct gateway *const g = p->g;
	const struct request *const q = request_find(&g->engine.r, &d->request);
	struct facts_draft draft;
	struct facts_input in;
	int err;

	if (edit->known)
		return d->facts = &edit->facts, 1;
	/* the engine refuses the decision */
	if (!q || !frontend_sees(p->client->frontend, &q->e))
		return 1;
	err = project_await(p, request_session(q), edit, raw);
	if (err != 1)
		return err;
	in = (struct facts_input){.tool = str_bytes(q->s.r.tool),
		.input = d->updated_input,
		.type = q->s.r.type,
		.claimed_kind = -1,
		.claimed_mutating = q->s.r.mutating,
		.cwd = str_bytes(q->s.r.cwd ? q->s.r.cwd : request_session(q)->s.r.cwd),
		.workspace = str_bytes(request_session(q)->s.r.workspace),
		.home = str_bytes(request_session(q)->owner->home)};
	err = facts_collect(&g->judge, &in, &draft);
	if (err < 0)
		return err;
	if (edit->looked)
		err = 1;
	else if (result)
		err = look_keep(edit, &draft, result) < 0 ? -ENOMEM : 1;
	else
		err = paths_find(p, request_session(q), &draft, edit);
	/* also when it was kept from an earlier run */
	if (edit->timed_out)
		draft.flags |= FACT_UNSEEN;
	if (err == 1) {
		int failed = facts_finish(&draft, edit->paths, edit->n, &edit->facts);

		free(edit->text);
		edit->text = draft.text;
		draft.text = NULL;
		d->facts = &edit->facts;
		edit->known = failed == 0 && raw.data == p->bytes;
		err = failed < 0 ? failed : 1;
	}
	facts_release(&draft);
	return err;
}

/* ---- the decisions ---- */

static void decision_parse(struct bytes element, struct command_decision *d)
{
	struct wire_decision m;
	struct wire_problem problem;
	int v;

	*d = (struct command_decision){.malformed = true};
	if (wire_decode(&wire_decision_spec, element, &m, &problem))
		return;
	if (id_parse(ID_REQUEST, m.request, &d->request) < 0)
		return;
	v = verdict_parse(m.verdict);
	if (v < 0)
		return;
	d->verdict = (enum verdict)v;
	v = m.scope.data ? scope_parse(m.scope) : SCOPE_ONCE;
	if (v < 0)
		return;
	d->scope = (enum scope)v;
	d->malformed = false;
	d->has_digest = m.digest.data != NULL;
	if (d->has_digest)
		memcpy(d->digest, m.digest.data, sizeof(d->digest));
	d->reason = m.reason;
	d->rule = m.rule;
	d->updated_input = m.updated_input;
	d->answers = m.answers;
}

/* As paths_find, of all of them; result: of the one that was waited for. */
static int decisions_look(struct pending_call *p, struct wire_iter *it,
	struct command_decision *items, const struct resolver_result *result, struct bytes raw)
{
	struct bytes element;

	for (unsigned i = 0; wire_array_next(it, &element); i++) {
		const bool awaited = result && i == p->awaited;
		int err;

		decision_parse(element, &items[i]);
		if (!items[i].updated_input.data)
			continue;
		err = edit_look(p, &items[i], &p->edits[i], awaited ? result : NULL, raw);
		if (err == 0)
			p->awaited = i;
		if (err != 1)
			return err;
	}
	return 1;
}

/* raw: the frame, to be copied where it waits. 1: it is answered; 0: it waits; negative. */
static int decide_run(struct pending_call *p, const struct wire_frame *f, struct bytes raw,
	const struct resolver_result *result)
{
	struct gateway *const g = p->g;
	struct client *const client = p->client;
	struct command c = {
		.type = COMMAND_DECIDE, .call = f->id, .by = bytes_of(client->name)};
	struct command_decision *items;
	struct wire_problem problem;
	struct wire_decide m;
	struct wire_iter it;
	int err = wire_decode(&wire_decide_spec, f->params, &m, &problem);

	if (err)
		return problem_answer(g, client, f->id, err, &problem), 1;
	if (wire_iter_array(&it, m.decisions) != 0 || it.left > LIMIT_DECISIONS)
		return answer_bad_value(g, client, f->id, "decisions");
	c.decide.n = (unsigned)it.left;
	items = calloc(c.decide.n + 1, sizeof(*items));
	if (!p->edits) {
		p->edits = calloc(c.decide.n + 1, sizeof(*p->edits));
		p->n_edits = c.decide.n;
	}
	err = items && p->edits ? decisions_look(p, &it, items, result, raw) : -ENOMEM;
	if (err == 1) {
		c.decide.items = items;
		gateway_step(g, client, &c);
	}
	free(items);
	return err;
}

/* result: what it waited for; NULL: that was the rules of a project. */
static void go_on(struct pending_call *p, const struct resolver_result *result)
{
	const struct bytes raw = {p->bytes, p->len};
	struct client *const client = p->client;
	struct gateway *const g = p->g;
	struct wire_frame f = {.id = 0};
	int err;

	pending_call_unpark(p);
	/* a copy of what has been read before */
	err = wire_frame_decode(raw, &f) < 0 ? -EBADMSG : 0;
	/* it may have become an agent's meanwhile */
	if (err == 0)
		err = frontend_refused(g, client, f.id) ? 1 : decide_run(p, &f, raw, result);
	if (err == 0) {
		client->waiting = p;
		return;
	}
	pending_call_free(p);
	if (err < 0)
		pending_call_fail(g, client, f.id, err);
	client_go_on(client);
}

static void decide_resolved(void *arg, struct resolver_result *result)
{
	go_on(arg, result);
	resolver_result_free(result);
}

static void decide_again(struct pending_call *p)
{
	go_on(p, NULL);
}

int frontend_decide(
	struct gateway *g, struct client *client, const struct wire_frame *f, struct bytes raw)
{
	struct pending_call *p;
	int err = pending_call_new(g, client, &p);

	if (err < 0)
		return err;
	err = decide_run(p, f, raw, NULL);
	if (err == 0) {
		/* who waits for a project is parked already */
		if (!p->project)
			err = pending_call_park(p, p->job, raw);
		if (err == 0)
			return 0;
	}
	pending_call_free(p);
	return err < 0 ? err : 0;
}
