/* SPDX-License-Identifier: MIT */
/*
 * Programs that do what they can to go on: forking without end, floods of reports, more answers
 * than are kept for a slow reader; and what a dead broker has left standing still.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/approval.h"
#include "tests/run/launch.h"

static struct broker broker;
static char self[512];

static void setup(void)
{
	launch_setup(&broker);
}

static void teardown(void)
{
	launch_teardown(&broker);
}

static void inside(struct launch *l, const char *option, const char *role)
{
	char script[600];

	snprintf(script, sizeof(script), "exec '%s' %s", self, role);
	launch_start(l, option, script);
}

static void land(struct launch *l)
{
	CTL(0, "kill", l->session, "--grace", "0ms");
	ck_assert_int_eq(launch_wait(l), 128 + SIGKILL);
	ck_assert_int_ne(access(l->group, F_OK), 0);
}

/* ---- roles of this program, launched ---- */

#define POPULATION 60

/* Each is replaced by its child at once: no pid lasts, but there are few at any time. */
static void __attribute__((noreturn)) comet(void)
{
	for (;;)
		if (fork() > 0)
			_exit(0);
}

/* A launched program that has ended ends its session: this one stays. */
static int comets(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			comet();
	while (pause() < 0)
		;
	return 9;
}

/* As many as the limit lets it, each of which forks again and again. */
static int bomb(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	signal(SIGCHLD, SIG_IGN);
	while (fork() >= -1)
		;
	return 9;
}

static struct approval *agent_open(void)
{
	struct approval_options o;
	struct approval *a = NULL;

	approval_options_init(&o, APPROVAL_AGENT);
	o.agent = "inside";
	o.session = "own";
	if (approval_new(&a, &o))
		_exit(9);
	return a;
}

/* Reports without end, as fast as it is answered. */
static int flood(void)
{
	struct approval *a = agent_open();
	struct approval_usage u = {.size = sizeof(u)};

	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		u.seq++;
		u.input++;
		if (approval_usage(a, &u, -1))
			return 9;
	}
}

#define ASKED 2200

static void denied(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	unsigned *n = arg;

	(void)a;
	(void)error;
	if (status == 0 && d->verdict == APPROVAL_DENY && strlen(d->reason) == 4000)
		++*n;
}

/* Asks for many calls at once, and counts what it is told. */
static int many(void)
{
	struct approval *a = agent_open();
	struct approval_request r;
	unsigned n = 0;

	printf("%d\n", (int)getpid());
	fflush(stdout);
	approval_request_init(&r);
	r.tool = "Deploy";
	for (unsigned i = 0; i < ASKED; i++)
		if (approval_request(a, &r, denied, &n, NULL))
			return 9;
	while (n < ASKED)
		if (approval_wait(a, -1))
			return 9;
	printf("%u\n", n);
	fflush(stdout);
	approval_free(a);
	return 0;
}

/* ---- forking ---- */

/* A limit of processes for the program and all that it starts: false where there is none. */
static bool population_limit(char folder[300], const struct launch *l)
{
	char path[700], value[32];
	int fd;

	snprintf(folder, 300, "/sys/fs/cgroup/pids/approval-test-%d", (int)getpid());
	if (mkdir(folder, 0755)) {
		folder[0] = '\0';
		snprintf(path, sizeof(path), "%s/pids.max", l->group);
	} else {
		snprintf(path, sizeof(path), "%s/pids.max", folder);
	}
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(value, sizeof(value), "%d", POPULATION);
	ck_assert_int_gt(write(fd, value, strlen(value)), 0);
	close(fd);
	if (!*folder)
		return true;
	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	snprintf(value, sizeof(value), "%d", (int)l->pid);
	ck_assert_int_gt(write(fd, value, strlen(value)), 0);
	close(fd);
	return true;
}

