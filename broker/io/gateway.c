/* SPDX-License-Identifier: MIT */
#include "broker/io/gateway_private.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define PRUNE_ROWS 1000
#define FRONTENDS_FREE 64 /* as many as are accepted in one loop turn */
#define HELD_MANY  1024 /* connections and requests that are worth a look at the heap */

static int64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct instant gateway_clock(void)
{
	return (struct instant){ clock_us(CLOCK_MONOTONIC), clock_us(CLOCK_REALTIME) };
}

struct instant gateway_now(struct gateway *g)
{
	if (!g->now.mono)
		g->now = gateway_clock();
	return g->now;
}

struct uuid gateway_seed(struct gateway *g)
{
	const uint8_t *r;

	if (g->random_left < 10) {
		/* after boot the pool never blocks; should it fail, ids still count up */
		if (getrandom(g->random, sizeof(g->random), 0) == (ssize_t)sizeof(g->random))
			g->random_left = sizeof(g->random);
		else
			return uuid_next(&g->engine.newest);
	}
	g->random_left -= 10;
	r = g->random + g->random_left;
	return uuid_make((uint64_t)clock_us(CLOCK_REALTIME) / 1000, r);
}

void *grow(void *items, size_t n, size_t *size, size_t item)
{
	size_t more = *size ? *size * 2 : 32;
	void *p;

	if (n < *size)
		return items;
	p = reallocarray(items, more, item);
	if (p)
		*size = more;
	return p;
}

/* ---- commands ---- */

/* A batch that is large enough goes out: what waits in it is bounded, whoever asks for it. */
static void batch_bound(struct gateway *g)
{
	if (g->n_commands >= LIMIT_BATCH || g->stage.len > LIMIT_OUTPUT)
		batch_commit(g);
}

void gateway_step(struct gateway *g, struct client *client, struct command *c)
{
	const struct effects *out;
	bool sender = client && c->type != COMMAND_LINK_GONE && c->type != COMMAND_FRONTEND_GONE;
	int err = 0;

	c->seed = gateway_seed(g);
	if (sender) {
		c->link = client->link;
		c->frontend = client->frontend;
		err = batch_add_sender(g, client, c);
	}
	if (err == 0)
		err = engine_step(&g->engine, gateway_now(g), c, &out);
	if (err == 0)
		err = effects_take(g, c->by, out);
	g->n_commands++;
	if (err < 0)
		batch_fail(g, err);
	else
		batch_bound(g);
}

static void event_step(struct gateway *g, const struct kept_event *e)
{
	struct command c = { .type = e->type };

	if (e->client) {
		c.link = e->client->link;
		c.frontend = e->client->frontend;
	}
	if (e->type == COMMAND_SUBJECT_DIED)
		c.died = e->process;
	gateway_step(g, e->client, &c);
}

void gateway_event(struct gateway *g, enum command_type type, struct client *client,
	const struct process_id *process)
{
	struct kept_event e = { .type = type, .client = client }, *items;

	if (process)
		e.process = *process;
	items = grow(g->kept, g->n_kept, &g->kept_size, sizeof(*items));
	if (!items) {
		/* a leak of one entity beats a wrong decision */
		log_error(g->log, "out of memory: an event is lost");
		return;
	}
	g->kept = items;
	g->kept[g->n_kept++] = e;
}

void events_run(struct gateway *g)
{
	size_t n = g->n_kept;
	struct kept_event *events = g->kept;

	if (!n || (g->failing && gateway_now(g).mono < g->retry_at))
		return;
	g->kept = NULL;
	g->n_kept = g->kept_size = 0;
	for (size_t i = 0; i < n; i++) {
		struct kept_event *items =
			grow(g->events, g->n_events, &g->events_size, sizeof(*items));

		if (!items) {
			gateway_event(g, events[i].type, events[i].client, &events[i].process);
			continue;
		}
		g->events = items;
		g->events[g->n_events++] = events[i];
		event_step(g, &events[i]);
		/* one that can't be recorded does not hold back those that need not be */
		if (g->failing)
			batch_commit(g);
	}
	free(events);
}

/* ---- connections ---- */

