/* SPDX-License-Identifier: MIT */
/* Sessions, turns and requests as the items of the protocol. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct client *client_of(struct link *l)
{
	return l->owner;
}

struct client *client_of_frontend(struct frontend *f)
{
	return f->owner;
}

void item_put_id(struct wire_open *m, const char *key, enum id_type type, const struct uuid *id)
{
	char text[ID_STRING_SIZE];

	id_format(text, type, id);
	wire_map_strz(m, key, text);
}

static void put_id(struct wire_open *m, const char *key, enum id_type type, const struct uuid *id)
{
	if (uuid_is_nil(id))
		wire_map_nil(m, key);
	else
		item_put_id(m, key, type, id);
}

static void put_time(struct wire_open *m, const char *key, int64_t us)
{
	if (us)
		wire_map_i64(m, key, us / 1000);
	else
		wire_map_nil(m, key);
}

static void put_str(struct wire_open *m, const char *key, const struct str *s)
{
	wire_map_str(m, key, str_bytes(s));
}

/* The last component of the workspace: what people call the project. */
static struct bytes project_of(const struct session *s)
{
	const struct str *w = s->s.r.workspace;
	size_t at;

	if (!w)
		return (struct bytes){ NULL, 0 };
	for (at = w->len; at > 0 && w->data[at - 1] != '/'; at--)
		;
	return (struct bytes){ w->data + at, w->len - at };
}

static void put_chain(struct wire_open *m, const struct session *s)
{
	const struct session *chain[LIMIT_CHAIN];
	unsigned n = session_chain(s, chain);
	struct wire_open a;

	wire_map_key(m, "chain");
	wire_array_open(&a, m->b);
	for (unsigned i = 0; i < n; i++) {
		wire_array_item(&a);
		wire_pack_str(m->b, str_bytes(chain[i]->s.r.title && i ? chain[i]->s.r.title
								       : chain[i]->s.r.agent));
	}
	wire_close(&a);
}

/* What session and request items have in common. */
static void put_who(struct wire_open *m, const struct session *s)
{
	put_str(m, "agent", s->s.r.agent);
	put_str(m, "title", s->s.r.title);
	wire_map_str(m, "project", project_of(s));
	put_chain(m, s);
	wire_map_u64(m, "uid", s->s.r.uid);
	wire_map_u64(m, "pid", s->s.r.subject.pid);
	put_str(m, "exe", s->s.r.exe);
	wire_map_strz(m, "mode", mode_name(session_mode(s)));
}

static void session_pack(struct gateway *g, struct wire_buffer *b, const struct session *s)
{
	struct wire_open m;
	bool held;

	wire_map_open(&m, b);
	wire_map_strz(&m, "type", "session");
	put_id(&m, "session", ID_SESSION, &s->s.r.id);
	put_who(&m, s);
	wire_map_str(&m, "agent_session", session_key(s));
	put_str(&m, "cwd", s->s.r.cwd);
	put_str(&m, "workspace", s->s.r.workspace);
	if (session_above(s))
		item_put_id(&m, "parent", ID_SESSION, &session_above(s)->s.r.id);
	else
		wire_map_nil(&m, "parent");
	wire_map_strz(&m, "ceiling", mode_name(s->s.r.ceiling));
	wire_map_strz(&m, "claim", mode_name(s->s.r.claim));
	if (s->s.turn)
		put_id(&m, "turn", ID_TURN, &s->s.turn->s.r.id);
	else
		wire_map_nil(&m, "turn");
	wire_map_u64(&m, "connections", s->n_links);
	wire_map_u64(&m, "pending", s->n_pending);
	wire_map_bool(&m, "alive", s->s.r.alive);
	wire_map_strz(&m, "enforce", enforce_of(g, s, &held));
	wire_map_bool(&m, "held", held);
	wire_map_bool(&m, "ended", s->s.r.ended);
	put_time(&m, "since", s->s.r.since);
	wire_close(&m);
}

