/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "frontends/hook/jsontext.h"
#include "frontends/hook/stream.h"

static int jsontext_fail(struct jsontext *t, const char *error)
{
	t->error = error;
	return -EBADMSG;
}

static char jsontext_peek(const struct jsontext *t)
{
	return t->at < t->len ? t->text[t->at] : '\0';
}

static int jsontext_space(struct jsontext *t)
{
	while (t->at < t->len && strchr(" \t\r\n", t->text[t->at]))
		t->at++;
	if (jsontext_peek(t) == '/')
		return jsontext_fail(t, "a comment, which JSON does not have");
	return 0;
}

static char *jsontext_decode(const char *text, size_t len)
{
	struct json_object *value = NULL;
	char *out = NULL;

	if (stream_parse(text, len, &value) == 0 &&
		json_object_is_type(value, json_type_string) &&
		strlen(json_object_get_string(value)) ==
			(size_t)json_object_get_string_len(value))
		out = strdup(json_object_get_string(value));
	json_object_put(value);
	return out;
}

static int jsontext_new(struct jsontext *t, struct jsontext_node *parent, size_t item,
	struct jsontext_node **out)
{
	struct jsontext_node *n;

	if (++t->nodes > JSONTEXT_NODES)
		return jsontext_fail(t, "more values than such a file has");
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->made = t->made;
	t->made = n;
	n->item = item;
	n->start = t->at;
	n->parent = parent;
	if (parent) {
		n->previous = parent->last;
		if (parent->last)
			parent->last->next = n;
		else
			parent->first = n;
		parent->last = n;
	}
	*out = n;
	return 0;
}

static int jsontext_quoted(struct jsontext *t)
{
	char c;

	for (t->at++; t->at < t->len; t->at++) {
		c = t->text[t->at];
		if ((unsigned char)c < 0x20)
			break;
		if (c == '\\')
			t->at++;
		if (c == '"') {
			t->at++;
			return 0;
		}
	}
	return jsontext_fail(t, "a string that does not end");
}

static void jsontext_digits(struct jsontext *t)
{
	while (jsontext_peek(t) >= '0' && jsontext_peek(t) <= '9')
		t->at++;
}

static int jsontext_number(struct jsontext *t)
{
	size_t from;

	if (jsontext_peek(t) == '-')
		t->at++;
	from = t->at;
	jsontext_digits(t);
	if (t->at == from || (t->text[from] == '0' && t->at > from + 1))
		return jsontext_fail(t, "no JSON number");
	if (jsontext_peek(t) == '.') {
		from = ++t->at;
		jsontext_digits(t);
		if (t->at == from)
			return jsontext_fail(t, "no JSON number");
	}
	if (jsontext_peek(t) == 'e' || jsontext_peek(t) == 'E') {
		t->at++;
		if (jsontext_peek(t) == '+' || jsontext_peek(t) == '-')
			t->at++;
		from = t->at;
		jsontext_digits(t);
		if (t->at == from)
			return jsontext_fail(t, "no JSON number");
	}
	return 0;
}

static int jsontext_literal(struct jsontext *t)
{
	static const char *const words[] = {"true", "false", "null"};
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		n = strlen(words[i]);
		if (t->len - t->at >= n && memcmp(t->text + t->at, words[i], n) == 0) {
			t->at += n;
			return 0;
		}
	}
	return jsontext_fail(t, "no JSON value");
}

static int jsontext_value(struct jsontext *t, struct jsontext_node *parent, char *name,
	size_t item, unsigned depth);

static bool jsontext_twice(const struct jsontext_node *object, const char *name)
{
	const struct jsontext_node *n;

	for (n = object->first; n; n = n->next)
		if (strcmp(n->name, name) == 0)
			return true;
	return false;
}

static int jsontext_named(struct jsontext *t, struct jsontext_node *object, unsigned depth)
{
	size_t item = t->at;
	char *name;
	int r;

	if (jsontext_peek(t) != '"')
		return jsontext_fail(t, "a name in quotes was expected");
	r = jsontext_quoted(t);
	if (r < 0)
		return r;
	name = jsontext_decode(t->text + item, t->at - item);
	if (!name)
		return jsontext_fail(t, "a name that can't be read");
	if (jsontext_twice(object, name)) {
		free(name);
		t->at = item;
		return jsontext_fail(t, "a name that this object has already");
	}
	r = jsontext_space(t);
	if (r == 0 && jsontext_peek(t) != ':')
		r = jsontext_fail(t, "a colon was expected");
	if (r == 0) {
		t->at++;
		r = jsontext_space(t);
	}
	if (r < 0) {
		free(name);
		return r;
	}
	return jsontext_value(t, object, name, item, depth + 1);
}

