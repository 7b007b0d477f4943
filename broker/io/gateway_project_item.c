/* SPDX-License-Identifier: MIT */
/* Projects for people: all of them, and one with its file. */
#include "broker/io/gateway_project.h"

#include "broker/core/rules/lint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hash_print(char out[PROJECT_HASH_TEXT], const uint8_t hash[PROJECT_HASH])
{
	for (size_t i = 0; i < PROJECT_HASH; i++)
		snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static void put_hash(struct wire_open *m, const char *key, const uint8_t *hash)
{
	char text[PROJECT_HASH_TEXT];

	if (!hash) {
		wire_map_nil(m, key);
		return;
	}
	hash_print(text, hash);
	wire_map_strz(m, key, text);
}

/* A project as it is at hand: its file just read, or as it is in force. */
struct shown {
	uint32_t uid, line, column;
	struct bytes path, file;
	const char *state, *problem;
	const uint8_t *hash; /* NULL: not known */
	const struct trust *trust;
	bool foreign;
};

static const char *state_of(const struct shown *s)
{
	if (s->problem)
		return "bad";
	if (!s->hash)
		return "missing";
	if (!s->trust)
		return "untrusted";
	return memcmp(s->trust->r.hash, s->hash, PROJECT_HASH) == 0 ? "trusted" : "changed";
}

static void shown_put(struct wire_open *m, const struct shown *s)
{
	wire_map_str(m, "project", s->path);
	wire_map_u64(m, "uid", s->uid);
	wire_map_str(m, "file", s->file);
	wire_map_strz(m, "state", s->state ? s->state : state_of(s));
	put_hash(m, "hash", s->hash);
	put_hash(m, "trusted_hash", s->trust ? s->trust->r.hash : NULL);
	if (s->trust) {
		wire_map_str(m, "by", str_bytes(s->trust->r.by));
		wire_map_i64(m, "made", s->trust->r.made / 1000);
	} else {
		wire_map_nil(m, "by");
		wire_map_nil(m, "made");
	}
	if (s->problem)
		wire_map_strz(m, "problem", s->problem);
	else
		wire_map_nil(m, "problem");
	if (s->line) {
		wire_map_u64(m, "line", s->line);
		wire_map_u64(m, "column", s->column);
	}
	if (s->foreign)
		wire_map_bool(m, "other_root", true);
}

/* ---- rules_projects ---- */

/* Where a page ends: uid, whether of another root, path. */
struct place {
	uint32_t uid;
	bool foreign, set;
	struct bytes path;
};

#define PLACE_HEAD 5

static bool place_read(struct place *at, struct bytes cursor)
{
	const uint8_t *const p = cursor.data;

	if (!p)
		return true;
	if (cursor.len < PLACE_HEAD || p[4] > 1)
		return false;
	*at = (struct place){
		.uid = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3],
		.foreign = p[4],
		.set = true,
		.path = {p + PLACE_HEAD, cursor.len - PLACE_HEAD},
	};
	return true;
}

static void place_put(struct wire_open *m, const struct place *at)
{
	uint8_t text[PLACE_HEAD + LIMIT_TEXT];

	for (int i = 0; i < 4; i++)
		text[i] = (uint8_t)(at->uid >> (24 - 8 * i));
	text[4] = at->foreign;
	if (at->path.len)
		memcpy(text + PLACE_HEAD, at->path.data, at->path.len);
	wire_map_bin(m, "cursor", (struct bytes){text, PLACE_HEAD + at->path.len});
}

/* Or of the same project. */
static bool is_before(const struct project *p, const struct trust *t)
{
	if (p->uid != t->r.uid)
		return p->uid < t->r.uid;
	return bytes_compare(str_bytes(p->path), str_bytes(t->r.project)) <= 0;
}

/* What comes behind a place: of a project that has been looked at, or that is trusted alone. */
static bool place_next(
	struct gateway *g, struct place *at, struct project **project, struct trust **trust)
{
	struct project *p = project_from(g, at->uid, at->path, at->foreign);
	struct trust *t = trust_from(g, at->uid, at->path);

	if (at->set && p && p->uid == at->uid && p->foreign == at->foreign &&
		bytes_equal(str_bytes(p->path), at->path))
		p = project_next(p);
	if (at->set && t && t->r.uid == at->uid &&
		bytes_equal(str_bytes(t->r.project), at->path))
		t = trust_next(t);
	*project = p && (!t || is_before(p, t)) ? p : NULL;
	*trust = *project ? trust_find(g, p->uid, str_bytes(p->path)) : t;
	if (!*project && !t)
		return false;
	*at = (struct place){.set = true,
		.uid = *project ? p->uid : t->r.uid,
		.foreign = *project && p->foreign,
		.path = str_bytes(*project ? p->path : t->r.project)};
	return true;
}

static void place_show(struct wire_buffer *b, const struct place *at, const struct project *p,
	const struct trust *t)
{
	struct shown s = {.uid = at->uid, .path = at->path, .trust = t, .foreign = at->foreign};
	char file[LIMIT_TEXT + sizeof("/" PROJECT_RULES)];
	struct wire_open m;

	if (p) {
		s.file = str_bytes(p->file);
		s.hash = p->text ? p->hash : NULL;
		s.problem = p->problem;
		s.line = p->line;
		s.column = p->column;
		if (!p->problem && !p->known)
			s.state = "unread";
	} else {
		s.file = (struct bytes){
			file, (size_t)snprintf(file, sizeof(file), "%s/" PROJECT_RULES,
				      str_text(t->r.project))};
		s.state = "unread";
	}
	wire_map_open(&m, b);
	shown_put(&m, &s);
	wire_close(&m);
}

