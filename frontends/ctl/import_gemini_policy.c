/* SPDX-License-Identifier: MIT */
/* Gemini CLI's policy files: [[rule]] in TOML, by priority; of the same, the first. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_gemini.h"
#include "libapproval/limits.h"

static int text_or_list(struct import *im, const struct node *n)
{
	if (!n || n->type == NODE_STRING)
		return 0;
	if (n->type != NODE_ARRAY)
		return import_bad(im, n, "this is a string or a list of strings");
	for (const struct node *c = n->first; c; c = c->next)
		if (c->type != NODE_STRING)
			return import_bad(im, c, "this is a string");
	return 0;
}

static const struct node *first_of(const struct node *n)
{
	return n && n->type == NODE_ARRAY ? n->first : n;
}

static const struct node *next_of(const struct node *all, const struct node *n)
{
	return all && all->type == NODE_ARRAY ? n->next : NULL;
}

/* Why a rule does not always hold; NULL: it does. An empty list of modes is every mode. */
static const char *condition(const struct node *rule)
{
	static const char *const conditions[] = {"subagent", "interactive", "toolAnnotations"};
	static const char *const known[] = {"toolName", "mcpName", "argsPattern",
		"commandPrefix", "commandRegex", "decision", "priority", "modes",
		"allowRedirection", "allow_redirection", "denyMessage", "deny_message", "name",
		"description"};
	/* in plan mode ours is stricter by itself */
	static const char *const needed[] = {"default", "autoEdit", "yolo"};
	const struct node *const modes = node_get(rule, "modes");

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (node_get(rule, conditions[i]))
			return "it holds only under a condition that we don't have";
	for (const struct node *m = rule->first; m; m = m->next) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], m->key))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return "it has a key that is not known";
	}
	for (size_t i = 0; modes && modes->n && i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct node *m = modes->first;

		while (m && !node_is(m, needed[i]))
			m = m->next;
		if (!m)
			return "it holds only in some modes";
	}
	return NULL;
}

static int check_modes(struct import *im, const struct node *modes)
{
	static const char *const known[] = {"default", "autoEdit", "yolo", "plan"};

	if (!modes)
		return 0;
	if (modes->type != NODE_ARRAY)
		return import_bad(im, modes, "modes is a list");
	for (const struct node *m = modes->first; m; m = m->next) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && !node_is(m, known[i]))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return import_bad(im, m, "a mode is default, autoEdit, plan or yolo");
	}
	return 0;
}

static int check_rule(struct import *im, const struct node *rule, bool checker)
{
	static const char *const texts[] = {"mcpName", "argsPattern", "commandRegex"};
	const struct node *const tool = node_get(rule, "toolName");
	const struct node *const prefix = node_get(rule, "commandPrefix");
	const struct node *const regex = node_get(rule, "commandRegex");
	const struct node *const priority = node_get(rule, "priority");
	int err;

	if (rule->type != NODE_TABLE)
		return import_bad(im, rule, "a rule is a table");
	if (!checker && (!priority || priority->type != NODE_INT || priority->number < 0 ||
				priority->number > 999))
		return import_bad(
			im, priority ? priority : rule, "a rule has a priority of 0 to 999");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct node *const n = node_get(rule, texts[i]);

		if (n && n->type != NODE_STRING)
			return import_bad(im, n, "this is a string");
	}
	if ((prefix || regex) &&
		(!tool || tool->type != NODE_STRING || !gemini_is_shell(tool->text)))
		return import_bad(im, rule, "commands are of the tool run_shell_command alone");
	if ((prefix && regex) || ((prefix || regex) && node_get(rule, "argsPattern")))
		return import_bad(im, rule, "there is more than one pattern");
	err = text_or_list(im, tool);
	if (!err)
		err = text_or_list(im, prefix);
	return err ? err : check_modes(im, node_get(rule, "modes"));
}

