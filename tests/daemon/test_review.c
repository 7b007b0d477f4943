/* SPDX-License-Identifier: MIT */
/* Clients that ask for more than their share, and what dies while it is at work. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

static struct broker b;
static struct raw watcher;

static void setup(void)
{
	static const char *const args[] = {"--store", "memory", NULL};

	broker_init(&b);
	broker_configure(&b, "[limits]\nrate = 0\n");
	broker_start(&b, args);
	raw_connect(&watcher, b.frontend);
	ck_assert(!raw_hello_frontend(&watcher, "human").error.data);
}

static void teardown(void)
{
	raw_close(&watcher);
	broker_stop(&b);
	broker_fini(&b);
}

/* Runs in a child, since an agent may not stand above the broker's frontend. */
static void in_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(watcher.fd);
		fn();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}

static struct wire_frame stats_of(struct raw *r)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, "stats"));
	wire_close(&m);
	return raw_reply(r, raw_send(r));
}

static void send_all(struct raw *r, const struct wire_buffer *out)
{
	size_t at = 0;

	while (at < out->len) {
		ssize_t n = send(r->fd, out->data + at, out->len - at, MSG_NOSIGNAL);

		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
}

/* ---- a session with more pending requests than a hello can name ---- */

#define CONNECTIONS 17u
#define EACH	    4000u

static void many_body(void)
{
	static struct raw r[CONNECTIONS];
	struct wire_frame reply;
	struct wire_iter it;
	struct raw late;

	for (unsigned c = 0; c < CONNECTIONS; c++) {
		struct wire_buffer out;

		raw_connect(&r[c], b.agent);
		ck_assert(!raw_hello_agent(&r[c], "s").error.data);
		wire_buffer_init(&out, SIZE_MAX / 2);
		for (unsigned n = 0; n < EACH; n++) {
			struct wire_open m;
			char call[32];

			snprintf(call, sizeof(call), "%u-%u", c, n);
			wire_pack_call(&out, 100 + n, bytes_of("request"));
			wire_map_open(&m, &out);
			wire_map_strz(&m, "tool_call_id", call);
			wire_map_strz(&m, "tool", "Frobnicate");
			wire_map_key(&m, "input");
			wire_pack_map(&out, 0);
			wire_close(&m);
		}
		send_all(&r[c], &out);
		wire_buffer_free(&out);
		for (unsigned n = 0; n < EACH; n++)
			raw_notification(&r[c], "request_state");
	}
	raw_connect(&late, b.agent);
	reply = raw_hello_agent(&late, "s");
	ck_assert_msg(!reply.error.data, "hello is refused");
	ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "pending")), 0);
	ck_assert_uint_gt(it.left, 1000);
}

START_TEST(hello_of_many_pending)
{
	in_child(many_body);
}
END_TEST

/* ---- an answer that ends the connection of the call that was resolved ---- */

#define WATCHERS 250u
#define HOGS	 12u

static char unknown[128]; /* nothing is known of it: the worker has to look */

static void pack_large_request(struct raw *r)
{
	static char text[16000];
	struct wire_buffer *out = raw_call(r, "request");
	struct wire_open m, i;

	memset(text, 'x', sizeof(text) - 1);
	wire_map_open(&m, out);
	wire_map_strz(&m, "tool_call_id", "c");
	wire_map_strz(&m, "tool", "Read");
	wire_map_u64(&m, "timeout_ms", 2000);
	wire_map_key(&m, "input");
	wire_map_open(&i, out);
	wire_map_strz(&i, "file_path", unknown);
	wire_map_strz(&i, "x", text);
	wire_close(&i);
	wire_map_strz(&m, "description", text);
	text[4000] = '\0';
	wire_map_strz(&m, "summary", text);
	wire_close(&m);
}

/* Unfinished messages that take all the bytes that the uid may have in buffers. */
static void hog(struct raw hogs[HOGS])
{
	static uint8_t data[(256u << 10) + 1] = {
		0x94, 0x00, 0x01, 0xa1, 'x', 0x91, 0xc6, 0, 16};

	for (unsigned i = 0; i < HOGS; i++) {
		size_t len = (256u << 10 >> i) + 1;

		raw_connect(&hogs[i], b.agent);
		/* the broker may end it before it has taken all */
		send(hogs[i].fd, data, len, MSG_NOSIGNAL);
	}
}

