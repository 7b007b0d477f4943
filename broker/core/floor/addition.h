/* SPDX-License-Identifier: MIT */
/* Entries that configuration added: NAME GUARDS PATTERN. */
#ifndef CORE_FLOOR_ADDITION_H
#define CORE_FLOOR_ADDITION_H

#include "broker/core/floor/path.h"
#include "broker/core/rules/path_pattern.h"

struct addition {
	char *name;
	char *pattern; /* as written */
	char *parts;   /* of path; or the words of a command, each with a NUL behind it */
	struct path_pattern path;
	uint32_t n_words;
	uint8_t guards; /* 0: a command */
	uint8_t owner;	/* enum floor_owner */
	bool off;
	struct str *file; /* where it stands; NULL: not told */
	uint32_t line;
};

struct floor {
	struct addition *additions;
	uint32_t n;
	uint64_t off;  /* bits (1 << enum entry_id) */
	uint8_t owner; /* of what is shipped */
};

/* The same as floor_add, but for keeping it. */
int addition_parse(
	struct bytes line, struct addition *out, enum floor_error *error, size_t *column);
void addition_release(struct addition *addition);

/* Does a path that is made normal match? wild: its components are patterns. */
bool addition_matches(const struct floor_world *world, const struct addition *addition,
	const struct normal *path, bool wild);
/* Does a command begin with the words? */
bool addition_matches_command(const struct addition *addition, const struct shell_command *c);

#endif
