/* SPDX-License-Identifier: MIT */
/* The messages of the agent socket. Included by message.h, which explains the lists. */
#ifndef WIRE_MESSAGE_AGENT_H
#define WIRE_MESSAGE_AGENT_H

#include "libapproval/wire/message.h"

/* ---- ceilings ---- */

#define WIRE_BUDGET_FIELDS(F, m)                                                               \
	F(m, U64, tokens, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                       \
	F(m, U64, time_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                   \
	F(m, U64, wall_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                   \
	F(m, U64, calls, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                        \
	F(m, U64, cost_microusd, WIRE_OPTIONAL, WIRE_COUNT_MAX)

/* `budget` of hello and turn_begin */
#define WIRE_BUDGET_LIST(F, m) WIRE_BUDGET_FIELDS(F, m)
WIRE_DECLARE(budget, WIRE_BUDGET_LIST)

/* ---- hello ---- */

#define WIRE_AGENT_HELLO_LIST(F, m)                                                            \
	F(m, U32, protocol, WIRE_REQUIRED, 0)                                                  \
	F(m, STR, client, WIRE_REQUIRED, LIMIT_NAME)                                           \
	F(m, STR, agent, WIRE_REQUIRED, LIMIT_NAME)                                            \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, parent, WIRE_OPTIONAL, LIMIT_NAME)                                           \
	F(m, STR, title, WIRE_OPTIONAL, LIMIT_TEXT)                                            \
	F(m, STR, cwd, WIRE_OPTIONAL, LIMIT_TEXT)                                              \
	F(m, STR, mode, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, BOOL, subject, WIRE_OPTIONAL, 0)                                                  \
	F(m, BOOL, fail_closed, WIRE_OPTIONAL, 0)                                              \
	F(m, U64, channel_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                \
	F(m, BOOL, resume, WIRE_OPTIONAL, 0)                                                   \
	F(m, MAP, budget, WIRE_OPTIONAL, 0)                                                    \
	F(m, STR, enforce, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, BOOL, cgroup, WIRE_OPTIONAL, 0)
WIRE_DECLARE(agent_hello, WIRE_AGENT_HELLO_LIST)

#define WIRE_AGENT_HELLO_REPLY_LIST(F, m)                                                      \
	F(m, U32, protocol, WIRE_REQUIRED, 0)                                                  \
	F(m, STR, broker, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, epoch, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, session, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, agent_session, WIRE_REQUIRED, 0)                                             \
	F(m, STR, mode, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, ceiling, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, workspace, WIRE_NILLED, 0)                                                   \
	F(m, MAP, turn, WIRE_NILLED, 0)                                                        \
	F(m, BIN, cursor, WIRE_NILLED, 0)                                                      \
	F(m, U64, seq, WIRE_REQUIRED, 0)                                                       \
	F(m, ARRAY, pending, WIRE_REQUIRED, 0)
WIRE_DECLARE(agent_hello_reply, WIRE_AGENT_HELLO_REPLY_LIST)

/* `turn` of the result of hello */
#define WIRE_HELLO_TURN_LIST(F, m)                                                             \
	F(m, STR, turn, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, agent_turn, WIRE_NILLED, 0)                                                  \
	F(m, STR, state, WIRE_REQUIRED, 0)
WIRE_DECLARE(hello_turn, WIRE_HELLO_TURN_LIST)

/* an element of `pending` of the result of hello */
#define WIRE_HELLO_PENDING_LIST(F, m)                                                          \
	F(m, STR, request, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, tool_call_id, WIRE_REQUIRED, 0)                                              \
	F(m, STR, state, WIRE_REQUIRED, 0)
WIRE_DECLARE(hello_pending, WIRE_HELLO_PENDING_LIST)

/* ---- turns ---- */

#define WIRE_TURN_BEGIN_LIST(F, m)                                                             \
	F(m, STR, turn_id, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, prompt, WIRE_OPTIONAL, LIMIT_INPUT)                                          \
	F(m, MAP, budget, WIRE_OPTIONAL, 0)
WIRE_DECLARE(turn_begin, WIRE_TURN_BEGIN_LIST)

#define WIRE_TURN_END_LIST(F, m)                                                               \
	F(m, STR, turn_id, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, MAP, usage, WIRE_OPTIONAL, 0)
WIRE_DECLARE(turn_end, WIRE_TURN_END_LIST)

#define WIRE_USAGE_FIELDS(F, m)                                                                \
	F(m, U64, seq, WIRE_REQUIRED, WIRE_COUNT_MAX)                                          \
	F(m, U64, input, WIRE_REQUIRED, WIRE_COUNT_MAX)                                        \
	F(m, U64, output, WIRE_REQUIRED, WIRE_COUNT_MAX)                                       \
	F(m, U64, cache_read, WIRE_REQUIRED, WIRE_COUNT_MAX)                                   \
	F(m, U64, cache_write, WIRE_REQUIRED, WIRE_COUNT_MAX)                                  \
	F(m, U64, cost_microusd, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                \
	F(m, BIN, cursor, WIRE_OPTIONAL, LIMIT_CURSOR)

/* `usage` of turn_end */
#define WIRE_TURN_USAGE_LIST(F, m) WIRE_USAGE_FIELDS(F, m)
WIRE_DECLARE(turn_usage, WIRE_TURN_USAGE_LIST)

#define WIRE_USAGE_LIST(F, m)                                                                  \
	WIRE_USAGE_FIELDS(F, m)                                                                \
	F(m, STR, turn_id, WIRE_OPTIONAL, LIMIT_NAME)
WIRE_DECLARE(usage, WIRE_USAGE_LIST)

/* the result of turn_begin, turn_end and usage */
#define WIRE_TURN_REPLY_LIST(F, m)                                                             \
	F(m, STR, turn, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, state, WIRE_REQUIRED, 0)
WIRE_DECLARE(turn_reply, WIRE_TURN_REPLY_LIST)

/* ---- request, check ---- */

#define WIRE_REQUEST_LIST(F, m)                                                                \
	F(m, STR, type, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, STR, tool_call_id, WIRE_OPTIONAL, LIMIT_NAME)                                     \
	F(m, STR, tool, WIRE_REQUIRED, LIMIT_NAME)                                             \
	F(m, RAW, input, WIRE_REQUIRED | WIRE_FREE, LIMIT_INPUT)                               \
	F(m, STR, kind, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, BOOL, mutating, WIRE_OPTIONAL, 0)                                                 \
	F(m, STR, summary, WIRE_OPTIONAL, LIMIT_TEXT)                                          \
	F(m, STR, description, WIRE_OPTIONAL, LIMIT_DESCRIPTION)                               \
	F(m, STR, cwd, WIRE_OPTIONAL, LIMIT_TEXT)                                              \
	F(m, STR, turn_id, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, U64, timeout_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                \
	F(m, U64, channel_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                \
	F(m, STR, on_disconnect, WIRE_OPTIONAL, LIMIT_NAME)                                    \
	F(m, BOOL, fail_closed, WIRE_OPTIONAL, 0)                                              \
	F(m, BOOL, elsewhere, WIRE_OPTIONAL, 0)                                                \
	F(m, BOOL, takes_input, WIRE_OPTIONAL, 0)                                              \
	F(m, ARRAY, options, WIRE_FREE, WIRE_EXTRA_MAX)                                        \
	F(m, BOOL, multi, WIRE_OPTIONAL, 0)                                                    \
	F(m, MAP, schema, WIRE_FREE, WIRE_EXTRA_MAX)
WIRE_DECLARE(request, WIRE_REQUEST_LIST)

/* an element of `options`, of which there are at most LIMIT_OPTIONS */
#define WIRE_OPTION_LIST(F, m)                                                                 \
	F(m, STR, id, WIRE_REQUIRED, LIMIT_NAME)                                               \
	F(m, STR, label, WIRE_REQUIRED, LIMIT_TEXT)                                            \
	F(m, STR, description, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(option, WIRE_OPTION_LIST)

/* the result of request, and of check, where `request` is nil when the verdict is ask */
#define WIRE_REQUEST_REPLY_LIST(F, m)                                                          \
	F(m, STR, request, WIRE_NILLED, 0)                                                     \
	F(m, STR, tool_call_id, WIRE_NILLED, 0)                                                \
	F(m, STR, turn, WIRE_NILLED, 0)                                                        \
	F(m, STR, verdict, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, source, WIRE_NILLED, 0)                                                      \
	F(m, STR, scope, WIRE_NILLED, 0)                                                       \
	F(m, STR, step, WIRE_NILLED, 0)                                                        \
	F(m, STR, state, WIRE_NILLED, 0)                                                       \
	F(m, STR, reason, WIRE_NILLED, 0)                                                      \
	F(m, STR, message, WIRE_NILLED, 0)                                                     \
	F(m, BIN, digest, WIRE_NILLED | WIRE_EXACT, WIRE_DIGEST)                               \
	F(m, RAW, updated_input, WIRE_OPTIONAL, 0)                                             \
	F(m, RAW, answers, WIRE_OPTIONAL, 0)
WIRE_DECLARE(request_reply, WIRE_REQUEST_REPLY_LIST)

/* ---- what becomes of a request ---- */

#define WIRE_CANCEL_LIST(F, m)                                                                 \
	F(m, STR, tool_call_id, WIRE_OPTIONAL, LIMIT_NAME)                                     \
	F(m, STR, request, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(cancel, WIRE_CANCEL_LIST)

#define WIRE_SETTLED_LIST(F, m)                                                                \
	F(m, STR, tool_call_id, WIRE_OPTIONAL, LIMIT_NAME)                                     \
	F(m, STR, request, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, tool, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, RAW, input, WIRE_FREE, LIMIT_INPUT)                                               \
	F(m, STR, verdict, WIRE_OPTIONAL, LIMIT_NAME)
WIRE_DECLARE(settled, WIRE_SETTLED_LIST)

#define WIRE_OUTCOME_LIST(F, m)                                                                \
	F(m, STR, tool_call_id, WIRE_OPTIONAL, LIMIT_NAME)                                     \
	F(m, STR, request, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, tool, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, RAW, input, WIRE_FREE, LIMIT_INPUT)                                               \
	F(m, STR, outcome, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, STR, summary, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(outcome, WIRE_OUTCOME_LIST)

/* the result of cancel, settled and outcome */
#define WIRE_STATE_REPLY_LIST(F, m) F(m, STR, state, WIRE_NILLED, 0)
WIRE_DECLARE(state_reply, WIRE_STATE_REPLY_LIST)

/* ---- set_mode, bye ---- */

#define WIRE_AGENT_SET_MODE_LIST(F, m) F(m, STR, mode, WIRE_REQUIRED, LIMIT_NAME)
WIRE_DECLARE(agent_set_mode, WIRE_AGENT_SET_MODE_LIST)

/* the result of set_mode on both sockets */
#define WIRE_MODE_REPLY_LIST(F, m)                                                             \
	F(m, STR, mode, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, ceiling, WIRE_REQUIRED, 0)
WIRE_DECLARE(mode_reply, WIRE_MODE_REPLY_LIST)

#define WIRE_AGENT_BYE_LIST(F, m) F(m, BOOL, end, WIRE_OPTIONAL, 0)
WIRE_DECLARE(agent_bye, WIRE_AGENT_BYE_LIST)

/* ---- notifications ---- */

#define WIRE_TURN_SUSPENDED_LIST(F, m)                                                         \
	F(m, STR, turn, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, cause, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, reason, WIRE_NILLED, 0)
WIRE_DECLARE(turn_suspended, WIRE_TURN_SUSPENDED_LIST)

#define WIRE_TURN_RESUMED_LIST(F, m) F(m, STR, turn, WIRE_REQUIRED, 0)
WIRE_DECLARE(turn_resumed, WIRE_TURN_RESUMED_LIST)

#define WIRE_REQUEST_STATE_LIST(F, m)                                                          \
	F(m, STR, request, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, tool_call_id, WIRE_REQUIRED, 0)                                              \
	F(m, STR, state, WIRE_REQUIRED, 0)
WIRE_DECLARE(request_state, WIRE_REQUEST_STATE_LIST)

#endif
