/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "libapproval/wire/lead.h"
#include "libapproval/wire/scan.h"

_Static_assert(LIMIT_ELEMENTS <= UINT16_MAX + 1u, "struct wire_scan: left[] is too narrow");
_Static_assert(LIMIT_DEPTH <= UINT8_MAX, "struct wire_scan: depth is too narrow");
_Static_assert(LIMIT_FRAME <= UINT32_MAX / 4, "struct wire_scan: sums could overflow");

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
	/* left[] is written before it is read */
	s->size = s->skip = s->length = 0;
	s->values = s->due = 1;
	s->lead = s->gather = s->depth = s->deepest = 0;
	s->any = false;
}

void wire_scan_init_any(struct wire_scan *s)
{
	wire_scan_init(s);
	s->any = true;
}

/*
 * All that is promised must fit into what the frame may still hold. size, skip,
 * gather and due are tested here whenever one of them grows, so that no other
 * place has to look at the size.
 */
static bool fits(const struct wire_scan *s, uint64_t more)
{
	return (uint64_t)s->size + s->skip + s->gather + s->due + more <= LIMIT_FRAME;
}

/* A value is complete, and with it every container whose last one it was. */
static int complete(struct wire_scan *s)
{
	while (s->depth > 0) {
		if (--s->left[s->depth - 1] > 0)
			return WIRE_SCAN_MORE;
		s->depth--;
	}
	return WIRE_SCAN_DONE;
}

/* The length or count of the value that s->lead began is known. */
static int measured(struct wire_scan *s, enum wire_lead_kind kind, uint64_t n)
{
	if (kind == LEAD_PAYLOAD) {
		if (!fits(s, n))
			return -EMSGSIZE;
		s->skip = (uint32_t)n;
		return n > 0 ? WIRE_SCAN_MORE : complete(s);
	}
	if (kind == LEAD_MAP)
		n *= 2;
	if (s->depth == LIMIT_DEPTH || n > LIMIT_ELEMENTS - s->values || !fits(s, n))
		return -EMSGSIZE;
	if (s->deepest == s->depth)
		s->deepest++;
	if (n == 0)
		return complete(s);
	s->values += (uint32_t)n;
	s->due += (uint32_t)n;
	s->left[s->depth++] = (uint16_t)n;
	return WIRE_SCAN_MORE;
}

static int begin(struct wire_scan *s, uint8_t byte)
{
	const struct wire_lead lead = wire_leads[byte];

	if (lead.kind == LEAD_BAD || (s->size == 0 && !s->any && lead.kind != LEAD_ARRAY))
		return -EBADMSG;
	s->size++;
	s->due--;
	if (lead.gather == 0)
		return measured(s, lead.kind, (uint64_t)(byte & lead.mask) + lead.add);
	s->gather = lead.gather;
	s->length = 0;
	s->lead = byte;
	return fits(s, lead.add) ? WIRE_SCAN_MORE : -EMSGSIZE;
}

static int gather(struct wire_scan *s, uint8_t byte)
{
	const struct wire_lead lead = wire_leads[s->lead];

	s->size++;
	s->length = s->length << 8 | byte;
	if (--s->gather > 0)
		return WIRE_SCAN_MORE;
	return measured(s, lead.kind, (uint64_t)s->length + lead.add);
}

int wire_scan_feed(struct wire_scan *s, const void *data, size_t len, size_t *used)
{
	const uint8_t *const begin_of = data;
	const uint8_t *p = begin_of, *const end = len ? p + len : p;
	int rc = s->due + s->skip + s->gather > 0 ? WIRE_SCAN_MORE : WIRE_SCAN_DONE;

	while (rc == WIRE_SCAN_MORE && p < end) {
		if (s->skip > 0) {
			const size_t here = (size_t)(end - p);
			const uint32_t n = s->skip < here ? s->skip : (uint32_t)here;

			p += n;
			s->size += n;
			s->skip -= n;
			rc = s->skip > 0 ? WIRE_SCAN_MORE : complete(s);
		} else if (s->gather > 0) {
			rc = gather(s, *p++);
		} else {
			rc = begin(s, *p++);
		}
	}
	*used = (size_t)(p - begin_of);
	return rc;
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
