/* SPDX-License-Identifier: MIT */
/*
 * Codex: files of prefix_rule(...), the strictest that matches wins, which is our order; and
 * what config.toml says about the tools of MCP servers.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"
#include "libapproval/limits.h"

static int failed(const struct import *im)
{
	return im->memory.failed ? -ENOMEM : -EINVAL;
}

/* ---- examples ---- */

/* One word of a command line at *p, as a POSIX shell reads it; NULL: none, or not closed. */
static char *example_word(struct import *im, const char **p, bool *broken)
{
	struct text t = {0};
	bool any = false;
	char quote = 0;

	while (**p && strchr(" \t\r\n", **p))
		++*p;
	for (; **p && (quote || !strchr(" \t\r\n", **p)); ++*p) {
		any = true;
		if (quote ? **p == quote : **p == '"' || **p == '\'') {
			quote = quote ? 0 : **p;
		} else if (**p == '\\' && quote != '\'' &&
			   (!quote || ((*p)[1] && strchr("$`\"\\\n", (*p)[1])))) {
			if (!*++*p) {
				*broken = true;
				break;
			}
			if (**p != '\n')
				text_addn(&t, *p, 1);
		} else {
			text_addn(&t, *p, 1);
		}
	}
	*broken |= quote != 0;
	if (!any || *broken) {
		text_free(&t);
		return NULL;
	}
	return memory_take(&im->memory, &t);
}

static bool in_element(const struct node *element, const char *word)
{
	if (element->type == NODE_STRING)
		return node_is(element, word);
	for (const struct node *n = element->first; n; n = n->next)
		if (node_is(n, word))
			return true;
	return false;
}

/* The element behind the one that the word has to match. */
static const struct node *example_step(
	const struct node *element, const char *word, bool expect, bool *good)
{
	const char *const slash = strrchr(word, '/');

	if (!element)
		return NULL;
	/* the command may be known by its absolute name, too */
	*good &= in_element(element, word) || (expect && element->index == 0 && *word == '/' &&
						      in_element(element, slash + 1));
	return element->next;
}

/* 1: the example begins with the pattern; 0; -EINVAL */
static int example_matches(
	struct import *im, const struct node *pattern, const struct node *example, bool expect)
{
	const struct node *element = pattern->first;
	bool good = true, broken = false;
	char *word;
	size_t n = 0;

	if (example->type == NODE_ARRAY) {
		for (const struct node *w = example->first; w; w = w->next, n++) {
			if (w->type != NODE_STRING)
				return import_bad(im, w, "a word of an example is a string");
			element = example_step(element, w->text, expect, &good);
		}
	} else if (example->type == NODE_STRING) {
		const char *p = example->text;

		while ((word = example_word(im, &p, &broken))) {
			element = example_step(element, word, expect, &good);
			n++;
		}
		if (broken)
			return import_bad(im, example, "an example is not closed");
	} else {
		return import_bad(im, example, "an example is a string or a list of strings");
	}
	if (n == 0)
		return import_bad(im, example, "an example is empty");
	return good && !element;
}

/* As at load there: each example has to do what it is said to do. */
static int check_examples(
	struct import *im, const struct node *call, const char *key, int expect)
{
	const struct node *const list = node_get(call, key);

	if (!list || list->type == NODE_NULL)
		return 0;
	if (list->type != NODE_ARRAY)
		return import_bad(im, list, "this is a list of examples");
	for (const struct node *n = list->first; n; n = n->next) {
		const int how = example_matches(im, node_get(call, "pattern"), n, expect);

		if (how < 0)
			return how;
		if (how != expect)
			return import_bad(im, n,
				expect ? "this example is not matched by its rule"
				       : "this example is matched by its rule");
	}
	return 0;
}

/* ---- rules ---- */

