/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/urlhost.h"

#include <stdint.h>
#include <stdio.h>

#include "broker/core/rules/idna.h"

#define SURE	0
#define CHANGED 1
#define NO_HOST (-1)
#define UNKNOWN (-2)

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool forbidden(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f || strchr("#/:<>?@[\\]^|%", c);
}

/* ---- IPv4 ---- */

/* One number of an address: decimal, octal with 0, hexadecimal with 0x. -1: none. */
static int64_t ipv4_number(struct bytes part, bool *plain)
{
	const char *p = part.data;
	size_t n = part.len;
	int base = 10;
	int64_t value = 0;

	if (n == 0)
		return -1;
	if (n > 1 && p[0] == '0') {
		*plain = false;
		base = 8;
		if (lower(p[1]) == 'x') {
			base = 16;
			p++;
			n--;
		}
		p++;
		n--;
	}
	for (size_t i = 0; i < n; i++) {
		const int digit = hex(p[i]);

		if (digit < 0 || digit >= base)
			return -1;
		if (value <= UINT32_MAX)
			value = value * base + digit;
	}
	return value;
}

static bool ends_in_number(struct bytes host)
{
	const char *const p = host.data;
	size_t i = host.len;
	bool digits = true, plain = true;

	while (i > 0 && p[i - 1] != '.')
		digits &= p[--i] >= '0' && p[i] <= '9';
	if (i == host.len)
		return false;
	return digits || ipv4_number((struct bytes){p + i, host.len - i}, &plain) >= 0;
}

static int ipv4_parse(struct bytes host, struct urlhost *out)
{
	const char *p = host.data;
	const char *const end = p + host.len;
	int64_t numbers[4];
	uint32_t address;
	unsigned n = 0;
	bool plain = true;

	while (p <= end) {
		const char *dot = memchr(p, '.', (size_t)(end - p));

		if (!dot)
			dot = end;
		if (n == 4)
			return NO_HOST;
		numbers[n] = ipv4_number((struct bytes){p, (size_t)(dot - p)}, &plain);
		if (numbers[n++] < 0)
			return NO_HOST;
		p = dot + 1;
	}
	for (unsigned i = 0; i + 1 < n; i++)
		if (numbers[i] > 255)
			return NO_HOST;
	if (numbers[n - 1] >= (int64_t)1 << (8 * (5 - n)))
		return NO_HOST;
	address = (uint32_t)numbers[n - 1];
	for (unsigned i = 0; i + 1 < n; i++)
		address |= (uint32_t)numbers[i] << (8 * (3 - i));
	out->address = true;
	out->len = (size_t)snprintf(out->text, sizeof(out->text), "%u.%u.%u.%u", address >> 24,
		address >> 16 & 255, address >> 8 & 255, address & 255);
	return plain && n == 4 ? SURE : CHANGED;
}

/* ---- IPv6 ---- */

/* The last 32 bits written as IPv4: four plain numbers. */
static bool ipv6_tail(struct bytes text, uint16_t pieces[2])
{
	struct urlhost four;

	if (ipv4_parse(text, &four) != SURE)
		return false;
	pieces[0] = pieces[1] = 0;
	for (size_t i = 0, part = 0, value = 0; i <= four.len; i++) {
		if (i < four.len && four.text[i] != '.') {
			value = value * 10 + (size_t)(four.text[i] - '0');
			continue;
		}
		pieces[part / 2] = (uint16_t)(pieces[part / 2] << 8 | value);
		value = 0;
		part++;
	}
	return true;
}

static bool ipv6_pieces(struct bytes text, uint16_t out[8])
{
	const char *p = text.data;
	const char *const end = p + text.len;
	unsigned n = 0;
	int gap = -1;

	memset(out, 0, 8 * sizeof(*out));
	if (text.len >= 2 && p[0] == ':' && p[1] != ':')
		return false;
	while (p < end) {
		uint32_t value = 0;
		const char *start;

		if (end - p >= 2 && p[0] == ':' && p[1] == ':') {
			if (gap >= 0)
				return false;
			gap = (int)n;
			p += 2;
			continue;
		}
		if (n > 0 && *p == ':' && gap != (int)n)
			p++;
		if (n == 8)
			return false;
		for (start = p; p < end && p - start < 4 && hex(*p) >= 0; p++)
			value = value << 4 | (uint32_t)hex(*p);
		if (p < end && *p == '.') {
			if (n > 6 || !ipv6_tail((struct bytes){start, (size_t)(end - start)},
					     out + n))
				return false;
			n += 2;
			break;
		}
		if (p == start || (p < end && *p != ':') || (end - p == 1))
			return false;
		out[n++] = (uint16_t)value;
	}
	if (gap < 0)
		return n == 8;
	if (n == 8)
		return false;
	memmove(out + 8 - (n - (unsigned)gap), out + gap, (n - (unsigned)gap) * sizeof(*out));
	memset(out + gap, 0, (8 - n) * sizeof(*out));
	return true;
}

