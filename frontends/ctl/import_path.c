/* SPDX-License-Identifier: MIT */
/*
 * Paths of sources whose stars run over slashes, in our manner, which is gitignore's: there
 * a star stays within a component, `**` is any number of components, and what matches a
 * folder matches all below it.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"

struct path {
	struct import *im;
	const struct glob *glob;
	size_t at;
	struct text out;
	bool wider;
};

static unsigned unit_at(const struct glob *g, size_t i)
{
	return i < g->n ? g->units[i] : 0;
}

static void put_char(struct text *out, unsigned unit)
{
	const char c = (char)unit;

	if (unit < ' ' || unit >= 0x7f || strchr("*?[]\\!#~ ", c))
		text_printf(out, "\\{%02X}", unit);
	else
		text_addn(out, &c, 1);
}

static size_t literal(const struct glob *g, const char *text)
{
	const size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (unit_at(g, i) != (unsigned char)text[i])
			return 0;
	return n;
}

/* Where the home folder ends that the pattern begins with; 0: it doesn't. */
static size_t home(const struct glob *g)
{
	static const char *const names[] = {"~", "$HOME"};

	for (size_t i = 0; i < 2; i++) {
		const size_t n = literal(g, names[i]);

		if (n > 0 && (n == g->n || unit_at(g, n) == '/'))
			return n;
	}
	return 0;
}

static size_t component_end(const struct glob *g, size_t i)
{
	while (i < g->n && g->units[i] != '/')
		i++;
	return i;
}

/* Empty, `.` or `..`: what a path that is compared doesn't have, or we can't say. */
static bool odd_component(const struct glob *g, size_t i, size_t end)
{
	if (end - i > 2)
		return false;
	for (; i < end; i++)
		if (g->units[i] != '.')
			return false;
	return true;
}

static bool has_odd(const struct glob *g, size_t from)
{
	for (size_t i = from; i <= g->n; i++) {
		const size_t end = component_end(g, i);

		if (odd_component(g, i, end) && !(i == 0 && end == 0 && from == 0))
			return true;
		i = end;
	}
	return false;
}

/* ---- what allows: never more than the source's star would take ---- */

static void allow_component(struct path *p, size_t end)
{
	const struct glob *const g = p->glob;
	const bool alone = end == p->at + 1, last = end == g->n;

	if (alone && g->units[p->at] == GLOB_STAR) {
		text_add(&p->out, last ? "**" : "*/**");
		return;
	}
	if (g->units[p->at] == GLOB_STAR)
		text_add(&p->out, "**/");
	for (size_t i = p->at; i < end; i++) {
		if (g->units[i] == GLOB_STAR)
			text_add(&p->out, "*");
		else if (g->units[i] == GLOB_ONE)
			text_add(&p->out, "?");
		else
			put_char(&p->out, g->units[i]);
	}
}

static int allow_path(struct import *im, struct source_rule *r)
{
	struct path p = {.im = im, .glob = &r->glob};
	const struct glob *const g = &r->glob;

	if (unit_at(g, 0) == '/' || home(g) || has_odd(g, 0) ||
		unit_at(g, g->n - 1) == GLOB_OPEN) {
		rule_unsayable(im, r,
			"the source compares paths below the project, without .. in them");
		return 0;
	}
	text_add(&p.out, "/");
	for (; p.at < g->n; p.at++) {
		const size_t end = component_end(g, p.at);

		if (p.at > 0)
			text_add(&p.out, "/");
		allow_component(&p, end);
		p.at = end;
	}
	r->spec = memory_take(&im->memory, &p.out);
	if (r->spec && g->units[g->n - 1] != GLOB_STAR)
		r->also = memory_printf(&im->memory, "%s/*", r->spec);
	return im->memory.failed ? -ENOMEM : 0;
}

/* ---- what tightens: never less ---- */

/* false: the rest is cut off, as a star took its place. */
static bool tighten_component(struct path *p, size_t end)
{
	const struct glob *const g = p->glob;

	if (end == p->at + 1 && g->units[p->at] == GLOB_STAR) {
		text_add(&p->out, "**");
		return true;
	}
	if (g->units[p->at] == GLOB_STAR)
		text_add(&p->out, "**/");
	for (size_t i = p->at; i < end; i++) {
		const unsigned unit = g->units[i];

		if (unit < 256) {
			put_char(&p->out, unit);
			continue;
		}
		text_add(&p->out, "*");
		if (unit == GLOB_STAR && i == p->at)
			continue;
		if (unit != GLOB_STAR || i + 1 < g->n)
			p->wider = true;
		return false;
	}
	return true;
}

static int tighten_path(struct import *im, struct source_rule *r)
{
	struct path p = {.im = im, .glob = &r->glob};
	const struct glob *const g = &r->glob;
	size_t start = home(g);

	if (start > 0) {
		text_add(&p.out, start == g->n ? "~" : "~/");
		start = start < g->n ? start + 1 : start;
	} else if (unit_at(g, 0) == '/') {
		text_add(&p.out, "//");
		start = 1;
	} else {
		/* a star at the start is not held within the project */
		text_add(&p.out, unit_at(g, 0) == GLOB_STAR ? "//" : "/");
	}
	if (start < g->n && has_odd(g, start)) {
		text_free(&p.out);
		rule_unsayable(im, r, "a pattern can't hold such a path");
		return 0;
	}
	for (p.at = start; p.at < g->n; p.at++) {
		const size_t end = component_end(g, p.at);

		if (p.at > start)
			text_add(&p.out, "/");
		if (!tighten_component(&p, end))
			break;
		p.at = end;
	}
	r->spec = memory_take(&im->memory, &p.out);
	if (r->spec && p.wider) {
		r->out = IMPORT_ASK;
		import_say(im, IMPORT_NARROWED, r->at,
			"a star or ? over slashes can't be said: %s(%s) asks", r->tool,
			r->spec);
	}
	return r->spec ? 0 : -ENOMEM;
}

int rule_path(struct import *im, struct source_rule *r)
{
	if (r->glob.n == 0 || glob_any(&r->glob))
		return 0;
	return r->verdict == IMPORT_ALLOW ? allow_path(im, r) : tighten_path(im, r);
}
