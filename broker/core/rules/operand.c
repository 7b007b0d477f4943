/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/operand.h"

#include <stdbool.h>

static bool is_up(const char *p, size_t n)
{
	return n == 2 && p[0] == '.' && p[1] == '.';
}

/* Takes the last component off, unless it is `..` itself or there is none. */
static bool take_back(const char *out, size_t root, size_t *n)
{
	size_t at = *n;

	if (at == root)
		return root > 0; /* above the root is the root */
	while (at > root && out[at - 1] != '/')
		at--;
	if (is_up(out + at, *n - at))
		return false;
	*n = at > root ? at - 1 : at;
	return true;
}

size_t operand_normal(struct bytes text, char *out)
{
	const char *p = text.data;
	const char *const end = p + text.len;
	size_t n = 0, root = 0;

	if (text.len == 0 || !memchr(p, '/', text.len)) {
		memmove(out, p, text.len);
		return text.len;
	}
	if (*p == '/')
		out[n++] = *p++;
	root = n;
	while (p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		const size_t len = (size_t)((slash ? slash : end) - p);
		const bool skip = len == 0 || (len == 1 && *p == '.') ||
				  (is_up(p, len) && take_back(out, root, &n));

		if (!skip) {
			if (n > root)
				out[n++] = '/';
			memmove(out + n, p, len);
			n += len;
		}
		p += len + (slash != NULL);
	}
	if (n == 0)
		out[n++] = '.';
	return n;
}
