/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/item.h"

const char *const item_modes[] = {"plan", "normal", "auto-edit", "yolo", NULL};

const char *item_id(const struct output *o, const char *id)
{
	size_t len = strlen(id);

	return o->terminal && len > ID_SHORT ? id + len - ID_SHORT : id;
}

const char *item_source(const char *source)
{
	return *source && strcmp(source, "none") ? source : "nobody";
}

bool item_is_floor(const struct approval_value *item)
{
	return !strcmp(approval_value_text(item, "step"), "floor");
}

enum output_style item_state_style(const char *state)
{
	static const struct {
		const char *state;
		enum output_style style;
	} list[] = {
		{"AWAITING", STYLE_YELLOW},
		{"WAITING", STYLE_YELLOW},
		{"HELD", STYLE_RED},
		{"SUSPENDED", STYLE_RED},
		{"DENIED", STYLE_RED},
		{"ALLOWED", STYLE_GREEN},
		{"SUCCEEDED", STYLE_GREEN},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i].state, state))
			return list[i].style;
	return STYLE_PLAIN;
}

/* ---- cells ---- */

void item_cell(struct table *t, const struct approval_value *item, const char *key,
	enum output_style style)
{
	size_t len;
	const char *s = approval_value_str(approval_value_get(item, key), &len);

	table_cell_styled(t, s, len, style);
}

void item_cell_id(struct table *t, const struct output *o, const struct approval_value *item,
	const char *key)
{
	table_cell(t, item_id(o, approval_value_text(item, key)));
}

void item_cell_age(
	struct table *t, const struct approval_value *item, const char *key, int64_t now)
{
	const struct approval_value *v = approval_value_get(item, key);
	char age[DURATION_SIZE];

	if (approval_value_type(v) == APPROVAL_NIL)
		table_cell(t, NULL);
	else
		table_cell(t, duration_format(age, now - approval_value_int(v)));
}

void item_cell_deadline(struct table *t, const struct approval_value *item, int64_t now)
{
	const struct approval_value *deadline = approval_value_get(item, "deadline");
	const struct approval_value *left = approval_value_get(item, "remaining_ms");
	char d[DURATION_SIZE];

	if (!strcmp(approval_value_text(item, "state"), "HELD") &&
		approval_value_type(left) != APPROVAL_NIL)
		table_printf(t, "held, %s", duration_format(d, approval_value_int(left)));
	else if (approval_value_type(deadline) == APPROVAL_NIL)
		table_cell(t, "never");
	else
		table_cell(t, time_relative(d, now, approval_value_int(deadline)));
}

static void text_add_value(struct text *out, const struct approval_value *v)
{
	size_t len;
	const char *s = approval_value_str(v, &len);

	text_addn(out, s, len);
}

static void item_who(struct text *out, const struct approval_value *item)
{
	const struct approval_value *chain = approval_value_get(item, "chain");
	size_t n = approval_value_count(chain);

	for (size_t i = 0; i < n; i++) {
		if (i)
			text_add(out, " > ");
		text_add_value(out, approval_value_at(chain, i));
	}
	if (!n)
		text_add_value(out, approval_value_get(item, "agent"));
}

void item_cell_who(struct table *t, const struct approval_value *item)
{
	struct text who = {0};

	item_who(&who, item);
	if (*approval_value_text(item, "project")) {
		text_add(&who, " in ");
		text_add_value(&who, approval_value_get(item, "project"));
	}
	table_cell_styled(t, text_string(&who), who.len, STYLE_PLAIN);
	text_free(&who);
}

