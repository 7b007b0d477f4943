/* SPDX-License-Identifier: MIT */
/*
 * The engine: one step takes a command and the time and returns effects. It has
 * no descriptor, clock, randomness or log. All that happened since the last
 * engine_commit is one batch, which engine_rollback undoes.
 *
 * A step fails only with -ENOMEM; the caller must then roll the batch back.
 * Everything else is an answer among the effects.
 */
#ifndef CORE_ENGINE_H
#define CORE_ENGINE_H

#include "broker/core/judge.h"
#include "broker/core/registry.h"
#include "broker/core/row.h"
#include "broker/core/rules/suggest.h"

struct instant {
	int64_t mono; /* microseconds, CLOCK_MONOTONIC */
	int64_t wall; /* microseconds since 1970 */
};

struct engine_config {
	bool when_alone_deny;
	bool headless;
	int64_t deadline; /* microseconds; 0: never */
	int64_t policy_time, grace;
	enum mode default_mode;
	unsigned repeat_limit;
	unsigned n_required;
	const char *required[LIMIT_POLICIES];
	uint32_t max_sessions, max_pending; /* of one uid */
	uint64_t max_pending_bytes;
	const struct budget_rule *budgets; /* the caller's */
	size_t n_budgets;
	struct budget_weights weights;
	int64_t wall; /* the ceiling where no other is given; microseconds; 0: none */
};

/* ---- commands ---- */

enum command_type {
	/* agents */
	COMMAND_HELLO,
	COMMAND_TURN_BEGIN,
	COMMAND_TURN_END,
	COMMAND_USAGE,
	COMMAND_REQUEST, /* also check */
	COMMAND_CANCEL,
	COMMAND_SETTLED,
	COMMAND_OUTCOME,
	COMMAND_CLAIM, /* set_mode of an agent */
	COMMAND_BYE,
	/* frontends */
	COMMAND_FRONTEND_HELLO,
	COMMAND_SUBSCRIBE,
	COMMAND_DECIDE,
	COMMAND_VERDICT,
	COMMAND_CEILING, /* set_mode of a person */
	COMMAND_SUSPEND,
	COMMAND_RESUME,
	COMMAND_END_TURN,
	COMMAND_KILL,
	COMMAND_FRONTEND_BYE,
	/* without a sender */
	COMMAND_LINK_GONE,
	COMMAND_FRONTEND_GONE,
	COMMAND_SUBJECT_DIED,
	COMMAND_TICK,
	COMMAND_RESTARTED, /* once, after the last engine_restore_* */
	COMMAND_SLEPT,	   /* the machine slept, or the clock stopped */
	COMMAND_CONFIGURED, /* after engine_configure: what follows from it */
	COMMAND_N,
};

struct facts {
	enum kind kind;
	bool mutating;
	uint8_t flags; /* enum call_fact */
	struct bytes command, url;
	/* of its input, then those that its command names (judge_operands); taken by reference */
	const struct request_path *paths;
	unsigned n_paths, n_operands;
	uint8_t digest[32];
	uint8_t input_hash[16];
	uint8_t signature[16]; /* of tool, command or paths, and cwd */
};

struct command_hello {
	struct bytes agent, key, parent_key, title, cwd, workspace, exe;
	struct bytes home; /* of the uid */
	struct process_id subject;
	const struct process_id *chain; /* the peer and its ancestors */
	unsigned n_chain;
	int claim; /* enum mode; -1: none */
	int64_t channel_ms;
	bool fail_closed, no_resume;
	bool has_budget;
	struct budget_amounts budget; /* of each turn, at the most */
};

struct command_turn {
	struct bytes key; /* data NULL: none */
	bool has_usage;
	uint64_t usage_seq;
	struct usage usage;
	struct bytes cursor; /* data NULL: none */
	bool has_budget;     /* of turn_begin */
	struct budget_amounts budget;
};

struct command_request {
	enum request_type type;
	struct bytes call, tool, input, summary, description, cwd, turn_key, extra;
	struct facts facts;
	int64_t timeout_ms, channel_ms; /* 0: none */
	enum disconnect on_disconnect;
	bool fail_closed, elsewhere, takes_input, multi, check;
};

