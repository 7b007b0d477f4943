/* SPDX-License-Identifier: MIT */
/* What one client could do to the others, by the order or the amount of what it sends. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "libapproval/limits.h"
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
	broker_configure(&b, "[limits]\nrate = 0\n");
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

/* An agent of a broker that takes ten calls a second. */
static void limited_begin(struct raw *r)
{
	static const char *const args[] = {"--store", "none", NULL};

	broker_init(&b);
	broker_configure(&b, "[limits]\nrate = 10\n");
	broker_start(&b, args);
	raw_connect(r, b.agent);
	ck_assert(!raw_hello_agent(r, "a").error.data);
}

static void limited_end(struct raw *r)
{
	raw_close(r);
	stop();
}

/* The same call over and over is refused in the end. */
static void is_counted(void (*pack)(struct raw *r))
{
	bool limited = false;
	struct wire_frame f;
	struct raw r;

	limited_begin(&r);
	for (unsigned n = 0; n < 10000 && !limited; n++) {
		pack(&r);
		f = raw_reply(&r, raw_send(&r));
		limited = bytes_is(raw_text(f.error, "code"), "limit");
	}
	ck_assert(limited);
	limited_end(&r);
}

/* What makes a record counts, not only requests. */
START_TEST(calls_are_counted)
{
	is_counted(turn_begin_pack);
}
END_TEST

static void outcome_pack(struct raw *r)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "outcome"));
	wire_map_strz(&m, "tool_call_id", "never asked");
	wire_map_strz(&m, "outcome", "succeeded");
	wire_close(&m);
}

/* An outcome of a call that never was is recorded: it counts as much. */
START_TEST(outcomes_are_counted)
{
	is_counted(outcome_pack);
}
END_TEST

/* What can't be answered ends the connection when it is too much. */
START_TEST(notifications_are_counted)
{
	struct wire_buffer out;
	struct wire_frame f;
	struct raw r;

	limited_begin(&r);
	wire_buffer_init(&out, SIZE_MAX / 2);
	for (unsigned n = 0; n < 1000; n++) {
		wire_pack_notify(&out, bytes_of("hello?"));
		wire_pack_map(&out, 0);
	}
	ck_assert_int_eq(send(r.fd, out.data, out.len, MSG_NOSIGNAL), (ssize_t)out.len);
	wire_buffer_free(&out);
	ck_assert_int_eq(raw_next_or_end(&r, &f), 0);
	limited_end(&r);
}
END_TEST

static struct wire_frame options_ask(struct raw *r, const char *call, unsigned n)
{
	struct wire_buffer *out = raw_call(r, "request");
	struct wire_open m, o;
	char id[16];

	wire_map_open(&m, out);
	wire_map_strz(&m, "type", "question");
	wire_map_strz(&m, "tool_call_id", call);
	wire_map_strz(&m, "tool", "Ask");
	wire_map_strz(&m, "input", "which?");
	wire_map_key(&m, "options");
	wire_pack_array(out, n);
	for (unsigned i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "o%u", i);
		wire_map_open(&o, out);
		wire_map_strz(&o, "id", id);
		wire_map_strz(&o, "label", id);
		wire_close(&o);
	}
	wire_close(&m);
	raw_send(r);
	return raw_next(r);
}

START_TEST(options_are_bounded)
{
	static const char *const args[] = {"--store", "none", NULL};
	struct wire_frame f;
	struct raw r;

	broker_init(&b);
	broker_start(&b, args);
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	f = options_ask(&r, "a", LIMIT_OPTIONS);
	ck_assert(f.type == WIRE_NOTIFY && bytes_is(f.method, "request_state"));
	f = options_ask(&r, "b", LIMIT_OPTIONS + 1);
	ck_assert(f.type == WIRE_REPLY && bytes_is(raw_text(f.error, "code"), "too_large"));
	raw_close(&r);
	stop();
}
END_TEST

/* ---- places ---- */

