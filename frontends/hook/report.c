/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "frontends/hook/convert.h"
#include "frontends/hook/report.h"
#include "frontends/hook/stream.h"
#include "libapproval/approval.h"

#define AWAIT_STEP_MS 20

int report_cursor(struct approval *a, struct tally *t)
{
	const struct approval_value *cursor = approval_value_get(approval_hello(a), "cursor");
	const char *data;
	size_t len;
	int r;

	memset(t, 0, sizeof(*t));
	data = approval_value_str(cursor, &len);
	if (!data || len == 0)
		return 0;
	r = tally_load(t, data, len);
	/* another version's cursor is as good as none */
	return r == -EBADMSG ? 0 : r;
}

const char *report_turn(struct approval *a)
{
	const struct approval_value *turn = approval_value_get(approval_hello(a), "turn");

	const char *id = approval_value_text(turn, "agent_turn");

	return *id ? id : NULL;
}

static int report_member(struct approval_pack *p, const char *key, const char *value)
{
	int r = approval_pack_str(p, key);

	return r < 0 ? r : approval_pack_str(p, value);
}

static int report_count(struct approval_pack *p, const char *key, uint64_t value)
{
	int r = approval_pack_str(p, key);

	return r < 0 ? r : approval_pack_uint(p, value);
}

static int report_pack_usage(
	struct approval_pack *p, const struct tally *t, struct approval_pack *cursor)
{
	const void *data;
	size_t len;
	int r;

	data = approval_pack_data(cursor, &len);
	r = approval_pack_map(p, 7);
	if (r == 0)
		r = report_member(p, "turn_id", t->turn[0] ? t->turn : NULL);
	if (r == 0)
		r = report_count(p, "seq", tally_seq(t));
	if (r == 0)
		r = report_count(p, "input", tally_total(t, TALLY_INPUT));
	if (r == 0)
		r = report_count(p, "output", tally_total(t, TALLY_OUTPUT));
	if (r == 0)
		r = report_count(p, "cache_read", tally_total(t, TALLY_CACHE_READ));
	if (r == 0)
		r = report_count(p, "cache_write", tally_total(t, TALLY_CACHE_WRITE));
	if (r == 0)
		r = approval_pack_str(p, "cursor");
	if (r == 0)
		r = approval_pack_bin(p, data, len);
	return r;
}

static int report_call(struct approval *a, const char *method, const struct approval_pack *p)
{
	const void *data;
	size_t len;

	data = approval_pack_data(p, &len);
	/* what only tells may fail without harm: the next report says the same and more */
	return approval_call(a, method, data, len, true, NULL, NULL, NULL);
}

int report_usage(struct approval *a, const struct tally *t)
{
	struct approval_pack *p = NULL, *cursor = NULL;
	int r;

	r = approval_pack_new(&cursor);
	if (r == 0)
		r = tally_save(t, cursor);
	if (r == 0)
		r = approval_pack_new(&p);
	if (r == 0)
		r = report_pack_usage(p, t, cursor);
	if (r == 0)
		r = report_call(a, "usage", p);
	approval_pack_free(p);
	approval_pack_free(cursor);
	return r;
}

static void report_turn_over(const struct tally *t, enum tally_event event, void *arg)
{
	if (event == TALLY_TURN_OVER)
		report_usage(arg, t);
}

int report_transcript(struct approval *a, const char *path, const char *prompt_id,
	enum tally_start start, size_t budget, struct tally *t)
{
	uint64_t before;
	bool fresh;
	int r, failed;

	r = report_cursor(a, t);
	if (r < 0 || !*path)
		return r;
	fresh = !t->started;
	before = tally_seq(t);
	tally_hint(t, prompt_id ? prompt_id : report_turn(a));
	r = tally_read(t, path, start, budget, report_turn_over, a);
	if (r == -ENOENT)
		return 0;
	/* nothing new, and a place to begin is known to the broker */
	if (r < 0 || (tally_seq(t) == before && !fresh))
		return r;
	failed = report_usage(a, t);
	return failed < 0 ? failed : r;
}

void report_await(struct approval *a, const char *path, enum tally_start start, size_t budget,
	int timeout_ms)
{
	int64_t deadline = hook_now() + timeout_ms;
	struct tally t;
	int r;

	if (!*path || report_cursor(a, &t) < 0)
		return;
	do {
		r = tally_read(&t, path, start, budget, NULL, NULL);
		if ((r == 0 && t.answered) || (r < 0 && r != -ENOENT))
			return;
		poll(NULL, 0, AWAIT_STEP_MS);
	} while (hook_now() < deadline);
}

int report_gone(struct approval *a, int status)
{
	const struct approval_error *error;

	if (status != -EREMOTEIO)
		return status;
	error = approval_last_error(a);
	if (error &&
		(strcmp(error->code, "gone") == 0 || strcmp(error->code, "not_found") == 0))
		return 0;
	return status;
}

static int report_wait(
	struct approval *a, const char *method, const struct approval_pack *p, int timeout_ms)
{
	const void *data;
	size_t len;

	data = approval_pack_data(p, &len);
	return report_gone(a, approval_call_wait(a, method, data, len, timeout_ms, NULL));
}

int report_turn_begin(struct approval *a, const char *prompt_id)
{
	struct approval_pack *p = NULL;
	int r;

	r = approval_pack_new(&p);
	if (r == 0)
		r = approval_pack_map(p, 1);
	if (r == 0)
		r = report_member(p, "turn_id", prompt_id);
	if (r == 0)
		r = report_call(a, "turn_begin", p);
	approval_pack_free(p);
	return r;
}

/* {tool_call_id, tool, input, KEY: VALUE}, as far as they are given. */
static int report_about(struct approval_pack *p, const char *call, const char *tool,
	struct json_object *input, const char *key, const char *value)
{
	struct approval_pack *packed = NULL;
	const void *data = NULL;
	size_t len = 0;
	int r = 0;

	if (input) {
		r = approval_pack_new(&packed);
		if (r == 0)
			r = convert_pack(packed, input);
		if (r == -E2BIG) /* such a call was never submitted */
			r = 0;
		else if (r == 0)
			data = approval_pack_data(packed, &len);
	}
	if (r == 0)
		r = approval_pack_map(p, (size_t) !!call + !!tool + !!data + !!value);
	if (r == 0 && call)
		r = report_member(p, "tool_call_id", call);
	if (r == 0 && tool)
		r = report_member(p, "tool", tool);
	if (r == 0 && data)
		r = approval_pack_str(p, "input");
	if (r == 0 && data)
		r = approval_pack_raw(p, data, len);
	if (r == 0 && value)
		r = report_member(p, key, value);
	approval_pack_free(packed);
	return r;
}

int report_outcome(struct approval *a, const char *call, const char *tool,
	struct json_object *input, const char *outcome, int timeout_ms)
{
	struct approval_pack *p = NULL;
	int r;

	r = approval_pack_new(&p);
	if (r == 0)
		r = report_about(p, call, tool, input, "outcome", outcome);
	if (r == 0)
		r = report_wait(a, "outcome", p, timeout_ms);
	approval_pack_free(p);
	return r;
}

int report_settled(struct approval *a, const char *call, const char *tool,
	struct json_object *input, const char *verdict, int timeout_ms)
{
	struct approval_pack *p = NULL;
	int r;

	r = approval_pack_new(&p);
	if (r == 0)
		r = report_about(p, call, tool, input, "verdict", verdict);
	if (r == 0)
		r = report_wait(a, "settled", p, timeout_ms);
	approval_pack_free(p);
	return r;
}
