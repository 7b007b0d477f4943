/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/hook/claude_event.h"
#include "frontends/hook/stream.h"

#define PRE                                                                                    \
	"\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"T\","         \
	"\"tool_input\":{},\"tool_use_id\":\"u\""

static int read_event(struct claude_event *e, const char *json, const char *entry)
{
	struct json_object *root = NULL;
	const char *why = NULL;
	int r;

	ck_assert_int_eq(stream_parse(json, strlen(json), &root), 0);
	r = claude_event_read(e, root, entry, &why);
	ck_assert(r == 0 || why);
	return r;
}

START_TEST(test_plain)
{
	struct claude_event e;

	ck_assert_int_eq(read_event(&e, "{" PRE ",\"new_field\":[{}]}", "cli"), 0);
	ck_assert(e.decides && e.terminal && !e.child);
	ck_assert_int_eq(e.type, CLAUDE_PRE_TOOL_USE);
	ck_assert_str_eq(e.key, "s");
	ck_assert_str_eq(e.transcript, "");
	ck_assert_ptr_null(e.mode);
	claude_event_free(&e);
	ck_assert_int_eq(read_event(&e, "{" PRE "}", NULL), 0);
	ck_assert(!e.terminal);
	claude_event_free(&e);
	ck_assert_int_eq(read_event(&e, "{" PRE "}", "sdk-cli"), 0);
	ck_assert(!e.terminal);
	claude_event_free(&e);
}
END_TEST

START_TEST(test_children)
{
	struct claude_event e;

	ck_assert_int_eq(
		read_event(&e,
			"{" PRE ",\"agent_id\":\"a1\",\"transcript_path\":\"/p/s.jsonl\"}",
			"cli"),
		0);
	ck_assert(e.child);
	ck_assert_str_eq(e.key, "s/agent-a1");
	ck_assert_str_eq(e.transcript, "/p/s/subagents/agent-a1.jsonl");
	claude_event_free(&e);
	/* an id that would lead elsewhere names no file */
	ck_assert_int_eq(
		read_event(&e,
			"{" PRE ",\"agent_id\":\"../../x\",\"transcript_path\":\"/p/s.jsonl\"}",
			"cli"),
		0);
	ck_assert_str_eq(e.transcript, "");
	claude_event_free(&e);
	ck_assert_int_eq(
		read_event(&e, "{" PRE ",\"agent_id\":\"a\",\"agent_transcript_path\":\"/x\"}",
			"cli"),
		0);
	ck_assert_str_eq(e.transcript, "/x");
	claude_event_free(&e);
	ck_assert_int_eq(read_event(&e, "{" PRE ",\"agent_id\":\"\"}", "cli"), 0);
	ck_assert(!e.child);
	claude_event_free(&e);
}
END_TEST

/* What can't be read decides, unless it is known to be another event. */
START_TEST(test_doubt)
{
	static const struct {
		const char *json;
		bool decides;
	} bad[] = {
		{"[]", true},
		{"[1]", true},
		{"{}", true},
		{"{\"hook_event_name\":null}", true},
		{"{\"hook_event_name\":\"PreToolUse\\u0000\",\"tool_name\":\"x\"}", true},
		{"{\"hook_event_name\":\"PreToolUse\"}", true},
		{"{\"hook_event_name\":\"pretooluse\",\"tool_name\":null}", true},
		{"{\"hook_event_name\":\"Later\",\"tool_name\":5}", true},
		{"{\"hook_event_name\":\"Later\"}", false},
		{"{\"hook_event_name\":\"Stop\"}", false},
		{"{\"hook_event_name\":\"Stop\",\"session_id\":[]}", false},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct claude_event e;

		ck_assert_int_eq(read_event(&e, bad[i].json, "cli"), -EINVAL);
		ck_assert_msg(e.decides == bad[i].decides, "%s", bad[i].json);
		claude_event_free(&e);
	}
}
END_TEST

START_TEST(test_modes)
{
	ck_assert_ptr_null(claude_mode(NULL));
	ck_assert_str_eq(claude_mode("default"), "normal");
	ck_assert_str_eq(claude_mode("acceptEdits"), "auto-edit");
	ck_assert_str_eq(claude_mode("plan"), "plan");
	ck_assert_str_eq(claude_mode("bypassPermissions"), "yolo");
	ck_assert_str_eq(claude_mode("bypasspermissions"), "normal");
	ck_assert_str_eq(claude_mode("yolo"), "normal");
	ck_assert_str_eq(claude_mode(""), "normal");
}
END_TEST

START_TEST(test_parse)
{
	static const char *const bad[] = {"", " ", "{", "{}x", "{} {}", "{\"a\":1,}", "nan",
		"{a:1}", "/* */{}", "{\"a\":'b'}", "[1 2]", "{}\x01"};
	struct json_object *v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
			stream_parse(bad[i], strlen(bad[i]), &v) == -EBADMSG, "%s", bad[i]);
	ck_assert_int_eq(stream_parse("{}\0", 3, &v), -EBADMSG);
	ck_assert_int_eq(stream_parse(" {} \r\n\t", 7, &v), 0);
	json_object_put(v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_event");
	TCase *t = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_test(t, test_plain);
	tcase_add_test(t, test_children);
	tcase_add_test(t, test_doubt);
	tcase_add_test(t, test_modes);
	tcase_add_test(t, test_parse);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
