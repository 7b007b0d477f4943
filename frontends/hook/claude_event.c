/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "frontends/hook/claude_event.h"

static const struct {
	const char *name;
	bool decides, tool;
} event_types[CLAUDE_EVENT_N] = {
	[CLAUDE_UNKNOWN] = {"", false, false},
	[CLAUDE_PRE_TOOL_USE] = {"PreToolUse", true, true},
	[CLAUDE_PERMISSION_REQUEST] = {"PermissionRequest", true, true},
	[CLAUDE_POST_TOOL_USE] = {"PostToolUse", false, true},
	[CLAUDE_POST_TOOL_USE_FAILURE] = {"PostToolUseFailure", false, true},
	[CLAUDE_PERMISSION_DENIED] = {"PermissionDenied", false, true},
	[CLAUDE_USER_PROMPT_SUBMIT] = {"UserPromptSubmit", false, false},
	[CLAUDE_STOP] = {"Stop", false, false},
	[CLAUDE_STOP_FAILURE] = {"StopFailure", false, false},
	[CLAUDE_SUBAGENT_START] = {"SubagentStart", false, false},
	[CLAUDE_SUBAGENT_STOP] = {"SubagentStop", false, false},
	[CLAUDE_SESSION_START] = {"SessionStart", false, false},
	[CLAUDE_SESSION_END] = {"SessionEnd", false, false},
	[CLAUDE_NOTIFICATION] = {"Notification", false, false},
};

const char *claude_mode(const char *permission_mode)
{
	static const struct {
		const char *theirs, *ours;
	} modes[] = {
		{"plan", "plan"},
		{"default", "normal"},
		{"acceptEdits", "auto-edit"},
		{"bypassPermissions", "yolo"},
	};
	size_t i;

	if (!permission_mode)
		return NULL;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(permission_mode, modes[i].theirs) == 0)
			return modes[i].ours;
	/* auto, dontAsk and what is yet to come: nothing is claimed by them */
	return "normal";
}

/* An absent or null member leaves *out alone; any other type, NUL or excess length is an error.
 */
static int event_string(
	struct json_object *root, const char *name, size_t max, const char **out)
{
	struct json_object *value;
	const char *s;

	if (!json_object_object_get_ex(root, name, &value) || !value)
		return 0;
	if (!json_object_is_type(value, json_type_string))
		return -EINVAL;
	s = json_object_get_string(value);
	if (strlen(s) != (size_t)json_object_get_string_len(value) || strlen(s) > max)
		return -EINVAL;
	*out = s;
	return 0;
}

static int event_object(struct json_object *root, const char *name, struct json_object **out)
{
	struct json_object *value;

	if (!json_object_object_get_ex(root, name, &value) || !value)
		return 0;
	if (!json_object_is_type(value, json_type_object))
		return -EINVAL;
	*out = value;
	return 0;
}

static bool event_flag(struct json_object *o, const char *name, bool wanted)
{
	struct json_object *value;

	return json_object_object_get_ex(o, name, &value) &&
	       json_object_is_type(value, json_type_boolean) &&
	       (bool)json_object_get_boolean(value) == wanted;
}

static bool event_response_failed(struct json_object *response)
{
	if (!json_object_is_type(response, json_type_object))
		return false;
	return event_flag(response, "interrupted", true) ||
	       event_flag(response, "is_error", true) ||
	       event_flag(response, "isError", true) || event_flag(response, "success", false);
}

static enum claude_event_type event_type(const char *name)
{
	int i;

	for (i = CLAUDE_UNKNOWN + 1; i < CLAUDE_EVENT_N; i++)
		if (strcmp(event_types[i].name, name) == 0)
			return (enum claude_event_type)i;
	return CLAUDE_UNKNOWN;
}

static bool event_id_plain(const char *id)
{
	return *id &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       strlen(id);
}

