/* SPDX-License-Identifier: MIT */
/*
 * No agent answers, for itself or for another. Real processes: the test is the
 * person, agents are children of it that say hello, and what a model would start
 * are children of those.
 */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define WAIT_MS 60000
#define REFUSAL "belongs to an agent's session"
#define OUTSIDE "from a terminal of your own"

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

/* ---- agents ---- */

struct agent {
	pid_t pid;
	int to, from; /* pipes: a byte each way is one step */
	const char *key;
	struct raw link; /* in the agent's own process */
	char request[64], session[64];
};

static void step_tell(int fd)
{
	ck_assert_int_eq(write(fd, "", 1), 1);
}

/* Until the other has told; its end fails the test. */
static void step_await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char c;

	ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
	ck_assert_msg(read(fd, &c, 1) == 1, "the other process has ended");
}

static void agent_hello(struct agent *a)
{
	struct wire_frame f;

	raw_connect(&a->link, broker.agent);
	f = raw_hello_agent(&a->link, a->key);
	ck_assert_ptr_null(f.error.data);
}

/* Starts an agent's process, which runs body and must end well. */
static void agent_start(struct agent *a, const char *key, void (*body)(struct agent *a))
{
	int to[2], from[2];

	*a = (struct agent){.key = key};
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	a->pid = fork();
	ck_assert_int_ge(a->pid, 0);
	if (a->pid == 0) {
		close(to[1]);
		close(from[0]);
		a->to = from[1];
		a->from = to[0];
		body(a);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	a->to = to[1];
	a->from = from[0];
}

static void agent_end(struct agent *a)
{
	int status;

	close(a->to);
	close(a->from);
	ck_assert_int_eq(waitpid(a->pid, &status, 0), a->pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		"the agent's process failed: status %d", status);
}

/* The request that an agent has just made, as the person's own watch tells of it. */
static void agent_offered(struct agent *a)
{
	struct json_object *j = watch_event(&watch, "offered");

	snprintf(a->request, sizeof(a->request), "%s", json_item_text(j, "request"));
	snprintf(a->session, sizeof(a->session), "%s", json_item_text(j, "session"));
	json_object_put(j);
}

/* To be given to an agent's process, which learns no ids otherwise. */
static void ids_tell(int fd, const struct agent *of)
{
	ck_assert_int_eq(write(fd, of->request, 64), 64);
	ck_assert_int_eq(write(fd, of->session, 64), 64);
}

static void ids_await(int fd, char request[64], char session[64])
{
	step_await(fd);
	request[0] = 'r'; /* the byte that step_await took */
	ck_assert_int_eq(read(fd, request + 1, 63), 63);
	ck_assert_int_eq(read(fd, session, 64), 64);
}

/* approvalctl, refused, and with words that say why and what to do. */
static void refused(const char *const *words)
{
	struct run r;
	int status = run_whole(&r, words);

	ck_assert_msg(status == STATUS_FAILED, "'%s' exited with %d: %s%s", words[0], status,
		r.text, r.error);
	ck_assert_msg(strstr(r.error, REFUSAL), "'%s' said '%s'", words[0], r.error);
	ck_assert_msg(strstr(r.error, OUTSIDE), "'%s' said '%s'", words[0], r.error);
	run_free(&r);
}
#define REFUSED(...) refused((const char *const[]){__VA_ARGS__, NULL})

static void taken(const char *const *words)
{
	struct run r;
	int status = run_whole(&r, words);

	ck_assert_msg(
		status == 0, "'%s' exited with %d: %s%s", words[0], status, r.text, r.error);
	run_free(&r);
}
#define TAKEN(...) taken((const char *const[]){__VA_ARGS__, NULL})

static void pending(const struct agent *a)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "list"), 0);
	ck_assert_msg(strstr(r.text, a->request), "%s does not wait any more", a->request);
	run_free(&r);
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
	REFUSED("list");
	REFUSED("history");
	step_tell(a->to);
	step_await(a->from);
}

START_TEST(own_request)
{
	struct agent a;

	agent_start(&a, "one", everything_body);
	agent_offered(&a);
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

	agent_start(&a, "one", asks_body);
	agent_offered(&a);
	agent_start(&b, "two", everything_body);
	agent_offered(&b);
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

static struct bytes error_code(const struct wire_frame *f)
{
	return f->error.data ? raw_text(f->error, "code") : (struct bytes){NULL, 0};
}

static void forbidden(struct raw *r, struct wire_frame *f)
{
	struct bytes message;
	char text[256];

	ck_assert(bytes_is(error_code(f), "forbidden"));
	message = raw_text(f->error, "message");
	snprintf(text, sizeof(text), "%.*s", (int)message.len, (const char *)message.data);
	ck_assert_msg(strstr(text, REFUSAL), "it said '%s'", text);
	/* and nothing more is taken on that connection */
	ck_assert_int_eq(raw_next_or_end(r, f), 0);
}

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

	agent_start(&a, "one", roles_body);
	agent_offered(&a);
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

	agent_start(&a, "one", earlier_frontend_body);
	step_await(a.from);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

/*
 * An agent's process that is itself a frontend's connection made earlier, by a
 * descriptor that its child took along: what counts is who connected.
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

	agent_start(&a, "one", silent_connection_body);
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

	agent_start(&a, "one", same_login_body);
	agent_offered(&a);
	TAKEN("suspend", a.session);
	TAKEN("resume", a.session);
	TAKEN("mode", a.session, "plan");
	TAKEN("allow", a.request);
	step_tell(a.to);
	agent_end(&a);
}
END_TEST

/* ---- leaving the tree ---- */

/*
 * A grandchild that runs `inside`, and `outside` once its parent is gone and another
 * process has adopted it.
 */
static void orphan_run(struct agent *a, void (*inside)(void), void (*outside)(struct agent *a))
{
	int done[2], ready[2], life[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(done), 0);
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(life), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pid = getpid();
		if (fork() != 0) {
			close(ready[1]);
			step_await(ready[0]);
			_exit(0);
		}
		close(life[1]);
		setsid();
		if (inside)
			inside();
		step_tell(ready[1]);
		/* ends once the dead parent was waited for */
		ck_assert_int_eq(read(life[0], &c, 1), 0);
		ck_assert_int_ne(getppid(), pid);
		outside(a);
		step_tell(done[1]);
		_exit(0);
	}
	close(ready[1]);
	close(done[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(life[1]);
	step_await(done[0]);
}

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

	agent_start(&a, "one", leaves_body);
	agent_offered(&a);
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

	agent_start(&a, "one", subreaper_body);
	agent_offered(&a);
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

	agent_start(&a, "one", connects_inside_body);
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
