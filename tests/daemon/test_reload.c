/* SPDX-License-Identifier: MIT */
/* Signals: the configuration is read again, and the broker ends cleanly. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

/* How many calls were denied since nobody could be asked. */
static uint64_t denied(struct raw *f)
{
	struct wire_frame reply;
	struct wire_open m;
	struct bytes d, n;
	struct wire_value v;

	wire_map_open(&m, raw_call(f, "stats"));
	wire_close(&m);
	reply = raw_reply(f, raw_send(f));
	d = raw_member(reply.result, "decisions");
	n = raw_member(d, "deny.broker");
	if (!n.data)
		return 0;
	ck_assert_int_eq(wire_read(&n, &v), 0);
	return v.u64;
}

static void reload(struct broker *b)
{
	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b->pidfd, SIGHUP, NULL, 0), 0);
}

/* An agent asks in a child; the answer comes at once, or the child goes on waiting and is
 * ended. */
static pid_t agent(const struct broker *b)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct raw r;

		raw_connect(&r, b->agent);
		raw_hello_agent(&r, "a");
		raw_reply(&r, raw_request(&r, "c", "Frobnicate", "x"));
		_exit(0);
	}
	return pid;
}

START_TEST(configuration)
{
	struct broker b;
	struct raw f;

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "observer");
	{
		struct wire_open m;

		wire_map_open(&m, raw_call(&f, "subscribe"));
		wire_close(&m);
		raw_reply(&f, raw_send(&f));
	}
	agent(&b);
	raw_notification(&f, "offered");
	ck_assert_uint_eq(denied(&f), 0);
	/* a bad file: the old configuration stays, and what waits goes on waiting */
	broker_configure(&b, "[broker]\nheadless = perhaps\n");
	reload(&b);
	ck_assert_uint_eq(denied(&f), 0);
	/* a good one: nobody will answer, so it is denied */
	broker_configure(&b, "[broker]\nheadless = yes\n");
	reload(&b);
	raw_notification(&f, "resolved");
	ck_assert_uint_eq(denied(&f), 1);
	raw_close(&f);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

/* What waited is pending again after an end that was asked for, and the sockets are gone. */
START_TEST(termination)
{
	struct wire_frame reply;
	struct broker b;
	struct wire_open m;
	struct raw f;
	pid_t pid;

	broker_init(&b);
	broker_start(&b, NULL);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "human");
	wire_map_open(&m, raw_call(&f, "subscribe"));
	wire_close(&m);
	raw_reply(&f, raw_send(&f));
	pid = agent(&b);
	raw_notification(&f, "offered");
	/* so that it can't come back, and does not die either */
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	broker_stop(&b);
	ck_assert_int_ne(access(b.agent, F_OK), 0);
	ck_assert_int_ne(access(b.frontend, F_OK), 0);
	raw_close(&f);
	broker_start(&b, NULL);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "human");
	wire_map_open(&m, raw_call(&f, "list"));
	wire_close(&m);
	reply = raw_reply(&f, raw_send(&f));
	{
		struct bytes item;
		struct wire_iter it;

		ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "items")), 0);
		ck_assert(wire_array_next(&it, &item));
		ck_assert(bytes_is(raw_text(item, "state"), "AWAITING"));
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	raw_close(&f);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

static int socket_listening(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 10); /* out of the way of the inherited numbers */
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	return fd;
}

/* A client may connect before the broker is there; its sockets outlive the broker. */
START_TEST(activation)
{
	struct wire_frame reply;
	struct wire_open m;
	struct broker b;
	struct raw f;
	int fds[2], fill[8];

	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_ge(fill[i] = fcntl(0, F_DUPFD_CLOEXEC, 3), 0);
	broker_init(&b);
	snprintf(b.agent, sizeof(b.agent), "%s/agent.sock", b.dir);
	snprintf(b.frontend, sizeof(b.frontend), "%s/frontend.sock", b.dir);
	fds[0] = socket_listening(b.agent);
	fds[1] = socket_listening(b.frontend);
	b.listening = fds;
	raw_connect(&f, b.frontend);
	for (unsigned i = 0; i < 2; i++) {
		broker_start(&b, NULL);
		if (i) /* the first one connected before there was a broker */
			raw_connect(&f, b.frontend);
		ck_assert(!raw_hello_frontend(&f, "human").error.data);
		wire_map_open(&m, raw_call(&f, "list"));
		wire_close(&m);
		reply = raw_reply(&f, raw_send(&f));
		ck_assert(!reply.error.data);
		raw_close(&f);
		broker_stop(&b);
		ck_assert_int_eq(access(b.agent, F_OK), 0);
		ck_assert_int_eq(access(b.frontend, F_OK), 0);
	}
	for (unsigned i = 0; i < 8; i++)
		close(fill[i]);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("signals");
	TCase *t = tcase_create("signals");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, configuration);
	tcase_add_test(t, termination);
	tcase_add_test(t, activation);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
