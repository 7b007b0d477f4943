/* SPDX-License-Identifier: MIT */
/* The boundary scan: where objects end, however they are cut, and each limit. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

/* every connection has one */
_Static_assert(sizeof(struct wire_scan) <= 128, "the scan's state has grown");

#define BYTES(...)                                                                             \
	((struct bytes){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

/* One of each format, in an array of 32. */
static const uint8_t mixed[] = {0xdc, 0x00, 0x20, 0x7f, 0xe0, 0xc0, 0xc2, 0xc3, 0xcc, 0x80,
	0xcd, 0x01, 0x00, 0xce, 0x00, 0x01, 0x00, 0x00, 0xcf, 1, 2, 3, 4, 5, 6, 7, 8, 0xd0,
	0x80, 0xd1, 0x80, 0x00, 0xd2, 0x80, 0, 0, 0, 0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xca,
	0x3f, 0x80, 0, 0, 0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xa3, 'a', 'b', 'c', 0xd9, 2, 'a',
	'b', 0xda, 0, 2, 'a', 'b', 0xdb, 0, 0, 0, 2, 'a', 'b', 0xc4, 1, 'a', 0xc5, 0, 1, 'a',
	0xc6, 0, 0, 0, 1, 'a', 0xc7, 1, 5, 'a', 0xc8, 0, 1, 5, 'a', 0xc9, 0, 0, 0, 1, 5, 'a',
	0xd4, 1, 'a', 0xd5, 1, 'a', 'a', 0xd6, 1, 'a', 'a', 'a', 'a', 0xd7, 1, 1, 2, 3, 4, 5, 6,
	7, 8, 0xd8, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x82, 0xa1, 'k', 0x92,
	0x90, 0x80, 0xa0, 0xdf, 0, 0, 0, 1, 0xc0, 0xdd, 0, 0, 0, 0, 0xde, 0, 0};
/* the array; its 32; two keys, two values; two; one key, one value */
#define MIXED_VALUES (1 + 32 + 4 + 2 + 2)
#define MIXED_DEPTH  4

static int feed(struct wire_scan *s, struct bytes in, size_t *used)
{
	return wire_scan_feed(s, in.data, in.len, used);
}

/* Feeds all at once, and one byte at a time; both must say the same. */
static int scan(struct bytes in, bool any, size_t *used)
{
	struct wire_scan s, slow;
	size_t one, at = 0;
	int rc, rc_slow = WIRE_SCAN_MORE;

	if (any) {
		wire_scan_init_any(&s);
		wire_scan_init_any(&slow);
	} else {
		wire_scan_init(&s);
		wire_scan_init(&slow);
	}
	rc = feed(&s, in, used);
	while (rc_slow == WIRE_SCAN_MORE && at < in.len) {
		rc_slow = wire_scan_feed(&slow, (const uint8_t *)in.data + at, 1, &one);
		ck_assert_uint_eq(one, 1);
		at++;
	}
	ck_assert_int_eq(rc, rc_slow);
	ck_assert_uint_eq(*used, at);
	if (rc >= 0)
		ck_assert_uint_eq(s.size, at);
	return rc;
}

static int scan_any(struct bytes in)
{
	size_t used;

	return scan(in, true, &used);
}

START_TEST(mixed_whole)
{
	struct wire_measure m;
	struct wire_scan s;
	size_t used;

	wire_scan_init(&s);
	ck_assert_int_eq(wire_scan_feed(&s, mixed, sizeof(mixed), &used), WIRE_SCAN_DONE);
	ck_assert_uint_eq(used, sizeof(mixed));
	ck_assert_uint_eq(s.size, sizeof(mixed));
	ck_assert_int_eq(wire_measure((struct bytes){mixed, sizeof(mixed)}, &m), 0);
	ck_assert_uint_eq(m.values, MIXED_VALUES);
	ck_assert_uint_eq(m.depth, MIXED_DEPTH);
	/* complete is complete */
	ck_assert_int_eq(wire_scan_feed(&s, mixed, sizeof(mixed), &used), WIRE_SCAN_DONE);
	ck_assert_uint_eq(used, 0);
}
END_TEST

START_TEST(mixed_every_two_splits)
{
	for (size_t i = 0; i <= sizeof(mixed); i++) {
		for (size_t j = i; j <= sizeof(mixed); j++) {
			const size_t ends[] = {i, j, sizeof(mixed)};
			struct wire_scan s;
			size_t at = 0, used;

			wire_scan_init(&s);
			for (int k = 0; k < 3; k++) {
				const int rc =
					wire_scan_feed(&s, mixed + at, ends[k] - at, &used);

				ck_assert_uint_eq(used, ends[k] - at);
				at = ends[k];
				ck_assert_int_eq(rc,
					at == sizeof(mixed) ? WIRE_SCAN_DONE : WIRE_SCAN_MORE);
			}
		}
	}
}
END_TEST

START_TEST(objects_one_after_another)
{
	uint8_t stream[3 * sizeof(mixed)];
	size_t at = 0, used;

	for (int i = 0; i < 3; i++)
		memcpy(stream + i * sizeof(mixed), mixed, sizeof(mixed));
	for (int i = 0; i < 3; i++) {
		struct wire_scan s;

		wire_scan_init(&s);
		ck_assert_int_eq(wire_scan_feed(&s, stream + at, sizeof(stream) - at, &used),
			WIRE_SCAN_DONE);
		ck_assert_uint_eq(used, sizeof(mixed));
		at += used;
	}
}
END_TEST

/* The specification's table, written down again: how long a minimal value of each first byte
 * is. */
static size_t minimal_size(int lead)
{
	switch (lead) {
	case 0x80 ... 0x8f: return 1 + 2 * (size_t)(lead & 0x0f);
	case 0x90 ... 0x9f: return 1 + (size_t)(lead & 0x0f);
	case 0xa0 ... 0xbf: return 1 + (size_t)(lead & 0x1f);
	case 0xc4:
	case 0xd9:
	case 0xcc:
	case 0xd0: return 2;
	case 0xc5:
	case 0xda:
	case 0xcd:
	case 0xd1:
	case 0xdc:
	case 0xde:
	case 0xc7:
	case 0xd4: return 3;
	case 0xc8:
	case 0xd5: return 4;
	case 0xc6:
	case 0xdb:
	case 0xce:
	case 0xd2:
	case 0xca:
	case 0xdd:
	case 0xdf: return 5;
	case 0xc9:
	case 0xd6: return 6;
	case 0xcf:
	case 0xd3:
	case 0xcb: return 9;
	case 0xd7: return 10;
	case 0xd8: return 18;
	default: return 1;
	}
}

START_TEST(every_first_byte)
{
	uint8_t zeros[64] = {(uint8_t)_i};
	const size_t size = minimal_size(_i);
	const bool array = (_i & 0xf0) == 0x90 || _i == 0xdc || _i == 0xdd;
	struct bytes in = {zeros, size}, cursor = in, value;
	size_t used;

	if (_i == 0xc1) {
		ck_assert_int_eq(scan_any(in), -EBADMSG);
		ck_assert_int_eq(wire_skip(&cursor, &value), -EBADMSG);
		return;
	}
	ck_assert_int_eq(scan_any(in), WIRE_SCAN_DONE);
	ck_assert_int_eq(wire_scan_value(in), 0);
	ck_assert_int_eq(wire_skip(&cursor, &value), 0);
	ck_assert_uint_eq(value.len, size);
	ck_assert_int_eq(scan(in, false, &used), array ? WIRE_SCAN_DONE : -EBADMSG);
	for (in.len = 1; in.len < size; in.len++) {
		cursor = in;
		ck_assert_int_eq(scan_any(in), WIRE_SCAN_MORE);
		ck_assert_int_eq(wire_scan_value(in), -EBADMSG);
		ck_assert_int_eq(wire_skip(&cursor, &value), -EBADMSG);
	}
	in.len = size + 1;
	ck_assert_int_eq(scan(in, true, &used), WIRE_SCAN_DONE);
	ck_assert_uint_eq(used, size);
	ck_assert_int_eq(wire_scan_value(in), -EBADMSG);
}
END_TEST

START_TEST(every_first_byte_inside)
{
	uint8_t data[66] = {0x91, (uint8_t)_i};
	const struct bytes in = {data, 1 + minimal_size(_i)};
	size_t used;

	ck_assert_int_eq(scan(in, false, &used), _i == 0xc1 ? -EBADMSG : WIRE_SCAN_DONE);
}
END_TEST

START_TEST(nothing)
{
	struct wire_scan s;
	size_t used = 1;

	wire_scan_init(&s);
	ck_assert_int_eq(wire_scan_feed(&s, NULL, 0, &used), WIRE_SCAN_MORE);
	ck_assert_uint_eq(used, 0);
	ck_assert_int_eq(wire_scan_value((struct bytes){NULL, 0}), -EBADMSG);
}
END_TEST

/* ---- limits ---- */

/* [bin32] of a whole size; only the head is made, the payload fed in pieces. */
static int scan_frame_of(size_t size)
{
	static const uint8_t zeros[65536];
	const uint32_t payload = (uint32_t)(size - 6);
	const uint8_t head[] = {0x91, 0xc6, (uint8_t)(payload >> 24), (uint8_t)(payload >> 16),
		(uint8_t)(payload >> 8), (uint8_t)payload};
	struct wire_scan s;
	size_t used, fed = sizeof(head);
	int rc;

	wire_scan_init(&s);
	rc = wire_scan_feed(&s, head, sizeof(head), &used);
	while (rc == WIRE_SCAN_MORE) {
		rc = wire_scan_feed(&s, zeros, sizeof(zeros), &used);
		fed += used;
	}
	if (rc == WIRE_SCAN_DONE)
		ck_assert_uint_eq(fed, size);
	else
		ck_assert_uint_eq(fed, sizeof(head)); /* refused before any of the payload */
	return rc;
}

START_TEST(frame_size)
{
	ck_assert_int_eq(scan_frame_of(LIMIT_FRAME - 1), WIRE_SCAN_DONE);
	ck_assert_int_eq(scan_frame_of(LIMIT_FRAME), WIRE_SCAN_DONE);
	ck_assert_int_eq(scan_frame_of(LIMIT_FRAME + 1), -EMSGSIZE);
}
END_TEST

/* [bin32, nil]: what the containers are still owed counts as well. */
START_TEST(frame_size_with_promised)
{
	const uint32_t fits = LIMIT_FRAME - 7;

	for (uint32_t payload = fits; payload <= fits + 1; payload++) {
		const struct bytes in = BYTES(0x92, 0xc6, (uint8_t)(payload >> 24),
			(uint8_t)(payload >> 16), (uint8_t)(payload >> 8), (uint8_t)payload);
		size_t used;

		ck_assert_int_eq(
			scan(in, false, &used), payload == fits ? WIRE_SCAN_MORE : -EMSGSIZE);
	}
}
END_TEST

/* Small strings add up: no single length is too large, all of them are. */
START_TEST(frame_size_by_pieces)
{
	static uint8_t piece[1 + 4 + 65535] = {0xc6, 0, 0, 0xff, 0xff};
	static const uint8_t head[] = {0x9f};
	struct wire_scan s;
	size_t used;
	int rc, pieces = 0;

	wire_scan_init(&s);
	wire_scan_feed(&s, head, sizeof(head), &used);
	/* 15 pieces are under 1 MiB, so each is an array of its own fifteenth */
	rc = WIRE_SCAN_MORE;
	while (rc == WIRE_SCAN_MORE && pieces < 200) {
		if (pieces % 14 == 13)
			rc = wire_scan_feed(&s, head, sizeof(head), &used);
		if (rc == WIRE_SCAN_MORE)
			rc = wire_scan_feed(&s, piece, sizeof(piece), &used);
		pieces++;
	}
	ck_assert_int_eq(rc, -EMSGSIZE);
	ck_assert_int_eq(pieces, (int)(LIMIT_FRAME / sizeof(piece)) + 1);
}
END_TEST

static int scan_nested(uint8_t lead, size_t depth, uint8_t innermost)
{
	uint8_t data[LIMIT_DEPTH * 2 + 8];
	size_t n = 0, used;

	for (size_t i = 1; i < depth; i++) {
		data[n++] = lead;
		if (lead == 0x81)
			data[n++] = 0xc0;
	}
	data[n++] = innermost;
	if (innermost == 0x91)
		data[n++] = 0xc0;
	return scan((struct bytes){data, n}, true, &used);
}

START_TEST(depth)
{
	static const uint8_t inner[] = {0x90, 0x80, 0x91};

	for (size_t i = 0; i < sizeof(inner); i++) {
		ck_assert_int_eq(scan_nested(0x91, LIMIT_DEPTH, inner[i]), WIRE_SCAN_DONE);
		ck_assert_int_eq(scan_nested(0x91, LIMIT_DEPTH + 1, inner[i]), -EMSGSIZE);
		ck_assert_int_eq(scan_nested(0x81, LIMIT_DEPTH, inner[i]), WIRE_SCAN_DONE);
		ck_assert_int_eq(scan_nested(0x81, LIMIT_DEPTH + 1, inner[i]), -EMSGSIZE);
	}
}
END_TEST

/* Containers beside each other do not nest, however many. */
START_TEST(depth_is_not_width)
{
	uint8_t data[3 + 4 * 1000] = {0xdc, 1000 >> 8, 1000 & 0xff};
	struct wire_measure m;
	struct bytes in;

	for (int i = 0; i < 1000; i++)
		memcpy(data + 3 + 4 * i, (const uint8_t[]){0x92, 0x90, 0x91, 0xc0}, 4);
	in = (struct bytes){data, sizeof(data)};
	ck_assert_int_eq(scan_any(in), WIRE_SCAN_DONE);
	ck_assert_int_eq(wire_measure(in, &m), 0);
	ck_assert_uint_eq(m.depth, 3);
	ck_assert_uint_eq(m.values, 1 + 4 * 1000);
}
END_TEST

/* Down to the limit, up again, and down again. */
START_TEST(depth_comes_back)
{
	uint8_t data[2 * LIMIT_DEPTH];
	size_t n = 0;

	data[n++] = 0x92;
	for (int side = 0; side < 2; side++) {
		for (unsigned int i = 0; i < LIMIT_DEPTH - 2; i++)
			data[n++] = 0x91;
		data[n++] = 0x90;
	}
	ck_assert_int_eq(scan_any((struct bytes){data, n}), WIRE_SCAN_DONE);
	data[n - 1] = 0x91;
	data[n++] = 0x90;
	ck_assert_int_eq(scan_any((struct bytes){data, n}), -EMSGSIZE);
}
END_TEST

static int scan_array_of(uint32_t count, size_t *used)
{
	uint8_t *const data = calloc(1, count + 5u);
	int rc;

	ck_assert_ptr_nonnull(data);
	memcpy(data,
		(const uint8_t[]){0xdd, (uint8_t)(count >> 24), (uint8_t)(count >> 16),
			(uint8_t)(count >> 8), (uint8_t)count},
		5);
	rc = scan((struct bytes){data, count + 5u}, false, used);
	free(data);
	return rc;
}

START_TEST(elements)
{
	size_t used;

	ck_assert_int_eq(scan_array_of(LIMIT_ELEMENTS - 1, &used), WIRE_SCAN_DONE);
	ck_assert_int_eq(scan_array_of(LIMIT_ELEMENTS, &used), -EMSGSIZE);
	ck_assert_uint_eq(used, 5); /* at once */
}
END_TEST

START_TEST(elements_of_maps)
{
	/* [1 + n pairs]: 1 + 1 + 2n values */
	const struct bytes fits = BYTES(0x91, 0xdf, 0, 0, 0x7f, 0xff);
	const struct bytes over = BYTES(0x91, 0xdf, 0, 0, 0x80, 0x00);

	ck_assert_uint_eq(2 + 2 * 0x7fff, LIMIT_ELEMENTS);
	ck_assert_int_eq(scan_any(fits), WIRE_SCAN_MORE);
	ck_assert_int_eq(scan_any(over), -EMSGSIZE);
}
END_TEST

/* The limit is one for all containers: [[30000], [n]]. */
START_TEST(elements_add_up)
{
	static uint8_t data[1 + 3 + 30000 + 3] = {0x92, 0xdc, 30000 >> 8, 30000 & 0xff};
	const uint32_t fits = LIMIT_ELEMENTS - 3 - 30000;

	for (uint32_t n = fits; n <= fits + 1; n++) {
		struct wire_scan s;
		size_t used;

		memcpy(data + 4 + 30000, (const uint8_t[]){0xdc, (uint8_t)(n >> 8), (uint8_t)n},
			3);
		wire_scan_init(&s);
		ck_assert_int_eq(wire_scan_feed(&s, data, sizeof(data), &used),
			n == fits ? WIRE_SCAN_MORE : -EMSGSIZE);
	}
}
END_TEST

START_TEST(hostile_counts)
{
	static const uint8_t leads[] = {0xdd, 0xdf, 0xdb, 0xc6, 0xc9};
	static const uint32_t counts[] = {0xffffffff, 0x80000000, 0x7fffffff, LIMIT_FRAME};

	for (size_t i = 0; i < sizeof(leads); i++) {
		for (size_t j = 0; j < sizeof(counts) / sizeof(*counts); j++) {
			const uint32_t n = counts[j];
			const struct bytes in = BYTES(0x91, leads[i], (uint8_t)(n >> 24),
				(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, 0xc0);
			struct bytes cursor = in, value;
			size_t used;

			ck_assert_int_eq(scan(in, false, &used), -EMSGSIZE);
			ck_assert_uint_eq(used, 6);
			ck_assert_int_eq(wire_skip(&cursor, &value), -EBADMSG);
		}
	}
}
END_TEST

int main(void)
{
	Suite *const s = suite_create("wire scan");
	TCase *const t = tcase_create("boundaries"), *const l = tcase_create("limits");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, mixed_whole);
	tcase_add_test(t, mixed_every_two_splits);
	tcase_add_test(t, objects_one_after_another);
	tcase_add_loop_test(t, every_first_byte, 0, 256);
	tcase_add_loop_test(t, every_first_byte_inside, 0, 256);
	tcase_add_test(t, nothing);
	suite_add_tcase(s, t);
	tcase_set_timeout(l, 60);
	tcase_add_test(l, frame_size);
	tcase_add_test(l, frame_size_with_promised);
	tcase_add_test(l, frame_size_by_pieces);
	tcase_add_test(l, depth);
	tcase_add_test(l, depth_is_not_width);
	tcase_add_test(l, depth_comes_back);
	tcase_add_test(l, elements);
	tcase_add_test(l, elements_of_maps);
	tcase_add_test(l, elements_add_up);
	tcase_add_test(l, hostile_counts);
	suite_add_tcase(s, l);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
