/* SPDX-License-Identifier: MIT */
/* The store fails under a running broker, or is not one that it can use. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/failing_store.h"

#define EXIT_STORE 4

/* ---- locked ---- */

/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
#define WRITE_LOCK 120

static struct failing w;
static int lock_fd;

static void lock(short type)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};

	/* the broker has it only while it writes */
	ck_assert_int_eq(fcntl(lock_fd, F_SETLKW, &l), 0);
}

static void unlock(struct failing *unused)
{
	(void)unused;
	lock(F_UNLCK);
}

START_TEST(locked)
{
	char path[128];

	broker_init(&w.b);
	failing_start(&w);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", w.b.dir);
	lock_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock_fd, 0);
	lock(F_WRLCK);
	failing_whole(&w, unlock);
	close(lock_fd);
	broker_fini(&w.b);
}
END_TEST

/* ---- no file may grow ---- */

static void file_limit(rlim_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(prlimit(w.b.pid, RLIMIT_FSIZE, NULL, &limit), 0);
	limit.rlim_cur = bytes;
	ck_assert_int_eq(prlimit(w.b.pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void grow_again(struct failing *unused)
{
	(void)unused;
	file_limit(RLIM_INFINITY);
}

/* A limit of the service's, whose signal would end the broker. */
START_TEST(file_size)
{
	broker_init(&w.b);
	failing_start(&w);
	file_limit(4096);
	failing_whole(&w, grow_again);
	broker_fini(&w.b);
}
END_TEST

/* ---- and what could not be recorded ---- */

static void lock_start(void)
{
	char path[128];

	broker_init(&w.b);
	failing_start(&w);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", w.b.dir);
	lock_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock_fd, 0);
	lock(F_WRLCK);
}

static void lock_end(void)
{
	ck_assert_int_eq(kill(w.agent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(w.agent, NULL, 0), w.agent);
	close(lock_fd);
	raw_close(&w.f);
	broker_stop(&w.b);
	broker_fini(&w.b);
}

static void lost_take(void *arg, struct bytes row)
{
	uint64_t *count = arg;

	ck_assert_uint_eq(*count, 0);
	*count = raw_uint(row, "count");
}

/* As many rows as are kept, and a count of the rest. */
START_TEST(many_lost)
{
	const unsigned more = 76;
	uint64_t count = 0;

	lock_start();
	failing_deny(&w, LIMIT_LOST_DENIALS + more);
	unlock(&w);
	failing_await(&w);
	failing_history(&w, "event", "lost_denials", lost_take, &count);
	ck_assert_uint_eq(count, more);
	ck_assert_uint_gt(failing_verify(&w), LIMIT_LOST_DENIALS);
	lock_end();
}
END_TEST

static uint64_t decided(const char *how)
{
	struct bytes n =
		raw_member(raw_member(failing_ask(&w, "stats", NULL, NULL), "decisions"), how);
	struct wire_value v;

	if (!n.data)
		return 0;
	ck_assert_int_eq(wire_read(&n, &v), 0);
	return v.u64;
}

/* What a batch did that failed does not count. */
START_TEST(undone_does_not_count)
{
	struct bytes item, id;
	struct wire_iter it;
	uint8_t digest[32];
	char request[64];

	lock_start();
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(failing_ask(&w, "list", NULL, NULL), "items")),
		0);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "request");
	snprintf(request, sizeof(request), "%.*s", (int)id.len, (const char *)id.data);
	memcpy(digest, raw_text(item, "digest").data, sizeof(digest));
	ck_assert(
		bytes_is(raw_text(raw_reply(&w.f, raw_decide(&w.f, bytes_of(request),
							  (struct bytes){digest, 32}, "allow"))
					  .error,
				 "code"),
			"store"));
	ck_assert_uint_eq(decided("allow.user"), 0);
	unlock(&w);
	failing_await(&w);
	failing_allow(&w);
	ck_assert_uint_eq(decided("allow.user"), 1);
	lock_end();
}
END_TEST

static void suspended_take(void *arg, struct bytes row)
{
	unsigned *n = arg;

	++*n;
	ck_assert(bytes_is(raw_text(row, "reason"), "the disk burns"));
	ck_assert(bytes_is(raw_text(row, "source"), "user"));
	ck_assert(bytes_is(raw_text(row, "agent"), "test"));
	ck_assert_uint_gt(raw_text(row, "by").len, 0);
}

/* A suspension that could not be recorded is recorded later as it was. */
START_TEST(suspended_meanwhile)
{
	unsigned n = 0;
	struct bytes item;
	struct wire_iter it;
	struct wire_open m;

	lock_start();
	wire_map_open(&m, raw_call(&w.f, "suspend"));
	wire_map_bool(&m, "all", true);
	wire_map_strz(&m, "reason", "the disk burns");
	wire_close(&m);
	ck_assert_uint_eq(raw_uint(raw_reply(&w.f, raw_send(&w.f)).result, "turns"), 1);
	ck_assert(!failing_works(&w));
	unlock(&w);
	failing_await(&w);
	failing_history(&w, "event", "turn_suspended", suspended_take, &n);
	ck_assert_uint_eq(n, 1);
	/* and its reason outlives the broker */
	raw_close(&w.f);
	broker_stop(&w.b);
	broker_start(&w.b, NULL);
	raw_connect(&w.f, w.b.frontend);
	raw_hello_frontend(&w.f, "human");
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(failing_ask(&w, "turns", NULL, NULL), "items")),
		0);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "state"), "SUSPENDED"));
	ck_assert(bytes_is(raw_text(item, "reason"), "the disk burns"));
	lock_end();
}
END_TEST

