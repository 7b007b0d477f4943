/* SPDX-License-Identifier: MIT */
#include "tests/daemon/case_agent.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/sandbox.h"

#define WAIT_MS 60000

const char *case_text(struct json_object *c, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(c, key, &v) && v ? json_object_get_string(v) : "";
}

static void json_pack(struct wire_buffer *out, struct json_object *j)
{
	switch (json_object_get_type(j)) {
	case json_type_null: wire_pack_nil(out); break;
	case json_type_boolean: wire_pack_bool(out, json_object_get_boolean(j)); break;
	case json_type_int: wire_pack_i64(out, json_object_get_int64(j)); break;
	case json_type_string:
		wire_pack_str(out, (struct bytes){json_object_get_string(j),
					   (size_t)json_object_get_string_len(j)});
		break;
	case json_type_array:
		wire_pack_array(out, (uint32_t)json_object_array_length(j));
		for (size_t i = 0; i < json_object_array_length(j); i++)
			json_pack(out, json_object_array_get_idx(j, i));
		break;
	case json_type_object:
		wire_pack_map(out, (uint32_t)json_object_object_length(j));
		json_object_object_foreach(j, key, value)
		{
			wire_pack_strz(out, key);
			json_pack(out, value);
		}
		break;
	case json_type_double: ck_abort_msg("a case with a fraction");
	}
}

void case_pack(struct wire_open *m, struct json_object *c)
{
	struct json_object *input = NULL;

	wire_map_strz(m, "tool", case_text(c, "tool"));
	wire_map_key(m, "input");
	json_object_object_get_ex(c, "input", &input);
	json_pack(m->b, input);
	wire_map_strz(m, "cwd", case_text(c, "cwd"));
}

void said_put(char *out, size_t size, struct bytes t)
{
	snprintf(out, size, "%.*s", (int)t.len, t.data ? (const char *)t.data : "");
}

static void take(int fd, void *out, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	ck_assert_int_eq(poll(&p, 1, WAIT_MS), 1);
	ck_assert_msg(read(fd, out, len) == (ssize_t)len, "the other process has ended");
}

/* Until the call is answered, or has come to a person. */
static void answer_await(struct raw *r, uint32_t call, struct said *s)
{
	for (;;) {
		const struct wire_frame f = raw_next(r);

		if (f.type == WIRE_NOTIFY && bytes_is(f.method, "request_state") &&
			bytes_is(raw_text(f.params, "state"), "AWAITING")) {
			said_put(s->verdict, sizeof(s->verdict), bytes_of("ask"));
			said_put(s->request, sizeof(s->request), raw_text(f.params, "request"));
			return;
		}
		if (f.type != WIRE_REPLY || f.id != call)
			continue;
		said_put(s->verdict, sizeof(s->verdict),
			f.error.data ? bytes_of("error") : raw_text(f.result, "verdict"));
		said_put(s->source, sizeof(s->source),
			f.error.data ? raw_text(f.error, "code")
				     : raw_text(f.result, "source"));
		said_put(s->step, sizeof(s->step), raw_text(f.result, "step"));
		return;
	}
}

static void withdraw(struct raw *r, const char *request)
{
	struct wire_open m;
	int replies = 0;

	wire_map_open(&m, raw_call(r, "cancel"));
	wire_map_strz(&m, "request", request);
	wire_close(&m);
	raw_send(r);
	/* its own and the request's */
	while (replies < 2)
		replies += raw_next(r).type == WIRE_REPLY;
}

static void agent_body(const struct agents *all, const struct agent *a)
{
	struct wire_frame f;
	struct said s;
	struct raw r;
	int i;

	ck_assert_int_eq(chdir(*a->workspace ? a->workspace : "/"), 0);
	raw_connect(&r, all->broker->agent);
	f = raw_hello_agent(&r, NULL);
	ck_assert(!f.error.data);
	memset(&s, 0, sizeof(s));
	said_put(s.request, sizeof(s.request), raw_text(f.result, "session"));
	said_put(s.verdict, sizeof(s.verdict), raw_text(f.result, "mode"));
	ck_assert_msg(bytes_is(raw_text(f.result, "workspace"), a->workspace), "%s is none",
		a->workspace);
	ck_assert_int_eq(write(a->to, &s, sizeof(s)), sizeof(s));
	while (read(a->from, &i, sizeof(i)) == sizeof(i)) {
		struct wire_open m;
		char c;

		memset(&s, 0, sizeof(s));
		wire_map_open(&m, raw_call(&r, "request"));
		case_pack(&m, all->cases[i]);
		wire_close(&m);
		answer_await(&r, raw_send(&r), &s);
		ck_assert_int_eq(write(a->to, &s, sizeof(s)), sizeof(s));
		if (!*s.request)
			continue;
		take(a->from, &c, 1);
		withdraw(&r, s.request);
	}
	raw_close(&r);
}

struct agent *agent_of(struct agents *all, const char *workspace)
{
	struct agent *a;
	int to[2], from[2];
	struct said s;

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->list[i].workspace, workspace) == 0)
			return &all->list[i];
	ck_assert_uint_lt(all->n, AGENTS_MAX);
	a = &all->list[all->n++];
	*a = (struct agent){.workspace = workspace};
	if (*workspace)
		sandbox_project(workspace);
	ck_assert_int_eq(pipe2(to, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(from, O_CLOEXEC), 0);
	a->pid = fork();
	ck_assert_int_ge(a->pid, 0);
	if (a->pid == 0) {
		/* that of another would not end with the test */
		for (size_t i = 0; i + 1 < all->n; i++)
			close(all->list[i].to);
		close(to[1]);
		close(from[0]);
		a->to = from[1];
		a->from = to[0];
		agent_body(all, a);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	a->to = to[1];
	a->from = from[0];
	take(a->from, &s, sizeof(s));
	memcpy(a->session, s.request, sizeof(a->session));
	memcpy(a->mode, s.verdict, sizeof(a->mode));
	return a;
}

void agent_call(const struct agent *a, int i, struct said *out)
{
	ck_assert_int_eq(write(a->to, &i, sizeof(i)), sizeof(i));
	take(a->from, out, sizeof(*out));
}

void agent_withdraw(const struct agent *a)
{
	ck_assert_int_eq(write(a->to, "x", 1), 1);
}

void agents_end(struct agents *all)
{
	for (size_t i = 0; i < all->n; i++) {
		int status;

		close(all->list[i].to);
		ck_assert_int_eq(waitpid(all->list[i].pid, &status, 0), all->list[i].pid);
		ck_assert_msg(status == 0, "an agent ended with %d", status);
		close(all->list[i].from);
	}
	all->n = 0;
}
