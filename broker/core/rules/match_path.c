/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/pathname.h"
#include "broker/core/rules/ruleset_private.h"

/* Where a pattern's anchor is, for a path as it was given and as it was resolved. */
static bool anchor_folder(const struct rule_call *call, enum path_anchor anchor, bool resolved,
	struct pathname *out)
{
	struct bytes folder = {"/", 1};

	switch (anchor) {
	case PATH_ROOT: break;
	case PATH_HOME:
		folder =
			resolved && call->home_resolved.data ? call->home_resolved : call->home;
		break;
	case PATH_PROJECT: folder = call->workspace.data ? call->workspace : call->cwd; break;
	default: folder = call->cwd; break;
	}
	return folder.len > 0 && *(const char *)folder.data == '/' &&
	       pathname_make(out, folder, folder) == 0;
}

/* The same, made once; NULL: there is none. */
static const struct pathname *anchor_of(
	struct matcher *m, enum path_anchor anchor, bool resolved)
{
	int8_t *const has = &m->has_anchor[resolved][anchor];
	struct pathname *const name = &m->anchors[resolved][anchor];

	if (*has == 0)
		*has = anchor_folder(m->call, anchor, resolved, name) ? 1 : -1;
	return *has > 0 ? name : NULL;
}

/* `kind` is what happens to the path: the rule has to be about it. */
static void consider(struct matcher *m, const struct trie_node *node, struct bytes below,
	unsigned flags, enum kind kind)
{
	for (const struct trie_link *l = node->links; l; l = l->next) {
		const struct rule_entry *const e = link_entry(l);

		if (!matcher_better(m, e) || !matcher_spend(m, 64 + 4 * below.len) ||
			!path_pattern_match(&e->rule->path, below, flags))
			continue;
		if (kind == KIND_OTHER
				? matcher_applies(m, e)
				: e->rule->tool == RULE_TOOL_KIND && e->rule->kind == kind &&
					  matcher_in_scope(m, e))
			m->best = e;
	}
}

static void match_anchor(struct matcher *m, enum path_anchor anchor, struct bytes path,
	bool resolved, enum kind kind)
{
	const unsigned flags = m->verdict == VERDICT_ALLOW ? 0 : PATH_LOOSE;
	const struct trie_node *node = matcher_root(m, ROOT_PATH + anchor);
	const struct pathname *folder;
	struct bytes below, rest;

	/* the root itself counts as a child of its own */
	if (node->children == 1 && !node->links)
		return;
	/* without a workspace nothing is in the project, but what tightens may hold from cwd */
	if (m->verdict == VERDICT_ALLOW && anchor == PATH_PROJECT && !m->call->workspace.data)
		return;
	folder = anchor_of(m, anchor, resolved);
	if (!folder)
		return;
	below = rest = pathname_below(path, pathname_bytes(folder));
	if (!below.data)
		return;
	consider(m, node, below, flags, kind);
	while (rest.len > 0) {
		const char *const slash = memchr(rest.data, '/', rest.len);
		const size_t n = slash ? (size_t)(slash - (const char *)rest.data) : rest.len;

		node = trie_step(&m->set->trie, node, (struct bytes){rest.data, n});
		if (!node)
			return;
		consider(m, node, below, flags, kind);
		rest = (struct bytes){(const char *)rest.data + n, rest.len - n};
		if (rest.len > 0)
			rest = (struct bytes){(const char *)rest.data + 1, rest.len - 1};
	}
}

/* The best rule for one absolute path goes to m->best. */
static void match_path(struct matcher *m, struct bytes path, bool resolved, enum kind kind)
{
	for (unsigned anchor = 0; anchor < PATH_ANCHOR_N; anchor++)
		match_anchor(m, (enum path_anchor)anchor, path, resolved, kind);
}

/* ---- what tightens: either of the two ---- */

void match_path_tighten(struct matcher *m, struct bytes given, struct bytes resolved,
	struct bytes cwd, enum kind kind)
{
	struct pathname name;

