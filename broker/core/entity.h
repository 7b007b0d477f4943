/* SPDX-License-Identifier: MIT */
/*
 * The entities of the registry. Each has a state, which the transaction of a
 * batch saves before it is changed and restores when the batch is undone, and
 * index members, which are derived from the state by entity_index and
 * entity_unindex and are never saved.
 */
#ifndef CORE_ENTITY_H
#define CORE_ENTITY_H

#include <bsd/sys/queue.h>
#include "broker/core/tree.h"

#include "broker/core/types.h"
#include "libapproval/limits.h"

struct engine;
struct owner;

enum entity_type {
	ENTITY_SESSION,
	ENTITY_TURN,
	ENTITY_REQUEST,
	ENTITY_LINK,
	ENTITY_FRONTEND,
};

/* What every entity begins with. */
struct base {
	struct undo *undo; /* of the present batch; NULL: untouched in it */
	uint8_t type;
	bool indexed;
	bool dirty;  /* to be stored at the end of the step */
	bool stored; /* has a row in the store */
};

/* Sessions, turns and requests, which have an id. */
struct entity {
	struct undo *undo; /* as in struct base */
	uint8_t type;
	bool indexed, dirty, stored;
	RB_ENTRY(entity) by_id; /* in the order they arose */
};

/* A connection of an agent. Opened and closed outside of transactions. */
struct link_state {
	struct session *session; /* NULL before hello and after bye */
};

struct link {
	struct base e;
	struct link_state s;
	void *owner; /* the caller's */
	uint32_t uid;
	LIST_ENTRY(link) in_session;
	LIST_HEAD(, request) waiting;
};

struct frontend_state {
	struct uuid cursor; /* the snapshot was pulled up to here */
	uint64_t seq;
	bool greeted, subscribed, complete, reasons, headless;
	uint8_t role;
	uint8_t answers;  /* bits of enum request_type */
	uint8_t timeouts; /* of a policy, in a row */
	uint8_t policy;	  /* bit number in review masks; LIMIT_POLICIES: none */
	struct str *name;
};

struct frontend {
	struct base e;
	struct frontend_state s;
	void *owner;
	uint32_t uid;
	bool admin;	/* answers for every uid */
	TAILQ_ENTRY(frontend) in_engine;
};

struct session_state {
	struct session_record r;
	struct session *parent;
	struct turn *turn; /* the present one; an ended one stays until the next begins */
	struct str *checks; /* the last checks answered ask: hash, length, tool_call_id each */
	struct str *late; /* the last calls that ended UNKNOWN: their outcomes may still come */
	bool alive;	    /* the subject lives, as far as is known */
	bool recovered;	    /* restored from the store, its agent is not back yet */
	bool frozen;
};

struct session {
	struct entity e;
	struct session_state s;
	struct owner *owner;
	RB_ENTRY(session) by_key;
	RB_ENTRY(session) by_subject;
	LIST_HEAD(, link) links;
	LIST_HEAD(, session) children;
	LIST_ENTRY(session) in_parent;
	LIST_HEAD(, turn) turns;
	RB_HEAD(call_tree, request) calls;
	uint32_t n_links, n_pending;
	bool keyed, watched, in_family;
};

struct turn_state_data {
	struct turn_record r;
	struct session *session;
	struct str *denials; /* array of struct denial, for the step "repeat" */
	uint32_t unknown;    /* calls that have ended UNKNOWN without a row of their own */
	bool inherited;	     /* suspended by an ancestor's cause */
};

struct turn {
	struct entity e;
	struct turn_state_data s;
	TAILQ_HEAD(request_list, request) requests;
	struct request_list settled; /* those that are decided and not kept, in that order */
	LIST_ENTRY(turn) in_session;
	uint32_t n_pending, n_recovered, n_kept, n_settled, n_orphaned;
};

struct denial {
	uint8_t signature[16];
	uint32_t count;
};

struct request_state_data {
	struct request_record r;
	struct session *session;
	struct turn *turn;
	struct link *waiter; /* NULL: not attached */
	uint32_t call_id;    /* the waiter's */
	uint32_t review;     /* policies that are waited for */
	uint32_t offered;    /* policies that were shown it and have not answered */
	/*
	 * Monotonic instants, or what remains while `stopped`; 0: none. The grace of
	 * a decision is that of a kept one which nobody has claimed yet.
	 */
	int64_t deadline, grace, review_due;
	int64_t delivered_at;
	uint8_t input_hash[16];
	uint8_t edited_hash[16]; /* of updated_input; equal to input_hash where there is none */
	uint8_t signature[16];
	uint8_t review_verdict; /* the strongest so far */
	uint8_t asked_by;	/* step that made a person necessary */
	uint8_t facts;		/* enum call_fact bits */
	bool stopped, recovered, shown;
};

struct request {
	struct entity e;
	int64_t due; /* monotonic; 0: no timer */
	RB_ENTRY(request) by_due; /* while it is timed */
	struct request_state_data s;
	RB_ENTRY(request) by_call;
	TAILQ_ENTRY(request) in_turn;
	union { /* whoever is decided has no waiter */
		LIST_ENTRY(request) in_waiter;
		TAILQ_ENTRY(request) in_settled;
	};
	uint32_t counted_bytes;
	bool timed;
	bool counted_pending, counted_settled, counted_recovered, counted_kept, counted_orphaned;
	bool charged; /* to its owner */
	bool in_waiting;
};

/* What the edge found out about a tool call. */
enum call_fact {
	FACT_HARMLESS = 1,  /* on the table of harmless tools */
	FACT_INSIDE = 2,    /* every path is inside the workspace, as given and resolved */
	FACT_PROTECTED = 4, /* a path is on the floor's list */
	FACT_UNRESOLVED = 8,
};

/* Outlives its turn and its subject: pending, or decided and not claimed yet. */
static inline bool request_kept(const struct request *q)
{
	return q->s.r.on_disconnect == DISCONNECT_KEEP &&
	       (request_state_pending(q->s.r.state) || q->s.grace);
}

/* Nobody waits for it, or has been told of its decision. */
static inline bool request_orphaned(const struct request *q)
{
	const struct request_record *r = &q->s.r;

	if (request_state_pending(r->state))
		return !q->s.waiter && !r->check;
	return !r->delivered && (r->state == REQUEST_ALLOWED || r->state == REQUEST_DENIED ||
					r->state == REQUEST_EXPIRED);
}

#define ENTITY_OF(ptr, type) ((struct type *)(void *)(ptr))

#endif
