/* SPDX-License-Identifier: MIT */
/* The calls of frontends about rules. Each one that changes something is a batch of its own. */
#include "broker/io/gateway_private.h"

#include "broker/core/rules/lint.h"

#include "broker/core/turn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

static int not_found(struct gateway *g, struct client *client, uint32_t call, const char *what)
{
	answer_error(g, client, call, WIRE_NOT_FOUND, what, NULL, none);
	return 1;
}

static bool sees(const struct client *client, uint32_t uid)
{
	return client->frontend->admin || client->frontend->uid == uid || uid == RULE_ANY_UID;
}

/* ---- list ---- */

/* Where a page ends: the scope and number of a rule in force; or, behind all, a broken one's
 * id. */
#define CURSOR_SIZE   9
#define CURSOR_BROKEN 0xff

static void cursor_write(uint8_t at[CURSOR_SIZE], uint8_t scope, uint64_t number)
{
	at[0] = scope;
	for (int i = 0; i < 8; i++)
		at[1 + i] = (uint8_t)(number >> (56 - 8 * i));
}

struct rule_page {
	struct gateway *g;
	struct wire_buffer *b;
	struct wire_open a;
	struct wire_mark from;
	unsigned n, limit;
	uint8_t last[CURSOR_SIZE], after[CURSOR_SIZE];
	bool begun; /* after is set */
	bool more;
};

/* Whether there is one more to go on the page, which then has it. */
static bool page_takes(struct rule_page *p, uint8_t scope, uint64_t number)
{
	uint8_t at[CURSOR_SIZE];

	cursor_write(at, scope, number);
	if (p->begun && memcmp(at, p->after, sizeof(at)) <= 0)
		return false;
	if (p->n == p->limit || !page_room(p->b, p->from)) {
		p->more = true;
		return false;
	}
	memcpy(p->last, at, sizeof(at));
	p->n++;
	wire_array_item(&p->a);
	return true;
}

static void page_fill(struct rule_page *p, const struct client *client)
{
	const struct rule_entry *e = NULL;
	struct standing_rule *s;

	while (!p->more && (e = ruleset_next(p->g->judge.rules, e)))
		if (sees(client, e->uid) && page_takes(p, e->scope, e->number))
			rule_pack(p->b, e, e->id ? standing_find(p->g, e->id) : NULL);
	TAILQ_FOREACH (s, &p->g->standing, entry)
		if (!p->more && s->broken && sees(client, s->r.uid) &&
			page_takes(p, CURSOR_BROKEN, s->r.id))
			rule_pack(p->b, NULL, s);
}

