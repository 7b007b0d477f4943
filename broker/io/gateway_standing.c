/* SPDX-License-Identifier: MIT */
/*
 * Standing rules: the store's records beside the set that is in force. What a batch adds is
 * in the set at once and is taken out again when the batch fails; what it removes stays until
 * it is committed.
 */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum rule_scope scope_in_set(uint8_t scope, uint32_t uid)
{
	switch (scope) {
	case SCOPE_TURN: return RULE_TURN;
	case SCOPE_SESSION: return RULE_SESSION;
	case SCOPE_PROJECT: return RULE_PROJECT;
	default: return uid == RULE_UID_ADMIN ? RULE_ADMIN : RULE_USER;
	}
}

static int set_add(struct gateway *g, const struct rule_record *r, struct rule_problem *problem)
{
	const struct rule_origin origin = {
		.scope = scope_in_set(r->scope, r->uid),
		.uid = r->uid == RULE_UID_ADMIN ? RULE_ANY_UID : r->uid,
		.owner = r->owner,
		.project = str_bytes(r->project),
		.by = str_bytes(r->by),
		.made = r->made,
		.expires = r->expires,
	};

	return ruleset_add(g->judge.rules, &origin, r->id, str_bytes(r->text), problem);
}

static struct standing_rule *rule_new(const struct rule_record *r)
{
	struct standing_rule *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->r = *r;
	str_ref(r->project);
	str_ref(r->text);
	str_ref(r->by);
	str_ref(r->origin);
	s->written = r->matches;
	return s;
}

static void rule_drop(struct standing_rule *s)
{
	str_unref(s->r.project);
	str_unref(s->r.text);
	str_unref(s->r.by);
	str_unref(s->r.origin);
	free(s);
}

static bool is_owned(const struct standing_rule *s)
{
	return !uuid_is_nil(&s->r.owner);
}

static void list_add(struct gateway *g, struct standing_rule *s)
{
	TAILQ_INSERT_TAIL(&g->standing, s, entry);
	g->n_owned += is_owned(s);
}

static void list_remove(struct gateway *g, struct standing_rule *s)
{
	ruleset_remove(g->judge.rules, s->r.id);
	TAILQ_REMOVE(&g->standing, s, entry);
	g->n_owned -= is_owned(s);
	rule_drop(s);
}

int standing_load(struct gateway *g, const struct rule_record *r)
{
	struct standing_rule *const s = rule_new(r);
	struct rule_problem problem;
	char quoted[256];
	int err;

	if (!s)
		return -ENOMEM;
	err = set_add(g, r, &problem);
	if (err == -ENOMEM) {
		rule_drop(s);
		return err;
	}
	s->broken = err != 0;
	if (s->broken)
		log_error(g->log, "standing rule %llu says nothing any more: %s: %s",
			(unsigned long long)r->id,
			err == 1 ? rule_error_text(problem.error) : strerror(-err),
			log_quote(quoted, sizeof(quoted), str_bytes(r->text)));
	else
		ruleset_set_matches(g->judge.rules, ruleset_find(g->judge.rules, r->id),
			r->matches, r->matched_at);
	list_add(g, s);
	if (r->id > g->rule_id)
		g->rule_id = r->id;
	return 0;
}

struct standing_rule *standing_find(struct gateway *g, uint64_t id)
{
	struct standing_rule *s;

	TAILQ_FOREACH (s, &g->standing, entry)
		if (s->r.id == id && !s->removed)
			return s;
	return NULL;
}

/* ---- added ---- */

static bool same(const struct str *a, const struct str *b)
{
	return a == b || (a && b && str_equal(a, str_bytes(b)));
}

static struct standing_rule *alike(struct gateway *g, const struct standing_rule *x)
{
	struct standing_rule *s;

	TAILQ_FOREACH (s, &g->standing, entry)
		if (!s->removed && s->r.scope == x->r.scope && s->r.uid == x->r.uid &&
			s->r.expires == x->r.expires &&
			uuid_compare(&s->r.owner, &x->r.owner) == 0 &&
			same(s->r.project, x->r.project) && same(s->r.text, x->r.text))
			return s;
	return NULL;
}

/* As rules are printed everywhere, so that the same rule has the same text. */
static int normalise(struct gateway *g, struct standing_rule *s)
{
	const struct rule *const rule = ruleset_find(g->judge.rules, s->r.id)->rule;
	struct str *normal;
	size_t len;
	char *const text = rule_text(rule, &len);

	if (!text)
		return -ENOMEM;
	normal = str_new(text, len);
	free(text);
	if (!normal)
		return -ENOMEM;
	str_unref(s->r.text);
	s->r.text = normal;
	return 0;
}

static int record(struct gateway *g, struct standing_rule *s, enum history_event event,
	struct bytes by, const char *change)
{
	struct history_row row;
	int err;

	rule_row(&row, event, &s->r, by, gateway_now(g).wall);
	err = batch_store(g, JOURNAL_HISTORY, &row);
	return err < 0 ? err : rule_tell(g, s, change);
}

int standing_add(struct gateway *g, const struct rule_record *r, struct standing_rule **out,
	struct rule_problem *problem)
{
	struct standing_rule *s = rule_new(r), *other;
	int err;