static void ipv6_print(const uint16_t pieces[8], struct urlhost *out)
{
	int best = -1, best_len = 1;
	size_t at = 0;

	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && pieces[i + n] == 0)
			n++;
		if (n > best_len) {
			best = i;
			best_len = n;
		}
	}
	out->text[at++] = '[';
	for (int i = 0; i < 8; i++) {
		if (i == best) {
			at += (size_t)snprintf(out->text + at, 3, "%s", i ? ":" : "::");
			i += best_len - 1;
			continue;
		}
		at += (size_t)snprintf(out->text + at, 6, "%x%s", pieces[i], i < 7 ? ":" : "");
	}
	out->text[at++] = ']';
	out->text[at] = 0;
	out->len = at;
	out->address = true;
}

static int ipv6_parse(struct bytes text, struct urlhost *out)
{
	uint16_t pieces[8];

	if (!ipv6_pieces(text, pieces))
		return NO_HOST;
	ipv6_print(pieces, out);
	if (out->len == text.len + 2 && memcmp(out->text + 1, text.data, text.len) == 0)
		return SURE;
	return CHANGED;
}

/* ---- names ---- */

/* Percent-decoded and in ASCII; *changed where that changed anything. */
static int name_parse(struct bytes text, struct urlhost *out)
{
	char decoded[1024];
	size_t n = 0;
	bool changed = false, wide = false;
	const char *const p = text.data;
	int err;

	if (text.len > sizeof(decoded))
		return UNKNOWN;
	for (size_t i = 0; i < text.len; i++) {
		char c = p[i];

		if (c == '%' && text.len - i > 2 && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0) {
			c = (char)(hex(p[i + 1]) << 4 | hex(p[i + 2]));
			i += 2;
			changed = true;
		}
		wide |= c & 0x80;
		decoded[n++] = lower(c);
	}
	if (wide) {
		changed = true;
		err = idna_to_ascii(
			(struct bytes){decoded, n}, out->text, URLHOST_MAX, &out->len);
		if (err)
			return UNKNOWN;
	} else {
		if (n > URLHOST_MAX)
			return NO_HOST;
		memcpy(out->text, decoded, n);
		out->len = n;
	}
	for (size_t i = 0; i < out->len; i++)
		if (forbidden(out->text[i]))
			return NO_HOST;
	return changed ? CHANGED : SURE;
}

int urlhost_parse(struct bytes text, struct urlhost *out)
{
	struct bytes name;
	int how;

	*out = (struct urlhost){.len = 0};
	if (text.len == 0)
		return NO_HOST;
	if (*(const char *)text.data == '[') {
		if (text.len < 2 || ((const char *)text.data)[text.len - 1] != ']')
			return NO_HOST;
		return ipv6_parse(
			(struct bytes){(const char *)text.data + 1, text.len - 2}, out);
	}
	how = name_parse(text, out);
	if (how < 0)
		return how;
	if (out->len > 0 && out->text[out->len - 1] == '.')
		out->len--;
	if (out->len == 0 || out->text[out->len - 1] == '.')
		return NO_HOST;
	out->text[out->len] = 0;
	name = (struct bytes){out->text, out->len};
	if (ends_in_number(name)) {
		struct urlhost address;
		const int four = ipv4_parse(name, &address);

		if (four < 0)
			return four;
		*out = address;
		return how == SURE ? four : how;
	}
	return how;
}

bool urlhost_within(const struct urlhost *host, const struct urlhost *domain)
{
	if (host->len < domain->len ||
		memcmp(host->text + host->len - domain->len, domain->text, domain->len) != 0)
		return false;
	if (host->len == domain->len)
		return true;
	return !domain->address && !host->address &&
	       host->text[host->len - domain->len - 1] == '.';
}
