/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/limits.h"
#include "libapproval/wire/spec.h"
#include "libapproval/wire/value.h"

/* ---- decoding ---- */

static int refuse(struct wire_problem *problem, enum wire_code code, const char *message)
{
	problem->message = message;
	return code;
}

static int decode_bool(const struct wire_value *v, void *member, struct wire_problem *problem)
{
	if (v->kind != WIRE_KIND_BOOL)
		return refuse(problem, WIRE_INVALID, "must be a bool");
	*(bool *)member = v->boolean;
	return 0;
}

static int decode_unsigned(const struct wire_field *f, const struct wire_value *v, void *member,
	struct wire_problem *problem)
{
	const uint64_t most = f->type == WIRE_U32 ? UINT32_MAX : UINT64_MAX;

	if (v->kind != WIRE_KIND_UINT)
		return refuse(problem, WIRE_INVALID, "must be an integer that is not negative");
	if (v->u64 > most || (f->max > 0 && v->u64 > f->max))
		return refuse(problem, WIRE_INVALID, "is out of range");
	if (f->type == WIRE_U32)
		*(uint32_t *)member = (uint32_t)v->u64;
	else
		*(uint64_t *)member = v->u64;
	return 0;
}

static int decode_signed(const struct wire_field *f, const struct wire_value *v, void *member,
	struct wire_problem *problem)
{
	const int64_t most = f->max > 0 ? (int64_t)f->max : INT64_MAX;

	if (v->kind != WIRE_KIND_UINT && v->kind != WIRE_KIND_INT)
		return refuse(problem, WIRE_INVALID, "must be an integer");
	if (v->kind == WIRE_KIND_UINT ? v->u64 > (uint64_t)most : v->i64 < -most)
		return refuse(problem, WIRE_INVALID, "is out of range");
	*(int64_t *)member = v->i64;
	return 0;
}

static int decode_bytes(const struct wire_field *f, const struct wire_value *v,
	struct bytes *member, struct wire_problem *problem)
{
	if (v->kind != WIRE_KIND_BIN && f->type == WIRE_BIN)
		return refuse(problem, WIRE_INVALID, "must be a bin");
	if (v->kind != WIRE_KIND_BIN && v->kind != WIRE_KIND_STR)
		return refuse(problem, WIRE_INVALID, "must be a str");
	if (f->flags & WIRE_EXACT && v->bytes.len != f->max)
		return refuse(problem, WIRE_INVALID, "has a wrong length");
	if (f->max > 0 && v->bytes.len > f->max && f->type == WIRE_BIN)
		return refuse(problem, WIRE_TOO_LARGE, "is too large");
	if (f->max > 0 && v->bytes.len > f->max)
		return refuse(problem, WIRE_INVALID, "is too long");
	*member = v->bytes;
	return 0;
}

static int decode_raw(const struct wire_field *f, enum wire_kind kind, struct bytes raw,
	struct bytes *member, struct wire_problem *problem)
{
	struct wire_measure m;

	if (f->type == WIRE_ARRAY && kind != WIRE_KIND_ARRAY)
		return refuse(problem, WIRE_INVALID, "must be an array");
	if (f->type == WIRE_MAP && kind != WIRE_KIND_MAP)
		return refuse(problem, WIRE_INVALID, "must be a map");
	if (f->max > 0 && raw.len > f->max)
		return refuse(problem, WIRE_TOO_LARGE, "is too large");
	if (f->flags & WIRE_FREE) {
		if (wire_measure(raw, &m))
			return refuse(problem, WIRE_INVALID, "is not inside the wire's limits");
		/* a malformed timestamp would throw in whoever is shown it */
		if (m.ext)
			return refuse(problem, WIRE_INVALID, "may hold no extension types");
		if (m.depth > LIMIT_VALUE_DEPTH)
			return refuse(problem, WIRE_TOO_LARGE, "is nested too deep");
		if (m.values > LIMIT_VALUE_COUNT)
			return refuse(problem, WIRE_TOO_LARGE, "has too many elements");
	}
	*member = raw;
	return 0;
}

/* Takes the value of a field off the front. *given: it is not nil. */
static int decode_field(const struct wire_field *f, struct bytes *cursor, void *member,
	bool *given, struct wire_problem *problem)
{
	const struct bytes at = *cursor;
	struct bytes raw;
	struct wire_value v;

	problem->param = f->key;
	if (wire_read(cursor, &v))
		return refuse(problem, WIRE_INVALID, "is no MessagePack");
	*given = v.kind != WIRE_KIND_NIL;
	if (!*given)
		return 0;
	switch ((enum wire_type)f->type) {
	case WIRE_BOOL: return decode_bool(&v, member, problem);
	case WIRE_U32:
	case WIRE_U64: return decode_unsigned(f, &v, member, problem);
	case WIRE_I64: return decode_signed(f, &v, member, problem);
	case WIRE_STR:
	case WIRE_BIN: return decode_bytes(f, &v, member, problem);
	case WIRE_RAW:
	case WIRE_ARRAY:
	case WIRE_MAP:
		*cursor = at;
		if (wire_skip(cursor, &raw))
			return refuse(problem, WIRE_INVALID, "is no MessagePack");
		return decode_raw(f, v.kind, raw, member, problem);
	}
	return refuse(problem, WIRE_INVALID, "is of no known type");
}

