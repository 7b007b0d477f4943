/* SPDX-License-Identifier: MIT */
/* The state machine of a request, as a table. doc/states.md is checked against it. */
#ifndef CORE_REQUEST_H
#define CORE_REQUEST_H

#include "broker/core/types.h"

#define REQUEST_EVENT_LIST(X, p)                                                               \
	X(p, SUBMIT, "submit")	     /* a new call; the pipeline says what follows */          \
	X(p, REVIEW, "review")	     /* policy frontends are asked */                          \
	X(p, ASK, "ask")	     /* people are asked */                                    \
	X(p, HOLD, "hold")	     /* its turn is suspended */                               \
	X(p, ALLOW, "allow")                                                                   \
	X(p, DENY, "deny")                                                                     \
	X(p, EXPIRE, "expire")	     /* the deadline is over */                                \
	X(p, CANCEL, "cancel")	     /* by the agent, or by the loss of its connection */      \
	X(p, SUPERSEDE, "supersede") /* a new turn began */                                    \
	X(p, SETTLE, "settle")	     /* settled outside the broker */                          \
	X(p, DETACH, "detach")	     /* the waiting connection is gone */                      \
	X(p, ATTACH, "attach")	     /* submitted again */                                     \
	X(p, GRACE, "grace over")    /* nobody came back */                                    \
	X(p, SUCCEEDED, "succeeded")                                                           \
	X(p, FAILED, "failed")                                                                 \
	X(p, NOT_RUN, "not run")                                                               \
	X(p, CLOSE, "close")	     /* its turn or session ended */                           \
	X(p, DIE, "die")	     /* the subject died */                                    \
	X(p, RESTART, "restart")     /* the broker was restarted */

enum request_event { REQUEST_EVENT_LIST(ENUM_ENTRY, REQUEST_ON) REQUEST_EVENT_N };

const char *request_event_name(enum request_event event);
/*
 * The state that follows, or REQUEST_NONE where the event is refused in this
 * state. SUBMIT of REQUEST_NONE leads to REVIEW, from which the pipeline goes on.
 */
enum request_state request_next(enum request_state state, enum request_event event);

#endif
