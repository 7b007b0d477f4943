/* SPDX-License-Identifier: MIT */
/* The shipped places: entries by one or more whole components, wherever they stand. */
#ifndef CORE_FLOOR_PLACE_H
#define CORE_FLOOR_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/floor/normal.h"

enum place_flag {
	PLACE_HOME = 1,	  /* only directly below home; anywhere while that is not known */
	PLACE_EXACT = 2,  /* nothing below it */
	PLACE_PREFIX = 4, /* the last component may go on */
	PLACE_WILD = 8,	  /* a component is `*` */
};

struct place {
	char path[29]; /* in lower case, at least three characters */
	uint8_t len;
	uint8_t entry; /* enum entry_id */
	uint8_t flags; /* enum place_flag */
};

/*
 * Both are ordered by their first two characters. A path can match a place anywhere among
 * the first, and at its root alone among the second.
 */
extern const struct place floor_places[];
extern const struct place floor_roots[];
extern const size_t n_floor_places, n_floor_roots;

/*
 * A component that is on the first table begins with a character c for which this is set,
 * and goes on with the one that it is set to, or with any where that is PLACE_ANY.
 */
#define PLACE_ANY 1
extern const char place_second[256];
/* What a place of the second table begins with. */
extern const bool place_roots[256];

/* The places of a table whose first two characters are those of the text: [*from, *to). */
void place_range(
	const struct place *table, size_t n, const char *text, size_t *from, size_t *to);

/*
 * Does the path, from the i-th component on, begin with the place's components? The
 * number of characters they take, or 0.
 */
size_t place_match(const struct place *place, const struct normal *path, unsigned i);

/* Below /dev, by name, what is no device to be guarded. */
bool place_is_plain_device(struct bytes name);
/* The i-th of those; NULL past the end. */
const char *place_plain_device_at(unsigned i);

#endif