static void turn_pack(struct gateway *g, struct wire_buffer *b, struct turn *t)
{
	const struct turn_record *r = &t->s.r;
	struct wire_open m, a;
	struct usage u;

	wire_map_open(&m, b);
	wire_map_strz(&m, "type", "turn");
	put_id(&m, "turn", ID_TURN, &r->id);
	put_id(&m, "session", ID_SESSION, &r->session);
	put_str(&m, "agent", t->s.session->s.r.agent);
	put_str(&m, "agent_turn", r->key);
	wire_map_strz(&m, "state", turn_state_name(r->state));
	wire_map_key(&m, "causes");
	wire_array_open(&a, b);
	if (r->causes & CAUSE_HAND) {
		wire_array_item(&a);
		wire_pack_strz(b, "hand");
	}
	if (r->causes & CAUSE_BUDGET) {
		wire_array_item(&a);
		wire_pack_strz(b, "budget");
	}
	if (t->s.inherited) {
		wire_array_item(&a);
		wire_pack_strz(b, "parent");
	}
	wire_close(&a);
	put_str(&m, "reason", r->reason);
	wire_map_u64(&m, "pending", t->n_pending);
	wire_map_u64(&m, "calls", r->calls);
	wire_map_u64(&m, "denied", r->denied);
	turn_usage(t, &u);
	wire_map_u64(&m, "input", u.input);
	wire_map_u64(&m, "output", u.output);
	wire_map_u64(&m, "cache_read", u.cache_read);
	wire_map_u64(&m, "cache_write", u.cache_write);
	wire_map_u64(&m, "cost_microusd", u.cost_microusd);
	put_time(&m, "since", r->since);
	put_time(&m, "ended_at", r->ended_at);
	item_put_budget(g, &m, t);
	wire_close(&m);
}

static void put_paths(struct wire_open *m, const struct request_data *r)
{
	struct wire_open a, p;

	wire_map_key(m, "paths");
	wire_array_open(&a, m->b);
	for (unsigned i = 0; i < r->n_paths; i++) {
		wire_array_item(&a);
		wire_map_open(&p, m->b);
		put_str(&p, "path", r->paths[i].given);
		put_str(&p, "resolved", r->paths[i].resolved);
		wire_map_bool(&p, "inside", r->paths[i].inside);
		wire_close(&p);
	}
	wire_close(&a);
}

static void put_deadline(struct gateway *g, struct wire_open *m, const struct request *q)
{
	int64_t left, at = request_deadline(q, gateway_now(g), &left);

	put_time(m, "deadline", at);
	if (left >= 0)
		wire_map_i64(m, "remaining_ms", left / 1000);
	else
		wire_map_nil(m, "remaining_ms");
}

/* `extra` is a map of options and schema; its keys become the item's. */
static void put_extra(struct wire_open *m, const struct str *extra)
{
	struct bytes key, value, name;
	struct wire_iter it;

	if (!extra || wire_iter_map(&it, str_bytes(extra)) != 0)
		return;
	while (wire_map_next(&it, &key, &value)) {
		if (wire_text(key, &name) != 0)
			continue;
		wire_map_raw(m, bytes_is(name, "options") ? "options" : "schema", value);
	}
}

static void put_verdict(struct wire_open *m, const struct decision *d)
{
	if (d->verdict == VERDICT_NONE)
		return;
	wire_map_strz(m, "verdict", verdict_name(d->verdict));
	wire_map_strz(m, "source", source_name(d->source));
	wire_map_strz(m, "scope", scope_name(d->scope));
	put_str(m, "reason", d->reason);
	put_str(m, "by", d->by);
}

void item_put_rule(struct wire_open *m, const struct str *found)
{
	struct why why;

	why_read(found, &why);
	wire_map_str(m, "rule", why.rule);
}

/* The rule that asks or decided, and what is on the floor. */
static void put_why(struct wire_open *m, const struct str *found)
{
	struct wire_open f;
	struct why why;

	item_put_rule(m, found);
	why_read(found, &why);
	if (why.rule_id)
		wire_map_u64(m, "rule_id", why.rule_id);
	if (!why.floor.data)
		return;
	wire_map_key(m, "floor");
	wire_map_open(&f, m->b);
	wire_map_str(&f, "entry", why.floor);
	wire_map_str(&f, "about", why.about);
	wire_map_str(&f, "what", why.what);
	wire_close(&f);
}

#define SUGGESTION_SHOWN 4096u /* longer ones are shown by `get` alone */

/* The rules that a person may choose for this and later calls. */
static void put_suggestions(
	struct gateway *g, struct wire_open *m, const struct request *q, bool whole)
{
	static const char *const kinds[] = {[SUGGEST_EXACT] = "exact",
		[SUGGEST_PREFIX] = "prefix",
		[SUGGEST_FOLDER] = "folder",
		[SUGGEST_HOST] = "host",
		[SUGGEST_TOOL] = "tool"};
	struct suggestions list = {.n = 0};
	struct wire_open a, s;

