/* SPDX-License-Identifier: MIT */
/* Rules from files, with the real broker: in force, read again, refused. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/ruled.h"

START_TEST(files)
{
	file_write("admin/10.rules", "deny Bash(frob --hard *)\n");
	file_write("rules", "allow Bash(frob *)\nask Bash(frob ask)\n");
	broker_start(&b, NULL);
	allowed("frob --soft x", "allow Bash(frob *)");
	denied("frob --hard x", "deny Bash(frob --hard *)");
	asked("frob ask");
	asked("other");
	asked("frob x > out");
	/* a change is nothing until it is read, then it counts */
	file_write("rules", "allow Bash(other)\n");
	asked("other");
	reload();
	allowed("other", "allow Bash(other)");
	asked("frob --soft x");
	denied("frob --hard x", NULL);
	/* a file with a mistake anywhere: the old set stays, whole */
	file_write("rules", "allow Bash(third)\nalow Bash(x)\n");
	file_write("admin/10.rules", "");
	reload();
	allowed("other", NULL);
	asked("third");
	denied("frob --hard x", NULL);
	/* so does it with a configuration that is wrong */
	file_write("rules", "allow Bash(third)\n");
	broker_configure(&b, "[broker]\nheadless = perhaps\n");
	reload();
	allowed("other", NULL);
	asked("third");
	broker_stop(&b);
}
END_TEST

#define LONG 10000

static void long_reason_body(void)
{
	char command[LONG + 16] = "frob ";
	struct wire_frame reply;
	struct wire_open m, i;
	struct bytes reason;
	struct raw r;

	memset(command + 5, 'x', LONG);
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	wire_map_open(&m, raw_call(&r, "request"));
	wire_map_strz(&m, "tool_call_id", "c");
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&i, m.b);
	wire_map_strz(&i, "command", command);
	wire_close(&i);
	wire_close(&m);
	reply = raw_reply(&r, raw_send(&r));
	ck_assert(bytes_is(raw_text(reply.result, "verdict"), "deny"));
	/* all of the rule, and as much of it as a reason may be */
	ck_assert_uint_eq(raw_text(reply.result, "rule").len, LONG + 16);
	reason = raw_text(reply.result, "reason");
	ck_assert_uint_le(reason.len, LIMIT_TEXT);
	ck_assert_uint_gt(reason.len, LIMIT_TEXT - 64);
	ck_assert_mem_eq(reason.data, "deny Bash(frob x", 16);
	ck_assert_mem_eq((const char *)reason.data + reason.len - 13, "[+5952 bytes]", 13);
	raw_close(&r);
}

START_TEST(long_rule)
{
	char rule[LONG + 32] = "deny Bash(frob ";
	int status;
	pid_t pid;

	memset(rule + 15, 'x', LONG);
	strcpy(rule + 15 + LONG, ")\n");
	file_write("rules", rule);
	broker_start(&b, NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		long_reason_body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	broker_stop(&b);
}
END_TEST

START_TEST(floor_files)
{
	char text[512];

	file_write("rules", "allow Bash(cat *)\nallow Bash(frob *)\nallow Bash(twist *)\n");
	file_write("floor", "frobbing command frob\n");
	file_write("admin/site.floor", "twisting command twist\n");
	snprintf(text, sizeof(text),
		"[rules]\nadmin-dir = %s/admin\nuser-file = %s/rules\n"
		"[floor]\nuser-file = %s/floor\n",
		b.dir, b.dir, b.dir);
	broker_configure(&b, text);
	broker_start(&b, NULL);
	asked("frob x");
	asked("twist x");
	/* the user's own entry can be switched off, that of the administrator can't */
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "off = frobbing\n");
	broker_configure(&b, text);
	reload();
	allowed("frob x", NULL);
	asked("twist x");
	strcpy(text + strlen(text) - 1, ", twisting\n");
	broker_configure(&b, text);
	reload();
	asked("twist x");
	allowed("frob x", NULL);
	broker_stop(&b);
}
END_TEST

/* It does not start with rules that it can't read: one that denies may be among them. */
START_TEST(refused_at_start)
{
	char path[128];

	file_write("rules", "allow Bash(x)\nno rule\n");
	ck_assert_int_eq(broker_try(&b, NULL), 3);
	file_write("rules", "allow Bash(x)\n");
	snprintf(path, sizeof(path), "%s/rules", b.dir);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(broker_try(&b, NULL), 3);
	ck_assert_int_eq(chmod(path, 0644), 0);
	broker_configure(&b, "[floor]\noff = no-such-entry\n");
	ck_assert_int_eq(broker_try(&b, NULL), 3);
	broker_configure(&b, "[floor]\noff = unread\n");
	ck_assert_int_eq(broker_try(&b, NULL), 3);
	/* beside the configuration that is given, the rules of the user */
	broker_configure(&b, "");
	broker_start(&b, NULL);
	allowed("x", "allow Bash(x)");
	broker_stop(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rules");
	TCase *t = ruled_tcase(s);
	SRunner *sr;
	int failed;

	tcase_add_test(t, files);
	tcase_add_test(t, floor_files);
	tcase_add_test(t, long_rule);
	tcase_add_test(t, refused_at_start);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
