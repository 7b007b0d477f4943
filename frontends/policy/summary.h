/* SPDX-License-Identifier: MIT */
/* What was answered, counted by what became of it, tool and reason. */
#ifndef POLICY_SUMMARY_H
#define POLICY_SUMMARY_H

#include "frontends/common/output.h"
#include "frontends/policy/policy.h"

#define SUMMARY_ITEMS 1000u /* further kinds count together */

/* What became of a call, and whether by the answer. */
enum fate {
	FATE_ALLOWED,
	FATE_DENIED,
	FATE_ASKED,   /* denied: nobody was there to be asked, as the answer wanted */
	FATE_NOTHING, /* denied: nothing allowed it */
	FATE_OTHERS_ALLOWED,
	FATE_OTHERS_DENIED,
	FATE_OPEN, /* it is not known: a person is asked, or it ended without a decision */
	FATE_N
};

struct summary_item {
	enum fate fate;
	enum answer answer;
	char *tool, *why, *first; /* hostile; first: the first such call */
	uint64_t n;
	bool differ; /* they are not all alike */
};

struct summary {
	struct summary_item *items;
	size_t n;
	uint64_t counts[ANSWER_DENY + 1], fates[FATE_N];
	uint64_t others; /* that have no item */
};

/* verdict and source: the broker's in the end; "" of a call that ended in another way. */
enum fate fate_of(enum answer answer, const char *verdict, const char *source);
/* Texts are copied. -ENOMEM: it was counted, but without an item. */
int summary_add(struct summary *s, enum fate fate, enum answer answer, const char *tool,
	const char *why, const char *first);
/* Of a headless policy. -ENOMEM. */
int summary_print(const struct summary *s, const struct output *o, bool json);
void summary_free(struct summary *s);

#endif
