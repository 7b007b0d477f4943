/* SPDX-License-Identifier: MIT */
#include <event2/event.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "broker/io/account.h"
#include "broker/io/peer.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

#define MAX_OUTPUT (1u << 20)

static struct event_base *base;
static struct accounts *accounts;
static struct account *account;
static struct peers *peers;
static int fds_before;

/* What the callbacks saw, and what they are to do. */
static struct {
	unsigned frames, closed, stop_after;
	size_t last_len, total_len;
	uint8_t last[64];
	struct peer *last_peer;
	const char *reason;
	int result;	       /* of the frame callback */
	unsigned result_after; /* from this frame on */
	unsigned take;	       /* descriptors to take from each frame */
	int taken[16];
	unsigned n_taken;
	struct peer *pause, *goodbye;
	unsigned goodbye_at;
} seen;

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

static void reap(void)
{
	struct peer *p;

	while ((p = peers_gone(peers)))
		peer_free(p);
}

/* Those that came from others are closed by a thread. */
static void fds_become(int n)
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

/* One loop turn as the gateway does it, without sleeping. */
static void turn(void)
{
	peers_turn(peers);
	event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	peers_flush(peers);
}

static struct peer *peer_make(int *client)
{
	struct peer *p;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	ck_assert_int_eq(peer_new(peers, &p, pair[0], 1, 1000, NULL, account), 0);
	*client = pair[1];
	return p;
}

