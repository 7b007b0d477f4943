/* SPDX-License-Identifier: MIT */
/* The gateway's beginning, its configuration and its end. */
#include "broker/io/gateway_private.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void on_died(void *arg, struct process *p)
{
	struct gateway *g = arg;

	enforce_launcher_died(&g->enforcements, &p->id);
	gateway_event(g, COMMAND_SUBJECT_DIED, NULL, &p->id);
}

static void names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static int names_copy(const struct config *c, char ***out, size_t *n)
{
	*n = c->n_required_policies < LIMIT_POLICIES ? c->n_required_policies : LIMIT_POLICIES;
	*out = calloc(*n + 1, sizeof(**out));
	for (size_t i = 0; *out && i < *n; i++)
		if (!((*out)[i] = strdup(c->required_policies[i]))) {
			names_free(*out, i);
			*out = NULL;
		}
	return *out ? 0 : -ENOMEM;
}

static void config_map(const struct gateway *g, const struct config *c, struct engine_config *e)
{
	bool alone = c->headless && !c->deadline_set;

	memset(e, 0, sizeof(*e));
	e->when_alone_deny = c->when_alone == CONFIG_DENY;
	e->headless = c->headless;
	e->deadline = c->deadline_us;
	if (!c->deadline_set && (alone || !g->user_mode))
		e->deadline = (int64_t)TIME_SYSTEM_DEADLINE_MS * 1000;
	e->policy_time = c->policy_timeout_us;
	e->grace = c->grace_us;
	e->default_mode = c->default_mode < MODE_NORMAL ? c->default_mode : MODE_NORMAL;
	e->repeat_limit = c->repeat_limit;
	e->max_sessions = c->limits.sessions;
	e->max_pending = c->limits.pending;
	e->max_pending_bytes = c->limits.pending_bytes;
	e->n_required = (unsigned)g->n_required;
	for (size_t i = 0; i < g->n_required; i++)
		e->required[i] = g->required[i];
	e->budgets = c->budgets;
	e->n_budgets = c->n_budgets;
	e->weights = c->weights;
	e->wall = (int64_t)TIME_BUDGET_WALL_MS * 1000;
}

int gateway_configure(struct gateway *g, const struct config *config)
{
	struct engine_config e;
	char **names, **before = g->required;
	size_t n, n_before = g->n_required;
	struct rules_fresh fresh;
	int err;

	/* what is being decided is decided by the old ones */
	batch_commit(g);
	err = rules_read(g, config, &fresh);
	if (err < 0)
		return err;
	err = names_copy(config, &names, &n);
	if (err < 0) {
		rules_drop(&fresh);
		return err;
	}
	rules_swap(g, &fresh);
	g->required = names;
	g->n_required = n;
	config_map(g, config, &e);
	g->may_stop = config->enforce_stop;
	for (int kind = 0; kind < LISTENER_N; kind++)
		accounts_set_limits(g->accounts[kind], &config->limits);
	g->retention = (struct retention){ config->store_age_us, config->store_size };
	engine_configure(&g->engine, &e);
	/* once is enough, however often it is read while the store fails */
	for (n = 0; n < g->n_kept && g->kept[n].type != COMMAND_CONFIGURED; n++)
		;
	if (n == g->n_kept)
		gateway_event(g, COMMAND_CONFIGURED, NULL, NULL);
	events_run(g);
	names_free(before, n_before);
	return 0;
}

static int epoch_make(struct gateway *g)
{
	uint8_t r[16];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	for (size_t i = 0; i < sizeof(r); i++)
		snprintf(g->epoch + 2 * i, 3, "%02x", r[i]);
	return 0;
}

/* Twenty bits of it, which no start time reaches: 2^40 ticks are 348 years. */
static int boot_read(struct gateway *g)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	unsigned bits;
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, "%5x", &bits);
	fclose(f);
	g->boot = (uint64_t)bits << 40;
	return n == 1 ? 0 : -EBADMSG;
}

