/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "broker/core/rules/ruleset_private.h"

/*
 * The roots are children of nothing, by verdict and number. What they count as a child
 * keeps them while no rule is below them.
 */
int index_init(struct ruleset *set)
{
	static const enum verdict verdicts[] = {VERDICT_DENY, VERDICT_ASK, VERDICT_ALLOW};

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++)
		for (unsigned root = 0; root < ROOT_N; root++) {
			const char word[2] = {(char)verdicts[i], (char)root};
			struct trie_node *const node =
				trie_make(&set->trie, NULL, (struct bytes){word, 2});

			if (!node)
				return -ENOMEM;
			node->children++;
			set->roots[verdicts[i]][root] = node;
		}
	return 0;
}

/* node is NULL where there was no memory for it. */
static int put(struct trie_node *node, struct trie_link *link)
{
	if (!node)
		return -ENOMEM;
	trie_link(node, link);
	return 0;
}

/* A child of a node, which goes again where there is no memory for the child. */
static struct trie_node *child(struct ruleset *set, struct trie_node *node, struct bytes word)
{
	struct trie_node *next;

	if (!node)
		return NULL;
	next = trie_make(&set->trie, node, word);
	if (!next)
		trie_prune(&set->trie, node);
	return next;
}

static struct trie_node *child_lead(
	struct ruleset *set, struct trie_node *node, struct bytes lead)
{
	struct trie_node *next;

	if (!node || lead.len == 0)
		return node;
	next = trie_make_lead(&set->trie, node, lead);
	if (!next)
		trie_prune(&set->trie, node);
	return next;
}

/*
 * What allows stands below the words that it begins with, as written. What tightens stands
 * below the name of its command, and there below an operand that is literal or begins so:
 * options may stand anywhere, but that operand has to be there.
 */
static int index_command(struct ruleset *set, struct ruleset_entry *e)
{
	const struct rule *const rule = e->pub.rule;
	const struct command_pattern *const p = &rule->command;
	struct trie_node *node = set->roots[rule->verdict][ROOT_COMMAND];

	if (rule->verdict == VERDICT_ALLOW) {
		/* literal words have no separator but between them */
		const char *at = p->words.parts[0].data;
		const char *const end = at + p->words.parts[0].len;

		for (uint32_t i = 0; node && i < p->n_literal; i++) {
			const char *const next = memchr(at, GLOB_SEPARATOR, (size_t)(end - at));
			const size_t len = (size_t)((next ? next : end) - at);

			node = child(set, node, (struct bytes){at, len});
			at += len + 1;
		}
		return put(child_lead(set, node, p->lead), &e->link);
	}
	if (!p->name.data)
		return put(child_lead(set, node, p->lead), &e->link);
	node = child(set, node, p->name);
	if (!p->key.data)
		return put(node, &e->link);
	if (put(child(set, node, ALL_WORD), &e->all) < 0)
		return -ENOMEM;
	return put(p->key_leads ? child_lead(set, node, p->key) : child(set, node, p->key),
		&e->link);
}

static int index_path(struct ruleset *set, struct ruleset_entry *e)
{
	const struct path_pattern *const p = &e->pub.rule->path;
	struct trie_node *node = set->roots[e->pub.rule->verdict][ROOT_PATH + p->anchor];
	struct bytes component;
	size_t at = 0;

	while (node && path_pattern_literal(p, &at, &component))
		node = child(set, node, component);
	return put(node, &e->link);
}

static int index_whole(struct ruleset *set, struct ruleset_entry *e)
{
	const struct rule *const rule = e->pub.rule;
	struct trie_node *const *const roots = set->roots[rule->verdict];
	const char kind = (char)rule->kind;

	switch (rule->tool) {
	case RULE_TOOL_KIND:
		return put(child(set, roots[ROOT_KIND], (struct bytes){&kind, 1}), &e->link);
	case RULE_TOOL_NAME: return put(child(set, roots[ROOT_NAME], rule->name), &e->link);
	default: return put(roots[ROOT_LIST], &e->link);
	}
}

static int add(struct ruleset *set, struct ruleset_entry *e)
{
	const struct rule *const rule = e->pub.rule;
	struct trie_node *const *const roots = set->roots[rule->verdict];

	switch (rule->spec) {
	case RULE_SPEC_COMMAND:
		/* what allows a text may be a command's words, too; `all` holds it as a text */
		if (rule->command.exact.data &&
			(rule->verdict == VERDICT_ALLOW || !rule->command.simple) &&
			put(child(set, roots[ROOT_TEXT], rule->command.exact), &e->all) < 0)
			return -ENOMEM;
		if (rule->command.simple)
			return index_command(set, e);
		if (rule->command.exact.data)
			return 0;
		return put(roots[ROOT_PHRASE], &e->link);
	case RULE_SPEC_PATH: return index_path(set, e);
	case RULE_SPEC_HOST:
		return put(child(set, roots[ROOT_HOST],
				   (struct bytes){rule->host->host.text, rule->host->host.len}),
			&e->link);
	default: return index_whole(set, e);
	}
}

static bool is_homed(const struct ruleset_entry *e)
{
	return e->pub.rule->spec == RULE_SPEC_COMMAND && e->pub.rule->command.homed;
}

int index_add(struct ruleset *set, struct ruleset_entry *e)
{
	set->homed[e->pub.rule->verdict] += is_homed(e);
	if (add(set, e) == 0)
		return 0;
	index_remove(set, e);
	return -ENOMEM;
}

void index_remove(struct ruleset *set, struct ruleset_entry *e)
{
	set->homed[e->pub.rule->verdict] -= is_homed(e);
	trie_unlink(&set->trie, &e->link);
	trie_unlink(&set->trie, &e->all);
}
