/* SPDX-License-Identifier: MIT */
/*
 * Rows that went bad, or are of another time: what is shown of a pending request is what its
 * digest stands for, and its agent is the process that it was.
 */
#include <check.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define EXIT_STORE 4

static struct broker b;

/* An agent with one request. */
static pid_t asker(const char *on_disconnect, bool stay)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct wire_buffer *out;
		struct wire_open m, i;
		struct raw r;

		raw_connect(&r, b.agent);
		ck_assert(!raw_hello_agent(&r, "a").error.data);
		out = raw_call(&r, "request");
		wire_map_open(&m, out);
		wire_map_strz(&m, "tool_call_id", "c");
		wire_map_strz(&m, "tool", "Bash");
		wire_map_strz(&m, "on_disconnect", on_disconnect);
		wire_map_key(&m, "input");
		wire_map_open(&i, out);
		wire_map_strz(&i, "command", "rm /etc/motd");
		wire_close(&i);
		wire_close(&m);
		raw_send(&r);
		raw_notification(&r, "request_state");
		if (stay)
			raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

/* One that goes, but its request is kept. */
static void ask(void)
{
	pid_t pid = asker("keep", false);
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void tamper(const char *sql)
{
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/state/history.db", b.dir);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_changes(db), 1);
	sqlite3_close(db);
}

/* Is it shown as it was asked? */
static void shown(void)
{
	struct wire_frame f;
	struct wire_iter it;
	struct wire_open m;
	struct bytes item;
	struct raw r;

	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	wire_map_open(&m, raw_call(&r, "list"));
	wire_close(&m);
	f = raw_reply(&r, raw_send(&r));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "command"), "rm /etc/motd"));
	ck_assert(bytes_is(raw_text(raw_member(item, "input"), "command"), "rm /etc/motd"));
	raw_close(&r);
}

static const struct {
	const char *sql;
	bool refused;
} rows[] = {
	{"UPDATE request SET since = since", false},
	{"UPDATE request SET command = 'ls'", false},
	{"UPDATE request SET command = NULL", false},
	{"UPDATE request SET input = CAST(replace(input, 'motd', 'mold') AS BLOB)", true},
	{"UPDATE request SET digest = CAST(zeroblob(31) || x'01' AS BLOB)", true},
	{"UPDATE request SET cwd = cwd || 'x'", true},
	{"UPDATE request SET tool = 'Bath'", true},
	{"UPDATE request SET kind = kind - 1", true},
	{"UPDATE request SET type = 1", true},
	{"UPDATE request SET verdict = 1", true},
	{"UPDATE request SET state = 4", true},
};

START_TEST(gone_bad)
{
	broker_init(&b);
	broker_start(&b, NULL);
	ask();
	broker_kill(&b);
	tamper(rows[_i].sql);
	if (rows[_i].refused) {
		ck_assert_int_eq(broker_try(&b, NULL), EXIT_STORE);
	} else {
		broker_start(&b, NULL);
		shown();
		broker_stop(&b);
	}
	broker_fini(&b);
}
END_TEST

static uint64_t pending(void)
{
	struct wire_open m;
	uint64_t n;
	struct raw r;

	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	wire_map_open(&m, raw_call(&r, "stats"));
	wire_close(&m);
	n = raw_uint(raw_reply(&r, raw_send(&r)).result, "pending");
	raw_close(&r);
	return n;
}

/* A process of another boot with the same number and start time is another one. */
START_TEST(another_boot)
{
	int status;
	pid_t pid;

	broker_init(&b);
	broker_start(&b, NULL);
	pid = asker("wait", true);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	broker_kill(&b);
	broker_start(&b, NULL);
	ck_assert_uint_eq(pending(), 1);
	broker_kill(&b);
	tamper("UPDATE session SET pid_start = pid_start & 0xffffffffff");
	broker_start(&b, NULL);
	ck_assert_uint_eq(pending(), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rows that went bad");
	TCase *t = tcase_create("rows");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, gone_bad, 0, (int)(sizeof(rows) / sizeof(*rows)));
	tcase_add_test(t, another_boot);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
