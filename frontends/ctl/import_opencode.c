/* SPDX-License-Identifier: MIT */
/*
 * OpenCode: permission.KEY = verdict, or {PATTERN: verdict}; the last that matches wins. A
 * star takes any run of characters, slashes too. Beside its own key, a path outside of the
 * project has to pass external_directory, which asks unless something else was said.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_opencode.h"
#include "libapproval/limits.h"

enum how { HOW_WHOLE, HOW_COMMAND, HOW_PATH, HOW_PLACE, HOW_URL };

static const struct key {
	const char *key, *tool;
	enum how how;
} keys[] = {
	{"bash", "Bash", HOW_COMMAND},
	{"shell", "Bash", HOW_COMMAND},
	{"read", "read", HOW_PATH},
	{"edit", "Edit", HOW_PATH},
	{"glob", "glob", HOW_PLACE},
	{"grep", "grep", HOW_PLACE},
	{"list", "list", HOW_PLACE},
	{"webfetch", "webfetch", HOW_URL},
};

static const struct known_tool known[] = {{"@execute", "Bash"}, {"@read", "read"},
	{"@read", "lsp"}, {"@edit", "Edit"}, {"@search", "glob"}, {"@search", "grep"},
	{"@search", "list"}, {"@fetch", "webfetch"}, {"@fetch", "websearch"},
	{"@fetch", "codesearch"}, {"@think", "task"}, {"@think", "todowrite"},
	{"@think", "todoread"}, {"@other", "question"}, {NULL, NULL}};

/* No tool's own permission is asked under these names: they are edit's. */
static const char *const edits[] = {"write", "patch", "multiedit", "apply_patch", NULL};

static bool in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

static int verdict(struct import *im, const struct node *n, enum import_verdict *out)
{
	for (int v = IMPORT_ALLOW; v <= IMPORT_DENY; v++)
		if (node_is(n, import_verdict_name((enum import_verdict)v))) {
			*out = (enum import_verdict)v;
			return 0;
		}
	return import_bad(im, n, "this is allow, ask or deny");
}

static int entry_add(struct opencode *e, const struct node *at, const char *key,
	const char *pattern, const struct node *value)
{
	struct opencode_entry *n;

	if (e->n == LIMIT_IMPORT_RULES)
		return import_bad(e->im, at, "there are too many rules");
	if (!e->list)
		e->list = memory_get(&e->im->memory, LIMIT_IMPORT_RULES * sizeof(*e->list));
	if (!e->list)
		return -ENOMEM;
	n = &e->list[e->n++];
	*n = (struct opencode_entry){.at = at, .key = key, .pattern = pattern};
	return verdict(e->im, value, &n->verdict);
}

/* Such keys stand before all others there, whatever their order in the text. */
static bool is_index(const char *key)
{
	return *key && strspn(key, "0123456789") == strlen(key);
}

static int read_table(struct opencode *e, const struct node *permission)
{
	int err = 0;

	if (permission->type == NODE_STRING)
		return entry_add(e, permission, "*", "*", permission);
	if (permission->type != NODE_TABLE)
		return import_bad(e->im, permission, "a permission is a string or an object");
	for (const struct node *k = permission->first; k && !err; k = k->next) {
		if (is_index(k->key))
			return import_bad(e->im, k, "a key of digits alone loses its place");
		if (k->type != NODE_TABLE) {
			err = entry_add(e, k, k->key, "*", k);
			continue;
		}
		for (const struct node *p = k->first; p && !err; p = p->next)
			err = is_index(p->key)
				      ? import_bad(e->im, p,
						"a key of digits alone loses its place")
				      : entry_add(e, p, k->key, p->key, p);
	}
	return err;
}

/* {"action", "resource", "effect"}, of later versions */
static int read_list(struct opencode *e, const struct node *list)
{
	int err = 0;

	if (list->type != NODE_ARRAY)
		return import_bad(e->im, list, "this is a list of rules");
	for (const struct node *r = list->first; r && !err; r = r->next) {
		const struct node *const action = node_get(r, "action");
		const struct node *const resource = node_get(r, "resource");
		const struct node *const effect = node_get(r, "effect");

		if (!action || action->type != NODE_STRING || !resource ||
			resource->type != NODE_STRING || !effect || r->n != 3)
			return import_bad(e->im, r, "a rule has action, resource and effect");
		err = entry_add(e, r, action->text, resource->text, effect);
	}
	return err;
}

