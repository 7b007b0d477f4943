/* SPDX-License-Identifier: MIT */
/*
 * What the two sides of a broker were told before it died, for test_crash: an agent
 * in a process of its own, which follows orders, and a frontend in the test's.
 */
#ifndef TEST_CRASH_WORLD_H
#define TEST_CRASH_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

#define CALLS_MAX 4096
#define LINKS	  2 /* connections of the agent: sessions "a" and "b" */
#define TEXT_MAX  64

/* One tool call; in memory that the agent shares, each side writes its own members. */
struct call {
	char name[TEXT_MAX];
	unsigned link;
	unsigned turn; /* how many turns its agent had begun or ended before */
	/* the agent's */
	uint32_t rpc;		/* of the request; 0: none on this connection */
	uint32_t outcome_rpc;	/* the same, of its outcome */
	char noted[TEXT_MAX];	/* the request, as request_state named it */
	char verdict[TEXT_MAX]; /* told */
	char error[TEXT_MAX];
	bool outcome_sent, outcome; /* outcome: it was taken */
	/* the frontend's */
	char request[TEXT_MAX];
	uint8_t digest[32];
	uint32_t decide_rpc;
	const char *said;	 /* what it decided, once it tried */
	bool offered, ended;	 /* told so by events */
	char resolved[TEXT_MAX]; /* the verdict of the event */
	bool decided;		 /* the answer was ok */
	/* after the restart */
	char state[TEXT_MAX]; /* of the pending request; "": is not pending */
	unsigned decisions, ends, outcomes;
	char recorded[TEXT_MAX];
};

struct world {
	struct broker b;
	struct raw f;
	struct call *calls;
	unsigned *n;	/* of them; shared, too */
	bool loaded;	/* decide whatever is offered */
	unsigned turns; /* begun or ended by the agent's sessions */
	pid_t agent;
	int to, from;
	bool dead; /* the broker is */
	char session[TEXT_MAX];
	/* what the last steer was, and whether it was answered */
	const char *steered;
	bool steer_sure;
};

void text_of(char out[TEXT_MAX], struct bytes b);
struct call *call_get(struct world *w, const char *name);
/* False when the broker is gone. */
bool try_send(struct raw *r);

/* ---- the agent (crash_agent.c) ---- */

void agent_start(struct world *w);
void agent_end(struct world *w);
/* All of these do nothing once the broker is known to be dead, and note its death. */
void agent_connect(struct world *w, unsigned link); /* and says hello */
void agent_submit(struct world *w, const char *method, struct call *c);
void agent_await(struct world *w, struct call *c);
/* Any other method; what: a turn's id, a call's name, or "". True: no error. */
bool agent_call(struct world *w, unsigned link, const char *method, const char *what);
/* Reads what had come before the end. */
void agent_drain(struct world *w);
/*
 * Begins to submit call after call, first those that had no answer, and goes on
 * until the broker dies, which agent_load_await waits for.
 */
void agent_load(struct world *w);
void agent_load_await(struct world *w);

/* ---- the frontend (crash_frontend.c) ---- */

void frontend_start(struct world *w, bool subscribe);
/* Takes what comes up to an event about a call, or the broker's end. */
void frontend_await(struct world *w, const char *event, struct call *c);
void frontend_drain(struct world *w); /* up to the end of the connection */
void frontend_decide(struct world *w, struct call *c, const char *verdict);
/* An answer to what has ended: told so, and how. */
void frontend_late(struct world *w, struct call *c, char state[TEXT_MAX]);
void frontend_steer(struct world *w, const char *method);
/* What the store holds: state, decisions, ends, outcomes, recorded of each call. */
void frontend_read(struct world *w);

#endif
