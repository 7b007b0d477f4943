/* SPDX-License-Identifier: MIT */
#include "tests/daemon/crash_world.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOW 16 /* requests of a load that wait at once */

struct order {
	char op;
	unsigned link, call;
	char method[TEXT_MAX];
	char what[TEXT_MAX];
};

/* The agent's process. */
struct agent {
	struct world *w;
	struct raw links[LINKS];
};

static const char *const sessions[LINKS] = {"a", "b"};

void text_of(char out[TEXT_MAX], struct bytes b)
{
	snprintf(out, TEXT_MAX, "%.*s", (int)b.len, b.data ? (const char *)b.data : "");
}

struct call *call_get(struct world *w, const char *name)
{
	struct call *c;

	for (unsigned i = 0; i < *w->n; i++)
		if (strcmp(w->calls[i].name, name) == 0)
			return &w->calls[i];
	ck_assert_uint_lt(*w->n, CALLS_MAX);
	c = &w->calls[(*w->n)++];
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->turn = w->turns;
	return c;
}

bool try_send(struct raw *r)
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

/* ---- in the agent's process ---- */

static bool request_send(struct agent *a, struct call *c, const char *method)
{
	struct raw *r = &a->links[c->link];
	struct wire_buffer *b = raw_call(r, method);
	struct wire_open m, i;

	wire_map_open(&m, b);
	wire_map_strz(&m, "tool_call_id", c->name);
	wire_map_strz(&m, "tool", "Frobnicate");
	wire_map_bool(&m, "elsewhere", c->name[0] == 'e');
	wire_map_key(&m, "input");
	wire_map_open(&i, b);
	/* "denied" and "denied-again" are alike */
	wire_map_str(&i, "x", (struct bytes){c->name, strcspn(c->name, "-")});
	wire_close(&i);
	wire_close(&m);
	c->rpc = r->id;
	c->verdict[0] = c->error[0] = 0;
	return try_send(r);
}

static bool method_send(struct raw *r, const char *method, const char *what)
{
	struct wire_open m;

	wire_map_open(&m, raw_call(r, method));
	if (strcmp(method, "hello") == 0) {
		wire_map_u64(&m, "protocol", 1);
		wire_map_strz(&m, "client", "test");
		wire_map_strz(&m, "agent", "test");
		wire_map_strz(&m, "session", what);
	} else if (strcmp(method, "turn_begin") == 0 || strcmp(method, "turn_end") == 0) {
		wire_map_strz(&m, "turn_id", what);
	} else if (strcmp(method, "bye") != 0) {
		wire_map_strz(&m, "tool_call_id", what);
		if (strcmp(method, "outcome") == 0)
			wire_map_strz(&m, "outcome", "succeeded");
	}
	wire_close(&m);
	return try_send(r);
}

/* Keeps what a message tells of a call; gives the call that it answers, or NULL. */
static struct call *frame_take(struct agent *a, unsigned link, const struct wire_frame *f)
{
	char name[TEXT_MAX];

	if (f->type == WIRE_NOTIFY) {
		if (!bytes_is(f->method, "request_state"))
			return NULL;
		text_of(name, raw_text(f->params, "tool_call_id"));
		text_of(call_get(a->w, name)->noted, raw_text(f->params, "request"));
		return NULL;
	}
	for (unsigned i = *a->w->n; i-- > 0;) {
		struct call *c = &a->w->calls[i];

		if (c->link != link)
			continue;
		if (c->outcome_rpc == f->id) {
			c->outcome = !f->error.data;
			return NULL;
		}
		if (c->rpc != f->id)
			continue;
		if (f->error.data)
			text_of(c->error, raw_text(f->error, "code"));
		else
			text_of(c->verdict, raw_text(f->result, "verdict"));
		return c;
	}
	return NULL;
}

/* Takes one message; false at the end. */
static bool link_take(struct agent *a, unsigned link, struct wire_frame *f, struct call **c)
{
	if (a->links[link].fd < 0 || !raw_next_or_end(&a->links[link], f))
		return false;
	*c = frame_take(a, link, f);
	return true;
}

static char connect_run(struct agent *a, const struct order *o)
{
	struct raw *r = &a->links[o->link];
	struct wire_frame f;

	if (r->fd >= 0)
		raw_close(r);
	raw_connect(r, a->w->b.agent);
	for (unsigned i = 0; i < *a->w->n; i++)
		if (a->w->calls[i].link == o->link)
			a->w->calls[i].rpc = a->w->calls[i].outcome_rpc = 0;
	if (!method_send(r, "hello", sessions[o->link]) || !raw_next_or_end(r, &f))
		return 'x';
	return f.error.data ? 'e' : 'k';
}

static char method_run(struct agent *a, const struct order *o)
{
	struct raw *r = &a->links[o->link];
	struct wire_frame f;
	struct call *c;
	uint32_t id;

	if (!method_send(r, o->method, o->what))
		return 'x';
	id = r->id;
	if (strcmp(o->method, "outcome") == 0) {
		c = call_get(a->w, o->what);
		c->outcome_sent = true;
		c->outcome_rpc = id;
	}
	do
		if (!link_take(a, o->link, &f, &c))
			return 'x';
	while (f.type != WIRE_REPLY || f.id != id);
	return f.error.data ? 'e' : 'k';
}

