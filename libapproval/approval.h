/* SPDX-License-Identifier: MIT */
/*
 * libapproval: ask people for approval of an agent's tool calls, or be the
 * frontend that shows them the prompts, through the approvald broker.
 *
 * Conventions
 *   Errors   Functions return 0 on success or a negative errno value. The
 *            library reports nothing through errno, never prints, never exits,
 *            never raises a signal, and keeps no global state. What the broker
 *            itself answers is in struct approval_error.
 *   Memory   Objects made by *_new are freed by *_free, which accept NULL.
 *            Strings passed in are copied. Strings given out belong to the
 *            object they came with and live as long as it does.
 *   Threads  A client may be used by one thread at a time; different clients
 *            are independent of each other. Callbacks run only inside
 *            approval_dispatch or a blocking call, on the thread that called.
 *            A callback may call any function of the same client but
 *            approval_free and the blocking calls (-EDEADLK).
 *   Time     Durations are milliseconds (int64_t), absolute times milliseconds
 *            since 1970-01-01 UTC. Where a timeout is taken, a negative one
 *            waits without a bound.
 *   Values   MessagePack objects (a tool's input, answers) are passed as bytes.
 *            doc/protocol.md describes all fields.
 */
#ifndef APPROVAL_H
#define APPROVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define APPROVAL_PROTOCOL 1

struct approval;	/* a client: one connection that comes back by itself */
struct approval_call;	/* an outstanding call */
struct approval_value;	/* a decoded MessagePack value, read only */

enum approval_verdict {
	APPROVAL_NONE = 0, /* no verdict: see the error */
	APPROVAL_ALLOW = 1,
	APPROVAL_DENY = 2,
	APPROVAL_ASK = 3,  /* only from approval_check */
};

enum approval_side {
	APPROVAL_AGENT = 0,
	APPROVAL_FRONTEND = 1,
};

/*
 * What the broker answered instead of a result. Valid during the callback or until the next
 * call.
 */
struct approval_error {
	const char *code;    /* "" when the failure is not the broker's own answer */
	const char *message; /* for people; never NULL */
	const struct approval_value *data; /* NULL: none */
};

/* ---- values -------------------------------------------------------------- */

enum approval_type {
	APPROVAL_NIL,
	APPROVAL_BOOL,
	APPROVAL_INT,  /* fits int64_t */
	APPROVAL_UINT, /* above INT64_MAX */
	APPROVAL_FLOAT,
	APPROVAL_STR,
	APPROVAL_BIN,
	APPROVAL_ARRAY,
	APPROVAL_MAP,
	APPROVAL_EXT,
};

/*
 * All accept NULL and values of another type. They give then: nil, false, 0;
 * "" where text is asked for, never NULL; NULL where a value is asked for.
 */
enum approval_type approval_value_type(const struct approval_value *v);
bool approval_value_bool(const struct approval_value *v);
int64_t approval_value_int(const struct approval_value *v);   /* saturates */
uint64_t approval_value_uint(const struct approval_value *v); /* negative: 0 */
double approval_value_float(const struct approval_value *v);  /* integers too */
/* Of a str or bin. It may hold NULs, and one more NUL always follows. len may be NULL. */
const char *approval_value_str(const struct approval_value *v, size_t *len);
size_t approval_value_count(const struct approval_value *v); /* of an array or a map */
const struct approval_value *approval_value_at(const struct approval_value *v, size_t i);
/* The first pair with that str as its key. */
const struct approval_value *approval_value_get(const struct approval_value *v, const char *key);
/* The i-th pair of a map; false past the end. */
bool approval_value_pair(const struct approval_value *v, size_t i,
	const struct approval_value **key, const struct approval_value **value);
/* Shorthand: approval_value_str(approval_value_get(v, key), NULL). */
const char *approval_value_text(const struct approval_value *v, const char *key);
/* The value's own MessagePack bytes, valid as long as it. */
const void *approval_value_raw(const struct approval_value *v, size_t *len);
/*
 * Decodes exactly one value from bytes of the caller's, to be freed with
 * approval_value_free. Limits as on the wire: -EMSGSIZE; -EBADMSG: no MessagePack.
 */
