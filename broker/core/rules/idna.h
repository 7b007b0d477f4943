/* SPDX-License-Identifier: MIT */
/* Names of hosts beyond ASCII, as far as their mapping can be told without tables. */
#ifndef CORE_RULES_IDNA_H
#define CORE_RULES_IDNA_H

#include <stddef.h>

#include "libapproval/bytes.h"

/*
 * UTF-8 in lower-case ASCII: compatibility forms of ASCII letters, digits and dots become
 * those (so a look-alike of that kind is the name that a client goes to), letters of the
 * scripts that need no further mapping become Punycode, by label. *len <= size.
 * 0; -1: anything else, which only the tables of UTS #46 could tell.
 */
int idna_to_ascii(struct bytes text, char *out, size_t size, size_t *len);

#endif
