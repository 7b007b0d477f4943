/* SPDX-License-Identifier: MIT */
#include "broker/io/account.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

static const struct account_limits limits = {
	.connections = 2,
	.pending_bytes = 1000,
	.rate = 10,
};

static struct accounts *all;
static struct account *a;

static void setup(void)
{
	ck_assert_int_eq(accounts_new(&all, &limits), 0);
	ck_assert_int_eq(account_get(all, 1000, &a), 0);
}

static void teardown(void)
{
	account_unref(a);
	accounts_free(all);
}

START_TEST(each_limit)
{
	struct account *same, *other;

	ck_assert_int_eq(account_get(all, 1000, &same), 0);
	ck_assert_ptr_eq(same, a);
	account_unref(same);

	ck_assert_int_eq(account_charge_connection(a), 0);
	ck_assert_int_eq(account_charge_connection(a), 0);
	ck_assert_int_eq(account_charge_connection(a), ACCOUNT_CONNECTIONS);
	/* another uid is not concerned */
	ck_assert_int_eq(account_get(all, UINT32_MAX, &other), 0);
	ck_assert_int_eq(account_charge_connection(other), 0);
	account_release_connection(other);
	account_unref(other);
	account_release_connection(a);
	ck_assert_int_eq(account_charge_connection(a), 0);
	account_release_connection(a);
	account_release_connection(a);
}
END_TEST

START_TEST(buffers)
{
	ck_assert_int_eq(account_charge_buffer(a, 1001), ACCOUNT_PENDING_BYTES);
	ck_assert_int_eq(account_charge_buffer(a, 600), 0);
	ck_assert_int_eq(account_charge_buffer(a, 401), ACCOUNT_PENDING_BYTES);
	ck_assert_int_eq(account_charge_buffer(a, 400), 0);
	ck_assert_int_eq(account_charge_buffer(a, 1), ACCOUNT_PENDING_BYTES);
	ck_assert_int_eq(account_charge_buffer(a, UINT64_MAX), ACCOUNT_PENDING_BYTES);
	account_release_buffer(a, 1000);
}
END_TEST

START_TEST(rate)
{
	int64_t now = 5;

	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(account_charge_rate(a, now), 0);
	ck_assert_int_eq(account_charge_rate(a, now), ACCOUNT_RATE);
	/* a tenth of a second is one request */
	ck_assert_int_eq(account_charge_rate(a, now + 99999), ACCOUNT_RATE);
	ck_assert_int_eq(account_charge_rate(a, now + 100000), 0);
	ck_assert_int_eq(account_charge_rate(a, now + 100000), ACCOUNT_RATE);
	/* a clock that steps back gives nothing */
	ck_assert_int_eq(account_charge_rate(a, now), ACCOUNT_RATE);
	/* forgetting the account does not fill the bucket */
	account_unref(a);
	ck_assert_int_eq(account_get(all, 1000, &a), 0);
	ck_assert_int_eq(account_charge_rate(a, now + 100000), ACCOUNT_RATE);
	/* a long rest is worth one burst */
	now += INT64_MAX / 2;
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(account_charge_rate(a, now), 0);
	ck_assert_int_eq(account_charge_rate(a, now), ACCOUNT_RATE);
}
END_TEST

START_TEST(reload)
{
	struct account_limits other = limits;

	ck_assert_int_eq(account_charge_connection(a), 0);
	ck_assert_int_eq(account_charge_connection(a), 0);
	ck_assert_int_eq(account_charge_rate(a, 0), 0);
	other.connections = 1;
	other.rate = 1;
	accounts_set_limits(all, &other);
	account_release_connection(a);
	ck_assert_int_eq(account_charge_connection(a), ACCOUNT_CONNECTIONS);
	ck_assert_int_eq(account_charge_rate(a, 0), 0);
	ck_assert_int_eq(account_charge_rate(a, 0), ACCOUNT_RATE);
	other.rate = 0;
	accounts_set_limits(all, &other);
	ck_assert_int_eq(account_charge_rate(a, 0), 0);
	account_release_connection(a);
}
END_TEST

/* Uids that use nothing are forgotten when there are many; those in use never. */
START_TEST(many)
{
	ck_assert_int_eq(account_charge_connection(a), 0);
	for (uint32_t uid = 2000; uid < 2000 + 4 * LIMIT_ACCOUNTS; uid++) {
		struct account *b;

		ck_assert_int_eq(account_get(all, uid, &b), 0);
		ck_assert_uint_eq(b->uid, uid);
		account_unref(b);
	}
	ck_assert_uint_eq(a->connections, 1);
	account_release_connection(a);
}
END_TEST

START_TEST(names)
{
	for (int i = ACCOUNT_CONNECTIONS; i <= ACCOUNT_RATE; i++)
		ck_assert_str_ne(account_limit_name(i), "unknown");
	ck_assert_str_eq(account_limit_name(0), "unknown");
	ck_assert_str_eq(account_limit_name(ACCOUNT_RATE + 1), "unknown");
}
END_TEST

/* What is not given back ends the program at the end. */
START_TEST(leak)
{
	struct accounts *leaky;
	struct account *b;

	ck_assert_int_eq(accounts_new(&leaky, &limits), 0);
	ck_assert_int_eq(account_get(leaky, 1, &b), 0);
	ck_assert_int_eq(account_charge_connection(b), 0);
	account_unref(b);
	accounts_free(leaky);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("io_account");
	TCase *t = tcase_create("account"), *death = tcase_create("death");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, each_limit);
	tcase_add_test(t, buffers);
	tcase_add_test(t, rate);
	tcase_add_test(t, reload);
	tcase_add_test(t, many);
	tcase_add_test(t, names);
	suite_add_tcase(s, t);
	tcase_add_test_raise_signal(death, leak, SIGABRT);
	suite_add_tcase(s, death);
	return run_suite(s);
}
