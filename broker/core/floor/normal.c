/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/normal.h"

#define ROW(x)                                                                                 \
	(x), (x) + 1, (x) + 2, (x) + 3, (x) + 4, (x) + 5, (x) + 6, (x) + 7, (x) + 8, (x) + 9,  \
		(x) + 10, (x) + 11, (x) + 12, (x) + 13, (x) + 14, (x) + 15

const uint8_t normal_lower[256] = {ROW(0x00), ROW(0x10), ROW(0x20), ROW(0x30), '@', 'a', 'b',
	'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's',
	't', 'u', 'v', 'w', 'x', 'y', 'z', '[', '\\', ']', '^', '_', ROW(0x60), ROW(0x70),
	ROW(0x80), ROW(0x90), ROW(0xa0), ROW(0xb0), ROW(0xc0), ROW(0xd0), ROW(0xe0), ROW(0xf0)};

/* The long s and the Kelvin sign are the two that fold into ASCII. */
static char fold_wide(const char **p, const char *end)
{
	const char *const at = *p;

	if (end - at >= 2 && memcmp(at, "\xc5\xbf", 2) == 0) {
		*p += 1;
		return 's';
	}
	if (end - at >= 3 && memcmp(at, "\xe2\x84\xaa", 3) == 0) {
		*p += 2;
		return 'k';
	}
	return *at;
}

static bool is_up(const struct normal *n, uint32_t start, uint32_t end)
{
	return end - start == 2 && n->text[start] == '.' && n->text[start + 1] == '.';
}

/* The component [start, end) of the text is complete. Returns where the next one begins. */
static uint32_t close_component(struct normal *n, uint32_t start, uint32_t end)
{
	if (end == start)
		return start;
	n->dot = false;
	if (n->text[start] == '.') {
		if (end - start == 1) {
			n->dot = true;
			return start;
		}
		if (is_up(n, start, end)) {
			n->dot = true;
			if (n->n > 0 && !is_up(n, n->start[n->n - 1], start - 1))
				return n->start[--n->n];
			if (n->absolute)
				return start;
		}
	}
	n->start[n->n++] = (uint16_t)start;
	n->text[end] = '/';
	return end + 1;
}

/* Goes on from `out`, where a component may begin. */
static uint32_t append(struct normal *n, uint32_t out, struct bytes path)
{
	const char *p = path.data;
	const char *const end = p + path.len;
	uint32_t start = out;

	for (; p < end; p++) {
		uint8_t c = normal_lower[(uint8_t)*p];

		if (c >= 0x80)
			c = (uint8_t)fold_wide(&p, end);
		if (c != '/') {
			n->text[out++] = (char)c;
			continue;
		}
		out = start = close_component(n, start, out);
	}
	return path.len > 0 ? close_component(n, start, out) : out;
}

static uint32_t append_exact(struct normal *n, uint32_t out, struct bytes path)
{
	const char *const p = path.data;
	uint32_t start = out;

	for (size_t i = 0; i < path.len; i++) {
		if (p[i] != '/')
			n->text[out++] = p[i];
		else
			out = start = close_component(n, start, out);
	}
	return path.len > 0 ? close_component(n, start, out) : out;
}

/* ---- most paths: plain ASCII, nothing to be left out ---- */

#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* Eight bytes, all ASCII, in lower case. */
static uint64_t lower_eight(uint64_t x)
{
	const uint64_t from_a = x + EACH(0x80 - 'A'), past_z = x + EACH(0x7f - 'Z');

	return x | ((from_a & ~past_z & EACH(0x80)) >> 2);
}

/* The highest bit of each of eight ASCII bytes that is a slash. */
static uint64_t slashes_of(uint64_t x)
{
	return ~((x ^ EACH('/')) + EACH(0x7f)) & EACH(0x80);
}

static bool is_plain(const char *start, size_t len)
{
	if (len == 0 || *start != '.')
		return len > 0;
	return len > 2 || (len == 2 && start[1] != '.');
}

/* As append does, or false, with nothing of worth done, where there is more to it. */
static bool append_plain(struct normal *n, uint32_t *out, struct bytes path)
{
	const char *const p = path.data;
	const uint32_t skip = path.len > 0 && *p == '/';
	const uint32_t len = (uint32_t)path.len - skip;
	char *const text = n->text + *out;
	uint32_t start = 0, count = n->n;

	if (len == 0)
		return false;
	memcpy(text, p + skip, len);
	memset(text + len, 0, 8);
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t x;

		memcpy(&x, text + i, 8);
		if (x & EACH(0x80))
			return false;
		x = lower_eight(x);
		memcpy(text + i, &x, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		x = __builtin_bswap64(x);
#endif
		for (uint64_t s = slashes_of(x); s; s &= s - 1) {
			const uint32_t at = i + (uint32_t)__builtin_ctzll(s) / 8;

			if (!is_plain(text + start, at - start))
				return false;
			n->start[count++] = (uint16_t)(*out + start);
			start = at + 1;
		}
	}
	if (!is_plain(text + start, len - start))
		return false;
	n->start[count++] = (uint16_t)(*out + start);
	text[len] = '/';
	n->n = (uint16_t)count;
	n->dot = false;
	*out += len + 1;
	return true;
}

static uint32_t append_folded(struct normal *n, uint32_t out, struct bytes path)
{
	return append_plain(n, &out, path) ? out : append(n, out, path);
}

static bool is_absolute(struct bytes path)
{
	return path.len > 0 && *(const char *)path.data == '/';
}

static bool is_homed(struct bytes path)
{
	const char *const p = path.data;

	return path.len > 0 && *p == '~' && (path.len == 1 || p[1] == '/');
}

static bool join(struct normal *out, struct bytes folder, struct bytes path,
	uint32_t (*add)(struct normal *, uint32_t, struct bytes))
{
	uint32_t end;

	if (is_absolute(path) || is_homed(path))
		folder.len = 0;
	out->n = 0;
	out->dot = path.len == 0;
	out->slash = path.len > 0 && ((const char *)path.data)[path.len - 1] == '/';
	if (folder.len + path.len > LIMIT_TEXT)
		return false;
	out->absolute = is_absolute(folder.len > 0 ? folder : path);
	end = add(out, 0, folder);
	end = add(out, end, path);
	out->len = end > 0 ? end - 1 : 0;
	memset(out->text + out->len, 0, 8);
	return true;
}

bool normal_make(struct normal *out, struct bytes path)
{
	return join(out, (struct bytes){NULL, 0}, path, append_folded);
}

bool normal_join(struct normal *out, struct bytes folder, struct bytes path)
{
	return join(out, folder, path, append_folded);
}

bool normal_make_exact(struct normal *out, struct bytes path)
{
	return join(out, (struct bytes){NULL, 0}, path, append_exact);
}

bool normal_join_exact(struct normal *out, struct bytes folder, struct bytes path)
{
	return join(out, folder, path, append_exact);
}

bool normal_within(const struct normal *path, const struct normal *folder)
{
	if (!path->absolute || !folder->absolute || path->len < folder->len)
		return false;
	if (folder->len == 0)
		return true;
	return memcmp(path->text, folder->text, folder->len) == 0 &&
	       (path->len == folder->len || path->text[folder->len] == '/');
}
