/* SPDX-License-Identifier: MIT */
/*
 * Lines of the log that others can cause without end: the first of a kind is written,
 * what follows is counted, and the count is written once a minute. Pure: time is told.
 */
#ifndef IO_FLOOD_H
#define IO_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#define FLOOD_KINDS  16u
#define FLOOD_OTHERS UINT64_MAX /* the kind of all that there is no room for */

struct flood_kind {
	uint64_t key;
	uint64_t more; /* that were not written */
	int64_t since; /* microseconds (CLOCK_MONOTONIC) */
	bool used;
};

/* All zeroes: nothing was written yet. */
struct flood {
	struct flood_kind kinds[FLOOD_KINDS];
};

/* Is the line to be written? Else it counts. */
bool flood_pass(struct flood *f, uint64_t key, int64_t now);
/* How many of a kind were left out in a minute that is over, and which; 0: there are none. */
uint64_t flood_over(struct flood *f, int64_t now, uint64_t *key);

#endif
