/* SPDX-License-Identifier: MIT */
/* How the SPEC of a rule for commands is written. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"
#include "libapproval/limits.h"

/* ---- units as text ---- */

static void put_byte(struct text *out, unsigned c)
{
	text_printf(out, "\\{%02X}", c);
}

/*
 * What could be read otherwise in a SPEC, or shown otherwise than it is, is written as its
 * number. next is the unit behind it.
 */
static void put_unit(struct text *out, unsigned unit, unsigned next)
{
	const char c = (char)unit;

	if (unit == GLOB_STAR)
		text_add(out, "*");
	else if (unit == GLOB_OPEN)
		text_add(out, " *");
	else if (unit == '*')
		text_add(out, "\\*");
	else if (unit < ' ' || unit >= 0x7f || strchr("\\#", c) ||
		 (c == ':' && next == GLOB_STAR))
		put_byte(out, unit);
	else
		text_addn(out, &c, 1);
}

static const char *spec_units(struct import *im, const uint16_t *units, size_t n)
{
	struct text t = {0};

	for (size_t i = 0; i < n; i++)
		put_unit(&t, units[i], i + 1 < n ? units[i + 1] : 0);
	return memory_take(&im->memory, &t);
}

const char *spec_raw(struct import *im, const char *text, size_t len)
{
	struct text t = {0};

	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c >= 0x7f || c == '#')
			put_byte(&t, c);
		else
			text_addn(&t, text + i, 1);
	}
	return memory_take(&im->memory, &t);
}

bool tool_name_valid(const char *name)
{
	const size_t len = strlen(name);
	const char *const star = strchr(name, '*');

	if (len == 0 || len > LIMIT_NAME || name[0] == '@')
		return false;
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f ||
			strchr("()#\"'\\", *p))
			return false;
	if (!star || len == 1)
		return true;
	return star == name + len - 1 && !strncmp(name, "mcp__", 5);
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Labels of letters, digits and hyphens, none of them encoded; the last is no number. */
bool spec_host_valid(const char *host)
{
	const char *label = host;
	size_t n;

	if (strlen(host) > 253)
		return false;
	for (;; label += n + 1) {
		n = strcspn(label, ".");
		if (n == 0 || n > 63 || !is_alnum(label[0]) || !is_alnum(label[n - 1]) ||
			(n > 3 && !memcmp(label + 2, "--", 2)))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!is_alnum(label[i]) && label[i] != '-')
				return false;
		if (!label[n])
			return *label > '9';
	}
}

void rule_unsayable(struct import *im, struct source_rule *r, const char *why)
{
	r->spec = NULL;
	if (r->verdict == IMPORT_ALLOW) {
		r->fate = FATE_LEFT;
		import_say(im, IMPORT_REFUSED, r->at, "%s", why);
		return;
	}
	r->out = IMPORT_ASK;
	if (!strcmp(r->tool, "*"))
		import_say(im, IMPORT_NARROWED, r->at, "%s: all tools ask", why);
	else
		import_say(im, IMPORT_NARROWED, r->at, "%s: all of %s asks", why, r->tool);
}

/* ---- what a pattern holds, as a shell reads it ---- */

enum seen {
	SEEN_OPERATOR = 1, /* of a list or pipeline */
	SEEN_DYNAMIC = 2,  /* an expansion, a redirection, a group */
	SEEN_BROKEN = 4,
	SEEN_QUOTED_STAR = 8,
	SEEN_BLANKS = 16, /* more than one between words */
	SEEN_BACKSLASH = 32,
	SEEN_COMMENT = 64,
	SEEN_ASSIGN = 128, /* the first word has a = */
	SEEN_USER = 256,   /* ~name */
	SEEN_GLOB = 512,
	SEEN_ONE = 1024,
	SEEN_CONTROL = 2048,
	SEEN_NESTED = 4096, /* commands within it, or a file that is written or read */
};

static const struct {
	unsigned seen;
	const char *why;
} reasons[] = {
	{SEEN_BROKEN, "a quotation mark is not closed"},
	{SEEN_OPERATOR, "each command of a list is judged by itself, so this never matches"},
	{SEEN_CONTROL, "a control character in a command"},
	{SEEN_NESTED, "what is within it, or a file of a redirection, is judged apart"},
	{SEEN_BLANKS, "blanks that the words of a command don't have"},
	{SEEN_QUOTED_STAR, "a wildcard within quotes can't be held within one word"},
	{SEEN_ONE, "there is no wildcard for one character of a command"},
	{SEEN_DYNAMIC, "a pattern can't hold an expansion, a redirection or a group"},
	{SEEN_BACKSLASH, "a pattern can't hold a backslash"},
	{SEEN_COMMENT, "a pattern can't hold a comment"},
	{SEEN_ASSIGN, "a pattern can't hold an assignment"},
	{SEEN_USER, "a pattern can't hold the home folder of another user"},
	{SEEN_GLOB, "a pattern can't hold a wildcard of the shell"},
};

