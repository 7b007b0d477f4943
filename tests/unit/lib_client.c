/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tests/unit/lib_client.h"

#include <stdio.h>
#include <string.h>

struct peer peer;
struct approval *client;

void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct told *t = arg;

	switch (event) {
	case APPROVAL_CONNECTED:
		t->connected++;
		t->any_connected = true;
		ck_assert_ptr_eq(value, approval_hello(a));
		break;
	case APPROVAL_DISCONNECTED:
		t->disconnected++;
		t->any_disconnected = true;
		break;
	case APPROVAL_GAVE_UP:
		t->gave_up++;
		t->any_gave_up = true;
		snprintf(t->code, sizeof(t->code), "%s", error->code);
		snprintf(t->message, sizeof(t->message), "%s", error->message);
		break;
	case APPROVAL_NOTIFICATION:
		t->notified++;
		t->any_notified = true;
		snprintf(t->name, sizeof(t->name), "%s", name);
		snprintf(t->text, sizeof(t->text), "%s", approval_value_text(value, "turn"));
		break;
	case APPROVAL_SNAPSHOT: ck_abort_msg("an agent has no snapshot"); break;
	}
}

void on_decision(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->times++;
	answer->status = status;
	ck_assert_int_eq(!status, d != NULL);
	ck_assert_ptr_nonnull(error);
	snprintf(answer->code, sizeof(answer->code), "%s", error->code);
	if (!d)
		return;
	answer->verdict = d->verdict;
	answer->digest = d->digest != NULL;
	snprintf(answer->reason, sizeof(answer->reason), "%s", d->reason);
	snprintf(answer->message, sizeof(answer->message), "%s", d->message);
	snprintf(answer->id, sizeof(answer->id), "%s", d->tool_call_id);
}

void on_reply(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct answer *answer = arg;

	answer->done = true;
	answer->times++;
	answer->status = status;
	ck_assert_int_eq(!status, result != NULL);
	snprintf(answer->code, sizeof(answer->code), "%s", error->code);
	snprintf(answer->message, sizeof(answer->message), "%s", error->message);
	if (result)
		snprintf(answer->reason, sizeof(answer->reason), "%s",
			approval_value_text(result, "reason"));
}

struct approval_request request_of(const char *id)
{
	struct approval_request r;

	approval_request_init(&r);
	r.tool = "Bash";
	r.tool_call_id = id;
	return r;
}

struct approval_call *ask(struct answer *answer, const char *id)
{
	struct approval_request r = request_of(id);
	struct approval_call *call;

	memset(answer, 0, sizeof(*answer));
	ck_assert_int_eq(approval_request(client, &r, on_decision, answer, &call), 0);
	ck_assert_ptr_nonnull(call);
	return call;
}

static void client_setup(void)
{
	peer_open(&peer, APPROVAL_AGENT);
	client = peer_client(&peer);
}

static void client_teardown(void)
{
	approval_free(client);
	peer_close(&peer);
}

void client_with(const struct approval_options *o)
{
	approval_free(client);
	ck_assert_int_eq(approval_new(&client, o), 0);
}

TCase *client_tcase(Suite *s, const char *name)
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, client_setup, client_teardown);
	tcase_set_timeout(t, 30);
	suite_add_tcase(s, t);
	return t;
}
