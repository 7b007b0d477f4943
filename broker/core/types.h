/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of the core: enumerations with their names, identifiers, and
 * the records of sessions, turns and requests as they are kept in the store.
 * Pure data; times are microseconds unless a name says otherwise.
 */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

struct uuid {
	uint8_t b[16];
};

/* "ses_", "turn_" or "req_" and 36 characters and NUL */
#define ID_STRING_SIZE 42

enum id_type {
	ID_SESSION,
	ID_TURN,
	ID_REQUEST,
};

/* A shared immutable string; always NUL-terminated after len bytes. */
struct str {
	uint32_t refs;
	uint32_t len;
	char data[];
};

#define ENUM_ENTRY(prefix, name, text) prefix##_##name,

/* Each list: identifier, name as it is written on the wire and in the store. */
#define REQUEST_TYPE_LIST(X, p)                                                                \
	X(p, TOOL_CALL, "tool_call")                                                           \
	X(p, PERMISSIONS, "permissions")                                                       \
	X(p, QUESTION, "question")                                                             \
	X(p, ELICITATION, "elicitation")

#define KIND_LIST(X, p)                                                                        \
	X(p, OTHER, "other")                                                                   \
	X(p, READ, "read")                                                                     \
	X(p, EDIT, "edit")                                                                     \
	X(p, DELETE, "delete")                                                                 \
	X(p, MOVE, "move")                                                                     \
	X(p, SEARCH, "search")                                                                 \
	X(p, EXECUTE, "execute")                                                               \
	X(p, FETCH, "fetch")                                                                   \
	X(p, THINK, "think")

#define VERDICT_LIST(X, p)                                                                     \
	X(p, NONE, "none")                                                                     \
	X(p, ALLOW, "allow")                                                                   \
	X(p, DENY, "deny")                                                                     \
	X(p, ASK, "ask")                                                                       \
	X(p, DEFER, "defer")

#define SOURCE_LIST(X, p)                                                                      \
	X(p, NONE, "none")                                                                     \
	X(p, USER, "user")                                                                     \
	X(p, POLICY, "policy")                                                                 \
	X(p, RULE, "rule")                                                                     \
	X(p, MODE, "mode")                                                                     \
	X(p, FLOOR, "floor")                                                                   \
	X(p, REPEAT, "repeat")                                                                 \
	X(p, BUDGET, "budget")                                                                 \
	X(p, TIMEOUT, "timeout")                                                               \
	X(p, ABORT, "abort")                                                                   \
	X(p, ELSEWHERE, "elsewhere")                                                           \
	X(p, BROKER, "broker")

#define SCOPE_LIST(X, p)                                                                       \
	X(p, ONCE, "once")                                                                     \
	X(p, TURN, "turn")                                                                     \
	X(p, SESSION, "session")                                                               \
	X(p, PROJECT, "project")                                                               \
	X(p, USER, "user")

/* in order: an agent may only go down */
#define MODE_LIST(X, p)                                                                        \
	X(p, PLAN, "plan")                                                                     \
	X(p, NORMAL, "normal")                                                                 \
	X(p, AUTO_EDIT, "auto-edit")                                                           \
	X(p, YOLO, "yolo")

#define DISCONNECT_LIST(X, p)                                                                  \
	X(p, WAIT, "wait")                                                                     \
	X(p, CANCEL, "cancel")                                                                 \
	X(p, KEEP, "keep")

#define ROLE_LIST(X, p)                                                                        \
	X(p, HUMAN, "human")                                                                   \
	X(p, POLICY, "policy")                                                                 \
	X(p, OBSERVER, "observer")

/* the pipeline's steps; see doc/states.md and section "pipeline" there */
#define STEP_LIST(X, p)                                                                        \
	X(p, NONE, "none")                                                                     \
	X(p, SUSPENDED, "suspended")                                                           \
	X(p, PLAN, "plan")                                                                     \
	X(p, DENY_RULES, "deny-rules")                                                         \
	X(p, REPEAT, "repeat")                                                                 \
	X(p, FLOOR, "floor")                                                                   \
	X(p, ASK_RULES, "ask-rules")                                                           \
	X(p, ALLOW_RULES, "allow-rules")                                                       \
	X(p, MODE, "mode")                                                                     \
	X(p, POLICY, "policy")                                                                 \
	X(p, HUMAN, "human")                                                                   \
	X(p, DEADLINE, "deadline")

