/* SPDX-License-Identifier: MIT */
/*
 * The boundary scan: proves that the bytes of a stream hold one complete
 * MessagePack object inside the limits, before anything is unpacked or
 * allocated for it. It is fed whatever arrived, in any pieces, and never looks
 * at a byte twice. It allocates nothing, does not recurse, and its state is of
 * one small size, since every connection carries one.
 */
#ifndef WIRE_SCAN_H
#define WIRE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libapproval/bytes.h"
#include "libapproval/limits.h"

enum wire_scan_result {
	WIRE_SCAN_MORE = 0, /* all bytes were taken and the object is not complete */
	WIRE_SCAN_DONE = 1, /* complete; what follows belongs to the next object */
};

struct wire_scan {
	uint32_t size;	 /* bytes of the object taken so far */
	uint32_t room;	 /* bytes of the limit that nothing has been promised yet */
	uint32_t values; /* values begun or promised by their containers' counts */
	uint32_t due;	 /* of these, the ones whose first byte has not come yet */
	uint32_t skip;	 /* bytes of payload to pass over */
	uint32_t length; /* the length or count that is being gathered */
	uint8_t lead;	 /* first byte of the value whose length is being gathered */
	uint8_t gather;	 /* bytes of it that are missing */
	uint8_t depth;	 /* containers that are open, or have ended since the last one began */
	uint8_t deepest; /* the most that were open at once */
	bool any;	 /* the top may be any value, not only an array */
	bool ext;	 /* an extension type was among them */
	uint16_t floor[LIMIT_DEPTH]; /* values due around each open container */
};

/* Starts a new object; the top must be an array, as in every message. */
void wire_scan_init(struct wire_scan *s);
/* The same, but the top may be any value. */
void wire_scan_init_any(struct wire_scan *s);

/*
 * Takes bytes up to the end of the object. *used is how many. A negative result
 * is final: -EBADMSG these are no MessagePack (or the top is not an array),
 * -EMSGSIZE a limit is passed: bytes, depth, values, or a length or count that
 * can't be met inside the frame's limit. After WIRE_SCAN_DONE, s->size is the
 * size of the object; init must come before the next object is fed.
 */
int wire_scan_feed(struct wire_scan *s, const void *data, size_t len, size_t *used);

/*
 * Proves that the bytes are exactly one value, of any type, inside the limits
 * of a message. 0, -EMSGSIZE, or -EBADMSG (also when it is cut off, or followed
 * by something).
 */
int wire_scan_value(struct bytes value);

#endif
