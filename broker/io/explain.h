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
int explainer_floor_add(
	struct explainer *x, struct bytes line, struct explain_problem *problem);

/* A path of a call, as the broker's prompts have it. */
struct explain_path {
	struct bytes path, resolved; /* resolved data NULL: it could not be */
	bool inside;		     /* of the workspace */
};

struct explain_call {
	struct bytes tool;
	struct bytes input;		   /* MessagePack; data NULL: none */
	struct bytes cwd, workspace, home; /* absolute; empty: not known */
	struct bytes mode;		   /* data NULL: normal */
	struct bytes kind;		   /* as the agent claims; data NULL: it does not */
	/* how the broker resolved them: one that is not among these was not */
	const struct explain_path *paths;
	unsigned n_paths;
	bool resolved; /* false: there are none, they are resolved by their text */
};

#define EXPLAIN_STEPS_MAX 12u

struct explanation {
	const char *verdict; /* allow, deny or ask */
	const char *source;  /* NULL: nothing spoke, a person is asked */
	const char *step;    /* that spoke, or human */
	const char *message; /* for the model, of a denial; or NULL */
	/* NULL: none; until the explainer is asked again */
	const char *rule, *floor, *about;
	uint32_t line; /* of the rule, in the text of rules; 0: none */
	struct bytes what; /* that hit the floor */
	unsigned n;
	struct {
		const char *step, *answer; /* answer: pass, allow, deny, ask */
	} path[EXPLAIN_STEPS_MAX];
};

/*
 * 0; -EINVAL: cwd, workspace or home is not absolute, or there is no such mode or kind;
 * -ENOMEM.
 */
int explain(struct explainer *x, const struct explain_call *call, struct explanation *out);

/* ---- sets of rules by themselves, without floor and mode ---- */

struct explain_rules;

int explain_rules_new(struct explain_rules **out); /* -ENOMEM */
void explain_rules_free(struct explain_rules *r);  /* NULL is fine */
/* As explainer_rules. */
int explain_rules_load(
	struct explain_rules *r, struct bytes text, struct explain_problem *problem);

/* The line of the rule of each verdict that speaks for a call; 0: none does. */
struct explain_match {
	uint32_t deny, ask, allow;
	bool doubt; /* it was too much to be compared: another deny or ask may speak as well */
};

/* What each of n sets says of a call, in out[0] to out[n - 1]. Returns like explain. */
int explainer_match(struct explainer *x, const struct explain_call *call,
	struct explain_rules *const *sets, size_t n, struct explain_match *out);

#endif
