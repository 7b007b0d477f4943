/* SPDX-License-Identifier: MIT */
/* Claude Code's hooks: one event in, one answer out. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "frontends/common/text.h"
#include "frontends/hook/claude.h"
#include "frontends/hook/guard.h"
#include "frontends/hook/report.h"
#include "frontends/hook/stream.h"
#include "frontends/hook/watcher.h"
#include "libapproval/approval.h"

enum channel_end claude_connect(struct channel *l, const struct hook_options *o,
	const struct claude_event *e, int subject, int signals, int64_t wait_ms,
	int64_t deadline)
{
	struct channel_options lo = {
		.hook = o,
		.agent = CLAUDE_AGENT,
		.session = e->key,
		/* known by now: the call that started the sub-agent was asked for */
		.parent = e->child ? e->session_id : NULL,
		.title = e->child ? e->agent_type : NULL,
		.cwd = e->cwd,
		.mode = e->mode,
		.wait_ms = wait_ms,
		.subject = subject,
		.signals = signals,
		.answers = e->decides,
	};
	int r;

	r = channel_open(l, &lo);
	if (r < 0) {
		l->failed = l->refused = true;
		snprintf(l->text, sizeof(l->text), "%s", strerror(-r));
		return CHANNEL_FAILED;
	}
	return channel_connect(l, deadline);
}

/* Events that decide nothing wait for an answer only to be sure that it was taken. */
static int tell_outcome(struct channel *l, const struct claude_event *e)
{
	const char *outcome = e->failed ? "failed" : "succeeded";

	if (e->type == CLAUDE_POST_TOOL_USE_FAILURE)
		outcome = "failed";
	if (e->type == CLAUDE_PERMISSION_DENIED)
		outcome = "not_run";
	return report_outcome(
		l->client, e->tool_use_id, e->tool, e->input, outcome, HOOK_CALL_MS);
}

static int tell_prompt(struct channel *l, const struct claude_event *e)
{
	struct text prompt = {0};
	size_t len = e->prompt ? strlen(e->prompt) : 0;
	int r;

	/* cut between two characters */
	if (len > HOOK_TEXT_MAX) {
		len = HOOK_TEXT_MAX;
		while (len > 0 && ((unsigned char)e->prompt[len] & 0xc0) == 0x80)
			len--;
	}
	text_addn(&prompt, e->prompt ? e->prompt : "", len);
	r = prompt.failed ? -ENOMEM
			  : approval_turn_begin(l->client, e->prompt_id,
				    e->prompt ? text_string(&prompt) : NULL, HOOK_CALL_MS);
	text_free(&prompt);
	return r;
}

static int tell_turn_over(struct channel *l, const struct claude_event *e)
{
	int r;

	/* a dialog that was still open has been answered there, or the turn would go on */
	r = report_settled(l->client, NULL, NULL, NULL, NULL, HOOK_CALL_MS);
	if (r == 0)
		r = report_gone(l->client,
			approval_turn_end(l->client, e->prompt_id, NULL, HOOK_CALL_MS));
	return r;
}

static int tell_event(struct channel *l, const struct claude_event *e)
{
	int r = 0;

	switch (e->type) {
	case CLAUDE_POST_TOOL_USE:
	case CLAUDE_POST_TOOL_USE_FAILURE:
	case CLAUDE_PERMISSION_DENIED: r = tell_outcome(l, e); break;
	case CLAUDE_USER_PROMPT_SUBMIT: r = tell_prompt(l, e); break;
	case CLAUDE_STOP:
	case CLAUDE_STOP_FAILURE: r = tell_turn_over(l, e); break;
	case CLAUDE_SUBAGENT_STOP:
		r = tell_turn_over(l, e);
		if (r == 0)
			r = approval_bye(l->client, true, HOOK_CALL_MS);
		break;
	case CLAUDE_SESSION_END: r = approval_bye(l->client, true, HOOK_CALL_MS); break;
	case CLAUDE_SESSION_START:
	case CLAUDE_SUBAGENT_START: r = approval_flush(l->client, HOOK_CALL_MS); break;
	case CLAUDE_UNKNOWN:
	case CLAUDE_PRE_TOOL_USE:
	case CLAUDE_PERMISSION_REQUEST:
	case CLAUDE_NOTIFICATION:
	case CLAUDE_EVENT_N: break;
	}
	return r;
}

/* Where the transcript of a session that the broker does not know yet is begun. */
static enum tally_start tell_start(const struct claude_event *e)
{
	if (e->type == CLAUDE_SUBAGENT_START || e->child)
		return TALLY_BEGIN;
	if (e->type == CLAUDE_SESSION_START)
		return e->source && (strcmp(e->source, "startup") == 0 ||
					    strcmp(e->source, "clear") == 0)
			       ? TALLY_BEGIN
			       : TALLY_END;
	/* a prompt is the end of all that was there before */
	return e->type == CLAUDE_USER_PROMPT_SUBMIT ? TALLY_END : TALLY_LAST;
}

