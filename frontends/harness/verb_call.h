/* SPDX-License-Identifier: MIT */
/* What verbs share, and those that make calls. All return 0, 1 (said why) or a negative errno.
 */
#ifndef HARNESS_VERB_CALL_H
#define HARNESS_VERB_CALL_H

#include "frontends/harness/harness.h"

/* The client that the step's first word names; NULL: said why. */
struct client *verb_client(struct run *r);
int verb_expand(struct run *r, struct json_object *in, struct json_object **out);
/* A command with one more member (taken over; key NULL: none), and waits until it is done. */
int verb_command(struct run *r, struct client *c, const char *op, const char *key,
	struct json_object *value);
int verb_send(struct run *r, struct client *c, const char *call, const char *method,
	struct json_object *params);

int verb_send_step(struct run *r);
int verb_many(struct run *r);
int verb_call(struct run *r);
int verb_decide(struct run *r);

#endif
