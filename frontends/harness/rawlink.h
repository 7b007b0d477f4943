/* SPDX-License-Identifier: MIT */
/* A plain socket, for bytes that the library would not send. */
#ifndef HARNESS_RAWLINK_H
#define HARNESS_RAWLINK_H

#include "libapproval/approval.h"

struct rawlink {
	int fd; /* -1: not connected */
	unsigned char *data;
	size_t len;
};

/* Connects if it is not connected. A peer that does not take it all is no failure. */
int rawlink_send(struct rawlink *l, const char *path, const char *hex);
/* 1: a whole message, to be freed; -EAGAIN: not yet; else: it has ended. */
int rawlink_next(struct rawlink *l, struct approval_value **out);
void rawlink_close(struct rawlink *l);

#endif
