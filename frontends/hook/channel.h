/* SPDX-License-Identifier: MIT */
/*
 * A hook's connection to the broker, and the one loop in which it waits: for the
 * broker, for the agent to withdraw (a signal, or nobody reads our output any
 * more), for the agent's death, and for the deadline.
 */
#ifndef HOOK_CHANNEL_H
#define HOOK_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "frontends/hook/hook.h"

struct approval;

struct channel_options {
	const struct hook_options *hook;
	const char *agent, *session, *parent, *title, *cwd, *mode;
	int64_t wait_ms;
	int subject;  /* pidfd of the agent; stays the caller's */
	int signals;  /* signalfd, -1: none */
	bool answers; /* standard output's reader matters */
};

struct channel {
	struct approval *client;
	int subject, signals;
	bool answers;
	bool connected;
	bool failed;		  /* for good; text says why */
	bool refused;		  /* the broker was there and would not have us */
	char code[64];		  /* the broker's, when refused */
	char text[HOOK_TEXT_MAX]; /* harmless */
};

enum channel_end {
	CHANNEL_DONE,
	CHANNEL_FAILED, /* no broker, or refused */
	CHANNEL_DEADLINE,
	CHANNEL_SIGNAL, /* the agent asked us to end */
	CHANNEL_UNREAD, /* the agent lives, but reads no answer any more */
	CHANNEL_SUBJECT_DEAD,
};

/* A pidfd of the process that started us, or a negative errno. */
int channel_subject(void);

int channel_open(struct channel *l, const struct channel_options *o);
void channel_close(struct channel *l);

/* Until *done, or something else happens. deadline is hook_now() time; negative: none. */
enum channel_end channel_run(struct channel *l, const bool *done, int64_t deadline);
enum channel_end channel_connect(struct channel *l, int64_t deadline);

#endif
