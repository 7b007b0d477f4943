/* SPDX-License-Identifier: MIT */
/*
 * A policy, as approval-policy(5) describes its file: sections of rules, each with the
 * calls that it is for, and what is answered where no rule speaks.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "broker/io/explain.h"
#include "frontends/common/text.h"
#include "libapproval/bytes.h"

#define POLICY_SECTIONS	      256u  /* of a file, the nameless first one included */
#define POLICY_PROGRAMS	      64u   /* `run` lines of a file */
#define POLICY_MATCHERS	      16u   /* of a section */
#define POLICY_VALUES	      64u   /* of a matcher */
#define POLICY_WORD	      4096u /* bytes of a word of our own: a path, a value */
#define POLICY_PROGRAM_MS     1500  /* below the broker's two seconds for a policy */
#define POLICY_PROGRAM_MS_MAX 60000

enum answer {
	ANSWER_NONE, /* nothing was said */
	ANSWER_ALLOW,
	ANSWER_DEFER,
	ANSWER_ASK,
	ANSWER_DENY, /* a later one beats those before it */
};

const char *answer_name(enum answer a);
/* ANSWER_NONE: no such word. */
enum answer answer_parse(struct bytes word);

/* ---- which calls a section is for ---- */

enum matcher_key {
	MATCH_AGENT,
	MATCH_TITLE,
	MATCH_SESSION,
	MATCH_PROJECT,
	MATCH_MODE,
	MATCH_UID,
	MATCH_TIME,
	MATCH_DAY,
	MATCH_N,
};

/* One of its values: a pattern, or from one number to another, both included. */
struct matcher_value {
	char *pattern;
	uint32_t from, to;
};

struct matcher {
	enum matcher_key key;
	bool negated;
	struct matcher_value *values;
	size_t n;
};

/* What matchers look at; data NULL: not known, which no value matches. */
struct subject {
	struct bytes agent, title, session, project, workspace, mode;
	bool has_uid;
	uint32_t uid;
	unsigned minute; /* of the day, local time */
	unsigned day;	 /* 0: Monday */
};

/* The time of a subject, of a broken-down one. */
void subject_time(struct subject *s, const struct tm *tm);
bool matcher_holds(const struct matcher *m, const struct subject *s);
void matcher_free(struct matcher *m);

/* A word of a section's head, without its end; NULL, or what is wrong with it at *column. */
const char *matcher_parse(struct bytes word, struct matcher *out, size_t *column);

/* ---- a file ---- */

struct policy_program {
	char *path;
	uint32_t line;
	int64_t timeout_ms;
};

struct section {
	struct matcher matchers[POLICY_MATCHERS];
	size_t n_matchers;
	struct explain_rules *rules;
	uint32_t first;	       /* line of the file that is the rules' first */
	enum answer otherwise; /* its default; ANSWER_NONE: it has none */
	uint32_t otherwise_line;
};

/* Rules of one `run` line, once as ask and once as allow. */
struct run {
	struct policy_program program;
	struct explain_rules *rules;
	size_t section;
};

struct policy {
	unsigned refs; /* beside the first; policy_free gives one back */
	char *name;    /* of the file, for people */
	char *text;
	size_t len;
	struct section *sections; /* the first is for every call */
	size_t n_sections;
	struct run *runs;
	size_t n_runs;
	size_t n_rules;
};

struct policy_problem {
	uint32_t line, column; /* counted from 1; 0: of the whole */
	const char *text;      /* constant */
};

/*
 * Reads a text. 0; 1: it is no policy, *problem is the first reason; -ENOMEM. *out is to
 * be freed after 0.
 */
int policy_parse(const char *name, struct bytes text, struct policy **out,
	struct policy_problem *problem);
/*
 * The same of a file, which, as the programs that it names, nobody but its owner may write,
 * and he is this process's user or root. 1 with what is wrong in *why, shown already; or
 * -ENOMEM.
 */
int policy_load(const char *path, struct policy **out, struct text *why);
struct policy *policy_ref(struct policy *p);
void policy_free(struct policy *p); /* NULL is fine */

/* A line of its text, without spaces around it. */
struct bytes policy_line(const struct policy *p, uint32_t line);

/* ---- what it says of a call ---- */

struct verdict {
	enum answer answer;
	uint32_t line;	  /* that spoke; 0: none */
	const char *note; /* constant: what else there is to say; or NULL */
	/* programs that are to be asked before that is the answer */
	struct {
		const struct run *run;
		bool covers; /* the rule would allow the call: so may the program */
	} runs[POLICY_PROGRAMS];
	size_t n_runs;
};

/* -ENOMEM. What can't be judged is to be asked. */
int policy_judge(const struct policy *p, struct explainer *x, const struct subject *s,
	const struct explain_call *call, struct verdict *out);

/* One more answer: of a program, or its failure, which is ANSWER_DEFER. */
void verdict_add(struct verdict *v, bool covers, enum answer answer, uint32_t line);

#endif
