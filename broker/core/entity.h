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

#include "broker/core/budget.h"
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
	struct undo *undo; /* as in struct base */
	uint8_t type;
	bool indexed, dirty, stored;
	uint32_t uid;
	struct link_state s;
	void *owner; /* the caller's */
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
	bool admin; /* answers for every uid */
	TAILQ_ENTRY(frontend) in_engine;
};

/*
 * As in struct session_record, of which the rest stands elsewhere, see
 * engine_record_session; and what is not stored.
 */
struct session_data {
	struct uuid id;
	struct uuid parent_turn;
	struct str *agent, *title, *cwd, *workspace, *exe, *cursor;
	struct process_id subject;
	int64_t since, channel_ms;
	uint32_t uid;
	uint8_t claim, ceiling;
	bool fail_closed : 1, ended : 1;
	bool alive : 1;	    /* the subject lives, as far as is known */
	bool recovered : 1; /* restored from the store, its agent is not back yet */
};

struct session_state {
	struct session_data r;
	struct session *parent;
	struct turn *turn;  /* the present one; an ended one stays until the next begins */
	struct str *checks; /* the last checks answered ask: hash, length, tool_call_id each */
	struct str *late; /* the last calls that ended UNKNOWN: their outcomes may still come */
	struct str *last; /* what the last turn had reported: see engine_usage.c */
	struct str *budget; /* see session_budget */
	struct str *adopter; /* who speaks for a launched program; NULL: nobody yet */
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
	bool keyed : 1, watched : 1, in_family : 1;
	uint16_t key_len;
	char key[]; /* the agent's own session id, never changed; as `call` of a request */
};

struct turn_state_data {
	struct turn_record r;
	struct turn_budget b;
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
	uint32_t n_pending, n_recovered, n_kept, n_settled, n_orphaned, n_awaiting, n_allowed;
	uint32_t due; /* as of a request */
};

struct denial {
	uint8_t signature[16];
	uint32_t count;
};

/*
 * What was decided; before that, what policies have said so far. A request gets
 * one when there is something to be put into it: a hundred thousand that wait
 * have none.
 */
struct decision {
	struct str *reason, *by;
	struct str *updated_input, *answers;
	int64_t decided_at;	 /* wall clock; 0: not yet */
	int64_t delivered_at;	 /* monotonic */
	uint8_t edited_hash[16]; /* of updated_input */
	uint8_t verdict, source, scope;
	bool delivered; /* the verdict has been sent once */
};

/* As in struct request_record, of which the rest stands elsewhere; see engine_record_request.
 */
struct request_data {
	struct uuid id;
	struct str *tool, *input, *summary, *description, *command, *url, *cwd, *extra;
	struct str *why; /* what the pipeline found; see why_read. NULL: nothing */
	struct request_path *paths; /* n_paths, then n_operands that its command names */
	uint8_t digest[32];
	int64_t since;
	uint8_t type, kind, state, on_disconnect, step, n_paths, n_operands;
	bool mutating : 1, elsewhere : 1, fail_closed : 1, takes_input : 1, multi : 1,
		check : 1;
};

struct request_state_data {
	struct request_data r;
	struct turn *turn;
	struct link *waiter;	   /* NULL: not attached */
	struct decision *decision; /* NULL: none; see request_decision, request_decide */
	/*
	 * Monotonic instants, or what remains while `stopped`; 0: none. The grace of
	 * a decision is that of a kept one which nobody has claimed yet.
	 */
	int64_t deadline, grace, review_due;
	uint8_t input_hash[16];
	uint8_t signature[16];
	uint32_t call_id;	/* the waiter's */
	uint32_t review;	/* policies that are waited for */
	uint32_t offered;	/* policies that were shown it and have not answered */
	uint8_t review_verdict; /* the strongest so far */
	uint8_t asked_by;	/* step that made a person necessary */
	uint8_t facts;		/* enum call_fact bits */
	bool stopped : 1, recovered : 1, shown : 1;
};

