/* SPDX-License-Identifier: MIT */
/*
 * The watcher: a detached process, one for each session, that follows the
 * session's transcript between hooks. It reports usage and sees the only sign that
 * the agent gives of an interrupt. It ends with the agent, with the session, with
 * the transcript, or when the broker is lost; the next hook leaves a new one.
 */
#ifndef HOOK_WATCHER_H
#define HOOK_WATCHER_H

#include <stdbool.h>

struct channel;
struct tally;

struct watch_options {
	const char *agent, *session, *transcript;
	int subject;		   /* pidfd of the agent */
	const struct tally *tally; /* how far the transcript was read */
	bool behind;		   /* there is more, and it is old */
};

/*
 * Leaves one unless there is one. It takes over the channel, which is connected:
 * the broker knows the connection for one of the agent's own, which it would not
 * believe of a process that has left the agent's tree. The caller must not use the
 * channel again, only close it. 1 where there was one, 0 where there is one now.
 */
int watcher_start(const struct watch_options *o, struct channel *c);

/* Ends the session's watcher, if there is one. */
void watcher_end(const struct watch_options *o);

#endif