static const char *reason(unsigned seen)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (seen & reasons[i].seen)
			return reasons[i].why;
	return NULL;
}

struct look {
	unsigned seen;
	unsigned quote;
	bool in_word, first; /* first: of the words */
};

static unsigned unit_at(const struct glob *g, size_t i)
{
	return i < g->n ? g->units[i] : 0;
}

static void look_quoted(struct look *l, unsigned unit, unsigned next)
{
	if (unit > 255)
		l->seen |= SEEN_QUOTED_STAR;
	else if (unit == l->quote)
		l->quote = 0;
	else if (l->quote == '"' && (unit == '`' || (unit == '$' && next == '(')))
		l->seen |= SEEN_DYNAMIC | SEEN_NESTED;
	else if (l->quote == '"' && unit == '$')
		l->seen |= SEEN_DYNAMIC;
	else if (unit == '\\')
		l->seen |= SEEN_BACKSLASH;
}

static void look_plain(struct look *l, unsigned unit, unsigned next)
{
	switch (unit) {
	case GLOB_STAR:
	case GLOB_OPEN: break;
	case GLOB_ONE: l->seen |= SEEN_ONE; break;
	case '"':
	case '\'': l->quote = unit; break;
	case '\n':
	case ';':
	case '&':
	case '|': l->seen |= SEEN_OPERATOR; break;
	case '`':
	case '<':
	case '>':
	case '(':
	case ')': l->seen |= SEEN_DYNAMIC | SEEN_NESTED; break;
	case '$':
	case '{':
	case '}': l->seen |= SEEN_DYNAMIC; break;
	case '\\': l->seen |= SEEN_BACKSLASH; break;
	case '[':
	case '?': l->seen |= SEEN_GLOB; break;
	case '#':
		if (!l->in_word)
			l->seen |= SEEN_COMMENT;
		break;
	case '~':
		if (!l->in_word && next && next != '/' && next != ' ' && next != GLOB_OPEN)
			l->seen |= SEEN_USER;
		break;
	case '=':
		if (l->first)
			l->seen |= SEEN_ASSIGN;
		break;
	default: break;
	}
}

static unsigned look(const struct glob *g)
{
	struct look l = {.first = true};

	for (size_t i = 0; i < g->n; i++) {
		const unsigned unit = g->units[i];

		if (unit < ' ' && unit != '\n')
			l.seen |= SEEN_CONTROL;
		if (l.quote) {
			look_quoted(&l, unit, unit_at(g, i + 1));
			continue;
		}
		if (unit == GLOB_OPEN && !l.in_word)
			l.seen |= SEEN_BLANKS;
		if (unit == ' ') {
			if (!l.in_word || i + 1 == g->n)
				l.seen |= SEEN_BLANKS;
			l.in_word = l.first = false;
			continue;
		}
		look_plain(&l, unit, unit_at(g, i + 1));
		l.in_word = true;
	}
	if (l.quote)
		l.seen |= SEEN_BROKEN;
	return l.seen;
}

/* The first word is one that the grammar of the shell keeps. */
static bool is_reserved(const struct glob *g)
{
	static const char *const words[] = {"!", "[[", "]]", "case", "coproc", "do", "done",
		"elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
		"time", "until", "while", "{", "}", NULL};

	for (const char *const *w = words; *w; w++) {
		const size_t n = strlen(*w);
		size_t i = 0;

		while (i < n && unit_at(g, i) == (unsigned char)(*w)[i])
			i++;
		if (i == n && (n == g->n || unit_at(g, n) == ' ' || unit_at(g, n) == GLOB_OPEN))
			return true;
	}
	return false;
}

/* ---- commands ---- */

static int allow_command(struct import *im, struct source_rule *r)
{
	const struct glob *const g = &r->glob;
	unsigned seen = look(g);
	const char *why;

	/* a text without a wildcard is compared whole */
	if (glob_exact(g))
		seen &= SEEN_BROKEN | SEEN_OPERATOR | SEEN_CONTROL | SEEN_BLANKS | SEEN_NESTED;
	why = reason(seen);
	if (!why && g->n > 1 && g->units[g->n - 1] == GLOB_STAR && g->units[g->n - 2] == ' ')
		why = "ours would allow the command without anything behind it, too";
	if (why) {
		rule_unsayable(im, r, why);
		return 0;
	}
	r->spec = spec_units(im, g->units, g->n);
	return r->spec ? 0 : -ENOMEM;
}