static char await_run(struct agent *a, struct call *c)
{
	struct wire_frame f;
	struct call *answered = NULL;

	while (!c->verdict[0] && !c->error[0])
		if (!link_take(a, c->link, &f, &answered))
			return 'x';
	return 'k';
}

/* Answered only when the broker is dead. */
static char load_run(struct agent *a)
{
	struct raw *r = &a->links[0];
	struct world *w = a->w;
	unsigned waiting = 0, next = *w->n;

	for (unsigned i = 0; i < next; i++)
		if (!w->calls[i].verdict[0]) {
			if (!request_send(a, &w->calls[i], "request"))
				goto end;
			waiting++;
		}
	for (;;) {
		struct wire_frame f;
		struct call *c;

		for (; waiting < WINDOW && next < CALLS_MAX; waiting++, next++) {
			char name[TEXT_MAX];

			snprintf(name, sizeof(name), "c%u", next);
			if (!request_send(a, call_get(w, name), "request"))
				goto end;
		}
		if (!link_take(a, 0, &f, &c))
			return 'x';
		if (!c)
			continue;
		waiting--;
		ck_assert_msg(!c->error[0], "%s: %s", c->name, c->error);
		if (strcmp(c->verdict, "allow") == 0 && (c - w->calls) % 4 == 0) {
			if (!method_send(r, "outcome", c->name))
				goto end;
			c->outcome_sent = true;
			c->outcome_rpc = r->id;
		}
	}
end:
	for (struct call *c;;) {
		struct wire_frame f;

		if (!link_take(a, 0, &f, &c))
			return 'x';
	}
}

static char drain_run(struct agent *a)
{
	struct wire_frame f;
	struct call *c;

	for (unsigned i = 0; i < LINKS; i++)
		while (link_take(a, i, &f, &c))
			;
	return 'x';
}

static void agent_run(struct world *w, int in, int out)
{
	struct agent a = {.w = w};
	struct order o;
	char answer;

	for (unsigned i = 0; i < LINKS; i++)
		a.links[i].fd = -1;
	while (read(in, &o, sizeof(o)) == (ssize_t)sizeof(o)) {
		struct call *c = &w->calls[o.call];

		switch (o.op) {
		case 'c': answer = connect_run(&a, &o); break;
		case 's': answer = request_send(&a, c, o.method) ? 'k' : 'x'; break;
		case 'w': answer = await_run(&a, c); break;
		case 'm': answer = method_run(&a, &o); break;
		case 'd': answer = drain_run(&a); break;
		case 'l': answer = load_run(&a); break;
		default: _exit(0);
		}
		if (write(out, &answer, 1) != 1)
			_exit(4);
	}
	_exit(0);
}

/* ---- in the test's ---- */

void agent_start(struct world *w)
{
	int in[2], out[2];

	w->calls = mmap(NULL, sizeof(*w->calls) * CALLS_MAX + sizeof(*w->n),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(w->calls != MAP_FAILED);
	w->n = (unsigned *)(void *)&w->calls[CALLS_MAX];
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	w->agent = fork();
	ck_assert_int_ge(w->agent, 0);
	if (w->agent == 0) {
		close(in[1]);
		close(out[0]);
		agent_run(w, in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
}

static void order_send(struct world *w, const struct order *o)
{
	ck_assert_int_eq(write(w->to, o, sizeof(*o)), (ssize_t)sizeof(*o));
}

static char order_await(struct world *w)
{
	char answer;

	ck_assert_msg(read(w->from, &answer, 1) == 1, "the agent's process failed");
	if (answer == 'x')
		w->dead = true;
	return answer;
}

static char order(struct world *w, struct order o)
{
	if (w->dead)
		return 'x';
	order_send(w, &o);
	return order_await(w);
}

/* By an order: the broker's parent holds the pipe, too. */
void agent_end(struct world *w)
{
	order_send(w, &(struct order){.op = 'q'});
	ck_assert_int_eq(waitpid(w->agent, NULL, 0), w->agent);
	close(w->to);
	close(w->from);
	munmap(w->calls, sizeof(*w->calls) * CALLS_MAX + sizeof(*w->n));
}

void agent_connect(struct world *w, unsigned link)
{
	ck_assert_int_ne(order(w, (struct order){.op = 'c', .link = link}), 'e');
}

void agent_submit(struct world *w, const char *method, struct call *c)
{
	struct order o = {.op = 's', .call = (unsigned)(c - w->calls)};

	snprintf(o.method, sizeof(o.method), "%s", method);
	order(w, o);
}

void agent_await(struct world *w, struct call *c)
{
	order(w, (struct order){.op = 'w', .call = (unsigned)(c - w->calls)});
}

bool agent_call(struct world *w, unsigned link, const char *method, const char *what)
{
	struct order o = {.op = 'm', .link = link};

	if (!w->dead && strncmp(method, "turn_", 5) == 0)
		w->turns++;
	snprintf(o.method, sizeof(o.method), "%s", method);
	snprintf(o.what, sizeof(o.what), "%s", what);
	return order(w, o) == 'k';
}

void agent_drain(struct world *w)
{
	order_send(w, &(struct order){.op = 'd'});
	order_await(w);
}

void agent_load(struct world *w)
{
	order_send(w, &(struct order){.op = 'l'});
}

void agent_load_await(struct world *w)
{
	order_await(w);
}
