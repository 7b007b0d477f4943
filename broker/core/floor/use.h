/* SPDX-License-Identifier: MIT */
/* What commands do with their operands: data. */
#ifndef CORE_FLOOR_USE_H
#define CORE_FLOOR_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/bytes.h"

enum use_shape {
	USE_OTHER,  /* nothing is known: words may be paths that are read */
	USE_NAMES,  /* only looked at */
	USE_FILES,  /* files that are read */
	USE_WRITE,  /* files that are written */
	USE_COPY,   /* the last one, or that of -t, is written */
	USE_MOVE,   /* all are written */
	USE_REMOVE, /* with all below where it is recursive */
	USE_PERMIT, /* permissions or owner change */
	USE_FOLDER, /* folders that are made or removed */
	USE_FIRST,  /* the first is written, the others are read */
	USE_SECOND, /* the second is written */
	USE_SCRIPT, /* the first is run */
	USE_SOURCE, /* likewise, in the same shell */
	USE_TEST,
	USE_TAR,
	USE_FIND,
	USE_DD,
};

struct use {
	const char *name;
	uint8_t shape;	  /* enum use_shape */
	bool always_deep; /* it goes through folders without being told to */
	const char *deep; /* options that make it recursive; names as shell_args gives them, */
	const char *writes;   /* options whose value is written, */
	const char *in_place; /* options by which operands are written, */
	const char *texts; /* options whose value is text, or code; each name has a space behind
			      it */
};

/* Never NULL. A name may have a version behind it. */
const struct use *use_find(struct bytes name);
/* The i-th of the table; NULL past its end. */
const struct use *use_at(unsigned i);

/* Whether a list of names, each with a space behind it, holds this one. */
bool use_lists(const char *list, struct bytes name);
/* Options that name a file to be written, in any command of which nothing is known. */
bool use_is_output(struct bytes option);
/* Options whose value is prose or a pattern, likewise. */
bool use_is_prose(struct bytes option);

#endif
