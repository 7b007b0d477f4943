/* SPDX-License-Identifier: MIT */
#include "broker/core/turn.h"

#define EVENT_TEXT(prefix, name, text) [prefix##_##name] = text,

static const char *const event_names[TURN_EVENT_N] = { TURN_EVENT_LIST(EVENT_TEXT, TURN_ON) };

/* clang-format off */
#define T(x) TURN_##x
#define NO TURN_NONE
/*
 * One row a state, one column an event, in the order of the lists. NO is
 * "refused". RESUME and REDRIVEN lead to RUNNING; the engine then says PEND
 * where requests are still pending.
 */
static const uint8_t table[TURN_STATE_N][TURN_EVENT_N] = {
	/*                 begin       begin held    pend          clear         suspend       resume      restart       return        redriven    abandon        end */
	[T(NONE)]       = { T(RUNNING), T(SUSPENDED), NO,           NO,           NO,           NO,         NO,           NO,           NO,         NO,            NO },
	[T(RUNNING)]    = { NO,         NO,           T(WAITING),   T(RUNNING),   T(SUSPENDED), NO,         T(RECOVERED), T(RUNNING),   NO,         T(ABANDONING), T(ENDED) },
	[T(WAITING)]    = { NO,         NO,           T(WAITING),   T(RUNNING),   T(SUSPENDED), NO,         T(RECOVERED), T(WAITING),   NO,         T(ABANDONING), T(ENDED) },
	[T(RECOVERED)]  = { NO,         NO,           T(RECOVERED), T(RECOVERED), T(SUSPENDED), NO,         T(RECOVERED), T(REDRIVING), NO,         T(ABANDONING), T(ENDED) },
	[T(REDRIVING)]  = { NO,         NO,           T(REDRIVING), T(REDRIVING), T(SUSPENDED), NO,         T(RECOVERED), T(REDRIVING), T(RUNNING), T(ABANDONING), T(ENDED) },
	[T(SUSPENDED)]  = { NO,         NO,           T(SUSPENDED), T(SUSPENDED), T(SUSPENDED), T(RUNNING), T(SUSPENDED), T(SUSPENDED), NO,         T(ABANDONING), T(ENDED) },
	[T(ABANDONING)] = { NO,         NO,           NO,           T(ABANDONING), NO,          NO,         T(ABANDONING), T(ABANDONING), NO,       T(ABANDONING), T(ENDED) },
	[T(ENDED)]      = { NO },
};
#undef T
#undef NO
/* clang-format on */

const char *turn_event_name(enum turn_event event)
{
	return (unsigned)event < TURN_EVENT_N ? event_names[event] : "?";
}

enum turn_state turn_next(enum turn_state state, enum turn_event event)
{
	if ((unsigned)state >= TURN_STATE_N || (unsigned)event >= TURN_EVENT_N)
		return TURN_NONE;
	return table[state][event];
}
