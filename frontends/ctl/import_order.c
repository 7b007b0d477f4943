/* SPDX-License-Identifier: MIT */
/*
 * The order of a source brought into ours. In the source the first rule of the list that
 * matches decides; here deny beats ask beats allow. Of each rule it has to hold:
 *
 *	an allow stands only if every stricter rule before it that may meet it stands, too;
 *	a deny becomes an ask where there is an exception of it, a less strict rule before it
 *	that it covers, for a person to tell them apart;
 *	an ask for all of a tool gives way to an exception where a mode asks by itself, unless
 *	an allow behind it may meet it;
 *	an allow that what stays covers is left out, and otherwise narrowed by it.
 *
 * Nothing of this needs to know a pattern whole: where it is not sure whether two rules
 * meet, they do.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"
#include "libapproval/limits.h"

static bool all_tools(const struct source_rule *r)
{
	return !strcmp(r->tool, "*");
}

static bool whole(const struct source_rule *r)
{
	return !r->unknown && (!r->glob.units || glob_any(&r->glob));
}

/* "@edit" of an edit tool; of what is not known "@other". */
static const char *kind_of(const struct import *im, const char *tool)
{
	static const struct known_tool ours[] = {{"@execute", "Bash"}, {"@read", "Read"},
		{"@edit", "Edit"}, {"@fetch", "WebFetch"}, {NULL, NULL}};

	if (*tool == '@')
		return tool;
	for (const struct known_tool *k = im->known; k && k->kind; k++)
		if (!strcmp(k->tool, tool))
			return k->kind;
	for (const struct known_tool *k = ours; k->kind; k++)
		if (!strcmp(k->tool, tool))
			return k->kind;
	return "@other";
}

static bool tool_covers(
	const struct import *im, const struct source_rule *a, const struct source_rule *b)
{
	const size_t n = strlen(a->tool);

	if (all_tools(a) || !strcmp(a->tool, b->tool))
		return true;
	if (*a->tool == '@' && !all_tools(b))
		return !strcmp(a->tool, kind_of(im, b->tool));
	/* mcp__server stands for mcp__server__* */
	if (!strncmp(a->tool, "mcp__", 5) && !strstr(a->tool + 5, "__") &&
		a->tool[n - 1] != '*')
		return !strncmp(a->tool, b->tool, n) && !strncmp(b->tool + n, "__", 2);
	return n > 1 && a->tool[n - 1] == '*' && strncmp(a->tool, b->tool, n - 1) == 0;
}

static bool may_meet(
	struct import *im, const struct source_rule *a, const struct source_rule *b)
{
	if (!tool_covers(im, a, b) && !tool_covers(im, b, a))
		return false;
	if (a->unknown || b->unknown || whole(a) || whole(b) || strcmp(a->tool, b->tool) != 0)
		return true;
	return glob_may_meet(&a->glob, &b->glob, &im->effort);
}

/* Whether all that b matches is matched by a, too. */
static bool covers(struct import *im, const struct source_rule *a, const struct source_rule *b)
{
	if (a->unknown || a->sometimes || !tool_covers(im, a, b))
		return false;
	if (whole(a))
		return true;
	return !b->unknown && !whole(b) && glob_covers(&a->glob, &b->glob, &im->effort);
}

/* ---- rules about all tools ---- */

static bool excepted(const struct import *im, const struct source_rule *r, const char *tool)
{
	for (const struct source_rule *e = im->rules; e < r; e++)
		if (e->fate == FATE_KEPT && e->verdict < r->verdict && !all_tools(e) &&
			(!tool || !strcmp(e->tool, tool)))
			return true;
	return false;
}

/* Whether an exception is about a tool of this kind. */
static bool kind_excepted(
	const struct import *im, const struct source_rule *r, const char *kind)
{
	for (const struct source_rule *e = im->rules; e < r; e++)
		if (e->fate == FATE_KEPT && e->verdict < r->verdict && !all_tools(e) &&
			!strcmp(kind_of(im, e->tool), kind))
			return true;
	return false;
}

static const char *const kinds[] = {"@read", "@edit", "@delete", "@move", "@search", "@execute",
	"@fetch", "@think", "@other"};

#define KINDS	  (sizeof(kinds) / sizeof(kinds[0]))
#define PARTS_MAX 64u

/*
 * The rule for each kind, or where there is an exception among its tools for each of those
 * that are known. Those that are not are of the kind other.
 */
