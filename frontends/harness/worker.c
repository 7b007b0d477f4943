/* SPDX-License-Identifier: MIT */
/*
 * A client in a process of its own. Commands and events are JSON objects, one a
 * line, on the control socket. Whatever goes wrong with that ends the process.
 */
#include "config.h"

#include <errno.h>
#include <json-c/json_tokener.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/json.h"
#include "frontends/harness/harness.h"
#include "frontends/harness/packing.h"
#include "frontends/harness/rawlink.h"
#include "libapproval/approval.h"

struct worker {
	int control;
	enum client_kind kind;
	const char *socket;
	struct approval *client;
	bool over; /* it has given up: there is nothing to dispatch */
	struct rawlink raw;
	char *in;
	size_t len;
};

struct call {
	struct worker *w;
	char name[];
};

static _Noreturn void worker_end(void)
{
	_exit(70);
}

/* ---- events ---- */

/* Takes over value. */
static void tell(
	struct worker *w, const char *event, const char *call, struct json_object *value, int r)
{
	struct json_object *j = json_object_new_object();
	const char *s, *at;
	size_t len, left;

	if (!j)
		worker_end();
	json_add_text(j, "event", event, &r);
	if (call)
		json_add_text(j, "call", call, &r);
	json_add(j, "value", value, &r);
	s = r ? NULL : json_object_to_json_string_length(j, JSON_C_TO_STRING_PLAIN, &len);
	if (!s)
		worker_end();
	for (at = s, left = len; left;) {
		ssize_t n = write(w->control, at, left);

		if (n < 0 && errno != EINTR)
			worker_end();
		if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
	}
	if (write(w->control, "\n", 1) != 1)
		worker_end();
	json_object_put(j);
}

static void tell_value(struct worker *w, const char *event, const char *call,
	const struct approval_value *value)
{
	struct json_object *j = NULL;
	int r = json_from_value(value, &j);

	/* as `approvalctl watch --json` shows items of the snapshot */
	if (!r && !strcmp(event, "item")) {
		struct json_object *whole = json_object_new_object();

		r = whole ? 0 : -ENOMEM;
		json_add(whole, "item", j, &r);
		j = whole;
	}
	tell(w, event, call, j, r);
}

static void tell_error(struct worker *w, const char *event, const char *call, int status,
	const struct approval_error *error)
{
	struct json_object *j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add_text(j, "code", error && *error->code ? error->code : strerror(-status), &r);
	json_add_text(j, "message", error ? error->message : "", &r);
	json_add_value(j, "data", error ? error->data : NULL, &r);
	tell(w, event, call, j, r);
}

static void on_event(struct approval *client, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct worker *w = arg;

	switch (event) {
	case APPROVAL_CONNECTED: tell_value(w, "connected", NULL, value); break;
	case APPROVAL_DISCONNECTED: tell(w, "disconnected", NULL, NULL, 0); break;
	case APPROVAL_SNAPSHOT: tell(w, "snapshot", NULL, NULL, 0); break;
	case APPROVAL_NOTIFICATION: tell_value(w, name, NULL, value); break;
	case APPROVAL_GAVE_UP:
		w->over = true;
		tell_error(w, "gave_up", NULL, -ENOTCONN, error);
		break;
	}
}

static void on_reply(struct approval *client, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	struct call *c = arg;

	if (status)
		tell_error(c->w, "error", c->name, status, error);
	else
		tell_value(c->w, "reply", c->name, result);
	free(c);
}

/* ---- commands ---- */

static const char *text_of(struct json_object *j, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(j, key, &v) ? json_object_get_string(v) : NULL;
}

static bool bool_of(struct json_object *j, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(j, key, &v) && json_object_get_boolean(v);
}

static int64_t number_of(struct json_object *j, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(j, key, &v) ? json_object_get_int64(v) : 0;
}

static int connect_with(struct worker *w, struct json_object *hello)
{
	struct approval_options o;
	struct json_object *answers;
	const char *list[9] = {NULL};
	int r;

	approval_options_init(&o, w->kind == CLIENT_AGENT ? APPROVAL_AGENT : APPROVAL_FRONTEND);
	o.socket = w->socket;
	o.client = "approval-harness " PACKAGE_VERSION;
	o.no_reconnect = bool_of(hello, "no_reconnect");
	if (w->kind == CLIENT_AGENT) {
		o.agent = text_of(hello, "agent");
		o.agent = o.agent ? o.agent : "harness";
		o.session = text_of(hello, "session");
		o.parent = text_of(hello, "parent");
		o.title = text_of(hello, "title");
		o.cwd = text_of(hello, "cwd");
		o.mode = text_of(hello, "mode");
		o.fail_closed = bool_of(hello, "fail_closed");
		o.channel_ms = number_of(hello, "channel_ms");
	} else {
		o.role = text_of(hello, "role");
		o.name = text_of(hello, "name");
		o.reasons = bool_of(hello, "reasons");
		o.headless = bool_of(hello, "headless");
		if (json_object_object_get_ex(hello, "answers", &answers)) {
			for (size_t i = 0; i < 8 && i < json_object_array_length(answers); i++)
				list[i] = json_object_get_string(
					json_object_array_get_idx(answers, i));
			o.answers = list;
		}
	}
	approval_free(w->client);
	w->client = NULL;
	w->over = false;
	r = approval_new(&w->client, &o);
	if (!r)
		approval_on_event(w->client, on_event, w);
	return r;
}

