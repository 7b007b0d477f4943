/* SPDX-License-Identifier: MIT */
/*
 * Ceilings with the real broker. The test is the person; the agent is a child of it that
 * does what it is told over a socket and says what came back.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define LINKS 4
#define FLOOD 5000
/* SQLite's lock of the one writer: a byte of the index of the write-ahead log. */
#define WRITE_LOCK 120

static struct broker broker;
static struct raw person;
static pid_t agent;
static int wire = -1; /* to the agent */

/* ---- the agent's process ---- */

static struct raw links[LINKS];
static uint32_t asked[LINKS];

static void copy(char *out, size_t size, struct bytes text)
{
	snprintf(out, size, "%.*s", (int)text.len, text.data ? (const char *)text.data : "");
}

static void call_words(struct raw *r, char *words, char *out, size_t size)
{
	char *save = NULL, *word = strtok_r(words, " ", &save);
	struct wire_frame f;
	struct wire_open m;

	wire_map_open(&m, raw_call(r, word));
	if (strcmp(word, "usage") == 0) {
		wire_map_u64(&m, "output", 0);
		wire_map_u64(&m, "cache_read", 0);
		wire_map_u64(&m, "cache_write", 0);
	}
	while ((word = strtok_r(NULL, " ", &save))) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		if (strcmp(word, "turn_id") == 0)
			wire_map_strz(&m, word, value);
		else if (strcmp(word, "end") == 0)
			wire_map_bool(&m, word, true);
		else
			wire_map_u64(&m, word, strtoull(value, NULL, 10));
	}
	wire_close(&m);
	f = raw_reply(r, raw_send(r));
	copy(out, size,
		raw_text(f.error.data ? f.error : f.result, f.error.data ? "code" : "state"));
}

/* Cumulative reports without waiting for an answer in between. */
static void flood(struct raw *r, unsigned n)
{
	uint32_t last = 0;

	for (unsigned i = 1; i <= n; i++) {
		struct wire_open m;

		wire_map_open(&m, raw_call(r, "usage"));
		wire_map_u64(&m, "seq", i);
		wire_map_u64(&m, "input", i);
		wire_map_u64(&m, "output", 0);
		wire_map_u64(&m, "cache_read", 0);
		wire_map_u64(&m, "cache_write", 0);
		wire_close(&m);
		last = raw_send(r);
		if (i % 500 == 0 || i == n)
			raw_reply(r, last);
	}
}

static void obey(char *line, char *out, size_t size)
{
	unsigned i = (unsigned)(*line - '0');
	struct raw *r = &links[i];
	char *words = line + 2;
	struct wire_frame f;

	*out = '\0';
	if (strncmp(words, "hello ", 6) == 0) {
		raw_connect(r, broker.agent);
		f = raw_hello_agent(r, words + 6);
		if (f.error.data)
			copy(out, size, raw_text(f.error, "code"));
		else if (*(const uint8_t *)raw_member(f.result, "turn").data != 0xc0) /* nil */
			copy(out, size, raw_text(raw_member(f.result, "turn"), "state"));
	} else if (strcmp(words, "close") == 0) {
		raw_close(r);
	} else if (strncmp(words, "ask ", 4) == 0) {
		asked[i] = raw_request(r, words + 4, "TodoWrite", "x");
	} else if (strcmp(words, "answer") == 0) {
		f = raw_reply(r, asked[i]);
		copy(out, size, raw_text(f.result, "source"));
	} else if (strcmp(words, "held") == 0) {
		copy(out, size, raw_text(raw_notification(r, "request_state").params, "state"));
	} else if (strcmp(words, "suspended") == 0) {
		copy(out, size,
			raw_text(raw_notification(r, "turn_suspended").params, "reason"));
	} else if (strncmp(words, "flood ", 6) == 0) {
		flood(r, (unsigned)atoi(words + 6));
	} else {
		call_words(r, words, out, size);
	}
}

static void agent_run(int fd)
{
	char line[256], out[256];
	ssize_t n;

	while ((n = recv(fd, line, sizeof(line) - 1, 0)) > 0) {
		line[n] = '\0';
		if (strcmp(line, "quit") == 0)
			break;
		obey(line, out, sizeof(out));
		ck_assert_int_eq(send(fd, out, strlen(out) + 1, 0), (ssize_t)strlen(out) + 1);
	}
	_exit(0);
}

/* Which connection, and what; the answer has to be that, or begin so before a "*". */
static void does(const char *line, const char *answer)
{
	char got[256];
	ssize_t n;

	ck_assert_int_eq(send(wire, line, strlen(line), 0), (ssize_t)strlen(line));
	n = recv(wire, got, sizeof(got), 0);
	ck_assert_int_gt(n, 0);
	if (*answer && answer[strlen(answer) - 1] == '*')
		n = strncmp(got, answer, strlen(answer) - 1);
	else
		n = strcmp(got, answer);
	ck_assert_msg(n == 0, "%s: \"%s\", not \"%s\"", line, got, answer);
}

