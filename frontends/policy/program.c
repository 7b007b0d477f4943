/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/common/json.h"

void programs_init(struct programs *p, const sigset_t *mask)
{
	memset(p, 0, sizeof(*p));
	p->mask = *mask;
}

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void slot_free(struct asking *g)
{
	/* its children, too: it leads a group of its own */
	if (!g->ended || g->out >= 0)
		kill(-g->pid, SIGKILL);
	fd_close(&g->in);
	fd_close(&g->out);
	free(g->input);
	text_free(&g->output);
	*g = (struct asking){.pid = 0};
}

void programs_fini(struct programs *p)
{
	for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++)
		if (p->slots[i].pid)
			slot_free(&p->slots[i]);
}

void programs_cancel(struct programs *p, const void *arg)
{
	for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++)
		if (p->slots[i].pid && p->slots[i].arg == arg)
			slot_free(&p->slots[i]);
}

bool programs_busy(const struct programs *p)
{
	for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++)
		if (p->slots[i].pid)
			return true;
	return false;
}

/* ---- starting ---- */

/* Everything of ours but the two pipes is closed in it, and no signal is blocked. */
static int spawn(const char *path, const sigset_t *mask, int in, int out, pid_t *pid)
{
	char *const argv[] = {(char *)(uintptr_t)path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t reset;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	r = posix_spawnattr_init(&attr);
	if (r) {
		posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &reset);
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setpgroup(&attr, 0);
	r = posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!r)
		r = posix_spawn_file_actions_addopen(
			&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!r)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	if (!r)
		r = posix_spawn(pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Our ends do not block. */
static int slot_spawn(struct asking *g, const char *path, const sigset_t *mask)
{
	int in[2], out[2], err;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	if (pipe2(out, O_CLOEXEC)) {
		err = -errno;
		close(in[0]);
		close(in[1]);
		return err;
	}
	err = spawn(path, mask, in[0], out[1], &g->pid);
	close(in[0]);
	close(out[1]);
	g->in = in[1];
	g->out = out[0];
	if (!err && (fcntl(g->in, F_SETFL, O_NONBLOCK) || fcntl(g->out, F_SETFL, O_NONBLOCK)))
		err = -errno;
	if (err) {
		if (g->pid)
			kill(-g->pid, SIGKILL);
		g->pid = 0;
		fd_close(&g->in);
		fd_close(&g->out);
	}
	return err;
}

bool program_start(struct programs *p, const struct policy_program *program, struct bytes input,
	int64_t now, unsigned id, program_done_fn *done, void *arg, const char **why)
{
	struct asking *g = NULL;

	for (size_t i = 0; i < PROGRAMS_AT_ONCE && !g; i++)
		if (!p->slots[i].pid)
			g = &p->slots[i];
	if (!g) {
		*why = "too many programs run already";
		return false;
	}
	*g = (struct asking){.id = id,
		.done = done,
		.arg = arg,
		.input = malloc(input.len + 1),
		.input_len = input.len,
		.deadline = now + program->timeout_ms};
	if (g->input) {
		memcpy(g->input, input.data, input.len);
		if (slot_spawn(g, program->path, &p->mask) == 0)
			return true;
	}
	free(g->input);
	*g = (struct asking){.pid = 0};
	*why = "the program can't be started";
	return false;
}

/* ---- its answer ---- */

static enum answer output_read(const struct text *output, struct text *reason, const char **why)
{
	struct json_object *map = NULL, *v;
	enum answer a = ANSWER_NONE;

	*why = "its answer is no JSON object with a verdict";
	if (output->failed || memchr(text_string(output), '\0', output->len) ||
		json_parse(text_string(output), &map, &(const char *){NULL}) < 0)
		return ANSWER_NONE;
	if (json_object_get_type(map) == json_type_object) {
		if (json_object_object_get_ex(map, "verdict", &v) &&
			json_object_get_type(v) == json_type_string)
			a = answer_parse((struct bytes){json_object_get_string(v),
				(size_t)json_object_get_string_len(v)});
		if (json_object_object_get_ex(map, "reason", &v) &&
			json_object_get_type(v) == json_type_string) {
			const char *const s = json_object_get_string(v);
			size_t len = strnlen(s, PROGRAM_REASON);

			/* not within a character */
			while (len && s[len] && ((unsigned char)s[len] & 0xc0) == 0x80)
				len--;
			text_addn(reason, s, len);
		}
	}
	json_object_put(map);
	return a;
}

static void slot_done(struct asking *g, enum answer answer, const char *reason)
{
	program_done_fn *const done = g->done;
	void *const arg = g->arg;
	const unsigned id = g->id;

	slot_free(g);
	done(arg, id, answer, reason);
}

static void slot_finish(struct asking *g)
{
	struct text reason = {0};
	const char *why = NULL;
	enum answer a;

	if (WIFSIGNALED(g->status)) {
		slot_done(g, ANSWER_DEFER, "it was killed");
		return;
	}
	if (WEXITSTATUS(g->status) != 0) {
		char text[48];

		snprintf(text, sizeof(text), "it ended with status %d", WEXITSTATUS(g->status));
		slot_done(g, ANSWER_DEFER, text);
		return;
	}
	a = output_read(&g->output, &reason, &why);
	if (a == ANSWER_NONE)
		slot_done(g, ANSWER_DEFER, why);
	else
		slot_done(g, a, text_string(&reason));
	text_free(&reason);
}

/* ---- waiting ---- */

size_t programs_poll(const struct programs *p, struct pollfd *fds, int64_t now, int *timeout)
{
	size_t n = 0;

	for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++) {
		const struct asking *const g = &p->slots[i];
		int64_t left = g->deadline - now;

		if (!g->pid)
			continue;
		if (g->in >= 0)
			fds[n++] = (struct pollfd){.fd = g->in, .events = POLLOUT};
		if (g->out >= 0)
			fds[n++] = (struct pollfd){.fd = g->out, .events = POLLIN};
		if (left < 0)
			left = 0;
		if (*timeout < 0 || left < *timeout)
			*timeout = left < INT_MAX ? (int)left : INT_MAX;
	}
	return n;
}

static void slot_write(struct asking *g)
{
	while (g->in >= 0) {
		const ssize_t n =
			write(g->in, g->input + g->written, g->input_len - g->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0)
			g->written += (size_t)n;
		/* one that does not read all may answer all the same */
		if (n < 0 || g->written == g->input_len)
			fd_close(&g->in);
	}
}

/* false: there is more than an answer may have. */
static bool slot_read(struct asking *g)
{
	char chunk[4096];

	while (g->out >= 0) {
		const ssize_t n = read(g->out, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			fd_close(&g->out);
			return true;
		}
		if (g->output.len + (size_t)n > PROGRAM_OUTPUT)
			return false;
		text_addn(&g->output, chunk, (size_t)n);
	}
	return true;
}

void programs_step(struct programs *p, int64_t now)
{
	for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++) {
		struct asking *const g = &p->slots[i];

		if (!g->pid)
			continue;
		slot_write(g);
		if (!slot_read(g))
			slot_done(g, ANSWER_DEFER, "its answer is too long");
		else if (g->ended && g->out < 0)
			slot_finish(g);
		else if (now >= g->deadline)
			slot_done(g, ANSWER_DEFER, "it did not answer in time");
	}
}

void programs_reap(struct programs *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < PROGRAMS_AT_ONCE; i++)
			if (p->slots[i].pid == pid) {
				p->slots[i].ended = true;
				p->slots[i].status = status;
			}
}
