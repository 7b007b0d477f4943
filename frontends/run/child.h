/* SPDX-License-Identifier: MIT */
/* The launched program: forked at once, run when it is told to. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int pidfd;
	int go, failed; /* pipes: to it, and from it */
};

/*
 * Forks it, in a process group of its own, with the given mask; it waits. It dies with us.
 * socket and session are passed down in its environment. 0 or a negative errno.
 */
int child_make(struct child *c, char *const *argv, const char *socket, const char *session,
	const sigset_t *mask);
/* Runs the program. 0 once it runs, or why it can't: a negative errno. */
int child_go(struct child *c);
/* Ends one that waits. */
void child_drop(struct child *c);
/* Ends whatever else we are the parent of, by now. */
void children_end(void);

#endif