/* ---- the person ---- */

static void person_come(void)
{
	raw_connect(&person, broker.frontend);
	ck_assert(!raw_hello_frontend(&person, "human").error.data);
}

static void begin(const char *config)
{
	int pair[2];

	broker_init(&broker);
	broker_configure(&broker, config);
	broker_start(&broker, NULL);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	agent = fork();
	ck_assert_int_ge(agent, 0);
	if (agent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		agent_run(pair[1]);
	}
	close(pair[1]);
	wire = pair[0];
	person_come();
	setenv("APPROVAL_FRONTEND_SOCKET", broker.frontend, 1);
}

static void end(void)
{
	int status;

	/* a broker that was started anew has the socket, too */
	ck_assert_int_eq(send(wire, "quit", 4, 0), 4);
	close(wire);
	ck_assert_int_eq(waitpid(agent, &status, 0), agent);
	ck_assert_int_eq(status, 0);
	raw_close(&person);
	broker_stop(&broker);
	broker_fini(&broker);
}

/* The turn of a session, by its key; raw, valid until the next call. */
static struct bytes turn_of(const char *key, char session[64])
{
	struct bytes item, found = {NULL, 0};
	struct wire_iter it;
	struct wire_open m;

	wire_map_open(&m, raw_call(&person, "sessions"));
	wire_close(&m);
	ck_assert_int_eq(
		wire_iter_array(
			&it, raw_member(raw_reply(&person, raw_send(&person)).result, "items")),
		0);
	*session = '\0';
	while (wire_array_next(&it, &item))
		if (bytes_is(raw_text(item, "agent_session"), key))
			copy(session, 64, raw_text(item, "session"));
	ck_assert_msg(*session, "there is no session %s", key);
	wire_map_open(&m, raw_call(&person, "turns"));
	wire_map_strz(&m, "session", session);
	wire_close(&m);
	ck_assert_int_eq(
		wire_iter_array(
			&it, raw_member(raw_reply(&person, raw_send(&person)).result, "items")),
		0);
	while (wire_array_next(&it, &item))
		found = item;
	return found;
}

/* resume with an amount of tokens (0: none); "" or the error's code. */
static void resumes(const char *key, uint64_t tokens, const char *code)
{
	char session[64];
	struct wire_frame f;
	struct wire_open m;

	turn_of(key, session);
	wire_map_open(&m, raw_call(&person, "resume"));
	wire_map_strz(&m, "session", session);
	if (tokens)
		wire_map_u64(&m, "tokens", tokens);
	wire_close(&m);
	f = raw_reply(&person, raw_send(&person));
	if (*code)
		ck_assert(f.error.data && bytes_is(raw_text(f.error, "code"), code));
	else
		ck_assert(!f.error.data && raw_uint(f.result, "turns") == 1);
}

static unsigned history_rows(const char *event)
{
	struct bytes item;
	struct wire_iter it;
	struct wire_open m;
	unsigned n = 0;

	wire_map_open(&m, raw_call(&person, "history"));
	wire_map_strz(&m, "event", event);
	wire_close(&m);
	ck_assert_int_eq(
		wire_iter_array(
			&it, raw_member(raw_reply(&person, raw_send(&person)).result, "items")),
		0);
	while (wire_array_next(&it, &item)) {
		ck_assert(bytes_is(raw_text(item, "source"), "budget"));
		n++;
	}
	return n;
}

/* ---- tests ---- */

