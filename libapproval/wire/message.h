/* SPDX-License-Identifier: MIT */
/*
 * The messages of doc/protocol.md as structures.
 *
 * Each is one list of F(m, type, member, flags, max). From it come
 *	struct wire_M			`present`, then the members
 *	enum wire_M_field		WIRE_M_member: the index of each field
 *	const struct wire_spec wire_M_spec
 * The structure of a method's result is called wire_M_reply. Where a result is
 * not a flat map it is read with wire_iter_map and wire_iter_array.
 *
 *	struct wire_agent_hello h;
 *	if (wire_decode(&wire_agent_hello_spec, frame.params, &h, &problem))
 *		…
 *	if (WIRE_HAS(&h, agent_hello, channel_ms))
 *		…
 *	WIRE_PUT(&h, agent_hello, fail_closed, true);
 *	wire_encode(&wire_agent_hello_spec, &h, buf);
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include "libapproval/limits.h"
#include "libapproval/wire/spec.h"

#define WIRE_C_BOOL  bool
#define WIRE_C_U32   uint32_t
#define WIRE_C_U64   uint64_t
#define WIRE_C_I64   int64_t
#define WIRE_C_STR   struct bytes
#define WIRE_C_BIN   struct bytes
#define WIRE_C_RAW   struct bytes
#define WIRE_C_ARRAY struct bytes
#define WIRE_C_MAP   struct bytes

#define WIRE_MEMBER(m, type, member, flags, max) WIRE_C_##type member;
#define WIRE_INDEX(m, type, member, flags, max)	 WIRE_##m##_##member,

#define WIRE_DECLARE(m, LIST)                                                                  \
	struct wire_##m {                                                                      \
		uint64_t present;                                                              \
		LIST(WIRE_MEMBER, m)                                                           \
	};                                                                                     \
	enum wire_##m##_field{LIST(WIRE_INDEX, m) WIRE_##m##_FIELDS};                          \
	extern const struct wire_spec wire_##m##_spec;

/* Was the member given? Sets it and says that it is given. */
#define WIRE_HAS(msg, m, member) ((bool)((msg)->present >> WIRE_##m##_##member & 1))
#define WIRE_PUT(msg, m, member, value)                                                        \
	((msg)->member = (value), (msg)->present |= UINT64_C(1) << WIRE_##m##_##member)

/* Integers go no further than a double, SQLite and every language can follow. */
#define WIRE_COUNT_MAX (UINT64_C(1) << 53)
/* Ten years: a duration may be added to any time without a thought. */
#define WIRE_DURATION_MAX UINT64_C(315360000000)
/* Options and schema; with input, updated_input and answers they are inside LIMIT_FRAME. */
#define WIRE_EXTRA_MAX (LIMIT_INPUT / 4)
#define WIRE_DIGEST    32

#include "libapproval/wire/message_agent.h"
#include "libapproval/wire/message_frontend.h"

/* ---- on both sockets ---- */

/* `error` of a reply */
#define WIRE_ERROR_LIST(F, m)                                                                  \
	F(m, STR, code, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, message, WIRE_NILLED, 0)                                                     \
	F(m, MAP, data, WIRE_NILLED, 0)
WIRE_DECLARE(error, WIRE_ERROR_LIST)

/* a method without parameters, or without a result: {} */
#define WIRE_EMPTY_LIST(F, m)
WIRE_DECLARE(empty, WIRE_EMPTY_LIST)

/* ---- methods ---- */

/* enumerator, method, structure of the params, structure of the result */
#define WIRE_AGENT_METHODS(X)                                                                  \
	X(HELLO, hello, agent_hello, agent_hello_reply)                                        \
	X(TURN_BEGIN, turn_begin, turn_begin, turn_reply)                                      \
	X(TURN_END, turn_end, turn_end, turn_reply)                                            \
	X(USAGE, usage, usage, turn_reply)                                                     \
	X(REQUEST, request, request, request_reply)                                            \
	X(CHECK, check, request, request_reply)                                                \
	X(CANCEL, cancel, cancel, state_reply)                                                 \
	X(SETTLED, settled, settled, state_reply)                                              \
	X(OUTCOME, outcome, outcome, state_reply)                                              \
	X(SET_MODE, set_mode, agent_set_mode, mode_reply)                                      \
	X(BYE, bye, agent_bye, empty)

#define WIRE_FRONTEND_METHODS(X)                                                               \
	X(HELLO, hello, frontend_hello, frontend_hello_reply)                                  \
	X(SUBSCRIBE, subscribe, subscribe, subscribe_reply)                                    \
	X(LIST, list, list, page_reply)                                                        \
	X(GET, get, get, item_reply)                                                           \
	X(SESSIONS, sessions, sessions, page_reply)                                            \
	X(TURNS, turns, turns, page_reply)                                                     \
	X(DECIDE, decide, decide, decide_reply)                                                \
	X(VERDICT, verdict, verdict, verdict_reply)                                            \
	X(SET_MODE, set_mode, frontend_set_mode, mode_reply)                                   \
	X(SUSPEND, suspend, suspend, turns_reply)                                              \
	X(RESUME, resume, resume, turns_reply)                                                 \
	X(END_TURN, end_turn, end_turn, turns_reply)                                           \
	X(KILL, kill, kill, empty)                                                             \
	X(HISTORY, history, history, history_reply)                                            \
	X(HISTORY_VERIFY, history_verify, history_verify, history_verify_reply)                \
	X(STATS, stats, empty, stats_reply)                                                    \
	X(RULES_LIST, rules_list, rules_list, page_reply)                                      \
	X(RULES_ADD, rules_add, rules_add, rules_add_reply)                                    \
	X(RULES_LINT, rules_lint, empty, rules_lint_reply)                                     \
	X(RULES_REMOVE, rules_remove, rules_remove, empty)                                     \
	X(EXPLAIN, explain, explain, explain_reply)                                            \
	X(RULES_PROJECT, rules_project, rules_project, rules_project_reply)                    \
	X(RULES_PROJECTS, rules_projects, rules_projects, page_reply)                          \
	X(RULES_TRUST, rules_trust, rules_trust, empty)                                        \
	X(FLOOR_LIST, floor_list, floor_list, floor_list_reply)                                \
	X(RELOAD, reload, empty, empty)                                                        \
	X(BYE, bye, empty, empty)

enum wire_agent_method {
#define WIRE_METHOD_ENTRY(id, name, params, reply) WIRE_AGENT_##id,
	WIRE_AGENT_METHODS(WIRE_METHOD_ENTRY) WIRE_AGENT_METHOD_N
#undef WIRE_METHOD_ENTRY
};

enum wire_frontend_method {
#define WIRE_METHOD_ENTRY(id, name, params, reply) WIRE_FRONTEND_##id,
	WIRE_FRONTEND_METHODS(WIRE_METHOD_ENTRY) WIRE_FRONTEND_METHOD_N
#undef WIRE_METHOD_ENTRY
};

struct wire_method {
	struct bytes name; /* NUL-terminated, too */
	const struct wire_spec *params;
	const struct wire_spec *reply;
};

extern const struct wire_method wire_agent_methods[WIRE_AGENT_METHOD_N];
extern const struct wire_method wire_frontend_methods[WIRE_FRONTEND_METHOD_N];

/* Every spec, ended by NULL: for tests and tools. */
extern const struct wire_spec *const wire_specs[];

/* The method of that name: an enum wire_agent_method or wire_frontend_method; -1: none. */
int wire_agent_method_find(struct bytes name);
int wire_frontend_method_find(struct bytes name);

#endif
