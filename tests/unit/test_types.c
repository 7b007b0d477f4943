/* SPDX-License-Identifier: MIT */
#include "broker/core/types.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

/* Every value has a name of its own. */
#define CHECK_NAMES(noun, type, n)                                                             \
	do {                                                                                   \
		for (int i = 0; i < (int)(n); i++)                                             \
			for (int k = 0; k <= i; k++)                                           \
				ck_assert_str_ne(noun##_name((enum type)i),                    \
					k < i ? noun##_name((enum type)k) : "?");              \
		ck_assert_str_eq(noun##_name((enum type)(n)), "?");                            \
		ck_assert_str_eq(noun##_name((enum type) - 1), "?");                           \
	} while (0)

/* Nothing else is a name. */
#define CHECK_NO_OTHER(noun)                                                                   \
	do {                                                                                   \
		ck_assert_int_eq(noun##_parse(bytes_of("")), -EINVAL);                         \
		ck_assert_int_eq(noun##_parse(bytes_of(NULL)), -EINVAL);                       \
		ck_assert_int_eq(noun##_parse(bytes_of("?")), -EINVAL);                        \
		ck_assert_int_eq(noun##_parse(bytes_of("no-such-value")), -EINVAL);            \
	} while (0)

/* And each parses back. */
#define CHECK_BOTH(noun, type, n)                                                              \
	do {                                                                                   \
		CHECK_NAMES(noun, type, n);                                                    \
		for (int i = 0; i < (int)(n); i++)                                             \
			ck_assert_int_eq(                                                      \
				noun##_parse(bytes_of(noun##_name((enum type)i))), i);         \
		CHECK_NO_OTHER(noun);                                                          \
	} while (0)

START_TEST(names)
{
	CHECK_BOTH(request_type, request_type, REQUEST_TYPE_N);
	CHECK_BOTH(kind, kind, KIND_N);
	CHECK_BOTH(verdict, verdict, VERDICT_N);
	CHECK_BOTH(source, source, SOURCE_N);
	CHECK_BOTH(scope, scope, SCOPE_N);
	CHECK_BOTH(mode, mode, MODE_N);
	ck_assert_int_eq(disconnect_parse(bytes_of("wait")), DISCONNECT_WAIT);
	ck_assert_int_eq(disconnect_parse(bytes_of("cancel")), DISCONNECT_CANCEL);
	ck_assert_int_eq(disconnect_parse(bytes_of("keep")), DISCONNECT_KEEP);
	CHECK_NO_OTHER(disconnect);
	ck_assert_int_eq(role_parse(bytes_of("human")), ROLE_HUMAN);
	ck_assert_int_eq(role_parse(bytes_of("policy")), ROLE_POLICY);
	ck_assert_int_eq(role_parse(bytes_of("observer")), ROLE_OBSERVER);
	CHECK_NO_OTHER(role);
	CHECK_NAMES(request_state, request_state, REQUEST_STATE_N);
	CHECK_NAMES(turn_state, turn_state, TURN_STATE_N);
	CHECK_BOTH(history_event, history_event, HISTORY_N);
	for (int i = 0; i < STEP_N; i++)
		ck_assert_str_ne(step_name((enum step)i), "?");
	ck_assert_str_eq(step_name(STEP_N), "?");
}
END_TEST

START_TEST(names_are_exact)
{
	/* they are in the store by their numbers */
	ck_assert_int_eq(history_event_parse(bytes_of("decision")), 7);
	ck_assert_int_eq(history_event_parse(bytes_of("anchor")), 12);
	ck_assert_int_eq(history_event_parse(bytes_of("rule_added")), 13);
	ck_assert_int_eq(history_event_parse(bytes_of("rule_expired")), 15);
	ck_assert(!history_event_of_rule(HISTORY_ANCHOR) &&
		  history_event_of_rule(HISTORY_RULE_ADDED) &&
		  history_event_of_rule(HISTORY_RULE_EXPIRED));
	ck_assert_str_eq(mode_name(MODE_AUTO_EDIT), "auto-edit");
	ck_assert_str_eq(request_state_name(REQUEST_NOT_RUN), "NOT_RUN");
	ck_assert_int_eq(verdict_parse(bytes_of("Allow")), -EINVAL);
	ck_assert_int_eq(verdict_parse(bytes_of("allow ")), -EINVAL);
	ck_assert_int_eq(verdict_parse(bytes_of("allo")), -EINVAL);
	ck_assert_int_eq(verdict_parse((struct bytes){"allow\0", 6}), -EINVAL);
	ck_assert_int_eq(verdict_parse((struct bytes){"allowance", 5}), VERDICT_ALLOW);
}
END_TEST

static struct uuid uuid_of(const char *hex36)
{
	char text[64] = "req_";
	struct uuid u;

	strcat(text, hex36);
	ck_assert_int_eq(id_parse(ID_REQUEST, bytes_of(text), &u), 0);
	return u;
}

static void expect_uuid(struct uuid u, const char *hex36)
{
	char text[ID_STRING_SIZE];

	id_format(text, ID_REQUEST, &u);
	ck_assert_str_eq(text + 4, hex36);
}

START_TEST(uuid_layout)
{
	/* the example of RFC 9562, appendix A.6 */
	static const uint8_t random[10] = {
		0xcc, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f};
	static const uint8_t ones[10] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	expect_uuid(uuid_make(UINT64_C(0x017F22E279B0), random),
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
	expect_uuid(uuid_make(UINT64_MAX, ones), "ffffffff-ffff-7fff-bfff-ffffffffffff");
}
END_TEST

START_TEST(uuid_order)
{
	static const struct {
		const char *u, *next;
	} cases[] = {
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
			"017f22e2-79b0-7cc3-98c4-dc0c0c073990"},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c0739ff",
			"017f22e2-79b0-7cc3-98c4-dc0c0c073a00"},
		{"017f22e2-79b0-7cc3-bfff-ffffffffffff",
			"017f22e2-79b0-7cc4-8000-000000000000"},
		{"017f22e2-79b0-7fff-bfff-ffffffffffff",
			"017f22e2-79b1-7000-8000-000000000000"},
		{"017f22e2-ffff-7fff-bfff-ffffffffffff",
			"017f22e3-0000-7000-8000-000000000000"},
		/* not of version 7 */
		{"00000000-0000-0000-0000-000000000000",
			"00000000-0000-7000-8000-000000000000"},
		{"017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
			"017f22e2-79b0-7000-8000-000000000000"},
		{"017f22e2-79b0-8cc3-98c4-dc0c0c07398f",
			"017f22e2-79b1-7000-8000-000000000000"},
		{"017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
			"017f22e2-79b0-7cc3-8000-000000000000"},
		{"017f22e2-79b0-7cc3-d8c4-dc0c0c07398f",
			"017f22e2-79b0-7cc4-8000-000000000000"},
		/* the end */
		{"ffffffff-ffff-7fff-bfff-ffffffffffff",
			"ffffffff-ffff-7fff-bfff-ffffffffffff"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uuid u = uuid_of(cases[i].u), next = uuid_next(&u);

		expect_uuid(next, cases[i].next);
		if (strcmp(cases[i].u, cases[i].next) != 0)
			ck_assert_int_gt(uuid_compare(&next, &u), 0);
		ck_assert_int_eq(uuid_compare(&u, &u), 0);
	}
	ck_assert(uuid_is_nil(&(struct uuid){{0}}));
	ck_assert(!uuid_is_nil(&(struct uuid){{[15] = 1}}));
}
END_TEST

START_TEST(ids)
{
	static const char *const prefixes[] = {"ses_", "turn_", "req_"};
	static const char hex[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

	for (int type = ID_SESSION; type <= ID_REQUEST; type++) {
		char expected[64], text[ID_STRING_SIZE];
		struct uuid u, back;

		strcpy(expected, prefixes[type]);
		strcat(expected, hex);
		ck_assert_int_eq(id_parse((enum id_type)type, bytes_of(expected), &u), 0);
		id_format(text, (enum id_type)type, &u);
		ck_assert_str_eq(text, expected);
		for (int other = ID_SESSION; other <= ID_REQUEST; other++) {
			ck_assert_int_eq(id_parse((enum id_type)other, bytes_of(text), &back),
				other == type ? 0 : -EINVAL);
		}
	}
}
END_TEST

START_TEST(ids_refused)
{
	static const char good[] = "req_017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
	static const char *const bad[] = {
		"",
		"req_",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
		"REQ_017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
		"req_017F22E2-79b0-7cc3-98c4-dc0c0c07398f",
		"req_017f22e279b07cc398c4dc0c0c07398f",
		"req_{17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
		"req_017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
		"req_017f22e2 79b0-7cc3-98c4-dc0c0c07398f",
		"req_017f22e27-9b0-7cc3-98c4-dc0c0c07398f",
		"req_017f22e2-79b0-7cc3-98c4-dc0c0c07398f ",
		"req_017f22e2-79b0-7cc3-98c4-dc0c0c07398",
		" req_017f22e2-79b0-7cc3-98c4-dc0c0c07398",
	};
	struct uuid u = {{1}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(id_parse(ID_REQUEST, bytes_of(bad[i]), &u), -EINVAL);
	ck_assert_int_eq(id_parse(ID_REQUEST, bytes_of(NULL), &u), -EINVAL);
	ck_assert_int_eq(id_parse(ID_REQUEST, (struct bytes){good, sizeof(good)}, &u), -EINVAL);
	ck_assert_int_eq(u.b[0], 1); /* untouched */
	/* any one character but the right one */
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		char text[sizeof(good)];

		memcpy(text, good, sizeof(good));
		text[i] = 'z';
		ck_assert_int_eq(id_parse(ID_REQUEST, bytes_of(text), &u), -EINVAL);
	}
}
END_TEST

START_TEST(strings)
{
	struct str *s = str_new("ab\0c", 4), *empty = str_new(NULL, 0);

	ck_assert_uint_eq(s->len, 4);
	ck_assert_uint_eq(s->refs, 1);
	ck_assert_int_eq(memcmp(s->data, "ab\0c", 5), 0);
	ck_assert(str_equal(s, (struct bytes){"ab\0c", 4}));
	ck_assert(!str_equal(s, (struct bytes){"ab\0d", 4}));
	ck_assert(!str_equal(s, bytes_of("ab")));

	ck_assert_ptr_eq(str_ref(s), s);
	ck_assert_uint_eq(s->refs, 2);
	ck_assert_ptr_null(str_unref(s));
	ck_assert_uint_eq(s->refs, 1);
	ck_assert_ptr_null(str_unref(s));

	/* absent and empty differ */
	ck_assert_str_eq(empty->data, "");
	ck_assert(str_equal(empty, bytes_of("")));
	ck_assert(!str_equal(empty, bytes_of(NULL)));
	ck_assert(!str_equal(NULL, bytes_of("")));
	ck_assert(str_equal(NULL, bytes_of(NULL)));
	ck_assert_ptr_nonnull(str_bytes(empty).data);
	ck_assert_ptr_null(str_bytes(NULL).data);
	ck_assert_str_eq(str_text(NULL), "");
	str_unref(empty);

	ck_assert_ptr_null(str_ref(NULL));
	ck_assert_ptr_null(str_unref(NULL));
	ck_assert_ptr_null(str_new("", SIZE_MAX));
	ck_assert_ptr_null(str_new("", UINT32_MAX));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("types");
	TCase *tc = tcase_create("types");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, names);
	tcase_add_test(tc, names_are_exact);
	tcase_add_test(tc, uuid_layout);
	tcase_add_test(tc, uuid_order);
	tcase_add_test(tc, ids);
	tcase_add_test(tc, ids_refused);
	tcase_add_test(tc, strings);
	suite_add_tcase(suite, tc);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
