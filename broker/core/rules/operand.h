/* SPDX-License-Identifier: MIT */
#ifndef CORE_RULES_OPERAND_H
#define CORE_RULES_OPERAND_H

#include <stddef.h>

#include "libapproval/bytes.h"

/*
 * An operand as it is compared where that only tightens: one that holds a slash without
 * empty components, `.`, what `..` takes back, and a slash at its end, so that `//`, `/.`
 * and `/` are one. out has room for text.len bytes, or is text.data itself.
 */
size_t operand_normal(struct bytes text, char *out);

#endif
