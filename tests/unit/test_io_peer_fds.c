/* SPDX-License-Identifier: MIT */
/* Descriptors that come from a peer. */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/peer_fixture.h"

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

int main(void)
{
	Suite *s = suite_create("io_peer_fds");
	TCase *t = peer_tcase(s);

	tcase_add_test(t, descriptors);
	tcase_add_test(t, descriptors_kept);
	tcase_add_test(t, descriptors_held_back);
	return run_suite(s);
}
