/* SPDX-License-Identifier: MIT */
/* The file that stands for a watcher: locked while it lives, removed to end it. */
#ifndef HOOK_WATCH_LOCK_H
#define HOOK_WATCH_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#define WATCH_PATH_MAX 4200

/* $XDG_RUNTIME_DIR/approvald/watch/ or the like below the state folder; made when it is not
 * there. */
int watch_lock_path(char *out, size_t size, const char *agent, const char *session);

/* The locked descriptor; -EWOULDBLOCK where another has it. */
int watch_lock_take(const char *path);

/* Whether the lock is still what its path names. */
bool watch_lock_valid(int fd);

#endif