/* An agent does not keep people away by taking all the places of frontends. */
START_TEST(places_stay_free)
{
	static const char *const args[] = {"--store", "none", NULL};
	int up[2], down[2];
	struct raw r;
	char c = 'r';

	broker_init(&b);
	broker_start(&b, args);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	if (fork() == 0) {
		static struct raw silent[LIMIT_FRONTENDS + 64];

		close(down[1]);
		raw_connect(&r, b.agent);
		ck_assert(!raw_hello_agent(&r, "a").error.data);
		for (unsigned i = 0; i < LIMIT_FRONTENDS + 64; i++)
			raw_connect(&silent[i], b.frontend);
		/* all of them have been accepted when this is answered */
		ck_assert(turn_begun(&r) && turn_begun(&r));
		ck_assert_int_eq(write(up[1], &c, 1), 1);
		ck_assert_int_eq(read(down[0], &c, 1), 0);
		_exit(0);
	}
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	close(down[1]);
	raw_close(&r);
	stop();
}
END_TEST

/* ---- what people need of what agents take ---- */

/* A call whose end does not come; false: the connection has been ended. */
static bool unfinished(const char *path, size_t len)
{
	static const uint8_t begin[] = {
		0x94, 0, 1, 0xa1, 'x', 0x91, 0x81, 0xa1, 'x', 0xc6, 0, 0x3f, 0, 0};
	static uint8_t bytes[256u << 10];
	struct raw r;
	size_t at = 0;
	ssize_t n = 1;

	memcpy(bytes, begin, sizeof(begin));
	raw_connect(&r, path);
	for (; at < len && n > 0; at += (size_t)n)
		n = send(r.fd, bytes + at, len - at < 4096 ? len - at : 4096, MSG_NOSIGNAL);
	return n > 0;
}

static void take_connections(void)
{
	for (unsigned i = 0; i < 200; i++) {
		struct raw r;

		raw_connect(&r, b.agent);
	}
}

/* Down to the smallest buffer. */
static void take_buffers(void)
{
	for (size_t len = 256u << 10; len > 64; len /= 2)
		while (unfinished(b.agent, len) && !unfinished(b.agent, len))
			;
}

static void take_frontend_buffers(void)
{
	for (unsigned i = 0; i < 16; i++)
		unfinished(b.frontend, 256u << 10);
}

#define ASKED_N 20u

/* Many calls at once, so that what people are told of them has to wait in memory. */
static void ask_much(struct raw *r)
{
	static uint8_t all[64u << 10];
	size_t len = 0;

	for (unsigned n = 0; n < ASKED_N; n++) {
		struct wire_buffer *out = raw_call(r, "request");
		struct wire_open m, i;
		char call[16];

		snprintf(call, sizeof(call), "c%u", n);
		wire_map_open(&m, out);
		wire_map_strz(&m, "tool_call_id", call);
		wire_map_strz(&m, "tool", "Frobnicate");
		wire_map_key(&m, "input");
		wire_map_open(&i, out);
		wire_close(&i);
		wire_close(&m);
		ck_assert_uint_le(len + out->len, sizeof(all));
		memcpy(all + len, out->data, out->len);
		len += out->len;
	}
	ck_assert_int_eq(send(r->fd, all, len, MSG_NOSIGNAL), (ssize_t)len);
}

static const struct {
	const char *config;
	rlim_t descriptors;
	void (*take)(void);
} taking[] = {
	{"[limits]\nconnections = 40\n", 0, take_connections},
	{"", 220, take_connections},
	{"[limits]\npending-bytes = 1M\n", 0, take_buffers},
	{"[limits]\npending-bytes = 2M\n", 0, take_frontend_buffers},
};

