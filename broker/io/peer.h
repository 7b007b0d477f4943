/* SPDX-License-Identifier: MIT */
/*
 * One connection: bytes in, whole messages out of them, bytes back. Raw libevent
 * events on a non-blocking socket; buffers exist only while something is in them.
 *
 * A loop turn of the owner is: peers_turn, event_base_loop(EVLOOP_ONCE, and
 * EVLOOP_NONBLOCK when peers_pending), its own work, peers_flush, then
 * peers_gone and peer_free until none is left.
 *
 * Death has two steps. peer_goodbye stops the events, closes the socket and tells
 * the owner through `closed`; the memory stays until the owner takes the peer from
 * peers_gone and frees it, outside of any callback.
 */
#ifndef IO_PEER_H
#define IO_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include <bsd/sys/queue.h>
#include <event2/event.h>
#include <event2/event_struct.h>

#include "broker/io/account.h"
#include "libapproval/bytes.h"

struct peer;
struct peers;
struct process;

struct peer_ops {
	/*
	 * A whole message, in wire form; the bytes are valid during the call. 0: go
	 * on. Positive: no more from this peer in this loop turn, the rest is kept
	 * and comes in the next one (or after peer_resume, if it was paused).
	 * Negative: the peer is said goodbye to, with that error as the reason. It
	 * may call anything here on this or another peer but peer_free.
	 */
	int (*frame)(void *arg, struct peer *p, struct bytes frame);
	/* Once for each peer; reason is a static text for the log. */
	void (*closed)(void *arg, struct peer *p, const char *reason);
};

struct peer_input;  /* bytes and descriptors that wait for the rest of a message */
struct peer_output; /* bytes that wait for the reader */

enum peer_state {
	PEER_OPEN,
	PEER_FINISHING, /* goodbye after the next flush */
	PEER_GONE,
};

struct peer {
	/* the owner's */
	void *data;
	/* read only for others */
	struct process *process; /* may be NULL; the peer holds a reference */
	uint32_t uid;
	uint8_t kind; /* enum listener_kind */
	/* private */
	uint8_t state;
	bool paused, dirty, ready, in_frame, takes_fds, brief : 1, patient : 1;
	int fd;
	struct peers *all;
	struct account *account;
	struct peer_input *input;
	struct peer_output *output;
	struct event *writing; /* from the first EAGAIN on */
	struct event reading;
	TAILQ_ENTRY(peer) work; /* in all->dirty, or all->gone */
	union {
		TAILQ_ENTRY(peer) again; /* in all->ready, while it is open */
		const char *reason;	 /* while it is finishing */
	};
};

/* base outlives it. max_output: LIMIT_OUTPUT but in tests. */
int peers_new(struct peers **out, struct event_base *base, const struct peer_ops *ops,
	void *arg, size_t max_output);
/* No peer may be left. NULL is fine. */
void peers_free(struct peers *all);
size_t peers_count(const struct peers *all);

/*
 * The peer owns the socket from here on, and takes a reference on the process.
 * The account is charged one connection: a positive return is the enum
 * account_limit in the way; then, and on an error, the caller still owns all.
 */
int peer_new(struct peers *all, struct peer **out, int fd, uint8_t kind, uint32_t uid,
	struct process *process, struct account *account);

/* Closes a connection that becomes no peer, at the next flush at the latest. */
void peers_turn_away(struct peers *all, int fd);

/* Messages that were kept from an earlier loop turn. */
void peers_turn(struct peers *all);
/* Whether peers_turn has something to do, so that the loop must not sleep. */
bool peers_pending(const struct peers *all);
/* Writes to each peer that has new output, once. */
void peers_flush(struct peers *all);
/* A peer that was said goodbye to and is to be freed; NULL: none. */
struct peer *peers_gone(struct peers *all);
void peer_free(struct peer *p);

/*
 * Queues a copy. Nothing happens for a peer that is finishing or gone. One that has
 * more than the limit waiting is said goodbye to ("slow reader").
 */
void peer_send(struct peer *p, struct bytes message);
/* The same, but written at once where nothing waits: for the only message of a loop turn. */
void peer_send_now(struct peer *p, struct bytes message);
/*
 * Whether more than the limit may wait: its process stands still, and can't read. What waits is
 * bounded by the uid's memory then.
 */
void peer_patient(struct peer *p, bool patient);
/* Bytes that wait for the reader. */
size_t peer_queued(const struct peer *p);

/* No messages are delivered and nothing is read until peer_resume; its death is still noticed.
 */
void peer_pause(struct peer *p);
void peer_resume(struct peer *p);

/*
 * Whether descriptors are kept for the messages that they come with; a new peer's are.
 */
void peer_receive_fds(struct peer *p, bool receive);
/*
 * Within ops->frame: a descriptor that came with the message, now the caller's; -1:
 * no more. Messages that arrive in one piece share what came with any of them.
 */
int peer_take_fd(struct peer *p);
/* Closes one that was taken, without waiting for it. */
void peer_close_fd(struct peer *p, int fd);

/*
 * Whether a message that is not complete may be of LIMIT_READ_CHUNK bytes at most: of one
 * that nothing is known of yet.
 */
void peer_brief(struct peer *p, bool brief);

/* Ends the peer after one more try to write what is queued: for a last error. */
void peer_finish(struct peer *p, const char *reason);
/* Ends it now; reason is a static text. A second call does nothing. */
void peer_goodbye(struct peer *p, const char *reason);

#endif
