/* SPDX-License-Identifier: MIT */
/* list and show */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"

const struct option_def ctl_list_options[] = {
	{OPTION_SESSION, "session", "SESSION", "only those of one session"},
	{OPTION_ALL, "all", NULL, "also those that are decided and still known"},
	OPTION_DEF_JSON,
	{0},
};

const struct option_def ctl_show_options[] = {
	OPTION_DEF_JSON,
	{0},
};

static int item_rank(const struct approval_value *item)
{
	if (item_is_floor(item))
		return 0;
	return strcmp(approval_value_text(item, "state"), "HELD") ? 2 : 1;
}

static int64_t item_deadline(const struct approval_value *item)
{
	const struct approval_value *v = approval_value_get(item, "deadline");

	return approval_value_type(v) == APPROVAL_NIL ? INT64_MAX : approval_value_int(v);
}

/* Floor hits, then what belongs to suspended turns, then the nearest deadline, then the oldest.
 */
static int items_compare(const void *a, const void *b)
{
	const struct approval_value *x = *(const struct approval_value *const *)a;
	const struct approval_value *y = *(const struct approval_value *const *)b;
	int rx = item_rank(x), ry = item_rank(y);
	int64_t dx = item_deadline(x), dy = item_deadline(y);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	if (dx != dy)
		return dx < dy ? -1 : 1;
	return strcmp(approval_value_text(x, "request"), approval_value_text(y, "request"));
}

/* What asks, as shortly as it can be told. */
static void cell_why(struct table *t, const struct approval_value *item)
{
	const struct approval_value *floor = approval_value_get(item, "floor");

	if (floor)
		item_cell(t, floor, "about", STYLE_RED);
	else if (*approval_value_text(item, "rule"))
		item_cell(t, item, "rule", STYLE_PLAIN);
	else
		item_cell(t, item, "why", STYLE_PLAIN);
}

static int list_table(const struct ctl *c, const struct items *items)
{
	static const struct table_column columns[] = {
		{"ID", 0, 0, 0},
		{"AGE", TABLE_RIGHT, 6, 0},
		{"DEADLINE", 0, 2, 0},
		{"STATE", 0, 5, 0},
		{"MODE", 0, 3, 0},
		{"WHO", TABLE_SHRINK, 4, 12},
		{"WHAT", TABLE_SHRINK, 0, 22},
		{"WHY", TABLE_SHRINK, 1, 12},
	};
	int64_t now = time_now();
	struct table *t;
	int r = table_new(&t, columns, sizeof(columns) / sizeof(columns[0]));

	if (r)
		return ctl_own(c, r);
	for (size_t i = 0; i < items->n; i++) {
		const struct approval_value *item = items->items[i];

		item_cell_id(t, &c->out, item, "request");
		item_cell_age(t, item, "since", now);
		item_cell_deadline(t, item, now);
		item_cell(
			t, item, "state", item_state_style(approval_value_text(item, "state")));
		item_cell(t, item, "mode", STYLE_PLAIN);
		item_cell_who(t, item);
		item_cell_what(t, item);
		cell_why(t, item);
	}
	r = table_print(t, &c->out);
	table_free(t);
	return ctl_own(c, r);
}

static int list_print(const struct ctl *c, const struct items *items)
{
	int status = STATUS_OK;

	if (!c->json && items->n)
		return list_table(c, items);
	if (!c->json && c->out.terminal)
		output_printf(&c->out, "Nothing waits for an answer.\n");
	for (size_t i = 0; c->json && !status && i < items->n; i++)
		status = ctl_own(c, json_write_value(&c->out, items->items[i]));
	return status;
}

int ctl_list(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	const char *word = NULL;
	char *session = NULL;
	bool all = false;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_SESSION: word = o->value; break;
		case OPTION_ALL: all = true; break;
		default: ctl_option(c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands)
		return options_wrong(o, "'%s': list takes no operands", o->operands[0]);

	struct items items = {0};

	status = ctl_open_frontend(c);
	if (!status && word)
		status = ctl_resolve(c, word, "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("session", session),
			PARAM_FALSE("pending", all),
		};

		status = items_fetch(c, "list", params, 2, &items);
	}
	if (!status && items.n)
		qsort(items.items, items.n, sizeof(items.items[0]), items_compare);
	if (!status)
		status = list_print(c, &items);
	items_free(&items);
	free(session);
	return status;
}

int ctl_show(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END)
		ctl_option(c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	if (!o->n_operands)
		return options_wrong(o, "an id is missing");

	status = ctl_open_frontend(c);
	for (int i = 0; !status && i < o->n_operands; i++) {
		const struct param params[] = {PARAM_TEXT("id", o->operands[i])};
		struct approval_value *result = NULL;

		status = ctl_call(c, "get", params, 1, &result);
		if (status)
			break;

		const struct approval_value *item = approval_value_get(result, "item");
		if (c->json)
			status = ctl_own(c, json_write_value(&c->out, item));
		else
			status = ctl_own(c, item_show(&c->out, item, time_now()));
		if (!status && !c->json && i + 1 < o->n_operands)
			output_printf(&c->out, "\n");
		approval_value_free(result);
	}
	return status;
}
