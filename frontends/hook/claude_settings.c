/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "frontends/hook/claude.h"
#include "frontends/hook/claude_settings.h"

#define QUICK_TIMEOUT 30u

const struct claude_hook claude_hooks[CLAUDE_HOOKS] = {
	{"PreToolUse", "*", true, HOOK_TIMEOUT_MAX_S},
	{"PermissionRequest", "*", true, HOOK_TIMEOUT_MAX_S},
	{"PostToolUse", "*", false, QUICK_TIMEOUT},
	{"PostToolUseFailure", "*", false, QUICK_TIMEOUT},
	{"UserPromptSubmit", NULL, false, QUICK_TIMEOUT},
	{"Stop", NULL, false, QUICK_TIMEOUT},
	{"SubagentStop", NULL, false, QUICK_TIMEOUT},
	{"SessionStart", NULL, false, QUICK_TIMEOUT},
	{"SessionEnd", NULL, false, QUICK_TIMEOUT},
};

int claude_settings_path(char *out, size_t size)
{
	const char *folder = getenv("CLAUDE_CONFIG_DIR"), *home = getenv("HOME");
	int n;

	if (folder && *folder)
		n = snprintf(out, size, "%s/settings.json", folder);
	else if (home && *home)
		n = snprintf(out, size, "%s/.claude/settings.json", home);
	else
		return -ENOENT;
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool claude_settings_ours(const struct jsontext *t, const struct jsontext_node *hook)
{
	const struct jsontext_node *args = jsontext_member(hook, "args");
	char *command = jsontext_string(t, jsontext_member(hook, "command")), *base;
	bool ours = false;

	if (!command)
		return false;
	base = strrchr(command, '/');
	base = base ? base + 1 : command;
	if (args && args->type == JSONTEXT_ARRAY) {
		ours = jsontext_is(t, args->first, CLAUDE_AGENT) &&
		       (strcmp(base, "approval-hook") == 0 ||
			       jsontext_is(t, args->first->next, "--hook-timeout"));
	} else {
		/* through a shell: an older way, or by hand */
		ours = strncmp(base, "approval-hook " CLAUDE_AGENT,
			       sizeof("approval-hook " CLAUDE_AGENT) - 1) == 0;
	}
	free(command);
	return ours;
}

/* ---- writing ---- */

struct style {
	char unit[17]; /* one step of indentation; "" with flat false: none */
	bool flat;     /* all on one line */
};

/* The white space that an item's line begins with; false where it does not begin one. */
static bool indent_of(const struct jsontext *t, size_t item, const char **at, size_t *len)
{
	size_t from = item;

	while (from > 0 && (t->text[from - 1] == ' ' || t->text[from - 1] == '\t'))
		from--;
	*at = t->text + from;
	*len = item - from;
	return from > 0 && t->text[from - 1] == '\n';
}

static void style_find(struct style *s, const struct jsontext *t)
{
	const char *at;
	size_t len;

	strcpy(s->unit, "  ");
	s->flat = false;
	if (!t->root->first)
		return;
	s->flat = !indent_of(t, t->root->first->item, &at, &len);
	if (s->flat || len >= sizeof(s->unit))
		return;
	memcpy(s->unit, at, len);
	s->unit[len] = '\0';
}

static void line_begin(struct text *out, const struct style *s, const char *base,
	size_t base_len, unsigned depth)
{
	if (s->flat)
		return;
	text_add(out, "\n");
	text_addn(out, base, base_len);
	while (depth-- > 0)
		text_add(out, s->unit);
}

static void write_scalar(struct text *out, struct json_object *v)
{
	const char *word = json_object_to_json_string_ext(
		v, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (word)
		text_add(out, word);
	else
		out->failed = true;
}

/* Lists of plain values stand on one line. */
static bool is_short(struct json_object *v)
{
	size_t i;

	for (i = 0; i < json_object_array_length(v); i++)
		if (json_object_is_type(json_object_array_get_idx(v, i), json_type_object))
			return false;
	return true;
}

static void write_value(struct text *out, struct json_object *v, const struct style *s,
	const char *base, size_t base_len, unsigned depth)
{
	struct json_object_iterator it, end;
	struct style inner = *s;
	size_t i, n;

	if (json_object_is_type(v, json_type_array)) {
		inner.flat = s->flat || is_short(v);
		n = json_object_array_length(v);
		text_add(out, "[");
		for (i = 0; i < n; i++) {
			text_add(out, i == 0 ? "" : inner.flat ? ", " : ",");
			line_begin(out, &inner, base, base_len, depth + 1);
			write_value(out, json_object_array_get_idx(v, i), &inner, base,
				base_len, depth + 1);
		}
		if (n > 0)
			line_begin(out, &inner, base, base_len, depth);
		text_add(out, "]");
		return;
	}
	if (!json_object_is_type(v, json_type_object)) {
		write_scalar(out, v);
		return;
	}
	text_add(out, "{");
	it = json_object_iter_begin(v);
	end = json_object_iter_end(v);
	for (i = 0; !json_object_iter_equal(&it, &end); json_object_iter_next(&it), i++) {
		text_add(out, i == 0 ? "" : s->flat ? ", " : ",");
		line_begin(out, s, base, base_len, depth + 1);
		text_printf(out, "\"%s\": ", json_object_iter_peek_name(&it));
		write_value(
			out, json_object_iter_peek_value(&it), s, base, base_len, depth + 1);
	}
	if (i > 0)
		line_begin(out, s, base, base_len, depth);
	text_add(out, "}");
}

/* ---- changing ---- */

static void splice(struct text *out, const struct jsontext *t, size_t from, size_t to,
	const struct text *in)
{
	text_reset(out);
	text_addn(out, t->text, from);
	if (in)
		text_addn(out, text_string(in), in->len);
	text_addn(out, t->text + to, t->len - to);
}

/* t's text with a new item (and its name, in an object) at the end of a container. */
static void append_item(struct text *out, const struct jsontext *t,
	const struct jsontext_node *container, const char *name, struct json_object *value)
{
	const char *base = "";
	struct text in = {0};
	struct style s, inner;
	size_t len = 0, from, to;
	bool own_line;

	style_find(&s, t);
	inner = s;
	if (container->last) {
		own_line = indent_of(t, container->last->item, &base, &len);
		inner.flat = !own_line;
		from = to = container->last->end;
		text_add(&in, own_line ? "," : ", ");
		line_begin(&in, &inner, base, len, 0);
	} else {
		/* the base is one step in from where the container's own line begins */
		if (!indent_of(t, container->item, &base, &len))
			len = 0;
		from = container->start + 1;
		to = container->end - 1;
		line_begin(&in, &inner, base, len, 1);
	}
	if (name)
		text_printf(&in, "\"%s\": ", name);
	write_value(&in, value, &inner, base, len, container->last ? 0 : 1);
	if (!container->last)
		line_begin(&in, &inner, base, len, 0);
	splice(out, t, from, to, &in);
	out->failed |= in.failed;
	text_free(&in);
}

static void remove_item(
	struct text *out, const struct jsontext *t, const struct jsontext_node *n)
{
	if (n->previous)
		splice(out, t, n->previous->end, n->end, NULL);
	else if (n->next)
		splice(out, t, n->item, n->next->item, NULL);
	else
		splice(out, t, n->parent->start + 1, n->parent->end - 1, NULL);
}

/* ---- looking ---- */

static int settings_parse(struct jsontext *t, const struct text *text, struct text *why)
{
	const struct jsontext_node *hooks, *n;
	int r;

	r = jsontext_parse(t, text_string(text), text->len);
	if (r == -EBADMSG)
		text_printf(why, "line %u: %s", jsontext_line(t, t->at), t->error);
	if (r < 0)
		return r;
	if (t->root->type != JSONTEXT_OBJECT) {
		text_add(why, "it holds no JSON object");
		return -EBADMSG;
	}
	hooks = jsontext_member(t->root, "hooks");
	if (hooks && hooks->type != JSONTEXT_OBJECT) {
		text_printf(
			why, "line %u: \"hooks\" is no object", jsontext_line(t, hooks->start));
		return -EBADMSG;
	}
	for (n = hooks ? hooks->first : NULL; n; n = n->next)
		if (n->type != JSONTEXT_ARRAY) {
			text_printf(why, "line %u: the hooks of an event are no list",
				jsontext_line(t, n->start));
			return -EBADMSG;
		}
	return 0;
}

/* Our hook behind `after`, or the first one, in an event's list. */
static const struct jsontext_node *event_ours(
	const struct jsontext *t, const struct jsontext_node *event, unsigned skip)
{
	const struct jsontext_node *group, *list, *hook;

	for (group = event ? event->first : NULL; group; group = group->next) {
		list = jsontext_member(group, "hooks");
		if (!list || list->type != JSONTEXT_ARRAY)
			continue;
		for (hook = list->first; hook; hook = hook->next)
			if (claude_settings_ours(t, hook) && skip-- == 0)
				return hook;
	}
	return NULL;
}

static bool is_number(const struct jsontext *t, const struct jsontext_node *n, unsigned value)
{
	char want[16];
	int len = snprintf(want, sizeof(want), "%u", value);

	return n && n->type == JSONTEXT_NUMBER && n->end - n->start == (size_t)len &&
	       memcmp(t->text + n->start, want, (size_t)len) == 0;
}

static bool is_desired(const struct jsontext *t, const struct jsontext_node *hook,
	const struct claude_hook *want, const char *command)
{
	const struct jsontext_node *group = hook->parent->parent;
	const struct jsontext_node *matcher = jsontext_member(group, "matcher");
	const struct jsontext_node *args = jsontext_member(hook, "args"), *a;
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%u", want->timeout);
	a = args && args->type == JSONTEXT_ARRAY ? args->first : NULL;
	/* further arguments are the person's own choice and stay */
	return jsontext_is(t, jsontext_member(hook, "type"), "command") &&
	       jsontext_is(t, jsontext_member(hook, "command"), command) && a &&
	       jsontext_is(t, a, CLAUDE_AGENT) && a->next &&
	       jsontext_is(t, a->next, "--hook-timeout") && a->next->next &&
	       jsontext_is(t, a->next->next, seconds) &&
	       is_number(t, jsontext_member(hook, "timeout"), want->timeout) &&
	       (want->matcher ? jsontext_is(t, matcher, want->matcher) : !matcher);
}

static struct json_object *hook_group(const struct claude_hook *want, const char *command)
{
	struct json_object *group = json_object_new_object(), *list = json_object_new_array(),
			   *hook = json_object_new_object(), *args = json_object_new_array();
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%u", want->timeout);
	if (!group || !list || !hook || !args) {
		json_object_put(group);
		json_object_put(list);
		json_object_put(hook);
		json_object_put(args);
		return NULL;
	}
	json_object_array_add(args, json_object_new_string(CLAUDE_AGENT));
	json_object_array_add(args, json_object_new_string("--hook-timeout"));
	json_object_array_add(args, json_object_new_string(seconds));
	json_object_object_add(hook, "type", json_object_new_string("command"));
	json_object_object_add(hook, "command", json_object_new_string(command));
	json_object_object_add(hook, "args", args);
	json_object_object_add(hook, "timeout", json_object_new_int((int)want->timeout));
	json_object_array_add(list, hook);
	if (want->matcher)
		json_object_object_add(group, "matcher", json_object_new_string(want->matcher));
	json_object_object_add(group, "hooks", list);
	return group;
}

/* One hook out, and the group, the event and the hooks with it when it was all that they held.
 */
static void remove_hook(
	struct text *out, const struct jsontext *t, const struct jsontext_node *hook)
{
	const struct jsontext_node *n = hook;

	/* list, group, event: each goes when this was the only thing in it */
	if (!n->previous && !n->next) {
		n = n->parent->parent;
		if (!n->previous && !n->next) {
			n = n->parent;
			if (!n->previous && !n->next)
				n = n->parent;
		}
	}
	remove_item(out, t, n);
}

static struct json_object *wrap(struct json_object *inner, const char *name)
{
	struct json_object *outer = name ? json_object_new_object() : json_object_new_array();
	int r = -1;

	if (outer && inner)
		r = name ? json_object_object_add(outer, name, inner)
			 : json_object_array_add(outer, inner);
	if (r == 0)
		return outer;
	json_object_put(inner);
	json_object_put(outer);
	return NULL;
}

static int add_hook(struct text *out, const struct jsontext *t, const struct claude_hook *want,
	const char *command)
{
	const struct jsontext_node *hooks = jsontext_member(t->root, "hooks"), *event;
	struct json_object *value = hook_group(want, command);

	event = jsontext_member(hooks, want->event);
	if (!event)
		value = wrap(value, NULL);
	if (!hooks)
		value = wrap(value, want->event);
	if (!value)
		return -ENOMEM;
	if (event)
		append_item(out, t, event, NULL, value);
	else if (hooks)
		append_item(out, t, hooks, want->event, value);
	else
		append_item(out, t, t->root, "hooks", value);
	json_object_put(value);
	return out->failed ? -ENOMEM : 0;
}

/* One change, into out. 1: made; 0: none was needed. */
static int change_once(
	struct text *out, const struct text *now, const char *command, struct text *why)
{
	const struct jsontext_node *event, *hook, *second;
	struct jsontext t;
	int i, r;

	r = settings_parse(&t, now, why);
	for (i = 0; r == 0 && i < CLAUDE_HOOKS; i++) {
		event = jsontext_member(
			jsontext_member(t.root, "hooks"), claude_hooks[i].event);
		hook = event_ours(&t, event, 0);
		second = hook ? event_ours(&t, event, 1) : NULL;
		if (second)
			hook = second;
		if (hook && (!command || second ||
				    !is_desired(&t, hook, &claude_hooks[i], command))) {
			remove_hook(out, &t, hook);
			r = out->failed ? -ENOMEM : 1;
		} else if (!hook && command) {
			r = add_hook(out, &t, &claude_hooks[i], command);
			r = r < 0 ? r : 1;
		}
	}
	/* events that an earlier version of ours took */
	for (event = r == 0 && jsontext_member(t.root, "hooks")
			     ? jsontext_member(t.root, "hooks")->first
			     : NULL;
		r == 0 && !command && event; event = event->next) {
		hook = event_ours(&t, event, 0);
		if (hook) {
			remove_hook(out, &t, hook);
			r = out->failed ? -ENOMEM : 1;
		}
	}
	jsontext_free(&t);
	return r;
}

static int change(
	struct text *out, const char *text, size_t len, const char *command, struct text *why)
{
	struct text next = {0}, swap;
	size_t blank = strspn(text, " \t\r\n");
	int r, rounds = 0;

	text_reset(out);
	/* an empty file is what no settings look like, too */
	if (blank == len)
		text_add(out, command ? "{}\n" : text);
	else
		text_addn(out, text, len);
	if (blank == len && !command)
		return 0;
	/* each round removes or adds one hook, so that more of them cannot be wanted */
	while ((r = change_once(&next, out, command, why)) == 1) {
		swap = *out;
		*out = next;
		next = swap;
		if (++rounds > (int)JSONTEXT_NODES)
			return -ELOOP;
	}
	text_free(&next);
	return r;
}

int claude_settings_add(
	struct text *out, const char *text, size_t len, const char *command, struct text *why)
{
	return change(out, text, len, command, why);
}

int claude_settings_remove(struct text *out, const char *text, size_t len, struct text *why)
{
	return change(out, text, len, NULL, why);
}
