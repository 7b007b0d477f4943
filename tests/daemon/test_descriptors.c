/* SPDX-License-Identifier: MIT */
/*
 * Descriptors whose close takes as long as their sender likes, here sockets that linger:
 * the broker goes on, wherever in a connection's life they come.
 */
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define LINGER	60 /* seconds that a close of one takes */
#define MUCH	10 /* seconds in which the broker has done everything */
#define FDS_MAX 200u

static struct broker b;
static struct raw watcher;

/* A connection with bytes that its other end never reads. Nobody but the caller has it. */
static int lingering(void)
{
	static const char bytes[65536];
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger linger = {1, LINGER};
	socklen_t len = sizeof(a);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert(listening >= 0 && fd >= 0);
	ck_assert_int_eq(bind(listening, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listening, 1), 0);
	ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&a, &len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_ge(accept(listening, NULL, NULL), 0); /* stays open until the test ends */
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return fd;
}

static void *close_run(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

/* The broker may have closed its own before, and this one is what lingers. */
static void close_aside(int fd)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, close_run, (void *)(intptr_t)fd), 0);
	pthread_detach(thread);
}

static void send_fds(int to, struct bytes bytes, int fd, unsigned n)
{
	union {
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t)bytes.data, bytes.len};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (unsigned i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	/* fails when the broker has seen enough already */
	sendmsg(to, &msg, MSG_NOSIGNAL);
	close_aside(fd);
}

static struct bytes hello(struct raw *r, bool subject)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_bool(&m, "subject", subject);
	wire_close(&m);
	return (struct bytes){r->out.data, r->out.len};
}

static void with_a_part_of_hello(struct raw *r)
{
	raw_connect(r, b.agent);
	send_fds(r->fd, (struct bytes){hello(r, true).data, 5}, lingering(), 1);
}

static void as_the_subject(struct raw *r)
{
	raw_connect(r, b.agent);
	send_fds(r->fd, hello(r, true), lingering(), 1);
}

static void more_than_are_taken(struct raw *r)
{
	raw_connect(r, b.agent);
	send_fds(r->fd, hello(r, false), lingering(), FDS_MAX);
}

static void unread_at_the_end(struct raw *r)
{
	raw_connect(r, b.agent);
	/* ends the connection, perhaps before the next is read */
	send_fds(r->fd, bytes_of("\xc1 is no message"), lingering(), 1);
	while (send(r->fd, "more", 4, MSG_NOSIGNAL) == 4)
		;
}

static void unread_behind_it(struct raw *r)
{
	static char more[256u << 10];

	memset(more, 0xc1, sizeof(more));
	raw_connect(r, b.frontend);
	/* one read takes less; the descriptor is in the rest */
	ck_assert_int_gt(send(r->fd, more, 100u << 10, MSG_DONTWAIT), 70000);
	send_fds(r->fd, bytes_of("more"), lingering(), 1);
}

static void to_a_frontend(struct raw *r)
{
	raw_connect(r, b.frontend);
	ck_assert(!raw_hello_frontend(r, "human").error.data);
	send_fds(r->fd, hello(r, false), lingering(), 1);
}

static void in_a_socket(struct raw *r)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	send_fds(pair[0], bytes_of("x"), lingering(), 1);
	close(pair[0]);
	raw_connect(r, b.agent);
	send_fds(r->fd, hello(r, true), pair[1], 1);
}

static void (*const ways[])(struct raw *r) = {with_a_part_of_hello, as_the_subject,
	more_than_are_taken, unread_at_the_end, unread_behind_it, to_a_frontend, in_a_socket};

static uint64_t connections(void)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(&watcher, "stats"));
	wire_close(&m);
	return raw_uint(raw_reply(&watcher, raw_send(&watcher)).result, "connections");
}

START_TEST(nobody_waits)
{
	struct timespec from, now;
	struct raw r;

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&watcher, b.frontend);
	raw_hello_frontend(&watcher, "human");
	clock_gettime(CLOCK_MONOTONIC, &from);
	ways[_i](&r);
	raw_close(&r);
	while (connections() > 1)
		;
	clock_gettime(CLOCK_MONOTONIC, &now);
	ck_assert_int_lt(now.tv_sec - from.tv_sec, MUCH);
	raw_close(&watcher);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

/* However many hang: when no more threads are risked, the descriptors stay. */
START_TEST(nobody_waits_for_many)
{
	struct timespec from, now;
	struct raw r;

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&watcher, b.frontend);
	raw_hello_frontend(&watcher, "human");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (unsigned i = 0; i < 60; i++) {
		with_a_part_of_hello(&r);
		raw_close(&r);
		while (connections() > 1)
			;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	ck_assert_int_lt(now.tv_sec - from.tv_sec, MUCH);
	raw_close(&watcher);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

/* Of more connections than are taken, with a descriptor each, none is left. */
START_TEST(nothing_is_left)
{
	struct pollfd end = {.events = POLLIN};
	int pipes[2];

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&watcher, b.frontend);
	raw_hello_frontend(&watcher, "human");
	ck_assert_int_eq(pipe(pipes), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct raw r;

		raw_connect(&r, b.frontend);
		send_fds(r.fd, bytes_of("\xc1"), dup(pipes[1]), 1);
		raw_close(&r);
	}
	close(pipes[1]);
	end.fd = pipes[0];
	while (poll(&end, 1, 0) == 0)
		connections();
	ck_assert(end.revents & POLLHUP);
	close(pipes[0]);
	raw_close(&watcher);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("descriptors of others");
	TCase *t = tcase_create("descriptors");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, nobody_waits, 0, (int)(sizeof(ways) / sizeof(*ways)));
	tcase_add_test(t, nobody_waits_for_many);
	tcase_add_test(t, nothing_is_left);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
