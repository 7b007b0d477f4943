/* SPDX-License-Identifier: MIT */
#include "tests/unit/peer_fixture.h"

#include <event2/event.h>
#include <sched.h>

static struct event_base *base;
static struct accounts *accounts;
struct account *account;
struct peers *peers;
static int fds_before;
struct seen seen;

static int on_frame(void *arg, struct peer *p, struct bytes frame)
{
	ck_assert_ptr_eq(arg, &seen);
	seen.frames++;
	seen.last_len = frame.len;
	seen.total_len += frame.len;
	seen.last_peer = p;
	memcpy(seen.last, frame.data,
		frame.len < sizeof(seen.last) ? frame.len : sizeof(seen.last));
	for (unsigned i = 0; i < seen.take; i++) {
		int fd = peer_take_fd(p);

		if (fd >= 0)
			seen.taken[seen.n_taken++] = fd;
	}
	if (seen.pause)
		peer_pause(seen.pause);
	if (seen.goodbye && seen.frames == seen.goodbye_at)
		peer_goodbye(seen.goodbye, "asked to");
	return seen.frames > seen.result_after ? seen.result : 0;
}

static void on_closed(void *arg, struct peer *p, const char *reason)
{
	seen.closed++;
	seen.reason = reason;
}

static void setup(void)
{
	static const struct peer_ops ops = {on_frame, on_closed};
	struct account_limits limits;

	fds_before = fd_count();
	memset(&seen, 0, sizeof(seen));
	base = event_base_new();
	account_limits_default(&limits);
	limits.connections = 8;
	limits.pending_bytes = 12u << 20;
	ck_assert_int_eq(accounts_new(&accounts, &limits), 0);
	ck_assert_int_eq(account_get(accounts, 1000, &account), 0);
	ck_assert_int_eq(peers_new(&peers, base, &ops, &seen, MAX_OUTPUT), 0);
}

void reap(void)
{
	struct peer *p;

	while ((p = peers_gone(peers)))
		peer_free(p);
}

void fds_become(int n)
{
	while (fd_count() > n)
		sched_yield();
	ck_assert_int_eq(fd_count(), n);
}

static void teardown(void)
{
	for (unsigned i = 0; i < seen.n_taken; i++)
		close(seen.taken[i]);
	reap();
	peers_free(peers);
	account_unref(account);
	accounts_free(accounts);
	event_base_free(base);
	fds_become(fds_before);
}

void turn(void)
{
	peers_turn(peers);
	event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	peers_flush(peers);
}

struct peer *peer_make(int *client)
{
	struct peer *p;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	ck_assert_int_eq(peer_new(peers, &p, pair[0], 1, 1000, NULL, account), 0);
	*client = pair[1];
	return p;
}

void put(int fd, const void *data, size_t len)
{
	ck_assert_int_eq(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

void header_make(uint8_t out[6], uint32_t n)
{
	out[0] = 0x91;
	out[1] = 0xc6;
	for (int i = 0; i < 4; i++)
		out[2 + i] = (uint8_t)(n >> (24 - 8 * i));
}

size_t frame_make(uint8_t *out, uint32_t n)
{
	header_make(out, n);
	memset(out + 6, 'x', n);
	return n + 6;
}

TCase *peer_tcase(Suite *s)
{
	TCase *t = tcase_create("peer");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	suite_add_tcase(s, t);
	return t;
}
