/* SPDX-License-Identifier: MIT */
/* The two events of Claude Code for which the agent waits for a permission. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "frontends/common/duration.h"
#include "frontends/common/start.h"
#include "frontends/common/text.h"
#include "frontends/hook/claude.h"
#include "frontends/hook/convert.h"
#include "frontends/hook/report.h"
#include "frontends/hook/stream.h"
#include "libapproval/approval.h"

struct decision {
	const struct claude_event *event;
	struct json_object *answer;
	bool done;
	bool silent; /* nothing is to be said: it was settled in the agent's own dialog */
	int status;  /* of the call; 0: there is an answer, or silence */
	char text[HOOK_TEXT_MAX + 64];
};

static bool answer_add(struct json_object *o, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(o, key, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

static struct json_object *answer_text(const char *s)
{
	struct text clean = {0};
	struct json_object *out = NULL;

	text_utf8(&clean, s, strlen(s));
	if (!clean.failed)
		out = json_object_new_string(text_string(&clean));
	text_free(&clean);
	return out;
}

static bool answer_pre(struct json_object *out, const char *verdict, const char *text)
{
	return answer_add(out, "permissionDecision", json_object_new_string(verdict)) &&
	       answer_add(out, "permissionDecisionReason", answer_text(text));
}

static bool answer_permission(struct json_object *out, const char *verdict, const char *text)
{
	if (!answer_add(out, "behavior", json_object_new_string(verdict)))
		return false;
	return strcmp(verdict, "deny") != 0 || answer_add(out, "message", answer_text(text));
}

struct json_object *claude_answer(enum claude_event_type type, const char *verdict,
	const char *text, struct json_object *updated_input)
{
	bool pre = type != CLAUDE_PERMISSION_REQUEST, ok;
	struct json_object *out, *body, *inner;

	out = json_object_new_object();
	body = json_object_new_object();
	inner = pre ? body : json_object_new_object();
	ok = out && body && inner;
	ok = ok && answer_add(body, "hookEventName",
			   json_object_new_string(pre ? "PreToolUse" : "PermissionRequest"));
	ok = ok &&
	     (pre ? answer_pre(inner, verdict, text) : answer_permission(inner, verdict, text));
	if (ok && updated_input)
		ok = answer_add(inner, "updatedInput", json_object_get(updated_input));
	if (!pre) {
		/* from here on the outer one owns it */
		if (ok)
			ok = answer_add(body, "decision", inner);
		else
			json_object_put(inner);
	}
	if (ok)
		ok = answer_add(out, "hookSpecificOutput", body);
	else
		json_object_put(body);
	if (ok)
		return out;
	json_object_put(out);
	return NULL;
}

static void decision_deny(struct decision *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void decision_set(struct decision *d, const char *verdict, const char *text,
	struct json_object *updated_input)
{
	d->answer = claude_answer(d->event->type, verdict, text, updated_input);
	d->status = d->answer ? 0 : -ENOMEM;
	d->done = true;
}

static void decision_deny(struct decision *d, const char *format, ...)
{
	char text[HOOK_TEXT_MAX * 2];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	decision_set(d, "deny", text, NULL);
}

static void decision_reason(const struct approval_decision *v, struct text *out)
{
	const char *reason = v->reason ? v->reason : "",
		   *message = v->message ? v->message : "";

	if (v->verdict == APPROVAL_DENY && *message)
		text_add(out, message);
	else if (v->verdict == APPROVAL_ASK)
		text_printf(out, "approvald: a person is to be asked (%s)",
			v->step && *v->step ? v->step : "?");
	else
		text_printf(out, "approvald: %s by %s",
			v->verdict == APPROVAL_ALLOW ? "allowed" : "not allowed",
			v->source && *v->source ? v->source : "?");
	if (*reason && !strstr(message, reason))
		text_printf(out, "%s %s",
			v->verdict == APPROVAL_DENY && *message ? " The reason given:" : ":",
			reason);
}

static void decision_take(struct decision *d, const struct approval_decision *v)
{
	bool dialog = d->event->type == CLAUDE_PERMISSION_REQUEST;
	struct json_object *input = NULL;
	struct text text = {0};

	if (dialog && v->source && strcmp(v->source, "elsewhere") == 0) {
		/* the person has answered the dialog; a second answer would say nothing */
		d->silent = true;
		d->done = true;
		return;
	}
	decision_reason(v, &text);
	if (v->verdict == APPROVAL_ALLOW && v->updated_input &&
		(convert_json(v->updated_input, &input) < 0 ||
			!json_object_is_type(input, json_type_object)))
		decision_deny(d,
			"approvald: allowed with an edited input that can't be given to "
			"the agent; the call was not performed");
	else if (v->verdict == APPROVAL_ALLOW)
		decision_set(d, "allow", text_string(&text), input);
	else if (v->verdict == APPROVAL_ASK && !dialog && d->event->terminal)
		decision_set(d, "ask", text_string(&text), NULL);
	else
		decision_set(d, "deny", text_string(&text), NULL);
	json_object_put(input);
	text_free(&text);
}

static void decision_reply(struct approval *a, int status, const struct approval_decision *v,
	const struct approval_error *error, void *arg)
{
	struct decision *d = arg;

	(void)a;
	if (d->done)
		return;
	if (status == 0 && v) {
		decision_take(d, v);
		return;
	}
	if (status == -EREMOTEIO && error) {
		decision_deny(d,
			"approvald did not take the call: %s (%s). It was not performed.",
			error->message, error->code);
		return;
	}
	d->status = status < 0 ? status : -EPROTO;
	snprintf(d->text, sizeof(d->text), "%s", strerror(-d->status));
	/* without a broker the loop says more about it than this */
	d->done = status != -ETIMEDOUT && status != -ECANCELED;
}

/* Nobody could be asked at all. */
static void decision_unreachable(
	struct decision *d, const struct hook_options *o, const struct channel *l)
{
	bool dialog = d->event->type == CLAUDE_PERMISSION_REQUEST;
	char text[HOOK_TEXT_MAX * 2], waited[DURATION_SIZE];

	if (l->refused) {
		d->status = -EACCES;
		snprintf(d->text, sizeof(d->text), "the broker refused: %s", l->text);
		return;
	}
	duration_format(waited, o->wait_ms);
	if (o->ask_if_unreachable && dialog) {
		d->silent = d->done = true; /* the dialog stands, and asks */
	} else if (o->ask_if_unreachable) {
		snprintf(text, sizeof(text),
			"approvald: no broker answered within %s (%s), so you are asked here. "
			"Start one with " START_HOW "; `approvalctl doctor` tells more.",
			waited, l->text);
		decision_set(d, "ask", text, NULL);
	} else {
		snprintf(text, sizeof(text),
			"approvald: no broker answered within %s (%s). The call was not "
			"performed. Do not try it again or by other means: tell the person to "
			"start a broker with " START_HOW ", and to look at `approvalctl "
			"doctor`.",
			waited, l->text);
		decision_set(d, "deny", text, NULL);
	}
}

/* The agent does not wait any more: the broker is told how that came about. */
static void decision_withdraw(
	struct decision *d, struct channel *l, enum channel_end end, bool asked)
{
	const struct claude_event *e = d->event;

	d->silent = true;
	if (!asked || !l->connected)
		return;
	if (e->type == CLAUDE_PERMISSION_REQUEST)
		report_settled(l->client, NULL, e->tool, e->input,
			end == CHANNEL_SUBJECT_DEAD ? NULL : "deny", HOOK_WITHDRAW_MS);
	else
		approval_cancel(l->client, e->tool_use_id,
			end == CHANNEL_SUBJECT_DEAD ? "the agent died"
						    : "the agent withdrew the call",
			HOOK_WITHDRAW_MS);
}

static int decision_submit(struct decision *d, struct channel *l, const struct hook_options *o,
	const void *input, size_t len)
{
	const struct claude_event *e = d->event;
	bool dialog = e->type == CLAUDE_PERMISSION_REQUEST;
	struct approval_request r;

	approval_request_init(&r);
	r.tool_call_id = dialog ? NULL : e->tool_use_id;
	r.no_tool_call_id = dialog;
	r.elsewhere = dialog;
	r.tool = e->tool;
	r.input = input;
	r.input_len = len;
	r.cwd = e->cwd;
	r.turn_id = e->prompt_id;
	r.channel_ms = o->timeout_ms;
	r.takes_input = true;
	if (!dialog && e->terminal)
		return approval_check(l->client, &r, decision_reply, d, NULL);
	return approval_request(l->client, &r, decision_reply, d, NULL);
}

/* Tokens first, so that a ceiling that they cross holds this call. */
static void decision_report(const struct claude_event *e, struct channel *l)
{
	const char *turn = report_turn(l->client);
	struct tally t;

	if (e->prompt_id && (!turn || strcmp(turn, e->prompt_id) != 0))
		report_turn_begin(l->client, e->prompt_id);
	report_transcript(
		l->client, e->transcript, e->prompt_id, TALLY_LAST, CLAUDE_READ_DECIDING, &t);
}

static void decision_wait(struct decision *d, const struct hook_options *o, int subject,
	int signals, const void *input, size_t len)
{
	int64_t margin = o->timeout_ms > 2 * TIME_CHANNEL_MARGIN_MS ? TIME_CHANNEL_MARGIN_MS
								    : o->timeout_ms / 2;
	int64_t deadline = hook_now() + o->timeout_ms - margin;
	struct channel l;
	enum channel_end end;
	bool asked = false;
	int r;

	end = claude_connect(&l, o, d->event, subject, signals, o->wait_ms, deadline);
	if (end == CHANNEL_DONE) {
		decision_report(d->event, &l);
		r = decision_submit(d, &l, o, input, len);
		if (r < 0) {
			d->status = r;
			snprintf(d->text, sizeof(d->text), "%s", strerror(-r));
			goto out;
		}
		asked = true;
		end = channel_run(&l, &d->done, deadline);
	}
	switch (end) {
	case CHANNEL_DONE: break;
	case CHANNEL_FAILED: decision_unreachable(d, o, &l); break;
	case CHANNEL_DEADLINE:
		if (asked)
			decision_withdraw(d, &l, end, true);
		d->silent = false;
		decision_deny(d,
			"approvald: nobody answered before the agent's own time-out. The "
			"call was not performed. Do not try it again by other means; tell "
			"the person that it waits for their approval.");
		break;
	case CHANNEL_SIGNAL:
	case CHANNEL_UNREAD:
	case CHANNEL_SUBJECT_DEAD: decision_withdraw(d, &l, end, asked); break;
	}
out:
	/* the outstanding call's callback runs once more in here, and finds it done */
	d->done = true;
	channel_close(&l);
}

int claude_decide(const struct hook_options *o, const struct claude_event *e, int signals)
{
	struct decision d = {.event = e};
	struct approval_pack *input = NULL;
	const void *data;
	int subject = -1, r, status = HOOK_DENIED;
	size_t len;

	r = approval_pack_new(&input);
	if (r == 0)
		r = convert_pack(input, e->input);
	if (r == -E2BIG) {
		decision_deny(&d,
			"approvald: the input of this call is over the limit of %u bytes, %u "
			"values "
			"or %u levels that can be shown to a person. It was not performed. Use "
			"a "
			"smaller one, in several calls.",
			LIMIT_INPUT, LIMIT_VALUE_COUNT, LIMIT_VALUE_DEPTH);
	} else if (r == 0) {
		subject = channel_subject();
		data = approval_pack_data(input, &len);
		if (subject < 0)
			r = subject;
		else
			decision_wait(&d, o, subject, signals, data, len);
	}
	if (r < 0 && r != -E2BIG)
		snprintf(d.text, sizeof(d.text), "%s", strerror(-r));
	else
		r = d.status;
	if (d.silent) {
		/* without an answer the dialog stands; before a tool call nothing else does */
		if (e->type == CLAUDE_PERMISSION_REQUEST)
			status = HOOK_OK;
	} else if (r == 0 && d.answer) {
		r = stream_answer(STDOUT_FILENO, d.answer);
		if (r == 0)
			status = HOOK_OK;
	}
	if (status != HOOK_OK && !d.silent)
		stream_error("approval-hook: the call is denied: %s",
			d.text[0] ? d.text : strerror(-r));
	json_object_put(d.answer);
	approval_pack_free(input);
	if (subject >= 0)
		close(subject);
	return status;
}