static size_t parts_of(
	const struct import *im, const struct source_rule *r, struct source_rule *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i], "@other") != 0 && kind_excepted(im, r, kinds[i])) {
			for (const struct known_tool *k = im->known; k->kind; k++) {
				if (strcmp(k->kind, kinds[i]) != 0 || n == PARTS_MAX)
					continue;
				parts[n] = *r;
				parts[n].silent = true;
				parts[n++].tool = k->tool;
			}
		} else if (n < PARTS_MAX) {
			parts[n] = *r;
			parts[n].silent = true;
			parts[n++].tool = kinds[i];
		}
	}
	return n;
}

static int expand_one(struct import *im, const struct source_rule *r)
{
	const size_t at = (size_t)(r - im->rules);
	struct source_rule parts[PARTS_MAX];
	const size_t n = parts_of(im, r, parts);

	if (im->n_rules + n > LIMIT_IMPORT_RULES)
		return import_bad(im, r->at, "there are too many rules");
	memmove(im->rules + at + n, im->rules + at + 1,
		(im->n_rules - at - 1) * sizeof(*im->rules));
	memcpy(im->rules + at, parts, n * sizeof(*parts));
	im->n_rules += n - 1;
	return 0;
}

/* What is not to be overruled for some tools has to be said for each of the others. */
static int expand(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		const struct source_rule *const r = &im->rules[i];
		int err;

		if (r->fate != FATE_KEPT || r->verdict == IMPORT_ALLOW || !all_tools(r) ||
			!whole(r) || !excepted(im, r, NULL) || !im->known)
			continue;
		import_say(im, IMPORT_NOTED, r->at,
			"it is written out for each kind of tool, as there are exceptions of "
			"it");
		err = expand_one(im, r);
		if (err)
			return err;
	}
	return 0;
}

/* ---- fates ---- */

static bool stands(const struct source_rule *r)
{
	return r->fate == FATE_KEPT;
}

static void leave(struct import *im, struct source_rule *r, const struct source_rule *by,
	enum fate fate, const char *why)
{
	r->fate = fate;
	if (r->silent)
		return;
	import_say(im, IMPORT_REFUSED, r->at, "%s: line %u %s all of it", why, by->at->line,
		by->out == IMPORT_DENY	? "denies"
		: by->out == IMPORT_ASK ? "asks for"
					: "allows");
}

/* What a rule before it takes from it as a whole never decides anything. */
static void bury(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		struct source_rule *const r = &im->rules[i];

		for (size_t k = 0; k < i && stands(r) && !r->guard; k++) {
			const struct source_rule *const b = &im->rules[k];

			if (!b->guard && b->verdict != r->verdict && covers(im, b, r))
				leave(im, r, b, FATE_BURIED, "it never decides");
		}
	}
}

/*
 * The exception of r, if any: a less strict rule before it. One that has no effect of its
 * own does not weaken another rule, but where it shows that not all is meant to be denied.
 */
static const struct source_rule *exception(struct import *im, const struct source_rule *r)
{
	for (const struct source_rule *e = im->rules; e < r; e++) {
		const bool left = e->fate == FATE_LEFT && r->verdict == IMPORT_DENY &&
				  (!e->unknown || whole(r));

		if (e->verdict < r->verdict && (stands(e) || left) && !e->guard &&
			(covers(im, r, e) || (whole(r) && may_meet(im, e, r))))
			return e;
	}
	return NULL;
}

static bool allow_behind(struct import *im, const struct source_rule *r)
{
	for (const struct source_rule *e = r + 1; e < im->rules + im->n_rules; e++)
		if (stands(e) && e->verdict == IMPORT_ALLOW && may_meet(im, r, e))
			return true;
	return false;
}

/* What the mode normal lets pass without a question, so that an ask has to be said. */
static bool mode_allows(const struct import *im, const struct source_rule *r)
{
	static const char *const passes[] = {"@read", "@search", "@think"};

	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		if (!strcmp(kind_of(im, r->tool), passes[i]))
			return true;
	return all_tools(r);
}

static void weigh_ask(struct import *im, struct source_rule *r, const struct source_rule *e)
{
	if (!whole(r) || mode_allows(im, r) || allow_behind(im, r))
		return;
	r->fate = FATE_LEFT;
	if (!r->silent)
		import_say(im, IMPORT_REFUSED, r->at,
			"line %u is an exception of it: the rest of %s is left to the mode, "
			"which asks, too, but for commands that only read, and in yolo",
			e->at->line, r->tool);
}

