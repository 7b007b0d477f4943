/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/ctl/run.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_MS 60000 /* generous: valgrind, sanitizers, a busy machine */

static const char *ctl_program(void)
{
	const char *program = getenv("APPROVALCTL");

	return program ? program : "./approvalctl";
}

static void words_exec(const char *program, const char *const *words)
{
	const char *argv[RUN_ARGS] = {program};
	int n = 1;

	for (; *words && n < RUN_ARGS - 1; words++)
		argv[n++] = *words;
	execv(argv[0], (char *const *)argv);
	_exit(99);
}

void run_start(struct run *r, const char *const *words)
{
	run_program(r, ctl_program(), words);
}

void run_program(struct run *r, const char *program, const char *const *words)
{
	int in[2], out[2], err[2];

	*r = (struct run){.in = -1, .out = -1, .err = -1};
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
	r->pid = fork();
	ck_assert_int_ge(r->pid, 0);
	if (!r->pid) {
		if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
			_exit(99);
		words_exec(program, words);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	r->in = in[1];
	r->out = out[0];
	r->err = err[0];
}

void run_start_tty(struct run *r, const char *const *words)
{
	run_start_tty_of(r, 100, words);
}

void run_start_tty_of(struct run *r, unsigned short columns, const char *const *words)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int master;

	*r = (struct run){.in = -1, .out = -1, .err = -1};
	r->pid = forkpty(&master, NULL, NULL, &size);
	ck_assert_int_ge(r->pid, 0);
	if (!r->pid)
		words_exec(ctl_program(), words);
	r->out = master;
	r->in = dup(master);
	ck_assert_int_ge(r->in, 0);
}

/* Reads once from one of the two; false at its end. */
static bool take(int *fd, char **text, size_t *len)
{
	char *more = realloc(*text, *len + 4097);
	ssize_t n;

	ck_assert_ptr_nonnull(more);
	*text = more;
	n = read(*fd, more + *len, 4096);
	if (n > 0)
		*len += (size_t)n;
	more[*len] = '\0';
	if (n > 0 || (n < 0 && errno == EINTR))
		return true;
	/* a terminal whose other side is gone says EIO */
	ck_assert(n == 0 || errno == EIO);
	close(*fd);
	*fd = -1;
	return false;
}

/* Reads whatever comes first; false once both have ended. */
static bool take_any(struct run *r)
{
	struct pollfd p[2] = {
		{.fd = r->out, .events = POLLIN}, {.fd = r->err, .events = POLLIN}};

	if (r->out < 0 && r->err < 0)
		return false;
	if (poll(p, 2, READ_MS) <= 0)
		ck_abort_msg("nothing came; so far '%s' and '%s'", r->text ? r->text : "",
			r->error ? r->error : "");
	if (p[0].revents)
		take(&r->out, &r->text, &r->len);
	if (p[1].revents)
		take(&r->err, &r->error, &r->error_len);
	return true;
}

const char *run_line(struct run *r)
{
	for (;;) {
		char *line = r->text ? r->text + r->taken : NULL;
		char *end = line ? strchr(line, '\n') : NULL;

		if (end) {
			*end = '\0';
			r->taken = (size_t)(end - r->text) + 1;
			return line;
		}
		if (!take_any(r))
			ck_abort_msg("it ended: '%s'", r->error ? r->error : "");
	}
}

static void until(struct run *r, char *const *text, const char *what)
{
	while (!*text || !strstr(*text, what))
		if (!take_any(r))
			ck_abort_msg("'%s' did not come: '%s', '%s'", what, r->text, r->error);
}

void run_until(struct run *r, const char *what)
{
	until(r, &r->text, what);
}

void run_next(struct run *r, const char *what)
{
	const char *at;

	while (!r->text || !(at = strstr(r->text + r->taken, what)))
		if (!take_any(r))
			ck_abort_msg("'%s' did not come: '%s', '%s'", what, r->text, r->error);
	r->taken = (size_t)(at - r->text) + strlen(what);
}

void run_until_error(struct run *r, const char *what)
{
	until(r, &r->error, what);
}

void run_write(struct run *r, const char *s)
{
	ck_assert_int_eq(write(r->in, s, strlen(s)), (ssize_t)strlen(s));
}

void run_close_in(struct run *r)
{
	close(r->in);
	r->in = -1;
}

int run_wait(struct run *r)
{
	int status;

	while (take_any(r))
		;
	ck_assert_int_eq(waitpid(r->pid, &status, 0), r->pid);
	r->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	if (r->in >= 0)
		run_close_in(r);
	/* nothing at all is an empty string */
	if (!r->text)
		r->text = calloc(1, 1);
	if (!r->error)
		r->error = calloc(1, 1);
	ck_assert(r->text && r->error);
	return r->status;
}

void run_free(struct run *r)
{
	free(r->text);
	free(r->error);
}

int run_whole(struct run *r, const char *const *words)
{
	run_start(r, words);
	run_close_in(r);
	return run_wait(r);
}

/* ---- watch ---- */

struct json_object *watch_event(struct run *r, const char *name)
{
	for (;;) {
		struct json_object *j = json_tokener_parse(run_line(r));

		ck_assert_ptr_nonnull(j);
		if (!strcmp(json_text(j, "event"), name))
			return j;
		json_object_put(j);
	}
}

void watch_start(struct run *r)
{
	RUN(r, "watch", "--json");
	json_object_put(watch_event(r, "snapshot"));
}

void watch_offered(struct run *r, char id[64])
{
	struct json_object *j = watch_event(r, "offered");

	snprintf(id, 64, "%s", json_item_text(j, "request"));
	ck_assert_uint_eq(strlen(id), 40);
	json_object_put(j);
}

const char *json_text(struct json_object *j, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(j, key, &v) || !v)
		return "";
	return json_object_get_string(v);
}

const char *json_item_text(struct json_object *event, const char *key)
{
	struct json_object *item;

	return json_object_object_get_ex(event, "item", &item) ? json_text(item, key) : "";
}
