/* SPDX-License-Identifier: MIT */
/* The policy at the broker. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/common/start.h"
#include "frontends/policy/main.h"

#define BYE_MS 2000

/* ---- an answer ---- */

static void verdict_replied(struct approval *client, int status,
	const struct approval_value *result, const struct approval_error *error, void *arg)
{
	struct review *const v = arg;
	struct app *const a = v->reviewer->arg;
	const char *const how = approval_value_text(result, "result");
	struct text note = {0};
	int err;

	(void)client;
	if (status == 0 && !strcmp(how, "ok")) {
		err = review_tell(v, NULL);
		if (!err && a->set.headless)
			err = taken_add(&a->takens, v, false);
	} else {
		text_printf(&note, "not taken: %s",
			status == 0			? how
			: status == -EREMOTEIO && error ? error->message
							: strerror(-status));
		err = note.failed ? -ENOMEM : review_tell(v, text_string(&note));
		/* another policy was faster: what became of the call counts all the same */
		if (!err && a->set.headless && status == 0 && !strcmp(how, "gone"))
			err = taken_add(&a->takens, v, true);
	}
	text_free(&note);
	review_end(v);
	if (err)
		app_fail(a, err);
}

static int verdict_pack(struct approval_pack *p, const struct review *v, const char *reason)
{
	size_t len = 0;
	const char *const digest =
		approval_value_str(approval_value_get(v->item, "digest"), &len);

	if (len != 32)
		return -EINVAL;
	/* the pack keeps its first failure */
	approval_pack_map(p, 4);
	approval_pack_str(p, "request");
	approval_pack_str(p, approval_value_text(v->item, "request"));
	approval_pack_str(p, "digest");
	approval_pack_bin(p, digest, len);
	approval_pack_str(p, "verdict");
	approval_pack_str(p, answer_name(v->verdict.answer));
	approval_pack_str(p, "reason");
	return approval_pack_strn(p, reason, strnlen(reason, LIMIT_TEXT));
}

static int verdict_send(struct app *a, struct review *v)
{
	struct approval_pack *p = NULL;
	struct text why = {0};
	const void *data;
	size_t len = 0;
	int err = approval_pack_new(&p);

	review_why(&why, v);
	if (!err)
		err = why.failed ? -ENOMEM : verdict_pack(p, v, text_string(&why));
	if (!err) {
		data = approval_pack_data(p, &len);
		err = approval_call(
			a->client, "verdict", data, len, false, verdict_replied, v, NULL);
	}
	approval_pack_free(p);
	text_free(&why);
	return err;
}

static bool live_done(void *arg, struct review *v)
{
	struct app *const a = arg;
	struct text note = {0};
	int err;

	if (a->set.dry_run) {
		err = review_tell(v, NULL);
	} else {
		err = verdict_send(a, v);
		if (!err) {
			v->answered = true;
			return true;
		}
		text_printf(&note, "not answered: %s", strerror(-err));
		err = review_tell(v, text_string(&note));
		text_free(&note);
	}
	if (err)
		app_fail(a, err);
	return false;
}

/* ---- what is offered ---- */

static void item_take(struct app *a, const struct approval_value *item)
{
	struct approval_value *copy = NULL;
	struct tm tm;
	int err = approval_value_dup(item, &copy);

	app_time(&tm);
	if (!err)
		err = review_begin(&a->r, copy, &tm);
	/* without an answer the broker asks a person */
	if (err)
		app_say(a, "%s is not answered: %s", approval_value_text(item, "request"),
			strerror(-err));
}

static void item_got(struct approval *client, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct app *const a = arg;
	const struct approval_value *const item = approval_value_get(result, "item");

	(void)client;
	if (status == 0 && approval_value_get(item, "input"))
		item_take(a, item);
	else if (status != -ECANCELED)
		app_say(a, "the input of a request can't be had: %s",
			status == -EREMOTEIO && error ? error->message
			: status		      ? strerror(-status)
						      : "it is left out");
}