static const char *tool_of(struct import *im, const struct node *rule, const struct node *tool)
{
	const struct node *const mcp = node_get(rule, "mcpName");
	const char *const name = tool ? tool->text : "*";

	if (!mcp)
		return name;
	/* a star in it makes it a name that no rule of ours can be about */
	return memory_printf(&im->memory, "mcp_%s_%s", mcp->text, name);
}

static int add_rule(struct import *im, const struct node *rule, enum import_verdict verdict,
	const char *when)
{
	const struct node *const tools = node_get(rule, "toolName");
	const struct node *const prefixes = node_get(rule, "commandPrefix");
	const struct node *const regex = node_get(rule, "commandRegex");
	const struct node *prefix = first_of(prefixes);

	if (prefixes && !prefix)
		return 0;
	do {
		const struct node *tool = first_of(tools);

		if (tools && !tool)
			return 0;
		do {
			const struct gemini_rule g = {
				.verdict = verdict,
				.at = rule,
				.tool = tool_of(im, rule, tool),
				.prefix = prefix ? prefix->text : NULL,
				.regex = regex ? regex->text : NULL,
				.pattern = node_get(rule, "argsPattern") != NULL,
				.when = when,
			};
			const int err = g.tool ? gemini_rule(im, &g) : -ENOMEM;

			if (err)
				return err;
			tool = tool ? next_of(tools, tool) : NULL;
		} while (tool);
		prefix = prefix ? next_of(prefixes, prefix) : NULL;
	} while (prefix);
	return 0;
}

struct ranked {
	const struct node *rule;
	int64_t priority;
};

static int by_priority(const void *a, const void *b)
{
	const struct ranked *const x = a, *const y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x->rule->index < y->rule->index ? -1 : x->rule->index > y->rule->index;
}

static int decision(struct import *im, const struct node *rule, enum import_verdict *out)
{
	const struct node *const d = node_get(rule, "decision");

	if (node_is(d, "allow"))
		*out = IMPORT_ALLOW;
	else if (node_is(d, "ask_user"))
		*out = IMPORT_ASK;
	else if (node_is(d, "deny"))
		*out = IMPORT_DENY;
	else
		return import_bad(im, d ? d : rule, "a decision is allow, ask_user or deny");
	return 0;
}

/* They may forbid what the rules allow. */
static int checkers(struct import *im, const struct node *list)
{
	int err = 0;

	if (list && list->type != NODE_ARRAY)
		return import_bad(im, list, "this is a list of tables");
	for (const struct node *c = list ? list->first : NULL; c && !err; c = c->next) {
		err = check_rule(im, c, true);
		if (!err)
			err = add_rule(im, c, IMPORT_ASK, "a safety checker decides there");
	}
	return err;
}

int import_gemini_policy(struct import *im, const struct node *top)
{
	const struct node *const list = node_get(top, "rule");
	const size_t n = list && list->type == NODE_ARRAY ? list->n : 0;
	struct ranked *const order = memory_get(&im->memory, (n + 1) * sizeof(*order));
	size_t k = 0;
	int err;

	if (!order)
		return -ENOMEM;
	if (list && list->type != NODE_ARRAY)
		return import_bad(im, list, "this is a list of tables");
	err = checkers(im, node_get(top, "safety_checker"));
	for (const struct node *r = n ? list->first : NULL; r && !err; r = r->next) {
		err = check_rule(im, r, false);
		if (!err)
			order[k++] = (struct ranked){r, node_get(r, "priority")->number};
	}
	if (k)
		qsort(order, k, sizeof(*order), by_priority);
	for (size_t i = 0; i < k && !err; i++) {
		enum import_verdict verdict = IMPORT_DENY;

		err = decision(im, order[i].rule, &verdict);
		if (!err)
			err = add_rule(im, order[i].rule, verdict, condition(order[i].rule));
	}
	return err ? err : import_compile(im, gemini_known);
}
