/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <json-c/json.h>

#include "frontends/common/text.h"
#include "frontends/hook/convert.h"
#include "libapproval/approval.h"
#include "libapproval/limits.h"

static int convert_value(
	struct approval_pack *p, struct json_object *value, unsigned depth, unsigned *elements);

static int convert_int(struct approval_pack *p, struct json_object *value)
{
	uint64_t u = json_object_get_uint64(value);

	return u > INT64_MAX ? approval_pack_uint(p, u)
			     : approval_pack_int(p, json_object_get_int64(value));
}

static int convert_array(
	struct approval_pack *p, struct json_object *value, unsigned depth, unsigned *elements)
{
	size_t i, n = json_object_array_length(value);
	int r;

	if (n > LIMIT_VALUE_COUNT)
		return -E2BIG;
	r = approval_pack_array(p, n);
	for (i = 0; r == 0 && i < n; i++)
		r = convert_value(p, json_object_array_get_idx(value, i), depth + 1, elements);
	return r;
}

static int convert_object(
	struct approval_pack *p, struct json_object *value, unsigned depth, unsigned *elements)
{
	struct json_object_iterator it, end;
	int n = json_object_object_length(value), r;
	const char *key;

	if ((unsigned)n > LIMIT_VALUE_COUNT)
		return -E2BIG;
	r = approval_pack_map(p, (size_t)n);
	it = json_object_iter_begin(value);
	end = json_object_iter_end(value);
	for (; r == 0 && !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		key = json_object_iter_peek_name(&it);
		++*elements;
		r = approval_pack_strn(p, key, strlen(key));
		if (r == 0)
			r = convert_value(
				p, json_object_iter_peek_value(&it), depth + 1, elements);
	}
	return r;
}

static int convert_value(
	struct approval_pack *p, struct json_object *value, unsigned depth, unsigned *elements)
{
	if (depth > LIMIT_VALUE_DEPTH || ++*elements > LIMIT_VALUE_COUNT)
		return -E2BIG;
	switch (json_object_get_type(value)) {
	case json_type_null: return approval_pack_nil(p);
	case json_type_boolean: return approval_pack_bool(p, json_object_get_boolean(value));
	case json_type_double: return approval_pack_float(p, json_object_get_double(value));
	case json_type_int: return convert_int(p, value);
	case json_type_string:
		return approval_pack_strn(p, json_object_get_string(value),
			(size_t)json_object_get_string_len(value));
	case json_type_array: return convert_array(p, value, depth, elements);
	case json_type_object: return convert_object(p, value, depth, elements);
	}
	return -EINVAL;
}

int convert_pack(struct approval_pack *p, struct json_object *value)
{
	unsigned elements = 0;
	size_t len;
	int r;

	r = convert_value(p, value, 0, &elements);
	if (r == 0 && approval_pack_data(p, &len) && len > LIMIT_INPUT)
		r = -E2BIG;
	return r;
}

static int convert_string(const struct approval_value *v, struct json_object **out)
{
	struct text clean = {0};
	const char *s;
	size_t len;
	int r = 0;

	if (approval_value_type(v) != APPROVAL_STR)
		return -EINVAL;
	s = approval_value_str(v, &len);
	if (len > INT32_MAX)
		return -EINVAL;
	text_utf8(&clean, s, len);
	if (clean.failed)
		r = -ENOMEM;
	else if (clean.len != len || (len && memcmp(clean.data, s, len) != 0))
		r = -EINVAL;
	text_free(&clean);
	if (r < 0)
		return r;
	*out = json_object_new_string_len(s, (int)len);
	return *out ? 0 : -ENOMEM;
}

static int convert_json_at(
	const struct approval_value *v, unsigned depth, struct json_object **out);

static int convert_json_array(
	const struct approval_value *v, unsigned depth, struct json_object *array)
{
	size_t i, n = approval_value_count(v);
	struct json_object *item;
	int r;

	for (i = 0; i < n; i++) {
		r = convert_json_at(approval_value_at(v, i), depth + 1, &item);
		if (r < 0)
			return r;
		if (json_object_array_add(array, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return 0;
}

static int convert_json_map(
	const struct approval_value *v, unsigned depth, struct json_object *object)
{
	const struct approval_value *key, *value;
	struct json_object *item;
	const char *name;
	size_t i, len;
	int r;

	for (i = 0; approval_value_pair(v, i, &key, &value); i++) {
		r = convert_string(key, &item);
		if (r < 0)
			return r;
		json_object_put(item);
		name = approval_value_str(key, &len);
		if (strlen(name) != len || json_object_object_get_ex(object, name, NULL))
			return -EINVAL;
		r = convert_json_at(value, depth + 1, &item);
		if (r < 0)
			return r;
		if (json_object_object_add(object, name, item) < 0) {
			json_object_put(item);
			return -ENOMEM;
		}
	}
	return 0;
}

static int convert_json_at(
	const struct approval_value *v, unsigned depth, struct json_object **out)
{
	int r = 0;

	*out = NULL;
	if (depth > LIMIT_VALUE_DEPTH)
		return -EINVAL;
	switch (approval_value_type(v)) {
	case APPROVAL_NIL: return 0;
	case APPROVAL_BOOL: *out = json_object_new_boolean(approval_value_bool(v)); break;
	case APPROVAL_INT: *out = json_object_new_int64(approval_value_int(v)); break;
	case APPROVAL_UINT: *out = json_object_new_uint64(approval_value_uint(v)); break;
	case APPROVAL_FLOAT:
		if (!isfinite(approval_value_float(v)))
			return -EINVAL;
		*out = json_object_new_double(approval_value_float(v));
		break;
	case APPROVAL_STR: return convert_string(v, out);
	case APPROVAL_ARRAY:
		*out = json_object_new_array();
		if (*out)
			r = convert_json_array(v, depth, *out);
		break;
	case APPROVAL_MAP:
		*out = json_object_new_object();
		if (*out)
			r = convert_json_map(v, depth, *out);
		break;
	case APPROVAL_BIN:
	case APPROVAL_EXT:
	default: return -EINVAL;
	}
	if (!*out)
		return -ENOMEM;
	if (r < 0) {
		json_object_put(*out);
		*out = NULL;
	}
	return r;
}

int convert_json(const struct approval_value *v, struct json_object **out)
{
	return convert_json_at(v, 0, out);
}
