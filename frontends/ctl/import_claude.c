/* SPDX-License-Identifier: MIT */
/*
 * Claude Code: permissions.{deny,ask,allow}, in this order whatever stands where. The
 * spelling is nearly ours.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"
#include "libapproval/limits.h"

/* Tool, or Tool(spec). */
struct spelled {
	const char *tool, *spec; /* spec NULL: none */
	size_t spec_len;
};

static bool split(struct import *im, const struct node *n, struct spelled *out)
{
	const char *const open = strchr(n->text, '(');

	*out = (struct spelled){.tool = n->text};
	if (!open)
		return true;
	if (n->text[n->len - 1] != ')')
		return false;
	out->tool = memory_copy(&im->memory, n->text, (size_t)(open - n->text));
	out->spec = memory_copy(&im->memory, open + 1, n->len - (size_t)(open - n->text) - 2);
	out->spec_len = out->spec ? strlen(out->spec) : 0;
	return out->tool && out->spec;
}

static int command(struct import *im, struct source_rule *r, const struct spelled *s)
{
	size_t len = s->spec_len;
	bool open = false;

	if (len >= 2 &&
		(!strcmp(s->spec + len - 2, ":*") || !strcmp(s->spec + len - 2, " *"))) {
		len -= 2;
		open = true;
	}
	if (!glob_new(&im->memory, &r->glob, s->spec, len, true, false)) {
		r->unknown = true;
		rule_unsayable(im, r, "the pattern is too long");
		return 0;
	}
	if (open && len > 0 && !glob_append(&im->memory, &r->glob, GLOB_OPEN))
		return -ENOMEM;
	if (open && len == 0)
		return 0;
	/* it stands before a parenthesis, or before a star, or for itself: that is not known */
	if (memchr(s->spec, '\\', s->spec_len)) {
		r->unknown = true;
		if (r->verdict == IMPORT_ALLOW) {
			rule_unsayable(im, r, "a backslash can be read in several ways");
			return 0;
		}
	}
	return rule_command(im, r);
}

/* What gitignore and we read in the same way. */
static const char *path_why(const char *spec)
{
	const size_t len = strlen(spec);

	if (strpbrk(spec, "[\\"))
		return "a bracket or backslash in a path";
	if (*spec == '!')
		return "a pattern that is negated";
	if (*spec == '~' && spec[1] && spec[1] != '/')
		return "the home folder of another user";
	if (*spec == ' ' || spec[len - 1] == ' ')
		return "a blank at the end of a path";
	for (const char *p = spec; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
			return "a path that leads upwards";
	}
	return NULL;
}

static int path(struct import *im, struct source_rule *r, const struct spelled *s)
{
	const char *why = path_why(s->spec);

	r->unknown = true;
	if (!strcmp(s->spec, "*") || !strcmp(s->spec, "**")) {
		/* below the folder it runs in, or everywhere: what is stricter */
		r->spec = r->verdict == IMPORT_ALLOW ? "./**" : NULL;
		return 0;
	}
	if (s->spec_len > LIMIT_IMPORT_PATTERN)
		why = "the pattern is too long";
	if (why) {
		rule_unsayable(im, r, why);
		return 0;
	}
	r->spec = spec_raw(im, s->spec, s->spec_len);
	return r->spec ? 0 : -ENOMEM;
}

/* There it is this host; here its subdomains, too, so those are asked for. */
static int fetch(struct import *im, struct source_rule *r, const struct spelled *s)
{
	const char *host = s->spec;

	r->unknown = true;
	if (!strncmp(host, "domain:", 7))
		host += 7;
	else
		host = "";
	if (!spec_host_valid(!strncmp(host, "*.", 2) ? host + 2 : host)) {
		rule_unsayable(im, r, "only domain:NAME is known");
		return 0;
	}
	r->spec = s->spec;
	if (r->verdict == IMPORT_ALLOW && *host != '*')
		r->also = memory_printf(&im->memory, "domain:*.%s", host);
	return 0;
}

