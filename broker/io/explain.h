/* SPDX-License-Identifier: MIT */
/*
 * The pipeline without a broker: what rules, floor and mode say of a call (steps 2, 3 and
 * 5 to 8). Paths are resolved by their text alone, so that the answer is the same on every
 * machine. For programs beside the broker; this is the only header of its that they use.
 */
#ifndef IO_EXPLAIN_H
#define IO_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/bytes.h"

struct explainer;

/* No rules, and the shipped floor. -ENOMEM. */
int explainer_new(struct explainer **out);
void explainer_free(struct explainer *x); /* NULL is fine */

struct explain_problem {
	uint32_t line, column; /* counted from 1; 0: of the whole */
	const char *text;      /* constant */
};

/*
 * Puts the rules of a text in the place of all before. 0; 1: it does not load, *problem is
 * the first reason, and the rules before stay. -ENOMEM.
 */
int explainer_rules(struct explainer *x, struct bytes text, struct explain_problem *problem);
/* One more line of the floor, `NAME GUARDS PATTERN`. Returns like explainer_rules. */
int explainer_floor_add(struct explainer *x, struct bytes line, struct explain_problem *problem);
/* false: there is no entry of that name, or it can't be switched off. */
bool explainer_floor_off(struct explainer *x, struct bytes name);

struct explain_call {
	struct bytes tool;
	struct bytes input; /* MessagePack; data NULL: none */
	struct bytes cwd, workspace, home; /* absolute; empty: not known */
	struct bytes mode;		   /* data NULL: normal */
};

#define EXPLAIN_STEPS_MAX 12u

struct explanation {
	const char *verdict; /* allow, deny or ask */
	const char *source;  /* NULL: nothing spoke, a person is asked */
	const char *step;    /* that spoke, or human */
	const char *message; /* for the model, of a denial; or NULL */
	/* NULL: none; until the explainer is asked again */
	const char *rule, *floor, *about;
	struct bytes what; /* that hit the floor */
	unsigned n;
	struct {
		const char *step, *answer; /* answer: pass, allow, deny, ask */
	} path[EXPLAIN_STEPS_MAX];
};

/* 0; -EINVAL: cwd, workspace or home is not absolute, or there is no such mode; -ENOMEM. */
int explain(struct explainer *x, const struct explain_call *call, struct explanation *out);

#endif