/* And what they are told then: what was reached, and what is offered. */
START_TEST(people_are_warned)
{
	struct bytes warning, budget, reached;
	struct wire_iter it;
	struct wire_open m;

	begin("[budget]\ncost = 0.10\ntokens = 7\n");
	wire_map_open(&m, raw_call(&person, "subscribe"));
	wire_close(&m);
	raw_reply(&person, raw_send(&person));
	does("0 hello a", "");
	does("0 usage seq=1 input=1 cost_microusd=80000", "RUNNING");
	warning = raw_notification(&person, "budget_warning").params;
	ck_assert(bytes_is(raw_text(warning, "of"), "turn"));
	ck_assert(bytes_is(raw_text(warning, "what"), "cost"));
	ck_assert_uint_eq(raw_uint(warning, "used"), 80000);
	ck_assert_uint_eq(raw_uint(warning, "ceiling"), 100000);
	ck_assert_uint_gt(raw_text(warning, "turn").len, 0);
	does("0 usage seq=2 input=1 cost_microusd=123456", "SUSPENDED");
	do
		budget = raw_member(raw_notification(&person, "turn_changed").params, "item");
	while (!bytes_is(raw_text(budget, "state"), "SUSPENDED"));
	budget = raw_member(budget, "budget");
	ck_assert_int_eq(wire_iter_array(&it, raw_member(budget, "reached")), 0);
	ck_assert(wire_array_next(&it, &reached));
	ck_assert(bytes_is(raw_text(reached, "of"), "turn"));
	ck_assert(bytes_is(raw_text(reached, "what"), "cost"));
	ck_assert_uint_eq(raw_uint(reached, "used"), 123456);
	ck_assert(!wire_array_next(&it, &reached));
	ck_assert_uint_eq(raw_uint(raw_member(budget, "offer"), "cost_microusd"), 100000);
	ck_assert(!raw_member(raw_member(budget, "offer"), "tokens").data);
	end();
}
END_TEST

START_TEST(a_child_counts)
{
	char session[64];
	struct run ctl;
	struct bytes t;

	begin("[budget]\ntokens = 100\n");
	does("0 hello a", "");
	does("0 usage seq=1 input=40", "RUNNING");
	does("1 hello b", "");
	does("1 usage seq=1 input=59", "RUNNING");
	does("1 usage seq=2 input=60", "SUSPENDED");
	does("0 suspended", "the turn's ceiling is reached: tokens 100 of 100");
	does("1 ask c1", "");
	/* a new turn, session or connection is no way out */
	does("0 turn_begin turn_id=T2", "SUSPENDED");
	does("2 hello c", "");
	does("2 turn_begin", "SUSPENDED");
	does("2 bye end=1", "");
	does("2 close", "");
	does("2 hello a", "SUSPENDED");
	t = turn_of("a", session);
	ck_assert(bytes_is(raw_text(t, "state"), "SUSPENDED"));
	ck_assert_uint_eq(raw_uint(t, "input"), 100);
	ck_assert_uint_eq(raw_uint(raw_member(raw_member(t, "budget"), "used"), "tokens"), 100);
	ck_assert_uint_eq(
		raw_uint(raw_member(raw_member(t, "budget"), "offer"), "tokens"), 100);
	ck_assert_int_eq(RUN_WHOLE(&ctl, "budget", session), 0);
	ck_assert_msg(strstr(ctl.text, "\tturn\ttokens\t100\t100\t100%\t"), "%s", ctl.text);
	ck_assert_ptr_nonnull(strstr(ctl.text, "\treached\n"));
	run_free(&ctl);
	ck_assert_int_eq(RUN_WHOLE(&ctl, "budget", "--json", session), 0);
	ck_assert_ptr_nonnull(strstr(ctl.text, "\"ceiling\":100,"));
	ck_assert_ptr_nonnull(strstr(ctl.text, "\"reached\":true}"));
	run_free(&ctl);
	ck_assert_int_eq(RUN_WHOLE(&ctl, "resume", "--tokens", "0", session), 1);
	run_free(&ctl);
	ck_assert_int_eq(RUN_WHOLE(&ctl, "resume", "--tokens", "1x", session), 2);
	run_free(&ctl);
	ck_assert_int_eq(RUN_WHOLE(&ctl, "resume", "--cost", "0.25", "--time", "10m", "--calls",
				 "2k", "--wall", "1h", "--tokens", "1", session),
		0);
	ck_assert_str_eq(ctl.text, "1 turn resumed\n");
	run_free(&ctl);
	does("1 answer", "mode");
	end();
}
END_TEST

START_TEST(no_escape_by_a_new_session)
{
	begin("[budget agent=test]\nsession-tokens = 150\n[budget agent=other]\ntokens = 1\n");
	does("0 hello a", "");
	does("0 turn_begin turn_id=T1", "RUNNING");
	does("0 usage seq=1 input=90", "RUNNING");
	does("0 turn_end turn_id=T1", "ENDED");
	does("0 bye end=1", "");
	does("0 close", "");
	does("0 hello z", "");
	does("0 usage seq=1 input=59", "RUNNING");
	does("0 usage seq=2 input=60", "SUSPENDED");
	does("0 bye end=1", "");
	/* nor by the broker's end */
	raw_close(&person);
	broker_kill(&broker);
	broker_start(&broker, NULL);
	person_come();
	does("0 close", "");
	does("0 hello z", "SUSPENDED");
	resumes("z", 10, "");
	does("0 usage seq=3 input=69", "RUNNING");
	does("0 usage seq=4 input=70", "SUSPENDED");
	end();
}
END_TEST

