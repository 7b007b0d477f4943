/* SPDX-License-Identifier: MIT */
/*
 * What always asks, for reading and for writing: keys, credentials and the like.
 * A tripwire, not a wall. Pure; compared by components, after `.`, `..` and empty
 * ones are gone by text, without regard to the case of ASCII letters.
 */
#ifndef CORE_PROTECT_H
#define CORE_PROTECT_H

#include "libapproval/bytes.h"

/*
 * The name of the entry that a path (absolute or relative, as given or resolved)
 * is on, constant; NULL: on none. home may be absent; then entries that stand for
 * folders of a home are found anywhere. A path over LIMIT_TEXT is "unreadable".
 */
const char *path_protected(struct bytes path, struct bytes home);

#endif
