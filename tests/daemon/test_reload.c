/* SPDX-License-Identifier: MIT */
/* Signals: the configuration is read again, and the broker ends cleanly. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

/* How many calls were denied since nobody could be asked. */
static uint64_t denied(struct raw *f)
{
	struct wire_frame reply;
	struct wire_open m;
	struct bytes d, n;
	struct wire_value v;

	wire_map_open(&m, raw_call(f, "stats"));
	wire_close(&m);
	reply = raw_reply(f, raw_send(f));
	d = raw_member(reply.result, "decisions");
	n = raw_member(d, "deny.broker");
	if (!n.data)
		return 0;
	ck_assert_int_eq(wire_read(&n, &v), 0);
	return v.u64;
}

/* Where the broker notifies, as its service manager. */
static int manager_open(const struct broker *b)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/notify", b->dir);
	unlink(a.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void manager_expect(int fd, const char *what)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[512];
	ssize_t n;

	ck_assert_msg(poll(&p, 1, 60000) == 1, "no %s", what);
	n = recv(fd, text, sizeof(text) - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = 0;
	ck_assert_msg(strstr(text, what) != NULL, "%s instead of %s", text, what);
}

static void broker_signal(const struct broker *b, int number)
{
	ck_assert_int_eq(syscall(SYS_pidfd_send_signal, b->pidfd, number, NULL, 0), 0);
}

/* Returns when the file has been read, for good or bad. */
static void reload(const struct broker *b, int manager)
{
	broker_signal(b, SIGHUP);
	manager_expect(manager, "RELOADING=1");
	manager_expect(manager, "READY=1");
}

/* An agent asks n times in a child, and goes on waiting until it is ended. */
static pid_t agent(const struct broker *b, const char *key, unsigned n)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct raw r;
		char call[16];

		raw_connect(&r, b->agent);
		raw_hello_agent(&r, key);
		for (unsigned i = 0; i < n; i++) {
			snprintf(call, sizeof(call), "c%u", i);
			raw_request(&r, call, "Frobnicate", call);
		}
		for (;;)
			pause();
	}
	return pid;
}

static void agent_end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void frontend_open(struct raw *f, const struct broker *b, const char *role)
{
	struct wire_open m;

	raw_connect(f, b->frontend);
	raw_hello_frontend(f, role);
	wire_map_open(&m, raw_call(f, "subscribe"));
	wire_close(&m);
	raw_reply(f, raw_send(f));
}

static void text_of(char out[64], struct bytes b)
{
	snprintf(out, 64, "%.*s", (int)b.len, b.data ? (const char *)b.data : "");
}

START_TEST(configuration)
{
	/* the last one: there is no such file any more */
	static const char *const bad[] = {"[broker]\nheadless = perhaps\n",
		"[broker]\nheadless = yes\nno such thing\n",
		"[broker]\nheadless = yes\nheedless = yes\n", NULL};
	pid_t agents[6];
	unsigned n = 0;
	struct broker b;
	struct raw f;
	int manager;

	broker_init(&b);
	broker_start(&b, NULL);
	manager = manager_open(&b);
	frontend_open(&f, &b, "observer");
	agents[n++] = agent(&b, "first", 1);
	raw_notification(&f, "offered");
	ck_assert_uint_eq(denied(&f), 0);
	/* a bad file: nothing of it is taken; what waits goes on waiting, and what comes waits
	 */
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char key[16];

		if (bad[i])
			broker_configure(&b, bad[i]);
		else
			ck_assert_int_eq(unlink(b.config), 0);
		reload(&b, manager);
		snprintf(key, sizeof(key), "bad%u", i);
		agents[n++] = agent(&b, key, 1);
		raw_notification(&f, "offered");
		ck_assert_uint_eq(denied(&f), 0);
	}
	/* a good one: nobody will answer, so all are denied */
	broker_configure(&b, "[broker]\nheadless = yes\n");
	reload(&b, manager);
	for (unsigned i = 0; i < n; i++)
		raw_notification(&f, "resolved");
	ck_assert_uint_eq(denied(&f), n);
	/* and back */
	broker_configure(&b, "");
	reload(&b, manager);
	agents[n++] = agent(&b, "last", 1);
	raw_notification(&f, "offered");
	ck_assert_uint_eq(denied(&f), n - 1);
	while (n)
		agent_end(agents[--n]);
	raw_close(&f);
	broker_stop(&b);
	close(manager);
	broker_fini(&b);
}
END_TEST

/* ---- an end that is asked for ---- */

#define ASKED 200

struct asked {
	char request[64];
	uint8_t digest[32];
	uint32_t id; /* of the call that decides it */
	bool ok;     /* told so */
	bool pending, decided;
};

