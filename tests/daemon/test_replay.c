/* SPDX-License-Identifier: MIT */
/* history --replay over a store that a real broker gives out. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/store/journal.h"
#include "frontends/common/exit.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define MANY (broker_valgrind() ? 2000u : 60000u)
#define BIG  (300u << 10)

static struct broker b;
static struct journal *store;
static char rules[128];
static char id[16];

/* ---- the store ---- */

static void store_begin(void)
{
	char path[128];

	broker_init(&b);
	memset(id, 5, sizeof(id));
	setenv("APPROVAL_FRONTEND_SOCKET", b.frontend, 1);
	setenv("HOME", "/home/u", 1);
	snprintf(rules, sizeof(rules), "%s/new.rules", b.dir);
	snprintf(path, sizeof(path), "%s/state", b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/state/history.db", b.dir);
	ck_assert_int_eq(journal_open_sqlite(&store, path), 0);
	ck_assert_int_eq(journal_begin(store), 0);
}

static void store_end(void)
{
	ck_assert_int_eq(journal_commit(store), 0);
	journal_close(store);
	broker_start(&b, NULL);
}

static struct history_row row_of(const char *tool, enum verdict verdict, enum source source)
{
	struct history_row row = {.at = 1,
		.event = HISTORY_DECISION,
		.uid = getuid(),
		.session = {{1}},
		.request = {{2}},
		.agent = bytes_of("claude"),
		.tool = bytes_of(tool),
		.cwd = bytes_of("/w/proj"),
		.workspace = bytes_of("/w/proj"),
		.verdict = (uint8_t)verdict,
		.source = (uint8_t)source,
		.state = verdict == VERDICT_ALLOW ? REQUEST_ALLOWED : REQUEST_DENIED,
		.kind = KIND_EXECUTE,
		.mode = MODE_NORMAL};

	memcpy(row.request.b, id, sizeof(id));
	return row;
}

static void row_put(struct history_row *row, const char *key, const char *value, size_t len)
{
	struct wire_buffer out;
	struct wire_open m;

	wire_buffer_init(&out, SIZE_MAX / 2);
	wire_map_open(&m, &out);
	wire_map_str(&m, key, (struct bytes){value, len});
	wire_close(&m);
	ck_assert_int_eq(out.error, 0);
	row->input = wire_buffer_bytes(&out);
	ck_assert_int_eq(journal_put(store, JOURNAL_HISTORY, row), 0);
	wire_buffer_free(&out);
}

static void command_put(
	const char *command, enum verdict verdict, enum source source, enum step step)
{
	struct history_row row = row_of("Bash", verdict, source);

	row.command = bytes_of(command);
	row.step = (uint8_t)step;
	row_put(&row, "command", command, strlen(command));
}

static void rules_write(const char *text)
{
	FILE *const f = fopen(rules, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* ---- what it says ---- */

static struct json_object *next_line(struct run *r)
{
	struct json_object *const j = json_tokener_parse(run_line(r));

	ck_assert_ptr_nonnull(j);
	return j;
}

static const char *inner(struct json_object *j, const char *key, const char *member)
{
	struct json_object *v = NULL;

	ck_assert(json_object_object_get_ex(j, key, &v));
	return json_text(v, member);
}

static void change(struct run *r, const char *command, const char *was, const char *now,
	const char *source, const char *line)
{
	struct json_object *const j = next_line(r);

	ck_assert_str_eq(json_text(j, "type"), "change");
	ck_assert_str_eq(json_text(j, "command"), command);
	ck_assert_str_eq(inner(j, "was", "source"), was);
	ck_assert_str_eq(inner(j, "now", "verdict"), now);
	ck_assert_str_eq(inner(j, "now", "source"), source);
	ck_assert_str_eq(inner(j, "now", "line"), line);
	json_object_put(j);
}

static void rows_of_all_kinds(void)
{
	struct history_row row;
	char *const big = malloc(BIG);

	command_put("make", VERDICT_ALLOW, SOURCE_USER, STEP_HUMAN);
	command_put("make test", VERDICT_ALLOW, SOURCE_RULE, STEP_ALLOW_RULES);
	command_put("git push", VERDICT_ALLOW, SOURCE_POLICY, STEP_POLICY);
	command_put("ls", VERDICT_ALLOW, SOURCE_MODE, STEP_MODE);
	command_put("other", VERDICT_DENY, SOURCE_USER, STEP_HUMAN);
	command_put("frob", VERDICT_DENY, SOURCE_RULE, STEP_DENY_RULES);
	command_put("cat ~/.ssh/id_rsa", VERDICT_ALLOW, SOURCE_RULE, STEP_ALLOW_RULES);
	/* what the state of a turn decided is not for rules to change */
	command_put("make", VERDICT_DENY, SOURCE_REPEAT, STEP_REPEAT);
	command_put("make", VERDICT_DENY, SOURCE_USER, STEP_SUSPENDED);
	/* a file as agents write them */
	ck_assert_ptr_nonnull(big);
	memset(big, 'x', BIG);
	row = row_of("Write", VERDICT_ALLOW, SOURCE_USER);
	row.kind = KIND_EDIT;
	row_put(&row, "file_path", "/w/proj/src/a", strlen("/w/proj/src/a"));
	row.request.b[0] = 7;
	row_put(&row, "content", big, BIG);
	free(big);
	/* a record of a version that kept none */
	row = row_of("Bash", VERDICT_ALLOW, SOURCE_USER);
	row.command = bytes_of("make");
	ck_assert_int_eq(journal_put(store, JOURNAL_HISTORY, &row), 0);
	/* what was withdrawn before anybody answered */
	row = row_of("Bash", VERDICT_NONE, SOURCE_ABORT);
	row.event = HISTORY_ENDED;
	row.state = REQUEST_ABANDONED;
	row.command = bytes_of("make withdrawn");
	row_put(&row, "command", "make withdrawn", strlen("make withdrawn"));
	/* neither a tool call nor a decision */
	row = row_of("Bash", VERDICT_ALLOW, SOURCE_USER);
	row.event = HISTORY_OUTCOME;
	ck_assert_int_eq(journal_put(store, JOURNAL_HISTORY, &row), 0);
	row = row_of("ask", VERDICT_ALLOW, SOURCE_USER);
	row.type = REQUEST_TYPE_QUESTION;
	row_put(&row, "q", "why", 3);
}

START_TEST(changes)
{
	struct json_object *j, *part = NULL;
	struct run r;

	store_begin();
	rows_of_all_kinds();
	store_end();
	rules_write("# a comment\nallow Bash(make:*)\ndeny Bash(git push:*)\nallow "
		    "Edit(./src/**)\n");
	RUN(&r, "history", "--replay", rules, "--json");
	change(&r, "make", "user", "allow", "rule", "2");
	change(&r, "git push", "policy", "deny", "rule", "3");
	change(&r, "frob", "rule", "ask", "", "");
	change(&r, "cat ~/.ssh/id_rsa", "rule", "ask", "floor", "");
	j = next_line(&r);
	ck_assert_str_eq(json_text(j, "tool"), "Write");
	ck_assert_str_eq(inner(j, "now", "rule"), "allow Edit(./src/**)");
	json_object_put(j);
	change(&r, "make withdrawn", "abort", "allow", "rule", "2");
	j = next_line(&r);
	ck_assert_str_eq(json_text(j, "type"), "summary");
	ck_assert_str_eq(json_text(j, "calls"), "13");
	ck_assert_str_eq(inner(j, "changes", "ask-allow"), "3");
	ck_assert_str_eq(inner(j, "changes", "ask-deny"), "1");
	ck_assert_str_eq(inner(j, "changes", "deny-ask"), "1");
	ck_assert_str_eq(inner(j, "changes", "allow-ask"), "1");
	ck_assert_str_eq(inner(j, "unknown", "turn"), "2");
	ck_assert_str_eq(inner(j, "unknown", "input"), "1");
	ck_assert(json_object_object_get_ex(j, "unknown", &part));
	json_object_put(j);
	ck_assert_int_eq(run_wait(&r), 0);
	run_free(&r);
	/* a few of them, and for people */
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules, "-n", "2"), 0);
	ck_assert_ptr_nonnull(strstr(r.text, "2 calls, 1 would change."));
	ck_assert_ptr_nonnull(strstr(r.text, "line 2: allow Bash(make:*)"));
	ck_assert_ptr_nonnull(strstr(r.text, "asked: allow by user\tallow by rule"));
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules, "--tool", "Write"), 0);
	ck_assert_ptr_nonnull(strstr(r.text, "2 calls, 1 would change."));
	run_free(&r);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

