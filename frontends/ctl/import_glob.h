/* SPDX-License-Identifier: MIT */
/* Patterns of texts, as the sources have them: what they match, and how two of them meet. */
#ifndef CTL_IMPORT_GLOB_H
#define CTL_IMPORT_GLOB_H

#include "frontends/ctl/import_node.h"

/* A unit is a byte, or one of these. */
enum glob_unit {
	GLOB_STAR = 256, /* any run of bytes */
	GLOB_ONE,	 /* any one */
	GLOB_OPEN,	 /* only at the end: nothing, or a blank and any run */
};

struct glob {
	const uint16_t *units;
	size_t n;
};

/* What is left of the steps of a run that compares patterns. */
struct glob_effort {
	size_t left;
};

/* Without memory, or over LIMIT_IMPORT_PATTERN: false. */
bool glob_new(
	struct memory *m, struct glob *out, const char *text, size_t len, bool star, bool one);
/* One more unit behind it. */
bool glob_append(struct memory *m, struct glob *glob, uint16_t unit);

bool glob_any(const struct glob *g);   /* matches everything */
bool glob_exact(const struct glob *g); /* matches one text */
/* true where it is not sure */
bool glob_may_meet(const struct glob *a, const struct glob *b, struct glob_effort *effort);
/* Whether a matches all that b does; false where it is not sure. */
bool glob_covers(const struct glob *a, const struct glob *b, struct glob_effort *effort);

#endif
