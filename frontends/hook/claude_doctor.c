/* SPDX-License-Identifier: MIT */
/* Looks at Claude Code's settings as Claude Code would. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "frontends/common/output.h"
#include "frontends/hook/claude.h"
#include "frontends/hook/claude_settings.h"
#include "frontends/hook/doctor.h"
#include "frontends/hook/settings_file.h"
#include "libapproval/limits.h"

#define MANAGED_SETTINGS "/etc/claude-code/managed-settings.json"
#define ARGUMENTS_MAX	 16
#define PLENTY_S	 (2 * TIME_CHANNEL_MARGIN_MS / 1000)

struct doctor {
	struct findings found;
	const struct jsontext *text;
	char *argv[ARGUMENTS_MAX + 1]; /* of the PreToolUse hook */
};

static bool literal_is(
	const struct jsontext *t, const struct jsontext_node *n, const char *word)
{
	return n && n->type == JSONTEXT_LITERAL && n->end - n->start == strlen(word) &&
	       memcmp(t->text + n->start, word, strlen(word)) == 0;
}

/* A whole number of seconds; -1 for anything else. */
static long number_of(const struct jsontext *t, const struct jsontext_node *n)
{
	char buf[16], *end;
	long value;

	if (!n || n->type != JSONTEXT_NUMBER || n->end - n->start >= sizeof(buf))
		return -1;
	memcpy(buf, t->text + n->start, n->end - n->start);
	buf[n->end - n->start] = '\0';
	value = strtol(buf, &end, 10);
	return *end ? -1 : value;
}

static void check_command(struct doctor *d, const char *event, const struct jsontext_node *hook)
{
	char *command = jsontext_string(d->text, jsontext_member(hook, "command"));
	char *clean = finding_clean(command);

	if (!command || !clean)
		finding_add(&d->found, FINDING_FAILED, event, "its command is no text");
	else if (command[0] != '/')
		finding_add(&d->found, FINDING_FAILED, event,
			"the command %s is not absolute: a project could put another in its "
			"place",
			clean);
	else if (access(command, X_OK) < 0)
		finding_add(&d->found, FINDING_FAILED, event,
			"%s can't be executed (%s): the hook fails and the tool runs unasked",
			clean, strerror(errno));
	free(clean);
	free(command);
}

static long stated_timeout(const struct doctor *d, const struct jsontext_node *args)
{
	const struct jsontext_node *a;
	char *s;
	long value;

	for (a = args->first; a && a->next; a = a->next)
		if (jsontext_is(d->text, a, "--hook-timeout")) {
			s = jsontext_string(d->text, a->next);
			value = s ? strtol(s, NULL, 10) : -1;
			free(s);
			return value;
		}
	return HOOK_TIMEOUT_MS / 1000;
}

static void check_timeout(
	struct doctor *d, const struct claude_hook *want, const struct jsontext_node *hook)
{
	const struct jsontext_node *node = jsontext_member(hook, "timeout");
	const struct jsontext_node *args = jsontext_member(hook, "args");
	long timeout = number_of(d->text, node), stated;

	if (!node && want->decides)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"without a time-out Claude Code waits only 600 s, and then runs the "
			"tool");
	else if (node && timeout <= 0)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"its time-out is no whole number of seconds");
	else if (timeout > HOOK_TIMEOUT_MAX_S)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"a time-out over %d s overflows: the hook fails at once and the tool "
			"runs",
			HOOK_TIMEOUT_MAX_S);
	else if (node && want->decides && timeout < PLENTY_S)
		finding_add(&d->found, FINDING_WARNING, want->event,
			"a time-out of %ld s leaves a person little time", timeout);
	if (!args || args->type != JSONTEXT_ARRAY || timeout <= 0)
		return;
	stated = stated_timeout(d, args);
	if (want->decides && stated > timeout)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"--hook-timeout says %ld s, but Claude Code waits only %ld s: the "
			"denial "
			"would come too late",
			stated, timeout);
}

static void check_hook(
	struct doctor *d, const struct claude_hook *want, const struct jsontext_node *hook)
{
	const struct jsontext_node *group = hook->parent->parent;
	const struct jsontext_node *matcher = jsontext_member(group, "matcher");
	const struct jsontext_node *args = jsontext_member(hook, "args");

	if (!jsontext_is(d->text, jsontext_member(hook, "type"), "command"))
		finding_add(
			&d->found, FINDING_FAILED, want->event, "its type is not \"command\"");
	if (!args || args->type != JSONTEXT_ARRAY)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"it is run through a shell, which then stands for the agent; use "
			"\"args\"");
	else
		check_command(d, want->event, hook);
	if (matcher && !jsontext_is(d->text, matcher, "*") &&
		!jsontext_is(d->text, matcher, ""))
		finding_add(&d->found, want->decides ? FINDING_FAILED : FINDING_WARNING,
			want->event, "its matcher is not \"*\": other tools run unasked");
	if (literal_is(d->text, jsontext_member(hook, "async"), "true"))
		finding_add(&d->found, FINDING_FAILED, want->event,
			"it is asynchronous: nothing waits");
	check_timeout(d, want, hook);
}

