/* SPDX-License-Identifier: MIT */
/*
 * A world around one engine for tests: connections with what each of them was
 * told, a store in memory, a clock that stands still, and a small language of
 * commands (script.c). After each step the promises of doc/states.md are checked
 * (invariant.c). Whatever breaks them prints the commands so far and aborts.
 */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include <stdio.h>

#include "broker/core/engine.h"

#define WORLD_ACTORS 12
#define WORLD_ITEMS  96
#define WORLD_SEEN   192
#define WORLD_TRACE  512

/* What a frontend was told of and has not been told the end of. */
struct view_item {
	struct uuid id;
	uint8_t type; /* enum entity_type */
	uint8_t state;
	bool attached;
};

struct actor {
	char name[8]; /* "": free */
	struct link *link;
	struct frontend *frontend;
	uint64_t seq;
	struct uuid cursor; /* of the last page */
	bool more, left;
	unsigned n_items;
	struct view_item items[WORLD_ITEMS];
};

/* A call that has not been answered. */
struct open_call {
	unsigned actor;
	uint32_t call;
	bool request;
};

/* What is known of a request from the records, for ever. */
struct seen_request {
	struct uuid id;
	char call[32];
	uint8_t state; /* the last one recorded */
	uint8_t verdict;
	bool check, edited;
};

/* What the world remembers; plain data, copied around a step that is undone. */
struct book {
	struct actor actors[WORLD_ACTORS];
	unsigned n_calls;
	struct open_call calls[WORLD_ITEMS];
	unsigned n_seen;
	struct seen_request seen[WORLD_SEEN];
	unsigned n_turns;
	struct uuid turns[WORLD_ITEMS]; /* in the order in which they were seen */
};

struct model_store;

struct world {
	struct engine e;
	struct engine_config config;
	struct judge judge; /* once a scenario wants the floor */
	char required[32];
	struct budget_rule budget; /* of the configuration */
	struct instant now;
	struct book book, spare;
	struct model_store *store;
	uint64_t seeds;
	uint32_t calls;
	bool rollback_each; /* each step is also undone and done again */
	bool starve_each;   /* and tried with every allocation failing */
	bool quiet;	    /* no invariants, for a replay */
	bool hold;	    /* steps are collected to a batch, for world_commit or _undo */
	unsigned long n_steps, n_rollbacks, n_starved;
	unsigned n_reviews; /* requests that were in review at the last restart */
	struct uuid reviews[WORLD_ITEMS];
	unsigned n_budgets; /* turns that were suspended then */
	struct uuid budgets[WORLD_ITEMS];
	char told[16384]; /* effects of the last step, as text */
	char *trace[WORLD_TRACE];
	unsigned n_trace;
};

void world_init(struct world *w);
void world_fini(struct world *w);
void world_fail(struct world *w, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* ---- world.c ---- */
struct actor *world_actor(struct world *w, const char *name); /* opens it where it is new */
struct uuid world_seed(struct world *w);
/* Runs a command: with what rollback_each and starve_each ask, then for good. */
void world_step(struct world *w, const struct command *c);
/* The same, but undone at the end; the promises are checked before that. */
void world_try(struct world *w, const struct command *c, void (*seen)(void *arg), void *arg);
/* Ends the batch that was held. */
void world_commit(struct world *w);
void world_undo(struct world *w, const struct book *before);
/* The broker dies and comes back after a while. */
void world_restart(struct world *w, int64_t down);
struct seen_request *world_seen(struct world *w, const char *call);
struct seen_request *world_seen_id(struct world *w, const struct uuid *id);
unsigned world_turn(struct world *w, const struct uuid *id);

/* ---- effects.c ---- */
/* Takes note of the effects of a step, and writes them to w->told. */
void world_take(struct world *w, const struct command *c, const struct effects *out);

/* ---- store.c ---- */
struct model_store *store_new(void);
void store_free(struct model_store *s);
/* An effect of a batch; it is applied by store_commit. */
void store_take(struct model_store *s, const struct engine *engine, const struct effect *e);
void store_commit(struct model_store *s);
void store_rollback(struct model_store *s);
/* What the store holds goes into a new engine. 0 or -ENOMEM. */
int store_restore(struct engine *e, struct instant now, struct model_store *s, int64_t alive);
/* Is what the engine holds stored, and nothing else? */
void store_compare(struct world *w, struct model_store *s);
unsigned long store_rows(const struct model_store *s, enum history_event event);

/* ---- print.c ---- */
/* Everything that the engine holds, in order of ids; what a rollback must restore. */
char *world_print(struct world *w);
/* The same without ids and absolute times: equal for states that behave alike. */
char *world_canon(struct world *w);

/* ---- invariant.c ---- */
void world_check(struct world *w);

/* ---- script.c ---- */
/* Stand for the hashes of the edge. */
void script_hash(struct bytes text, uint8_t *out, size_t n);
void script_signature(struct bytes tool, struct bytes input, uint8_t out[16]);
/* Does what a line says; false: it is no command of the engine. */
bool script_run(struct world *w, const char *line);
/* For a line that is a command of the engine: as world_try. */
void script_try(struct world *w, const char *line, void (*seen)(void *arg), void *arg);
/* ---- expect.c ---- */
/*
 * Runs a line; then each of the patterns, separated by ';', must stand in w->told
 * in this order, and those that begin with '!' nowhere.
 */
void script_expect(struct world *w, const char *line, const char *patterns);
/* Lines and patterns, pairs to NULL. */
void script_all(struct world *w, const char *const *lines);

#endif
