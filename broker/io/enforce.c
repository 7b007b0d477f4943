/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/ancestry.h"
#include "broker/io/cgroup.h"
#include "broker/io/enforce.h"
#include "libapproval/limits.h"

/* Between two passes, in microseconds; a process that does not stop is looked at seldom. */
#define PAUSE_LEAST 200
#define PAUSE_MOST  100000
/* Passes in a row after the shortest pause, while new processes are found. */
#define MOVES_MOST 256
/*
 * In so many passes in a row all have to stand: the kernel's list of children may lack one
 * while others of them end (proc_pid_task_children in proc(5)).
 */
#define STILL_PASSES 3

static const char *const names[] = {
	[ENFORCE_PROTOCOL] = "protocol",
	[ENFORCE_STOP] = "stop",
	[ENFORCE_FREEZE] = "freeze",
};

const char *enforce_name(enum enforce_method method)
{
	return names[method];
}

int enforce_parse(struct bytes name)
{
	for (int i = ENFORCE_PROTOCOL; i <= ENFORCE_FREEZE; i++)
		if (bytes_is(name, names[i]))
			return i;
	return -EINVAL;
}

void enforce_init(struct enforcements *all, struct log *log, struct process *self)
{
	*all = (struct enforcements){.log = log, .self = self};
	TAILQ_INIT(&all->list);
}

static struct stop_root root_of(const struct enforcement *e)
{
	struct stop_root root = {.subject = e->subject->id, .uid = e->uid};

	if (e->launcher)
		root.launcher = e->launcher->id;
	return root;
}

static void enforcement_free(struct enforcements *all, struct enforcement *e)
{
	TAILQ_REMOVE(&all->list, e, entry);
	all->n--;
	if (e->launcher)
		process_unwatch(e->launcher);
	process_unref(e->launcher);
	process_unref(e->subject);
	if (e->freeze >= 0)
		close(e->freeze);
	if (e->kill >= 0)
		close(e->kill);
	stop_release(&e->tree);
	free(e->cgroup);
	free(e);
}

void enforce_fini(struct enforcements *all)
{
	struct enforcement *e;

	while ((e = TAILQ_FIRST(&all->list)))
		enforcement_free(all, e);
}

struct enforcement *enforce_find(struct enforcements *all, const struct process_id *subject)
{
	struct enforcement *e;

	TAILQ_FOREACH (e, &all->list, entry)
		if (!e->over && process_id_compare(&e->subject->id, subject) == 0)
			return e;
	return NULL;
}

int enforce_put(struct enforcements *all, struct process *subject, uint32_t uid,
	struct enforce_offer *offer, struct enforcement **out)
{
	struct enforcement *old = enforce_find(all, &subject->id), *e;

	if (!old && all->n >= LIMIT_ENFORCED)
		return -ENOSPC;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	*e = (struct enforcement){
		.subject = process_ref(subject),
		.cgroup = offer->cgroup,
		.freeze = offer->freeze,
		.kill = offer->kill,
		.uid = uid,
		.method = offer->method,
	};
	/* one that has died meanwhile adopts nothing any more */
	if (offer->launcher && process_watch(offer->launcher) == 0)
		e->launcher = process_ref(offer->launcher);
	process_unref(offer->launcher);
	*offer = (struct enforce_offer){.freeze = -1, .kill = -1};
	if (old) { /* the same program, on another connection: it goes on as it stands */
		if (old->method == e->method)
			e->held = old->held;
		e->tree = old->tree;
		old->tree = (struct stop_tree){0};
		e->killing = old->killing;
		e->stuck = old->stuck;
		e->kill_at = old->kill_at;
		e->next = old->next;
		enforcement_free(all, old);
	}
	TAILQ_INSERT_TAIL(&all->list, e, entry);
	all->n++;
	*out = e;
	return 0;
}

/* ---- standing still ---- */

static bool broker_within(const struct enforcements *all, const struct enforcement *e)
{
	char *own = NULL;
	/* in doubt it is */
	bool within = process_cgroup(all->self, &own) < 0 || cgroup_within(own, e->cgroup);

	free(own);
	return within;
}

static void freeze(struct enforcements *all, struct enforcement *e, bool hold)
{
	int rc = 0;

	if (hold && broker_within(all, e))
		rc = -EPERM;
	if (rc == 0)
		rc = cgroup_write(e->freeze, hold ? "1" : "0");
	if (rc < 0)
		log_error(all->log, "the cgroup of pid %u can't be %s: %s", e->subject->id.pid,
			hold ? "frozen" : "thawed", strerror(-rc));
}