/* The session's key, and where its transcript lies. */
static int event_session(struct claude_event *e, const char *transcript, const char *own)
{
	size_t stem;
	int n;

	if (!e->child) {
		n = snprintf(e->key, sizeof(e->key), "%s", e->session_id);
		if (transcript)
			snprintf(e->transcript, sizeof(e->transcript), "%s", transcript);
		return n < 0 || (size_t)n >= sizeof(e->key) ? -EINVAL : 0;
	}
	n = snprintf(e->key, sizeof(e->key), "%s/agent-%s", e->session_id, e->agent_id);
	if (n < 0 || (size_t)n >= sizeof(e->key))
		return -EINVAL;
	if (own) {
		snprintf(e->transcript, sizeof(e->transcript), "%s", own);
		return 0;
	}
	/* SESSION.jsonl has its sub-agents' in SESSION/subagents/ */
	stem = transcript ? strlen(transcript) : 0;
	if (stem < 6 || strcmp(transcript + stem - 6, ".jsonl") != 0 ||
		!event_id_plain(e->agent_id))
		return 0;
	n = snprintf(e->transcript, sizeof(e->transcript), "%.*s/subagents/agent-%s.jsonl",
		(int)(stem - 6), transcript, e->agent_id);
	if (n < 0 || (size_t)n >= sizeof(e->transcript))
		e->transcript[0] = '\0';
	return 0;
}

int claude_event_read(struct claude_event *e, struct json_object *root, const char *entrypoint,
	const char **why)
{
	const struct {
		const char *name;
		size_t max;
		const char **out;
	} strings[] = {
		{"session_id", LIMIT_NAME, &e->session_id},
		{"cwd", LIMIT_TEXT, &e->cwd},
		{"prompt_id", LIMIT_NAME, &e->prompt_id},
		{"agent_id", LIMIT_NAME, &e->agent_id},
		{"agent_type", LIMIT_TEXT, &e->agent_type},
		{"tool_name", LIMIT_NAME, &e->tool},
		{"tool_use_id", LIMIT_NAME, &e->tool_use_id},
		{"source", LIMIT_NAME, &e->source},
	};
	const char *transcript = NULL, *own = NULL, *mode = NULL;
	struct json_object *value;
	bool tool;
	size_t i;

	memset(e, 0, sizeof(*e));
	e->root = root;
	/* until it is known to be something else */
	e->decides = true;
	*why = "it is no JSON object";
	if (!json_object_is_type(root, json_type_object))
		return -EINVAL;
	*why = "hook_event_name is missing or no plain string";
	if (event_string(root, "hook_event_name", LIMIT_NAME, &e->name) < 0 || !e->name)
		return -EINVAL;
	e->type = event_type(e->name);
	tool = json_object_object_get_ex(root, "tool_name", NULL);
	/* an event that is not known but speaks of a tool may be a permission by another name
	 */
	e->decides = e->type == CLAUDE_UNKNOWN ? tool : event_types[e->type].decides;
	*why = "this event is not known";
	if (e->type == CLAUDE_UNKNOWN)
		return -EINVAL;
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		*why = strings[i].name;
		if (event_string(root, strings[i].name, strings[i].max, strings[i].out) < 0)
			return -EINVAL;
	}
	*why = "transcript_path";
	if (event_string(root, "transcript_path", LIMIT_TEXT, &transcript) < 0 ||
		event_string(root, "agent_transcript_path", LIMIT_TEXT, &own) < 0)
		return -EINVAL;
	*why = "permission_mode";
	if (event_string(root, "permission_mode", LIMIT_NAME, &mode) < 0)
		return -EINVAL;
	e->mode = claude_mode(mode);
	*why = "session_id is missing";
	if (!e->session_id || !*e->session_id)
		return -EINVAL;
	*why = "agent_id";
	e->child = e->agent_id && *e->agent_id;
	if (event_session(e, transcript, own) < 0)
		return -EINVAL;
	*why = "tool_input";
	if (event_object(root, "tool_input", &e->input) < 0)
		return -EINVAL;
	*why = "tool_name, tool_input or tool_use_id is missing";
	if (event_types[e->type].tool && (!e->tool || !*e->tool))
		return -EINVAL;
	if (e->decides && !e->input)
		return -EINVAL;
	if (e->type == CLAUDE_PRE_TOOL_USE && (!e->tool_use_id || !*e->tool_use_id))
		return -EINVAL;
	if (json_object_object_get_ex(root, "tool_response", &value)) {
		e->response = value;
		e->failed = event_response_failed(value);
	}
	*why = "prompt";
	if (e->type == CLAUDE_USER_PROMPT_SUBMIT &&
		json_object_object_get_ex(root, "prompt", &value) &&
		json_object_is_type(value, json_type_string))
		e->prompt = json_object_get_string(value);
	e->terminal = entrypoint && strcmp(entrypoint, "cli") == 0;
	return 0;
}

void claude_event_free(struct claude_event *e)
{
	json_object_put(e->root);
	memset(e, 0, sizeof(*e));
}
