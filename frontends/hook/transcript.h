/* SPDX-License-Identifier: MIT */
/*
 * Counts the tokens that a transcript (JSON lines, appended to while it is read)
 * tells of. What is counted is a function of the file alone: each line belongs to
 * the turn whose promptId stands in it or last before it. Several processes may
 * therefore count at the same time and report the same sums, and the position is
 * the sequence number that tells which report is the later one.
 *
 * A message of the model has several lines, each with the usage so far. It is
 * counted once, by the greatest value that any of its lines gives, field by field:
 * lines may come again, and in any order.
 */
#ifndef HOOK_TRANSCRIPT_H
#define HOOK_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/limits.h"

struct approval_pack;

#define TALLY_RECENT   16u	    /* messages whose lines may still come */
#define TALLY_LINE_MAX (8u << 20)   /* a longer line is passed over */
#define TALLY_TAIL     (256u << 10) /* how far back an unknown transcript is read */

enum tally_field { TALLY_INPUT, TALLY_OUTPUT, TALLY_CACHE_READ, TALLY_CACHE_WRITE, TALLY_N };

struct tally_message {
	uint64_t id; /* hash of it; 0: none */
	uint64_t counted[TALLY_N];
};

struct tally {
	uint64_t offset; /* where the next line begins */
	uint64_t inode;
	uint64_t generation; /* times that the file was found cut or replaced */
	bool started;
	bool skip;     /* the rest of a line is to be passed over first */
	bool answered; /* what was read last is the model\'s answer, not what it was given */
	bool named;    /* the file itself names its turns */
	unsigned next; /* place in recent */
	uint64_t sum[TALLY_N];	 /* of turn */
	uint64_t floor[TALLY_N]; /* what had been counted for floor_turn before the file was cut
				  */
	char turn[LIMIT_NAME + 1]; /* "" : not known */
	char floor_turn[LIMIT_NAME + 1];
	struct tally_message recent[TALLY_RECENT];
};

/* Where to begin in a file of which nothing is known. */
enum tally_start {
	TALLY_BEGIN, /* all of it is new */
	TALLY_LAST,  /* its last part */
	TALLY_END,   /* nothing in it is ours */
};

enum tally_event {
	TALLY_TURN_OVER,   /* another turn begins: last sight of the sums of this one */
	TALLY_INTERRUPTED, /* the person stopped the turn */
};
typedef void (*tally_fn)(const struct tally *t, enum tally_event event, void *arg);

/*
 * Reads what was appended, complete lines only, about `budget` bytes at most. A
 * file that became shorter or another one is begun anew; what was counted for its
 * turn is not counted again. fn may be NULL. 1 when more is there to be read, 0
 * when not, -ENOENT where there is no file.
 */
int tally_read(struct tally *t, const char *path, enum tally_start start, size_t budget,
	tally_fn fn, void *arg);

/* Files of older agents do not name their turns: then what is counted from here on is of this
 * one. */
void tally_hint(struct tally *t, const char *turn);

/* What to report for t->turn. */
uint64_t tally_total(const struct tally *t, enum tally_field field);
uint64_t tally_seq(const struct tally *t);

/* The cursor. -EBADMSG for bytes that are none; *t is then as new. */
int tally_save(const struct tally *t, struct approval_pack *p);
int tally_load(struct tally *t, const void *data, size_t len);

#endif