struct request {
	struct entity e;
	struct request_state_data s;
	TAILQ_ENTRY(request) in_turn;
	union { /* whoever is decided has no waiter */
		LIST_ENTRY(request) in_waiter;
		TAILQ_ENTRY(request) in_settled;
	};
	uint32_t due; /* its place in the queue of those that are timed; 0: it is not */
	uint32_t counted_bytes;
	bool counted_pending : 1, counted_settled : 1, counted_recovered : 1, counted_kept : 1;
	bool counted_orphaned : 1, counted_awaiting : 1, counted_allowed : 1;
	bool charged : 1; /* to its owner */
	bool in_waiting : 1;
	uint16_t call_len;
	RB_ENTRY(request) by_call; /* beside what it is compared by */
	char call[]; /* tool_call_id, never changed; NUL-terminated after call_len bytes */
};

/* What the edge found out about a tool call. */
enum call_fact {
	FACT_HARMLESS = 1,  /* on the table of harmless tools */
	FACT_INSIDE = 2,    /* every path is inside the workspace, as given and resolved */
	FACT_UNSEEN = 4, /* some of its paths were not looked at: too late, or too many */
	FACT_UNRESOLVED = 8,
	FACT_SAID_MUTATING = 16, /* by the agent, whatever is known of the tool */
	FACT_UNREAD = 32, /* what it does can't be told: a known tool with another input */
};

/*
 * The session that this one is a sub-agent of. One that has ended may still be there as the
 * parent of others, so that what they use is counted together: see session_retire.
 */
static inline struct session *session_above(const struct session *s)
{
	return s->s.parent && !s->s.parent->s.r.ended ? s->s.parent : NULL;
}

/* Its ceilings and what it has used; to be changed by session_budget_edit. */
static inline const struct session_budget *session_budget(const struct session *s)
{
	static const struct session_budget none = {.ceiling = BUDGET_CLEAR, .asked = BUDGET_CLEAR};

	return s->s.budget ? (const void *)s->s.budget->data : &none;
}

static inline struct bytes session_key(const struct session *s)
{
	return (struct bytes){s->key, s->key_len};
}

static inline struct session *request_session(const struct request *q)
{
	return q->s.turn->s.session;
}

static inline struct bytes request_call(const struct request *q)
{
	return (struct bytes){q->call, q->call_len};
}

/* Its decision, never NULL: all zero where there is none. */
static inline const struct decision *request_decision(const struct request *q)
{
	static const struct decision none;

	return q->s.decision ? q->s.decision : &none;
}

/* Of the input that is run: the edited one, where there is one. */
static inline const uint8_t *request_run_hash(const struct request *q)
{
	const struct decision *d = q->s.decision;

	return d && d->updated_input ? d->edited_hash : q->s.input_hash;
}

/* Outlives its turn and its subject: pending, or decided and not claimed yet. */
static inline bool request_kept(const struct request *q)
{
	return q->s.r.on_disconnect == DISCONNECT_KEEP &&
	       (request_state_pending(q->s.r.state) || q->s.grace);
}

/* Nobody waits for it, or has been told of its decision. */
static inline bool request_orphaned(const struct request *q)
{
	enum request_state state = q->s.r.state;

	if (request_state_pending(state))
		return !q->s.waiter && !q->s.r.check;
	return !request_decision(q)->delivered &&
	       (state == REQUEST_ALLOWED || state == REQUEST_DENIED ||
		       state == REQUEST_EXPIRED);
}

#define ENTITY_OF(ptr, type) ((struct type *)(void *)(ptr))

/* A session that has ended, which nobody is shown. */
static inline bool entity_retired(const struct entity *x)
{
	return x->type == ENTITY_SESSION &&
	       ((const struct session *)(const void *)x)->s.r.ended;
}

#endif
