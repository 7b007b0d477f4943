/* SPDX-License-Identifier: MIT */
/* A command that is given as an array of words, as the text that a shell reads them from. */
#ifndef IO_COMMAND_WORDS_H
#define IO_COMMAND_WORDS_H

#include "libapproval/bytes.h"

/*
 * Joins a MessagePack array of strings, each word quoted where a shell would not
 * take it for itself. *text is the caller's to free, *command points into it.
 * -EINVAL: no array, empty, or a word that is no string; -EMSGSIZE: over
 * LIMIT_INPUT; -ENOMEM. On failure *text and *command are left alone.
 */
int command_join(struct bytes array, char **text, struct bytes *command);

#endif
