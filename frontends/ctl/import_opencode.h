/* SPDX-License-Identifier: MIT */
/* OpenCode's permissions as the flat list that it makes of them; and what is outside. */
#ifndef CTL_IMPORT_OPENCODE_H
#define CTL_IMPORT_OPENCODE_H

#include "frontends/ctl/import_rule.h"

/* The last that matches decides. */
struct opencode_entry {
	const struct node *at;
	const char *key, *pattern;
	enum import_verdict verdict;
};

struct opencode {
	struct import *im;
	struct opencode_entry *list;
	size_t n;
};

/* Whether a key with wildcards is about this one. */
bool opencode_key_matches(struct import *im, const char *pattern, const char *key);

/* What is said of all paths outside of the project; NULL: nothing, so it asks. */
const struct opencode_entry *opencode_outside(const struct opencode *o);
/*
 * Behind all other rules: what external_directory denies, and, for commands that name files,
 * what it does not allow. 0, -ENOMEM, -EINVAL
 */
int opencode_guard(const struct opencode *o);

#endif
