/* SPDX-License-Identifier: MIT */
/* The batch: what is written, what is sent after it, and what happens when it fails. */
#include "broker/io/gateway_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STAGE_KEEP (256u << 10)
static const struct bytes none;

/* ---- messages ---- */

struct wire_buffer *stage_begin(struct gateway *g)
{
	struct staged *items = grow(g->staged, g->n_staged, &g->staged_size, sizeof(*items));

	if (!items) {
		g->stage.error = -ENOMEM;
	} else {
		g->staged = items;
		g->staged[g->n_staged] = (struct staged){ .at = g->stage.len };
	}
	return &g->stage;
}

void stage_end(struct gateway *g, struct client *client, bool answer)
{
	struct staged *s;

	if (g->stage.error) /* the batch will fail on it */
		return;
	s = &g->staged[g->n_staged];
	if (client->staged > LIMIT_OUTPUT) {
		/* what is staged ends it as a slow reader already: no memory for more */
		wire_buffer_rewind(&g->stage, (struct wire_mark){ .len = s->at });
		return;
	}
	g->n_staged++;
	s->client = client;
	s->len = g->stage.len - s->at;
	s->answer = answer;
	client->staged += s->len;
}

void batch_error(struct gateway *g, struct client *client, uint32_t call, enum wire_code code,
	const char *message, const char *key, struct bytes value)
{
	wire_pack_reply_error(stage_begin(g), call, code, message, key, value);
	stage_end(g, client, true);
	g->n_commands++;
}

void answer_error(struct gateway *g, struct client *client, uint32_t call, enum wire_code code,
	const char *message, const char *key, struct bytes value)
{
	size_t n = g->n_staged;

	batch_error(g, client, call, code, message, key, value);
	if (g->n_staged > n)
		g->staged[n].free_of_batch = true;
}

int answer_bad_value(struct gateway *g, struct client *client, uint32_t call, const char *param)
{
	answer_error(g, client, call, WIRE_INVALID, "not a value of this parameter", "param",
		bytes_of(param));
	return 1;
}

static void answered(struct client *client)
{
	if (client->outstanding)
		client->outstanding--;
	if (client->full && client->outstanding < LIMIT_OUTSTANDING) {
		client->full = false;
		client_go_on(client);
	}
}

static void stage_forget(struct gateway *g)
{
	for (size_t i = 0; i < g->n_staged; i++)
		g->staged[i].client->staged = 0;
}

/* Sends what is staged; of a batch that failed only what does not hang on it. */
static void stage_send(struct gateway *g, bool failed)
{
	for (size_t i = 0; i < g->n_staged; i++) {
		struct staged *s = &g->staged[i];
		struct bytes message = { g->stage.data + s->at, s->len };

		if (!s->client->peer || (failed && !s->free_of_batch))
			continue;
		if (s->client->staged == s->len)
			peer_send_now(s->client->peer, message);
		else
			peer_send(s->client->peer, message);
		if (s->answer)
			answered(s->client);
	}
	for (size_t i = 0; i < g->n_staged; i++) {
		struct client *c = g->staged[i].client;

		if (c->closing && c->peer)
			peer_finish(c->peer, "refused");
	}
	stage_forget(g);
}

static void batch_reset(struct gateway *g)
{
	wire_buffer_reset(&g->stage, STAGE_KEEP);
	for (size_t i = 0; i < g->n_senders; i++)
		str_unref(g->senders[i].reason);
	g->n_staged = g->n_senders = g->n_events = g->n_commands = g->n_ending = 0;
	g->in_transaction = false;
}

/* ---- records ---- */

int batch_add_sender(struct gateway *g, struct client *client, const struct command *c)
{
	struct sender *items = grow(g->senders, g->n_senders, &g->senders_size, sizeof(*items));

	if (!items)
		return -ENOMEM;
	g->senders = items;
	items = &g->senders[g->n_senders];
	*items = (struct sender){ .client = client, .call = c->call,
		.request = c->type == COMMAND_REQUEST };
	if (c->type == COMMAND_SUSPEND) {
		items->suspend = true;
		items->all = c->steer.all;
		items->session = c->steer.session;
		if (c->steer.reason.data)
			items->reason = str_new(c->steer.reason.data, c->steer.reason.len);
		if (c->steer.reason.data && !items->reason)
			return -ENOMEM;
	}
	g->n_senders++;
	return 0;
}

static struct bytes text_take(char **at, struct bytes text)
{
	struct bytes taken = { *at, text.len };

	if (!text.data)
		return text;
	memcpy(*at, text.data, text.len);
	*at += text.len;
	return taken;
}

