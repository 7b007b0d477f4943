/* SPDX-License-Identifier: MIT */
/*
 * Resolves paths as a process sees them, without ever blocking the loop: what the
 * kernel has in its caches is answered at once, the rest by one worker thread,
 * and what takes longer than the deadline goes on as unresolved. Unresolved bars
 * an allow by path; it is never an error.
 *
 * Times are microseconds of CLOCK_MONOTONIC, given by the caller, who also calls
 * resolver_expire in time: there is no timer in here.
 */
#ifndef IO_RESOLVER_H
#define IO_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "broker/io/process.h"
#include "broker/io/project_file.h"
#include "libapproval/bytes.h"

struct resolver;
struct resolver_job;

struct resolver_path {
	char *lexical;	/* absolute and normal by text; NULL: impossible */
	char *resolved; /* symlinks followed, under the subject's root; NULL: unresolved */
	bool inside;	/* of the workspace, both as lexical and as resolved */
};

struct resolver_result {
	struct resolver_path *paths; /* as many as were asked for, in their order */
	size_t n;
	char *workspace; /* of resolver_workspace: NULL, none */
	char *alias;	 /* the workspace as the agent names it, when that differs */
	struct project_file *file; /* of resolver_file, and then not NULL */
	bool timed_out;
	bool borrowed; /* the resolver's own, until it is asked again */
};

/*
 * All is copied; only the subject is referred to, and only during the call. A
 * relative path without cwd, "~" without home, or anything without a workspace,
 * ends as unresolved, and as outside.
 */
struct resolver_spec {
	struct process *subject; /* NULL: the broker's own root */
	const char *cwd, *home;
	const char *workspace; /* as resolved */
	const char *alias;     /* another name of the workspace; see resolver_workspace */
	const struct bytes *paths;
	size_t n; /* at most LIMIT_LOOKUPS, else -E2BIG */
};

/* Called from the loop (or resolver_expire), once; the result is the callee's:
 * resolver_result_free. */
typedef void (*resolver_done)(void *arg, struct resolver_result *result);

/* For tests: called in the worker before it looks at the disk. NULL members: nothing. */
struct resolver_hook {
	void (*before)(void *arg);
	void *arg;
	bool no_fast_path;
};

int resolver_new(
	struct resolver **out, struct event_base *base, const struct resolver_hook *hook);
/* Jobs that are not done are dropped without a call. Never waits for a hung worker. */
void resolver_free(struct resolver *r);

/*
 * 1: *result is complete (the callee's to free) and done is not called.
 * 0: *job is on its way and done will be called, unless it is cancelled before.
 * Negative: -E2BIG, -ENOMEM; nothing happens.
 */
int resolver_paths(struct resolver *r, const struct resolver_spec *spec, int64_t now,
	resolver_done done, void *arg, struct resolver_result **result,
	struct resolver_job **job);
/*
 * The workspace of a session whose working directory is spec->cwd (see
 * workspace_find). claimed, the agent's idea of it (NULL: none), may name the
 * same folder by another path; then alias is that name of the workspace. Returns
 * like resolver_paths. At the deadline there is no workspace.
 */
int resolver_workspace(struct resolver *r, const struct resolver_spec *spec,
	const char *claimed, int64_t now, resolver_done done, void *arg,
	struct resolver_result **result, struct resolver_job **job);
/*
 * Reads the file of rules of spec->workspace; see project_file_read, which gets known
 * (NULL: none). Always by the worker. Returns like resolver_paths. At the deadline, and
 * where the subject's root can't be opened, the file is PROJECT_FILE_UNREAD.
 */
int resolver_file(struct resolver *r, const struct resolver_spec *spec,
	const uint8_t known[PROJECT_HASH], int64_t now, resolver_done done, void *arg,
	struct resolver_result **result, struct resolver_job **job);
/* The job's done will not be called. NULL is fine. */
void resolver_cancel(struct resolver *r, struct resolver_job *job);

/* When resolver_expire is due; INT64_MAX: nothing waits. */
int64_t resolver_next(const struct resolver *r);
void resolver_expire(struct resolver *r, int64_t now);
size_t resolver_waiting(const struct resolver *r);

void resolver_result_free(struct resolver_result *result); /* NULL is fine */

#endif
