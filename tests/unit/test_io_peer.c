/* SPDX-License-Identifier: MIT */
/* What comes from a peer: messages, whole and in parts, in its turn. */
#include "tests/unit/peer_fixture.h"

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

int main(void)
{
	Suite *s = suite_create("io_peer");
	TCase *t = peer_tcase(s);

	tcase_add_test(t, whole);
	tcase_add_test(t, byte_by_byte);
	tcase_add_test(t, cut_anywhere);
	tcase_add_test(t, large);
	tcase_add_test(t, garbage);
	tcase_add_loop_test(t, pause_resume, 0, 2);
	tcase_add_test(t, pause_with_part);
	tcase_add_test(t, fair);
	return run_suite(s);
}
