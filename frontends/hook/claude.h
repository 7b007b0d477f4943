/* SPDX-License-Identifier: MIT */
/* The adapter of Claude Code: what its files share. */
#ifndef HOOK_CLAUDE_H
#define HOOK_CLAUDE_H

#include <stdint.h>

#include "frontends/hook/claude_event.h"
#include "frontends/hook/hook.h"
#include "frontends/hook/channel.h"

#define CLAUDE_AGENT "claude"

/* how much of a transcript one event reads */
#define CLAUDE_READ_DECIDING (256u << 10)
#define CLAUDE_READ_QUICK    (8u << 20)

/* Connects as the session of the event. channel_close in any case. */
enum channel_end claude_connect(struct channel *l, const struct hook_options *o,
	const struct claude_event *e, int subject, int signals, int64_t wait_ms,
	int64_t deadline);

/* PreToolUse and PermissionRequest: asks, waits, answers. An exit status. */
int claude_decide(const struct hook_options *o, const struct claude_event *e, int signals);

/* Every other event. An exit status. */
int claude_tell(const struct hook_options *o, const struct claude_event *e, int signals);

struct json_object;
/* What Claude takes as an answer; NULL without memory. verdict: "allow", "deny" or "ask". */
struct json_object *claude_answer(enum claude_event_type type, const char *verdict,
	const char *text, struct json_object *updated_input);

int claude_event_run(const struct hook_options *o);
int claude_install(const struct install_options *o);
int claude_uninstall(const struct install_options *o);
int claude_doctor(const struct install_options *o);

#endif