static int on_frame(void *arg, struct peer *p, struct bytes raw)
{
	struct gateway *g = arg;
	struct client *client = p->data;
	struct wire_frame f;
	int err = wire_frame_decode(raw, &f);

	if (err < 0)
		return err;
	if (err > 0 && f.type == WIRE_CALL) { /* well formed, but wrong in its content */
		client->outstanding++;
		answer_error(g, client, f.id, (enum wire_code)err,
			"params is one map with string keys", "param", bytes_of("params"));
		batch_bound(g);
		return 0;
	}
	if (f.type == WIRE_NOTIFY) /* none is known; they count, and can't be answered */
		return account_charge_rate(p->account, gateway_now(g).mono) ? -EDQUOT : 0;
	if (f.type != WIRE_CALL)
		return -EBADMSG;
	client->outstanding++;
	if (client->frontend)
		err = frontend_frame(g, client, &f, raw);
	else
		err = agent_frame(g, client, &f, raw);
	if (err < 0)
		return err;
	/* only the hello of an agent takes one */
	peer_receive_fds(p, !client->frontend && !client->link->s.session);
	peer_brief(p, client->frontend && !client->frontend->s.greeted);
	batch_bound(g);
	if (client->outstanding >= LIMIT_OUTSTANDING && !client->full) {
		client->full = true;
		peer_pause(p);
		return 1;
	}
	return client->waiting ? 1 : 0;
}

static void on_closed(void *arg, struct peer *p, const char *reason)
{
	struct gateway *g = arg;
	struct client *client = p->data;

	if (!client)
		return;
	log_debug(g->log, "connection of pid %u closed: %s", p->process ? p->process->id.pid : 0,
		reason);
	client->closed = true;
	pending_call_free(client->waiting);
	gateway_event(g, client->frontend ? COMMAND_FRONTEND_GONE : COMMAND_LINK_GONE, client,
		NULL);
}

const struct peer_ops gateway_peer_ops = { on_frame, on_closed };

void client_gone(struct gateway *g, struct client *client)
{
	struct client_list *list = client->frontend ? &g->frontends : &g->agents;

	TAILQ_REMOVE(list, client, entry);
	if (client->frontend) {
		free(client->name);
	} else {
		process_unref(client->subject);
		free(client->alias);
	}
	engine_link_close(&g->engine, client->link);
	engine_frontend_close(&g->engine, client->frontend);
	free(client);
}

void peers_reap(struct gateway *g)
{
	struct peer *p;

	while ((p = peers_gone(g->peers))) {
		struct client *client = p->data;

		p->data = NULL;
		if (client)
			client->peer = NULL;
		peer_free(p);
		if (client && client->forgotten)
			client_gone(g, client);
	}
}

static bool is_subject(void *arg, const struct process_id *id)
{
	struct gateway *g = arg;

	return engine_is_subject(&g->engine, id);
}

bool frontend_refused(struct gateway *g, struct client *client, uint32_t call)
{
	bool anew = client->judged != g->subjects;

	if (!client->refused) {
		if (!client->peer->process ||
			(anew && process_is_or_descends(
					 client->peer->process, is_subject, g) != 0) ||
			enforce_refuses(g, client->peer->process, anew))
			client->refused = true;
		client->judged = g->subjects;
	}
	if (!client->refused)
		return false;
	answer_error(g, client, call, WIRE_FORBIDDEN,
		"this process belongs to an agent's session: agents do not answer requests; use a "
		"terminal outside of the agent",
		NULL, (struct bytes){ NULL, 0 });
	client->closing = true;
	return true;
}

/*
 * Agents can't say hello here, but could take every place. When few are left, whoever
 * has been silent for longest gives up its own; it is free after the loop turn.
 */
static void frontends_make_room(struct gateway *g)
{
	struct client *c;

	if (g->engine.r.n_frontends + FRONTENDS_FREE < LIMIT_FRONTENDS)
		return;
	TAILQ_FOREACH(c, &g->frontends, entry)
		if (c->peer && !c->closed && !c->frontend->s.greeted) {
			peer_goodbye(c->peer, "did not say hello");
			return;
		}
}

void gateway_accepted(void *gateway, enum listener_kind kind, int fd,
	const struct process_cred *cred, struct process *process)
{
	struct gateway *g = gateway;
	struct client *client = calloc(1, sizeof(*client));
	struct account *account = NULL;
	int err = client ? account_get(g->accounts[kind], cred->uid, &account) : -ENOMEM;

	if (err < 0)
		goto fail;
	if (kind == LISTENER_FRONTEND) {
		frontends_make_room(g);
		client->frontend = engine_frontend_open(&g->engine, cred->uid, cred->uid == 0,
			client);
		client->judged = g->subjects - 1;
		if (process && (process_record(process) < 0 ||
				       enforce_refuses(g, process, false)))
			client->refused = true;
	} else {
		client->link = engine_link_open(&g->engine, cred->uid, client);
	}
	err = client->frontend || client->link ? 0 : -ENOBUFS;
	if (err == 0)
		err = peer_new(g->peers, &client->peer, fd, (uint8_t)kind, cred->uid, process,
			account);
	if (err != 0)
		goto fail;
	client->peer->data = client;
	peer_brief(client->peer, kind == LISTENER_FRONTEND);
	if (client->frontend)
		client->serial = ++g->serial;
	TAILQ_INSERT_TAIL(client->frontend ? &g->frontends : &g->agents, client, entry);
	account_unref(account);
	process_unref(process);
	return;
fail:
	refusal_tell(g, kind, cred->uid, err);
	if (client) {
		engine_link_close(&g->engine, client->link);
		engine_frontend_close(&g->engine, client->frontend);
	}
	free(client);
	account_unref(account);
	process_unref(process);
	peers_turn_away(g->peers, fd);
}

