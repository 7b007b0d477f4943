/* SPDX-License-Identifier: MIT */
/* The paths of calls: whose they are, and what happens while they are looked up. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;

static void setup(void)
{
	static const char *const args[] = {"--store", "none", NULL};

	broker_init(&b);
	broker_start(&b, args);
}

static char state_of(pid_t pid)
{
	char path[64], text[512], *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	ck_assert_ptr_nonnull(end);
	return end[2];
}

/*
 * Returns once it stands still. What is sent to it meanwhile comes in one turn of its
 * loop, and the answer of the thread that looks for paths in a later one.
 */
static void broker_halt(void)
{
	ck_assert_int_eq(kill(b.pid, SIGSTOP), 0);
	while (state_of(b.pid) != 'T')
		;
}

/*
 * Nothing is known of what stands in it, ".git" included: the broker's thread has to look,
 * and as far up as that takes longer than a signal.
 */
static void enter_unknown(void)
{
	ck_assert_int_eq(chdir(b.dir), 0);
	for (int i = 0; i < 400; i++)
		ck_assert(mkdir("u", 0700) == 0 && chdir("u") == 0);
}

static void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		fn();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}

static void hello_pack(struct raw *r)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "session", "s");
	wire_close(&m);
}

/* Answered, so that it has been accepted. */
static void connect_accepted(struct raw *r)
{
	struct wire_open m;

	raw_connect(r, b.agent);
	wire_map_open(&m, raw_call(r, "bye"));
	wire_close(&m);
	ck_assert(raw_reply(r, raw_send(r)).error.data);
}

static void frontend_below(int up, int down)
{
	struct wire_frame f;
	struct raw r;
	bool refused;
	char c;

	raw_connect(&r, b.frontend);
	ck_assert_int_eq(write(up, "c", 1), 1);
	f = raw_hello_frontend(&r, "human");
	refused = f.error.data != NULL;
	/* it is there until the other's answer has come */
	ck_assert_int_eq(read(down, &c, 1), 1);
	_exit(refused ? 1 : 0);
}

static void subject_body(void)
{
	int up[2], down[2], status;
	char c;
	struct wire_frame f;
	struct bytes code;
	uint32_t hello;
	struct raw r;
	pid_t pid;

	connect_accepted(&r);
	broker_halt();
	enter_unknown();
	hello_pack(&r);
	hello = raw_send(&r);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	if (pid == 0)
		frontend_below(up[1], down[0]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	ck_assert_int_eq(kill(b.pid, SIGCONT), 0);
	f = raw_reply(&r, hello);
	code = raw_text(f.error, "code");
	ck_assert_msg(bytes_is(code, "bad_subject"), "answered '%.*s'", (int)code.len,
		code.data ? (const char *)code.data : "");
	ck_assert_int_eq(write(down[1], "c", 1), 1);
	/* whoever answers is not shut out by it */
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* A frontend comes below the process that waits to be a subject. */
START_TEST(subject_is_judged_again)
{
	in_child(subject_body);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

static void stop_body(void)
{
	struct raw greeted, fresh;
	struct wire_open m, i;
	uint32_t check, hello;
	char path[128];

	connect_accepted(&fresh);
	raw_connect(&greeted, b.agent);
	ck_assert(!raw_hello_agent(&greeted, "a").error.data);
	broker_halt();
	enter_unknown();
	hello_pack(&fresh);
	hello = raw_send(&fresh);
	snprintf(path, sizeof(path), "%s/none/none", b.dir);
	wire_map_open(&m, raw_call(&greeted, "check"));
	wire_map_strz(&m, "tool", "Read");
	wire_map_key(&m, "input");
	wire_map_open(&i, &greeted.out);
	wire_map_strz(&i, "file_path", path);
	wire_close(&i);
	wire_close(&m);
	check = raw_send(&greeted);
	ck_assert_int_eq(kill(b.pid, SIGTERM), 0);
	ck_assert_int_eq(kill(b.pid, SIGCONT), 0);
	ck_assert(bytes_is(raw_text(raw_reply(&fresh, hello).error, "code"), "shutdown"));
	ck_assert(bytes_is(raw_text(raw_reply(&greeted, check).error, "code"), "shutdown"));
}

/* What is not done when the broker ends is told so. */
START_TEST(told_at_the_end)
{
	in_child(stop_body);
	ck_assert_int_eq(broker_wait(&b), 0);
	broker_fini(&b);
}
END_TEST

/* ---- a helper that sees another root than its agent ---- */

/* What is inside the workspace is read without asking anybody: "allow". */
static void read_inside(struct raw *r, const char *path, char verdict[16])
{
	struct wire_frame f;
	struct wire_open m, i;
	struct bytes text;

	wire_map_open(&m, raw_call(r, "check"));
	wire_map_strz(&m, "tool", "Read");
	wire_map_key(&m, "input");
	wire_map_open(&i, &r->out);
	wire_map_strz(&i, "file_path", path);
	wire_close(&i);
	wire_close(&m);
	f = raw_reply(r, raw_send(r));
	ck_assert(!f.error.data);
	text = raw_text(f.result, "verdict");
	snprintf(verdict, 16, "%.*s", (int)text.len, (const char *)text.data);
}

static void helper_run(const char *file, const char *way)
{
	char empty[128], verdict[16];
	struct raw r;

	raw_connect(&r, b.agent);
	snprintf(empty, sizeof(empty), "%s/empty", b.dir);
	ck_assert_int_eq(mkdir(empty, 0700), 0);
	if (chroot(empty) < 0 || chdir("/") < 0) {
		printf("no right to change the root: not tried\n");
		_exit(0);
	}
	/* it joins the session, whose subject is its parent */
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	read_inside(&r, file, verdict);
	ck_assert_str_eq(verdict, "allow");
	/* in its own root there is nothing of the kind, and so nothing that leads out */
	read_inside(&r, way, verdict);
	ck_assert_str_eq(verdict, "ask");
	_exit(0);
}

static void rooted_body(void)
{
	char workspace[128], file[160], way[160], verdict[16];
	struct raw r;
	int fd, status;
	pid_t pid;

	snprintf(workspace, sizeof(workspace), "%s/workspace", b.dir);
	snprintf(file, sizeof(file), "%s/file", workspace);
	ck_assert(mkdir(workspace, 0700) == 0 && chdir(workspace) == 0);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	snprintf(way, sizeof(way), "%s/way-out", workspace);
	ck_assert_int_eq(symlink("/etc/passwd", way), 0);
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	read_inside(&r, file, verdict);
	ck_assert_str_eq(verdict, "allow");
	read_inside(&r, way, verdict);
	ck_assert_str_eq(verdict, "ask");
	pid = fork();
	if (pid == 0)
		helper_run(file, way);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Paths are those of the session's subject, whoever of its tree makes the call. */
START_TEST(paths_of_the_subject)
{
	in_child(rooted_body);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("paths of calls");
	TCase *t = tcase_create("paths");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, subject_is_judged_again);
	tcase_add_test(t, told_at_the_end);
	tcase_add_test(t, paths_of_the_subject);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
