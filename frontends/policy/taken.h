/* SPDX-License-Identifier: MIT */
/* Answers that the broker took, until it has told what became of their calls: they are counted
 * by that. */
#ifndef POLICY_TAKEN_H
#define POLICY_TAKEN_H

#include "frontends/policy/review.h"

struct taken;

struct takens {
	struct taken *list;
	size_t n;
};

/* late: another had decided it, and the answer was not taken. -ENOMEM. */
int taken_add(struct takens *t, const struct review *v, bool late);
/*
 * Asks the broker about each that was not asked about yet; last: about all, and what is still
 * not known then counts as open. -ENOMEM.
 */
int takens_settle(struct takens *t, struct approval *client, struct summary *s, bool last);

#endif
