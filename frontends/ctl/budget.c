/* SPDX-License-Identifier: MIT */
/* budget, and resume, which raises ceilings */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"

enum {
	OPTION_TOKENS = OPTION_OTHER,
	OPTION_TIME,
	OPTION_WALL,
	OPTION_CALLS,
	OPTION_COST,
};

#define AMOUNT_MOST (UINT64_C(1) << 53)
#define MINUTE	    60000.0

const struct option_def ctl_budget_options[] = {
	OPTION_DEF_JSON,
	{0},
};
const struct option_def ctl_resume_options[] = {
	{OPTION_ALL, "all", NULL, "every session"},
	{OPTION_TOKENS, "tokens", "N", "so many tokens more: 500, 200k, 2M"},
	{OPTION_TIME, "time", "DURATION", "so much longer active: 10m, 1h"},
	{OPTION_WALL, "wall", "DURATION", "so much longer by the clock"},
	{OPTION_CALLS, "calls", "N", "so many tool calls more"},
	{OPTION_COST, "cost", "AMOUNT", "so many dollars more: 5, 0.25"},
	OPTION_DEF_JSON,
	{0},
};

/* What is bounded, as the protocol calls it. */
static const struct kind {
	const char *what, *key;
	bool time, cost;
} kinds[] = {
	{"tokens", "tokens", false, false},
	{"time", "time_ms", true, false},
	{"wall", "wall_ms", true, false},
	{"calls", "calls", false, false},
	{"cost", "cost_microusd", false, true},
};
#define KIND_N (sizeof(kinds) / sizeof(kinds[0]))

/* ---- budget ---- */

struct level {
	const struct approval_value *item; /* the turn */
	const char *of;			   /* turn, session */
	const struct kind *kind;
	int64_t used, ceiling; /* ceiling -1: none */
	double rate;	       /* a minute of the turn; 0: none */
	int64_t left;	       /* ms; -1: never, as it looks now */
	bool reached;
};

static int64_t amount_of(const struct approval_value *budget, const char *map, const char *key)
{
	const struct approval_value *v =
		approval_value_get(approval_value_get(budget, map), key);

	return approval_value_type(v) == APPROVAL_NIL ? -1 : approval_value_int(v);
}

static bool is_reached(const struct approval_value *item, const struct level *l)
{
	const struct approval_value *list =
		approval_value_get(approval_value_get(item, "budget"), "reached");

	for (size_t i = 0; i < approval_value_count(list); i++) {
		const struct approval_value *r = approval_value_at(list, i);

		if (!strcmp(approval_value_text(r, "of"), l->of) &&
			!strcmp(approval_value_text(r, "what"), l->kind->what) &&
			!strcmp(approval_value_text(r, "session"),
				approval_value_text(item, "session")))
			return true;
	}
	return false;
}

/* False: neither bounded nor used. */
static bool level_read(const struct approval_value *item, bool session, const struct kind *kind,
	struct level *l)
{
	const struct approval_value *b = approval_value_get(item, "budget");
	const char *used = session ? "session_used" : "used";
	int64_t wall = amount_of(b, used, "wall_ms");
	bool runs = approval_value_bool(approval_value_get(
		b, kind->time && !strcmp(kind->what, "time") ? "time_runs" : "wall_runs"));

	*l = (struct level){.item = item,
		.of = session ? "session" : "turn",
		.kind = kind,
		.used = amount_of(b, used, kind->key),
		.ceiling = amount_of(b, session ? "session_ceiling" : "ceiling", kind->key),
		.left = -1};
	l->reached = is_reached(item, l);
	if (wall > 0 && l->used > 0 && !kind->time)
		l->rate = (double)l->used * MINUTE / (double)wall;
	if (l->reached || l->ceiling < 0)
		l->left = l->reached ? 0 : -1;
	else if (kind->time && runs)
		l->left = l->ceiling - l->used;
	else if (!kind->time && runs && l->rate > 0) {
		double ms = (double)(l->ceiling - l->used) * MINUTE / l->rate;

		l->left = ms < (double)AMOUNT_MOST ? (int64_t)ms : -1;
	}
	return l->ceiling >= 0 || l->used > 0;
}