static int check_pattern(struct import *im, const struct node *call)
{
	const struct node *const pattern = node_get(call, "pattern");

	if (!pattern || pattern->type != NODE_ARRAY || !pattern->first)
		return import_bad(im, pattern ? pattern : call, "a pattern is a list of words");
	for (const struct node *e = pattern->first; e; e = e->next) {
		if (e->type == NODE_STRING)
			continue;
		if (e->type != NODE_ARRAY || !e->first)
			return import_bad(im, e, "a word is a string or a list of strings");
		for (const struct node *n = e->first; n; n = n->next)
			if (n->type != NODE_STRING)
				return import_bad(im, n, "an alternative is a string");
	}
	return 0;
}

static int decision(struct import *im, const struct node *call, enum import_verdict *out)
{
	const struct node *const d = node_get(call, "decision");

	if (!d || d->type == NODE_NULL || node_is(d, "allow"))
		*out = IMPORT_ALLOW;
	else if (node_is(d, "prompt"))
		*out = IMPORT_ASK;
	else if (node_is(d, "forbidden"))
		*out = IMPORT_DENY;
	else
		return import_bad(im, d, "a decision is allow, prompt or forbidden");
	return 0;
}

/* One rule for the words that were chosen of the alternatives. */
static int add_words(struct import *im, const struct node *call, enum import_verdict verdict,
	const char *const *words, size_t n)
{
	struct source_rule *const r = rule_new(im, verdict, call, "Bash");

	return r ? rule_words(im, r, words, n, true) : failed(im);
}

/* The absolute names that are known for the command are as good. */
static int add_paths(struct import *im, const struct node *call, const struct node *top,
	const char **words, size_t n)
{
	const char *const name = words[0];
	int err = 0;

	for (const struct node *h = top->first; h; h = h->next) {
		const struct node *const paths = node_get(h, "paths");

		if (strcmp(h->text, "host_executable") != 0 ||
			!node_is(node_get(h, "name"), name))
			continue;
		for (const struct node *p = paths ? paths->first : NULL; p && !err;
			p = p->next) {
			words[0] = p->text;
			if (p->type == NODE_STRING && *p->text == '/')
				err = add_words(im, call, IMPORT_ALLOW, words, n);
		}
	}
	words[0] = name;
	return err;
}

#define WORDS_MAX	 64u
#define ALTERNATIVES_MAX 256u

static int add_all(struct import *im, const struct node *call, const struct node *top,
	enum import_verdict verdict)
{
	const struct node *choice[WORDS_MAX];
	const char *words[WORDS_MAX];
	size_t n = 0;

	for (const struct node *e = node_get(call, "pattern")->first; e && n < WORDS_MAX;
		e = e->next)
		choice[n++] = e->type == NODE_ARRAY ? e->first : e;
	for (;;) {
		size_t i = n;
		int err;

		for (size_t k = 0; k < n; k++)
			words[k] = choice[k]->text;
		err = add_words(im, call, verdict, words, n);
		if (!err && verdict == IMPORT_ALLOW)
			err = add_paths(im, call, top, words, n);
		if (err)
			return err;
		/* the next choice, as an odometer */
		while (i > 0) {
			const struct node *const c = choice[i - 1];
			const bool list = c->parent != node_get(call, "pattern");

			if (list && c->next) {
				choice[i - 1] = c->next;
				break;
			}
			choice[i - 1] = list ? c->parent->first : c;
			i--;
		}
		if (i == 0)
			return 0;
	}
}

/* A script that can't be taken apart is judged as the words bash -lc SCRIPT. */
static bool is_shell(const struct node *call)
{
	static const char *const names[] = {"bash", "/bin/bash", "/usr/bin/bash", "sh",
		"/bin/sh", "/usr/bin/sh", "zsh", "/bin/zsh", "/usr/bin/zsh"};
	const struct node *const first = node_get(call, "pattern")->first;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (in_element(first, names[i]))
			return true;
	return false;
}

