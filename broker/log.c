/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/log.h"

#define LINE_SIZE 4096

/*
 * Decodes one character. Returns its length, or 0 where the bytes are no UTF-8
 * (overlong forms, surrogates and what is above U+10FFFF included).
 */
static size_t utf8_decode(const uint8_t *s, size_t len, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;
	uint32_t c;

	if (s[0] < 0x80) {
		*out = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		n = 2;
		c = s[0] & 0x1fu;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		c = s[0] & 0x0fu;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		n = 4;
		c = s[0] & 0x07u;
	} else {
		return 0;
	}
	if (len < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*out = c;
	return n;
}

/* Characters that show nothing, or change how what stands beside them is shown. */
static bool hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

/*
 * Escapes as much as fits into size - 1 bytes; returns the length, and in *rest
 * whether something was left out. quoted: backslash and quote are escaped too.
 */
static size_t escape(char *out, size_t size, struct bytes text, bool quoted, bool *rest)
{
	const uint8_t *s = text.data;
	size_t left = text.len, used = 0;
	char piece[16];

	*rest = false;
	while (left > 0) {
		uint32_t c = 0;
		size_t n = utf8_decode(s, left, &c);
		int len;

		if (n == 0 || (c < 0x80 && hidden(c))) {
			n = 1;
			len = snprintf(piece, sizeof(piece), "\\x%02x", s[0]);
		} else if (hidden(c)) {
			len = snprintf(piece, sizeof(piece), "\\u{%x}", c);
		} else if (quoted && (c == '"' || c == '\\')) {
			len = snprintf(piece, sizeof(piece), "\\%c", (char)c);
		} else {
			memcpy(piece, s, n);
			len = (int)n;
		}
		if (used + (size_t)len + 1 > size) {
			*rest = true;
			break;
		}
		memcpy(out + used, piece, (size_t)len);
		used += (size_t)len;
		s += n;
		left -= n;
	}
	out[used] = '\0';
	return used;
}

const char *log_quote(char *out, size_t size, struct bytes text)
{
	static const char ellipsis[] = "…";
	bool rest;
	size_t n;

	/* room for the quotes, the ellipsis and the NUL */
	out[0] = '"';
	n = 1 + escape(out + 1, size - 2 - (sizeof(ellipsis) - 1), text, true, &rest);
	if (rest) {
		memcpy(out + n, ellipsis, sizeof(ellipsis) - 1);
		n += sizeof(ellipsis) - 1;
	}
	out[n] = '"';
	out[n + 1] = '\0';
	return out;
}

void log_init(struct log *log, enum log_level level)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	char end;

	*log = (struct log){.fd = STDERR_FILENO, .level = level};
	if (stream && sscanf(stream, "%llu:%llu%c", &dev, &ino, &end) == 2 &&
		fstat(STDERR_FILENO, &st) == 0)
		log->prefixes = st.st_dev == dev && st.st_ino == ino;
}

/* One that does not fit any more is left out. */
static void copy_add(struct log_copy *copy, struct bytes text)
{
	const char *const between = copy->len ? "; " : "";
	const size_t at = copy->len + strlen(between);
	bool rest;
	size_t n;

	if (at + 1 >= sizeof(copy->text))
		return;
	n = escape(copy->text + at, sizeof(copy->text) - at, text, false, &rest);
	if (rest) {
		copy->text[copy->len] = '\0';
		return;
	}
	memcpy(copy->text + copy->len, between, strlen(between));
	copy->len = at + n;
}

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	char raw[LINE_SIZE], line[LINE_SIZE + 8];
	bool rest;
	va_list ap;
	size_t n = 0;
	int len, used = 0;

	if (!log || level > log->level)
		return;
	va_start(ap, format);
	if (log->name)
		used = snprintf(raw, sizeof(raw), "%s: ", log->name);
	len = vsnprintf(raw + used, sizeof(raw) - (size_t)used, format, ap);
	va_end(ap);
	if (len < 0)
		return;
	len += used;
	if ((size_t)len >= sizeof(raw))
		len = sizeof(raw) - 1;
	if (log->copy && level == LOG_LEVEL_ERROR)
		copy_add(log->copy, (struct bytes){raw, (size_t)len});
	if (log->prefixes)
		n = (size_t)snprintf(line, sizeof(line), "<%d>", (int)level);
	n += escape(
		line + n, sizeof(line) - n - 1, (struct bytes){raw, (size_t)len}, false, &rest);
	line[n++] = '\n';
	/* a log that can't be written is no reason to stop */
	while (write(log->fd, line, n) < 0 && errno == EINTR)
		;
}

int log_level_parse(const char *name, enum log_level *out)
{
	static const struct {
		const char *name;
		enum log_level level;
	} names[] = {
		{"error", LOG_LEVEL_ERROR},
		{"warning", LOG_LEVEL_WARNING},
		{"notice", LOG_LEVEL_NOTICE},
		{"info", LOG_LEVEL_INFO},
		{"debug", LOG_LEVEL_DEBUG},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i].name) == 0) {
			*out = names[i].level;
			return 0;
		}
	return -EINVAL;
}
