/* SPDX-License-Identifier: MIT */
#include "libapproval/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

struct approval_value {
	enum approval_type type;
	uint32_t count; /* bytes, elements, or pairs */
	union {
		bool boolean;
		int64_t i64;
		uint64_t u64;
		double f64;
		const char *text;
		const struct approval_value *items; /* of a map: key, value, key, … */
	};
	const uint8_t *raw;
	uint32_t raw_len;
};

/*
 * A whole tree is one allocation: all values, the raw bytes, and the texts with
 * a NUL after each. The root stands first, so freeing it frees all.
 */
struct builder {
	struct approval_value *values;
	uint32_t left; /* values not yet given out */
	char *text;
};

static struct approval_value *take(struct builder *b, uint64_t n)
{
	struct approval_value *v = b->values;

	if (n > b->left)
		return NULL;
	b->values += n;
	b->left -= (uint32_t)n;
	return v;
}

static void set_text(struct builder *b, struct approval_value *v, struct bytes content)
{
	if (content.len)
		memcpy(b->text, content.data, content.len);
	b->text[content.len] = '\0';
	v->text = b->text;
	v->count = (uint32_t)content.len;
	b->text += content.len + 1;
}

static int build(struct builder *b, struct bytes *cursor, struct approval_value *v);

static int build_items(
	struct builder *b, struct bytes *cursor, struct approval_value *v, uint64_t n)
{
	struct approval_value *items = take(b, n);
	uint64_t i;
	int rc;

