/* SPDX-License-Identifier: MIT */
/* approval-run, and what the broker does to whom it launched: real processes in real cgroups.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/approval.h"
#include "tests/run/launch.h"

static struct broker broker;

static void setup(void)
{
	launch_setup(&broker);
}

static void teardown(void)
{
	launch_teardown(&broker);
}

static int status_of(const char *option, const char *script)
{
	struct launch l;

	memset(&l, 0, sizeof(l));
	launch_start(&l, option, script);
	run_close_in(&l.run);
	return launch_wait(&l);
}

START_TEST(exit_status)
{
	struct run r;

	ck_assert_int_eq(status_of(NULL, "echo $$; read x; exit 7"), 7);
	ck_assert_int_eq(
		status_of("--protocol", "echo $$; read x; kill -USR2 $$"), 128 + SIGUSR2);
	run_program(
		&r, "./approval-run", (const char *const[]){"--", "/no/such/program", NULL});
	ck_assert_int_eq(run_wait(&r), 127);
	run_free(&r);
	run_program(
		&r, "./approval-run", (const char *const[]){"--budget-cost", "5,0", "x", NULL});
	ck_assert_int_eq(run_wait(&r), 2);
	run_free(&r);
}
END_TEST

START_TEST(signals_forwarded)
{
	struct launch l;

	launch_start(
		&l, NULL, "trap 'echo got; exit 3' TERM; echo $$; while :; do sleep 1; done");
	kill(l.run.pid, SIGTERM);
	ck_assert_str_eq(run_line(&l.run), "got");
	ck_assert_int_eq(launch_wait(&l), 3);
}
END_TEST

/* What it has started in the background ends with it, wherever it went. */
START_TEST(nothing_is_left)
{
	struct launch l;
	pid_t orphan;

	launch_start(&l, NULL,
		"echo $$; (setsid sh -c 'echo $$; exec sleep 1000' &) ; read x; exit 0");
	orphan = atoi(run_line(&l.run));
	ck_assert_int_ne(launch_state(orphan), 0);
	run_close_in(&l.run);
	ck_assert_int_eq(launch_wait(&l), 0);
	ck_assert_int_eq(launch_state(orphan), 0);
	ck_assert_int_ne(access(l.group, F_OK), 0);
}
END_TEST

