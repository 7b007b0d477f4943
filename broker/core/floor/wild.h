/* SPDX-License-Identifier: MIT */
/* Patterns of file names, as shells and find have them: * ? [ ] and \. */
#ifndef CORE_FLOOR_WILD_H
#define CORE_FLOOR_WILD_H

#include <stdbool.h>

#include "broker/core/floor/normal.h"

/* Whether one component matches a name; * and ? match a slash no more than anything does. */
bool wild_match(struct bytes pattern, struct bytes name);

/* Whether it holds a wildcard that is not escaped. */
bool wild_is(struct bytes pattern);

/* How many of its characters stand for themselves. */
unsigned wild_literals(struct bytes pattern);

enum wild_flag {
	WILD_HIDDEN = 1, /* a leading dot is matched by wildcards, too, as find does */
	WILD_NAMED = 2,	 /* `.*` means nothing: for what only lists names */
};

/*
 * Whether a pattern is so near a name on the list that it may be meant: it matches, and is
 * more than wildcards.
 */
bool wild_may_mean(struct bytes pattern, struct bytes name, unsigned flags);

#endif