	if (!s)
		return -ENOMEM;
	s->r.id = g->rule_id + 1;
	err = set_add(g, &s->r, problem);
	if (err != 0) {
		rule_drop(s);
		return err;
	}
	err = normalise(g, s);
	other = err == 0 ? alike(g, s) : NULL;
	if (other) {
		*out = other;
		err = -EEXIST;
	} else if (err == 0 && !rule_record_valid(&s->r)) {
		err = -EINVAL;
	}
	if (err < 0) {
		ruleset_remove(g->judge.rules, s->r.id);
		rule_drop(s);
		return err;
	}
	g->rule_id++;
	s->added = true;
	g->n_rule_changes++;
	list_add(g, s);
	*out = s;
	err = batch_store(g, JOURNAL_RULE, &s->r);
	return err < 0 ? err : record(g, s, HISTORY_RULE_ADDED, str_bytes(s->r.by), "added");
}

int standing_from(struct gateway *g, struct bytes by, const struct effect *e)
{
	char request[ID_STRING_SIZE];
	struct rule_record r = {.text = e->rule.text,
		.project = e->rule.project,
		.owner = e->rule.owner,
		.uid = e->rule.uid,
		.scope = (uint8_t)e->rule.scope,
		.made = gateway_now(g).wall};
	struct standing_rule *made;
	struct rule_problem problem;
	int err = -ENOMEM;

	id_format(request, ID_REQUEST, &e->rule.request);
	r.by = str_new(by.data, by.len);
	r.origin = str_new(request, strlen(request));
	if (r.by && r.origin)
		err = standing_add(g, &r, &made, &problem);
	str_unref(r.by);
	str_unref(r.origin);
	/* the engine has tried it: what is refused now is the batch's failure */
	return err == -EEXIST ? 0 : err > 0 ? -EINVAL : err;
}

/* ---- removed ---- */

static const struct rule_entry *entry_of(const struct gateway *g, const struct standing_rule *s)
{
	return s->broken ? NULL : ruleset_find(g->judge.rules, s->r.id);
}

static void count_take(const struct gateway *g, struct standing_rule *s)
{
	const struct rule_entry *const e = entry_of(g, s);

	if (e) {
		s->r.matches = e->matches;
		s->r.matched_at = e->matched_at;
	}
}

int standing_remove(struct gateway *g, struct standing_rule *s, struct bytes by)
{
	int err;

	s->removed = true;
	g->n_rule_changes++;
	count_take(g, s);
	err = batch_store(g, JOURNAL_RULE_REMOVE, &s->r.id);
	if (err < 0)
		return err;
	return record(g, s, by.data ? HISTORY_RULE_REMOVED : HISTORY_RULE_EXPIRED, by,
		by.data ? "removed" : "expired");
}

int standing_drop_owner(struct gateway *g, const struct uuid *owner)
{
	const struct bytes nobody = {NULL, 0};
	struct standing_rule *s;
	int err = 0;

	if (!g->n_owned)
		return 0;
	TAILQ_FOREACH (s, &g->standing, entry)
		if (err == 0 && !s->removed && is_owned(s) &&
			uuid_compare(&s->r.owner, owner) == 0)
			err = standing_remove(g, s, nobody);
	return err;
}

int standing_settle(struct gateway *g)
{
	const struct bytes nobody = {NULL, 0};
	struct standing_rule *s;
	int err = 0;

	TAILQ_FOREACH (s, &g->standing, entry) {
		const bool lives = s->r.scope == SCOPE_SESSION
					   ? session_find(&g->engine.r, &s->r.owner) != NULL
				   : s->r.scope == SCOPE_TURN
					   ? turn_find(&g->engine.r, &s->r.owner) != NULL
					   : true;

		if (err == 0 && !s->removed && !lives)
			err = standing_remove(g, s, nobody);
	}
	return err;
}

int standing_tick(struct gateway *g, bool at_once)
{
	const struct bytes nobody = {NULL, 0};
	const struct instant now = gateway_now(g);
	struct standing_rule *s;
	int err = 0;

	if (!at_once && now.mono < g->counted_at + (int64_t)TIME_ALIVE_MS * 1000)
		return 0;
	g->counted_at = now.mono;
	TAILQ_FOREACH (s, &g->standing, entry) {
		if (s->removed)
			continue;
		count_take(g, s);
		if (s->r.expires && s->r.expires <= now.wall) {
			err = standing_remove(g, s, nobody);
		} else if (s->r.matches != s->written) {
			const struct rule_matches m = {s->r.id, s->r.matches, s->r.matched_at};

			err = batch_store(g, JOURNAL_RULE_MATCHES, &m);
			s->written = s->r.matches;
			g->n_rule_changes++;
		}
		if (err < 0)
			return err;
	}
	return 0;
}

/* ---- the batch's end ---- */

void standing_commit(struct gateway *g)
{
	struct standing_rule *s, *next;

	if (!g->n_rule_changes)
		return;
	g->n_rule_changes = 0;
	TAILQ_FOREACH_SAFE (s, &g->standing, entry, next) {
		s->added = false;
		if (s->removed)
			list_remove(g, s);
	}
}

void standing_rollback(struct gateway *g)
{
	struct standing_rule *s, *next;

	if (!g->n_rule_changes)
		return;
	g->n_rule_changes = 0;
	TAILQ_FOREACH_SAFE (s, &g->standing, entry, next) {
		s->removed = false;
		s->written = UINT64_MAX; /* what was written is not known: once more */
		if (s->added)
			list_remove(g, s);
	}
}

void standing_free(struct gateway *g)
{
	struct standing_rule *s;

	while ((s = TAILQ_FIRST(&g->standing))) {
		TAILQ_REMOVE(&g->standing, s, entry);
		rule_drop(s);
	}
}
