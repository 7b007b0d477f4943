/* SPDX-License-Identifier: MIT */
/* Bytes that are owned by somebody else. Any layer may include this file. */
#ifndef APPROVAL_BYTES_H
#define APPROVAL_BYTES_H

#include <stddef.h>
#include <string.h>

/* data may be NULL only when len is 0. An absent optional value has data NULL. */
struct bytes {
	const void *data;
	size_t len;
};

static inline struct bytes bytes_of(const char *text)
{
	return (struct bytes){ text, text ? strlen(text) : 0 };
}

static inline int bytes_equal(struct bytes a, struct bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline int bytes_is(struct bytes a, const char *text)
{
	return bytes_equal(a, bytes_of(text));
}

/* As of memcmp; where one is the beginning of the other, it comes first. */
static inline int bytes_compare(struct bytes a, struct bytes b)
{
	const size_t n = a.len < b.len ? a.len : b.len;
	const int c = n ? memcmp(a.data, b.data, n) : 0;

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

#endif
