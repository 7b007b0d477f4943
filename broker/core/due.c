/* SPDX-License-Identifier: MIT */
#include "broker/core/due.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/registry.h"

#define DUE_LEAST 64u

static int resize(struct due_queue *d, size_t size)
{
	struct due *items = calloc(size, sizeof(*items));

	if (!items)
		return -ENOMEM;
	/* not by realloc: where few are timed, most of it is never touched */
	if (d->n)
		memcpy(items, d->items, d->n * sizeof(*items));
	free(d->items);
	d->items = items;
	d->size = size;
	return 0;
}

int due_reserve(struct due_queue *d, size_t n)
{
	if (n <= d->size)
		return 0;
	if (n >= UINT32_MAX)
		return -ENOMEM;
	return resize(d, d->size ? d->size * 2 : DUE_LEAST);
}

void due_trim(struct due_queue *d, size_t n)
{
	/* without memory for the smaller one the larger one does as well */
	if (d->size > DUE_LEAST && n < d->size / 8)
		(void)!resize(d, d->size / 4);
}

void due_free(struct due_queue *d)
{
	assert(d->n == 0);
	free(d->items);
	*d = (struct due_queue){0};
}

static uint32_t *place_of(struct entity *x)
{
	return x->type == ENTITY_TURN ? &ENTITY_OF(x, turn)->due : &ENTITY_OF(x, request)->due;
}

static bool before(const struct due *a, const struct due *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return uuid_compare(entity_id(a->entity), entity_id(b->entity)) < 0;
}

static void place(struct due_queue *d, size_t i, struct due item)
{
	d->items[i] = item;
	*place_of(item.entity) = (uint32_t)(i + 1);
}

/* Where the item belongs that was at i, or would be. */
static void sift(struct due_queue *d, size_t i, struct due item)
{
	for (; i > 0 && before(&item, &d->items[(i - 1) / 2]); i = (i - 1) / 2)
		place(d, i, d->items[(i - 1) / 2]);
	for (size_t child; (child = 2 * i + 1) < d->n; i = child) {
		if (child + 1 < d->n && before(&d->items[child + 1], &d->items[child]))
			child++;
		if (!before(&d->items[child], &item))
			break;
		place(d, i, d->items[child]);
	}
	place(d, i, item);
}

void due_set(struct due_queue *d, struct entity *x, int64_t at)
{
	size_t i = *place_of(x);

	if (at && i) {
		if (d->items[i - 1].at != at)
			sift(d, i - 1, (struct due){at, x});
	} else if (at) {
		assert(d->n < d->size);
		d->n++;
		sift(d, d->n - 1, (struct due){at, x});
	} else if (i) {
		*place_of(x) = 0;
		d->n--;
		if (i - 1 < d->n)
			sift(d, i - 1, d->items[d->n]);
	}
}

int64_t due_at(const struct due_queue *d, const struct entity *x)
{
	/* of which only the place is read */
	uint32_t i = *place_of((struct entity *)(uintptr_t)x);

	return i ? d->items[i - 1].at : 0;
}

struct entity *due_first(const struct due_queue *d)
{
	return d->n ? d->items[0].entity : NULL;
}