static void resolved_body(void)
{
	static struct raw hogs[HOGS];
	struct wire_frame f;
	struct raw r;

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "s").error.data);
	hog(hogs);
	pack_large_request(&r);
	raw_send(&r);
	/*
	 * Whatever of these the broker reads first: its answer finds no room and ends the
	 * connection, or the request waits and ends by its time.
	 */
	while (raw_next_or_end(&r, &f) && f.type != WIRE_REPLY)
		;
}

START_TEST(end_by_the_answer)
{
	static struct raw watchers[WATCHERS];
	struct raw person;

	teardown();
	broker_init(&b);
	broker_configure(&b, "[limits]\npending-bytes = 1M\n");
	broker_start(&b, NULL);
	raw_connect(&watcher, b.frontend);
	raw_hello_frontend(&watcher, "human");
	snprintf(unknown, sizeof(unknown), "%s/none/none", b.dir);
	for (unsigned i = 0; i < WATCHERS; i++) {
		struct wire_open m;

		raw_connect(&watchers[i], b.frontend);
		raw_hello_frontend(&watchers[i], "human");
		wire_map_open(&m, raw_call(&watchers[i], "subscribe"));
		wire_close(&m);
		ck_assert(!raw_reply(&watchers[i], raw_send(&watchers[i])).error.data);
	}
	/* to all of them the request is more than a batch holds: it goes out at once */
	in_child(resolved_body);
	for (unsigned i = 0; i < WATCHERS; i++)
		raw_close(&watchers[i]);
	raw_connect(&person, b.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
	raw_close(&person);
}
END_TEST

/* ---- subjects that die ---- */

static unsigned descriptors(void)
{
	char path[64];
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)b.pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void dies_body(void)
{
	struct raw r;

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "s").error.data);
}

static void sessions_await_none(void)
{
	struct wire_frame f;

	do
		f = stats_of(&watcher);
	while (raw_uint(f.result, "sessions") != 0 || raw_uint(f.result, "connections") != 1);
}

START_TEST(dead_subjects_leave_nothing)
{
	unsigned before;

	in_child(dies_body);
	sessions_await_none();
	before = descriptors();
	for (int i = 0; i < 20; i++)
		in_child(dies_body);
	sessions_await_none();
	ck_assert_uint_eq(descriptors(), before);
}
END_TEST

/* ---- a frontend that asks for much at once and does not read ---- */

#define LISTS 600u

static void big_body(void)
{
	struct raw r;

	raw_connect(&r, b.agent);
	ck_assert(!raw_hello_agent(&r, "s").error.data);
	for (unsigned n = 0; n < 100; n++) {
		static char text[15000];
		struct wire_open m;
		char call[16];

		memset(text, 'x', sizeof(text) - 1);
		snprintf(call, sizeof(call), "%u", n);
		wire_map_open(&m, raw_call(&r, "request"));
		wire_map_strz(&m, "tool_call_id", call);
		wire_map_strz(&m, "tool", "Frobnicate");
		wire_map_strz(&m, "input", text);
		wire_map_strz(&m, "on_disconnect", "keep");
		wire_close(&m);
		raw_send(&r);
		raw_notification(&r, "request_state");
	}
}

static long peak_kib(void)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)b.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

START_TEST(lists_at_once)
{
	struct wire_buffer out;
	struct wire_frame f;
	struct raw greedy;
	long before;

	in_child(big_body);
	before = peak_kib();
	raw_connect(&greedy, b.frontend);
	raw_hello_frontend(&greedy, "observer");
	wire_buffer_init(&out, SIZE_MAX / 2);
	for (unsigned n = 0; n < LISTS; n++) {
		wire_pack_call(&out, 100 + n, bytes_of("list"));
		wire_pack_map(&out, 0);
	}
	send_all(&greedy, &out);
	wire_buffer_free(&out);
	/* the watcher is answered all the same */
	f = stats_of(&watcher);
	ck_assert(!f.error.data);
	while (raw_uint(f.result, "connections") > 1)
		f = stats_of(&watcher);
	ck_assert_msg(peak_kib() - before < 200 * 1024, "%ld KiB more", peak_kib() - before);
	raw_close(&greedy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("review");
	TCase *t = tcase_create("review");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 240);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, hello_of_many_pending);
	tcase_add_test(t, end_by_the_answer);
	tcase_add_test(t, dead_subjects_leave_nothing);
	tcase_add_test(t, lists_at_once);
	suite_add_tcase(suite, t);
	sr = srunner_create(suite);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
