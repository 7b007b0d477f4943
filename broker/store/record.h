/* SPDX-License-Identifier: MIT */
/* The records of sessions, turns, rules, trust and requests, handled alike. */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "broker/store/journal.h"

/* in the order in which they are loaded */
enum record_kind {
	RECORD_SESSION,
	RECORD_TURN,
	RECORD_RULE,
	RECORD_TRUST,
	RECORD_REQUEST,
	RECORD_N,
};

union record {
	struct session_record session;
	struct turn_record turn;
	struct rule_record rule;
	struct trust_record trust;
	struct request_record request;
};

/* Which kind a journal_op puts or removes. False: no record that has a uuid. */
bool record_op(enum journal_op op, enum record_kind *kind, bool *removes);
/* The id of a record that an op was given; not of a rule or of trust. */
const struct uuid *record_id(enum record_kind kind, const void *record);
/* A copy that holds its own references. 0 or -ENOMEM, and then dst is empty. */
int record_copy(enum record_kind kind, union record *dst, const void *src);
void record_release(enum record_kind kind, union record *r);

/* The larger of the two, for the largest id ever written. */
static inline void uuid_raise(struct uuid *newest, const struct uuid *id)
{
	if (uuid_compare(id, newest) > 0)
		*newest = *id;
}

#endif
