/* SPDX-License-Identifier: MIT */
/*
 * The requests that wait for an instant, the nearest first: a binary heap. Most
 * requests have no deadline, so each holds but its place here.
 */
#ifndef CORE_DUE_H
#define CORE_DUE_H

#include <stddef.h>
#include <stdint.h>

struct request;

struct due {
	int64_t at; /* monotonic */
	struct request *request;
};

/* All zero: empty. Places count from 1. */
struct due_queue {
	struct due *items;
	size_t n, size;
};

/* Room for so many requests, so that due_set can't fail. -ENOMEM. */
int due_reserve(struct due_queue *d, size_t n);
/* Gives back what is not needed for n requests. */
void due_trim(struct due_queue *d, size_t n);
void due_free(struct due_queue *d);
/* When the request is due; 0: never. */
void due_set(struct due_queue *d, struct request *q, int64_t at);
int64_t due_at(const struct due_queue *d, const struct request *q);
/* The nearest, of several the one that arose first; NULL: none. */
struct request *due_first(const struct due_queue *d);

#endif
