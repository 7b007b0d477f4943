/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: servers in processes of their own, all on one CPU,
 * and clients that keep one call outstanding on each of many connections.
 */
#ifndef TEST_BENCH_H
#define TEST_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_server {
	pid_t pid;
	char dir[64]; /* of a broker; "" for the baselines */
	char agent[96], frontend[96];
};

/* Ends the program with a message unless ok. */
void bench_need(bool ok, const char *what);
int64_t bench_ns(void);
/* All that is started from here on runs on the first CPU that is allowed. */
void bench_pin(void);
/* CPU nanoseconds that a process has used. */
uint64_t bench_cpu(pid_t pid);
/* Resident bytes that are its own (RssAnon and RssShmem of /proc/PID/status), and all (VmRSS).
 */
uint64_t bench_rss(pid_t pid);

/*
 * The real broker, detached, in a folder below $BENCH_DIR (default /dev/shm).
 * store: "none" or "sqlite".
 */
void bench_broker(struct bench_server *s, const char *store);
/*
 * A server on raw libevent events that answers each 300-byte frame with one of
 * reply_len bytes. log_fd >= 0: it appends a row to it for each and syncs once for each
 * turn of the loop, before the answers go out.
 */
void bench_echo(struct bench_server *s, size_t reply_len, bool log);
void bench_end(struct bench_server *s);

struct bench_run {
	double p50_us; /* of one call, with one connection */
	double cpu_us; /* of the server, for one call */
	double per_s;
	uint64_t calls;
};

enum bench_kind {
	BENCH_ECHO,    /* frames as they are */
	BENCH_REQUEST, /* hello, then `request` of a Read inside the workspace */
};

/*
 * Runs in a child (an agent may not stand above the broker): connections of which each
 * keeps one call outstanding, until `calls` were answered.
 */
void bench_load(const struct bench_server *s, enum bench_kind kind, unsigned connections,
	uint64_t calls, struct bench_run *out);
/* The same of n processes with a connection each, as agents are; p50_us is not measured. */
void bench_processes(const struct bench_server *s, enum bench_kind kind, unsigned n,
	uint64_t calls, struct bench_run *out);
/* The length of an answer of the broker to bench_load's request, for the baselines. */
size_t bench_reply_len(void);

#endif