static struct asked *asked_find(struct asked list[ASKED], struct bytes request)
{
	for (unsigned i = 0; i < ASKED; i++)
		if (request.len && bytes_is(request, list[i].request))
			return &list[i];
	return NULL;
}

/* Calls a method that lists, page by page; each item to take. */
static void pages(struct raw *f, const char *method, const char *cursor,
	void (*take)(struct asked list[ASKED], struct bytes item), struct asked list[ASKED])
{
	uint8_t at[256];
	size_t len = 0;
	bool more = true;

	while (more) {
		struct bytes item, next;
		struct wire_value v;
		struct wire_frame reply;
		struct wire_open m;
		struct wire_iter it;

		wire_map_open(&m, raw_call(f, method));
		if (len)
			wire_map_raw(&m, cursor, (struct bytes){at, len});
		wire_close(&m);
		reply = raw_reply(f, raw_send(f));
		ck_assert(!reply.error.data);
		ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "items")), 0);
		while (wire_array_next(&it, &item))
			take(list, item);
		next = raw_member(reply.result, "more");
		ck_assert_int_eq(wire_read(&next, &v), 0);
		more = v.boolean;
		next = raw_member(reply.result, "cursor");
		ck_assert_uint_le(len = next.len, sizeof(at));
		memcpy(at, next.data, len);
	}
}

static void take_pending(struct asked list[ASKED], struct bytes item)
{
	struct asked *a = asked_find(list, raw_text(item, "request"));

	ck_assert_ptr_nonnull(a);
	ck_assert(bytes_is(raw_text(item, "state"), "AWAITING"));
	a->pending = true;
}

static void take_history(struct asked list[ASKED], struct bytes item)
{
	struct asked *a = asked_find(list, raw_text(item, "request"));

	if (!a || !bytes_is(raw_text(item, "event"), "decision"))
		return;
	ck_assert_msg(!a->decided, "%s has two decisions", a->request);
	ck_assert(bytes_is(raw_text(item, "verdict"), "allow"));
	a->decided = true;
}

/* The replies up to the end of the connection. */
static unsigned replies_take(struct raw *f, struct asked list[ASKED])
{
	struct wire_frame reply;
	unsigned n = 0;

	while (raw_next_or_end(f, &reply)) {
		struct bytes element;
		struct wire_iter it;

		if (reply.type != WIRE_REPLY || reply.error.data)
			continue;
		ck_assert_int_eq(wire_iter_array(&it, raw_member(reply.result, "results")), 0);
		ck_assert(wire_array_next(&it, &element));
		for (unsigned i = 0; i < ASKED; i++)
			if (list[i].id == reply.id) {
				list[i].ok = bytes_is(raw_text(element, "result"), "ok");
				n += list[i].ok;
			}
	}
	return n;
}

/*
 * The end is asked for while decisions are under way: the status is 0, the sockets
 * are gone, what was told is recorded, and all else is pending again.
 */
static void termination_by(int number)
{
	struct asked list[ASKED] = {0};
	unsigned told, decided = 0;
	struct broker b;
	struct raw f;
	int manager;
	pid_t pid;

	broker_init(&b);
	broker_start(&b, NULL);
	manager = manager_open(&b);
	frontend_open(&f, &b, "human");
	pid = agent(&b, "a", ASKED);
	for (unsigned i = 0; i < ASKED; i++) {
		struct bytes item = raw_member(raw_notification(&f, "offered").params, "item");
		struct bytes digest = raw_text(item, "digest");

		text_of(list[i].request, raw_text(item, "request"));
		ck_assert_uint_eq(digest.len, 32);
		memcpy(list[i].digest, digest.data, 32);
	}
	for (unsigned i = 0; i < ASKED / 2; i++)
		list[i].id = raw_decide(&f, bytes_of(list[i].request),
			(struct bytes){list[i].digest, 32}, "allow");
	broker_signal(&b, number);
	manager_expect(manager, "STOPPING=1");
	ck_assert_int_eq(broker_wait(&b), 0);
	ck_assert_int_ne(access(b.agent, F_OK), 0);
	ck_assert_int_ne(access(b.frontend, F_OK), 0);
	told = replies_take(&f, list);
	raw_close(&f);
	close(manager);

	broker_start(&b, NULL);
	frontend_open(&f, &b, "human");
	pages(&f, "list", "cursor", take_pending, list);
	pages(&f, "history", "after", take_history, list);
	for (unsigned i = 0; i < ASKED; i++) {
		ck_assert_msg(list[i].decided || !list[i].ok, "%u: told but not recorded", i);
		ck_assert_msg(list[i].pending != list[i].decided, "%u: %s", i,
			list[i].pending ? "decided and pending" : "lost");
		decided += list[i].decided;
	}
	printf("%u decisions told, %u recorded, %u pending again\n", told, decided,
		ASKED - decided);
	agent_end(pid);
	raw_close(&f);
	broker_stop(&b);
	broker_fini(&b);
}