/* Names a request of the link's session. */
struct command_about {
	struct bytes call;
	struct uuid request; /* nil: none */
	bool has_input;
	struct bytes tool;
	uint8_t input_hash[16];
	enum request_state outcome; /* of COMMAND_OUTCOME: SUCCEEDED, FAILED or NOT_RUN */
	enum verdict verdict;	    /* of COMMAND_SETTLED */
	struct bytes reason;	    /* or the summary */
};

struct command_decision {
	struct uuid request;
	bool has_digest;
	uint8_t digest[32];
	enum verdict verdict;
	enum scope scope;
	struct bytes rule; /* of a scope beyond once; data NULL: for this very call */
	struct bytes reason, updated_input, answers; /* data NULL: none */
	const struct facts *facts;		     /* of updated_input */
	bool malformed; /* the request's id did not parse, or the like: invalid */
};

struct command_steer {
	struct uuid session;
	bool all;
	enum mode mode;
	struct bytes reason;
	bool has_raise; /* of a resume */
	struct budget_amounts raise;
	int64_t grace; /* of COMMAND_KILL: microseconds */
};

struct command {
	enum command_type type;
	struct link *link;
	struct frontend *frontend;
	uint32_t call;	  /* id of the call to be answered */
	struct bytes by;  /* who decides, for the record */
	struct uuid seed; /* new; the ids of what is made count up from it */
	union {
		struct command_hello hello;
		struct command_turn turn;
		struct command_request request;
		struct command_about about;
		struct {
			const struct command_decision *items;
			unsigned n;
		} decide;
		struct command_steer steer;
		struct process_id died;
		struct {
			enum role role;
			uint8_t answers;
			bool reasons, headless;
			struct bytes name;
		} greet;
		struct {
			bool has_cursor;
			struct uuid cursor;
			unsigned limit;
		} subscribe;
		struct {
			bool end;
		} bye;
		int64_t slept; /* microseconds */
		int64_t alive; /* of RESTARTED: the last sign of life before, wall clock */
	};
};

/* ---- effects ---- */

enum effect_type {
	EFFECT_REPLY,	/* the call succeeded; what, by command */
	EFFECT_VERDICT, /* answers a request or check: the request's decision */
	EFFECT_ERROR,
	EFFECT_EVENT, /* to a frontend */
	EFFECT_NOTE,  /* to an agent's connection */
	EFFECT_STORE, /* to the journal: a record */
	EFFECT_HISTORY,
	EFFECT_WATCH, /* the subject of a session is to be watched */
	EFFECT_UNWATCH,
	EFFECT_HOLD, /* a subject's session has been suspended, or is so no more: engine_held */
	EFFECT_KILL, /* a subject and all that it started are to end */
	EFFECT_RULE, /* a standing rule is to be made, in the command's name */
};

/* What a call succeeded with. */
enum reply_kind {
	REPLY_EMPTY,
	REPLY_HELLO,	/* session */
	REPLY_TURN,	/* turn; NULL: one that is over, of the id `cursor` */
	REPLY_STATE,	/* request state in `state` */
	REPLY_MODE,	/* session */
	REPLY_COUNT,	/* count */
	REPLY_RESULTS,	/* results, of decide */
	REPLY_RESULT,	/* the first of results, of verdict */
	REPLY_GREETING, /* frontend */
	REPLY_PAGE,	/* the page after `cursor`; see engine_page */
	REPLY_ASK,	/* a check that a person must answer: step */
};

enum engine_error {
	ENGINE_NO_SESSION,
	ENGINE_FORBIDDEN,
	ENGINE_NOT_FOUND,
	ENGINE_GONE,
	ENGINE_MISMATCH,
	ENGINE_STATE,
	ENGINE_LIMIT,
	ENGINE_INVALID,
	ENGINE_UNSUPPORTED,
};

enum event_kind {
	EVENT_OFFERED,
	EVENT_REFRESHED,
	EVENT_RESOLVED,
	EVENT_WITHDRAWN,
	EVENT_OUTCOME,
	EVENT_TURN,
	EVENT_SESSION,
	EVENT_WARNING, /* most of a turn's or session's ceiling is used */
};

enum note_kind {
	NOTE_SUSPENDED,
	NOTE_RESUMED,
	NOTE_REQUEST,
};

enum decision_result {
	RESULT_OK,
	RESULT_GONE,
	RESULT_NOT_FOUND,
	RESULT_MISMATCH,
	RESULT_HELD,
	RESULT_FORBIDDEN,
	RESULT_REFUSED,
	RESULT_INVALID,
};

