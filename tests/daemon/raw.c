/* SPDX-License-Identifier: MIT */
#include "tests/daemon/raw.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MS 60000

void raw_connect(struct raw *r, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	memset(r, 0, sizeof(*r));
	wire_buffer_init(&r->out, SIZE_MAX / 2);
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(r->fd, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	ck_assert_msg(connect(r->fd, (struct sockaddr *)&a, sizeof(a)) == 0, "%s: %s", path,
		strerror(errno));
}

void raw_close(struct raw *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	free(r->data);
	r->data = NULL;
	wire_buffer_free(&r->out);
}

struct wire_buffer *raw_call(struct raw *r, const char *method)
{
	wire_buffer_reset(&r->out, 1 << 20);
	wire_pack_call(&r->out, ++r->id, bytes_of(method));
	return &r->out;
}

uint32_t raw_send(struct raw *r)
{
	size_t at = 0;

	ck_assert_int_eq(r->out.error, 0);
	while (at < r->out.len) {
		ssize_t n = send(r->fd, r->out.data + at, r->out.len - at, MSG_NOSIGNAL);

		ck_assert_msg(n > 0, "send: %s", strerror(errno));
		at += (size_t)n;
	}
	return r->id;
}

/* 1 when a whole message is at the front, 0 at the end of the stream. */
static int fill(struct raw *r, size_t *len)
{
	for (;;) {
		struct pollfd p = {.fd = r->fd, .events = POLLIN};
		struct wire_scan scan;
		ssize_t n;

		wire_scan_init(&scan);
		if (r->len > r->taken) {
			int v = wire_scan_feed(
				&scan, r->data + r->taken, r->len - r->taken, len);

			ck_assert_int_ge(v, 0);
			if (v == WIRE_SCAN_DONE)
				return 1;
		}
		if (r->taken) {
			memmove(r->data, r->data + r->taken, r->len - r->taken);
			r->len -= r->taken;
			r->taken = 0;
		}
		if (r->cap - r->len < 65536) {
			r->cap = r->cap ? r->cap * 2 : 131072;
			r->data = realloc(r->data, r->cap);
			ck_assert_ptr_nonnull(r->data);
		}
		ck_assert_msg(poll(&p, 1, WAIT_MS) == 1, "nothing came from the broker");
		n = recv(r->fd, r->data + r->len, r->cap - r->len, 0);
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return 0;
		ck_assert_msg(n > 0, "recv: %s", strerror(errno));
		r->len += (size_t)n;
	}
}

int raw_next_or_end(struct raw *r, struct wire_frame *f)
{
	size_t len = 0;

	if (!fill(r, &len))
		return 0;
	ck_assert_int_eq(wire_frame_decode((struct bytes){r->data + r->taken, len}, f), 0);
	r->taken += len;
	return 1;
}

struct wire_frame raw_next(struct raw *r)
{
	struct wire_frame f = {0};

	ck_assert_msg(raw_next_or_end(r, &f) == 1, "the broker closed the connection");
	return f;
}

struct wire_frame raw_reply(struct raw *r, uint32_t id)
{
	struct wire_frame f;

	do
		f = raw_next(r);
	while (f.type != WIRE_REPLY || f.id != id);
	return f;
}

struct wire_frame raw_notification(struct raw *r, const char *name)
{
	struct wire_frame f;

	do
		f = raw_next(r);
	while (f.type != WIRE_NOTIFY || !bytes_is(f.method, name));
	return f;
}

struct bytes raw_member(struct bytes map, const char *key)
{
	struct bytes k, v, name;
	struct wire_iter it;

	if (wire_iter_map(&it, map) == 0)
		while (wire_map_next(&it, &k, &v))
			if (wire_text(k, &name) == 0 && bytes_is(name, key))
				return v;
	return (struct bytes){NULL, 0};
}

struct bytes raw_text(struct bytes map, const char *key)
{
	struct bytes v = raw_member(map, key), text;

	if (!v.data || wire_text(v, &text) != 0)
		return (struct bytes){NULL, 0};
	return text;
}

uint64_t raw_uint(struct bytes map, const char *key)
{
	struct bytes v = raw_member(map, key);
	struct wire_value value;

	ck_assert_ptr_nonnull(v.data);
	ck_assert_int_eq(wire_read(&v, &value), 0);
	ck_assert_int_eq(value.kind, WIRE_KIND_UINT);
	return value.u64;
}

struct wire_frame raw_hello_agent(struct raw *r, const char *key)
{
	struct wire_buffer *b = raw_call(r, "hello");
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "agent", "test");
	wire_map_strz(&m, "session", key);
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

struct wire_frame raw_hello_frontend(struct raw *r, const char *role)
{
	struct wire_buffer *b = raw_call(r, "hello");
	struct wire_open m;

	wire_map_open(&m, b);
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "role", role);
	wire_map_strz(&m, "name", role);
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

uint32_t raw_request(struct raw *r, const char *call, const char *tool, const char *text)
{
	struct wire_buffer *b = raw_call(r, "request");
	struct wire_open m, i;

	wire_map_open(&m, b);
	wire_map_strz(&m, "tool_call_id", call);
	wire_map_strz(&m, "tool", tool);
	wire_map_key(&m, "input");
	wire_map_open(&i, b);
	wire_map_strz(&i, "x", text);
	wire_close(&i);
	wire_close(&m);
	return raw_send(r);
}

uint32_t raw_decide(
	struct raw *r, struct bytes request, struct bytes digest, const char *verdict)
{
	struct wire_buffer *b = raw_call(r, "decide");
	struct wire_open m, a, d;

	wire_map_open(&m, b);
	wire_map_key(&m, "decisions");
	wire_array_open(&a, b);
	wire_array_item(&a);
	wire_map_open(&d, b);
	wire_map_str(&d, "request", request);
	wire_map_bin(&d, "digest", digest);
	wire_map_strz(&d, "verdict", verdict);
	wire_close(&d);
	wire_close(&a);
	wire_close(&m);
	return raw_send(r);
}

bool raw_pages_next(struct raw_pages *p, struct bytes *result, struct wire_iter *items)
{
	struct wire_frame reply;
	struct wire_open m;
	struct wire_value more;
	struct bytes v;

	if (p->last)
		return false;
	wire_map_open(&m, raw_call(p->r, p->method));
	if (p->limit)
		wire_map_u64(&m, "limit", p->limit);
	if (p->len)
		wire_map_bin(&m, "cursor", (struct bytes){p->cursor, p->len});
	wire_close(&m);
	reply = raw_reply(p->r, raw_send(p->r));
	ck_assert(!reply.error.data);
	*result = reply.result;
	ck_assert_int_eq(wire_iter_array(items, raw_member(reply.result, "items")), 0);
	v = raw_text(reply.result, "cursor");
	ck_assert_uint_le(v.len, sizeof(p->cursor));
	memcpy(p->cursor, v.data, p->len = v.len);
	v = raw_member(reply.result, "more");
	ck_assert_int_eq(wire_read(&v, &more), 0);
	p->last = !more.boolean;
	return true;
}
