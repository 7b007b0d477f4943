/* SPDX-License-Identifier: MIT */
/*
 * Somebody else at the broker: an agent with a process of its own, and a person. That
 * a call of theirs is asked about, allowed and answered shows that the broker serves
 * others, whatever a client has done to it.
 */
#ifndef TEST_NEIGHBOUR_H
#define TEST_NEIGHBOUR_H

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

struct neighbour {
	pid_t pid;
	int to, from;	   /* pipes: a byte asks; an id, then a byte, come back */
	struct raw person; /* in the test's own process */
};

/* The agent's process is no descendant of later children of the test. */
void neighbour_start(struct neighbour *n, const struct broker *broker);
void neighbour_round(struct neighbour *n);
void neighbour_end(struct neighbour *n);

/*
 * Runs fn in a child of the test, since an agent may not stand above a frontend. What
 * fails there fails the test.
 */
void in_child(void (*fn)(const struct broker *broker, unsigned n), const struct broker *broker,
	unsigned n);

#endif
