/* SPDX-License-Identifier: MIT */
/* What the parts of approval-harness share. */
#ifndef HARNESS_H
#define HARNESS_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frontends/common/text.h"

/* ---- scenario.c: files, see approval-harness-scenario(5) ---- */

struct word {
	char *text;		  /* as written */
	struct json_object *json; /* NULL: a plain word */
};

struct step {
	unsigned line;
	struct word *words;
	size_t n;
};

struct scenario {
	char *path;
	struct step *steps;
	size_t n;
};

/* -errno; -EINVAL with the place and what is wrong in `why`. */
int scenario_load(const char *path, struct scenario **out, struct text *why);
void scenario_free(struct scenario *s);

/* ---- pattern.c: variables and patterns ---- */

struct variable {
	char *name;
	struct json_object *value;
};

struct variables {
	struct variable *list;
	size_t n;
};

int variables_set(struct variables *v, const char *name, struct json_object *value);
int variables_set_text(struct variables *v, const char *name, const char *text);
struct json_object *variables_get(const struct variables *v, const char *name, size_t len);
void variables_cut(struct variables *v, size_t n); /* forgets those that came after n */
/* A copy with "$name" and "${name}" replaced; -ENOENT: no such variable. */
int variables_expand(
	const struct variables *v, struct json_object *in, struct json_object **out);
/* Sets the variables that the pattern captures, or none if it does not match. */
bool pattern_match(struct variables *v, struct json_object *pattern, struct json_object *value);

/* ---- worker.c: a client in a process of its own ---- */

enum client_kind { CLIENT_AGENT, CLIENT_FRONTEND, CLIENT_PROGRAM };

/* Serves its control socket until that ends. */
_Noreturn void worker_run(int control, enum client_kind kind, const char *socket);

/* ---- client.c: the harness's side of clients ---- */

struct event {
	char *name;
	char *call; /* of a reply or an error */
	struct json_object *value;
	bool used;
};

struct client {
	char *name;
	enum client_kind kind;
	struct client *above; /* it runs in a child of that one's process */
	struct json_object *hello;
	int fd, theirs; /* ends of the control socket, or of the program's output */
	pid_t pid;	/* of a worker: as it told */
	bool ended;
	char *buffer;
	size_t len;
	struct event *events;
	size_t n_events;
};

struct clients {
	struct client *list;
	size_t n;
	const char *agent_socket, *frontend_socket;
};

int client_add(struct clients *c, const char *name, enum client_kind kind, const char *above,
	struct json_object *hello);
struct client *client_find(struct clients *c, const char *name);
/* Makes the processes of all agents and frontends. */
int clients_fork(struct clients *c);
/* Starts the program under test. */
int client_start(struct client *c, char *const *argv);
/* Takes what comes from any of them, waiting until then. -ETIMEDOUT. */
int clients_wait(struct clients *c, int64_t until);
/* A command for a worker. Takes over the object. -EPIPE: it has ended. */
int client_command(struct client *c, struct json_object *command);
/* SIGKILL, and waits until it is gone. */
int client_kill(struct client *c);
void clients_free(struct clients *c);
int64_t clock_ms(void);

/* ---- run.c: a scenario step by step ---- */

struct run_options {
	const char *agent_socket, *frontend_socket;
	const char *restart; /* command that restarts the broker; NULL: none */
	char *const *with;   /* what the program under test can do, too */
	size_t n_with;
	char *const *program; /* under test; NULL: none */
	char *const *set;     /* NAME=VALUE */
	size_t n_set;
	int64_t timeout_ms;
};

enum run_result { RUN_PASSED, RUN_FAILED, RUN_SKIPPED };

/* What went wrong, with its place, in `why`. Negative errno: a failure of the harness. */
int scenario_run(const struct scenario *s, const struct run_options *o, struct text *why);

struct run {
	const struct run_options *o;
	const struct scenario *scenario;
	const struct step *step;
	struct clients clients;
	struct variables variables;
	struct text *why;
	int64_t timeout_ms;
	unsigned serial;
	char witness[96];
	struct variables environment; /* of the program under test: the names that were set */
};

/* ---- verbs.c ---- */

struct verb {
	const char *name;
	const char *usage;
	size_t min, max; /* words behind it */
	int (*run)(struct run *r);
};

const struct verb *verb_find(const char *name);
/* A step that fails: says why, with the place; returns 1. */
int run_fail(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- expect.c: waiting for events ---- */

/* An expectation as words: EVENT [CALL] [PATTERN]. */
struct expectation {
	const char *name, *call;
	struct json_object *pattern;
};

/* From the words of a step on; *at is moved behind them. 1: said why. */
int expectation_read(struct run *r, size_t *at, struct expectation *x);
/* Waits for the first unused event that matches, and uses it. 1: said why. */
int event_expect(
	struct run *r, struct client *c, const struct expectation *x, struct event **out);
int event_not_before(struct run *r, struct client *c, const struct expectation *first,
	const struct expectation *second);
/* The first unused event that matches; NULL: none so far. */
struct event *event_find(struct run *r, struct client *c, const struct expectation *x);
int event_once(struct run *r, struct client *c, size_t count, struct json_object *pattern);

#endif