static bool field_is(const struct wire_field *f, struct bytes key)
{
	return f->key_len == key.len && memcmp(f->key, key.data, key.len) == 0;
}

/* Most senders keep the order of the list, so the search goes on where the last one ended. */
static int find_from(const struct wire_spec *spec, int from, struct bytes key)
{
	for (int i = from; i < spec->n; i++) {
		if (field_is(&spec->fields[i], key))
			return i;
	}
	for (int i = 0; i < from; i++) {
		if (field_is(&spec->fields[i], key))
			return i;
	}
	return -1;
}

int wire_spec_find(const struct wire_spec *spec, struct bytes key)
{
	return find_from(spec, 0, key);
}

static int decode_map(const struct wire_spec *spec, struct bytes map, uint8_t *out,
	struct wire_problem *problem)
{
	uint64_t seen = 0, present = 0;
	struct wire_value v;
	uint32_t pairs;
	bool given;
	int i, rc, from = 0;

	if (wire_read(&map, &v) || v.kind != WIRE_KIND_MAP)
		return refuse(problem, WIRE_INVALID, "must be one map");
	for (pairs = v.count; pairs > 0; pairs--) {
		problem->param = "params";
		if (wire_read(&map, &v) || (v.kind != WIRE_KIND_STR && v.kind != WIRE_KIND_BIN))
			return refuse(problem, WIRE_INVALID, "must have keys of type str only");
		i = find_from(spec, from, v.bytes);
		if (i < 0) {
			if (wire_skip(&map, NULL))
				return refuse(problem, WIRE_INVALID, "must be one map");
			continue;
		}
		if (seen >> i & 1) {
			problem->param = spec->fields[i].key;
			return refuse(problem, WIRE_INVALID, "is given twice");
		}
		seen |= UINT64_C(1) << i;
		from = i + 1;
		rc = decode_field(
			&spec->fields[i], &map, out + spec->fields[i].offset, &given, problem);
		if (rc)
			return rc;
		present |= (uint64_t)given << i;
	}
	problem->param = "params";
	if (map.len > 0)
		return refuse(problem, WIRE_INVALID, "must be one map");
	if ((present & spec->required) != spec->required) {
		i = __builtin_ctzll(spec->required & ~present);
		problem->param = spec->fields[i].key;
		return refuse(problem, WIRE_INVALID, "is missing");
	}
	memcpy(out, &present, sizeof(present));
	return 0;
}

int wire_decode(
	const struct wire_spec *spec, struct bytes map, void *out, struct wire_problem *problem)
{
	struct wire_problem unused;

	if (!problem)
		problem = &unused;
	*problem = (struct wire_problem){.param = "params", .message = ""};
	memset(out, 0, spec->size);
	return decode_map(spec, map, out, problem);
}

/* ---- encoding ---- */

static bool is_number(const struct wire_field *f)
{
	return f->type <= WIRE_I64;
}

static bool is_given(const struct wire_field *f, const void *member, bool present)
{
	if (is_number(f))
		return present || f->flags & WIRE_REQUIRED;
	return ((const struct bytes *)member)->data != NULL;
}

static void encode_raw(const struct wire_field *f, struct bytes raw, struct wire_buffer *b)
{
	struct bytes head = raw;
	struct wire_value v = {.kind = WIRE_KIND_NIL};

	if (wire_read(&head, &v) || (f->type == WIRE_ARRAY && v.kind != WIRE_KIND_ARRAY) ||
		(f->type == WIRE_MAP && v.kind != WIRE_KIND_MAP))
		wire_buffer_fail(b, -EINVAL);
	wire_pack_raw(b, raw);
}

static void encode_field(const struct wire_field *f, const void *member, struct wire_buffer *b)
{
	switch ((enum wire_type)f->type) {
	case WIRE_BOOL: wire_pack_bool(b, *(const bool *)member); break;
	case WIRE_U32: wire_pack_u64(b, *(const uint32_t *)member); break;
	case WIRE_U64: wire_pack_u64(b, *(const uint64_t *)member); break;
	case WIRE_I64: wire_pack_i64(b, *(const int64_t *)member); break;
	case WIRE_STR: wire_pack_str(b, *(const struct bytes *)member); break;
	case WIRE_BIN: wire_pack_bin(b, *(const struct bytes *)member); break;
	case WIRE_RAW:
	case WIRE_ARRAY:
	case WIRE_MAP: encode_raw(f, *(const struct bytes *)member, b); break;
	}
}

int wire_encode(const struct wire_spec *spec, const void *in, struct wire_buffer *b)
{
	const uint8_t *const base = in;
	uint64_t present, given = 0, written = 0;

	memcpy(&present, base, sizeof(present));
	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];
		const uint64_t bit = UINT64_C(1) << i;

		if (is_given(f, base + f->offset, present & bit))
			given |= bit;
		if (given & bit || f->flags & WIRE_NILLED)
			written |= bit;
	}
	if (spec->required & ~given)
		wire_buffer_fail(b, -EINVAL);
	wire_pack_map(b, (uint32_t)__builtin_popcountll(written));
	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];

		if (!(written >> i & 1))
			continue;
		wire_pack_str(b, (struct bytes){f->key, f->key_len});
		if (given >> i & 1)
			encode_field(f, base + f->offset, b);
		else
			wire_pack_nil(b);
	}
	return b->error;
}
