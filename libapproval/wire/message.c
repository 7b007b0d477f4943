/* SPDX-License-Identifier: MIT */
#include "libapproval/wire/message.h"

#define MESSAGES(X)                                                                            \
	X(budget, WIRE_BUDGET_LIST)                                                            \
	X(agent_hello, WIRE_AGENT_HELLO_LIST)                                                  \
	X(agent_hello_reply, WIRE_AGENT_HELLO_REPLY_LIST)                                      \
	X(hello_turn, WIRE_HELLO_TURN_LIST)                                                    \
	X(hello_pending, WIRE_HELLO_PENDING_LIST)                                              \
	X(turn_begin, WIRE_TURN_BEGIN_LIST)                                                    \
	X(turn_end, WIRE_TURN_END_LIST)                                                        \
	X(turn_usage, WIRE_TURN_USAGE_LIST)                                                    \
	X(usage, WIRE_USAGE_LIST)                                                              \
	X(turn_reply, WIRE_TURN_REPLY_LIST)                                                    \
	X(request, WIRE_REQUEST_LIST)                                                          \
	X(option, WIRE_OPTION_LIST)                                                            \
	X(request_reply, WIRE_REQUEST_REPLY_LIST)                                              \
	X(cancel, WIRE_CANCEL_LIST)                                                            \
	X(settled, WIRE_SETTLED_LIST)                                                          \
	X(outcome, WIRE_OUTCOME_LIST)                                                          \
	X(state_reply, WIRE_STATE_REPLY_LIST)                                                  \
	X(agent_set_mode, WIRE_AGENT_SET_MODE_LIST)                                            \
	X(mode_reply, WIRE_MODE_REPLY_LIST)                                                    \
	X(agent_bye, WIRE_AGENT_BYE_LIST)                                                      \
	X(turn_suspended, WIRE_TURN_SUSPENDED_LIST)                                            \
	X(turn_resumed, WIRE_TURN_RESUMED_LIST)                                                \
	X(request_state, WIRE_REQUEST_STATE_LIST)                                              \
	X(frontend_hello, WIRE_FRONTEND_HELLO_LIST)                                            \
	X(frontend_hello_reply, WIRE_FRONTEND_HELLO_REPLY_LIST)                                \
	X(subscribe, WIRE_SUBSCRIBE_LIST)                                                      \
	X(subscribe_reply, WIRE_SUBSCRIBE_REPLY_LIST)                                          \
	X(list, WIRE_LIST_LIST)                                                                \
	X(sessions, WIRE_SESSIONS_LIST)                                                        \
	X(turns, WIRE_TURNS_LIST)                                                              \
	X(page_reply, WIRE_PAGE_REPLY_LIST)                                                    \
	X(get, WIRE_GET_LIST)                                                                  \
	X(item_reply, WIRE_ITEM_REPLY_LIST)                                                    \
	X(decide, WIRE_DECIDE_LIST)                                                            \
	X(decision, WIRE_DECISION_LIST)                                                        \
	X(decide_reply, WIRE_DECIDE_REPLY_LIST)                                                \
	X(decision_result, WIRE_DECISION_RESULT_LIST)                                          \
	X(verdict, WIRE_VERDICT_LIST)                                                          \
	X(verdict_reply, WIRE_VERDICT_REPLY_LIST)                                              \
	X(frontend_set_mode, WIRE_FRONTEND_SET_MODE_LIST)                                      \
	X(suspend, WIRE_SUSPEND_LIST)                                                          \
	X(resume, WIRE_RESUME_LIST)                                                            \
	X(end_turn, WIRE_END_TURN_LIST)                                                        \
	X(kill, WIRE_KILL_LIST)                                                                \
	X(turns_reply, WIRE_TURNS_REPLY_LIST)                                                  \
	X(history, WIRE_HISTORY_LIST)                                                          \
	X(history_reply, WIRE_HISTORY_REPLY_LIST)                                              \
	X(history_verify, WIRE_HISTORY_VERIFY_LIST)                                            \
	X(history_verify_reply, WIRE_HISTORY_VERIFY_REPLY_LIST)                                \
	X(stats_reply, WIRE_STATS_REPLY_LIST)                                                  \
	X(item_event, WIRE_ITEM_EVENT_LIST)                                                    \
	X(resolved, WIRE_RESOLVED_LIST)                                                        \
	X(withdrawn, WIRE_WITHDRAWN_LIST)                                                      \
	X(outcome_event, WIRE_OUTCOME_EVENT_LIST)                                              \
	X(rule_changed, WIRE_RULE_CHANGED_LIST)                                                \
	X(rules_list, WIRE_RULES_LIST_LIST)                                                    \
	X(rules_add, WIRE_RULES_ADD_LIST)                                                      \
	X(rules_add_reply, WIRE_RULES_ADD_REPLY_LIST)                                          \
	X(rules_lint_reply, WIRE_RULES_LINT_REPLY_LIST)                                        \
	X(rules_remove, WIRE_RULES_REMOVE_LIST)                                                \
	X(explain, WIRE_EXPLAIN_LIST)                                                          \
	X(explain_reply, WIRE_EXPLAIN_REPLY_LIST)                                              \
	X(rules_project, WIRE_RULES_PROJECT_LIST)                                              \
	X(rules_project_reply, WIRE_RULES_PROJECT_REPLY_LIST)                                  \
	X(rules_trust, WIRE_RULES_TRUST_LIST)                                                  \
	X(rules_projects, WIRE_RULES_PROJECTS_LIST)                                            \
	X(project, WIRE_PROJECT_LIST)                                                          \
	X(floor_list, WIRE_FLOOR_LIST_LIST)                                                    \
	X(floor_list_reply, WIRE_FLOOR_LIST_REPLY_LIST)                                        \
	X(floor_entry, WIRE_FLOOR_ENTRY_LIST)                                                  \
	X(path, WIRE_PATH_LIST)                                                                \
	X(error, WIRE_ERROR_LIST)                                                              \
	X(empty, WIRE_EMPTY_LIST)

