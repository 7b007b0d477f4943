/* SPDX-License-Identifier: MIT */
/* ask: submit a command line, wait, and run it if it was allowed */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/ctl/child.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"
#include "frontends/ctl/request.h"

#define FAREWELL_MS 5000

enum { OPTION_SUMMARY = OPTION_OTHER, OPTION_TIMEOUT, OPTION_RETRY, OPTION_TITLE };

const struct option_def ctl_ask_options[] = {
	{OPTION_TOOL, "tool", "NAME", "the tool to ask for (default: " REQUEST_TOOL ")"},
	{OPTION_SUMMARY, "summary", "TEXT", "what it does, in one line",
		.empty = true},
	{OPTION_REASON, "reason", "TEXT", "why it is to be run",
		.empty = true},
	{OPTION_TITLE, "title", "TEXT", "title of the session",
		.empty = true},
	{OPTION_TIMEOUT, "timeout", "DURATION", "do not wait longer for an answer"},
	{OPTION_RETRY, "retry", "DURATION",
		"wait so long for a broker (default: 30s, least: 2s)"},
	{'q', "quiet", NULL, "do not say that it waits"},
	{0},
};

struct ask {
	struct ctl *c;
	bool quiet;
	bool missing;	/* it was said that no broker is there */
	bool announced; /* it was said how to answer */
	int64_t since;	/* that it waits in vain */
	/* the decision: `result` is a copy of it, NULL where there was none */
	bool decided;
	struct approval_value *result;
	enum approval_verdict verdict;
	int status; /* exit status, where there was no decision */
};

static const char *ask_text(const struct ask *a, const char *key)
{
	return approval_value_text(a->result, key);
}

static void ask_decided(struct approval *client, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg)
{
	struct ask *a = arg;

	a->decided = true;
	if (!status && d)
		status = approval_value_dup(d->result, &a->result);
	if (status)
		a->status = ctl_broke(a->c, status, error);
	else
		a->verdict = d->verdict;
}

/* By whom, or what was said of it. */
static void ask_suspended(const struct ask *a, const struct approval_value *value)
{
	const char *reason = approval_value_text(value, "reason");
	bool budget = !strcmp(approval_value_text(value, "cause"), "budget");

	if (*reason)
		ctl_say(a->c, "suspended: %s", reason);
	else
		ctl_say(a->c, "suspended%s", budget ? ": a ceiling was reached" : " by a person");
}

static void ask_event(struct approval *client, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct ask *a = arg;
	const struct output *err = &a->c->err;

	if (event == APPROVAL_CONNECTED)
		a->since = time_now();
	if (a->quiet)
		return;
	if (event == APPROVAL_DISCONNECTED) {
		ctl_say(a->c, "the broker is gone; waiting for it to come back");
		a->missing = true;
		return;
	}
	if (event == APPROVAL_CONNECTED && a->missing) {
		ctl_say(a->c, "the broker is there");
		a->missing = false;
	}
	if (event != APPROVAL_NOTIFICATION)
		return;
	if (!strcmp(name, "turn_suspended"))
		ask_suspended(a, value);
	if (!strcmp(name, "turn_resumed"))
		ctl_say(a->c, "resumed");
	if (strcmp(name, "request_state") || a->announced ||
		strcmp(approval_value_text(value, "state"), "AWAITING"))
		return;

	const char *id = item_id(err, approval_value_text(value, "request"));

	a->announced = true;
	ctl_say(a->c, "waiting for an answer: 'approvalctl allow %s' or 'approvalctl deny %s'",
		id, id);
}

/* Tells how it ended and closes the session, as far as the broker is there. */
static void ask_farewell(struct ask *a, const struct child_end *end)
{
	struct approval *client = a->c->client;
	const char *outcome = !end->ran ? "not_run" : end->status ? "failed" : "succeeded";
	int r = approval_outcome(
		client, ask_text(a, "tool_call_id"), outcome, end->summary, FAREWELL_MS);

	if (r)
		ctl_say(a->c, "the broker could not be told how it ended: %s",
			r == -EREMOTEIO ? approval_last_error(client)->message : strerror(-r));
	approval_bye(client, true, FAREWELL_MS);
}

static int ask_allowed(struct ask *a, char **argv, struct signals *signals)
{
	const struct approval_value *edited = approval_value_get(a->result, "updated_input");
	struct child_end end = {.status = STATUS_FAILED};

	if (approval_value_type(edited) == APPROVAL_NIL)
		child_run(argv, a->c->client, signals, &end);
	else /* not asked for; running the unedited command is not what was allowed */
		snprintf(end.summary, sizeof(end.summary), "can't run an edited command");
	if (!end.ran)
		ctl_say(a->c, "%s: %s", argv[0], end.summary);
	ask_farewell(a, &end);
	return end.status;
}

