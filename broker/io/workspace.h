/* SPDX-License-Identifier: MIT */
/* The workspace of a session. */
#ifndef IO_WORKSPACE_H
#define IO_WORKSPACE_H

#include <stdbool.h>

/*
 * The git top level above cwd (a folder with a .git in it, found by walking up;
 * git is never run), else cwd itself. *out is NULL where that would be "/", home
 * or anything above home, or cwd is no absolute path; home NULL is unknown, then
 * only "/" is barred. Looks at the disk, under root (-1: the broker's own); see
 * resolver_workspace for the way that does not block. The caller frees.
 * Returns 0, -EAGAIN when only_cached and it would have to wait, or an error.
 */
int workspace_find(int root, const char *cwd, const char *home, bool only_cached, char **out);

/*
 * The home folder of a uid: $HOME where it is the broker's own uid and set to an
 * absolute path, else the password database's. NULL in *out: none. Caller frees.
 * Looks at the disk (nsswitch): once per session, not per call.
 */
int workspace_home(unsigned uid, char **out);

#endif
