/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/pathname.h"

#include <errno.h>

static void drop_last(struct pathname *p)
{
	while (p->len > 0 && p->text[--p->len] != '/')
		;
}

/* Components, each written with a slash before it; the root is the empty text until the end. */
static int append(struct pathname *p, struct bytes path)
{
	const char *at = path.data;
	const char *const end = at + path.len;

	while (at < end) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		const size_t n = (size_t)((slash ? slash : end) - at);

		if (n == 2 && at[0] == '.' && at[1] == '.') {
			drop_last(p);
		} else if (n > 0 && !(n == 1 && *at == '.')) {
			if (p->len + 1 + n > LIMIT_TEXT)
				return -ENAMETOOLONG;
			p->text[p->len++] = '/';
			memcpy(p->text + p->len, at, n);
			p->len += n;
		}
		at += n + (slash != NULL);
	}
	return 0;
}

static bool absolute(struct bytes path)
{
	return path.len > 0 && *(const char *)path.data == '/';
}

int pathname_make(struct pathname *out, struct bytes path, struct bytes folder)
{
	int err = 0;

	out->len = 0;
	if (path.len > LIMIT_TEXT || folder.len > LIMIT_TEXT)
		return -ENAMETOOLONG;
	if (path.len == 0 || memchr(path.data, 0, path.len))
		return -EINVAL;
	if (!absolute(path)) {
		if (!absolute(folder) || memchr(folder.data, 0, folder.len))
			return -EINVAL;
		err = append(out, folder);
	}
	if (err == 0)
		err = append(out, path);
	if (err)
		return err;
	if (out->len == 0)
		out->text[out->len++] = '/';
	out->text[out->len] = 0;
	return 0;
}

int pathname_tilde(struct pathname *out, struct bytes path, struct bytes home)
{
	const char *const p = path.data;

	if (path.len == 0 || *p != '~' || (path.len > 1 && p[1] != '/'))
		return 1;
	if (!absolute(home))
		return -EINVAL;
	if (path.len <= 2)
		return pathname_make(out, home, home);
	path = (struct bytes){p + 2, path.len - 2};
	while (path.len > 0 && *(const char *)path.data == '/')
		path = (struct bytes){(const char *)path.data + 1, path.len - 1};
	return pathname_make(out, path.len ? path : home, home);
}

struct bytes pathname_below(struct bytes path, struct bytes folder)
{
	const char *const p = path.data;

	if (folder.len == 1) /* the root */
		return (struct bytes){p + 1, path.len - 1};
	if (folder.len == 0 || path.len < folder.len || memcmp(p, folder.data, folder.len) != 0)
		return (struct bytes){NULL, 0};
	if (path.len == folder.len)
		return (struct bytes){p + path.len, 0};
	if (p[folder.len] != '/')
		return (struct bytes){NULL, 0};
	return (struct bytes){p + folder.len + 1, path.len - folder.len - 1};
}