/* One whose input is too large to come by itself. */
static void item_get(struct app *a, const struct approval_value *item)
{
	struct approval_pack *p = NULL;
	size_t len = 0;
	int err = approval_pack_new(&p);

	if (!err) {
		approval_pack_map(p, 1);
		approval_pack_str(p, "id");
		err = approval_pack_str(p, approval_value_text(item, "request"));
	}
	if (!err) {
		const void *const data = approval_pack_data(p, &len);

		err = approval_call(a->client, "get", data, len, false, item_got, a, NULL);
	}
	approval_pack_free(p);
	if (err)
		app_say(a, "%s is not answered: %s", approval_value_text(item, "request"),
			strerror(-err));
}

static void item_offered(struct app *a, const struct approval_value *item)
{
	const char *const state = approval_value_text(item, "state");

	if (strcmp(approval_value_text(item, "type"), "request") ||
		strcmp(approval_value_text(item, "request_type"), "tool_call"))
		return;
	if (a->set.dry_run ? strcmp(state, "REVIEW") && strcmp(state, "AWAITING")
			   : strcmp(state, "REVIEW"))
		return;
	if (approval_value_get(item, "input_size"))
		item_get(a, item);
	else
		item_take(a, item);
}

/* ---- events ---- */

static void state_tell(struct app *a, const char *event)
{
	struct json_object *map;
	int r;

	if (!a->r.json) {
		app_say(a, "%s: %s", event, approval_status(a->client));
		return;
	}
	map = json_object_new_object();
	r = map ? 0 : -ENOMEM;
	json_add_text(map, "event", event, &r);
	if (!r)
		r = json_write(&a->r.out, map);
	json_object_put(map);
	if (r)
		app_fail(a, r);
}

static void live_event(struct approval *client, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct app *const a = arg;

	switch (event) {
	case APPROVAL_CONNECTED: break;
	case APPROVAL_SNAPSHOT: state_tell(a, "ready"); break;
	case APPROVAL_DISCONNECTED: state_tell(a, "disconnected"); break;
	case APPROVAL_NOTIFICATION:
		if (!strcmp(name, "offered"))
			item_offered(a, approval_value_get(value, "item"));
		else if (!strcmp(name, "item"))
			item_offered(a, value);
		else if (!strcmp(name, "resolved") || !strcmp(name, "withdrawn"))
			review_withdraw(&a->r, approval_value_text(value, "request"));
		break;
	case APPROVAL_GAVE_UP:
		if (a->ended)
			break;
		app_say(a, "%s",
			error && *error->code ? error->message : approval_status(client));
		if (!strncmp(approval_status(client), "no broker", 9))
			app_say(a, "start one with " START_HOW
				   "; 'approvalctl doctor' tells more");
		a->ended = true;
		a->status = STATUS_NO_BROKER;
		break;
	}
	if (output_finish(&a->r.out) && !a->ended) {
		a->ended = true;
		a->status = STATUS_FAILED;
	}
}

/* What became of the calls that were answered. */
static void live_count(struct app *a, bool last)
{
	int err = 0;

	/* an answer that was taken meanwhile counts, too */
	if (last && a->client && approval_dispatch(a->client) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = takens_settle(&a->takens, a->client, &a->r.summary, last);
	if (err)
		app_fail(a, err);
}

void live_run(struct app *a)
{
	static const char *const answers[] = {"tool_call", NULL};
	struct approval_options o;
	int err;

	approval_options_init(&o, APPROVAL_FRONTEND);
	o.client = "approval-policy " PACKAGE_VERSION;
	o.socket = a->set.socket;
	o.retry_ms = a->set.retry_ms;
	o.role = a->set.dry_run ? "observer" : "policy";
	o.name = a->set.name;
	o.answers = answers;
	o.headless = a->set.headless;
	a->r.live = true;
	a->r.done = live_done;
	a->r.arg = a;
	err = approval_new(&a->client, &o);
	if (!err) {
		approval_on_event(a->client, live_event, a);
		err = approval_subscribe(a->client);
	}
	if (err)
		app_fail(a, err);
	while (!a->ended) {
		app_step(a);
		if (!a->ended)
			live_count(a, false);
	}
	live_count(a, true);
	/* what it was asked and has not answered is no loss that must be made good for */
	if (a->client && a->status == STATUS_OK)
		approval_bye(a->client, false, BYE_MS);
	approval_free(a->client);
	a->client = NULL;
}
