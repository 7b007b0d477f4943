/* SPDX-License-Identifier: MIT */
/*
 * Decoder and encoder against every field of every message: each wrong type, the
 * limit and one more, absent, nil and twice.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/wire/message.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})
#define NO_FIELD 64

union any_message {
	uint64_t present;
	uint64_t room[64];
};

static bool is_number(const struct wire_field *f)
{
	return f->type <= WIRE_I64;
}

static struct bytes bytes_at(const struct wire_field *f, const union any_message *m)
{
	return *(const struct bytes *)((const uint8_t *)m + f->offset);
}

static size_t specs_count(void)
{
	size_t n = 0;

	while (wire_specs[n])
		n++;
	return n;
}

/* Some right value. */
static void pack_right(struct wire_buffer *b, const struct wire_field *f)
{
	static const uint8_t text[WIRE_DIGEST] = "0123456789";
	const struct bytes v = {text, f->flags & WIRE_EXACT ? f->max : 10};

	switch ((enum wire_type)f->type) {
	case WIRE_BOOL: wire_pack_bool(b, true); break;
	case WIRE_U32:
	case WIRE_U64: wire_pack_u64(b, 7); break;
	case WIRE_I64: wire_pack_i64(b, -7); break;
	case WIRE_STR: wire_pack_str(b, v); break;
	case WIRE_BIN: wire_pack_bin(b, v); break;
	case WIRE_RAW: wire_pack_raw(b, BYTES(0x92, 1, 0xa1, 'x')); break;
	case WIRE_ARRAY: wire_pack_raw(b, BYTES(0x91, 0x80)); break;
	case WIRE_MAP: wire_pack_raw(b, BYTES(0x81, 0xa1, 'k', 0xc0)); break;
	}
}

/* A right map of the required fields; `other` is replaced by a raw value, or left out without
 * one. */
static void pack_with(struct wire_buffer *b, const struct wire_spec *spec, unsigned int other,
	struct bytes value)
{
	struct wire_open m;

	wire_buffer_reset(b, SIZE_MAX);
	wire_map_open(&m, b);
	for (unsigned int i = 0; i < spec->n; i++) {
		const struct wire_field *const f = &spec->fields[i];

		if (i == other && value.data) {
			wire_map_key(&m, f->key);
			wire_buffer_append(b, value.data, value.len);
		} else if (i != other && f->flags & WIRE_REQUIRED) {
			wire_map_key(&m, f->key);
			pack_right(b, f);
		}
	}
	wire_close(&m);
	ck_assert_int_eq(b->error, 0);
}

static int decode_with(struct wire_buffer *b, const struct wire_spec *spec, unsigned int other,
	struct bytes value, union any_message *m)
{
	struct wire_problem problem;
	int rc;

	pack_with(b, spec, other, value);
	ck_assert_int_eq(wire_scan_value(wire_buffer_bytes(b)), 0);
	rc = wire_decode(spec, wire_buffer_bytes(b), m, &problem);
	if (rc)
		ck_assert_msg(strcmp(problem.param, spec->fields[other].key) == 0,
			"%s: the problem is %s, not %s", spec->name, problem.param,
			spec->fields[other].key);
	return rc;
}

#define FOR_EACH_FIELD(spec, f, i)                                                             \
	for (unsigned int i = 0; i < (spec)->n; i++)                                           \
		for (const struct wire_field *f = &(spec)->fields[i]; f; f = NULL)

#define CHECK_RC(rc, expected, spec, f, what)                                                  \
	ck_assert_msg((rc) == (expected), "%s.%s, %s: %d, not %d", (spec)->name, (f)->key,     \
		what, rc, expected)

START_TEST(specs_are_sound)
{
	const struct wire_spec *const spec = wire_specs[_i];

	ck_assert_uint_le(spec->n, 64);
	ck_assert_uint_le(spec->size, sizeof(union any_message));
	FOR_EACH_FIELD(spec, f, i)
	{
		ck_assert_uint_eq(f->key_len, strlen(f->key));
		ck_assert_uint_ge(f->offset, sizeof(uint64_t));
		ck_assert_int_eq(spec->required >> i & 1, f->flags & WIRE_REQUIRED);
		ck_assert_int_eq(wire_spec_find(spec, bytes_of(f->key)), (int)i);
		ck_assert(!(f->flags & WIRE_EXACT) || f->max > 0);
	}
	ck_assert_int_eq(wire_spec_find(spec, bytes_of("no such key")), -1);
	ck_assert_int_eq(wire_spec_find(spec, bytes_of("")), -1);
}
END_TEST

