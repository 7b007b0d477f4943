/* SPDX-License-Identifier: MIT */
/* Proves that the configured hook fires, and that it fails closed. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "frontends/common/start.h"
#include "frontends/hook/claude.h"
#include "frontends/hook/doctor.h"
#include "frontends/hook/probe.h"
#include "frontends/hook/stream.h"

#define PROBE_MS	15000
#define PROBE_WAIT_MS	"200"
#define PROBE_NOWHERE	"/nonexistent/approvald/agent/sock"
#define PROBE_ARGUMENTS 20

/* The tool has a name that no rule is for; asked as a check, it leaves nothing behind. */
#define PROBE_EVENT                                                                            \
	"{\"session_id\":\"approval-hook-doctor-%ld\",\"cwd\":\"/\",\"prompt_id\":\"doctor\"," \
	"\"permission_mode\":\"default\",\"hook_event_name\":\"%s\",\"tool_name\":"            \
	"\"ApprovalHookDoctor\",\"tool_input\":{\"probe\":true},\"tool_use_id\":\"doctor-%"    \
	"ld\"}"

struct trial {
	struct probe probe;
	const char *argv[PROBE_ARGUMENTS];
	char input[1024];
};

static void trial_init(struct trial *t, const char *const *argv, const char *event)
{
	static const char *const env[] = {"CLAUDE_CODE_ENTRYPOINT=cli", NULL};
	size_t n;

	memset(t, 0, sizeof(*t));
	for (n = 0; argv[n] && n < PROBE_ARGUMENTS - 5; n++)
		t->argv[n] = argv[n];
	t->probe.argv = t->argv;
	t->probe.env = env;
	t->probe.timeout_ms = PROBE_MS;
	snprintf(
		t->input, sizeof(t->input), PROBE_EVENT, (long)getpid(), event, (long)getpid());
	t->probe.input = t->input;
}

static void trial_argument(struct trial *t, const char *name, const char *value)
{
	size_t n = 0;

	while (t->argv[n])
		n++;
	t->argv[n++] = name;
	t->argv[n] = value;
}

/* What the answer decides: "allow", "deny", "ask", to be freed; NULL: nothing that Claude
 * takes. */
static char *trial_verdict(const struct probe *p, char **reason)
{
	struct json_object *root = NULL, *out, *v;
	char *verdict = NULL;

	*reason = NULL;
	if (p->status != 0 || stream_parse(p->out, p->out_len, &root) < 0)
		return NULL;
	if (json_object_object_get_ex(root, "hookSpecificOutput", &out)) {
		if (json_object_object_get_ex(out, "permissionDecision", &v))
			verdict = strdup(json_object_get_string(v));
		if (json_object_object_get_ex(out, "permissionDecisionReason", &v))
			*reason = finding_clean(json_object_get_string(v));
	}
	json_object_put(root);
	return verdict;
}

static void trial_bad(struct findings *f, const char *name, const struct probe *p, int error)
{
	char *said = finding_clean(p->err);

	if (error < 0)
		finding_add(f, FINDING_FAILED, name, "it can't be run: %s", strerror(-error));
	else if (p->late)
		finding_add(f, FINDING_FAILED, name, "no answer within %d s", PROBE_MS / 1000);
	else if (p->signal)
		finding_add(f, FINDING_FAILED, name,
			"it was ended by signal %d, which lets the tool run", p->signal);
	else
		finding_add(f, FINDING_FAILED, name, "exit status %d: %s", p->status, said);
	free(said);
}

static void probe_with_broker(
	struct findings *f, const struct install_options *o, const char *const *argv)
{
	struct trial *t = malloc(sizeof(*t));
	char *verdict, *reason;
	int r;

	if (!t)
		return;
	trial_init(t, argv, "PreToolUse");
	if (o->socket)
		trial_argument(t, "--socket", o->socket);
	trial_argument(t, "--wait", "2000");
	r = probe_run(&t->probe);
	verdict = r < 0 ? NULL : trial_verdict(&t->probe, &reason);
	if (!verdict)
		trial_bad(f, "broker", &t->probe, r);
	else if (reason && strstr(reason, "no broker answered"))
		finding_add(f, FINDING_FAILED, "broker",
			"no broker answered; start one with " START_HOW
			", and look at `approvalctl doctor`");
	else
		finding_add(f, FINDING_OK, "broker", "the hook fires: a probe was answered %s",
			verdict);
	if (verdict) {
		free(verdict);
		free(reason);
	}
	/* the session of the probe has done its work */
	trial_init(t, argv, "SessionEnd");
	if (o->socket)
		trial_argument(t, "--socket", o->socket);
	trial_argument(t, "--wait", "2000");
	probe_run(&t->probe);
	free(t);
}

static void probe_without(struct findings *f, const char *const *argv)
{
	struct trial *t = malloc(sizeof(*t));
	char *verdict, *reason;
	int r;

	if (!t)
		return;
	trial_init(t, argv, "PreToolUse");
	trial_argument(t, "--socket", PROBE_NOWHERE);
	trial_argument(t, "--wait", PROBE_WAIT_MS);
	r = probe_run(&t->probe);
	verdict = r < 0 ? NULL : trial_verdict(&t->probe, &reason);
	if (r == 0 && t->probe.status == HOOK_DENIED)
		finding_add(f, FINDING_OK, "no broker", "the call is denied (exit status 2)");
	else if (!verdict)
		trial_bad(f, "no broker", &t->probe, r);
	else if (strcmp(verdict, "deny") == 0)
		finding_add(f, FINDING_OK, "no broker", "the call is denied");
	else if (strcmp(verdict, "ask") == 0)
		finding_add(f, FINDING_WARNING, "no broker",
			"the agent's own dialog asks (--if-unreachable=ask)");
	else
		finding_add(f, FINDING_FAILED, "no broker", "the call is let through");
	if (verdict) {
		free(verdict);
		free(reason);
	}
	free(t);
}

static void probe_garbage(struct findings *f, const char *const *argv)
{
	struct trial *t = malloc(sizeof(*t));
	int r;

	if (!t)
		return;
	trial_init(t, argv, "PreToolUse");
	t->probe.input = "this is no event";
	r = probe_run(&t->probe);
	if (r == 0 && t->probe.status == HOOK_DENIED)
		finding_add(f, FINDING_OK, "garbage", "what can't be read is denied");
	else if (r < 0 || t->probe.status != 0)
		trial_bad(f, "garbage", &t->probe, r);
	else
		finding_add(f, FINDING_FAILED, "garbage", "what can't be read is let through");
	free(t);
}

void claude_doctor_probe(
	struct findings *f, const struct install_options *o, const char *const *argv)
{
	probe_with_broker(f, o, argv);
	probe_without(f, argv);
	probe_garbage(f, argv);
}