struct decided {
	struct uuid request;
	enum decision_result result;
	enum request_state state;
	enum source source;
	enum step step;
	const char *message; /* constant text, or NULL */
};

/*
 * Effects of one step, in the order in which they are to happen. Entities are as
 * they are at the end of the step; they are valid until the batch is committed
 * or rolled back.
 */
struct effect {
	enum effect_type type;
	struct link *link;
	struct frontend *frontend;
	uint32_t call;
	union {
		struct {
			enum reply_kind kind;
			struct session *session;
			struct turn *turn;
			enum request_state state;
			enum step step;
			uint32_t count;
			struct decided *results;
			struct bytes call_name; /* of an ask */
			struct uuid cursor;
			unsigned limit;
		} reply;
		struct request *request; /* EFFECT_VERDICT */
		struct {
			enum engine_error code;
			const char *message; /* constant */
			const char *key;     /* of data; NULL: none */
			const char *value;
			enum request_state state;
			enum source source;
		} error;
		struct {
			enum event_kind kind;
			struct entity *entity;
			uint64_t seq;
			enum request_state state;
			bool ran_anyway;
			uint8_t warning; /* enum budget_kind */
			struct bytes call_name, tool; /* of an outcome without a request */
		} event;
		struct {
			enum note_kind kind;
			struct turn *turn;
			struct request *request;
		} note;
		struct {
			enum journal_op op;
			struct entity *entity;
		} store;
		struct history_row row;
		struct process_id process;
		struct {
			struct process_id process; /* as above */
			int64_t grace;		   /* microseconds after it was asked to end */
		} kill;
		struct {
			struct str *text, *project; /* project NULL: none */
			enum scope scope;
			uint32_t uid;
			struct uuid owner, request;
		} rule;
	};
};

struct effects {
	struct effect *items;
	size_t n, size;
	struct decided *results; /* of one decide */
	struct str_list keep;	 /* strings that rows refer to */
};

/*
 * A policy that left without bye: counts as ask until one of that name and uid is
 * back, or the configuration is read again.
 */
struct lost_policy {
	struct str *name; /* empty where it gave none; NULL: any, more than are remembered */
	uint32_t uid;
	bool admin;
	uint8_t answers;
};

/* What frontends left behind for when they are gone. */
struct engine_marks {
	bool headless;	/* told so by a policy of root: for everyone */
	bool lost_more; /* of more uids than the list holds */
	unsigned n_headless, n_lost;
	uint32_t headless_uids[LIMIT_HEADLESS_UIDS];
	struct lost_policy lost[LIMIT_LOST_POLICIES];
};

struct engine {
	struct registry r;
	struct engine_config config;
	struct judge *judge; /* the caller's; NULL: no rules and no floor */
	struct effects out;
	struct instant now;
	struct uuid newest; /* largest id seen */
	struct uuid seed;
	struct engine_marks marks, marks_before;
	bool marked;	       /* in this batch; marks_before is what to go back to */
	struct turn *ending;   /* within turn_end */
	struct entity **dirty; /* to be stored at the end of the step */
	size_t n_dirty, dirty_size;
};

int engine_init(struct engine *e, const struct engine_config *config);
/* New configuration, never part of a batch. Then COMMAND_CONFIGURED, until it is committed. */
void engine_configure(struct engine *e, const struct engine_config *config);
void engine_fini(struct engine *e);

/*
 * Runs a command. *out is the step's effects, which belong to the engine until
 * its next call; so do the strings of its rows, which may also refer to those of
 * the command.
 */
int engine_step(struct engine *e, struct instant now, const struct command *c,
	const struct effects **out);
void engine_commit(struct engine *e);
/* Requests (not checks) that were submitted in the batch: to be told denied before a rollback.
 */
void engine_each_fresh_request(
	struct engine *e, void (*each)(void *arg, const struct request *q), void *arg);
void engine_rollback(struct engine *e);

/* The monotonic instant at which a COMMAND_TICK is due; 0: none. */
int64_t engine_next_deadline(struct engine *e);

