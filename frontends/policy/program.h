/* SPDX-License-Identifier: MIT */
/*
 * External programs that are asked about a call: started without a shell, JSON on their
 * standard input and output, each with its deadline. Whatever goes wrong with one is its
 * ANSWER_DEFER. They run beside each other, and beside the loop.
 */
#ifndef POLICY_PROGRAM_H
#define POLICY_PROGRAM_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include "frontends/policy/policy.h"

#define PROGRAMS_AT_ONCE 64u
#define PROGRAM_OUTPUT	 65536u /* bytes; more is no answer */
#define PROGRAM_REASON	 1000u	/* bytes of it that are kept */

/* reason: what it said, or why there is no answer; for the duration of the call. */
typedef void program_done_fn(void *arg, unsigned id, enum answer answer, const char *reason);

struct asking {
	pid_t pid; /* 0: the slot is free */
	int in, out;
	bool ended; /* it was reaped */
	int status;
	char *input;
	size_t input_len, written;
	struct text output;
	int64_t deadline;
	unsigned id;
	program_done_fn *done;
	void *arg;
};

struct programs {
	struct asking slots[PROGRAMS_AT_ONCE];
	sigset_t mask; /* of signals, that they get */
};

void programs_init(struct programs *p, const sigset_t *mask);
/* Ends those that run; nothing is called. */
void programs_fini(struct programs *p);

/*
 * Starts one; now is the monotonic clock in milliseconds. done is called once, later, unless
 * it is cancelled before. false: *why tells why not (constant).
 */
bool program_start(struct programs *p, const struct policy_program *program, struct bytes input,
	int64_t now, unsigned id, program_done_fn *done, void *arg, const char **why);
/* All of one arg. */
void programs_cancel(struct programs *p, const void *arg);
bool programs_busy(const struct programs *p);

/* What to wait for: how many of fds are set (2 * PROGRAMS_AT_ONCE at most); *timeout shrinks.
 */
size_t programs_poll(const struct programs *p, struct pollfd *fds, int64_t now, int *timeout);
/* Looks at all of them, whatever poll said. */
void programs_step(struct programs *p, int64_t now);
/* After SIGCHLD. */
void programs_reap(struct programs *p);

#endif
