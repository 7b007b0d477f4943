/* SPDX-License-Identifier: MIT */
/* Commands, the floor and the modes through the whole broker, with files that are there. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static struct raw person;
static int up[2], down[2];
static pid_t agent;

struct expectation {
	const char *tool, *text; /* a command, or the path of a Read or Edit */
	const char *verdict, *step;
};

static void file_make(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* Not below the broker's own folder, which is on the floor by its name. */
static char outside[] = "/tmp/outside-XXXXXX";

static void link_make(const char *name, const char *target)
{
	char path[64];

	snprintf(path, sizeof(path), "%s%s", outside, target);
	ck_assert_int_eq(symlink(path, name), 0);
}

/* A workspace, with links that lead out of it and to a key. */
static void workspace_make(void)
{
	ck_assert_ptr_nonnull(mkdtemp(outside));
	ck_assert_int_eq(chdir(outside), 0);
	ck_assert_int_eq(mkdir(".ssh", 0700), 0);
	file_make("plain");
	file_make(".ssh/id_ed25519");
	ck_assert_int_eq(chdir(b.dir), 0);
	ck_assert(mkdir("work", 0700) == 0 && chdir("work") == 0);
	ck_assert(mkdir(".git", 0700) == 0 && mkdir("sub", 0700) == 0);
	file_make("plain");
	file_make(".env");
	ck_assert_int_eq(symlink("/opt/none", "opt"), 0);
	link_make("out", "");
	link_make("link", "/plain");
	link_make("key", "/.ssh/id_ed25519");
}

static void outside_remove(void)
{
	ck_assert_int_eq(chdir(outside), 0);
	ck_assert(unlink("plain") == 0 && unlink(".ssh/id_ed25519") == 0 && rmdir(".ssh") == 0);
	ck_assert(chdir("/") == 0 && rmdir(outside) == 0);
}

static void call_pack(
	struct raw *r, const char *method, const struct expectation *e, unsigned n)
{
	struct wire_open m, i;
	char id[16];

	snprintf(id, sizeof(id), "c%u", n);
	wire_map_open(&m, raw_call(r, method));
	wire_map_strz(&m, "tool_call_id", id);
	wire_map_strz(&m, "tool", e->tool);
	wire_map_key(&m, "input");
	wire_map_open(&i, m.b);
	wire_map_strz(&i, strcmp(e->tool, "Bash") == 0 ? "command" : "file_path", e->text);
	wire_close(&i);
	wire_close(&m);
}

static void expect(struct raw *r, const struct expectation *e, size_t n)
{
	static unsigned calls;

	for (size_t i = 0; i < n; i++) {
		struct wire_frame f;

		call_pack(r, "check", &e[i], calls++);
		f = raw_reply(r, raw_send(r));
		ck_assert(!f.error.data);
		ck_assert_msg(bytes_is(raw_text(f.result, "verdict"), e[i].verdict) &&
				      bytes_is(raw_text(f.result, "step"), e[i].step),
			"%s %s: not %s by %s, but %.*s by %.*s", e[i].tool, e[i].text,
			e[i].verdict, e[i].step, (int)raw_text(f.result, "verdict").len,
			(const char *)raw_text(f.result, "verdict").data,
			(int)raw_text(f.result, "step").len,
			(const char *)raw_text(f.result, "step").data);
	}
}
#define EXPECT(r, ...)                                                                         \
	do {                                                                                   \
		static const struct expectation list[] = {__VA_ARGS__};                        \
		expect(r, list, sizeof(list) / sizeof(list[0]));                               \
	} while (0)

static void told(char c)
{
	char got = 0;

	ck_assert_int_eq(write(up[1], &c, 1), 1);
	ck_assert_int_eq(read(down[0], &got, 1), 1);
}

static void agent_run(void)
{
	static const struct expectation key = {"Bash", "cat key", "ask", "floor"};
	struct raw r;

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "s").error.data);
	told('n');
	EXPECT(&r, {"Bash", "ls -la", "allow", "mode"}, {"Bash", "cat plain", "allow", "mode"},
		{"Bash", "cd sub && ls", "allow", "mode"},
		{"Bash", "grep x plain | head -3", "allow", "mode"},
		/* what a link leads to is outside */
		{"Bash", "cat link", "ask", "human"}, {"Bash", "cd out && ls", "ask", "human"},
		{"Bash", "cat out/plain", "ask", "human"},
		{"Bash", "cat < link", "ask", "human"},
		{"Bash", "cat < plain", "allow", "mode"}, {"Read", "link", "ask", "human"},
		/* or on the floor */
		{"Bash", "cat key", "ask", "floor"}, {"Bash", "cp key x", "ask", "floor"},
		{"Bash", "head -1 < key", "ask", "floor"}, {"Read", "key", "ask", "floor"},
		{"Bash", "cat .env", "ask", "floor"}, {"Bash", "touch x", "ask", "human"},
		{"Bash", "ls > x", "ask", "human"}, {"Edit", "plain", "ask", "human"});
	told('y');
	EXPECT(&r, {"Bash", "touch x", "allow", "mode"}, {"Bash", "cat link", "allow", "mode"},
		{"Edit", "/var/tmp/plain", "allow", "mode"},
		{"Bash", "cat key", "ask", "floor"}, {"Bash", "rm -rf opt/", "ask", "floor"},
		{"Bash", "rm -rf /opt/none", "ask", "floor"},
		{"Bash", "rm -rf sub", "allow", "mode"}, {"Bash", "sudo true", "ask", "floor"},
		{"Bash", "eval \"$X\"", "ask", "floor"});
	told('e');
	EXPECT(&r, {"Edit", "plain", "allow", "mode"}, {"Edit", "link", "ask", "human"},
		{"Edit", ".git/hooks/x", "ask", "floor"}, {"Bash", "touch x", "ask", "human"});
	told('p');
	EXPECT(&r, {"Bash", "touch x", "deny", "plan"}, {"Bash", "ls", "allow", "mode"},
		{"Bash", "cat link", "deny", "plan"}, {"Read", "plain", "allow", "mode"},
		{"Bash", "cat key", "deny", "plan"});
	/* and one that waits, to be seen */
	told('n');
	call_pack(&r, "request", &key, 9999);
	raw_send(&r);
	raw_notification(&r, "request_state");
	told('.');
	_exit(0);
}

