/* SPDX-License-Identifier: MIT */
/* Questions about more than the broker can look at in one turn of its loop. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/store/journal.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define ROWS  200000u
#define RARE  3u /* the first record and the last, and one between them */
#define RULED 4u /* records that stand before all of these */

/* hostile: it must stay one line */
#define RULE "deny Bash(rm *)\x1b[2J"

static struct broker b;

static void rows_write_of_rules(struct journal *j)
{
	struct history_row row = {.at = 1,
		.event = HISTORY_DECISION,
		.uid = getuid(),
		.session = {{1}},
		.request = {{2}},
		.agent = bytes_of("ruled"),
		.tool = bytes_of("Bash"),
		.command = bytes_of("rm -r /"),
		.rule = bytes_of(RULE),
		.rule_id = 7,
		.verdict = VERDICT_DENY,
		.source = SOURCE_RULE,
		.step = STEP_DENY_RULES,
		.mode = MODE_YOLO};
	struct rule_record rule = {.id = 7,
		.project = str_new("/home/somebody/some", 19),
		.text = str_new(RULE, strlen(RULE)),
		.by = str_new("uid 0", 5),
		.origin = str_new("settings.json:3", 15),
		.matches = 17,
		.uid = getuid(),
		.scope = SCOPE_PROJECT};

	ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), 0);
	row.rule = (struct bytes){NULL, 0};
	row.rule_id = 0;
	row.floor = bytes_of("private-keys");
	row.reason = bytes_of("just this one");
	row.source = SOURCE_USER;
	row.mode = MODE_AUTO_EDIT;
	ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), 0);
	rule_row(&row, HISTORY_RULE_ADDED, &rule, str_bytes(rule.by), 1);
	ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), 0);
	rule_row(&row, HISTORY_RULE_REMOVED, &rule, bytes_of("uid 1"), 1);
	ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), 0);
	str_unref(rule.project);
	str_unref(rule.text);
	str_unref(rule.by);
	str_unref(rule.origin);
}

static void rows_write(void)
{
	char path[128];
	struct journal *j;

	snprintf(path, sizeof(path), "%s/state", b.dir);
	ck_assert(mkdir(path, 0700) == 0);
	snprintf(path, sizeof(path), "%s/state/history.db", b.dir);
	ck_assert_int_eq(journal_open_sqlite(&j, path), 0);
	ck_assert_int_eq(journal_begin(j), 0);
	rows_write_of_rules(j);
	for (unsigned i = 0; i < ROWS; i++) {
		bool rare = i == 0 || i == ROWS / 2 || i == ROWS - 1;
		struct history_row row = {.at = (int64_t)i + 1,
			.event = HISTORY_DECISION,
			.uid = getuid(),
			.agent = bytes_of(rare ? "rare" : "test"),
			.tool = bytes_of("Bash"),
			.command = bytes_of("make -j8 check"),
			.cwd = bytes_of("/home/somebody/some/project"),
			.verdict = VERDICT_ALLOW,
			.source = SOURCE_RULE};

		ck_assert_int_eq(journal_put(j, JOURNAL_HISTORY, &row), 0);
	}
	ck_assert_int_eq(journal_commit(j), 0);
	journal_close(j);
}

static void setup(void)
{
	broker_init(&b);
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	rows_write();
	broker_start(&b, NULL);
}

static void teardown(void)
{
	broker_stop(&b);
	broker_fini(&b);
}

static bool is_more(const struct wire_frame *f)
{
	return bytes_equal(raw_member(f->result, "more"), (struct bytes){"\xc3", 1});
}

static uint32_t history_ask(struct raw *r, bool newest, uint64_t cursor, const char *agent)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "history"));
	if (cursor)
		wire_map_u64(&m, newest ? "before" : "after", cursor);
	wire_map_bool(&m, "newest", newest);
	wire_map_strz(&m, "agent", agent);
	wire_close(&m);
	return raw_send(r);
}

/* Goes through all of it; how many items came. */
static unsigned history_walk(struct raw *r, bool newest, const char *agent, unsigned *calls)
{
	uint64_t cursor = 0, before = newest ? ROWS + RULED + 1 : 0;
	struct wire_frame f;
	struct wire_iter it;
	unsigned n = 0;

	for (*calls = 1;; ++*calls) {
		f = raw_reply(r, history_ask(r, newest, cursor, agent));
		ck_assert(!f.error.data);
		ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
		n += it.left;
		if (!is_more(&f))
			return n;
		cursor = raw_uint(f.result, "cursor");
		ck_assert(newest ? cursor < before : cursor > before);
		before = cursor;
	}
}

