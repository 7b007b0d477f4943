/* SPDX-License-Identifier: MIT */
/* The store fails under a running broker, or is not one that it can use. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libapproval/limits.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define EXIT_STORE 4

static struct broker b;
static struct raw f;
static int up[2], down[2];
static pid_t agent;

static void text_of(char out[64], struct bytes text)
{
	snprintf(out, 64, "%.*s", (int)text.len, text.data ? (const char *)text.data : "");
}

static void token_send(int fd, char c)
{
	ck_assert_int_eq(write(fd, &c, 1), 1);
}

static char token_wait(int fd)
{
	char c = 0;

	ck_assert_int_eq(read(fd, &c, 1), 1);
	return c;
}

static struct bytes ask(struct raw *r, const char *method, const char *key, const char *value)
{
	struct wire_frame reply;
	struct wire_open m;

	wire_map_open(&m, raw_call(r, method));
	if (key)
		wire_map_strz(&m, key, value);
	wire_close(&m);
	reply = raw_reply(r, raw_send(r));
	return reply.error.data ? reply.error : reply.result;
}

static bool store_ok(void)
{
	return bytes_is(raw_text(ask(&f, "stats", NULL, NULL), "store"), "ok");
}

/* Each question is answered after one more turn of the loop, in which the store is tried. */
static void wait_ok(void)
{
	while (!store_ok())
		;
}

/* ---- the agent: waits with one request, then is denied while the store fails ---- */

static void agent_run(void)
{
	struct wire_frame reply;
	struct raw waits, r;
	uint32_t pending;

	raw_connect(&waits, b.agent);
	ck_assert(!raw_hello_agent(&waits, "a").error.data);
	pending = raw_request(&waits, "waits", "Frobnicate", "x");
	raw_notification(&waits, "request_state");
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	token_send(up[1], 'r');
	while (token_wait(down[0]) == 'n') {
		static unsigned n;
		char call[16];

		snprintf(call, sizeof(call), "c%u", n++);
		reply = raw_reply(&r, raw_request(&r, call, "Frobnicate", call));
		ck_assert(!reply.error.data);
		token_send(up[1],
			bytes_is(raw_text(reply.result, "verdict"), "deny") &&
					bytes_is(raw_text(reply.result, "source"), "broker")
				? 'd'
				: '?');
		/* another command is told so */
		ck_assert(bytes_is(
			raw_text(ask(&r, "turn_begin", "turn_id", call), "code"), "store"));
	}
	/* what was pending is answered when the store works again */
	reply = raw_reply(&waits, pending);
	token_send(up[1], bytes_is(raw_text(reply.result, "verdict"), "allow") ? 'a' : '?');
	_exit(0);
}

static void start(const char *const *args)
{
	broker_start(&b, args);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "human");
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0) {
		close(f.fd);
		agent_run();
	}
	ck_assert_int_eq(token_wait(up[0]), 'r');
}

static void allow_pending(void)
{
	struct bytes item, id, digest, result;
	char request[64];
	uint8_t d[32];
	struct wire_iter it;

	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&f, "list", NULL, NULL), "items")), 0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "request");
	digest = raw_text(item, "digest");
	snprintf(request, sizeof(request), "%.*s", (int)id.len, (const char *)id.data);
	memcpy(d, digest.data, 32);
	result =
		raw_reply(&f, raw_decide(&f, bytes_of(request), (struct bytes){d, 32}, "allow"))
			.result;
	ck_assert_int_eq(wire_iter_array(&it, raw_member(result, "results")), 0);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "result"), "ok"));
}

static uint64_t denials_recorded(void)
{
	struct bytes item;
	struct wire_iter it;
	uint64_t n = 0;

	ck_assert_int_eq(wire_iter_array(&it,
				 raw_member(ask(&f, "history", "source", "broker"), "items")),
		0);
	while (wire_array_next(&it, &item))
		n += bytes_is(raw_text(item, "event"), "decision");
	return n;
}

/* The store fails now: what is promised for that, and for when it works again. */
static void failing(void (*mend)(void))
{
	struct bytes id;
	char session[64];
	struct wire_iter it;
	struct bytes item;

	for (unsigned i = 0; i < 3; i++) {
		token_send(down[1], 'n');
		ck_assert_int_eq(token_wait(up[0]), 'd');
	}
	ck_assert(!store_ok());
	/* what was pending stays so */
	ck_assert_uint_eq(raw_uint(ask(&f, "stats", NULL, NULL), "pending"), 1);
	/* the switch works all the same */
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&f, "sessions", NULL, NULL), "items")), 0);
	ck_assert(wire_array_next(&it, &item));
	id = raw_text(item, "session");
	snprintf(session, sizeof(session), "%.*s", (int)id.len, (const char *)id.data);
	ck_assert_uint_eq(raw_uint(ask(&f, "suspend", "session", session), "turns"), 1);
	mend();
	wait_ok();
	/* by itself, before anything else is written */
	ck_assert_uint_eq(denials_recorded(), 3);
	ck_assert_uint_eq(raw_uint(ask(&f, "resume", "session", session), "turns"), 1);
	allow_pending();
	token_send(down[1], 'e');
	ck_assert_int_eq(token_wait(up[0]), 'a');
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	ck_assert_uint_eq(denials_recorded(), 3);
	raw_close(&f);
	broker_stop(&b);
}

