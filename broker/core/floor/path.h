/* SPDX-License-Identifier: MIT */
/* One path against all entries of the floor that are about paths. */
#ifndef CORE_FLOOR_PATH_H
#define CORE_FLOOR_PATH_H

#include "broker/core/floor/entry.h"
#include "broker/core/floor/floor.h"
#include "broker/core/floor/normal.h"

/* What paths are compared within. */
struct floor_world {
	const struct floor *floor;		   /* NULL: as shipped */
	struct bytes cwd, workspace, home, tmpdir; /* as in struct floor_call */
};

/* A path that is on it: by which entry, and used how. */
struct floor_found {
	const char *name, *about;
	unsigned use;
};

/*
 * Makes a path normal, from a folder (which may be empty: then it stays relative), with
 * `~` as home where that is known. false: too long to be a path.
 */
bool path_normal(const struct floor_world *world, struct normal *out, struct bytes folder,
	struct bytes path);

/* Whether a use of a path, made normal, is on the floor. */
bool path_guarded(const struct floor_world *world, const struct normal *path, unsigned use,
	struct floor_found *out);

/* The same for a pattern of paths. flags: enum wild_flag. */
bool pattern_guarded(const struct floor_world *world, const struct normal *pattern,
	unsigned use, unsigned flags, struct floor_found *out);

/*
 * Where a path lies that is deleted, moved or made accessible, with all that is below it.
 * One of which that is not known is outside. Inside is by the very bytes.
 */
enum path_region {
	PATH_INSIDE, /* below the workspace, or below a folder for temporary files */
	PATH_TOP,    /* one of those folders itself */
	PATH_OUTSIDE,
};
enum path_region path_region(
	const struct floor_world *world, struct bytes folder, struct bytes path);

/* Whether a folder that is not of the workspace holds a place that may not be read. */
bool path_holds_protected(const struct floor_world *world, const struct normal *path);

/*
 * The name of the shipped entry that guards a file from being read, or NULL. A path over
 * LIMIT_TEXT is "unreadable". home may be absent; then entries that stand for folders of a
 * home are found anywhere.
 */
const char *path_protected(struct bytes path, struct bytes home);

#endif
