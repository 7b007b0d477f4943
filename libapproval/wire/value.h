/* SPDX-License-Identifier: MIT */
/*
 * Reading MessagePack that the scan has proved. Nothing is copied: what is given
 * out points into the bytes read. Each function still checks every length
 * against the bytes at hand, so bytes that were never scanned give -EBADMSG and
 * not a read past the end.
 */
#ifndef WIRE_VALUE_H
#define WIRE_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include "libapproval/bytes.h"

enum wire_kind {
	WIRE_KIND_NIL,
	WIRE_KIND_BOOL,
	WIRE_KIND_UINT, /* any integer that is not negative, however it was written */
	WIRE_KIND_INT,	/* a negative integer */
	WIRE_KIND_FLOAT,
	WIRE_KIND_STR,
	WIRE_KIND_BIN,
	WIRE_KIND_EXT,
	WIRE_KIND_ARRAY, /* `count` values follow */
	WIRE_KIND_MAP,	 /* `count` pairs of values follow */
};

struct wire_value {
	enum wire_kind kind;
	int8_t ext; /* application type of an EXT */
	union {
		bool boolean;
		uint64_t u64;
		int64_t i64;
		double f64;
		struct bytes bytes; /* STR, BIN, EXT; data is never NULL */
		uint32_t count;
	};
};

/* Takes one value off the front; of a container only its head. */
int wire_read(struct bytes *cursor, struct wire_value *v);

/* Takes one complete value off the front and gives its raw bytes; value may be NULL. */
int wire_skip(struct bytes *cursor, struct bytes *value);

/* What the value needs of the limits: nesting of containers, and values with itself. */
struct wire_measure {
	uint32_t depth;
	uint32_t values;
	bool ext; /* an extension type is among them */
};
/* Of exactly one value. -EMSGSIZE when it is deeper than LIMIT_DEPTH. */
int wire_measure(struct bytes value, struct wire_measure *m);

/* The bytes of a raw str or bin. -EINVAL for another type. */
int wire_text(struct bytes raw, struct bytes *text);

/*
 * Walks over a raw array or map:
 *	if (wire_iter_array(&it, raw) == 0)
 *		while (wire_array_next(&it, &element))
 */
struct wire_iter {
	struct bytes rest;
	uint32_t left; /* elements or pairs to come */
};
int wire_iter_array(struct wire_iter *it, struct bytes array); /* -EINVAL: not an array */
int wire_iter_map(struct wire_iter *it, struct bytes map);     /* -EINVAL: not a map */
bool wire_array_next(struct wire_iter *it, struct bytes *element);
bool wire_map_next(struct wire_iter *it, struct bytes *key, struct bytes *value);

#endif