START_TEST(restarted_while_suspended)
{
	begin("[budget]\ntokens = 100\n");
	does("0 hello a", "");
	does("0 ask c0", "");
	does("0 answer", "mode");
	does("0 usage seq=1 input=100", "SUSPENDED");
	for (int i = 0; i < 2; i++) {
		const char *const ask = i ? "0 ask c2" : "0 ask c1";

		does(ask, "");
		raw_close(&person);
		if (i)
			broker_kill(&broker);
		else
			broker_stop(&broker);
		broker_start(&broker, NULL);
		person_come();
		does("0 close", "");
		does("0 hello a", "SUSPENDED");
		does(ask, "");
		/* by then the broker has looked for rules of the project: without, it asks */
		does("0 held", "HELD");
		resumes("a", 0, "");
		does("0 answer", "mode");
		if (i == 0)
			does("0 usage seq=2 input=200", "SUSPENDED");
	}
	does("0 usage seq=3 input=299", "RUNNING");
	resumes("a", 1, "");
	does("0 usage seq=4 input=300", "RUNNING");
	does("0 usage seq=5 input=1000", "SUSPENDED");
	resumes("a", 0, "state");
	resumes("a", 699, "state");
	resumes("a", 700, ""); /* more than that, and the session's 1000, too */
	end();
}
END_TEST

START_TEST(the_store_fails)
{
	struct flock l = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITE_LOCK, .l_len = 1};
	char path[128];
	int fd;

	begin("[budget]\ntokens = 100\n");
	does("0 hello a", "");
	does("0 usage seq=1 input=100", "SUSPENDED");
	snprintf(path, sizeof(path), "%s/state/history.db-shm", broker.dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_SETLKW, &l), 0);
	resumes("a", 50, "store");
	does("0 usage seq=2 input=149", "store");
	l.l_type = F_UNLCK;
	ck_assert_int_eq(fcntl(fd, F_SETLKW, &l), 0);
	close(fd);
	for (;;) { /* each question is answered after a turn of the loop */
		struct wire_open m;
		struct bytes store;

		wire_map_open(&m, raw_call(&person, "stats"));
		wire_close(&m);
		store = raw_text(raw_reply(&person, raw_send(&person)).result, "store");
		if (bytes_is(store, "ok"))
			break;
	}
	/* nothing of it was done */
	does("0 usage seq=2 input=149", "SUSPENDED");
	resumes("a", 49, "state");
	resumes("a", 50, "");
	does("0 usage seq=3 input=150", "SUSPENDED");
	end();
}
END_TEST

START_TEST(a_flood_of_reports)
{
	char line[64], session[64];

	begin("[budget]\ntokens = 3000\n");
	does("0 hello a", "");
	snprintf(line, sizeof(line), "0 flood %d", FLOOD);
	does(line, "");
	ck_assert(bytes_is(raw_text(turn_of("a", session), "state"), "SUSPENDED"));
	ck_assert_uint_eq(raw_uint(turn_of("a", session), "input"), FLOOD);
	ck_assert_uint_eq(history_rows("turn_suspended"), 1);
	does("0 ask c1", "");
	resumes("a", 0, "");
	does("0 answer", "mode");
	ck_assert_uint_eq(history_rows("turn_resumed"), 1);
	end();
}
END_TEST

/* An agent that reports nothing. */
START_TEST(time_is_up)
{
	begin("[budget]\nwall = 300ms\ncalls = 2\n");
	does("0 hello a", "");
	does("0 turn_begin turn_id=T", "RUNNING");
	does("0 suspended", "the turn's ceiling is reached: wall 3*");
	does("0 ask c1", "");
	resumes("a", 5, "state");
	end();
}
END_TEST

START_TEST(calls_are_counted)
{
	begin("[budget]\ncalls = 2\n");
	does("0 hello a", "");
	for (int i = 0; i < 2; i++) {
		does(i ? "0 ask c2" : "0 ask c1", "");
		does("0 answer", "mode");
	}
	does("0 ask c3", "");
	does("0 suspended", "the turn's ceiling is reached: calls 3 of 2");
	resumes("a", 0, "");
	does("0 answer", "mode");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("budget");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, broker_valgrind() ? 600 : 60);
	tcase_add_test(t, people_are_warned);
	tcase_add_test(t, a_child_counts);
	if (!broker_valgrind()) { /* sessions do not outlive a restart there */
		tcase_add_test(t, no_escape_by_a_new_session);
		tcase_add_test(t, restarted_while_suspended);
	}
	tcase_add_test(t, the_store_fails);
	tcase_add_test(t, a_flood_of_reports);
	tcase_add_test(t, time_is_up);
	tcase_add_test(t, calls_are_counted);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
