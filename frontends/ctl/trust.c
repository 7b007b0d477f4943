/* SPDX-License-Identifier: MIT */
/* rules trust: whether the rules that a project brings along may also allow */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/duration.h"
#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/item.h"
#include "frontends/ctl/trust.h"

enum { OPTION_HASH = OPTION_OTHER, OPTION_REMOVE, OPTION_LIST, OPTION_UID };

const struct option_def ctl_rules_trust_options[] = {
	{OPTION_YES, "yes", NULL, "do not ask"},
	{OPTION_HASH, "hash", "HASH", "do not ask, if the file has this hash"},
	{OPTION_REMOVE, "remove", NULL, "do not trust the project any more"},
	{OPTION_LIST, "list", NULL, "the projects that are trusted, and those in use"},
	{OPTION_UID, "uid", "UID", "for another user's agents; for root"},
	OPTION_DEF_SOCKET,
	OPTION_DEF_JSON,
	{0},
};

struct trust {
	struct ctl *c;
	const char *hash;
	bool yes, remove, list;
	int64_t uid; /* -1: one's own */
	char *project;
};

/* ---- which project ---- */

static bool has_git(const char *folder)
{
	char *git;
	bool has;

	if (asprintf(&git, "%s/.git", folder) < 0)
		return false;
	has = access(git, F_OK) == 0;
	free(git);
	return has;
}

/* "/", the home folder, and what is above it are no workspace. */
static bool is_barred(const char *folder)
{
	const char *const set = getenv("HOME");
	char *const home = set ? realpath(set, NULL) : NULL;
	const size_t n = strlen(folder);
	const bool barred = !folder[1] || (home && strncmp(home, folder, n) == 0 &&
						  (!home[n] || home[n] == '/'));

	free(home);
	return barred;
}

int trust_project(const char *folder, char **out)
{
	char *at, *slash;

	*out = realpath(folder, NULL);
	if (!*out)
		return -errno;
	if (is_barred(*out))
		return 1;
	at = strdup(*out);
	if (!at)
		return -ENOMEM;
	while (!is_barred(at) && !has_git(at)) {
		slash = strrchr(at, '/');
		*(slash == at ? slash + 1 : slash) = '\0';
	}
	if (is_barred(at)) {
		free(at);
	} else {
		free(*out);
		*out = at;
	}
	return 0;
}

static int project_find(struct trust *t, const char *word)
{
	int r = trust_project(word, &t->project);

	/* trust outlives its folder, and can be taken back all the same */
	if (r == -ENOENT && t->remove && *word == '/') {
		t->project = strdup(word);
		r = t->project ? 0 : -ENOMEM;
	}
	if (r < 0)
		ctl_say(t->c, "%s: %s", word, strerror(-r));
	else if (r > 0)
		ctl_say(t->c, "%s: no project: it is the home folder, or above it", t->project);
	return r == -ENOMEM ? STATUS_INTERNAL : r ? STATUS_NO_INPUT : STATUS_OK;
}

/* ---- what is seen ---- */

static int64_t number(const struct approval_value *v, const char *key)
{
	return approval_value_int(approval_value_get(v, key));
}

void trust_say_problem(struct text *line, const struct approval_value *item)
{
	text_add(line, approval_value_text(item, "file"));
	if (approval_value_get(item, "line"))
		text_printf(line, ":%lld:%lld", (long long)number(item, "line"),
			(long long)number(item, "column"));
	text_printf(line, ": %s", approval_value_text(item, "problem"));
}

static int say_problem(const struct ctl *c, const struct approval_value *item)
{
	struct text line = {0};

	trust_say_problem(&line, item);
	ctl_say(c, "%s", text_string(&line));
	text_free(&line);
	return STATUS_DATA;
}

static int show_warning(const struct output *o, const struct approval_value *w)
{
	struct text line = {0}, shown = {0};

	text_printf(&line, "line %lld: %s: %s", (long long)number(w, "line"),
		approval_value_text(w, "rule"), approval_value_text(w, "message"));
	if (approval_value_get(w, "other"))
		text_printf(&line, " (%s)", approval_value_text(w, "other"));
	text_add(&shown, "warning: ");
	text_terminal(&shown, text_string(&line), line.len, 0);
	text_add(&shown, "\n");
	text_free(&line);
	return output_text(o, &shown);
}

