/* SPDX-License-Identifier: MIT */
/* The client from the inside; see approval.h for what it promises. */
#ifndef LIBAPPROVAL_CLIENT_H
#define LIBAPPROVAL_CLIENT_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>

#include "libapproval/approval.h"
#include "libapproval/bytes.h"
#include "libapproval/client_state.h"
#include "libapproval/limits.h"
#include "libapproval/place.h"
#include "libapproval/value.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/spec.h"

#define CLIENT_STATUS_SIZE 512
/* Some places are left for the cancelling of what fills the others. */
#define CLIENT_CALLS_MAX (LIMIT_OUTSTANDING - 64)

/* ---- failures: an error that outlives the message that brought it ---- */

struct failure {
	struct approval_error view; /* into the two below, or constant */
	struct approval_value *map; /* the broker's error; NULL: not its own answer */
	char text[CLIENT_STATUS_SIZE];
};

void failure_clear(struct failure *f);
/* A copy; where memory is short only what fits of the message. */
void failure_set(struct failure *f, const struct approval_error *e);
/* One of the library's own. */
void failure_text(struct failure *f, const char *text);
/* The view of an error map of the broker. 0, -EPROTO. */
int failure_view(const struct approval_value *map, struct approval_error *e);

/* ---- calls ---- */

/* Callbacks inside the library: a result other than 0 goes the way of client_message. */
typedef int (*call_own_fn)(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error);

enum call_kind {
	CALL_PLAIN,
	CALL_REQUEST, /* its result is a decision, and cancelling is told to the broker */
	CALL_CHECK,   /* its result is a decision, ask included */
};

TAILQ_HEAD(call_queue, approval_call);
RB_HEAD(call_tree, approval_call);

struct approval_call {
	struct approval *client;
	struct call_queue *on; /* the queue that it stands in; NULL: its callback runs */
	TAILQ_ENTRY(approval_call) link;
	RB_ENTRY(approval_call) node; /* in by_id, while sent */
	uint32_t id;		      /* while sent */
	bool ever_sent, repeat;
	enum call_kind kind;
	uint8_t *message; /* the whole call; NULL once sent, if it is not to be repeated */
	size_t len;
	char *tool_call_id; /* of a request or check; NULL: left to the broker */
	approval_reply_fn fn;
	approval_decision_fn decision_fn;
	call_own_fn own;
	void *arg;
};

struct call_set {
	struct call_queue unsent; /* in order */
	struct call_queue sent;	  /* in the order of sending */
	struct call_queue lost;	  /* about to be told that they are not repeated */
	struct call_tree by_id;
	unsigned int n;
	uint32_t next_id;
};

void calls_init(struct call_set *set);

/* Starts a message in b; exactly one map, the params, follows. */
void call_begin(struct wire_buffer *b, const char *method);
/*
 * Queues the call in b, the rest being as in *like. b is freed in any case. 0;
 * -EINVAL, -EMSGSIZE, -EAGAIN, -ENOMEM, or why the client has ended.
 */
int call_submit(struct approval *a, struct wire_buffer *b, const struct approval_call *like,
	struct approval_call **out);

/* Moves calls that wait into the output, as long as it is short. 0 or -ENOMEM. */
int calls_pump(struct approval *a);
/* 0, or as client_message; CONN_LOST where the broker stops before the call is done. */
int calls_reply(struct approval *a, const struct wire_frame *f);
/* The connection is gone: repeats wait again, the others end with -ENOTCONN. */
void calls_lost(struct approval *a);
/* Every call ends with that status. */
void calls_end(struct approval *a, int status, const struct approval_error *error);

/* ---- the link: bytes in and out ---- */

#define LINK_FDS 3

struct link {
	int fd;	     /* -1: none */
	bool broken; /* nothing more can be sent; what was received is still read */
	int pass_fds[LINK_FDS]; /* go with the first byte of the output. Not owned. */
	unsigned int n_pass_fds;
	struct wire_buffer out;
	size_t out_sent;
	uint8_t *in;
	size_t in_start, in_len,
		in_cap; /* of the object that is being received, and what follows */
	size_t in_seen; /* bytes that the scan has taken */
	struct wire_scan scan;
};

