/* SPDX-License-Identifier: MIT */
/* The gateway's end. */
#include "broker/io/gateway_private.h"

#include <string.h>

static const struct bytes none;

static void answer_shutdown(struct gateway *g, struct client *client, uint32_t call)
{
	answer_error(g, client, call, WIRE_SHUTDOWN,
		"the broker is stopping: connect again and call again", NULL, none);
}

static void waiting_end(struct gateway *g, struct client_list *clients)
{
	struct client *c;

	TAILQ_FOREACH(c, clients, entry) {
		struct wire_frame f;

		if (c->peer && c->waiting &&
			wire_frame_decode((struct bytes){ c->waiting->bytes, c->waiting->len },
				&f) == 0)
			answer_shutdown(g, c, f.id);
	}
}

/*
 * What is outstanding and not kept is answered; a request that is pending is not over:
 * its agent comes back to it when the connection ends.
 */
static void calls_end(struct gateway *g)
{
	static const struct uuid start;
	struct uuid at = start;
	struct entity *x;

	waiting_end(g, &g->agents);
	waiting_end(g, &g->frontends);
	while ((x = registry_next(&g->engine.r, &at))) {
		const struct request *q = (const struct request *)(const void *)x;

		at = *entity_id(x);
		if (x->type == ENTITY_REQUEST && q->s.r.check && q->s.waiter)
			answer_shutdown(g, client_of(q->s.waiter), q->s.call_id);
	}
}

void gateway_stop(struct gateway *g)
{
	struct client *c;

	g->stopping = true;
	/* the last chance to record what the store refused */
	if (g->failing && journal_probe(g->journal) == 0)
		batch_catch_up(g);
	batch_commit(g);
	if (!g->failing) {
		int err = standing_tick(g, true);

		if (err < 0)
			batch_fail(g, err);
	}
	calls_end(g);
	batch_commit(g);
	if (g->n_lost + g->lost_more)
		log_error(g->log, "%zu denials are not in the history: %s",
			g->n_lost + (size_t)g->lost_more, strerror(-g->store_error));
	peers_flush(g->peers);
	/* what is pending stays so in the store: agents come back to it */
	subject_drop_all(g);
	engine_clear(&g->engine);
	g->n_kept = 0;
	while ((c = TAILQ_FIRST(&g->agents)) || (c = TAILQ_FIRST(&g->frontends))) {
		if (c->peer) {
			struct peer *p = c->peer;

			p->data = NULL;
			pending_call_free(c->waiting);
			peer_goodbye(p, "the broker stops");
		}
		client_gone(g, c);
	}
	peers_reap(g);
}

void gateway_abandon(struct gateway *g)
{
	journal_rollback(g->journal);
	engine_rollback(&g->engine);
	standing_rollback(g);
	subject_drop_all(g);
	engine_clear(&g->engine);
	g->n_kept = 0;
}
