/* SPDX-License-Identifier: MIT */
/* The messages of the frontend socket. Included by message.h, which explains the lists. */
#ifndef WIRE_MESSAGE_FRONTEND_H
#define WIRE_MESSAGE_FRONTEND_H

#include "libapproval/wire/message.h"

/* ---- hello ---- */

#define WIRE_FRONTEND_HELLO_LIST(F, m)                                                         \
	F(m, U32, protocol, WIRE_REQUIRED, 0)                                                  \
	F(m, STR, client, WIRE_REQUIRED, LIMIT_NAME)                                           \
	F(m, STR, role, WIRE_REQUIRED, LIMIT_NAME)                                             \
	F(m, STR, name, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, ARRAY, answers, WIRE_OPTIONAL, LIMIT_TEXT)                                        \
	F(m, BOOL, reasons, WIRE_OPTIONAL, 0)                                                  \
	F(m, BOOL, headless, WIRE_OPTIONAL, 0)
WIRE_DECLARE(frontend_hello, WIRE_FRONTEND_HELLO_LIST)

#define WIRE_FRONTEND_HELLO_REPLY_LIST(F, m)                                                   \
	F(m, U32, protocol, WIRE_REQUIRED, 0)                                                  \
	F(m, STR, broker, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, epoch, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, frontend, WIRE_REQUIRED, 0)                                                  \
	F(m, U32, uid, WIRE_REQUIRED, 0)
WIRE_DECLARE(frontend_hello_reply, WIRE_FRONTEND_HELLO_REPLY_LIST)

/* ---- pages ---- */

#define WIRE_PAGE_FIELDS(F, m)                                                                 \
	F(m, BIN, cursor, WIRE_OPTIONAL, LIMIT_NAME)                                           \
	F(m, U32, limit, WIRE_OPTIONAL, LIMIT_PAGE)

#define WIRE_SUBSCRIBE_LIST(F, m) WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(subscribe, WIRE_SUBSCRIBE_LIST)

#define WIRE_SUBSCRIBE_REPLY_LIST(F, m)                                                        \
	F(m, STR, epoch, WIRE_REQUIRED, 0)                                                     \
	F(m, ARRAY, items, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, more, WIRE_REQUIRED, 0)                                                     \
	F(m, BIN, cursor, WIRE_NILLED, 0)
WIRE_DECLARE(subscribe_reply, WIRE_SUBSCRIBE_REPLY_LIST)

#define WIRE_LIST_LIST(F, m)                                                                   \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, BOOL, pending, WIRE_OPTIONAL, 0)                                                  \
	WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(list, WIRE_LIST_LIST)

#define WIRE_SESSIONS_LIST(F, m)                                                               \
	F(m, BOOL, ended, WIRE_OPTIONAL, 0)                                                    \
	WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(sessions, WIRE_SESSIONS_LIST)

#define WIRE_TURNS_LIST(F, m)                                                                  \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(turns, WIRE_TURNS_LIST)

/* the result of list, sessions and turns */
#define WIRE_PAGE_REPLY_LIST(F, m)                                                             \
	F(m, ARRAY, items, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, more, WIRE_REQUIRED, 0)                                                     \
	F(m, BIN, cursor, WIRE_NILLED, 0)
WIRE_DECLARE(page_reply, WIRE_PAGE_REPLY_LIST)

#define WIRE_GET_LIST(F, m) F(m, STR, id, WIRE_REQUIRED, LIMIT_NAME)
WIRE_DECLARE(get, WIRE_GET_LIST)

#define WIRE_ITEM_REPLY_LIST(F, m) F(m, MAP, item, WIRE_REQUIRED, 0)
WIRE_DECLARE(item_reply, WIRE_ITEM_REPLY_LIST)

/* ---- decide, verdict ---- */

/* at most LIMIT_DECISIONS elements */
#define WIRE_DECIDE_LIST(F, m) F(m, ARRAY, decisions, WIRE_REQUIRED, 0)
WIRE_DECLARE(decide, WIRE_DECIDE_LIST)

/* an element of `decisions` */
#define WIRE_DECISION_LIST(F, m)                                                               \
	F(m, STR, request, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, BIN, digest, WIRE_EXACT, WIRE_DIGEST)                                             \
	F(m, STR, verdict, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)                                           \
	F(m, STR, scope, WIRE_OPTIONAL, LIMIT_NAME)                                            \
	F(m, STR, rule, WIRE_OPTIONAL, LIMIT_RULE)                                             \
	F(m, RAW, updated_input, WIRE_FREE, LIMIT_INPUT)                                       \
	F(m, RAW, answers, WIRE_FREE, LIMIT_INPUT)
