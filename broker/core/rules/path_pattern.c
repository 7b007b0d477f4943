/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/path_pattern.h"

#include <string.h>

#include "broker/core/rules/fold.h"

static struct bytes after(struct bytes b, size_t n)
{
	return (struct bytes){(const char *)b.data + n, b.len - n};
}

static int first(struct bytes b)
{
	return b.len ? *(const uint8_t *)b.data : -1;
}

/* ---- one component ---- */

static const struct {
	const char *name;
	uint32_t from, to, from2, to2;
} named_classes[] = {
	{"alpha", 'A', 'Z', 'a', 'z'},
	{"digit", '0', '9', 1, 0},
	{"lower", 'a', 'z', 1, 0},
	{"upper", 'A', 'Z', 1, 0},
	{"xdigit", 'A', 'F', 'a', 'f'},
	{"space", '\t', '\r', ' ', ' '},
	{"blank", '\t', '\t', ' ', ' '},
	{"alnum", 'A', 'Z', 'a', 'z'},
	{"punct", '!', '/', ':', '@'},
	{"cntrl", 1, 0x1f, 0x7f, 0x7f},
	{"print", ' ', '~', 1, 0},
	{"graph", '!', '~', 1, 0},
};

static bool within(uint32_t c, uint32_t from, uint32_t to)
{
	return c >= from && c <= to;
}

static bool in_named(struct bytes name, uint32_t c)
{
	for (size_t i = 0; i < sizeof(named_classes) / sizeof(*named_classes); i++) {
		if (!bytes_is(name, named_classes[i].name))
			continue;
		if (within(c, named_classes[i].from, named_classes[i].to) ||
			within(c, named_classes[i].from2, named_classes[i].to2))
			return true;
		if (bytes_is(name, "alnum") || bytes_is(name, "xdigit"))
			return within(c, '0', '9');
		return bytes_is(name, "punct") && (within(c, '[', '`') || within(c, '{', '~'));
	}
	return false;
}

static bool in_range(uint32_t c, uint32_t from, uint32_t to, unsigned flags)
{
	if (within(c, from, to))
		return true;
	if (!(flags & PATH_FOLD))
		return false;
	c = fold_case(c);
	if (within(c, from, to) || within(c, fold_case(from), fold_case(to)))
		return true;
	return c >= 'a' && c <= 'z' && within(c - 32, from, to);
}

/* One member of a class as a code point; false at its end. */
static bool class_char(struct bytes *p, uint32_t *c)
{
	size_t n;

	if (first(*p) == '\\' && p->len > 1)
		*p = after(*p, 1);
	if (p->len == 0)
		return false;
	*c = fold_next(*p, &n);
	*p = after(*p, n);
	return true;
}

/*
 * The class that begins behind a `[`: *p is moved behind its `]`. false: it has no end.
 * A `]` that comes first is a member, as is a `-` at either end.
 */
static bool class_match(struct bytes *p, uint32_t c, unsigned flags, bool *found)
{
	bool negated = false, any = false, initial = true;

	if (first(*p) == '!' || first(*p) == '^') {
		negated = true;
		*p = after(*p, 1);
	}
	for (;; initial = false) {
		uint32_t from, to;

		if (p->len == 0)
			return false;
		if (first(*p) == ']' && !initial)
			break;
		if (p->len > 2 && memcmp(p->data, "[:", 2) == 0) {
			const char *const end =
				memmem((const char *)p->data + 2, p->len - 2, ":]", 2);

			if (end) {
				const char *const name = (const char *)p->data + 2;

				any |= in_named((struct bytes){name, (size_t)(end - name)}, c);
				*p = after(*p, (size_t)(end + 2 - (const char *)p->data));
				continue;
			}
		}
		if (!class_char(p, &from))
			return false;
		to = from;
		if (p->len > 1 && first(*p) == '-' && ((const char *)p->data)[1] != ']') {
			*p = after(*p, 1);
			if (!class_char(p, &to))
				return false;
		}
		any |= in_range(c, from, to, flags);
	}
	*p = after(*p, 1);
	*found = any != negated;
	return true;
}