static int call_make(struct worker *w, struct json_object *command)
{
	const char *name = text_of(command, "call"), *method = text_of(command, "method");
	struct json_object *params = NULL;
	struct approval_pack *p = NULL;
	struct call *c = NULL;
	const void *data;
	size_t len;
	int r;

	if (!w->client || !name || !method)
		return -ENOTCONN;
	json_object_object_get_ex(command, "params", &params);
	c = malloc(sizeof(*c) + strlen(name) + 1);
	r = c ? approval_pack_new(&p) : -ENOMEM;
	if (r)
		goto out;
	c->w = w;
	strcpy(c->name, name);
	r = packing_add(p, params);
	data = approval_pack_data(p, &len);
	if (!r)
		r = approval_call(w->client, method, data, len, !strcmp(method, "request"),
			on_reply, c, NULL);
out:
	approval_pack_free(p);
	if (r)
		free(c);
	return r;
}

static void command_run(struct worker *w, struct json_object *command)
{
	const char *op = text_of(command, "op");
	struct json_object *hello = NULL;
	int r = -EINVAL;

	json_object_object_get_ex(command, "hello", &hello);
	if (!op)
		worker_end();
	if (!strcmp(op, "connect")) {
		r = connect_with(w, hello);
	} else if (!strcmp(op, "subscribe")) {
		r = w->client ? approval_subscribe(w->client) : -ENOTCONN;
	} else if (!strcmp(op, "call")) {
		r = call_make(w, command);
		if (r) {
			tell_error(w, "error", text_of(command, "call"), r, NULL);
			r = 0;
		}
	} else if (!strcmp(op, "drop") || !strcmp(op, "bye")) {
		r = 0;
		if (*op == 'b' && w->client)
			r = approval_bye(w->client, bool_of(command, "end"), 30000);
		approval_free(w->client);
		w->client = NULL;
		rawlink_close(&w->raw);
	} else if (!strcmp(op, "raw")) {
		r = rawlink_send(&w->raw, w->socket, text_of(command, "hex"));
	}
	if (r)
		tell_error(w, "failed", NULL, r, NULL);
	else if (strcmp(op, "call"))
		tell(w, "done", NULL, NULL, 0);
}

static void control_read(struct worker *w)
{
	char *more = realloc(w->in, w->len + 65536), *end;
	ssize_t n;

	if (!more)
		worker_end();
	w->in = more;
	n = read(w->control, w->in + w->len, 65536);
	if (n <= 0)
		_exit(0);
	w->len += (size_t)n;
	while ((end = memchr(w->in, '\n', w->len))) {
		struct json_object *j;
		size_t used = (size_t)(end - w->in) + 1;

		*end = '\0';
		j = json_tokener_parse(w->in);
		if (!j)
			worker_end();
		command_run(w, j);
		json_object_put(j);
		memmove(w->in, w->in + used, w->len - used);
		w->len -= used;
	}
}

static void raw_read(struct worker *w)
{
	struct approval_value *v;
	int r;

	while ((r = rawlink_next(&w->raw, &v)) > 0) {
		tell_value(w, "message", NULL, v);
		approval_value_free(v);
	}
	if (r < 0 && r != -EAGAIN) {
		rawlink_close(&w->raw);
		tell(w, "closed", NULL, NULL, 0);
	}
}

void worker_run(int control, enum client_kind kind, const char *socket)
{
	struct worker w = {.control = control, .kind = kind, .socket = socket, .raw.fd = -1};

	signal(SIGPIPE, SIG_IGN);
	tell(&w, "started", NULL, json_object_new_int(getpid()), 0);
	for (;;) {
		struct pollfd p[3] = {{.fd = control, .events = POLLIN}, {.fd = -1},
			{.fd = w.raw.fd, .events = POLLIN}};
		int64_t due = -1;

		if (w.client && !w.over) {
			due = approval_timeout(w.client);
			p[1].fd = approval_fd(w.client);
			p[1].events = approval_events(w.client);
		}
		if (poll(p, 3, due < INT_MAX ? (int)due : INT_MAX) < 0 && errno != EINTR)
			worker_end();
		if (w.client && !w.over)
			approval_dispatch(w.client);
		if (p[2].revents)
			raw_read(&w);
		if (p[0].revents)
			control_read(&w);
	}
}
