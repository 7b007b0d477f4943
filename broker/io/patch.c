/* SPDX-License-Identifier: MIT */
#include "broker/io/patch.h"

static bool is_blank(char c)
{
	return (unsigned char)c <= ' ';
}

/* Agents trim lines and names, of Unicode's spaces too, which all are outside of ASCII. */
static bool is_ascii(char c)
{
	return (unsigned char)c < 0x80;
}

static bool line_names(struct bytes line, struct bytes *file)
{
	static const char *const heads[] = {
		"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:", NULL};
	const char *p = line.data;
	const char *end = p + line.len;

	while (p < end && (is_blank(*p) || !is_ascii(*p)))
		p++;
	for (const char *const *head = heads; *head; head++) {
		const size_t n = strlen(*head);

		if ((size_t)(end - p) < n || memcmp(p, *head, n) != 0)
			continue;
		p += n;
		while (p < end && is_blank(*p))
			p++;
		while (end > p && is_blank(end[-1]))
			end--;
		*file = (struct bytes){p, (size_t)(end - p)};
		return true;
	}
	return false;
}

bool patch_next(struct bytes *text, struct bytes *file, bool *sure)
{
	const char *p = text->data;
	const char *const end = p + text->len;
	bool found = false;

	while (p < end && !found) {
		const char *const newline = memchr(p, '\n', (size_t)(end - p));
		const char *const stop = newline ? newline : end;

		found = line_names((struct bytes){p, (size_t)(stop - p)}, file);
		p = newline ? newline + 1 : end;
	}
	*text = (struct bytes){p, (size_t)(end - p)};
	if (found) {
		const char *const name = file->data;

		*sure = file->len > 0 && is_ascii(name[0]) && is_ascii(name[file->len - 1]);
	}
	return found;
}
