/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"
#include "libapproval/wire/value.h"

static void pack_answers(struct wire_buffer *b, const char *const *answers)
{
	struct wire_open array;

	wire_array_open(&array, b);
	for (; *answers; answers++) {
		wire_array_item(&array);
		wire_pack_strz(b, *answers);
	}
	wire_close(&array);
}

static int prepare_agent(struct wire_buffer *b, const struct approval_options *o,
	const char *client, const struct approval *a)
{
	struct wire_agent_hello h = {
		.protocol = APPROVAL_PROTOCOL,
		.client = bytes_of(client),
		.agent = bytes_of(o->agent),
		.session = bytes_of(o->session),
		.parent = bytes_of(o->parent),
		.title = bytes_of(o->title),
		.cwd = bytes_of(o->cwd),
		.mode = bytes_of(o->mode),
		.enforce = bytes_of(o->enforce),
		.budget = {o->budget, o->budget ? o->budget_len : 0},
	};

	if (!o->agent || o->channel_ms < 0)
		return -EINVAL;
	if (a->subject_pidfd >= 0)
		WIRE_PUT(&h, agent_hello, subject, true);
	if (o->fail_closed)
		WIRE_PUT(&h, agent_hello, fail_closed, true);
	if (o->channel_ms)
		WIRE_PUT(&h, agent_hello, channel_ms, (uint64_t)o->channel_ms);
	if (a->freeze_fd >= 0)
		WIRE_PUT(&h, agent_hello, cgroup, true);
	wire_encode(&wire_agent_hello_spec, &h, b);
	if (b->error)
		return b->error;
	return wire_decode(&wire_agent_hello_spec, wire_buffer_bytes(b), &h, NULL) ? -EINVAL
										   : 0;
}

static int prepare_frontend(
	struct wire_buffer *b, const struct approval_options *o, const char *client)
{
	struct wire_frontend_hello h = {
		.protocol = APPROVAL_PROTOCOL,
		.client = bytes_of(client),
		.role = bytes_of(o->role ? o->role : "human"),
		.name = bytes_of(o->name),
	};
	struct wire_buffer answers;

	wire_buffer_init(&answers, LIMIT_FRAME);
	if (o->answers) {
		pack_answers(&answers, o->answers);
		h.answers = wire_buffer_bytes(&answers);
	}
	if (o->reasons)
		WIRE_PUT(&h, frontend_hello, reasons, true);
	if (o->headless)
		WIRE_PUT(&h, frontend_hello, headless, true);
	wire_encode(&wire_frontend_hello_spec, &h, b);
	if (answers.error && !b->error)
		b->error = answers.error;
	wire_buffer_free(&answers);
	if (b->error)
		return b->error;
	return wire_decode(&wire_frontend_hello_spec, wire_buffer_bytes(b), &h, NULL) ? -EINVAL
										      : 0;
}

int hello_prepare(struct approval *a, const struct approval_options *o)
{
	const char *client = o->client ? o->client : "libapproval " PACKAGE_VERSION;

	switch (a->side) {
	case APPROVAL_AGENT:
		return prepare_agent(&a->hello_params, o, client, a);
	case APPROVAL_FRONTEND: return prepare_frontend(&a->hello_params, o, client);
	}
	return -EINVAL;
}

/* The params; a session that the broker named is joined again by its name. */
static void pack_params(const struct approval *a, struct wire_buffer *b)
{
	struct wire_agent_hello h;

	if (a->side == APPROVAL_AGENT && a->agent_session &&
		wire_decode(&wire_agent_hello_spec, wire_buffer_bytes(&a->hello_params), &h,
			NULL) == 0 &&
		!h.session.data) {
		h.session = bytes_of(a->agent_session);
		wire_encode(&wire_agent_hello_spec, &h, b);
	} else {
		wire_pack_raw(b, wire_buffer_bytes(&a->hello_params));
	}
}

int hello_send(struct approval *a)
{
	struct wire_buffer b;
	int rc;

	/* below all ids of calls */
	a->hello_id = 1;
	wire_buffer_init(&b, LIMIT_FRAME);
	wire_pack_call(&b, a->hello_id, bytes_of("hello"));
	pack_params(a, &b);
	rc = b.error ? b.error : link_queue(&a->link, b.data, b.len);
	wire_buffer_free(&b);
	if (rc)
		return rc;
	a->link.n_pass_fds = 0;
	if (a->subject_pidfd >= 0)
		a->link.pass_fds[a->link.n_pass_fds++] = a->subject_pidfd;
	if (a->freeze_fd >= 0) {
		a->link.pass_fds[a->link.n_pass_fds++] = a->freeze_fd;
		a->link.pass_fds[a->link.n_pass_fds++] = a->kill_fd;
	}
	return rc;
}

bool hello_is_passing(const struct approval_error *e)
{
	return strcmp(e->code, "shutdown") == 0 || strcmp(e->code, "store") == 0 ||
	       strcmp(e->code, "limit") == 0;
}

int client_refused(struct approval *a, const struct approval_error *e)
{
	client_say(a, "the broker at %s answers %s: %s", a->place.path, e->code, e->message);
	if (hello_is_passing(e))
		return CONN_LOST;
	failure_set(&a->why, e);
	a->final = -EREMOTEIO;
	return CONN_REFUSED;
}

static int accept_result(struct approval *a, struct bytes result)
{
	struct wire_frontend_hello_reply frontend;
	struct wire_agent_hello_reply agent = {0};
	uint32_t protocol;
	int rc;

	if (a->side == APPROVAL_AGENT) {
		rc = wire_decode(&wire_agent_hello_reply_spec, result, &agent, NULL);
		protocol = agent.protocol;
	} else {
		rc = wire_decode(&wire_frontend_hello_reply_spec, result, &frontend, NULL);
		protocol = frontend.protocol;
	}
	if (rc || protocol != APPROVAL_PROTOCOL)
		return -EPROTO;
	if (agent.agent_session.data && !a->agent_session) {
		a->agent_session = strndup(agent.agent_session.data, agent.agent_session.len);
		if (!a->agent_session)
			return -ENOMEM;
	}
	return value_decode(result, &a->hello);
}

int hello_reply(struct approval *a, const struct wire_frame *f)
{
	struct approval_error e;
	struct approval_value *map;
	int rc;

	if (!f->error.data) {
		rc = accept_result(a, f->result);
		if (rc < 0)
			return rc;
		client_happen(a, CONN_WELCOME);
		return subscription_start(a);
	}
	rc = value_decode(f->error, &map);
	if (rc < 0)
		return rc;
	rc = failure_view(map, &e);
	if (!rc)
		rc = client_refused(a, &e);
	approval_value_free(map);
	return rc;
}
