/* SPDX-License-Identifier: MIT */
#include "broker/core/request.h"

#define EVENT_TEXT(prefix, name, text) [prefix##_##name] = text,

static const char *const event_names[REQUEST_EVENT_N] = { REQUEST_EVENT_LIST(
	EVENT_TEXT, REQUEST_ON) };

/* clang-format off */
#define R(x) REQUEST_##x
#define NO REQUEST_NONE
/* One row a state, one column an event, in the order of the lists. NO is "refused". */
static const uint8_t table[REQUEST_STATE_N][REQUEST_EVENT_N] = {
	/*                  submit     review     ask          hold     allow       deny       expire      cancel         supersede      settle         detach       attach         grace           succeeded     failed     not run     close           die             restart */
	[R(NONE)]        = { R(REVIEW), NO,        NO,          NO,      NO,         NO,        NO,         NO,            NO,            NO,            NO,          NO,            NO,             NO,           NO,        NO,         NO,             NO,             NO },
	[R(REVIEW)]      = { NO,        R(REVIEW), R(AWAITING), R(HELD), R(ALLOWED), R(DENIED), R(EXPIRED), R(ABANDONED),  R(ABANDONED),  R(ELSEWHERE),  R(REVIEW),   R(REVIEW),     R(INTERRUPTED), R(ELSEWHERE), R(ELSEWHERE), R(ELSEWHERE), R(ABANDONED), R(INTERRUPTED), R(REVIEW) },
	[R(AWAITING)]    = { NO,        R(REVIEW), R(AWAITING), R(HELD), R(ALLOWED), R(DENIED), R(EXPIRED), R(ABANDONED),  R(ABANDONED),  R(ELSEWHERE),  R(AWAITING), R(AWAITING),   R(INTERRUPTED), R(ELSEWHERE), R(ELSEWHERE), R(ELSEWHERE), R(ABANDONED), R(INTERRUPTED), R(AWAITING) },
	[R(HELD)]        = { NO,        R(REVIEW), R(AWAITING), R(HELD), R(ALLOWED), R(DENIED), NO,         R(ABANDONED),  R(ABANDONED),  R(ELSEWHERE),  R(HELD),     R(HELD),       NO,             R(ELSEWHERE), R(ELSEWHERE), R(ELSEWHERE), R(ABANDONED), R(INTERRUPTED), R(HELD) },
	[R(ALLOWED)]     = { NO,        NO,        NO,          NO,      NO,         NO,        R(UNKNOWN), R(NOT_RUN),    R(UNKNOWN),    NO,            R(ALLOWED),  R(ALLOWED),    R(UNKNOWN),     R(SUCCEEDED), R(FAILED), R(NOT_RUN), R(UNKNOWN),     R(UNKNOWN),     R(ALLOWED) },
	[R(SUCCEEDED)]   = { NO },
	[R(FAILED)]      = { NO },
	[R(NOT_RUN)]     = { NO },
	[R(UNKNOWN)]     = { NO },
	[R(DENIED)]      = { [REQUEST_ON_ATTACH] = R(DENIED), [REQUEST_ON_GRACE] = R(DENIED) },
	[R(EXPIRED)]     = { [REQUEST_ON_ATTACH] = R(EXPIRED), [REQUEST_ON_GRACE] = R(EXPIRED) },
	[R(ABANDONED)]   = { NO },
	[R(INTERRUPTED)] = { NO },
	[R(ELSEWHERE)]   = { NO },
};
#undef R
#undef NO
/* clang-format on */

const char *request_event_name(enum request_event event)
{
	return (unsigned)event < REQUEST_EVENT_N ? event_names[event] : "?";
}

enum request_state request_next(enum request_state state, enum request_event event)
{
	if ((unsigned)state >= REQUEST_STATE_N || (unsigned)event >= REQUEST_EVENT_N)
		return REQUEST_NONE;
	return table[state][event];
}