#define REQUEST_STATE_LIST(X, p)                                                               \
	X(p, NONE, "NONE")                                                                     \
	X(p, REVIEW, "REVIEW")                                                                 \
	X(p, AWAITING, "AWAITING")                                                             \
	X(p, HELD, "HELD")                                                                     \
	X(p, ALLOWED, "ALLOWED")                                                               \
	X(p, SUCCEEDED, "SUCCEEDED")                                                           \
	X(p, FAILED, "FAILED")                                                                 \
	X(p, NOT_RUN, "NOT_RUN")                                                               \
	X(p, UNKNOWN, "UNKNOWN")                                                               \
	X(p, DENIED, "DENIED")                                                                 \
	X(p, EXPIRED, "EXPIRED")                                                               \
	X(p, ABANDONED, "ABANDONED")                                                           \
	X(p, INTERRUPTED, "INTERRUPTED")                                                       \
	X(p, ELSEWHERE, "ELSEWHERE")

#define TURN_STATE_LIST(X, p)                                                                  \
	X(p, NONE, "NONE")                                                                     \
	X(p, RUNNING, "RUNNING")                                                               \
	X(p, WAITING, "WAITING")                                                               \
	X(p, RECOVERED, "RECOVERED")                                                           \
	X(p, REDRIVING, "REDRIVING")                                                           \
	X(p, SUSPENDED, "SUSPENDED")                                                           \
	X(p, ABANDONING, "ABANDONING")                                                         \
	X(p, ENDED, "ENDED")

/* what a row of the history tells; in the store by their numbers: new ones go to the end */
#define HISTORY_LIST(X, p)                                                                     \
	X(p, SESSION_OPENED, "session_opened")                                                 \
	X(p, SESSION_ENDED, "session_ended")                                                   \
	X(p, TURN_BEGUN, "turn_begun")                                                         \
	X(p, TURN_ENDED, "turn_ended")                                                         \
	X(p, TURN_SUSPENDED, "turn_suspended")                                                 \
	X(p, TURN_RESUMED, "turn_resumed")                                                     \
	X(p, MODE_SET, "mode_set")                                                             \
	X(p, DECISION, "decision")                                                             \
	X(p, ENDED, "ended")                                                                   \
	X(p, OUTCOME, "outcome")                                                               \
	X(p, RAN_ANYWAY, "ran_anyway")                                                         \
	X(p, LOST_DENIALS, "lost_denials")                                                     \
	X(p, ANCHOR, "anchor")                                                                 \
	X(p, RULE_ADDED, "rule_added")                                                         \
	X(p, RULE_REMOVED, "rule_removed")                                                     \
	X(p, RULE_EXPIRED, "rule_expired")                                                     \
	X(p, PROJECT_TRUSTED, "project_trusted")                                               \
	X(p, PROJECT_UNTRUSTED, "project_untrusted")                                           \
	X(p, KILLED, "killed")

enum request_type { REQUEST_TYPE_LIST(ENUM_ENTRY, REQUEST_TYPE) REQUEST_TYPE_N };
enum kind { KIND_LIST(ENUM_ENTRY, KIND) KIND_N };
enum verdict { VERDICT_LIST(ENUM_ENTRY, VERDICT) VERDICT_N };
enum source { SOURCE_LIST(ENUM_ENTRY, SOURCE) SOURCE_N };
enum scope { SCOPE_LIST(ENUM_ENTRY, SCOPE) SCOPE_N };
enum mode { MODE_LIST(ENUM_ENTRY, MODE) MODE_N };
enum disconnect { DISCONNECT_LIST(ENUM_ENTRY, DISCONNECT) DISCONNECT_N };
enum role { ROLE_LIST(ENUM_ENTRY, ROLE) ROLE_N };
enum step { STEP_LIST(ENUM_ENTRY, STEP) STEP_N };
enum request_state { REQUEST_STATE_LIST(ENUM_ENTRY, REQUEST) REQUEST_STATE_N };
enum turn_state { TURN_STATE_LIST(ENUM_ENTRY, TURN) TURN_STATE_N };
enum history_event { HISTORY_LIST(ENUM_ENTRY, HISTORY) HISTORY_N };