int approval_value_parse(const void *data, size_t len, struct approval_value **out);
/*
 * A copy that outlives the callback it was given to. Only such copies and parsed values are
 * freed.
 */
int approval_value_dup(const struct approval_value *v, struct approval_value **out);
void approval_value_free(struct approval_value *v);

/*
 * A builder of MessagePack values. After an error every call fails with the same
 * one until reset. Containers are counted beforehand: whether all their values
 * followed is seen by whoever takes the bytes (-EINVAL there).
 */
struct approval_pack;
int approval_pack_new(struct approval_pack **out);
void approval_pack_free(struct approval_pack *p);
void approval_pack_reset(struct approval_pack *p);
int approval_pack_nil(struct approval_pack *p);
int approval_pack_bool(struct approval_pack *p, bool v);
int approval_pack_int(struct approval_pack *p, int64_t v);
int approval_pack_uint(struct approval_pack *p, uint64_t v);
int approval_pack_float(struct approval_pack *p, double v);
int approval_pack_str(struct approval_pack *p, const char *s); /* NULL packs nil */
int approval_pack_strn(struct approval_pack *p, const void *s, size_t len);
int approval_pack_bin(struct approval_pack *p, const void *s, size_t len);
int approval_pack_array(struct approval_pack *p, size_t n); /* n values follow */
int approval_pack_map(struct approval_pack *p, size_t n);   /* n keys and values follow */
int approval_pack_raw(struct approval_pack *p, const void *msgpack, size_t len); /* one value */
/* The bytes so far; belong to the builder until its next call. NULL after an error. */
const void *approval_pack_data(const struct approval_pack *p, size_t *len);

/* ---- connection ---------------------------------------------------------- */

struct approval_options {
	size_t size; /* sizeof(struct approval_options): lets the structure grow */
	enum approval_side side;
	/* NULL: APPROVAL_SOCKET / APPROVAL_FRONTEND_SOCKET, then the usual places */
	const char *socket;
	const char *client; /* program and version, for people; NULL: the library's own */
	/* keep trying to (re)connect so long; 0: TIME_CONNECT_RETRY_MS, <0: for ever */
	int64_t retry_ms;
	bool no_reconnect; /* a lost connection is final */
	/*
	 * Do not judge who serves the socket (tests, tunnels). Otherwise it must be
	 * a process of one's own uid, of root or of approvald; and on the agent side
	 * neither the subject nor started by it, so that no project can stand in
	 * for the broker.
	 */
	bool trust_socket;

	/* agent side; see hello in doc/protocol.md. agent is required. */
	const char *agent, *session, *parent, *title, *cwd, *mode;
	int subject_pidfd; /* <= 0: the calling process is the subject. Duplicated. */
	bool fail_closed;
	int64_t channel_ms;

	/* frontend side */
	const char *role; /* NULL: "human" */
	const char *name;
	const char *const *answers; /* NULL-terminated; NULL: the default */
	bool reasons, headless;

	/* agent side, of who launches a program; see hello in doc/protocol.md */
	const char *enforce; /* NULL: protocol */
	int freeze_fd, kill_fd; /* of the subject's cgroup; <= 0: none. Both or none; duplicated. */
	const void *budget; /* MessagePack map; NULL: none */
	size_t budget_len;
};

/* Fills in the defaults (size included). */
void approval_options_init(struct approval_options *o, enum approval_side side);

/*
 * Makes a client. Nothing is connected yet: that happens in dispatch, or in a
 * blocking call. -EINVAL: an option that the protocol does not admit.
 */
int approval_new(struct approval **out, const struct approval_options *o);
/* Outstanding calls end with -ECANCELED (their callbacks run). */
void approval_free(struct approval *a);

