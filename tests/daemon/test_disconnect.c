/* SPDX-License-Identifier: MIT */
/*
 * Clients that go, dawdle, never read or send rubbish: only their own connection
 * ends, and nothing of theirs is left in the broker.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static struct raw watcher; /* a frontend that stays, and is never disturbed */

static void setup(void)
{
	broker_init(&b);
	broker_configure(&b, "[broker]\ngrace = 1ms\n");
	broker_start(&b, NULL);
	raw_connect(&watcher, b.frontend);
	raw_hello_frontend(&watcher, "human");
}

static void teardown(void)
{
	raw_close(&watcher);
	broker_stop(&b);
	broker_fini(&b);
}

static struct bytes stats(void)
{
	struct wire_buffer *buf = raw_call(&watcher, "stats");
	struct wire_open m;

	wire_map_open(&m, buf);
	wire_close(&m);
	return raw_reply(&watcher, raw_send(&watcher)).result;
}

/*
 * Until nothing but the watcher is left. Each question is answered after one more turn
 * of the broker's loop, so this waits for events, not for time; the test's own time
 * limit bounds it.
 */
static void nothing_left(void)
{
	for (;;) {
		struct bytes s = stats();

		if (raw_uint(s, "connections") == 1 && raw_uint(s, "pending") == 0 &&
			raw_uint(s, "sessions") == 0)
			return;
	}
}

/* Runs in a child, since an agent may not stand above the broker's frontend. */
static void in_child(void (*fn)(unsigned n), unsigned n)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(watcher.fd);
		fn(n);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}

/* ---- an agent that goes ---- */

static void pack_hello(struct raw *r)
{
	struct wire_buffer *buf = raw_call(r, "hello");
	struct wire_open m;

	wire_map_open(&m, buf);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "session", "s");
	wire_close(&m);
}

static void pack_request(struct raw *r)
{
	struct wire_buffer *buf = raw_call(r, "request");
	struct wire_open m;

	wire_map_open(&m, buf);
	wire_map_strz(&m, "tool_call_id", "c");
	wire_map_strz(&m, "tool", "Frobnicate");
	wire_map_key(&m, "input");
	wire_pack_map(buf, 0);
	wire_close(&m);
}

static void agent_goes_after(unsigned n)
{
	struct raw r;

	raw_connect(&r, b.agent);
	if (n >= 1) {
		pack_hello(&r);
		raw_reply(&r, raw_send(&r));
	}
	if (n >= 2) {
		pack_request(&r);
		raw_send(&r);
	}
	if (n >= 3)
		raw_notification(&r, "request_state"); /* it is offered */
	raw_close(&r);
}

START_TEST(agent_at_each_boundary)
{
	for (unsigned n = 0; n <= 3; n++) {
		in_child(agent_goes_after, n);
		nothing_left();
	}
}
END_TEST

static void agent_goes_at_byte(unsigned n)
{
	struct raw r;

	raw_connect(&r, b.agent);
	pack_hello(&r);
	raw_reply(&r, raw_send(&r));
	pack_request(&r);
	ck_assert_uint_le(n, r.out.len);
	ck_assert_int_eq(send(r.fd, r.out.data, n, MSG_NOSIGNAL), (ssize_t)n);
	raw_close(&r);
}

START_TEST(agent_at_each_byte)
{
	struct raw r = {.fd = -1};

	wire_buffer_init(&r.out, LIMIT_FRAME);
	pack_request(&r);
	for (unsigned n = 0; n <= r.out.len; n++) {
		in_child(agent_goes_at_byte, n);
		nothing_left();
	}
	wire_buffer_free(&r.out);
}
END_TEST

/* ---- a frontend that goes ---- */

START_TEST(frontend_at_each_byte)
{
	struct raw r;
	size_t len;

	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	len = r.out.len;
	raw_close(&r);
	for (size_t n = 0; n <= len; n++) {
		struct wire_buffer *buf;
		struct wire_open m;

		raw_connect(&r, b.frontend);
		buf = raw_call(&r, "hello");
		wire_map_open(&m, buf);
		wire_map_u64(&m, "protocol", 1);
		wire_map_strz(&m, "client", "test");
		wire_map_strz(&m, "role", "human");
		wire_map_strz(&m, "name", "human");
		wire_close(&m);
		ck_assert_uint_eq(buf->len, len);
		ck_assert_int_eq(send(r.fd, buf->data, n, MSG_NOSIGNAL), (ssize_t)n);
		raw_close(&r);
		nothing_left();
	}
}
END_TEST

/* ---- slow ones ---- */

static void one_byte_at_a_time(unsigned n)
{
	struct raw r;

	(void)n;
	raw_connect(&r, b.agent);
	pack_hello(&r);
	for (size_t i = 0; i < r.out.len; i++)
		ck_assert_int_eq(send(r.fd, r.out.data + i, 1, MSG_NOSIGNAL), 1);
	ck_assert(!raw_reply(&r, r.id).error.data);
	raw_close(&r);
}

START_TEST(byte_by_byte)
{
	in_child(one_byte_at_a_time, 0);
	nothing_left();
}
END_TEST

/* It asks and asks and never reads: closed when its bounded output is full. */
START_TEST(never_reads)
{
	struct raw r;
	ssize_t n = 1;

	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	while (n > 0) {
		struct wire_buffer *buf = raw_call(&r, "stats");
		struct wire_open m;

		wire_map_open(&m, buf);
		wire_close(&m);
		n = send(r.fd, buf->data, buf->len, MSG_NOSIGNAL);
		stats(); /* the other one is answered all the while */
	}
	ck_assert(errno == EPIPE || errno == ECONNRESET);
	raw_close(&r);
	nothing_left();
	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	raw_close(&r);
	nothing_left();
}
END_TEST