static int rules_list(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct rule_page p = {.g = g};
	struct wire_problem problem;
	struct wire_rules_list q;
	struct wire_open m;
	int v = wire_decode(&wire_rules_list_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (q.cursor.data) {
		if (q.cursor.len != CURSOR_SIZE)
			return answer_bad_value(g, client, f->id, "cursor"), 0;
		memcpy(p.after, q.cursor.data, CURSOR_SIZE);
		memcpy(p.last, p.after, CURSOR_SIZE);
		p.begun = true;
	}
	p.limit = q.limit ? q.limit : LIMIT_PAGE_DEFAULT;
	p.b = stage_begin(g);
	p.from = wire_buffer_mark(p.b);
	wire_pack_reply_ok(p.b, f->id);
	wire_map_open(&m, p.b);
	wire_map_key(&m, "items");
	wire_array_open(&p.a, p.b);
	page_fill(&p, client);
	wire_close(&p.a);
	wire_map_bool(&m, "more", p.more);
	wire_map_bin(&m, "cursor", (struct bytes){p.last, sizeof(p.last)});
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

/* ---- lint ---- */

static void warning_pack(struct gateway *g, struct wire_buffer *b, const struct lint_warning *w)
{
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_strz(&m, "code", lint_code_name(w->code));
	wire_map_strz(&m, "message", lint_code_text(w->code));
	wire_map_key(&m, "rule");
	rule_pack(b, w->rule, standing_find(g, w->rule->id));
	if (w->other) {
		wire_map_key(&m, "other");
		rule_pack(b, w->other, standing_find(g, w->other->id));
	}
	wire_close(&m);
}

static bool tells_of(const struct client *client, const struct lint_warning *w)
{
	return sees(client, w->rule->uid) && (!w->other || sees(client, w->other->uid));
}

static int rules_lint(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct lint_warning *const warnings = calloc(LIMIT_PAGE, sizeof(*warnings));
	struct wire_mark from;
	struct wire_buffer *b;
	struct wire_open m, a;
	size_t n = 0, i;
	int err = warnings ? ruleset_lint(g->judge.rules, warnings, LIMIT_PAGE, &n) : -ENOMEM;

	if (err < 0) {
		free(warnings);
		return err;
	}
	b = stage_begin(g);
	from = wire_buffer_mark(b);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_key(&m, "items");
	wire_array_open(&a, b);
	for (i = 0; i < n && i < LIMIT_PAGE && page_room(b, from); i++)
		if (tells_of(client, &warnings[i])) {
			wire_array_item(&a);
			warning_pack(g, b, &warnings[i]);
		}
	wire_close(&a);
	wire_map_bool(&m, "more", err > 0 || i < n);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	free(warnings);
	return 0;
}

/* ---- add ---- */

static struct session *session_named(
	struct gateway *g, const struct client *client, struct bytes name)
{
	struct uuid id;
	struct session *s = NULL;

	if (name.data && id_parse(ID_SESSION, name, &id) == 0)
		s = session_find(&g->engine.r, &id);
	return s && !s->s.r.ended && frontend_sees(client->frontend, &s->e) ? s : NULL;
}

/* By its own name, or as the present one of the session. */
static struct turn *turn_named(struct gateway *g, const struct client *client,
	struct bytes name, const struct session *s)
{
	struct turn *t = s ? s->s.turn : NULL;
	struct uuid id;

	if (name.data) {
		if (id_parse(ID_TURN, name, &id) < 0)
			return NULL;
		t = turn_find(&g->engine.r, &id);
	}
	return t && !turn_state_over(t->s.r.state) && frontend_sees(client->frontend, &t->e)
		       ? t
		       : NULL;
}

/* For whom the rule is to be. 1: answered. */
static int owner_find(struct gateway *g, struct client *client, uint32_t call,
	const struct wire_rules_add *m, struct rule_record *r)
{
	const struct session *s = session_named(g, client, m->session);
	const struct turn *t;

	if (m->session.data && !s)
		return not_found(g, client, call, "there is no such session");
	r->uid = s ? s->s.r.uid : client->frontend->uid;
	switch (r->scope) {
	case SCOPE_SESSION:
		if (!s)
			return answer_bad_value(g, client, call, "session");
		r->owner = s->s.r.id;
		return 0;
	case SCOPE_TURN:
		t = turn_named(g, client, m->turn, s);
		if (!t)
			return not_found(g, client, call, "there is no such turn");
		r->uid = t->s.session->s.r.uid;
		r->owner = t->s.r.id;
		return 0;
	case SCOPE_PROJECT:
		if (!m->project.data && s && s->s.r.workspace)
			r->project = str_ref(s->s.r.workspace);
		else if (m->project.len && *(const char *)m->project.data == '/')
			r->project = str_new(m->project.data, m->project.len);
		else
			return answer_bad_value(g, client, call, "project");
		return r->project ? 0 : -ENOMEM;
	default: return 0;
	}
}

static int add_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	struct rule_record *r)
{
	struct wire_problem problem;
	struct wire_rules_add m;
	int v = wire_decode(&wire_rules_add_spec, f->params, &m, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	v = scope_parse(m.scope);
	if (v <= SCOPE_ONCE)
		return answer_bad_value(g, client, f->id, "scope");
	r->scope = (uint8_t)v;
	r->made = gateway_now(g).wall;
	r->expires = m.expires * 1000;
	if (WIRE_HAS(&m, rules_add, expires) && r->expires <= r->made)
		return answer_bad_value(g, client, f->id, "expires");
	v = owner_find(g, client, f->id, &m, r);
	if (v)
		return v;
	r->text = str_new(m.rule.data, m.rule.len);
	r->by = str_new(client->name, strlen(client->name));
	if (m.origin.data)
		r->origin = str_new(m.origin.data, m.origin.len);
	return r->text && r->by && (!m.origin.data || r->origin) ? 0 : -ENOMEM;
}

static void add_answer(struct gateway *g, struct client *client, uint32_t call,
	const struct standing_rule *s, bool existed)
{
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m;

	wire_pack_reply_ok(b, call);
	wire_map_open(&m, b);
	wire_map_u64(&m, "id", s->r.id);
	wire_map_str(&m, "rule", str_bytes(s->r.text));
	wire_map_bool(&m, "existed", existed);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
}

/* The caller is told of the batch's failure. */
static int sender_add(struct gateway *g, struct client *client, uint32_t call)
{
	const struct command c = {.call = call};

	return batch_add_sender(g, client, &c);
}

static void add_problem(struct gateway *g, struct client *client, uint32_t call,
	const struct rule_problem *problem)
{
	char text[128];

	snprintf(text, sizeof(text), "column %u: %s", problem->column,
		rule_error_text(problem->error));
	answer_error(g, client, call, WIRE_INVALID, text, "param", bytes_of("rule"));
}

static int rules_add(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct rule_record r = {.id = 0};
	struct standing_rule *s = NULL;
	struct rule_problem problem;
	int err = add_parse(g, client, f, &r);

	if (err != 0)
		goto out;
	err = standing_add(g, &r, &s, &problem);
	/* what the store says is the whole batch's affair */
	if (err < 0 && err != -EEXIST && (g->store_error || (err != -EINVAL && err != -ENOSPC)))
		goto out;
	if (err == 1)
		add_problem(g, client, f->id, &problem);
	else if (err == -EINVAL)
		answer_error(g, client, f->id, WIRE_INVALID, "such a rule can't be kept",
			"param", bytes_of("rule"));
	else if (err == -ENOSPC)
		answer_error(g, client, f->id, WIRE_LIMIT, "there are too many rules", "limit",
			bytes_of("rules"));
	else
		add_answer(g, client, f->id, s, err == -EEXIST);
	err = 1;
out:
	str_unref(r.text);
	str_unref(r.by);
	str_unref(r.project);
	str_unref(r.origin);
	return err > 0 ? 0 : err;
}

/* ---- remove ---- */

static int rules_remove(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct wire_problem problem;
	struct standing_rule *s;
	struct wire_rules_remove m;
	struct wire_buffer *b;
	int err = wire_decode(&wire_rules_remove_spec, f->params, &m, &problem);

	if (err)
		return problem_answer(g, client, f->id, err, &problem), 0;
	s = standing_find(g, m.id);
	if (!s || (s->r.uid != client->frontend->uid && !client->frontend->admin))
		return not_found(g, client, f->id, "there is no standing rule with this id"), 0;
	err = standing_remove(g, s, bytes_of(client->name));
	if (err < 0)
		return err;
	b = stage_begin(g);
	wire_pack_reply_ok(b, f->id);
	wire_pack_map(b, 0);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

int frontend_rules(
	struct gateway *g, struct client *client, const struct wire_frame *f, int method)
{
	int err;

	if (method == WIRE_FRONTEND_RULES_LIST || method == WIRE_FRONTEND_RULES_LINT) {
		batch_commit(g);
		err = method == WIRE_FRONTEND_RULES_LIST ? rules_list(g, client, f)
							 : rules_lint(g, client, f);
		batch_commit(g);
		return err;
	}
	if (client->frontend->s.role != ROLE_HUMAN) {
		answer_error(g, client, f->id, WIRE_FORBIDDEN, "only a person may do that",
			NULL, none);
		return 0;
	}
	batch_commit(g);
	err = sender_add(g, client, f->id);
	if (err == 0)
		err = method == WIRE_FRONTEND_RULES_ADD ? rules_add(g, client, f)
							: rules_remove(g, client, f);
	g->n_commands++;
	if (err < 0)
		batch_fail(g, err);
	else
		batch_commit(g);
	return 0;
}
