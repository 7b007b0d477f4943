/* SPDX-License-Identifier: MIT */
/* Entries that are forms of commands, whatever their paths. */
#ifndef CORE_FLOOR_FORM_H
#define CORE_FLOOR_FORM_H

#include "broker/core/floor/entry.h"
#include "broker/core/shell/shell.h"

/*
 * The entry of a command by its name and options, of those not in off, or ENTRY_NONE.
 * *word is the one that shows it.
 */
int form_entry(
	const struct shell_command *command, uint64_t off, const struct shell_word **word);

/* The i-th name of a command that is looked at, and an entry that it may be on; NULL past the
 * end. */
const char *form_at(unsigned i, int *entry);

#endif
