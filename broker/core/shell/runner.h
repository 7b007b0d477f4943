/* SPDX-License-Identifier: MIT */
/* What shell_traits consists of. */
#ifndef CORE_SHELL_RUNNER_H
#define CORE_SHELL_RUNNER_H

#include "broker/core/shell/shell.h"

/* Whether a list of names, each followed by a space, holds this one. */
bool words_have(const char *list, struct bytes name);

/* ---- program.c: whether the program in its operands, or an option, runs or writes ---- */
bool sed_runs(const struct shell_command *command);
bool awk_runs(const struct shell_command *command);
/* Whether the program of jq may load modules or data from other files than its operands. */
bool jq_loads(const struct shell_command *command);
/* ---- git.c ---- */
bool git_runs(const struct shell_command *command);
bool git_reads_only(const struct shell_command *command);

/* ---- readonly.c ---- */
bool command_reads_only(const struct shell_command *command, struct bytes name);

#endif
