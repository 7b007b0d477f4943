/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/daemon/agent_process.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/common/exit.h"

#define WAIT_MS 60000
#define REFUSAL "belongs to an agent's session"
#define OUTSIDE "from a terminal of your own"

void step_tell(int fd)
{
	ck_assert_int_eq(write(fd, "", 1), 1);
}

void step_await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char c;

	ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
	ck_assert_msg(read(fd, &c, 1) == 1, "the other process has ended");
}

void agent_hello(struct agent *a)
{
	struct wire_frame f;

	raw_connect(&a->link, a->broker->agent);
	f = raw_hello_agent(&a->link, a->key);
	ck_assert_ptr_null(f.error.data);
}

void agent_start(struct agent *a, const struct broker *broker, const char *key,
	void (*body)(struct agent *a))
{
	int to[2], from[2];

	*a = (struct agent){.key = key, .broker = broker};
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

void agent_end(struct agent *a)
{
	int status;

	close(a->to);
	close(a->from);
	ck_assert_int_eq(waitpid(a->pid, &status, 0), a->pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		"the agent's process failed: status %d", status);
}

void agent_offered(struct agent *a, struct run *watch)
{
	struct json_object *j = watch_event(watch, "offered");

	snprintf(a->request, sizeof(a->request), "%s", json_item_text(j, "request"));
	snprintf(a->session, sizeof(a->session), "%s", json_item_text(j, "session"));
	json_object_put(j);
}

void ids_tell(int fd, const struct agent *of)
{
	ck_assert_int_eq(write(fd, of->request, 64), 64);
	ck_assert_int_eq(write(fd, of->session, 64), 64);
}

void ids_await(int fd, char request[64], char session[64])
{
	step_await(fd);
	request[0] = 'r'; /* the byte that step_await took */
	ck_assert_int_eq(read(fd, request + 1, 63), 63);
	ck_assert_int_eq(read(fd, session, 64), 64);
}

void refused(const char *const *words)
{
	struct run r;
	int status = run_whole(&r, words);

	ck_assert_msg(status == STATUS_FAILED, "'%s' exited with %d: %s%s", words[0], status,
		r.text, r.error);
	ck_assert_msg(strstr(r.error, REFUSAL), "'%s' said '%s'", words[0], r.error);
	ck_assert_msg(strstr(r.error, OUTSIDE), "'%s' said '%s'", words[0], r.error);
	run_free(&r);
}

void taken(const char *const *words)
{
	struct run r;
	int status = run_whole(&r, words);

	ck_assert_msg(
		status == 0, "'%s' exited with %d: %s%s", words[0], status, r.text, r.error);
	run_free(&r);
}

void pending(const struct agent *a)
{
	struct run r;

	ck_assert_int_eq(RUN_WHOLE(&r, "list"), 0);
	ck_assert_msg(strstr(r.text, a->request), "%s does not wait any more", a->request);
	run_free(&r);
}

struct bytes error_code(const struct wire_frame *f)
{
	return f->error.data ? raw_text(f->error, "code") : (struct bytes){NULL, 0};
}

void forbidden(struct raw *r, struct wire_frame *f)
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

void orphan_run(struct agent *a, void (*inside)(void), void (*outside)(struct agent *a))
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
