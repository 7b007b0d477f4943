/* SPDX-License-Identifier: MIT */
#ifndef STORE_MEMORY_PRIVATE_H
#define STORE_MEMORY_PRIVATE_H

#include "broker/store/chain.h"
#include "broker/store/journal_private.h"
#include "broker/store/record.h"

#include <uthash.h>

struct entity {
	union record record;
	struct uuid id;
	uint64_t order; /* of its first writing */
	uint64_t begun; /* the history's head before that transaction */
	UT_hash_handle hh;
};

/* A row and, behind it, its strings. */
struct kept_row {
	struct history_row row;
	size_t size;
	char text[];
};

/* How an entity was before an op of the present transaction; entity NULL: it was not there. */
struct undo {
	struct entity *entity;
	struct uuid id;
	enum record_kind kind;
};

struct counters {
	struct chain_link head;
	struct journal_state state;
	uint64_t order;
	uint64_t bytes; /* of the rows */
};

struct memory {
	struct journal base;
	struct entity *entities[RECORD_N];
	struct kept_row **rows; /* those after the anchor */
	size_t n_rows, cap_rows;
	struct undo *undo;
	size_t n_undo, cap_undo;
	struct chain_anchor anchor;
	struct counters now, saved;
	int fail;
};

static inline struct memory *memory_of(struct journal *j)
{
	return (struct memory *)j;
}

/* Room for one more element. 0 or -ENOMEM. */
int memory_grow(void **array, size_t *cap, size_t used, size_t size);
struct entity *memory_entity(struct memory *m, enum record_kind kind, const struct uuid *id);
static inline bool entity_live_turn(const struct entity *e)
{
	return e && e->record.turn.state != TURN_ENDED;
}

int memory_history_put(struct memory *m, const struct history_row *given);
/* Takes back the rows after a seq. */
void memory_history_undo(struct memory *m, uint64_t seq);
int memory_load_decisions(struct memory *m, const struct journal_loader *l, void *arg);
int memory_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached);
int memory_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out);
int memory_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit);

#endif
