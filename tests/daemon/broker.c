/* SPDX-License-Identifier: MIT */
#include "tests/daemon/broker.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 60000 /* generous: valgrind, sanitizers, a busy machine */

const char *broker_program(void)
{
	const char *p = getenv("APPROVALD");

	return p ? p : "./approvald";
}

bool broker_valgrind(void)
{
	return getenv("APPROVALD_TEST_VALGRIND") != NULL;
}

void broker_init(struct broker *b)
{
	memset(b, 0, sizeof(*b));
	b->pid = b->pidfd = -1;
	strcpy(b->dir, "/tmp/approvald-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(b->dir));
	snprintf(b->agent, sizeof(b->agent), "%s/run/agent/sock", b->dir);
	snprintf(b->frontend, sizeof(b->frontend), "%s/run/frontend/sock", b->dir);
	snprintf(b->config, sizeof(b->config), "%s/approvald.conf", b->dir);
	broker_configure(b, "");
}

void broker_configure(struct broker *b, const char *text)
{
	int fd = open(b->config, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int notify_open(const struct broker *b, char path[108])
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", b->dir);
	snprintf(path, sizeof(a.sun_path), "%s", a.sun_path);
	unlink(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void run(const struct broker *b, const char *const *args, const char *notify)
{
	const char *argv[64] = {broker_program()};
	char runtime[96], state[96];
	int n = 1;

	snprintf(runtime, sizeof(runtime), "%s/run", b->dir);
	snprintf(state, sizeof(state), "%s/state", b->dir);
	argv[n++] = "--runtime-dir";
	argv[n++] = runtime;
	argv[n++] = "--state-dir";
	argv[n++] = state;
	argv[n++] = "--config";
	argv[n++] = b->config;
	for (; args && *args && n < 63; args++)
		argv[n++] = *args;
	setenv("NOTIFY_SOCKET", notify, 1);
	unsetenv("LISTEN_FDS");
	if (b->listening) {
		char pid[16];

		/* as systemd does it: from descriptor 3 on */
		if (dup2(b->listening[0], 3) < 0 || dup2(b->listening[1], 4) < 0)
			_exit(125);
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "2", 1);
		setenv("LISTEN_FDNAMES", "agent:frontend", 1);
	}
	for (const char *const *e = b->env; e && *e; e++)
		putenv((char *)(uintptr_t)*e);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The broker's parent: waits for it and tells how it ended. A test that fails ends it. */
static void middle_run(const struct broker *b, const char *const *args, const char *notify,
	int out, int go, int life)
{
	struct pollfd p[2] = {{.fd = life, .events = POLLIN}, {.events = POLLIN}};
	int status = 0;
	pid_t pid;
	char c;

	setsid();
	pid = fork();
	if (pid == 0) {
		/* not before the test has its pidfd */
		if (read(go, &c, 1) < 0)
			_exit(126);
		run(b, args, notify);
	}
	if (write(out, &pid, sizeof(pid)) != sizeof(pid))
		_exit(126);
	p[1].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p[1].fd < 0 || poll(p, 2, -1) < 0)
		_exit(126);
	if (!p[1].revents)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	if (write(out, &status, sizeof(status)) != sizeof(status))
		_exit(126);
	_exit(0);
}

/* Not below the test: its parent is given to init before it starts. */
static void spawn(struct broker *b, const char *const *args, const char *notify)
{
	int p[2], go[2], life[2];
	pid_t first;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(life, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	first = fork();
	ck_assert_int_ge(first, 0);
	if (first == 0) {
		close(go[1]);
		close(life[1]);
		if (fork() == 0)
			middle_run(b, args, notify, p[1], go[0], life[0]);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(first, NULL, 0), first);
	close(p[1]);
	ck_assert_int_eq(read(p[0], &b->pid, sizeof(b->pid)), (ssize_t)sizeof(b->pid));
	b->pidfd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	ck_assert_int_ge(b->pidfd, 0);
	b->status = p[0];
	b->life = life[1];
	close(life[0]);
	close(go[0]);
	close(go[1]);
}

int broker_try(struct broker *b, const char *const *args)
{
	char path[108], text[512];
	int fd = notify_open(b, path), status = -1;

	spawn(b, args, path);
	for (;;) {
		struct pollfd p[2] = {
			{.fd = fd, .events = POLLIN}, {.fd = b->pidfd, .events = POLLIN}};
		ssize_t n;

		ck_assert_int_gt(poll(p, 2, START_MS), 0);
		if (p[0].revents & POLLIN) {
			n = recv(fd, text, sizeof(text) - 1, 0);
			ck_assert_int_ge(n, 0);
			text[n] = 0;
			if (strstr(text, "READY=1"))
				break;
			continue;
		}
		status = broker_wait(b);
		break;
	}
	close(fd);
	unlink(path);
	return status;
}

void broker_start(struct broker *b, const char *const *args)
{
	int status = broker_try(b, args);

	ck_assert_msg(status == -1, "the broker ended with status %d", status);
}

int broker_wait(struct broker *b)
{
	struct pollfd p = {.fd = b->status, .events = POLLIN};
	int status = 0;

	ck_assert_int_eq(poll(&p, 1, START_MS), 1);
	ck_assert_int_eq(read(b->status, &status, sizeof(status)), (ssize_t)sizeof(status));
	close(b->status);
	close(b->pidfd);
	close(b->life);
	b->pid = b->pidfd = b->status = b->life = -1;
	return status;
}

void broker_stop(struct broker *b)
{
	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b->pidfd, SIGTERM, NULL, 0), 0);
	ck_assert_int_eq(broker_wait(b), 0);
}

void broker_kill(struct broker *b)
{
	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b->pidfd, SIGKILL, NULL, 0), 0);
	broker_wait(b);
}

void broker_fini(struct broker *b)
{
	char command[128];

	if (b->pid > 0)
		broker_kill(b);
	snprintf(command, sizeof(command), "rm -rf '%s'", b->dir);
	ck_assert_int_eq(system(command), 0);
}

void broker_reload(const struct broker *b)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[512];

	ck_assert_int_ge(fd, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", b->dir);
	unlink(a.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b->pidfd, SIGHUP, NULL, 0), 0);
	for (;;) {
		ssize_t n;

		ck_assert_int_eq(poll(&p, 1, 60000), 1);
		n = recv(fd, text, sizeof(text) - 1, 0);
		ck_assert_int_ge(n, 0);
		text[n] = '\0';
		if (strstr(text, "READY=1"))
			break;
	}
	close(fd);
}