/* ---- full ---- */

static char filler[128];

static void make_room(void)
{
	ck_assert_int_eq(unlink(filler), 0);
}

START_TEST(full)
{
	char state[96], block[4096] = {0};
	int fd;

	broker_init(&b);
	snprintf(state, sizeof(state), "%s/state", b.dir);
	ck_assert_int_eq(mkdir(state, 0700), 0);
	if (mount("tmpfs", state, "tmpfs", 0, "size=2m,mode=0700") < 0) {
		printf("no right to mount: a full disk is not tried\n");
		broker_fini(&b);
		return;
	}
	start(NULL);
	snprintf(filler, sizeof(filler), "%s/filler", state);
	fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	/* the pages that SQLite has already are used up first: a denial tells when */
	failing(make_room);
	ck_assert_int_eq(umount2(state, MNT_DETACH), 0);
	broker_fini(&b);
}
END_TEST

/* ---- locked ---- */

/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
#define WRITE_LOCK 120

static int lock_fd;

static void lock(short type)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};

	/* the broker has it only while it writes */
	ck_assert_int_eq(fcntl(lock_fd, F_SETLKW, &l), 0);
}

static void unlock(void)
{
	lock(F_UNLCK);
}

START_TEST(locked)
{
	char path[128];

	broker_init(&b);
	start(NULL);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", b.dir);
	lock_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock_fd, 0);
	lock(F_WRLCK);
	failing(unlock);
	close(lock_fd);
	broker_fini(&b);
}
END_TEST

/* ---- and what could not be recorded ---- */

static void deny(unsigned n)
{
	while (n--) {
		token_send(down[1], 'n');
		ck_assert_int_eq(token_wait(up[0]), 'd');
	}
}

static void lock_start(void)
{
	char path[128];

	broker_init(&b);
	start(NULL);
	snprintf(path, sizeof(path), "%s/state/history.db-shm", b.dir);
	lock_fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(lock_fd, 0);
	lock(F_WRLCK);
}

static void lock_end(void)
{
	ck_assert_int_eq(kill(agent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	close(lock_fd);
	raw_close(&f);
	broker_stop(&b);
	broker_fini(&b);
}

/* As many rows as are kept, and a count of the rest. */
START_TEST(many_lost)
{
	const unsigned more = 76;
	struct bytes answer, item, ok;
	struct wire_iter it;

	lock_start();
	deny(LIMIT_LOST_DENIALS + more);
	unlock();
	wait_ok();
	answer = ask(&f, "history", "event", "lost_denials");
	ck_assert_int_eq(wire_iter_array(&it, raw_member(answer, "items")), 0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	ck_assert_uint_eq(raw_uint(item, "count"), more);
	answer = ask(&f, "history_verify", NULL, NULL);
	ck_assert_uint_gt(raw_uint(answer, "checked"), LIMIT_LOST_DENIALS);
	ok = raw_member(answer, "ok");
	ck_assert(ok.len == 1 && *(const uint8_t *)ok.data == 0xc3);
	lock_end();
}
END_TEST

static uint64_t decided(const char *how)
{
	struct bytes n = raw_member(
		raw_member(ask(&f, "stats", NULL, NULL), "decisions"), how);
	struct wire_value v;

	if (!n.data)
		return 0;
	ck_assert_int_eq(wire_read(&n, &v), 0);
	return v.u64;
}

/* What a batch did that failed does not count. */
START_TEST(undone_does_not_count)
{
	struct bytes item;
	struct wire_iter it;
	uint8_t digest[32];
	char request[64];

	lock_start();
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&f, "list", NULL, NULL), "items")), 0);
	ck_assert(wire_array_next(&it, &item));
	text_of(request, raw_text(item, "request"));
	memcpy(digest, raw_text(item, "digest").data, sizeof(digest));
	ck_assert(bytes_is(raw_text(raw_reply(&f, raw_decide(&f, bytes_of(request),
							  (struct bytes){digest, 32}, "allow"))
					    .error,
				   "code"),
		"store"));
	ck_assert_uint_eq(decided("allow.user"), 0);
	unlock();
	wait_ok();
	allow_pending();
	ck_assert_uint_eq(decided("allow.user"), 1);
	lock_end();
}
END_TEST

