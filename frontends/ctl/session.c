/* SPDX-License-Identifier: MIT */
/* sessions, turns, mode, suspend, end-turn */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"

enum { OPTION_ENDED = OPTION_OTHER };

const struct option_def ctl_sessions_options[] = {
	{OPTION_ENDED, "ended", NULL, "also those that have ended and are still known"},
	OPTION_DEF_JSON,
	{0},
};
const struct option_def ctl_turns_options[] = {
	{OPTION_SESSION, "session", "SESSION", "only those of one session"},
	OPTION_DEF_JSON,
	{0},
};
const struct option_def ctl_mode_options[] = {
	OPTION_DEF_JSON,
	{0},
};
const struct option_def ctl_suspend_options[] = {
	{OPTION_ALL, "all", NULL, "every session"},
	{OPTION_REASON, "reason", "TEXT", "shown to the agents and in the history",
		.empty = true},
	OPTION_DEF_JSON,
	{0},
};
const struct option_def ctl_end_turn_options[] = {
	{OPTION_REASON, "reason", "TEXT", "shown to the agent and in the history",
		.empty = true},
	OPTION_DEF_JSON,
	{0},
};

/* The options that these commands share. */
struct given {
	const char *session, *reason;
	bool all, ended;
};

/* OPTIONS_END or OPTIONS_EXIT. */
static int given_read(struct ctl *c, struct options *o, struct given *g)
{
	int key;

	*g = (struct given){0};
	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_SESSION: g->session = o->value; break;
		case OPTION_REASON: g->reason = o->value; break;
		case OPTION_ALL: g->all = true; break;
		case OPTION_ENDED: g->ended = true; break;
		default: ctl_option(c, o, key);
		}
	}
	return key;
}

/* ---- lists ---- */

static void session_row(
	struct table *t, const struct output *o, const struct approval_value *item, int64_t now)
{
	bool ended = approval_value_bool(approval_value_get(item, "ended"));
	bool alive = approval_value_bool(approval_value_get(item, "alive"));

	item_cell_id(t, o, item, "session");
	item_cell_age(t, item, "since", now);
	item_cell_who(t, item);
	item_cell(t, item, "title", STYLE_PLAIN);
	item_cell(t, item, "mode", STYLE_PLAIN);
	table_cell(t, ended ? "ended" : alive ? "alive" : "dead");
	table_printf(t, "%lld", (long long)approval_value_int(approval_value_get(item, "pid")));
	table_printf(
		t, "%lld", (long long)approval_value_int(approval_value_get(item, "pending")));
	item_cell(t, item, "cwd", STYLE_PLAIN);
}

static void turn_row(
	struct table *t, const struct output *o, const struct approval_value *item, int64_t now)
{
	static const char *const counts[] = {"pending", "calls", "denied"};
	const char *state = approval_value_text(item, "state");
	uint64_t input = approval_value_uint(approval_value_get(item, "input"));
	uint64_t output = approval_value_uint(approval_value_get(item, "output"));

	item_cell_id(t, o, item, "turn");
	item_cell_id(t, o, item, "session");
	item_cell_age(t, item, "since", now);
	item_cell(t, item, "state", item_state_style(state));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		table_printf(t, "%lld",
			(long long)approval_value_int(approval_value_get(item, counts[i])));
	table_printf(t, "%llu", (unsigned long long)input);
	table_printf(t, "%llu", (unsigned long long)output);
	item_cell(t, item, "reason", STYLE_PLAIN);
}

static int list_print(const struct ctl *c, const struct items *items,
	const struct table_column *columns, size_t n_columns,
	void (*row)(
		struct table *, const struct output *, const struct approval_value *, int64_t),
	const char *none)
{
	int64_t now = time_now();
	struct table *t;
	int r = 0;

	if (c->json) {
		for (size_t i = 0; !r && i < items->n; i++)
			r = json_write_value(&c->out, items->items[i]);
		return ctl_own(c, r);
	}
	if (!items->n) {
		if (c->out.terminal)
			output_printf(&c->out, "%s\n", none);
		return STATUS_OK;
	}
	r = table_new(&t, columns, n_columns);
	if (r)
		return ctl_own(c, r);
	for (size_t i = 0; i < items->n; i++)
		row(t, &c->out, items->items[i], now);
	r = table_print(t, &c->out);
	table_free(t);
	return ctl_own(c, r);
}

