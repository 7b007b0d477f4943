/* SPDX-License-Identifier: MIT */
/*
 * The registry: every entity in its indexes, and the transaction of a batch.
 *
 * Change a state only after entity_touch. registry_rollback puts every state
 * back as it was when the batch began; registry_commit makes it final and frees
 * what was removed.
 */
#ifndef CORE_REGISTRY_H
#define CORE_REGISTRY_H

#include "broker/core/due.h"
#include "broker/core/entity.h"

RB_HEAD(entity_id_tree, entity);
RB_HEAD(session_key_tree, session);
RB_HEAD(session_subject_tree, session);
TAILQ_HEAD(frontend_list, frontend);

/* What a uid holds; made with its first session and kept. */
struct owner {
	RB_ENTRY(owner) by_uid;
	uint32_t uid;
	uint32_t sessions, pending; /* requests, and decisions that are kept */
	uint64_t pending_bytes;
	struct str *budget; /* as of the last session that had used nothing: shared by those
			     alike */
	struct str *home; /* folder of the uid, once one of its agents has said hello; or NULL */
};
RB_HEAD(owner_tree, owner);

struct undo_list {
	struct undo *first, **last;
};

struct str_list {
	struct str **items;
	size_t n, size;
};

/* -ENOMEM. */
int str_list_add(struct str_list *l, struct str *s);
/* Empty, and no larger than a usual batch wants it. */
void str_list_reset(struct str_list *l);
/* The same, with their references given back. */
void str_list_release(struct str_list *l);

struct registry {
	struct entity_id_tree ids;
	struct due_queue dues;
	struct session_key_tree keys;
	struct session_subject_tree subjects, retired; /* those of sessions that have ended */
	struct owner_tree owners;
	struct frontend_list frontends;
	struct undo_list undo;
	struct str_list unref_on_commit, unref_on_rollback;
	size_t n_sessions, n_turns, n_requests, n_pending, n_links, n_frontends;
	size_t n_held; /* requests and turns in memory: also those not in the indexes yet, or no
			  more */
};

void registry_init(struct registry *r);
/* Frees every entity that is left; links and frontends must have been closed. */
void registry_fini(struct registry *r);
/* Undoes the batch and frees every session, turn and request; connections are in no session
 * then. */
void registry_clear(struct registry *r);

/* New entities of the present batch: zeroed, not indexed. NULL without memory. */
struct session *session_new(struct registry *r, struct bytes key);
struct turn *turn_new(struct registry *r);
struct request *request_new(struct registry *r, struct bytes call);
/* Outside of transactions. */
struct link *link_new(struct registry *r, uint32_t uid, void *owner);
void link_free(struct registry *r, struct link *l); /* asserts that it is in no session */
struct frontend *frontend_new(struct registry *r, uint32_t uid, bool admin, void *owner);
void frontend_free(struct registry *r, struct frontend *f);

/* Saves the state before its first change in this batch. -ENOMEM. */
int entity_touch(struct registry *r, void *entity);
/* Puts the entity into the indexes that its state asks for; takes it out of all. */
int entity_index(struct registry *r, void *entity);
void entity_unindex(struct registry *r, void *entity);
/* Removed from the indexes now, freed at the commit. -ENOMEM. */
int entity_remove(struct registry *r, void *entity);
/* Replaces a string of a touched entity's state; takes over the caller's reference of s.
 * -ENOMEM (s is then released). */
int entity_set_str(struct registry *r, void *entity, struct str **member, struct str *s);
/* Was that string set in this batch? Then nothing before refers to it. */
bool entity_str_is_new(void *entity, struct str **member);
/* Changes the state of a touched request and what is counted by it. */
void request_set_state(struct registry *r, struct request *q, enum request_state state);
/* Call after any other change that counters or timers are derived from (waiter, recovered,
 * times). */
void request_reindex(struct registry *r, struct request *q);
/* The decision of a touched request, made where there is none. NULL without memory. */
struct decision *request_decide(struct request *q);
/* The paths of a touched request go at the commit. */
void request_drop_paths(struct request *q);
/* When the touched turn is due; 0: never. */
void turn_set_due(struct registry *r, struct turn *t, int64_t at);
/* For a rollback: what is derived of a request is taken back; and is derived again. */
void request_uncount(struct registry *r, struct request *q);
void request_recount(struct registry *r, struct request *q);

void registry_each_fresh_request(
	struct registry *r, void (*each)(void *arg, const struct request *q), void *arg);
void registry_commit(struct registry *r);
void registry_rollback(struct registry *r);

void owners_free(struct registry *r);
struct owner *owner_get(struct registry *r, uint32_t uid); /* NULL without memory */
struct session *session_find(struct registry *r, const struct uuid *id);
struct turn *turn_find(struct registry *r, const struct uuid *id);
struct request *request_find(struct registry *r, const struct uuid *id);
struct session *session_find_key(
	struct registry *r, uint32_t uid, struct bytes agent, struct bytes key);
struct request *request_find_call(struct session *s, struct bytes call);
/* A session whose living subject is that process; the one that arose first. NULL: none. */
struct session *session_find_subject(struct registry *r, const struct process_id *p);
/* One that has ended, but still counts for that living process. NULL: none. */
struct session *session_find_retired(struct registry *r, const struct process_id *p);
/* The first session, turn or request after an id (nil: from the start). NULL: none. */
struct entity *registry_next(struct registry *r, const struct uuid *after);
struct entity *registry_first_due(struct registry *r);
const struct uuid *entity_id(const struct entity *e);

#endif