START_TEST(termination)
{
	termination_by(_i ? SIGINT : SIGTERM);
}
END_TEST

/* ---- what is outstanding at the end ---- */

static void pipe_tell(int fd)
{
	ck_assert_int_eq(write(fd, "x", 1), 1);
}

static void pipe_await(int fd)
{
	char c;

	ck_assert_int_eq(read(fd, &c, 1), 1);
}

static void outstanding(const struct broker *b, int up, int down)
{
	uint32_t request, check;
	bool told = false;
	struct wire_frame f;
	struct wire_open m;
	struct raw r;

	raw_connect(&r, b->agent);
	ck_assert(!raw_hello_agent(&r, "a").error.data);
	request = raw_request(&r, "c", "Frobnicate", "c");
	raw_notification(&r, "request_state");
	pipe_tell(up);
	pipe_await(down);
	wire_map_open(&m, raw_call(&r, "check"));
	wire_map_strz(&m, "tool_call_id", "k");
	wire_map_strz(&m, "tool", "Frobnicate");
	wire_map_strz(&m, "input", "k");
	wire_close(&m);
	check = raw_send(&r);
	wire_map_open(&m, raw_call(&r, "set_mode"));
	wire_map_strz(&m, "mode", "normal");
	wire_close(&m);
	ck_assert(!raw_reply(&r, raw_send(&r)).error.data);
	pipe_tell(up);
	while (raw_next_or_end(&r, &f)) {
		ck_assert(f.type != WIRE_REPLY || f.id != request);
		if (f.type == WIRE_REPLY && f.id == check)
			told = bytes_is(raw_text(f.error, "code"), "shutdown");
	}
	_exit(told ? 0 : 1);
}

/* A check that waits is told to come again; a request that is kept is not over. */
START_TEST(termination_answers)
{
	int up[2], down[2], status;
	struct broker b;
	struct wire_open m;
	struct raw f;
	pid_t pid;

	broker_init(&b);
	broker_start(&b, NULL);
	frontend_open(&f, &b, "human");
	ck_assert(pipe(up) == 0 && pipe(down) == 0);
	pid = fork();
	if (pid == 0)
		outstanding(&b, up[1], down[0]);
	pipe_await(up[0]);
	wire_map_open(&m, raw_call(&f, "suspend"));
	wire_map_bool(&m, "all", true);
	wire_close(&m);
	ck_assert_uint_eq(raw_uint(raw_reply(&f, raw_send(&f)).result, "turns"), 1);
	pipe_tell(down[1]);
	pipe_await(up[0]);
	broker_stop(&b);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	raw_close(&f);
	broker_fini(&b);
}
END_TEST

static int socket_listening(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 10); /* out of the way of the inherited numbers */
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	return fd;
}

/* A client may connect before the broker is there; its sockets outlive the broker. */
START_TEST(activation)
{
	struct wire_frame reply;
	struct wire_open m;
	struct broker b;
	struct raw f;
	int fds[2], fill[8];

	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_ge(fill[i] = fcntl(0, F_DUPFD_CLOEXEC, 3), 0);
	broker_init(&b);
	snprintf(b.agent, sizeof(b.agent), "%s/agent.sock", b.dir);
	snprintf(b.frontend, sizeof(b.frontend), "%s/frontend.sock", b.dir);
	fds[0] = socket_listening(b.agent);
	fds[1] = socket_listening(b.frontend);
	b.listening = fds;
	raw_connect(&f, b.frontend);
	for (unsigned i = 0; i < 2; i++) {
		broker_start(&b, NULL);
		if (i) /* the first one connected before there was a broker */
			raw_connect(&f, b.frontend);
		ck_assert(!raw_hello_frontend(&f, "human").error.data);
		wire_map_open(&m, raw_call(&f, "list"));
		wire_close(&m);
		reply = raw_reply(&f, raw_send(&f));
		ck_assert(!reply.error.data);
		raw_close(&f);
		broker_stop(&b);
		ck_assert_int_eq(access(b.agent, F_OK), 0);
		ck_assert_int_eq(access(b.frontend, F_OK), 0);
	}
	for (unsigned i = 0; i < 8; i++)
		close(fill[i]);
	broker_fini(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("signals");
	TCase *t = tcase_create("signals");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, configuration);
	if (broker_valgrind()) {
		printf("the end, and what is there after a restart: skipped under valgrind\n");
	} else {
		tcase_add_loop_test(t, termination, 0, 2);
		tcase_add_test(t, termination_answers);
	}
	tcase_add_test(t, activation);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
