/* SPDX-License-Identifier: MIT */
/* Entries by a file's own name, whatever folder it is in. */
#ifndef CORE_FLOOR_NAME_H
#define CORE_FLOOR_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/core/floor/normal.h"

/* A folder whose files count as secrets, by its name: .secrets, credentials and the like. */
bool name_is_secret_folder(struct bytes name);

/*
 * The entry (enum entry_id) of a path by its last component, of those not in off, or
 * ENTRY_NONE. use: enum floor_use; in_secrets: it lies in such a folder.
 */
int name_entry(const struct normal *path, unsigned use, uint64_t off, bool in_secrets);

/*
 * The names on the list that are whole words, for patterns to be compared with; NULL past
 * the end.
 */
const char *name_at(unsigned i, int *entry);
/* Extensions, with their dot, that are on the list for any name; NULL past the end. */
const char *name_extension_at(unsigned i, int *entry);

/*
 * What the i-th rule for names is, for a person, as snprintf does; 0 past the end. *entry
 * is the entry that it belongs to.
 */
size_t name_rule_print(unsigned i, int *entry, char *out, size_t size);

#endif
