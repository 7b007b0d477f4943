/* SPDX-License-Identifier: MIT */
/*
 * The rules that are in force, from files and standing ones, found by what a call begins
 * with. Pure: whoever calls gives the time.
 */
#ifndef CORE_RULES_RULESET_H
#define CORE_RULES_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/rules/rule.h"
#include "broker/core/types.h"

struct ruleset;

/* Where a rule comes from and which calls it is for; in the order in which they are asked. */
enum rule_scope {
	RULE_ADMIN,
	RULE_USER,
	RULE_PROJECT,
	RULE_SESSION,
	RULE_TURN,
	RULE_SCOPE_N,
};

const char *rule_scope_name(enum rule_scope scope); /* "admin", "user", … */

#define RULE_ANY_UID UINT32_MAX

/* Given when rules are added; texts are copied. */
struct rule_origin {
	enum rule_scope scope;
	uint32_t uid;	      /* whose calls; RULE_ANY_UID: everybody's */
	struct uuid owner;    /* of RULE_SESSION and RULE_TURN: the session or turn */
	struct bytes project; /* of RULE_PROJECT: its folder, the workspace of its calls */
	struct bytes file;    /* data NULL: a standing rule */
	struct bytes by;      /* who made it, or from where it was imported */
	int64_t made;	      /* wall clock */
	int64_t expires;      /* wall clock; 0: never */
	bool tighten_only; /* an allow is kept, but counts for nothing: a project not trusted */
};

struct rule_entry {
	const struct rule *rule;
	uint64_t id;	 /* of a standing rule; 0 */
	uint64_t number; /* in the order in which they came, within the set */
	uint8_t scope;	 /* enum rule_scope */
	bool inert;	 /* an allow of what may only tighten */
	uint32_t uid;
	uint32_t line; /* in the file; 0 */
	struct uuid owner;
	struct str *project, *file, *by; /* NULL: none */
	int64_t made, expires;
	int64_t matched_at; /* 0: never */
	uint64_t matches;
};

struct ruleset *ruleset_new(void); /* NULL without memory */
void ruleset_free(struct ruleset *set);

struct rule_problem {
	uint32_t line, column; /* counted from 1 */
	enum rule_error error;
};

/*
 * Puts all rules of a text in the place of those that came from the same file, scope, uid
 * and project before; all or nothing. 0; 1: *n problems were found, of which the first
 * `room` are in problems, and nothing was changed. -ENOMEM; -EFBIG: the text is over
 * LIMIT_RULE_FILE; -ENOSPC: there would be more than LIMIT_RULES. How often a rule matched
 * is kept for a line whose text stays.
 */
int ruleset_load(struct ruleset *set, const struct rule_origin *origin, struct bytes text,
	struct rule_problem *problems, size_t room, size_t *n);
/* Takes away what ruleset_load put in. */
void ruleset_unload(struct ruleset *set, const struct rule_origin *origin);

/*
 * A standing rule: one line, in which controls may stand as they are. id is not 0. 0; 1: it
 * does not parse, see problem (line 1); -EEXIST; -ENOSPC; -ENOMEM.
 */
int ruleset_add(struct ruleset *set, const struct rule_origin *origin, uint64_t id,
	struct bytes line, struct rule_problem *problem);
/* false: there is none with this id. */
bool ruleset_remove(struct ruleset *set, uint64_t id);
const struct rule_entry *ruleset_find(const struct ruleset *set, uint64_t id);
/* All rules of a session or turn that is over; how many there were. */
size_t ruleset_drop_owner(struct ruleset *set, const struct uuid *owner);
/*
 * The next standing rule that has expired, to be removed by its id; NULL. It has been
 * without effect since then.
 */
const struct rule_entry *ruleset_expired(const struct ruleset *set, int64_t now);

/* The rules in the order of their scopes, then numbers: prev NULL gives the first. */
const struct rule_entry *ruleset_next(const struct ruleset *set, const struct rule_entry *prev);
size_t ruleset_count(const struct ruleset *set);

/* Counts a decision. */
void ruleset_hit(struct ruleset *set, const struct rule_entry *entry, int64_t now);
/* What the store remembers of a rule. */
void ruleset_set_matches(
	struct ruleset *set, const struct rule_entry *entry, uint64_t matches, int64_t at);

/*
 * Into a set that was made of files anew: the standing rules of the one before it; and how
 * often rules of files have matched. 0; -ENOSPC: there would be too many; -ENOMEM.
 */
int ruleset_carry(struct ruleset *to, const struct ruleset *from);
int ruleset_carry_matches(struct ruleset *to, const struct ruleset *from);

/* ---- matching ---- */

struct rule_path {
	struct bytes given;
	struct bytes resolved; /* data NULL: not known */
	bool inside;	       /* of the workspace, as given and as resolved */
};

/* What a rule looks at. Anything absent has data NULL. */
struct rule_call {
	struct bytes tool;
	enum kind kind;	   /* by the tool's name alone */
	enum kind claimed; /* by the agent; KIND_OTHER: nothing */
	struct bytes command;
	const struct shell *shell; /* the command, read; NULL: none */
	const struct rule_path *paths;
	size_t n_paths;
	/*
	 * The files that the command's redirections read, resolved, in the order of
	 * rule_reads_next. Of another number: none of them may be read by a rule.
	 */
	const struct rule_path *reads;
	size_t n_reads;
	struct bytes url;
	struct bytes cwd, workspace, home;
	struct bytes home_resolved; /* where it differs; a resolved path is compared with it */
	bool unread; /* the input is not as the table of tools says: no allow by its parts */
	uint32_t uid;
	struct uuid session, turn;
	int64_t now; /* wall clock */
};

/* Begins zeroed. */
struct rule_reads {
	uint32_t command, redirect;
};

/* The next redirection that reads a file, and the command that it is of; NULL: no more. */
const struct shell_redirect *rule_reads_next(
	const struct shell *shell, struct rule_reads *at, const struct shell_command **command);

#define RULE_MATCH_MAX 8u

struct rule_match {
	const struct rule_entry *rule; /* the first that is asked */
	/* a command or paths that several rules allow together: the others, as far as they fit
	 */
	const struct rule_entry *others[RULE_MATCH_MAX];
	uint32_t n_others;
};

/*
 * Whether a rule of this verdict (VERDICT_DENY, VERDICT_ASK or VERDICT_ALLOW) speaks for the
 * call: 1, and *out; 0: none; 2: it was too much to be compared with all, of what tightens
 * alone, and nobody knows; -ENOMEM. Nothing else of the set changes than its working
 * memory.
 */
int ruleset_match(struct ruleset *set, enum verdict verdict, const struct rule_call *call,
	struct rule_match *out);

#endif