void link_init(struct link *l);
/* Forgets connection and buffers. */
void link_drop(struct link *l);
/* 0, or a negative errno; the socket does not block. */
int link_open(struct link *l, const char *path);
/* Sends what can be sent. Failures show in `broken`. */
void link_send(struct link *l);
/* Reads once. Bytes read; 0: nothing for now; -ECONNRESET: the end; a negative errno. */
int link_receive(struct link *l);
/* 1 and the next complete object, valid until the next call; 0: none yet; -EBADMSG, -EMSGSIZE.
 */
int link_next(struct link *l, struct bytes *object);
/* Bytes that wait to be sent. */
size_t link_queued(const struct link *l);
/* 0 or -ENOMEM, after which the connection is of no use. */
int link_queue(struct link *l, const void *data, size_t len);

/* ---- the client ---- */

struct subscription {
	bool wanted;
	bool active;  /* on this connection: events are counted */
	uint64_t seq; /* of the last event */
};

struct approval {
	struct conn conn;
	struct link link;
	struct place place;
	struct call_set calls;
	enum approval_side side;
	bool trust_socket;
	int subject_pidfd; /* -1: the process itself */
	int freeze_fd, kill_fd; /* -1: none */
	uint32_t hello_id;
	struct wire_buffer hello_params; /* the map, but for `session` of a rejoined one */
	char *agent_session;		 /* of the session that the first hello opened */
	struct approval_value *hello;	 /* result of the present connection */
	struct subscription subscription;
	approval_event_fn event_fn;
	void *event_arg;
	unsigned int depth; /* > 0: inside a callback or dispatch */
	uint32_t jitter;
	int final;	     /* why it has ended; 0: it has not */
	struct failure why;  /* the broker's or our reason for the end, or the last trouble */
	struct failure last; /* of the last blocking call */
	struct approval_decision decision; /* of the last blocking call */
	struct approval_value *decision_value;
	char status[CLIENT_STATUS_SIZE];
};

int64_t client_now(void);
void client_say(struct approval *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void client_emit(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error);

/*
 * Feeds the state machine and does what it says. CONN_REFUSED and CONN_CLOSE
 * need a->final to be set before.
 */
void client_happen(struct approval *a, enum conn_event event);

/*
 * Handles one received object. 0; a negative errno: the connection is of no use
 * any more; a positive enum conn_event that must be fed to the machine.
 */
int client_message(struct approval *a, struct bytes object);

/* PREFIX_ and 128 random bits; 0 or a negative errno. */
#define CLIENT_ID_SIZE 40
int client_make_id(char id[CLIENT_ID_SIZE], const char *prefix);

/* ---- hello ---- */

/* Makes and proves the params. 0, -EINVAL, -ENOMEM. */
int hello_prepare(struct approval *a, const struct approval_options *o);
/* Queues hello as the first output. */
int hello_send(struct approval *a);
/* As client_message. */
int hello_reply(struct approval *a, const struct wire_frame *f);
/* For errors that end a connection: whether trying again may help. */
bool hello_is_passing(const struct approval_error *e);
/* What such an error comes to: CONN_LOST, or CONN_REFUSED with the reason kept. */
int client_refused(struct approval *a, const struct approval_error *e);

/* ---- the frontend's subscription ---- */

/* After hello, or when it is first wanted. 0 or a negative errno. */
int subscription_start(struct approval *a);
/* Counts an event. 0, or -EPROTO: there is a gap or another broker. */
int subscription_event(struct approval *a, const struct approval_value *params);

/* ---- decisions ---- */

/* Reads the result of a request or check. 0, or -EPROTO: never an allow in doubt. */
int decision_read(struct approval_decision *d, const struct approval_value *result,
	const struct approval_call *call);

/* ---- blocking calls ---- */

/* Runs the client until *done. 0, -ETIMEDOUT. */
int wait_until(struct approval *a, const bool *done, int64_t timeout_ms);
/* 0 or -EDEADLK; forgets the last error. */
int wait_enter(struct approval *a);
/* Keeps why a blocking call failed without an answer. */
void wait_failed(struct approval *a);
/* Submits b, which is freed, and waits. As approval_call_wait. */
int wait_call(struct approval *a, struct wire_buffer *b, bool repeat, int64_t timeout_ms,
	struct approval_value **result);

/* ---- structures that may grow ---- */

/*
 * Copies a caller's structure of src_size bytes. Members that are missing are 0.
 * -EINVAL: no size; -E2BIG: it uses members that this library does not know.
 */
int struct_take(void *dst, size_t dst_size, const void *src, size_t src_size);

#endif