/* The name of a value, never NULL; "?" for one out of range. */
const char *request_type_name(enum request_type v);
const char *kind_name(enum kind v);
const char *verdict_name(enum verdict v);
const char *source_name(enum source v);
const char *scope_name(enum scope v);
const char *mode_name(enum mode v);
const char *step_name(enum step v);
const char *request_state_name(enum request_state v);
const char *turn_state_name(enum turn_state v);
const char *history_event_name(enum history_event v);

/* The value of a name; -EINVAL for an unknown one. */
int request_type_parse(struct bytes name);
int kind_parse(struct bytes name);
int verdict_parse(struct bytes name);
int source_parse(struct bytes name);
int scope_parse(struct bytes name);
int mode_parse(struct bytes name);
int disconnect_parse(struct bytes name);
int role_parse(struct bytes name);
int history_event_parse(struct bytes name);

static inline bool request_state_pending(enum request_state s)
{
	return s == REQUEST_REVIEW || s == REQUEST_AWAITING || s == REQUEST_HELD;
}

/* ALLOWED is decided but has not ended. */
static inline bool request_state_terminal(enum request_state s)
{
	return s > REQUEST_ALLOWED;
}

static inline bool history_event_of_rule(enum history_event v)
{
	return v >= HISTORY_RULE_ADDED && v <= HISTORY_RULE_EXPIRED;
}

/* identifiers */
/* In the order of the bytes, as memcmp; without its call, since trees are sorted by it. */
static inline int uuid_compare(const struct uuid *a, const struct uuid *b)
{
	uint64_t x, y;

	for (size_t at = 0; at < sizeof(a->b); at += sizeof(x)) {
		memcpy(&x, a->b + at, sizeof(x));
		memcpy(&y, b->b + at, sizeof(y));
		if (x != y)
			return be64toh(x) < be64toh(y) ? -1 : 1;
	}
	return 0;
}
bool uuid_is_nil(const struct uuid *u);
/* A UUIDv7 (RFC 9562 section 5.7) of a time in milliseconds and ten random bytes. */
struct uuid uuid_make(uint64_t unix_ms, const uint8_t random[10]);
/*
 * The smallest UUIDv7 above u; for ids made within one millisecond or while the clock steps
 * back.
 */
struct uuid uuid_next(const struct uuid *u);
void id_format(char out[ID_STRING_SIZE], enum id_type type, const struct uuid *u);
/* 0, or -EINVAL where text is no such id. */
int id_parse(enum id_type type, struct bytes text, struct uuid *out);

/* strings */
struct str *str_new(const void *data, size_t len); /* NULL without memory; refs 1 */
struct str *str_ref(struct str *s);		   /* NULL stays NULL */
struct str *str_unref(struct str *s);		   /* returns NULL */
bool str_equal(const struct str *a, struct bytes b);
static inline struct bytes str_bytes(const struct str *s)
{
	return s ? (struct bytes){ s->data, s->len } : (struct bytes){ NULL, 0 };
}
static inline const char *str_text(const struct str *s)
{
	return s ? s->data : "";
}

/* ---- records: what the store keeps of each entity ---- */

struct usage {
	uint64_t input, output, cache_read, cache_write, cost_microusd;
};

/* The process that stands for a session. pid 0: none known. */
struct process_id {
	uint32_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat, clock ticks since boot */
};

