/* SPDX-License-Identifier: MIT */
/*
 * How the processes of a suspended session are made to stand still, and how they are
 * ended: one enforcement for each subject that asked for more than the protocol, or whose
 * cgroup was made for it. Nothing here waits: what is not done at once is gone on with in
 * enforce_run.
 */
#ifndef IO_ENFORCE_H
#define IO_ENFORCE_H

#include <bsd/sys/queue.h>

#include "broker/io/process.h"
#include "broker/io/stop.h"
#include "broker/log.h"

enum enforce_method {
	ENFORCE_PROTOCOL,
	ENFORCE_STOP,
	ENFORCE_FREEZE,
};

struct enforcement {
	TAILQ_ENTRY(enforcement) entry;
	struct process *subject;
	struct process *launcher; /* that stands above it and is no part of it; NULL: none */
	char *cgroup;		  /* its path, made for the subject; NULL: none */
	int freeze, kill;	  /* the cgroup's files; -1: none */
	uint32_t uid;
	enum enforce_method method;
	bool held;	/* it is to stand still */
	bool take_over; /* what stands still already was stopped by an earlier broker */
	bool stuck;	/* what it waits for has timed out on its side: it can only be killed */
	bool over;	/* the subject has died; its launcher has not */
	bool killing;
	struct stop_tree tree;
	int64_t next;	 /* monotonic: when to go on; 0: nothing to do */
	int64_t pause;	 /* until the pass after that */
	unsigned moves;	 /* passes that found new ones, since it is to stand */
	unsigned still;	 /* passes in a row that found all standing */
	int64_t kill_at; /* while it is given time to end by itself; 0: at once */
};

struct enforcements {
	TAILQ_HEAD(, enforcement) list;
	size_t n;
	struct log *log;
	struct process *self; /* the broker; not counted */
};

const char *enforce_name(enum enforce_method method);
/* -EINVAL for an unknown one. */
int enforce_parse(struct bytes name);

void enforce_init(struct enforcements *all, struct log *log, struct process *self);
/* All are let go of as they are: what is frozen stays so for the next broker. */
void enforce_fini(struct enforcements *all);

/* What a hello brought along; the descriptors are -1 where there are none. */
struct enforce_offer {
	enum enforce_method method;
	int freeze, kill;
	char *cgroup;
	struct process *launcher;
};
/*
 * Puts it in place of what the subject had, and takes all that is in the offer over; *offer is
 * empty then. -ENOSPC: there are too many; -ENOMEM.
 */
int enforce_put(struct enforcements *all, struct process *subject, uint32_t uid,
	struct enforce_offer *offer, struct enforcement **out);
struct enforcement *enforce_find(struct enforcements *all, const struct process_id *subject);
/*
 * The subject has died, or is none any more: what stands still goes on, unless it is being
 * killed. What is left of a launched program stays known until its launcher ends, too.
 */
void enforce_drop(struct enforcements *all, struct enforcement *e);

/* Stands still from now on, or goes on. Told twice does nothing. */
void enforce_hold(struct enforcements *all, struct enforcement *e, bool hold, int64_t now);
/* SIGTERM now, the end after the grace; at once for what can't hear it. */
void enforce_kill(struct enforcements *all, struct enforcement *e, int64_t grace, int64_t now);
/* Goes on with what is not done yet. */
void enforce_run(struct enforcements *all, int64_t now);
int64_t enforce_next(const struct enforcements *all); /* 0: nothing to do */

/*
 * The enforcement whose cgroup a process sits in; and the one whose launcher it stands below.
 * 1, 0: none; negative: it can't be told.
 */
int enforce_cgroup_around(
	struct enforcements *all, const struct process *p, struct enforcement **out);
int enforce_launcher_above(
	struct enforcements *all, struct process *p, struct enforcement **out);
/* The launcher of a session has died: what it launched does not outlive it. */
void enforce_launcher_died(struct enforcements *all, const struct process_id *id);

#endif
