/* SPDX-License-Identifier: MIT */
/* A hook event of Claude Code, read and checked. */
#ifndef HOOK_CLAUDE_EVENT_H
#define HOOK_CLAUDE_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/limits.h"

struct json_object;

enum claude_event_type {
	CLAUDE_UNKNOWN,
	CLAUDE_PRE_TOOL_USE,
	CLAUDE_PERMISSION_REQUEST,
	CLAUDE_POST_TOOL_USE,
	CLAUDE_POST_TOOL_USE_FAILURE,
	CLAUDE_PERMISSION_DENIED,
	CLAUDE_USER_PROMPT_SUBMIT,
	CLAUDE_STOP,
	CLAUDE_STOP_FAILURE,
	CLAUDE_SUBAGENT_START,
	CLAUDE_SUBAGENT_STOP,
	CLAUDE_SESSION_START,
	CLAUDE_SESSION_END,
	CLAUDE_NOTIFICATION,
	CLAUDE_EVENT_N,
};

/* Text belongs to root; NULL where the event has none. */
struct claude_event {
	struct json_object *root;
	struct json_object *input, *response; /* NULL: none */
	enum claude_event_type type;
	const char *name; /* hook_event_name */
	const char *cwd, *prompt_id, *agent_id, *agent_type;
	const char *session_id;
	const char *tool, *tool_use_id, *prompt, *source;
	const char *mode;	  /* the claim in the broker's words; NULL: none is made */
	char key[LIMIT_NAME + 1]; /* the session: a sub-agent's is a child's */
	char transcript[LIMIT_TEXT + 1]; /* of that session; "" : not known */
	bool child;
	bool decides;  /* the agent waits for a permission */
	bool terminal; /* the terminal program: it has a dialog of its own */
	bool failed;   /* PostToolUse: the response says so */
};

/*
 * Takes root over, also on failure. -EINVAL with *why where something is missing,
 * has the wrong type or is too long; decides is right even then. entrypoint is
 * CLAUDE_CODE_ENTRYPOINT and may be NULL.
 */
int claude_event_read(struct claude_event *e, struct json_object *root, const char *entrypoint,
	const char **why);
void claude_event_free(struct claude_event *e);

/* plan, normal, auto-edit or yolo; whatever is not known counts as normal. */
const char *claude_mode(const char *permission_mode);

#endif