int gateway_new(struct gateway **out, const struct gateway_options *o)
{
	struct gateway *g = calloc(1, sizeof(*g));
	struct engine_config e;
	int err = -ENOMEM;

	if (!g)
		return -ENOMEM;
	g->base = o->base;
	g->journal = o->journal;
	g->log = o->log;
	g->store_name = o->store_name;
	g->admin_rules = o->admin_rules;
	g->user_rules = o->user_rules;
	g->user_mode = o->user_mode;
	g->reload = o->reload;
	g->reload_arg = o->reload_arg;
	g->retention = (struct retention){ o->config->store_age_us, o->config->store_size };
	TAILQ_INIT(&g->agents);
	TAILQ_INIT(&g->frontends);
	STAILQ_INIT(&g->late);
	TAILQ_INIT(&g->standing);
	RB_INIT(&g->subjects_held);
	enforce_init(&g->enforcements, g->log, NULL);
	RB_INIT(&g->projects);
	RB_INIT(&g->trusts);
	wire_buffer_init(&g->stage, SIZE_MAX / 2);
	g->started = gateway_now(g).mono;
	g->alive_at = g->started;
	g->timer = evtimer_new(g->base, gateway_timer, g);
	if (!g->timer)
		goto fail;
	err = names_copy(o->config, &g->required, &g->n_required);
	if (err == 0) {
		config_map(g, o->config, &e);
		g->may_stop = o->config->enforce_stop;
		err = engine_init(&g->engine, &e);
		g->engine.judge = &g->judge;
	}
	if (err == 0)
		err = judge_init(&g->judge, g->user_mode ? FLOOR_USER : FLOOR_ADMIN);
	g->judge.unknown = project_unknown;
	g->judge.unknown_arg = g;
	if (err == 0)
		err = epoch_make(g);
	if (err == 0)
		err = boot_read(g);
	for (int kind = 0; kind < LISTENER_N && err == 0; kind++)
		err = accounts_new(&g->accounts[kind], &o->config->limits);
	if (err == 0)
		err = process_table_new(&g->processes, g->base, 0, on_died, g);
	if (err == 0)
		err = process_self(g->processes, &g->self);
	g->enforcements.self = g->self;
	if (err == 0)
		err = resolver_new(&g->resolver, g->base, NULL);
	if (err == 0)
		err = peers_new(&g->peers, g->base, &gateway_peer_ops, g, LIMIT_OUTPUT);
	if (err < 0)
		goto fail;
	gateway_clock_init(g);
	*out = g;
	return 0;
fail:
	gateway_free(g);
	return err;
}

void gateway_free(struct gateway *g)
{
	if (!g)
		return;
	assert(TAILQ_EMPTY(&g->agents) && TAILQ_EMPTY(&g->frontends));
	subject_drop_all(g);
	resolver_free(g->resolver);
	peers_free(g->peers);
	process_unref(g->self);
	process_table_free(g->processes);
	for (int kind = 0; kind < LISTENER_N; kind++)
		accounts_free(g->accounts[kind]);
	engine_fini(&g->engine);
	standing_free(g);
	projects_free(g);
	trusts_free(g);
	judge_fini(&g->judge);
	if (g->timer)
		event_free(g->timer);
	wire_buffer_free(&g->stage);
	names_free(g->required, g->n_required);
	free(g->spare);
	free(g->floor_file);
	for (size_t i = 0; i < g->n_homes; i++)
		free(g->homes[i].path);
	free(g->homes);
	free(g->staged);
	free(g->senders);
	free(g->events);
	free(g->kept);
	free(g->lost);
	free(g->ended);
	free(g->ending);
	late_drop(g, NULL);
	free(g->changes);
	free(g->enforce_changes);
	free(g);
}

struct process_table *gateway_processes(struct gateway *g)
{
	return g->processes;
}

/* ---- loading ---- */

struct loading {
	struct gateway *g;
	struct instant now;
	struct journal_state state; /* set by the store before its first call */
};

static int load_session(void *arg, const struct session_record *r)
{
	struct loading *l = arg;
	struct session_record s = *r;

	session_stored(l->g, &s);
	return engine_restore_session(&l->g->engine, &s);
}

static int load_turn(void *arg, const struct turn_record *r)
{
	struct loading *l = arg;

	return engine_restore_turn(&l->g->engine, r);
}

/*
 * Whoever answers a pending request names its digest, and means what is shown beside it:
 * so the digest has to be that of the record, and the rest be found out from the input.
 */
static int load_pending(struct loading *l, const struct request_record *r,
	const struct facts_draft *draft, const struct facts *facts)
{
	struct request_path paths[LIMIT_PATHS];
	struct request_record shown = *r;
	int err = 0;

	if (memcmp(facts->digest, r->digest, sizeof(r->digest)) != 0)
		return -EUCLEAN;
	shown.command = NULL;
	if (facts->command.data) {
		shown.command = str_new(facts->command.data, facts->command.len);
		err = shown.command ? 0 : -ENOMEM;
	}
	shown.n_paths = 0;
	shown.paths = paths;
	for (unsigned i = 0; err == 0 && i < r->n_paths; i++) {
		paths[i] = r->paths[i];
		if (r->n_paths == draft->n_paths)
			paths[i].given = str_new(draft->paths[i].data, draft->paths[i].len);
		else
			str_ref(paths[i].given);
		err = paths[i].given ? 0 : -ENOMEM;
		shown.n_paths += err == 0;
	}
	if (err == 0)
		err = engine_restore_request(
			&l->g->engine, l->now, l->state.alive, &shown, facts);
	for (unsigned i = 0; i < shown.n_paths; i++)
		str_unref(paths[i].given);
	str_unref(shown.command);
	return err;
}

