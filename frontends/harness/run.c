/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/harness/harness.h"

int run_fail(struct run *r, const char *format, ...)
{
	va_list ap;

	text_printf(r->why, "%s:%u: ", r->scenario->path, r->step ? r->step->line : 0);
	va_start(ap, format);
	text_vprintf(r->why, format, ap);
	va_end(ap);
	return 1;
}

/* ---- before the first step ---- */

static int need(struct run *r, const char *what)
{
	if (!strcmp(what, "restart"))
		return r->o->restart ? 0 : RUN_SKIPPED;
	if (strcmp(what, "timeout") && strcmp(what, "answers"))
		return run_fail(r, "what can be needed is restart, timeout and answers");
	for (size_t i = 0; i < r->o->n_with; i++)
		if (!strcmp(r->o->with[i], what))
			return 0;
	return RUN_SKIPPED;
}

static int step_declare(struct run *r)
{
	const struct word *w = r->step->words;
	size_t n = r->step->n;
	bool under = n > 3 && !strcmp(w[2].text, "under");
	struct json_object *hello = n > 2 ? w[n - 1].json : NULL;
	enum client_kind kind = CLIENT_AGENT;
	int err;

	if (!strcmp(w[0].text, "needs"))
		return need(r, w[1].text);
	if (!strcmp(w[0].text, "program"))
		kind = CLIENT_PROGRAM;
	else if (!strcmp(w[0].text, "frontend"))
		kind = CLIENT_FRONTEND;
	if (kind == CLIENT_PROGRAM && !r->o->program)
		return run_fail(r, "there is no program under test");
	err = client_add(&r->clients, w[1].text, kind, under ? w[3].text : NULL, hello);
	if (err == -EINVAL)
		return run_fail(r, "the name is taken, or nobody has the other one");
	return err;
}

static int step_check(struct run *r)
{
	const struct verb *v = verb_find(r->step->words[0].text);

	if (!strcmp(v->name, "restart-broker") && !r->o->restart)
		return run_fail(r, "there is no --restart command");
	if (!strcmp(v->name, "agent") || !strcmp(v->name, "frontend") ||
		!strcmp(v->name, "program") || !strcmp(v->name, "needs"))
		return step_declare(r);
	return 0;
}

static int variables_begin(struct run *r)
{
	char name[128], id[48];
	int err;

	snprintf(id, sizeof(id), "%d-%lld", getpid(), (long long)clock_ms());
	err = variables_set_text(&r->variables, "run", id);
	snprintf(r->witness, sizeof(r->witness), "/tmp/approval-witness-%s", id);
	if (!err)
		err = variables_set_text(&r->variables, "witness", r->witness);
	for (size_t i = 0; !err && i < r->o->n_set; i++) {
		const char *equal = strchr(r->o->set[i], '=');

		snprintf(name, sizeof(name), "%.*s", (int)(equal - r->o->set[i]), r->o->set[i]);
		err = variables_set_text(&r->variables, name, equal + 1);
	}
	if (setenv("APPROVAL_HARNESS_WITNESS", r->witness, 1) ||
		setenv("APPROVAL_SOCKET", r->o->agent_socket, 1) ||
		setenv("APPROVAL_FRONTEND_SOCKET", r->o->frontend_socket, 1))
		err = -errno;
	return err;
}

int scenario_run(const struct scenario *s, const struct run_options *o, struct text *why)
{
	struct run r = {.o = o, .scenario = s, .why = why, .timeout_ms = o->timeout_ms};
	int err = variables_begin(&r);

	r.clients.agent_socket = o->agent_socket;
	r.clients.frontend_socket = o->frontend_socket;
	/* all of it is looked at before anything is run */
	for (size_t i = 0; !err && i < s->n; i++) {
		r.step = &s->steps[i];
		err = step_check(&r);
	}
	if (!err)
		err = clients_fork(&r.clients);
	for (size_t i = 0; !err && i < s->n; i++) {
		r.step = &s->steps[i];
		err = verb_find(r.step->words[0].text)->run(&r);
	}
	if (err < 0)
		run_fail(&r, "%s", strerror(-err));
	clients_free(&r.clients);
	variables_cut(&r.variables, 0);
	for (size_t i = 0; i < r.environment.n; i++)
		unsetenv(r.environment.list[i].name);
	variables_cut(&r.environment, 0);
	unlink(r.witness);
	return err;
}
