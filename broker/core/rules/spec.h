/* SPDX-License-Identifier: MIT */
/*
 * How a SPEC is written within a rule. Any text can be, on one line: `\*` is a star that
 * is no wildcard, `\{HH}` the byte with this number, and everything else, a backslash
 * too, itself.
 */
#ifndef CORE_RULES_SPEC_H
#define CORE_RULES_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/bytes.h"

enum spec_unit {
	SPEC_END,
	SPEC_CHAR, /* as it stands */
	SPEC_WILD,
	SPEC_STAR, /* \* */
	SPEC_BYTE, /* \{HH} */
	SPEC_BAD,  /* \{00} */
};

/* The unit at *at, which is moved behind it. */
enum spec_unit spec_next(struct bytes spec, size_t *at, char *c);

/*
 * The text that a SPEC without a wildcard stands for, in out, of at least spec.len bytes;
 * false: it has a wildcard, or is bad.
 */
bool spec_text(struct bytes spec, char *out, size_t *len);

/* The SPEC of a text, in out, of SPEC_GROWTH times its size. */
#define SPEC_GROWTH 5u
size_t spec_escape(struct bytes text, char *out);

/*
 * Where the parenthesis closes that is open before text: its index, and *rest where a
 * comment or the end follows. -1: nowhere. See approval-rules(5).
 */
long spec_close(struct bytes text, bool *followed);

#endif
