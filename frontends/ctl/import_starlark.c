/* SPDX-License-Identifier: MIT */
/*
 * The part of Starlark that files of rules are written in: calls at the top, with named
 * arguments, strings, lists, numbers, True, False and None. A file that computes its
 * rules is refused, since they can't be known without running it.
 */
#include "config.h"

#include <string.h>

#include "frontends/ctl/import_node.h"
#include "frontends/ctl/import_text.h"
#include "libapproval/limits.h"

struct starlark {
	struct cursor c;
	struct memory *m;
	unsigned depth;
};

/* Blanks and comments; with lines, line ends too. */
static void skip(struct starlark *s, bool lines)
{
	for (;;) {
		if (cursor_peek(&s->c) == '#')
			while (s->c.at < s->c.len && cursor_peek(&s->c) != '\n')
				cursor_step(&s->c);
		if (cursor_is(&s->c, lines ? " \t\r\n" : " \t\r"))
			cursor_step(&s->c);
		else if (cursor_peek(&s->c) == '\\' && cursor_ahead(&s->c, 1) == '\n')
			cursor_skip(&s->c, 2);
		else
			return;
	}
}

static bool name_start(const struct cursor *c)
{
	return cursor_is_word(c) && !cursor_is(c, "-0123456789");
}

static char *name(struct starlark *s)
{
	const size_t from = s->c.at;
	char *p;

	if (!name_start(&s->c)) {
		cursor_stop(&s->c, "a name is expected here");
		return NULL;
	}
	while (cursor_is_word(&s->c) && cursor_peek(&s->c) != '-')
		cursor_step(&s->c);
	p = memory_copy(s->m, s->c.text + from, s->c.at - from);
	if (!p)
		cursor_stop(&s->c, node_why(s->m));
	return p;
}

/* ---- strings ---- */

static bool octal(const struct cursor *c)
{
	return cursor_is(c, "01234567");
}

static bool string_escape(struct starlark *s, struct text *out)
{
	static const char from[] = "abfnrtv'\"\\", to[] = "\a\b\f\n\r\t\v'\"\\";
	const char c = cursor_peek(&s->c);
	const char *const known = c ? strchr(from, c) : NULL;

	if (known) {
		text_addn(out, &to[known - from], 1);
		cursor_step(&s->c);
		return true;
	}
	if (c == '\n') {
		cursor_step(&s->c);
		return true;
	}
	if (c == 'u' || c == 'U')
		return cursor_unicode(&s->c, out, c == 'u' ? 4 : 8);
	if (c == 'x' && cursor_ahead(&s->c, 1) >= '0' && cursor_ahead(&s->c, 1) <= '7')
		return cursor_unicode(&s->c, out, 2);
	return cursor_stop(
		&s->c, octal(&s->c) ? "octal escapes are not read" : "no such escape");
}

static bool string_body(struct starlark *s, struct text *out, bool raw)
{
	const char quote = cursor_peek(&s->c);
	const bool many = cursor_ahead(&s->c, 1) == quote && cursor_ahead(&s->c, 2) == quote;

	cursor_skip(&s->c, many ? 3 : 1);
	for (;;) {
		const char c = cursor_peek(&s->c);

		if (s->c.at >= s->c.len || (c == '\n' && !many))
			return cursor_stop(&s->c, "a string is not closed");
		if (c == quote && (!many || (cursor_ahead(&s->c, 1) == quote &&
						    cursor_ahead(&s->c, 2) == quote))) {
			cursor_skip(&s->c, many ? 3 : 1);
			return true;
		}
		if (c == '\\' && !raw) {
			cursor_step(&s->c);
			if (!string_escape(s, out))
				return false;
			continue;
		}
		/* in a raw string a backslash keeps a quote from closing it, and stays */
		if (c == '\\' && s->c.at + 1 < s->c.len) {
			text_addn(out, &c, 1);
			cursor_step(&s->c);
			if (cursor_peek(&s->c) == '\n' && !many)
				return cursor_stop(&s->c, "a string is not closed");
		}
		text_addn(out, s->c.text + s->c.at, 1);
		cursor_step(&s->c);
	}
}

/* Adjacent to another string, or with an operator, it would be an expression. */
static bool string(struct starlark *s, struct node *n)
{
	struct text out = {0};
	const bool raw = cursor_is(&s->c, "rR");
	bool good;

	if (raw)
		cursor_step(&s->c);
	good = string_body(s, &out, raw);
	if (!good) {
		text_free(&out);
		return false;
	}
	n->len = out.len;
	n->text = memory_take(s->m, &out);
	return n->text || cursor_stop(&s->c, node_why(s->m));
}

/* ---- values ---- */

static bool value(struct starlark *s, struct node *in, const char *key);

