/* SPDX-License-Identifier: MIT */
/* The clients of the benchmarks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/wire/frame.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"
#include "tests/bench/bench.h"

#define FRAME	 300
#define TURN_MAX 400 /* calls of a turn: more than most agents' turns have */

struct conn {
	int fd;
	uint32_t id, calls;
	bool turn; /* turn_begin is outstanding */
	int64_t sent;
	struct wire_scan scan;
};

struct load {
	const struct bench_server *s;
	enum bench_kind kind;
	struct conn *conns;
	unsigned n;
	size_t reply_len; /* of an echo */
	char path[128];	  /* of the file that is read */
	uint64_t done, calls, serial;
	float *us;
	struct wire_buffer b;
	uint8_t request[FRAME]; /* all are the same but for two numbers */
	size_t serial_at;
};

static void send_all(int fd, const void *data, size_t len)
{
	bench_need(send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len, "send");
}

#define MSGID_AT 3 /* behind the heads of the array, the type and the number itself */

static void pack_request(struct load *l, size_t pad)
{
	struct wire_open m, i;
	char text[FRAME];

	memset(text, 'x', sizeof(text));
	wire_buffer_reset(&l->b, 1 << 16);
	wire_pack_call(&l->b, UINT32_MAX, bytes_of("request"));
	wire_map_open(&m, &l->b);
	wire_map_strz(&m, "tool_call_id", "c0000000000");
	wire_map_strz(&m, "tool", "Read");
	wire_map_key(&m, "input");
	wire_map_open(&i, &l->b);
	wire_map_strz(&i, "file_path", l->path);
	wire_close(&i);
	wire_map_str(&m, "summary", (struct bytes){text, pad});
	wire_close(&m);
}

/* A `request` of exactly 300 bytes: what is missing is the padding's. */
static void make_request(struct load *l)
{
	const uint8_t *at;

	pack_request(l, 40);
	if (l->b.len != FRAME)
		pack_request(l, 40 + FRAME - l->b.len);
	bench_need(l->b.len == FRAME && l->b.data[MSGID_AT - 1] == 0xce,
		"a frame of 300 bytes");
	memcpy(l->request, l->b.data, FRAME);
	at = memmem(l->request, FRAME, "c0000000000", 11);
	bench_need(at != NULL, "the id of the call");
	l->serial_at = (size_t)(at - l->request);
}

/* The clients are to cost little beside the server: the numbers are put in by hand. */
static void number_request(struct load *l, uint32_t id)
{
	uint64_t n = ++l->serial;

	for (unsigned i = 0; i < 4; i++)
		l->request[MSGID_AT + i] = (uint8_t)(id >> (24 - 8 * i));
	for (unsigned i = 10; i > 0; i--, n /= 10)
		l->request[l->serial_at + i] = (uint8_t)('0' + n % 10);
}

static void call(struct load *l, struct conn *c)
{
	static const uint8_t frame[FRAME];

	c->sent = bench_ns();
	if (l->kind == BENCH_ECHO) {
		send_all(c->fd, frame, FRAME);
		return;
	}
	if (c->calls++ % TURN_MAX == TURN_MAX - 1) {
		struct wire_open m;

		wire_buffer_reset(&l->b, 1 << 16);
		wire_pack_call(&l->b, ++c->id, bytes_of("turn_begin"));
		wire_map_open(&m, &l->b);
		wire_close(&m);
		c->turn = true;
		send_all(c->fd, l->b.data, l->b.len);
		return;
	}
	number_request(l, ++c->id);
	send_all(c->fd, l->request, FRAME);
}

static void hello(struct load *l, struct conn *c)
{
	struct wire_open m;
	char key[32];

	snprintf(key, sizeof(key), "s%d.%d", (int)getpid(), c->fd);
	wire_buffer_reset(&l->b, 1 << 16);
	wire_pack_call(&l->b, ++c->id, bytes_of("hello"));
	wire_map_open(&m, &l->b);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "bench");
	wire_map_strz(&m, "agent", "bench");
	wire_map_strz(&m, "session", key);
	wire_close(&m);
	send_all(c->fd, l->b.data, l->b.len);
}

