/* SPDX-License-Identifier: MIT */
/* What the first byte of a MessagePack value says. Private to scan.c and value.c. */
#ifndef WIRE_LEAD_H
#define WIRE_LEAD_H

#include <stdint.h>

enum wire_lead_kind {
	LEAD_BAD,     /* 0xc1, which is never used */
	LEAD_PAYLOAD, /* bytes follow: str, bin, ext, numbers, or none at all */
	LEAD_ARRAY,   /* values follow */
	LEAD_MAP,     /* pairs of values follow */
};

/*
 * How many of them: the byte itself masked, plus `add`, plus the number in the
 * `gather` big-endian bytes after it.
 */
struct wire_lead {
	uint8_t kind;
	uint8_t gather;
	uint8_t mask;
	uint8_t add;
};

extern const struct wire_lead wire_leads[256];

#endif