WIRE_DECLARE(decision, WIRE_DECISION_LIST)

#define WIRE_DECIDE_REPLY_LIST(F, m) F(m, ARRAY, results, WIRE_REQUIRED, 0)
WIRE_DECLARE(decide_reply, WIRE_DECIDE_REPLY_LIST)

#define WIRE_RESULT_FIELDS(F, m)                                                               \
	F(m, STR, result, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, state, WIRE_OPTIONAL, 0)                                                     \
	F(m, STR, source, WIRE_OPTIONAL, 0)                                                    \
	F(m, STR, step, WIRE_OPTIONAL, 0)                                                      \
	F(m, STR, message, WIRE_OPTIONAL, 0)

/* an element of `results` */
#define WIRE_DECISION_RESULT_LIST(F, m)                                                        \
	F(m, STR, request, WIRE_REQUIRED, 0)                                                   \
	WIRE_RESULT_FIELDS(F, m)
WIRE_DECLARE(decision_result, WIRE_DECISION_RESULT_LIST)

#define WIRE_VERDICT_LIST(F, m)                                                                \
	F(m, STR, request, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, BIN, digest, WIRE_REQUIRED | WIRE_EXACT, WIRE_DIGEST)                             \
	F(m, STR, verdict, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(verdict, WIRE_VERDICT_LIST)

#define WIRE_VERDICT_REPLY_LIST(F, m) WIRE_RESULT_FIELDS(F, m)
WIRE_DECLARE(verdict_reply, WIRE_VERDICT_REPLY_LIST)

/* ---- sessions and turns ---- */

#define WIRE_FRONTEND_SET_MODE_LIST(F, m)                                                      \
	F(m, STR, session, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, STR, mode, WIRE_REQUIRED, LIMIT_NAME)
WIRE_DECLARE(frontend_set_mode, WIRE_FRONTEND_SET_MODE_LIST)

#define WIRE_SUSPEND_LIST(F, m)                                                                \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, BOOL, all, WIRE_OPTIONAL, 0)                                                      \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(suspend, WIRE_SUSPEND_LIST)

#define WIRE_RESUME_LIST(F, m)                                                                 \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, BOOL, all, WIRE_OPTIONAL, 0)                                                      \
	WIRE_BUDGET_FIELDS(F, m)
WIRE_DECLARE(resume, WIRE_RESUME_LIST)

#define WIRE_END_TURN_LIST(F, m)                                                               \
	F(m, STR, session, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(end_turn, WIRE_END_TURN_LIST)

#define WIRE_KILL_LIST(F, m)                                                                   \
	F(m, STR, session, WIRE_REQUIRED, LIMIT_NAME)                                          \
	F(m, U64, grace_ms, WIRE_OPTIONAL, WIRE_DURATION_MAX)                                  \
	F(m, STR, reason, WIRE_OPTIONAL, LIMIT_TEXT)
WIRE_DECLARE(kill, WIRE_KILL_LIST)

#define WIRE_TURNS_REPLY_LIST(F, m) F(m, U32, turns, WIRE_REQUIRED, 0)
WIRE_DECLARE(turns_reply, WIRE_TURNS_REPLY_LIST)

/* ---- history, stats ---- */

#define WIRE_HISTORY_LIST(F, m)                                                                \
	F(m, U64, after, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                        \
	F(m, U64, before, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                       \
	F(m, U32, limit, WIRE_OPTIONAL, LIMIT_PAGE)                                            \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, agent, WIRE_OPTIONAL, LIMIT_NAME)                                            \
	F(m, STR, tool, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, STR, rule, WIRE_OPTIONAL, LIMIT_RULE)                                             \
	F(m, STR, verdict, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, source, WIRE_OPTIONAL, LIMIT_NAME)                                           \
	F(m, STR, event, WIRE_OPTIONAL, LIMIT_NAME)                                            \
	F(m, I64, since, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                        \
	F(m, I64, until, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                        \
	F(m, BOOL, newest, WIRE_OPTIONAL, 0)                                                   \
	F(m, BOOL, whole, WIRE_OPTIONAL, 0)
WIRE_DECLARE(history, WIRE_HISTORY_LIST)

#define WIRE_HISTORY_REPLY_LIST(F, m)                                                          \
	F(m, ARRAY, items, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, more, WIRE_REQUIRED, 0)                                                     \
	F(m, U64, cursor, WIRE_OPTIONAL, 0)
WIRE_DECLARE(history_reply, WIRE_HISTORY_REPLY_LIST)

#define WIRE_HISTORY_VERIFY_LIST(F, m)                                                         \
	F(m, U64, after, WIRE_OPTIONAL, WIRE_COUNT_MAX)                                        \
	F(m, U32, limit, WIRE_OPTIONAL, 0)
WIRE_DECLARE(history_verify, WIRE_HISTORY_VERIFY_LIST)

#define WIRE_HISTORY_VERIFY_REPLY_LIST(F, m)                                                   \
	F(m, U64, checked, WIRE_REQUIRED, 0)                                                   \
	F(m, U64, next, WIRE_NILLED, 0)                                                        \
	F(m, BOOL, ok, WIRE_REQUIRED, 0)                                                       \
	F(m, U64, bad_seq, WIRE_OPTIONAL, 0)                                                   \
	F(m, STR, message, WIRE_OPTIONAL, 0)                                                   \
	F(m, BIN, head, WIRE_NILLED, 0)
WIRE_DECLARE(history_verify_reply, WIRE_HISTORY_VERIFY_REPLY_LIST)

#define WIRE_STATS_REPLY_LIST(F, m)                                                            \
	F(m, U64, uptime_ms, WIRE_REQUIRED, 0)                                                 \
	F(m, U64, connections, WIRE_REQUIRED, 0)                                               \
	F(m, U64, sessions, WIRE_REQUIRED, 0)                                                  \
	F(m, U64, pending, WIRE_REQUIRED, 0)                                                   \
	F(m, MAP, decisions, WIRE_NILLED, 0)                                                   \
	F(m, U64, commits, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, store, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, store_path, WIRE_NILLED, 0)                                                  \
	F(m, STR, version, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, mode, WIRE_NILLED, 0)
WIRE_DECLARE(stats_reply, WIRE_STATS_REPLY_LIST)

/* ---- rules ---- */

#define WIRE_RULES_LIST_LIST(F, m) WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(rules_list, WIRE_RULES_LIST_LIST)

#define WIRE_RULES_ADD_LIST(F, m)                                                              \
	F(m, STR, rule, WIRE_REQUIRED, LIMIT_RULE)                                             \
	F(m, STR, scope, WIRE_REQUIRED, LIMIT_NAME)                                            \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, turn, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, STR, project, WIRE_OPTIONAL, LIMIT_TEXT)                                          \
	F(m, STR, origin, WIRE_OPTIONAL, LIMIT_TEXT)                                           \
	F(m, I64, expires, WIRE_OPTIONAL, WIRE_COUNT_MAX)
WIRE_DECLARE(rules_add, WIRE_RULES_ADD_LIST)

#define WIRE_RULES_ADD_REPLY_LIST(F, m)                                                        \
	F(m, U64, id, WIRE_REQUIRED, 0)                                                        \
	F(m, STR, rule, WIRE_REQUIRED, 0)                                                      \
	F(m, BOOL, existed, WIRE_REQUIRED, 0)
WIRE_DECLARE(rules_add_reply, WIRE_RULES_ADD_REPLY_LIST)

#define WIRE_RULES_LINT_REPLY_LIST(F, m)                                                       \
	F(m, ARRAY, items, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, more, WIRE_REQUIRED, 0)
WIRE_DECLARE(rules_lint_reply, WIRE_RULES_LINT_REPLY_LIST)

#define WIRE_RULES_REMOVE_LIST(F, m) F(m, U64, id, WIRE_REQUIRED, WIRE_COUNT_MAX)
WIRE_DECLARE(rules_remove, WIRE_RULES_REMOVE_LIST)

/* ---- explain ---- */

#define WIRE_EXPLAIN_LIST(F, m)                                                                \
	F(m, STR, request, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, tool, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, RAW, input, WIRE_FREE, LIMIT_INPUT)                                               \
	F(m, STR, kind, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, BOOL, mutating, WIRE_OPTIONAL, 0)                                                 \
	F(m, STR, cwd, WIRE_OPTIONAL, LIMIT_TEXT)                                              \
	F(m, STR, mode, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, STR, session, WIRE_OPTIONAL, LIMIT_NAME)                                          \
	F(m, STR, workspace, WIRE_OPTIONAL, LIMIT_TEXT)                                        \
	F(m, U32, uid, WIRE_OPTIONAL, 0)
WIRE_DECLARE(explain, WIRE_EXPLAIN_LIST)

#define WIRE_EXPLAIN_REPLY_LIST(F, m)                                                          \
	F(m, STR, verdict, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, source, WIRE_NILLED, 0)                                                      \
	F(m, STR, rule, WIRE_NILLED, 0)                                                        \
	F(m, STR, step, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, floor, WIRE_NILLED, 0)                                                       \
	F(m, STR, about, WIRE_NILLED, 0)                                                       \
	F(m, STR, what, WIRE_NILLED, 0)                                                        \
	F(m, STR, message, WIRE_NILLED, 0)                                                     \
	F(m, ARRAY, path, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, why, WIRE_REQUIRED, 0)                                                       \
	F(m, ARRAY, rules, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, tool, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, kind, WIRE_REQUIRED, 0)                                                      \
	F(m, BOOL, mutating, WIRE_REQUIRED, 0)                                                 \
	F(m, STR, mode, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, ceiling, WIRE_NILLED, 0)                                                     \
	F(m, STR, session, WIRE_NILLED, 0)                                                     \
	F(m, U32, uid, WIRE_REQUIRED, 0)                                                       \
	F(m, STR, cwd, WIRE_NILLED, 0)                                                         \
	F(m, STR, workspace, WIRE_NILLED, 0)                                                   \
	F(m, ARRAY, paths, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, timed_out, WIRE_REQUIRED, 0)                                                \
	F(m, ARRAY, policies, WIRE_REQUIRED, 0)                                                \
	F(m, BOOL, policy_missing, WIRE_REQUIRED, 0)
WIRE_DECLARE(explain_reply, WIRE_EXPLAIN_REPLY_LIST)
/* ---- projects ---- */

#define WIRE_RULES_PROJECT_LIST(F, m)                                                          \
	F(m, STR, project, WIRE_REQUIRED, LIMIT_TEXT)                                          \
	F(m, U32, uid, WIRE_OPTIONAL, 0)
WIRE_DECLARE(rules_project, WIRE_RULES_PROJECT_LIST)

#define WIRE_PROJECT_FIELDS(F, m)                                                              \
	F(m, STR, project, WIRE_REQUIRED, 0)                                                   \
	F(m, U32, uid, WIRE_REQUIRED, 0)                                                       \
	F(m, STR, file, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, state, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, hash, WIRE_NILLED, 0)                                                        \
	F(m, STR, trusted_hash, WIRE_NILLED, 0)                                                \
	F(m, STR, by, WIRE_NILLED, 0)                                                          \
	F(m, I64, made, WIRE_NILLED, 0)                                                        \
	F(m, STR, problem, WIRE_NILLED, 0)                                                     \
	F(m, U32, line, WIRE_OPTIONAL, 0)                                                      \
	F(m, U32, column, WIRE_OPTIONAL, 0)

#define WIRE_RULES_PROJECT_REPLY_LIST(F, m)                                                    \
	WIRE_PROJECT_FIELDS(F, m)                                                              \
	F(m, BIN, text, WIRE_NILLED, 0)                                                        \
	F(m, ARRAY, warnings, WIRE_REQUIRED, 0)                                                \
	F(m, BOOL, more, WIRE_REQUIRED, 0)
WIRE_DECLARE(rules_project_reply, WIRE_RULES_PROJECT_REPLY_LIST)

#define WIRE_RULES_TRUST_LIST(F, m)                                                            \
	F(m, STR, project, WIRE_REQUIRED, LIMIT_TEXT)                                          \
	F(m, U32, uid, WIRE_OPTIONAL, 0)                                                       \
	F(m, STR, hash, WIRE_OPTIONAL, LIMIT_NAME)                                             \
	F(m, BOOL, trust, WIRE_REQUIRED, 0)
WIRE_DECLARE(rules_trust, WIRE_RULES_TRUST_LIST)

#define WIRE_RULES_PROJECTS_LIST(F, m)                                                         \
	F(m, BIN, cursor, WIRE_OPTIONAL, LIMIT_TEXT + 16)                                      \
	F(m, U32, limit, WIRE_OPTIONAL, LIMIT_PAGE)
WIRE_DECLARE(rules_projects, WIRE_RULES_PROJECTS_LIST)

/* an item of rules_projects */
#define WIRE_PROJECT_LIST(F, m)                                                                \
	WIRE_PROJECT_FIELDS(F, m)                                                              \
	F(m, BOOL, other_root, WIRE_OPTIONAL, 0)
WIRE_DECLARE(project, WIRE_PROJECT_LIST)

/* ---- floor, reload ---- */

#define WIRE_FLOOR_LIST_LIST(F, m) WIRE_PAGE_FIELDS(F, m)
WIRE_DECLARE(floor_list, WIRE_FLOOR_LIST_LIST)

#define WIRE_FLOOR_LIST_REPLY_LIST(F, m)                                                       \
	F(m, ARRAY, items, WIRE_REQUIRED, 0)                                                   \
	F(m, BOOL, more, WIRE_REQUIRED, 0)                                                     \
	F(m, BIN, cursor, WIRE_NILLED, 0)                                                      \
	F(m, STR, user_file, WIRE_NILLED, 0)
WIRE_DECLARE(floor_list_reply, WIRE_FLOOR_LIST_REPLY_LIST)

/* an item of floor_list */
#define WIRE_FLOOR_ENTRY_LIST(F, m)                                                            \
	F(m, STR, name, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, guards, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, about, WIRE_OPTIONAL, 0)                                                     \
	F(m, STR, pattern, WIRE_OPTIONAL, 0)                                                   \
	F(m, STR, from, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, file, WIRE_NILLED, 0)                                                        \
	F(m, U32, line, WIRE_OPTIONAL, 0)                                                      \
	F(m, BOOL, off, WIRE_REQUIRED, 0)                                                      \
	F(m, BOOL, fixed, WIRE_REQUIRED, 0)
WIRE_DECLARE(floor_entry, WIRE_FLOOR_ENTRY_LIST)

/* ---- events ---- */


#define WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, STR, epoch, WIRE_REQUIRED, 0)                                                     \
	F(m, U64, seq, WIRE_REQUIRED, 0)

/* offered, refreshed, turn_changed, session_changed */
#define WIRE_ITEM_EVENT_LIST(F, m)                                                             \
	WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, MAP, item, WIRE_REQUIRED, 0)
WIRE_DECLARE(item_event, WIRE_ITEM_EVENT_LIST)

#define WIRE_RESOLVED_LIST(F, m)                                                               \
	WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, STR, request, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, state, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, verdict, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, source, WIRE_REQUIRED, 0)                                                    \
	F(m, STR, scope, WIRE_NILLED, 0)                                                       \
	F(m, STR, reason, WIRE_NILLED, 0)                                                      \
	F(m, STR, by, WIRE_NILLED, 0)                                                          \
	F(m, I64, at, WIRE_REQUIRED, 0)
WIRE_DECLARE(resolved, WIRE_RESOLVED_LIST)

#define WIRE_WITHDRAWN_LIST(F, m)                                                              \
	WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, STR, request, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, state, WIRE_REQUIRED, 0)                                                     \
	F(m, STR, source, WIRE_NILLED, 0)                                                      \
	F(m, STR, reason, WIRE_NILLED, 0)                                                      \
	F(m, STR, by, WIRE_NILLED, 0)                                                          \
	F(m, I64, at, WIRE_REQUIRED, 0)
WIRE_DECLARE(withdrawn, WIRE_WITHDRAWN_LIST)

#define WIRE_OUTCOME_EVENT_LIST(F, m)                                                          \
	WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, STR, request, WIRE_NILLED, 0)                                                     \
	F(m, STR, session, WIRE_REQUIRED, 0)                                                   \
	F(m, STR, tool_call_id, WIRE_NILLED, 0)                                                \
	F(m, STR, tool, WIRE_NILLED, 0)                                                        \
	F(m, STR, state, WIRE_REQUIRED, 0)                                                     \
	F(m, BOOL, ran_anyway, WIRE_REQUIRED, 0)                                               \
	F(m, I64, at, WIRE_REQUIRED, 0)
WIRE_DECLARE(outcome_event, WIRE_OUTCOME_EVENT_LIST)

#define WIRE_RULE_CHANGED_LIST(F, m)                                                           \
	WIRE_EVENT_FIELDS(F, m)                                                                \
	F(m, STR, change, WIRE_REQUIRED, 0)                                                    \
	F(m, MAP, rule, WIRE_REQUIRED, 0)
WIRE_DECLARE(rule_changed, WIRE_RULE_CHANGED_LIST)

/* an element of `paths` of a prompt */
#define WIRE_PATH_LIST(F, m)                                                                   \
	F(m, STR, path, WIRE_REQUIRED, 0)                                                      \
	F(m, STR, resolved, WIRE_NILLED, 0)                                                    \
	F(m, BOOL, inside, WIRE_REQUIRED, 0)
WIRE_DECLARE(path, WIRE_PATH_LIST)

#endif
