/* SPDX-License-Identifier: MIT */
/* All state that the store has, written anew where it may lag behind. */
#include "broker/io/gateway_private.h"

static int put_now(struct gateway *g, enum journal_op op, const void *arg)
{
	return journal_put(g->journal, op, arg);
}

int resync_write(struct gateway *g)
{
	static const struct uuid start;
	struct uuid at = start;
	struct entity *e;
	int err = 0;

	while (err == 0 && (e = registry_next(&g->engine.r, &at))) {
		at = *entity_id(e);
		if (!e->stored)
			continue;
		err = entity_put(g, e, put_now);
	}
	return err;
}
