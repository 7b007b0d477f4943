/* SPDX-License-Identifier: MIT */
/*
 * approval-hook: what every adapter shares. A hook is a short-lived program that
 * an agent runs for one event, with JSON on its standard input, and whose answer
 * is JSON on its standard output. Agents take a hook that fails for no answer and
 * run the tool, so whatever goes wrong here in an event that decides must end in
 * exit status 2, which denies.
 */
#ifndef HOOK_H
#define HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, as the agents understand them. */
enum hook_status {
	HOOK_OK = 0,
	HOOK_FAILED = 1, /* something went wrong where nothing is decided */
	HOOK_DENIED = 2, /* something went wrong: do not run the tool */
};

#define HOOK_INPUT_MAX	    (16u << 20) /* bytes of one event */
#define HOOK_INPUT_WAIT_MS  30000	/* until all of an event must have been read */
#define HOOK_TIMEOUT_MS	    600000	/* an agent's time-out for a hook that states none */
#define HOOK_TIMEOUT_MAX_S  86400 /* larger ones were measured to overflow and fail open */
#define HOOK_QUICK_MS	    2000  /* no broker: events that decide nothing wait no longer */
#define HOOK_CALL_MS	    5000  /* until a call that does not wait for people is answered */
#define HOOK_AWAIT_MS	    400 /* for what the agent is about to write: it does so every 100 ms */
#define HOOK_WITHDRAW_MS    1500 /* the agent is leaving: do not keep it */
#define HOOK_MAX_JSON_DEPTH 64
#define HOOK_TEXT_MAX	    4096

struct hook_options {
	const char *socket;	 /* NULL: the library's choice */
	int64_t wait_ms;	 /* for a broker, before it counts as unreachable */
	int64_t timeout_ms;	 /* the agent's own time-out for this hook */
	bool ask_if_unreachable; /* otherwise deny */
};

struct install_options {
	const char *program;  /* argv[0] of ours */
	const char *settings; /* NULL: the agent's own place */
	const char *command;  /* NULL: this program */
	bool dry_run;
	bool json;	    /* doctor */
	const char *socket; /* doctor: the broker to prove it against */
};

/* One agent. Each function returns an exit status. */
struct hook_adapter {
	const char *name;
	int (*event)(const struct hook_options *o);
	int (*install)(const struct install_options *o);
	int (*uninstall)(const struct install_options *o);
	int (*doctor)(const struct install_options *o);
};

extern const struct hook_adapter claude_adapter;

/* NULL for an unknown name. */
const struct hook_adapter *hook_adapter_find(const char *name);

#endif
