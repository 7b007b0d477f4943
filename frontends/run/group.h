/* SPDX-License-Identifier: MIT */
/* The cgroup of a launched program, of version 2, wherever that is mounted. */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "frontends/common/text.h"

struct group {
	char *path;	  /* of its folder; NULL: there is none */
	int freeze, kill; /* its files; -1: none */
	bool made;	  /* by us, who remove it; else by systemd, which does */
};

/*
 * Makes one and moves the process into it: below our own cgroup where that is ours to change,
 * else a scope of the user's systemd, else below the root of the hierarchy. false: *why says
 * why there is none.
 */
bool group_make(struct group *g, pid_t pid, struct text *why);
/* Ends all that is still in it, waits for that, and removes it. */
void group_end(struct group *g);

/* ---- scope.c ---- */
/* A scope of that name for the process, made by the user's systemd. false: *why. */
bool scope_make(const char *name, pid_t pid, struct text *why);

#endif
