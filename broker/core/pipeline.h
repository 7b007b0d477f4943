/* SPDX-License-Identifier: MIT */
/*
 * The decision pipeline up to the policy frontends (steps 1 to 8): a table of
 * steps, asked in order until one speaks. What follows, policies, people and the
 * deadline (steps 9 to 11), takes time and is the engine's.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H

#include "broker/core/engine.h"

enum pipeline_answer {
	PIPELINE_PASS, /* the step has nothing to say */
	PIPELINE_ALLOW,
	PIPELINE_DENY,
	PIPELINE_ASK, /* a person is to be asked, whatever policies allow */
	PIPELINE_HOLD,
};

struct pipeline_result {
	enum pipeline_answer answer;
	enum step step;
	enum source source;
	/* of a denial by a person or ceiling that ended the turn */
	struct bytes reason;
};

/* What a step looks at. */
struct pipeline_call {
	const struct engine_config *config;
	const struct session *session;
	const struct turn *turn;
	const struct request *request; /* its session and turn pointers are not used */
};

/* Step 1 alone: does it bar a release? */
bool pipeline_bars(const struct session *s, const struct turn *t);
struct pipeline_result pipeline_run(const struct pipeline_call *call);
/* The steps that an edited input must pass again: 2, 3 and 5. */
struct pipeline_result pipeline_recheck(const struct pipeline_call *call);

/* The denials of a turn, for the step "repeat": a count per signature, at most 128 of the last.
 */
#define DENIALS_MAX 128u
uint32_t denials_count(const struct str *denials, const uint8_t signature[16]);
/* A new list with one more; NULL without memory. */
struct str *denials_add(const struct str *denials, const uint8_t signature[16]);

#endif
