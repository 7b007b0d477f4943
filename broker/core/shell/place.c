/* SPDX-License-Identifier: MIT */
/* In which directories commands run, as far as the text says. */
#include "broker/core/shell/reader.h"

const struct shell_cwd cwd_unknown = {0};

const struct shell_cwd *cwd_of(struct reader *r, struct bytes path)
{
	struct shell_cwd *const cwd = result_alloc(r, 1, sizeof(*cwd));

	if (!cwd)
		return &cwd_unknown;
	cwd->n = 1;
	cwd->path[0] = path;
	return cwd;
}

static bool cwd_has(const struct shell_cwd *cwd, struct bytes path)
{
	for (uint32_t i = 0; i < cwd->n; i++)
		if (bytes_equal(cwd->path[i], path))
			return true;
	return false;
}

const struct shell_cwd *cwd_join(
	struct reader *r, const struct shell_cwd *a, const struct shell_cwd *b)
{
	struct shell_cwd *both;

	if (!a || a == b)
		return b;
	if (!b || a->n == 0)
		return a;
	if (b->n == 0)
		return b;
	both = result_alloc(r, 1, sizeof(*both));
	if (!both)
		return &cwd_unknown;
	*both = *a;
	for (uint32_t i = 0; i < b->n; i++) {
		if (cwd_has(both, b->path[i]))
			continue;
		if (both->n == SHELL_CWD_MAX)
			return &cwd_unknown;
		both->path[both->n++] = b->path[i];
	}
	return both;
}

/* Appends the components of a path to one that is absolute and has none of `.` and `..`. */
static size_t append(char *to, size_t len, struct bytes path)
{
	const char *p = path.data;
	const char *const end = p + path.len;

	while (p < end) {
		const char *const slash = memchr(p, '/', (size_t)(end - p));
		const size_t n = (size_t)((slash ? slash : end) - p);

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (len > 0 && to[--len] != '/')
				;
		} else if (n > 1 || (n == 1 && p[0] != '.')) {
			to[len++] = '/';
			memcpy(to + len, p, n);
			len += n;
		}
		p += n + 1;
	}
	return len;
}

/* Absolute: `path` as seen from `from`. */
static bool path_join(struct reader *r, struct bytes from, struct bytes path, struct bytes *out)
{
	const bool absolute = path.len && *(const char *)path.data == '/';
	char *const to = result_alloc(r, 1, from.len + path.len + 3);
	size_t len = 0;

	if (!to)
		return false;
	r->out->steps += (uint32_t)(from.len + path.len);
	if (!absolute)
		len = append(to, len, from);
	len = append(to, len, path);
	if (len == 0)
		to[len++] = '/';
	*out = (struct bytes){to, len};
	return true;
}

const struct shell_cwd *cwd_enter(
	struct reader *r, const struct shell_cwd *from, struct bytes path)
{
	const bool absolute = path.len && *(const char *)path.data == '/';
	struct shell_cwd *to;

	if (path.len == 0)
		return from;
	if (!absolute && from->n == 0)
		return &cwd_unknown;
	to = result_alloc(r, 1, sizeof(*to));
	if (!to)
		return &cwd_unknown;
	for (uint32_t i = 0; i < (absolute ? 1 : from->n); i++) {
		if (!path_join(r, from->path[i], path, &to->path[i]))
			return &cwd_unknown;
		to->n++;
	}
	return to;
}

void place_set(struct reader *r, const struct shell_cwd *cwd)
{
	r->place.here = r->place.ok = r->place.bad = r->lost ? &cwd_unknown : cwd;
}

void place_loop(struct reader *r, uint32_t first, const struct place *before)
{
	if (r->place.moves == before->moves) {
		place_set(r, before->here);
		return;
	}
	/* another round begins where this one ended */
	for (uint32_t i = first; i < r->out->n; i++) {
		r->commands[i].cwd = &cwd_unknown;
		if (r->commands[i].to)
			r->commands[i].to = &cwd_unknown;
	}
	r->out->steps += r->out->n - first;
	place_set(r, &cwd_unknown);
}