struct session_record {
	struct uuid id;
	struct uuid parent;	 /* nil: none */
	struct uuid parent_turn; /* the parent's turn that this session counts into */
	struct str *agent;
	struct str *key; /* the agent's own session id */
	struct str *title;
	struct str *cwd;
	struct str *workspace; /* NULL: none */
	struct str *exe;
	struct str *cursor; /* opaque bytes of the adapter */
	struct str *budget; /* see session_budget_pack; NULL: nothing used, no ceiling */
	struct process_id subject;
	int64_t since; /* wall clock */
	int64_t channel_ms; /* 0: not stated */
	uint32_t uid;
	uint8_t claim, ceiling; /* enum mode */
	bool fail_closed;
	bool ended;
};

enum turn_cause {
	CAUSE_HAND = 1,
	CAUSE_BUDGET = 2,
};

struct turn_record {
	struct uuid id;
	struct uuid session;
	struct str *key;    /* the agent's own turn id; NULL: implicit */
	struct str *reason; /* of the suspension or the end */
	struct str *budget; /* see turn_budget_pack; NULL: no ceiling */
	struct usage usage;
	uint64_t usage_seq;
	int64_t since, ended_at; /* wall clock */
	uint32_t calls, denied;
	uint8_t state;	  /* enum turn_state */
	uint8_t causes;	  /* enum turn_cause bits of its own */
	uint8_t ended_by; /* enum source: ABORT by the agent, USER, BUDGET, BROKER */
};

struct request_path {
	struct str *given;
	struct str *resolved; /* NULL: could not be resolved */
	bool inside;	      /* of the workspace, as given and as resolved */
};

struct request_record {
	struct uuid id;
	struct uuid session;
	struct uuid turn;
	struct str *call; /* tool_call_id */
	struct str *tool;
	struct str *input;   /* MessagePack as received */
	struct str *summary, *description;
	struct str *command; /* NULL: none */
	struct str *cwd;
	struct str *extra; /* MessagePack map of options and schema; NULL: none */
	struct request_path *paths;
	struct str *reason, *by; /* of the decision */
	struct str *updated_input, *answers;
	uint8_t digest[32];
	int64_t since;	    /* wall clock */
	int64_t deadline;   /* wall clock; HELD: what remains; 0: never, or decided */
	int64_t decided_at; /* wall clock; 0: not yet */
	uint8_t type, kind; /* enum request_type, enum kind */
	uint8_t state;	    /* enum request_state */
	uint8_t on_disconnect, step, verdict, source, scope;
	uint8_t n_paths;
	bool mutating, elsewhere, fail_closed, takes_input, multi;
	bool delivered; /* the verdict has been sent once */
	bool check;	/* submitted by `check`: nobody is asked */
};

/* The uid of an administrator's rules, which are for everybody: nobody has it. */
#define RULE_UID_ADMIN UINT32_MAX

/* A standing rule. Its id is never used again, not even after it was removed. */
struct rule_record {
	uint64_t id;	     /* never 0 */
	struct uuid owner;   /* the session or turn of such a scope; nil for the others */
	struct str *project; /* the folder; NULL: none, but not with SCOPE_PROJECT */
	struct str *text;    /* one line */
	struct str *by;	     /* who made it */
	struct str *origin;  /* an import's file or a request's id; NULL: neither */
	int64_t made;	     /* wall clock */
	int64_t expires;     /* wall clock; 0: never */
	uint64_t matches;
	int64_t matched_at; /* wall clock; 0: never */
	uint32_t uid;
	uint8_t scope; /* enum scope, but not once */
};

/*
 * Whether the store may hold it: every member is in its range, what its scope needs is
 * there, and what other scopes have is not. The text itself is not read.
 */
bool rule_record_valid(const struct rule_record *r);

/* That a person trusts the file of rules of a project, as long as it has this hash. */
struct trust_record {
	struct str *project; /* its folder; with the uid what names the record */
	struct str *by;	     /* who said so */
	int64_t made;	     /* wall clock */
	uint32_t uid;	     /* whose calls it is for */
	uint8_t hash[32];    /* SHA-256 of the file; never all zero */
};

bool trust_record_valid(const struct trust_record *r);

#endif
