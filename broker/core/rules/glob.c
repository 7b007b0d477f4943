/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/glob.h"

static bool starts(struct bytes text, struct bytes part)
{
	return text.len >= part.len &&
	       (part.len == 0 || memcmp(text.data, part.data, part.len) == 0);
}

static struct bytes after(struct bytes text, size_t n)
{
	return (struct bytes){(const char *)text.data + n, text.len - n};
}

/* Where the part is found first, as the rest that begins there; data NULL: nowhere. */
static struct bytes find(struct bytes text, struct bytes part)
{
	const char *at;

	if (part.len == 0)
		return text;
	at = text.len ? memmem(text.data, text.len, part.data, part.len) : NULL;
	return at ? after(text, (size_t)(at - (const char *)text.data))
		  : (struct bytes){NULL, 0};
}

static bool at_boundary(struct bytes rest)
{
	return rest.len == 0 || *(const char *)rest.data == GLOB_SEPARATOR;
}

/* The last part, somewhere in the text, with nothing or a separator behind it. */
static bool ends_open(struct bytes text, struct bytes part)
{
	for (;;) {
		text = find(text, part);
		if (!text.data)
			return false;
		if (at_boundary(after(text, part.len)))
			return true;
		text = after(text, 1);
	}
}

bool glob_match(const struct glob *glob, struct bytes text)
{
	const struct bytes *last = &glob->parts[glob->n - 1];

	if (!text.data)
		text.data = "";
	if (!starts(text, glob->parts[0]))
		return false;
	text = after(text, glob->parts[0].len);
	if (glob->n == 1)
		return text.len == 0 || (glob->open && at_boundary(text));
	for (const struct bytes *p = glob->parts + 1; p < last; p++) {
		text = find(text, *p);
		if (!text.data)
			return false;
		text = after(text, p->len);
	}
	if (glob->open)
		return ends_open(text, *last);
	return text.len >= last->len && starts(after(text, text.len - last->len), *last);
}