static void put(int fd, const void *data, size_t len)
{
	ck_assert_int_eq(send(fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* The begin of [bin of n bytes]. */
static void header_make(uint8_t out[6], uint32_t n)
{
	out[0] = 0x91;
	out[1] = 0xc6;
	for (int i = 0; i < 4; i++)
		out[2 + i] = (uint8_t)(n >> (24 - 8 * i));
}

static size_t frame_make(uint8_t *out, uint32_t n)
{
	header_make(out, n);
	memset(out + 6, 'x', n);
	return n + 6;
}

static const uint8_t small[] = {0x92, 0x01, 0xc0};

START_TEST(whole)
{
	uint8_t many[300];
	struct peer *p;
	int c;

	p = peer_make(&c);
	ck_assert_uint_eq(peers_count(peers), 1);
	ck_assert_uint_eq(account->connections, 1);
	put(c, small, sizeof(small));
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	ck_assert_uint_eq(seen.last_len, sizeof(small));
	ck_assert_int_eq(memcmp(seen.last, small, sizeof(small)), 0);
	for (int i = 0; i < 100; i++)
		memcpy(many + 3 * i, small, 3);
	put(c, many, sizeof(many));
	turn();
	ck_assert_uint_eq(seen.frames, 101);
	ck_assert_uint_eq(account->buffered, 0);
	ck_assert_ptr_null(p->input);
	close(c);
	turn();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_ptr_eq(peers_gone(peers), p);
	reap();
	ck_assert_uint_eq(peers_count(peers), 0);
	ck_assert_uint_eq(account->connections, 0);
}
END_TEST

START_TEST(byte_by_byte)
{
	uint8_t frame[64];
	size_t len = frame_make(frame, 20);
	struct peer *p;
	int c;

	p = peer_make(&c);
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < len; i++) {
			put(c, frame + i, 1);
			ck_assert_uint_eq(seen.frames, (unsigned)round);
			turn();
		}
	ck_assert_uint_eq(seen.frames, 3);
	ck_assert_uint_eq(seen.last_len, len);
	ck_assert_ptr_null(p->input);
	ck_assert_uint_eq(account->buffered, 0);
	peer_goodbye(p, "end");
	close(c);
}
END_TEST

/* Every place at which two messages can be cut. */
START_TEST(cut_anywhere)
{
	uint8_t two[64];
	size_t len = frame_make(two, 9);
	int c;

	memcpy(two + len, two, len);
	peer_make(&c);
	for (size_t cut = 1; cut < 2 * len; cut++) {
		unsigned before = seen.frames;

		put(c, two, cut);
		turn();
		ck_assert_uint_eq(seen.frames - before, cut / len);
		put(c, two + cut, 2 * len - cut);
		turn();
		ck_assert_uint_eq(seen.frames - before, 2);
	}
	close(c);
	turn();
}
END_TEST

START_TEST(large)
{
	uint8_t *frame = malloc(LIMIT_FRAME);
	size_t len = frame_make(frame, LIMIT_FRAME - 6), at = 0;
	int c;

	peer_make(&c);
	while (at < len) {
		ssize_t n = send(c, frame + at, len - at, MSG_NOSIGNAL);

		if (n > 0)
			at += (size_t)n;
		else
			ck_assert_int_eq(errno, EAGAIN);
		turn();
	}
	while (seen.frames == 0)
		turn();
	ck_assert_uint_eq(seen.last_len, LIMIT_FRAME);
	ck_assert_uint_eq(account->buffered, 0);
	/* one byte more is refused as soon as its length is read */
	header_make(frame, LIMIT_FRAME - 5);
	put(c, frame, 6);
	turn();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_str_eq(seen.reason, "message over the limits");
	close(c);
	free(frame);
}
END_TEST

START_TEST(garbage)
{
	static const struct {
		const char *text;
		size_t len;
	} bad[] = {{"\xc1", 1}, {"hello", 5}, {"\x81\x01\x02", 3}, {"\x91\xc1", 2}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int c;

		peer_make(&c);
		put(c, bad[i].text, bad[i].len);
		turn();
		ck_assert_uint_eq(seen.closed, i + 1);
		ck_assert_str_eq(seen.reason, "not MessagePack-RPC");
		reap();
		close(c);
	}
	ck_assert_uint_eq(seen.frames, 0);
}
END_TEST

static void put_fds(int c, const void *data, size_t len, const int *fds, size_t n)
{
	char control[CMSG_SPACE(16 * sizeof(int))] = {0};
	struct iovec iov = {(void *)(uintptr_t)data, len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&msg);

	ck_assert_uint_le(n, 16);
	ck_assert_ptr_nonnull(h);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(h), fds, n * sizeof(int));
	ck_assert_int_eq(sendmsg(c, &msg, MSG_NOSIGNAL), (ssize_t)len);
}

START_TEST(descriptors)
{
	int c, pipes[2], many[10], before;
	struct stat a, b;
	struct peer *p;

	p = peer_make(&c);
	ck_assert_int_eq(pipe(pipes), 0);
	for (int i = 0; i < 10; i++)
		many[i] = pipes[0];
	before = fd_count();

	/* taken: it is the same file, and not inherited */
	seen.take = 1;
	put_fds(c, small, sizeof(small), pipes, 1);
	turn();
	ck_assert_uint_eq(seen.n_taken, 1);
	fds_become(before + 1);
	ck_assert_int_eq(fstat(pipes[0], &a), 0);
	ck_assert_int_eq(fstat(seen.taken[0], &b), 0);
	ck_assert_uint_eq(a.st_ino, b.st_ino);
	ck_assert_int_eq(fcntl(seen.taken[0], F_GETFD), FD_CLOEXEC);

	/* not wanted: closed */
	seen.take = 0;
	put_fds(c, small, sizeof(small), pipes, 2);
	turn();
	fds_become(before + 1);
	ck_assert_int_eq(peer_take_fd(p), -1);

	/* too many: no more than the limit arrive */
	seen.take = 10;
	put_fds(c, small, sizeof(small), many, 10);
	turn();
	ck_assert_uint_eq(seen.n_taken, 1 + LIMIT_FDS);
	fds_become(before + 1 + (int)LIMIT_FDS);
	seen.take = 0;
	put_fds(c, small, sizeof(small), many, 10);
	turn();
	fds_become(before + 1 + (int)LIMIT_FDS);
	ck_assert_uint_eq(seen.frames, 4);
	close(c);
	turn();
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* With a part of a message: kept until that message is complete, and no longer. */
START_TEST(descriptors_kept)
{
	int c, pipes[2], before;
	struct peer *p;

	p = peer_make(&c);
	ck_assert_int_eq(pipe(pipes), 0);
	before = fd_count();

	put_fds(c, small, 1, pipes, 1);
	turn();
	fds_become(before + 1);
	seen.take = 1;
	put(c, small + 1, 2);
	turn();
	ck_assert_uint_eq(seen.n_taken, 1);
	fds_become(before + 1);

	/* the message that they came with passes them by, the next one does not get them */
	seen.take = 0;
	put_fds(c, small, 1, pipes, 2);
	turn();
	fds_become(before + 3);
	put(c, small + 1, 2);
	put(c, small, 2);
	turn();
	fds_become(before + 1);
	put(c, small + 2, 1);
	turn();

	/* more than the limit over several reads */
	for (int i = 0; i < 4; i++) {
		uint8_t frame[32];

		frame_make(frame, 16);
		put_fds(c, frame + i, 1, pipes, 2);
		turn();
	}
	fds_become(before + 1 + (int)LIMIT_FDS);
	peer_goodbye(p, "end");
	reap();
	/* the socket too */
	fds_become(before);
	close(c);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(descriptors_held_back)
{
	uint8_t three[9];
	int c, pipes[2];

	peer_make(&c);
	ck_assert_int_eq(pipe(pipes), 0);
	for (int i = 0; i < 3; i++)
		memcpy(three + 3 * i, small, 3);
	/* the callback stops after each; the third takes what came with all of them */
	seen.result = 1;
	put_fds(c, three, sizeof(three), pipes, 1);
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	turn();
	ck_assert_uint_eq(seen.frames, 2);
	seen.take = 1;
	turn();
	ck_assert_uint_eq(seen.frames, 3);
	ck_assert_uint_eq(seen.n_taken, 1);
	turn();
	ck_assert(!peers_pending(peers));
	close(c);
	turn();
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(send_and_flush)
{
	char buf[16];
	struct peer *p;
	int c;

	p = peer_make(&c);
	peer_send(p, bytes_of("abc"));
	peer_send(p, bytes_of("def"));
	ck_assert_uint_eq(peer_queued(p), 6);
	/* nothing leaves before the flush */
	ck_assert_int_eq(recv(c, buf, sizeof(buf), MSG_DONTWAIT), -1);
	peers_flush(peers);
	ck_assert_int_eq(recv(c, buf, sizeof(buf), MSG_DONTWAIT), 6);
	ck_assert_int_eq(memcmp(buf, "abcdef", 6), 0);
	ck_assert_ptr_null(p->output);
	ck_assert_ptr_null(p->writing);
	ck_assert_uint_eq(account->buffered, 0);
	close(c);
	peer_send(p, bytes_of("x"));
	peers_flush(peers);
	ck_assert_uint_eq(seen.closed, 1);
	peer_send(p, bytes_of("x"));
	ck_assert_uint_eq(peer_queued(p), 0);
}
END_TEST

/* Reads what is there; checks that it goes on counting from *next. */
static size_t read_counted(int c, uint32_t *next)
{
	static uint32_t buf[16384];
	size_t total = 0;
	ssize_t n;

	while ((n = recv(c, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		ck_assert_int_eq(n % 4, 0);
		for (ssize_t i = 0; i < n / 4; i++)
			ck_assert_uint_eq(buf[i], (*next)++);
		total += (size_t)n;
	}
	return total;
}

START_TEST(slow_reader)
{
	uint32_t block[256], sent = 0, got = 0;
	struct peer *p;
	int c;

	p = peer_make(&c);
	/* more than the socket takes, less than the limit; all of it arrives, in order */
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 900; i++) {
			for (int j = 0; j < 256; j++)
				block[j] = sent++;
			peer_send(p, (struct bytes){block, sizeof(block)});
			if (i % 100 == 0)
				turn();
		}
		ck_assert_ptr_nonnull(p->writing);
		while (got < sent) {
			read_counted(c, &got);
			turn();
		}
		ck_assert_ptr_null(p->writing);
		ck_assert_ptr_null(p->output);
		ck_assert_uint_eq(account->buffered, 0);
	}
	/* and one that never reads */
	for (int i = 0; i < 2000 && seen.closed == 0; i++) {
		peer_send(p, (struct bytes){block, sizeof(block)});
		turn();
		ck_assert_uint_le(peer_queued(p), MAX_OUTPUT);
	}
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_str_eq(seen.reason, "slow reader");
	close(c);
}
END_TEST

START_TEST(pause_resume)
{
	uint8_t two[6];
	struct peer *p;
	int c;

	p = peer_make(&c);
	memcpy(two, small, 3);
	memcpy(two + 3, small, 3);
	seen.pause = p;
	put(c, two, sizeof(two));
	turn();
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	put(c, small, 3);
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	ck_assert(!peers_pending(peers));
	/* what was held back, then (paused again) nothing, then what was not read */
	peer_resume(p);
	ck_assert(peers_pending(peers));
	turn();
	ck_assert_uint_eq(seen.frames, 2);
	seen.pause = NULL;
	turn();
	ck_assert_uint_eq(seen.frames, 2);
	peer_resume(p);
	ck_assert(!peers_pending(peers));
	turn();
	ck_assert_uint_eq(seen.frames, 3);
	/* one that was paused and dies is noticed, with what it sent unread */
	peer_pause(p);
	put(c, small, 3);
	turn();
	ck_assert_uint_eq(seen.closed, 0);
	if (_i)
		shutdown(c, SHUT_WR);
	else
		close(c);
	turn();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_uint_eq(seen.frames, 3);
	peer_resume(p);
	peer_pause(p);
	if (_i)
		close(c);
}
END_TEST

/* A part of a message while paused by somebody else. */
START_TEST(pause_with_part)
{
	struct peer *p;
	int c;

	p = peer_make(&c);
	put(c, small, 2);
	turn();
	peer_pause(p);
	peer_resume(p);
	ck_assert(!peers_pending(peers));
	put(c, small + 2, 1);
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	peer_goodbye(p, "end");
	close(c);
}
END_TEST

/* A peer that floods does not keep another one from its turn. */
START_TEST(fair)
{
	uint8_t *flood = malloc(3 * 40000);
	struct peer *quiet;
	int a, b, sent;

	peer_make(&a);
	quiet = peer_make(&b);
	for (int i = 0; i < 40000; i++)
		memcpy(flood + 3 * i, small, 3);
	put(a, flood, 3 * 40000);
	put(b, small, 3);
	turn();
	ck_assert_uint_lt(seen.frames, 40000);
	ck_assert_uint_le(seen.total_len, LIMIT_READ_CHUNK + 3);
	ck_assert(seen.last_peer == quiet || seen.total_len > LIMIT_READ_CHUNK - 3);
	turn();
	/* a stop keeps the rest of one read for the turns to come, in order with new bytes */
	while (seen.frames < 40001)
		turn();
	seen.result = 1;
	sent = 0;
	for (; sent < 5; sent++)
		put(a, small, 3);
	turn();
	ck_assert_uint_eq(seen.frames, 40002);
	ck_assert(peers_pending(peers));
	put(a, small, 3);
	for (unsigned i = 1; i < 6; i++) {
		turn();
		ck_assert_uint_eq(seen.frames, 40002 + i);
	}
	turn();
	ck_assert_uint_eq(seen.frames, 40007);
	free(flood);
	close(a);
	close(b);
	turn();
	turn();
	ck_assert_uint_eq(seen.closed, 2);
}
END_TEST

START_TEST(goodbye_inside)
{
	uint8_t two[6];
	struct peer *p, *other;
	int a, b;

	p = peer_make(&a);
	other = peer_make(&b);
	memcpy(two, small, 3);
	memcpy(two + 3, small, 3);
	/* of itself: the second message is dropped */
	seen.goodbye = p;
	seen.goodbye_at = 1;
	put(a, two, sizeof(two));
	turn();
	ck_assert_uint_eq(seen.frames, 1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_str_eq(seen.reason, "asked to");
	peer_goodbye(p, "again");
	ck_assert_uint_eq(seen.closed, 1);
	/* by an error */
	seen.result = -EPROTO;
	seen.goodbye = NULL;
	put(b, two, sizeof(two));
	turn();
	ck_assert_uint_eq(seen.frames, 2);
	ck_assert_uint_eq(seen.closed, 2);
	ck_assert_ptr_eq(seen.last_peer, other);
	close(a);
	close(b);
}
END_TEST

/* From kept bytes, of which the peer has its own copy; and of another peer that waits too. */
START_TEST(goodbye_kept)
{
	uint8_t many[30];
	struct peer *p, *other;
	int a, b;

	p = peer_make(&a);
	other = peer_make(&b);
	for (int i = 0; i < 10; i++)
		memcpy(many + 3 * i, small, 3);
	seen.result = 1;
	put(a, many, sizeof(many));
	put(b, many, sizeof(many));
	turn();
	ck_assert_uint_eq(seen.frames, 2);
	seen.goodbye = p;
	seen.goodbye_at = 4;
	turn();
	ck_assert_uint_eq(seen.frames, 4);
	ck_assert_uint_eq(seen.closed, 1);
	seen.goodbye = seen.last_peer == p ? other : p;
	peer_goodbye(other, "end");
	turn();
	ck_assert_uint_eq(seen.frames, 4);
	ck_assert(!peers_pending(peers));
	close(a);
	close(b);
}
END_TEST

/* The last error arrives, although more was asked and nothing else is heard. */
START_TEST(finish)
{
	char buf[16];
	struct peer *p;
	int c;

	p = peer_make(&c);
	put(c, small, 3);
	peer_send(p, bytes_of("sorry"));
	peer_finish(p, "forbidden");
	peer_send(p, bytes_of("more"));
	ck_assert_uint_eq(seen.closed, 0);
	peers_flush(peers);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_str_eq(seen.reason, "forbidden");
	ck_assert_int_eq(recv(c, buf, sizeof(buf), 0), 5);
	ck_assert_int_le(recv(c, buf, sizeof(buf), 0), 0);
	ck_assert_uint_eq(seen.frames, 0);
	close(c);
	/* also with nothing to say, and for one that does not read */
	p = peer_make(&c);
	peer_finish(p, "empty");
	peers_flush(peers);
	ck_assert_uint_eq(seen.closed, 2);
	close(c);
	p = peer_make(&c);
	while (peer_queued(p) < MAX_OUTPUT / 2) {
		static const char block[4096];

		peer_send(p, (struct bytes){block, sizeof(block)});
		turn();
	}
	peer_finish(p, "full");
	peers_flush(peers);
	ck_assert_uint_eq(seen.closed, 3);
	ck_assert_str_eq(seen.reason, "full");
	close(c);
}
END_TEST

START_TEST(charged)
{
	struct peer *p;
	int c[8], pair[2];
	uint8_t *part = malloc(1u << 20);

	for (int i = 0; i < 8; i++)
		peer_make(&c[i]);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(
		peer_new(peers, &p, pair[0], 0, 1000, NULL, account), ACCOUNT_CONNECTIONS);
	close(pair[0]);
	close(pair[1]);
	/* parts of messages count for the uid: not all of them can be large */
	memset(part, 'x', 1u << 20);
	header_make(part, 0x3f0000);
	for (int i = 0; i < 8; i++) {
		for (size_t at = 0; at < 1u << 20;) {
			ssize_t n = send(c[i], part + at, (1u << 20) - at, MSG_NOSIGNAL);

			if (n > 0)
				at += (size_t)n;
			else if (errno != EAGAIN)
				break;
			turn();
		}
		turn();
	}
	ck_assert_uint_le(account->buffered, 12u << 20);
	ck_assert_uint_gt(account->buffered, 0);
	ck_assert_uint_eq(seen.closed, 0);
	for (int i = 0; i < 8; i++) {
		for (size_t at = 6; at < 1u << 20 && seen.closed == 0;) {
			ssize_t n = send(c[i], part + at, (1u << 20) - at, MSG_NOSIGNAL);

			if (n > 0)
				at += (size_t)n;
			else if (errno != EAGAIN)
				break;
			turn();
		}
	}
	ck_assert_uint_ge(seen.closed, 1);
	ck_assert_str_eq(seen.reason, "unfinished messages over the uid's limit");
	for (int i = 0; i < 8; i++)
		close(c[i]);
	turn();
	turn();
	ck_assert_uint_eq(seen.closed, 8);
	reap();
	ck_assert_uint_eq(account->buffered, 0);
	free(part);
}
END_TEST

START_TEST(size)
{
	/* a promise of memory for each idle connection is kept in a test of the daemon; this is
	 * its base */
	ck_assert_uint_le(sizeof(struct peer), 320);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("io_peer");
	TCase *t = tcase_create("peer");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, whole);
	tcase_add_test(t, byte_by_byte);
	tcase_add_test(t, cut_anywhere);
	tcase_add_test(t, large);
	tcase_add_test(t, garbage);
	tcase_add_test(t, descriptors);
	tcase_add_test(t, descriptors_kept);
	tcase_add_test(t, descriptors_held_back);
	tcase_add_test(t, send_and_flush);
	tcase_add_test(t, slow_reader);
	tcase_add_loop_test(t, pause_resume, 0, 2);
	tcase_add_test(t, pause_with_part);
	tcase_add_test(t, fair);
	tcase_add_test(t, goodbye_inside);
	tcase_add_test(t, goodbye_kept);
	tcase_add_test(t, finish);
	tcase_add_test(t, charged);
	tcase_add_test(t, size);
	suite_add_tcase(s, t);
	return run_suite(s);
}
