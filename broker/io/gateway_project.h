/* SPDX-License-Identifier: MIT */
/* Projects that bring rules along, and whom people trust; for the gateway's files about them.
 */
#ifndef IO_GATEWAY_PROJECT_H
#define IO_GATEWAY_PROJECT_H

#include "broker/io/gateway_private.h"

/*
 * The file of one project, looked at for the sessions of one uid in it. Those in another
 * root than the broker's have one of their own, since there it is another file, and no
 * agent shall be able to take the rules away by showing a root without them; what both
 * say counts for both.
 */
struct project {
	RB_ENTRY(project) entry;
	struct gateway *g;
	uint32_t uid;
	bool foreign; /* of another root */
	struct str *path, *file;

	/* what is in force; text NULL: nothing */
	char *text;
	size_t len;
	uint32_t rules;
	uint8_t hash[PROJECT_HASH];
	int64_t changed;

	/* the last look */
	bool known;	       /* its rules are in force, or there are none */
	const char *problem;   /* why the file can't be used; what was in force only tightens */
	uint32_t line, column; /* of the problem; 0 */
	bool seen;	       /* then of what hash the file was */
	uint8_t seen_hash[PROJECT_HASH];
	int64_t looked_at; /* monotonic; 0: never, or it is to be done again */
	struct resolver_job *job;
	struct pending_list waiting; /* for it */
	uint32_t met;		     /* in that sweep */
};

/* What somebody trusts. */
struct trust {
	RB_ENTRY(trust) entry;
	struct trust_record r;
};

/* In the order of uids, then paths; the first behind uid and path, or equal with at. */
struct project *project_from(struct gateway *g, uint32_t uid, struct bytes path, bool foreign);
struct trust *trust_from(struct gateway *g, uint32_t uid, struct bytes path);
struct project *project_next(struct project *p);
struct trust *trust_next(struct trust *t);

struct project *project_find(struct gateway *g, uint32_t uid, struct bytes path, bool foreign);
struct trust *trust_find(struct gateway *g, uint32_t uid, struct bytes path);
/* Whether a file of that hash may also allow. */
bool trust_covers(
	struct gateway *g, uint32_t uid, struct bytes path, const uint8_t hash[PROJECT_HASH]);
/* Somebody trusts a project, or does so no more: what its rules may do follows. */
void project_trust_changed(struct gateway *g, uint32_t uid, struct bytes path);

/* ---- the calls about them ---- */

struct trust_call {
	struct gateway *g;
	struct client *client;
	uint32_t id;
	int method;
	uint32_t uid;
	struct bytes project;
	struct wire_rules_trust trust; /* of rules_trust */
};

#define PROJECT_HASH_TEXT (2 * PROJECT_HASH + 1)
void hash_print(char out[PROJECT_HASH_TEXT], const uint8_t hash[PROJECT_HASH]);

/*
 * The rules of a file that was read, by themselves. 0; 1: it does not parse, see *problem;
 * -ENOSPC, -EFBIG, -ENOMEM.
 */
int project_parse(const struct trust_call *c, const struct project_file *file,
	struct ruleset **out, struct rule_problem *problem);
/* Answers with the file, and what is known of its project. -ENOMEM. */
int project_answer(const struct trust_call *c, const struct project_file *file);
int projects_list(struct gateway *g, struct client *client, const struct wire_frame *f);

#endif
