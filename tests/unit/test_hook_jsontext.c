/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/hook/jsontext.h"

START_TEST(test_places)
{
	static const char text[] = " {\"a\" : [1, \"x\\\"y\"],\n \"\\u0062\": {\"c\": null}} ";
	const struct jsontext_node *a, *b;
	struct jsontext t;
	char *s;

	ck_assert_int_eq(jsontext_parse(&t, text, sizeof(text) - 1), 0);
	ck_assert_int_eq(t.root->type, JSONTEXT_OBJECT);
	a = jsontext_member(t.root, "a");
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->item, 2);
	ck_assert_mem_eq(text + a->start, "[1, \"x\\\"y\"]", a->end - a->start);
	ck_assert_int_eq(a->first->type, JSONTEXT_NUMBER);
	s = jsontext_string(&t, a->last);
	ck_assert_str_eq(s, "x\"y");
	free(s);
	ck_assert_ptr_null(jsontext_string(&t, a->first));
	b = jsontext_member(t.root, "b");
	ck_assert_ptr_eq(b, a->next);
	ck_assert_ptr_eq(b->previous, a);
	ck_assert_uint_eq(jsontext_line(&t, b->item), 2);
	ck_assert_int_eq(jsontext_member(b, "c")->type, JSONTEXT_LITERAL);
	ck_assert_ptr_null(jsontext_member(b, "d"));
	ck_assert_ptr_null(jsontext_member(a, "d"));
	ck_assert_ptr_null(jsontext_member(NULL, "d"));
	jsontext_free(&t);
}
END_TEST

START_TEST(test_bad)
{
	static const char *const bad[] = {"", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]",
		"{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{1:1}", "{'a':1}", "{a:1}", "\"a",
		"\"\\\"", "\"\\q\"", "\"\\u12\"", "01", "-", "1.", ".5", "1e", "+1", "0x1",
		"NaN", "Infinity", "nul", "truex", "True", "{} {}", "[1] // x", "/**/{}",
		"{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"a\\u0000\":1}",
		"\xef\xbb\xbf{}", "{\"a\": \"\n\"}", "\v{}"};
	struct jsontext t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(
			jsontext_parse(&t, bad[i], strlen(bad[i])) == -EBADMSG, "%s", bad[i]);
		ck_assert_ptr_nonnull(t.error);
		ck_assert_uint_le(t.at, strlen(bad[i]) + 1);
		jsontext_free(&t);
	}
}
END_TEST

START_TEST(test_limits)
{
	char deep[2 * JSONTEXT_DEPTH + 3];
	struct jsontext t;
	size_t n;
	char *wide;

	for (n = JSONTEXT_DEPTH - 4; n <= JSONTEXT_DEPTH + 1; n += 5) {
		memset(deep, '[', n);
		memset(deep + n, ']', n);
		ck_assert_int_eq(
			jsontext_parse(&t, deep, 2 * n), n < JSONTEXT_DEPTH ? 0 : -EBADMSG);
		jsontext_free(&t);
	}
	n = 2 * JSONTEXT_NODES + 3;
	wide = malloc(n);
	memset(wide, ',', n);
	for (size_t i = 1; i < n; i += 2)
		wide[i] = '1';
	wide[0] = '[';
	wide[n - 1] = ']';
	ck_assert_int_eq(jsontext_parse(&t, wide, n), -EBADMSG);
	jsontext_free(&t);
	free(wide);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_jsontext");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_test(t, test_places);
	tcase_add_test(t, test_bad);
	tcase_add_test(t, test_limits);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
