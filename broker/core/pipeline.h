/* SPDX-License-Identifier: MIT */
/*
 * The decision pipeline up to the policy frontends (steps 1 to 8): a table of
 * steps, asked in order until one speaks. What follows, policies, people and the
 * deadline (steps 9 to 11), takes time and is the engine's.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H

#include "broker/core/engine.h"
#include "broker/core/judge.h"

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
	struct rule_match rule;	 /* of a step of rules; rule NULL: none */
	struct floor_hit floor;	 /* of the floor; name NULL: none. As the call and floor live */
};

/* What the steps look at. */
struct pipeline_call {
	const struct session *session; /* NULL with turn: step 1 has nothing to say */
	const struct turn *turn;
	enum request_type type;
	enum mode mode;
	bool mutating; /* as far as known without reading its command */
	uint32_t denials, repeat_limit; /* of the same call in this turn */
	struct judge *judge;
	struct judge_call call;
};

/* What each step said, for explain. */
struct pipeline_trace {
	struct {
		enum step step;
		enum pipeline_answer answer;
	} items[STEP_N];
	unsigned n;
};

/* Step 1 alone: does it bar a release? */
bool pipeline_bars(const struct session *s, const struct turn *t);
/* trace may be NULL. -ENOMEM. */
int pipeline_run(const struct pipeline_call *call, struct pipeline_trace *trace,
	struct pipeline_result *out);
/* The steps that an edited input must pass again: 2, 3, 5 and 6. -ENOMEM. */
int pipeline_recheck(const struct pipeline_call *call, struct pipeline_result *out);

/* The denials of a turn, for the step "repeat": a count per signature, at most 128 of the last.
 */
#define DENIALS_MAX 128u
uint32_t denials_count(const struct str *denials, const uint8_t signature[16]);
/* A new list with one more; NULL without memory. */
struct str *denials_add(const struct str *denials, const uint8_t signature[16]);

#endif