/* What hits nothing is not looked for in the whole table by one call. */
START_TEST(history_in_portions)
{
	unsigned calls;
	struct raw r;

	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	for (int newest = 0; newest < 2; newest++) {
		ck_assert_uint_eq(history_walk(&r, newest, "nobody", &calls), 0);
		ck_assert_uint_gt(calls, 2);
		ck_assert_uint_eq(history_walk(&r, newest, "rare", &calls), RARE);
		ck_assert_uint_gt(calls, 2);
	}
	raw_close(&r);
}
END_TEST

/* All that come in one turn of the loop share its time, and each comes a little further. */
START_TEST(history_of_many_calls)
{
	enum { CALLS = 64 };
	uint32_t id[CALLS];
	struct wire_frame f;
	struct raw r;

	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	for (unsigned i = 0; i < CALLS; i++)
		id[i] = history_ask(&r, false, 0, "nobody");
	for (unsigned i = 0; i < CALLS; i++) {
		f = raw_reply(&r, id[i]);
		ck_assert(!f.error.data && is_more(&f));
		ck_assert_uint_gt(raw_uint(f.result, "cursor"), 0);
	}
	raw_close(&r);
}
END_TEST

static unsigned lines(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* approvalctl goes on where a page was empty. */
START_TEST(history_of_ctl)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--agent", "rare"), 0);
	ck_assert_uint_eq(lines(r.text), RARE);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--oldest", "-n", "2", "--agent", "rare"), 0);
	ck_assert_uint_eq(lines(r.text), 2);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--agent", "nobody"), 0);
	ck_assert_uint_eq(lines(r.text), 0);
	run_free(&r);
}
END_TEST

static struct json_object *history_json(const char *option, const char *value, unsigned n)
{
	struct json_object *j;
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--oldest", "--json", option, value), 0);
	ck_assert_uint_eq(lines(r.text), n);
	j = json_tokener_parse(r.text);
	run_free(&r);
	return j;
}

/* Why it was decided so, and who changed the rules. */
START_TEST(history_of_rules)
{
	struct json_object *j;
	struct run r;

	j = history_json("--rule", RULE, 3);
	ck_assert_str_eq(json_text(j, "rule"), RULE);
	ck_assert_str_eq(json_text(j, "rule_id"), "7");
	ck_assert_str_eq(json_text(j, "source"), "rule");
	ck_assert_str_eq(json_text(j, "step"), "deny-rules");
	ck_assert_str_eq(json_text(j, "mode"), "yolo");
	ck_assert_str_eq(json_text(j, "floor"), "");
	json_object_put(j);
	ck_assert_ptr_null(history_json("--rule", "deny Bash(rm *)", 0));

	j = history_json("--source", "user", 1);
	ck_assert_str_eq(json_text(j, "floor"), "private-keys");
	ck_assert_str_eq(json_text(j, "mode"), "auto-edit");
	ck_assert_str_eq(json_text(j, "rule"), "");
	ck_assert_str_eq(json_text(j, "rule_id"), "");
	json_object_put(j);

	j = history_json("--event", "rule_removed", 1);
	ck_assert_str_eq(json_text(j, "rule"), RULE);
	ck_assert_str_eq(json_text(j, "rule_id"), "7");
	ck_assert_str_eq(json_text(j, "scope"), "project");
	ck_assert_str_eq(json_text(j, "workspace"), "/home/somebody/some");
	ck_assert_str_eq(json_text(j, "by"), "uid 1");
	ck_assert_str_eq(json_text(j, "detail"), "settings.json:3");
	ck_assert_str_eq(json_text(j, "count"), "17");
	ck_assert_str_eq(json_text(j, "mode"), "");
	json_object_put(j);

	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--oldest", "-n", "4"), 0);
	ck_assert_uint_eq(lines(r.text), 4);
	for (const char *p = r.text; *p; p++)
		ck_assert_int_ne(*p, '\x1b');
#define HAS(s) ck_assert_msg(strstr(r.text, s) != NULL, "%s in\n%s", s, r.text)
	HAS("\tdeny\trule\tBash\trm -r /\tdeny Bash(rm *)\\x1b[2J (rule 7)\n");
	HAS("\tdeny\tuser\tBash\trm -r /\tprivate-keys: just this one\n");
	HAS("\trule_added\t-\tproject\t-\t-\tdeny Bash(rm *)\\x1b[2J\tuid 0: "
	    "settings.json:3\n");
	HAS("\trule_removed\t-\tproject\t-\t-\tdeny Bash(rm *)\\x1b[2J\tuid 1: "
	    "settings.json:3\n");
#undef HAS
	run_free(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("query");
	TCase *t = tcase_create("query");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_unchecked_fixture(t, setup, teardown);
	tcase_add_test(t, history_in_portions);
	tcase_add_test(t, history_of_many_calls);
	tcase_add_test(t, history_of_ctl);
	tcase_add_test(t, history_of_rules);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
