/* SPDX-License-Identifier: MIT */
/*
 * json-c reads the values but tells no places, so the text is walked twice: once here, for
 * comments and for where each value begins, and once by json-c. Both meet the values in
 * the same order; were a key there twice, json-c would have fewer.
 */
#include "config.h"

#include <json-c/json.h>
#include <string.h>

#include "frontends/ctl/import_node.h"
#include "libapproval/limits.h"

struct start {
	unsigned line, column;
};

struct scan {
	char *p; /* a copy, with comments blanked */
	size_t len, at;
	unsigned line, column;
	bool comments;
	struct start *starts;
	size_t n;
	struct reader_error *error;
};

static bool scan_stop(struct scan *s, const char *why)
{
	*s->error = (struct reader_error){s->line, s->column, why};
	return false;
}

static void scan_step(struct scan *s)
{
	if (s->p[s->at] == '\n') {
		s->line++;
		s->column = 1;
	} else {
		s->column++;
	}
	s->at++;
}

static void scan_blank(struct scan *s, size_t n)
{
	while (n-- > 0 && s->at < s->len) {
		if (s->p[s->at] != '\n')
			s->p[s->at] = ' ';
		scan_step(s);
	}
}

static bool scan_comment(struct scan *s)
{
	const char *const p = s->p + s->at;
	const size_t left = s->len - s->at;
	const char *end;

	if (!s->comments || left < 2 || (p[1] != '/' && p[1] != '*'))
		return scan_stop(s, "a value is expected here");
	if (p[1] == '/') {
		end = memchr(p, '\n', left);
		scan_blank(s, end ? (size_t)(end - p) : left);
		return true;
	}
	end = memmem(p + 2, left - 2, "*/", 2);
	if (!end)
		return scan_stop(s, "a comment is not closed");
	scan_blank(s, (size_t)(end - p) + 2);
	return true;
}

static bool scan_value(struct scan *s)
{
	if (s->n >= LIMIT_IMPORT_NODES)
		return scan_stop(s, "there are too many values");
	s->starts[s->n++] = (struct start){s->line, s->column};
	return true;
}

static bool scan_string(struct scan *s)
{
	const struct scan begin = *s;

	scan_step(s);
	while (s->at < s->len && s->p[s->at] != '"') {
		if (s->p[s->at] == '\\' && s->at + 1 < s->len)
			scan_step(s);
		scan_step(s);
	}
	if (s->at == s->len) {
		s->line = begin.line;
		s->column = begin.column;
		return scan_stop(s, "a string is not closed");
	}
	scan_step(s);
	return true;
}

/* A string is a key where a colon follows. */
static bool scan_is_key(const struct scan *s)
{
	size_t at = s->at;

	while (at < s->len) {
		const char *const p = s->p + at;

		if (strchr(" \t\r\n", *p)) {
			at++;
		} else if (*p == '/' && at + 1 < s->len && p[1] == '/') {
			const char *const end = memchr(p, '\n', s->len - at);

			at = end ? (size_t)(end - s->p) : s->len;
		} else if (*p == '/' && at + 1 < s->len && p[1] == '*') {
			const char *const end = memmem(p + 2, s->len - at - 2, "*/", 2);

			at = end ? (size_t)(end + 2 - s->p) : s->len;
		} else {
			return *p == ':';
		}
	}
	return false;
}

/* Blanks, comments and the places of values; what else is wrong json-c will say. */
static bool scan_text(struct scan *s)
{
	size_t comma = SIZE_MAX; /* the last one, while only blanks followed it */

	while (s->at < s->len) {
		const char c = s->p[s->at];

		if (!c)
			return scan_stop(s, "there is a NUL");
		if (strchr(" \t\r\n", c)) {
			scan_step(s);
			continue;
		}
		if (c == '/') {
			if (!scan_comment(s))
				return false;
			continue;
		}
		/* where comments may stand a comma may stand at the end, too */
		if ((c == '}' || c == ']') && s->comments && comma != SIZE_MAX)
			s->p[comma] = ' ';
		comma = c == ',' ? s->at : SIZE_MAX;
		if (c == '"') {
			const struct scan begin = *s;

			if (!scan_string(s))
				return false;
			if (!scan_is_key(s)) {
				struct scan value = begin;

				if (!scan_value(&value))
					return false;
				s->n = value.n;
			}
			continue;
		}
		if (strchr("{[", c)) {
			if (!scan_value(s))
				return false;
		} else if (!strchr("}],:", c)) {
			if (!scan_value(s))
				return false;
			while (s->at < s->len && !strchr(" \t\r\n}],:/\"{[", s->p[s->at]))
				scan_step(s);
			continue;
		}
		scan_step(s);
	}
	return true;
}

/* ---- json-c's values ---- */

struct build {
	struct memory *m;
	const struct scan *scan;
	size_t at;
	const char *why;
};

static struct node *build(struct build *b, struct json_object *j, unsigned depth);