/* Begins to fork when it is inside its limit. */
static bool bomb_launch(struct launch *l, const char *option, char folder[300])
{
	char script[700];

	snprintf(script, sizeof(script), "echo $$; read go; exec '%s' bomb", self);
	launch_start(l, option, script);
	if (!population_limit(folder, l)) {
		puts("skipped: no limit of processes can be set here");
		land(l);
		return false;
	}
	run_write(&l->run, "go\n");
	/* it says its pid again */
	ck_assert_int_eq(atoi(run_line(&l->run)), l->pid);
	return true;
}

static void bomb_land(struct launch *l, const char *folder)
{
	land(l);
	/* the last of them may still be on their way out */
	for (unsigned n = 0; *folder && rmdir(folder); n++) {
		ck_assert_int_eq(errno, EBUSY);
		ck_assert_uint_lt(n, 1000000);
	}
}

START_TEST(forks_without_end_frozen)
{
	struct launch l;
	char folder[300];

	if (!bomb_launch(&l, NULL, folder))
		return;
	for (int i = 0; i < 10; i++) {
		CTL(0, "suspend", l.session);
		launch_await(&l, true);
		CTL(0, "resume", l.session);
		launch_await(&l, false);
	}
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	bomb_land(&l, folder);
}
END_TEST

START_TEST(forks_without_end_stopped)
{
	struct launch l;
	char folder[300];

	if (!bomb_launch(&l, "--stop", folder))
		return;
	for (int i = 0; i < 5; i++) {
		CTL(0, "suspend", l.session);
		launch_stopped(&l);
		CTL(0, "resume", l.session);
		for (unsigned n = 0; launch_state(l.pid) == 'T'; n++)
			ck_assert_uint_lt(n, 100000);
	}
	CTL(0, "suspend", l.session);
	launch_stopped(&l);
	bomb_land(&l, folder);
}
END_TEST

START_TEST(no_pid_lasts)
{
	static const char *const options[] = {"--freeze", "--stop"};
	struct launch l;

	inside(&l, options[_i], "comets");
	for (int i = 0; i < 5; i++) {
		CTL(0, "suspend", l.session);
		if (_i)
			launch_stopped(&l);
		else
			launch_await(&l, true);
		CTL(0, "resume", l.session);
		if (_i)
			for (unsigned n = 0; launch_state(l.pid) == 'T'; n++)
				ck_assert_uint_lt(n, 100000);
		else
			launch_await(&l, false);
	}
	land(&l);
}
END_TEST

/* ---- messages ---- */

START_TEST(flooded_with_reports)
{
	struct launch l;
	struct run r;

	inside(&l, "--budget-tokens=3000", "flood");
	launch_await(&l, true);
	/* not one report more than its ceiling was taken */
	ck_assert_int_eq(RUN_WHOLE(&r, "budget", l.session, "--json"), 0);
	ck_assert_msg(strstr(r.text, "\"tokens\",\"used\":3000,"), "%s", r.text);
	run_free(&r);
	CTL(0, "resume", "--tokens", "2000", l.session);
	launch_await(&l, true);
	ck_assert_int_eq(RUN_WHOLE(&r, "budget", l.session, "--json"), 0);
	ck_assert_msg(strstr(r.text, "\"tokens\",\"used\":5000,"), "%s", r.text);
	run_free(&r);
	land(&l);
}
END_TEST