/* An allow of a host has no effect where its parent is allowed and what is below asks. */
static void check_hosts(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		struct source_rule *const r = &im->rules[i];

		for (size_t k = 0; k < im->n_rules; k++) {
			const struct source_rule *const b = &im->rules[k];
			size_t n, m;

			if (!b->also || strncmp(b->also, "domain:*.", 9) != 0 || b == r ||
				!r->spec || r->verdict != IMPORT_ALLOW ||
				strncmp(r->spec, "domain:", 7) != 0)
				continue;
			n = strlen(r->spec + 7);
			m = strlen(b->also + 8);
			if (n < m || strcasecmp(r->spec + 7 + n - m, b->also + 8) != 0 ||
				r->fate != FATE_KEPT)
				continue;
			r->fate = FATE_LEFT;
			import_say(im, IMPORT_REFUSED, r->at,
				"line %u allows the host above it, and here that is done by "
				"asking for all hosts below",
				b->at->line);
		}
	}
}

static const char *const edits[] = {"Write", "MultiEdit", "NotebookEdit", NULL};

static bool in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

/* A tool whose path rules Claude Code looks for under another name. */
static const char *path_tool(const char *tool)
{
	static const char *const reads[] = {"Glob", "Grep", "LS", "NotebookRead", NULL};

	if (!strcmp(tool, "Edit") || in(edits, tool))
		return "Edit";
	return !strcmp(tool, "Read") || in(reads, tool) ? "Read" : NULL;
}

static int with_spec(struct import *im, struct source_rule *r, const struct spelled *s)
{
	const char *const as = path_tool(r->tool);

	if (!strcmp(r->tool, "Bash"))
		return command(im, r, s);
	if (!strcmp(r->tool, "WebFetch"))
		return fetch(im, r, s);
	if (as) {
		if (strcmp(as, r->tool) != 0 && r->verdict == IMPORT_ALLOW) {
			r->unknown = true;
			rule_unsayable(im, r,
				"Claude Code looks for paths only in Edit(...) and Read(...)");
			return 0;
		}
		if (strcmp(as, r->tool) != 0)
			import_say(im, IMPORT_NARROWED, r->at, "it stands for all that %s does",
				as);
		r->tool = as;
		return path(im, r, s);
	}
	r->unknown = true;
	rule_unsayable(im, r, "nothing in parentheses is known for this tool");
	return 0;
}

/* Bare names. */
static int without_spec(struct import *im, struct source_rule *r)
{
	if (!strcmp(r->tool, "Write")) {
		if (r->verdict == IMPORT_ALLOW) {
			rule_unsayable(im, r,
				"here Write is every tool that edits, there one of them");
			return 0;
		}
		import_say(im, IMPORT_NARROWED, r->at, "it stands for all that Edit does");
		r->tool = "Edit";
	}
	return 0;
}

/* Sub-agents have had two names. */
static const char *twin(const char *tool)
{
	return !strcmp(tool, "Agent") ? "Task" : !strcmp(tool, "Task") ? "Agent" : NULL;
}

static int rule(struct import *im, enum import_verdict verdict, const struct node *n)
{
	struct spelled s;
	struct source_rule *r;
	int err;

	if (n->type != NODE_STRING)
		return import_bad(im, n, "a rule is a string");
	if (n->len == 0 || !split(im, n, &s) || !tool_name_valid(s.tool)) {
		if (im->memory.failed)
			return -ENOMEM;
		s = (struct spelled){.tool = strncmp(n->text, "mcp__", 5) ? "*" : "mcp__*"};
		r = rule_new(im, verdict, n, s.tool);
		if (!r)
			return im->memory.failed ? -ENOMEM : -EINVAL;
		r->unknown = true;
		rule_unsayable(im, r, "no rule of ours can be about this name");
		return 0;
	}
	if (s.spec && (s.spec_len == 0 || (!strcmp(s.spec, "*") && !path_tool(s.tool))))
		s.spec = NULL;
	r = rule_new(im, verdict, n, s.tool);
	if (!r)
		return im->memory.failed ? -ENOMEM : -EINVAL;
	err = s.spec ? with_spec(im, r, &s) : without_spec(im, r);
	if (err || r->fate != FATE_KEPT)
		return err;
	if (twin(r->tool) && verdict != IMPORT_ALLOW) {
		const enum import_verdict how = r->out;

		r = rule_new(im, verdict, n, twin(r->tool));
		if (r) {
			r->silent = true;
			r->out = how;
		}
	}
	return r ? 0 : im->memory.failed ? -ENOMEM : -EINVAL;
}

