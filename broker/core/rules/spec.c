/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/spec.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_byte(struct bytes spec, size_t at)
{
	const char *const p = (const char *)spec.data + at;

	return spec.len - at >= 5 && p[0] == '\\' && p[1] == '{' && hex(p[2]) >= 0 &&
	       hex(p[3]) >= 0 && p[4] == '}';
}

enum spec_unit spec_next(struct bytes spec, size_t *at, char *c)
{
	const char *const p = spec.data;
	const size_t i = *at;

	if (i >= spec.len)
		return SPEC_END;
	*c = p[i];
	*at = i + 1;
	if (p[i] == '*')
		return SPEC_WILD;
	if (p[i] != '\\' || i + 1 == spec.len)
		return SPEC_CHAR;
	if (p[i + 1] == '*') {
		*c = '*';
		*at = i + 2;
		return SPEC_STAR;
	}
	if (!is_byte(spec, i))
		return SPEC_CHAR;
	*c = (char)(hex(p[i + 2]) << 4 | hex(p[i + 3]));
	*at = i + 5;
	return *c ? SPEC_BYTE : SPEC_BAD;
}

bool spec_text(struct bytes spec, char *out, size_t *len)
{
	size_t at = 0, n = 0;

	for (;;) {
		char c = 0;

		switch (spec_next(spec, &at, &c)) {
		case SPEC_END: *len = n; return true;
		case SPEC_WILD:
		case SPEC_BAD: return false;
		default: out[n++] = c; break;
		}
	}
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * What would not be read back: controls, what would begin a comment behind a parenthesis,
 * a backslash that would begin an escape, and blanks at either end.
 */
static bool needs_byte(struct bytes text, size_t i)
{
	const char *const p = text.data;
	size_t k = i;

	if ((unsigned char)p[i] < ' ' || p[i] == 0x7f)
		return true;
	if (p[i] == '\\')
		return is_byte(text, i);
	if (p[i] == ' ')
		return i == 0 || i + 1 == text.len;
	if (p[i] != '#')
		return false;
	while (k > 0 && blank(p[k - 1]))
		k--;
	return k == 0 || p[k - 1] == ')';
}

size_t spec_escape(struct bytes text, char *out)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *const p = text.data;
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (needs_byte(text, i)) {
			out[n++] = '\\';
			out[n++] = '{';
			out[n++] = digits[(unsigned char)p[i] >> 4];
			out[n++] = digits[p[i] & 15];
			out[n++] = '}';
			continue;
		}
		if (p[i] == '*')
			out[n++] = '\\';
		out[n++] = p[i];
	}
	return n;
}

/* Whether only blanks, and perhaps a comment, follow. */
static bool ends(struct bytes text, size_t at, bool *comment)
{
	const char *const p = text.data;

	while (at < text.len && blank(p[at]))
		at++;
	*comment = at < text.len && p[at] == '#';
	return at == text.len || *comment;
}

long spec_close(struct bytes text, bool *followed)
{
	const char *const p = text.data;
	unsigned long depth = 0;
	long last = -1;
	char quote = 0;
	bool comment;

	*followed = false;
	for (size_t i = 0; i < text.len; i++) {
		if (p[i] == '\\' && quote != '\'') {
			i++;
		} else if (quote) {
			if (p[i] == quote)
				quote = 0;
		} else if (p[i] == '\'' || p[i] == '"') {
			quote = p[i];
		} else if (p[i] == '(') {
			depth++;
		} else if (p[i] == ')' && depth > 0) {
			depth--;
		} else if (p[i] == ')' && ends(text, i + 1, &comment) && comment) {
			return (long)i;
		}
	}
	for (size_t i = 0; i < text.len; i++)
		if (p[i] == ')')
			last = (long)i;
	if (last >= 0)
		*followed = !ends(text, (size_t)last + 1, &comment);
	return last;
}
