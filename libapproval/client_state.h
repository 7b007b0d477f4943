/* SPDX-License-Identifier: MIT */
/*
 * The connection's state machine: one table, no input or output, time handed
 * in. The client tells it what happened and does what the returned actions say.
 */
#ifndef LIBAPPROVAL_CLIENT_STATE_H
#define LIBAPPROVAL_CLIENT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define CONN_BACKOFF_MIN_MS 20
#define CONN_BACKOFF_MAX_MS 1000

enum conn_state {
	CONN_DISCONNECTED, /* nothing was tried yet */
	CONN_CONNECTING,   /* a socket is being connected and its peer judged */
	CONN_GREETING,	   /* hello is on its way */
	CONN_READY,	   /* hello was answered: calls flow */
	CONN_WAITING,	   /* until the next attempt */
	CONN_CLOSED,	   /* for good */
	CONN_STATES,
};

enum conn_event {
	CONN_DUE,     /* it is time for an attempt */
	CONN_OPENED,  /* connected, and the peer is a broker of ours */
	CONN_FAILED,  /* no connection for now */
	CONN_WELCOME, /* hello was answered with a result */
	CONN_LOST,    /* end of file, an error, nonsense, or "come again" */
	CONN_REFUSED, /* a final no: of the broker, or of our judgement of it */
	CONN_EXPIRED, /* there was no broker for longer than allowed */
	CONN_CLOSE,   /* the caller wants no more */
	CONN_EVENTS,
};

/* What the client has to do, in the order of the bits. */
enum conn_action {
	CONN_DO_DROP = 1 << 0,	       /* close the socket, forget half messages */
	CONN_DO_DISCONNECTED = 1 << 1, /* tell that a working connection is lost */
	CONN_DO_CONNECT = 1 << 2,      /* try, then report OPENED, FAILED or REFUSED */
	CONN_DO_HELLO = 1 << 3,	       /* send hello */
	CONN_DO_CONNECTED = 1 << 4,    /* tell, and send all that is outstanding */
	CONN_DO_GIVE_UP = 1 << 5,      /* tell, and fail all that is outstanding */
	CONN_DO_CANCEL = 1 << 6,       /* end all that is outstanding as cancelled */
};

struct conn {
	enum conn_state state;
	bool once;	    /* a lost connection is final */
	int64_t retry_ms;   /* without a broker for so long at most; < 0: no bound */
	int64_t backoff_ms; /* the next pause, before jitter */
	int64_t due;	    /* of the next attempt, while WAITING */
	int64_t alone;	    /* since when there has been no broker; -1: there is one */
	int64_t ready;	    /* since when the present connection works */
};

void conn_init(struct conn *c, int64_t retry_ms, bool once);

/* The actions that follow; jitter is any number. An event that the state does not admit does
 * nothing. */
unsigned int conn_step(struct conn *c, enum conn_event event, int64_t now, uint32_t jitter);

/* The event that the time alone causes: 1 and *event, or 0. */
int conn_poll(const struct conn *c, int64_t now, enum conn_event *event);

/* When conn_poll will have something: a time, or -1 for never. */
int64_t conn_deadline(const struct conn *c, int64_t now);

const char *conn_state_name(enum conn_state state);

#endif
