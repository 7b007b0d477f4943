/* SPDX-License-Identifier: MIT */
/* Uids, and what they hold. */
#include "broker/core/registry.h"

#include <assert.h>
#include <stdlib.h>

static int owner_compare(const struct owner *a, const struct owner *b)
{
	return (a->uid > b->uid) - (a->uid < b->uid);
}

RB_GENERATE_STATIC(owner_tree, owner, by_uid, owner_compare)

struct owner *owner_get(struct registry *r, uint32_t uid)
{
	struct owner key = {.uid = uid}, *o = RB_FIND(owner_tree, &r->owners, &key);

	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->uid = uid;
	RB_INSERT(owner_tree, &r->owners, o);
	return o;
}

void owners_free(struct registry *r)
{
	struct owner *o;

	while ((o = RB_ROOT(&r->owners))) {
		assert(!o->sessions && !o->pending && !o->pending_bytes);
		RB_REMOVE(owner_tree, &r->owners, o);
		str_unref(o->home);
		str_unref(o->budget);
		free(o);
	}
}
