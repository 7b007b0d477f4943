/* SPDX-License-Identifier: MIT */
#include "broker/core/engine.h"

#define TAIL                                                                                   \
	" Do not retry the same call and do not reach the same end by other means. You may "   \
	"explain what you wanted to do and why, go on with what does not need it, or ask the " \
	"user how to proceed."

const char *denial_message(enum source source, enum step step, enum request_state state)
{
	if (state == REQUEST_ELSEWHERE || source == SOURCE_ELSEWHERE)
		return "This tool call was not performed through this request: it was settled "
		       "elsewhere, in the agent's own dialog or by another client.";
	if (state == REQUEST_EXPIRED || source == SOURCE_TIMEOUT)
		return "This tool call was not performed: nobody answered in time." TAIL;
	switch (source) {
	case SOURCE_USER:
		if (step == STEP_SUSPENDED)
			return "This tool call was not performed: the user ended this turn. "
			       "Stop "
			       "here and make no further tool calls until the user writes "
			       "again.";
		return "This tool call was not performed: the user denied it." TAIL;
	case SOURCE_POLICY: return "This tool call was not performed: a policy denied it." TAIL;
	case SOURCE_RULE: return "This tool call was not performed: a rule denies it." TAIL;
	case SOURCE_MODE:
		return "This tool call was not performed: the session is in plan mode, in "
		       "which "
		       "nothing may be changed. Read, search and plan instead; do not reach "
		       "the "
		       "same end by other means.";
	case SOURCE_REPEAT:
		return "This tool call was not performed: the same call was denied before in "
		       "this turn, and nobody is asked about it again. Each further one is "
		       "denied at once." TAIL;
	case SOURCE_BUDGET:
		return "This tool call was not performed: this turn reached its budget and was "
		       "ended. Stop here and make no further tool calls until the user writes "
		       "again.";
	case SOURCE_ABORT:
		return "This tool call was not performed: its request was withdrawn before "
		       "anyone "
		       "answered." TAIL;
	case SOURCE_BROKER:
		if (step == STEP_HUMAN)
			return "This tool call was not performed: no person can be asked here, "
			       "and "
			       "nothing else allows it." TAIL;
		return "This tool call was not performed: the approval broker could not record "
		       "a "
		       "decision. Nobody decided against it; the user should look at the "
		       "broker." TAIL;
	case SOURCE_NONE:
	case SOURCE_FLOOR:
	case SOURCE_TIMEOUT:
	case SOURCE_ELSEWHERE:
	case SOURCE_N: break;
	}
	return "This tool call was not performed." TAIL;
}

const char *step_why(enum step step)
{
	switch (step) {
	case STEP_SUSPENDED: return "its turn is suspended";
	case STEP_PLAN: return "the session is in plan mode";
	case STEP_DENY_RULES: return "a rule denies it";
	case STEP_REPEAT: return "the same call was denied before in this turn";
	case STEP_FLOOR: return "it touches what always asks";
	case STEP_ASK_RULES: return "a rule asks for a person";
	case STEP_ALLOW_RULES: return "a rule allows it";
	case STEP_MODE: return "the session's mode allows it";
	case STEP_POLICY: return "a policy wants a person to decide";
	case STEP_HUMAN: return "no rule, mode or policy decides it";
	case STEP_DEADLINE: return "its deadline is over";
	case STEP_NONE:
	case STEP_N: break;
	}
	return "";
}
