/* SPDX-License-Identifier: MIT */
/* What the engine would say of a call at this moment. Nothing changes by being asked. */
#ifndef CORE_ENGINE_EXPLAIN_H
#define CORE_ENGINE_EXPLAIN_H

#include "broker/core/pipeline.h"

struct explain_question {
	struct session *session; /* whose call it would be; NULL: of none yet */
	uint32_t uid;		 /* without a session */
	int mode;		 /* enum mode, taken as the effective one; -1: as it is now */
	const struct facts *facts;
	struct bytes tool, cwd, workspace, home; /* absolute; data NULL: none */
};

struct explain_answer {
	enum mode mode;		       /* by which it was judged */
	struct pipeline_result result; /* of the steps 1 to 8; as that of pipeline_run */
	struct pipeline_trace trace;
	bool review;	     /* the steps 9 and 10 come next */
	bool policy_missing; /* one that is not there, or not waited for, counts as ask there */
	bool alone;	     /* no person could be asked, which denies */
};

/* -ENOMEM. */
int engine_explain(struct engine *e, struct instant now, const struct explain_question *q,
	struct explain_answer *out);
/* The same of a request that is pending, as it was shown. */
int engine_explain_request(struct engine *e, struct instant now, const struct request *q,
	struct explain_answer *out);
/* The next policy that would be asked about a call of this uid; prev NULL: the first. */
struct frontend *engine_policy_next(struct engine *e, uint32_t uid, struct frontend *prev);

#endif