	if (!items)
		return -EBADMSG;
	v->items = items;
	for (i = 0; i < n; i++) {
		rc = build(b, cursor, &items[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The depth was measured, so the recursion is bounded by LIMIT_DEPTH. */
static int build(struct builder *b, struct bytes *cursor, struct approval_value *v)
{
	const uint8_t *start = cursor->data;
	struct wire_value w;
	int rc = wire_read(cursor, &w);

	if (rc < 0)
		return rc;
	*v = (struct approval_value){.raw = start};
	switch (w.kind) {
	case WIRE_KIND_NIL: v->type = APPROVAL_NIL; break;
	case WIRE_KIND_BOOL:
		v->type = APPROVAL_BOOL;
		v->boolean = w.boolean;
		break;
	case WIRE_KIND_UINT:
		v->type = w.u64 > INT64_MAX ? APPROVAL_UINT : APPROVAL_INT;
		v->u64 = w.u64;
		break;
	case WIRE_KIND_INT:
		v->type = APPROVAL_INT;
		v->i64 = w.i64;
		break;
	case WIRE_KIND_FLOAT:
		v->type = APPROVAL_FLOAT;
		v->f64 = w.f64;
		break;
	case WIRE_KIND_STR:
		v->type = APPROVAL_STR;
		set_text(b, v, w.bytes);
		break;
	case WIRE_KIND_BIN:
		v->type = APPROVAL_BIN;
		set_text(b, v, w.bytes);
		break;
	case WIRE_KIND_EXT: v->type = APPROVAL_EXT; break;
	case WIRE_KIND_ARRAY:
		v->type = APPROVAL_ARRAY;
		v->count = w.count;
		rc = build_items(b, cursor, v, w.count);
		break;
	case WIRE_KIND_MAP:
		v->type = APPROVAL_MAP;
		v->count = w.count;
		rc = build_items(b, cursor, v, 2 * (uint64_t)w.count);
		break;
	}
	v->raw_len = (uint32_t)((const uint8_t *)cursor->data - start);
	return rc;
}

int value_decode(struct bytes raw, struct approval_value **out)
{
	struct approval_value *root;
	struct wire_measure m;
	struct builder b;
	struct bytes cursor;
	size_t head;
	int rc;

	*out = NULL;
	if (raw.len > LIMIT_FRAME)
		return -EMSGSIZE;
	rc = wire_measure(raw, &m);
	if (rc < 0)
		return rc;
	if (m.values > LIMIT_ELEMENTS || m.depth > LIMIT_DEPTH)
		return -EMSGSIZE;

	head = m.values * sizeof(*root);
	root = malloc(head + 2 * raw.len + m.values);
	if (!root)
		return -ENOMEM;
	b.values = root + 1;
	b.left = m.values - 1;
	cursor.data = memcpy((char *)root + head, raw.data, raw.len);
	cursor.len = raw.len;
	b.text = (char *)root + head + raw.len;
	rc = build(&b, &cursor, root);
	if (rc < 0) {
		free(root);
		return rc;
	}
	*out = root;
	return 0;
}

int approval_value_parse(const void *data, size_t len, struct approval_value **out)
{
	struct bytes raw = {data, len};
	int rc;

	if (!out || (!data && len))
		return -EINVAL;
	*out = NULL;
	rc = wire_scan_value(raw);
	return rc < 0 ? rc : value_decode(raw, out);
}

int approval_value_dup(const struct approval_value *v, struct approval_value **out)
{
	if (!out)
		return -EINVAL;
	*out = NULL;
	return v ? value_decode(value_raw(v), out) : -EINVAL;
}

void approval_value_free(struct approval_value *v)
{
	free(v);
}

struct bytes value_raw(const struct approval_value *v)
{
	return v ? (struct bytes){v->raw, v->raw_len} : (struct bytes){NULL, 0};
}

const void *approval_value_raw(const struct approval_value *v, size_t *len)
{
	if (len)
		*len = v ? v->raw_len : 0;
	return v ? v->raw : NULL;
}

enum approval_type approval_value_type(const struct approval_value *v)
{
	return v ? v->type : APPROVAL_NIL;
}

bool approval_value_bool(const struct approval_value *v)
{
	return v && v->type == APPROVAL_BOOL && v->boolean;
}

/* One that has no place in 64 bits saturates; what is not a number is 0. */
static int64_t float_to_int(double f)
{
	if (f != f)
		return 0;
	if (f >= 0x1p63)
		return INT64_MAX;
	return f < -0x1p63 ? INT64_MIN : (int64_t)f;
}

static uint64_t float_to_uint(double f)
{
	if (f != f || f < 0)
		return 0;
	return f >= 0x1p64 ? UINT64_MAX : (uint64_t)f;
}

int64_t approval_value_int(const struct approval_value *v)
{
	switch (approval_value_type(v)) {
	case APPROVAL_INT: return v->i64;
	case APPROVAL_UINT: return INT64_MAX;
	case APPROVAL_FLOAT: return float_to_int(v->f64);
	default: return 0;
	}
}

uint64_t approval_value_uint(const struct approval_value *v)
{
	switch (approval_value_type(v)) {
	case APPROVAL_INT: return v->i64 < 0 ? 0 : (uint64_t)v->i64;
	case APPROVAL_UINT: return v->u64;
	case APPROVAL_FLOAT: return float_to_uint(v->f64);
	default: return 0;
	}
}

double approval_value_float(const struct approval_value *v)
{
	switch (approval_value_type(v)) {
	case APPROVAL_INT: return (double)v->i64;
	case APPROVAL_UINT: return (double)v->u64;
	case APPROVAL_FLOAT: return v->f64;
	default: return 0;
	}
}

const char *approval_value_str(const struct approval_value *v, size_t *len)
{
	enum approval_type type = approval_value_type(v);
	bool text = type == APPROVAL_STR || type == APPROVAL_BIN;

	if (len)
		*len = text ? v->count : 0;
	return text ? v->text : "";
}

size_t approval_value_count(const struct approval_value *v)
{
	enum approval_type type = approval_value_type(v);

	return type == APPROVAL_ARRAY || type == APPROVAL_MAP ? v->count : 0;
}

const struct approval_value *approval_value_at(const struct approval_value *v, size_t i)
{
	return approval_value_type(v) == APPROVAL_ARRAY && i < v->count ? &v->items[i] : NULL;
}

bool approval_value_pair(const struct approval_value *v, size_t i,
	const struct approval_value **key, const struct approval_value **value)
{
	bool found = approval_value_type(v) == APPROVAL_MAP && i < v->count;

	if (key)
		*key = found ? &v->items[2 * i] : NULL;
	if (value)
		*value = found ? &v->items[2 * i + 1] : NULL;
	return found;
}

const struct approval_value *approval_value_get(const struct approval_value *v, const char *key)
{
	const struct approval_value *k, *value;
	size_t i, len = key ? strlen(key) : 0;

	for (i = 0; key && approval_value_pair(v, i, &k, &value); i++) {
		if (k->type == APPROVAL_STR && k->count == len &&
			memcmp(k->text, key, len) == 0)
			return value;
	}
	return NULL;
}

const char *approval_value_text(const struct approval_value *v, const char *key)
{
	return approval_value_str(approval_value_get(v, key), NULL);
}
