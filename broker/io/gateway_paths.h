/* SPDX-License-Identifier: MIT */
/* The paths of a call, from the resolver to the engine. */
#ifndef IO_GATEWAY_PATHS_H
#define IO_GATEWAY_PATHS_H

#include "broker/io/gateway_private.h"

/*
 * What was found of a draft's paths, into room for as many: *n of them, to be released, also
 * after -ENOMEM. result NULL: none. A look that took too long is noted in the draft.
 */
int paths_take(struct facts_draft *d, const struct resolver_result *result,
	struct request_path *paths, unsigned *n);
void paths_release(struct request_path *paths, unsigned n);

#endif
