/* SPDX-License-Identifier: MIT */
/* Runs the command that was allowed. */
#ifndef CTL_CHILD_H
#define CTL_CHILD_H

#include "frontends/ctl/ctl.h"

struct child_end {
	bool ran;   /* false: it could not be executed */
	int status; /* exit status for ourselves: the command's, or as env(1) has them */
	char summary[64];
};

/*
 * Runs argv as a child in the same terminal and waits. INT and QUIT are the
 * child's affair meanwhile (it has them from the terminal itself), TERM and HUP
 * are passed on. The client is served, so that its connection stays alive.
 */
void child_run(
	char **argv, struct approval *client, struct signals *signals, struct child_end *end);

#endif
