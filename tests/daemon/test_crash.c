/* SPDX-License-Identifier: MIT */
/*
 * The broker dies before each of its operations on the store, at every one of a
 * scenario in turn, and is started again: nothing was told that is not recorded,
 * nothing pending is lost, no decision is made twice.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define CALLS_MAX 16
#define TEXT_MAX  64

/* What the test knows of a call, from what it was told. */
struct call {
	char name[TEXT_MAX];
	char request[TEXT_MAX]; /* "": not told yet */
	bool offered, ended;	/* told so by events */
	bool decided;		/* the answer to decide was ok */
	char verdict[TEXT_MAX]; /* told to the agent */
	bool outcome;
	/* after the restart */
	bool pending;
	unsigned decisions, ends, outcomes;
	char recorded[TEXT_MAX];
};

struct world {
	struct broker b;
	struct raw f;
	struct call calls[CALLS_MAX];
	unsigned n;
	pid_t agent;
	int to, from;
	bool dead; /* the broker is */
	char session[TEXT_MAX];
};

/* ---- the agent, in a process of its own ---- */

struct order {
	char op;
	char call[TEXT_MAX];
	char method[TEXT_MAX];
	char path[128];
};

struct answer {
	char what; /* 'v': verdict, 'k': the call was answered, 'e': with an error, 'x': the
		      broker died */
	char verdict[TEXT_MAX];
};

static void text_of(char out[TEXT_MAX], struct bytes b)
{
	snprintf(out, TEXT_MAX, "%.*s", (int)b.len, b.data ? (const char *)b.data : "");
}

