/* SPDX-License-Identifier: MIT */
/*
 * The typed messages. The first byte chooses the spec, the rest is a map that is
 * decoded; what was understood is encoded and decoded again, and must be the
 * same. Then the rest is taken as the content of a structure, which must survive
 * being encoded and decoded. See driver.c for how to run it.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/wire/message.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union any_message {
	uint64_t present;
	uint64_t room[64];
};

static bool is_number(const struct wire_field *f)
{
	return f->type <= WIRE_I64;
}

static struct bytes *bytes_at(const struct wire_field *f, union any_message *m)
{
	return (struct bytes *)((uint8_t *)m + f->offset);
}

static size_t number_size(const struct wire_field *f)
{
	return f->type == WIRE_BOOL ? sizeof(bool) : f->type == WIRE_U32 ? 4 : 8;
}

static void check_equal(
	const struct wire_spec *spec, union any_message *a, union any_message *b)
{
	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];

		if (is_number(f)) {
			assert(memcmp((uint8_t *)a + f->offset, (uint8_t *)b + f->offset,
				       number_size(f)) == 0);
		} else {
			assert(!bytes_at(f, a)->data == !bytes_at(f, b)->data);
			assert(bytes_equal(*bytes_at(f, a), *bytes_at(f, b)));
		}
	}
}

/* What the decoder promises of every structure that it fills in. */
static void check_decoded(const struct wire_spec *spec, union any_message *m, struct bytes map)
{
	const char *const from = map.data;

	assert((m->present & spec->required) == spec->required);
	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];
		struct bytes v;

		if (is_number(f))
			continue;
		v = *bytes_at(f, m);
		assert((v.data != NULL) == (m->present >> i & 1));
		if (!v.data)
			continue;
		assert((const char *)v.data > from &&
			(const char *)v.data + v.len <= from + map.len);
		assert(f->max == 0 || v.len <= f->max);
		assert(!(f->flags & WIRE_EXACT) || v.len == f->max);
		if (f->type >= WIRE_RAW)
			assert(wire_scan_value(v) == 0);
	}
}

static void encode_again(const struct wire_spec *spec, union any_message *m)
{
	union any_message again;
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	assert(wire_encode(spec, m, &b) == 0);
	assert(wire_scan_value(wire_buffer_bytes(&b)) == 0);
	assert(wire_decode(spec, wire_buffer_bytes(&b), &again, NULL) == 0);
	check_decoded(spec, &again, wire_buffer_bytes(&b));
	check_equal(spec, m, &again);
	wire_buffer_free(&b);
}

static void decode_map(const struct wire_spec *spec, struct bytes map)
{
	struct wire_problem problem = {0};
	union any_message m;
	const int rc = wire_decode(spec, map, &m, &problem);

	assert(rc == 0 || rc == WIRE_INVALID || rc == WIRE_TOO_LARGE);
	assert(problem.param && problem.message);
	if (rc)
		assert(problem.message[0] != 0);
	/* what was not scanned can hold more than the limits admit, but never be misread */
	if (rc || wire_scan_value(map))
		return;
	check_decoded(spec, &m, map);
	encode_again(spec, &m);
}

static uint64_t take(struct bytes *entropy, size_t n)
{
	uint64_t v = 0;

	for (; n > 0 && entropy->len > 0; n--) {
		v = v << 8 | *(const uint8_t *)entropy->data;
		entropy->data = (const uint8_t *)entropy->data + 1;
		entropy->len--;
	}
	return v;
}

static void fill_number(const struct wire_field *f, struct bytes *entropy, void *member)
{
	uint64_t v = take(entropy, 8);

	if (f->max)
		v %= f->max + 1;
	switch (f->type) {
	case WIRE_BOOL: *(bool *)member = v & 1; break;
	case WIRE_U32: *(uint32_t *)member = (uint32_t)v; break;
	case WIRE_U64: *(uint64_t *)member = v; break;
	default:
		*(int64_t *)member =
			take(entropy, 1) & 1 ? -(int64_t)(v / 2) : (int64_t)(v / 2);
	}
}

static struct bytes fill_bytes(const struct wire_field *f, struct bytes *entropy)
{
	static const uint8_t raw[] = {0x93, 0x01, 0xa1, 'x', 0x80}; /* [1, "x", {}] */
	static const uint8_t map[] = {0x81, 0xa1, 'k', 0xcb, 1, 2, 3, 4, 5, 6, 7, 8};
	static const uint8_t exact[WIRE_DIGEST] = {1, 2, 3};
	struct bytes v = *entropy;
	size_t most = (size_t)take(entropy, 2);

	if (f->type == WIRE_MAP)
		return (struct bytes){map, sizeof(map)};
	if (f->type >= WIRE_RAW)
		return (struct bytes){raw, sizeof(raw)};
	if (f->flags & WIRE_EXACT)
		return (struct bytes){exact, f->max};
	if (f->max && most > f->max)
		most = f->max;
	if (v.len > most)
		v.len = most;
	return v;
}

static void fill_structure(const struct wire_spec *spec, struct bytes entropy)
{
	union any_message m = {0};
	const uint64_t chosen = take(&entropy, 8);

	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];

		if (!((chosen | spec->required) >> i & 1))
			continue;
		m.present |= UINT64_C(1) << i;
		if (is_number(f))
			fill_number(f, &entropy, (uint8_t *)&m + f->offset);
		else
			*bytes_at(f, &m) = fill_bytes(f, &entropy);
	}
	encode_again(spec, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t specs = 0;
	const struct wire_spec *spec;
	struct bytes rest;

	if (size == 0)
		return 0;
	while (wire_specs[specs])
		specs++;
	spec = wire_specs[data[0] % specs];
	assert(spec->size <= sizeof(union any_message));
	rest = (struct bytes){data + 1, size - 1};
	decode_map(spec, rest);
	fill_structure(spec, rest);
	return 0;
}
