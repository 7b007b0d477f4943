/* SPDX-License-Identifier: MIT */
/*
 * Ceilings and what is used of them, as arithmetic: no clock, no state of its own.
 * Amounts are never negative and saturate at BUDGET_MOST; a ceiling is an amount or
 * BUDGET_NONE, and one of zero allows nothing.
 */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include "broker/core/types.h"

#define BUDGET_LIST(X, p)                                                                      \
	X(p, TOKENS, "tokens") /* weighted */                                                  \
	X(p, TIME, "time")     /* microseconds in which nobody was waited for */               \
	X(p, WALL, "wall")     /* microseconds */                                              \
	X(p, CALLS, "calls")                                                                   \
	X(p, COST, "cost") /* millionths of a dollar */

enum budget_kind { BUDGET_LIST(ENUM_ENTRY, BUDGET) BUDGET_N };

#define BUDGET_NONE (-1)
#define BUDGET_MOST INT64_MAX
#define BUDGET_CLEAR                                                                           \
	{                                                                                      \
		{                                                                              \
			BUDGET_NONE, BUDGET_NONE, BUDGET_NONE, BUDGET_NONE, BUDGET_NONE        \
		}                                                                              \
	}
/* What is configured or asked for goes no further; nor does anybody need it. */
#define BUDGET_AMOUNT_MOST (UINT64_C(1) << 53)

struct budget_amounts {
	int64_t of[BUDGET_N];
};

/* In thousandths of a token. */
struct budget_weights {
	uint32_t input, output, cache_read, cache_write;
};
#define BUDGET_WEIGHTS_DEFAULT                                                                 \
	{                                                                                      \
		1000, 1000, 100, 1000                                                          \
	}
#define BUDGET_WEIGHT_MOST 1000000u

/* What configuration grants; members that are NULL or negative are for everybody. */
struct budget_rule {
	char *agent, *project; /* project: the workspace, or a folder above it */
	int64_t uid;
	struct budget_amounts turn, session;
};

/* What a turn may use, and what it has used beside its own reports and calls. */
struct turn_budget {
	struct budget_amounts ceiling;
	struct usage more;    /* of sub-agents, and of the turn whose place this one took */
	int64_t active, wall; /* up to the mark */
	int64_t mark_mono, mark_wall; /* the same instant on both clocks */
	int64_t due;		      /* monotonic: a ceiling or its warning; 0: never */
	uint64_t calls;		      /* as `more` */
	uint64_t calls_live;	      /* of sub-agents' turns that are not over */
	uint8_t warned;		      /* bits of enum budget_kind */
	bool wall_runs, active_runs;
	bool closed; /* the session has it all, or the successor */
};

/* What a session may use, and has used in turns that are over. */
struct session_budget {
	struct budget_amounts ceiling;
	struct budget_amounts asked; /* lower ones for its turns, by the agent's own wish */
	struct usage usage;
	int64_t active, wall;
	uint64_t calls, calls_live;
	uint8_t warned;
};

const char *budget_kind_name(enum budget_kind kind);
int64_t budget_add(int64_t a, int64_t b);
void budget_clear(struct budget_amounts *a); /* all BUDGET_NONE */
bool budget_is_clear(const struct budget_amounts *a);
/* The lower one of each; none is above all. */
void budget_lower(struct budget_amounts *a, const struct budget_amounts *by);
/* Those that are not there become n times those of another. */
void budget_fill(struct budget_amounts *a, const struct budget_amounts *from, int64_t n);
/* Rounded up. */
int64_t budget_tokens(const struct usage *u, const struct budget_weights *w);

void usage_add(struct usage *u, const struct usage *more);
/* Cumulative reports: each field grows, or stays; *more is by how much. */
void usage_raise(struct usage *u, const struct usage *report, struct usage *more);

/* Nothing more is allowed. Of calls: one more than allowed was asked for. */
bool budget_reached(enum budget_kind kind, int64_t used, int64_t ceiling);
/* The first kind that is reached; -1: none. */
int budget_first(const struct budget_amounts *used, const struct budget_amounts *ceiling);
/* Bits of the kinds of which 80 % are used. */
uint8_t budget_near(const struct budget_amounts *used, const struct budget_amounts *ceiling);
/* Until the ceiling or, where `warn`, the 80 % before it; at least 1. -1: there is none. */
int64_t budget_left(int64_t used, int64_t ceiling, bool warn);
/* A ceiling that is there, raised. */
int64_t budget_raised(int64_t ceiling, int64_t by);

/* The lowest that the rules give to an agent; wall: of who is given none. */
void budget_find(const struct budget_rule *rules, size_t n, struct bytes agent,
	struct bytes workspace, uint32_t uid, int64_t wall, struct budget_amounts *turn,
	struct budget_amounts *session);

/* "the turn's tokens: 1200 of 1000"; a constant size does. */
#define BUDGET_TEXT 128
void budget_describe(char out[BUDGET_TEXT], const char *of, enum budget_kind kind, int64_t used,
	int64_t ceiling);

/*
 * As the store keeps them: bytes. NULL without memory. Reading: 0, or -EUCLEAN. What is
 * derived from elsewhere (due, calls_live, closed, mark_mono) is 0 then.
 */
struct str *turn_budget_pack(const struct turn_budget *b);
int turn_budget_unpack(const struct str *s, struct turn_budget *b);
struct str *session_budget_pack(const struct session_budget *b);
int session_budget_unpack(const struct str *s, struct session_budget *b);

#endif