/* One character of the pattern (not `*`) against one of the text; both are moved on. */
static bool step(struct bytes *p, struct bytes *text, unsigned flags)
{
	size_t n, m;
	uint32_t c, want;
	bool found = false;

	if (p->len == 0 || text->len == 0)
		return false;
	c = fold_next(*text, &n);
	switch (first(*p)) {
	case '?':
		*p = after(*p, 1);
		found = c != '/';
		break;
	case '[':
		*p = after(*p, 1);
		if (!class_match(p, c, flags, &found) || c == '/')
			return false;
		break;
	case '\\':
		if (p->len > 1)
			*p = after(*p, 1);
		/* fall through */
	default:
		want = fold_next(*p, &m);
		*p = after(*p, m);
		found = c == want || (flags & PATH_FOLD && fold_case(c) == fold_case(want));
		break;
	}
	*text = after(*text, n);
	return found;
}

bool path_component_match(struct bytes pattern, struct bytes text, unsigned flags)
{
	struct bytes retry = {NULL, 0}, retry_text = {NULL, 0};

	while (text.len > 0 || pattern.len > 0) {
		size_t n;

		if (first(pattern) == '*') {
			pattern = retry = after(pattern, 1);
			retry_text = text;
			continue;
		}
		if (step(&pattern, &text, flags))
			continue;
		/* the last `*` takes one more */
		if (!retry.data || retry_text.len == 0 || first(retry_text) == '/')
			return false;
		fold_next(retry_text, &n);
		retry_text = text = after(retry_text, n);
		pattern = retry;
	}
	return true;
}

/* ---- the whole path ---- */

/* The first component; *rest is what follows its slash, with data NULL where it was the last.
 */
static struct bytes component(struct bytes path, struct bytes *rest)
{
	const char *const slash = memchr(path.data, '/', path.len);
	const size_t n = slash ? (size_t)(slash - (const char *)path.data) : path.len;

	*rest = slash ? after(path, n + 1) : (struct bytes){NULL, 0};
	return (struct bytes){path.data, n};
}

static bool is_any(struct bytes c)
{
	return c.len == 2 && memcmp(c.data, "**", 2) == 0;
}

bool path_pattern_match(const struct path_pattern *pattern, struct bytes below, unsigned flags)
{
	struct bytes p = pattern->text, path = below;
	struct bytes retry = {NULL, 0}, retry_path = {NULL, 0};
	const bool needs_more = pattern->flags & PATH_BELOW && !(flags & PATH_LOOSE);

	if (p.len == 0)
		p.data = NULL;
	if (path.len == 0)
		path.data = NULL;
	if (pattern->flags & PATH_ANY_DEPTH) {
		retry = p;
		retry_path = path;
	}
	/* data NULL: nothing is left */
	while (p.data) {
		struct bytes p_rest, path_rest;
		const struct bytes want = component(p, &p_rest);

		if (is_any(want)) {
			p = retry = p_rest;
			retry_path = path;
			if (!p.data) /* a `**` at the end was made PATH_BELOW */
				return true;
			continue;
		}
		if (path.data &&
			path_component_match(want, component(path, &path_rest), flags)) {
			p = p_rest;
			path = path_rest;
			continue;
		}
		if (!retry.data || !retry_path.data)
			return false;
		component(retry_path, &path_rest);
		path = retry_path = path_rest;
		p = retry;
	}
	return !needs_more || path.data;
}

bool path_pattern_literal(const struct path_pattern *pattern, size_t *at, struct bytes *out)
{
	struct bytes rest;

	if (pattern->flags & PATH_ANY_DEPTH || *at >= pattern->text.len)
		return false;
	*out = component(after(pattern->text, *at), &rest);
	for (size_t i = 0; i < out->len; i++)
		if (strchr("*?[\\", ((const char *)out->data)[i]))
			return false;
	*at += out->len + 1;
	return true;
}

/* ---- parsing ---- */

