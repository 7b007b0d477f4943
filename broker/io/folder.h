/* SPDX-License-Identifier: MIT */
/* Folders that only the broker writes to. */
#ifndef IO_FOLDER_H
#define IO_FOLDER_H

#include <sys/types.h>

/*
 * Opens a folder, which is created where it is missing (and those above it). It
 * must be a folder and no symlink (-ENOTDIR, -ELOOP), the broker's own, and
 * writable by nobody else (-EPERM). Rights beyond mode are taken away. *out may
 * be NULL, when only the folder is wanted.
 */
int folder_open(const char *path, mode_t mode, int *out);

#endif
