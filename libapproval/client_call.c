/* SPDX-License-Identifier: MIT */
/* Outstanding calls: queued, sent, repeated, answered, cancelled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/client.h"

/*
 * An id from here on takes five bytes in its shortest form, so that a message is
 * made once and gets a new id on each connection: [call, id, …] = 94 00 ce ID.
 */
#define ID_FIRST 0x10000u
#define ID_AT	 3
#define ID_SIZE	 4

/* The output is filled up to here; beyond it calls stay where they are. */
#define OUTPUT_ENOUGH 65536

static int by_id_order(const struct approval_call *x, const struct approval_call *y)
{
	return x->id < y->id ? -1 : x->id > y->id;
}

/* what the tree's macros call it; libbsd defines it only with its overlay headers */
#ifndef __unused
#define __unused __attribute__((__unused__))
#endif
RB_GENERATE_STATIC(call_tree, approval_call, node, by_id_order)

void calls_init(struct call_set *set)
{
	TAILQ_INIT(&set->unsent);
	TAILQ_INIT(&set->sent);
	TAILQ_INIT(&set->lost);
	RB_INIT(&set->by_id);
	set->n = 0;
	set->next_id = ID_FIRST;
}

static void put(struct call_queue *queue, struct approval_call *call)
{
	TAILQ_INSERT_TAIL(queue, call, link);
	call->on = queue;
}

static void take_out(struct call_set *set, struct approval_call *call)
{
	TAILQ_REMOVE(call->on, call, link);
	if (call->on == &set->sent)
		RB_REMOVE(call_tree, &set->by_id, call);
	call->on = NULL;
}

static void call_free(struct approval_call *call)
{
	free(call->message);
	free(call->tool_call_id);
	free(call);
}

void call_begin(struct wire_buffer *b, const char *method)
{
	wire_buffer_init(b, LIMIT_FRAME);
	wire_pack_call(b, ID_FIRST, bytes_of(method));
}

/*
 * What the broker would end the connection for must not leave: it would be sent
 * again on the next connection, for ever.
 */
static int prove(const struct wire_buffer *b)
{
	struct wire_frame f;
	int rc;

	if (b->error)
		return b->error;
	rc = wire_scan_value(wire_buffer_bytes(b));
	if (rc < 0)
		return rc == -EBADMSG ? -EINVAL : rc;
	rc = wire_frame_decode(wire_buffer_bytes(b), &f);
	return rc ? -EINVAL : 0;
}

int call_submit(struct approval *a, struct wire_buffer *b, const struct approval_call *like,
	struct approval_call **out)
{
	struct approval_call *call = NULL;
	int rc = a->final;

	if (!rc)
		rc = prove(b);
	if (!rc && !like->own && a->calls.n >= CLIENT_CALLS_MAX)
		rc = -EAGAIN;
	if (rc)
		goto out;
	rc = -ENOMEM;
	call = malloc(sizeof(*call));
	if (!call)
		goto out;
	*call = *like;
	call->client = a;
	if (like->tool_call_id) {
		call->tool_call_id = strdup(like->tool_call_id);
		if (!call->tool_call_id) {
			free(call);
			call = NULL;
			goto out;
		}
	}
	call->message = wire_buffer_take(b, &call->len);
	put(&a->calls.unsent, call);
	a->calls.n++;
	rc = 0;
out:
	wire_buffer_free(b);
	if (out)
		*out = call;
	return rc;
}

int approval_call(struct approval *a, const char *method, const void *params, size_t len,
	bool repeat, approval_reply_fn fn, void *arg, struct approval_call **call)
{
	const struct approval_call like = {.repeat = repeat, .fn = fn, .arg = arg};
	struct wire_buffer b;

	if (call)
		*call = NULL;
	if (!method || !params)
		return -EINVAL;
	if (len > LIMIT_FRAME)
		return -EMSGSIZE;
	call_begin(&b, method);
	wire_pack_raw(&b, (struct bytes){params, len});
	return call_submit(a, &b, &like, call);
}

static void give_id(struct call_set *set, struct approval_call *call)
{
	do {
		call->id = set->next_id++;
		if (set->next_id < ID_FIRST)
			set->next_id = ID_FIRST;
	} while (RB_INSERT(call_tree, &set->by_id, call));
	call->message[ID_AT] = (uint8_t)(call->id >> 24);
	call->message[ID_AT + 1] = (uint8_t)(call->id >> 16);
	call->message[ID_AT + 2] = (uint8_t)(call->id >> 8);
	call->message[ID_AT + 3] = (uint8_t)call->id;
}

