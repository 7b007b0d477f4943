/* SPDX-License-Identifier: MIT */
/* rules: list, add, remove */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"
#include "frontends/ctl/trust.h"

enum { OPTION_SCOPE = OPTION_OTHER, OPTION_PROJECT, OPTION_EXPIRES };

const struct option_def ctl_rules_options[] = {
	{OPTION_SCOPE, "scope", "SCOPE",
		"add: user (default), project, session or turn; list: only those"},
	{OPTION_SESSION, "session", "SESSION",
		"add: for this session, its present turn or its project"},
	{OPTION_PROJECT, "project", "FOLDER", "add: for calls in this project"},
	{OPTION_EXPIRES, "expires", "DURATION", "add: how long it is to be in force"},
	OPTION_DEF_JSON,
	{0},
};

struct given {
	const char *scope, *session, *project;
	int64_t expires; /* a duration in ms; 0: never */
};

static int64_t number(const struct approval_value *item, const char *key)
{
	return approval_value_int(approval_value_get(item, key));
}

/* ---- list ---- */

static void cell_who(struct table *t, const struct approval_value *item)
{
	const char *const file = approval_value_text(item, "file");
	const int64_t line = number(item, "line");
	struct text who = {0};

	if (!*file) {
		item_cell(t, item, "by", STYLE_PLAIN);
		return;
	}
	text_add(&who, file);
	if (line)
		text_printf(&who, ":%lld", (long long)line);
	table_cell_styled(t, text_string(&who), who.len, STYLE_PLAIN);
	text_free(&who);
}

static void rule_row(struct table *t, const struct approval_value *item, int64_t now)
{
	const bool broken = approval_value_bool(approval_value_get(item, "broken"));
	const bool untrusted = approval_value_bool(approval_value_get(item, "untrusted"));
	const struct approval_value *const expires = approval_value_get(item, "expires");
	char text[DURATION_SIZE];

	if (approval_value_get(item, "id"))
		table_printf(t, "%lld", (long long)number(item, "id"));
	else
		table_cell(t, NULL);
	item_cell(t, item, "scope", STYLE_PLAIN);
	item_cell(t, item, "rule", broken || untrusted ? STYLE_FAINT : STYLE_PLAIN);
	table_cell(t, broken ? "broken" : untrusted ? "inert: project not trusted" : "in force");
	table_printf(t, "%lld", (long long)number(item, "matches"));
	item_cell_age(t, item, "matched_at", now);
	item_cell_age(t, item, "made", now);
	if (approval_value_type(expires) == APPROVAL_NIL)
		table_cell(t, "never");
	else
		table_cell(t, time_relative(text, now, approval_value_int(expires)));
	cell_who(t, item);
}

static bool shown(const struct given *g, const struct approval_value *item)
{
	return !g->scope || strcmp(approval_value_text(item, "scope"), g->scope) == 0;
}

static int list_table(const struct ctl *c, const struct given *g, const struct items *items)
{
	static const struct table_column columns[] = {
		{"ID", TABLE_RIGHT, 0, 0},
		{"SCOPE", 0, 3, 0},
		{"RULE", TABLE_SHRINK, 0, 40},
		{"STATE", 0, 1, 0},
		{"MATCHES", TABLE_RIGHT, 5, 0},
		{"LAST", TABLE_RIGHT, 6, 0},
		{"AGE", TABLE_RIGHT, 7, 0},
		{"EXPIRES", 0, 2, 0},
		{"FROM", TABLE_SHRINK, 4, 0},
	};
	const int64_t now = time_now();
	struct table *t;
	int r = table_new(&t, columns, sizeof(columns) / sizeof(columns[0]));

	if (r)
		return ctl_own(c, r);
	for (size_t i = 0; i < items->n; i++)
		if (shown(g, items->items[i]))
			rule_row(t, items->items[i], now);
	if (table_rows(t))
		r = table_print(t, &c->out);
	else if (c->out.terminal)
		output_printf(&c->out, "There are no rules.\n");
	table_free(t);
	return ctl_own(c, r);
}

static int problem_print(void *arg, const struct approval_value *item)
{
	const struct ctl *const c = arg;
	struct text line = {0};

	trust_say_problem(&line, item);
	ctl_say(c, "%s", text_string(&line));
	text_free(&line);
	return STATUS_OK;
}

