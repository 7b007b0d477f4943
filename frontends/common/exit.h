/* SPDX-License-Identifier: MIT */
/*
 * Exit statuses of the frontends, as approvalctl(1) documents them. Those from 64
 * to 78 have the meaning that sysexits.h gives them.
 */
#ifndef FCOMMON_EXIT_H
#define FCOMMON_EXIT_H

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* the broker refused, or a part of what was asked failed */
	STATUS_USAGE = 2,
	STATUS_DATA = 65,	 /* history --verify: the chain does not hold; no valid file */
	STATUS_NO_INPUT = 66,	 /* a file can't be read */
	STATUS_NO_BROKER = 69,	 /* no broker, or the connection to it was lost */
	STATUS_INTERNAL = 70,	 /* no memory and the like */
	STATUS_NO_OUTPUT = 73,	 /* a file is there already, or can't be written */
	STATUS_EXPIRED = 75,	 /* nobody answered before the deadline */
	STATUS_DENIED = 77,	 /* not allowed: it was not run */
	STATUS_ASK = 79,	 /* check: a person would have to be asked */
	STATUS_CANNOT_RUN = 126, /* allowed, but the program can't be executed */
	STATUS_NO_PROGRAM = 127, /* allowed, but there is no such program */
	STATUS_SIGNAL = 128,	 /* and the number of the signal */
};

#endif
