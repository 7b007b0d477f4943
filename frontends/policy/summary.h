/* SPDX-License-Identifier: MIT */
/* What was answered, counted by answer, tool and reason. */
#ifndef POLICY_SUMMARY_H
#define POLICY_SUMMARY_H

#include "frontends/common/output.h"
#include "frontends/policy/policy.h"

#define SUMMARY_ITEMS 1000u /* further kinds count together */

struct summary_item {
	enum answer answer;
	char *tool, *why, *first; /* hostile; first: the first such call */
	uint64_t n;
	bool differ; /* they are not all alike */
};

struct summary {
	struct summary_item *items;
	size_t n;
	uint64_t counts[ANSWER_DENY + 1];
	uint64_t others; /* that have no item */
};

/* Texts are copied. -ENOMEM: it was counted, but without an item. */
int summary_add(struct summary *s, enum answer answer, const char *tool, const char *why,
	const char *first);
/* headless: what was not answered was denied. -ENOMEM. */
int summary_print(const struct summary *s, const struct output *o, bool json, bool headless);
void summary_free(struct summary *s);

#endif
