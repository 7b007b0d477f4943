/* SPDX-License-Identifier: MIT */
/*
 * No agent answers, for itself or for another. Real processes: the test is the
 * person, agents are children of it that say hello, and what a model would start
 * are children of those.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/agent_process.h"

static struct broker broker;
static struct run watch; /* the person's */

static void setup(void)
{
	broker_init(&broker);
	setenv("APPROVAL_SOCKET", broker.agent, 1);
	setenv("APPROVAL_FRONTEND_SOCKET", broker.frontend, 1);
	broker_start(&broker, NULL);
	watch_start(&watch);
}

static void teardown(void)
{
	kill(watch.pid, SIGINT);
	ck_assert_int_eq(run_wait(&watch), 0);
	run_free(&watch);
	broker_stop(&broker);
	broker_fini(&broker);
}

/* ---- what an agent's child does ---- */

static void everything_body(struct agent *a)
{
	char request[64], session[64];

	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	ids_await(a->from, request, session);
	REFUSED("allow", request);
	REFUSED("allow", "--all", "--yes");
	REFUSED("deny", request);
	REFUSED("mode", session, "yolo");
	REFUSED("suspend", "--all");
	REFUSED("suspend", session);
	REFUSED("resume", session);
	REFUSED("resume", "--all");
	REFUSED("end-turn", session);
	REFUSED("rules", "add", "allow Deploy");
	REFUSED("rules", "trust", "--yes");
	REFUSED("rules", "trust", "--remove");
	REFUSED("rules", "trust", "--list");
	REFUSED("list");
	REFUSED("history");
	step_tell(a->to);
	step_await(a->from);
}

