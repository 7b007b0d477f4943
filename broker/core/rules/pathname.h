/* SPDX-License-Identifier: MIT */
/* Paths by their text alone: made absolute and normal, compared by components. */
#ifndef CORE_RULES_PATHNAME_H
#define CORE_RULES_PATHNAME_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/bytes.h"
#include "libapproval/limits.h"

struct pathname {
	size_t len;		   /* "/" alone: 1 */
	char text[LIMIT_TEXT + 2]; /* absolute, without `.`, `..`, `//` or a slash at its end */
};

/*
 * 0; -EINVAL: relative without a folder to start from (folder.len 0, or itself not
 * absolute), empty, or with a NUL; -ENAMETOOLONG: over LIMIT_TEXT. A `~` at the start
 * is a name like any other: see pathname_tilde.
 */
int pathname_make(struct pathname *out, struct bytes path, struct bytes folder);

/* The same for "~" and what begins with "~/", from home; 1: the path is no such. */
int pathname_tilde(struct pathname *out, struct bytes path, struct bytes home);

/*
 * What lies below folder, without a slash at its start; empty for folder itself; data
 * NULL: path is not in folder. Both as pathname_make writes them.
 */
struct bytes pathname_below(struct bytes path, struct bytes folder);

static inline struct bytes pathname_bytes(const struct pathname *p)
{
	return (struct bytes){p->text, p->len};
}

#endif
