/* SPDX-License-Identifier: MIT */
/* Calls that wait for the resolver. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pending_call_new(struct gateway *g, struct client *client, struct pending_call **out)
{
	struct pending_call *p = g->spare ? g->spare : malloc(sizeof(*p));

	if (!p)
		return -ENOMEM;
	g->spare = NULL;
	*p = (struct pending_call){ .g = g, .client = client };
	*out = p;
	return 0;
}

int pending_call_park(struct pending_call *p, struct resolver_job *job, struct bytes raw)
{
	p->job = job;
	p->bytes = malloc(raw.len);
	if (!p->bytes)
		return -ENOMEM;
	memcpy(p->bytes, raw.data, raw.len);
	p->len = raw.len;
	p->client->waiting = p;
	/* what follows on this connection comes after this call */
	peer_pause(p->client->peer);
	return 0;
}

void pending_call_unpark(struct pending_call *p)
{
	p->job = NULL;
	p->client->waiting = NULL;
}

void pending_call_free(struct pending_call *p)
{
	struct gateway *g;

	if (!p)
		return;
	g = p->g;
	resolver_cancel(g->resolver, p->job);
	project_unwait(p);
	process_unref(p->subject);
	offer_free(p->offer);
	if (p->client->waiting == p)
		p->client->waiting = NULL;
	free(p->bytes);
	free(p->workspace);
	free(p->alias);
	edits_free(p->edits, p->n_edits);
	if (g->spare)
		free(p);
	else
		g->spare = p;
}

void client_go_on(struct client *client)
{
	if (client->peer && !client->closed && !client->full && !client->waiting)
		peer_resume(client->peer);
}

void pending_call_fail(struct gateway *g, struct client *client, uint32_t call, int err)
{
	const struct command c = {.call = call};

	if (batch_add_sender(g, client, &c) == 0)
		batch_fail(g, err);
}

/*
 * Text with a NUL in it is no path: it comes out shorter, and so resolves to something else or
 * nothing.
 */
void path_copy(char *out, size_t size, struct bytes text)
{
	size_t n = text.len < size ? text.len : size - 1;

	if (n)
		memcpy(out, text.data, n);
	out[n] = 0;
}