void item_what(struct text *out, const struct approval_value *item)
{
	static const char *const keys[] = {"command", "summary", "description"};
	const struct approval_value *paths = approval_value_get(item, "paths");
	size_t len = 0;

	text_add_value(out, approval_value_get(item, "tool"));
	text_add(out, ": ");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct approval_value *v = approval_value_get(item, keys[i]);

		approval_value_str(v, &len);
		if (!len)
			continue;
		text_add_value(out, v);
		return;
	}
	for (size_t i = 0; i < approval_value_count(paths); i++) {
		if (i)
			text_add(out, " ");
		text_add_value(out, approval_value_get(approval_value_at(paths, i), "path"));
	}
	if (approval_value_count(paths))
		return;

	const struct approval_value *size = approval_value_get(item, "input_size");
	struct json_object *j;

	if (approval_value_type(size) != APPROVAL_NIL) {
		text_printf(out, "[%lld bytes of input]", (long long)approval_value_int(size));
		return;
	}
	if (json_from_value(approval_value_get(item, "input"), &j))
		out->failed = true;
	else
		text_add(out, json_object_to_json_string_ext(j,
				      JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}

void item_cell_what(struct table *t, const struct approval_value *item)
{
	struct text what = {0};

	item_what(&what, item);
	table_cell_styled(t, text_string(&what), what.len, STYLE_PLAIN);
	text_free(&what);
}

/* ---- in full ---- */

static int field(const struct output *o, const char *label, const struct approval_value *item,
	const char *key)
{
	size_t len;
	const char *s = approval_value_str(approval_value_get(item, key), &len);

	return output_field(o, label, s, len);
}

static int block(const struct output *o, const char *label, const struct approval_value *item,
	const char *key)
{
	size_t len;
	const char *s = approval_value_str(approval_value_get(item, key), &len);

	return output_block(o, label, s, len);
}

static int field_text(const struct output *o, const char *label, struct text *t)
{
	int r = t->failed ? -ENOMEM : output_field(o, label, text_string(t), t->len);

	text_free(t);
	return r;
}

static int field_paths(const struct output *o, const struct approval_value *item)
{
	const struct approval_value *paths = approval_value_get(item, "paths");
	int r = 0;

	for (size_t i = 0; !r && i < approval_value_count(paths); i++) {
		const struct approval_value *p = approval_value_at(paths, i);
		const struct approval_value *resolved = approval_value_get(p, "resolved");
		struct text t = {0};

		text_add_value(&t, approval_value_get(p, "path"));
		if (approval_value_type(resolved) != APPROVAL_NIL) {
			text_add(&t, " = ");
			text_add_value(&t, resolved);
		}
		text_add(&t, approval_value_bool(approval_value_get(p, "inside"))
				     ? " (in the workspace)"
				     : " (outside of the workspace)");
		r = field_text(o, "Path", &t);
	}
	return r;
}

static int field_tool(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};

	text_add_value(&t, approval_value_get(item, "tool"));
	text_add(&t, " (");
	text_add_value(&t, approval_value_get(item, "kind"));
	if (approval_value_bool(approval_value_get(item, "mutating")))
		text_add(&t, ", changes things");
	text_add(&t, ")");
	return field_text(o, "Tool", &t);
}

static int field_process(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};

	text_printf(
		&t, "%lld ", (long long)approval_value_int(approval_value_get(item, "pid")));
	text_add_value(&t, approval_value_get(item, "exe"));
	text_printf(&t, " (uid %lld)",
		(long long)approval_value_int(approval_value_get(item, "uid")));
	return field_text(o, "Process", &t);
}

static int field_time(const struct output *o, const char *label,
	const struct approval_value *item, const char *key, int64_t now)
{
	const struct approval_value *v = approval_value_get(item, key);
	char at[TIME_SIZE], away[DURATION_SIZE];

	if (approval_value_type(v) == APPROVAL_NIL)
		return 0;

	struct text t = {0};
	int64_t ms = approval_value_int(v);

	text_printf(&t, "%s (%s)", time_format(at, ms), time_relative(away, now, ms));
	return field_text(o, label, &t);
}

static int field_deadline(
	const struct output *o, const struct approval_value *item, int64_t now)
{
	const struct approval_value *left = approval_value_get(item, "remaining_ms");
	struct text t = {0};
	char d[DURATION_SIZE];

	if (!strcmp(approval_value_text(item, "state"), "HELD")) {
		text_add(&t, "stands still while the turn is suspended");
		if (approval_value_type(left) != APPROVAL_NIL)
			text_printf(&t, ", %s will be left",
				duration_format(d, approval_value_int(left)));
		return field_text(o, "Deadline", &t);
	}
	if (approval_value_type(approval_value_get(item, "deadline")) == APPROVAL_NIL)
		return output_field(o, "Deadline", "never", strlen("never"));
	return field_time(o, "Deadline", item, "deadline", now);
}

static int field_state(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};

	text_add_value(&t, approval_value_get(item, "state"));
	if (approval_value_bool(approval_value_get(item, "recovered")))
		text_add(&t, ", kept over a restart of the broker; its agent is not back yet");
	else if (!approval_value_bool(approval_value_get(item, "attached")))
		text_add(&t, ", nobody waits for it at the moment");
	if (approval_value_bool(approval_value_get(item, "elsewhere")))
		text_add(&t, ", may already be answered in the agent's own dialog");
	return field_text(o, "State", &t);
}

static int field_why(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};

	text_add_value(&t, approval_value_get(item, "step"));
	text_add(&t, ": ");
	text_add_value(&t, approval_value_get(item, "why"));
	return field_text(o, "Why", &t);
}