static void weigh_deny(struct import *im, struct source_rule *r, const struct source_rule *e)
{
	if (im->options->drop_rest && whole(r) && !allow_behind(im, r)) {
		r->fate = FATE_LEFT;
		if (!r->silent)
			import_say(im, IMPORT_REFUSED, r->at,
				"the rest of %s is left to the mode, as --drop-rest says",
				r->tool);
		return;
	}
	r->out = IMPORT_ASK;
	if (!r->silent)
		import_say(im, IMPORT_NARROWED, r->at,
			"it asks instead of denying: line %u is an exception of it",
			e->at->line);
}

static void weigh(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		struct source_rule *const r = &im->rules[i];
		const struct source_rule *e;

		if (!stands(r) || r->guard || r->verdict == IMPORT_ALLOW)
			continue;
		e = exception(im, r);
		if (e && r->verdict == IMPORT_ASK)
			weigh_ask(im, r, e);
		else if (e)
			weigh_deny(im, r, e);
	}
}

/* What stays as an ask or deny takes from an allow before it, and all if it is wider. */
static void narrow(struct import *im)
{
	for (size_t i = 0; i < im->n_rules; i++) {
		struct source_rule *const r = &im->rules[i];
		const struct source_rule *met = NULL;

		if (r->verdict != IMPORT_ALLOW)
			continue;
		for (size_t k = 0; k < im->n_rules && stands(r); k++) {
			const struct source_rule *const b = &im->rules[k];

			if (!stands(b) || (b->guard && b->spec) || b->out == IMPORT_ALLOW)
				continue;
			if (!b->spec && tool_covers(im, b, r))
				leave(im, r, b, FATE_LEFT, "it would have no effect");
			else if (k < i)
				continue;
			else if (covers(im, b, r))
				leave(im, r, b, FATE_LEFT, "it would have no effect");
			else if (!met && may_meet(im, b, r))
				met = b;
		}
		if (stands(r) && met && !r->silent)
			import_say(im, IMPORT_NARROWED, r->at, "line %u still %s some of it",
				met->at->line, met->out == IMPORT_DENY ? "denies" : "asks for");
	}
}

/* ---- lines ---- */

static int by_place(const void *a, const void *b)
{
	const struct import_line *const x = a, *const y = b;

	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	if (x->place.column != y->place.column)
		return x->place.column < y->place.column ? -1 : 1;
	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int warning_by_place(const void *a, const void *b)
{
	const struct import_warning *const x = a, *const y = b;

	if (x->place.line != y->place.line)
		return x->place.line < y->place.line ? -1 : 1;
	if (x->place.column != y->place.column)
		return x->place.column < y->place.column ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void add_line(struct import *im, const struct source_rule *r,
	enum import_verdict verdict, const char *spec)
{
	const char *const name = import_verdict_name(verdict);
	struct import_line *const l = &im->lines[im->n_lines];

	l->verdict = verdict;
	l->text = spec ? memory_printf(&im->memory, "%s %s(%s)", name, r->tool, spec)
		       : memory_printf(&im->memory, "%s %s", name, r->tool);
	l->place = (struct import_place){
		r->at->line, r->at->column, node_path(&im->memory, r->at)};
	im->n_lines += l->text != NULL;
}

/* Of the same at the same place one is enough. */
static void sort_warnings(struct import *im)
{
	size_t n = 0;

	if (im->n_warnings)
		qsort(im->warnings, im->n_warnings, sizeof(*im->warnings), warning_by_place);
	for (size_t i = 0; i < im->n_warnings; i++)
		if (n == 0 || warning_by_place(&im->warnings[n - 1], &im->warnings[i]) != 0)
			im->warnings[n++] = im->warnings[i];
	im->n_warnings = n;
}

static int write_lines(struct import *im)
{
	size_t n = 0;

	im->lines = memory_get(&im->memory, (2 * im->n_rules + 1) * sizeof(*im->lines));
	if (!im->lines)
		return -ENOMEM;
	for (const struct source_rule *r = im->rules; r < im->rules + im->n_rules; r++) {
		if (!stands(r))
			continue;
		add_line(im, r, r->out, r->spec);
		if (r->also)
			add_line(im, r, IMPORT_ASK, r->also);
	}
	if (im->memory.failed)
		return -ENOMEM;
	qsort(im->lines, im->n_lines, sizeof(*im->lines), by_place);
	for (size_t i = 0; i < im->n_lines; i++)
		if (n == 0 || strcmp(im->lines[n - 1].text, im->lines[i].text) != 0)
			im->lines[n++] = im->lines[i];
	im->n_lines = n;
	sort_warnings(im);
	return 0;
}

int import_compile(struct import *im, const struct known_tool *known)
{
	int err;

	im->known = known;
	err = expand(im);
	if (err)
		return err;
	bury(im);
	weigh(im);
	narrow(im);
	return write_lines(im);
}
