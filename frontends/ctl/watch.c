/* SPDX-License-Identifier: MIT */
/* watch: events as they come */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"

const struct option_def ctl_watch_options[] = {
	OPTION_DEF_JSON,
	{0},
};

struct watch {
	struct ctl *c;
	bool seen;    /* a broker was there */
	bool missing; /* it was said that no broker is there */
	bool ended;   /* the client gave up, or standard output did */
	int status;
};

/* ---- as JSON: the event's name beside the params as they came ---- */

static int watch_json(struct watch *w, const char *event, const struct approval_value *value)
{
	struct json_object *j = NULL;
	bool params = approval_value_type(value) == APPROVAL_MAP && strcmp(event, "item");
	int r = 0;

	if (params) {
		r = json_from_value(value, &j);
	} else {
		j = json_object_new_object();
		r = j ? 0 : -ENOMEM;
	}
	/* an item of the snapshot comes by itself; in events it is a member */
	if (!params && value)
		json_add_value(j, "item", value, &r);
	json_add_text(j, "event", event, &r);
	if (!r)
		r = json_write(&w->c->out, j);
	json_object_put(j);
	return r;
}

/* ---- as lines ---- */

static void line_begin(
	struct text *t, const struct output *o, const char *event, const char *id)
{
	time_t now = time(NULL);
	struct tm tm;
	char clock[16] = "";

	if (localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	text_printf(t, "%s %-16s %s", clock, event, item_id(o, id));
}

static void line_word(struct text *t, const struct approval_value *v, const char *key)
{
	size_t len;
	const char *s = approval_value_str(approval_value_get(v, key), &len);

	if (len) {
		text_add(t, " ");
		text_terminal(t, s, len, 0);
	}
}

static void line_item(struct text *t, const struct output *o, const char *event,
	const struct approval_value *item)
{
	const char *type = approval_value_text(item, "type");
	struct text what = {0};

	line_begin(t, o, event, approval_value_text(item, type));
	if (!strcmp(type, "request")) {
		line_word(t, item, "state");
		line_word(t, item, "agent");
		line_word(t, item, "mode");
		item_what(&what, item);
		text_add(t, " ");
		text_terminal(t, text_string(&what), what.len, 0);
		t->failed |= what.failed;
		text_free(&what);
	} else if (!strcmp(type, "turn")) {
		line_word(t, item, "state");
		line_word(t, item, "reason");
	} else {
		line_word(t, item, "agent");
		line_word(t, item, "title");
		line_word(t, item, "mode");
		if (approval_value_bool(approval_value_get(item, "ended")))
			text_add(t, " ended");
	}
}

/* Of budget_warning. */
static void line_level(struct text *t, const struct approval_value *v)
{
	uint64_t used = approval_value_uint(approval_value_get(v, "used"));
	uint64_t ceiling = approval_value_uint(approval_value_get(v, "ceiling"));

	if (!ceiling)
		return;
	line_word(t, v, "of");
	line_word(t, v, "what");
	text_printf(t, " %.0f%% used", 100.0 * (double)used / (double)ceiling);
}

static int watch_line(struct watch *w, const char *event, const struct approval_value *value)
{
	static const char *const words[] = {
		"state", "verdict", "source", "by", "tool", "reason"};
	const struct output *o = &w->c->out;
	const struct approval_value *item = approval_value_get(value, "item");
	struct text t = {0}, line = {0};

	if (!strcmp(event, "item"))
		item = value;
	if (item) {
		line_item(&t, o, event, item);
	} else {
		line_begin(&t, o, event,
			approval_value_text(
				value, strcmp(event, "budget_warning") ? "request" : "session"));
		line_level(&t, value);
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			line_word(&t, value, words[i]);
		if (approval_value_bool(approval_value_get(value, "ran_anyway")))
			text_add(&t, " although it was not allowed");
	}
	/* what this wrote before is plain, and stays as it is */
	text_terminal(&line, text_string(&t), t.len, o->columns);
	text_add(&line, "\n");
	line.failed |= t.failed;
	text_free(&t);
	return output_text(o, &line);
}

/* ---- events ---- */

static void watch_failed(struct watch *w, int status)
{
	w->ended = true;
	w->status = status;
}

static void watch_event(struct approval *client, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct watch *w = arg;
	struct ctl *c = w->c;
	int r = 0;

	switch (event) {
	case APPROVAL_CONNECTED:
	case APPROVAL_DISCONNECTED:
	case APPROVAL_SNAPSHOT:
		name = event == APPROVAL_CONNECTED	? "connected"
		       : event == APPROVAL_DISCONNECTED ? "disconnected"
							: "snapshot";
		if (c->json)
			r = watch_json(w, name, NULL);
		else if (event == APPROVAL_DISCONNECTED)
			ctl_say(c, "the broker is gone; waiting for it to come back");
		w->seen = true;
		if (event == APPROVAL_CONNECTED && w->missing)
			ctl_say(c, "the broker is there");
		w->missing = event == APPROVAL_DISCONNECTED && !c->json;
		break;
	case APPROVAL_NOTIFICATION:
		r = c->json ? watch_json(w, name, value) : watch_line(w, name, value);
		break;
	case APPROVAL_GAVE_UP:
		watch_failed(
			w, ctl_broke(c, error && *error->code ? -EREMOTEIO : -ENOTCONN, error));
		return;
	}
	if (r)
		watch_failed(w, ctl_own(c, r));
	else if (output_finish(&c->out))
		watch_failed(w, STATUS_FAILED); /* main says why */
}

/* With nothing to show, it would look as if nothing happened. */
static void watch_announce(struct watch *w, int64_t since)
{
	if (w->seen || w->missing || time_now() - since < CTL_PATIENCE_MS)
		return;
	w->missing = true;
	ctl_missing(w->c);
}

int ctl_watch(void *ctl, struct options *o)
{
	struct watch w = {.c = ctl};
	struct approval_options options;
	struct signals signals;
	int64_t since;
	int key, status, sig = 0;

	while ((key = options_next(o)) > OPTIONS_END)
		ctl_option(w.c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': watch takes no operands", o->operands[0]);

	approval_options_init(&options, APPROVAL_FRONTEND);
	options.role = "observer";
	options.retry_ms = -1;
	status = ctl_open(w.c, &options);
	if (!status)
		status = ctl_own(w.c, signals_open(&signals));
	if (status)
		return status;

	/* with nothing to write, the end of a pipe would not show */
	signals.out = fileno(w.c->out.file);
	approval_on_event(w.c->client, watch_event, &w);
	status = ctl_own(w.c, approval_subscribe(w.c->client));
	since = time_now();
	while (!status && !w.ended) {
		bool alone = !w.seen && !w.missing;

		sig = loop_step(w.c->client, &signals, alone ? CTL_PATIENCE_MS : -1);
		if (!sig && !w.ended)
			watch_announce(&w, since);
		if (sig < 0 && sig != -ENOMEM && !w.ended)
			status = ctl_broke(w.c, sig, NULL);
		else if (sig > 0 && sig != SIGCHLD)
			break;
	}
	signals_close(&signals);
	return status ? status : w.status;
}
