/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "broker/core/rules/ruleset_private.h"
#include "broker/core/tool.h"
#include "libapproval/limits.h"

/* What is taken for an uncommonly long command is given back. */
#define SCRATCH_KEPT (256u << 10)

/* ---- what every candidate has to pass ---- */

static bool in_scope(const struct rule_entry *e, const struct rule_call *call)
{
	if (e->inert || (e->expires != 0 && e->expires <= call->now))
		return false;
	if (e->uid != RULE_ANY_UID && e->uid != call->uid)
		return false;
	switch (e->scope) {
	case RULE_ADMIN:
	case RULE_USER: return true;
	case RULE_PROJECT:
		return e->project && call->workspace.data &&
		       bytes_equal(str_bytes(e->project), call->workspace);
	case RULE_SESSION: return uuid_compare(&e->owner, &call->session) == 0;
	case RULE_TURN: return uuid_compare(&e->owner, &call->turn) == 0;
	default: return false;
	}
}

static bool is_kind(const struct matcher *m, enum kind kind)
{
	/* what tightens holds for the kind that the tool is, and for the one claimed */
	return m->call->kind == kind || m->kind == kind ||
	       (m->call->claimed == kind && kind != KIND_OTHER);
}

static bool kind_applies(const struct matcher *m, const struct rule *rule)
{
	if (m->verdict == VERDICT_ALLOW)
		return m->call->kind == rule->kind && m->kind == rule->kind;
	if (is_kind(m, rule->kind) || (rule->spec == RULE_SPEC_COMMAND && m->call->shell))
		return true;
	if (rule->spec != RULE_SPEC_PATH)
		return false;
	/* searching a folder reads it, removing a file changes it */
	if (rule->kind == KIND_READ)
		return is_kind(m, KIND_SEARCH);
	return rule->kind == KIND_EDIT && (is_kind(m, KIND_DELETE) || is_kind(m, KIND_MOVE));
}

static bool server_applies(const struct rule *rule, struct bytes tool)
{
	struct bytes start = rule->name;
	const bool star = ((const char *)start.data)[start.len - 1] == '*';

	start.len -= star;
	if (tool.len < start.len || memcmp(tool.data, start.data, start.len) != 0)
		return false;
	if (star || tool.len == start.len)
		return true;
	return tool.len >= start.len + 2 &&
	       memcmp((const char *)tool.data + start.len, "__", 2) == 0;
}

static bool tool_applies(const struct matcher *m, const struct rule *rule)
{
	switch (rule->tool) {
	case RULE_TOOL_KIND: return kind_applies(m, rule);
	case RULE_TOOL_NAME:
		if (!bytes_equal(rule->name, m->call->tool))
			return false;
		/* a known tool that says to be more than it is known to be */
		return m->verdict != VERDICT_ALLOW || rule->kind == KIND_OTHER ||
		       rule->kind == m->kind;
	case RULE_TOOL_SERVER: return server_applies(rule, m->call->tool);
	case RULE_TOOL_ANY: return true;
	default: return false;
	}
}

bool matcher_in_scope(const struct matcher *m, const struct rule_entry *entry)
{
	return in_scope(entry, m->call);
}

bool matcher_applies(const struct matcher *m, const struct rule_entry *entry)
{
	return in_scope(entry, m->call) && tool_applies(m, entry->rule);
}

bool matcher_better(const struct matcher *m, const struct rule_entry *entry)
{
	if (!m->best)
		return true;
	if (entry->scope != m->best->scope)
		return entry->scope < m->best->scope;
	return entry->number < m->best->number;
}

bool matcher_spend(struct matcher *m, size_t n)
{
	m->left = n < m->left ? m->left - n : 0;
	return m->left > 0;
}

static void scratch_free(struct ruleset *set)
{
	free(set->scratch);
	set->scratch = NULL;
	set->scratch_size = 0;
}

char *matcher_scratch(struct matcher *m, size_t size)
{
	struct ruleset *const set = m->set;

	if (size > set->scratch_size) {
		char *const p = malloc(size);

		if (!p)
			return NULL;
		free(set->scratch);
		set->scratch = p;
		set->scratch_size = size;
	}
	return set->scratch;
}

void match_add(struct rule_match *out, const struct rule_entry *entry)
{
	if (!out->rule) {
		out->rule = entry;
		return;
	}
	if (out->rule == entry)
		return;
	for (uint32_t i = 0; i < out->n_others; i++)
		if (out->others[i] == entry)
			return;
	if (out->n_others < RULE_MATCH_MAX)
		out->others[out->n_others++] = entry;
}

/* ---- whole tools ---- */

static void consider_whole(struct matcher *m, const struct trie_node *node)
{
	if (!node)
		return;
	for (const struct trie_link *l = node->links; l; l = l->next) {
		const struct rule_entry *const e = link_entry(l);

		if (matcher_better(m, e) && matcher_applies(m, e))
			m->best = e;
	}
}

static void match_whole(struct matcher *m)
{
	const struct trie *const trie = &m->set->trie;
	const struct trie_node *const kinds = matcher_root(m, ROOT_KIND);

	for (unsigned kind = 0; kind < KIND_N; kind++) {
		const char word = (char)kind;

		if (is_kind(m, (enum kind)kind))
			consider_whole(m, trie_step(trie, kinds, (struct bytes){&word, 1}));
	}
	if (m->call->tool.len)
		consider_whole(m, trie_step(trie, matcher_root(m, ROOT_NAME), m->call->tool));
	consider_whole(m, matcher_root(m, ROOT_LIST));
}

/* ---- the two ways ---- */

static int match_tighten(struct matcher *m, struct rule_match *out)
{
	int err;

	match_whole(m);
	err = match_command_tighten(m);
	if (err < 0)
		return err;
	match_paths_tighten(m);
	match_host(m);
	out->rule = m->best;
	if (m->best)
		return 1;
	return m->left == 0 ? 2 : 0;
}

static int match_allow(struct matcher *m, struct rule_match *out)
{
	int err;

	match_whole(m);
	if (m->best) {
		out->rule = m->best;
		return 1;
	}
	if (m->call->unread)
		return 0;
	err = match_command_allow(m, out);
	if (err != 0)
		return err;
	*out = (struct rule_match){.rule = NULL};
	/* a command's paths are where it runs: no rule for paths covers it */
	if (m->kind == KIND_EXECUTE || m->call->command.data)
		return 0;
	if (match_paths_allow(m, out))
		return 1;
	*out = (struct rule_match){.rule = NULL};
	match_host(m);
	out->rule = m->best;
	return out->rule != NULL;
}

int ruleset_match(struct ruleset *set, enum verdict verdict, const struct rule_call *call,
	struct rule_match *out)
{
	struct pathname anchors[2][PATH_ANCHOR_N];
	struct matcher m = {
		.anchors = anchors,
		.set = set,
		.call = call,
		.verdict = verdict,
		.left = LIMIT_RULE_STEPS,
		.kind = kind_tighten(call->kind, call->claimed),
	};

	int found = 0;

	*out = (struct rule_match){.rule = NULL};
	switch (verdict) {
	case VERDICT_ALLOW: found = match_allow(&m, out); break;
	case VERDICT_DENY:
	case VERDICT_ASK: found = match_tighten(&m, out); break;
	default: break;
	}
	if (set->scratch_size > SCRATCH_KEPT)
		scratch_free(set);
	return found;
}
