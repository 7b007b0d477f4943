/* SPDX-License-Identifier: MIT */
/* What one client could do to the others, by the order or the amount of what it sends. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define WRITE_LOCK 120 /* SQLite's lock of the one writer, in the index of its log */

static struct broker b;
static int lock_fd;

static void lock(short type)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};

	ck_assert_int_eq(fcntl(lock_fd, F_SETLKW, &l), 0);
}

static void start_lockable(void)
{
	char path[128];

	broker_init(&b);
	broker_start(&b, NULL);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", b.dir);
	lock_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock_fd, 0);
}

static void stop(void)
{
	broker_stop(&b);
	broker_fini(&b);
}

static void turn_begin_pack(struct raw *r)
{
	static unsigned n;
	struct wire_open m;
	char key[16];

	snprintf(key, sizeof(key), "t%u", n++);
	wire_map_open(&m, raw_call(r, "turn_begin"));
	wire_map_strz(&m, "turn_id", key);
	wire_close(&m);
}

static bool turn_begun(struct raw *r)
{
	struct wire_frame f;

	turn_begin_pack(r);
	f = raw_reply(r, raw_send(r));
	ck_assert(!f.error.data || bytes_is(raw_text(f.error, "code"), "store"));
	return !f.error.data;
}

/* Calls that come all the time do not keep the broker from trying its store again. */
START_TEST(busy_while_failing)
{
	struct timespec from, now;
	struct raw r;

	start_lockable();
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	lock(F_WRLCK);
	ck_assert(!turn_begun(&r));
	lock(F_UNLCK);
	clock_gettime(CLOCK_MONOTONIC, &from);
	while (!turn_begun(&r)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ck_assert_msg(now.tv_sec - from.tv_sec < 20, "the store is never tried again");
	}
	close(lock_fd);
	raw_close(&r);
	stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("one client against the others");
	TCase *t = tcase_create("review");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, busy_while_failing);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