/*
 * The event loop's side. Wait until fd has one of the events (poll(2) bits
 * POLLIN, POLLOUT) or the timeout (milliseconds, -1: none) is over, then call
 * dispatch, which never blocks and tolerates being called for nothing. Ask for
 * all three anew each time: the descriptor changes on a reconnect and is -1
 * while there is none. dispatch returns 0, or -ENOMEM (it tries again), or for
 * ever why the client has ended (see APPROVAL_GAVE_UP).
 */
int approval_fd(const struct approval *a);
short approval_events(const struct approval *a);
int64_t approval_timeout(const struct approval *a);
int approval_dispatch(struct approval *a);
/* Runs the client until what it has queued is sent, or the timeout. -ETIMEDOUT. */
int approval_flush(struct approval *a, int64_t timeout_ms);
/*
 * Waits for events and dispatches once. -ETIMEDOUT; -EINTR: a signal was caught; else as
 * dispatch.
 */
int approval_wait(struct approval *a, int64_t timeout_ms);

enum approval_event {
	APPROVAL_CONNECTED,    /* hello was answered; value: its result */
	APPROVAL_DISCONNECTED, /* lost; it will come back by itself unless told otherwise */
	APPROVAL_GAVE_UP,      /* no broker within retry_ms, or a final refusal; see the error.
				* Outstanding calls have ended, and all later ones fail at once. */
	APPROVAL_NOTIFICATION, /* name and value: as the broker sent it */
	/* frontend: the snapshot is complete; items that are not in it are gone */
	APPROVAL_SNAPSHOT,
};
typedef void (*approval_event_fn)(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg);
void approval_on_event(struct approval *a, approval_event_fn fn, void *arg);

/*
 * Why the client is in its present state, for people: "connected", "no broker
 * at /run/…: No such file or directory", ….
 */
const char *approval_status(const struct approval *a);
/* The result of hello of the present connection; NULL before. */
const struct approval_value *approval_hello(const struct approval *a);
const char *approval_socket(const struct approval *a);

/* Ends the session's connection politely; blocks for the answer at most timeout_ms. */
int approval_bye(struct approval *a, bool end_session, int64_t timeout_ms);

/* ---- calls --------------------------------------------------------------- */

/*
 * status 0: result; otherwise a negative errno: -EREMOTEIO the broker answered
 * with an error, -ECANCELED, -ETIMEDOUT (no broker within retry_ms), -EPROTO
 * (the answer makes no sense: never to be taken for an allow), -EACCES (what
 * serves the socket may not be trusted), -ENOTCONN (the connection was lost and
 * the call must not be repeated, or no_reconnect).
 */
typedef void (*approval_reply_fn)(struct approval *a, int status,
	const struct approval_value *result, const struct approval_error *error, void *arg);

/*
 * Any method of the protocol, params being one MessagePack map. A call that was
 * sent and not answered when the connection was lost is sent again only if
 * `repeat`. *call (may be NULL) may be cancelled until its callback has run; fn
 * may be NULL. -EINVAL: params is no map; -EMSGSIZE: over the limits of a
 * message; -EAGAIN: too many calls are outstanding; or why the client has ended.
 */
int approval_call(struct approval *a, const char *method, const void *params, size_t len,
	bool repeat, approval_reply_fn fn, void *arg, struct approval_call **call);
/*
 * Forgets the call; its callback is not run. A request is cancelled at the
 * broker, too, unless it was made with no_tool_call_id.
 */
void approval_call_cancel(struct approval_call *call);
/*
 * The same, blocking: calls and waits; a call whose time is over is cancelled.
 * *result is to be freed with approval_value_free; may be NULL.
 */
int approval_call_wait(struct approval *a, const char *method, const void *params, size_t len,
	int64_t timeout_ms, struct approval_value **result);
/* What the last blocking call answered instead of a result. */
const struct approval_error *approval_last_error(const struct approval *a);

/* ---- agent side ---------------------------------------------------------- */

