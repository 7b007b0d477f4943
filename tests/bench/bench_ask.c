/* SPDX-License-Identifier: MIT */
/*
 * What takes a second connection. First: a request is offered to a frontend, which
 * allows it at once, against a bare registry (a table, epoll, frames as they are).
 * Second: 256 requests that arrive while the broker is stopped take how many commits?
 * (counted, not timed). All on one CPU.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"
#include "tests/bench/bench.h"

#define FRAME 300

struct wire {
	int fd;
	uint32_t id;
	uint8_t data[1 << 17];
	size_t len, taken;
	struct wire_buffer out;
};

static int connect_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	bench_need(fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0, path);
	return fd;
}

static struct wire *wire_new(const char *path)
{
	struct wire *w = calloc(1, sizeof(*w));

	bench_need(w != NULL, "memory");
	w->fd = connect_to(path);
	wire_buffer_init(&w->out, 1 << 20);
	return w;
}

static struct wire_buffer *begin(struct wire *w, const char *method)
{
	wire_buffer_reset(&w->out, 1 << 16);
	wire_pack_call(&w->out, ++w->id, bytes_of(method));
	return &w->out;
}

static void flush(struct wire *w)
{
	bench_need(!w->out.error && send(w->fd, w->out.data, w->out.len, MSG_NOSIGNAL) ==
					    (ssize_t)w->out.len,
		"send");
}

static struct wire_frame next(struct wire *w)
{
	struct wire_frame f;
	struct wire_scan scan;
	size_t len;
	ssize_t n;

	for (;;) {
		wire_scan_init(&scan);
		if (w->len > w->taken && wire_scan_feed(&scan, w->data + w->taken,
						 w->len - w->taken, &len) == WIRE_SCAN_DONE)
			break;
		memmove(w->data, w->data + w->taken, w->len - w->taken);
		w->len -= w->taken;
		w->taken = 0;
		n = recv(w->fd, w->data + w->len, sizeof(w->data) - w->len, 0);
		bench_need(n > 0, "the broker closed a connection");
		w->len += (size_t)n;
	}
	bench_need(
		wire_frame_decode((struct bytes){w->data + w->taken, len}, &f) == 0, "a frame");
	w->taken += len;
	return f;
}

static struct wire_frame reply(struct wire *w)
{
	struct wire_frame f;

	do
		f = next(w);
	while (f.type != WIRE_REPLY || f.id != w->id);
	return f;
}

static struct bytes member(struct bytes map, const char *key)
{
	struct bytes k, v, name;
	struct wire_iter it;

	if (wire_iter_map(&it, map) == 0)
		while (wire_map_next(&it, &k, &v))
			if (wire_text(k, &name) == 0 && bytes_is(name, key))
				return v;
	return (struct bytes){NULL, 0};
}

static void hello(struct wire *w, bool agent, const char *session)
{
	struct wire_buffer *b = begin(w, "hello");
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "bench");
	if (agent) {
		wire_map_strz(&m, "agent", "bench");
		wire_map_strz(&m, "session", session);
	} else {
		wire_map_strz(&m, "role", "human");
	}
	wire_close(&m);
	flush(w);
	reply(w);
}

static void request(struct wire *w, const char *tool, const char *path, unsigned n)
{
	struct wire_buffer *b = begin(w, "request");
	struct wire_open m, i;
	char id[32];

	snprintf(id, sizeof(id), "c%u", n);
	wire_map_open(&m, b);
	wire_map_strz(&m, "tool_call_id", id);
	wire_map_strz(&m, "tool", tool);
	wire_map_key(&m, "input");
	wire_map_open(&i, b);
	wire_map_strz(&i, "file_path", path);
	wire_map_strz(&i, "content", "twenty characters...");
	wire_close(&i);
	wire_close(&m);
	flush(w);
}

/* ---- ask, then approve ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *us, unsigned n)
{
	qsort(us, n, sizeof(*us), by_value);
	return us[n / 2];
}

static void broker_agent(const struct bench_server *s, unsigned n, double *p50)
{
	double *us = calloc(n, sizeof(*us));
	struct wire *w = wire_new(s->agent);

	bench_need(chdir(s->dir) == 0, s->dir);
	hello(w, true, "ask");
	for (unsigned i = 0; i < n; i++) {
		int64_t t = bench_ns();

		request(w, "Frobnicate", "/nowhere", i);
		reply(w);
		us[i] = (double)(bench_ns() - t) / 1000;
	}
	*p50 = median(us, n);
}

static void broker_frontend(const struct bench_server *s, unsigned n, int ready)
{
	struct wire *w = wire_new(s->frontend);
	struct wire_open m, a, d;
	struct wire_buffer *b;

	hello(w, false, NULL);
	b = begin(w, "subscribe");
	wire_map_open(&m, b);
	wire_close(&m);
	flush(w);
	reply(w);
	bench_need(write(ready, "", 1) == 1, "write");
	for (unsigned i = 0; i < n;) {
		struct wire_frame f = next(w);
		struct bytes item;

		if (f.type != WIRE_NOTIFY || !bytes_is(f.method, "offered"))
			continue;
		item = member(f.params, "item");
		b = begin(w, "decide");
		wire_map_open(&m, b);
		wire_map_key(&m, "decisions");
		wire_array_open(&a, b);
		wire_array_item(&a);
		wire_map_open(&d, b);
		wire_map_raw(&d, "request", member(item, "request"));
		wire_map_raw(&d, "digest", member(item, "digest"));
		wire_map_strz(&d, "verdict", "allow");
		wire_close(&d);
		wire_close(&a);
		wire_close(&m);
		flush(w);
		i++;
	}
}

static void bare_agent(const struct bench_server *s, unsigned n, double *p50)
{
	double *us = calloc(n, sizeof(*us));
	uint8_t frame[FRAME] = {'a'};
	int fd = connect_to(s->agent);

	for (unsigned i = 0; i < n; i++) {
		int64_t t = bench_ns();

		frame[0] = 'a';
		memcpy(frame + 1, &i, sizeof(i));
		bench_need(send(fd, frame, FRAME, 0) == FRAME, "send");
		bench_need(recv(fd, frame, FRAME, MSG_WAITALL) == FRAME, "recv");
		us[i] = (double)(bench_ns() - t) / 1000;
	}
	*p50 = median(us, n);
}

static void bare_frontend(const struct bench_server *s, unsigned n, int ready)
{
	uint8_t frame[FRAME] = {'f'};
	int fd = connect_to(s->agent);

	bench_need(send(fd, frame, FRAME, 0) == FRAME, "send");
	bench_need(recv(fd, frame, FRAME, MSG_WAITALL) == FRAME, "recv");
	bench_need(write(ready, "", 1) == 1, "write");
	for (unsigned i = 0; i < n; i++) {
		bench_need(recv(fd, frame, FRAME, MSG_WAITALL) == FRAME, "recv");
		frame[0] = 'd';
		bench_need(send(fd, frame, FRAME, 0) == FRAME, "send");
	}
}

/* Remembers who asked, tells the frontend, answers whoever asked. */
static void bare_registry(int listener)
{
	static int asked[65536];
	int ep = epoll_create1(EPOLL_CLOEXEC), frontend = -1;
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, events[64];
	uint8_t frame[FRAME];

	epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int n = epoll_wait(ep, events, 64, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd, to;
			uint32_t id;

			if (fd == listener) {
				e.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
				epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e);
				continue;
			}
			if (recv(fd, frame, FRAME, MSG_WAITALL) != FRAME) {
				close(fd);
				continue;
			}
			memcpy(&id, frame + 1, sizeof(id));
			if (frame[0] == 'f') {
				frontend = fd;
				if (send(fd, frame, FRAME, MSG_NOSIGNAL) != FRAME)
					_exit(1);
				continue;
			}
			if (frame[0] == 'a') {
				asked[id % 65536] = fd;
				to = frontend;
			} else {
				to = asked[id % 65536];
			}
			if (send(to, frame, FRAME, MSG_NOSIGNAL) != FRAME)
				_exit(1);
		}
	}
}