/* The older {"tools": {"bash": false}}, which comes before all permissions. */
static int read_tools(struct opencode *e, const struct node *tools)
{
	static const char *const verdicts[] = {"deny", "allow"};

	if (!tools)
		return 0;
	if (tools->type != NODE_TABLE)
		return import_bad(e->im, tools, "tools is an object");
	for (const struct node *t = tools->first; t; t = t->next) {
		struct node value = {.type = NODE_STRING};
		int err;

		if (t->type != NODE_BOOL)
			return import_bad(e->im, t, "a tool is true or false");
		value.text = verdicts[t->number != 0];
		err = entry_add(e, t, in(edits, t->key) ? "edit" : t->key, "*", &value);
		if (err)
			return err;
	}
	return 0;
}

/* ---- one rule ---- */

/* The host of a URL, where the pattern holds it whole; an ask for it, and what is below. */
static void rule_url(struct import *im, struct source_rule *r, const char *pattern)
{
	const size_t scheme = strcspn(pattern, "*?:/");
	const char *host = NULL;

	if (r->verdict != IMPORT_ALLOW && !strncmp(pattern + scheme, "://", 3))
		host = memory_copy(
			&im->memory, pattern + scheme + 3, strcspn(pattern + scheme + 3, "/"));
	if (!host || !spec_host_valid(host) || !pattern[scheme + 3 + strlen(host)]) {
		rule_unsayable(im, r, "a URL can be told by its host alone");
		return;
	}
	r->spec = memory_printf(&im->memory, "domain:%s", host);
	r->out = IMPORT_ASK;
	import_say(im, IMPORT_NARROWED, r->at,
		"a URL can be told by its host alone: webfetch(domain:%s) asks", host);
}

/* Where the home folder is that the pattern begins with is not known, but that it is from /. */
static int rehome(struct import *im, struct source_rule *r, const char *pattern)
{
	const size_t n = *pattern == '~' ? 1 : strlen("$HOME");
	uint16_t *const units = memory_get(&im->memory, (r->glob.n + 2) * sizeof(*units));

	if (!units)
		return -ENOMEM;
	units[0] = '/';
	units[1] = GLOB_STAR;
	memcpy(units + 2, r->glob.units + n, (r->glob.n - n) * sizeof(*units));
	r->glob = (struct glob){units, r->glob.n - n + 2};
	r->sometimes = true;
	return 0;
}

static bool has_home(const char *pattern)
{
	return !strcmp(pattern, "$HOME") || !strncmp(pattern, "$HOME/", 6) ||
	       !strcmp(pattern, "~") || !strncmp(pattern, "~/", 2);
}

static int rule_pattern(
	struct import *im, struct source_rule *r, const struct key *k, const char *pattern)
{
	const size_t len = strlen(pattern);
	const bool tail = len > 2 && !strcmp(pattern + len - 2, " *");
	int err = 0;

	if (!glob_new(&im->memory, &r->glob, pattern, tail ? len - 2 : len, true, true) ||
		(tail && !glob_append(&im->memory, &r->glob, GLOB_OPEN))) {
		r->unknown = true;
		rule_unsayable(im, r, "the pattern is too long");
		return im->memory.failed ? -ENOMEM : 0;
	}
	if (strstr(pattern, "{env:") || strstr(pattern, "{file:")) {
		r->unknown = true;
		rule_unsayable(im, r, "OpenCode puts another text here");
		return 0;
	}
	switch (k ? k->how : HOW_WHOLE) {
	case HOW_COMMAND: err = rule_command(im, r); break;
	case HOW_PATH: err = rule_path(im, r); break;
	case HOW_URL: rule_url(im, r, pattern); break;
	default: rule_unsayable(im, r, "nothing in parentheses is known for this tool"); break;
	}
	/* the words of a rule of ours know the home folder, too */
	return err || !has_home(pattern) ? err : rehome(im, r, pattern);
}

/* A key with wildcards, or that no rule of ours can be about: what covers all that it may be.
 */
static const char *cover_name(struct import *im, const char *key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (opencode_key_matches(im, key, keys[i].key))
			return "*";
	for (const struct known_tool *k = known; k->kind; k++)
		if (opencode_key_matches(im, key, k->tool))
			return "*";
	return "@other";
}