/* Here WebFetch is every tool that fetches: the other one asks, unless it has a rule. */
static int fetches(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		const struct source_rule *const r = &im->rules[i];
		struct source_rule *guard;

		if (r->verdict != IMPORT_ALLOW || strcmp(r->tool, "WebFetch") != 0 || r->spec ||
			r->fate != FATE_KEPT)
			continue;
		guard = rule_new(im, IMPORT_ASK, r->at, "WebSearch");
		if (!guard)
			return im->memory.failed ? -ENOMEM : -EINVAL;
		guard->silent = true;
		return 0;
	}
	return 0;
}

static int list(struct import *im, const struct node *permissions, const char *name,
	enum import_verdict verdict)
{
	const struct node *const l = node_get(permissions, name);
	int err = 0;

	if (!l)
		return 0;
	if (l->type != NODE_ARRAY)
		return import_bad(im, l, "this is a list of rules");
	for (const struct node *n = l->first; n && !err; n = n->next)
		err = rule(im, verdict, n);
	return err;
}

/* Files there are read without a question. */
static int directories(struct import *im, const struct node *l)
{
	if (!l)
		return 0;
	if (l->type != NODE_ARRAY)
		return import_bad(im, l, "this is a list of folders");
	for (const struct node *n = l->first; n; n = n->next) {
		const bool home = n->type == NODE_STRING &&
				  (!strcmp(n->text, "~") || !strncmp(n->text, "~/", 2));
		struct source_rule *r;
		size_t len = n->len;

		if (n->type != NODE_STRING)
			return import_bad(im, n, "a folder is a string");
		if ((!home && *n->text != '/') || len < 2 || strpbrk(n->text, "*?[\\") ||
			path_why(n->text) || len > LIMIT_IMPORT_PATTERN) {
			import_say(im, IMPORT_REFUSED, n,
				"only a folder from / or ~/ can be said");
			continue;
		}
		while (len > 1 && n->text[len - 1] == '/')
			len--;
		r = rule_new(im, IMPORT_ALLOW, n, "Read");
		if (!r)
			return im->memory.failed ? -ENOMEM : -EINVAL;
		r->unknown = true;
		r->spec = memory_printf(&im->memory, "%s%s/**", home ? "" : "/",
			spec_raw(im, n->text, len) ?: "");
	}
	return 0;
}

static void mode(struct import *im, const struct node *n)
{
	static const struct {
		const char *theirs, *ours;
	} modes[] = {{"default", "normal"}, {"acceptEdits", "auto-edit"}, {"plan", "plan"},
		{"bypassPermissions", "yolo"}};

	if (!n || node_is(n, "default"))
		return;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (node_is(n, modes[i].theirs)) {
			import_say(im, IMPORT_NOTED, n,
				"no rule sets a mode; this one is %s, see approvalctl mode",
				modes[i].ours);
			return;
		}
	import_say(im, IMPORT_REFUSED, n, "no mode of ours is like this one");
}

int import_claude(struct import *im, const struct node *top)
{
	const struct node *const p = node_get(top, "permissions");
	int err;

	if (!p) {
		import_say(im, IMPORT_NOTED, NULL, "there are no permissions in it");
		return import_compile(im, NULL);
	}
	if (p->type != NODE_TABLE)
		return import_bad(im, p, "permissions is an object");
	err = list(im, p, "deny", IMPORT_DENY);
	if (!err)
		err = list(im, p, "ask", IMPORT_ASK);
	if (!err)
		err = list(im, p, "allow", IMPORT_ALLOW);
	if (!err)
		err = directories(im, node_get(p, "additionalDirectories"));
	if (!err)
		err = fetches(im);
	if (err)
		return err;
	mode(im, node_get(p, "defaultMode"));
	check_hosts(im);
	return import_compile(im, NULL);
}
