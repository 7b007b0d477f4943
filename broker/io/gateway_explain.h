/* SPDX-License-Identifier: MIT */
/* The answer to explain. */
#ifndef IO_GATEWAY_EXPLAIN_H
#define IO_GATEWAY_EXPLAIN_H

#include "broker/core/engine_explain.h"
#include "broker/io/gateway_private.h"

/* Whose call was looked at, and as what. */
struct explained {
	const struct explain_answer *a;
	const struct session *session;
	uint32_t uid;
	struct bytes tool, cwd, workspace;
	enum kind kind;
	bool mutating, timed_out;
	const struct request_path *paths;
	unsigned n_paths; /* those of its command with them */
};

void explain_answer(
	struct gateway *g, struct client *client, uint32_t call, const struct explained *x);

#endif
