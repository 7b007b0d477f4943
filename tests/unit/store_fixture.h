/* SPDX-License-Identifier: MIT */
/* Records, folders and readings for the tests of the store. */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include "broker/store/journal.h"

#include <check.h>
#include <stdio.h>

/* A folder of its own for each test; removed by fixture_teardown, and its database path. */
void fixture_setup(void);
void fixture_teardown(void);
const char *fixture_path(void);
const char *fixture_dir(void);
/* The path with an end, such as "-wal". Valid until the next call. */
const char *fixture_path_with(const char *end);

/* The database at the path; which: MEMORY or SQLITE. */
enum { MEMORY, SQLITE, JOURNALS };
struct journal *open_db(void);
struct journal *open_one(int which);
/* Changes the database as somebody else would. */
void tamper(const char *sql);

/* Ids that rise with n. */
struct uuid test_id(unsigned n);

/*
 * Records whose every member follows from the ids and a seed, so that no two
 * members are alike. full: every string is there; else they are absent, or
 * empty by turns.
 */
struct session_record test_session(unsigned id, unsigned seed, bool full);
struct turn_record test_turn(unsigned id, unsigned session, unsigned seed, bool full);
struct request_record test_request(
	unsigned id, unsigned session, unsigned turn, unsigned seed, bool full);
/* full: of a session, imported, and it expires; else of an administrator. */
struct rule_record test_rule(uint64_t id, unsigned seed, bool full);
struct trust_record test_trust(uint32_t uid, unsigned project, unsigned seed);
void session_release(struct session_record *r);
void turn_release(struct turn_record *r);
void request_release(struct request_record *r);
void rule_release(struct rule_record *r);
void trust_release(struct trust_record *r);

/* A decision; its strings are constant. */
struct history_row test_decision(
	unsigned seed, unsigned session, unsigned turn, unsigned request);

/* Puts one thing in the open transaction and demands success. */
void must_put(struct journal *j, enum journal_op op, const void *arg);
void must_begin(struct journal *j);
void must_commit(struct journal *j);
/* The same with a transaction of its own. */
void put_alone(struct journal *j, enum journal_op op, const void *arg);
void put_session(struct journal *j, unsigned id, unsigned seed, bool full);
void put_turn(struct journal *j, unsigned id, unsigned session, unsigned seed, bool full);
void put_request(struct journal *j, unsigned id, unsigned session, unsigned turn, unsigned seed,
	bool full);
void put_rule(struct journal *j, uint64_t id, unsigned seed, bool full);
void remove_rule(struct journal *j, uint64_t id);
void put_trust(struct journal *j, uint32_t uid, unsigned project, unsigned seed);
void remove_trust(struct journal *j, uint32_t uid, unsigned project);
void put_decision(
	struct journal *j, unsigned seed, unsigned session, unsigned turn, unsigned request);

/* All members as text, a line each record. */
void dump_session(FILE *f, const struct session_record *r);
void dump_turn(FILE *f, const struct turn_record *r);
void dump_request(FILE *f, const struct request_record *r);
void dump_rule(FILE *f, const struct rule_record *r);
void dump_trust(FILE *f, const struct trust_record *r);
void dump_row(FILE *f, const struct history_row *r);
void dump_state(FILE *f, const struct journal_state *r);

/* What load gives, as text, to be freed. */
char *dump_load(struct journal *j);
/* What a query gives. */
char *dump_history(struct journal *j, const struct history_query *q);
/* Both, without a filter: all that a journal holds. */
char *dump_all(struct journal *j);
/* Compares two texts and frees them. */
void expect_same(char *a, char *b);
unsigned count_lines(const char *text);
/* A query without any filter. */
struct history_query query_all(void);

/* The whole chain, verified in chunks: where it is bad, or 0. */
uint64_t verify_all(struct journal *j, uint32_t chunk);
/* How many rows verifying went through. */
uint64_t verify_count(struct journal *j);

int suite_run(Suite *s);

#endif