START_TEST(all_fields_round_trip)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b, again;
	union any_message m;
	struct wire_open o;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_buffer_init(&again, LIMIT_FRAME);
	wire_map_open(&o, &b);
	FOR_EACH_FIELD(spec, f, i)
	{
		wire_map_key(&o, f->key);
		pack_right(&b, f);
	}
	wire_close(&o);
	ck_assert_int_eq(wire_decode(spec, wire_buffer_bytes(&b), &m, NULL), 0);
	ck_assert_uint_eq(m.present, spec->n == 0 ? 0 : UINT64_MAX >> (64 - spec->n));
	ck_assert_int_eq(wire_encode(spec, &m, &again), 0);
	/* but for the form of the map's head they are the same bytes */
	ck_assert_uint_eq(b.data[0], 0xde);
	if (spec->n < 16)
		ck_assert(bytes_equal((struct bytes){b.data + 3, b.len - 3},
			(struct bytes){again.data + 1, again.len - 1}));
	else
		ck_assert(bytes_equal(wire_buffer_bytes(&b), wire_buffer_bytes(&again)));
	wire_buffer_free(&b);
	wire_buffer_free(&again);
}
END_TEST

START_TEST(absent_and_nil)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b;
	union any_message m;

	wire_buffer_init(&b, LIMIT_FRAME);
	FOR_EACH_FIELD(spec, f, i)
	{
		const int expected = f->flags & WIRE_REQUIRED ? WIRE_INVALID : 0;

		CHECK_RC(decode_with(&b, spec, i, (struct bytes){NULL, 0}, &m), expected, spec,
			f, "absent");
		CHECK_RC(decode_with(&b, spec, i, BYTES(0xc0), &m), expected, spec, f, "nil");
		if (expected)
			continue;
		ck_assert(!(m.present >> i & 1));
		if (!is_number(f))
			ck_assert_ptr_null(bytes_at(f, &m).data);
	}
	wire_buffer_free(&b);
}
END_TEST

/* Which kinds of MessagePack values each type takes. */
static bool takes(enum wire_type type, char kind)
{
	static const char *const kinds[] = {
		[WIRE_BOOL] = "b",
		[WIRE_U32] = "u",
		[WIRE_U64] = "u",
		[WIRE_I64] = "ui",
		[WIRE_STR] = "sB",
		[WIRE_BIN] = "B",
		[WIRE_RAW] = "buifsBeam",
		[WIRE_ARRAY] = "a",
		[WIRE_MAP] = "m",
	};

	return strchr(kinds[type], kind) != NULL;
}

START_TEST(every_wrong_type)
{
	static const struct {
		char kind;
		uint8_t data[10];
		size_t len;
	} values[] = {
		{'b', {0xc2}, 1},
		{'u', {0x05}, 1},
		{'i', {0xfb}, 1},
		{'f', {0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0}, 9},
		{'s', {0xa1, 'x'}, 2},
		{'B', {0xc4, 1, 'x'}, 3},
		{'e', {0xd4, 1, 'x'}, 3},
		{'a', {0x91, 1}, 2},
		{'m', {0x81, 0xa1, 'x', 1}, 4},
	};
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b;
	union any_message m;

	wire_buffer_init(&b, LIMIT_FRAME);
	FOR_EACH_FIELD(spec, f, i)
	{
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
			const char what[] = {values[v].kind, 0};
			const bool right = takes(f->type, values[v].kind) &&
					   !(f->flags & WIRE_EXACT) && /* of another length */
					   !(f->flags & WIRE_FREE && values[v].kind == 'e');

			CHECK_RC(decode_with(&b, spec, i,
					 (struct bytes){values[v].data, values[v].len}, &m),
				right ? 0 : WIRE_INVALID, spec, f, what);
		}
	}
	wire_buffer_free(&b);
}
END_TEST

