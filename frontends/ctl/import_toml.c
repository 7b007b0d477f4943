/* SPDX-License-Identifier: MIT */
/*
 * TOML 1.0, strictly: what is not known to be right is an error. Dates and floats are
 * passed over, since no rule has one.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_node.h"
#include "frontends/ctl/import_text.h"
#include "libapproval/limits.h"

enum toml_mark {
	TOML_STATED = 1, /* [it] stood in the text */
	TOML_CLOSED = 2, /* a value, which nothing is added to */
	TOML_DOTTED = 4, /* by a dotted key: no [it] may follow */
	TOML_LIST = 8,	 /* of [[it]] */
};

struct toml {
	struct cursor c;
	struct memory *m;
	struct node *top;
	unsigned depth;
};

static void skip_blank(struct toml *t)
{
	while (cursor_is(&t->c, " \t"))
		cursor_step(&t->c);
}

static bool skip_comment(struct toml *t)
{
	if (cursor_peek(&t->c) != '#')
		return true;
	while (t->c.at < t->c.len && cursor_peek(&t->c) != '\n') {
		const unsigned char c = (unsigned char)cursor_peek(&t->c);

		if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f)
			return cursor_stop(&t->c, "a control character in a comment");
		cursor_step(&t->c);
	}
	return true;
}

static bool end_of_line(struct toml *t)
{
	skip_blank(t);
	if (!skip_comment(t))
		return false;
	if (cursor_peek(&t->c) == '\r')
		cursor_step(&t->c);
	if (t->c.at < t->c.len && cursor_peek(&t->c) != '\n')
		return cursor_stop(&t->c, "the line should end here");
	if (t->c.at < t->c.len)
		cursor_step(&t->c);
	return true;
}

/* Blanks, comments and line ends, within an array. */
static bool skip_lines(struct toml *t)
{
	while (cursor_is(&t->c, " \t\r\n#")) {
		if (!skip_comment(t))
			return false;
		if (cursor_is(&t->c, " \t\r\n"))
			cursor_step(&t->c);
	}
	return true;
}

/* ---- strings ---- */

static bool string_escape(struct toml *t, struct text *out, bool many)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	const char c = cursor_peek(&t->c);
	const char *const known = c ? strchr(from, c) : NULL;

	if (known) {
		text_addn(out, &to[known - from], 1);
		cursor_step(&t->c);
		return true;
	}
	if (c == 'u' || c == 'U')
		return cursor_unicode(&t->c, out, c == 'u' ? 4 : 8);
	if (!many || !cursor_is(&t->c, " \t\r\n"))
		return cursor_stop(&t->c, "no such escape");
	/* the end of a line and all blanks behind it are left out */
	while (cursor_is(&t->c, " \t\r"))
		cursor_step(&t->c);
	if (cursor_peek(&t->c) != '\n')
		return cursor_stop(&t->c, "no such escape");
	while (cursor_is(&t->c, " \t\r\n"))
		cursor_step(&t->c);
	return true;
}

/* Behind the opening quotes, up to and with the closing ones. */
static bool string_body(struct toml *t, struct text *out, char quote, bool many)
{
	for (;;) {
		const unsigned char c = (unsigned char)cursor_peek(&t->c);

		if (t->c.at >= t->c.len)
			return cursor_stop(&t->c, "a string is not closed");
		if (c == (unsigned char)quote) {
			size_t n = 1;

			while (many && n < 5 && cursor_ahead(&t->c, n) == quote)
				n++;
			if (!many || n >= 3) {
				/* up to two of the quotes belong to the text */
				for (size_t i = many ? 3 : 1; i < n; i++)
					text_addn(out, &quote, 1);
				cursor_skip(&t->c, n);
				return true;
			}
		} else if (c == '\\' && quote == '"') {
			cursor_step(&t->c);
			if (!string_escape(t, out, many))
				return false;
			continue;
		} else if (c == '\r' && many && cursor_ahead(&t->c, 1) == '\n') {
			cursor_step(&t->c);
			continue;
		} else if ((c < ' ' && c != '\t' && !(many && c == '\n')) || c == 0x7f) {
			return cursor_stop(&t->c, "a control character in a string");
		}
		text_addn(out, t->c.text + t->c.at, 1);
		cursor_step(&t->c);
	}
}

static bool string_text(struct toml *t, struct text *out, bool key)
{
	const char quote = cursor_peek(&t->c);
	const bool many = cursor_ahead(&t->c, 1) == quote && cursor_ahead(&t->c, 2) == quote;

	if (many && key)
		return cursor_stop(&t->c, "a key can't be a string of several lines");
	cursor_skip(&t->c, many ? 3 : 1);
	if (many && cursor_peek(&t->c) == '\r' && cursor_ahead(&t->c, 1) == '\n')
		cursor_step(&t->c);
	if (many && cursor_peek(&t->c) == '\n')
		cursor_step(&t->c);
	return string_body(t, out, quote, many);
}

