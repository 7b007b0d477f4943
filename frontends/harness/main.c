/* SPDX-License-Identifier: MIT */
/* approval-harness: scripted agents and frontends, and the conformance of others. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/exit.h"
#include "frontends/common/json.h"
#include "frontends/common/options.h"
#include "frontends/harness/harness.h"

#define TIMEOUT_MS 30000

struct harness {
	struct output out;
	struct run_options o;
	char **set, **with;
	bool json;
	unsigned count[3];
	const char *folder;
	const char *kind;
	bool broken;
};

enum {
	OPT_AGENT = 1000,
	OPT_FRONTEND,
	OPT_RESTART,
	OPT_SET,
	OPT_WITH,
	OPT_TIMEOUT,
	OPT_JSON,
	OPT_FOLDER
};

#define COMMON_OPTIONS                                                                         \
	{OPT_AGENT, "agent-socket", "PATH", "the broker's agent socket"},                      \
		{OPT_FRONTEND, "frontend-socket", "PATH", "the broker's frontend socket"},     \
		{OPT_RESTART, "restart", "COMMAND", "shell command that restarts the broker"}, \
		{OPT_SET, "set", "NAME=VALUE", "set a variable of the scenarios"},             \
		{OPT_TIMEOUT, "timeout", "DURATION",                                           \
			"longest wait of one step (default: 30s)"},                            \
	{                                                                                      \
		OPT_JSON, "json", NULL, "one JSON object for each scenario"                    \
	}

static const struct option_def run_defs[] = {COMMON_OPTIONS, {0}};
static const struct option_def conformance_defs[] = {COMMON_OPTIONS,
	{OPT_WITH, "with", "FEATURE", "the program can do that, too: timeout, answers"},
	{OPT_FOLDER, "scenarios", "FOLDER", "take the scenarios from there"}, {0}};

static int scenario_tell(
	struct harness *h, const char *path, enum run_result result, const char *why)
{
	static const char *const names[] = {"passed", "failed", "skipped"};
	struct json_object *j;
	int r;

	h->count[result]++;
	if (!h->json) {
		output_printf(&h->out, "%s: %s\n", names[result], path);
		if (*why)
			output_printf(&h->out, "  %s\n", why);
		return output_finish(&h->out);
	}
	j = json_object_new_object();
	r = j ? 0 : -ENOMEM;
	json_add_text(j, "scenario", path, &r);
	json_add_text(j, "result", names[result], &r);
	json_add_text(j, "message", why, &r);
	if (!r)
		r = json_write(&h->out, j);
	json_object_put(j);
	return r ? r : output_finish(&h->out);
}

static int scenario_take(struct harness *h, const char *path)
{
	struct scenario *s = NULL;
	struct text why = {0};
	int r = scenario_load(path, &s, &why);

	if (r) {
		fprintf(stderr, "approval-harness: %s\n", text_string(&why));
		text_free(&why);
		return STATUS_USAGE;
	}
	r = scenario_run(s, &h->o, &why);
	if (r < 0)
		h->broken = true;
	r = scenario_tell(h, path,
		r == 0		   ? RUN_PASSED
		: r == RUN_SKIPPED ? RUN_SKIPPED
				   : RUN_FAILED,
		text_string(&why));
	text_free(&why);
	scenario_free(s);
	return r ? STATUS_INTERNAL : 0;
}

static int harness_end(struct harness *h)
{
	if (!h->json) {
		output_printf(&h->out, "%u passed, %u failed", h->count[RUN_PASSED],
			h->count[RUN_FAILED]);
		if (h->count[RUN_SKIPPED])
			output_printf(&h->out, ", %u skipped", h->count[RUN_SKIPPED]);
		output_printf(&h->out, "\n");
	}
	if (output_finish(&h->out))
		return STATUS_INTERNAL;
	if (h->broken)
		return STATUS_INTERNAL;
	return h->count[RUN_FAILED] ? STATUS_FAILED : STATUS_OK;
}

static char **list_add(char **list, size_t *n, const char *value)
{
	char **more = reallocarray(list, *n + 1, sizeof(*more));

	if (more)
		more[(*n)++] = (char *)(uintptr_t)value;
	return more;
}

static int option_take(struct harness *h, struct options *o, int key)
{
	switch (key) {
	case OPT_AGENT: h->o.agent_socket = o->value; break;
	case OPT_FRONTEND: h->o.frontend_socket = o->value; break;
	case OPT_RESTART: h->o.restart = o->value; break;
	case OPT_FOLDER: h->folder = o->value; break;
	case OPT_JSON: h->json = true; break;
	case OPT_TIMEOUT:
		return options_duration(o, o->value, &h->o.timeout_ms) ? STATUS_USAGE : 0;
	case OPT_SET:
		if (!strchr(o->value, '='))
			return options_wrong(o, "'%s': not NAME=VALUE", o->value);
		h->o.set = h->set = list_add(h->set, &h->o.n_set, o->value);
		return h->set ? 0 : STATUS_INTERNAL;
	case OPT_WITH:
		h->o.with = h->with = list_add(h->with, &h->o.n_with, o->value);
		return h->with ? 0 : STATUS_INTERNAL;
	}
	return 0;
}

static int options_take(struct harness *h, struct options *o)
{
	int key, status;

	while ((key = options_next(o)) > OPTIONS_END) {
		status = option_take(h, o, key);
		if (status)
			return status;
	}
	if (key == OPTIONS_EXIT)
		return o->status ? o->status : -1;
	if (!h->o.agent_socket || !h->o.frontend_socket)
		return options_wrong(o, "--agent-socket and --frontend-socket are needed");
	return 0;
}

static int harness_run(void *arg, struct options *o)
{
	struct harness *h = arg;
	int status = options_take(h, o);

	if (status)
		return status < 0 ? 0 : status;
	if (!o->n_operands)
		return options_wrong(o, "the scenario is missing");
	for (int i = 0; !status && i < o->n_operands; i++)
		status = scenario_take(h, o->operands[i]);
	return status ? status : harness_end(h);
}

static int conformance_folder(struct harness *h, const struct options *o, const char *kind)
{
	const char *folder = h->folder ? h->folder : PKG_CONFORMANCEDIR;
	char *pattern = NULL;
	glob_t found;
	int status = 0;

	if (asprintf(&pattern, "%s/%s/*.scn", folder, kind) < 0)
		return STATUS_INTERNAL;
	if (glob(pattern, 0, NULL, &found)) {
		status = options_wrong(o, "there are no scenarios like '%s'", pattern);
		free(pattern);
		return status;
	}
	for (size_t i = 0; !status && i < found.gl_pathc; i++)
		status = scenario_take(h, found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
	return status ? status : harness_end(h);
}

static int harness_conformance(void *arg, struct options *o)
{
	struct harness *h = arg;
	int status = options_take(h, o);

	if (status)
		return status < 0 ? 0 : status;
	h->kind = o->n_operands ? o->operands[0] : "";
	if (strcmp(h->kind, "frontend") && strcmp(h->kind, "agent"))
		return options_wrong(o, "'%s' is neither 'frontend' nor 'agent'", h->kind);
	h->o.program = o->operands + 1;
	if (*h->o.program && !strcmp(*h->o.program, "--"))
		h->o.program++;
	if (!*h->o.program)
		return options_wrong(o, "the program to be tested is missing");
	return conformance_folder(h, o, h->kind);
}

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{"run", "SCENARIO...", "Run scenarios of scripted agents and frontends", NULL,
			run_defs, false, harness_run},
		{"conformance", "frontend|agent [--] PROGRAM [ARGUMENT]...",
			"Test a program that is a frontend or an agent",
			"Options stand before 'frontend' or 'agent'.", conformance_defs, true,
			harness_conformance},
		{NULL},
	};
	static const struct program program = {
		.name = "approval-harness",
		.version = PACKAGE_VERSION,
		.summary = "Test clients of the broker, and the broker, with scripted clients",
		.more = "approval-harness(1) tells more.",
		.commands = commands,
	};
	struct harness h = {.o.timeout_ms = TIMEOUT_MS};
	struct options o;
	int status;

	output_locale();
	output_init(&h.out, stdout);
	signal(SIGPIPE, SIG_IGN);
	if (options_command(&o, &program, argc, argv) == OPTIONS_EXIT)
		status = o.status;
	else
		status = o.command->run(&h, &o);
	free(h.set);
	free(h.with);
	return status;
}
