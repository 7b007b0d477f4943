/* SPDX-License-Identifier: MIT */
/*
 * Patterns of paths, in the manner of gitignore: `*` and `?` within a component, `[a-z]`,
 * `**` for any number of components, `\` before a character that is to stand for itself.
 * What matches a folder matches all that is below it.
 */
#ifndef CORE_RULES_PATH_PATTERN_H
#define CORE_RULES_PATH_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/bytes.h"

enum path_anchor {
	PATH_ROOT,    /* //x */
	PATH_HOME,    /* ~/x */
	PATH_PROJECT, /* /x */
	PATH_CWD,     /* ./x or x */
	PATH_ANCHOR_N,
};

enum path_pattern_flag {
	PATH_ANY_DEPTH = 1, /* x without a slash: in any folder below the anchor */
	PATH_BELOW = 2,	    /* x/ and x/ **: what is below, not the folder itself */
	PATH_LITERAL = 4,   /* no wildcard and no backslash in it */
};

struct path_pattern {
	struct bytes text; /* components and single slashes; empty: the anchor itself */
	uint8_t anchor;	   /* enum path_anchor */
	uint8_t flags;	   /* enum path_pattern_flag */
};

enum path_error {
	PATH_OK,
	PATH_EMPTY,
	PATH_NEGATED, /* begins with `!` */
	PATH_USER,    /* ~name */
	PATH_UP,      /* has a component `..` */
	PATH_CLASS,   /* a `[` without its `]` */
	PATH_ESCAPE,  /* a backslash at the end */
	PATH_BYTE,    /* a NUL */
};

/*
 * Parses a pattern into out, whose text lies in buf, of at least text.len bytes. *at is
 * where an error stands.
 */
enum path_error path_pattern_parse(
	struct path_pattern *out, struct bytes text, char *buf, size_t *at);

enum path_match_flag {
	PATH_FOLD = 1,	/* compared without regard to case, as fold.h has it */
	PATH_LOOSE = 2, /* for what tightens: `x/` and `x/ **` match the folder x, too */
};

/* below: a path relative to the pattern's anchor, as pathname_below has it. */
bool path_pattern_match(const struct path_pattern *pattern, struct bytes below, unsigned flags);

/*
 * One component, or any text, against `*`, `?`, classes and `\`, of which none stands for
 * a slash.
 */
bool path_component_match(struct bytes pattern, struct bytes text, unsigned flags);

/*
 * How many components at the start of the pattern are literal, each after the other by
 * path_pattern_literal; a rule can be found by them.
 */
bool path_pattern_literal(
	const struct path_pattern *pattern, size_t *at, struct bytes *component);

#endif