/* ---- keys ---- */

static char *key_part(struct toml *t)
{
	struct text out = {0};
	char *key;

	if (cursor_is(&t->c, "\"'")) {
		if (!string_text(t, &out, true)) {
			text_free(&out);
			return NULL;
		}
	} else {
		while (cursor_is_word(&t->c)) {
			text_addn(&out, t->c.text + t->c.at, 1);
			cursor_step(&t->c);
		}
		if (out.len == 0 && !out.failed) {
			cursor_stop(&t->c, "a key is expected here");
			return NULL;
		}
	}
	key = memory_take(t->m, &out);
	if (!key)
		cursor_stop(&t->c, node_why(t->m));
	return key;
}

static struct node *member_new(struct toml *t, struct node *in, const char *key,
	enum node_type type, unsigned line, unsigned column)
{
	struct node *const n = node_new(t->m, type, line, column);

	if (!n) {
		cursor_stop(&t->c, node_why(t->m));
		return NULL;
	}
	node_add(in, key, n);
	return n;
}

/* The table that the parts of a key but the last lead to; *key is the last. */
static struct node *key_table(struct toml *t, struct node *in, bool header, char **key)
{
	for (unsigned parts = 0;; parts++) {
		const unsigned line = t->c.line, column = t->c.column;
		struct node *next;

		*key = key_part(t);
		if (!*key)
			return NULL;
		skip_blank(t);
		if (cursor_peek(&t->c) != '.')
			return in;
		cursor_step(&t->c);
		skip_blank(t);
		next = node_get(in, *key);
		if (next && next->type == NODE_ARRAY && header && next->mark & TOML_LIST)
			next = next->last;
		if (next && (next->type != NODE_TABLE || next->mark & TOML_CLOSED ||
				    (!header && !(next->mark & TOML_DOTTED)))) {
			cursor_stop(&t->c, "this key has a value already");
			return NULL;
		}
		if (parts >= LIMIT_IMPORT_DEPTH) {
			cursor_stop(&t->c, "it is nested too deeply");
			return NULL;
		}
		if (!next) {
			next = member_new(t, in, *key, NODE_TABLE, line, column);
			if (!next)
				return NULL;
			next->mark = header ? 0 : TOML_DOTTED;
		}
		in = next;
	}
}

/* ---- values ---- */

static bool value(struct toml *t, struct node *in, const char *key);

static bool value_string(struct toml *t, struct node *n)
{
	struct text out = {0};

	if (!string_text(t, &out, false)) {
		text_free(&out);
		return false;
	}
	n->len = out.len;
	n->text = memory_take(t->m, &out);
	return n->text || cursor_stop(&t->c, node_why(t->m));
}

static bool value_array(struct toml *t, struct node *n)
{
	cursor_step(&t->c);
	for (;;) {
		if (!skip_lines(t))
			return false;
		if (cursor_peek(&t->c) == ']')
			break;
		if (!value(t, n, NULL) || !skip_lines(t))
			return false;
		if (cursor_peek(&t->c) == ']')
			break;
		if (cursor_peek(&t->c) != ',')
			return cursor_stop(&t->c, "a comma or ] is expected here");
		cursor_step(&t->c);
	}
	cursor_step(&t->c);
	return true;
}

static bool pair(struct toml *t, struct node *in)
{
	const unsigned line = t->c.line, column = t->c.column;
	char *key;
	struct node *const table = key_table(t, in, false, &key);

	if (!table)
		return false;
	if (cursor_peek(&t->c) != '=')
		return cursor_stop(&t->c, "= is expected here");
	if (node_get(table, key)) {
		t->c.line = line;
		t->c.column = column;
		return cursor_stop(&t->c, "this key has a value already");
	}
	cursor_step(&t->c);
	skip_blank(t);
	return value(t, table, key);
}

static bool value_table(struct toml *t, struct node *n)
{
	cursor_step(&t->c);
	skip_blank(t);
	while (cursor_peek(&t->c) != '}') {
		if (!pair(t, n))
			return false;
		skip_blank(t);
		if (cursor_peek(&t->c) == '}')
			break;
		if (cursor_peek(&t->c) != ',')
			return cursor_stop(&t->c, "a comma or } is expected here");
		cursor_step(&t->c);
		skip_blank(t);
		if (cursor_peek(&t->c) == '}')
			return cursor_stop(&t->c, "a key is expected here");
	}
	cursor_step(&t->c);
	return true;
}

