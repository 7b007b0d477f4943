/* SPDX-License-Identifier: MIT */
/* Rules as items of the protocol, and the event that one has changed. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>

static void put_time(struct wire_open *m, const char *key, int64_t us)
{
	if (us)
		wire_map_i64(m, key, us / 1000);
	else
		wire_map_nil(m, key);
}

void rule_put_line(struct wire_open *m, const char *key, const struct rule_entry *e)
{
	size_t len = 0;
	char *const text = e ? rule_text(e->rule, &len) : NULL;

	if (e && !text)
		m->b->error = -ENOMEM;
	wire_map_str(m, key, (struct bytes){text, len});
	free(text);
}

/* What both have, and only a rule in force has. */
static void put_entry(struct wire_open *m, const struct rule_entry *e)
{
	rule_put_line(m, "rule", e);
	wire_map_strz(m, "verdict", verdict_name(e->rule->verdict));
	wire_map_strz(m, "scope", rule_scope_name((enum rule_scope)e->scope));
	wire_map_u64(m, "uid", e->uid);
	wire_map_str(m, "project", str_bytes(e->project));
	wire_map_str(m, "file", str_bytes(e->file));
	if (e->line)
		wire_map_u64(m, "line", e->line);
	if (e->inert)
		wire_map_bool(m, "untrusted", true);
	wire_map_str(m, "by", str_bytes(e->by));
	put_time(m, "made", e->made);
	put_time(m, "expires", e->expires);
	wire_map_u64(m, "matches", e->matches);
	put_time(m, "matched_at", e->matched_at);
}

static void put_record(struct wire_open *m, const struct rule_record *r)
{
	wire_map_str(m, "rule", str_bytes(r->text));
	wire_map_strz(m, "scope",
		r->uid == RULE_UID_ADMIN ? rule_scope_name(RULE_ADMIN) : scope_name(r->scope));
	wire_map_u64(m, "uid", r->uid);
	wire_map_str(m, "project", str_bytes(r->project));
	wire_map_nil(m, "file");
	wire_map_str(m, "by", str_bytes(r->by));
	put_time(m, "made", r->made);
	put_time(m, "expires", r->expires);
	wire_map_u64(m, "matches", r->matches);
	put_time(m, "matched_at", r->matched_at);
	wire_map_bool(m, "broken", true);
}

void rule_pack(struct wire_buffer *b, const struct rule_entry *e, const struct standing_rule *s)
{
	struct wire_open m;

	wire_map_open(&m, b);
	if (s)
		wire_map_u64(&m, "id", s->r.id);
	if (e)
		put_entry(&m, e);
	else
		put_record(&m, &s->r);
	if (s && s->r.scope == SCOPE_SESSION)
		item_put_id(&m, "session", ID_SESSION, &s->r.owner);
	if (s && s->r.scope == SCOPE_TURN)
		item_put_id(&m, "turn", ID_TURN, &s->r.owner);
	if (s && s->r.origin)
		wire_map_str(&m, "origin", str_bytes(s->r.origin));
	wire_close(&m);
}

int rule_tell(struct gateway *g, const struct standing_rule *s, const char *change)
{
	struct client *client;

	TAILQ_FOREACH (client, &g->frontends, entry) {
		struct wire_buffer *b;
		struct wire_open m;
		uint64_t seq;
		int err;

		if (client->closed)
			continue;
		err = engine_event_number(&g->engine, client->frontend, s->r.uid, &seq);
		if (err < 0)
			return err;
		if (!seq)
			continue;
		b = stage_begin(g);
		wire_pack_notify(b, bytes_of("rule_changed"));
		wire_map_open(&m, b);
		wire_map_strz(&m, "epoch", g->epoch);
		wire_map_u64(&m, "seq", seq);
		wire_map_strz(&m, "change", change);
		wire_map_key(&m, "rule");
		rule_pack(b, s->broken ? NULL : ruleset_find(g->judge.rules, s->r.id), s);
		wire_close(&m);
		stage_end(g, client, false);
	}
	return 0;
}
