/* SPDX-License-Identifier: MIT */
/*
 * Calls that are being judged: each from its item to its answer, with the programs that are
 * asked in between. What was answered is told on standard output.
 */
#ifndef POLICY_REVIEW_H
#define POLICY_REVIEW_H

#include "frontends/common/output.h"
#include "frontends/policy/call.h"
#include "frontends/policy/program.h"
#include "frontends/policy/summary.h"

struct review;

/* The answer is final. The review ends with this, unless it is kept: review_end ends it then.
 */
typedef bool review_done_fn(void *arg, struct review *v);

struct reviewer {
	struct policy *policy;
	struct explainer *explainer;
	struct programs programs;
	struct summary summary;
	struct output out, err;
	bool json, dry_run, live, quiet;
	struct review *reviews;
	size_t n;
	review_done_fn *done;
	void *arg;
};

#define REVIEWS_MAX 4096u

struct review {
	struct review *next;
	struct reviewer *reviewer;
	struct policy *policy;
	struct approval_value *item;
	struct verdict verdict;
	unsigned asked;	    /* programs without an answer */
	struct text reason; /* of what decided; hostile */
	const char *wrong;  /* why it could not be judged */
	bool answered;
};

/* mask: of signals, for programs. -ENOMEM. */
int reviewer_init(struct reviewer *r, const sigset_t *mask);
void reviewer_fini(struct reviewer *r);

/* Takes the item, also when it fails. done may be called before it returns. -ENOMEM. */
int review_begin(struct reviewer *r, struct approval_value *item, const struct tm *tm);
/* Tells of it. note: why it was not taken; NULL. -ENOMEM. */
int review_tell(struct review *v, const char *note);
void review_end(struct review *v);
/* Its call does not wait any more. */
void review_withdraw(struct reviewer *r, const char *request);

/* Where it comes from: "ci.policy:12: deny Bash(rm:*)", or why there is no rule. Hostile. */
void review_why(struct text *out, const struct review *v);

int64_t clock_ms(void); /* monotonic */

#endif