static int rules_list(struct ctl *c, struct options *o, const struct given *g)
{
	static const char *const scopes[] = {
		"admin", "user", "project", "session", "turn", NULL};
	struct items items = {0};
	int status;

	if (o->n_operands > 1)
		return options_wrong(o, "'%s': list takes no operands", o->operands[1]);
	if (g->scope && options_word(o, g->scope, scopes))
		return STATUS_USAGE;
	status = ctl_open_frontend(c);
	if (!status)
		status = items_fetch(c, "rules_list", NULL, 0, &items);
	if (!status && !c->json)
		status = list_table(c, g, &items);
	for (size_t i = 0; c->json && !status && i < items.n; i++)
		if (shown(g, items.items[i]))
			status = ctl_own(c, json_write_value(&c->out, items.items[i]));
	items_free(&items);
	/* what should be in force, too */
	if (!status)
		status = trust_problems(c, problem_print, c);
	return status;
}

/* ---- add ---- */

static int added_print(const struct ctl *c, const struct approval_value *result)
{
	const bool existed = approval_value_bool(approval_value_get(result, "existed"));
	struct text shown = {0};
	size_t len;
	const char *rule;

	if (c->json)
		return ctl_own(c, json_write_value(&c->out, result));
	rule = approval_value_str(approval_value_get(result, "rule"), &len);
	text_printf(&shown, "%lld ", (long long)number(result, "id"));
	text_terminal(&shown, rule, len, 0);
	text_add(&shown, existed ? " (was there)\n" : "\n");
	return ctl_own(c, output_text(&c->out, &shown));
}

static int rules_add(struct ctl *c, struct options *o, const struct given *g)
{
	static const char *const scopes[] = {"user", "project", "session", "turn", NULL};
	struct approval_value *result = NULL;
	char *session = NULL;
	int status;

	if (o->n_operands != 2)
		return options_wrong(o, "add takes one rule, as one word: 'allow Bash(make)'");
	if (g->scope && options_word(o, g->scope, scopes))
		return STATUS_USAGE;
	if (g->scope && !g->session && strcmp(g->scope, "user") != 0 &&
		(!g->project || strcmp(g->scope, "project") != 0))
		return options_wrong(o, "--scope %s wants --session SESSION%s", g->scope,
			strcmp(g->scope, "project") == 0 ? ", or --project FOLDER" : "");
	if (g->project && *g->project != '/')
		return options_wrong(o, "'%s': the folder of a project is absolute", g->project);
	status = ctl_open_frontend(c);
	if (!status && g->session)
		status = ctl_resolve(c, g->session, "session", &session);
	if (!status) {
		const struct param params[] = {
			PARAM_TEXT("rule", o->operands[1]),
			PARAM_TEXT("scope", g->scope	 ? g->scope
					    : g->project ? "project"
					    : session	 ? "session"
							 : "user"),
			PARAM_TEXT("session", session),
			PARAM_TEXT("project", g->project),
			PARAM_INT("expires", g->expires ? time_now() + g->expires : -1),
		};

		status = ctl_call(c, "rules_add", params, 5, &result);
	}
	if (!status)
		status = added_print(c, result);
	approval_value_free(result);
	free(session);
	return status;
}

/* ---- lint ---- */

static int warning_print(const struct ctl *c, const struct approval_value *w)
{
	const struct approval_value *const rule = approval_value_get(w, "rule");
	const struct approval_value *const other = approval_value_get(w, "other");
	struct text shown = {0}, line = {0};

	if (*approval_value_text(rule, "file"))
		text_printf(&line, "%s:%lld: ", approval_value_text(rule, "file"),
			(long long)number(rule, "line"));
	else
		text_printf(&line, "rule %lld: ", (long long)number(rule, "id"));
	text_printf(&line, "%s: %s: %s", approval_value_text(rule, "rule"),
		approval_value_text(w, "code"), approval_value_text(w, "message"));
	if (other)
		text_printf(&line, " (%s)", approval_value_text(other, "rule"));
	text_terminal(&shown, text_string(&line), line.len, 0);
	text_add(&shown, "\n");
	text_free(&line);
	return ctl_own(c, output_text(&c->out, &shown));
}

static int rules_lint(struct ctl *c, struct options *o)
{
	struct approval_value *result = NULL;
	const struct approval_value *items, *w;
	int status;

	if (o->n_operands > 1)
		return options_wrong(o, "'%s': lint takes no operands", o->operands[1]);
	status = ctl_open_frontend(c);
	if (!status)
		status = ctl_call(c, "rules_lint", NULL, 0, &result);
	items = approval_value_get(result, "items");
	for (size_t i = 0; !status && i < approval_value_count(items); i++) {
		w = approval_value_at(items, i);
		status = c->json ? ctl_own(c, json_write_value(&c->out, w))
				 : warning_print(c, w);
	}
	if (!status && approval_value_count(items))
		status = STATUS_FAILED;
	approval_value_free(result);
	return status;
}