START_TEST(hostile)
{
	struct run r;

	store_begin();
	command_put("make \x1b[2J\ncalls, 0 would change", VERDICT_DENY, SOURCE_RULE,
		STEP_DENY_RULES);
	store_end();
	rules_write("allow Bash(frob)\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules), 0);
	ck_assert_ptr_null(strchr(r.text, '\x1b'));
	ck_assert_ptr_null(strstr(r.text, "\ncalls"));
	run_free(&r);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

START_TEST(wrong)
{
	struct run r;

	store_begin();
	store_end();
	ck_assert_int_eq(
		RUN_WHOLE(&r, "history", "--replay", "/no/such/file"), STATUS_NO_INPUT);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", b.dir), STATUS_NO_INPUT);
	run_free(&r);
	rules_write("allow Bash(x)\nalow Bash(x)\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules), STATUS_DATA);
	ck_assert_ptr_nonnull(strstr(r.error, "new.rules:2:1:"));
	run_free(&r);
	rules_write("");
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules, "--verify"), STATUS_USAGE);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules, "--event", "decision"),
		STATUS_USAGE);
	run_free(&r);
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules), 0);
	ck_assert_ptr_nonnull(strstr(r.text, "0 calls, 0 would change."));
	run_free(&r);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

/* A long history takes no more memory than a short one. */
START_TEST(memory)
{
	const unsigned n = MANY;
	struct rusage usage;
	char command[64];
	struct run r;

	store_begin();
	for (unsigned i = 0; i < n; i++) {

		snprintf(command, sizeof(command), "make -j%u x%u | sort > out", i % 9, i);
		command_put(command, VERDICT_ALLOW, SOURCE_RULE, STEP_ALLOW_RULES);
	}
	store_end();
	rules_write("allow Bash(make:*)\n");
	ck_assert_int_eq(RUN_WHOLE(&r, "history", "--replay", rules), 0);
	snprintf(command, sizeof(command), "%u calls, %u would change.", n, n);
	ck_assert_ptr_nonnull(strstr(r.text, command));
	run_free(&r);
	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
#ifndef SANITIZED
	if (!broker_valgrind())
		ck_assert_int_lt(usage.ru_maxrss, 40 * 1024);
#endif
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("history --replay");
	TCase *t = tcase_create("replay");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 240);
	tcase_add_test(t, changes);
	tcase_add_test(t, hostile);
	tcase_add_test(t, wrong);
	tcase_add_test(t, memory);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
