/* SPDX-License-Identifier: MIT */
/* Entities as the store keeps them. */
#include "broker/io/gateway_private.h"

int entity_put(struct gateway *g, struct entity *x,
	int (*put)(struct gateway *g, enum journal_op op, const void *record))
{
	struct session_record s;
	struct turn_record t;
	struct request_record q;
	int err;

	switch ((enum entity_type)x->type) {
	case ENTITY_SESSION:
		err = engine_record_session(ENTITY_OF(x, session), &s);
		session_stored(g, &s);
		if (err == 0)
			err = put(g, JOURNAL_SESSION, &s);
		str_unref(s.key);
		str_unref(s.budget);
		return err;
	case ENTITY_TURN:
		err = engine_record_turn(ENTITY_OF(x, turn), &t);
		if (err == 0)
			err = put(g, JOURNAL_TURN, &t);
		str_unref(t.budget);
		return err;
	case ENTITY_REQUEST:
		err = engine_record_request(&g->engine, ENTITY_OF(x, request), &q);
		if (err == 0)
			err = put(g, JOURNAL_REQUEST, &q);
		str_unref(q.call);
		return err;
	case ENTITY_LINK:
	case ENTITY_FRONTEND: break;
	}
	return 0;
}
