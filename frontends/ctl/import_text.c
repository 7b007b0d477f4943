/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "frontends/ctl/import_text.h"

char cursor_ahead(const struct cursor *c, size_t n)
{
	return n < c->len - c->at ? c->text[c->at + n] : 0;
}

bool cursor_is(const struct cursor *c, const char *set)
{
	const char p = cursor_peek(c);

	return p && strchr(set, p);
}

bool cursor_is_word(const struct cursor *c)
{
	const char p = cursor_peek(c);

	return (p >= 'a' && p <= 'z') || (p >= 'A' && p <= 'Z') || (p >= '0' && p <= '9') ||
	       p == '_' || p == '-';
}

void cursor_step(struct cursor *c)
{
	if (c->at >= c->len)
		return;
	if (c->text[c->at] == '\n') {
		c->line++;
		c->column = 1;
	} else {
		c->column++;
	}
	c->at++;
}

void cursor_skip(struct cursor *c, size_t n)
{
	while (n-- > 0)
		cursor_step(c);
}

bool cursor_stop(const struct cursor *c, const char *why)
{
	*c->error = (struct reader_error){c->line, c->column, why};
	return false;
}

/* How many bytes the character at p has; 0: it is none. */
static size_t character(const unsigned char *p, size_t len)
{
	const size_t n = p[0] < 0x80   ? 1
			 : p[0] < 0xc2 ? 0
			 : p[0] < 0xe0 ? 2
			 : p[0] < 0xf0 ? 3
			 : p[0] < 0xf5 ? 4
				       : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool cursor_valid(const struct cursor *c)
{
	struct cursor at = *c;

	while (at.at < at.len) {
		const size_t n =
			character((const unsigned char *)at.text + at.at, at.len - at.at);

		if (n == 0)
			return cursor_stop(&at, "it is not valid UTF-8");
		if (!at.text[at.at])
			return cursor_stop(&at, "there is a NUL");
		cursor_skip(&at, n);
	}
	return true;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool cursor_unicode(struct cursor *c, struct text *out, unsigned digits)
{
	unsigned long v = 0;
	char utf8[4];
	size_t n;

	for (unsigned i = 1; i <= digits; i++) {
		const int d = hex(cursor_ahead(c, i));

		if (d < 0)
			return cursor_stop(c, "hexadecimal digits are missing");
		v = v << 4 | (unsigned)d;
	}
	if (v == 0 || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return cursor_stop(c, "no such character");
	if (v < 0x80) {
		utf8[0] = (char)v;
		n = 1;
	} else if (v < 0x800) {
		utf8[0] = (char)(0xc0 | v >> 6);
		n = 2;
	} else if (v < 0x10000) {
		utf8[0] = (char)(0xe0 | v >> 12);
		n = 3;
	} else {
		utf8[0] = (char)(0xf0 | v >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		utf8[i] = (char)(0x80 | (v >> 6 * (n - 1 - i) & 0x3f));
	text_addn(out, utf8, n);
	cursor_skip(c, digits + 1);
	return true;
}