START_TEST(own_request)
{
	struct agent a;

	agent_start(&a, &broker, "one", everything_body);
	agent_offered(&a, &watch);
	ids_tell(a.to, &a);
	step_await(a.from);
	pending(&a);
	TAKEN("allow", a.request);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

static void asks_body(struct agent *a)
{
	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	step_await(a->from);
}

START_TEST(request_of_another)
{
	struct agent a, b;

	agent_start(&a, &broker, "one", asks_body);
	agent_offered(&a, &watch);
	agent_start(&b, &broker, "two", everything_body);
	agent_offered(&b, &watch);
	/* b is told of a's request and session */
	ids_tell(b.to, &a);
	step_await(b.from);
	pending(&a);
	TAKEN("deny", a.request);
	step_tell(b.to);
	step_tell(a.to);
	agent_end(&b);
	agent_end(&a);
}
END_TEST

/* ---- connections of its own ---- */

static void child_run(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void role_refused(const char *role)
{
	struct wire_frame f;
	struct raw r;

	raw_connect(&r, broker.frontend);
	f = raw_hello_frontend(&r, role);
	forbidden(&r, &f);
	raw_close(&r);
}

static void roles_refused(void)
{
	role_refused("policy");
	role_refused("human");
	role_refused("observer");
}

static void roles_body(struct agent *a)
{
	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	child_run(roles_refused);
	roles_refused(); /* the agent itself */
	step_tell(a->to);
	step_await(a->from);
}

START_TEST(policy)
{
	struct agent a;

	agent_start(&a, &broker, "one", roles_body);
	agent_offered(&a, &watch);
	step_await(a.from);
	pending(&a);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

/*
 * A frontend that is there before the session: the agent above it gets no session
 * at all. Nobody can be an agent and answer, in whatever order.
 */
static void earlier_frontend_body(struct agent *a)
{
	struct wire_frame f;
	struct raw child;
	int go[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		raw_connect(&child, broker.frontend);
		f = raw_hello_frontend(&child, "human");
		ck_assert(!error_code(&f).data);
		step_tell(go[1]);
		close(go[1]);
		step_await(a->from);
		_exit(0);
	}
	close(go[1]);
	step_await(go[0]);
	raw_connect(&a->link, broker.agent);
	f = raw_hello_agent(&a->link, a->key);
	ck_assert(bytes_is(error_code(&f), "bad_subject"));
	step_tell(a->to);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(frontend_before_session)
{
	struct agent a;

	agent_start(&a, &broker, "one", earlier_frontend_body);
	step_await(a.from);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

/*
 * The same with a connection that has said nothing yet, and that a child of the agent
 * has by a descriptor: what counts is who connected.
 */
static struct raw inherited;

static void inherited_refused(void)
{
	struct wire_frame f = raw_hello_frontend(&inherited, "human");

	forbidden(&inherited, &f);
}

static void silent_connection_body(struct agent *a)
{
	struct wire_frame f;

	/* connected, silent: it has not been judged by a call yet */
	raw_connect(&inherited, broker.frontend);
	raw_connect(&a->link, broker.agent);
	f = raw_hello_agent(&a->link, a->key);
	if (error_code(&f).data) {
		/* no session: then there is nothing that it could answer for itself */
		ck_assert(bytes_is(error_code(&f), "bad_subject"));
		step_tell(a->to);
		return;
	}
	child_run(inherited_refused);
	step_tell(a->to);
}

START_TEST(connection_before_session)
{
	struct agent a;

	agent_start(&a, &broker, "one", silent_connection_body);
	step_await(a.from);
	agent_end(&a);
}
END_TEST

/* ---- the person ---- */

static void file_read(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

static void same_login_body(struct agent *a)
{
	char own[4096], other[4096], path[64];

	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	/* the same login: session of processes and cgroup are the person's */
	ck_assert_int_eq(getsid(0), getsid(getppid()));
	snprintf(path, sizeof(path), "/proc/%d/cgroup", getppid());
	file_read("/proc/self/cgroup", own, sizeof(own));
	file_read(path, other, sizeof(other));
	ck_assert_str_eq(own, other);
	step_await(a->from);
}

START_TEST(person_in_same_login)
{
	struct agent a;

	agent_start(&a, &broker, "one", same_login_body);
	agent_offered(&a, &watch);
	TAKEN("suspend", a.session);
	TAKEN("resume", a.session);
	TAKEN("mode", a.session, "plan");
	TAKEN("allow", a.request);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

/* ---- leaving the tree ---- */

static void orphan_allows(struct agent *a)
{
	TAKEN("allow", a->request);
}

static void orphan_refused(struct agent *a)
{
	REFUSED("allow", a->request);
}

static void leaves_body(struct agent *a)
{
	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	ids_await(a->from, a->request, a->session);
	orphan_run(a, NULL, orphan_allows);
}

/*
 * The limit of user mode, stated in doc/security.md: a process that left the
 * subject's tree, which has no cgroup of its own, is a process like the person's.
 */
START_TEST(double_fork_is_not_seen)
{
	struct agent a;

	agent_start(&a, &broker, "one", leaves_body);
	agent_offered(&a, &watch);
	ids_tell(a.to, &a);
	json_object_put(watch_event(&watch, "resolved"));
	agent_end(&a);
}
END_TEST

static void subreaper_body(struct agent *a)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	agent_hello(a);
	raw_request(&a->link, "call", "Deploy", "x");
	ids_await(a->from, a->request, a->session);
	orphan_run(a, NULL, orphan_refused);
	step_tell(a->to);
	step_await(a->from);
}

START_TEST(double_fork_below_subreaper)
{
	struct agent a;

	agent_start(&a, &broker, "one", subreaper_body);
	agent_offered(&a, &watch);
	ids_tell(a.to, &a);
	step_await(a.from);
	pending(&a);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

static void connects(void)
{
	struct raw later;
	struct wire_frame f;

	raw_connect(&inherited, broker.frontend);
	/* connections are accepted in their order: one that came later is answered */
	raw_connect(&later, broker.frontend);
	f = raw_hello_frontend(&later, "human");
	forbidden(&later, &f);
	raw_close(&later);
}

/* A connection that was made inside the tree stays inside, wherever its process goes. */
static void inherited_refused_outside(struct agent *a)
{
	inherited_refused();
}

static void connects_inside_body(struct agent *a)
{
	agent_hello(a);
	orphan_run(a, connects, inherited_refused_outside);
}

START_TEST(connection_made_inside)
{
	struct agent a;

	agent_start(&a, &broker, "one", connects_inside_body);
	agent_end(&a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("self_approval");
	TCase *t = tcase_create("self_approval");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 240);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, own_request);
	tcase_add_test(t, request_of_another);
	tcase_add_test(t, policy);
	tcase_add_test(t, frontend_before_session);
	tcase_add_test(t, connection_before_session);
	tcase_add_test(t, person_in_same_login);
	tcase_add_test(t, double_fork_is_not_seen);
	tcase_add_test(t, double_fork_below_subreaper);
	tcase_add_test(t, connection_made_inside);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