	if (!request_state_pending(q->s.r.state))
		return;
	if (request_suggest(&g->engine, q, &list) < 0)
		m->b->error = -ENOMEM;
	wire_map_key(m, "suggestions");
	wire_array_open(&a, m->b);
	for (size_t i = 0; i < list.n; i++) {
		if (!whole && strlen(list.items[i].text) > SUGGESTION_SHOWN)
			continue;
		wire_array_item(&a);
		wire_map_open(&s, m->b);
		wire_map_strz(&s, "kind", kinds[list.items[i].kind]);
		wire_map_strz(&s, "rule", list.items[i].text);
		wire_close(&s);
	}
	wire_close(&a);
	suggestions_free(&list);
}

static void request_pack(
	struct gateway *g, struct wire_buffer *b, const struct request *q, bool whole)
{
	const struct request_data *r = &q->s.r;
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_strz(&m, "type", "request");
	put_id(&m, "request", ID_REQUEST, &r->id);
	put_id(&m, "session", ID_SESSION, &request_session(q)->s.r.id);
	put_id(&m, "turn", ID_TURN, &q->s.turn->s.r.id);
	wire_map_str(&m, "tool_call_id", request_call(q));
	wire_map_strz(&m, "request_type", request_type_name(r->type));
	wire_map_strz(&m, "state", request_state_name(r->state));
	wire_map_bool(&m, "attached", q->s.waiter != NULL);
	wire_map_bool(&m, "recovered", q->s.recovered);
	wire_map_bool(&m, "elsewhere", r->elsewhere);
	put_who(&m, request_session(q));
	put_str(&m, "tool", r->tool);
	wire_map_strz(&m, "kind", kind_name(r->kind));
	wire_map_bool(&m, "mutating", r->mutating);
	put_str(&m, "summary", r->summary);
	put_str(&m, "description", r->description);
	put_str(&m, "command", r->command);
	put_paths(&m, r);
	put_str(&m, "cwd", r->cwd);
	put_str(&m, "workspace", request_session(q)->s.r.workspace);
	if (r->input && (whole || r->input->len <= LIMIT_INLINE_INPUT))
		wire_map_raw(&m, "input", str_bytes(r->input));
	else if (r->input)
		wire_map_u64(&m, "input_size", r->input->len);
	wire_map_strz(&m, "step", step_name(r->step));
	wire_map_strz(&m, "why", step_why(r->step));
	put_why(&m, r->why);
	put_suggestions(g, &m, q, whole);
	put_time(&m, "since", r->since);
	put_deadline(g, &m, q);
	wire_map_bin(&m, "digest", (struct bytes){ r->digest, sizeof(r->digest) });
	wire_map_bool(&m, "takes_input", r->takes_input);
	wire_map_bool(&m, "multi", r->multi);
	put_extra(&m, r->extra);
	put_verdict(&m, request_decision(q));
	wire_close(&m);
}

void item_pack(struct gateway *g, struct wire_buffer *b, const struct entity *e, bool whole)
{
	switch ((enum entity_type)e->type) {
	case ENTITY_SESSION: session_pack(g, b, ENTITY_OF(e, session)); break;
	case ENTITY_TURN: turn_pack(g, b, ENTITY_OF(e, turn)); break;
	case ENTITY_REQUEST: request_pack(g, b, ENTITY_OF(e, request), whole); break;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: wire_pack_nil(b); break;
	}
}

bool page_pack(struct gateway *g, struct wire_open *m, struct uuid *at, unsigned limit,
	struct entity *(*next)(void *arg, const struct uuid *after), void *arg)
{
	struct wire_mark from = wire_buffer_mark(m->b);
	struct entity *x;
	struct wire_open a;
	unsigned n = 0;

	if (!limit)
		limit = LIMIT_PAGE_DEFAULT;
	wire_map_key(m, "items");
	wire_array_open(&a, m->b);
	while ((x = next(arg, at)) && n < limit && page_room(m->b, from)) {
		wire_array_item(&a);
		item_pack(g, m->b, x, false);
		*at = *entity_id(x);
		n++;
	}
	wire_close(&a);
	wire_map_bool(m, "more", x != NULL);
	wire_map_bin(m, "cursor", (struct bytes){ at->b, sizeof(at->b) });
	return x != NULL;
}