static void cell_amount(struct table *t, const struct kind *kind, int64_t n)
{
	char text[DURATION_SIZE];

	if (n < 0)
		table_cell(t, NULL);
	else if (kind->time)
		table_cell(t, duration_format(text, n));
	else if (kind->cost)
		table_printf(t, "%" PRId64 ".%02d", n / 1000000, (int)(n / 10000 % 100));
	else
		table_printf(t, "%" PRId64, n);
}

static void level_row(struct table *t, const struct output *o, const struct level *l)
{
	char text[DURATION_SIZE];

	item_cell_id(t, o, l->item, "session");
	table_cell(t, l->of);
	table_cell(t, l->kind->what);
	cell_amount(t, l->kind, l->used);
	cell_amount(t, l->kind, l->ceiling);
	if (l->ceiling > 0)
		table_printf(t, "%.0f%%", 100.0 * (double)l->used / (double)l->ceiling);
	else
		table_cell(t, NULL);
	if (l->rate <= 0)
		table_cell(t, NULL);
	else if (l->kind->cost)
		table_printf(t, "%.2f/min", l->rate / 1e6);
	else
		table_printf(t, "%.1f/min", l->rate);
	if (l->reached)
		table_cell_styled(t, "reached", strlen("reached"), STYLE_RED);
	else
		table_cell(t, l->left < 0 ? NULL : duration_format(text, l->left));
}

static int level_json(const struct output *o, const struct level *l)
{
	struct json_object *j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	if (r)
		return r;
	json_add_value(j, "session", approval_value_get(l->item, "session"), &r);
	json_add_value(j, "turn", approval_value_get(l->item, "turn"), &r);
	json_add_value(j, "state", approval_value_get(l->item, "state"), &r);
	json_add_text(j, "of", l->of, &r);
	json_add_text(j, "what", l->kind->key, &r);
	json_add(j, "used", json_object_new_int64(l->used), &r);
	if (l->ceiling >= 0)
		json_add(j, "ceiling", json_object_new_int64(l->ceiling), &r);
	else
		json_add_value(j, "ceiling", NULL, &r);
	json_add(j, "per_minute", json_object_new_double(l->rate), &r);
	if (l->left >= 0)
		json_add(j, "left_ms", json_object_new_int64(l->left), &r);
	else
		json_add_value(j, "left_ms", NULL, &r);
	json_add(j, "reached", json_object_new_boolean(l->reached), &r);
	if (!r)
		r = json_write(o, j);
	json_object_put(j);
	return r;
}

static int levels_print(struct ctl *c, const struct items *items)
{
	static const struct table_column columns[] = {
		{"SESSION", 0, 0, 0},
		{"OF", 0, 1, 0},
		{"WHAT", 0, 0, 0},
		{"USED", TABLE_RIGHT, 2, 0},
		{"CEILING", TABLE_RIGHT, 3, 0},
		{"%", TABLE_RIGHT, 5, 0},
		{"RATE", TABLE_RIGHT, 6, 0},
		{"LEFT", TABLE_RIGHT, 4, 0},
	};
	struct table *t = NULL;
	struct level l;
	int r = c->json ? 0 : table_new(&t, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; !r && i < items->n; i++)
		for (size_t k = 0; !r && k < 2 * KIND_N; k++) {
			if (!level_read(items->items[i], k >= KIND_N, &kinds[k % KIND_N], &l))
				continue;
			if (c->json)
				r = level_json(&c->out, &l);
			else
				level_row(t, &c->out, &l);
		}
	if (!r && !c->json && table_rows(t))
		r = table_print(t, &c->out);
	else if (!r && !c->json && c->out.terminal)
		output_printf(&c->out, "There are no turns.\n");
	table_free(t);
	return ctl_own(c, r);
}