/* The words of the hook as it stands there, to be run. */
static void take_arguments(struct doctor *d, const struct jsontext_node *hook)
{
	const struct jsontext_node *args = jsontext_member(hook, "args"), *a;
	size_t n = 0;

	if (d->argv[0] || !args || args->type != JSONTEXT_ARRAY)
		return;
	d->argv[n++] = jsontext_string(d->text, jsontext_member(hook, "command"));
	for (a = args->first; a && n < ARGUMENTS_MAX - 4; a = a->next)
		d->argv[n++] = jsontext_string(d->text, a);
}

static void check_event(struct doctor *d, const struct claude_hook *want)
{
	const struct jsontext_node *hooks = jsontext_member(d->text->root, "hooks");
	const struct jsontext_node *event = jsontext_member(hooks, want->event), *group, *list,
				   *hook;
	size_t before = d->found.n;
	unsigned n = 0;

	for (group = event && event->type == JSONTEXT_ARRAY ? event->first : NULL; group;
		group = group->next) {
		list = jsontext_member(group, "hooks");
		for (hook = list && list->type == JSONTEXT_ARRAY ? list->first : NULL; hook;
			hook = hook->next) {
			if (!claude_settings_ours(d->text, hook))
				continue;
			n++;
			check_hook(d, want, hook);
			if (strcmp(want->event, "PreToolUse") == 0)
				take_arguments(d, hook);
		}
	}
	if (n == 0)
		finding_add(&d->found, FINDING_FAILED, want->event,
			"the hook is missing; `approval-hook install claude` adds it");
	else if (n > 1)
		finding_add(&d->found, FINDING_WARNING, want->event,
			"the hook is there %u times, and every call is asked as often", n);
	if (d->found.n == before)
		finding_add(&d->found, FINDING_OK, want->event, "the hook is there");
}

static void check_switches(struct doctor *d, const struct jsontext *t, const char *where)
{
	if (literal_is(t, jsontext_member(t->root, "disableAllHooks"), "true"))
		finding_add(&d->found, FINDING_FAILED, where,
			"disableAllHooks is set: no hook runs");
	if (literal_is(t, jsontext_member(t->root, "allowManagedHooksOnly"), "true"))
		finding_add(&d->found, FINDING_FAILED, where,
			"allowManagedHooksOnly is set: a user's hooks do not run");
}

static void check_managed(struct doctor *d)
{
	struct settings_file *f = calloc(1, sizeof(*f));
	struct jsontext t = {0};
	const char *why;

	if (f && settings_file_read(f, MANAGED_SETTINGS, &why) == 0 && f->exists &&
		jsontext_parse(&t, f->text, f->len) == 0)
		check_switches(d, &t, "managed settings");
	jsontext_free(&t);
	if (f)
		settings_file_free(f);
	free(f);
}

/* `given`: the file was named on the command line. */
static void check_settings(struct doctor *d, const struct settings_file *f, bool given)
{
	char *clean = finding_clean(f->path);
	struct jsontext t;
	int i;

	d->text = &t;
	if (!f->exists) {
		memset(&t, 0, sizeof(t));
		finding_add(&d->found, FINDING_FAILED, "settings",
			"there is no %s; `approval-hook install claude%s%s` makes it", clean,
			given ? " --settings " : "", given ? clean : "");
	} else if (jsontext_parse(&t, f->text, f->len) < 0) {
		finding_add(&d->found, FINDING_FAILED, "settings", "%s: line %u: %s", clean,
			jsontext_line(&t, t.at), t.error ? t.error : "no memory");
	} else {
		finding_add(&d->found, FINDING_OK, "settings", "%s", clean);
		check_switches(d, &t, "settings");
		for (i = 0; i < CLAUDE_HOOKS; i++)
			check_event(d, &claude_hooks[i]);
	}
	jsontext_free(&t);
	free(clean);
	d->text = NULL;
}

int claude_doctor(const struct install_options *o)
{
	struct settings_file *f = calloc(1, sizeof(*f));
	struct doctor d = {0};
	char path[PATH_MAX];
	const char *why = NULL;
	int r = -ENOMEM, i, status;

	output_locale();
	if (!f)
		return STATUS_INTERNAL;
	r = o->settings ? 0 : claude_settings_path(path, sizeof(path));
	if (r == 0)
		r = settings_file_read(f, o->settings ? o->settings : path, &why);
	if (r < 0)
		finding_add(
			&d.found, FINDING_FAILED, "settings", "%s", why ? why : strerror(-r));
	else
		check_settings(&d, f, o->settings);
	check_managed(&d);
	if (d.argv[0])
		claude_doctor_probe(&d.found, o, (const char *const *)d.argv);
	status = findings_print(&d.found, o->json);
	for (i = 0; d.argv[i]; i++)
		free(d.argv[i]);
	findings_free(&d.found);
	settings_file_free(f);
	free(f);
	return status;
}