static struct bytes ask(
	const char *method, const char *key, const char *value, const char *mode)
{
	struct wire_frame reply;
	struct wire_open m;

	wire_map_open(&m, raw_call(&person, method));
	if (key)
		wire_map_strz(&m, key, value);
	if (mode)
		wire_map_strz(&m, "mode", mode);
	wire_close(&m);
	reply = raw_reply(&person, raw_send(&person));
	ck_assert(!reply.error.data);
	return reply.result;
}

static struct bytes only(struct bytes result)
{
	struct bytes item;
	struct wire_iter it;

	ck_assert_int_eq(wire_iter_array(&it, raw_member(result, "items")), 0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	return item;
}

static void step(char want, const char *mode)
{
	char c = 0, session[64];
	struct bytes id;

	ck_assert_int_eq(read(up[0], &c, 1), 1);
	ck_assert_int_eq(c, want);
	id = raw_text(only(ask("sessions", NULL, NULL, NULL)), "session");
	snprintf(session, sizeof(session), "%.*s", (int)id.len, (const char *)id.data);
	if (mode)
		ask("set_mode", "session", session, mode);
	if (want != '.')
		ck_assert_int_eq(write(down[1], "", 1), 1);
}

START_TEST(by_modes)
{
	static const char *const args[] = {"--store", "none", NULL};
	struct bytes item, floor;

	broker_init(&b);
	broker_start(&b, args);
	raw_connect(&person, b.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	workspace_make();
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0)
		agent_run();
	/* so that the agent's failure ends the reading */
	ck_assert(close(up[1]) == 0 && close(down[0]) == 0);
	step('n', NULL);
	step('y', "yolo");
	step('e', "auto-edit");
	step('p', "plan");
	step('n', "yolo");
	step('.', NULL);
	item = only(ask("list", NULL, NULL, NULL));
	ck_assert(bytes_is(raw_text(item, "mode"), "yolo"));
	ck_assert(bytes_is(raw_text(item, "step"), "floor"));
	floor = raw_member(item, "floor");
	ck_assert_ptr_nonnull(floor.data);
	ck_assert_msg(bytes_is(raw_text(floor, "entry"), "ssh") ||
			      bytes_is(raw_text(floor, "entry"), "private-key"),
		"%.*s", (int)raw_text(floor, "entry").len,
		(const char *)raw_text(floor, "entry").data);
	ck_assert_uint_gt(raw_text(floor, "about").len, 0);
	ck_assert_int_eq(write(down[1], "", 1), 1);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	raw_close(&person);
	broker_stop(&b);
	outside_remove();
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floor");
	TCase *t = tcase_create("modes");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, by_modes);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
