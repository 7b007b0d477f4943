/* SPDX-License-Identifier: MIT */
/*
 * An agent that waits with one request, and submits others while the store fails, and
 * a person; and what is promised for that time, and for when the store works again.
 */
#ifndef TEST_FAILING_STORE_H
#define TEST_FAILING_STORE_H

#include <stdbool.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

struct failing {
	struct broker b;
	struct raw f; /* the person's */
	int up[2], down[2];
	pid_t agent;
};

/* Starts the broker, which is initialised, and the agent, which waits then. */
void failing_start(struct failing *w);
/* The answer to a call of the person's with at most one parameter, or the error. */
struct bytes failing_ask(
	struct failing *w, const char *method, const char *key, const char *value);
/* Lets the agent submit so many, which are denied, since the store fails. */
void failing_deny(struct failing *w, unsigned n);
bool failing_works(struct failing *w);
/* Until it works. Each question is answered after a turn of the loop that tries the store. */
void failing_await(struct failing *w);
/* Takes each row of the history that is like that, from all pages. */
void failing_history(struct failing *w, const char *key, const char *value,
	void (*take)(void *arg, struct bytes row), void *arg);
uint64_t failing_recorded(struct failing *w); /* denials that the history tells of */
/* The chain of the history holds; the number of its rows. */
uint64_t failing_verify(struct failing *w);
void failing_allow(struct failing *w); /* the person allows what waits */
/* The store fails now, and again works after mend; all is ended then, but for the folder. */
void failing_whole(struct failing *w, void (*mend)(struct failing *w));

#endif
