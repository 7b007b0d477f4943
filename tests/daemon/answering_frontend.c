/* SPDX-License-Identifier: MIT */
/*
 * A frontend for the conformance set of those that answer: gives each request that it
 * is offered the answer of APPROVAL_HARNESS_ANSWER, and tells as lines of JSON what
 * comes and what became of its answers. Called with --deaf it believes that every
 * answer was taken.
 */
#include "config.h"

#include <errno.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/common/output.h"
#include "libapproval/approval.h"

struct answering {
	struct output out;
	bool deny, deaf;
	int failed;
};

static void tell(struct answering *w, const char *event, const struct approval_value *value)
{
	bool params = approval_value_type(value) == APPROVAL_MAP && strcmp(event, "item") != 0;
	struct json_object *j = params ? NULL : json_object_new_object();
	int r = params ? json_from_value(value, &j) : 0;

	if (strcmp(event, "item") == 0)
		json_add_value(j, "item", value, &r);
	json_add_text(j, "event", event, &r);
	if (r == 0)
		r = json_write(&w->out, j);
	json_object_put(j);
	if (r == 0)
		r = output_finish(&w->out);
	w->failed = r ? r : w->failed;
}

static void answered(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg)
{
	const struct approval_value *first =
		approval_value_at(approval_value_get(result, "results"), 0);
	struct answering *w = arg;
	struct json_object *j = json_object_new_object();
	int r = j ? status : -ENOMEM;

	(void)a;
	(void)error;
	json_add_text(j, "event", "answered", &r);
	json_add_text(j, "request", approval_value_text(first, "request"), &r);
	json_add_text(j, "result", w->deaf ? "ok" : approval_value_text(first, "result"), &r);
	json_add_text(j, "state", approval_value_text(first, "state"), &r);
	if (r == 0)
		r = json_write(&w->out, j);
	json_object_put(j);
	if (r == 0)
		r = output_finish(&w->out);
	w->failed = r ? r : w->failed;
}

static void answer(struct approval *a, struct answering *w, const struct approval_value *item)
{
	const struct approval_answer denial = {
		.size = sizeof(denial),
		.request = approval_value_text(item, "request"),
		.verdict = APPROVAL_DENY,
	};

	if (w->deny && strcmp(approval_value_text(item, "type"), "request") == 0 &&
		strcmp(approval_value_text(item, "state"), "AWAITING") == 0)
		w->failed = approval_decide(a, &denial, 1, answered, w, NULL);
}

static void happened(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct answering *w = arg;

	(void)error;
	switch (event) {
	case APPROVAL_CONNECTED: tell(w, "connected", NULL); break;
	case APPROVAL_DISCONNECTED: tell(w, "disconnected", NULL); break;
	case APPROVAL_SNAPSHOT: tell(w, "snapshot", NULL); break;
	case APPROVAL_GAVE_UP: break;
	case APPROVAL_NOTIFICATION:
		tell(w, name, value);
		if (strcmp(name, "item") == 0)
			answer(a, w, value);
		else if (strcmp(name, "offered") == 0)
			answer(a, w, approval_value_get(value, "item"));
	}
}

int main(int argc, char **argv)
{
	const char *deny = getenv("APPROVAL_HARNESS_ANSWER");
	struct answering w = {.deny = deny && strcmp(deny, "deny") == 0,
		.deaf = argc > 1 && strcmp(argv[1], "--deaf") == 0};
	struct approval_options options;
	struct approval *a;
	int rc;

	output_init(&w.out, stdout);
	approval_options_init(&options, APPROVAL_FRONTEND);
	options.retry_ms = -1;
	rc = approval_new(&a, &options);
	if (rc == 0) {
		approval_on_event(a, happened, &w);
		rc = approval_subscribe(a);
		while ((rc == 0 || rc == -ENOMEM) && !w.failed)
			rc = approval_wait(a, -1);
		approval_free(a);
	}
	return rc == -EINTR ? EXIT_SUCCESS : EXIT_FAILURE;
}