int calls_pump(struct approval *a)
{
	struct call_set *set = &a->calls;
	struct approval_call *call;
	int rc;

	while (link_queued(&a->link) < OUTPUT_ENOUGH &&
		(call = TAILQ_FIRST(&set->unsent)) != NULL) {
		take_out(set, call);
		give_id(set, call);
		put(&set->sent, call);
		call->ever_sent = true;
		rc = link_queue(&a->link, call->message, call->len);
		if (rc < 0)
			return rc;
		if (!call->repeat) {
			free(call->message);
			call->message = NULL;
		}
	}
	return 0;
}

/* Runs the callback of a call that stands in no queue any more, and frees it. */
static int finish(struct approval *a, struct approval_call *call, int status,
	const struct approval_value *result, const struct approval_error *error)
{
	struct approval_decision d;
	int rc = 0;

	a->calls.n--;
	a->depth++;
	if (call->own) {
		rc = call->own(a, status, result, error);
	} else if (call->decision_fn) {
		if (!status)
			status = decision_read(&d, result, call);
		call->decision_fn(a, status, status ? NULL : &d, error, call->arg);
	} else if (call->fn) {
		call->fn(a, status, result, error, call->arg);
	}
	a->depth--;
	call_free(call);
	return rc;
}

int calls_reply(struct approval *a, const struct wire_frame *f)
{
	struct approval_call key = {.id = f->id}, *call;
	struct approval_error error = {.code = "", .message = ""};
	struct approval_value *value;
	int rc, status = 0;

	call = RB_FIND(call_tree, &a->calls.by_id, &key);
	if (!call)
		return 0; /* it was cancelled here */
	rc = value_decode(f->error.data ? f->error : f->result, &value);
	if (rc < 0)
		return rc;
	if (f->error.data) {
		rc = failure_view(value, &error) < 0 ? -EPROTO : 0;
		/* it does not stay: the call goes out again on the next connection */
		if (!rc && strcmp(error.code, "shutdown") == 0 && call->repeat && !a->conn.once)
			rc = CONN_LOST;
		if (rc) {
			approval_value_free(value);
			return rc;
		}
		status = -EREMOTEIO;
	}
	take_out(&a->calls, call);
	rc = finish(a, call, status, status ? NULL : value, &error);
	approval_value_free(value);
	return rc;
}

static void end_all(struct approval *a, struct call_queue *queue, int status,
	const struct approval_error *error)
{
	struct approval_call *call;

	while ((call = TAILQ_FIRST(queue)) != NULL) {
		take_out(&a->calls, call);
		finish(a, call, status, NULL, error);
	}
}

void calls_lost(struct approval *a)
{
	static const struct approval_error error = {
		.code = "",
		.message =
			"the connection to the broker was lost and the call cannot be repeated",
	};
	struct call_set *set = &a->calls;
	struct approval_call *call;

	while ((call = TAILQ_LAST(&set->sent, call_queue)) != NULL) {
		take_out(set, call);
		call->on = call->repeat ? &set->unsent : &set->lost;
		TAILQ_INSERT_HEAD(call->on, call, link);
	}
	end_all(a, &set->lost, -ENOTCONN, &error);
}

void calls_end(struct approval *a, int status, const struct approval_error *error)
{
	end_all(a, &a->calls.lost, status, error);
	end_all(a, &a->calls.sent, status, error);
	end_all(a, &a->calls.unsent, status, error);
}

static void drop(struct approval *a, struct approval_call *call)
{
	a->calls.n--;
	call_free(call);
}

/*
 * Makes the call itself into the `cancel` of its request, in the memory that it
 * has: the message gets shorter, for it held the same id. So cancelling does not
 * fail where memory is short.
 */
static void become_cancel(struct approval *a, struct approval_call *call)
{
	struct wire_buffer b;
	struct wire_open m;

	take_out(&a->calls, call);
	wire_buffer_init(&b, LIMIT_FRAME);
	b.data = call->message;
	b.cap = call->len;
	wire_pack_call(&b, ID_FIRST, bytes_of("cancel"));
	wire_map_open(&m, &b);
	wire_map_strz(&m, "tool_call_id", call->tool_call_id);
	wire_close(&m);
	call->message = b.data;
	call->len = b.len;
	if (b.error) {
		drop(a, call);
		return;
	}
	call->kind = CALL_PLAIN;
	call->fn = NULL;
	call->decision_fn = NULL;
	put(&a->calls.unsent, call);
}

void approval_call_cancel(struct approval_call *call)
{
	struct approval *a;

	if (!call || !call->on)
		return; /* its callback runs */
	a = call->client;
	if (call->kind == CALL_REQUEST && call->ever_sent && call->tool_call_id && !a->final) {
		become_cancel(a, call);
		return;
	}
	take_out(&a->calls, call);
	drop(a, call);
}