static bool list(struct starlark *s, struct node *n, char close)
{
	cursor_step(&s->c);
	skip(s, true);
	while (cursor_peek(&s->c) != close) {
		if (!value(s, n, NULL))
			return false;
		skip(s, true);
		if (cursor_peek(&s->c) == close)
			break;
		if (cursor_peek(&s->c) != ',')
			return cursor_stop(&s->c, "a comma or ] is expected here");
		cursor_step(&s->c);
		skip(s, true);
	}
	cursor_step(&s->c);
	return true;
}

static bool number(struct starlark *s, struct node *n)
{
	unsigned digits = 0;

	n->type = NODE_INT;
	while (cursor_is(&s->c, "0123456789")) {
		if (++digits > 9)
			return cursor_stop(&s->c, "a number is too large");
		n->number = n->number * 10 + (cursor_peek(&s->c) - '0');
		cursor_step(&s->c);
	}
	if (cursor_is_word(&s->c) || cursor_peek(&s->c) == '.')
		return cursor_stop(&s->c, "only whole numbers are read");
	return true;
}

static bool constant(struct starlark *s, struct node *n)
{
	const struct cursor begin = s->c;
	const char *const word = name(s);

	if (!word)
		return cursor_stop(&begin, "a value is expected here");
	n->type = NODE_BOOL;
	n->number = !strcmp(word, "True");
	if (!strcmp(word, "None"))
		n->type = NODE_NULL;
	else if (!n->number && strcmp(word, "False"))
		return cursor_stop(
			&begin, "only strings, lists, numbers, True, False and None are read");
	return true;
}

static bool value(struct starlark *s, struct node *in, const char *key)
{
	const char c = cursor_peek(&s->c), next = cursor_ahead(&s->c, 1);
	const bool raw = (c == 'r' || c == 'R') && (next == '"' || next == '\'');
	struct node *const n =
		node_new(s->m, c == '[' ? NODE_ARRAY : NODE_STRING, s->c.line, s->c.column);
	bool good;

	if (!n)
		return cursor_stop(&s->c, node_why(s->m));
	node_add(in, key, n);
	if (++s->depth > LIMIT_IMPORT_DEPTH)
		return cursor_stop(&s->c, "it is nested too deeply");
	if (c == '[')
		good = list(s, n, ']');
	else if (raw || c == '"' || c == '\'')
		good = string(s, n);
	else if (cursor_is(&s->c, "0123456789"))
		good = number(s, n);
	else
		good = constant(s, n);
	s->depth--;
	return good;
}

/* ---- calls ---- */

static bool argument(struct starlark *s, struct node *call)
{
	const struct cursor begin = s->c;
	struct cursor ahead;
	char *key;

	if (!name_start(&s->c) ||
		(cursor_is(&s->c, "rR") &&
			(cursor_ahead(&s->c, 1) == '"' || cursor_ahead(&s->c, 1) == '\'')))
		return value(s, call, NULL);
	key = name(s);
	if (!key)
		return false;
	ahead = s->c;
	skip(s, true);
	if (cursor_peek(&s->c) != '=' || cursor_ahead(&s->c, 1) == '=') {
		s->c = begin;
		return value(s, call, NULL);
	}
	if (node_get(call, key))
		return cursor_stop(&ahead, "an argument stands twice");
	cursor_step(&s->c);
	skip(s, true);
	return value(s, call, key);
}

static bool call(struct starlark *s, struct node *top)
{
	struct node *const n = node_new(s->m, NODE_CALL, s->c.line, s->c.column);

	if (!n)
		return cursor_stop(&s->c, node_why(s->m));
	n->text = name(s);
	if (!n->text)
		return false;
	node_add(top, NULL, n);
	skip(s, false);
	if (cursor_peek(&s->c) != '(')
		return cursor_stop(&s->c, "only calls are read, not what computes");
	cursor_step(&s->c);
	skip(s, true);
	while (cursor_peek(&s->c) != ')') {
		if (!argument(s, n))
			return false;
		skip(s, true);
		if (cursor_peek(&s->c) == ')')
			break;
		if (cursor_peek(&s->c) != ',')
			return cursor_stop(&s->c, "a comma or ) is expected here");
		cursor_step(&s->c);
		skip(s, true);
	}
	cursor_step(&s->c);
	skip(s, false);
	if (s->c.at < s->c.len && cursor_peek(&s->c) != '\n')
		return cursor_stop(&s->c, "the line should end here");
	return true;
}

struct node *import_starlark_read(
	struct memory *m, const char *text, size_t len, struct reader_error *error)
{
	struct starlark s = {
		.c = {.text = text, .len = len, .line = 1, .column = 1, .error = error},
		.m = m,
	};
	struct node *const top = node_new(m, NODE_ARRAY, 1, 1);

	*error = (struct reader_error){1, 1, node_why(m)};
	if (!top || !cursor_valid(&s.c))
		return NULL;
	for (;;) {
		skip(&s, true);
		if (s.c.at == s.c.len)
			return top;
		/* what is indented belongs to a statement that computes */
		if (s.c.column != 1) {
			cursor_stop(&s.c, "a line that is indented is not read");
			return NULL;
		}
		if (!call(&s, top))
			return NULL;
	}
}