static bool try_send(struct raw *r)
{
	size_t at = 0;

	while (at < r->out.len) {
		ssize_t n = send(r->fd, r->out.data + at, r->out.len - at, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

static void pack_request(struct raw *r, const char *method, const char *call)
{
	struct wire_buffer *b = raw_call(r, method);
	struct wire_open m, i;

	wire_map_open(&m, b);
	wire_map_strz(&m, "tool_call_id", call);
	wire_map_strz(&m, "tool", "Frobnicate");
	wire_map_bool(&m, "elsewhere", strncmp(call, "e", 1) == 0);
	wire_map_key(&m, "input");
	wire_map_open(&i, b);
	wire_map_strz(&i, "x", call);
	wire_close(&i);
	wire_close(&m);
}

static void pack_simple(struct raw *r, const char *method, const char *call)
{
	struct wire_buffer *b = raw_call(r, method);
	struct wire_open m;

	wire_map_open(&m, b);
	if (strcmp(method, "hello") == 0) {
		wire_map_u64(&m, "protocol", 1);
		wire_map_strz(&m, "client", "test");
		wire_map_strz(&m, "agent", "test");
		wire_map_strz(&m, "session", call);
	} else if (strcmp(method, "turn_begin") == 0 || strcmp(method, "turn_end") == 0) {
		wire_map_strz(&m, "turn_id", call);
	} else {
		wire_map_strz(&m, "tool_call_id", call);
		if (strcmp(method, "outcome") == 0)
			wire_map_strz(&m, "outcome", "succeeded");
	}
	wire_close(&m);
}

/* The reply of a call; false when the broker died. */
static bool try_reply(struct raw *r, uint32_t id, struct wire_frame *f)
{
	while (raw_next_or_end(r, f))
		if (f->type == WIRE_REPLY && f->id == id)
			return true;
	return false;
}

static void agent_run(int in, int out)
{
	static struct raw r;
	static char names[CALLS_MAX][TEXT_MAX];
	static uint32_t ids[CALLS_MAX];
	unsigned n = 0;
	struct order o;

	r.fd = -1;
	while (read(in, &o, sizeof(o)) == (ssize_t)sizeof(o)) {
		struct answer a = {.what = 'k'};
		struct wire_frame f;
		unsigned i;

		switch (o.op) {
		case 'c': /* connect anew */
			if (r.fd >= 0)
				raw_close(&r);
			raw_connect(&r, o.path);
			n = 0;
			break;
		case 's': /* send a request, do not wait */
			pack_request(&r, o.method, o.call);
			snprintf(names[n], TEXT_MAX, "%s", o.call);
			ids[n++] = r.id;
			if (!try_send(&r))
				a.what = 'x';
			break;
		case 'w': /* wait for its answer */
			for (i = n - 1; strcmp(names[i], o.call) != 0; i--)
				;
			if (!try_reply(&r, ids[i], &f)) {
				a.what = 'x';
			} else if (f.error.data) {
				a.what = 'e';
				text_of(a.verdict, raw_text(f.error, "code"));
			} else {
				a.what = 'v';
				text_of(a.verdict, raw_text(f.result, "verdict"));
			}
			break;
		case 'm': /* another method, waited for */
			pack_simple(&r, o.method, o.call);
			if (!try_send(&r) || !try_reply(&r, r.id, &f))
				a.what = 'x';
			else if (f.error.data)
				a.what = 'e';
			break;
		case 'q': _exit(0);
		default: _exit(3);
		}
		if (write(out, &a, sizeof(a)) != (ssize_t)sizeof(a))
			_exit(4);
	}
	_exit(0);
}

static void agent_start(struct world *w)
{
	int in[2], out[2];

	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	w->agent = fork();
	ck_assert_int_ge(w->agent, 0);
	if (w->agent == 0) {
		close(in[1]);
		close(out[0]);
		agent_run(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
}

static struct answer order(struct world *w, char op, const char *method, const char *call)
{
	struct order o = {.op = op};
	struct answer a = {.what = 'x'};

	if (w->dead && op != 'c')
		return a;
	snprintf(o.call, sizeof(o.call), "%s", call);
	snprintf(o.method, sizeof(o.method), "%s", method);
	snprintf(o.path, sizeof(o.path), "%s", w->b.agent);
	ck_assert_int_eq(write(w->to, &o, sizeof(o)), (ssize_t)sizeof(o));
	ck_assert_int_eq(read(w->from, &a, sizeof(a)), (ssize_t)sizeof(a));
	if (a.what == 'x')
		w->dead = true;
	return a;
}

/* By an order: the broker's parent holds the pipe, too. */
static void agent_end(struct world *w)
{
	struct order o = {.op = 'q'};

	ck_assert_int_eq(write(w->to, &o, sizeof(o)), (ssize_t)sizeof(o));
	ck_assert_int_eq(waitpid(w->agent, NULL, 0), w->agent);
	close(w->to);
	close(w->from);
}

/* ---- the frontend ---- */

static struct call *call_get(struct world *w, const char *name)
{
	for (unsigned i = 0; i < w->n; i++)
		if (strcmp(w->calls[i].name, name) == 0)
			return &w->calls[i];
	ck_assert_uint_lt(w->n, CALLS_MAX);
	snprintf(w->calls[w->n].name, TEXT_MAX, "%s", name);
	return &w->calls[w->n++];
}

static struct call *call_by_request(struct world *w, struct bytes request)
{
	for (unsigned i = 0; i < w->n; i++)
		if (request.len && bytes_is(request, w->calls[i].request))
			return &w->calls[i];
	return NULL;
}

static void take_event(struct world *w, const struct wire_frame *f)
{
	struct bytes item = raw_member(f->params, "item");
	char name[TEXT_MAX];
	struct call *c;

	if (bytes_is(f->method, "offered")) {
		text_of(name, raw_text(item, "tool_call_id"));
		c = call_get(w, name);
		text_of(c->request, raw_text(item, "request"));
		text_of(w->session, raw_text(item, "session"));
		c->offered = true;
	} else if (bytes_is(f->method, "resolved") || bytes_is(f->method, "withdrawn")) {
		c = call_by_request(w, raw_text(f->params, "request"));
		if (c)
			c->ended = true;
	}
}

/* Waits for an event about a call; false when the broker died. */
static bool wait_event(struct world *w, const char *name, const char *call)
{
	struct wire_frame f;
	char found[TEXT_MAX];
	struct call *c;

	while (!w->dead && raw_next_or_end(&w->f, &f)) {
		if (f.type != WIRE_NOTIFY)
			continue;
		take_event(w, &f);
		if (!bytes_is(f.method, name))
			continue;
		text_of(found, raw_text(raw_member(f.params, "item"), "tool_call_id"));
		c = call_by_request(w, raw_text(f.params, "request"));
		if (strcmp(found, call) == 0 || (c && strcmp(c->name, call) == 0))
			return true;
	}
	w->dead = true;
	return false;
}

static bool frontend_reply(struct world *w, struct wire_frame *f)
{
	while (!w->dead && raw_next_or_end(&w->f, f)) {
		if (f->type == WIRE_NOTIFY)
			take_event(w, f);
		else if (f->id == w->f.id)
			return true;
	}
	w->dead = true;
	return false;
}

static struct wire_buffer *frontend_call(struct world *w, const char *method)
{
	return raw_call(&w->f, method);
}

/* The digest of a request as `get` shows it. */
static bool frontend_digest(struct world *w, const char *request, uint8_t digest[32])
{
	struct wire_frame f;
	struct wire_open m;
	struct bytes d;

	wire_map_open(&m, frontend_call(w, "get"));
	wire_map_strz(&m, "id", request);
	wire_close(&m);
	if (!try_send(&w->f) || !frontend_reply(w, &f) || f.error.data)
		return false;
	d = raw_text(raw_member(f.result, "item"), "digest");
	ck_assert_uint_eq(d.len, 32);
	memcpy(digest, d.data, 32);
	return true;
}

static void decide(struct world *w, const char *call, const char *verdict)
{
	struct call *c = call_get(w, call);
	uint8_t digest[32];
	struct wire_frame f;
	struct bytes element;
	struct wire_iter it;

	if (w->dead || !frontend_digest(w, c->request, digest))
		return;
	{
		struct wire_buffer *b = frontend_call(w, "decide");
		struct wire_open m, a, d;

		wire_map_open(&m, b);
		wire_map_key(&m, "decisions");
		wire_array_open(&a, b);
		wire_array_item(&a);
		wire_map_open(&d, b);
		wire_map_strz(&d, "request", c->request);
		wire_map_bin(&d, "digest", (struct bytes){digest, 32});
		wire_map_strz(&d, "verdict", verdict);
		wire_close(&d);
		wire_close(&a);
		wire_close(&m);
	}
	if (!try_send(&w->f) || !frontend_reply(w, &f))
		return;
	ck_assert_msg(!f.error.data, "decide failed");
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert(wire_array_next(&it, &element));
	c->decided = bytes_is(raw_text(element, "result"), "ok");
	{
		char result[TEXT_MAX];

		text_of(result, raw_text(element, "result"));
		ck_assert_msg(c->decided, "%s was not decided: %s", call, result);
	}
}

static void steer(struct world *w, const char *method)
{
	struct wire_frame f;
	struct wire_open m;

	if (w->dead)
		return;
	wire_map_open(&m, frontend_call(w, method));
	wire_map_strz(&m, "session", w->session);
	wire_close(&m);
	if (try_send(&w->f))
		frontend_reply(w, &f);
	else
		w->dead = true;
}

static void frontend_start(struct world *w, bool subscribe)
{
	struct wire_frame f;
	struct wire_open m;

	raw_connect(&w->f, w->b.frontend);
	wire_map_open(&m, frontend_call(w, "hello"));
	wire_map_u64(&m, "protocol", 1);
	wire_map_strz(&m, "client", "test");
	wire_map_strz(&m, "role", "human");
	wire_close(&m);
	if (!try_send(&w->f) || !frontend_reply(w, &f) || !subscribe)
		return;
	wire_map_open(&m, frontend_call(w, "subscribe"));
	wire_close(&m);
	if (try_send(&w->f))
		frontend_reply(w, &f);
}

/* ---- the scenario ---- */

static void ask(struct world *w, const char *call)
{
	call_get(w, call);
	order(w, 's', "request", call);
	wait_event(w, "offered", call);
}

static void get_verdict(struct world *w, const char *call)
{
	struct answer a = order(w, 'w', "", call);

	if (a.what == 'v')
		memcpy(call_get(w, call)->verdict, a.verdict, TEXT_MAX);
}

static void scenario(struct world *w)
{
	order(w, 'c', "", "");
	frontend_start(w, true);
	order(w, 'm', "hello", "a");
	order(w, 'm', "turn_begin", "t1");
	ask(w, "allowed");
	decide(w, "allowed", "allow");
	get_verdict(w, "allowed");
	if (order(w, 'm', "outcome", "allowed").what == 'k')
		call_get(w, "allowed")->outcome = true;
	ask(w, "denied");
	decide(w, "denied", "deny");
	get_verdict(w, "denied");
	ask(w, "cancelled");
	order(w, 'm', "cancel", "cancelled");
	ask(w, "elsewhere");
	order(w, 'm', "settled", "elsewhere");
	ask(w, "held");
	steer(w, "suspend");
	steer(w, "resume");
	decide(w, "held", "allow");
	get_verdict(w, "held");
	order(w, 's', "check", "checked");
	order(w, 'w', "", "checked");
	ask(w, "pending");
	order(w, 'm', "turn_begin", "t2");
	ask(w, "last");
	decide(w, "last", "deny");
	get_verdict(w, "last");
}

/* ---- after the restart ---- */

static void read_pending(struct world *w)
{
	struct bytes item;
	struct wire_frame f;
	struct wire_open m;
	struct wire_iter it;
	char name[TEXT_MAX];

	wire_map_open(&m, frontend_call(w, "list"));
	wire_close(&m);
	ck_assert(try_send(&w->f) && frontend_reply(w, &f) && !f.error.data);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
	while (wire_array_next(&it, &item)) {
		struct call *c;

		text_of(name, raw_text(item, "tool_call_id"));
		c = call_get(w, name);
		if (c->request[0])
			ck_assert_msg(bytes_is(raw_text(item, "request"), c->request),
				"%s is pending under another id", name);
		text_of(c->request, raw_text(item, "request"));
		c->pending = true;
	}
}

static void read_history(struct world *w)
{
	struct bytes item;
	struct wire_frame f;
	struct wire_open m;
	struct wire_iter it;

	wire_map_open(&m, frontend_call(w, "history"));
	wire_map_u64(&m, "limit", 500);
	wire_close(&m);
	ck_assert(try_send(&w->f) && frontend_reply(w, &f) && !f.error.data);
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "items")), 0);
	while (wire_array_next(&it, &item)) {
		struct bytes event = raw_text(item, "event");
		char name[TEXT_MAX];
		struct call *c;

		if (!raw_text(item, "request").len)
			continue;
		text_of(name, raw_text(item, "tool_call_id"));
		c = call_get(w, name);
		if (bytes_is(event, "decision")) {
			c->decisions++;
			text_of(c->recorded, raw_text(item, "verdict"));
		}
		c->ends += bytes_is(event, "ended");
		c->outcomes += bytes_is(event, "outcome");
	}
	wire_map_open(&m, frontend_call(w, "history_verify"));
	wire_close(&m);
	ck_assert(try_send(&w->f) && frontend_reply(w, &f) && !f.error.data);
	item = raw_member(f.result, "ok");
	ck_assert_msg(
		item.len == 1 && *(const uint8_t *)item.data == 0xc3, "the chain is broken");
}

static void judge(struct world *w, unsigned at)
{
	for (unsigned i = 0; i < w->n; i++) {
		struct call *c = &w->calls[i];

		ck_assert_msg(c->decisions + c->ends <= 1, "%u: %s ended %u times", at, c->name,
			c->decisions + c->ends);
		ck_assert_msg(!c->pending || c->decisions + c->ends == 0,
			"%u: %s is decided and pending", at, c->name);
		if (c->verdict[0])
			ck_assert_msg(c->decisions == 1 && strcmp(c->verdict, c->recorded) == 0,
				"%u: %s was told %s, recorded is '%s'", at, c->name, c->verdict,
				c->recorded);
		if (c->decided)
			ck_assert_msg(c->decisions == 1, "%u: %s: decided but not recorded", at,
				c->name);
		if (c->ended)
			ck_assert_msg(c->decisions + c->ends == 1,
				"%u: the end of %s was told but not recorded", at, c->name);
		if (c->outcome)
			ck_assert_msg(
				c->outcomes == 1, "%u: the outcome of %s is lost", at, c->name);
		if (c->offered && !c->decisions && !c->ends)
			ck_assert_msg(c->pending, "%u: %s is lost", at, c->name);
	}
}

/* The agent comes back and submits again: the recorded decision, or the same request. */
static void come_back(struct world *w, unsigned at)
{
	w->dead = false;
	ck_assert_int_eq(order(w, 'c', "", "").what, 'k');
	ck_assert_int_eq(order(w, 'm', "hello", "a").what, 'k');
	/* what was suspended still is */
	if (w->session[0])
		steer(w, "resume");
	for (unsigned i = 0; i < w->n; i++) {
		struct call *c = &w->calls[i];
		struct answer a;

		if (!c->pending)
			continue;
		ck_assert_int_eq(order(w, 's', "request", c->name).what, 'k');
		decide(w, c->name, "allow");
		ck_assert_msg(c->decided, "%u: %s can't be answered", at, c->name);
		a = order(w, 'w', "", c->name);
		ck_assert_msg(a.what == 'v' && strcmp(a.verdict, "allow") == 0,
			"%u: %s was answered %c %s", at, c->name, a.what, a.verdict);
	}
	/* the turn of the last denial lives: it is denied again, and nobody is asked */
	for (unsigned i = 0; i < w->n; i++) {
		struct call *c = &w->calls[i];
		struct answer a;

		if (strcmp(c->name, "last") != 0 || c->decisions != 1)
			continue;
		ck_assert_int_eq(order(w, 's', "request", c->name).what, 'k');
		a = order(w, 'w', "", c->name);
		ck_assert_msg(a.what == 'v' && strcmp(a.verdict, "deny") == 0,
			"%u: %s was answered %c %s", at, c->name, a.what, a.verdict);
	}
}

/* True when the scenario came to its end before the operation. */
static bool run_to(unsigned at)
{
	char variable[64];
	const char *env[] = {variable, NULL}, *no_env[] = {"APPROVALD_TEST_EXIT_AT=0", NULL};
	static struct world w;
	bool whole;
	int status;

	memset(&w, 0, sizeof(w));
	broker_init(&w.b);
	agent_start(&w);
	snprintf(variable, sizeof(variable), "APPROVALD_TEST_EXIT_AT=%u", at);
	w.b.env = env;
	status = broker_try(&w.b, NULL);
	if (status == -1) {
		scenario(&w);
		whole = !w.dead;
		raw_close(&w.f);
		if (whole)
			broker_kill(&w.b);
		else
			status = broker_wait(&w.b);
	} else {
		whole = false;
	}
	if (!whole)
		ck_assert_msg(status == 99, "%u: the broker ended with %d", at, status);
	w.b.env = no_env;
	/* two restarts in a row are as good as one */
	broker_start(&w.b, NULL);
	broker_kill(&w.b);
	broker_start(&w.b, NULL);
	w.dead = false;
	frontend_start(&w, false);
	read_pending(&w);
	read_history(&w);
	judge(&w, at);
	come_back(&w, at);
	raw_close(&w.f);
	agent_end(&w);
	broker_stop(&w.b);
	broker_fini(&w.b);
	return whole;
}

START_TEST(every_operation)
{
	unsigned at = 1;

	while (!run_to(at))
		at++;
	printf("killed before each of %u operations on the store\n", at - 1);
	ck_assert_uint_gt(at, 40);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the broker dies");
	TCase *t = tcase_create("at every operation");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 600);
	tcase_add_test(t, every_operation);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
