/* SPDX-License-Identifier: MIT */
/* Paths: compared by components, made absolute, resolved. */
#ifndef IO_PATH_H
#define IO_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "libapproval/bytes.h"

/* Whether path is folder or lies below it, by components; both absolute, normal. */
bool path_inside(const char *folder, const char *path);

/*
 * The part of path below folder, absolute in its turn ("/" for folder itself); NULL
 * where path is not inside. It points into path, or at a constant.
 */
const char *path_below(const char *folder, const char *path);

/*
 * path made absolute and normal by its text alone: relative ones from cwd, "~"
 * and "~/" from home, "." and ".." and "//" gone. NULL in *out where that can't
 * be (a relative path without cwd, "~" without home, "~name", empty, with a NUL,
 * over LIMIT_TEXT). The caller frees. 0 or -ENOMEM.
 */
int path_lexical(struct bytes path, const char *cwd, const char *home, char **out);

/* The same, but "." and ".." are left for path_resolve, which knows the symlinks. */
int path_absolute(struct bytes path, const char *cwd, const char *home, char **out);

/*
 * An absolute path with its symlinks followed, as a process sees it whose root is
 * the O_PATH descriptor. What does not exist keeps its text behind the longest
 * part that does; a dangling link is followed to where it points. *out is NULL for
 * what can't be known (no right to look, a loop, a link of the kind /proc has). Names of what
 * a process has open (/dev/stdin, /dev/fd/3) stand for themselves.
 * The caller frees. 0, -ENOMEM, or, only when only_cached, -EAGAIN: it would have
 * to look at the disk (or the kernel can't tell whether it would).
 */
int path_resolve(int root, const char *absolute, bool only_cached, char **out);

/*
 * The same for the paths that most are, from what the kernel has in its caches and
 * without memory of its own: no "..", and no symlink on the way. Such a path is
 * resolved as it stands, made absolute and normal in buf; what is behind a part
 * that does not exist stays, too. root may be -1: the broker's own.
 * 1: *len bytes and a NUL are in buf; 0: path_resolve has to look, or buf is too small.
 */
int path_resolve_plain(int root, struct bytes path, const char *cwd, const char *home, char *buf,
	size_t size, size_t *len);

/* Whether there is something of that name. 1, 0, or -EAGAIN as above. */
int path_exists(int root, const char *absolute, bool only_cached);

#endif
