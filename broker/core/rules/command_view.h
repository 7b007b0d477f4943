/* SPDX-License-Identifier: MIT */
/* A simple command, written as patterns are compared with it: see command_pattern.h. */
#ifndef CORE_RULES_COMMAND_VIEW_H
#define CORE_RULES_COMMAND_VIEW_H

#include "broker/core/rules/command_pattern.h"
#include "broker/core/shell/shell.h"

struct command_view {
	const struct shell_command *command;
	/* with the home folder as it stands, and as `~`: the second only where asked for */
	struct bytes words[2];
	struct bytes rest[2]; /* without options; only for what tightens */
	size_t base[2];	      /* how much of the name its basename leaves out */
	const struct shell_arg *args;
	uint32_t n_args;
	bool globs;   /* a word is to be expanded by the shell */
	bool unknown; /* a word is not known whole */
};

/* Room that a view needs at most; SIZE_MAX: more than can be. */
size_t command_view_size(const struct shell_command *command, struct bytes home, bool tighten);

/* In mem, of that size. home is used only with homed. */
void command_view_make(struct command_view *view, const struct shell_command *command,
	struct bytes home, bool homed, bool tighten, char *mem);

/* Whether what allows matches: every word, as written. */
bool command_view_allows(
	const struct command_view *view, const struct command_pattern *pattern);
/* Whether what tightens matches: by name or basename, options as a set. */
bool command_view_tightens(
	const struct command_view *view, const struct command_pattern *pattern);

#endif