/* As many as there are suspensions: what is suspended by hand already is so only once. */
static int late_keep(struct gateway *g, const struct history_row *row)
{
	struct late_row *l = malloc(sizeof(*l) + row->agent.len + row->workspace.len +
				    row->exe.len + row->reason.len + row->by.len +
				    row->detail.len + row->rule.len + row->floor.len);
	char *at;

	if (!l)
		return -ENOMEM;
	at = l->text;
	l->row = *row;
	l->row.agent = text_take(&at, row->agent);
	l->row.workspace = text_take(&at, row->workspace);
	l->row.exe = text_take(&at, row->exe);
	l->row.reason = text_take(&at, row->reason);
	l->row.by = text_take(&at, row->by);
	l->row.detail = text_take(&at, row->detail);
	l->row.rule = text_take(&at, row->rule);
	l->row.floor = text_take(&at, row->floor);
	STAILQ_INSERT_TAIL(&g->late, l, entry);
	return 0;
}

void late_drop(struct gateway *g, struct late_row *after)
{
	struct late_row *l;

	while ((l = after ? STAILQ_NEXT(after, entry) : STAILQ_FIRST(&g->late))) {
		if (after)
			STAILQ_REMOVE_AFTER(&g->late, after, entry);
		else
			STAILQ_REMOVE_HEAD(&g->late, entry);
		free(l);
	}
}

/* What could not be recorded while the store failed. */
static int lost_write(struct gateway *g)
{
	const struct late_row *r;
	int err = 0;

	STAILQ_FOREACH(r, &g->late, entry)
		if (err == 0)
			err = journal_put(g->journal, JOURNAL_HISTORY, &r->row);
	for (size_t i = 0; i < g->n_lost && err == 0; i++) {
		const struct lost_denial *l = &g->lost[i];
		struct history_row row = { .at = l->at, .event = HISTORY_DECISION, .uid = l->uid,
			.pid = l->pid, .session = l->session, .request = l->request,
			.tool = bytes_of(l->tool), .verdict = VERDICT_DENY,
			.source = SOURCE_BROKER, .state = REQUEST_DENIED, .mode = l->mode };

		err = journal_put(g->journal, JOURNAL_HISTORY, &row);
	}
	if (err == 0 && g->lost_more) {
		struct history_row row = { .at = gateway_now(g).wall,
			.event = HISTORY_LOST_DENIALS, .count = g->lost_more };

		err = journal_put(g->journal, JOURNAL_HISTORY, &row);
	}
	return err;
}

static int transaction_begin(struct gateway *g)
{
	int err;

	if (g->in_transaction)
		return 0;
	if (g->failing && gateway_now(g).mono < g->retry_at)
		return g->store_error;
	err = journal_begin(g->journal);
	if (err == 0) {
		g->in_transaction = true;
		err = lost_write(g);
	}
	if (err == 0 && g->resync)
		err = resync_write(g);
	return err;
}

int batch_store(struct gateway *g, enum journal_op op, const void *arg)
{
	int err;

	if (g->unrecorded)
		return op == JOURNAL_HISTORY ? late_keep(g, arg) : 0;
	err = transaction_begin(g);
	if (err == 0)
		err = journal_put(g->journal, op, arg);
	if (err < 0)
		g->store_error = err;
	return err;
}

static void store_recovered(struct gateway *g)
{
	if (g->failing)
		log_notice(g->log, "the store works again");
	g->failing = g->resync = false;
	g->store_error = 0;
	g->n_lost = 0;
	g->lost_more = 0;
	late_drop(g, NULL);
}

void batch_catch_up(struct gateway *g)
{
	int err;

	log_notice(g->log, "the store works again");
	g->failing = false;
	g->store_error = 0;
	if (!g->n_lost && !g->lost_more && !g->resync)
		return;
	err = transaction_begin(g);
	if (err < 0) {
		g->store_error = err;
		batch_fail(g, err);
	}
}

void batch_commit(struct gateway *g)
{
	if (!g->n_commands && !g->n_staged && !g->in_transaction)
		return;
	if (g->stage.error) {
		batch_fail(g, g->stage.error);
		return;
	}
	if (g->in_transaction) {
		int err = journal_commit(g->journal);

		if (err < 0) {
			g->store_error = err;
			batch_fail(g, err);
			return;
		}
		store_recovered(g);
		g->commits++;
	}
	engine_commit(&g->engine);
	standing_commit(g);
	endings_commit(g);
	subject_apply(g); /* they stand still before it is told */
	stage_send(g, false);
	for (size_t i = 0; i < g->n_events; i++) {
		struct client *c = g->events[i].client;

		if (!c)
			continue;
		c->forgotten = true; /* peers_reap frees it with its peer */
		if (!c->peer)
			client_gone(g, c);
	}
	batch_reset(g);
}

/* ---- failure ---- */

