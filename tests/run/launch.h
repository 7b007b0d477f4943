/* SPDX-License-Identifier: MIT */
/* Programs that approval-run has launched, as the kernel shows them. Failures end the test. */
#ifndef TEST_RUN_LAUNCH_H
#define TEST_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

struct launch {
	struct run run; /* of approval-run */
	pid_t pid;	/* of the program */
	char session[64];
	char group[512]; /* the folder of its cgroup */
};

/* Can this machine, and who we are, make cgroups of version 2? Says why not. */
bool launch_possible(void);
/* Launches sh -c SCRIPT with these options (NULL: none), and awaits its session. The script
 * begins with "echo $$". */
void launch_start(struct launch *l, const char *option, const char *script);
/* Until its cgroup is frozen, or is not. */
void launch_await(const struct launch *l, bool frozen);
bool launch_frozen(const struct launch *l);
/* Awaits its end; the exit status. */
int launch_wait(struct launch *l);
/* The state of a process, as in /proc/PID/stat; 0: it is gone. */
char launch_state(pid_t pid);
/* Member of the session's item, as approvalctl tells it. */
bool launch_held(const struct launch *l);

#endif
