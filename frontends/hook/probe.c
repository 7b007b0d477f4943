/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/hook/probe.h"
#include "frontends/hook/stream.h"

static bool probe_replaced(const char *const *added, const char *entry)
{
	for (; added && *added; added++)
		if (strncmp(entry, *added, strcspn(*added, "=") + 1) == 0)
			return true;
	return false;
}

/*
 * Our environment with the additions, which win. Where libraries are looked for goes: the
 * script that starts a program that is not installed sets that, and no agent has it.
 */
static char **probe_environment(const char *const *added)
{
	size_t n = 0, m = 0, i;
	char **env;

	while (environ[n])
		n++;
	while (added && added[m])
		m++;
	env = calloc(n + m + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (i = 0; i < m; i++)
		env[i] = (char *)(uintptr_t)added[i];
	for (i = 0; i < n; i++)
		if (!probe_replaced(added, environ[i]) &&
			strncmp(environ[i], "LD_LIBRARY_PATH=", 16) != 0)
			env[m++] = environ[i];
	return env;
}

static int probe_spawn(struct probe *p, const int pipes[3][2], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = probe_environment(p->env);
	sigset_t none;
	int r;

	if (!env)
		return -ENOMEM;
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
	posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
	posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
	r = -posix_spawn(pid, p->argv[0], &actions, &attr, (char **)(uintptr_t)p->argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	return r;
}

/* What does not fit is thrown away. False at the end. */
static bool probe_take(int fd, char *buf, size_t *len)
{
	char waste[4096];
	size_t room = PROBE_OUTPUT_MAX - *len;
	ssize_t n = room ? read(fd, buf + *len, room) : read(fd, waste, sizeof(waste));

	if (n > 0 && room)
		*len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void probe_talk(struct probe *p, int in, int out, int err)
{
	int64_t deadline = hook_now() + p->timeout_ms, left;
	struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};

	/* an event is small enough for a pipe; who does not read it shows by its answer */
	(void)stream_write(in, p->input, strlen(p->input));
	close(in);
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		left = deadline - hook_now();
		if (left <= 0) {
			p->late = true;
			return;
		}
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
			return;
		if (fds[0].fd >= 0 && fds[0].revents && !probe_take(out, p->out, &p->out_len))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents && !probe_take(err, p->err, &p->err_len))
			fds[1].fd = -1;
	}
}

static void probe_wait(struct probe *p, pid_t pid)
{
	int status;

	if (p->late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	if (WIFEXITED(status))
		p->status = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		p->signal = WTERMSIG(status);
}

int probe_run(struct probe *p)
{
	int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, i, r = 0;
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	pid_t pid;

	p->status = -1;
	p->signal = 0;
	p->late = false;
	p->out_len = p->err_len = 0;
	for (i = 0; r == 0 && i < 3; i++)
		r = pipe2(pipes[i], O_CLOEXEC) < 0 ? -errno : 0;
	if (r == 0)
		r = probe_spawn(p, (const int(*)[2])pipes, &pid);
	if (r == 0) {
		close(pipes[0][0]);
		close(pipes[1][1]);
		close(pipes[2][1]);
		probe_talk(p, pipes[0][1], pipes[1][0], pipes[2][0]);
		pipes[0][0] = pipes[0][1] = pipes[1][1] = pipes[2][1] = -1;
		probe_wait(p, pid);
	}
	for (i = 0; i < 6; i++)
		if (pipes[i / 2][i % 2] >= 0)
			close(pipes[i / 2][i % 2]);
	p->out[p->out_len] = p->err[p->err_len] = '\0';
	signal(SIGPIPE, old);
	return r;
}