static void lost_note(void *arg, const struct request *q)
{
	const struct session *s = request_session(q);
	struct gateway *g = arg;
	struct lost_denial *l;

	if (!g->lost)
		g->lost = calloc(LIMIT_LOST_DENIALS, sizeof(*g->lost));
	if (!g->lost || g->n_lost == LIMIT_LOST_DENIALS) {
		g->lost_more++;
		return;
	}
	l = &g->lost[g->n_lost++];
	*l = (struct lost_denial){ .at = gateway_now(g).wall, .uid = s->s.r.uid,
		.pid = s->s.r.subject.pid, .session = s->s.r.id, .request = q->s.r.id,
		.mode = (uint8_t)session_mode(s) };
	memcpy(l->tool, str_text(q->s.r.tool),
		q->s.r.tool->len < sizeof(l->tool) ? q->s.r.tool->len : sizeof(l->tool) - 1);
}

static void deny_uncommitted(struct gateway *g, const struct sender *s, const char *reason)
{
	struct wire_buffer *b = stage_begin(g);
	struct wire_open m;

	wire_pack_reply_ok(b, s->call);
	wire_map_open(&m, b);
	wire_map_nil(&m, "request");
	wire_map_strz(&m, "verdict", verdict_name(VERDICT_DENY));
	wire_map_strz(&m, "source", source_name(SOURCE_BROKER));
	wire_map_strz(&m, "scope", scope_name(SCOPE_ONCE));
	wire_map_strz(&m, "step", step_name(STEP_NONE));
	wire_map_strz(&m, "state", request_state_name(REQUEST_DENIED));
	wire_map_strz(&m, "reason", reason);
	wire_map_strz(&m, "message",
		denial_message(SOURCE_BROKER, STEP_NONE, REQUEST_DENIED));
	wire_close(&m);
	stage_end(g, s->client, true);
}

static const char *store_reason(int error)
{
	switch (error) {
	case -ENOSPC: return "the broker's store is full";
	case -EROFS:
	case -EACCES: return "the broker's store can't be written";
	case -EBUSY: return "the broker's store is locked by another process";
	case -EUCLEAN: return "the broker's store is corrupt";
	case -ESTALE:
		return "another file is in the place of the broker's store: it is read when "
		       "the broker starts again";
	case -ENOMEM: return "the broker is out of memory";
	default: return "the broker's store fails";
	}
}

/* The switch works though the store does not: applied, told, and recorded when it works again. */
static void suspend_unrecorded(struct gateway *g, const struct sender *s)
{
	struct command c = { .type = COMMAND_SUSPEND, .call = s->call,
		.frontend = s->client->frontend, .by = bytes_of(s->client->name) };
	struct late_row *last = STAILQ_LAST(&g->late, late_row, entry);
	const struct effects *out;
	int err;

	c.seed = gateway_seed(g);
	c.steer.all = s->all;
	c.steer.session = s->session;
	c.steer.reason = str_bytes(s->reason);
	g->unrecorded = true;
	err = engine_step(&g->engine, gateway_now(g), &c, &out);
	if (err == 0)
		err = effects_take(g, c.by, out);
	g->unrecorded = false;
	if (err < 0) {
		engine_rollback(&g->engine);
		late_drop(g, last);
		log_error(g->log, "a suspension failed: %s", strerror(-err));
		return;
	}
	engine_commit(&g->engine);
	endings_commit(g);
	enforce_apply(g);
	g->resync = true;
}

void batch_fail(struct gateway *g, int error)
{
	struct instant now = gateway_clock(); /* the store may have taken its time */
	bool store = g->store_error != 0;
	size_t n_senders = g->n_senders, n_events = g->n_events;
	struct sender *senders = g->senders;

	if (!g->failing || !store)
		failure_tell(g, error, store_reason(error), store);
	engine_each_fresh_request(&g->engine, lost_note, g);
	journal_rollback(g->journal);
	engine_rollback(&g->engine);
	standing_rollback(g);
	if (store) {
		/* what is put off until then does not put it off further */
		if (!g->failing || now.mono >= g->retry_at)
			g->retry_at = now.mono + (int64_t)TIME_STORE_RETRY_MS * 1000;
		g->failing = true;
	}
	/* nothing of it is sent but that it failed, and what was wrong before it began */
	stage_send(g, true);
	g->senders = NULL;
	g->n_senders = g->senders_size = 0;
	subject_forget(g);
	for (size_t i = 0; i < n_events; i++)
		gateway_event(g, g->events[i].type, g->events[i].client, &g->events[i].process);
	batch_reset(g);
	for (size_t i = 0; i < n_senders; i++) {
		if (senders[i].suspend && store)
			suspend_unrecorded(g, &senders[i]);
		else if (senders[i].request)
			deny_uncommitted(g, &senders[i], store_reason(error));
		else
			batch_error(g, senders[i].client, senders[i].call, WIRE_STORE,
				store_reason(error), NULL, none);
	}
	for (size_t i = 0; i < n_senders; i++)
		str_unref(senders[i].reason);
	free(senders);
	if (g->stage.error) {
		log_error(g->log, "out of memory: %zu callers are not answered", n_senders);
		stage_forget(g);
	} else {
		stage_send(g, false);
	}
	batch_reset(g);
}
