/* SPDX-License-Identifier: MIT */
#include "broker/core/due.h"

#include <check.h>
#include <stdlib.h>

#include "broker/core/entity.h"

#define REQUESTS 500u
#define STEPS	 40000u

/* What the queue should say: the nearest instant, and of several requests the oldest. */
static struct entity *first_of(struct request *q, const int64_t *at)
{
	struct request *best = NULL;

	for (unsigned i = 0; i < REQUESTS; i++)
		if (at[i] && (!best || at[i] < at[best - q]))
			best = &q[i];
	return best ? &best->e : NULL;
}

START_TEST(random_operations)
{
	struct request *q = calloc(REQUESTS, sizeof(*q));
	int64_t at[REQUESTS] = {0};
	struct due_queue d = {0};
	unsigned timed = 0;

	ck_assert_ptr_nonnull(q);
	ck_assert_ptr_null(due_first(&d));
	for (unsigned i = 0; i < REQUESTS; i++) {
		q[i].e.type = ENTITY_REQUEST;
		q[i].s.r.id.b[0] = (uint8_t)(i >> 8);
		q[i].s.r.id.b[1] = (uint8_t)i;
		ck_assert_int_eq(due_reserve(&d, i + 1), 0);
	}
	srandom(4711);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = (unsigned)random() % REQUESTS;
		/* few instants, so that many are due at the same one; it grows, then shrinks */
		bool never = random() % 8 < (step < STEPS / 2 ? 2 : 6);

		at[i] = never ? 0 : 1 + random() % 50;
		due_set(&d, &q[i].e, at[i]);
		ck_assert_int_eq(due_at(&d, &q[i].e), at[i]);
		if (step % 16 == 0)
			ck_assert_ptr_eq(due_first(&d), first_of(q, at));
	}
	for (unsigned i = 0; i < REQUESTS; i++) {
		ck_assert_int_eq(due_at(&d, &q[i].e), at[i]);
		timed += at[i] != 0;
	}
	ck_assert_uint_eq(d.n, timed);
	/* what is left comes out in order */
	for (struct entity *f; (f = due_first(&d)); timed--) {
		ck_assert_ptr_eq(f, first_of(q, at));
		at[ENTITY_OF(f, request) - q] = 0;
		due_set(&d, f, 0);
	}
	ck_assert_uint_eq(timed, 0);
	while (d.size > 64) {
		size_t before = d.size;

		due_trim(&d, 0);
		ck_assert_uint_lt(d.size, before);
	}
	due_free(&d);
	free(q);
}
END_TEST

/* What is timed stays when room is given back, and so does its place. */
START_TEST(trimmed)
{
	struct request *q = calloc(2, sizeof(*q));
	struct due_queue d = {0};

	ck_assert_ptr_nonnull(q);
	q[0].e.type = q[1].e.type = ENTITY_REQUEST;
	for (size_t n = 1; n <= 5000; n++)
		ck_assert_int_eq(due_reserve(&d, n), 0);
	due_set(&d, &q[0].e, 7);
	due_set(&d, &q[1].e, 5);
	for (unsigned i = 0; i < 10; i++)
		due_trim(&d, 2);
	ck_assert_uint_le(d.size, 64);
	ck_assert_ptr_eq(due_first(&d), &q[1].e);
	ck_assert_int_eq(due_at(&d, &q[0].e), 7);
	due_set(&d, &q[1].e, 0);
	ck_assert_ptr_eq(due_first(&d), &q[0].e);
	due_set(&d, &q[0].e, 0);
	due_free(&d);
	free(q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("due");
	TCase *tc = tcase_create("due");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, random_operations);
	tcase_add_test(tc, trimmed);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
