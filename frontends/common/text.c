/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "frontends/common/text.h"

#define MAX_MARKS 4u

/* ---- the string ---- */

static bool text_reserve(struct text *t, size_t more)
{
	if (t->failed)
		return false;
	if (more < t->size - t->len)
		return true;

	size_t size = t->size ? t->size : 64;
	while (size - t->len <= more) {
		if (size > SIZE_MAX / 2)
			goto failed;
		size *= 2;
	}
	char *data = realloc(t->data, size);
	if (!data)
		goto failed;
	t->data = data;
	t->size = size;
	return true;
failed:
	t->failed = true;
	return false;
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

void text_reset(struct text *t)
{
	t->len = 0;
	if (t->data)
		t->data[0] = '\0';
}

const char *text_string(const struct text *t)
{
	return t->data ? t->data : "";
}

void text_addn(struct text *t, const char *s, size_t len)
{
	if (!text_reserve(t, len))
		return;
	if (len)
		memcpy(t->data + t->len, s, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_fill(struct text *t, char c, size_t n)
{
	if (!text_reserve(t, n))
		return;
	memset(t->data + t->len, c, n);
	t->len += n;
	t->data[t->len] = '\0';
}

void text_vprintf(struct text *t, const char *format, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, format, ap);
	if (n < 0)
		t->failed = true;
	else if (text_reserve(t, (size_t)n)) {
		vsnprintf(t->data + t->len, (size_t)n + 1, format, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	text_vprintf(t, format, ap);
	va_end(ap);
}

/* ---- characters ---- */

/*
 * What looks like nothing, or like something else than it is. Unassigned
 * characters and the rest of category Cf are caught by wcwidth, which knows
 * what the terminal can show; combining marks are treated apart.
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x0000, 0x001f}, {0x007f, 0x00a0}, /* C0, DEL, C1, no-break space */
	{0x00ad, 0x00ad}, {0x034f, 0x034f}, /* soft hyphen, grapheme joiner */
	{0x0600, 0x0605}, {0x061c, 0x061c}, /* number signs, Arabic letter mark */
	{0x06dd, 0x06dd}, {0x070f, 0x070f}, {0x0890, 0x0891}, {0x08e2, 0x08e2},
	{0x115f, 0x1160},			 /* Hangul fillers */
	{0x1680, 0x1680}, {0x17b4, 0x17b5},	 /* Ogham space, Khmer inherent vowels */
	{0x180b, 0x180f}, {0x2000, 0x200f},	 /* Mongolian selectors; spaces, marks */
	{0x2028, 0x202f}, {0x205f, 0x206f},	 /* separators, bidi, operators */
	{0x2800, 0x2800}, {0x3000, 0x3000},	 /* braille blank, ideographic space */
	{0x3164, 0x3164}, {0xd800, 0xf8ff},	 /* filler; surrogates, private use */
	{0xfdd0, 0xfdef}, {0xfe00, 0xfe0f},	 /* no characters; variation selectors */
	{0xfeff, 0xfeff}, {0xffa0, 0xffa0},	 /* byte order mark, filler */
	{0xfff0, 0xfffc}, {0x110bd, 0x110bd},	 /* annotation */
	{0x110cd, 0x110cd}, {0x13430, 0x1345f},	 /* Egyptian format controls */
	{0x1bca0, 0x1bca3}, {0x1d159, 0x1d159},	 /* shorthand, null notehead */
	{0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}, /* music; tags, selectors, private use */
};

static bool cp_hidden(uint32_t cp)
{
	size_t lo = 0, hi = sizeof(hidden) / sizeof(hidden[0]);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cp > hidden[mid].last)
			lo = mid + 1;
		else if (cp < hidden[mid].first)
			hi = mid;
		else
			return true;
	}
	return (cp & 0xfffe) == 0xfffe; /* the last two of each plane are no characters */
}

/* The length of the character at s, or 0 where there is no valid one (RFC 3629). */
static unsigned utf8_decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n;
	uint32_t v;

	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] < 0xe0)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		n = 4;
	else
		return 0;
	if (n > len)
		return 0;
	v = s[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*cp = v;
	return n;
}

/* Reads text as units: each one character, or one byte that belongs to none. */
struct reader {
	const unsigned char *s;
	size_t len;
	unsigned marks; /* since the last base */
};

struct unit {
	char text[12]; /* as shown */
	unsigned len, columns;
	uint32_t cp;
	bool valid;
};

static struct reader reader_of(const char *s, size_t len)
{
	/* a mark at the very beginning would sit on whatever we wrote before */
	return (struct reader){(const unsigned char *)s, len, MAX_MARKS};
}

static void unit_escape(struct unit *u)
{
	int n;

	if (u->valid && u->cp == '\n')
		n = snprintf(u->text, sizeof(u->text), "\\n");
	else if (u->valid && u->cp == '\t')
		n = snprintf(u->text, sizeof(u->text), "\\t");
	else if (u->valid && u->cp == '\r')
		n = snprintf(u->text, sizeof(u->text), "\\r");
	else if (!u->valid || u->cp < 0x80)
		n = snprintf(u->text, sizeof(u->text), "\\x%02x", u->cp);
	else
		n = snprintf(u->text, sizeof(u->text), "\\u{%x}", u->cp);
	u->len = u->columns = (unsigned)n;
}

