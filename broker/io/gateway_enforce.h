/* SPDX-License-Identifier: MIT */
/* The gateway's part in holding and ending the processes of sessions. */
#ifndef IO_GATEWAY_ENFORCE_H
#define IO_GATEWAY_ENFORCE_H

#include "broker/core/engine.h"
#include "broker/io/enforce.h"
#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"

struct client;
struct gateway;

/* What is to be done to a subject's processes after the commit. */
struct enforce_change {
	struct process_id id;
	struct process *subject;     /* of an offer */
	struct enforce_offer *offer; /* NULL: none */
	uint32_t uid;
	bool kill;
	bool hold; /* as the step left it, whether or not that will be committed */
	int64_t grace;
};

/* ---- gateway_enforce.c ---- */
/*
 * What a hello says of how its subject is held, with the descriptors that came along. 0; 1:
 * answered; -ENOMEM. *out NULL: nothing beside the protocol.
 */
int offer_take(struct gateway *g, struct client *client, const struct wire_frame *f,
	const struct wire_agent_hello *m, struct process *subject, struct enforce_offer **out);
void offer_free(struct enforce_offer *offer); /* NULL is fine */
/* It is taken up with the batch, and the callee's. */
void offer_stage(
	struct gateway *g, struct process *subject, uint32_t uid, struct enforce_offer *offer);
/* Of an effect. -ENOMEM. */
int enforce_change(struct gateway *g, const struct process_id *id, bool kill, int64_t grace);
/* After the commit; and after its failure, when what was to stand still does so all the same. */
void enforce_apply(struct gateway *g);
void enforce_fail(struct gateway *g);
void enforce_forget(struct gateway *g); /* at the end */
/* The session that a process is inside of, though not below its subject; false: none. */
bool enforce_inside(struct gateway *g, struct process *p, struct process_id *subject);
/* Does a frontend sit in what was launched as an agent? anew: its ancestors count, too. */
bool enforce_refuses(struct gateway *g, struct process *p, bool anew);
/*
 * Before sessions are resumed or a turn is ended: of those that have stood still for longer
 * than what waits in them does. Answers, and true, if it is that very one. session NULL: all.
 */
bool enforce_stuck(
	struct gateway *g, struct client *client, uint32_t call, const struct uuid *session);
/* How a session is held. */
const char *enforce_of(struct gateway *g, const struct session *s, bool *held);

/* ---- gateway_kill.c ---- */
int frontend_kill(struct gateway *g, struct client *client, const struct wire_frame *f);

#endif
