/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/hook/claude_settings.h"

static char *change(const char *in, const char *command, int want)
{
	struct text out = {0}, why = {0};
	char *copy;
	int r;

	r = command ? claude_settings_add(&out, in, strlen(in), command, &why)
		    : claude_settings_remove(&out, in, strlen(in), &why);
	ck_assert_int_eq(r, want);
	ck_assert(r == 0 || why.len > 0);
	copy = strdup(text_string(&out));
	text_free(&out);
	text_free(&why);
	return copy;
}

/* Adding and taking out again is as if nothing had been done, in any layout. */
START_TEST(test_back_and_forth)
{
	static const char *const files[] = {
		"{\"a\":1}",
		"{ \"a\" : 1 , \"b\":[ ] }",
		"{\n\t\"a\": 1\n}\n",
		"{\n    \"a\": {\n        \"b\": 1e400\n    }\n}",
		"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}"
		"}",
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"B\", "
		"\"hooks\": "
		"[]}\n    ]\n  },\n  \"z\": 0\n}\n",
		"{\"hooks\":{\"PreToolUse\":[null,1,{\"hooks\":null},{\"hooks\":[1,{}]}]}}",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *with = change(files[i], "/opt/a b/approval-hook", 0), *again, *without;

		ck_assert_str_ne(with, files[i]);
		ck_assert_ptr_nonnull(strstr(with, "\"/opt/a b/approval-hook\""));
		again = change(with, "/opt/a b/approval-hook", 0);
		ck_assert_str_eq(again, with);
		without = change(with, NULL, 0);
		ck_assert_str_eq(without, files[i]);
		free(with);
		free(again);
		free(without);
	}
}
END_TEST

START_TEST(test_layout)
{
	char *with = change("{\n   \"a\": 1\n}\n", "/h", 0);

	ck_assert_ptr_nonnull(strstr(with, "\n   \"hooks\": {\n      \"PreToolUse\": [\n       "
					   "  {\n            \"matcher\": "
					   "\"*\",\n            \"hooks\": [\n               "
					   "{\n                  \"type\": "
					   "\"command\","));
	ck_assert_ptr_nonnull(
		strstr(with, "\"args\": [\"claude\", \"--hook-timeout\", \"86400\"]"));
	free(with);
	with = change("{\"a\":1}", "/h\"\\", 0);
	ck_assert_ptr_null(strchr(with, '\n'));
	ck_assert_ptr_nonnull(strstr(with, "\"/h\\\"\\\\\""));
	free(with);
}
END_TEST

START_TEST(test_not_ours)
{
	static const char text[] =
		"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"approval-hook2 claude\"},"
		"{\"command\":\"/"
		"x\",\"args\":[\"claude\"]},{\"command\":5,\"args\":[\"claude\"]},"
		"{\"command\":\"/approval-hook\",\"args\":[\"codex\"]},"
		"{\"command\":\"/approval-hook\",\"args\":[]}]}]}}";
	char *same = change(text, NULL, 0);

	ck_assert_str_eq(same, text);
	free(same);
}
END_TEST

START_TEST(test_refused)
{
	static const char *const bad[] = {"[]", "1", "{\"hooks\":1}",
		"{\"hooks\":{\"Stop\":1}}", "{\"a\":1,\"a\":1}", "{//\n}", "{"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		free(change(bad[i], "/h", -EBADMSG));
		free(change(bad[i], NULL, -EBADMSG));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_settings");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_test(t, test_back_and_forth);
	tcase_add_test(t, test_layout);
	tcase_add_test(t, test_not_ours);
	tcase_add_test(t, test_refused);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
