/* SPDX-License-Identifier: MIT */
/* Blocking calls: poll loops over the same dispatch. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"

/* The time at which a timeout is over; -1: never. */
static int64_t end_of(int64_t timeout_ms)
{
	int64_t now = client_now();

	return timeout_ms < 0 || timeout_ms > INT64_MAX - now ? -1 : now + timeout_ms;
}

/* Waits until there is work or the end. 0, -ETIMEDOUT, -EINTR, another failure. */
static int wait_work(const struct approval *a, int64_t end)
{
	struct pollfd p = {.fd = approval_fd(a), .events = approval_events(a)};
	int64_t wait = approval_timeout(a), left = -1;
	int n;

	if (end >= 0) {
		left = end - client_now();
		if (left < 0)
			left = 0;
	}
	if (wait < 0 || (left >= 0 && left < wait))
		wait = left;
	if (wait > INT_MAX)
		wait = INT_MAX;
	n = poll(&p, 1, (int)wait);
	if (n < 0)
		return -errno;
	return n == 0 && end >= 0 && client_now() >= end ? -ETIMEDOUT : 0;
}

int approval_wait(struct approval *a, int64_t timeout_ms)
{
	int rc;

	if (a->depth)
		return -EDEADLK;
	if (a->final)
		return a->final;
	rc = wait_work(a, end_of(timeout_ms));
	return rc < 0 ? rc : approval_dispatch(a);
}

int wait_until(struct approval *a, const bool *done, int64_t timeout_ms)
{
	int64_t end = end_of(timeout_ms);
	int rc;

	for (;;) {
		/* what goes wrong in it shows in the calls that it ends */
		approval_dispatch(a);
		if (*done)
			return 0;
		rc = wait_work(a, end);
		if (rc < 0 && rc != -EINTR)
			return rc;
	}
}

int approval_flush(struct approval *a, int64_t timeout_ms)
{
	int64_t end = end_of(timeout_ms);
	int rc;

	if (a->depth)
		return -EDEADLK;
	for (;;) {
		approval_dispatch(a);
		if (a->final)
			return a->final;
		if (a->conn.state == CONN_READY && !a->link.broken &&
			TAILQ_EMPTY(&a->calls.unsent) && link_queued(&a->link) == 0)
			return 0;
		rc = wait_work(a, end);
		if (rc < 0 && rc != -EINTR)
			return rc;
	}
}

int wait_enter(struct approval *a)
{
	if (a->depth)
		return -EDEADLK;
	failure_clear(&a->last);
	approval_value_free(a->decision_value);
	a->decision_value = NULL;
	return 0;
}

const struct approval_error *approval_last_error(const struct approval *a)
{
	return &a->last.view;
}

void wait_failed(struct approval *a)
{
	const struct approval_error trouble = {.code = "", .message = a->status};

	failure_set(&a->last, a->final ? &a->why.view : &trouble);
}

struct waiter {
	bool done;
	int status;
	struct approval_value *result;
};

static void wake(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct waiter *w = arg;

	w->done = true;
	w->status = status;
	if (status)
		failure_set(&a->last, error);
	else
		w->status = approval_value_dup(result, &w->result);
}

int wait_call(struct approval *a, struct wire_buffer *b, bool repeat, int64_t timeout_ms,
	struct approval_value **result)
{
	struct waiter w = {.done = false};
	const struct approval_call like = {.repeat = repeat, .fn = wake, .arg = &w};
	struct approval_call *call;
	int rc = wait_enter(a);

	if (result)
		*result = NULL;
	if (rc < 0) {
		wire_buffer_free(b);
		return rc;
	}
	rc = call_submit(a, b, &like, &call);
	if (rc < 0)
		goto out;
	rc = wait_until(a, &w.done, timeout_ms);
	if (rc < 0) {
		approval_call_cancel(call);
		goto out;
	}
	rc = w.status;
	if (!rc && result)
		*result = w.result;
	else
		approval_value_free(w.result);
	return rc;
out:
	wait_failed(a);
	return rc;
}

int approval_call_wait(struct approval *a, const char *method, const void *params, size_t len,
	int64_t timeout_ms, struct approval_value **result)
{
	struct wire_buffer b;

	if (result)
		*result = NULL;
	if (!method || !params)
		return -EINVAL;
	if (len > LIMIT_FRAME)
		return -EMSGSIZE;
	call_begin(&b, method);
	wire_pack_raw(&b, (struct bytes){params, len});
	return wait_call(a, &b, false, timeout_ms, result);
}

int approval_bye(struct approval *a, bool end_session, int64_t timeout_ms)
{
	struct wire_agent_bye bye = {0};
	struct wire_buffer b;
	int rc = 0;

	if (a->depth)
		return -EDEADLK;
	if (a->final)
		return 0;
	if (a->conn.state == CONN_READY || end_session) {
		call_begin(&b, "bye");
		if (end_session && a->side == APPROVAL_AGENT)
			WIRE_PUT(&bye, agent_bye, end, true);
		wire_encode(&wire_agent_bye_spec, &bye, &b);
		rc = wait_call(a, &b, end_session, timeout_ms, NULL);
		if (rc == -ENOTCONN && !end_session)
			rc = 0; /* that ends the connection's part as well */
	}
	client_happen(a, CONN_CLOSE);
	return rc;
}
