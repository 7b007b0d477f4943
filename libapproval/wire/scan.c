/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/wire/lead.h"
#include "libapproval/wire/scan.h"

_Static_assert(LIMIT_ELEMENTS <= UINT16_MAX + 1u, "struct wire_scan: floor[] is too narrow");
_Static_assert(LIMIT_DEPTH <= UINT8_MAX, "struct wire_scan: depth is too narrow");
_Static_assert(LIMIT_FRAME <= INT32_MAX, "struct wire_scan: size is too narrow");

const struct wire_lead wire_leads[256] = {
	[0x00 ... 0x7f] = {LEAD_PAYLOAD, 0, 0, 0},    /* positive fixint */
	[0x80 ... 0x8f] = {LEAD_MAP, 0, 0x0f, 0},     /* fixmap */
	[0x90 ... 0x9f] = {LEAD_ARRAY, 0, 0x0f, 0},   /* fixarray */
	[0xa0 ... 0xbf] = {LEAD_PAYLOAD, 0, 0x1f, 0}, /* fixstr */
	[0xc0] = {LEAD_PAYLOAD, 0, 0, 0},	      /* nil */
	[0xc1] = {LEAD_BAD, 0, 0, 0},
	[0xc2 ... 0xc3] = {LEAD_PAYLOAD, 0, 0, 0}, /* false, true */
	[0xc4] = {LEAD_PAYLOAD, 1, 0, 0},	   /* bin 8, 16, 32 */
	[0xc5] = {LEAD_PAYLOAD, 2, 0, 0},
	[0xc6] = {LEAD_PAYLOAD, 4, 0, 0},
	[0xc7] = {LEAD_PAYLOAD, 1, 0, 1}, /* ext 8, 16, 32: a type byte, too */
	[0xc8] = {LEAD_PAYLOAD, 2, 0, 1},
	[0xc9] = {LEAD_PAYLOAD, 4, 0, 1},
	[0xca] = {LEAD_PAYLOAD, 0, 0, 4}, /* float 32, 64 */
	[0xcb] = {LEAD_PAYLOAD, 0, 0, 8},
	[0xcc] = {LEAD_PAYLOAD, 0, 0, 1}, /* uint 8, 16, 32, 64 */
	[0xcd] = {LEAD_PAYLOAD, 0, 0, 2},
	[0xce] = {LEAD_PAYLOAD, 0, 0, 4},
	[0xcf] = {LEAD_PAYLOAD, 0, 0, 8},
	[0xd0] = {LEAD_PAYLOAD, 0, 0, 1}, /* int 8, 16, 32, 64 */
	[0xd1] = {LEAD_PAYLOAD, 0, 0, 2},
	[0xd2] = {LEAD_PAYLOAD, 0, 0, 4},
	[0xd3] = {LEAD_PAYLOAD, 0, 0, 8},
	[0xd4] = {LEAD_PAYLOAD, 0, 0, 2}, /* fixext 1, 2, 4, 8, 16 */
	[0xd5] = {LEAD_PAYLOAD, 0, 0, 3},
	[0xd6] = {LEAD_PAYLOAD, 0, 0, 5},
	[0xd7] = {LEAD_PAYLOAD, 0, 0, 9},
	[0xd8] = {LEAD_PAYLOAD, 0, 0, 17},
	[0xd9] = {LEAD_PAYLOAD, 1, 0, 0}, /* str 8, 16, 32 */
	[0xda] = {LEAD_PAYLOAD, 2, 0, 0},
	[0xdb] = {LEAD_PAYLOAD, 4, 0, 0},
	[0xdc] = {LEAD_ARRAY, 2, 0, 0}, /* array 16, 32 */
	[0xdd] = {LEAD_ARRAY, 4, 0, 0},
	[0xde] = {LEAD_MAP, 2, 0, 0}, /* map 16, 32 */
	[0xdf] = {LEAD_MAP, 4, 0, 0},
	[0xe0 ... 0xff] = {LEAD_PAYLOAD, 0, 0, 0}, /* negative fixint */
};

