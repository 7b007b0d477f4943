/* SPDX-License-Identifier: MIT */
/*
 * The safety net of a hook: it must not die by a signal, since the agent would
 * take that for no answer.
 */
#ifndef HOOK_GUARD_H
#define HOOK_GUARD_H

/*
 * Makes descriptors 0 to 2 valid, closes all others, ignores SIGPIPE, blocks
 * SIGTERM, SIGINT and SIGHUP (they are read from the descriptor given back), and
 * makes every fatal signal end the process with a text and HOOK_DENIED. The
 * descriptor, or a negative errno.
 */
int guard_start(void);

/* From here on nothing is decided: fatal signals end with HOOK_FAILED. */
void guard_harmless(void);

/* Back to the defaults: a detached process owes nobody an answer. */
void guard_stop(void);

#endif
