/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/unit/test_lib_peer.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"

int64_t peer_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void peer_listen(struct peer *p)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	unlink(p->path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->path);
	p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(p->listener, 0);
	ck_assert_int_eq(bind(p->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(p->listener, 16), 0);
}

void peer_open(struct peer *p, enum approval_side side)
{
	memset(p, 0, sizeof(*p));
	p->side = side;
	p->fd = p->passed_fd = -1;
	p->epoch = "first";
	p->in = malloc(PEER_INPUT);
	ck_assert_ptr_nonnull(p->in);
	snprintf(p->folder, sizeof(p->folder), "/tmp/lib-peer-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(p->folder));
	snprintf(p->path, sizeof(p->path), "%s/sock", p->folder);
	peer_listen(p);
}

void peer_hang_up(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->in_len = 0;
}

void peer_stop(struct peer *p)
{
	if (p->listener >= 0)
		close(p->listener);
	p->listener = -1;
	unlink(p->path);
}

void peer_close(struct peer *p)
{
	peer_hang_up(p);
	peer_stop(p);
	if (p->passed_fd >= 0)
		close(p->passed_fd);
	approval_value_free(p->params);
	free(p->in);
	ck_assert_int_eq(rmdir(p->folder), 0);
}

struct approval_options peer_options(const struct peer *p)
{
	struct approval_options o;

	approval_options_init(&o, p->side);
	o.socket = p->path;
	o.client = "test 1";
	o.agent = "tester";
	/* the broker of a test is the test itself */
	o.trust_socket = true;
	o.retry_ms = PEER_PATIENCE_MS;
	return o;
}

struct approval *peer_client(const struct peer *p)
{
	struct approval_options o = peer_options(p);
	struct approval *a;

	ck_assert_int_eq(approval_new(&a, &o), 0);
	return a;
}

/* One turn of a foreign loop: our descriptor beside the client's. */
static bool wait_turn(int fd, short events, struct approval *a, int64_t end)
{
	struct pollfd set[2] = {{.fd = fd, .events = events}, {.fd = -1}};
	int64_t left = end - peer_now(), wait = left;

	if (left <= 0)
		return false;
	if (a) {
		int64_t timeout = approval_timeout(a);

		set[1] = (struct pollfd){.fd = approval_fd(a), .events = approval_events(a)};
		if (timeout >= 0 && timeout < wait)
			wait = timeout;
	}
	ck_assert(poll(set, 2, (int)wait) >= 0 || errno == EINTR);
	if (a)
		approval_dispatch(a);
	return true;
}

void peer_run(struct approval *a, const bool *done)
{
	int64_t end = peer_now() + PEER_PATIENCE_MS;

	approval_dispatch(a);
	while (!*done)
		ck_assert_msg(wait_turn(-1, 0, a, end), "the client did nothing");
}

void peer_accept(struct peer *p, struct approval *a)
{
	int64_t end = peer_now() + PEER_PATIENCE_MS;

	peer_hang_up(p);
	if (a)
		approval_dispatch(a);
	while ((p->fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0) {
		ck_assert_int_eq(errno, EAGAIN);
		ck_assert_msg(wait_turn(p->listener, POLLIN, a, end), "nobody connects");
	}
}

/* Bytes; 0: nothing yet; -1: the end. */
static int receive(struct peer *p)
{
	struct iovec iov = {p->in + p->in_len, PEER_INPUT - p->in_len};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *c;
	ssize_t n = recvmsg(p->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		if (p->passed_fd >= 0)
			close(p->passed_fd);
		memcpy(&p->passed_fd, CMSG_DATA(c), sizeof(int));
	}
	p->in_len += (size_t)n;
	return (int)n;
}

static bool take_call(struct peer *p)
{
	struct wire_scan scan;
	struct wire_frame f;
	size_t used;
	int rc;

	wire_scan_init(&scan);
	rc = wire_scan_feed(&scan, p->in, p->in_len, &used);
	ck_assert_int_ge(rc, 0);
	if (rc != WIRE_SCAN_DONE)
		return false;
	ck_assert_int_eq(wire_frame_decode((struct bytes){p->in, used}, &f), 0);
	ck_assert_int_eq(f.type, WIRE_CALL);
	p->id = f.id;
	snprintf(p->method, sizeof(p->method), "%.*s", (int)f.method.len,
		(const char *)f.method.data);
	approval_value_free(p->params);
	ck_assert_int_eq(approval_value_parse(f.params.data, f.params.len, &p->params), 0);
	p->in_len -= used;
	memmove(p->in, p->in + used, p->in_len);
	return true;
}

bool peer_take(struct peer *p)
{
	return take_call(p) || (receive(p) > 0 && take_call(p));
}

void peer_page(struct peer *p)
{
	struct wire_buffer b;
	struct wire_open map;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, p->id);
	wire_map_open(&map, &b);
	wire_map_strz(&map, "epoch", p->epoch);
	wire_map_raw(&map, "items", (struct bytes){"\x90", 1});
	wire_map_bool(&map, "more", false);
	wire_close(&map);
	peer_send_buffer(p, NULL, &b);
}

void peer_expect(struct peer *p, struct approval *a, const char *method)
{
	int64_t end = peer_now() + PEER_PATIENCE_MS;

	if (a)
		approval_dispatch(a);
	while (!take_call(p)) {
		int n = receive(p);

		ck_assert_msg(n >= 0, "the client hung up before %s", method);
		if (n == 0)
			ck_assert_msg(wait_turn(p->fd, POLLIN, a, end), "no %s came", method);
	}
	ck_assert_str_eq(p->method, method);
}

void peer_expect_nothing(struct peer *p, struct approval *a)
{
	if (a)
		approval_dispatch(a);
	ck_assert_int_eq(p->in_len, 0);
	ck_assert_int_eq(receive(p), 0);
}

void peer_expect_end(struct peer *p, struct approval *a)
{
	int64_t end = peer_now() + PEER_PATIENCE_MS;
	int n;

	while ((n = receive(p)) >= 0) {
		p->in_len = 0;
		if (n == 0)
			ck_assert_msg(wait_turn(p->fd, POLLIN, a, end), "the client stays");
	}
	peer_hang_up(p);
}

void peer_send(struct peer *p, struct approval *a, const void *data, size_t len)
{
	const char *s = data;
	int64_t end = peer_now() + PEER_PATIENCE_MS;

	while (len) {
		ssize_t n = send(p->fd, s, p->trickle ? 1 : len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0) {
			if (errno == EPIPE)
				return; /* the client has had enough, and the test will see it
					 */
			ck_assert_int_eq(errno, EAGAIN);
			ck_assert(wait_turn(p->fd, POLLOUT, a, end));
			continue;
		}
		s += n;
		len -= (size_t)n;
		if (p->trickle && a)
			approval_dispatch(a);
	}
}

void peer_send_buffer(struct peer *p, struct approval *a, struct wire_buffer *b)
{
	ck_assert_int_eq(b->error, 0);
	peer_send(p, a, b->data, b->len);
	wire_buffer_free(b);
}

static void pack_pairs(struct wire_buffer *b, va_list args)
{
	struct wire_open map;
	const char *key;

	wire_map_open(&map, b);
	while ((key = va_arg(args, const char *)) != NULL)
		wire_map_strz(&map, key, va_arg(args, const char *));
	wire_close(&map);
}

void peer_reply(struct peer *p, struct approval *a, uint32_t id, ...)
{
	struct wire_buffer b;
	va_list args;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, id);
	va_start(args, id);
	pack_pairs(&b, args);
	va_end(args);
	peer_send_buffer(p, a, &b);
}