int ctl_sessions(void *ctl, struct options *o)
{
	static const struct table_column columns[] = {
		{"SESSION", 0, 0, 0},
		{"AGE", TABLE_RIGHT, 5, 0},
		{"AGENT", TABLE_SHRINK, 1, 0},
		{"TITLE", TABLE_SHRINK, 4, 0},
		{"MODE", 0, 2, 0},
		{"STATE", 0, 3, 0},
		{"PID", TABLE_RIGHT, 6, 0},
		{"PENDING", TABLE_RIGHT, 0, 0},
		{"DIRECTORY", TABLE_SHRINK, 7, 0},
	};
	struct ctl *c = ctl;
	struct items items = {0};
	struct given g;

	if (given_read(c, o, &g) == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': sessions takes no operands", o->operands[0]);

	const struct param params[] = {PARAM_TRUE("ended", g.ended)};
	int status = ctl_open_frontend(c);

	if (!status)
		status = items_fetch(c, "sessions", params, 1, &items);
	if (!status)
		status = list_print(c, &items, columns, sizeof(columns) / sizeof(columns[0]),
			session_row, "There are no sessions.");
	items_free(&items);
	return status;
}

int ctl_turns(void *ctl, struct options *o)
{
	static const struct table_column columns[] = {
		{"TURN", 0, 0, 0},
		{"SESSION", 0, 1, 0},
		{"AGE", TABLE_RIGHT, 5, 0},
		{"STATE", 0, 0, 0},
		{"PENDING", TABLE_RIGHT, 2, 0},
		{"CALLS", TABLE_RIGHT, 4, 0},
		{"DENIED", TABLE_RIGHT, 6, 0},
		{"INPUT", TABLE_RIGHT, 7, 0},
		{"OUTPUT", TABLE_RIGHT, 8, 0},
		{"REASON", TABLE_SHRINK, 3, 0},
	};
	struct ctl *c = ctl;
	struct items items = {0};
	char *session = NULL;
	struct given g;

	if (given_read(c, o, &g) == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': turns takes no operands", o->operands[0]);

	int status = ctl_open_frontend(c);

	if (!status && g.session)
		status = ctl_resolve(c, g.session, "session", &session);
	if (!status) {
		const struct param params[] = {PARAM_TEXT("session", session)};

		status = items_fetch(c, "turns", params, 1, &items);
	}
	if (!status)
		status = list_print(c, &items, columns, sizeof(columns) / sizeof(columns[0]),
			turn_row, "There are no turns.");
	items_free(&items);
	free(session);
	return status;
}

/* ---- changes ---- */

int ctl_mode(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct approval_value *result = NULL;
	char *session = NULL;
	struct given g;

	if (given_read(c, o, &g) == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands != 2)
		return options_wrong(o, "a session and a mode are needed");
	if (options_word(o, o->operands[1], item_modes))
		return STATUS_USAGE;

	int status = ctl_open_frontend(c);

	if (!status)
		status = ctl_resolve(c, o->operands[0], "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("session", session),
			PARAM_TEXT("mode", o->operands[1]),
		};

		status = ctl_call(c, "set_mode", params, 2, &result);
	}
	if (!status && c->json)
		status = ctl_own(c, json_write_value(&c->out, result));
	else if (!status)
		output_printf(&c->out, "%s, at most %s\n", approval_value_text(result, "mode"),
			approval_value_text(result, "ceiling"));
	approval_value_free(result);
	free(session);
	return status;
}

/* suspend, end_turn: one session or all of them; the answer counts turns. */
static int change_turns(
	struct ctl *c, struct options *o, const char *method, bool may_all, const char *done)
{
	struct approval_value *result = NULL;
	char *session = NULL;
	struct given g;

	if (given_read(c, o, &g) == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands > 1 || (g.all && o->n_operands))
		return options_wrong(o, may_all ? "one session, or --all" : "one session");
	if (!g.all && !o->n_operands)
		return options_wrong(o,
			may_all ? "a session is missing (or --all)" : "a session is missing");

	int status = ctl_open_frontend(c);

	if (!status && !g.all)
		status = ctl_resolve(c, o->operands[0], "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("session", session),
			PARAM_TRUE("all", g.all),
			PARAM_TEXT("reason", g.reason),
		};

		status = ctl_call(c, method, params, 3, &result);
	}
	if (!status && c->json) {
		status = ctl_own(c, json_write_value(&c->out, result));
	} else if (!status) {
		long long turns = approval_value_int(approval_value_get(result, "turns"));

		output_printf(&c->out, "%lld turn%s %s\n", turns, turns == 1 ? "" : "s", done);
	}
	approval_value_free(result);
	free(session);
	return status;
}

int ctl_suspend(void *ctl, struct options *o)
{
	return change_turns(ctl, o, "suspend", true, "suspended");
}

int ctl_end_turn(void *ctl, struct options *o)
{
	return change_turns(ctl, o, "end_turn", false, "ended");
}
