/* SPDX-License-Identifier: MIT */
/* What goes to a peer, and how it ends. */
#include "tests/unit/peer_fixture.h"

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
	Suite *s = suite_create("io_peer_end");
	TCase *t = peer_tcase(s);

	tcase_add_test(t, send_and_flush);
	tcase_add_test(t, slow_reader);
	tcase_add_test(t, goodbye_inside);
	tcase_add_test(t, goodbye_kept);
	tcase_add_test(t, finish);
	tcase_add_test(t, charged);
	tcase_add_test(t, size);
	return run_suite(s);
}
