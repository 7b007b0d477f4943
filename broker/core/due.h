/* SPDX-License-Identifier: MIT */
/*
 * The requests and turns that wait for an instant, the nearest first: a binary heap. Most
 * requests have no deadline, so each holds but its place here.
 */
#ifndef CORE_DUE_H
#define CORE_DUE_H

#include <stddef.h>
#include <stdint.h>

struct entity;

struct due {
	int64_t at; /* monotonic */
	struct entity *entity;
};

/* All zero: empty. Places count from 1. */
struct due_queue {
	struct due *items;
	size_t n, size;
};

/* Room for so many, so that due_set can't fail. -ENOMEM. */
int due_reserve(struct due_queue *d, size_t n);
/* Gives back what is not needed for n of them. */
void due_trim(struct due_queue *d, size_t n);
void due_free(struct due_queue *d);
/* When the request or turn is due; 0: never. */
void due_set(struct due_queue *d, struct entity *x, int64_t at);
int64_t due_at(const struct due_queue *d, const struct entity *x);
/* The nearest, of several the one that arose first; NULL: none. */
struct entity *due_first(const struct due_queue *d);

#endif