/* All tools, those with a path as far as it stays inside. */
static int allow_inside(struct import *im, const struct opencode_entry *e)
{
	static const char *const tools[] = {"Bash", "read", "lsp", "Edit", "glob", "grep",
		"list", "@fetch", "@think", "@other"};

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		struct source_rule *const r = rule_new(im, IMPORT_ALLOW, e->at, tools[i]);

		if (!r)
			return im->memory.failed ? -ENOMEM : -EINVAL;
		r->silent = true;
		if (i > 0 && *tools[i] != '@')
			r->spec = "/**";
	}
	return 0;
}

static int rule_entry(struct import *im, const struct opencode_entry *e, bool outside)
{
	const bool all = !strcmp(e->key, "*");
	const bool good = all || (!strpbrk(e->key, "*?") && tool_name_valid(e->key));
	const struct key *k = NULL;
	struct source_rule *r;

	if (all && !outside && e->verdict == IMPORT_ALLOW && !strcmp(e->pattern, "*"))
		return allow_inside(im, e);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].key, e->key))
			k = &keys[i];
	r = rule_new(im, e->verdict, e->at,
		k      ? k->tool
		: good ? e->key
		       : cover_name(im, e->key));
	if (!r)
		return im->memory.failed ? -ENOMEM : -EINVAL;
	if (!good) {
		r->unknown = true;
		rule_unsayable(im, r, "a rule can't be about all tools of such a name");
		return 0;
	}
	if (in(edits, e->key) && e->verdict == IMPORT_ALLOW) {
		r->unknown = true;
		rule_unsayable(im, r, "OpenCode looks for edit instead");
		return 0;
	}
	if (strcmp(e->pattern, "*") != 0)
		return rule_pattern(im, r, k, e->pattern);
	/* the whole tool, as far as it stays inside */
	if (k && (k->how == HOW_PATH || k->how == HOW_PLACE) && e->verdict == IMPORT_ALLOW &&
		!outside)
		r->spec = "/**";
	return 0;
}

/* What is no tool of its own. */
static bool pseudo(struct import *im, const struct opencode_entry *e)
{
	if (!strcmp(e->key, "doom_loop")) {
		import_say(im, IMPORT_REFUSED, e->at,
			"the broker has its own step for repeated calls");
		return true;
	}
	if (strcmp(e->key, "external_directory") != 0)
		return false;
	if (e->verdict == IMPORT_DENY)
		return true;
	import_say(im,
		e->verdict == IMPORT_ALLOW && !strcmp(e->pattern, "*") ? IMPORT_NOTED
								       : IMPORT_REFUSED,
		e->at,
		"no rule is about all tools at a path; without it what is outside of the "
		"project is not allowed by other rules");
	return true;
}

static int rules(struct import *im, const struct opencode *e)
{
	const struct opencode_entry *const all = opencode_outside(e);
	const bool outside = all && all->verdict == IMPORT_ALLOW;
	int err = 0;

	for (size_t i = e->n; i-- > 0 && !err;)
		if (!pseudo(im, &e->list[i]))
			err = rule_entry(im, &e->list[i], outside);
	return err ? err : opencode_guard(e);
}

static void agents(struct import *im, const struct node *top, const char *key)
{
	const struct node *const list = node_get(top, key);

	for (const struct node *a = list && list->type == NODE_TABLE ? list->first : NULL; a;
		a = a->next) {
		static const char *const inner[] = {"permission", "permissions", "tools"};

		for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
			if (node_get(a, inner[i]))
				import_say(im, IMPORT_REFUSED, node_get(a, inner[i]),
					"no rule is about one agent of several: what it denies "
					"has "
					"to be written by hand");
	}
}

int import_opencode(struct import *im, const struct node *top)
{
	const struct node *const permission = node_get(top, "permission");
	const struct node *const permissions = node_get(top, "permissions");
	struct opencode e = {.im = im};
	int err = read_tools(&e, node_get(top, "tools"));

	if (!err && permission)
		err = read_table(&e, permission);
	if (!err && permissions)
		err = read_list(&e, permissions);
	if (err)
		return err;
	agents(im, top, "agent");
	agents(im, top, "agents");
	agents(im, top, "mode");
	if (e.n == 0)
		import_say(im, IMPORT_NOTED, NULL, "there are no permissions in it");
	err = rules(im, &e);
	return err ? err : import_compile(im, known);
}