/* Whatever an agent takes of that which is limited, people are told and can suspend it. */
START_TEST(person_is_served)
{
	int up[2], down[2];
	struct wire_frame f;
	struct wire_open m;
	struct raw r;
	char c = 'r';

	if (taking[_i].descriptors) {
		struct rlimit limit = {taking[_i].descriptors, taking[_i].descriptors};

		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	}
	broker_init(&b);
	broker_configure(&b, taking[_i].config);
	broker_start(&b, NULL);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	if (fork() == 0) {
		close(down[1]);
		raw_connect(&r, b.agent);
		ck_assert(!raw_hello_agent(&r, "a").error.data);
		if (fork() == 0) {
			taking[_i].take();
			/* all of it has been seen when this is answered */
			ck_assert(turn_begun(&r) && turn_begun(&r));
			ck_assert_int_eq(write(up[1], &c, 1), 1);
			ck_assert_int_eq(read(down[0], &c, 1), 0);
			_exit(0);
		}
		ck_assert_int_eq(read(down[0], &c, 1), 1);
		ask_much(&r);
		ck_assert_int_eq(read(down[0], &c, 1), 0);
		_exit(0);
	}
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	wire_map_open(&m, raw_call(&r, "subscribe"));
	wire_close(&m);
	ck_assert(!raw_reply(&r, raw_send(&r)).error.data);
	ck_assert_int_eq(write(down[1], &c, 1), 1);
	for (unsigned n = 0; n < ASKED_N; n++)
		raw_notification(&r, "offered");
	wire_map_open(&m, raw_call(&r, "suspend"));
	wire_map_bool(&m, "all", true);
	wire_close(&m);
	f = raw_reply(&r, raw_send(&r));
	ck_assert(!f.error.data);
	ck_assert_uint_eq(raw_uint(f.result, "turns"), 1);
	close(down[1]);
	raw_close(&r);
	stop();
}
END_TEST

/* ---- memory ---- */

#ifndef SANITIZED
#define LONG_TEXT (700u << 10)
#define LONG_N	  100u

/* A long command, and beside the input what else a request may hold. */
static uint32_t long_request(struct raw *r, unsigned n)
{
	static char text[LONG_TEXT], more[200u << 10];
	struct wire_buffer *out = raw_call(r, "request");
	struct wire_open m, i;
	char call[16];

	memset(text, 'x', sizeof(text));
	memset(more, 'y', sizeof(more));
	snprintf(call, sizeof(call), "c%u", n);
	wire_map_open(&m, out);
	wire_map_strz(&m, "tool_call_id", call);
	wire_map_strz(&m, "tool", "Bash");
	wire_map_key(&m, "input");
	wire_map_open(&i, out);
	wire_map_str(&i, "command", (struct bytes){text, sizeof(text)});
	wire_close(&i);
	wire_map_key(&m, "schema");
	wire_map_open(&i, out);
	wire_map_str(&i, "x", (struct bytes){more, sizeof(more)});
	wire_close(&i);
	wire_close(&m);
	return raw_send(r);
}

/* VmRSS: what it has; VmHWM: the most that it had. */
static unsigned long broker_kb(const char *which)
{
	char path[64], line[256];
	unsigned long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)b.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, which, 5) == 0 && sscanf(line + 5, ": %lu", &kb) == 1)
			break;
	fclose(f);
	ck_assert_uint_gt(kb, 0);
	return kb;
}

/* What is denied at once is remembered, but not held whole. */
START_TEST(denied_is_small)
{
	static const char *const args[] = {"--store", "none", NULL};
	unsigned long before;
	struct wire_frame f;
	struct wire_open m;
	struct raw r;

	broker_init(&b);
	broker_start(&b, args);
	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	wire_map_open(&m, raw_call(&r, "set_mode"));
	wire_map_strz(&m, "mode", "plan");
	wire_close(&m);
	ck_assert(!raw_reply(&r, raw_send(&r)).error.data);
	before = broker_kb("VmRSS");
	for (unsigned n = 0; n < LONG_N; n++) {
		f = raw_reply(&r, long_request(&r, n));
		ck_assert(bytes_is(raw_text(f.result, "verdict"), "deny"));
	}
	ck_assert_uint_lt(broker_kb("VmRSS"), before + LONG_N * (LONG_TEXT >> 10) / 4);
	raw_close(&r);
	stop();
}
END_TEST

