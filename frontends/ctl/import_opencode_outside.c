/* SPDX-License-Identifier: MIT */
/*
 * OpenCode's external_directory, which every path outside of the project has to pass beside
 * its own permission. No rule of ours is about all paths but some.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_opencode.h"

#define KEY "external_directory"

bool opencode_key_matches(struct import *im, const char *pattern, const char *key)
{
	struct glob a, b;

	return glob_new(&im->memory, &a, pattern, strlen(pattern), true, true) &&
	       glob_new(&im->memory, &b, key, strlen(key), false, false) &&
	       glob_covers(&a, &b, &im->effort);
}

const struct opencode_entry *opencode_outside(const struct opencode *o)
{
	const struct opencode_entry *some = NULL;

	for (size_t i = o->n; i-- > 0;) {
		const struct opencode_entry *const e = &o->list[i];

		if (!opencode_key_matches(o->im, e->key, KEY))
			continue;
		/* all are allowed only if none was taken out of them */
		if (!strcmp(e->pattern, "*"))
			return e->verdict == IMPORT_ALLOW && some ? some : e;
		if (e->verdict != IMPORT_ALLOW)
			some = e;
	}
	return NULL;
}

static const char *const movers[] = {
	"cd", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"};

/* Who needs the guards of a command: an allow that may meet it, or what denies all outside. */
static const struct node *guarded(struct import *im, size_t n, const char *command)
{
	struct glob g;

	if (!glob_new(&im->memory, &g, command, strlen(command), false, false) ||
		!glob_append(&im->memory, &g, GLOB_OPEN))
		return NULL;
	for (size_t k = 0; k < n; k++) {
		const struct source_rule *const r = &im->rules[k];

		if (r->fate != FATE_KEPT || r->verdict != IMPORT_ALLOW)
			continue;
		if ((!strcmp(r->tool, "Bash") || !strcmp(r->tool, "*")) &&
			(!r->glob.units || glob_may_meet(&r->glob, &g, &im->effort)))
			return r->at;
	}
	return NULL;
}

/* OpenCode resolves what these commands name, and asks or denies where it is outside. */
static int guard_commands(struct import *im, const struct node *denied)
{
	static const char *const forms[] = {"/*", "* /*", "*..*"};
	const size_t n = im->n_rules;

	for (size_t i = 0; i < sizeof(movers) / sizeof(movers[0]); i++) {
		const struct node *const at = denied ? denied : guarded(im, n, movers[i]);

		for (size_t k = 0; at && k < sizeof(forms) / sizeof(forms[0]); k++) {
			struct source_rule *const r = rule_new(im, IMPORT_ASK, at, "Bash");

			if (!r)
				return im->memory.failed ? -ENOMEM : -EINVAL;
			r->silent = r->guard = r->unknown = true;
			r->spec = memory_printf(&im->memory, "%s %s", movers[i], forms[k]);
		}
	}
	return im->memory.failed ? -ENOMEM : 0;
}

/* ---- what is denied ---- */

static int outside_rule(
	struct import *im, const struct opencode_entry *e, const char *tool, bool whole)
{
	struct source_rule *const r = rule_new(im, IMPORT_DENY, e->at, tool);

	if (!r)
		return im->memory.failed ? -ENOMEM : -EINVAL;
	r->silent = r->guard = true;
	if (whole) {
		r->out = IMPORT_ASK;
		r->unknown = true;
		return 0;
	}
	if (glob_new(&im->memory, &r->glob, e->pattern, strlen(e->pattern), true, true))
		return rule_path(im, r);
	r->unknown = true;
	rule_unsayable(im, r, "the pattern is too long");
	return im->memory.failed ? -ENOMEM : 0;
}

/* That all are denied can't be said without those inside: then all of such a tool asks. */
static int deny_all(const struct opencode *o, const struct opencode_entry *e)
{
	static const char *const kinds[] = {"@read", "@search", "@edit"};
	static const char *const keys[][4] = {
		{"read", "lsp"}, {"glob", "grep", "list"}, {"edit"}};
	const bool own = !strcmp(e->key, KEY);
	int err = 0;

	if (o->im->options->drop_rest) {
		import_say(o->im, IMPORT_REFUSED, e->at,
			"what is outside is left to the mode, as --drop-rest says");
		return 0;
	}
	import_say(o->im, IMPORT_NARROWED, e->at,
		"no rule is about all paths but those of the project: what has a path asks");
	for (size_t i = 0; i < 3 && !err; i++) {
		/* where all tools are denied only those matter that have a rule of their own */
		bool needed = own;

		for (size_t k = 0; k < o->n; k++)
			for (size_t m = 0; m < 4 && keys[i][m]; m++)
				needed |=
					o->list[k].verdict != IMPORT_DENY &&
					opencode_key_matches(o->im, o->list[k].key, keys[i][m]);
		if (needed)
			err = outside_rule(o->im, e, kinds[i], true);
	}
	return err;
}

static int deny_some(const struct opencode *o, const struct opencode_entry *e)
{
	int err = outside_rule(o->im, e, "Read", false);

	if (!err)
		err = outside_rule(o->im, e, "Edit", false);
	import_say(o->im, IMPORT_NARROWED, e->at,
		"it holds for what reads and edits, and for commands that name files");
	return err;
}

int opencode_guard(const struct opencode *o)
{
	const struct opencode_entry *const all = opencode_outside(o);
	const struct node *denied = NULL;
	int err = 0;

	for (size_t i = 0; i < o->n && !err; i++) {
		const struct opencode_entry *const e = &o->list[i];

		if (e->verdict != IMPORT_DENY || !strcmp(e->pattern, "*") ||
			strcmp(e->key, KEY) != 0)
			continue;
		denied = e->at;
		err = deny_some(o, e);
	}
	if (!err && all && all->verdict == IMPORT_DENY && !strcmp(all->pattern, "*")) {
		denied = all->at;
		err = deny_all(o, all);
	}
	if (!err && (!all || all->verdict != IMPORT_ALLOW || denied))
		err = guard_commands(o->im, denied);
	return err;
}