#define ROW(m, t, member, f, bound)                                                            \
	{                                                                                      \
		.key = #member,                                                                \
		.key_len = sizeof(#member) - 1,                                                \
		.type = WIRE_##t,                                                              \
		.flags = (f),                                                                  \
		.offset = offsetof(struct wire_##m, member),                                   \
		.max = (bound),                                                                \
	},
#define REQUIRED_BIT(m, t, member, f, bound)                                                   \
	| ((f)&WIRE_REQUIRED ? UINT64_C(1) << WIRE_##m##_##member : 0)

#define DEFINE(m, LIST)                                                                        \
	_Static_assert(WIRE_##m##_FIELDS <= 64, "one bit of `present` for each field");        \
	static const struct wire_field m##_fields[] = {LIST(ROW, m)};                          \
	const struct wire_spec wire_##m##_spec = {                                             \
		.name = #m,                                                                    \
		.fields = m##_fields,                                                          \
		.required = 0 LIST(REQUIRED_BIT, m),                                           \
		.n = WIRE_##m##_FIELDS,                                                        \
		.size = sizeof(struct wire_##m),                                               \
	};
MESSAGES(DEFINE)

#define ENTRY(m, LIST) &wire_##m##_spec,
const struct wire_spec *const wire_specs[] = {MESSAGES(ENTRY) NULL};

#define METHOD(id, method, p, r)                                                               \
	{                                                                                      \
		.name = {#method, sizeof(#method) - 1},                                        \
		.params = &wire_##p##_spec,                                                    \
		.reply = &wire_##r##_spec,                                                     \
	},
const struct wire_method wire_agent_methods[] = {WIRE_AGENT_METHODS(METHOD)};
const struct wire_method wire_frontend_methods[] = {WIRE_FRONTEND_METHODS(METHOD)};

static int find(const struct wire_method *methods, int n, struct bytes name)
{
	for (int i = 0; i < n; i++) {
		if (bytes_equal(methods[i].name, name))
			return i;
	}
	return -1;
}

int wire_agent_method_find(struct bytes name)
{
	return find(wire_agent_methods, WIRE_AGENT_METHOD_N, name);
}

int wire_frontend_method_find(struct bytes name)
{
	return find(wire_frontend_methods, WIRE_FRONTEND_METHOD_N, name);
}