/* What stands for itself wherever it is in a pattern that tightens. */
static bool is_plain(unsigned unit)
{
	return unit == GLOB_STAR || unit == GLOB_OPEN || unit == ' ' || unit >= 0x80 ||
	       (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z') ||
	       (unit >= '0' && unit <= '9') || (unit && strchr("-_./:,@%+=^[]", (char)unit));
}

static bool stars_only(const uint16_t *units, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (units[i] < 256 && units[i] != ' ')
			return false;
	return true;
}

/* The same pattern with a star in the place of what can't be said. */
static int widen_command(struct import *im, struct source_rule *r, const char *why)
{
	const struct glob *const g = &r->glob;
	uint16_t *const units = memory_get(&im->memory, (g->n + 1) * sizeof(*units));
	size_t n = 0;

	if (!units)
		return -ENOMEM;
	for (size_t i = 0; i < g->n; i++) {
		const unsigned unit = is_plain(g->units[i]) && g->units[i] != GLOB_ONE
					      ? g->units[i]
					      : GLOB_STAR;

		if (unit == GLOB_STAR && n > 0 && units[n - 1] == GLOB_STAR)
			continue;
		units[n++] = (uint16_t)unit;
	}
	if (stars_only(units, n)) {
		rule_unsayable(im, r, why);
		return 0;
	}
	r->spec = spec_units(im, units, n);
	r->out = IMPORT_ASK;
	if (r->spec)
		import_say(
			im, IMPORT_NARROWED, r->at, "%s: %s(%s) asks", why, r->tool, r->spec);
	return r->spec ? 0 : -ENOMEM;
}

static int tighten_command(struct import *im, struct source_rule *r)
{
	const struct glob *const g = &r->glob;
	/* such a bracket is but a character here */
	const unsigned seen = look(g) & ~(unsigned)(SEEN_GLOB | SEEN_BLANKS);

	if (seen & SEEN_ASSIGN || is_reserved(g) || g->units[0] == ' ') {
		rule_unsayable(im, r, "a pattern can't begin so");
		return 0;
	}
	if (seen)
		return widen_command(im, r, reason(seen));
	r->spec = spec_units(im, g->units, g->n);
	return r->spec ? 0 : -ENOMEM;
}

int rule_command(struct import *im, struct source_rule *r)
{
	if (r->glob.n == 0 || glob_any(&r->glob))
		return 0;
	return r->verdict == IMPORT_ALLOW ? allow_command(im, r) : tighten_command(im, r);
}

/* ---- words ---- */

static bool word_is_plain(const char *word)
{
	if (!*word)
		return false;
	for (const char *p = word; *p; p++)
		if (!strchr("-_./:,@%+=", *p) && !is_alnum(*p) &&
			!(*p == '~' && p == word && (!p[1] || p[1] == '/')))
			return false;
	return true;
}

static void put_word(struct text *out, const char *word)
{
	if (word_is_plain(word)) {
		text_add(out, word);
		return;
	}
	text_add(out, "'");
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			text_add(out, "'\\''");
		else
			put_unit(out, (unsigned char)*p, 0);
	}
	text_add(out, "'");
}

int rule_words(
	struct import *im, struct source_rule *r, const char *const *words, size_t n, bool open)
{
	struct text plain = {0}, spec = {0};
	const char *joined;

	for (size_t i = 0; i < n; i++) {
		if (i > 0) {
			text_add(&plain, " ");
			text_add(&spec, " ");
		}
		/* where words are compared, one with a blank in it is not two */
		for (const char *p = words[i]; *p; p++)
			text_addn(&plain, *p == ' ' ? "\1" : p, 1);
		put_word(&spec, words[i]);
	}
	if (open)
		text_add(&spec, " *");
	joined = memory_take(&im->memory, &plain);
	r->spec = memory_take(&im->memory, &spec);
	if (!joined || !r->spec)
		return -ENOMEM;
	if (!glob_new(&im->memory, &r->glob, joined, strlen(joined), false, false)) {
		rule_unsayable(im, r, "the pattern is too long");
		r->unknown = true;
		return im->memory.failed ? -ENOMEM : 0;
	}
	if (open && !glob_append(&im->memory, &r->glob, GLOB_OPEN))
		return -ENOMEM;
	if (strchr(words[0], '=') || is_reserved(&r->glob) || !*words[0])
		rule_unsayable(im, r, "a pattern can't begin so");
	return 0;
}
