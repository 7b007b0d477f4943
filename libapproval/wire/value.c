/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/wire/lead.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

static uint64_t big_endian(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static void advance(struct bytes *cursor, size_t n)
{
	cursor->data = (const uint8_t *)cursor->data + n;
	cursor->len -= n;
}

/*
 * Takes the first byte and the length or count behind it. *n is the bytes of
 * payload that follow and are there, or the values that follow, of which each
 * has a byte.
 */
static int take_head(struct bytes *cursor, const struct wire_lead **lead, uint64_t *n)
{
	const uint8_t *const p = cursor->data;
	const struct wire_lead *l;
	uint64_t size;

	if (cursor->len == 0)
		return -EBADMSG;
	l = &wire_leads[*p];
	if (l->kind == LEAD_BAD || cursor->len <= l->gather)
		return -EBADMSG;
	size = (uint64_t)(*p & l->mask) + l->add + big_endian(p + 1, l->gather);
	if (l->kind == LEAD_MAP)
		size *= 2;
	advance(cursor, (size_t)l->gather + 1);
	if (size > cursor->len)
		return -EBADMSG;
	*lead = l;
	*n = size;
	return 0;
}

static void set_signed(struct wire_value *v, int64_t i)
{
	if (i < 0) {
		v->kind = WIRE_KIND_INT;
		v->i64 = i;
	} else {
		v->kind = WIRE_KIND_UINT;
		v->u64 = (uint64_t)i;
	}
}

static void set_unsigned(struct wire_value *v, uint64_t u)
{
	v->kind = WIRE_KIND_UINT;
	v->u64 = u;
}

static void set_float(struct wire_value *v, const uint8_t *p, unsigned int n)
{
	const uint64_t bits = big_endian(p, n);

	v->kind = WIRE_KIND_FLOAT;
	if (n == sizeof(float)) {
		const uint32_t narrow = (uint32_t)bits;
		float f;

		memcpy(&f, &narrow, sizeof(f));
		v->f64 = f;
	} else {
		memcpy(&v->f64, &bits, sizeof(v->f64));
	}
}

static void set_bytes(struct wire_value *v, enum wire_kind kind, const uint8_t *p, size_t n)
{
	v->kind = kind;
	v->bytes = (struct bytes){p, n};
}

static void set_ext(struct wire_value *v, const uint8_t *p, size_t n)
{
	set_bytes(v, WIRE_KIND_EXT, p + 1, n - 1);
	v->ext = (int8_t)*p;
}

/* The value whose first byte is `lead` and whose payload is the n bytes at p. */
static void set_payload(struct wire_value *v, uint8_t lead, const uint8_t *p, size_t n)
{
	switch (lead) {
	case 0x00 ... 0x7f: set_unsigned(v, lead); break;
	case 0xc0: v->kind = WIRE_KIND_NIL; break;
	case 0xc2 ... 0xc3:
		v->kind = WIRE_KIND_BOOL;
		v->boolean = lead & 1;
		break;
	case 0xc4 ... 0xc6: set_bytes(v, WIRE_KIND_BIN, p, n); break;
	case 0xc7 ... 0xc9:
	case 0xd4 ... 0xd8: set_ext(v, p, n); break;
	case 0xca ... 0xcb: set_float(v, p, (unsigned int)n); break;
	case 0xcc ... 0xcf: set_unsigned(v, big_endian(p, (unsigned int)n)); break;
	case 0xd0: set_signed(v, (int8_t)*p); break;
	case 0xd1: set_signed(v, (int16_t)big_endian(p, 2)); break;
	case 0xd2: set_signed(v, (int32_t)big_endian(p, 4)); break;
	case 0xd3: set_signed(v, (int64_t)big_endian(p, 8)); break;
	case 0xe0 ... 0xff: set_signed(v, (int8_t)lead); break;
	default: set_bytes(v, WIRE_KIND_STR, p, n); break;
	}
}

int wire_read(struct bytes *cursor, struct wire_value *v)
{
	const uint8_t *const at = cursor->data;
	const struct wire_lead *lead;
	uint64_t n;

	if (take_head(cursor, &lead, &n))
		return -EBADMSG;
	switch (lead->kind) {
	case LEAD_ARRAY:
		v->kind = WIRE_KIND_ARRAY;
		v->count = (uint32_t)n;
		break;
	case LEAD_MAP:
		v->kind = WIRE_KIND_MAP;
		v->count = (uint32_t)(n / 2);
		break;
	default:
		set_payload(v, *at, cursor->data, (size_t)n);
		advance(cursor, (size_t)n);
		break;
	}
	return 0;
}

int wire_skip(struct bytes *cursor, struct bytes *value)
{
	const void *const at = cursor->data;
	const struct wire_lead *lead;
	struct bytes rest = *cursor;
	uint64_t due = 1, n;

	while (due > 0) {
		if (take_head(&rest, &lead, &n))
			return -EBADMSG;
		due--;
		if (lead->kind == LEAD_PAYLOAD)
			advance(&rest, (size_t)n);
		else
			due += n;
	}
	if (value)
		*value = (struct bytes){at, cursor->len - rest.len};
	*cursor = rest;
	return 0;
}

int wire_measure(struct bytes value, struct wire_measure *m)
{
	struct wire_scan s;
	size_t used;
	int rc;

	wire_scan_init_any(&s);
	rc = wire_scan_feed(&s, value.data, value.len, &used);
	if (rc < 0)
		return rc;
	if (rc != WIRE_SCAN_DONE || used != value.len)
		return -EBADMSG;
	*m = (struct wire_measure){.depth = s.deepest, .values = s.values, .ext = s.ext};
	return 0;
}

int wire_text(struct bytes raw, struct bytes *text)
{
	struct wire_value v;

	if (wire_read(&raw, &v) || raw.len > 0)
		return -EINVAL;
	if (v.kind != WIRE_KIND_STR && v.kind != WIRE_KIND_BIN)
		return -EINVAL;
	*text = v.bytes;
	return 0;
}

static int iter_begin(struct wire_iter *it, struct bytes raw, enum wire_kind kind)
{
	struct wire_value v;

	*it = (struct wire_iter){.rest = raw};
	if (wire_read(&it->rest, &v) || v.kind != kind)
		return -EINVAL;
	it->left = v.count;
	return 0;
}

int wire_iter_array(struct wire_iter *it, struct bytes array)
{
	return iter_begin(it, array, WIRE_KIND_ARRAY);
}

int wire_iter_map(struct wire_iter *it, struct bytes map)
{
	return iter_begin(it, map, WIRE_KIND_MAP);
}

bool wire_array_next(struct wire_iter *it, struct bytes *element)
{
	if (it->left == 0 || wire_skip(&it->rest, element))
		return false;
	it->left--;
	return true;
}

bool wire_map_next(struct wire_iter *it, struct bytes *key, struct bytes *value)
{
	if (it->left == 0 || wire_skip(&it->rest, key) || wire_skip(&it->rest, value))
		return false;
	it->left--;
	return true;
}