/* In children: an agent may not stand above the broker or a frontend. */
static void pair(const struct bench_server *s, bool broker, unsigned n, struct bench_run *out)
{
	double *p50 = mmap(
		NULL, sizeof(*p50), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t cpu = bench_cpu(s->pid);
	pid_t agent, frontend;
	int status, ready[2];
	char c;

	bench_need(p50 != MAP_FAILED && pipe(ready) == 0, "mmap");
	frontend = fork();
	if (frontend == 0) {
		(broker ? broker_frontend : bare_frontend)(s, n, ready[1]);
		_exit(0);
	}
	bench_need(read(ready[0], &c, 1) == 1, "read");
	agent = fork();
	if (agent == 0) {
		(broker ? broker_agent : bare_agent)(s, n, p50);
		_exit(0);
	}
	bench_need(waitpid(agent, &status, 0) == agent && status == 0, "the agent failed");
	bench_need(waitpid(frontend, &status, 0) == frontend && status == 0,
		"the frontend failed");
	out->p50_us = *p50;
	out->cpu_us = (double)(bench_cpu(s->pid) - cpu) / 1000 / n;
	munmap(p50, sizeof(*p50));
	close(ready[0]);
	close(ready[1]);
}

/* ---- commits ---- */

static uint64_t commits(struct wire *w)
{
	struct wire_buffer *b = begin(w, "stats");
	struct wire_value v;
	struct wire_open m;
	struct bytes raw;

	wire_map_open(&m, b);
	wire_close(&m);
	flush(w);
	raw = member(reply(w).result, "commits");
	bench_need(wire_read(&raw, &v) == 0 && v.kind == WIRE_KIND_UINT, "stats");
	return v.u64;
}

static void queue_agents(const struct bench_server *s, int in, int out)
{
	static struct wire *w[256];
	char c, key[16], path[128];

	bench_need(chdir(s->dir) == 0, s->dir);
	snprintf(path, sizeof(path), "%s/conf", s->dir);
	for (unsigned i = 0; i < 256; i++) {
		w[i] = wire_new(s->agent);
		snprintf(key, sizeof(key), "q%u", i);
		hello(w[i], true, key);
		request(w[i], "Read", path, 0);
		reply(w[i]);
	}
	bench_need(write(out, "", 1) == 1 && read(in, &c, 1) == 1, "the parent");
	for (unsigned i = 0; i < 256; i++)
		request(w[i], "Read", path, 1);
	bench_need(write(out, "", 1) == 1, "the parent");
	for (unsigned i = 0; i < 256; i++)
		reply(w[i]);
	bench_need(write(out, "", 1) == 1 && read(in, &c, 1) == 1, "the parent");
}

static uint64_t queue_commits(const struct bench_server *s)
{
	struct wire *w = wire_new(s->frontend);
	int to[2], from[2];
	uint64_t before, after;
	pid_t pid;
	char c;

	bench_need(pipe(to) == 0 && pipe(from) == 0, "pipe");
	pid = fork();
	if (pid == 0) {
		queue_agents(s, to[0], from[1]);
		_exit(0);
	}
	hello(w, false, NULL);
	bench_need(read(from[0], &c, 1) == 1, "the agents");
	before = commits(w);
	kill(s->pid, SIGSTOP);
	bench_need(write(to[1], "", 1) == 1 && read(from[0], &c, 1) == 1, "the agents");
	kill(s->pid, SIGCONT);
	bench_need(read(from[0], &c, 1) == 1, "the agents");
	after = commits(w);
	bench_need(write(to[1], "", 1) == 1, "the agents");
	waitpid(pid, NULL, 0);
	return after - before;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20000;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct bench_run bare, none, sql;
	struct bench_server s = {0};
	uint64_t count;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_pin();
	snprintf(s.dir, sizeof(s.dir), "/tmp/approvald-bench-XXXXXX");
	bench_need(mkdtemp(s.dir) != NULL, s.dir);
	snprintf(s.agent, sizeof(s.agent), "%s/bare", s.dir);
	memcpy(a.sun_path, s.agent, sizeof(s.agent));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bench_need(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 64) == 0,
		s.agent);
	s.pid = fork();
	if (s.pid == 0)
		bare_registry(fd);
	close(fd);
	pair(&s, false, n, &bare);
	bench_end(&s);
	waitpid(s.pid, NULL, 0);

	bench_broker(&s, "none");
	pair(&s, true, n, &none);
	bench_end(&s);
	bench_broker(&s, "sqlite");
	pair(&s, true, n, &sql);
	bench_end(&s);
	printf("ask then approve, bare registry:   p50 %7.2f us  CPU %6.2f us\n", bare.p50_us,
		bare.cpu_us);
	printf("ask then approve, without journal: p50 %7.2f us  CPU %6.2f us  ratio %.2f, "
	       "%.2f\n",
		none.p50_us, none.cpu_us, none.p50_us / bare.p50_us, none.cpu_us / bare.cpu_us);
	printf("ask then approve, SQLite:          p50 %7.2f us  CPU %6.2f us  ratio %.2f, "
	       "%.2f\n",
		sql.p50_us, sql.cpu_us, sql.p50_us / bare.p50_us, sql.cpu_us / bare.cpu_us);

	bench_broker(&s, "sqlite");
	count = queue_commits(&s);
	bench_end(&s);
	printf("256 requests queued while the broker was stopped: %llu commits (at most 8)\n",
		(unsigned long long)count);
	return count > 8;
}