/* The entry that was hit, and by what; nothing for what is not on the floor. */
static int field_floor(const struct output *o, const struct approval_value *item)
{
	const struct approval_value *floor = approval_value_get(item, "floor");
	struct text t = {0};
	size_t len = 0;

	if (!floor)
		return 0;
	text_add_value(&t, approval_value_get(floor, "entry"));
	text_add(&t, ": ");
	text_add_value(&t, approval_value_get(floor, "about"));
	approval_value_str(approval_value_get(floor, "what"), &len);
	if (len) {
		text_add(&t, ", hit by ");
		text_add_value(&t, approval_value_get(floor, "what"));
	}
	return field_text(o, "Floor", &t);
}

static int field_rule(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};

	if (!*approval_value_text(item, "rule"))
		return 0;
	text_add_value(&t, approval_value_get(item, "rule"));
	if (approval_value_get(item, "rule_id"))
		text_printf(&t, " (standing rule %lld)",
			(long long)approval_value_int(approval_value_get(item, "rule_id")));
	return field_text(o, "Rule", &t);
}

static int field_digest(const struct output *o, const struct approval_value *item)
{
	struct text t = {0};
	size_t len;
	const char *s = approval_value_str(approval_value_get(item, "digest"), &len);

	for (size_t i = 0; i < len; i++)
		text_printf(&t, "%02x", (unsigned char)s[i]);
	return field_text(o, "Digest", &t);
}

static int field_decision(
	const struct output *o, const struct approval_value *item, int64_t now)
{
	struct text t = {0};

	const char *verdict = approval_value_text(item, "verdict");

	if (!*verdict || !strcmp(verdict, "none"))
		return 0;
	text_add_value(&t, approval_value_get(item, "verdict"));
	text_add(&t, " by ");
	text_add_value(&t, approval_value_get(item, "source"));
	if (*approval_value_text(item, "by")) {
		text_add(&t, ", ");
		text_add_value(&t, approval_value_get(item, "by"));
	}

	int r = field_text(o, "Decision", &t);
	return r ? r : field(o, "Reason", item, "reason");
}

static int json_member(const struct output *o, const char *label,
	const struct approval_value *item, const char *key)
{
	const struct approval_value *v = approval_value_get(item, key);

	return approval_value_type(v) == APPROVAL_NIL ? 0 : json_block(o, label, v);
}

/* The whole input, but where it is a command alone, which is shown. */
static int field_input(const struct output *o, const struct approval_value *item)
{
	size_t command;

	approval_value_str(approval_value_get(item, "command"), &command);
	if (command && approval_value_count(approval_value_get(item, "input")) == 1)
		return 0;
	return json_member(o, "Input", item, "input");
}

/* What names it, for looking it up elsewhere; and what has become of it. */
static int request_head(const struct output *o, const struct approval_value *item, int64_t now)
{
	static const char *const fields[][2] = {
		{"Session", "session"}, {"Turn", "turn"}, {"Call", "tool_call_id"}};
	int r = field(o, "Request", item, "request");

	for (size_t i = 0; !r && i < sizeof(fields) / sizeof(fields[0]); i++)
		r = field(o, fields[i][0], item, fields[i][1]);
	r = r ? r : field_state(o, item);
	return r ? r : field_decision(o, item, now);
}

int request_show(const struct output *o, const struct approval_value *item, int64_t now)
{
	struct text who = {0};
	int r;

	item_who(&who, item);
	r = field_text(o, "Agent", &who);
	r = r ? r : field(o, "Title", item, "title");
	r = r ? r : field(o, "Project", item, "project");
	r = r ? r : field_process(o, item);
	r = r ? r : field(o, "Mode", item, "mode");
	r = r ? r : field_tool(o, item);
	r = r ? r : field(o, "Summary", item, "summary");
	r = r ? r : block(o, "Description", item, "description");
	r = r ? r : field(o, "Directory", item, "cwd");
	r = r ? r : field_paths(o, item);
	r = r ? r : block(o, "Command", item, "command");
	r = r ? r : field_input(o, item);
	r = r ? r : json_member(o, "Options", item, "options");
	r = r ? r : json_member(o, "Schema", item, "schema");
	r = r ? r : field_why(o, item);
	r = r ? r : field_rule(o, item);
	r = r ? r : field_floor(o, item);
	r = r ? r : field_time(o, "Asked", item, "since", now);
	r = r ? r : field_deadline(o, item, now);
	text_free(&who);
	return r;
}

int item_show(const struct output *o, const struct approval_value *item, int64_t now)
{
	const char *type = approval_value_text(item, "type");
	int r;

	if (!strcmp(type, "session"))
		return json_block(o, "Session", item);
	if (strcmp(type, "request"))
		return json_block(o, strcmp(type, "turn") ? "Item" : "Turn", item);
	r = request_head(o, item, now);
	r = r ? r : request_show(o, item, now);
	return r ? r : field_digest(o, item);
}