static bool unit_read(struct reader *r, struct unit *u)
{
	if (!r->len)
		return false;

	unsigned n = utf8_decode(r->s, r->len, &u->cp);
	u->valid = n > 0;
	if (!n) {
		n = 1;
		u->cp = r->s[0];
	}

	int width = -1;
	if (u->valid && !cp_hidden(u->cp))
		width = u->cp < 0x7f ? 1 : wcwidth((wchar_t)u->cp);
	if (width == 0 && r->marks >= MAX_MARKS)
		width = -1;

	if (width < 0) {
		unit_escape(u);
		r->marks = MAX_MARKS;
	} else {
		memcpy(u->text, r->s, n);
		u->text[n] = '\0';
		u->len = n;
		u->columns = (unsigned)width;
		r->marks = width ? 0 : r->marks + 1;
	}
	r->s += n;
	r->len -= n;
	return true;
}

/* ---- surfaces ---- */

size_t text_columns(const char *s, size_t len)
{
	struct reader r = reader_of(s, len);
	struct unit u;
	size_t columns = 0;

	while (unit_read(&r, &u))
		columns += u.columns;
	return columns;
}

static size_t digits_of(size_t n)
{
	size_t digits = 1;

	for (; n >= 10; n /= 10)
		digits++;
	return digits;
}

void text_terminal(struct text *out, const char *s, size_t len, size_t columns)
{
	struct reader r = reader_of(s, len);
	struct unit u;
	size_t width = 0, units = 0;

	if (columns && columns < TEXT_MIN_COLUMNS)
		columns = TEXT_MIN_COLUMNS;
	while (unit_read(&r, &u)) {
		width += u.columns;
		units++;
	}

	bool whole = !columns || width <= columns;
	const char *word = columns < TEXT_WORD_COLUMNS ? "" : " chars";
	/* the number that is written has at most as many digits as the number of all */
	size_t mark = strlen("[+]") + strlen(word) + digits_of(units);
	size_t room = whole ? SIZE_MAX : mark < columns ? columns - mark : 0;
	size_t used = 0;

	r = reader_of(s, len);
	while (unit_read(&r, &u)) {
		if (u.columns > room - used)
			break;
		text_addn(out, u.text, u.len);
		used += u.columns;
		units--;
	}
	if (!whole)
		text_printf(out, "[+%zu%s]", units, word);
}

void text_block(struct text *out, const char *s, size_t len, size_t columns)
{
	static const char bar[] = "  | ", more[] = "  + ";
	struct reader r = reader_of(s, len);
	struct unit u;
	size_t used = 0, room = SIZE_MAX;

	if (columns)
		room = (columns < TEXT_WORD_COLUMNS ? TEXT_WORD_COLUMNS : columns) - strlen(bar);
	text_add(out, bar);
	while (unit_read(&r, &u)) {
		if (u.valid && u.cp == '\n') {
			/* the last line's own end is no further line */
			if (!r.len)
				break;
			text_add(out, "\n");
			text_add(out, bar);
			used = 0;
			continue;
		}
		if (u.columns > room - used) {
			text_add(out, "\n");
			text_add(out, more);
			used = 0;
		}
		text_addn(out, u.text, u.len);
		used += u.columns;
	}
	text_add(out, "\n");
}

void text_log(struct text *out, const char *s, size_t len, size_t max)
{
	struct reader r = reader_of(s, len);
	struct unit u;
	size_t start, left = 0;

	text_add(out, "\"");
	start = out->len;
	while (unit_read(&r, &u)) {
		bool quote = u.valid && (u.cp == '"' || u.cp == '\\');

		if (left || (max && out->len - start + u.len + quote > max)) {
			left++;
			continue;
		}
		if (quote)
			text_add(out, "\\");
		text_addn(out, u.text, u.len);
	}
	text_add(out, "\"");
	if (left)
		text_printf(out, "[+%zu chars]", left);
}

void text_utf8(struct text *out, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp;

	while (len) {
		unsigned n = utf8_decode(p, len, &cp);

		if (n)
			text_addn(out, (const char *)p, n);
		else
			text_printf(out, "\\x%02x", p[0]);
		p += n ? n : 1;
		len -= n ? n : 1;
	}
}

void text_json(struct text *out, const char *json, size_t len)
{
	const unsigned char *p = (const unsigned char *)json;
	uint32_t cp;

	while (len) {
		unsigned n = utf8_decode(p, len, &cp);
		bool plain = n && (cp < 0x7f || (!cp_hidden(cp) && wcwidth((wchar_t)cp) > 0));

		if (plain)
			text_addn(out, (const char *)p, n);
		else if (!n)
			text_add(out, "\\ufffd");
		else if (cp < 0x10000)
			text_printf(out, "\\u%04x", cp);
		else
			text_printf(out, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
				0xdc00 + ((cp - 0x10000) & 0x3ff));
		p += n ? n : 1;
		len -= n ? n : 1;
	}
}

void text_shell(struct text *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"@%+:,./-_=";
	/* a word like a=b in front would read back as an assignment */
	size_t first = *word == '-' ? SIZE_MAX : strcspn(word, "=");
	size_t ok = strspn(word, plain);

	if (*word && !word[ok] && first >= ok) {
		text_add(out, word);
		return;
	}
	text_add(out, "'");
	for (; *word; word++) {
		if (*word == '\'')
			text_add(out, "'\\''");
		else
			text_addn(out, word, 1);
	}
	text_add(out, "'");
}
