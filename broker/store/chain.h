/* SPDX-License-Identifier: MIT */
/*
 * The hash chain of the history: the hash of a row is SHA-256 over the hash of
 * the row before it and all of its own columns. Columns that later versions added
 * enter it where they are not absent, so that the rows of an older version keep
 * their hashes. Before the first row stands seq 0 with a hash of zeros, or the
 * anchor that pruning left.
 */
#ifndef STORE_CHAIN_H
#define STORE_CHAIN_H

#include "broker/store/journal.h"

#define CHAIN_HASH 32

/* A place in the chain: a row's seq and hash. */
struct chain_link {
	uint64_t seq;
	uint8_t hash[CHAIN_HASH];
};

/*
 * What pruning left: the last row removed, and where the row of event ANCHOR
 * stands that vouches for it. All zero: nothing was ever removed.
 */
struct chain_anchor {
	struct chain_link last;
	uint64_t row;
};

void chain_hash(
	const uint8_t prev[CHAIN_HASH], const struct history_row *row, uint8_t out[CHAIN_HASH]);

/* Gives a new row its seq and hash, and moves the head onto it. */
void chain_append(struct chain_link *head, struct history_row *row);

/*
 * Whether the row is the one after link, unchanged; then link moves onto it.
 * If not, the trouble is at link->seq + 1.
 */
bool chain_follows(struct chain_link *link, const struct history_row *row);

#define ANCHOR_DETAIL_SIZE 64
#define ANCHOR_REASON_SIZE 96

/* The texts of an anchor's row, which points to them. */
struct anchor_text {
	char detail[ANCHOR_DETAIL_SIZE];
	char reason[ANCHOR_REASON_SIZE];
};

/* bad_seq: where the chain did not hold in what is removed, or 0. */
void anchor_row(struct history_row *row, struct anchor_text *text,
	const struct chain_link *last, uint64_t count, uint64_t bad_seq, int64_t now);
/* Whether the row is the one that anchor_row made for this anchor. */
bool anchor_vouches(const struct chain_anchor *anchor, const struct history_row *row);

#endif
