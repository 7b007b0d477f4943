/* SPDX-License-Identifier: MIT */
/* Programs that approval-run has launched, as the kernel shows them. Failures end the test. */
#ifndef TEST_RUN_LAUNCH_H
#define TEST_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include <check.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"

struct launch {
	struct run run; /* of approval-run */
	pid_t pid;	/* of the program */
	char session[64];
	char group[512]; /* the folder of its cgroup */
};

/* A broker, and its places in the environment; no systemd of whoever runs the tests. */
void launch_setup(struct broker *b);
void launch_teardown(struct broker *b);

/* approvalctl with these words has to end with that status. */
#define CTL(want, ...)                                                                         \
	do {                                                                                   \
		struct run r_;                                                                 \
		RUN_WHOLE(&r_, __VA_ARGS__);                                                   \
		ck_assert_msg(                                                                 \
			r_.status == (want), "status %d: %s%s", r_.status, r_.text, r_.error); \
		run_free(&r_);                                                                 \
	} while (0)

/* Can this machine, and who we are, make cgroups of version 2? Says why not. */
bool launch_possible(void);
/* Launches sh -c SCRIPT with these options (NULL: none), and awaits its session. The script
 * begins with "echo $$". */
void launch_start(struct launch *l, const char *option, const char *script);
/* Until its cgroup is frozen, or is not. */
void launch_await(const struct launch *l, bool frozen);
bool launch_frozen(const struct launch *l);
/* How many of a cgroup's processes run. */
unsigned launch_running(const struct launch *l);
/* Until none does, and that stays so; no event tells it. */
void launch_stopped(const struct launch *l);
/* Awaits its end; the exit status. */
int launch_wait(struct launch *l);
/* The state of a process, as in /proc/PID/stat; 0: it is gone. */
char launch_state(pid_t pid);
/* Member of the session's item, as approvalctl tells it. */
bool launch_held(const struct launch *l);

#endif
