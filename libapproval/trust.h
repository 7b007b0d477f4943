/* SPDX-License-Identifier: MIT */
/*
 * Whether the process behind a connected socket may be the broker, so that a
 * project's environment cannot point an agent at a fake that allows everything.
 */
#ifndef LIBAPPROVAL_TRUST_H
#define LIBAPPROVAL_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

#include "libapproval/place.h"

/* The owner of a system broker. */
#define TRUST_SYSTEM_USER "approvald"

enum trust {
	TRUST_OK = 0,
	TRUST_STRANGER,	  /* another user's process */
	TRUST_NOT_SYSTEM, /* not the system broker, where there is one */
	TRUST_UNSEEN,	  /* of another namespace, behind a path that we could have made */
	TRUST_OFFSPRING,  /* the agent itself, or started by it */
};

/*
 * Judges the peer of fd. subject is the agent's process, or 0 on the frontend
 * side. Returns an enum trust, or a negative errno, which is no trust either.
 */
int trust_judge(int fd, const struct place *p, pid_t subject);

/* For people. */
const char *trust_reason(enum trust t);

/* The process of a pidfd as this process numbers it: > 0, or a negative errno. */
pid_t trust_pid_of(int pidfd);

/* 1: pid is ancestor, or descends from it; 0: not; a negative errno: cannot be seen. */
int trust_descends(pid_t pid, pid_t ancestor);

#endif