static int whole(struct import *im, const struct node *call, enum import_verdict verdict,
	const char *why)
{
	struct source_rule *const r = rule_new(im, verdict, call, "Bash");

	if (!r)
		return failed(im);
	r->unknown = true;
	rule_unsayable(im, r, why);
	return 0;
}

static int prefix_rule(struct import *im, const struct node *call, const struct node *top)
{
	enum import_verdict verdict = IMPORT_DENY;
	size_t product = 1, n = 0;
	int err = check_pattern(im, call);

	if (!err)
		err = decision(im, call, &verdict);
	if (!err)
		err = check_examples(im, call, "match", 1);
	if (!err)
		err = check_examples(im, call, "not_match", 0);
	if (err)
		return err;
	for (const struct node *e = node_get(call, "pattern")->first; e; e = e->next, n++)
		if (e->type == NODE_ARRAY && product <= ALTERNATIVES_MAX)
			product *= e->n;
	if (product > ALTERNATIVES_MAX || n > WORDS_MAX)
		return whole(im, call, verdict, "it has too many alternatives or words");
	if (verdict != IMPORT_ALLOW && is_shell(call)) {
		err = whole(im, call, verdict,
			"Codex takes a script that it can't take apart for bash -lc SCRIPT");
		if (err)
			return err;
	}
	return add_all(im, call, top, verdict);
}

static int network_rule(struct import *im, const struct node *call)
{
	const struct node *const d = node_get(call, "decision");

	if (!d || d->type != NODE_STRING)
		return import_bad(im, call, "a rule for the network has a decision");
	import_say(im, IMPORT_REFUSED, call,
		"what a command may reach can't be said: leave it to the agent's sandbox");
	return 0;
}

static int check_arguments(struct import *im, const struct node *call)
{
	static const char *const known[] = {"pattern", "decision", "justification", "match",
		"not_match", "name", "paths", "host", "protocol"};

	for (const struct node *a = call->first; a; a = a->next) {
		size_t i = 0;

		if (!a->key)
			return import_bad(im, a, "an argument has no name");
		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], a->key))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return import_bad(im, a, "no argument has this name");
	}
	return 0;
}

static int read_calls(struct import *im, const struct node *top, enum import_verdict verdict)
{
	int err = 0;

	for (const struct node *c = top->first; c && !err; c = c->next) {
		enum import_verdict own = IMPORT_DENY;

		if (strcmp(c->text, "prefix_rule") != 0)
			continue;
		err = decision(im, c, &own);
		if (!err && own == verdict)
			err = prefix_rule(im, c, top);
	}
	return err;
}

int import_codex_rules(struct import *im, const struct node *top)
{
	int err = 0;

	for (const struct node *c = top->first; c && !err; c = c->next) {
		err = check_arguments(im, c);
		if (!err && !strcmp(c->text, "network_rule"))
			err = network_rule(im, c);
		else if (!err && strcmp(c->text, "prefix_rule") &&
			 strcmp(c->text, "host_executable"))
			err = import_bad(im, c, "no such rule is known");
	}
	/* in the order of their strictness */
	if (!err)
		err = read_calls(im, top, IMPORT_DENY);
	if (!err)
		err = read_calls(im, top, IMPORT_ASK);
	if (!err)
		err = read_calls(im, top, IMPORT_ALLOW);
	return err ? err : import_compile(im, NULL);
}

/* ---- config.toml ---- */

static int mcp_rule(struct import *im, enum import_verdict verdict, const struct node *at,
	const char *server, const char *tool)
{
	const char *name = memory_printf(&im->memory, "mcp__%s__%s", server, tool);
	const bool good = name && tool_name_valid(name) &&
			  (!strcmp(tool, "*") || !strchr(name, '*')) && *server && *tool;
	struct source_rule *r;

	if (!name)
		return -ENOMEM;
	r = rule_new(im, verdict, at, good ? name : "mcp__*");
	if (!r)
		return failed(im);
	if (!good) {
		r->unknown = true;
		rule_unsayable(im, r, "no rule of ours can be about this name");
	}
	return 0;
}

