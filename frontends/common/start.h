/* SPDX-License-Identifier: MIT */
/* What all programs tell who has no broker: how to start one. */
#ifndef FCOMMON_START_H
#define FCOMMON_START_H

/* A broker below an agent would be refused by it (see doc/security.md). */
#define START_COMMAND "approvald &"
#define START_HOW     "'" START_COMMAND "', in a terminal that is not an agent's"

#endif