static int jsontext_container(struct jsontext *t, struct jsontext_node *n, unsigned depth)
{
	char close = n->type == JSONTEXT_OBJECT ? '}' : ']';
	int r;

	if (depth >= JSONTEXT_DEPTH)
		return jsontext_fail(t, "nested too deeply");
	t->at++;
	r = jsontext_space(t);
	if (r == 0 && jsontext_peek(t) == close) {
		t->at++;
		return 0;
	}
	while (r == 0) {
		r = n->type == JSONTEXT_OBJECT ? jsontext_named(t, n, depth)
					       : jsontext_value(t, n, NULL, t->at, depth + 1);
		if (r == 0)
			r = jsontext_space(t);
		if (r < 0)
			return r;
		if (jsontext_peek(t) == close) {
			t->at++;
			return 0;
		}
		if (jsontext_peek(t) != ',')
			return jsontext_fail(t, "a comma or the end was expected");
		t->at++;
		r = jsontext_space(t);
	}
	return r;
}

/* Takes name over. */
static int jsontext_value(struct jsontext *t, struct jsontext_node *parent, char *name,
	size_t item, unsigned depth)
{
	struct jsontext_node *n;
	char c = jsontext_peek(t);
	int r;

	r = jsontext_new(t, parent, item, &n);
	if (r < 0) {
		free(name);
		return r;
	}
	n->name = name;
	if (c == '{' || c == '[') {
		n->type = c == '{' ? JSONTEXT_OBJECT : JSONTEXT_ARRAY;
		r = jsontext_container(t, n, depth);
	} else if (c == '"') {
		n->type = JSONTEXT_STRING;
		r = jsontext_quoted(t);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		n->type = JSONTEXT_NUMBER;
		r = jsontext_number(t);
	} else {
		n->type = JSONTEXT_LITERAL;
		r = jsontext_literal(t);
	}
	n->end = t->at;
	return r;
}

int jsontext_parse(struct jsontext *t, const char *text, size_t len)
{
	struct json_object *value = NULL;
	int r;

	memset(t, 0, sizeof(*t));
	t->text = text;
	t->len = len;
	if (len > JSONTEXT_SIZE_MAX)
		return jsontext_fail(t, "larger than such a file is");
	r = jsontext_space(t);
	if (r == 0)
		r = jsontext_value(t, NULL, NULL, t->at, 0);
	if (r == 0)
		r = jsontext_space(t);
	if (r == 0 && t->at < t->len)
		r = jsontext_fail(t, "something behind the value");
	if (r < 0)
		return r;
	t->root = t->made;
	while (t->root->made)
		t->root = t->root->made;
	/* escapes and the like are left to the library: both have to agree */
	if (stream_parse(text, len, &value) < 0)
		r = jsontext_fail(t, "no JSON");
	json_object_put(value);
	return r;
}

void jsontext_free(struct jsontext *t)
{
	struct jsontext_node *n, *next;

	for (n = t->made; n; n = next) {
		next = n->made;
		free(n->name);
		free(n);
	}
	t->made = t->root = NULL;
}

unsigned jsontext_line(const struct jsontext *t, size_t at)
{
	unsigned line = 1;
	size_t i;

	for (i = 0; i < at && i < t->len; i++)
		line += t->text[i] == '\n';
	return line;
}

const struct jsontext_node *jsontext_member(
	const struct jsontext_node *object, const char *name)
{
	const struct jsontext_node *n;

	if (!object || object->type != JSONTEXT_OBJECT)
		return NULL;
	for (n = object->first; n; n = n->next)
		if (strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

char *jsontext_string(const struct jsontext *t, const struct jsontext_node *node)
{
	if (!node || node->type != JSONTEXT_STRING)
		return NULL;
	return jsontext_decode(t->text + node->start, node->end - node->start);
}

bool jsontext_is(const struct jsontext *t, const struct jsontext_node *node, const char *text)
{
	char *s = jsontext_string(t, node);
	bool same = s && strcmp(s, text) == 0;

	free(s);
	return same;
}
