/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "frontends/common/exit.h"
#include "frontends/common/options.h"
#include "frontends/common/output.h"
#include "frontends/hook/hook.h"
#include "libapproval/limits.h"

enum {
	OPTION_SOCKET = 256,
	OPTION_HOOK_TIMEOUT,
	OPTION_IF_UNREACHABLE,
	OPTION_WAIT,
	OPTION_SETTINGS,
	OPTION_COMMAND,
	OPTION_DRY_RUN,
	OPTION_JSON,
};

static const struct hook_adapter *const adapters[] = {&claude_adapter};

const struct hook_adapter *hook_adapter_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		if (strcmp(adapters[i]->name, name) == 0)
			return adapters[i];
	return NULL;
}

static int event_options(struct options *o, struct hook_options *h)
{
	uint64_t n;
	int key;

	while ((key = options_next(o)) != OPTIONS_END) {
		switch (key) {
		case OPTION_SOCKET: h->socket = o->value; break;
		case OPTION_WAIT:
			if (options_number(o, o->value, INT32_MAX, &n) < 0)
				return STATUS_USAGE;
			h->wait_ms = (int64_t)n;
			break;
		case OPTION_HOOK_TIMEOUT:
			if (options_number(o, o->value, HOOK_TIMEOUT_MAX_S, &n) < 0)
				return STATUS_USAGE;
			if (n == 0)
				return options_wrong(
					o, "a time-out of 0 leaves no time to ask");
			h->timeout_ms = (int64_t)n * 1000;
			break;
		case OPTION_IF_UNREACHABLE:
			h->ask_if_unreachable = strcmp(o->value, "ask") == 0;
			if (!h->ask_if_unreachable && strcmp(o->value, "deny") != 0)
				return options_wrong(o,
					"--if-unreachable takes deny or ask, not '%s'",
					o->value);
			break;
		default: return o->status;
		}
	}
	if (o->n_operands > 0)
		return options_wrong(o, "unexpected operand '%s'", o->operands[0]);
	return -1;
}

static int run_event(void *arg, struct options *o)
{
	const struct hook_adapter *adapter = hook_adapter_find(o->command->name);
	struct hook_options h = {
		.wait_ms = TIME_CONNECT_RETRY_MS,
		.timeout_ms = HOOK_TIMEOUT_MS,
	};
	int status = event_options(o, &h);

	(void)arg;
	/* a wrong option ends with 2, which denies: nothing was understood */
	return status >= 0 ? status : adapter->event(&h);
}

static int run_install(void *arg, struct options *o)
{
	const struct hook_adapter *adapter;
	struct install_options io = {.program = arg};
	int key;

	while ((key = options_next(o)) != OPTIONS_END) {
		switch (key) {
		case OPTION_SETTINGS: io.settings = o->value; break;
		case OPTION_COMMAND: io.command = o->value; break;
		case OPTION_SOCKET: io.socket = o->value; break;
		case OPTION_DRY_RUN: io.dry_run = true; break;
		case OPTION_JSON: io.json = true; break;
		default: return o->status;
		}
	}
	if (o->n_operands != 1)
		return options_wrong(o, "name one agent: claude");
	adapter = hook_adapter_find(o->operands[0]);
	if (!adapter)
		return options_wrong(
			o, "there is no adapter for '%s', only for: claude", o->operands[0]);
	if (strcmp(o->command->name, "install") == 0)
		return adapter->install(&io);
	if (strcmp(o->command->name, "uninstall") == 0)
		return adapter->uninstall(&io);
	return adapter->doctor(&io);
}

static const struct option_def event_defs[] = {
	{OPTION_HOOK_TIMEOUT, "hook-timeout", "SECONDS",
		"how long the agent waits for this hook (600)"},
	{OPTION_IF_UNREACHABLE, "if-unreachable", "deny|ask", "without a broker (deny)"},
	{OPTION_WAIT, "wait", "MS", "for a broker, before it counts as unreachable (30000)"},
	{OPTION_SOCKET, "socket", "PATH", "the broker's agent socket"},
	{0},
};

static const struct option_def install_defs[] = {
	{OPTION_SETTINGS, "settings", "FILE", "the agent's settings, where they are elsewhere"},
	{OPTION_COMMAND, "command", "PATH", "the program to be run as the hook (this one)"},
	{OPTION_DRY_RUN, "dry-run", NULL,
		"print the settings as they would be, change nothing"},
	{0},
};

static const struct option_def uninstall_defs[] = {
	{OPTION_SETTINGS, "settings", "FILE", "the agent's settings, where they are elsewhere"},
	{OPTION_DRY_RUN, "dry-run", NULL,
		"print the settings as they would be, change nothing"},
	{0},
};

static const struct option_def doctor_defs[] = {
	{OPTION_SETTINGS, "settings", "FILE", "the agent's settings, where they are elsewhere"},
	{OPTION_SOCKET, "socket", "PATH", "the broker's agent socket"},
	{OPTION_JSON, "json", NULL, "one JSON object"},
	{0},
};

static const struct command commands[] = {
	{.name = "claude",
		.summary = "Answer one hook event of Claude Code, read from standard input",
		.options = event_defs,
		.run = run_event},
	{.name = "install",
		.operands = "AGENT",
		.summary = "Add the hooks to an agent's settings",
		.options = install_defs,
		.run = run_install},
	{.name = "uninstall",
		.operands = "AGENT",
		.summary = "Take them out again",
		.options = uninstall_defs,
		.run = run_install},
	{.name = "doctor",
		.operands = "AGENT",
		.summary = "Check that an agent's hooks are there, fire, and fail closed",
		.options = doctor_defs,
		.run = run_install},
	{.name = NULL},
};

static const struct program program = {
	.name = "approval-hook",
	.version = PACKAGE_VERSION,
	.summary = "Put an agent's hooks before the approval broker",
	.more = "approval-hook(1) tells more.",
	.commands = commands,
};

int main(int argc, char **argv)
{
	struct options o;

	if (options_command(&o, &program, argc, argv) == OPTIONS_EXIT)
		return o.status;
	return o.command->run(argv[0], &o);
}