struct approval_request {
	size_t size; /* sizeof(struct approval_request) */
	const char *type;	  /* NULL: tool_call */
	const char *tool_call_id; /* NULL: the library makes one, so that a resubmission attaches */
	const char *tool;
	const void *input; /* MessagePack; NULL: an empty map */
	size_t input_len;
	const char *kind, *summary, *description, *cwd, *turn_id;
	const char *on_disconnect; /* NULL: wait */
	int64_t timeout_ms, channel_ms; /* 0: not stated */
	bool mutating, fail_closed, elsewhere, takes_input, multi;
	/* let the broker match the last check (see request in doc/protocol.md) */
	bool no_tool_call_id;
	const void *options, *schema; /* MessagePack; NULL: none */
	size_t options_len, schema_len;
};
void approval_request_init(struct approval_request *r);

struct approval_decision {
	enum approval_verdict verdict;
	const char *request, *tool_call_id, *turn, *source, *scope, *step, *state;
	const char *reason;  /* what the person or rule said; "" : nothing */
	const char *message; /* for the model; "" on allow */
	const unsigned char *digest; /* 32 bytes, or NULL */
	const struct approval_value *updated_input, *answers; /* NULL: none */
	const struct approval_value *result; /* all of it */
};
typedef void (*approval_decision_fn)(struct approval *a, int status,
	const struct approval_decision *d, const struct approval_error *error, void *arg);

/*
 * Submits a tool call; survives restarts of the broker. d is valid during the
 * callback, and NULL unless status is 0.
 */
int approval_request(struct approval *a, const struct approval_request *r,
	approval_decision_fn fn, void *arg, struct approval_call **call);
int approval_check(struct approval *a, const struct approval_request *r,
	approval_decision_fn fn, void *arg, struct approval_call **call);
/* The same, blocking. *d (and all in it) belongs to the client until its next blocking call. */
int approval_request_wait(struct approval *a, const struct approval_request *r,
	int64_t timeout_ms, const struct approval_decision **d);
int approval_check_wait(struct approval *a, const struct approval_request *r,
	int64_t timeout_ms, const struct approval_decision **d);

struct approval_usage {
	size_t size;
	const char *turn_id; /* NULL: the present turn */
	uint64_t seq, input, output, cache_read, cache_write, cost_microusd;
	const void *cursor;
	size_t cursor_len;
};
/* Blocking, at most timeout_ms each. turn_begin without a turn_id makes one. */
int approval_turn_begin(struct approval *a, const char *turn_id, const char *prompt,
	int64_t timeout_ms);
int approval_turn_end(struct approval *a, const char *turn_id, const struct approval_usage *u,
	int64_t timeout_ms);
int approval_usage(struct approval *a, const struct approval_usage *u, int64_t timeout_ms);
int approval_outcome(struct approval *a, const char *tool_call_id, const char *outcome,
	const char *summary, int64_t timeout_ms);
int approval_settled(struct approval *a, const char *tool_call_id, const char *verdict,
	int64_t timeout_ms);
int approval_cancel(struct approval *a, const char *tool_call_id, const char *reason,
	int64_t timeout_ms);
int approval_set_mode(struct approval *a, const char *mode, int64_t timeout_ms);

/* ---- frontend side ------------------------------------------------------- */

/*
 * Subscribes, now and after each reconnect. Items and events come as
 * APPROVAL_NOTIFICATION; items of the snapshot under the name "item", then
 * APPROVAL_SNAPSHOT. A gap in the events ends in a reconnect and a new snapshot.
 */
int approval_subscribe(struct approval *a);

struct approval_answer {
	size_t size;
	const char *request;
	const void *digest; /* 32 bytes; required for an allow */
	enum approval_verdict verdict;
	const char *reason, *scope;
	const void *updated_input, *answers;
	size_t updated_input_len, answers_len;
	const char *rule; /* with a scope beyond once: instead of one for the very call */
};
/*
 * result: {results: […]} of the protocol, in the order given. Never repeated after a lost
 * connection.
 */
int approval_decide(struct approval *a, const struct approval_answer *answers, size_t n,
	approval_reply_fn fn, void *arg, struct approval_call **call);
int approval_decide_wait(struct approval *a, const struct approval_answer *answers, size_t n,
	int64_t timeout_ms, struct approval_value **result);

/* ---- the rest ------------------------------------------------------------ */

const char *approval_version(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
