/* SPDX-License-Identifier: MIT */
/* A frontend that answers no request: it sees that the session is suspended, and asks. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "frontends/run/run.h"

static void take(struct watch *w, const struct approval_value *item)
{
	const char *turn = approval_value_text(item, "turn");
	bool suspended = !strcmp(approval_value_text(item, "state"), "SUSPENDED");

	if (strcmp(approval_value_text(item, "type"), "turn") || !*w->session ||
		strcmp(approval_value_text(item, "session"), w->session))
		return;
	if (suspended && strcmp(turn, w->turn)) {
		snprintf(w->turn, sizeof(w->turn), "%s", turn);
		text_reset(&w->reason);
		text_add(&w->reason, approval_value_text(item, "reason"));
		w->changed = true;
	} else if (!suspended && !strcmp(turn, w->turn)) {
		w->turn[0] = '\0';
		w->changed = true;
	}
}

static void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct watch *w = arg;

	if (event != APPROVAL_NOTIFICATION)
		return;
	if (!strcmp(name, "item"))
		take(w, value);
	else if (!strcmp(name, "turn_changed"))
		take(w, approval_value_get(value, "item"));
}

int watch_open(struct watch *w, struct run *run)
{
	static const char *const nothing[] = {NULL};
	struct approval_options o;
	int err;

	w->run = run;
	approval_options_init(&o, APPROVAL_FRONTEND);
	o.client = "approval-run " PACKAGE_VERSION;
	o.retry_ms = -1;
	o.answers = nothing;
	err = approval_new(&w->client, &o);
	if (err < 0)
		return err;
	approval_on_event(w->client, on_event, w);
	return 0;
}

void watch_session(struct watch *w, const char *session)
{
	if (!w->client || !strcmp(session, w->session))
		return;
	snprintf(w->session, sizeof(w->session), "%s", session);
	approval_subscribe(w->client);
}

static void answered(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct watch *w = arg;

	if (!status)
		return;
	run_say(w->run, "%s", error && *error->message ? error->message : strerror(-status));
	w->changed = true; /* it is asked again */
}

void watch_answer(struct watch *w, const char *method)
{
	struct approval_pack *p;
	const void *data;
	size_t len;

	if (approval_pack_new(&p))
		return;
	approval_pack_map(p, 1);
	approval_pack_str(p, "session");
	approval_pack_str(p, w->session);
	data = approval_pack_data(p, &len);
	if (data && approval_call(w->client, method, data, len, false, answered, w, NULL))
		w->changed = true;
	approval_pack_free(p);
}

void watch_close(struct watch *w)
{
	approval_free(w->client);
	text_free(&w->reason);
}
