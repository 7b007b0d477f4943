/* SPDX-License-Identifier: MIT */
/* The names in a patch of the form that apply_patch takes. */
#ifndef IO_PATCH_H
#define IO_PATCH_H

#include <stdbool.h>

#include "libapproval/bytes.h"

/*
 * Goes on to the next line that names a file ("*** Update File: ", "*** Add File: ",
 * "*** Delete File: ", "*** Move to: ") and takes all up to its end off the text.
 * *sure is false where the agent might read another name there. Lines that belong
 * to a file's content may be taken for names, never the other way round.
 */
bool patch_next(struct bytes *text, struct bytes *file, bool *sure);

#endif