static void check_number_limit(
	struct wire_buffer *b, const struct wire_spec *spec, unsigned int i)
{
	const struct wire_field *const f = &spec->fields[i];
	const uint64_t most = f->max		    ? f->max
			      : f->type == WIRE_U32 ? UINT32_MAX
			      : f->type == WIRE_I64 ? INT64_MAX
						    : UINT64_MAX;
	struct wire_buffer v;
	union any_message m;

	wire_buffer_init(&v, 64);
	wire_pack_u64(&v, most);
	CHECK_RC(decode_with(b, spec, i, wire_buffer_bytes(&v), &m), 0, spec, f, "greatest");
	ck_assert(m.present >> i & 1);
	if (f->type == WIRE_U32)
		ck_assert_uint_eq(*(uint32_t *)((uint8_t *)&m + f->offset), most);
	else
		ck_assert_uint_eq(*(uint64_t *)((uint8_t *)&m + f->offset), most);
	if (most < UINT64_MAX) {
		wire_buffer_reset(&v, SIZE_MAX);
		wire_pack_u64(&v, most + 1);
		CHECK_RC(decode_with(b, spec, i, wire_buffer_bytes(&v), &m), WIRE_INVALID, spec,
			f, "greatest and one");
	}
	if (f->type == WIRE_I64) {
		wire_buffer_reset(&v, SIZE_MAX);
		wire_pack_i64(&v, -(int64_t)most);
		CHECK_RC(decode_with(b, spec, i, wire_buffer_bytes(&v), &m), 0, spec, f,
			"least");
		wire_buffer_reset(&v, SIZE_MAX);
		wire_pack_i64(&v, -(int64_t)most - 1);
		CHECK_RC(decode_with(b, spec, i, wire_buffer_bytes(&v), &m), WIRE_INVALID, spec,
			f, "least but one");
	}
	wire_buffer_free(&v);
}

/* A value of a field's type that is exactly so many bytes, as `max` counts them. */
static void pack_sized(struct wire_buffer *v, enum wire_type type, size_t size)
{
	static const uint8_t zeros[LIMIT_INPUT + 1];
	const size_t pad = type == WIRE_MAP ? 3 : type == WIRE_ARRAY ? 1 : 0;

	switch (type) {
	case WIRE_STR: wire_pack_str(v, (struct bytes){zeros, size}); return;
	case WIRE_BIN: wire_pack_bin(v, (struct bytes){zeros, size}); return;
	case WIRE_MAP:
		wire_pack_map(v, 1);
		wire_pack_strz(v, "k");
		break;
	case WIRE_ARRAY: wire_pack_array(v, 1); break;
	default: break;
	}
	/* a bin32, whose head is 5 bytes, whatever the packer would choose */
	size -= pad + 5;
	wire_buffer_append(v,
		(const uint8_t[]){0xc6, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
			(uint8_t)(size >> 8), (uint8_t)size},
		5);
	wire_buffer_append(v, zeros, size);
}

static void check_size_limit(
	struct wire_buffer *b, const struct wire_spec *spec, unsigned int i)
{
	const struct wire_field *const f = &spec->fields[i];
	const int over =
		f->type == WIRE_STR || f->flags & WIRE_EXACT ? WIRE_INVALID : WIRE_TOO_LARGE;
	struct wire_buffer v;
	union any_message m;

	if (f->max == 0)
		return;
	wire_buffer_init(&v, 2 * LIMIT_INPUT);
	for (size_t size = f->max - 1; size <= f->max + 1; size++) {
		const int expected = size > f->max			      ? over
				     : size < f->max && f->flags & WIRE_EXACT ? WIRE_INVALID
									      : 0;

		wire_buffer_reset(&v, SIZE_MAX);
		pack_sized(&v, f->type, size);
		CHECK_RC(decode_with(b, spec, i, wire_buffer_bytes(&v), &m), expected, spec, f,
			"size around its limit");
		if (expected == 0)
			ck_assert_uint_eq(bytes_at(f, &m).len, size);
	}
	wire_buffer_free(&v);
}

