/* SPDX-License-Identifier: MIT */
/* The frontend's side: subscription and decisions. */
#include <errno.h>
#include <string.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"

/* ---- subscription: pages are pulled until there are no more, events are counted ---- */

static int pull(struct approval *a, const struct approval_value *cursor);

static int page(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error)
{
	const struct approval_value *items, *item;
	struct wire_subscribe_reply r;
	size_t i;

	if (status == -EREMOTEIO)
		return client_refused(a, error);
	if (status)
		return 0; /* the connection is gone: the next one subscribes again */
	if (wire_decode(&wire_subscribe_reply_spec, value_raw(result), &r, NULL) != 0 ||
		!bytes_is(r.epoch, approval_value_text(a->hello, "epoch")) ||
		(r.more && !r.cursor.data))
		return -EPROTO;
	items = approval_value_get(result, "items");
	for (i = 0; (item = approval_value_at(items, i)) != NULL; i++) {
		if (approval_value_type(item) != APPROVAL_MAP)
			return -EPROTO;
		client_emit(a, APPROVAL_NOTIFICATION, "item", item, NULL);
	}
	if (r.more)
		return pull(a, approval_value_get(result, "cursor"));
	client_emit(a, APPROVAL_SNAPSHOT, NULL, NULL, NULL);
	return 0;
}

static int pull(struct approval *a, const struct approval_value *cursor)
{
	const struct approval_call like = {.own = page};
	struct wire_subscribe s = {0};
	struct wire_buffer b;
	size_t len;

	if (cursor) {
		s.cursor.data = approval_value_str(cursor, &len);
		s.cursor.len = len;
	}
	call_begin(&b, "subscribe");
	wire_encode(&wire_subscribe_spec, &s, &b);
	return call_submit(a, &b, &like, NULL);
}

int subscription_start(struct approval *a)
{
	int rc;

	if (!a->subscription.wanted || a->subscription.active || a->conn.state != CONN_READY)
		return 0;
	rc = pull(a, NULL);
	if (rc < 0)
		return rc;
	a->subscription.active = true;
	a->subscription.seq = 0;
	return 0;
}

int approval_subscribe(struct approval *a)
{
	int rc;

	if (a->side != APPROVAL_FRONTEND)
		return -EINVAL;
	if (a->final)
		return a->final;
	a->subscription.wanted = true;
	rc = subscription_start(a);
	if (rc < 0)
		a->subscription.wanted = false;
	return rc;
}

int subscription_event(struct approval *a, const struct approval_value *params)
{
	const struct approval_value *seq = approval_value_get(params, "seq");

	if (!a->subscription.active)
		return 0;
	if (approval_value_type(seq) != APPROVAL_INT ||
		approval_value_uint(seq) != a->subscription.seq + 1 ||
		strcmp(approval_value_text(params, "epoch"),
			approval_value_text(a->hello, "epoch")))
		return -EPROTO;
	a->subscription.seq++;
	return 0;
}

/* ---- decisions ---- */

static struct bytes given(const void *data, size_t len)
{
	return (struct bytes){data, data ? len : 0};
}

static int encode_answer(struct wire_buffer *b, const struct approval_answer *answer)
{
	struct wire_decision d = {
		.request = bytes_of(answer->request),
		.digest = given(answer->digest, WIRE_DIGEST),
		.reason = bytes_of(answer->reason),
		.scope = bytes_of(answer->scope),
		.rule = bytes_of(answer->rule),
		.updated_input = given(answer->updated_input, answer->updated_input_len),
		.answers = given(answer->answers, answer->answers_len),
	};

	switch (answer->verdict) {
	case APPROVAL_ALLOW:
		/* what was seen is what is approved */
		if (!answer->digest)
			return -EINVAL;
		d.verdict = bytes_of("allow");
		break;
	case APPROVAL_DENY: d.verdict = bytes_of("deny"); break;
	default: return -EINVAL;
	}
	if (!answer->request)
		return -EINVAL;
	return wire_encode(&wire_decision_spec, &d, b);
}

/* Starts a message in b in any case. */
static int encode_decide(struct wire_buffer *b, const struct approval_answer *answers, size_t n)
{
	struct approval_answer answer;
	const char *p = (const char *)answers;
	struct wire_open map;
	size_t i;
	int rc;

	call_begin(b, "decide");
	if (!n || n > LIMIT_DECISIONS || !answers)
		return -EINVAL;
	wire_map_open(&map, b);
	wire_map_key(&map, "decisions");
	wire_pack_array(b, (uint32_t)n);
	/* the caller's structures may be of another size than ours */
	for (i = 0; i < n; i++, p += answers->size) {
		rc = struct_take(&answer, sizeof(answer), p, answers->size);
		if (!rc)
			rc = encode_answer(b, &answer);
		if (rc < 0)
			return rc;
	}
	wire_close(&map);
	return 0;
}

int approval_decide(struct approval *a, const struct approval_answer *answers, size_t n,
	approval_reply_fn fn, void *arg, struct approval_call **call)
{
	const struct approval_call like = {.fn = fn, .arg = arg};
	struct wire_buffer b;
	int rc = encode_decide(&b, answers, n);

	if (call)
		*call = NULL;
	if (!rc)
		return call_submit(a, &b, &like, call);
	wire_buffer_free(&b);
	return rc;
}

int approval_decide_wait(struct approval *a, const struct approval_answer *answers, size_t n,
	int64_t timeout_ms, struct approval_value **result)
{
	struct wire_buffer b;
	int rc = encode_decide(&b, answers, n);

	if (result)
		*result = NULL;
	if (!rc)
		return wait_call(a, &b, false, timeout_ms, result);
	wire_buffer_free(&b);
	return rc;
}
