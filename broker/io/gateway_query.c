/* SPDX-License-Identifier: MIT */
/* The calls of frontends that only ask. */
#include <config.h>

#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VERIFY_ROWS	 2000u
#define VERIFY_ROWS_LATE 16u /* in a loop turn that has spent its time on questions */

static const struct bytes none;

static int not_found(struct gateway *g, struct client *client, uint32_t call, const char *what)
{
	answer_error(g, client, call, WIRE_NOT_FOUND, what, NULL, none);
	return 0;
}

/* ---- list, sessions, turns ---- */

struct listing {
	struct gateway *g;
	const struct frontend *frontend;
	enum entity_type type;
	bool pending_only, ended;
	struct uuid session; /* nil: any */
	struct uuid after;
	unsigned limit;
};

static bool listed(const struct listing *l, const struct entity *x)
{
	const struct session *s;

	if (x->type != l->type)
		return false;
	switch (l->type) {
	case ENTITY_REQUEST: {
		const struct request *q = (const struct request *)(const void *)x;

		s = request_session(q);
		if (q->s.r.check || (l->pending_only && !request_state_pending(q->s.r.state)))
			return false;
		break;
	}
	case ENTITY_TURN: s = ((const struct turn *)(const void *)x)->s.session; break;
	default:
		s = (const struct session *)(const void *)x;
		if (s->s.r.ended && !l->ended)
			return false;
		break;
	}
	return uuid_is_nil(&l->session) || uuid_compare(&s->s.r.id, &l->session) == 0;
}

static struct entity *listing_next(void *arg, const struct uuid *after)
{
	const struct listing *l = arg;
	struct entity *x = registry_next(&l->g->engine.r, after);

	while (x && !(frontend_sees(l->frontend, x) && listed(l, x)))
		x = registry_next(&l->g->engine.r, entity_id(x));
	return x;
}

static void listing_answer(struct gateway *g, struct client *client, uint32_t call,
	struct listing *l)
{
	struct wire_buffer *b = stage_begin(g);
	struct uuid at = l->after;
	struct wire_open m;

	wire_pack_reply_ok(b, call);
	wire_map_open(&m, b);
	page_pack(g, &m, &at, l->limit, listing_next, l);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
}

static int listing_parse(struct gateway *g, struct client *client, const struct wire_frame *f,
	int method, struct listing *l)
{
	struct bytes session = none, cursor = none;
	struct wire_problem problem;
	struct wire_sessions sessions;
	struct wire_turns turns;
	struct wire_list list;
	int v;

	switch (method) {
	case WIRE_FRONTEND_LIST:
		v = wire_decode(&wire_list_spec, f->params, &list, &problem);
		l->type = ENTITY_REQUEST;
		l->pending_only = !WIRE_HAS(&list, list, pending) || list.pending;
		l->limit = list.limit;
		session = list.session;
		cursor = list.cursor;
		break;
	case WIRE_FRONTEND_TURNS:
		v = wire_decode(&wire_turns_spec, f->params, &turns, &problem);
		l->type = ENTITY_TURN;
		l->limit = turns.limit;
		session = turns.session;
		cursor = turns.cursor;
		break;
	default:
		v = wire_decode(&wire_sessions_spec, f->params, &sessions, &problem);
		l->type = ENTITY_SESSION;
		l->limit = sessions.limit;
		l->ended = sessions.ended;
		cursor = sessions.cursor;
	}
	if (v)
		return problem_answer(g, client, f->id, v, &problem), 1;
	if (session.data && id_parse(ID_SESSION, session, &l->session) < 0)
		return answer_bad_value(g, client, f->id, "session");
	if (cursor.data) {
		if (cursor.len != sizeof(l->after))
			return answer_bad_value(g, client, f->id, "cursor");
		memcpy(l->after.b, cursor.data, cursor.len);
	}
	return 0;
}

/* ---- get ---- */

static enum id_type id_type_of(const struct entity *x)
{
	return x->type == ENTITY_SESSION ? ID_SESSION
	       : x->type == ENTITY_TURN	 ? ID_TURN
					 : ID_REQUEST;
}