/* ---- the loop ---- */

void gateway_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg; /* it only ends the wait; gateway_run_once does the rest */
}

static void earlier(int64_t *at, int64_t other)
{
	if (other && other != INT64_MAX && other < *at)
		*at = other;
}

static void timer_arm(struct gateway *g, int64_t now)
{
	int64_t at = now + (int64_t)TIME_ALIVE_MS * 1000;
	struct timeval tv;

	earlier(&at, resolver_next(g->resolver));
	if (g->failing)
		earlier(&at, g->retry_at);
	else
		earlier(&at, engine_next_deadline(&g->engine));
	earlier(&at, g->alive_at);
	earlier(&at, enforce_next(&g->enforcements));
	at = at > now ? at - now : 0;
	tv = (struct timeval){ at / 1000000, at % 1000000 };
	evtimer_add(g->timer, &tv);
}

/* Time that passed while the machine slept gives prompts at least their minimum. */
static void sleep_check(struct gateway *g, struct instant now)
{
	int64_t slept = clock_us(CLOCK_BOOTTIME) - now.mono;

	if (slept - g->slept > 1000000)
		gateway_event(g, COMMAND_SLEPT, NULL, NULL);
	g->slept = slept;
}

/* What a burst of clients or requests took goes back to the system. */
static void memory_return(struct gateway *g)
{
	size_t held = g->engine.r.n_requests + peers_count(g->peers);

	if (held > g->held_most) {
		g->held_most = held;
	} else if (g->held_most > HELD_MANY && held < g->held_most / 2) {
		malloc_trim(0);
		g->held_most = held;
	}
}

static void times_run(struct gateway *g)
{
	struct instant now = gateway_now(g);
	int64_t due = engine_next_deadline(&g->engine);
	int err;

	memory_return(g);
	sleep_check(g, now);
	resolver_expire(g->resolver, now.mono);
	enforce_run(&g->enforcements, now.mono);
	if (due && due <= now.mono && !(g->failing && now.mono < g->retry_at)) {
		struct command c = { .type = COMMAND_TICK };

		gateway_step(g, NULL, &c);
	}
	if (now.mono >= g->alive_at) {
		g->alive_at = now.mono + (int64_t)TIME_ALIVE_MS * 1000;
		floods_tell(g, now.mono);
		/* deadlines stand still while the broker is down: since when, this tells */
		if ((g->engine.r.n_pending || g->engine.r.n_turns) &&
			batch_store(g, JOURNAL_ALIVE, &now.wall) < 0)
			batch_fail(g, g->store_error);
		g->prune = g->retention.max_age_us || g->retention.max_bytes;
		if (!g->failing && (err = standing_tick(g, false)) < 0)
			batch_fail(g, err);
		projects_tick(g);
	}
	if (g->failing && now.mono >= g->retry_at) {
		err = journal_probe(g->journal);
		if (err == 0)
			batch_catch_up(g);
		else
			g->retry_at = now.mono + (int64_t)TIME_STORE_RETRY_MS * 1000;
	}
}

void gateway_clock_init(struct gateway *g)
{
	g->slept = clock_us(CLOCK_BOOTTIME) - clock_us(CLOCK_MONOTONIC);
}

/* The oldest history goes in small portions, between batches. */
static void history_prune(struct gateway *g)
{
	int n;

	if (!g->prune || g->failing)
		return;
	n = journal_prune(g->journal, &g->retention, gateway_now(g).wall, PRUNE_ROWS);
	if (n < 0)
		log_warning(g->log, "old history can't be removed: %s", strerror(-n));
	g->prune = n == PRUNE_ROWS;
}

int gateway_run_once(struct gateway *g)
{
	bool busy;

	g->now.mono = 0;
	g->query_until = 0;
	peers_turn(g->peers);
	busy = peers_pending(g->peers) || (g->n_kept && !g->failing) || g->n_commands ||
	       (g->prune && !g->failing);
	timer_arm(g, gateway_clock().mono);
	g->now.mono = 0;
	if (event_base_loop(g->base, EVLOOP_ONCE | (busy ? EVLOOP_NONBLOCK : 0)) < 0)
		return -EIO;
	times_run(g);
	events_run(g);
	batch_commit(g);
	peers_flush(g->peers);
	peers_reap(g);
	history_prune(g);
	return 0;
}
