/* SPDX-License-Identifier: MIT */
/* What an agent tells beside its requests: turns, usage, outcomes, its mode. All blocking. */
#include <errno.h>
#include <string.h>

#include "libapproval/client.h"
#include "libapproval/wire/message.h"

/*
 * All of these may be repeated after a lost connection: they name what they are
 * about and say how it stands, not how it changes.
 */
static int tell(struct approval *a, const char *method, const struct wire_spec *spec,
	const void *params, int64_t timeout_ms)
{
	struct wire_buffer b;

	if (a->side != APPROVAL_AGENT)
		return -EINVAL;
	call_begin(&b, method);
	wire_encode(spec, params, &b);
	return wait_call(a, &b, true, timeout_ms, NULL);
}

int approval_turn_begin(
	struct approval *a, const char *turn_id, const char *prompt, int64_t timeout_ms)
{
	char made[CLIENT_ID_SIZE];
	struct wire_turn_begin t = {.turn_id = bytes_of(turn_id), .prompt = bytes_of(prompt)};
	int rc;

	if (!turn_id) {
		/* or a repetition would begin another one */
		rc = client_make_id(made, "turn");
		if (rc < 0)
			return rc;
		t.turn_id = bytes_of(made);
	}
	return tell(a, "turn_begin", &wire_turn_begin_spec, &t, timeout_ms);
}

static int take_usage(struct approval_usage *u, const struct approval_usage *usage)
{
	int rc = struct_take(u, sizeof(*u), usage, usage->size);

	if (rc < 0)
		return rc;
	if (u->cursor_len > LIMIT_CURSOR)
		return -EMSGSIZE;
	return !u->cursor && u->cursor_len ? -EINVAL : 0;
}

int approval_turn_end(struct approval *a, const char *turn_id,
	const struct approval_usage *usage, int64_t timeout_ms)
{
	struct wire_turn_end t = {.turn_id = bytes_of(turn_id)};
	struct wire_turn_usage w;
	struct approval_usage u;
	struct wire_buffer b;
	int rc;

	wire_buffer_init(&b, LIMIT_FRAME);
	if (usage) {
		rc = take_usage(&u, usage);
		if (rc < 0)
			return rc;
		w = (struct wire_turn_usage){
			.seq = u.seq,
			.input = u.input,
			.output = u.output,
			.cache_read = u.cache_read,
			.cache_write = u.cache_write,
			.cursor = {u.cursor, u.cursor_len},
		};
		if (u.cost_microusd)
			WIRE_PUT(&w, turn_usage, cost_microusd, u.cost_microusd);
		rc = wire_encode(&wire_turn_usage_spec, &w, &b);
		if (rc < 0)
			goto out;
		t.usage = wire_buffer_bytes(&b);
	}
	rc = tell(a, "turn_end", &wire_turn_end_spec, &t, timeout_ms);
out:
	wire_buffer_free(&b);
	return rc;
}

int approval_usage(struct approval *a, const struct approval_usage *usage, int64_t timeout_ms)
{
	struct approval_usage u;
	struct wire_usage w;
	int rc = take_usage(&u, usage);

	if (rc < 0)
		return rc;
	w = (struct wire_usage){
		.turn_id = bytes_of(u.turn_id),
		.seq = u.seq,
		.input = u.input,
		.output = u.output,
		.cache_read = u.cache_read,
		.cache_write = u.cache_write,
		.cursor = {u.cursor, u.cursor_len},
	};
	if (u.cost_microusd)
		WIRE_PUT(&w, usage, cost_microusd, u.cost_microusd);
	return tell(a, "usage", &wire_usage_spec, &w, timeout_ms);
}

int approval_outcome(struct approval *a, const char *tool_call_id, const char *outcome,
	const char *summary, int64_t timeout_ms)
{
	struct wire_outcome w = {
		.tool_call_id = bytes_of(tool_call_id),
		.outcome = bytes_of(outcome),
		.summary = bytes_of(summary),
	};

	return tell(a, "outcome", &wire_outcome_spec, &w, timeout_ms);
}

int approval_settled(
	struct approval *a, const char *tool_call_id, const char *verdict, int64_t timeout_ms)
{
	struct wire_settled w = {
		.tool_call_id = bytes_of(tool_call_id),
		.verdict = bytes_of(verdict),
	};

	return tell(a, "settled", &wire_settled_spec, &w, timeout_ms);
}

int approval_cancel(
	struct approval *a, const char *tool_call_id, const char *reason, int64_t timeout_ms)
{
	struct wire_cancel w = {
		.tool_call_id = bytes_of(tool_call_id),
		.reason = bytes_of(reason),
	};

	return tell(a, "cancel", &wire_cancel_spec, &w, timeout_ms);
}

int approval_set_mode(struct approval *a, const char *mode, int64_t timeout_ms)
{
	struct wire_agent_set_mode w = {.mode = bytes_of(mode)};

	return tell(a, "set_mode", &wire_agent_set_mode_spec, &w, timeout_ms);
}