/* Takes what came; true when the answer is complete. */
static bool answered(struct load *l, struct conn *c)
{
	uint8_t buf[65536];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0);
	size_t used;
	int v;

	bench_need(n > 0, "the server closed a connection");
	if (l->kind == BENCH_ECHO) {
		c->scan.size += (uint32_t)n;
		if (c->scan.size < l->reply_len)
			return false;
		c->scan.size = 0;
		return true;
	}
	v = wire_scan_feed(&c->scan, buf, (size_t)n, &used);
	bench_need(v >= 0 && used == (size_t)n, "an answer");
	if (v != WIRE_SCAN_DONE)
		return false;
	/* an automatic allow says so; anything else is no answer to be timed */
	if (!c->turn && c->calls && !memmem(buf, (size_t)n, "allow", 5)) {
		fprintf(stderr, "bench: not allowed: %.*s\n", (int)n, buf);
		exit(1);
	}
	wire_scan_init(&c->scan);
	return true;
}

static void connect_all(struct load *l)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", l->s->agent);
	for (unsigned i = 0; i < l->n; i++) {
		struct conn *c = &l->conns[i];

		c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bench_need(c->fd >= 0 && connect(c->fd, (struct sockaddr *)&a, sizeof(a)) == 0,
			"connect");
		wire_scan_init(&c->scan);
		if (l->kind == BENCH_REQUEST) {
			hello(l, c);
			while (!answered(l, c))
				;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void drive(struct load *l)
{
	struct epoll_event events[256];
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t sent = 0, open = 0;

	for (unsigned i = 0; i < l->n; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};

		epoll_ctl(ep, EPOLL_CTL_ADD, l->conns[i].fd, &e);
	}
	for (unsigned i = 0; i < l->n && sent < l->calls; i++, open++) {
		call(l, &l->conns[i]);
		sent += !l->conns[i].turn;
	}
	while (open) {
		int n = epoll_wait(ep, events, 256, 60000);

		bench_need(n > 0, "the server does not answer");
		for (int i = 0; i < n; i++) {
			struct conn *c = &l->conns[events[i].data.u32];

			if (!answered(l, c))
				continue;
			open--;
			if (!c->turn)
				l->us[l->done++ % (1u << 20)] =
					(float)(bench_ns() - c->sent) / 1000;
			c->turn = false;
			if (sent < l->calls) {
				call(l, c);
				sent += !c->turn;
				open++;
			}
		}
	}
	close(ep);
}

static void load_init(struct load *l, const struct bench_server *s, enum bench_kind kind,
	unsigned connections)
{
	int fd;

	*l = (struct load){.s = s, .kind = kind, .n = connections,
		.reply_len = bench_reply_len()};
	snprintf(l->path, sizeof(l->path), "%s/work/file", s->dir);
	l->path[strlen(s->dir) + 5] = 0;
	mkdir(l->path, 0700);
	bench_need(chdir(l->path) == 0, l->path);
	l->path[strlen(s->dir) + 5] = '/';
	fd = open(l->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	bench_need(fd >= 0, l->path);
	close(fd);
	wire_buffer_init(&l->b, SIZE_MAX / 2);
	make_request(l);
	l->conns = calloc(connections, sizeof(*l->conns));
	bench_need(l->conns != NULL, "calloc");
}

static void run(const struct bench_server *s, enum bench_kind kind, unsigned connections,
	uint64_t calls, struct bench_run *out)
{
	struct load l;
	struct rlimit r;
	double n;
	uint64_t cpu;
	int64_t t;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	load_init(&l, s, kind, connections);
	l.us = calloc(1u << 20, sizeof(float));
	bench_need(l.us != NULL, "calloc");
	connect_all(&l);
	l.calls = calls / 10 + 1;
	drive(&l); /* a tenth to get warm */
	l.done = 0;
	l.calls = calls;
	cpu = bench_cpu(s->pid);
	t = bench_ns();
	drive(&l);
	t = bench_ns() - t;
	cpu = bench_cpu(s->pid) - cpu;
	qsort(l.us, l.done < 1u << 20 ? l.done : 1u << 20, sizeof(float), by_value);
	n = (double)l.done;
	out->p50_us = (double)l.us[(l.done < 1u << 20 ? l.done : 1u << 20) / 2];
	out->cpu_us = (double)cpu / 1000 / n;
	out->per_s = n * 1e9 / (double)t;
	out->calls = l.done;
}

/* ---- a process for each client ---- */

static void one_call(struct load *l)
{
	struct conn *c = &l->conns[0];

	do {
		call(l, c);
		while (!answered(l, c))
			;
	} while (c->turn && (c->turn = false, true));
}

/* Warms up, says so, and when all may go makes its calls. */
static void client_run(const struct bench_server *s, enum bench_kind kind, uint64_t calls,
	int ready, int go)
{
	const struct timeval patience = {.tv_sec = 60};
	struct load l;
	char c = 0;

	load_init(&l, s, kind, 1);
	connect_all(&l);
	bench_need(setsockopt(l.conns[0].fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			   sizeof(patience)) == 0,
		"setsockopt");
	for (uint64_t i = 0; i < calls / 10 + 1; i++)
		one_call(&l);
	bench_need(write(ready, &c, 1) == 1 && read(go, &c, 1) == 0, "the start");
	for (uint64_t i = 0; i < calls; i++)
		one_call(&l);
}

static void run_processes(const struct bench_server *s, enum bench_kind kind, unsigned n,
	uint64_t calls, struct bench_run *out)
{
	int ready[2], go[2], status;
	uint64_t cpu;
	int64_t t;
	char c;

	bench_need(pipe2(ready, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0, "pipe");
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		bench_need(pid >= 0, "fork");
		if (pid == 0) {
			close(go[1]);
			close(ready[0]);
			client_run(s, kind, calls / n, ready[1], go[0]);
			_exit(0);
		}
	}
	close(ready[1]);
	for (unsigned i = 0; i < n; i++)
		bench_need(read(ready[0], &c, 1) == 1, "a client failed");
	cpu = bench_cpu(s->pid);
	t = bench_ns();
	close(go[1]);
	for (unsigned i = 0; i < n; i++)
		bench_need(wait(&status) > 0 && status == 0, "a client failed");
	t = bench_ns() - t;
	cpu = bench_cpu(s->pid) - cpu;
	out->calls = calls / n * n;
	out->cpu_us = (double)cpu / 1000 / (double)out->calls;
	out->per_s = (double)out->calls * 1e9 / (double)t;
}

/* An agent may not stand above the broker, so that it is a child. */
static void run_apart(bool processes, const struct bench_server *s, enum bench_kind kind,
	unsigned n, uint64_t calls, struct bench_run *out)
{
	struct bench_run *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	bench_need(shared != MAP_FAILED, "mmap");
	pid = fork();
	bench_need(pid >= 0, "fork");
	if (pid == 0) {
		if (processes)
			run_processes(s, kind, n, calls, shared);
		else
			run(s, kind, n, calls, shared);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	bench_need(status == 0, "the clients failed");
	*out = *shared;
	munmap(shared, sizeof(*shared));
}

void bench_load(const struct bench_server *s, enum bench_kind kind, unsigned connections,
	uint64_t calls, struct bench_run *out)
{
	run_apart(false, s, kind, connections, calls, out);
}

void bench_processes(const struct bench_server *s, enum bench_kind kind, unsigned n,
	uint64_t calls, struct bench_run *out)
{
	run_apart(true, s, kind, n, calls, out);
}

size_t bench_reply_len(void)
{
	return FRAME;
}
