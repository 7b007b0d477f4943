/* SPDX-License-Identifier: MIT */
/* Where the broker's sockets are. */
#ifndef LIBAPPROVAL_PLACE_H
#define LIBAPPROVAL_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "libapproval/approval.h"

/* Exists where the administrator has set up a broker for all users. */
#define PLACE_SYSTEM_MARK "/etc/approvald/system"

struct place {
	char *path;
	bool compiled; /* the path came from no environment and no caller */
	bool system;   /* this machine has a system broker: no other is spoken to */
	bool shared;   /* its folder stands where others can make one of that name */
};

/*
 * What the choice depends on; NULL and "" are absent, and so is a runtime_dir that is not
 * absolute.
 */
struct place_facts {
	const char *option, *environment, *runtime_dir;
	bool system;
	uid_t uid;
};

/* 0 or -ENOMEM. The path is to be freed. */
int place_choose(struct place *p, enum approval_side side, const struct place_facts *facts);

/* The same with the facts of this process. */
int place_find(struct place *p, enum approval_side side, const char *option);

/*
 * The folder of a shared place must be ours and closed to everybody else.
 * 0, -ENOENT (not there yet), -EPERM, or another failure.
 */
int place_verify(const struct place *p, uid_t uid);

#endif
