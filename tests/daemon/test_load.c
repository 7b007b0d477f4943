/* SPDX-License-Identifier: MIT */
/*
 * Ten thousand connections, and a hundred thousand requests that wait at once: they
 * work, what they cost in memory is printed and bounded, and all is given back.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define CONNECTIONS 10000
#define PENDING	    100000
#define SENDERS	    50
#define SKIPPED	    77
/* bounds of resident bytes; where they go stands in doc/hacking.md */
#define EACH_CONNECTION 500
#define EACH_SESSION	1000
#define EACH_PENDING	1500
#define AFTER		20000000

static const char config[] = "[limits]\nconnections = 20000\nrate = 0\nsessions = 20000\n"
			     "pending = 200000\npending-bytes = 1G\n";

static uint64_t rss(pid_t pid)
{
	unsigned long long kb = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu kB", &kb) == 1)
			break;
	fclose(f);
	return kb * 1024;
}

/* Before the tests, so that it may skip them. */
static void files_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_max < 20000)
		goto skip;
	r.rlim_cur = r.rlim_max = 20000;
	if (setrlimit(RLIMIT_NOFILE, &r) == 0)
		return;
skip:
	printf("20,000 descriptors can't be had: skipped\n");
	exit(SKIPPED);
}

static struct bytes stats(struct raw *f)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(f, "stats"));
	wire_close(&m);
	return raw_reply(f, raw_send(f)).result;
}

static void token_send(int fd)
{
	ck_assert_int_eq(write(fd, "", 1), 1);
}

static void token_wait(int fd)
{
	char c;

	ck_assert_int_eq(read(fd, &c, 1), 1);
}

static struct raw agents[CONNECTIONS];

static void many_connect(const char *path)
{
	for (unsigned i = 0; i < CONNECTIONS; i++)
		raw_connect(&agents[i], path);
}

static void many_hello(const char *path)
{
	char key[32];

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		snprintf(key, sizeof(key), "s%u", i);
		raw_connect(&agents[i], path);
		ck_assert(!raw_hello_agent(&agents[i], key).error.data);
		/* the client's own buffers are not the question */
		free(agents[i].data);
		agents[i].data = NULL;
		agents[i].cap = agents[i].len = agents[i].taken = 0;
		wire_buffer_free(&agents[i].out);
	}
}

static void many_requests(const char *path)
{
	static char text[1024];
	char key[32], call[32];

	memset(text, 'x', sizeof(text) - 8);
	for (unsigned i = 0; i < SENDERS; i++) {
		struct raw *r = &agents[i];

		snprintf(key, sizeof(key), "s%u", i);
		raw_connect(r, path);
		ck_assert(!raw_hello_agent(r, key).error.data);
		for (unsigned n = 0; n < PENDING / SENDERS; n++) {
			snprintf(call, sizeof(call), "c%u", n);
			raw_request(r, call, "Frobnicate", text);
		}
		/* the last one has been asked about: all of them have */
		for (unsigned n = 0; n < PENDING / SENDERS; n++)
			raw_notification(r, "request_state");
	}
}

struct figures {
	uint64_t base, loaded, after;
};

static struct figures run(
	const char *store, void (*fn)(const char *path), uint64_t connections, uint64_t pending)
{
	const char *args[] = {"--store", store, NULL};
	struct figures f;
	struct broker b;
	struct raw r;
	int up[2], down[2];
	pid_t pid;

	broker_init(&b);
	broker_configure(&b, config);
	broker_start(&b, args);
	raw_connect(&r, b.frontend);
	raw_hello_frontend(&r, "human");
	stats(&r);
	f.base = rss(b.pid);
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		fn(b.agent);
		token_send(up[1]);
		token_wait(down[0]);
		_exit(0);
	}
	token_wait(up[0]);
	/* they are accepted in bursts, one in each turn of the loop */
	while (raw_uint(stats(&r), "connections") < connections + 1)
		;
	ck_assert_uint_eq(raw_uint(stats(&r), "pending"), pending);
	f.loaded = rss(b.pid);
	token_send(down[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* its process is dead: each question waits for one more turn of the loop */
	for (;;) {
		struct bytes s = stats(&r);

		if (raw_uint(s, "connections") == 1 && raw_uint(s, "pending") == 0 &&
			raw_uint(s, "sessions") == 0)
			break;
	}
	stats(&r); /* memory is given back at the end of the turn that counted them */
	f.after = rss(b.pid);
	raw_close(&r);
	broker_stop(&b);
	broker_fini(&b);
	return f;
}

static void connections(const char *what, void (*fn)(const char *path), double limit)
{
	struct figures f = run("sqlite", fn, CONNECTIONS, 0);
	double each = (double)(f.loaded - f.base) / CONNECTIONS;

	printf("base RSS %.2f MB (at most 8), %.0f bytes for each of %d idle connections %s "
	       "(at most 1000, aim 500), %.2f MB after\n",
		(double)f.base / 1e6, each, CONNECTIONS, what, (double)f.after / 1e6);
	ck_assert_uint_le(f.base, 8000000);
	ck_assert(each <= limit);
	ck_assert_uint_le(f.after, AFTER);
}

START_TEST(ten_thousand_connections)
{
	connections("before hello", many_connect, EACH_CONNECTION);
}
END_TEST

START_TEST(ten_thousand_sessions)
{
	connections("with a session each", many_hello, EACH_SESSION);
}
END_TEST

static void pending(const char *store, double limit)
{
	struct figures f = run(store, many_requests, SENDERS, PENDING);
	double each = (double)(f.loaded - f.base) / PENDING;

	printf("%s: %.0f bytes for each of %d pending requests with 1 KiB of input "
	       "(at most 1500), %.2f MB after\n",
		store, each, PENDING, (double)f.after / 1e6);
	ck_assert(each <= limit);
	ck_assert_uint_le(f.after, AFTER);
}

START_TEST(hundred_thousand_pending)
{
	pending("none", EACH_PENDING);
}
END_TEST

START_TEST(hundred_thousand_pending_stored)
{
	pending("sqlite", EACH_PENDING);
}
END_TEST

#ifdef SANITIZED
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

int main(void)
{
	Suite *s;
	TCase *t;
	SRunner *sr;
	int failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sanitized) {
		printf("memory is measured without sanitizers: skipped\n");
		return SKIPPED;
	}
	files_limit();
	s = suite_create("load");
	t = tcase_create("load");
	tcase_set_timeout(t, 600);
	tcase_add_test(t, ten_thousand_connections);
	tcase_add_test(t, ten_thousand_sessions);
	tcase_add_test(t, hundred_thousand_pending);
	tcase_add_test(t, hundred_thousand_pending_stored);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
