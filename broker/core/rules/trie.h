/* SPDX-License-Identifier: MIT */
/*
 * A tree of words in which rules are found by the words that they begin with: one hash
 * table of all edges, so that a step costs the same however many rules there are.
 */
#ifndef CORE_RULES_TRIE_H
#define CORE_RULES_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

struct trie_node;

/* A member of a node's list, within what the tree's user keeps. */
struct trie_link {
	struct trie_link *next, **back;
	struct trie_node *node;
};

struct trie_node {
	struct trie_node *next; /* in the bucket */
	struct trie_node *parent;
	struct trie_link *links;
	uint64_t leads; /* bit n - 1: there is, or was, a lead of n bytes */
	uint32_t children;
	uint32_t hash;
	uint32_t len;
	char word[];
};

struct trie {
	struct trie_node **buckets;
	size_t n, size; /* nodes, buckets (a power of two, or 0) */
};

/* The child of a node by a word, NULL: none. parent NULL: of the root. */
struct trie_node *trie_step(
	const struct trie *trie, const struct trie_node *parent, struct bytes word);
/* The same, made where it isn't there; NULL without memory. */
struct trie_node *trie_make(struct trie *trie, struct trie_node *parent, struct bytes word);

/*
 * A child by what a word begins with, between 1 and TRIE_LEAD_MAX bytes, none of them NUL.
 * No word with a NUL at its start may be a child otherwise, but for one of a NUL alone.
 */
#define TRIE_LEAD_MAX 64u
struct trie_node *trie_make_lead(
	struct trie *trie, struct trie_node *parent, struct bytes lead);
/* The longest lead of a word that is there and is shorter than *len; sets *len; NULL. */
struct trie_node *trie_step_lead(const struct trie *trie, const struct trie_node *parent,
	struct bytes word, size_t *len);

void trie_link(struct trie_node *node, struct trie_link *link);
/* Frees the nodes that nothing hangs on any more; a link that is in no list is left alone. */
void trie_unlink(struct trie *trie, struct trie_link *link);
/* Frees a node that was made and got no link, and what is above it, likewise. */
void trie_prune(struct trie *trie, struct trie_node *node);
/* Frees all nodes; their links are not touched. */
void trie_free(struct trie *trie);

#endif
