/* SPDX-License-Identifier: MIT */
/*
 * The published table of known agents' tools: what a tool is, whether it changes
 * anything, and which fields of its input hold what a decision is about. Pure
 * data; an agent can say more about a call, but never less than the table.
 */
#ifndef CORE_TOOL_H
#define CORE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/types.h"

/* What a field of a tool's input holds. */
enum tool_role {
	TOOL_COMMAND, /* a command for the shell, or an array of words */
	TOOL_PATH,    /* a path, or an array of paths */
	TOOL_FILES,   /* the same, but wildcards in it choose files that are read */
	TOOL_PATTERN, /* a glob below the path that only chooses names */
	TOOL_PATCH,   /* a patch that names its files ("*** Update File: ") */
	TOOL_URL,
	TOOL_OPAQUE, /* changes what the rest means: with it the input is unread */
};

struct tool_field {
	const char *name;
	uint8_t len; /* of the name; 0 ends a list */
	uint8_t role;
};

enum tool_flag {
	TOOL_MUTATES = 1,
	TOOL_HARMLESS = 2, /* allowed in every mode: todo lists, thinking, plans */
	TOOL_CWD = 4,	   /* without a path it means the working directory */
	TOOL_CONTENT = 8,  /* reads all files below its path */
};

struct tool {
	const char *name;
	uint8_t kind;  /* enum kind */
	uint8_t flags; /* enum tool_flag */
	uint8_t needs; /* bits (1 << enum tool_role) of what every input must hold */
	const struct tool_field *fields;
};

/* The tool of this very name (case counts); NULL: unknown, which is KIND_OTHER and mutating. */
const struct tool *tool_find(struct bytes name);
/* The field of this very name among a tool's; NULL: none. */
const struct tool_field *tool_field_find(const struct tool *tool, struct bytes name);
/* The i-th of the table, in the order of strcmp; NULL past its end. */
const struct tool *tool_at(size_t i);

/* Whether a call of this kind changes something whatever else is known of it. */
bool kind_mutates(enum kind kind);
/* The more dangerous of two kinds; `other` as a claim says nothing. */
enum kind kind_tighten(enum kind ours, enum kind claimed);

#endif
