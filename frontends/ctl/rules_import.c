/* SPDX-License-Identifier: MIT */
/* rules import: another agent's rules as ours, to be read before they are used */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/json.h"
#include "frontends/ctl/ctl.h"
#include "frontends/ctl/import.h"
#include "libapproval/limits.h"

enum {
	OPTION_FROM = OPTION_OTHER,
	OPTION_OUTPUT,
	OPTION_FORCE,
	OPTION_DROP_REST,
};

const struct option_def ctl_rules_import_options[] = {
	{OPTION_FROM, "from", "AGENT", "whose: claude, codex, gemini or opencode"},
	{OPTION_OUTPUT, "output", "PATH", "write a file of rules"},
	{OPTION_FORCE, "force", NULL, "also in the place of one that is there"},
	{OPTION_DROP_REST, "drop-rest", NULL,
		"leave what a list of exceptions denies to the mode"},
	OPTION_DEF_JSON,
	{0},
};

struct job {
	struct ctl *c;
	struct import_options options;
	const char *file, *output;
	bool force;
	struct import *import;
};

/* ---- in ---- */

static int read_all(int fd, char *buffer, size_t size, size_t *len)
{
	*len = 0;
	while (*len < size) {
		const ssize_t n = read(fd, buffer + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		*len += (size_t)n;
	}
	return 0;
}

static int job_read(const struct job *j, char **text, size_t *len)
{
	const bool standard = !strcmp(j->file, "-");
	const size_t size = LIMIT_IMPORT_FILE + 1u;
	const int fd = standard ? STDIN_FILENO : open(j->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int r;

	*text = NULL;
	if (fd < 0) {
		ctl_say(j->c, "%s: %s", j->file, strerror(errno));
		return STATUS_NO_INPUT;
	}
	*text = malloc(size);
	r = *text ? read_all(fd, *text, size, len) : -ENOMEM;
	if (!standard)
		close(fd);
	if (!r)
		return STATUS_OK;
	ctl_say(j->c, "%s: %s", j->file, strerror(-r));
	return r == -ENOMEM ? STATUS_INTERNAL : STATUS_NO_INPUT;
}

/* ---- out ---- */

static bool same_place(const struct import_place *a, const struct import_place *b)
{
	return a->line == b->line && a->column == b->column;
}

static void put_origin(const struct job *j, struct text *out, const struct import_place *place)
{
	text_add(out, "# from ");
	text_terminal(out, j->file, strlen(j->file), 0);
	text_printf(out, ":%u", place->line);
	if (place->path) {
		text_add(out, " ");
		text_terminal(out, place->path, strlen(place->path), 0);
	}
	text_add(out, "\n");
}

/* The whole file of rules. */
static void job_text(const struct job *j, struct text *out)
{
	const struct import_line *lines;
	const size_t n = import_lines(j->import, &lines);

	text_printf(out, "# Imported from %s by approvalctl rules import.\n",
		import_source_name(j->options.source));
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !same_place(&lines[i].place, &lines[i - 1].place))
			put_origin(j, out, &lines[i].place);
		text_add(out, lines[i].text);
		text_add(out, "\n");
	}
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		const ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* A new file beside the path, with mode 0600; then it is there whole, or not at all. */
static int write_file(const char *path, bool force, const struct text *text)
{
	struct text name = {0};
	int fd = -1, r = 0;

	text_printf(&name, "%s.XXXXXX", path);
	if (name.failed) {
		r = -ENOMEM;
		goto out;
	}
	fd = mkostemp(name.data, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		goto out;
	}
	r = write_all(fd, text_string(text), text->len);
	if (!r && (force ? rename(name.data, path) : link(name.data, path)) < 0)
		r = -errno;
	if (r || !force)
		unlink(name.data);
out:
	if (fd >= 0)
		close(fd);
	text_free(&name);
	return r;
}

static int job_write(const struct job *j)
{
	struct text t = {0};
	int r;

	job_text(j, &t);
	r = t.failed ? -ENOMEM : 0;
	if (!r && j->output)
		r = write_file(j->output, j->force, &t);
	else if (!r && !j->c->json)
		r = output_text(&j->c->out, &t);
	text_free(&t);
	if (!r)
		return STATUS_OK;
	if (r == -EEXIST)
		ctl_say(j->c, "%s is there already; --force writes it anew", j->output);
	else
		ctl_say(j->c, "%s: %s", j->output ? j->output : "the rules", strerror(-r));
	return r == -ENOMEM ? STATUS_INTERNAL : STATUS_NO_OUTPUT;
}

static void json_place(
	const struct job *j, struct json_object *o, const struct import_place *p, int *r)
{
	json_add_text(o, "file", j->file, r);
	if (p->line) {
		json_add(o, "line", json_object_new_int64(p->line), r);
		json_add(o, "column", json_object_new_int64(p->column), r);
	}
	if (p->path)
		json_add_text(o, "path", p->path, r);
}

static int json_one(const struct job *j, const char *type, const char *key, const char *value,
	const char *text, const struct import_place *place)
{
	struct json_object *const o = json_object_new_object();
	int r = o ? 0 : -ENOMEM;

	if (!r) {
		json_add_text(o, "type", type, &r);
		json_add_text(o, key, value, &r);
		json_add_text(o, "text", text, &r);
		json_place(j, o, place, &r);
	}
	if (!r)
		r = json_write(&j->c->out, o);
	json_object_put(o);
	return r;
}

static int job_json(const struct job *j)
{
	const struct import_warning *warnings;
	const struct import_line *lines;
	const size_t n = import_lines(j->import, &lines);
	const size_t m = import_warnings(j->import, &warnings);
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = json_one(j, "rule", "verdict", import_verdict_name(lines[i].verdict),
			lines[i].text, &lines[i].place);
	for (size_t i = 0; i < m && !r; i++)
		r = json_one(j, "warning", "what", import_what_name(warnings[i].what),
			warnings[i].text, &warnings[i].place);
	return r;
}

/* Whether something was lost. */
static bool job_warn(const struct job *j)
{
	const struct import_warning *list;
	const size_t n = import_warnings(j->import, &list);
	bool lost = false;

	for (size_t i = 0; i < n; i++) {
		const struct import_place *const p = &list[i].place;
		char place[32] = "";

		lost |= list[i].what != IMPORT_NOTED;
		if (j->c->json)
			continue;
		if (p->line)
			snprintf(place, sizeof(place), ":%u:%u", p->line, p->column);
		ctl_say(j->c, "%s%s: %s%s%s: %s", j->file, place,
			import_what_name(list[i].what), p->path ? " " : "",
			p->path ? p->path : "", list[i].text);
	}
	return lost;
}

static int job_run(struct job *j)
{
	char *text = NULL;
	size_t len = 0;
	int status = job_read(j, &text, &len), r;
	bool lost;

	if (status)
		goto out;
	r = import_run(&j->import, &j->options, text, len);
	if (r == -ENOMEM) {
		status = ctl_own(j->c, r);
		goto out;
	}
	lost = job_warn(j);
	if (r) {
		status = STATUS_DATA;
	} else {
		status = job_write(j);
		if (!status && lost)
			status = STATUS_FAILED;
	}
	if (j->c->json && job_json(j))
		status = ctl_own(j->c, -ENOMEM);
out:
	import_free(j->import);
	free(text);
	return status;
}

int ctl_rules_import(void *ctl, struct options *o)
{
	struct job j = {.c = ctl, .options.source = IMPORT_SOURCE_N};
	int key;

	while ((key = options_next(o)) > OPTIONS_END) {
		switch (key) {
		case OPTION_FROM:
			j.options.source = import_source_parse(o->value);
			if (j.options.source == IMPORT_SOURCE_N)
				return options_wrong(
					o, "'%s' is no agent whose rules are known", o->value);
			break;
		case OPTION_OUTPUT: j.output = o->value; break;
		case OPTION_FORCE: j.force = true; break;
		case OPTION_DROP_REST: j.options.drop_rest = true; break;
		default: ctl_option(j.c, o, key); break;
		}
	}
	if (key == OPTIONS_EXIT)
		return o->status;
	if (j.options.source == IMPORT_SOURCE_N)
		return options_wrong(o, "--from is missing");
	if (o->n_operands != 1)
		return options_wrong(o, "one FILE is needed");
	j.file = o->operands[0];
	return job_run(&j);
}