/* The file as it is, whole, with what is to be said of it. */
static int show(const struct trust *t, const struct output *o, const struct approval_value *v)
{
	const struct approval_value *const warnings = approval_value_get(v, "warnings");
	const char *const file = approval_value_text(v, "file");
	size_t len;
	const char *text = approval_value_str(approval_value_get(v, "text"), &len);
	int r;

	if (text && len)
		r = output_block(o, file, text, len);
	else
		r = output_field(o, "empty", file, strlen(file));
	for (size_t i = 0; !r && i < approval_value_count(warnings); i++)
		r = show_warning(o, approval_value_at(warnings, i));
	if (!r && approval_value_bool(approval_value_get(v, "more")))
		output_printf(o, "There may be more to warn of.\n");
	if (!r)
		output_printf(o, "hash: %s\n", approval_value_text(v, "hash"));
	if (!r && strcmp(approval_value_text(v, "state"), "changed") == 0)
		output_printf(o, "It is not the file that you trusted: it was changed.\n");
	return ctl_own(t->c, r);
}

/* 1: not confirmed */
static int confirm(const struct ctl *c)
{
	char line[16];

	output_printf(&c->err, "Its rules will allow what they say, without asking. "
			       "Type yes to trust this file: ");
	fflush(c->err.file);
	return !fgets(line, sizeof(line), stdin) || strcmp(line, "yes\n") != 0;
}

/* ---- the calls ---- */

static int project_fetch(
	const struct trust *t, const char *project, int64_t uid, struct approval_value **out)
{
	const struct param params[] = {PARAM_TEXT("project", project), PARAM_INT("uid", uid)};

	return ctl_call(t->c, "rules_project", params, 2, out);
}

static int trust_set(const struct trust *t, const char *hash)
{
	const struct param params[] = {PARAM_TEXT("project", t->project),
		PARAM_INT("uid", t->uid), PARAM_TEXT("hash", hash),
		hash ? PARAM_TRUE("trust", true) : PARAM_FALSE("trust", true)};
	struct approval_value *result = NULL;
	int status = ctl_call(t->c, "rules_trust", params, 4, &result);

	approval_value_free(result);
	return status;
}

/* For programs: the project as it is then. */
static int trust_tell(const struct trust *t)
{
	struct approval_value *v = NULL;
	int status = STATUS_OK;

	if (t->c->json)
		status = project_fetch(t, t->project, t->uid, &v);
	if (!status && v)
		status = ctl_own(t->c, json_write_value(&t->c->out, v));
	approval_value_free(v);
	return status;
}

static int trust_give(const struct trust *t)
{
	const struct output *const o = t->c->json ? &t->c->err : &t->c->out;
	struct approval_value *v = NULL;
	const char *hash;
	int status;

	status = project_fetch(t, t->project, t->uid, &v);
	if (status)
		return status;
	hash = approval_value_text(v, "hash");
	if (*approval_value_text(v, "problem")) {
		status = say_problem(t->c, v);
	} else if (!*hash) {
		ctl_say(t->c, "%s: %s", approval_value_text(v, "file"),
			strcmp(approval_value_text(v, "state"), "missing") == 0
				? "there is no such file"
				: "it can't be read in time");
		status = STATUS_NO_INPUT;
	} else if (t->hash && strcasecmp(t->hash, hash) != 0) {
		ctl_say(t->c, "%s: not the file with this hash, but with %s",
			approval_value_text(v, "file"), hash);
		status = STATUS_FAILED;
	} else if (!t->c->json || !(t->yes || t->hash)) {
		status = show(t, o, v);
	}
	if (!status && !t->yes && !t->hash && confirm(t->c)) {
		ctl_say(t->c, "not confirmed; the project is not trusted");
		status = STATUS_FAILED;
	}
	if (!status)
		status = trust_set(t, hash);
	if (!status)
		status = trust_tell(t);
	approval_value_free(v);
	return status;
}

static int trust_take(const struct trust *t)
{
	const int status = trust_set(t, NULL);

	return status ? status : trust_tell(t);
}

/* ---- list ---- */

/* One that no session is in has not been looked at. */
static int look_at(
	const struct trust *t, const struct approval_value *item, struct approval_value **fresh)
{
	*fresh = NULL;
	if (strcmp(approval_value_text(item, "state"), "unread") != 0)
		return STATUS_OK;
	return project_fetch(
		t, approval_value_text(item, "project"), number(item, "uid"), fresh);
}

