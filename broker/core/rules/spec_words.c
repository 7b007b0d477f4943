/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/spec_words.h"

#include "broker/core/rules/command_pattern.h"
#include "broker/core/rules/spec.h"

/* One unit of look-ahead over the SPEC. */
struct reader {
	struct bytes spec;
	size_t at, unit_at; /* behind the unit, at its start */
	enum spec_unit unit;
	char c;
	bool globs;
	struct spec_words *out;
	char *to;    /* where the next byte goes */
	char *start; /* of the word */
	bool open;   /* within a word */
	bool wild, marked;
};

static void advance(struct reader *r)
{
	r->unit_at = r->at;
	r->c = 0;
	r->unit = spec_next(r->spec, &r->at, &r->c);
}

/* Whether the unit is this very character, not a star that was escaped. */
static bool is(const struct reader *r, char c)
{
	return (r->unit == SPEC_CHAR || r->unit == SPEC_BYTE) && r->c == c;
}

static bool is_one(const struct reader *r, const char *set)
{
	return (r->unit == SPEC_CHAR || r->unit == SPEC_BYTE) && r->c && strchr(set, r->c);
}

static void begin_word(struct reader *r)
{
	if (r->open)
		return;
	r->open = true;
	r->start = r->to;
	r->wild = r->marked = false;
}

static void put_mark(struct reader *r, char c)
{
	begin_word(r);
	r->marked = true;
	*r->to++ = COMMAND_MARK;
	*r->to++ = c;
}

static void put(struct reader *r, char c)
{
	begin_word(r);
	if (c == COMMAND_MARK)
		put_mark(r, c);
	else
		*r->to++ = c;
}

static void end_word(struct reader *r)
{
	struct spec_word *w;

	if (!r->open)
		return;
	w = &r->out->words[r->out->n++];
	*w = (struct spec_word){
		.text = {r->start, (size_t)(r->to - r->start)},
		.marked = r->marked,
		.wild = r->wild,
		.lone = r->wild && r->to - r->start == 2,
	};
	r->open = false;
}

/* The unit as it stands; wildcards keep their meaning in quotes. */
static void put_unit(struct reader *r, bool quoted)
{
	if (r->unit == SPEC_WILD) {
		/* ** is * */
		if (r->open && r->wild && r->to - r->start >= 2 && r->to[-2] == COMMAND_MARK &&
			r->to[-1] == SPEC_MARK_WILD)
			return;
		put_mark(r, SPEC_MARK_WILD);
		r->wild = true;
	} else if (!quoted && r->globs && strchr("*?[", r->c)) {
		put_mark(r, r->c);
	} else {
		put(r, r->c);
	}
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static char peek(const struct reader *r, size_t ahead)
{
	return r->at + ahead < r->spec.len ? ((const char *)r->spec.data)[r->at + ahead] : 0;
}

static bool follows(const struct reader *r, const char *text)
{
	const size_t n = strlen(text);

	return r->spec.len - r->at >= n &&
	       memcmp((const char *)r->spec.data + r->at, text, n) == 0;
}

/* At a `$`: false where it begins an expansion that is not known. */
static bool dollar(struct reader *r, bool quoted)
{
	const bool first = !r->open || r->to == r->start;
	const char next = peek(r, 0);
	size_t n = 0;

	if (follows(r, "HOME") && !name_char(peek(r, 4)))
		n = 4;
	else if (follows(r, "{HOME}"))
		n = 6;
	if (n > 0) {
		const char behind = peek(r, n);

		if (!first || (behind && !strchr("/ \t\"", behind)))
			return false;
		put_mark(r, SPEC_MARK_HOME);
		r->out->homed = true;
		r->at += n;
		return true;
	}
	if (name_char(next) || (next && strchr("{([@*#?$!-\\", next)) ||
		(!quoted && next && strchr("'\"", next)))
		return false;
	put(r, '$');
	return true;
}

/* Within quotes, up to the closing one; -1: it never comes, 0: not simple, 1. */
static int quoted(struct reader *r)
{
	const char quote = r->c;

	begin_word(r);
	for (;;) {
		advance(r);
		if (r->unit == SPEC_END)
			return -1;
		if (is(r, quote))
			return 1;
		if (quote == '\'') {
			put_unit(r, true);
		} else if (is(r, '\\')) {
			advance(r);
			if (r->unit == SPEC_END)
				return -1;
			if (is(r, '\n'))
				continue;
			if (!is_one(r, "$`\"\\"))
				put(r, '\\');
			put_unit(r, true);
		} else if (is(r, '$')) {
			if (!dollar(r, true))
				return 0;
		} else if (is(r, '`')) {
			return 0;
		} else {
			put_unit(r, true);
		}
	}
}

/* {a,b} and {1..3}, which a shell expands */
static bool braces(const struct reader *r)
{
	const char *const p = r->spec.data;
	bool parts = false;

	for (size_t i = r->at; i < r->spec.len && p[i] != ' ' && p[i] != '\t'; i++) {
		if (p[i] == '}' && parts)
			return true;
		parts |= p[i] == ',' || (p[i] == '.' && p[i - 1] == '.');
	}
	return false;
}

static bool tilde(struct reader *r)
{
	const char next = peek(r, 0);

	if (next && !strchr("/ \t", next))
		return false;
	put_mark(r, SPEC_MARK_HOME);
	r->out->homed = true;
	return true;
}

/* One unit outside of quotes; as quoted(). */
static int plain(struct reader *r)
{
	if (is_one(r, " \t")) {
		end_word(r);
		return 1;
	}
	if (is_one(r, "'\""))
		return quoted(r);
	if (is_one(r, ";&|<>()\n`"))
		return 0;
	if (is(r, '\\')) {
		advance(r);
		if (r->unit == SPEC_END)
			return 0;
		if (!is(r, '\n'))
			put_unit(r, true);
		return 1;
	}
	if (is(r, '$'))
		return dollar(r, false);
	if ((is(r, '#') && !r->open) || (is(r, '{') && braces(r)))
		return 0;
	if (is(r, '~') && !r->open)
		return tilde(r);
	put_unit(r, false);
	return 1;
}

/* NAME= or NAME[…]= or NAME+= at the start of a command. */
static bool is_assignment(struct bytes word)
{
	const char *const p = word.data;
	size_t n = 0;

	while (n < word.len && name_char(p[n]))
		n++;
	if (n == 0 || n == word.len || (p[0] >= '0' && p[0] <= '9'))
		return false;
	return p[n] == '=' || p[n] == '[' ||
	       (p[n] == '+' && n + 1 < word.len && p[n + 1] == '=');
}

bool spec_split(struct bytes spec, bool globs, struct spec_words *out, char *buf, size_t *at)
{
	struct reader r = {.spec = spec, .globs = globs, .out = out, .to = buf, .start = buf};

	out->n = 0;
	out->homed = false;
	out->simple = true;
	for (;;) {
		int how;

		advance(&r);
		*at = r.unit_at;
		if (r.unit == SPEC_END)
			break;
		how = plain(&r);
		if (how < 0)
			return false;
		if (how == 0) {
			out->simple = false;
			return true;
		}
	}
	end_word(&r);
	if (out->n == 0 || is_assignment(out->words[0].text) ||
		shell_is_reserved(out->words[0].text))
		out->simple = false;
	return true;
}
