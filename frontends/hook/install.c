/* SPDX-License-Identifier: MIT */
/* Puts our hooks into Claude Code's settings, and takes them out. */
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
#include "frontends/hook/settings_file.h"

struct install {
	struct output out, err;
	struct settings_file file;
	struct text text, why;
	char command[PATH_MAX];
};

static int install_fail(struct install *i, const char *path, int error, const char *why)
{
	struct text t = {0};

	text_add(&t, "approval-hook: ");
	text_terminal(&t, path, strlen(path), 0);
	text_printf(&t, ": %s; nothing was changed\n",
		i->why.len ? text_string(&i->why)
		: why	   ? why
			   : strerror(-error));
	output_text(&i->err, &t);
	return STATUS_FAILED;
}

/*
 * A program that was built and not installed is started by a script of the same name one
 * folder above, without which it does not find its library.
 */
static void build_script(char *path)
{
	static const char hidden[] = "/.libs/";
	char *const at = strstr(path, hidden);
	const char *name;
	char script[PATH_MAX];

	if (!at || strchr(at + sizeof(hidden) - 1, '/'))
		return;
	name = at + sizeof(hidden) - 1;
	if (strncmp(name, "lt-", 3) == 0)
		name += 3;
	if (snprintf(script, sizeof(script), "%.*s/%s", (int)(at - path), path, name) <
			(int)sizeof(script) &&
		access(script, X_OK) == 0)
		memcpy(path, script, strlen(script) + 1);
}

/* The program that settings are to name: absolute, and there. */
static int install_command(struct install *i, const char *given)
{
	ssize_t n;

	if (!given) {
		n = readlink("/proc/self/exe", i->command, sizeof(i->command) - 1);
		if (n < 0)
			return -errno;
		i->command[n] = '\0';
		build_script(i->command);
	} else if (!realpath(given, i->command)) {
		return -errno;
	} else if (given[0] == '/') {
		/* a link that the person names is what he wants to be followed each time */
		snprintf(i->command, sizeof(i->command), "%s", given);
	}
	return access(i->command, X_OK) < 0 ? -errno : 0;
}

static void install_say(struct install *i, const char *what)
{
	struct text t = {0};

	text_printf(&t, "%s ", what);
	text_terminal(&t, i->file.path, strlen(i->file.path), 0);
	text_add(&t, "\n");
	if (i->file.backup[0]) {
		text_add(&t, "the settings as they were: ");
		text_terminal(&t, i->file.backup, strlen(i->file.backup), 0);
		text_add(&t, "\n");
	}
	output_text(&i->out, &t);
}

static int install_write(struct install *i, const struct install_options *o, bool remove)
{
	bool same = i->text.len == i->file.len &&
		    memcmp(text_string(&i->text), i->file.text, i->file.len) == 0;
	const char *why;
	int r;

	if (o->dry_run) {
		output_printf(&i->out, "%s", text_string(&i->text));
		return STATUS_OK;
	}
	if (same) {
		install_say(i, remove ? "no hooks of ours are in" : "all hooks are already in");
		return STATUS_OK;
	}
	r = settings_file_write(&i->file, text_string(&i->text), i->text.len, &why);
	if (r < 0)
		return install_fail(i, i->file.path, r, why);
	install_say(i, remove ? "the hooks were taken out of" : "the hooks were added to");
	if (!remove)
		output_printf(&i->out, "Claude Code reads them when it starts; `approval-hook "
				       "doctor claude` shows whether they work\n");
	return STATUS_OK;
}

static int install_run(const struct install_options *o, bool remove)
{
	struct install *i = calloc(1, sizeof(*i));
	char path[PATH_MAX];
	const char *why = NULL;
	int r, status = STATUS_FAILED;

	if (!i)
		return STATUS_INTERNAL;
	output_locale();
	output_init(&i->out, stdout);
	output_init(&i->err, stderr);
	r = o->settings ? snprintf(path, sizeof(path), "%s", o->settings) >= (int)sizeof(path)
				  ? -ENAMETOOLONG
				  : 0
			: claude_settings_path(path, sizeof(path));
	if (r < 0) {
		install_fail(i, "settings", r, "neither HOME nor CLAUDE_CONFIG_DIR is set");
		goto out;
	}
	if (!remove)
		r = install_command(i, o->command);
	if (r < 0) {
		install_fail(i, o->command ? o->command : "approval-hook", r, NULL);
		goto out;
	}
	r = settings_file_read(&i->file, path, &why);
	if (r == 0)
		r = remove ? claude_settings_remove(
				     &i->text, i->file.text, i->file.len, &i->why)
			   : claude_settings_add(
				     &i->text, i->file.text, i->file.len, i->command, &i->why);
	if (r < 0)
		install_fail(i, path, r, why);
	else
		status = install_write(i, o, remove);
out:
	if (output_finish(&i->out) < 0)
		status = STATUS_FAILED;
	settings_file_free(&i->file);
	text_free(&i->text);
	text_free(&i->why);
	free(i);
	return status;
}

int claude_install(const struct install_options *o)
{
	return install_run(o, false);
}

int claude_uninstall(const struct install_options *o)
{
	return install_run(o, true);
}
