/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/harness/verb_call.h"

#include <errno.h>
#include <json-c/linkhash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client *verb_client(struct run *r)
{
	struct client *c = client_find(&r->clients, r->step->words[1].text);

	if (!c)
		run_fail(r, "nobody is called '%s'", r->step->words[1].text);
	return c;
}

int verb_expand(struct run *r, struct json_object *in, struct json_object **out)
{
	int err = variables_expand(&r->variables, in, out);

	return err == -ENOENT ? run_fail(r, "a variable is not set") : err;
}

int verb_command(struct run *r, struct client *c, const char *op, const char *key,
	struct json_object *value)
{
	struct json_object *command = json_object_new_object();
	struct expectation done = {.name = "done"};
	int err;

	if (!command || c->kind == CLIENT_PROGRAM) {
		json_object_put(command);
		json_object_put(value);
		return command ? run_fail(r, "%s is a program", c->name) : -ENOMEM;
	}
	json_object_object_add(command, "op", json_object_new_string(op));
	if (key)
		json_object_object_add(command, key, value);
	else
		json_object_put(value);
	err = client_command(c, command);
	return err ? err : event_expect(r, c, &done, NULL);
}

int verb_send(struct run *r, struct client *c, const char *call, const char *method,
	struct json_object *params)
{
	struct json_object *command = json_object_new_object(), *expanded = NULL;
	int err;

	if (!command)
		return -ENOMEM;
	err = params ? verb_expand(r, params, &expanded) : 0;
	if (!err && !expanded)
		expanded = json_object_new_object();
	if (!err && c->kind == CLIENT_PROGRAM)
		err = run_fail(r, "%s is a program", c->name);
	if (err) {
		json_object_put(expanded);
		json_object_put(command);
		return err;
	}
	/* the name stands for the new call from now on */
	for (size_t i = 0; i < c->n_events; i++)
		if (c->events[i].call && !strcmp(c->events[i].call, call))
			c->events[i].used = true;
	json_object_object_add(command, "op", json_object_new_string("call"));
	json_object_object_add(command, "call", json_object_new_string(call));
	json_object_object_add(command, "method", json_object_new_string(method));
	json_object_object_add(command, "params", expanded);
	err = client_command(c, command);
	return err == -EPIPE ? run_fail(r, "%s has ended", c->name) : err;
}

int verb_send_step(struct run *r)
{
	const struct word *w = r->step->words;
	struct client *c = verb_client(r);

	return c ? verb_send(r, c, w[2].text, w[3].text, r->step->n > 4 ? w[4].json : NULL) : 1;
}

int verb_many(struct run *r)
{
	const struct word *w = r->step->words;
	struct client *c = verb_client(r);
	unsigned long n = strtoul(w[3].text, NULL, 10);
	int err = c ? 0 : 1;

	for (unsigned long i = 1; !err && i <= n; i++) {
		char name[128], number[24];

		snprintf(number, sizeof(number), "%lu", i);
		snprintf(name, sizeof(name), "%.64s.%lu", w[2].text, i);
		err = variables_set_text(&r->variables, "i", number);
		if (!err)
			err = verb_send(r, c, name, w[4].text, w[5].json);
	}
	return err;
}

int verb_call(struct run *r)
{
	const struct word *w = r->step->words;
	struct client *c = verb_client(r);
	size_t n = r->step->n;
	bool fails = n > 4 && !strcmp(w[4].text, "fails");
	struct expectation x = {.name = fails ? "error" : "reply"};
	char name[32];
	int err;

	if (!c)
		return 1;
	snprintf(name, sizeof(name), "call.%u", r->serial++);
	x.call = name;
	x.pattern = n > 4 ? w[n - 1].json : NULL;
	err = verb_send(r, c, name, w[2].text, n > 3 ? w[3].json : NULL);
	return err ? err : event_expect(r, c, &x, NULL);
}

/* ---- decide ---- */

/* The digest of what this client was shown last of the request. */
static struct json_object *digest_shown(struct client *c, const char *request)
{
	struct json_object *item, *id, *digest, *found = NULL;

	for (size_t i = 0; i < c->n_events; i++)
		if (json_object_object_get_ex(c->events[i].value, "item", &item) &&
			json_object_object_get_ex(item, "request", &id) &&
			json_object_object_get_ex(item, "digest", &digest) &&
			!strcmp(json_object_get_string(id), request))
			found = digest;
	return found;
}

static int decision_add(
	struct json_object *decision, const char *key, struct json_object *value)
{
	if (value && !json_object_object_add(decision, key, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

/* The params of `decide`. */
static int decision_make(struct run *r, struct client *c, struct json_object **out)
{
	const struct word *w = r->step->words;
	struct json_object *request = json_object_new_string(w[2].text), *id = NULL;
	struct json_object *decision = json_object_new_object(), *digest, *bin, *list;
	int err = request && decision ? verb_expand(r, request, &id) : -ENOMEM;

	json_object_put(request);
	if (!err)
		err = decision_add(decision, "request", id);
	if (!err)
		err = decision_add(decision, "verdict", json_object_new_string(w[3].text));
	digest = err ? NULL : digest_shown(c, json_object_get_string(id));
	if (digest) {
		bin = json_object_new_object();
		err = decision_add(decision, "digest", bin);
		if (!err)
			err = decision_add(bin, "$bin", json_object_get(digest));
	}
	if (!err && r->step->n > 5 && w[5].json) {
		json_object_object_foreach(w[5].json, key, value)
			json_object_object_add(decision, key, json_object_get(value));
	}
	list = json_object_new_array();
	*out = json_object_new_object();
	if (!list || !*out || err) {
		json_object_put(decision);
		json_object_put(list);
		return err ? err : -ENOMEM;
	}
	json_object_array_add(list, decision);
	json_object_object_add(*out, "decisions", list);
	return 0;
}

int verb_decide(struct run *r)
{
	const struct word *w = r->step->words;
	struct json_object *params = NULL, *pattern, *results;
	struct client *c = verb_client(r);
	struct expectation x = {.name = "reply"};
	char name[32];
	int err = c ? decision_make(r, c, &params) : 1;

	snprintf(name, sizeof(name), "decide.%u", r->serial++);
	x.call = name;
	if (!err)
		err = verb_send(r, c, name, "decide", params);
	json_object_put(params);
	if (err)
		return err;
	/* the pattern of the one result; it was taken unless something else is expected */
	pattern = json_object_new_object();
	results = json_object_new_array();
	if (r->step->n > 4 && w[4].json) {
		json_object_array_add(results, json_object_get(w[4].json));
	} else {
		struct json_object *ok = json_object_new_object();

		json_object_object_add(ok, "result", json_object_new_string("ok"));
		json_object_array_add(results, ok);
	}
	json_object_object_add(pattern, "results", results);
	x.pattern = pattern;
	err = event_expect(r, c, &x, NULL);
	json_object_put(pattern);
	return err;
}