/* More than is queued for a slow reader: it stands still, and reads all of it when it goes on. */
START_TEST(many_answers_while_frozen)
{
	struct launch l;
	struct run r;
	char reason[4001];
	unsigned n = 0;

	memset(reason, 'x', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	inside(&l, NULL, "many");
	while (n < ASKED) { /* until all are there */
		ck_assert_int_eq(RUN_WHOLE(&r, "stats", "--json"), 0);
		ck_assert_ptr_nonnull(strstr(r.text, "\"pending\":"));
		n = (unsigned)atoi(strstr(r.text, "\"pending\":") + 10);
		run_free(&r);
	}
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	CTL(0, "deny", "--all", "--yes", "--reason", reason);
	ck_assert(launch_frozen(&l));
	CTL(0, "resume", l.session);
	ck_assert_int_eq(atoi(run_line(&l.run)), ASKED);
	ck_assert_int_eq(launch_wait(&l), 0);
}
END_TEST

/* ---- what a dead broker leaves ---- */

START_TEST(doctor_thaws)
{
	struct launch l;
	struct run r;

	launch_start(&l, NULL, "echo $$; while :; do :; done");
	CTL(0, "suspend", l.session);
	launch_await(&l, true);
	RUN_WHOLE(&r, "doctor");
	ck_assert_ptr_null(strstr(r.text, l.group));
	run_free(&r);
	broker_kill(&broker);
	RUN_WHOLE(&r, "doctor");
	ck_assert_ptr_nonnull(strstr(r.text, "is frozen, and no broker holds it"));
	run_free(&r);
	RUN_WHOLE(&r, "doctor", "--thaw");
	ck_assert_ptr_nonnull(strstr(r.text, "thawed: "));
	run_free(&r);
	launch_await(&l, false);
	/* the next broker holds it again */
	broker_start(&broker, NULL);
	launch_await(&l, true);
	land(&l);
}
END_TEST

START_TEST(doctor_continues)
{
	struct launch l;
	struct run r;
	char pid[32];

	launch_start(&l, "--stop", "sleep 1000 & echo $$; while :; do :; done");
	snprintf(pid, sizeof(pid), "pid %d", (int)l.pid);
	CTL(0, "suspend", l.session);
	launch_stopped(&l);
	RUN_WHOLE(&r, "doctor");
	ck_assert_ptr_null(strstr(r.text, pid));
	run_free(&r);
	broker_kill(&broker);
	RUN_WHOLE(&r, "doctor");
	ck_assert_ptr_nonnull(strstr(r.text, pid));
	ck_assert_ptr_nonnull(strstr(r.text, "are stopped, and no broker holds them"));
	run_free(&r);
	ck_assert_int_eq(launch_state(l.pid), 'T');
	RUN_WHOLE(&r, "doctor", "--thaw");
	ck_assert_ptr_nonnull(strstr(r.text, "with 2 processes in all"));
	run_free(&r);
	for (unsigned n = 0; launch_running(&l) < 2; n++)
		ck_assert_uint_lt(n, 100000);
	/* one that stands by itself, among others, is the program's own business */
	broker_start(&broker, NULL);
	launch_stopped(&l);
	CTL(0, "resume", l.session);
	for (unsigned n = 0; launch_running(&l) < 2; n++)
		ck_assert_uint_lt(n, 100000);
	kill(l.pid, SIGSTOP);
	for (unsigned n = 0; launch_state(l.pid) != 'T'; n++)
		ck_assert_uint_lt(n, 100000);
	RUN_WHOLE(&r, "doctor");
	ck_assert_ptr_null(strstr(r.text, pid));
	run_free(&r);
	land(&l);
}
END_TEST

static int role_run(const char *role)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} roles[] = {{"comets", comets}, {"bomb", bomb}, {"flood", flood}, {"many", many}};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(role, roles[i].name) == 0)
			return roles[i].run();
	return 9;
}

int main(int argc, char **argv)
{
	Suite *suite;
	SRunner *sr;
	TCase *t;
	int failed;

	if (argc > 1)
		return role_run(argv[1]);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 99;
	if (broker_valgrind() || !launch_possible())
		return 77;
	suite = suite_create("escape");
	t = tcase_create("escape");
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, forks_without_end_frozen);
	tcase_add_test(t, forks_without_end_stopped);
	tcase_add_loop_test(t, no_pid_lasts, 0, 2);
	tcase_add_test(t, flooded_with_reports);
	tcase_add_test(t, many_answers_while_frozen);
	tcase_add_test(t, doctor_thaws);
	tcase_add_test(t, doctor_continues);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