static int mcp_mode(struct import *im, const struct node *mode, const char *server,
	const char *tool, enum import_verdict verdict)
{
	static const char *const names[] = {
		[IMPORT_ALLOW] = "approve", [IMPORT_ASK] = "prompt"};

	if (!mode)
		return 0;
	if (!node_is(mode, "approve") && !node_is(mode, "prompt") && !node_is(mode, "auto") &&
		!node_is(mode, "writes"))
		return import_bad(im, mode, "a mode of approval is auto, prompt or approve");
	if (verdict == IMPORT_DENY || !node_is(mode, names[verdict]))
		return 0;
	return mcp_rule(im, verdict, mode, server, tool);
}

/* A tool whose own mode leaves it to the agent is no part of what its server allows. */
static int server_exceptions(struct import *im, const struct node *server)
{
	const struct node *const tools = node_get(server, "tools");
	int err = 0;

	if (!tools || tools->type != NODE_TABLE ||
		!node_is(node_get(server, "default_tools_approval_mode"), "approve"))
		return 0;
	for (const struct node *t = tools->first; t && !err; t = t->next) {
		const struct node *const mode = node_get(t, "approval_mode");

		if (mode && !node_is(mode, "approve") && !node_is(mode, "prompt"))
			err = mcp_rule(im, IMPORT_ASK, mode, server->key, t->key);
	}
	return err;
}

/* A tool's own mode goes before the server's, so that one comes first. */
static int server_rules(struct import *im, const struct node *server)
{
	const struct node *const off = node_get(server, "disabled_tools");
	const struct node *const tools = node_get(server, "tools");
	const struct node *const all = node_get(server, "default_tools_approval_mode");
	int err = 0;

	if (server->type != NODE_TABLE)
		return import_bad(im, server, "a server is a table");
	for (const struct node *n = off ? off->first : NULL; n && !err; n = n->next)
		err = n->type == NODE_STRING
			      ? mcp_rule(im, IMPORT_DENY, n, server->key, n->text)
			      : import_bad(im, n, "the name of a tool is a string");
	if (!err)
		err = server_exceptions(im, server);
	for (const struct node *t = tools && tools->type == NODE_TABLE ? tools->first : NULL;
		t && !err; t = t->next)
		for (int v = IMPORT_ASK; v >= IMPORT_ALLOW && !err; v--)
			err = mcp_mode(im, node_get(t, "approval_mode"), server->key, t->key,
				(enum import_verdict)v);
	for (int v = IMPORT_ASK; v >= IMPORT_ALLOW && !err; v--)
		err = mcp_mode(im, all, server->key, "*", (enum import_verdict)v);
	if (!err && node_get(server, "enabled_tools"))
		import_say(im, IMPORT_NOTED, node_get(server, "enabled_tools"),
			"the other tools of the server are hidden from the agent; no rule does "
			"that");
	return err;
}

int import_codex_config(struct import *im, const struct node *top)
{
	static const char *const settings[] = {"approval_policy", "sandbox_mode",
		"sandbox_workspace_write", "permissions", "default_permissions", "apps",
		"approvals_reviewer"};
	const struct node *const servers = node_get(top, "mcp_servers");
	int err = 0;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct node *const n = node_get(top, settings[i]);

		if (n)
			import_say(im, IMPORT_REFUSED, n,
				"it is about how Codex asks and runs, which no rule says; see "
				"approvalctl mode");
	}
	if (servers && servers->type != NODE_TABLE)
		return import_bad(im, servers, "mcp_servers is a table");
	for (const struct node *s = servers ? servers->first : NULL; s && !err; s = s->next)
		err = server_rules(im, s);
	return err ? err : import_compile(im, NULL);
}
