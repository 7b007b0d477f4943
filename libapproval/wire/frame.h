/* SPDX-License-Identifier: MIT */
/* A message: what a complete object of the stream says as MessagePack-RPC. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdint.h>
#include "libapproval/bytes.h"
#include "libapproval/wire/code.h"

enum wire_frame_type {
	WIRE_CALL = 0,
	WIRE_REPLY = 1,
	WIRE_NOTIFY = 2,
};

/* All bytes point into the object. What a type does not have is NULL or 0. */
struct wire_frame {
	enum wire_frame_type type;
	uint32_t id;	     /* CALL, REPLY */
	struct bytes method; /* CALL, NOTIFY: the name */
	struct bytes params; /* CALL, NOTIFY: the one map, raw */
	struct bytes error;  /* REPLY: the map, raw; data NULL: no error */
	struct bytes result; /* REPLY: any value, raw; data NULL beside an error */
};

/*
 * Decodes exactly one object that the scan has proved. -EBADMSG: this is no
 * MessagePack-RPC, the connection must end. WIRE_INVALID: it is a call or a
 * notification, but its params are not exactly one map or its method's name is
 * longer than LIMIT_NAME; type, id and method are set, so that a call can be
 * answered.
 */
int wire_frame_decode(struct bytes object, struct wire_frame *f);

#endif
