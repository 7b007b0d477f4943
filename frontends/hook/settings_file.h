/* SPDX-License-Identifier: MIT */
/* A settings file of somebody else's program: read, and replaced with care. */
#ifndef HOOK_SETTINGS_FILE_H
#define HOOK_SETTINGS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct settings_file {
	char path[PATH_MAX];	    /* as given */
	char real[PATH_MAX];	    /* what a symbolic link leads to */
	char backup[PATH_MAX + 64]; /* "" : none was made */
	char *text;		    /* NUL-terminated; "" where there is no file */
	size_t len;
	bool exists;
	struct stat st;
};

/* Both: 0, or a negative errno with *why (static) where that says more. settings_file_free in
 * any case. */
int settings_file_read(struct settings_file *f, const char *path, const char **why);
/*
 * Replaces the file in one step, after a copy of the old one was made beside it.
 * Mode and owner stay. -EBUSY when it was changed since it was read; -EROFS when
 * its mode forbids writing, also for those who could write it all the same.
 */
int settings_file_write(
	struct settings_file *f, const char *text, size_t len, const char **why);
void settings_file_free(struct settings_file *f);

#endif
