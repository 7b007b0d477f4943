/* SPDX-License-Identifier: MIT */
/*
 * Typed maps. A spec describes a map of the protocol as a C structure; one
 * decoder and one encoder serve them all. The structures, their specs and the
 * indices of their fields come from one list each, see message.h.
 *
 * The decoder reads the scanned bytes itself; msgpack-c only packs. Measured with
 * a request of 265 bytes: unpacking into msgpack-c's objects took 162 ns, decoding
 * into the structure 164 ns, and the objects would still have to be matched to
 * keys, need a zone to live in, and have lost the bytes of the input that the
 * digest is made of.
 */
#ifndef WIRE_SPEC_H
#define WIRE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "libapproval/bytes.h"
#include "libapproval/wire/code.h"
#include "libapproval/wire/pack.h"

enum wire_type {
	WIRE_BOOL,  /* bool */
	WIRE_U32,   /* uint32_t */
	WIRE_U64,   /* uint64_t */
	WIRE_I64,   /* int64_t */
	WIRE_STR,   /* struct bytes: the text; a bin is taken as well */
	WIRE_BIN,   /* struct bytes: the content */
	WIRE_RAW,   /* struct bytes: any value, its MessagePack as received */
	WIRE_ARRAY, /* struct bytes: MessagePack as received; see wire_iter_array */
	WIRE_MAP,   /* struct bytes: MessagePack as received; decode it with its own spec */
};

enum wire_flag {
	WIRE_OPTIONAL = 0,
	WIRE_REQUIRED = 1,
	WIRE_NILLED = 2, /* optional; the encoder writes nil instead of leaving it out */
	WIRE_EXACT = 4,	 /* a STR or BIN of exactly `max` bytes */
	WIRE_FREE = 8,	 /* somebody's free value: held to LIMIT_VALUE_DEPTH, _COUNT */
};

struct wire_field {
	const char *key;
	uint8_t key_len;
	uint8_t type;	 /* enum wire_type */
	uint8_t flags;	 /* enum wire_flag */
	uint16_t offset; /* of the member */
	uint64_t max;	 /* bytes, or the greatest number; 0: no bound of its own */
};

/* At most 64 fields. The structure begins with `uint64_t present`. */
struct wire_spec {
	const char *name; /* of the structure, for messages to people */
	const struct wire_field *fields;
	uint64_t required; /* bits of the fields that are */
	uint16_t n;
	uint16_t size; /* of the structure */
};

/* Why a map was refused. The texts are constant. */
struct wire_problem {
	const char *param;   /* the key it is about; "params" when it is about the map itself */
	const char *message; /* for people: "must be a str of at most 256 bytes", … */
};

/*
 * Decodes a raw map into the structure, which is cleared first. Members of
 * optional fields that are absent or nil stay 0 or NULL and their bit in
 * `present` (bit number: index of the field) is 0; see WIRE_HAS. Bytes point
 * into the map. Unknown keys are passed over.
 * 0, or a code with *problem (may be NULL) filled in:
 *	WIRE_INVALID	missing, wrong type, out of range, key given twice, key no string
 *	WIRE_TOO_LARGE	a RAW, ARRAY, MAP or BIN over its limit
 */
int wire_decode(const struct wire_spec *spec, struct bytes map, void *out,
	struct wire_problem *problem);

/*
 * Writes the structure as one map. Numbers and bools that are not required are
 * written if their bit in `present` is set (see WIRE_PUT), bytes if data is not
 * NULL. A required one without data, or RAW that is not one value, sets the
 * buffer's error to -EINVAL. Returns the buffer's error.
 */
int wire_encode(const struct wire_spec *spec, const void *in, struct wire_buffer *b);

/* The index of a field by its key; -1: none. */
int wire_spec_find(const struct wire_spec *spec, struct bytes key);

#endif
