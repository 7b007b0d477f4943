/* SPDX-License-Identifier: MIT */
#include "broker/store/rowmap.h"

#include <check.h>
#include <stdlib.h>

#define IDS 3000u

/* Consecutive ids, as the broker makes them, many of them in one millisecond. */
static struct uuid id_of(unsigned n)
{
	static const uint8_t zero[10];
	struct uuid u = uuid_make(1700000000000 + n / 100, zero);

	u.b[15] = (uint8_t)n;
	u.b[14] = (uint8_t)(n >> 8);
	return u;
}

START_TEST(random_operations)
{
	struct rowmap m = {0};
	int64_t expected[IDS] = {0};
	unsigned used = 0, peak = 0;

	srandom(4711);
	for (unsigned step = 0; step < 60000; step++) {
		/* it grows, then shrinks */
		bool growing = step / 20000 % 2 == 0;
		unsigned n = (unsigned)random() % IDS;
		struct uuid id = id_of(n);

		ck_assert_int_eq(rowmap_get(&m, &id), expected[n]);
		if (!expected[n] && (growing || random() % 8 == 0)) {
			ck_assert_int_eq(rowmap_add(&m, &id, (int64_t)step + 1), 0);
			expected[n] = (int64_t)step + 1;
			used++;
		} else if (!growing || random() % 4 == 0) {
			rowmap_remove(&m, &id);
			used -= expected[n] != 0;
			expected[n] = 0;
		}
		if (step % 1000 == 999)
			rowmap_trim(&m);
		ck_assert_uint_eq(m.used, used);
		peak = used > peak ? used : peak;
	}
	ck_assert_uint_gt(peak, IDS / 2);
	for (unsigned n = 0; n < IDS; n++) {
		struct uuid id = id_of(n);

		ck_assert_int_eq(rowmap_get(&m, &id), expected[n]);
		rowmap_remove(&m, &id);
		rowmap_trim(&m);
		ck_assert_int_eq(rowmap_get(&m, &id), 0);
	}
	ck_assert_uint_eq(m.used, 0);
	ck_assert_uint_le(m.size, 64);
	rowmap_free(&m);
	ck_assert_int_eq(rowmap_get(&m, &(struct uuid){{1}}), 0);
	rowmap_remove(&m, &(struct uuid){{1}});
}
END_TEST

/* A removed id can be added again without memory: nothing is given back but by trim. */
START_TEST(room_stays)
{
	struct rowmap m = {0};
	size_t size;

	for (unsigned n = 0; n < IDS; n++)
		ck_assert_int_eq(rowmap_add(&m, (struct uuid[]){id_of(n)}, 1), 0);
	size = m.size;
	for (unsigned n = 0; n < IDS; n++)
		rowmap_remove(&m, (struct uuid[]){id_of(n)});
	for (unsigned n = 0; n < IDS; n++)
		ck_assert_int_eq(rowmap_add(&m, (struct uuid[]){id_of(n)}, 1), 0);
	ck_assert_uint_eq(m.size, size);
	rowmap_free(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rowmap");
	TCase *tc = tcase_create("rowmap");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, random_operations);
	tcase_add_test(tc, room_stays);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