static bool build_string(struct build *b, struct node *n, const char *s, size_t len)
{
	if (memchr(s, 0, len)) {
		b->why = "there is a NUL in a string";
		return false;
	}
	n->len = len;
	n->text = memory_copy(b->m, s, len);
	if (!n->text)
		b->why = node_why(b->m);
	return n->text != NULL;
}

static bool build_members(
	struct build *b, struct node *n, struct json_object *j, unsigned depth)
{
	if (n->type == NODE_ARRAY) {
		for (size_t i = 0; i < json_object_array_length(j); i++) {
			struct node *const c =
				build(b, json_object_array_get_idx(j, i), depth + 1);

			if (!c)
				return false;
			node_add(n, NULL, c);
		}
		return true;
	}
	json_object_object_foreach(j, key, value)
	{
		const char *const k = memory_copy(b->m, key, strlen(key));
		struct node *const c = k ? build(b, value, depth + 1) : NULL;

		if (!c) {
			if (!b->why)
				b->why = node_why(b->m);
			return false;
		}
		node_add(n, k, c);
	}
	return true;
}

static struct node *build(struct build *b, struct json_object *j, unsigned depth)
{
	static const enum node_type types[] = {
		[json_type_null] = NODE_NULL,
		[json_type_boolean] = NODE_BOOL,
		[json_type_double] = NODE_NUMBER,
		[json_type_int] = NODE_INT,
		[json_type_object] = NODE_TABLE,
		[json_type_array] = NODE_ARRAY,
		[json_type_string] = NODE_STRING,
	};
	const enum json_type type = json_object_get_type(j);
	struct node *n;

	if (depth > LIMIT_IMPORT_DEPTH || b->at >= b->scan->n) {
		b->why = depth > LIMIT_IMPORT_DEPTH ? "it is nested too deeply"
						    : "it is not valid JSON";
		return NULL;
	}
	n = node_new(
		b->m, types[type], b->scan->starts[b->at].line, b->scan->starts[b->at].column);
	b->at++;
	if (!n) {
		b->why = node_why(b->m);
		return NULL;
	}
	switch (n->type) {
	case NODE_BOOL: n->number = json_object_get_boolean(j); break;
	case NODE_INT: n->number = json_object_get_int64(j); break;
	case NODE_STRING:
		if (!build_string(b, n, json_object_get_string(j),
			    (size_t)json_object_get_string_len(j)))
			return NULL;
		break;
	case NODE_ARRAY:
	case NODE_TABLE:
		if (!build_members(b, n, j, depth))
			return NULL;
		break;
	default: break;
	}
	return n;
}

/* Where json-c stopped. */
static void place_at(struct scan *s, size_t at, struct reader_error *error)
{
	s->at = 0;
	s->line = s->column = 1;
	while (s->at < at && s->at < s->len)
		scan_step(s);
	error->line = s->line;
	error->column = s->column;
}

static struct node *parse(struct build *b, struct scan *s, struct reader_error *error)
{
	struct json_tokener *const t = json_tokener_new_ex(LIMIT_IMPORT_DEPTH);
	struct json_object *j = NULL;
	struct node *top = NULL;
	enum json_tokener_error how;

	if (!t) {
		b->m->failed = true;
		error->text = node_why(b->m);
		return NULL;
	}
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* with its NUL, so that a bare number is seen to end */
	j = json_tokener_parse_ex(t, s->p, (int)s->len + 1);
	how = json_tokener_get_error(t);
	if (how != json_tokener_success || json_tokener_get_parse_end(t) < s->len) {
		error->text = how == json_tokener_success    ? "something follows the value"
			      : how == json_tokener_continue ? "it ends too early"
							     : json_tokener_error_desc(how);
		place_at(s, json_tokener_get_parse_end(t), error);
		goto out;
	}
	top = build(b, j, 0);
	if (top && b->at != s->n) {
		b->why = "a key stands twice in the same object";
		top = NULL;
	}
	if (!top)
		*error = (struct reader_error){1, 1, b->why};
	else if (top->type != NODE_TABLE)
		*error = (struct reader_error){top->line, top->column, "no object"};
	if (top && top->type != NODE_TABLE)
		top = NULL;
out:
	json_object_put(j);
	json_tokener_free(t);
	return top;
}

struct node *import_json_read(struct memory *m, const char *text, size_t len, bool comments,
	struct reader_error *error)
{
	const size_t room = len + 1 < LIMIT_IMPORT_NODES ? len + 1 : LIMIT_IMPORT_NODES;
	struct scan s = {
		.p = memory_copy(m, text, len),
		.len = len,
		.line = 1,
		.column = 1,
		.comments = comments,
		.starts = memory_get(m, room * sizeof(struct start)),
		.error = error,
	};
	struct build b = {.m = m, .scan = &s};

	*error = (struct reader_error){1, 1, node_why(m)};
	if (!s.p || !s.starts || !scan_text(&s))
		return NULL;
	return parse(&b, &s, error);
}
