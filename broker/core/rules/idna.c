/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/idna.h"

#include <stdbool.h>
#include <stdint.h>

#include "broker/core/rules/fold.h"

#define LABEL_MAX 63u

/* ---- what stands for an ASCII character ---- */

static uint32_t letter(uint32_t index)
{
	return 'a' + index % 26;
}

/* 0: ignored by clients; otherwise the character itself, or the ASCII one that it stands for.
 */
static uint32_t map(uint32_t c)
{
	switch (c) {
	case 0xad:
	case 0x34f:
	case 0x200b:
	case 0x2060:
	case 0x2064:
	case 0xfeff: return 0;
	case 0x3002:
	case 0xff61: return '.';
	case 0xaa: return 'a';
	case 0xba: return 'o';
	case 0xb2: return '2';
	case 0xb3: return '3';
	case 0xb9: return '1';
	case 0x17f: return 's';
	case 0x212a: return 'k';
	case 0x2070: return '0';
	case 0x2071: return 'i';
	case 0x207f: return 'n';
	default: break;
	}
	if (c >= 0x180b && c <= 0x180d)
		return 0;
	if ((c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef))
		return 0;
	if (c >= 0xff01 && c <= 0xff5e) { /* fullwidth */
		c -= 0xff01 - '!';
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	}
	if (c >= 0x2074 && c <= 0x2079)
		return '0' + c - 0x2070;
	if (c >= 0x2080 && c <= 0x2089)
		return '0' + c - 0x2080;
	if (c >= 0x2460 && c <= 0x2468) /* circled */
		return '1' + c - 0x2460;
	if (c >= 0x24b6 && c <= 0x24e9)
		return letter(c - 0x24b6);
	if (c >= 0x1d400 && c <= 0x1d6a3) /* mathematical alphabets, 26 letters each */
		return letter(c - 0x1d400);
	if (c >= 0x1d7ce && c <= 0x1d7ff)
		return '0' + (c - 0x1d7ce) % 10;
	if (c >= 0x1f130 && c <= 0x1f149) /* squared */
		return letter(c - 0x1f130);
	return c;
}

/* Letters that, once lower, stand for themselves in every name. */
static bool is_plain(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} scripts[] = {
		{0xe0, 0xf6},	  /* Latin */
		{0xf8, 0xff},	  /* Latin */
		{0x101, 0x131},	  /* Latin */
		{0x135, 0x138},	  /* Latin */
		{0x13a, 0x13e},	  /* Latin */
		{0x142, 0x148},	  /* Latin */
		{0x14b, 0x17e},	  /* Latin */
		{0x3ac, 0x3c1},	  /* Greek, without the final sigma */
		{0x3c3, 0x3ce},	  /* Greek */
		{0x430, 0x45f},	  /* Cyrillic */
		{0x5d0, 0x5ea},	  /* Hebrew */
		{0x621, 0x63a},	  /* Arabic */
		{0x641, 0x64a},	  /* Arabic */
		{0x3041, 0x3096}, /* Hiragana */
		{0x30a1, 0x30fa}, /* Katakana */
		{0x4e00, 0x9fa5}, /* Han */
		{0xac00, 0xd7a3}, /* Hangul */
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (c >= scripts[i].from && c <= scripts[i].to)
			return fold_case(c) == c;
	return false;
}

/* ---- Punycode, RFC 3492 section 6.3 ---- */

struct output {
	char *p;
	size_t n, size;
};

static bool put(struct output *out, uint32_t c)
{
	if (out->n == out->size)
		return false;
	out->p[out->n++] = (char)c;
	return true;
}

static uint32_t adapt(uint32_t delta, uint32_t points, bool initial)
{
	uint32_t k = 0;

	delta = initial ? delta / 700 : delta / 2;
	for (delta += delta / points; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static bool put_number(struct output *out, uint32_t delta, uint32_t bias)
{
	for (uint32_t k = 36;; k += 36) {
		const uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		uint32_t digit = delta;

		if (delta >= t)
			digit = t + (delta - t) % (36 - t);
		if (!put(out, digit < 26 ? 'a' + digit : '0' + digit - 26))
			return false;
		if (delta < t)
			return true;
		delta = (delta - t) / (36 - t);
	}
}

static bool put_punycode(struct output *out, const uint32_t *label, uint32_t len)
{
	uint32_t n = 128, delta = 0, bias = 72, done = 0, basic;

	for (const char *c = "xn--"; *c; c++)
		if (!put(out, (uint32_t)*c))
			return false;
	for (uint32_t i = 0; i < len; i++)
		if (label[i] < 128 && (done++, !put(out, label[i])))
			return false;
	basic = done;
	if (basic > 0 && !put(out, '-'))
		return false;
	for (; done < len; delta++, n++) {
		uint32_t next = UINT32_MAX;

		for (uint32_t i = 0; i < len; i++)
			if (label[i] >= n && label[i] < next)
				next = label[i];
		/* at most 63 code points below 0x110000: no overflow */
		delta += (next - n) * (done + 1);
		n = next;
		for (uint32_t i = 0; i < len; i++) {
			delta += label[i] < n;
			if (label[i] != n)
				continue;
			if (!put_number(out, delta, bias))
				return false;
			bias = adapt(delta, done + 1, done == basic);
			delta = 0;
			done++;
		}
	}
	return true;
}

static bool put_label(struct output *out, const uint32_t *label, uint32_t len, bool wide)
{
	if (wide)
		return put_punycode(out, label, len);
	for (uint32_t i = 0; i < len; i++)
		if (!put(out, label[i]))
			return false;
	return true;
}

int idna_to_ascii(struct bytes text, char *out_text, size_t size, size_t *len)
{
	struct output out = {out_text, 0, size};
	uint32_t label[LABEL_MAX];
	uint32_t n = 0;
	bool wide = false;

	while (text.len > 0) {
		size_t step;
		uint32_t c = fold_next(text, &step);

		text = (struct bytes){(const char *)text.data + step, text.len - step};
		c = map(c);
		if (c == 0)
			continue;
		if (c == '.') {
			if (!put_label(&out, label, n, wide) || !put(&out, '.'))
				return -1;
			n = 0;
			wide = false;
			continue;
		}
		c = fold_case(c);
		if ((c >= 128 && !is_plain(c)) || n == LABEL_MAX)
			return -1;
		wide |= c >= 128;
		label[n++] = c;
	}
	if (!put_label(&out, label, n, wide))
		return -1;
	*len = out.n;
	return 0;
}
