/* SPDX-License-Identifier: MIT */
/* floor: list, and the user's own additions */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"
#include "frontends/common/table.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/floor_file.h"
#include "frontends/ctl/item.h"

const struct option_def ctl_floor_options[] = {
	OPTION_DEF_JSON,
	{0},
};

static const char *value(const struct approval_value *item, const char *key)
{
	return approval_value_text(item, key);
}

static bool is(const struct approval_value *item, const char *key)
{
	return approval_value_bool(approval_value_get(item, key));
}

/* ---- list ---- */

static void cell_from(struct table *t, const struct approval_value *item)
{
	struct text from = {0};

	text_add(&from, value(item, "from"));
	if (*value(item, "file"))
		text_printf(&from, " %s", value(item, "file"));
	if (approval_value_get(item, "line"))
		text_printf(&from, ":%lld",
			(long long)approval_value_int(approval_value_get(item, "line")));
	table_cell_styled(t, text_string(&from), from.len, STYLE_PLAIN);
	text_free(&from);
}

static int list_table(const struct ctl *c, const struct items *items)
{
	static const struct table_column columns[] = {
		{"NAME", 0, 0, 0},
		{"GUARDS", 0, 2, 0},
		{"WHAT", TABLE_SHRINK, 0, 24},
		{"STATE", 0, 1, 0},
		{"CAN BE SWITCHED OFF", 0, 4, 0},
		{"FROM", TABLE_SHRINK, 3, 0},
	};
	struct table *t;
	int r = table_new(&t, columns, sizeof(columns) / sizeof(columns[0]));

	if (r)
		return ctl_own(c, r);
	for (size_t i = 0; i < items->n; i++) {
		const struct approval_value *const item = items->items[i];
		const enum output_style style = is(item, "off") ? STYLE_FAINT : STYLE_PLAIN;

		item_cell(t, item, "name", style);
		item_cell(t, item, "guards", style);
		item_cell(t, item, approval_value_get(item, "pattern") ? "pattern" : "about",
			style);
		table_cell(t, is(item, "off") ? "off" : "on");
		table_cell(t, is(item, "fixed") ? "no" : "yes");
		cell_from(t, item);
	}
	r = table_print(t, &c->out);
	table_free(t);
	return ctl_own(c, r);
}

static int floor_list(struct ctl *c, struct options *o)
{
	struct items items = {0};
	int status;

	if (o->n_operands > 1)
		return options_wrong(o, "'%s': list takes no operands", o->operands[1]);
	status = ctl_open_frontend(c);
	if (!status)
		status = items_fetch(c, "floor_list", NULL, 0, &items);
	if (!status && !c->json)
		status = list_table(c, &items);
	for (size_t i = 0; c->json && !status && i < items.n; i++)
		status = ctl_own(c, json_write_value(&c->out, items.items[i]));
	items_free(&items);
	return status;
}

/* ---- add, remove ---- */

/* The file that the broker reads the user's additions from. */
static int file_find(struct ctl *c, char **out)
{
	const struct param params[] = {PARAM_INT("limit", 1)};
	struct approval_value *result = NULL;
	int status = ctl_call(c, "floor_list", params, 1, &result);
	const char *const file = value(result, "user_file");

	*out = NULL;
	if (!status && !*file) {
		ctl_say(c,
			"this broker reads no floor of a user; the administrator's stands in "
			"*.floor beside its rules");
		status = STATUS_FAILED;
	} else if (!status) {
		*out = strdup(file);
		status = ctl_own(c, *out ? 0 : -ENOMEM);
	}
	approval_value_free(result);
	return status;
}

static int reload(struct ctl *c)
{
	struct approval_value *result = NULL;
	int status = ctl_call(c, "reload", NULL, 0, &result);

	approval_value_free(result);
	return status;
}

/* What became of an entry: the line that was added, or the name of those that were removed. */
struct done {
	const char *file, *entry;
	bool existed;
	size_t removed; /* lines; 0: it was added */
};

static int done_json(const struct ctl *c, const struct done *d)
{
	struct json_object *const j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add_text(j, "file", d->file, &r);
	json_add_text(j, d->removed ? "name" : "entry", d->entry, &r);
	if (d->removed)
		json_add(j, "removed", json_object_new_int64((int64_t)d->removed), &r);
	else
		json_add(j, "existed", json_object_new_boolean(d->existed), &r);
	if (!r)
		r = json_write(&c->out, j);
	json_object_put(j);
	return ctl_own(c, r);
}

static int done_tell(const struct ctl *c, const struct done *d)
{
	struct text raw = {0}, shown = {0};

	if (c->json)
		return done_json(c, d);
	text_printf(&raw, "%s: %s: %s", d->file,
		d->removed   ? "removed"
		: d->existed ? "was there"
			     : "added",
		d->entry);
	text_terminal(&shown, text_string(&raw), raw.len, 0);
	text_add(&shown, "\n");
	shown.failed |= raw.failed;
	text_free(&raw);
	return ctl_own(c, output_text(&c->out, &shown));
}

static int floor_add(struct ctl *c, struct options *o)
{
	struct text line = {0};
	char *file = NULL;
	bool there;
	int status;

	if (o->n_operands < 4)
		return options_wrong(o, "add takes a name, what it guards, and a pattern");
	for (int i = 1; i < o->n_operands; i++)
		text_printf(&line, "%s%s", i > 1 ? " " : "", o->operands[i]);
	status = ctl_own(c, line.failed ? -ENOMEM : 0);
	if (!status)
		status = floor_line_check(c, "the entry", text_string(&line), line.len);
	if (!status)
		status = ctl_open_frontend(c);
	if (!status)
		status = file_find(c, &file);
	if (!status)
		status = floor_file_add(c, file, text_string(&line), line.len, &there);
	if (!status && !there)
		status = reload(c);
	if (!status)
		status = done_tell(c, &(struct done){file, text_string(&line), there, 0});
	text_free(&line);
	free(file);
	return status;
}

static int floor_remove(struct ctl *c, struct options *o)
{
	char *file = NULL;
	size_t n = 0;
	int status;

	if (o->n_operands != 2)
		return options_wrong(o, "remove takes the name of an entry");
	status = ctl_open_frontend(c);
	if (!status)
		status = file_find(c, &file);
	if (!status)
		status = floor_file_remove(c, file, o->operands[1], &n);
	if (!status && n == 0) {
		ctl_say(c,
			"%s: there is no entry '%s'; one that is shipped is switched off in "
			"the configuration: [floor] off",
			file, o->operands[1]);
		status = STATUS_FAILED;
	}
	if (!status)
		status = reload(c);
	if (!status)
		status = done_tell(c, &(struct done){file, o->operands[1], false, n});
	free(file);
	return status;
}

int ctl_floor(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	const char *verb;
	int key;

	while ((key = options_next(o)) > OPTIONS_END)
		ctl_option(c, o, key);
	if (key == OPTIONS_EXIT)
		return o->status;
	verb = o->n_operands ? o->operands[0] : "list";
	if (strcmp(verb, "list") == 0)
		return floor_list(c, o);
	if (strcmp(verb, "add") == 0)
		return floor_add(c, o);
	if (strcmp(verb, "remove") == 0)
		return floor_remove(c, o);
	return options_wrong(o, "'%s': list, add or remove", verb);
}
