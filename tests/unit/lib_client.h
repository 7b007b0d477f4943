/* SPDX-License-Identifier: MIT */
/* An agent's client of the library, with a scripted broker: what it told is kept. */
#ifndef TEST_LIB_CLIENT_H
#define TEST_LIB_CLIENT_H

#include <check.h>

#include "tests/unit/test_lib_peer.h"

/* Of the test that runs: each has a process of its own. */
extern struct peer peer;
extern struct approval *client;

struct told {
	int connected, disconnected, gave_up, notified;
	bool any_connected, any_disconnected, any_gave_up, any_notified;
	char name[64], text[64], code[32], message[256];
};

struct answer {
	bool done;
	int times, status;
	enum approval_verdict verdict;
	char reason[64], message[64], code[32], id[64];
	bool digest;
};

/* Callbacks: arg is a struct told, or a struct answer. */
void on_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg);
void on_decision(struct approval *a, int status, const struct approval_decision *d,
	const struct approval_error *error, void *arg);
void on_reply(struct approval *a, int status, const struct approval_value *result,
	const struct approval_error *error, void *arg);

struct approval_request request_of(const char *id);
/* Submits one, whose answer goes there. */
struct approval_call *ask(struct answer *answer, const char *id);
/* Another client in the place of the one that setup made. */
void client_with(const struct approval_options *o);

/* Adds a case whose tests begin with a client and a broker that listens. */
TCase *client_tcase(Suite *s, const char *name);

#endif
