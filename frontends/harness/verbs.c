/* SPDX-License-Identifier: MIT */
/* The verbs of scenarios; approval-harness-scenario(5) describes them. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/duration.h"
#include "frontends/harness/harness.h"
#include "frontends/harness/verb_call.h"

static const char *word(const struct run *r, size_t i)
{
	return i < r->step->n ? r->step->words[i].text : NULL;
}

static bool word_is(const struct run *r, size_t i, const char *text)
{
	const char *w = word(r, i);

	return w && !strcmp(w, text);
}

static int declared(struct run *r)
{
	return 0; /* done before the first step */
}

/* ---- connections ---- */

static int verb_connect(struct run *r)
{
	struct client *c = verb_client(r);
	bool fails = word_is(r, 2, "fails");
	struct expectation good = {.name = "connected"}, bad = {.name = "gave_up"};
	struct expectation done = {.name = "done"};
	struct json_object *command = json_object_new_object(), *hello = NULL;
	int64_t until = clock_ms() + r->timeout_ms;
	int err = command ? 0 : -ENOMEM;

	if (!c || err) {
		json_object_put(command);
		return c ? err : 1;
	}
	if (c->hello)
		err = variables_expand(&r->variables, c->hello, &hello);
	json_object_object_add(command, "op", json_object_new_string("connect"));
	json_object_object_add(command, "hello", hello);
	if (err) {
		json_object_put(command);
		return err == -ENOENT ? run_fail(r, "a variable of %s is not set", c->name)
				      : err;
	}
	good.pattern = fails ? NULL : r->step->words[r->step->n - 1].json;
	err = client_command(c, command);
	if (!err)
		err = event_expect(r, c, &done, NULL);
	while (!err && !c->ended &&
		!event_find(r, c, &(struct expectation){.name = "connected"}) &&
		!event_find(r, c, &(struct expectation){.name = "gave_up"}))
		err = clients_wait(&r->clients, until);
	if (err && err != -ETIMEDOUT)
		return err;
	bad.pattern = fails ? r->step->words[r->step->n - 1].json : NULL;
	return event_expect(r, c, fails ? &bad : &good, NULL);
}

static int verb_subscribe(struct run *r)
{
	struct expectation snapshot = {.name = "snapshot"};
	struct client *c = verb_client(r);
	int err = c ? verb_command(r, c, "subscribe", NULL, NULL) : 1;

	return err ? err : event_expect(r, c, &snapshot, NULL);
}

static int verb_drop(struct run *r)
{
	struct client *c = verb_client(r);

	return c ? verb_command(r, c, "drop", NULL, NULL) : 1;
}

static int verb_bye(struct run *r)
{
	struct client *c = verb_client(r);

	if (!c)
		return 1;
	return verb_command(r, c, "bye", word_is(r, 2, "end") ? "end" : NULL,
		json_object_new_boolean(true));
}

static int verb_kill(struct run *r)
{
	struct client *c = verb_client(r);

	return c ? client_kill(c) : 1;
}

static int verb_raw(struct run *r)
{
	struct client *c = verb_client(r);

	return c ? verb_command(r, c, "raw", "hex", json_object_new_string(word(r, 2))) : 1;
}

/* ---- the program under test ---- */