/* What the words of a command led to is not kept, and not looked up again. */
static bool unseen(const struct request_record *r, const struct facts *facts)
{
	bool all = !facts->command.data;

	for (unsigned i = 0; i < r->n_paths; i++)
		all = all && r->paths[i].resolved;
	return !all;
}

/* What a request's record does not hold is found out from it anew. */
static int load_request(void *arg, const struct request_record *r)
{
	struct loading *l = arg;
	struct session *s = session_find(&l->g->engine.r, &r->session);
	struct facts_draft draft;
	struct facts facts;
	struct facts_input in = { .tool = str_bytes(r->tool), .input = str_bytes(r->input),
		.type = r->type, .claimed_kind = r->kind, .claimed_mutating = r->mutating,
		.cwd = str_bytes(r->cwd),
		.workspace = s ? str_bytes(s->s.r.workspace) : (struct bytes){ NULL, 0 } };
	int err = facts_collect(NULL, &in, &draft);

	if (err < 0)
		return err;
	draft.kind = r->kind; /* as another version may have seen it */
	err = facts_finish(&draft, r->paths, r->n_paths, &facts);
	if (err == 0 && unseen(r, &facts))
		facts.flags |= FACT_UNSEEN;
	if (err == 0 && request_state_pending(r->state))
		err = load_pending(l, r, &draft, &facts);
	else if (err == 0)
		err = engine_restore_request(&l->g->engine, l->now, l->state.alive, r, &facts);
	facts_release(&draft);
	return err;
}

/*
 * By what a denied call counts as repeated, from what the history holds. Its paths are
 * not resolved again: one that is reached by a link is asked for once more.
 */
static int load_signature(const struct history_row *row, uint8_t signature[16])
{
	struct request_path paths[LIMIT_LOOKUPS];
	struct facts_draft draft;
	struct facts facts;
	struct facts_input in = { .tool = row->tool, .input = row->input, .type = row->type,
		.claimed_kind = row->kind, .cwd = row->cwd, .workspace = row->workspace };
	unsigned n = 0;
	int err = facts_collect(NULL, &in, &draft);

	if (err < 0)
		return err;
	for (size_t i = 0; err == 0 && i < draft.n_paths && n < LIMIT_LOOKUPS; i++) {
		paths[n] = (struct request_path){
			.given = str_new(draft.paths[i].data, draft.paths[i].len) };
		err = paths[n].given ? 0 : -ENOMEM;
		n += err == 0;
	}
	if (err == 0)
		err = facts_finish(&draft, paths, n, &facts);
	if (err == 0)
		memcpy(signature, facts.signature, 16);
	for (unsigned i = 0; i < n; i++)
		str_unref(paths[i].given);
	facts_release(&draft);
	return err;
}

static int load_decision(void *arg, const struct history_row *row)
{
	struct loading *l = arg;
	uint8_t hash[16], signature[16];
	int err = 0;

	facts_input_hash(row->input, hash);
	if (row->event == HISTORY_DECISION && row->state == REQUEST_DENIED)
		err = load_signature(row, signature);
	return err < 0 ? err
		       : engine_restore_decision(&l->g->engine, l->now, row, hash,
				 row->state == REQUEST_DENIED ? signature : NULL);
}

static int load_rule(void *arg, const struct rule_record *r)
{
	struct loading *l = arg;

	return standing_load(l->g, r);
}

static int load_trust(void *arg, const struct trust_record *r)
{
	struct loading *l = arg;

	return trust_load(l->g, r);
}

int gateway_load(struct gateway *g)
{
	static const struct journal_loader loader = { load_session, load_turn, load_request,
		load_decision, load_rule, load_trust };
	struct loading l = { .g = g, .now = gateway_now(g) };
	struct command c = { .type = COMMAND_RESTARTED };
	const struct effects *out;
	int err = journal_load(g->journal, &loader, &l, &l.state);

	if (err < 0) {
		engine_rollback(&g->engine);
		return err;
	}
	if (uuid_compare(&l.state.newest, &g->engine.newest) > 0)
		g->engine.newest = l.state.newest;
	if (l.state.rule_id > g->rule_id)
		g->rule_id = l.state.rule_id;
	engine_commit(&g->engine);
	c.alive = l.state.alive;
	c.seed = gateway_seed(g);
	/* not by gateway_step, which tells the sender of a failure, and here is none */
	err = engine_step(&g->engine, gateway_now(g), &c, &out);
	if (err == 0)
		err = effects_take(g, c.by, out);
	g->n_commands++;
	if (err == 0)
		err = standing_settle(g);
	if (err == 0)
		err = g->stage.error;
	if (err < 0)
		return err;
	batch_commit(g);
	return g->failing ? g->store_error : 0;
}