static void stop_run(struct enforcements *all, struct enforcement *e, int64_t now)
{
	const struct stop_root root = root_of(e);
	int rc = stop_pass(&e->tree, &root, e->take_over);

	e->next = 0;
	if (rc == STOP_STILL && ++e->still < STILL_PASSES) {
		e->next = now + PAUSE_LEAST;
		return;
	}
	if (rc == STOP_STILL) {
		if (e->killing)
			stop_signal(&e->tree, SIGKILL);
		return;
	}
	e->still = 0;
	if (rc < 0 && !e->pause)
		log_error(all->log, "what pid %u has started can't all be stopped: %s",
			e->subject->id.pid, strerror(-rc));
	if (rc == STOP_MOVES && e->moves < MOVES_MOST) {
		e->moves++;
		e->pause = PAUSE_LEAST;
	} else {
		e->pause = e->pause ? e->pause * 2 : PAUSE_LEAST;
		if (e->pause > PAUSE_MOST)
			e->pause = PAUSE_MOST;
	}
	e->next = now + e->pause;
}

void enforce_hold(struct enforcements *all, struct enforcement *e, bool hold, int64_t now)
{
	if (e->killing || e->over || e->held == hold || (e->stuck && !hold))
		return;
	e->held = hold;
	e->next = e->pause = 0;
	e->moves = e->still = 0;
	switch (e->method) {
	case ENFORCE_PROTOCOL: break;
	case ENFORCE_FREEZE: freeze(all, e, hold); break;
	case ENFORCE_STOP:
		if (hold)
			stop_run(all, e, now);
		else
			stop_continue(&e->tree);
		break;
	}
}

/* ---- the end ---- */

static void kill_now(struct enforcements *all, struct enforcement *e, int64_t now)
{
	e->kill_at = 0;
	/* what is frozen can be killed, and is not thawed before */
	if (e->kill >= 0 && !broker_within(all, e) && cgroup_write(e->kill, "1") == 0) {
		e->next = 0;
		return;
	}
	/* first all stand still, so that none escapes by its parent's death */
	e->pause = 0;
	e->moves = e->still = 0;
	stop_run(all, e, now);
}

void enforce_kill(struct enforcements *all, struct enforcement *e, int64_t grace, int64_t now)
{
	const struct stop_root root = root_of(e);

	e->killing = true;
	if ((e->held && e->method != ENFORCE_PROTOCOL) || grace <= 0) {
		kill_now(all, e, now);
		return;
	}
	stop_tell(&root, SIGTERM);
	e->kill_at = e->next = now + grace;
}

void enforce_drop(struct enforcements *all, struct enforcement *e)
{
	e->stuck = false;
	if (!e->killing)
		enforce_hold(all, e, false, 0);
	else if (e->kill >= 0 && !broker_within(all, e))
		cgroup_write(
			e->kill, "1"); /* the subject has ended; so do those that it left */
	e->over = true;
	if (!e->launcher || !process_alive(e->launcher))
		enforcement_free(all, e);
}

void enforce_launcher_died(struct enforcements *all, const struct process_id *id)
{
	struct enforcement *e, *next;

	TAILQ_FOREACH_SAFE (e, &all->list, entry, next) {
		if (!e->launcher || process_id_compare(&e->launcher->id, id) != 0)
			continue;
		if (process_alive(e->subject))
			log_notice(all->log, "what launched pid %u has died, and so does it",
				e->subject->id.pid);
		if (e->kill >= 0 && !broker_within(all, e))
			cgroup_write(e->kill, "1");
		if (e->over)
			enforcement_free(all, e);
	}
}

void enforce_run(struct enforcements *all, int64_t now)
{
	struct enforcement *e;

	TAILQ_FOREACH (e, &all->list, entry) {
		if (!e->next || e->next > now)
			continue;
		if (e->killing && e->kill_at)
			kill_now(all, e, now);
		else
			stop_run(all, e, now);
	}
}

int64_t enforce_next(const struct enforcements *all)
{
	const struct enforcement *e;
	int64_t at = 0;

	TAILQ_FOREACH (e, &all->list, entry)
		if (e->next && (!at || e->next < at))
			at = e->next;
	return at;
}

/* ---- who is inside ---- */

struct below {
	struct enforcements *all;
	const struct process_id *self;
	struct enforcement *found;
};

static bool is_launcher(void *arg, const struct process_id *id)
{
	struct below *b = arg;

	if (process_id_compare(id, b->self) == 0)
		return false;
	TAILQ_FOREACH (b->found, &b->all->list, entry)
		if (b->found->launcher && process_id_compare(&b->found->launcher->id, id) == 0)
			return true;
	return false;
}

int enforce_cgroup_around(
	struct enforcements *all, const struct process *p, struct enforcement **out)
{
	struct enforcement *e = NULL;
	char *path = NULL;
	int rc = 0;

	*out = NULL;
	if (TAILQ_EMPTY(&all->list))
		return 0;
	rc = process_cgroup(p, &path);
	if (rc < 0)
		return rc;
	TAILQ_FOREACH (e, &all->list, entry)
		if (cgroup_within(path, e->cgroup))
			break;
	free(path);
	*out = e;
	return e != NULL;
}

int enforce_launcher_above(
	struct enforcements *all, struct process *p, struct enforcement **out)
{
	struct below b = {.all = all, .self = &p->id};
	int rc = 0;

	if (!TAILQ_EMPTY(&all->list))
		rc = process_is_or_descends(p, is_launcher, &b);
	*out = rc == 1 ? b.found : NULL;
	return rc;
}
