/* SPDX-License-Identifier: MIT */
/* Text as code points, and as file systems that ignore case compare it. */
#ifndef CORE_RULES_FOLD_H
#define CORE_RULES_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

#define FOLD_INVALID 0x110000u /* added to a byte that is no part of valid UTF-8 */

/* The code point at the start of a text that is not empty, and how many bytes it takes. */
uint32_t fold_next(struct bytes text, size_t *len);

/*
 * Simple case folding of ASCII, Latin-1, Latin Extended-A, Greek, Cyrillic, Armenian,
 * fullwidth letters, and of what folds into ASCII (the long s, the Kelvin sign); any
 * other code point stays what it is.
 */
uint32_t fold_case(uint32_t c);

/* Equal but for case. */
int fold_equal(struct bytes a, struct bytes b);

#endif
