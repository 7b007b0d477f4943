/* SPDX-License-Identifier: MIT */
/* The file of a user's additions to the floor, changed as a whole. */
#ifndef CTL_FLOOR_FILE_H
#define CTL_FLOOR_FILE_H

#include "frontends/ctl/ctl.h"

/* Whether the broker would take this line: an exit status; why not has been said. */
int floor_line_check(const struct ctl *c, const char *where, const char *line, size_t len);

/*
 * Each takes the file, which need not be there, and its changed text to its place; if there
 * is a line in it that the broker would not take, nothing is changed. An exit status.
 */
int floor_file_add(
	const struct ctl *c, const char *file, const char *line, size_t len, bool *there);
/* All entries of that name; *n of them. */
int floor_file_remove(const struct ctl *c, const char *file, const char *name, size_t *n);

#endif
