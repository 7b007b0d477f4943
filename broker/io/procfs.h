/* SPDX-License-Identifier: MIT */
/* Reading /proc, strictly: what does not parse is -EBADMSG, never a default. */
#ifndef IO_PROCFS_H
#define IO_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

#define PROCFS_FILE 8192 /* enough for the files that are read here, with room */

/* Reads /proc/PID/name whole, with a NUL after it. 0, -ESRCH, -EBADMSG when it is larger, … */
int procfs_read(uint32_t pid, const char *name, char buf[PROCFS_FILE], size_t *len);
/* The process number of a pidfd. -EBADF: it is none; -ESRCH: gone or not visible. */
int procfs_pidfd_pid(int pidfd, uint32_t *pid);
/* All of the uids in the text of /proc/PID/status are uid: 1, 0 or -EBADMSG. */
int procfs_status_uid(struct bytes text, uint32_t uid);
/* A decimal number without sign at *text, which is moved behind it. */
int procfs_number(const char **text, const char *end, uint64_t max, uint64_t *out);
/* The target of a link; *out NULL where it can't be read. 0 or -ENOMEM. The caller frees. */
int procfs_link(const char *path, char **out);

#endif