void wire_scan_init(struct wire_scan *s)
{
	/* floor[] is written before it is read */
	s->size = s->skip = s->length = 0;
	s->room = LIMIT_FRAME - 1;
	s->values = s->due = 1;
	s->lead = s->gather = s->depth = s->deepest = 0;
	s->any = s->ext = false;
}

void wire_scan_init_any(struct wire_scan *s)
{
	wire_scan_init(s);
	s->any = true;
}

/*
 * Every byte that is still to come is promised once: by the count of a container
 * (one for each value), by a length, or by a first byte that has a length behind
 * it. What can't be promised can't be inside the frame, so that this is the only
 * place that looks at its size.
 */
static bool promise(struct wire_scan *s, uint64_t bytes)
{
	if (bytes > s->room)
		return false;
	s->room -= (uint32_t)bytes;
	return true;
}

/*
 * A container ends when no more values are due than were before it. Nobody has
 * to notice that before the next one begins.
 */
static int open_container(struct wire_scan *s, uint64_t n)
{
	while (s->depth > 0 && s->due < s->floor[s->depth - 1])
		s->depth--;
	if (s->depth == LIMIT_DEPTH || n > LIMIT_ELEMENTS - s->values || !promise(s, n))
		return -EMSGSIZE;
	s->floor[s->depth++] = (uint16_t)s->due;
	s->values += (uint32_t)n;
	s->due += (uint32_t)n;
	if (s->deepest < s->depth)
		s->deepest = s->depth;
	return 0;
}

/* The length or count of a value is known. */
static int measured(struct wire_scan *s, enum wire_lead_kind kind, uint64_t n)
{
	if (kind != LEAD_PAYLOAD)
		return open_container(s, kind == LEAD_MAP ? n * 2 : n);
	if (!promise(s, n))
		return -EMSGSIZE;
	s->skip = (uint32_t)n;
	return 0;
}

static int begin(struct wire_scan *s, uint8_t byte, bool first)
{
	const struct wire_lead lead = wire_leads[byte];

	if (lead.kind == LEAD_BAD || (first && !s->any && lead.kind != LEAD_ARRAY))
		return -EBADMSG;
	s->due--;
	s->ext |= (byte >= 0xc7 && byte <= 0xc9) || (byte >= 0xd4 && byte <= 0xd8);
	if (lead.gather == 0)
		return measured(s, lead.kind, (uint64_t)(byte & lead.mask) + lead.add);
	if (!promise(s, lead.gather))
		return -EMSGSIZE;
	s->gather = lead.gather;
	s->length = 0;
	s->lead = byte;
	return 0;
}

static int gather(struct wire_scan *s, uint8_t byte)
{
	const struct wire_lead lead = wire_leads[s->lead];

	s->length = s->length << 8 | byte;
	if (--s->gather > 0)
		return 0;
	return measured(s, lead.kind, (uint64_t)s->length + lead.add);
}

int wire_scan_feed(struct wire_scan *s, const void *data, size_t len, size_t *used)
{
	const uint8_t *const start = data;
	size_t at = 0;
	int rc = 0;

	while (!rc && at < len && (s->due > 0 || s->skip > 0 || s->gather > 0)) {
		if (s->gather > 0)
			rc = gather(s, start[at++]);
		else if (s->skip == 0)
			rc = begin(s, start[at], s->size + at == 0), at++;
		if (s->skip > 0) {
			const uint32_t n = s->skip < len - at ? s->skip : (uint32_t)(len - at);

			at += n;
			s->skip -= n;
		}
	}
	s->size += (uint32_t)at;
	*used = at;
	if (rc)
		return rc;
	return s->due > 0 || s->skip > 0 || s->gather > 0 ? WIRE_SCAN_MORE : WIRE_SCAN_DONE;
}

int wire_scan_value(struct bytes value)
{
	struct wire_scan s;
	size_t used;
	int rc;

	wire_scan_init_any(&s);
	rc = wire_scan_feed(&s, value.data, value.len, &used);
	if (rc < 0)
		return rc;
	return rc == WIRE_SCAN_DONE && used == value.len ? 0 : -EBADMSG;
}