/* ---- remove ---- */

static int removed_print(const struct ctl *c, uint64_t id)
{
	struct json_object *const j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add(j, "id", json_object_new_int64((int64_t)id), &r);
	json_add(j, "removed", json_object_new_boolean(true), &r);
	if (!r)
		r = json_write(&c->out, j);
	json_object_put(j);
	return ctl_own(c, r);
}

static int rules_remove(struct ctl *c, struct options *o)
{
	uint64_t *ids;
	int status = STATUS_OK;

	if (o->n_operands < 2)
		return options_wrong(o, "the number of a rule is missing");
	ids = calloc((size_t)o->n_operands, sizeof(*ids));
	if (!ids)
		return ctl_own(c, -ENOMEM);
	for (int i = 1; i < o->n_operands && !status; i++)
		if (options_number(o, o->operands[i], UINT64_C(1) << 53, &ids[i]))
			status = STATUS_USAGE;
	if (!status)
		status = ctl_open_frontend(c);
	for (int i = 1; i < o->n_operands && !status; i++) {
		const struct param params[] = {PARAM_INT("id", (int64_t)ids[i])};
		struct approval_value *result = NULL;

		status = ctl_call(c, "rules_remove", params, 1, &result);
		if (!status && c->json)
			status = removed_print(c, ids[i]);
		approval_value_free(result);
	}
	free(ids);
	return status;
}

/* ---- reload ---- */

static int reloaded_print(const struct ctl *c)
{
	struct json_object *const j = json_object_new_object();
	int r = j ? 0 : -ENOMEM;

	json_add(j, "reloaded", json_object_new_boolean(true), &r);
	if (!r)
		r = json_write(&c->out, j);
	json_object_put(j);
	return ctl_own(c, r);
}

static int rules_reload(struct ctl *c, struct options *o)
{
	struct approval_value *result = NULL;
	int status;

	if (o->n_operands > 1)
		return options_wrong(o, "'%s': reload takes no operands", o->operands[1]);
	status = ctl_open_frontend(c);
	if (!status)
		status = ctl_call(c, "reload", NULL, 0, &result);
	if (!status && c->json)
		status = reloaded_print(c);
	approval_value_free(result);
	return status;
}

static bool has_own_options(const char *verb)
{
	static const char *const verbs[] = {"import", "test", "trust"};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verb, verbs[i]) == 0)
			return true;
	return false;
}

/* An option that would say nothing there; NULL: none. */
static const char *idle_option(const struct given *g, const char *verb)
{
	if (strcmp(verb, "add") == 0)
		return NULL;
	if (g->scope && strcmp(verb, "list") != 0)
		return "--scope is for add and list";
	return g->session   ? "--session is for add"
	       : g->project ? "--project is for add"
	       : g->expires ? "--expires is for add"
			    : NULL;
}

int ctl_rules(void *ctl, struct options *o)
{
	struct ctl *c = ctl;
	struct given g = {NULL};
	const char *verb, *wrong;
	int key;

	if (o->argc > 1 && has_own_options(o->argv[1]))
		return ctl_rules_agents(ctl, o);
	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_SCOPE: g.scope = o->value; break;
		case OPTION_SESSION: g.session = o->value; break;
		case OPTION_PROJECT: g.project = o->value; break;
		case OPTION_EXPIRES:
			if (options_duration(o, o->value, &g.expires))
				return STATUS_USAGE;
			if (g.expires == 0)
				return options_wrong(
					o, "a rule is in force for some time, or without end");
			break;
		default: ctl_option(c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	verb = o->n_operands ? o->operands[0] : "list";
	wrong = idle_option(&g, verb);
	if (wrong)
		return options_wrong(o, "%s", wrong);
	if (strcmp(verb, "list") == 0)
		return rules_list(c, o, &g);
	if (strcmp(verb, "add") == 0)
		return rules_add(c, o, &g);
	if (strcmp(verb, "remove") == 0)
		return rules_remove(c, o);
	if (strcmp(verb, "lint") == 0)
		return rules_lint(c, o);
	if (strcmp(verb, "reload") == 0)
		return rules_reload(c, o);
	return options_wrong(
		o, "'%s': list, add, remove, reload, lint, test, trust or import", verb);
}
