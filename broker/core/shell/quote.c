/* SPDX-License-Identifier: MIT */
/* Quotes: '…', "…" and $'…'. */
#include "broker/core/shell/reader.h"

bool quote_single(struct reader *r, struct word_state *w)
{
	const char *const p = r->in.p + 1;
	const char *const end = memchr(p, '\'', (size_t)(r->in.end - p));

	if (!end)
		return unread(r, "a quote without its end");
	put_quoted(r, w, p, (size_t)(end - p));
	w->flags |= SHELL_QUOTED;
	r->in.p = end + 1;
	return true;
}

bool quote_special(struct reader *r, struct word_state *w)
{
	const int next = peek_at(r, 1);

	switch (peek(r)) {
	case '$': return expand_dollar(r, w, true);
	case '`': return expand_backquote(r, w, true);
	case '\\':
		if (next < 0)
			return unread(r, "a backslash at the end");
		if (next == '\n') {
			/* joined */
		} else if (next == '$' || next == '`' || next == '\\' ||
			   (next == '"' && !w->document)) {
			put_quoted(r, w, r->in.p + 1, 1);
		} else {
			put_quoted(r, w, r->in.p, 2);
		}
		r->in.p += 2;
		return true;
	default: put_quoted(r, w, r->in.p++, 1); return true;
	}
}

bool quote_double(struct reader *r, struct word_state *w)
{
	const char *const open = r->in.p++;

	w->flags |= SHELL_QUOTED;
	for (;;) {
		const char *const from = r->in.p, *p = from;

		while (p < r->in.end && !(char_class(*p) & CHAR_DOUBLE))
			p++;
		put_quoted(r, w, from, (size_t)(p - from));
		r->in.p = p;
		if (p == r->in.end) {
			r->in.p = open;
			return unread(r, "a quote without its end");
		}
		if (*p == '"')
			break;
		if (!quote_special(r, w))
			return false;
	}
	r->in.p++;
	return true;
}

/* ---- $'…' ---- */

/* Up to max digits of a base; their count. */
static unsigned digits(
	const struct reader *r, size_t at, unsigned base, unsigned max, uint32_t *value)
{
	unsigned n = 0;

	for (*value = 0; n < max; n++) {
		const int c = peek_at(r, at + n);
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)c - '0';
		else if (c >= 0 && (c | 32) >= 'a' && (c | 32) <= 'f')
			digit = ((unsigned)c | 32) - 'a' + 10;
		else
			break;
		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	return n;
}

/* A character by its number; *len is how much of the source says it. */
static bool ansi_number(struct reader *r, struct word_state *w, int c, size_t *len)
{
	const unsigned max = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 3;
	const size_t at = c >= '0' && c <= '7' ? 1 : 2;
	uint32_t value;
	const unsigned n = digits(r, at, at == 1 ? 8 : 16, max, &value);
	char byte;

	if (n == 0) {
		if (c == 'x' && peek_at(r, 2) == '{')
			return unread(r, "an escape that shells differ on");
		put_quoted(r, w, r->in.p, 2);
		*len = 2;
		return true;
	}
	*len = at + n;
	if (c == 'u' || c == 'U') {
		if (value >= 0x80) { /* depends on the locale */
			put_unknown(r, w, true);
			return true;
		}
	} else {
		value &= 0xff;
	}
	if (value == 0)
		return unread(r, "a NUL character");
	byte = (char)value;
	put_quoted(r, w, &byte, 1);
	return true;
}

static bool ansi_escape(struct reader *r, struct word_state *w)
{
	static const char names[] = "abeEfnrtv\\'\"?";
	static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const int c = peek_at(r, 1);
	const char *const name = c > 0 ? strchr(names, c) : NULL;
	size_t len = 2;

	if (c < 0)
		return unread(r, "a quote without its end");
	if (name)
		put_quoted(r, w, &values[name - names], 1);
	else if (c == 'c')
		return unread(r, "an escape that shells differ on");
	else if (c == 'x' || c == 'u' || c == 'U' || (c >= '0' && c <= '7')) {
		if (!ansi_number(r, w, c, &len))
			return false;
	} else {
		put_quoted(r, w, r->in.p, 2);
	}
	r->in.p += len;
	return true;
}

bool quote_ansi(struct reader *r, struct word_state *w)
{
	if (r->sh)
		return unread(r, "$'…', which sh reads otherwise");
	r->in.p++;
	w->flags |= SHELL_QUOTED;
	for (;;) {
		const int c = peek(r);

		if (c < 0)
			return unread(r, "a quote without its end");
		if (c == '\'')
			break;
		if (c != '\\')
			put_quoted(r, w, r->in.p++, 1);
		else if (!ansi_escape(r, w))
			return false;
	}
	r->in.p++;
	return true;
}