START_TEST(every_limit)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	FOR_EACH_FIELD(spec, f, i)
	{
		if (f->type == WIRE_BOOL)
			continue;
		if (is_number(f))
			check_number_limit(&b, spec, i);
		else
			check_size_limit(&b, spec, i);
	}
	wire_buffer_free(&b);
}
END_TEST

/* A nil is given, too. */
START_TEST(given_twice)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_problem problem;
	struct wire_buffer b;
	union any_message m;

	wire_buffer_init(&b, LIMIT_FRAME);
	for (unsigned int round = 0; round < 3u * spec->n; round++) {
		const struct wire_field *const twice = &spec->fields[round / 3];
		const bool nil_first = round % 3 == 1, nil_then = round % 3 == 2;
		struct wire_open o;

		wire_buffer_reset(&b, SIZE_MAX);
		wire_map_open(&o, &b);
		FOR_EACH_FIELD(spec, f, i)
		{
			wire_map_key(&o, f->key);
			if (f == twice && nil_first)
				wire_pack_nil(&b);
			else
				pack_right(&b, f);
		}
		wire_map_key(&o, twice->key);
		if (nil_then)
			wire_pack_nil(&b);
		else
			pack_right(&b, twice);
		wire_close(&o);
		CHECK_RC(wire_decode(spec, wire_buffer_bytes(&b), &m, &problem), WIRE_INVALID,
			spec, twice, "given twice");
		ck_assert_str_eq(problem.param, twice->key);
	}
	wire_buffer_free(&b);
}
END_TEST

START_TEST(unknown_keys_and_other_order)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b;
	union any_message m;
	struct wire_open o;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_map_open(&o, &b);
	for (unsigned int i = spec->n; i-- > 0;) {
		wire_map_raw(&o, "from the future", BYTES(0x92, 0x81, 1, 2, 0xc0));
		/* a bin is taken for a key as well */
		o.n++;
		wire_pack_bin(&b, bytes_of(spec->fields[i].key));
		pack_right(&b, &spec->fields[i]);
	}
	wire_map_str(&o, "", bytes_of(""));
	wire_close(&o);
	ck_assert_int_eq(wire_decode(spec, wire_buffer_bytes(&b), &m, NULL), 0);
	ck_assert_uint_eq(m.present, spec->n == 0 ? 0 : UINT64_MAX >> (64 - spec->n));
	wire_buffer_free(&b);
}
END_TEST

/* Every prefix of a right map, which no scan would let pass, is refused without harm. */
START_TEST(cut_off)
{
	const struct wire_spec *const spec = wire_specs[_i];
	struct wire_buffer b;
	union any_message m;

	wire_buffer_init(&b, LIMIT_FRAME);
	pack_with(&b, spec, NO_FIELD, (struct bytes){NULL, 0});
	for (size_t n = 0; n < b.len; n++) {
		uint8_t *const part = malloc(n + 1);

		ck_assert_ptr_nonnull(part);
		memcpy(part, b.data, n);
		ck_assert_int_eq(
			wire_decode(spec, (struct bytes){part, n}, &m, NULL), WIRE_INVALID);
		free(part);
	}
	wire_pack_nil(&b);
	ck_assert_int_eq(wire_decode(spec, wire_buffer_bytes(&b), &m, NULL), WIRE_INVALID);
	wire_buffer_free(&b);
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire spec");
	TCase *const t = tcase_create("every message");
	SRunner *const sr = srunner_create(s);
	const int n = (int)specs_count();
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, specs_are_sound, 0, n);
	tcase_add_loop_test(t, all_fields_round_trip, 0, n);
	tcase_add_loop_test(t, absent_and_nil, 0, n);
	tcase_add_loop_test(t, every_wrong_type, 0, n);
	tcase_add_loop_test(t, every_limit, 0, n);
	tcase_add_loop_test(t, given_twice, 0, n);
	tcase_add_loop_test(t, unknown_keys_and_other_order, 0, n);
	tcase_add_loop_test(t, cut_off, 0, n);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