static int ask_denied(struct ask *a)
{
	const struct output *err = &a->c->err;
	const char *source = ask_text(a, "source");
	size_t len;
	const char *s;

	ctl_say(a->c, "not run: denied by %s", *source ? source : "the broker");
	s = approval_value_str(approval_value_get(a->result, "reason"), &len);
	output_field(err, "Reason", s, len);
	s = approval_value_str(approval_value_get(a->result, "message"), &len);
	output_field(err, "Message", s, len);
	approval_bye(a->c->client, true, FAREWELL_MS);
	return strcmp(source, "timeout") ? STATUS_DENIED : STATUS_EXPIRED;
}

/* Says what it waits for, once for each. Where the broker did not tell the id, lists do. */
static void ask_announce(struct ask *a)
{
	bool there = approval_hello(a->c->client);

	/* rules and policies have answered by then */
	if (a->quiet || time_now() - a->since < CTL_PATIENCE_MS)
		return;
	if (!there && !a->missing)
		ctl_missing(a->c);
	else if (there && !a->announced)
		ctl_say(a->c, "waiting for an answer: 'approvalctl list' shows it");
	a->missing |= !there;
	a->announced |= there;
}

static int ask_wait(struct ask *a, const struct approval_request *r, char **argv)
{
	struct signals signals;
	struct approval_call *call;
	int sig = 0, status = ctl_own(a->c, signals_open(&signals));

	if (status)
		return status;
	a->since = time_now();
	status = ctl_own(a->c, approval_request(a->c->client, r, ask_decided, a, &call));
	while (!status && !a->decided) {
		sig = loop_step(a->c->client, &signals, a->announced ? -1 : CTL_PATIENCE_MS);
		if (!sig && !a->decided)
			ask_announce(a);
		if (sig < 0 && sig != -ENOMEM && !a->decided)
			status = ctl_broke(a->c, sig, NULL);
		else if (sig > 0 && sig != SIGCHLD)
			break;
	}
	if (!status && !a->decided) {
		approval_call_cancel(call);
		approval_bye(a->c->client, true, FAREWELL_MS);
		ctl_say(a->c, "not run: cancelled");
		status = STATUS_SIGNAL + sig;
	} else if (!status) {
		status = a->status;
	}
	if (!status)
		status = a->verdict == APPROVAL_ALLOW ? ask_allowed(a, argv, &signals)
						      : ask_denied(a);
	signals_close(&signals);
	return status;
}

int ctl_ask(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct ask a = {.c = c};
	struct approval_options options;
	struct ctl_request q;
	const char *tool = NULL, *summary = NULL, *reason = NULL;
	int64_t timeout = -1, retry = 0;
	int key, status;

	approval_options_init(&options, APPROVAL_AGENT);
	options.agent = REQUEST_AGENT;
	while ((key = options_next(o)) > OPTIONS_END) {
		int bad = 0;

		switch (key) {
		case OPTION_TOOL: tool = o->value; break;
		case OPTION_SUMMARY: summary = o->value; break;
		case OPTION_REASON: reason = o->value; break;
		case OPTION_TITLE: options.title = o->value; break;
		case OPTION_TIMEOUT: bad = options_duration(o, o->value, &timeout); break;
		case OPTION_RETRY:
			bad = options_duration(o, o->value, &retry);
			if (!bad && retry < CTL_ONCE_MS)
				return options_wrong(
					o, "'%s' is too short to find a broker; write 2s or more",
					o->value);
			break;
		case 'q': a.quiet = true; break;
		default: ctl_option(c, o, key);
		}
		if (bad)
			return STATUS_USAGE;
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (!o->n_operands)
		return options_wrong(o, "the command to run is missing");
	if (!timeout)
		return options_wrong(o, "a timeout of 0 leaves no time to answer");

	status = ctl_own(c, request_words(&q, o->operands, o->n_operands));
	if (!status) {
		q.r.tool = tool ? tool : q.r.tool;
		q.r.summary = summary;
		q.r.description = reason;
		q.r.timeout_ms = timeout > 0 ? timeout : 0;
		options.cwd = q.cwd;
		options.retry_ms = retry;
		status = ctl_open(c, &options);
	}
	if (!status) {
		approval_on_event(c->client, ask_event, &a);
		status = ask_wait(&a, &q.r, o->operands);
	}
	approval_value_free(a.result);
	request_free(&q);
	return status;
}