/* What follows from a new configuration is not done before it can be recorded, and then. */
START_TEST(configured_meanwhile)
{
	lock_start();
	raw_close(&w.f);
	raw_connect(&w.f, w.b.frontend);
	raw_hello_frontend(&w.f, "observer");
	broker_configure(&w.b, "[broker]\nwhen-alone = deny\n");
	ck_assert_int_eq(kill(w.b.pid, SIGHUP), 0);
	while (failing_works(&w))
		;
	ck_assert_uint_eq(raw_uint(failing_ask(&w, "stats", NULL, NULL), "pending"), 1);
	ck_assert_uint_eq(decided("deny.broker"), 0);
	unlock(&w);
	failing_await(&w);
	while (raw_uint(failing_ask(&w, "stats", NULL, NULL), "pending"))
		;
	ck_assert_uint_eq(decided("deny.broker"), 1);
	ck_assert_uint_eq(failing_recorded(&w), 1);
	lock_end();
}
END_TEST

/* The broker is told to end before it has tried the store again. */
START_TEST(stopped_meanwhile)
{
	lock_start();
	failing_deny(&w, 3);
	unlock(&w);
	raw_close(&w.f);
	broker_stop(&w.b);
	broker_start(&w.b, NULL);
	raw_connect(&w.f, w.b.frontend);
	raw_hello_frontend(&w.f, "human");
	ck_assert_uint_eq(failing_recorded(&w), 3);
	lock_end();
}
END_TEST

/* ---- refused at the start ---- */

static void start_refused(void)
{
	ck_assert_int_eq(broker_try(&w.b, NULL), EXIT_STORE);
}

START_TEST(corrupt)
{
	static const char garbage[] = "this is no database, but somebody's own notes\n";
	char path[128], text[sizeof(garbage)] = "";
	int fd;

	broker_init(&w.b);
	snprintf(path, sizeof(path), "%s/state", w.b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/state/history.db", w.b.dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), (ssize_t)sizeof(garbage));
	start_refused();
	/* and untouched */
	ck_assert_int_eq(pread(fd, text, sizeof(text), 0), (ssize_t)sizeof(text));
	ck_assert_mem_eq(text, garbage, sizeof(text));
	close(fd);
	broker_fini(&w.b);
}
END_TEST

/* Written by a version that is not known yet. */
START_TEST(newer)
{
	/* the file's own version, at its place in SQLite's header */
	static const uint8_t version[4] = {0x7f, 0xff, 0xff, 0xff};
	uint8_t *before, *after;
	char path[128];
	struct stat st;
	int fd;

	broker_init(&w.b);
	broker_start(&w.b, NULL);
	broker_stop(&w.b);
	snprintf(path, sizeof(path), "%s/state/history.db", w.b.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, version, 4, 60), 4);
	ck_assert_int_eq(fstat(fd, &st), 0);
	before = malloc((size_t)st.st_size);
	after = calloc(1, (size_t)st.st_size + 1);
	ck_assert(before && after);
	ck_assert_int_eq(pread(fd, before, (size_t)st.st_size, 0), st.st_size);
	start_refused();
	ck_assert_int_eq(pread(fd, after, (size_t)st.st_size + 1, 0), st.st_size);
	ck_assert_mem_eq(before, after, (size_t)st.st_size);
	free(before);
	free(after);
	close(fd);
	broker_fini(&w.b);
}
END_TEST

START_TEST(second_broker)
{
	struct broker other;

	broker_init(&w.b);
	broker_start(&w.b, NULL);
	/* the same state folder, other sockets */
	broker_init(&other);
	{
		char state[96], link[160];

		snprintf(state, sizeof(state), "%s/state", w.b.dir);
		snprintf(link, sizeof(link), "[store]\npath = %s/history.db\n", state);
		broker_configure(&other, link);
	}
	ck_assert_int_eq(broker_try(&other, NULL), EXIT_STORE);
	broker_fini(&other);
	broker_stop(&w.b);
	broker_fini(&w.b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the store under the broker");
	TCase *t = tcase_create("store");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, locked);
	tcase_add_test(t, file_size);
	tcase_add_test(t, many_lost);
	tcase_add_test(t, stopped_meanwhile);
	tcase_add_test(t, undone_does_not_count);
	tcase_add_test(t, configured_meanwhile);
	if (!broker_valgrind()) /* sessions do not outlive a restart there */
		tcase_add_test(t, suspended_meanwhile);
	tcase_add_test(t, corrupt);
	tcase_add_test(t, newer);
	tcase_add_test(t, second_broker);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
