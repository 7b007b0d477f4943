/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "frontends/common/json.h"
#include "libapproval/limits.h"

/* json-c has no NULL object: null is NULL, so out of memory is told apart by the status. */
static int json_got(struct json_object *j, struct json_object **out)
{
	*out = j;
	return j ? 0 : -ENOMEM;
}

static int json_from_str(const char *s, size_t len, struct json_object **out)
{
	struct text t = {0};
	int r = -ENOMEM;

	text_utf8(&t, s, len);
	if (!t.failed)
		r = json_got(json_object_new_string_len(text_string(&t), (int)t.len), out);
	text_free(&t);
	return r;
}

static int json_from_bin(const void *data, size_t len, struct json_object **out)
{
	const unsigned char *s = data;
	struct text t = {0};
	int r = -ENOMEM;

	for (size_t i = 0; i < len; i++) {
		char hex[3] = {"0123456789abcdef"[s[i] >> 4], "0123456789abcdef"[s[i] & 15]};

		text_addn(&t, hex, 2);
	}
	if (!t.failed)
		r = json_got(json_object_new_string_len(text_string(&t), (int)t.len), out);
	text_free(&t);
	return r;
}

static int json_from_ext(const struct approval_value *v, struct json_object **out)
{
	struct json_object *hex = NULL;
	size_t len;
	const void *raw = approval_value_raw(v, &len);
	int r = json_from_bin(raw, len, &hex);

	if (r)
		return r;
	r = json_got(json_object_new_object(), out);
	if (r)
		json_object_put(hex);
	else
		json_add(*out, "$ext", hex, &r);
	return r;
}

static int json_from_array(const struct approval_value *v, struct json_object **out)
{
	struct json_object *array = json_object_new_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < approval_value_count(v); i++) {
		struct json_object *item = NULL;

		r = json_from_value(approval_value_at(v, i), &item);
		if (!r && json_object_array_add(array, item)) {
			json_object_put(item);
			r = -ENOMEM;
		}
	}
	*out = array;
	return r;
}

/* A map whose keys JSON can't tell apart, or can't have at all. */
static int json_from_pairs(const struct approval_value *v, struct json_object **out)
{
	struct json_object *list = json_object_new_array();
	const struct approval_value *key, *value;
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 0; !r && approval_value_pair(v, i, &key, &value); i++) {
		struct json_object *pair = json_object_new_array();
		struct json_object *k = NULL, *w = NULL;

		r = pair ? json_from_value(key, &k) : -ENOMEM;
		if (!r && json_object_array_add(pair, k)) {
			json_object_put(k);
			r = -ENOMEM;
		}
		if (!r)
			r = json_from_value(value, &w);
		if (!r && json_object_array_add(pair, w)) {
			json_object_put(w);
			r = -ENOMEM;
		}
		if (!r && !json_object_array_add(list, pair))
			continue;
		json_object_put(pair);
		r = r ? r : -ENOMEM;
	}
	if (!r)
		r = json_got(json_object_new_object(), out);
	if (r)
		json_object_put(list);
	else
		json_add(*out, "$map", list, &r);
	return r;
}

/* 1: the map has keys that need json_from_pairs. */
static int json_from_map(const struct approval_value *v, struct json_object **out)
{
	struct json_object *map = json_object_new_object();
	const struct approval_value *key, *value;
	struct text name = {0};
	int r = map ? 0 : -ENOMEM;

	for (size_t i = 0; !r && approval_value_pair(v, i, &key, &value); i++) {
		struct json_object *item = NULL;
		size_t len;
		const char *s = approval_value_str(key, &len);

		if (approval_value_type(key) != APPROVAL_STR || memchr(s, '\0', len)) {
			r = 1;
			break;
		}
		text_reset(&name);
		text_utf8(&name, s, len);
		if (name.failed)
			r = -ENOMEM;
		else if (json_object_object_get_ex(map, text_string(&name), NULL))
			r = 1;
		else
			r = json_from_value(value, &item);
		if (r)
			json_object_put(item);
		else
			json_add(map, text_string(&name), item, &r);
	}
	text_free(&name);
	*out = map;
	return r;
}

static int json_from_uint(uint64_t n, struct json_object **out)
{
	return json_got(
		n > INT64_MAX ? json_object_new_uint64(n) : json_object_new_int64((int64_t)n),
		out);
}

