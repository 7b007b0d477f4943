/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/addition.h"

#include <errno.h>
#include <stdlib.h>

#include "broker/core/floor/wild.h"
#include "libapproval/limits.h"

/* ---- parsing ---- */

struct line {
	const char *text;
	size_t len, at;
	enum floor_error error;
};

static bool fail(struct line *l, enum floor_error error, size_t at)
{
	l->error = error;
	l->at = at;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word; its length is 0 at the end of the line. */
static struct bytes next_word(struct line *l)
{
	size_t start;

	while (l->at < l->len && is_blank(l->text[l->at]))
		l->at++;
	start = l->at;
	while (l->at < l->len && !is_blank(l->text[l->at]))
		l->at++;
	return (struct bytes){l->text + start, l->at - start};
}

static size_t column_of(const struct line *l, struct bytes word)
{
	return (size_t)((const char *)word.data - l->text);
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static bool read_name(struct line *l, struct bytes *out)
{
	*out = next_word(l);
	for (size_t i = 0; i < out->len; i++)
		if (!is_name_char(((const char *)out->data)[i]))
			return fail(l, FLOOR_ERROR_NAME, column_of(l, *out) + i);
	if (bytes_is(*out, "unread"))
		return fail(l, FLOOR_ERROR_RESERVED, column_of(l, *out));
	return true;
}

static bool read_guards(struct line *l, uint8_t *out)
{
	static const struct {
		const char *name;
		uint8_t use;
	} uses[] = {{"read", FLOOR_READ}, {"write", FLOOR_WRITE}, {"run", FLOOR_RUN}};
	struct bytes rest = next_word(l);

	*out = 0;
	if (rest.len == 0)
		return fail(l, FLOOR_ERROR_NO_GUARDS, l->len);
	if (bytes_is(rest, "command"))
		return true;
	if (bytes_is(rest, "all")) {
		*out = FLOOR_ALL;
		return true;
	}
	for (;;) {
		const char *const comma = memchr(rest.data, ',', rest.len);
		struct bytes one = rest;
		uint8_t use = 0;

		if (comma)
			one.len = (size_t)(comma - (const char *)rest.data);
		for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
			if (bytes_is(one, uses[i].name))
				use = uses[i].use;
		if (!use)
			return fail(l, FLOOR_ERROR_GUARDS, column_of(l, one));
		*out |= use;
		if (!comma)
			return true;
		rest = (struct bytes){comma + 1, rest.len - one.len - 1};
	}
}

/* What stands at the end of the line, less the blanks around it. */
static struct bytes rest_of(struct line *l)
{
	size_t end = l->len;

	while (l->at < end && is_blank(l->text[l->at]))
		l->at++;
	while (end > l->at && is_blank(l->text[end - 1]))
		end--;
	return (struct bytes){l->text + l->at, end - l->at};
}

static bool read_command(struct line *l, struct addition *out)
{
	char *to = out->parts;

	for (;;) {
		const struct bytes word = next_word(l);
		const char *const p = word.data;

		if (word.len == 0)
			break;
		for (size_t i = 0; i < word.len; i++)
			if (strchr("\"'\\$`();|&<>*?[", p[i]))
				return fail(l, FLOOR_ERROR_COMMAND, column_of(l, word) + i);
		memcpy(to, p, word.len);
		to[word.len] = 0;
		to += word.len + 1;
		out->n_words++;
	}
	return true;
}

static enum floor_error error_of(enum path_error error)
{
	switch (error) {
	case PATH_OK: return FLOOR_OK;
	case PATH_EMPTY: return FLOOR_ERROR_NO_PATTERN;
	case PATH_NEGATED: return FLOOR_ERROR_NEGATED;
	case PATH_USER: return FLOOR_ERROR_TILDE;
	case PATH_UP: return FLOOR_ERROR_UP;
	case PATH_CLASS: return FLOOR_ERROR_CLASS;
	case PATH_ESCAPE: return FLOOR_ERROR_ESCAPE;
	case PATH_BYTE: break;
	}
	return FLOOR_ERROR_BYTE;
}

static bool read_path(struct line *l, struct addition *out)
{
	const struct bytes text = rest_of(l);
	const size_t start = column_of(l, text);
	enum path_error error;
	size_t at;

	error = path_pattern_parse(&out->path, text, out->parts, &at);
	if (error)
		return fail(l, error_of(error), start + at);
	if (out->path.text.len == 0 ||
		(out->path.flags & PATH_ANY_DEPTH && bytes_is(out->path.text, "*")))
		return fail(l, FLOOR_ERROR_WHOLE, start);
	return true;
}

static bool read_line(struct line *l, struct bytes name, struct addition *out)
{
	if (!read_guards(l, &out->guards))
		return false;
	if (rest_of(l).len == 0)
		return fail(l, FLOOR_ERROR_NO_PATTERN, l->len);
	out->name = strndup(name.data, name.len);
	out->pattern = strndup(rest_of(l).data, rest_of(l).len);
	out->parts = malloc(rest_of(l).len + 2);
	if (!out->name || !out->pattern || !out->parts)
		return false;
	return out->guards ? read_path(l, out) : read_command(l, out);
}

int addition_parse(
	struct bytes text, struct addition *out, enum floor_error *error, size_t *column)
{
	struct line l = {text.data, text.len, 0, FLOOR_OK};
	const char *const nul = text.len ? memchr(text.data, 0, text.len) : NULL;
	struct bytes name;
	bool ok;

	*out = (struct addition){0};
	*error = FLOOR_OK;
	*column = 0;
	if (text.len > LIMIT_TEXT)
		ok = fail(&l, FLOOR_ERROR_LONG, LIMIT_TEXT);
	else if (nul)
		ok = fail(&l, FLOOR_ERROR_BYTE, (size_t)(nul - l.text));
	else if (rest_of(&l).len == 0 || *(const char *)rest_of(&l).data == '#')
		return 1;
	else
		ok = read_name(&l, &name) && read_line(&l, name, out);
	if (ok)
		return 0;
	addition_release(out);
	if (l.error == FLOOR_OK)
		return -ENOMEM;
	*error = l.error;
	*column = l.at + 1;
	return -EINVAL;
}

void addition_release(struct addition *a)
{
	free(a->name);
	free(a->pattern);
	free(a->parts);
	str_unref(a->file);
	*a = (struct addition){0};
}

/* ---- matching ---- */

#define MATCH (PATH_FOLD | PATH_LOOSE)

/* The components of a literal pattern, from the i-th of a path on whose own are patterns. */
static bool match_literal(const struct addition *a, const struct normal *path, unsigned i)
{
	struct bytes part;
	size_t at = 0;

	if (!(a->path.flags & PATH_LITERAL))
		return false;
	while (at < a->path.text.len) {
		const char *const start = (const char *)a->path.text.data + at;
		const char *const slash = memchr(start, '/', a->path.text.len - at);
		char lower[LIMIT_NAME];

		part = (struct bytes){
			start, slash ? (size_t)(slash - start) : a->path.text.len - at};
		at += part.len + 1;
		if (i >= path->n || part.len > sizeof(lower))
			return false;
		for (size_t k = 0; k < part.len; k++)
			lower[k] = (char)normal_lower[(uint8_t)start[k]];
		part.data = lower;
		if (!wild_may_mean(normal_component(path, i++), part, 0))
			return false;
	}
	return true;
}

static bool match_from(
	const struct addition *a, const struct normal *path, unsigned i, bool wild)
{
	const uint32_t start = i < path->n ? path->start[i] : path->len;

	return path_pattern_match(&a->path,
		       (struct bytes){path->text + start, path->len - start}, MATCH) ||
	       (wild && match_literal(a, path, i));
}

/* From any of its components on. */
static bool match_anywhere(const struct addition *a, const struct normal *path, bool wild)
{
	for (unsigned i = 0; i < path->n; i++)
		if (match_from(a, path, i, wild))
			return true;
	return false;
}

static struct bytes anchor_of(const struct floor_world *world, const struct addition *a)
{
	switch ((enum path_anchor)a->path.anchor) {
	case PATH_ROOT: return bytes_of("/");
	case PATH_HOME: return world->home;
	case PATH_PROJECT: return world->workspace;
	case PATH_CWD:
	case PATH_ANCHOR_N: break;
	}
	return world->cwd;
}

bool addition_matches(const struct floor_world *world, const struct addition *a,
	const struct normal *path, bool wild)
{
	const struct bytes anchor = anchor_of(world, a);
	struct normal folder;

	/* where the folder is not known, any may be it */
	if (a->path.flags & PATH_ANY_DEPTH || !path->absolute || anchor.len == 0)
		return match_anywhere(a, path, wild);
	return normal_make(&folder, anchor) && normal_within(path, &folder) &&
	       match_from(a, path, folder.n, wild);
}

bool addition_matches_command(const struct addition *a, const struct shell_command *c)
{
	const char *part = a->parts;
	uint32_t k = 1;

	if (a->guards || !bytes_is(shell_name(c), part))
		return false;
	for (uint32_t i = 1; i < a->n_words; i++) {
		part += strlen(part) + 1;
		while (k < c->nwords && !bytes_is(c->words[k].text, part))
			k++;
		if (k++ >= c->nwords)
			return false;
	}
	return true;
}
