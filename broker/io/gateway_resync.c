/* SPDX-License-Identifier: MIT */
/* All state that the store has, written anew where it may lag behind. */
#include "broker/io/gateway_private.h"

static int session_put(struct gateway *g, const struct session *s)
{
	struct session_record r;
	int err = engine_record_session(s, &r);

	session_stored(g, &r);
	if (err == 0)
		err = journal_put(g->journal, JOURNAL_SESSION, &r);
	str_unref(r.key);
	return err;
}

static int request_put(struct gateway *g, const struct request *q)
{
	struct request_record r;
	int err = engine_record_request(&g->engine, q, &r);

	if (err == 0)
		err = journal_put(g->journal, JOURNAL_REQUEST, &r);
	str_unref(r.call);
	return err;
}

/* After a suspension that was applied though it could not be recorded. */
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
		switch ((enum entity_type)e->type) {
		case ENTITY_SESSION:
			err = session_put(g, ENTITY_OF(e, session));
			break;
		case ENTITY_TURN:
			err = journal_put(g->journal, JOURNAL_TURN, &ENTITY_OF(e, turn)->s.r);
			break;
		case ENTITY_REQUEST:
			err = request_put(g, ENTITY_OF(e, request));
			break;
		case ENTITY_LINK:
		case ENTITY_FRONTEND: break;
		}
	}
	return err;
}