START_TEST(spinning)
{
	struct launch l;

	launch_start(&l, NULL, "echo $$; while :; do :; done");
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	ck_assert(launch_held(&l));
	CTL(0, "resume", l.session);
	launch_await(&l, false);
	ck_assert(!launch_held(&l));
	CTL(0, "suspend", "--all");
	launch_await(&l, true);
	CTL(0, "end-turn", l.session);
	launch_await(&l, false);
	CTL(0, "kill", l.session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
}
END_TEST

/* Every process of a tree that goes on forking. */
#define FORKS "echo $$; while :; do sleep 0.02 & sleep 0.02 & wait; done"

START_TEST(forking)
{
	struct launch l;

	launch_start(&l, NULL, FORKS);
	for (int i = 0; i < 20; i++) {
		CTL(0, "suspend", l.session);
		launch_await(&l, true);
		CTL(0, "resume", l.session);
		launch_await(&l, false);
	}
	CTL(0, "kill", l.session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
}
END_TEST

START_TEST(stopped)
{
	struct launch l;

	launch_start(&l, "--stop", FORKS);
	for (int i = 0; i < 10; i++) {
		CTL(0, "suspend", l.session);
		launch_stopped(&l);
		ck_assert(launch_held(&l));
		CTL(0, "resume", l.session);
		for (unsigned n = 0; launch_state(l.pid) == 'T'; n++)
			ck_assert_uint_lt(n, 100000);
	}
	CTL(0, "suspend", l.session);
	CTL(0, "kill", l.session);
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
}
END_TEST

START_TEST(stop_refused)
{
	struct run r;

	broker_stop(&broker);
	broker_configure(&broker, "[enforce]\nstop = no\n");
	broker_start(&broker, NULL);
	run_program(&r, "./approval-run", (const char *const[]){"--stop", "true", NULL});
	ck_assert_int_eq(run_wait(&r), 1);
	ck_assert_ptr_nonnull(strstr(r.error, "forbidden"));
	run_free(&r);
}
END_TEST

START_TEST(ignores_everything)
{
	struct launch l;

	launch_start(&l, NULL, "trap '' TERM INT HUP QUIT; echo $$; while :; do sleep 1; done");
	CTL(0, "kill", l.session, "--grace", "100ms", "--reason", "enough");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
	CTL(0, "history", "--event", "killed");
}
END_TEST

START_TEST(listens_to_term)
{
	struct launch l;

	launch_start(&l, NULL, "trap 'exit 9' TERM; echo $$; while :; do sleep 0.05; done");
	CTL(0, "kill", l.session, "--grace", "60s");
	ck_assert_int_eq(launch_wait(&l), 9);
}
END_TEST

START_TEST(killed_while_frozen)
{
	struct launch l;

	launch_start(&l, NULL, "trap '' TERM; echo $$; while :; do :; done");
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	/* it can't hear SIGTERM: no grace */
	CTL(0, "kill", l.session, "--grace", "1h");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
	ck_assert_int_ne(access(l.group, F_OK), 0);
}
END_TEST

START_TEST(launcher_killed)
{
	struct launch l;

	launch_start(&l, NULL, "echo $$; setsid sleep 1000 & while :; do :; done");
	kill(l.run.pid, SIGKILL);
	ck_assert_int_eq(launch_wait(&l), -SIGKILL);
	for (unsigned n = 0; launch_state(l.pid) || launch_running(&l); n++)
		ck_assert_uint_lt(n, 1000000);
	/* the next one removes its cgroup */
	ck_assert_int_eq(status_of(NULL, "echo $$; read x; exit 0"), 0);
	ck_assert_int_ne(access(l.group, F_OK), 0);
}
END_TEST

START_TEST(broker_killed_while_frozen)
{
	struct launch l;

	launch_start(&l, NULL, "echo $$; while :; do :; done");
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	broker_kill(&broker);
	ck_assert(launch_frozen(&l));
	broker_start(&broker, NULL);
	ck_assert(launch_frozen(&l));
	/* approval-run passes the descriptors again */
	for (unsigned n = 0; !launch_held(&l); n++)
		ck_assert_uint_lt(n, 10000);
	ck_assert(launch_frozen(&l));
	CTL(0, "resume", l.session);
	launch_await(&l, false);
	CTL(0, "kill", l.session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
}
END_TEST

/* An agent leaves its process tree and its session, and tries to answer. */
static void refused_inside(const char *option)
{
	char script[512], text[64] = "";
	struct launch l;
	FILE *f;

	snprintf(script, sizeof(script),
		"echo $$; (setsid sh -c '%s list >%s/said 2>&1; echo $? >%s/status; echo done' "
		"&); "
		"read x; exit 0",
		getenv("APPROVALCTL") ? getenv("APPROVALCTL") : "./approvalctl", broker.dir,
		broker.dir);
	launch_start(&l, option, script);
	ck_assert_str_eq(run_line(&l.run), "done");
	snprintf(script, sizeof(script), "%s/status", broker.dir);
	f = fopen(script, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	fclose(f);
	ck_assert_str_eq(text, "1\n");
	run_close_in(&l.run);
	ck_assert_int_eq(launch_wait(&l), 0);
}

START_TEST(double_fork_refused)
{
	refused_inside(NULL);
	refused_inside("--stop");
	refused_inside("--protocol");
}
END_TEST

/* The first agent inside speaks for the session. */
START_TEST(adopted)
{
	struct launch l;
	struct run r;
	unsigned n = 0;

	launch_start(&l, NULL,
		"echo $$; for k in 1 2 3; do ./approvalctl check -- ls >&2; done; "
		"echo done; read x; exit 0");
	ck_assert_str_eq(run_line(&l.run), "done");
	ck_assert_int_eq(RUN_WHOLE(&r, "sessions", "--json"), 0);
	for (const char *at = r.text; (at = strchr(at, '\n')); at++)
		n++;
	ck_assert_uint_eq(n, 1);
	run_free(&r);
	run_close_in(&l.run);
	ck_assert_int_eq(launch_wait(&l), 0);
}
END_TEST

/* It says nothing at all, and is frozen when its time is up. */
START_TEST(ceiling)
{
	struct launch l;

	launch_start(&l, "--budget-wall=300ms", "echo $$; while :; do :; done");
	launch_await(&l, true);
	ck_assert(launch_held(&l));
	CTL(0, "resume", "--wall", "300ms", l.session);
	launch_await(&l, false);
	launch_await(&l, true);
	CTL(0, "end-turn", l.session);
	launch_await(&l, false);
	CTL(0, "kill", l.session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
}
END_TEST

/* Until approvalctl tells that. */
static void told_await(const char *command, const char *what)
{
	struct run r;
	bool told = false;

	for (unsigned n = 0; !told; n++) {
		ck_assert_uint_lt(n, 2000);
		ck_assert_int_eq(RUN_WHOLE(&r, command, "--json"), 0);
		told = strstr(r.text, what) != NULL;
		run_free(&r);
	}
}

/* While it is frozen its terminal asks what to do. */
START_TEST(asked_on_the_terminal)
{
	char script[600];
	struct run r;
	pid_t pid;

	snprintf(script, sizeof(script),
		"exec ./approval-run --budget-wall 300ms -- sh -c 'stty raw -echo; echo up; "
		"while :; do :; done'");
	setenv("APPROVALCTL", "/bin/sh", 1);
	run_start_tty(&r, (const char *const[]){"-c", script, NULL});
	unsetenv("APPROVALCTL");
	run_until(&r, "k: kill it");
	run_write(&r, "c\n");
	told_await("history", "turn_resumed");
	told_await("turns", "\"SUSPENDED\"");
	run_write(&r, "e\n");
	told_await("turns", "\"ENDED\"");
	/* it goes on after the end of its turn, until it is told to end */
	pid = r.pid;
	kill(pid, SIGTERM);
	ck_assert_int_eq(run_wait(&r), 128 + SIGTERM);
	run_free(&r);
}
END_TEST

/* ---- an agent inside, which is this program ---- */

#define CHANNEL_MS 300

/* Asks, says what it was told, and ends. */
static int agent_run(void)
{
	const struct approval_decision *d;
	struct approval_options o;
	struct approval_request r;
	struct approval *a;

	printf("%d\n", (int)getpid());
	fflush(stdout);
	approval_options_init(&o, APPROVAL_AGENT);
	o.agent = "inside";
	o.session = "own";
	o.channel_ms = getenv("TEST_CHANNEL") ? CHANNEL_MS : 0;
	approval_request_init(&r);
	r.tool = "Deploy";
	if (approval_new(&a, &o) || approval_request_wait(a, &r, -1, &d))
		return 9;
	printf("%s\n", d->verdict == APPROVAL_ALLOW ? "allow" : "deny");
	fflush(stdout);
	approval_free(a);
	return 0;
}

static char self[512];

static void agent_launch(struct launch *l, struct run *watch, char request[64])
{
	char script[600];

	watch_start(watch);
	snprintf(script, sizeof(script), "exec '%s' agent", self);
	launch_start(l, NULL, script);
	watch_offered(watch, request);
}

static void agent_land(struct launch *l, struct run *watch, int status)
{
	ck_assert_int_eq(launch_wait(l), status);
	kill(watch->pid, SIGINT);
	ck_assert_int_eq(run_wait(watch), 0);
	run_free(watch);
}

/* It is the launched program's session that it asks in; what is said while it is frozen is read
 * afterwards. */
START_TEST(answered_while_frozen)
{
	struct launch l;
	struct run watch, r;
	char request[64];
	unsigned n = 0;

	agent_launch(&l, &watch, request);
	ck_assert_int_eq(RUN_WHOLE(&r, "sessions", "--json"), 0);
	for (const char *at = r.text; (at = strchr(at, '\n')); at++)
		n++;
	ck_assert_uint_eq(n, 1);
	run_free(&r);
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	CTL(0, "deny", request);
	ck_assert(launch_frozen(&l));
	CTL(0, "resume", l.session);
	ck_assert_str_eq(run_line(&l.run), "deny");
	agent_land(&l, &watch, 0);
}
END_TEST

START_TEST(stuck)
{
	struct launch l;
	struct run watch;
	char request[64];

	setenv("TEST_CHANNEL", "1", 1);
	agent_launch(&l, &watch, request);
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	/* longer than the agent's channel waits: that is what is tested */
	poll(NULL, 0, 2 * CHANNEL_MS);
	CTL(1, "resume", l.session);
	CTL(1, "end-turn", l.session);
	CTL(0, "resume", "--all");
	ck_assert(launch_frozen(&l));
	CTL(0, "kill", l.session);
	agent_land(&l, &watch, 128 + SIGKILL);
}
END_TEST

/* ---- the store fails ---- */

/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
#define WRITE_LOCK 120

START_TEST(store_fails)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};
	struct launch l, m;
	struct run r;
	char path[128];
	int fd;

	launch_start(&l, NULL, "echo $$; while :; do :; done");
	launch_start(&m, "--budget-wall=1s", "echo $$; while :; do :; done");
	snprintf(path, sizeof(path), "%s/state/history.db-shm", broker.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_SETLKW, &lock), 0);
	/* it can't be recorded, and is done: by hand, and by a ceiling */
	launch_await(&m, true);
	ck_assert(!launch_frozen(&l));
	RUN_WHOLE(&r, "suspend", l.session);
	run_free(&r);
	launch_await(&l, true);
	CTL(1, "resume", l.session);
	ck_assert(launch_frozen(&l));
	lock.l_type = F_UNLCK;
	ck_assert_int_eq(fcntl(fd, F_SETLK, &lock), 0);
	close(fd);
	/* until the broker has noticed */
	for (unsigned n = 0;; n++) {
		ck_assert_uint_lt(n, 10000);
		if (RUN_WHOLE(&r, "resume", l.session) == 0)
			break;
		run_free(&r);
	}
	run_free(&r);
	launch_await(&l, false);
	told_await("turns", "SUSPENDED");
	/* when the store works again the step is taken anew, and it may go on for that moment */
	launch_await(&m, true);
	CTL(0, "resume", "--wall", "1h", m.session);
	launch_await(&m, false);
	CTL(0, "kill", l.session, "--grace", "0ms");
	CTL(0, "kill", m.session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(&l), 128 + SIGKILL);
	ck_assert_int_eq(launch_wait(&m), 128 + SIGKILL);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("run");
	TCase *t = tcase_create("run");
	SRunner *sr;
	int failed;

	if (argc > 1 && !strcmp(argv[1], "agent"))
		return agent_run();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 99;
	if (broker_valgrind() || !launch_possible())
		return 77;
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, exit_status);
	tcase_add_test(t, signals_forwarded);
	tcase_add_test(t, nothing_is_left);
	tcase_add_test(t, spinning);
	tcase_add_test(t, forking);
	tcase_add_test(t, stopped);
	tcase_add_test(t, stop_refused);
	tcase_add_test(t, ignores_everything);
	tcase_add_test(t, listens_to_term);
	tcase_add_test(t, killed_while_frozen);
	tcase_add_test(t, launcher_killed);
	tcase_add_test(t, broker_killed_while_frozen);
	tcase_add_test(t, double_fork_refused);
	tcase_add_test(t, adopted);
	tcase_add_test(t, ceiling);
	tcase_add_test(t, asked_on_the_terminal);
	tcase_add_test(t, answered_while_frozen);
	tcase_add_test(t, stuck);
	tcase_add_test(t, store_fails);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
