/* SPDX-License-Identifier: MIT */
/*
 * A path made normal by its text alone: without `.`, `..`, empty components and a slash
 * at its end, in lower case. What folds into an ASCII letter becomes it; other letters
 * are left alone, since nothing shipped is written with them.
 */
#ifndef CORE_FLOOR_NORMAL_H
#define CORE_FLOOR_NORMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/bytes.h"
#include "libapproval/limits.h"

struct normal {
	uint32_t len;
	uint16_t n;    /* components */
	bool absolute; /* the text has no slash at its start all the same */
	bool slash;    /* it was written with a slash at its end */
	bool dot;      /* nothing but dots was written last */
	uint16_t start[LIMIT_TEXT / 2 + 2]; /* of each component */
	char text[LIMIT_TEXT + 10];	    /* with zeros behind */
};

extern const uint8_t normal_lower[256];

/* false: over LIMIT_TEXT. */
bool normal_make(struct normal *out, struct bytes path);
/* The same for a path below a folder, unless it is absolute or begins with ~/. */
bool normal_join(struct normal *out, struct bytes folder, struct bytes path);
/* The same two with the case as it is. */
bool normal_make_exact(struct normal *out, struct bytes path);
bool normal_join_exact(struct normal *out, struct bytes folder, struct bytes path);

static inline struct bytes normal_component(const struct normal *n, unsigned i)
{
	const uint32_t end = i + 1u < n->n ? n->start[i + 1] - 1u : n->len;

	return (struct bytes){n->text + n->start[i], end - n->start[i]};
}

static inline struct bytes normal_bytes(const struct normal *n)
{
	return (struct bytes){n->text, n->len};
}

/* Whether a path is, or lies below, a folder; both absolute. */
bool normal_within(const struct normal *path, const struct normal *folder);

#endif
