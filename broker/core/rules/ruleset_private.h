/* SPDX-License-Identifier: MIT */
#ifndef CORE_RULES_RULESET_PRIVATE_H
#define CORE_RULES_RULESET_PRIVATE_H

#include "broker/core/rules/pathname.h"
#include "broker/core/rules/ruleset.h"
#include "broker/core/rules/trie.h"
#include "broker/core/tree.h"

/* Where rules are looked for, each the start of a tree of words for each verdict. */
enum rule_root {
	ROOT_KIND,    /* whole tools: the kind, one byte */
	ROOT_NAME,    /* whole tools: the name */
	ROOT_LIST,    /* whole tools: those of servers, and `*` */
	ROOT_TEXT,    /* commands: the very text */
	ROOT_PHRASE,  /* commands: texts with wildcards */
	ROOT_COMMAND, /* commands: see index_command */
	ROOT_PATH,    /* paths: by anchor, then components */
	ROOT_HOST = ROOT_PATH + PATH_ANCHOR_N,
	ROOT_N,
};

struct ruleset_entry {
	struct rule_entry pub;
	RB_ENTRY(ruleset_entry) node;
	RB_ENTRY(ruleset_entry) by_id; /* of a standing rule */
	struct trie_link link;
	struct trie_link all; /* of what tightens: among all of the command's name */
};

RB_HEAD(rule_tree, ruleset_entry);
RB_HEAD(id_tree, ruleset_entry);

struct ruleset {
	struct rule_tree entries; /* by scope, then number */
	struct id_tree ids;
	size_t n;
	uint64_t numbers;
	struct trie trie;
	struct trie_node *roots[VERDICT_N][ROOT_N];
	uint32_t homed[VERDICT_N]; /* rules with a word that begins with `~` */
	char *scratch;
	size_t scratch_size;
};

/* The child of a name under which all of its rules are; no word has a NUL. */
#define ALL_WORD                                                                               \
	(struct bytes)                                                                         \
	{                                                                                      \
		"\0", 1                                                                        \
	}

int index_init(struct ruleset *set);
int index_add(struct ruleset *set, struct ruleset_entry *entry);
void index_remove(struct ruleset *set, struct ruleset_entry *entry);

/* ---- matching ---- */

struct matcher {
	struct ruleset *set;
	const struct rule_call *call;
	enum verdict verdict;
	enum kind kind;		       /* the tighter of own and claimed */
	const struct rule_entry *best; /* of the candidates so far */
	size_t left;		       /* of LIMIT_RULE_STEPS; 0: no more is compared */
	/* where patterns of paths begin, made when first needed: as given, and resolved */
	struct pathname (*anchors)[PATH_ANCHOR_N];
	int8_t has_anchor[2][PATH_ANCHOR_N]; /* 0: not made yet; -1: there is none */
};

static inline struct trie_node *matcher_root(const struct matcher *m, enum rule_root root)
{
	return m->set->roots[m->verdict][root];
}

static inline const struct rule_entry *link_entry(const struct trie_link *link)
{
	return &((const struct ruleset_entry *)(const void *)((const char *)link -
							      offsetof(struct ruleset_entry,
								      link)))
			->pub;
}

static inline const struct rule_entry *all_entry(const struct trie_link *link)
{
	return &((const struct ruleset_entry *)(const void *)((const char *)link -
							      offsetof(struct ruleset_entry,
								      all)))
			->pub;
}

/* Whether a rule is in force for the call, and for its tool. */
bool matcher_applies(const struct matcher *m, const struct rule_entry *entry);
/* The first half of that. */
bool matcher_in_scope(const struct matcher *m, const struct rule_entry *entry);
/* Whether it would be asked before the best so far. */
bool matcher_better(const struct matcher *m, const struct rule_entry *entry);
/* Before so many characters are compared; false: it is too much. */
bool matcher_spend(struct matcher *m, size_t n);
/* Memory that stays until the next call; NULL without. */
char *matcher_scratch(struct matcher *m, size_t size);
void match_add(struct rule_match *out, const struct rule_entry *entry);

/* Each looks for the best candidate; -ENOMEM or 0. */
int match_command_tighten(struct matcher *m);
int match_command_allow(struct matcher *m, struct rule_match *out);
/* A path that a command touches: the rules for this kind, of any tool. */
void match_path_tighten(struct matcher *m, struct bytes given, struct bytes resolved,
	struct bytes cwd, enum kind kind);
void match_paths_tighten(struct matcher *m);
bool match_paths_allow(struct matcher *m, struct rule_match *out);
/* Whether a command may read a file that is its input. */
bool match_read_allow(struct matcher *m, const struct rule_path *path, struct rule_match *out);
void match_host(struct matcher *m);

#endif
