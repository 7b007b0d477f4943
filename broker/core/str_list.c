/* SPDX-License-Identifier: MIT */
#include "broker/core/registry.h"

#include <errno.h>
#include <stdlib.h>

#define LIST_KEPT 4096

int str_list_add(struct str_list *l, struct str *s)
{
	if (l->n == l->size) {
		size_t size = l->size ? l->size * 2 : 64;
		struct str **items = reallocarray(l->items, size, sizeof(*items));

		if (!items)
			return -ENOMEM;
		l->items = items;
		l->size = size;
	}
	l->items[l->n++] = s;
	return 0;
}

void str_list_reset(struct str_list *l)
{
	l->n = 0;
	if (l->size > LIST_KEPT) {
		free(l->items);
		l->items = NULL;
		l->size = 0;
	}
}

void str_list_release(struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		str_unref(l->items[i]);
	str_list_reset(l);
}