/* Where the class that begins at i ends: the index of its `]`; 0: nowhere. */
static size_t class_end(const char *p, size_t i, size_t len)
{
	const size_t start = i + 1;

	for (i = start; i < len; i++) {
		if (p[i] == '/')
			return 0;
		if (p[i] == '\\') {
			i++;
		} else if (p[i] == '[' && i + 1 < len && p[i + 1] == ':') {
			const char *const end = memmem(p + i + 2, len - i - 2, ":]", 2);

			if (end)
				i = (size_t)(end + 1 - p);
		} else if (p[i] == ']' && i > start &&
			   !(i == start + 1 && (p[start] == '!' || p[start] == '^'))) {
			return i;
		}
	}
	return 0;
}

/* One component into buf: `**` within a longer one is `*`. */
static enum path_error put_component(
	struct path_pattern *out, char *buf, const char *p, size_t len, size_t *at)
{
	char *const start = buf + out->text.len;
	char *to = start;
	bool wild = false;

	for (size_t i = 0; i < len; i++) {
		const bool after_wild = wild;

		*at = i;
		wild = false;
		if (p[i] == 0)
			return PATH_BYTE;
		if (p[i] == '\\') {
			if (i + 1 == len)
				return PATH_ESCAPE;
			*to++ = p[i++];
		} else if (p[i] == '[') {
			const size_t end = class_end(p, i, len);

			if (end == 0)
				return PATH_CLASS;
			while (i < end)
				*to++ = p[i++];
		} else if (p[i] == '*') {
			wild = true;
			if (after_wild && len != 2)
				continue;
		}
		*to++ = p[i];
	}
	*at = 0;
	if (to - start == 2 && memcmp(start, "..", 2) == 0)
		return PATH_UP;
	out->text.len += (size_t)(to - start);
	return PATH_OK;
}

static size_t parse_anchor(struct path_pattern *out, struct bytes text, enum path_error *error)
{
	const char *const p = text.data;

	*error = PATH_OK;
	if (text.len == 0) {
		*error = PATH_EMPTY;
	} else if (*p == '!') {
		*error = PATH_NEGATED;
	} else if (*p == '~') {
		out->anchor = PATH_HOME;
		if (text.len > 1 && p[1] != '/')
			*error = PATH_USER;
		return 1;
	} else if (*p == '/') {
		out->anchor = text.len > 1 && p[1] == '/' ? PATH_ROOT : PATH_PROJECT;
		return out->anchor == PATH_ROOT ? 2 : 1;
	} else {
		out->anchor = PATH_CWD;
	}
	return 0;
}

enum path_error path_pattern_parse(
	struct path_pattern *out, struct bytes text, char *buf, size_t *at)
{
	const char *const p = text.data;
	enum path_error error;
	size_t i;
	bool slash = false;

	*out = (struct path_pattern){.text = {buf, 0}};
	*at = 0;
	i = parse_anchor(out, text, &error);
	if (error)
		return error;
	slash = i > 0;
	while (i < text.len) {
		const char *const end = memchr(p + i, '/', text.len - i);
		const size_t n = (size_t)((end ? end : p + text.len) - (p + i));
		const size_t before = out->text.len;
		size_t inner = 0;

		out->flags &= (uint8_t)~PATH_BELOW;
		if (end)
			out->flags |= PATH_BELOW;
		/* a slash at the end alone does not anchor */
		slash |= end && (size_t)(end - p) + 1 < text.len;
		if (n > 0 && !(n == 1 && p[i] == '.')) {
			if (before > 0)
				buf[out->text.len++] = '/';
			error = put_component(out, buf, p + i, n, &inner);
			*at = i + inner;
			if (error)
				return error;
		}
		i += n + (end != NULL);
	}
	/* `x/ **` is what is below x, as `x/` is */
	while (out->text.len >= 2 && memcmp(buf + out->text.len - 2, "**", 2) == 0 &&
		(out->text.len == 2 || buf[out->text.len - 3] == '/')) {
		out->text.len -= out->text.len == 2 ? 2 : 3;
		out->flags |= PATH_BELOW;
		slash = true;
	}
	if (out->anchor == PATH_CWD && !slash)
		out->flags |= PATH_ANY_DEPTH;
	out->flags |= PATH_LITERAL;
	for (size_t k = 0; k < out->text.len; k++)
		if (strchr("*?[\\", buf[k]))
			out->flags &= (uint8_t)~PATH_LITERAL;
	return PATH_OK;
}