int projects_list(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct wire_buffer *b;
	struct wire_rules_projects q;
	struct wire_problem problem;
	struct wire_open m, a;
	struct wire_mark from;
	struct place at = {.set = false}, next;
	struct project *p;
	struct trust *t;
	unsigned n = 0;
	bool more = false;
	int v = wire_decode(&wire_rules_projects_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (!place_read(&at, q.cursor))
		return answer_bad_value(g, client, f->id, "cursor"), 0;
	b = stage_begin(g);
	from = wire_buffer_mark(b);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_key(&m, "items");
	wire_array_open(&a, b);
	for (next = at; !more && place_next(g, &next, &p, &t);) {
		more = n == (q.limit ? q.limit : LIMIT_PAGE_DEFAULT) || !page_room(b, from);
		if (more)
			break;
		at = next;
		if (!client->frontend->admin && at.uid != client->frontend->uid)
			continue;
		n++;
		wire_array_item(&a);
		place_show(b, &at, p, t);
	}
	wire_close(&a);
	wire_map_bool(&m, "more", more);
	place_put(&m, &at);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

/* ---- rules_project ---- */

int project_parse(const struct trust_call *c, const struct project_file *file,
	struct ruleset **out, struct rule_problem *problem)
{
	const struct rule_origin origin = {.scope = RULE_PROJECT,
		.uid = c->uid,
		.project = c->project,
		.file = bytes_of(PROJECT_RULES)};
	size_t n;
	int err;

	*out = ruleset_new();
	if (!*out)
		return -ENOMEM;
	err = ruleset_load(
		*out, &origin, (struct bytes){file->text, file->len}, problem, 1, &n);
	if (err != 0) {
		ruleset_free(*out);
		*out = NULL;
	}
	return err;
}

/* Whether there are more than these. */
static bool warnings_put(struct wire_open *m, struct ruleset *rules)
{
	struct lint_warning *const warnings = calloc(LIMIT_PAGE, sizeof(*warnings));
	const struct wire_mark from = wire_buffer_mark(m->b);
	struct wire_open a, w;
	size_t n = 0, i;
	const int how = warnings ? ruleset_lint(rules, warnings, LIMIT_PAGE, &n) : -ENOMEM;

	if (how < 0)
		m->b->error = -ENOMEM;
	wire_array_open(&a, m->b);
	for (i = 0; how >= 0 && i < n && i < LIMIT_PAGE && page_room(m->b, from); i++) {
		wire_array_item(&a);
		wire_map_open(&w, m->b);
		wire_map_strz(&w, "code", lint_code_name(warnings[i].code));
		wire_map_strz(&w, "message", lint_code_text(warnings[i].code));
		wire_map_u64(&w, "line", warnings[i].rule->line);
		rule_put_line(&w, "rule", warnings[i].rule);
		if (warnings[i].other)
			rule_put_line(&w, "other", warnings[i].other);
		wire_close(&w);
	}
	wire_close(&a);
	free(warnings);
	return how > 0 || i < n;
}

int project_answer(const struct trust_call *c, const struct project_file *file)
{
	struct gateway *const g = c->g;
	char name[LIMIT_TEXT + sizeof("/" PROJECT_RULES)];
	struct shown s = {.uid = c->uid, .path = c->project};
	const bool read = file->state == PROJECT_FILE_NEW;
	struct rule_problem problem = {0, 0, 0};
	struct ruleset *rules = NULL;
	struct wire_buffer *b;
	struct wire_open m;
	bool more = false;
	int err = read ? project_parse(c, file, &rules, &problem) : 0;

	if (err == -ENOMEM)
		return err;
	s.file = (struct bytes){
		name, (size_t)snprintf(name, sizeof(name), "%.*s/" PROJECT_RULES,
			      (int)c->project.len, (const char *)c->project.data)};
	s.trust = trust_find(g, c->uid, c->project);
	s.hash = read ? file->hash : NULL;
	s.problem = file->problem;
	if (file->state == PROJECT_FILE_UNREAD)
		s.state = "unread";
	if (err != 0) {
		s.problem =
			err > 0 ? rule_error_text(problem.error) : "there are too many rules";
		s.line = problem.line;
		s.column = problem.column;
	}
	b = stage_begin(g);
	wire_pack_reply_ok(b, c->id);
	wire_map_open(&m, b);
	shown_put(&m, &s);
	if (read)
		wire_map_bin(&m, "text", (struct bytes){file->text, file->len});
	else
		wire_map_nil(&m, "text");
	wire_map_key(&m, "warnings");
	if (rules) {
		more = warnings_put(&m, rules);
	} else {
		struct wire_open a;

		wire_array_open(&a, b);
		wire_close(&a);
	}
	wire_map_bool(&m, "more", more);
	wire_close(&m);
	stage_end(g, c->client, true);
	g->n_commands++;
	ruleset_free(rules);
	return 0;
}