static int verb_start(struct run *r)
{
	struct client *c = verb_client(r);
	size_t given = 0, n = 0;
	char **argv;
	int err;

	if (!c)
		return 1;
	if (c->kind != CLIENT_PROGRAM)
		return run_fail(r, "%s is no program", c->name);
	while (r->o->program[given])
		given++;
	argv = calloc(given + r->step->n + 1, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	for (; n < given; n++)
		argv[n] = r->o->program[n];
	for (size_t i = 2; i < r->step->n; i++)
		argv[n++] = r->step->words[i].text;
	unlink(r->witness);
	err = client_start(c, argv);
	free(argv);
	return err;
}

/* What stands still does so whole; else a program's own end is its own affair. */
static pid_t signal_target(const struct client *c, int number)
{
	bool whole = number == SIGSTOP || number == SIGCONT;

	return c->kind == CLIENT_PROGRAM && whole ? -c->pid : c->pid;
}

static int verb_signal(struct run *r)
{
	static const struct {
		const char *name;
		int number;
	} list[] = {{"INT", SIGINT}, {"TERM", SIGTERM}, {"KILL", SIGKILL}, {"STOP", SIGSTOP},
		{"CONT", SIGCONT}};
	struct client *c = verb_client(r);

	if (!c)
		return 1;
	if (c->pid <= 0)
		return run_fail(r, "%s does not run", c->name);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (word_is(r, 2, list[i].name))
			return kill(signal_target(c, list[i].number), list[i].number) ? -errno
										      : 0;
	return run_fail(r, "signals are INT, TERM, KILL, STOP and CONT");
}

static int verb_witness(struct run *r)
{
	bool there = !access(r->witness, F_OK);

	if (there != word_is(r, 1, "present"))
		return run_fail(r, "the program under test has%s run what it asked for",
			there ? "" : " not");
	return 0;
}

/* ---- events ---- */

static int verb_expect(struct run *r)
{
	struct client *c = verb_client(r);
	struct expectation x;
	size_t at = 2;
	int err = c ? expectation_read(r, &at, &x) : 1;

	return err ? err : event_expect(r, c, &x, NULL);
}

static int verb_not(struct run *r)
{
	struct client *c = verb_client(r);
	struct expectation first, second;
	size_t at = 2;
	int err = c ? expectation_read(r, &at, &first) : 1;

	if (err)
		return err;
	if (!word_is(r, at++, "before"))
		return run_fail(r, "'before' is missing");
	err = expectation_read(r, &at, &second);
	return err ? err : event_not_before(r, c, &first, &second);
}

/* What the broker has said before it answered the next call. */
static int verb_quiet(struct run *r)
{
	struct client *c = verb_client(r);
	struct expectation x, unknown = {.name = "error", .call = "sync"};
	size_t at = 2;
	int err = c ? expectation_read(r, &at, &x) : 1;

	if (!err)
		err = verb_send(r, c, "sync", "sync", NULL);
	if (!err)
		err = event_not_before(r, c, &x, &unknown);
	return err;
}

static int verb_once(struct run *r)
{
	struct client *c = verb_client(r);
	struct json_object *pattern = NULL;
	int err;

	if (!c)
		return 1;
	err = r->step->n > 3 ? verb_expand(r, r->step->words[3].json, &pattern) : 0;
	if (!err)
		err = event_once(r, c, strtoul(word(r, 2), NULL, 10), pattern);
	json_object_put(pattern);
	return err;
}

static int verb_forget(struct run *r)
{
	struct client *c = verb_client(r);

	if (!c)
		return 1;
	for (size_t i = 0; i < c->n_events; i++)
		c->events[i].used = true;
	return 0;
}

/* ---- the rest ---- */

static int verb_restart(struct run *r)
{
	int status = system(r->o->restart);

	return status ? run_fail(r, "'%s' ended with status %d", r->o->restart, status) : 0;
}

static int verb_timeout(struct run *r)
{
	return duration_parse(word(r, 1), &r->timeout_ms) ? run_fail(r, "not a duration") : 0;
}

static int verb_set(struct run *r)
{
	struct json_object *value;
	int err;

	if (!r->step->words[2].json)
		return variables_set_text(&r->variables, word(r, 1), word(r, 2));
	err = verb_expand(r, r->step->words[2].json, &value);
	if (!err)
		err = variables_set(&r->variables, word(r, 1), value);
	if (!err)
		json_object_put(value);
	return err;
}

static int verb_environment(struct run *r)
{
	if (setenv(word(r, 1), word(r, 2), 1))
		return -errno;
	return variables_set_text(&r->environment, word(r, 1), word(r, 2));
}

const struct verb *verb_find(const char *name)
{
	static const struct verb list[] = {
		{"agent", "NAME [under NAME] [HELLO]", 1, 4, declared},
		{"frontend", "NAME [under NAME] [HELLO]", 1, 4, declared},
		{"program", "NAME", 1, 1, declared},
		{"needs", "restart|timeout|answers", 1, 1, declared},
		{"connect", "NAME [fails] [PATTERN]", 1, 3, verb_connect},
		{"subscribe", "NAME", 1, 1, verb_subscribe},
		{"send", "NAME CALL METHOD [PARAMS]", 3, 4, verb_send_step},
		{"many", "NAME CALL COUNT METHOD PARAMS", 5, 5, verb_many},
		{"call", "NAME METHOD [PARAMS [fails] [PATTERN]]", 2, 5, verb_call},
		{"decide", "NAME REQUEST VERDICT [PATTERN [EXTRA]]", 3, 5, verb_decide},
		{"expect", "NAME EVENT [PATTERN]", 2, 4, verb_expect},
		{"not", "NAME EVENT [PATTERN] before EVENT [PATTERN]", 4, 8, verb_not},
		{"quiet", "NAME EVENT [PATTERN]", 2, 4, verb_quiet},
		{"once", "NAME COUNT [PATTERN]", 2, 3, verb_once},
		{"forget", "NAME", 1, 1, verb_forget},
		{"drop", "NAME", 1, 1, verb_drop},
		{"bye", "NAME [end]", 1, 2, verb_bye},
		{"kill", "NAME", 1, 1, verb_kill},
		{"raw", "NAME HEX", 2, 2, verb_raw},
		{"start", "NAME [ARGUMENT]...", 1, 8, verb_start},
		{"signal", "NAME SIGNAL", 2, 2, verb_signal},
		{"witness", "present|absent", 1, 1, verb_witness},
		{"restart-broker", "", 0, 0, verb_restart},
		{"timeout", "DURATION", 1, 1, verb_timeout},
		{"set", "NAME VALUE", 2, 2, verb_set},
		{"environment", "NAME VALUE", 2, 2, verb_environment},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}
