/* SPDX-License-Identifier: MIT */
#ifndef POLICY_MAIN_H
#define POLICY_MAIN_H

#include "frontends/common/exit.h"
#include "frontends/policy/review.h"
#include "frontends/policy/taken.h"

struct settings {
	const char *file, *socket, *name;
	int64_t retry_ms; /* -1: for ever */
	bool headless, dry_run, input, check;
};

struct app {
	struct settings set;
	struct reviewer r;
	struct takens takens;
	struct approval *client; /* NULL: none */
	int signals;		 /* descriptor */
	bool ended;
	int status; /* exit status, once ended */
};

/* "approval-policy: …" on standard error; the arguments are taken as hostile. */
void app_say(const struct app *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends it; an own failure (negative errno) is told. */
void app_fail(struct app *a, int err);
/* The policy anew, at first or after SIGHUP; false: it does not load, the old one stays. */
bool app_load(struct app *a);
/*
 * Waits for signals, programs and the client, and serves them once. A signal to end sets
 * `ended`.
 */
void app_step(struct app *a);
/* What the time is for a policy. */
void app_time(struct tm *tm);

/* Answers what the broker asks, or says what it would, until a signal comes. */
void live_run(struct app *a);
/* The same of JSON lines on standard input. */
void offline_run(struct app *a);

#endif