void peer_notify(struct peer *p, struct approval *a, const char *method, ...)
{
	struct wire_buffer b;
	va_list args;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_notify(&b, bytes_of(method));
	va_start(args, method);
	pack_pairs(&b, args);
	va_end(args);
	peer_send_buffer(p, a, &b);
}

void peer_event(struct peer *p, struct approval *a, const char *method, const char *name)
{
	struct wire_buffer b;
	struct wire_open map, item;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_notify(&b, bytes_of(method));
	wire_map_open(&map, &b);
	wire_map_strz(&map, "epoch", p->epoch);
	wire_map_u64(&map, "seq", ++p->seq);
	wire_map_key(&map, "item");
	wire_map_open(&item, &b);
	wire_map_strz(&item, "name", name);
	wire_close(&item);
	wire_close(&map);
	peer_send_buffer(p, a, &b);
}

void peer_error(struct peer *p, struct approval *a, uint32_t id, enum wire_code code,
	const char *message)
{
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_error(&b, id, code, message, "limit", bytes_of("a thing"));
	peer_send_buffer(p, a, &b);
}

void peer_verdict(struct peer *p, struct approval *a, uint32_t id, const char *tool_call_id,
	const char *verdict)
{
	static const uint8_t digest[WIRE_DIGEST] = {0xd1};
	bool allow = strcmp(verdict, "allow") == 0;
	struct wire_request_reply r = {
		.request = bytes_of("req_1"),
		.tool_call_id = bytes_of(tool_call_id),
		.turn = bytes_of("turn_1"),
		.verdict = bytes_of(verdict),
		.source = bytes_of("user"),
		.scope = bytes_of("once"),
		.step = bytes_of("human"),
		.state = bytes_of(allow ? "ALLOWED" : "DENIED"),
		.reason = bytes_of("because"),
		.message = bytes_of(allow ? "" : "not performed"),
		.digest = {digest, sizeof(digest)},
	};
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, id);
	wire_encode(&wire_request_reply_spec, &r, &b);
	peer_send_buffer(p, a, &b);
}

void peer_welcome(struct peer *p, struct approval *a)
{
	static const uint8_t empty_array = 0x90;
	struct wire_buffer b;

	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_reply_ok(&b, p->id);
	if (p->side == APPROVAL_AGENT) {
		struct wire_agent_hello_reply r = {
			.protocol = APPROVAL_PROTOCOL,
			.broker = bytes_of("peer"),
			.epoch = bytes_of(p->epoch),
			.session = bytes_of("ses_1"),
			.agent_session = bytes_of("made-by-the-broker"),
			.mode = bytes_of("normal"),
			.ceiling = bytes_of("normal"),
			.pending = {&empty_array, 1},
		};

		if (*peer_param(p, "session"))
			r.agent_session = bytes_of(peer_param(p, "session"));
		wire_encode(&wire_agent_hello_reply_spec, &r, &b);
	} else {
		struct wire_frontend_hello_reply r = {
			.protocol = APPROVAL_PROTOCOL,
			.broker = bytes_of("peer"),
			.epoch = bytes_of(p->epoch),
			.frontend = bytes_of("f1"),
			.uid = getuid(),
		};

		wire_encode(&wire_frontend_hello_reply_spec, &r, &b);
	}
	p->seq = 0;
	peer_send_buffer(p, a, &b);
}

void peer_greet(struct peer *p, struct approval *a)
{
	peer_accept(p, a);
	peer_expect(p, a, "hello");
	peer_welcome(p, a);
}

const char *peer_param(const struct peer *p, const char *key)
{
	return approval_value_text(p->params, key);
}
