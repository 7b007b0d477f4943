/* SPDX-License-Identifier: MIT */
/* Control groups of version 2, by descriptors of their files that others have opened. */
#ifndef IO_CGROUP_H
#define IO_CGROUP_H

#include <stdbool.h>

/*
 * The path, in the hierarchy, of the cgroup whose file `name` a descriptor is open to for
 * writing. The descriptor may be hostile: nothing is asked of its file system before it is
 * known to be cgroup2. -EINVAL: it is no such file, or of a cgroup that is not to be touched
 * (the root); -ENOMEM. The caller frees.
 */
int cgroup_of_fd(int fd, const char *name, char **out);
/* Is the first cgroup the second one, or below it? NULL is in none. */
bool cgroup_within(const char *path, const char *cgroup);
/* Writes one value. 0 or a negative errno. */
int cgroup_write(int fd, const char *value);

#endif
