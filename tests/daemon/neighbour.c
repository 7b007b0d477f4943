/* SPDX-License-Identifier: MIT */
#include "tests/daemon/neighbour.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID_SIZE 64

/* ---- in the agent's process ---- */

static void agent_run(const struct broker *broker, int in, int out)
{
	struct raw r;
	char c;

	raw_connect(&r, broker->agent);
	ck_assert(!raw_hello_agent(&r, "neighbour").error.data);
	for (unsigned n = 0; read(in, &c, 1) == 1 && c == 'n'; n++) {
		char call[16], id[ID_SIZE] = "";
		struct bytes request;
		struct wire_frame f;
		uint32_t rpc;

		snprintf(call, sizeof(call), "n%u", n);
		rpc = raw_request(&r, call, "Frobnicate", call);
		request = raw_text(raw_notification(&r, "request_state").params, "request");
		ck_assert_uint_lt(request.len, sizeof(id));
		memcpy(id, request.data, request.len);
		ck_assert_int_eq(write(out, id, sizeof(id)), (ssize_t)sizeof(id));
		f = raw_reply(&r, rpc);
		ck_assert(!f.error.data && bytes_is(raw_text(f.result, "verdict"), "allow"));
		ck_assert_int_eq(write(out, "a", 1), 1);
	}
	raw_close(&r);
	_exit(0);
}

/* ---- in the test's ---- */

void neighbour_start(struct neighbour *n, const struct broker *broker)
{
	int in[2], out[2];

	ck_assert(pipe(in) == 0 && pipe(out) == 0);
	n->pid = fork();
	ck_assert_int_ge(n->pid, 0);
	if (n->pid == 0) {
		close(in[1]);
		close(out[0]);
		agent_run(broker, in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	n->to = in[1];
	n->from = out[0];
	raw_connect(&n->person, broker->frontend);
	ck_assert(!raw_hello_frontend(&n->person, "human").error.data);
}

void neighbour_round(struct neighbour *n)
{
	struct bytes item, digest;
	struct wire_frame f;
	struct wire_iter it;
	struct wire_open m;
	char id[ID_SIZE], c;
	uint8_t shown[32];

	ck_assert_int_eq(write(n->to, "n", 1), 1);
	ck_assert_int_eq(read(n->from, id, sizeof(id)), (ssize_t)sizeof(id));
	wire_map_open(&m, raw_call(&n->person, "get"));
	wire_map_strz(&m, "id", id);
	wire_close(&m);
	f = raw_reply(&n->person, raw_send(&n->person));
	digest = raw_text(raw_member(f.result, "item"), "digest");
	ck_assert_uint_eq(digest.len, sizeof(shown));
	memcpy(shown, digest.data, sizeof(shown));
	f = raw_reply(&n->person, raw_decide(&n->person, bytes_of(id),
					  (struct bytes){shown, sizeof(shown)}, "allow"));
	ck_assert_int_eq(wire_iter_array(&it, raw_member(f.result, "results")), 0);
	ck_assert(wire_array_next(&it, &item));
	ck_assert(bytes_is(raw_text(item, "result"), "ok"));
	ck_assert_int_eq(read(n->from, &c, 1), 1);
	ck_assert_int_eq(c, 'a');
}

void neighbour_end(struct neighbour *n)
{
	int status;

	ck_assert_int_eq(write(n->to, "e", 1), 1);
	ck_assert_int_eq(waitpid(n->pid, &status, 0), n->pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(n->to);
	close(n->from);
	raw_close(&n->person);
}

void in_child(void (*fn)(const struct broker *broker, unsigned n), const struct broker *broker,
	unsigned n)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		fn(broker, n);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}