/* A suspension that could not be recorded is recorded later as it was. */
START_TEST(suspended_meanwhile)
{
	struct bytes item;
	struct wire_iter it;
	struct wire_open m;

	lock_start();
	wire_map_open(&m, raw_call(&f, "suspend"));
	wire_map_bool(&m, "all", true);
	wire_map_strz(&m, "reason", "the disk burns");
	wire_close(&m);
	ck_assert_uint_eq(raw_uint(raw_reply(&f, raw_send(&f)).result, "turns"), 1);
	ck_assert(!store_ok());
	unlock();
	wait_ok();
	ck_assert_int_eq(wire_iter_array(&it, raw_member(ask(&f, "history", "event",
								 "turn_suspended"),
						      "items")),
		0);
	ck_assert_uint_eq(it.left, 1);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "reason"), "the disk burns"));
	ck_assert(bytes_is(raw_text(item, "source"), "user"));
	ck_assert(bytes_is(raw_text(item, "agent"), "test"));
	ck_assert_uint_gt(raw_text(item, "by").len, 0);
	/* and its reason outlives the broker */
	raw_close(&f);
	broker_stop(&b);
	broker_start(&b, NULL);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "human");
	ck_assert_int_eq(
		wire_iter_array(&it, raw_member(ask(&f, "turns", NULL, NULL), "items")), 0);
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
	raw_close(&f);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "observer");
	broker_configure(&b, "[broker]\nwhen-alone = deny\n");
	ck_assert_int_eq(kill(b.pid, SIGHUP), 0);
	while (store_ok())
		;
	ck_assert_uint_eq(raw_uint(ask(&f, "stats", NULL, NULL), "pending"), 1);
	ck_assert_uint_eq(decided("deny.broker"), 0);
	unlock();
	wait_ok();
	while (raw_uint(ask(&f, "stats", NULL, NULL), "pending"))
		;
	ck_assert_uint_eq(decided("deny.broker"), 1);
	ck_assert_uint_eq(denials_recorded(), 1);
	lock_end();
}
END_TEST

/* The broker is told to end before it has tried the store again. */
START_TEST(stopped_meanwhile)
{
	lock_start();
	deny(3);
	unlock();
	raw_close(&f);
	broker_stop(&b);
	broker_start(&b, NULL);
	raw_connect(&f, b.frontend);
	raw_hello_frontend(&f, "human");
	ck_assert_uint_eq(denials_recorded(), 3);
	lock_end();
}
END_TEST

/* ---- refused at the start ---- */

static void start_refused(void)
{
	ck_assert_int_eq(broker_try(&b, NULL), EXIT_STORE);
}

START_TEST(corrupt)
{
	static const char garbage[] = "this is no database, but somebody's own notes\n";
	char path[128], text[sizeof(garbage)] = "";
	int fd;

	broker_init(&b);
	snprintf(path, sizeof(path), "%s/state", b.dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/state/history.db", b.dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), (ssize_t)sizeof(garbage));
	start_refused();
	/* and untouched */
	ck_assert_int_eq(pread(fd, text, sizeof(text), 0), (ssize_t)sizeof(text));
	ck_assert_mem_eq(text, garbage, sizeof(text));
	close(fd);
	broker_fini(&b);
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

	broker_init(&b);
	broker_start(&b, NULL);
	broker_stop(&b);
	snprintf(path, sizeof(path), "%s/state/history.db", b.dir);
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
	broker_fini(&b);
}
END_TEST

START_TEST(read_only)
{
	char state[96];

	broker_init(&b);
	broker_start(&b, NULL);
	broker_stop(&b);
	snprintf(state, sizeof(state), "%s/state", b.dir);
	if (mount(state, state, NULL, MS_BIND, NULL) < 0) {
		printf("no right to mount: a read-only folder is not tried\n");
		broker_fini(&b);
		return;
	}
	ck_assert_int_eq(mount(NULL, state, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
	start_refused();
	ck_assert_int_eq(umount2(state, MNT_DETACH), 0);
	broker_start(&b, NULL);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

START_TEST(second_broker)
{
	struct broker other;

	broker_init(&b);
	broker_start(&b, NULL);
	/* the same state folder, other sockets */
	broker_init(&other);
	{
		char state[96], link[160];

		snprintf(state, sizeof(state), "%s/state", b.dir);
		snprintf(link, sizeof(link), "[store]\npath = %s/history.db\n", state);
		broker_configure(&other, link);
	}
	ck_assert_int_eq(broker_try(&other, NULL), EXIT_STORE);
	broker_fini(&other);
	broker_stop(&b);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the store under the broker");
	TCase *t = tcase_create("store");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, full);
	tcase_add_test(t, locked);
	tcase_add_test(t, many_lost);
	tcase_add_test(t, stopped_meanwhile);
	tcase_add_test(t, undone_does_not_count);
	tcase_add_test(t, configured_meanwhile);
	tcase_add_test(t, suspended_meanwhile);
	tcase_add_test(t, corrupt);
	tcase_add_test(t, newer);
	tcase_add_test(t, read_only);
	tcase_add_test(t, second_broker);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
