/* SPDX-License-Identifier: MIT */
/* Control groups of version 2, by the paths of their folders. */
#ifndef FCOMMON_CGROUP_H
#define FCOMMON_CGROUP_H

#include <limits.h>
#include <stdbool.h>

/* How approval-run calls those that it makes. */
#define CGROUP_RUN_PREFIX "approval-run-"

/* Where the hierarchy is mounted, and what of it is shown there; false: nowhere. */
bool cgroup_mount(char root[PATH_MAX], char point[PATH_MAX]);
/* A file of a cgroup. A descriptor, or -1 with errno. */
int cgroup_open(const char *folder, const char *name, int flags);
/* Writes a value to one. false: errno tells why. */
bool cgroup_write(const char *folder, const char *name, const char *value);

#endif
