/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/urlhost.h"

#include <stdint.h>

#include "libapproval/limits.h"

static const char slashes[] = "/\\";

static struct bytes after(struct bytes b, size_t n)
{
	return (struct bytes){(const char *)b.data + n, b.len - n};
}

static struct bytes before(struct bytes b, size_t n)
{
	return (struct bytes){b.data, n};
}

/* How many bytes at the start are (or are not) in the set. */
static size_t span(struct bytes b, const char *set, bool in)
{
	const char *const p = b.data;
	size_t n = 0;

	while (n < b.len && (p[n] && strchr(set, p[n])) == in)
		n++;
	return n;
}

static bool has(struct bytes b, char c)
{
	return b.len > 0 && memchr(b.data, c, b.len);
}

static void add(struct url_reading *out, const struct urlhost *host)
{
	for (unsigned i = 0; i < out->n; i++)
		if (out->hosts[i].len == host->len &&
			memcmp(out->hosts[i].text, host->text, host->len) == 0)
			return;
	if (out->n == URLHOST_READINGS)
		out->unknown = true;
	else
		out->hosts[out->n++] = *host;
}

/* ::ffff:a.b.c.d is that IPv4 address to a client. */
static void add_mapped(struct url_reading *out, const struct urlhost *host)
{
	static const char start[] = "[::ffff:";
	const size_t n = sizeof(start) - 1;
	uint32_t halves[2] = {0, 0};
	struct urlhost four;
	char text[16];
	unsigned half = 0;

	if (host->len < n || memcmp(host->text, start, n) != 0)
		return;
	for (const char *p = host->text + n; *p != ']'; p++) {
		if (*p == ':')
			half++;
		else if (half < 2)
			halves[half] = halves[half] << 4 |
				       (uint32_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	}
	if (half != 1)
		return;
	text[0] = '0';
	text[1] = 'x';
	for (int i = 0; i < 8; i++)
		text[2 + i] =
			"0123456789abcdef"[(halves[0] << 16 | halves[1]) >> (28 - 4 * i) & 15];
	if (urlhost_parse((struct bytes){text, 10}, &four) >= 0)
		add(out, &four);
}

/*
 * host[:port]; false: not certain. Where it is not as the standard has it, a reading that
 * gives no host is none.
 */
static bool read_host(struct url_reading *out, struct bytes text, bool standard)
{
	const char *const p = text.data;
	size_t n = text.len;
	uint32_t port = 0;
	struct urlhost host;
	bool certain = true;
	int how;

	while (n > 0 && p[n - 1] >= '0' && p[n - 1] <= '9')
		n--;
	if (n > 0 && p[n - 1] == ':') {
		for (size_t i = n; i < text.len && port <= UINT16_MAX; i++)
			port = port * 10 + (uint32_t)(p[i] - '0');
		if (port > UINT16_MAX)
			certain = false;
		text.len = n - 1;
	}
	how = urlhost_parse(text, &host);
	if (how < 0) {
		out->unknown |= standard;
		return false;
	}
	add(out, &host);
	if (host.address)
		add_mapped(out, &host);
	return certain && how == 0;
}

/* [userinfo@]host[:port] */
static bool read_authority(struct url_reading *out, struct bytes text, bool standard)
{
	const char *const last = text.len ? memrchr(text.data, '@', text.len) : NULL;
	bool certain = true;

	if (last) {
		const size_t n = (size_t)(last - (const char *)text.data);
		const struct bytes user = before(text, n);

		text = after(text, n + 1);
		for (size_t i = 0; i < n; i++)
			if (((const uint8_t *)user.data)[i] <= ' ' ||
				((const uint8_t *)user.data)[i] >= 0x7f)
				certain = false;
		if (has(user, '@')) {
			const struct bytes rest = after(user, span(user, "@", false) + 1);

			read_host(out, before(rest, span(rest, "@", false)), false);
			certain = false;
		}
	}
	return read_host(out, text, standard) && certain;
}

/* What follows `//`. */
static bool read_location(struct url_reading *out, struct bytes text)
{
	/* as the standard has it, and as who knows of no backslash has it */
	const struct bytes whatwg = before(text, span(text, "/\\?#", false));
	const struct bytes rfc = before(text, span(text, "/?#", false));
	/* as who looks for the `@` first has it */
	const struct bytes loose = before(text, span(text, "/", false));
	bool certain = read_authority(out, whatwg, true);

	if (rfc.len != whatwg.len) {
		read_authority(out, rfc, false);
		certain = false;
	}
	if (loose.len != rfc.len && has(after(loose, rfc.len), '@')) {
		read_authority(out, loose, false);
		certain = false;
	}
	return certain;
}

/* The length of a scheme with its colon; 0: there is none. */
static size_t scheme_len(struct bytes url)
{
	const char *const p = url.data;
	size_t n = 0;

	for (; n < url.len; n++) {
		const bool letter = (p[n] | 32) >= 'a' && (p[n] | 32) <= 'z';

		if (letter || (n > 0 && ((p[n] >= '0' && p[n] <= '9') ||
						(p[n] && strchr("+-.", p[n])))))
			continue;
		return p[n] == ':' && n > 0 ? n + 1 : 0;
	}
	return 0;
}

static bool scheme_is(struct bytes scheme, const char *name)
{
	if (scheme.len != strlen(name) + 1)
		return false;
	for (size_t i = 0; name[i]; i++)
		if ((((const char *)scheme.data)[i] | 32) != name[i])
			return false;
	return true;
}

/* Without the controls and spaces at its ends, and the tabs and line ends within. */
static struct bytes strip(struct bytes url, char buf[LIMIT_TEXT], struct url_reading *out)
{
	const uint8_t *p = url.data;
	size_t len = url.len, n = 0;

	while (len > 0 && *p <= ' ') {
		p++;
		len--;
	}
	while (len > 0 && p[len - 1] <= ' ')
		len--;
	if (len != url.len)
		out->certain = false;
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\t' || p[i] == '\n' || p[i] == '\r') {
			out->certain = false;
		} else if (n == LIMIT_TEXT) {
			/* the host may be further on */
			out->certain = false;
			out->unknown = true;
			break;
		} else {
			buf[n++] = (char)p[i];
		}
	}
	return (struct bytes){buf, n};
}

void url_read(struct bytes url, struct url_reading *out)
{
	char buf[LIMIT_TEXT];
	struct bytes scheme, rest;
	size_t n;
	bool certain;

	*out = (struct url_reading){.certain = true};
	url = strip(url, buf, out);
	scheme = before(url, scheme_len(url));
	rest = after(url, scheme.len);
	n = span(rest, slashes, true);
	certain = (scheme_is(scheme, "http") || scheme_is(scheme, "https")) && n == 2 &&
		  memcmp(rest.data, "//", 2) == 0;
	if (scheme.len > 0 && n < 2 && !scheme_is(scheme, "http") &&
		!scheme_is(scheme, "https")) {
		/* host:port without a scheme, or a scheme around another URL */
		out->unknown = true;
		read_location(out, url);
	}
	certain &= read_location(out, after(rest, n));
	out->certain &= certain && out->n == 1 && !out->unknown;
}