int ctl_budget(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct items items = {0};
	char *session = NULL;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END)
		ctl_option(c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands > 1)
		return options_wrong(o, "one session at the most");
	status = ctl_open_frontend(c);
	if (!status && o->n_operands)
		status = ctl_resolve(c, o->operands[0], "session", &session);
	if (!status) {
		const struct param params[] = {PARAM_TEXT("session", session)};

		status = items_fetch(c, "turns", params, 1, &items);
	}
	if (!status)
		status = levels_print(c, &items);
	items_free(&items);
	free(session);
	return status;
}

/* ---- resume ---- */

/* Digits, with k, M or G for thousands; or, for `point`, with six digits behind a point. */
static int amount_read(const struct options *o, const char *value, bool point, int64_t *out)
{
	static const char units[] = "kMG";
	unsigned left = point ? 6 : 0;
	const char *at = value, *unit;
	uint64_t n = 0;
	bool behind = false;

	for (; isdigit((unsigned char)*at) || (*at == '.' && point && !behind && at > value);
		at++) {
		if (*at == '.') {
			behind = true;
			continue;
		}
		if ((behind && !left) || n > AMOUNT_MOST)
			goto wrong;
		left -= behind;
		n = 10 * n + (uint64_t)(*at - '0');
	}
	if (at == value || at[-1] == '.')
		goto wrong;
	for (; left; left--)
		n = n > AMOUNT_MOST ? n : 10 * n;
	unit = *at && !point ? strchr(units, *at) : NULL;
	for (ptrdiff_t i = 0; unit && i <= unit - units; i++)
		n = n > AMOUNT_MOST ? n : 1000 * n;
	if (n > AMOUNT_MOST || (*at && (!unit || at[1])))
		goto wrong;
	*out = (int64_t)n;
	return 0;
wrong:
	options_wrong(o,
		point ? "'%s' is no amount; write 5 or 0.25"
		      : "'%s' is no number; write 500, 200k or 2M",
		value);
	return -EINVAL;
}

struct raise {
	int64_t of[KIND_N]; /* -1: not given */
	bool all;
};

/* OPTIONS_END or OPTIONS_EXIT. */
static int raise_read(struct ctl *c, struct options *o, struct raise *r)
{
	int key, wrong = 0;

	*r = (struct raise){.of = {-1, -1, -1, -1, -1}};
	while (!wrong && (key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_ALL: r->all = true; break;
		case OPTION_TOKENS: wrong = amount_read(o, o->value, false, &r->of[0]); break;
		case OPTION_TIME: wrong = options_duration(o, o->value, &r->of[1]); break;
		case OPTION_WALL: wrong = options_duration(o, o->value, &r->of[2]); break;
		case OPTION_CALLS: wrong = amount_read(o, o->value, false, &r->of[3]); break;
		case OPTION_COST: wrong = amount_read(o, o->value, true, &r->of[4]); break;
		default: ctl_option(c, o, key);
		}
	}
	if (!wrong)
		return key;
	o->status = STATUS_USAGE;
	return OPTIONS_EXIT;
}

int ctl_resume(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct approval_value *result = NULL;
	char *session = NULL;
	struct raise raise;
	int status;

	if (raise_read(c, o, &raise) == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands > 1 || (raise.all && o->n_operands))
		return options_wrong(o, "one session, or --all");
	if (!raise.all && !o->n_operands)
		return options_wrong(o, "a session is missing (or --all)");
	status = ctl_open_frontend(c);
	if (!status && !raise.all)
		status = ctl_resolve(c, o->operands[0], "session", &session);
	if (!status) {
		struct param params[2 + KIND_N] = {
			PARAM_TEXT("session", session), PARAM_TRUE("all", raise.all)};

		for (size_t k = 0; k < KIND_N; k++)
			params[2 + k] = PARAM_INT(kinds[k].key, raise.of[k]);
		status = ctl_call(c, "resume", params, 2 + KIND_N, &result);
	}
	if (!status && c->json) {
		status = ctl_own(c, json_write_value(&c->out, result));
	} else if (!status) {
		long long turns = approval_value_int(approval_value_get(result, "turns"));

		output_printf(&c->out, "%lld turn%s resumed\n", turns, turns == 1 ? "" : "s");
	}
	approval_value_free(result);
	free(session);
	return status;
}