/* ---- rubbish ---- */

static void ends_connection(const void *data, size_t len)
{
	const char *paths[] = {b.agent, b.frontend};

	for (unsigned i = 0; i < 2; i++) {
		struct wire_frame f;
		struct raw r;

		raw_connect(&r, paths[i]);
		/* the broker may close before all is sent */
		for (size_t at = 0; at < len;) {
			ssize_t n = send(r.fd, (const char *)data + at, len - at, MSG_NOSIGNAL);

			if (n <= 0)
				break;
			at += (size_t)n;
		}
		ck_assert_int_eq(raw_next_or_end(&r, &f), 0);
		raw_close(&r);
		nothing_left();
	}
}

START_TEST(garbage)
{
	uint8_t deep[LIMIT_DEPTH + 2];

	ends_connection("\xc1", 1);
	ends_connection("GET / HTTP/1.0\r\n\r\n", 18);
	ends_connection("\x93\x05\x01\xc0", 4); /* no such type of message */
	ends_connection("\xdd\xff\xff\xff\xff", 5);
	ends_connection("\x94\x00\x01\xdb\x7f\xff\xff\xff", 8);
	memset(deep, 0x91, sizeof(deep));
	ends_connection(deep, sizeof(deep));
}
END_TEST

START_TEST(frame_too_large)
{
	size_t len = LIMIT_FRAME + 16;
	uint8_t *data = malloc(len);

	ck_assert_ptr_nonnull(data);
	memset(data, 'x', len);
	/* a call whose method would be of one byte more than a frame may have */
	memcpy(data, "\x94\x00\x01\xdb", 4);
	data[4] = (uint8_t)((LIMIT_FRAME - 7) >> 24);
	data[5] = (uint8_t)((LIMIT_FRAME - 7) >> 16);
	data[6] = (uint8_t)((LIMIT_FRAME - 7) >> 8);
	data[7] = (uint8_t)(LIMIT_FRAME - 7);
	ends_connection(data, len);
	free(data);
}
END_TEST

/* More values than a message may have. */
START_TEST(too_many_elements)
{
	static const uint8_t head[] = "\x94\x00\x01\xa5stats\xdd";
	const uint32_t n = LIMIT_ELEMENTS;
	size_t len = sizeof(head) - 1;
	uint8_t *data = malloc(len + 4 + n);

	ck_assert_ptr_nonnull(data);
	memcpy(data, head, len);
	for (int shift = 24; shift >= 0; shift -= 8)
		data[len++] = (uint8_t)(n >> shift);
	memset(data + len, 0xc0, n);
	ends_connection(data, len + n);
	free(data);
}
END_TEST

/* A text of one byte too many is an error; the connection lives. */
START_TEST(text_too_long)
{
	static char text[LIMIT_NAME + 1];
	struct wire_buffer *buf;
	struct wire_frame f;
	struct wire_open m;
	struct raw r;

	memset(text, 'x', sizeof(text));
	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	for (unsigned over = 0; over < 2; over++) {
		buf = raw_call(&r, "get");
		wire_map_open(&m, buf);
		wire_map_str(&m, "id", (struct bytes){text, LIMIT_NAME + over});
		wire_close(&m);
		f = raw_reply(&r, raw_send(&r));
		ck_assert(bytes_is(raw_text(f.error, "code"), over ? "invalid" : "not_found"));
	}
	raw_close(&r);
	nothing_left();
}
END_TEST

/* A descriptor where none is taken is closed; the message counts all the same. */
START_TEST(descriptor_closed)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov;
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct wire_open m;
	struct raw r;
	char byte;
	int p[2];

	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	ck_assert_int_eq(pipe(p), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &p[1], sizeof(int));
	wire_map_open(&m, raw_call(&r, "stats"));
	wire_close(&m);
	iov = (struct iovec){r.out.data, r.out.len};
	ck_assert_int_eq(sendmsg(r.fd, &msg, 0), (ssize_t)r.out.len);
	close(p[1]);
	ck_assert(!raw_reply(&r, r.id).error.data);
	/* nobody holds the other end of the pipe any more */
	ck_assert_int_eq(read(p[0], &byte, 1), 0);
	close(p[0]);
	raw_close(&r);
	nothing_left();
}
END_TEST

static void half_close(unsigned n)
{
	struct wire_frame f;
	struct raw r;

	(void)n;
	raw_connect(&r, b.agent);
	pack_hello(&r);
	raw_reply(&r, raw_send(&r));
	pack_request(&r);
	raw_send(&r);
	raw_notification(&r, "request_state");
	ck_assert_int_eq(shutdown(r.fd, SHUT_WR), 0);
	/* whoever can't be told any more is gone */
	while (raw_next_or_end(&r, &f))
		;
	raw_close(&r);
}

START_TEST(half_closed)
{
	in_child(half_close, 0);
	nothing_left();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clients that go");
	TCase *t = tcase_create("disconnect");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, agent_at_each_boundary);
	tcase_add_test(t, agent_at_each_byte);
	tcase_add_test(t, frontend_at_each_byte);
	tcase_add_test(t, byte_by_byte);
	tcase_add_test(t, never_reads);
	tcase_add_test(t, garbage);
	tcase_add_test(t, frame_too_large);
	tcase_add_test(t, too_many_elements);
	tcase_add_test(t, text_too_long);
	tcase_add_test(t, descriptor_closed);
	tcase_add_test(t, half_closed);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
