/* SPDX-License-Identifier: MIT */
/* Requests that the engine has forgotten: a late decision is told what became of them. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bytes none;

bool id_has_part(enum id_type type, const struct uuid *id, struct bytes part)
{
	char text[ID_STRING_SIZE];
	size_t len, prefix;

	id_format(text, type, id);
	len = strlen(text);
	prefix = (size_t)(strchr(text, '_') + 1 - text);
	if (part.len > len)
		return false;
	return memcmp(text, part.data, part.len) == 0 ||
	       (part.len <= len - prefix && memcmp(text + prefix, part.data, part.len) == 0) ||
	       memcmp(text + len - part.len, part.data, part.len) == 0;
}

/* What is sought, and what was found of it: the last that became of one request. */
struct search {
	struct gateway *g;
	const struct client *client;
	struct uuid id;	   /* nil: by a part of it */
	struct bytes part; /* of at least 4 characters */
	struct ended_request found;
	bool any, many; /* many: more than one has that part */
};

static void search_see(struct search *s, const struct ended_request *x)
{
	if (uuid_is_nil(&x->id) || x->state == REQUEST_NONE || request_state_pending(x->state) ||
		(x->uid != s->client->frontend->uid && !s->client->frontend->admin))
		return;
	if (uuid_is_nil(&s->id) ? !id_has_part(ID_REQUEST, &x->id, s->part)
				: uuid_compare(&x->id, &s->id) != 0)
		return;
	/* they come with the last first */
	if (!s->any)
		s->found = *x;
	else if (uuid_compare(&x->id, &s->found.id) != 0)
		s->many = true;
	s->any = true;
}

static void search_memory(struct search *s)
{
	const struct gateway *g = s->g;

	for (size_t i = g->n_ending; i-- > 0;)
		search_see(s, &g->ending[i]);
	for (size_t i = 0; g->ended && i < GATEWAY_ENDED_MAX && i < g->n_ended; i++)
		search_see(s, &g->ended[(g->n_ended - 1 - i) % GATEWAY_ENDED_MAX]);
}

static struct ended_request ended_of(const struct history_row *row)
{
	return (struct ended_request){ row->request, row->state, row->source,
		row->event == HISTORY_DECISION ? row->verdict : VERDICT_NONE, row->uid };
}

static int search_row(void *arg, const struct history_row *row)
{
	struct search *s = arg;
	const struct ended_request x = ended_of(row);

	search_see(s, &x);
	return s->any && !uuid_is_nil(&s->id) ? -ECANCELED : 0;
}

static bool search_goes_on(void *arg)
{
	const struct search *s = arg;

	return query_goes_on(s->g) && !s->many;
}

/* What ended before this start of the broker, or long ago, as far back as the time reaches. */
static void search_store(struct search *s)
{
	struct history_query q = { .newest = true, .limit = UINT32_MAX, .request = s->id,
		.event = -1, .verdict = -1, .source = -1,
		.all_uids = s->client->frontend->admin, .uid = s->client->frontend->uid,
		.go_on = search_goes_on };
	uint64_t reached;

	query_goes_on(s->g); /* its time begins; the last records are looked at in any case */
	journal_history(s->g->journal, &q, search_row, s, &reached);
}

static bool search(struct search *s)
{
	search_memory(s);
	if (!s->any)
		search_store(s);
	return s->any && !s->many;
}

struct decided ended_recall(struct gateway *g, const struct client *client, struct decided d)
{
	struct search s = { .g = g, .client = client, .id = d.request };

	if (d.result != RESULT_NOT_FOUND || uuid_is_nil(&d.request) || !search(&s))
		return d;
	d.result = RESULT_GONE;
	d.state = s.found.state;
	d.source = s.found.source;
	return d;
}

void gone_answer(struct gateway *g, struct client *client, uint32_t call, const char *message,
	const struct uuid *request, uint8_t state, uint8_t source)
{
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m, d;

	wire_pack_array(b, 4);
	wire_pack_u64(b, WIRE_REPLY);
	wire_pack_u64(b, call);
	wire_map_open(&m, b);
	wire_map_strz(&m, "code", wire_code_name(WIRE_GONE));
	wire_map_strz(&m, "message", message);
	wire_map_key(&m, "data");
	wire_map_open(&d, b);
	if (request)
		item_put_id(&d, "request", ID_REQUEST, request);
	wire_map_strz(&d, "state", request_state_name(state));
	wire_map_strz(&d, "source", source_name(source));
	wire_close(&d);
	wire_close(&m);
	wire_pack_nil(b);
	stage_end(g, client, true);
}

/* The history is not gone through for what can't be part of an id. */
static bool may_be_part(struct bytes part)
{
	const char *s = part.data;
	size_t at = part.len >= 4 && memcmp(s, "req_", 4) == 0 ? 4 : 0;

	if (part.len < 4)
		return false;
	for (; at < part.len; at++)
		if (!strchr("0123456789abcdef-", s[at]) || !s[at])
			return false;
	return true;
}

bool ended_answer(struct gateway *g, struct client *client, uint32_t call, struct bytes id)
{
	struct search s = { .g = g, .client = client, .part = id };

	if (id_parse(ID_REQUEST, id, &s.id) < 0 && !may_be_part(id))
		return false;
	if (!search(&s)) {
		if (!s.many)
			return false;
		answer_error(g, client, call, WIRE_NOT_FOUND,
			"no live item has that id, and more than one that has ended", NULL, none);
		return true;
	}
	gone_answer(g, client, call, "the request has ended", &s.found.id, s.found.state,
		s.found.source);
	g->n_commands++;
	return true;
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
	g->ending[g->n_ending++] = ended_of(row);
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
