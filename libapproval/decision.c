/* SPDX-License-Identifier: MIT */
/* Requests and checks, and what is decided about them. */
#include <errno.h>
#include <string.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"

void approval_request_init(struct approval_request *r)
{
	*r = (struct approval_request){.size = sizeof(*r)};
}

static struct bytes given(const void *data, size_t len)
{
	return (struct bytes){data, data ? len : 0};
}

static int encode(struct wire_buffer *b, const struct approval_request *r, const char *id)
{
	static const uint8_t empty_map[] = {0x80};
	struct wire_request w = {
		.type = bytes_of(r->type),
		.tool_call_id = bytes_of(id),
		.tool = bytes_of(r->tool),
		.input = r->input ? given(r->input, r->input_len) : given(empty_map, 1),
		.kind = bytes_of(r->kind),
		.summary = bytes_of(r->summary),
		.description = bytes_of(r->description),
		.cwd = bytes_of(r->cwd),
		.turn_id = bytes_of(r->turn_id),
		.on_disconnect = bytes_of(r->on_disconnect),
		.options = given(r->options, r->options_len),
		.schema = given(r->schema, r->schema_len),
	};

	if (!r->tool || r->timeout_ms < 0 || r->channel_ms < 0)
		return -EINVAL;
	if (w.input.len > LIMIT_INPUT || w.options.len > LIMIT_FRAME ||
		w.schema.len > LIMIT_FRAME)
		return -EMSGSIZE;
	if (r->timeout_ms)
		WIRE_PUT(&w, request, timeout_ms, (uint64_t)r->timeout_ms);
	if (r->channel_ms)
		WIRE_PUT(&w, request, channel_ms, (uint64_t)r->channel_ms);
	if (r->mutating)
		WIRE_PUT(&w, request, mutating, true);
	if (r->fail_closed)
		WIRE_PUT(&w, request, fail_closed, true);
	if (r->elsewhere)
		WIRE_PUT(&w, request, elsewhere, true);
	if (r->takes_input)
		WIRE_PUT(&w, request, takes_input, true);
	if (r->multi)
		WIRE_PUT(&w, request, multi, true);
	return wire_encode(&wire_request_spec, &w, b);
}

/* Submits a request or check; *like says which, and whom it is told. */
static int submit(struct approval *a, const struct approval_request *request,
	struct approval_call *like, struct approval_call **call)
{
	char made[CLIENT_ID_SIZE];
	struct approval_request r;
	struct wire_buffer b;
	int rc;

	if (call)
		*call = NULL;
	if (a->side != APPROVAL_AGENT)
		return -EINVAL;
	rc = struct_take(&r, sizeof(r), request, request->size);
	if (rc < 0)
		return rc;
	if (!r.no_tool_call_id) {
		like->tool_call_id = (char *)r.tool_call_id;
		if (!r.tool_call_id) {
			rc = client_make_id(made, "call");
			if (rc < 0)
				return rc;
			like->tool_call_id = made;
		}
	}
	call_begin(&b, like->kind == CALL_CHECK ? "check" : "request");
	rc = encode(&b, &r, like->tool_call_id);
	if (rc < 0) {
		wire_buffer_free(&b);
		return rc;
	}
	like->repeat = true;
	return call_submit(a, &b, like, call);
}

int approval_request(struct approval *a, const struct approval_request *r,
	approval_decision_fn fn, void *arg, struct approval_call **call)
{
	struct approval_call like = {.kind = CALL_REQUEST, .decision_fn = fn, .arg = arg};

	return submit(a, r, &like, call);
}

int approval_check(struct approval *a, const struct approval_request *r,
	approval_decision_fn fn, void *arg, struct approval_call **call)
{
	struct approval_call like = {.kind = CALL_CHECK, .decision_fn = fn, .arg = arg};

	return submit(a, r, &like, call);
}

/* ---- results ---- */