/* true, false, integers; floats and dates by their characters. */
static bool value_word(struct toml *t, struct node *n)
{
	char word[64];
	size_t len = 0;
	char *end;

	while (cursor_is_word(&t->c) || cursor_is(&t->c, "+.:")) {
		if (len + 1 == sizeof(word))
			return cursor_stop(&t->c, "a value is too long");
		word[len++] = cursor_peek(&t->c);
		cursor_step(&t->c);
	}
	word[len] = 0;
	if (!strcmp(word, "true") || !strcmp(word, "false")) {
		n->type = NODE_BOOL;
		n->number = word[0] == 't';
		return true;
	}
	n->type = NODE_NUMBER;
	if (len == 0 || (!strchr("+-", word[0]) && (word[0] < '0' || word[0] > '9') &&
				strcmp(word, "inf") && strcmp(word, "nan")))
		return cursor_stop(&t->c, "a value is expected here");
	if (len < 18 && strspn(word, "0123456789-+") == len) {
		const long long number = strtoll(word, &end, 10);

		if (!*end) {
			n->type = NODE_INT;
			n->number = number;
		}
	}
	return true;
}

static bool value(struct toml *t, struct node *in, const char *key)
{
	const char c = cursor_peek(&t->c);
	struct node *n;
	bool good;

	n = member_new(t, in, key,
		c == '['   ? NODE_ARRAY
		: c == '{' ? NODE_TABLE
			   : NODE_STRING,
		t->c.line, t->c.column);
	if (!n)
		return false;
	n->mark = TOML_CLOSED;
	if (++t->depth > LIMIT_IMPORT_DEPTH)
		return cursor_stop(&t->c, "it is nested too deeply");
	if (c == '[') {
		good = value_array(t, n);
	} else if (c == '{') {
		n->mark = TOML_DOTTED;
		good = value_table(t, n);
		n->mark = TOML_CLOSED;
	} else if (c == '"' || c == '\'') {
		good = value_string(t, n);
	} else {
		good = value_word(t, n);
	}
	t->depth--;
	return good;
}

/* ---- headers ---- */

static struct node *list_entry(struct toml *t, struct node *in, const char *key)
{
	struct node *list = node_get(in, key);
	struct node *n;

	if (list && !(list->mark & TOML_LIST)) {
		cursor_stop(&t->c, "this key has a value already");
		return NULL;
	}
	if (!list) {
		list = member_new(t, in, key, NODE_ARRAY, t->c.line, t->c.column);
		if (!list)
			return NULL;
		list->mark = TOML_LIST;
	}
	n = member_new(t, list, NULL, NODE_TABLE, t->c.line, 1);
	if (n)
		n->mark = TOML_STATED;
	return n;
}

static struct node *table_entry(struct toml *t, struct node *in, const char *key)
{
	struct node *n = node_get(in, key);

	if (n && (n->type != NODE_TABLE || n->mark)) {
		cursor_stop(&t->c, "this key has a value already");
		return NULL;
	}
	if (!n)
		n = member_new(t, in, key, NODE_TABLE, t->c.line, 1);
	if (n)
		n->mark = TOML_STATED;
	return n;
}

static struct node *header(struct toml *t)
{
	const bool list = cursor_ahead(&t->c, 1) == '[';
	struct node *in;
	char *key;

	cursor_skip(&t->c, list ? 2 : 1);
	skip_blank(t);
	in = key_table(t, t->top, true, &key);
	if (!in)
		return NULL;
	if (cursor_peek(&t->c) != ']' || (list && cursor_ahead(&t->c, 1) != ']')) {
		cursor_stop(&t->c, "] is expected here");
		return NULL;
	}
	in = list ? list_entry(t, in, key) : table_entry(t, in, key);
	cursor_skip(&t->c, list ? 2 : 1);
	return in;
}

struct node *import_toml_read(
	struct memory *m, const char *text, size_t len, struct reader_error *error)
{
	struct toml t = {
		.c = {.text = text, .len = len, .line = 1, .column = 1, .error = error},
		.m = m};
	struct node *in;

	*error = (struct reader_error){1, 1, node_why(m)};
	if (!cursor_valid(&t.c))
		return NULL;
	in = t.top = node_new(m, NODE_TABLE, 1, 1);
	while (in && t.c.at < t.c.len) {
		skip_blank(&t);
		if (t.c.at == t.c.len || cursor_is(&t.c, "#\r\n")) {
			if (!end_of_line(&t))
				return NULL;
			continue;
		}
		if (cursor_peek(&t.c) == '[')
			in = header(&t);
		else if (!pair(&t, in))
			return NULL;
		if (!in || !end_of_line(&t))
			return NULL;
	}
	return in ? t.top : NULL;
}
