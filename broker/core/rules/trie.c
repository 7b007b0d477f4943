/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/trie.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a with the parent's place mixed in, eight bytes at a time. */
static uint32_t hash_word(const struct trie_node *parent, struct bytes word)
{
	uint64_t h = 0xcbf29ce484222325 ^ (uint64_t)(uintptr_t)parent;
	const char *p = word.data;
	size_t n = word.len;
	uint64_t chunk;

	for (; n >= sizeof(chunk); n -= sizeof(chunk), p += sizeof(chunk)) {
		memcpy(&chunk, p, sizeof(chunk));
		h = (h ^ chunk) * 0x9e3779b97f4a7c15;
		h ^= h >> 29;
	}
	chunk = n;
	if (n > 0)
		memcpy(&chunk, p, n);
	h = (h ^ chunk ^ (uint64_t)word.len << 56) * 0x9e3779b97f4a7c15;
	return (uint32_t)(h >> 32);
}

static struct trie_node *find(const struct trie *trie, const struct trie_node *parent,
	struct bytes word, uint32_t hash)
{
	struct trie_node *n;

	if (trie->size == 0)
		return NULL;
	for (n = trie->buckets[hash & (trie->size - 1)]; n; n = n->next)
		if (n->hash == hash && n->parent == parent && n->len == word.len &&
			(word.len == 0 || memcmp(n->word, word.data, word.len) == 0))
			return n;
	return NULL;
}

struct trie_node *trie_step(
	const struct trie *trie, const struct trie_node *parent, struct bytes word)
{
	if (parent && parent->children == 0)
		return NULL;
	return find(trie, parent, word, hash_word(parent, word));
}

static bool grow(struct trie *trie)
{
	const size_t size = trie->size ? trie->size * 2 : 64;
	struct trie_node **buckets = calloc(size, sizeof(struct trie_node *));

	if (!buckets)
		return trie->size > 0; /* slower, but not wrong */
	for (size_t i = 0; i < trie->size; i++) {
		struct trie_node *n, *next;

		for (n = trie->buckets[i]; n; n = next) {
			next = n->next;
			n->next = buckets[n->hash & (size - 1)];
			buckets[n->hash & (size - 1)] = n;
		}
	}
	free(trie->buckets);
	trie->buckets = buckets;
	trie->size = size;
	return true;
}

struct trie_node *trie_make(struct trie *trie, struct trie_node *parent, struct bytes word)
{
	const uint32_t hash = hash_word(parent, word);
	struct trie_node *node = find(trie, parent, word, hash);

	if (node)
		return node;
	if (trie->n >= trie->size && !grow(trie))
		return NULL;
	node = malloc(sizeof(*node) + word.len);
	if (!node)
		return NULL;
	*node = (struct trie_node){.parent = parent,
		.hash = hash,
		.len = (uint32_t)word.len,
		.next = trie->buckets[hash & (trie->size - 1)]};
	if (word.len)
		memcpy(node->word, word.data, word.len);
	trie->buckets[hash & (trie->size - 1)] = node;
	trie->n++;
	if (parent)
		parent->children++;
	return node;
}

static struct bytes lead_word(char buf[TRIE_LEAD_MAX + 1], struct bytes lead)
{
	buf[0] = 0;
	memcpy(buf + 1, lead.data, lead.len);
	return (struct bytes){buf, lead.len + 1};
}

struct trie_node *trie_make_lead(struct trie *trie, struct trie_node *parent, struct bytes lead)
{
	char buf[TRIE_LEAD_MAX + 1];
	struct trie_node *const node = trie_make(trie, parent, lead_word(buf, lead));

	if (node)
		parent->leads |= (uint64_t)1 << (lead.len - 1);
	return node;
}

struct trie_node *trie_step_lead(
	const struct trie *trie, const struct trie_node *parent, struct bytes word, size_t *len)
{
	char buf[TRIE_LEAD_MAX + 1];
	size_t n = *len - 1 < word.len ? *len - 1 : word.len;

	if (n > TRIE_LEAD_MAX)
		n = TRIE_LEAD_MAX;
	for (; n > 0; n--) {
		struct trie_node *node;

		if (!(parent->leads >> (n - 1) & 1))
			continue;
		node = trie_step(trie, parent, lead_word(buf, (struct bytes){word.data, n}));
		if (node) {
			*len = n;
			return node;
		}
	}
	return NULL;
}

void trie_link(struct trie_node *node, struct trie_link *link)
{
	link->node = node;
	link->next = node->links;
	link->back = &node->links;
	if (link->next)
		link->next->back = &link->next;
	node->links = link;
}

void trie_prune(struct trie *trie, struct trie_node *node)
{
	while (node && !node->links && node->children == 0) {
		struct trie_node *const parent = node->parent;
		struct trie_node **at = &trie->buckets[node->hash & (trie->size - 1)];

		while (*at != node)
			at = &(*at)->next;
		*at = node->next;
		trie->n--;
		free(node);
		if (parent)
			parent->children--;
		node = parent;
	}
}

void trie_unlink(struct trie *trie, struct trie_link *link)
{
	struct trie_node *const node = link->node;

	if (!node)
		return;
	*link->back = link->next;
	if (link->next)
		link->next->back = link->back;
	*link = (struct trie_link){0};
	trie_prune(trie, node);
}

void trie_free(struct trie *trie)
{
	for (size_t i = 0; i < trie->size; i++) {
		struct trie_node *n, *next;

		for (n = trie->buckets[i]; n; n = next) {
			next = n->next;
			free(n);
		}
	}
	free(trie->buckets);
	*trie = (struct trie){0};
}
