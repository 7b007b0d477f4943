/* SPDX-License-Identifier: MIT */
/*
 * Processes as the kernel shows them, keyed by (pid, start time) and shared: ten
 * thousand connections of one process hold one pidfd. Everything that is read of
 * a process by its number is read while its pidfd shows it alive, so that a
 * number that was given to another process is noticed.
 *
 * Common errors: -ESRCH (the process is gone, or not visible from here), -EBADMSG
 * (the kernel's text does not parse: a refusal), -EMFILE and -ENFILE (no more
 * descriptors), -ENOMEM.
 */
#ifndef IO_PROCESS_H
#define IO_PROCESS_H

#include <sys/types.h>

#include "broker/core/tree.h"
#include <event2/event.h>

#include "broker/core/types.h"

struct process_table;

struct process {
	struct process_id id;
	/* private to process.c and ancestry.c */
	RB_ENTRY(process) entry;
	struct process_table *table;
	struct event *death;	  /* while somebody watches */
	struct process_id *chain; /* recorded ancestors, nearest first; NULL: not recorded */
	int64_t root_checked;	  /* when root_own was found out; 0: never */
	int pidfd;
	uint32_t refs, watchers;
	uint16_t n_chain;
	bool dead;
	bool root_own;
};

/* What SO_PEERCRED says of a connection. */
struct process_cred {
	uint32_t uid, gid;
};

enum process_flag {
	PROCESS_NO_PEERPIDFD = 1, /* as on a kernel without SO_PEERPIDFD */
};

/* Called once when a watched process has died, from the loop. */
typedef void (*process_died)(void *arg, struct process *p);

int process_table_new(struct process_table **out, struct event_base *base, int flags,
	process_died died, void *arg);
/* No process may be left. NULL is fine. */
void process_table_free(struct process_table *t);
size_t process_table_count(const struct process_table *t);

/* The process at the other end of a connected socket. A reference is taken. */
int process_from_peer(
	struct process_table *t, int sock, struct process_cred *cred, struct process **out);
/* The process of a pidfd that somebody sent; the descriptor stays the caller's. -EBADF: no
 * pidfd. */
int process_from_pidfd(struct process_table *t, int pidfd, struct process **out);
/* A process known by number and start time, as after a restart. -ESRCH when it is gone. */
int process_from_id(struct process_table *t, const struct process_id *id, struct process **out);
/* The broker itself. */
int process_self(struct process_table *t, struct process **out);

struct process *process_ref(struct process *p);	  /* NULL stays NULL */
struct process *process_unref(struct process *p); /* returns NULL; NULL is fine */

/*
 * Counted: each process_watch wants one process_unwatch before the reference that
 * it goes with is given up, whether or not the process has died meanwhile.
 * -ESRCH when it is dead already: nothing is counted then.
 */
int process_watch(struct process *p);
void process_unwatch(struct process *p);
bool process_alive(const struct process *p);

/* 1: all of its uids (real, effective, saved) are uid; 0: not so; or an error. */
int process_has_uid(const struct process *p, uint32_t uid);

/*
 * What may be unreadable is NULL with return 0; an error is only -ESRCH, -ENOMEM.
 * Paths are as the process sees them, under its own root. The caller frees.
 */
int process_exe(const struct process *p, char **out);
int process_cwd(const struct process *p, char **out);
/*
 * The path in the unified hierarchy (the "0::" line); NULL where there is no such
 * hierarchy. Here it is -EBADMSG, a refusal, when it can't be read.
 */
int process_cgroup(const struct process *p, char **out);

/*
 * The root to resolve paths under, as an O_PATH descriptor of the caller's, or
 * -1 in *out when it is the broker's own root in the broker's own mount
 * namespace. Negative: it can't be looked at (-EACCES), and so on.
 */
int process_root(struct process *p, int *out);

int process_id_compare(const struct process_id *a, const struct process_id *b);

/* What /proc/PID/stat tells; for tests and ancestry.c. */
struct process_stat {
	uint32_t pid, ppid;
	uint64_t start;
	char state;
};

/* 0 or -EBADMSG. comm may hold anything, ")" and newlines included. */
int process_stat_parse(struct bytes text, struct process_stat *out);
/* By number, unpinned: 0, -ESRCH, -EBADMSG or another error of the read. */
int process_stat_read(uint32_t pid, struct process_stat *out);

#endif
