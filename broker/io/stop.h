/* SPDX-License-Identifier: MIT */
/*
 * A process and all that it has started, stopped by SIGSTOP and continued in the reverse
 * order. Each is signalled by a pidfd that was seen to be a descendant of the same uid.
 * A pass never waits: the caller repeats it until all stand still, since a process may
 * fork before its signal arrives.
 */
#ifndef IO_STOP_H
#define IO_STOP_H

#include "broker/io/process.h"

struct stop_tree {
	struct process_id *items; /* that we have stopped, in that order, or seen dead */
	size_t n, size;
};

/* Whose tree: the subject's; and that of whatever else the launcher is the parent of, which
 * adopts the orphans. pid 0: there is none. */
struct stop_root {
	struct process_id subject, launcher;
	uint32_t uid;
};

/* Can the kernel tell a process's children? */
bool stop_possible(void);
enum stop_how {
	STOP_STILL,
	STOP_WAITS, /* what was signalled does not stand yet */
	STOP_MOVES, /* one was signalled now; or had gone, and what it left is not known */
};

/*
 * How all of them are: enum stop_how; or an error (-E2BIG: more than LIMIT_STOPPED). A process
 * that somebody else has stopped is left alone, unless they are taken over as ours.
 */
int stop_pass(struct stop_tree *t, const struct stop_root *root, bool take_over);
/* SIGCONT in the reverse order. The tree is empty then. */
void stop_continue(struct stop_tree *t);
/* That signal to all that are in the tree. */
void stop_signal(const struct stop_tree *t, int signal);
/* That signal once to all that are there now. */
int stop_tell(const struct stop_root *root, int signal);
void stop_release(struct stop_tree *t);

#endif
