/* SPDX-License-Identifier: MIT */
/* A call as the cases describe it, read and checked against the floor. */
#ifndef TESTS_FLOOR_FIXTURE_H
#define TESTS_FLOOR_FIXTURE_H

#include <json-c/json.h>

#include "broker/core/floor/floor.h"

struct floor_case {
	const char *name, *tool, *command;
	const char *expect, *source, *floor; /* NULL: not given */
	struct bytes cwd, workspace, home;
	struct floor_path paths[4];
	unsigned n_paths;
};

/* From a line of the cases; what it holds lives as long as the object. */
void case_read(struct json_object *line, struct floor_case *out);
/* Reads the command, if there is one, and checks the call. */
bool case_check(const struct floor *floor, const struct shell_arena *arena,
	const struct floor_case *c, struct floor_hit *hit);
/* A command in /w/proj, of a home /home/u. */
bool command_check(const struct floor *floor, const struct shell_arena *arena,
	const char *command, struct floor_hit *hit);

#endif
