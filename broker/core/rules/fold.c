/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/fold.h"

uint32_t fold_next(struct bytes text, size_t *len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *const p = text.data;
	const size_t n = p[0] < 0x80   ? 1
			 : p[0] < 0xc2 ? 0
			 : p[0] < 0xe0 ? 2
			 : p[0] < 0xf0 ? 3
			 : p[0] < 0xf5 ? 4
				       : 0;
	uint32_t c;

	*len = 1;
	if (n == 1)
		return p[0];
	if (n == 0 || text.len < n)
		return FOLD_INVALID + p[0];
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return FOLD_INVALID + p[0];
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return FOLD_INVALID + p[0];
	*len = n;
	return c;
}

/* Upper-case letters that lie together: by a distance, or each before its lower one. */
static const struct fold_range {
	uint32_t from, to;
	int32_t distance; /* 0: alternating; the upper ones have the parity of `from` */
} ranges[] = {
	{0x41, 0x5a, 32},
	{0xc0, 0xd6, 32},
	{0xd8, 0xde, 32},
	{0x100, 0x12f, 0},
	{0x132, 0x137, 0},
	{0x139, 0x148, 0},
	{0x14a, 0x177, 0},
	{0x179, 0x17e, 0},
	{0x386, 0x386, 38},
	{0x388, 0x38a, 37},
	{0x38c, 0x38c, 64},
	{0x38e, 0x38f, 63},
	{0x391, 0x3a1, 32},
	{0x3a3, 0x3ab, 32},
	{0x400, 0x40f, 80},
	{0x410, 0x42f, 32},
	{0x460, 0x481, 0},
	{0x48a, 0x4bf, 0},
	{0x4c1, 0x4ce, 0},
	{0x4d0, 0x52f, 0},
	{0x531, 0x556, 48},
	{0x1e00, 0x1e95, 0},
	{0x1ea0, 0x1eff, 0},
	{0xff21, 0xff3a, 32},
};

uint32_t fold_case(uint32_t c)
{
	switch (c) {
	case 0xb5: return 0x3bc;
	case 0x130: return 'i';
	case 0x131: return 'i'; /* so do the file systems that drop the dot */
	case 0x178: return 0xff;
	case 0x17f: return 's';
	case 0x3c2: return 0x3c3;
	case 0x212a: return 'k';
	case 0x212b: return 0xe5;
	default: break;
	}
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		const struct fold_range *r = &ranges[i];

		if (c < r->from)
			break;
		if (c > r->to)
			continue;
		if (r->distance)
			return (uint32_t)((int32_t)c + r->distance);
		return (c ^ r->from) & 1 ? c : c + 1;
	}
	return c;
}

int fold_equal(struct bytes a, struct bytes b)
{
	while (a.len > 0 && b.len > 0) {
		size_t n, m;

		if (fold_case(fold_next(a, &n)) != fold_case(fold_next(b, &m)))
			return 0;
		a = (struct bytes){(const char *)a.data + n, a.len - n};
		b = (struct bytes){(const char *)b.data + m, b.len - m};
	}
	return a.len == 0 && b.len == 0;
}
