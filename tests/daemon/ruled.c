/* SPDX-License-Identifier: MIT */
#include "tests/daemon/ruled.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct broker b;

void file_write(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", b.dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	fclose(f);
}

static void setup(void)
{
	char text[256];

	broker_init(&b);
	snprintf(text, sizeof(text), "%s/admin", b.dir);
	ck_assert_int_eq(mkdir(text, 0700), 0);
	snprintf(text, sizeof(text), "[rules]\nadmin-dir = %s/admin\nuser-file = %s/rules\n",
		b.dir, b.dir);
	broker_configure(&b, text);
}

static void teardown(void)
{
	broker_fini(&b);
}

void ask_body(const char *method, const char *command, const char *want, const char *rule)
{
	struct wire_frame reply;
	struct wire_open m, i;
	struct wire_buffer *out;
	struct bytes got;
	struct raw r;

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, command).error.data);
	out = raw_call(&r, method);
	wire_map_open(&m, out);
	wire_map_strz(&m, "tool_call_id", "c");
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&i, out);
	wire_map_strz(&i, "command", command);
	wire_map_strz(&i, "description", "what it is for");
	wire_close(&i);
	wire_close(&m);
	reply = raw_reply(&r, raw_send(&r));
	ck_assert_msg(!reply.error.data, "%s: an error", command);
	got = raw_text(reply.result, "verdict");
	ck_assert_msg(bytes_is(got, want), "%s: %.*s instead of %s", command, (int)got.len,
		(const char *)got.data, want);
	got = raw_text(reply.result, "rule");
	if (rule)
		ck_assert_msg(bytes_is(got, rule), "%s: rule %.*s", command, (int)got.len,
			(const char *)got.data);
	raw_close(&r);
}

void ask(const char *method, const char *command, const char *want, const char *rule)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ask_body(method, command, want, rule);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s failed", command);
}

void reload(void)
{
	broker_reload(&b);
}

TCase *ruled_tcase(Suite *s)
{
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(s, t);
	return t;
}