static bool tell_ends(const struct claude_event *e)
{
	return e->type == CLAUDE_SESSION_END || e->type == CLAUDE_SUBAGENT_STOP;
}

static int tell_connected(struct channel *l, const struct claude_event *e, int subject)
{
	struct tally tally;
	struct watch_options wo = {
		.agent = CLAUDE_AGENT,
		.session = e->key,
		.transcript = e->transcript,
		.subject = subject,
		.tally = &tally,
	};
	int r;

	if (e->type == CLAUDE_STOP || e->type == CLAUDE_SUBAGENT_STOP)
		report_await(l->client, e->transcript, tell_start(e), CLAUDE_READ_QUICK,
			HOOK_AWAIT_MS);
	/* what cannot be read now is read by the next event */
	r = report_transcript(l->client, e->transcript, e->prompt_id, tell_start(e),
		CLAUDE_READ_QUICK, &tally);
	wo.behind = r == 1;
	r = tell_event(l, e);
	if (r == -EREMOTEIO) {
		const struct approval_error *error = approval_last_error(l->client);
		struct text t = {0};

		text_terminal(&t, error->message, strlen(error->message), 0);
		stream_error("approval-hook: %s: %s", e->name, text_string(&t));
		text_free(&t);
	} else if (r < 0) {
		stream_error("approval-hook: %s: %s", e->name, strerror(-r));
	}
	if (tell_ends(e))
		watcher_end(&wo);
	else if (*e->transcript)
		watcher_start(&wo, l); /* the child does not come back */
	return r < 0 ? HOOK_FAILED : HOOK_OK;
}

int claude_tell(const struct hook_options *o, const struct claude_event *e, int signals)
{
	int64_t wait_ms = o->wait_ms < HOOK_QUICK_MS ? o->wait_ms : HOOK_QUICK_MS;
	struct channel l;
	enum channel_end end;
	int subject, status = HOOK_FAILED;

	if (e->type == CLAUDE_NOTIFICATION)
		return HOOK_OK;
	/* some versions end a sub-agent without saying which */
	if ((e->type == CLAUDE_SUBAGENT_STOP || e->type == CLAUDE_SUBAGENT_START) && !e->child)
		return HOOK_OK;
	subject = channel_subject();
	if (subject < 0) {
		stream_error("approval-hook: %s: the agent's process is not known: %s", e->name,
			strerror(-subject));
		return HOOK_FAILED;
	}
	end = claude_connect(
		&l, o, e, subject, signals, wait_ms, hook_now() + wait_ms + HOOK_CALL_MS);
	if (end == CHANNEL_DONE)
		status = tell_connected(&l, e, subject);
	else if (end == CHANNEL_FAILED)
		stream_error("approval-hook: %s: %s", e->name, l.text);
	else if (end == CHANNEL_DEADLINE)
		stream_error("approval-hook: %s: the broker does not answer", e->name);
	channel_close(&l);
	close(subject);
	return status;
}

static int event_bad(const struct claude_event *e, const char *why)
{
	stream_error("approval-hook: %sthe event can't be read: %s",
		e->decides ? "the call is denied: " : "", why);
	return e->decides ? HOOK_DENIED : HOOK_FAILED;
}

static const char *input_error(int error)
{
	switch (error) {
	case -EFBIG: return "it is larger than 16 MiB";
	case -EBADMSG: return "it is no JSON, or not only that";
	case -ETIMEDOUT: return "its end did not come";
	default: return strerror(-error);
	}
}

int claude_event_run(const struct hook_options *o)
{
	struct claude_event e = {.decides = true};
	struct json_object *root = NULL;
	int signals, r, status;
	char *data = NULL;
	const char *why;
	size_t len;

	signals = guard_start();
	if (signals < 0) {
		stream_error("approval-hook: the call is denied: %s", strerror(-signals));
		return HOOK_DENIED;
	}
	r = stream_read(STDIN_FILENO, HOOK_INPUT_MAX, HOOK_INPUT_WAIT_MS, &data, &len);
	if (r == 0)
		r = stream_parse(data, len, &root);
	free(data);
	if (r < 0)
		return event_bad(&e, input_error(r));
	r = claude_event_read(&e, root, getenv("CLAUDE_CODE_ENTRYPOINT"), &why);
	if (!e.decides)
		guard_harmless();
	if (r < 0)
		status = event_bad(&e, why);
	else if (e.decides)
		status = claude_decide(o, &e, signals);
	else
		status = claude_tell(o, &e, signals);
	claude_event_free(&e);
	close(signals);
	return status;
}

const struct hook_adapter claude_adapter = {
	.name = CLAUDE_AGENT,
	.event = claude_event_run,
	.install = claude_install,
	.uninstall = claude_uninstall,
	.doctor = claude_doctor,
};