/* Connections; never part of a batch. Closing one: first COMMAND_*_GONE, committed. */
struct link *engine_link_open(struct engine *e, uint32_t uid, void *owner);
void engine_link_close(struct engine *e, struct link *l);
struct frontend *engine_frontend_open(struct engine *e, uint32_t uid, bool admin, void *owner);
void engine_frontend_close(struct engine *e, struct frontend *f);

/* Forgets every session, turn and request, without effects, before the connections are closed
 * at the end. */
void engine_clear(struct engine *e);

/* Restoring, before any step; records are copied by reference to their strings. Then
 * COMMAND_RESTARTED. */
int engine_restore_session(struct engine *e, const struct session_record *r);
int engine_restore_turn(struct engine *e, const struct turn_record *r);
int engine_restore_request(struct engine *e, struct instant now, int64_t alive,
	const struct request_record *r, const struct facts *facts);
/*
 * An earlier decision of a turn that lives, or what became of it. signature: of a denied
 * call, for counting it as repeated; NULL: not known.
 */
int engine_restore_decision(struct engine *e, struct instant now, const struct history_row *row,
	const uint8_t input_hash[16], const uint8_t *signature);

/*
 * Sessions and requests as the store keeps them, at the end of a step. The strings
 * are their own but for `key` and `call`, which the caller releases. -ENOMEM.
 */
int engine_record_session(const struct session *s, struct session_record *out);
int engine_record_request(
	const struct engine *e, const struct request *q, struct request_record *out);

int engine_record_turn(const struct turn *t, struct turn_record *out); /* likewise; `budget` */

/* ---- questions ---- */

/* What a turn has used, with its sub-agents; and a session, in all turns. */
void turn_usage(const struct turn *t, struct usage *out);
void turn_used(const struct engine *e, const struct turn *t, struct instant now,
	struct budget_amounts *out);
void session_used(const struct engine *e, const struct session *s, struct instant now,
	struct budget_amounts *out);
/* By how much a resume would raise what is reached. 1: nothing is. */
int budget_offer(const struct engine *e, struct turn *t, struct budget_amounts *out);

/* May this frontend know of the entity? */
/* The gateway tells how far the page went that it made of REPLY_PAGE. -ENOMEM. */
int engine_page_told(struct engine *e, struct frontend *f, const struct uuid *last, bool more);
/*
 * The number of an event about something of this uid that is no entity; 0: the frontend is not
 * told. -ENOMEM.
 */
int engine_event_number(struct engine *e, struct frontend *f, uint32_t uid, uint64_t *seq);
bool frontend_sees(const struct frontend *f, const struct entity *e);
/* The next item of a snapshot or list after an id; NULL: no more. */
struct entity *engine_page(
	struct engine *e, const struct frontend *f, const struct uuid *after);
enum mode session_mode(const struct session *s); /* the effective one */
/* Has a policy said that nobody will ever answer for that uid? */
bool marks_headless(const struct engine *e, uint32_t uid);
bool engine_is_subject(struct engine *e, const struct process_id *p);
/*
 * The session that a process stands for; of several the first, since those that share their
 * parent's process are suspended by protocol alone. NULL: none.
 */
struct session *engine_subject_session(struct engine *e, const struct process_id *p);
/* Is nothing to run in that session now? */
bool engine_held(const struct session *s);
/* Names from the outermost agent to this one; returns their number. */
unsigned session_chain(const struct session *s, const struct session *out[LIMIT_CHAIN]);
/* Absolute deadline on the wall clock, microseconds; 0: never. *remaining: microseconds, -1:
 * never. */
int64_t request_deadline(const struct request *q, struct instant now, int64_t *remaining);
#define WHY_WHAT_MAX 1024u
/* What the pipeline found of a request; data NULL: nothing. */
struct why {
	struct bytes rule;  /* that decided or asks */
	uint64_t rule_id;   /* of a standing one; 0 */
	struct bytes floor; /* name of the entry that was hit */
	struct bytes about; /* what is on it */
	struct bytes what;  /* the word or path that hit it, at most WHY_WHAT_MAX of it */
};
void why_read(const struct str *why, struct why *out);
/* The rules that a person is offered with a request, to be freed. -ENOMEM. */
int request_suggest(struct engine *e, const struct request *q, struct suggestions *out);
/* One sentence for people: why a request asks. */
const char *step_why(enum step step);
/* The text for the model that goes with a denial; NULL for an allow. */
const char *denial_message(enum source source, enum step step, enum request_state state);

#endif