#define SHOWN_N 400u

static void shown_agent(int up, int down)
{
	struct wire_open m;
	struct raw r;
	char c = 'r';

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	for (unsigned n = 0; n < SHOWN_N; n++) {
		static char more[200u << 10];
		struct wire_buffer *out = raw_call(&r, "request");
		struct wire_open i;
		char call[16];

		memset(more, 'y', sizeof(more));
		snprintf(call, sizeof(call), "c%u", n);
		wire_map_open(&m, out);
		wire_map_strz(&m, "tool_call_id", call);
		wire_map_strz(&m, "tool", "Frobnicate");
		wire_map_key(&m, "input");
		wire_map_open(&i, out);
		wire_close(&i);
		wire_map_key(&m, "schema");
		wire_map_open(&i, out);
		wire_map_str(&i, "x", (struct bytes){more, sizeof(more)});
		wire_close(&i);
		wire_close(&m);
		raw_send(&r);
		raw_notification(&r, "request_state");
	}
	ck_assert_int_eq(write(up, &c, 1), 1);
	ck_assert_int_eq(read(down, &c, 1), 1);
	/* all of them go on in the new turn, and everybody is told of each */
	ck_assert(turn_begun(&r));
	ck_assert_int_eq(write(up, &c, 1), 1);
	ck_assert_int_eq(read(down, &c, 1), 0);
	_exit(0);
}

/* One call that changes much takes no memory for those who could not be sent it anyway. */
START_TEST(events_are_bounded)
{
	static const char *const args[] = {"--store", "none", NULL};
	struct wire_frame f;
	struct wire_open m;
	unsigned long before;
	int up[2], down[2];
	struct raw r;
	char c;

	broker_init(&b);
	broker_start(&b, args);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	if (fork() == 0) {
		close(down[1]);
		shown_agent(up[1], down[0]);
	}
	close(up[1]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	raw_connect(&r, b.frontend);
	ck_assert(!raw_hello_frontend(&r, "human").error.data);
	for (uint8_t cursor[16], more = false;;) {
		struct bytes v;

		wire_map_open(&m, raw_call(&r, "subscribe"));
		if (more)
			wire_map_bin(&m, "cursor", (struct bytes){cursor, sizeof(cursor)});
		wire_close(&m);
		f = raw_reply(&r, raw_send(&r));
		ck_assert(!f.error.data);
		v = raw_text(f.result, "cursor");
		ck_assert_uint_eq(v.len, sizeof(cursor));
		memcpy(cursor, v.data, sizeof(cursor));
		more = true;
		if (*(const uint8_t *)raw_member(f.result, "more").data != 0xc3)
			break;
	}
	before = broker_kb("VmHWM");
	ck_assert_int_eq(write(down[1], &c, 1), 1);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	ck_assert_uint_lt(broker_kb("VmHWM"), before + 40 * 1024);
	close(down[1]);
	raw_close(&r);
	stop();
}
END_TEST
#endif

int main(void)
{
	Suite *s = suite_create("one client against the others");
	TCase *t = tcase_create("review");
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, busy_while_failing);
	tcase_add_test(t, calls_are_counted);
	tcase_add_test(t, outcomes_are_counted);
	tcase_add_test(t, notifications_are_counted);
	tcase_add_test(t, options_are_bounded);
	tcase_add_test(t, places_stay_free);
	tcase_add_loop_test(t, person_is_served, 0, (int)(sizeof(taking) / sizeof(*taking)));
#ifndef SANITIZED
	if (broker_valgrind()) {
		printf("what memory it takes: skipped under valgrind\n");
	} else {
		tcase_add_test(t, denied_is_small);
		tcase_add_test(t, events_are_bounded);
	}
#endif
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