static int read_verdict(
	const struct wire_request_reply *w, enum call_kind kind, enum approval_verdict *verdict)
{
	if (bytes_is(w->verdict, "allow"))
		*verdict = APPROVAL_ALLOW;
	else if (bytes_is(w->verdict, "deny"))
		*verdict = APPROVAL_DENY;
	else if (bytes_is(w->verdict, "ask") && kind == CALL_CHECK)
		*verdict = APPROVAL_ASK;
	else
		return -EPROTO;
	return 0;
}

/* A value that is there but nil is none. */
static const struct approval_value *value_of(
	const struct approval_value *result, const char *key)
{
	const struct approval_value *v = approval_value_get(result, key);

	return approval_value_type(v) == APPROVAL_NIL ? NULL : v;
}

static void fill(struct approval_decision *d, const struct approval_value *result)
{
	const struct approval_value *digest = value_of(result, "digest");

	d->request = approval_value_text(result, "request");
	d->tool_call_id = approval_value_text(result, "tool_call_id");
	d->turn = approval_value_text(result, "turn");
	d->source = approval_value_text(result, "source");
	d->scope = approval_value_text(result, "scope");
	d->step = approval_value_text(result, "step");
	d->state = approval_value_text(result, "state");
	d->reason = approval_value_text(result, "reason");
	d->message = approval_value_text(result, "message");
	if (digest)
		d->digest = (const unsigned char *)approval_value_str(digest, NULL);
	d->updated_input = value_of(result, "updated_input");
	d->answers = value_of(result, "answers");
	d->result = result;
}

int decision_read(struct approval_decision *d, const struct approval_value *result,
	const struct approval_call *call)
{
	struct wire_request_reply w;
	int rc;

	*d = (struct approval_decision){.verdict = APPROVAL_NONE};
	if (wire_decode(&wire_request_reply_spec, value_raw(result), &w, NULL) != 0)
		return -EPROTO;
	rc = read_verdict(&w, call->kind, &d->verdict);
	if (rc < 0)
		return rc;
	/* an allow must be of this very call, and say of what; its length was proved */
	if (d->verdict == APPROVAL_ALLOW &&
		(!w.digest.data ||
			(call->tool_call_id && !bytes_is(w.tool_call_id, call->tool_call_id))))
		return -EPROTO;
	fill(d, result);
	return 0;
}

/* ---- blocking ---- */

struct decision_waiter {
	bool done;
	int status;
};

/* Keeps a copy of the decision in the client: all of its members point into the result. */
static void keep(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct decision_waiter *w = arg;

	w->done = true;
	w->status = status;
	if (status) {
		failure_set(&a->last, error);
		return;
	}
	w->status = approval_value_dup(d->result, &a->decision_value);
	if (w->status)
		return;
	a->decision = (struct approval_decision){.verdict = d->verdict};
	fill(&a->decision, a->decision_value);
}

static int submit_wait(struct approval *a, const struct approval_request *r,
	enum call_kind kind, int64_t timeout_ms, const struct approval_decision **d)
{
	struct decision_waiter w = {.done = false};
	struct approval_call like = {.kind = kind, .decision_fn = keep, .arg = &w};
	struct approval_call *call;
	int rc = wait_enter(a);

	*d = NULL;
	if (rc < 0)
		return rc;
	rc = submit(a, r, &like, &call);
	if (!rc) {
		rc = wait_until(a, &w.done, timeout_ms);
		if (!rc) {
			if (!w.status)
				*d = &a->decision;
			return w.status;
		}
		approval_call_cancel(call);
		/* so that the cancelling leaves now; nobody may come to dispatch again */
		approval_dispatch(a);
	}
	wait_failed(a);
	return rc;
}

int approval_request_wait(struct approval *a, const struct approval_request *r,
	int64_t timeout_ms, const struct approval_decision **d)
{
	return submit_wait(a, r, CALL_REQUEST, timeout_ms, d);
}

int approval_check_wait(struct approval *a, const struct approval_request *r,
	int64_t timeout_ms, const struct approval_decision **d)
{
	return submit_wait(a, r, CALL_CHECK, timeout_ms, d);
}
