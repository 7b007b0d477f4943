/* SPDX-License-Identifier: MIT */
/* A call as the broker's prompts have it, or a line of --offline: a map with the same keys. */
#ifndef POLICY_CALL_H
#define POLICY_CALL_H

#include "frontends/policy/policy.h"
#include "libapproval/approval.h"
#include "libapproval/limits.h"

struct call {
	struct subject subject;
	struct explain_call call;
	struct explain_path paths[LIMIT_LOOKUPS];
	char *home; /* of its user, where the item does not say; to be freed */
};

/*
 * All of it refers to the item. With `live` its home is looked up by the uid and its paths
 * are as the broker resolved them. tm: the time, unless the item says another. NULL, or what
 * is wrong with the item (constant). To be released in any case.
 */
const char *call_read(
	const struct approval_value *item, bool live, const struct tm *tm, struct call *out);
void call_release(struct call *c);

/* "claude: Bash: git status", in words for people, shown safely. */
void call_show(struct text *out, const struct approval_value *item);

#endif