/* By the whole id, or a part that only one live item has. *many: more than one has it. */
static struct entity *item_find(struct gateway *g, const struct client *client, struct bytes id,
	bool *many)
{
	static const struct uuid start;
	struct uuid at = start;
	struct entity *x, *found = NULL;

	*many = false;
	for (int type = ID_SESSION; type <= ID_REQUEST; type++)
		if (id_parse((enum id_type)type, id, &at) == 0) {
			x = type == ID_SESSION ? (void *)session_find(&g->engine.r, &at)
			    : type == ID_TURN  ? (void *)turn_find(&g->engine.r, &at)
					       : (void *)request_find(&g->engine.r, &at);
			return x && frontend_sees(client->frontend, x) ? x : NULL;
		}
	if (id.len < 4)
		return NULL;
	for (at = start; (x = registry_next(&g->engine.r, &at)); at = *entity_id(x)) {
		const struct request *q = (const struct request *)(const void *)x;

		if (entity_retired(x) || !frontend_sees(client->frontend, x) ||
			!id_has_part(id_type_of(x), entity_id(x), id) ||
			(x->type == ENTITY_REQUEST && q->s.r.check))
			continue;
		if (found)
			return *many = true, NULL;
		found = x;
	}
	return found;
}

static int query_get(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct wire_problem problem;
	struct wire_buffer *b;
	struct wire_open m;
	struct entity *x;
	struct wire_get q;
	bool many;
	int v = wire_decode(&wire_get_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	x = item_find(g, client, q.id, &many);
	if (!x && !many && ended_answer(g, client, f->id, q.id))
		return 0;
	if (!x)
		return not_found(g, client, f->id,
			many ? "more than one live item has that in its id"
			     : "no live item has that id");
	b = stage_begin(g);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_key(&m, "item");
	item_pack(g, b, x, true);
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

/* ---- history ---- */

static void row_pack(struct wire_buffer *b, const struct history_row *r, bool whole)
{
	static const uint8_t zero[32];
	char id[ID_STRING_SIZE];
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_u64(&m, "seq", r->seq);
	wire_map_i64(&m, "at", r->at / 1000);
	wire_map_strz(&m, "event", history_event_name(r->event));
	wire_map_u64(&m, "uid", r->uid);
	wire_map_u64(&m, "pid", r->pid);
#define PUT_ID(name, type)                                                                     \
	if (!uuid_is_nil(&r->name)) {                                                          \
		id_format(id, type, &r->name);                                                 \
		wire_map_strz(&m, #name, id);                                                  \
	}
	PUT_ID(session, ID_SESSION)
	PUT_ID(turn, ID_TURN)
	PUT_ID(request, ID_REQUEST)
#undef PUT_ID
#define PUT_TEXT(key, member)                                                                  \
	if (r->member.len)                                                                     \
		wire_map_str(&m, key, r->member);
	PUT_TEXT("agent", agent)
	PUT_TEXT("tool_call_id", call)
	PUT_TEXT("tool", tool)
	PUT_TEXT("command", command)
	PUT_TEXT("cwd", cwd)
	PUT_TEXT("workspace", workspace)
	PUT_TEXT("exe", exe)
	PUT_TEXT("rule", rule)
	PUT_TEXT("floor", floor)
	PUT_TEXT("reason", reason)
	PUT_TEXT("by", by)
	PUT_TEXT("detail", detail)
#undef PUT_TEXT
	if (r->input.len && (whole || r->input.len <= LIMIT_INLINE_INPUT))
		wire_map_raw(&m, "input", r->input);
	else if (r->input.len)
		wire_map_u64(&m, "input_size", r->input.len);
	if (memcmp(r->digest, zero, sizeof(zero)) != 0)
		wire_map_bin(&m, "digest", (struct bytes){ r->digest, sizeof(r->digest) });
	if (!uuid_is_nil(&r->request)) {
		wire_map_strz(&m, "request_type", request_type_name(r->type));
		wire_map_strz(&m, "kind", kind_name(r->kind));
		wire_map_strz(&m, "state", request_state_name(r->state));
		wire_map_strz(&m, "verdict", verdict_name(r->verdict));
		wire_map_strz(&m, "scope", scope_name(r->scope));
		wire_map_strz(&m, "step", step_name(r->step));
	}
	if (r->rule_id)
		wire_map_u64(&m, "rule_id", r->rule_id);
	if (r->source != SOURCE_NONE)
		wire_map_strz(&m, "source", source_name(r->source));
	if (history_event_of_rule(r->event))
		wire_map_strz(&m, "scope", scope_name(r->scope));
	else if (r->event < HISTORY_PROJECT_TRUSTED)
		wire_map_strz(&m, "mode", mode_name(r->mode));
	if (r->count)
		wire_map_u64(&m, "count", r->count);
	wire_map_bin(&m, "hash", (struct bytes){ r->hash, sizeof(r->hash) });
	wire_close(&m);
}

bool query_goes_on(struct gateway *g)
{
	int64_t now = gateway_clock().mono;

	if (!g->query_until)
		g->query_until = now + (int64_t)TIME_QUERY_MS * 1000;
	return now < g->query_until;
}

struct history_page {
	struct gateway *g;
	struct wire_buffer *b;
	struct wire_open *a;
	struct wire_mark from;
	unsigned n, limit;
	uint64_t last;
	size_t read; /* bytes of inputs, also of such as are not part of the page */
	bool more, whole;
};

static int history_row_take(void *arg, const struct history_row *row)
{
	struct history_page *p = arg;

	if (p->n == p->limit || !page_room(p->b, p->from) || p->read > LIMIT_PAGE_BYTES) {
		p->more = true;
		return -ECANCELED;
	}
	wire_array_item(p->a);
	row_pack(p->b, row, p->whole);
	p->last = row->seq;
	p->read += row->input.len;
	p->n++;
	return 0;
}

static bool history_goes_on(void *arg)
{
	const struct history_page *p = arg;

	return query_goes_on(p->g);
}

static int enum_filter(struct bytes text, int (*parse)(struct bytes), int *out)
{
	*out = text.data ? parse(text) : -1;
	return text.data && *out < 0 ? -EINVAL : 0;
}

static int query_history(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct wire_problem problem;
	struct wire_history q;
	struct history_query hq = { 0 };
	struct history_page page = { .g = g };
	struct wire_open m, a;
	uint64_t reached;
	int v = wire_decode(&wire_history_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	if (q.session.data && id_parse(ID_SESSION, q.session, &hq.session) < 0)
		return answer_bad_value(g, client, f->id, "session"), 0;
	if (enum_filter(q.verdict, verdict_parse, &hq.verdict) < 0)
		return answer_bad_value(g, client, f->id, "verdict"), 0;
	if (enum_filter(q.source, source_parse, &hq.source) < 0)
		return answer_bad_value(g, client, f->id, "source"), 0;
	if (enum_filter(q.event, history_event_parse, &hq.event) < 0)
		return answer_bad_value(g, client, f->id, "event"), 0;
	page.limit = q.limit ? q.limit : LIMIT_PAGE_DEFAULT;
	page.whole = q.whole;
	hq.after = q.after;
	hq.before = q.before;
	hq.limit = page.limit + 1;
	hq.newest = q.newest;
	hq.since = q.since * 1000;
	hq.until = q.until * 1000;
	hq.agent = q.agent;
	hq.tool = q.tool;
	hq.rule = q.rule;
	hq.all_uids = client->frontend->admin;
	hq.uid = client->frontend->uid;
	hq.go_on = history_goes_on;
	page.b = stage_begin(g);
	page.from = wire_buffer_mark(page.b);
	page.a = &a;
	wire_pack_reply_ok(page.b, f->id);
	wire_map_open(&m, page.b);
	wire_map_key(&m, "items");
	wire_array_open(&a, page.b);
	v = journal_history(g->journal, &hq, history_row_take, &page, &reached);
	if (v == 0 && reached) {
		page.more = true;
		page.last = reached;
	}
	wire_close(&a);
	wire_map_bool(&m, "more", page.more);
	wire_map_u64(&m, "cursor", page.last);
	wire_close(&m);
	if (v < 0 && v != -ECANCELED) {
		wire_buffer_rewind(&g->stage, page.from);
		answer_error(g, client, f->id, WIRE_STORE, "the history can't be read", NULL, none);
		return 0;
	}
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

static int query_verify(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct history_verification h;
	struct wire_history_verify q;
	struct wire_problem problem;
	struct wire_buffer *b;
	struct wire_open m;
	uint32_t most;
	int v = wire_decode(&wire_history_verify_spec, f->params, &q, &problem);

	if (v)
		return problem_answer(g, client, f->id, v, &problem), 0;
	most = query_goes_on(g) ? VERIFY_ROWS : VERIFY_ROWS_LATE;
	v = journal_verify(g->journal, q.after, q.limit && q.limit < most ? q.limit : most, &h);
	if (v < 0) {
		answer_error(g, client, f->id, WIRE_STORE, "the history can't be read", NULL, none);
		return 0;
	}
	b = stage_begin(g);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_u64(&m, "checked", h.checked);
	if (h.next)
		wire_map_u64(&m, "next", h.next);
	else
		wire_map_nil(&m, "next");
	wire_map_bool(&m, "ok", !h.bad_seq);
	if (h.bad_seq) {
		wire_map_u64(&m, "bad_seq", h.bad_seq);
		wire_map_strz(&m, "message", "the record is not the one that was written");
	}
	wire_map_bin(&m, "head", (struct bytes){ h.head, sizeof(h.head) });
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

/* ---- stats ---- */

/* By whom a person of this frontend's uid was said not to be there. */
static const char *headless_by(const struct gateway *g, const struct client *client)
{
	if (g->engine.config.headless)
		return "configuration";
	return marks_headless(&g->engine, client->frontend->uid) ? "policy" : NULL;
}

static int query_stats(struct gateway *g, struct client *client, const struct wire_frame *f)
{
	struct wire_open m, d;
	struct wire_buffer *b;
	struct journal_stats stats;

	journal_stats(g->journal, &stats);
	b = stage_begin(g);
	wire_pack_reply_ok(b, f->id);
	wire_map_open(&m, b);
	wire_map_i64(&m, "uptime_ms", (gateway_now(g).mono - g->started) / 1000);
	wire_map_u64(&m, "connections", peers_count(g->peers));
	wire_map_u64(&m, "sessions", g->engine.r.n_sessions);
	wire_map_u64(&m, "pending", g->engine.r.n_pending);
	wire_map_key(&m, "decisions");
	wire_map_open(&d, b);
	for (int v = 0; v < VERDICT_N; v++)
		for (int s = 0; s < SOURCE_N; s++)
			if (g->decisions[v][s]) {
				char key[32];

				snprintf(key, sizeof(key), "%s.%s", verdict_name(v),
					source_name(s));
				wire_map_u64(&d, key, g->decisions[v][s]);
			}
	wire_close(&d);
	wire_map_u64(&m, "commits", g->commits);
	wire_map_strz(&m, "store", g->failing ? strerror(-g->store_error) : "ok");
	wire_map_strz(&m, "store_path", g->store_name);
	wire_map_strz(&m, "version", PACKAGE_VERSION);
	wire_map_strz(&m, "mode", g->user_mode ? "user" : "system");
	wire_map_u64(&m, "pid", g->self->id.pid);
	wire_map_strz(&m, "headless", headless_by(g, client));
	wire_map_strz(&m, "when_alone",
		g->engine.config.when_alone_deny || headless_by(g, client) ? "deny" : "wait");
	wire_close(&m);
	stage_end(g, client, true);
	g->n_commands++;
	return 0;
}

static int query(struct gateway *g, struct client *client, const struct wire_frame *f, int method)
{
	struct listing l = { .g = g, .frontend = client->frontend };

	switch (method) {
	case WIRE_FRONTEND_LIST:
	case WIRE_FRONTEND_SESSIONS:
	case WIRE_FRONTEND_TURNS:
		if (listing_parse(g, client, f, method, &l) == 0)
			listing_answer(g, client, f->id, &l);
		return 0;
	case WIRE_FRONTEND_GET: return query_get(g, client, f);
	case WIRE_FRONTEND_HISTORY: return query_history(g, client, f);
	case WIRE_FRONTEND_HISTORY_VERIFY: return query_verify(g, client, f);
	case WIRE_FRONTEND_STATS: return query_stats(g, client, f);
	default: return 0;
	}
}

/*
 * A question is a batch of its own: it shows what is committed, and it is answered
 * whatever becomes of the commands that came with it.
 */
int frontend_query(struct gateway *g, struct client *client, const struct wire_frame *f, int method)
{
	int err;

	batch_commit(g);
	query_goes_on(g); /* its time begins */
	err = query(g, client, f, method);
	batch_commit(g);
	return err;
}