static void list_row(struct table *table, const struct approval_value *item, int64_t now)
{
	const char *const state = approval_value_text(item, "state");
	const bool fine = strcmp(state, "trusted") == 0 || strcmp(state, "missing") == 0;

	item_cell(table, item, "project", STYLE_PLAIN);
	table_printf(table, "%lld", (long long)number(item, "uid"));
	item_cell(table, item, "state", fine ? STYLE_PLAIN : STYLE_BOLD);
	item_cell_age(table, item, "made", now);
	item_cell(table, item, "by", STYLE_PLAIN);
	item_cell(table, item, "problem", STYLE_PLAIN);
}

static int list_items(const struct trust *t, struct table *table, const struct items *items)
{
	int status = STATUS_OK;

	for (size_t i = 0; !status && i < items->n; i++) {
		struct approval_value *fresh;
		const struct approval_value *item = items->items[i];

		status = look_at(t, item, &fresh);
		if (fresh)
			item = fresh;
		/* a project in use without rules, and without trust, is no matter */
		if (!status && (strcmp(approval_value_text(item, "state"), "missing") != 0 ||
				       *approval_value_text(item, "trusted_hash"))) {
			if (table)
				list_row(table, item, time_now());
			else
				status = ctl_own(t->c, json_write_value(&t->c->out, item));
		}
		approval_value_free(fresh);
	}
	return status;
}

static int trust_list(const struct trust *t)
{
	static const struct table_column columns[] = {
		{"PROJECT", TABLE_SHRINK, 0, 24},
		{"UID", TABLE_RIGHT, 4, 0},
		{"STATE", 0, 0, 0},
		{"AGE", TABLE_RIGHT, 3, 0},
		{"BY", TABLE_SHRINK, 2, 0},
		{"PROBLEM", TABLE_SHRINK, 1, 0},
	};
	struct table *table = NULL;
	struct items items = {0};
	int status = items_fetch(t->c, "rules_projects", NULL, 0, &items);

	if (!status && !t->c->json)
		status = ctl_own(
			t->c, table_new(&table, columns, sizeof(columns) / sizeof(columns[0])));
	if (!status)
		status = list_items(t, table, &items);
	if (!status && table && table_rows(table))
		status = ctl_own(t->c, table_print(table, &t->c->out));
	else if (!status && table && t->c->out.terminal)
		output_printf(
			&t->c->out, "No project is trusted, and none brings rules along.\n");
	table_free(table);
	items_free(&items);
	return status;
}

int trust_problems(
	struct ctl *c, int (*found)(void *arg, const struct approval_value *item), void *arg)
{
	struct items items = {0};
	int status = items_fetch(c, "rules_projects", NULL, 0, &items);

	for (size_t i = 0; !status && i < items.n; i++)
		if (*approval_value_text(items.items[i], "problem"))
			status = found(arg, items.items[i]);
	items_free(&items);
	return status;
}

static int trust_run(struct trust *t, const char *word)
{
	int status = t->list ? STATUS_OK : project_find(t, word);

	if (!status)
		status = ctl_open_frontend(t->c);
	if (status)
		return status;
	if (t->list)
		return trust_list(t);
	return t->remove ? trust_take(t) : trust_give(t);
}

int ctl_rules_trust(void *ctl, struct options *o)
{
	struct trust t = {.c = ctl, .uid = -1};
	uint64_t uid;
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_YES: t.yes = true; break;
		case OPTION_HASH: t.hash = o->value; break;
		case OPTION_REMOVE: t.remove = true; break;
		case OPTION_LIST: t.list = true; break;
		case OPTION_UID:
			if (options_number(o, o->value, UINT32_MAX - 1, &uid))
				return STATUS_USAGE;
			t.uid = (int64_t)uid;
			break;
		default: ctl_option(t.c, o, key);
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (o->n_operands > (t.list ? 0 : 1))
		return options_wrong(o, "'%s': %s", o->operands[t.list ? 0 : 1],
			t.list ? "--list takes no project" : "one project at a time");
	if (t.list + t.remove + (t.yes || t.hash) > 1)
		return options_wrong(
			o, "--list, --remove and --yes or --hash do not go together");
	if (t.list && t.uid != -1)
		return options_wrong(o, "--list shows the projects of all; --uid goes without it");
	if (!t.list && !t.remove && !t.yes && !t.hash && !isatty(STDIN_FILENO))
		return options_wrong(o, "nobody can confirm here; --hash HASH does without");
	status = trust_run(&t, o->n_operands ? o->operands[0] : ".");
	free(t.project);
	return status;
}
