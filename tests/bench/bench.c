/* SPDX-License-Identifier: MIT */
#include "tests/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#define FRAME 300

void bench_need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

int64_t bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void bench_pin(void)
{
	cpu_set_t all, one;

	bench_need(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	bench_need(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
}

uint64_t bench_cpu(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	bench_need(f && fscanf(f, "%llu", &ns) == 1, path);
	fclose(f);
	return ns;
}

uint64_t bench_rss(pid_t pid)
{
	unsigned long long kb = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	bench_need(f != NULL, path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu kB", &kb) == 1)
			break;
	fclose(f);
	return kb * 1024;
}

/* ---- servers ---- */

static void files_raise(void)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* Given to init before it starts, so that its clients are no ancestors of it. */
static pid_t detach(void)
{
	int p[2];
	pid_t pid = -1, first;

	bench_need(pipe2(p, O_CLOEXEC) == 0, "pipe");
	first = fork();
	bench_need(first >= 0, "fork");
	if (first == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			close(p[0]);
			close(p[1]);
			return 0;
		}
		if (write(p[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		_exit(0);
	}
	waitpid(first, NULL, 0);
	bench_need(read(p[0], &pid, sizeof(pid)) == sizeof(pid), "starting a server");
	close(p[0]);
	close(p[1]);
	return pid;
}

static void make_dir(struct bench_server *s)
{
	const char *base = getenv("BENCH_DIR");

	snprintf(s->dir, sizeof(s->dir), "%s/approvald-bench-XXXXXX", base ? base : "/dev/shm");
	bench_need(mkdtemp(s->dir) != NULL, s->dir);
}

void bench_broker(struct bench_server *s, const char *store)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char run[96], state[96], conf[96], text[512] = "";
	const char *program = getenv("APPROVALD");
	int notify, fd;

	memset(s, 0, sizeof(*s));
	make_dir(s);
	snprintf(run, sizeof(run), "%s/run", s->dir);
	snprintf(state, sizeof(state), "%s/state", s->dir);
	snprintf(conf, sizeof(conf), "%s/conf", s->dir);
	snprintf(s->agent, sizeof(s->agent), "%s/run/agent/sock", s->dir);
	snprintf(s->frontend, sizeof(s->frontend), "%s/run/frontend/sock", s->dir);
	fd = open(conf, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bench_need(fd >= 0, conf);
	dprintf(fd, "[limits]\nconnections = 20000\nrate = 0\nsessions = 20000\npending = "
		    "200000\n");
	close(fd);
	notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", s->dir);
	bench_need(bind(notify, (struct sockaddr *)&a, sizeof(a)) == 0, "bind");
	s->pid = detach();
	if (s->pid == 0) {
		setenv("NOTIFY_SOCKET", a.sun_path, 1);
		program = program ? program : "./approvald";
		execl(program, program, "--runtime-dir", run, "--state-dir", state, "--config",
			conf, "--store", store, (char *)NULL);
		_exit(127);
	}
	do {
		struct pollfd p = {.fd = notify, .events = POLLIN};

		bench_need(poll(&p, 1, 20000) == 1, "the broker did not start");
		memset(text, 0, sizeof(text));
		bench_need(recv(notify, text, sizeof(text) - 1, 0) >= 0, "recv");
	} while (!strstr(text, "READY=1"));
	close(notify);
}

struct echo {
	struct event_base *base;
	size_t reply_len;
	int log;
	uint8_t reply[4096];
	int *waiting; /* clients whose answer waits for the sync */
	size_t n, size;
};

struct echo_client {
	struct echo *e;
	struct event *ev;
	size_t have;
};

static void echo_read(evutil_socket_t fd, short what, void *arg)
{
	struct echo_client *c = arg;
	uint8_t buf[65536];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	(void)what;
	if (n <= 0) {
		event_free(c->ev);
		close(fd);
		free(c);
		return;
	}
	for (c->have += (size_t)n; c->have >= FRAME; c->have -= FRAME) {
		struct echo *e = c->e;

		if (e->log < 0) {
			if (send(fd, e->reply, e->reply_len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
				return;
			continue;
		}
		if (e->n == e->size) {
			e->size = e->size ? e->size * 2 : 1024;
			e->waiting = reallocarray(e->waiting, e->size, sizeof(int));
		}
		if (write(e->log, buf, FRAME) != FRAME)
			_exit(1);
		e->waiting[e->n++] = fd;
	}
}

static void echo_accept(evutil_socket_t fd, short what, void *arg)
{
	struct echo *e = arg;
	int s;

	(void)what;
	while ((s = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct echo_client *c = calloc(1, sizeof(*c));

		c->e = e;
		c->ev = event_new(e->base, s, EV_READ | EV_PERSIST, echo_read, c);
		event_add(c->ev, NULL);
	}
}

static void echo_run(int listener, size_t reply_len, int log)
{
	struct echo e = {.base = event_base_new(), .reply_len = reply_len, .log = log};
	struct event *ev = event_new(e.base, listener, EV_READ | EV_PERSIST, echo_accept, &e);

	event_add(ev, NULL);
	for (;;) {
		event_base_loop(e.base, EVLOOP_ONCE);
		if (e.n && fdatasync(e.log) < 0)
			_exit(1);
		for (size_t i = 0; i < e.n; i++)
			if (send(e.waiting[i], e.reply, e.reply_len, MSG_NOSIGNAL) < 0)
				_exit(1);
		e.n = 0;
	}
}

void bench_echo(struct bench_server *s, size_t reply_len, bool log)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, log_fd = -1;

	memset(s, 0, sizeof(*s));
	make_dir(s);
	snprintf(s->agent, sizeof(s->agent), "%s/echo", s->dir);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", s->agent);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bench_need(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 4096) == 0,
		s->agent);
	if (log) {
		char path[96];

		snprintf(path, sizeof(path), "%s/log", s->dir);
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		bench_need(log_fd >= 0, path);
	}
	s->pid = detach();
	if (s->pid == 0) {
		files_raise();
		echo_run(fd, reply_len, log_fd);
	}
	close(fd);
	if (log_fd >= 0)
		close(log_fd);
}

void bench_end(struct bench_server *s)
{
	char command[128];

	kill(s->pid, SIGKILL);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	bench_need(system(command) == 0, command);
}
