/* SPDX-License-Identifier: MIT */
/*
 * Rules that projects bring along. Their files are read by the resolver's worker, at the
 * first call of a session and at most once a second after that, and the call waits for it;
 * until one was looked at, nothing is allowed there. What is in force is the text that was
 * read, so that a file which somebody changes counts when it is read again, and by its new
 * hash.
 */
#include "broker/io/gateway_project.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_STEP 4096 /* entities looked at in one step of a sweep */

static int key_compare(uint32_t uid, struct bytes path, bool foreign, const struct project *p)
{
	int c = (uid > p->uid) - (uid < p->uid);

	if (c == 0)
		c = bytes_compare(path, str_bytes(p->path));
	return c ? c : foreign - p->foreign;
}

static int project_compare(const struct project *a, const struct project *b)
{
	return key_compare(a->uid, str_bytes(a->path), a->foreign, b);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"
RB_GENERATE_STATIC(project_tree, project, entry, project_compare)
#pragma GCC diagnostic pop

/* Without memory of its own: each call that is judged asks. */
struct project *project_from(struct gateway *g, uint32_t uid, struct bytes path, bool foreign)
{
	struct project *p = RB_ROOT(&g->projects), *from = NULL;

	while (p) {
		const int c = key_compare(uid, path, foreign, p);

		if (c == 0)
			return p;
		if (c < 0)
			from = p;
		p = c < 0 ? RB_LEFT(p, entry) : RB_RIGHT(p, entry);
	}
	return from;
}

struct project *project_next(struct project *p)
{
	return RB_NEXT(project_tree, NULL, p);
}

struct project *project_find(struct gateway *g, uint32_t uid, struct bytes path, bool foreign)
{
	struct project *const p = project_from(g, uid, path, foreign);

	return p && key_compare(uid, path, foreign, p) == 0 ? p : NULL;
}

const char *project_unknown(void *gateway, uint32_t uid, struct bytes workspace)
{
	bool any = false;

	for (int foreign = 0; workspace.len && foreign < 2; foreign++) {
		const struct project *const p = project_find(gateway, uid, workspace, foreign);

		if (!p)
			continue;
		if (!p->known)
			return p->problem ? "the rules of its project can't be used"
					  : "the rules of its project have not been read";
		any = true;
	}
	return any || !workspace.len ? NULL : "the rules of its project have not been read";
}

/* ---- what is in force ---- */

static struct rule_origin origin_of(const struct project *p, bool trusted)
{
	return (struct rule_origin){
		.scope = RULE_PROJECT,
		.uid = p->uid,
		.project = str_bytes(p->path),
		.file = str_bytes(p->file),
		.made = p->changed,
		.tighten_only = !trusted,
	};
}

static bool is_trusted(const struct project *p)
{
	return !p->problem && trust_covers(p->g, p->uid, str_bytes(p->path), p->hash);
}

/* The text that is in force, once more. 0; -ENOSPC, -ENOMEM. */
static int put(struct ruleset *rules, const struct project *p)
{
	const struct rule_origin origin = origin_of(p, is_trusted(p));
	struct rule_problem problem;
	size_t n;
	const int err =
		ruleset_load(rules, &origin, (struct bytes){p->text, p->len}, &problem, 1, &n);

	return err > 0 ? -EINVAL : err;
}

static void drop(struct gateway *g, struct project *p)
{
	const struct rule_origin origin = origin_of(p, false);

	if (!p->text)
		return;
	ruleset_unload(g->judge.rules, &origin);
	g->project_rules -= p->rules;
	g->project_bytes -= p->len;
	free(p->text);
	p->text = NULL;
	p->rules = 0;
	p->len = 0;
}

/* Nothing is known of its rules, and the next look begins anew. */
static void forget(struct gateway *g, struct project *p)
{
	drop(g, p);
	p->known = p->seen = false;
	p->looked_at = 0;
}

/* Its text may now do another thing than before. */
static void renew(struct gateway *g, struct project *p)
{
	if (p->text && put(g->judge.rules, p) < 0)
		forget(g, p);
}

static void complain(struct gateway *g, struct project *p, const char *problem, uint32_t line,
	uint32_t column)
{
	const bool told = p->problem == problem && p->line == line && p->column == column;

	p->problem = problem;
	p->line = line;
	p->column = column;
	if (!told)
		project_tell(g, p->uid, str_bytes(p->file), line, column, problem);
	renew(g, p);
	p->known = p->text != NULL;
}

/* Takes the text of a file that can be read. */
static void take_text(struct gateway *g, struct project *p, struct project_file *file)
{
	const bool trusted = trust_covers(g, p->uid, str_bytes(p->path), file->hash);
	struct rule_origin origin = origin_of(p, trusted);
	struct rule_problem problem = {0, 0, 0};
	size_t n;
	int err = 0;

	p->seen = true;
	memcpy(p->seen_hash, file->hash, sizeof(p->seen_hash));
	if (g->project_rules - p->rules + file->rules > LIMIT_PROJECTS_RULES ||
		g->project_bytes - p->len + file->len > LIMIT_PROJECTS_BYTES)
		err = -ENOSPC;
	origin.made = file->changed;
	if (err == 0)
		err = ruleset_load(g->judge.rules, &origin,
			(struct bytes){file->text, file->len}, &problem, 1, &n);
	if (err > 0) {
		complain(g, p, rule_error_text(problem.error), problem.line, problem.column);
		return;
	}
	if (err < 0) {
		p->seen = false; /* it may fit another time */
		complain(g, p,
			err == -ENOSPC ? "there are too many rules" : "there is no memory", 0,
			0);
		return;
	}
	g->project_rules += file->rules - p->rules;
	g->project_bytes += file->len - p->len;
	free(p->text);
	p->text = file->text;
	file->text = NULL;
	p->len = file->len;
	p->rules = file->rules;
	p->changed = file->changed;
	memcpy(p->hash, file->hash, sizeof(p->hash));
	p->problem = NULL;
	p->known = true;
}

static void take(struct gateway *g, struct project *p, struct project_file *file)
{
	p->looked_at = gateway_now(g).mono;
	switch (file->state) {
	case PROJECT_FILE_MISSING:
		drop(g, p);
		p->problem = NULL;
		p->seen = false;
		p->known = true;
		return;
	case PROJECT_FILE_NEW: take_text(g, p, file); return;
	case PROJECT_FILE_SAME:
		/* one that can't be used was told of */
		p->known = p->seen && p->text;
		return;
	case PROJECT_FILE_BAD:
		p->seen = false;
		complain(g, p, file->problem, 0, 0);
		/* no home is read by the broker of a system: it has no right to */
		p->known |= !g->user_mode && (file->error == EACCES || file->error == EPERM);
		return;
	/* what was read before stays, and nothing else is known */
	case PROJECT_FILE_UNREAD: return;
	}
}

/* ---- looking ---- */

static void go_on(struct project *p)
{
	struct pending_call *call;

	while ((call = TAILQ_FIRST(&p->waiting))) {
		project_unwait(call);
		call->again(call);
	}
}

static void looked(void *arg, struct resolver_result *result)
{
	struct project *const p = arg;

	p->job = NULL;
	/* what is being decided is decided by what was in force */
	batch_commit(p->g);
	take(p->g, p, result->file);
	resolver_result_free(result);
	go_on(p);
}

static int look(struct gateway *g, struct project *p, struct process *subject)
{
	const struct resolver_spec spec = {.subject = subject, .workspace = str_text(p->path)};
	struct resolver_result *result;
	const int err = resolver_file(g->resolver, &spec, p->seen ? p->seen_hash : NULL,
		gateway_now(g).mono, looked, p, &result, &p->job);

	if (err <= 0)
		return err;
	p->job = NULL;
	take(g, p, result->file); /* nothing that was read: no rule comes or goes */
	resolver_result_free(result);
	return 0;
}

static int project_new(
	struct gateway *g, uint32_t uid, struct bytes path, bool foreign, struct project **out)
{
	struct project *const p = calloc(1, sizeof(*p));
	char *name = NULL;

	if (!p)
		return -ENOMEM;
	p->path = str_new(path.data, path.len);
	if (p->path && asprintf(&name, "%s/" PROJECT_RULES "%s", str_text(p->path),
			       foreign ? " (in another root)" : "") >= 0)
		p->file = str_new(name, strlen(name));
	free(name);
	if (!p->file) {
		str_unref(p->path);
		free(p);
		return -ENOMEM;
	}
	p->g = g;
	p->uid = uid;
	p->foreign = foreign;
	p->met = g->sweep;
	TAILQ_INIT(&p->waiting);
	RB_INSERT(project_tree, &g->projects, p);
	g->n_projects++;
	*out = p;
	return 0;
}

static void project_free(struct gateway *g, struct project *p)
{
	drop(g, p);
	RB_REMOVE(project_tree, &g->projects, p);
	g->n_projects--;
	str_unref(p->path);
	str_unref(p->file);
	free(p);
}

/* *out is NULL where there is no workspace, or there are too many projects. */
static int project_of(struct gateway *g, uint32_t uid, struct bytes path,
	struct process *subject, struct project **out)
{
	int root = -1;

	*out = NULL;
	if (!path.len)
		return 0;
	if (subject && process_root(subject, &root) == 0 && root >= 0)
		close(root);
	*out = project_find(g, uid, path, root >= 0);
	if (*out || g->n_projects >= LIMIT_PROJECTS)
		return 0;
	return project_new(g, uid, path, root >= 0, out);
}

static int hold(struct gateway *g, uint32_t uid, struct bytes path, struct process *subject,
	struct project **out)
{
	const int64_t now = gateway_now(g).mono;
	const int err = project_of(g, uid, path, subject, out);
	struct project *const p = *out;

	if (err < 0 || !p || p->job ||
		(p->looked_at && now < p->looked_at + (int64_t)TIME_PROJECT_MS * 1000))
		return err;
	return look(g, p, subject);
}

int project_hold(struct gateway *g, struct client *client)
{
	const struct session *const s = client->link->s.session;
	struct project *p;

	return s ? hold(g, s->s.r.uid, str_bytes(s->s.r.workspace), subject_process(g, client),
			   &p)
		 : 0;
}

int project_wait(struct pending_call *call, uint32_t uid, struct bytes workspace,
	struct process *subject, struct bytes raw)
{
	struct project *p;
	int err = hold(call->g, uid, workspace, subject, &p);

	if (err < 0)
		return err;
	if (!p || !p->job)
		return 1;
	if (!call->bytes)
		err = pending_call_park(call, NULL, raw);
	if (err < 0)
		return err;
	call->client->waiting = call;
	call->project = p;
	TAILQ_INSERT_TAIL(&p->waiting, call, entry);
	return 0;
}

void project_unwait(struct pending_call *call)
{
	if (!call->project)
		return;
	TAILQ_REMOVE(&call->project->waiting, call, entry);
	call->project = NULL;
}

/* ---- all of them ---- */

void project_trust_changed(struct gateway *g, uint32_t uid, struct bytes path)
{
	for (int foreign = 0; foreign < 2; foreign++) {
		struct project *const p = project_find(g, uid, path, foreign);

		if (!p)
			continue;
		renew(g, p);
		p->looked_at = 0;
	}
}

int projects_load(struct gateway *g, struct ruleset *rules)
{
	struct project *p;

	RB_FOREACH (p, project_tree, &g->projects) {
		const int err = p->text ? put(rules, p) : 0;

		if (err == -ENOMEM)
			return err;
		/* what a project brings along takes no place from what people wrote */
		if (err < 0)
			p->known = p->seen = false;
		p->looked_at = 0;
	}
	return 0;
}

/* Those whose sessions have all ended go, found in steps of a bounded length. */
void projects_tick(struct gateway *g)
{
	struct project *p, *next;
	struct entity *e = NULL;

	if (!g->sweeping) {
		g->sweep++;
		g->sweep_at = (struct uuid){{0}};
		g->sweeping = true;
	}
	for (int i = 0; i < SWEEP_STEP && (e = registry_next(&g->engine.r, &g->sweep_at));
		i++) {
		const struct session *const s =
			e->type == ENTITY_SESSION ? ENTITY_OF(e, session) : NULL;

		g->sweep_at = *entity_id(e);
		for (int foreign = 0; s && !s->s.r.ended && foreign < 2; foreign++) {
			p = project_find(g, s->s.r.uid, str_bytes(s->s.r.workspace), foreign);
			if (p)
				p->met = g->sweep;
		}
	}
	if (e)
		return;
	g->sweeping = false;
	RB_FOREACH_SAFE (p, project_tree, &g->projects, next)
		if (p->met != g->sweep && !p->job)
			project_free(g, p);
}

void projects_sweep(struct gateway *g)
{
	do
		projects_tick(g);
	while (g->sweeping);
}

void projects_free(struct gateway *g)
{
	struct project *p;

	while ((p = RB_ROOT(&g->projects))) {
		assert(TAILQ_EMPTY(&p->waiting));
		project_free(g, p);
	}
}
