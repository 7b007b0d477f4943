/* SPDX-License-Identifier: MIT */
/* Whom people trust to bring rules along that allow, and the calls of frontends about it. */
#include "broker/io/gateway_project.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

static int key_compare(uint32_t uid, struct bytes path, const struct trust *t)
{
	const int c = (uid > t->r.uid) - (uid < t->r.uid);

	return c ? c : bytes_compare(path, str_bytes(t->r.project));
}

static int trust_compare(const struct trust *a, const struct trust *b)
{
	return key_compare(a->r.uid, str_bytes(a->r.project), b);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnull-dereference"
RB_GENERATE_STATIC(trust_tree, trust, entry, trust_compare)
#pragma GCC diagnostic pop

/* The first that is not before it. */
struct trust *trust_from(struct gateway *g, uint32_t uid, struct bytes path)
{
	struct trust *t = RB_ROOT(&g->trusts), *from = NULL;

	while (t) {
		const int c = key_compare(uid, path, t);

		if (c == 0)
			return t;
		if (c < 0)
			from = t;
		t = c < 0 ? RB_LEFT(t, entry) : RB_RIGHT(t, entry);
	}
	return from;
}

struct trust *trust_find(struct gateway *g, uint32_t uid, struct bytes path)
{
	struct trust *const t = trust_from(g, uid, path);

	return t && key_compare(uid, path, t) == 0 ? t : NULL;
}

struct trust *trust_next(struct trust *t)
{
	return RB_NEXT(trust_tree, NULL, t);
}

bool trust_covers(
	struct gateway *g, uint32_t uid, struct bytes path, const uint8_t hash[PROJECT_HASH])
{
	const struct trust *const t = trust_find(g, uid, path);

	return t && memcmp(t->r.hash, hash, PROJECT_HASH) == 0;
}

static void trust_free(struct trust *t)
{
	if (!t)
		return;
	str_unref(t->r.project);
	str_unref(t->r.by);
	free(t);
}

static struct trust *trust_new(const struct trust_record *r)
{
	struct trust *const t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->r = *r;
	str_ref(r->project);
	str_ref(r->by);
	return t;
}

static void trust_remove(struct gateway *g, struct trust *t)
{
	if (!t)
		return;
	RB_REMOVE(trust_tree, &g->trusts, t);
	g->n_trusts--;
	trust_free(t);
}

/* Takes the place of the one before. */
static void trust_insert(struct gateway *g, struct trust *t)
{
	trust_remove(g, trust_find(g, t->r.uid, str_bytes(t->r.project)));
	RB_INSERT(trust_tree, &g->trusts, t);
	g->n_trusts++;
}

int trust_load(struct gateway *g, const struct trust_record *r)
{
	struct trust *const t = trust_new(r);

	if (!t)
		return -ENOMEM;
	trust_insert(g, t);
	return 0;
}

void trusts_free(struct gateway *g)
{
	struct trust *t;

	while ((t = RB_ROOT(&g->trusts)))
		trust_remove(g, t);
}

/* ---- rules_project, rules_trust: about a file that is read for them ---- */

/* As workspaces are: absolute and normal. */
static bool is_folder(struct bytes path)
{
	const char *p = path.data;
	const char *const end = p + path.len;

	if (path.len < 2 || *p != '/' || memchr(p, '\0', path.len))
		return false;
	while (p < end) {
		const char *const part = p + 1;
		const char *const slash = memchr(part, '/', (size_t)(end - part));
		const size_t n = (size_t)((slash ? slash : end) - part);

		if (n == 0 || (n == 1 && part[0] == '.') ||
			(n == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		p = slash ? slash : end;
	}
	return true;
}

/* 1: answered */
static int call_parse(struct trust_call *c, struct bytes params)
{
	struct wire_problem problem;
	struct wire_rules_project m;
	const uint32_t own = c->client->frontend->uid;
	int v;

	if (c->method == WIRE_FRONTEND_RULES_TRUST) {
		v = wire_decode(&wire_rules_trust_spec, params, &c->trust, &problem);
		c->uid = WIRE_HAS(&c->trust, rules_trust, uid) ? c->trust.uid : own;
		c->project = c->trust.project;
	} else {
		v = wire_decode(&wire_rules_project_spec, params, &m, &problem);
		c->uid = WIRE_HAS(&m, rules_project, uid) ? m.uid : own;
		c->project = m.project;
	}
	if (v)
		return problem_answer(c->g, c->client, c->id, v, &problem), 1;
	if (!is_folder(c->project))
		return answer_bad_value(c->g, c->client, c->id, "project");
	if (c->uid != own && !c->client->frontend->admin) {
		answer_error(c->g, c->client, c->id, WIRE_FORBIDDEN,
			"this is for another user's agents", NULL, none);
		return 1;
	}
	return 0;
}

/* Whether the file may be trusted; else that is answered. -ENOMEM. */
static int file_judge(const struct trust_call *c, const struct project_file *file)
{
	struct gateway *const g = c->g;
	struct rule_problem problem = {0, 0, 0};
	struct ruleset *rules;
	char text[PROJECT_HASH_TEXT];
	int err;

	if (file->state != PROJECT_FILE_NEW) {
		answer_error(g, c->client, c->id, WIRE_NOT_FOUND,
			file->problem ? file->problem
			: file->state == PROJECT_FILE_MISSING
				? "the project has no file of rules"
				: "the file can't be read in time",
			NULL, none);
		return 0;
	}
	hash_print(text, file->hash);
	if (!bytes_is(c->trust.hash, text)) {
		answer_error(g, c->client, c->id, WIRE_MISMATCH,
			"the file is not the one with this hash", "hash", bytes_of(text));
		return 0;
	}
	err = project_parse(c, file, &rules, &problem);
	ruleset_free(rules);
	if (err > 0) {
		char said[128];

		snprintf(said, sizeof(said), "line %u, column %u: %s", problem.line,
			problem.column, rule_error_text(problem.error));
		answer_error(g, c->client, c->id, WIRE_INVALID, said, NULL, none);
	} else if (err == -ENOSPC || err == -EFBIG) {
		answer_error(g, c->client, c->id, WIRE_LIMIT, "there are too many rules",
			"limit", bytes_of("rules"));
		err = 1;
	}
	return err < 0 ? err : err == 0;
}

/* One batch; whether it is committed. */
static bool trust_write(const struct trust_call *c, const struct trust_record *r)
{
	const bool trust = c->trust.trust;
	const struct command sender = {.call = c->id};
	struct gateway *const g = c->g;
	struct history_row row;
	uint64_t commits;
	int err;

	batch_commit(g);
	commits = g->commits;
	err = batch_add_sender(g, c->client, &sender);
	if (err == 0)
		err = batch_store(g, trust ? JOURNAL_TRUST : JOURNAL_TRUST_REMOVE, r);
	if (err == 0) {
		trust_row(&row, trust ? HISTORY_PROJECT_TRUSTED : HISTORY_PROJECT_UNTRUSTED, r,
			bytes_of(c->client->name), gateway_now(g).wall);
		err = batch_store(g, JOURNAL_HISTORY, &row);
	}
	if (err == 0) {
		struct wire_buffer *const b = stage_begin(g);

		wire_pack_reply_ok(b, c->id);
		wire_pack_map(b, 0);
		stage_end(g, c->client, true);
	}
	g->n_commands++;
	if (err < 0)
		batch_fail(g, err);
	else
		batch_commit(g);
	return g->commits != commits;
}

static int trust_give(const struct trust_call *c, const struct project_file *file)
{
	struct gateway *const g = c->g;
	struct trust_record r = {.uid = c->uid, .made = gateway_now(g).wall};
	struct trust *t;
	int err = file_judge(c, file);

	if (err <= 0)
		return err;
	if (g->n_trusts >= LIMIT_TRUSTS && !trust_find(g, c->uid, c->project)) {
		answer_error(g, c->client, c->id, WIRE_LIMIT, "too many projects are trusted",
			"limit", bytes_of("trusts"));
		return 0;
	}
	memcpy(r.hash, file->hash, sizeof(r.hash));
	r.project = str_new(c->project.data, c->project.len);
	r.by = str_new(c->client->name, strlen(c->client->name));
	t = r.project && r.by ? trust_new(&r) : NULL;
	err = t ? 0 : -ENOMEM;
	if (t && !trust_record_valid(&r)) {
		answer_bad_value(g, c->client, c->id, "project");
		trust_free(t);
	} else if (t && trust_write(c, &r)) {
		trust_insert(g, t);
		project_trust_changed(g, c->uid, c->project);
	} else {
		trust_free(t);
	}
	str_unref(r.project);
	str_unref(r.by);
	return err;
}

static int trust_take(const struct trust_call *c)
{
	struct gateway *const g = c->g;
	struct trust *const t = trust_find(g, c->uid, c->project);

	if (!t) {
		answer_error(g, c->client, c->id, WIRE_NOT_FOUND, "the project was not trusted",
			NULL, none);
		return 0;
	}
	if (trust_write(c, &t->r)) {
		trust_remove(g, t);
		project_trust_changed(g, c->uid, c->project);
	}
	return 0;
}

static int file_answer(struct trust_call *c, const struct project_file *file)
{
	return c->method == WIRE_FRONTEND_RULES_TRUST ? trust_give(c, file)
						      : project_answer(c, file);
}

static void file_read(void *arg, struct resolver_result *result)
{
	struct pending_call *const p = arg;
	struct client *const client = p->client;
	struct gateway *const g = p->g;
	struct wire_frame f = {.id = 0};
	/* a copy of what has been read before */
	int err = wire_frame_decode((struct bytes){p->bytes, p->len}, &f) < 0 ? -EBADMSG : 0;
	struct trust_call c = {.g = g,
		.client = client,
		.id = f.id,
		.method = wire_frontend_method_find(f.method)};

	pending_call_unpark(p);
	/* who asked may have become an agent's meanwhile */
	if (err == 0 && !frontend_refused(g, client, f.id) && call_parse(&c, f.params) == 0)
		err = file_answer(&c, result->file);
	resolver_result_free(result);
	pending_call_free(p);
	if (err < 0)
		pending_call_fail(g, client, f.id, err);
	client_go_on(client);
}

static int file_ask(struct trust_call *c, struct bytes raw)
{
	struct gateway *const g = c->g;
	struct resolver_result *result = NULL;
	struct resolver_job *job = NULL;
	char path[LIMIT_TEXT + 1];
	const struct resolver_spec spec = {.workspace = path};
	struct pending_call *p;
	int err;

	memcpy(path, c->project.data, c->project.len);
	path[c->project.len] = '\0';
	err = pending_call_new(g, c->client, &p);
	if (err < 0)
		return err;
	err = resolver_file(
		g->resolver, &spec, NULL, gateway_now(g).mono, file_read, p, &result, &job);
	if (err == 0) {
		err = pending_call_park(p, job, raw);
		if (err < 0)
			pending_call_free(p);
		return err;
	}
	pending_call_free(p);
	if (err > 0)
		err = file_answer(c, result->file);
	resolver_result_free(result);
	return err;
}

int frontend_trust(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct bytes raw)
{
	struct trust_call c = {.g = g, .client = client, .id = f->id, .method = method};

	if (method == WIRE_FRONTEND_RULES_PROJECTS)
		return projects_list(g, client, f);
	if (method == WIRE_FRONTEND_RULES_TRUST && client->frontend->s.role != ROLE_HUMAN) {
		answer_error(g, client, f->id, WIRE_FORBIDDEN, "only a person may do that",
			NULL, none);
		return 0;
	}
	if (call_parse(&c, f->params))
		return 0;
	if (method == WIRE_FRONTEND_RULES_TRUST && !c.trust.trust)
		return trust_take(&c);
	return file_ask(&c, raw);
}
