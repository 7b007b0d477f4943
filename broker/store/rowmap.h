/* SPDX-License-Identifier: MIT */
/*
 * Ids to rowids. An open-addressed table of 24 bytes a slot: a hundred thousand
 * pending requests have an entry each, and a node with a hash handle of its own
 * would take four times as much.
 */
#ifndef STORE_ROWMAP_H
#define STORE_ROWMAP_H

#include "broker/core/types.h"

struct rowmap_slot {
	struct uuid id;
	int64_t row; /* 0: free */
};

/* All zero: empty. */
struct rowmap {
	struct rowmap_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

void rowmap_free(struct rowmap *m);
/* The row of an id, or 0. */
int64_t rowmap_get(const struct rowmap *m, const struct uuid *id);
/* Adds an id that is not there; row > 0. 0 or -ENOMEM. */
int rowmap_add(struct rowmap *m, const struct uuid *id, int64_t row);
/* Never gives memory back, so that adding the id again can't fail. */
void rowmap_remove(struct rowmap *m, const struct uuid *id);
/* Gives back what a large table that became sparse does not need. */
void rowmap_trim(struct rowmap *m);

#endif
