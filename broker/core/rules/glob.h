/* SPDX-License-Identifier: MIT */
/* Patterns whose only wildcard is "any run of bytes", over words that are joined by NUL. */
#ifndef CORE_RULES_GLOB_H
#define CORE_RULES_GLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/bytes.h"

#define GLOB_SEPARATOR '\0'

/* Literal parts with a wildcard between each two; the bytes belong to somebody else. */
struct glob {
	const struct bytes *parts;
	uint32_t n; /* never 0 */
	bool open;  /* the text may go on after a separator */
};

/* Linear in the text for one wildcard; never worse than its length times the parts'. */
bool glob_match(const struct glob *glob, struct bytes text);

#endif
