/* SPDX-License-Identifier: MIT */
/*
 * Gemini CLI's settings.json: lists of tools, each with its priority. A list of what is
 * allowed of the shell denies the rest of it, and one of core tools all others.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_gemini.h"

/* name or name(prefix) */
struct spelled {
	const char *tool, *prefix;
};

static bool spell(struct import *im, const struct node *n, struct spelled *out)
{
	const char *const open = strchr(n->text, '(');

	*out = (struct spelled){.tool = n->text};
	if (!open || n->text[n->len - 1] != ')')
		return true;
	out->tool = memory_copy(&im->memory, n->text, (size_t)(open - n->text));
	out->prefix = memory_copy(&im->memory, open + 1, n->len - (size_t)(open - n->text) - 2);
	return out->tool && out->prefix;
}

struct setting {
	const char *section, *name; /* section NULL: an older place */
	enum import_verdict verdict;
	bool server; /* names of MCP servers */
};

/* By falling priority. */
static const struct setting settings[] = {
	{"mcp", "excluded", IMPORT_DENY, true},
	{NULL, "excludeMCPServers", IMPORT_DENY, true},
	{"tools", "exclude", IMPORT_DENY, false},
	{NULL, "excludeTools", IMPORT_DENY, false},
	{"tools", "confirmationRequired", IMPORT_ASK, false},
	{"tools", "allowed", IMPORT_ALLOW, false},
	{NULL, "allowedTools", IMPORT_ALLOW, false},
	{"tools", "core", IMPORT_ALLOW, false},
	{NULL, "coreTools", IMPORT_ALLOW, false},
};

static const struct node *find(const struct node *top, const char *section, const char *name)
{
	return node_get(section ? node_get(top, section) : top, name);
}

static int tool_rule(
	struct import *im, const struct setting *s, const struct node *n, bool *narrows)
{
	struct gemini_rule g = {.verdict = s->verdict, .at = n};
	struct spelled spelled;

	if (n->type != NODE_STRING)
		return import_bad(im, n, "the name of a tool is a string");
	if (s->server) {
		g.tool = memory_printf(&im->memory, "mcp_%s_*", n->text);
		return g.tool ? gemini_rule(im, &g) : -ENOMEM;
	}
	if (n->len == 0 || !spell(im, n, &spelled))
		return im->memory.failed ? -ENOMEM : import_bad(im, n, "the name is empty");
	g.tool = spelled.tool;
	if (spelled.prefix && gemini_is_shell(g.tool)) {
		*narrows = true;
		if (!*spelled.prefix && s->verdict == IMPORT_ALLOW)
			return 0;
		g.prefix = *spelled.prefix ? spelled.prefix : NULL;
	} else if (spelled.prefix && s->verdict != IMPORT_ALLOW) {
		g.pattern = true;
	}
	return gemini_rule(im, &g);
}

/* What a list leaves out. */
static int rest(
	struct import *im, const struct setting *s, const struct node *list, bool narrows)
{
	const bool core = strstr(s->name, "core") != NULL;
	const struct gemini_rule g = {
		.verdict = IMPORT_DENY,
		.at = list,
		.tool = core ? "*" : "run_shell_command",
	};

	return core || (narrows && s->verdict == IMPORT_ALLOW) ? gemini_rule(im, &g) : 0;
}

static int setting(struct import *im, const struct node *top, const struct setting *s)
{
	const struct node *const list = find(top, s->section, s->name);
	bool narrows = false;
	int err = 0;

	if (!list)
		return 0;
	if (list->type != NODE_ARRAY)
		return import_bad(im, list, "this is a list");
	for (const struct node *n = list->first; n && !err; n = n->next)
		err = tool_rule(im, s, n, &narrows);
	return err ? err : rest(im, s, list, narrows);
}

/* Servers: trust, and the lists of what of them may be seen. */
static int server(struct import *im, const struct node *s)
{
	const struct node *const trust = node_get(s, "trust");
	const struct node *const off = node_get(s, "excludeTools");
	int err = 0;

	for (const struct node *n = off && off->type == NODE_ARRAY ? off->first : NULL;
		n && !err; n = n->next) {
		const struct gemini_rule g = {
			.verdict = IMPORT_DENY,
			.at = n,
			.tool = memory_printf(&im->memory, "mcp_%s_%s", s->key, n->text),
		};

		err = g.tool ? gemini_rule(im, &g) : -ENOMEM;
	}
	if (trust && trust->number)
		import_say(im, IMPORT_REFUSED, trust,
			"a rule can't be about all tools of a server");
	return err;
}

static void note(struct import *im, const struct node *top, const char *section,
	const char *name, const char *text)
{
	const struct node *const n = find(top, section, name);

	if (n)
		import_say(im, IMPORT_REFUSED, n, "%s", text);
}

int import_gemini_settings(struct import *im, const struct node *top)
{
	const struct node *const servers = node_get(top, "mcpServers");
	int err = 0;

	for (const struct node *s = servers && servers->type == NODE_TABLE ? servers->first
									   : NULL;
		s && !err; s = s->next)
		err = server(im, s);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && !err; i++)
		err = setting(im, top, &settings[i]);
	if (err)
		return err;
	note(im, top, "mcp", "allowed", "a rule can't be about all tools of a server");
	note(im, top, NULL, "allowMCPServers", "a rule can't be about all tools of a server");
	note(im, top, "general", "defaultApprovalMode",
		"no rule sets a mode, see approvalctl mode");
	note(im, top, "tools", "approvalMode", "no rule sets a mode, see approvalctl mode");
	note(im, top, NULL, "autoAccept", "no rule sets a mode, see approvalctl mode");
	note(im, top, NULL, "policyPaths", "those files are to be imported by themselves");
	note(im, top, NULL, "adminPolicyPaths", "those files are to be imported by themselves");
	return import_compile(im, gemini_known);
}
