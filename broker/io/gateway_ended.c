/* SPDX-License-Identifier: MIT */
/* Requests that the engine has forgotten: a late decision is told what became of them. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>

static void remember(const struct ended_request *list, size_t n, const struct client *client,
	struct decided *d)
{
	for (size_t i = 0; list && i < n; i++) {
		const struct ended_request *x = &list[i];

		if (uuid_compare(&x->id, &d->request) == 0 && !uuid_is_nil(&x->id) &&
			(x->uid == client->frontend->uid || client->frontend->admin)) {
			d->result = RESULT_GONE;
			d->state = x->state;
			d->source = x->source;
		}
	}
}

/* A request that the engine has forgotten may have ended a moment ago. */
struct decided ended_recall(struct gateway *g, const struct client *client, struct decided d)
{
	if (d.result != RESULT_NOT_FOUND)
		return d;
	remember(g->ended, GATEWAY_ENDED_MAX, client, &d);
	remember(g->ending, g->n_ending, client, &d);
	return d;
}

int ended_note(struct gateway *g, const struct history_row *row)
{
	struct ended_request *items;

	if (uuid_is_nil(&row->request))
		return 0;
	items = grow(g->ending, g->n_ending, &g->ending_size, sizeof(*items));
	if (!items)
		return -ENOMEM;
	g->ending = items;
	g->ending[g->n_ending++] = (struct ended_request){ row->request, row->state, row->source,
		row->event == HISTORY_DECISION ? row->verdict : VERDICT_NONE, row->uid };
	return 0;
}

void endings_commit(struct gateway *g)
{
	if (!g->ended && g->n_ending)
		g->ended = calloc(GATEWAY_ENDED_MAX, sizeof(*g->ended));
	for (size_t i = 0; i < g->n_ending; i++) {
		const struct ended_request *x = &g->ending[i];

		if (x->verdict != VERDICT_NONE)
			g->decisions[x->verdict][x->source]++;
		if (g->ended)
			g->ended[g->n_ended++ % GATEWAY_ENDED_MAX] = *x;
	}
	g->n_ending = 0;
}