int json_from_value(const struct approval_value *v, struct json_object **out)
{
	double d;
	size_t len;
	const char *s;
	int r = 0;

	*out = NULL;
	switch (approval_value_type(v)) {
	case APPROVAL_NIL: break;
	case APPROVAL_BOOL:
		r = json_got(json_object_new_boolean(approval_value_bool(v)), out);
		break;
	case APPROVAL_INT:
		r = json_got(json_object_new_int64(approval_value_int(v)), out);
		break;
	case APPROVAL_UINT: r = json_from_uint(approval_value_uint(v), out); break;
	case APPROVAL_FLOAT:
		d = approval_value_float(v);
		if (isfinite(d))
			r = json_got(json_object_new_double(d), out);
		break;
	case APPROVAL_STR:
		s = approval_value_str(v, &len);
		r = json_from_str(s, len, out);
		break;
	case APPROVAL_BIN:
		s = approval_value_str(v, &len);
		r = json_from_bin(s, len, out);
		break;
	case APPROVAL_ARRAY: r = json_from_array(v, out); break;
	case APPROVAL_MAP:
		r = json_from_map(v, out);
		if (r == 1) {
			json_object_put(*out);
			*out = NULL;
			r = json_from_pairs(v, out);
		}
		break;
	case APPROVAL_EXT: r = json_from_ext(v, out); break;
	}
	if (r) {
		json_object_put(*out);
		*out = NULL;
	}
	return r;
}

int json_parse(const char *s, struct json_object **out, const char **why)
{
	struct json_tokener *t = json_tokener_new_ex(LIMIT_DEPTH);
	size_t len = strlen(s);
	int r = -EINVAL;

	*out = NULL;
	*why = "it is too large";
	if (!t) {
		*why = "there is no memory";
		return -ENOMEM;
	}
	if (len > LIMIT_FRAME)
		goto out;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	/* with its NUL, so that a bare number is seen to end */
	*out = json_tokener_parse_ex(t, s, (int)len + 1);

	enum json_tokener_error e = json_tokener_get_error(t);
	*why = json_tokener_error_desc(e);
	if (e == json_tokener_success && json_tokener_get_parse_end(t) >= len)
		r = 0;
	else if (e == json_tokener_success)
		*why = "something follows it";
	else if (e == json_tokener_continue)
		*why = "it is not complete";
out:
	if (r) {
		json_object_put(*out);
		*out = NULL;
	}
	json_tokener_free(t);
	return r;
}

int json_to_pack(struct json_object *j, struct approval_pack *p)
{
	int64_t n;
	int r;

	switch (json_object_get_type(j)) {
	case json_type_boolean: return approval_pack_bool(p, json_object_get_boolean(j));
	case json_type_double: return approval_pack_float(p, json_object_get_double(j));
	case json_type_int:
		n = json_object_get_int64(j);
		if (n == INT64_MAX)
			return approval_pack_uint(p, json_object_get_uint64(j));
		return approval_pack_int(p, n);
	case json_type_string:
		return approval_pack_strn(
			p, json_object_get_string(j), (size_t)json_object_get_string_len(j));
	case json_type_array:
		r = approval_pack_array(p, json_object_array_length(j));
		for (size_t i = 0; !r && i < json_object_array_length(j); i++)
			r = json_to_pack(json_object_array_get_idx(j, i), p);
		return r;
	case json_type_object:
		r = approval_pack_map(p, (size_t)json_object_object_length(j));
		json_object_object_foreach(j, key, value)
		{
			if (!r)
				r = approval_pack_str(p, key);
			if (!r)
				r = json_to_pack(value, p);
		}
		return r;
	case json_type_null: break;
	}
	return approval_pack_nil(p);
}

void json_add(struct json_object *map, const char *key, struct json_object *value, int *r)
{
	if (!*r && json_object_object_add(map, key, value))
		*r = -ENOMEM;
	if (*r)
		json_object_put(value);
}

void json_add_text(struct json_object *map, const char *key, const char *text, int *r)
{
	struct json_object *value = NULL;

	if (!*r && text)
		*r = json_from_str(text, strlen(text), &value);
	json_add(map, key, value, r);
}

void json_add_value(
	struct json_object *map, const char *key, const struct approval_value *v, int *r)
{
	struct json_object *value = NULL;

	if (!*r)
		*r = json_from_value(v, &value);
	json_add(map, key, value, r);
}

static void json_text(struct text *out, struct json_object *j, int flags)
{
	size_t len;
	const char *s = json_object_to_json_string_length(
		j, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	if (s)
		text_json(out, s, len);
	else
		out->failed = true;
}

int json_write(const struct output *o, struct json_object *j)
{
	struct text t = {0};

	json_text(&t, j, JSON_C_TO_STRING_PLAIN);
	text_add(&t, "\n");
	return output_text(o, &t);
}

int json_write_value(const struct output *o, const struct approval_value *v)
{
	struct json_object *j;
	int r = json_from_value(v, &j);

	if (!r)
		r = json_write(o, j);
	json_object_put(j);
	return r;
}

int json_block(const struct output *o, const char *label, const struct approval_value *v)
{
	struct json_object *j;
	struct text t = {0};
	int r = json_from_value(v, &j);

	if (!r) {
		json_text(&t, j, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
		r = t.failed ? -ENOMEM : output_block(o, label, text_string(&t), t.len);
	}
	text_free(&t);
	json_object_put(j);
	return r;
}
