/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/harness/harness.h"

int variables_set(struct variables *v, const char *name, struct json_object *value)
{
	struct variable *list;

	for (size_t i = 0; i < v->n; i++) {
		if (strcmp(v->list[i].name, name))
			continue;
		json_object_put(v->list[i].value);
		v->list[i].value = json_object_get(value);
		return 0;
	}
	list = reallocarray(v->list, v->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	v->list = list;
	list[v->n].name = strdup(name);
	if (!list[v->n].name)
		return -ENOMEM;
	list[v->n++].value = json_object_get(value);
	return 0;
}

int variables_set_text(struct variables *v, const char *name, const char *text)
{
	struct json_object *value = json_object_new_string(text);
	int r = value ? variables_set(v, name, value) : -ENOMEM;

	json_object_put(value);
	return r;
}

static const struct variable *variable_find(
	const struct variables *v, const char *name, size_t len)
{
	for (size_t i = 0; i < v->n; i++)
		if (strlen(v->list[i].name) == len && !memcmp(v->list[i].name, name, len))
			return &v->list[i];
	return NULL;
}

struct json_object *variables_get(const struct variables *v, const char *name, size_t len)
{
	const struct variable *found = variable_find(v, name, len);

	return found ? found->value : NULL;
}

void variables_cut(struct variables *v, size_t n)
{
	while (v->n > n) {
		v->n--;
		free(v->list[v->n].name);
		json_object_put(v->list[v->n].value);
	}
	if (!n) {
		free(v->list);
		v->list = NULL;
	}
}

/* ---- replacing ---- */

/* "$name" and nothing else, but not a key like "$bin". */
static const char *whole_name(struct json_object *j)
{
	const char *s;

	if (!json_object_is_type(j, json_type_string))
		return NULL;
	s = json_object_get_string(j);
	return s[0] == '$' && s[1] && s[1] != '{' && s[1] != '$' ? s + 1 : NULL;
}

static int text_expand(const struct variables *v, const char *s, struct json_object **out)
{
	struct text t = {0};
	const char *end;
	int r = 0;

	while (!r && *s) {
		struct json_object *value;

		if (s[0] != '$' || s[1] != '{' || !(end = strchr(s, '}'))) {
			/* "$$" is a dollar */
			text_addn(&t, s, 1);
			s += s[0] == '$' && s[1] == '$' ? 2 : 1;
			continue;
		}
		value = variables_get(v, s + 2, (size_t)(end - s) - 2);
		if (value)
			text_add(&t, json_object_get_string(value));
		else
			r = -ENOENT;
		s = end + 1;
	}
	if (!r) {
		*out = t.failed ? NULL
				: json_object_new_string_len(text_string(&t), (int)t.len);
		r = *out ? 0 : -ENOMEM;
	}
	text_free(&t);
	return r;
}

static int array_expand(
	const struct variables *v, struct json_object *in, struct json_object *to)
{
	int r = 0;

	for (size_t i = 0; !r && i < json_object_array_length(in); i++) {
		struct json_object *item = NULL;

		r = variables_expand(v, json_object_array_get_idx(in, i), &item);
		if (!r && json_object_array_add(to, item)) {
			json_object_put(item);
			r = -ENOMEM;
		}
	}
	return r;
}

static int map_expand(const struct variables *v, struct json_object *in, struct json_object *to)
{
	json_object_object_foreach(in, key, value)
	{
		struct json_object *item = NULL;
		int r = variables_expand(v, value, &item);

		if (!r && json_object_object_add(to, key, item)) {
			json_object_put(item);
			r = -ENOMEM;
		}
		if (r)
			return r;
	}
	return 0;
}

int variables_expand(
	const struct variables *v, struct json_object *in, struct json_object **out)
{
	const char *name = whole_name(in);
	int r = 0;

	if (name) {
		const struct variable *found = variable_find(v, name, strlen(name));

		if (!found)
			return -ENOENT;
		*out = json_object_get(found->value);
		return 0;
	}
	switch (json_object_get_type(in)) {
	case json_type_string: return text_expand(v, json_object_get_string(in), out);
	case json_type_array: *out = json_object_new_array(); break;
	case json_type_object: *out = json_object_new_object(); break;
	default: *out = json_object_get(in); return 0;
	}
	if (!*out)
		return -ENOMEM;
	r = json_object_is_type(in, json_type_array) ? array_expand(v, in, *out)
						     : map_expand(v, in, *out);
	if (r) {
		json_object_put(*out);
		*out = NULL;
	}
	return r;
}

/* ---- matching ---- */

static bool match(struct variables *v, struct json_object *pattern, struct json_object *value);

static bool name_match(struct variables *v, const char *name, struct json_object *value)
{
	const struct variable *known = variable_find(v, name, strlen(name));

	if (known)
		return json_object_equal(known->value, value);
	return variables_set(v, name, value) == 0;
}

static bool map_match(
	struct variables *v, struct json_object *pattern, struct json_object *value)
{
	json_object_object_foreach(pattern, key, want)
	{
		struct json_object *is;

		/* null also stands for a member that is not there */
		if (!json_object_object_get_ex(value, key, &is) && want)
			return false;
		if (!match(v, want, is))
			return false;
	}
	return true;
}

static bool match(struct variables *v, struct json_object *pattern, struct json_object *value)
{
	const char *name = whole_name(pattern);
	struct json_object *want;
	bool same;

	if (name)
		return name_match(v, name, value);
	if (json_object_is_type(pattern, json_type_object))
		return json_object_is_type(value, json_type_object) &&
		       map_match(v, pattern, value);
	if (json_object_is_type(pattern, json_type_array)) {
		size_t n = json_object_array_length(pattern);

		if (!json_object_is_type(value, json_type_array) ||
			json_object_array_length(value) != n)
			return false;
		for (size_t i = 0; i < n; i++)
			if (!match(v, json_object_array_get_idx(pattern, i),
				    json_object_array_get_idx(value, i)))
				return false;
		return true;
	}
	if (json_object_is_type(pattern, json_type_string) &&
		!strcmp(json_object_get_string(pattern), "*"))
		return true;
	if (variables_expand(v, pattern, &want))
		return false;
	same = json_object_equal(want, value);
	json_object_put(want);
	return same;
}

bool pattern_match(struct variables *v, struct json_object *pattern, struct json_object *value)
{
	size_t n = v->n;

	if (!pattern || match(v, pattern, value))
		return true;
	variables_cut(v, n);
	return false;
}
