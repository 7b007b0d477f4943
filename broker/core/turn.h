/* SPDX-License-Identifier: MIT */
/* The state machine of a turn, as a table. doc/states.md is checked against it. */
#ifndef CORE_TURN_H
#define CORE_TURN_H

#include "broker/core/types.h"

#define TURN_EVENT_LIST(X, p)                                                                  \
	X(p, BEGIN, "begin")	   /* made, free to run */                                     \
	X(p, BEGIN_HELD, "begin held") /* made under a suspension */                           \
	X(p, PEND, "pend")	   /* its first request is pending */                          \
	X(p, CLEAR, "clear")	   /* its last pending request is settled */                   \
	X(p, SUSPEND, "suspend")   /* a cause of its own or of an ancestor arose */            \
	X(p, RESUME, "resume")	   /* the last cause is gone */                                \
	X(p, RESTART, "restart")   /* restored from the store */                               \
	X(p, RETURN, "return")	   /* its agent said hello again */                            \
	X(p, REDRIVEN, "redriven") /* no request waits for its agent any more */               \
	X(p, ABANDON, "abandon")   /* over for the agent, but requests are kept in it */       \
	X(p, END, "end")	   /* by the agent, a person, a ceiling, or a death */

enum turn_event { TURN_EVENT_LIST(ENUM_ENTRY, TURN_ON) TURN_EVENT_N };

const char *turn_event_name(enum turn_event event);
/* The state that follows, or TURN_NONE where the event is refused in this state. */
enum turn_state turn_next(enum turn_state state, enum turn_event event);

/* No call is released in it, none is taken into it. */
static inline bool turn_state_over(enum turn_state s)
{
	return s == TURN_ENDED || s == TURN_ABANDONING;
}

#endif