	if (pathname_make(&name, given, cwd) == 0)
		match_path(m, pathname_bytes(&name), false, kind);
	/* an agent's tool may expand it or not */
	if (pathname_tilde(&name, given, m->call->home) == 0)
		match_path(m, pathname_bytes(&name), false, kind);
	if (resolved.data && pathname_make(&name, resolved, (struct bytes){NULL, 0}) == 0)
		match_path(m, pathname_bytes(&name), true, kind);
}

void match_paths_tighten(struct matcher *m)
{
	const struct rule_call *const call = m->call;

	for (size_t i = 0; i < call->n_paths; i++)
		match_path_tighten(m, call->paths[i].given, call->paths[i].resolved, call->cwd,
			KIND_OTHER);
}

/* ---- what allows: both ---- */

static bool allows(
	struct matcher *m, const struct rule_path *path, enum kind kind, struct rule_match *out)
{
	struct pathname name;
	int how = pathname_tilde(&name, path->given, m->call->home);

	if (how == 1)
		how = pathname_make(&name, path->given, m->call->cwd);
	if (how < 0 || !path->resolved.data)
		return false;
	m->best = NULL;
	match_path(m, pathname_bytes(&name), false, kind);
	if (!m->best)
		return false;
	match_add(out, m->best);
	if (pathname_make(&name, path->resolved, (struct bytes){NULL, 0}) < 0)
		return false;
	m->best = NULL;
	match_path(m, pathname_bytes(&name), true, kind);
	if (!m->best)
		return false;
	match_add(out, m->best);
	return true;
}

bool match_paths_allow(struct matcher *m, struct rule_match *out)
{
	for (size_t i = 0; i < m->call->n_paths; i++)
		if (!allows(m, &m->call->paths[i], KIND_OTHER, out))
			return false;
	return m->call->n_paths > 0;
}

bool match_read_allow(struct matcher *m, const struct rule_path *path, struct rule_match *out)
{
	return path->inside || allows(m, path, KIND_READ, out);
}

/* ---- hosts ---- */

static void consider_host(struct matcher *m, const struct trie_node *node, bool below)
{
	for (const struct trie_link *l = node->links; l; l = l->next) {
		const struct rule_entry *const e = link_entry(l);

		if (e->rule->host->only_below && !below)
			continue;
		if (matcher_better(m, e) && matcher_applies(m, e))
			m->best = e;
	}
}

static void match_one_host(struct matcher *m, const struct urlhost *host)
{
	const struct trie_node *const root = matcher_root(m, ROOT_HOST);
	struct bytes name = {host->text, host->len};

	for (bool below = false;; below = true) {
		const struct trie_node *const node = trie_step(&m->set->trie, root, name);
		const char *dot;

		if (node)
			consider_host(m, node, below);
		dot = host->address ? NULL : memchr(name.data, '.', name.len);
		if (!dot)
			return;
		name.len -= (size_t)(dot + 1 - (const char *)name.data);
		name.data = dot + 1;
	}
}

/* No host can be told: every rule for hosts may be meant. */
static void match_any_host(struct matcher *m)
{
	const struct rule_entry *e = NULL;

	while ((e = ruleset_next(m->set, e)))
		if (e->rule->verdict == m->verdict && e->rule->spec == RULE_SPEC_HOST &&
			matcher_better(m, e) && matcher_applies(m, e))
			m->best = e;
}

void match_host(struct matcher *m)
{
	const struct trie_node *const root = matcher_root(m, ROOT_HOST);
	struct url_reading reading;

	if (!m->call->url.data || root->children == 1)
		return;
	url_read(m->call->url, &reading);
	if (m->verdict == VERDICT_ALLOW && !reading.certain)
		return;
	for (unsigned i = 0; i < reading.n; i++)
		match_one_host(m, &reading.hosts[i]);
	if (reading.unknown && m->verdict != VERDICT_ALLOW)
		match_any_host(m);
}
