/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "frontends/ctl/import_glob.h"
#include "libapproval/limits.h"

bool glob_new(
	struct memory *m, struct glob *out, const char *text, size_t len, bool star, bool one)
{
	uint16_t *units;

	*out = (struct glob){NULL, 0};
	if (len > LIMIT_IMPORT_PATTERN)
		return false;
	units = memory_get(m, (len + 1) * sizeof(*units));
	if (!units)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (star && text[i] == '*') {
			if (out->n > 0 && units[out->n - 1] == GLOB_STAR)
				continue;
			units[out->n++] = GLOB_STAR;
		} else if (one && text[i] == '?') {
			units[out->n++] = GLOB_ONE;
		} else {
			units[out->n++] = (unsigned char)text[i];
		}
	}
	out->units = units;
	return true;
}

bool glob_append(struct memory *m, struct glob *glob, uint16_t unit)
{
	uint16_t *const units = memory_get(m, (glob->n + 1) * sizeof(*units));

	if (!units)
		return false;
	if (glob->n)
		memcpy(units, glob->units, glob->n * sizeof(*units));
	units[glob->n] = unit;
	*glob = (struct glob){units, glob->n + 1};
	return true;
}

bool glob_any(const struct glob *g)
{
	return g->n == 1 && g->units[0] == GLOB_STAR;
}

bool glob_exact(const struct glob *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->units[i] > 255)
			return false;
	return true;
}

/* Whether nothing at all can follow in the texts that match, so far. */
static bool ends(const struct glob *g, size_t i)
{
	return i == g->n;
}

static bool starts_differ(const struct glob *a, const struct glob *b)
{
	for (size_t i = 0;; i++) {
		const unsigned x = ends(a, i) ? 0 : a->units[i],
			       y = ends(b, i) ? 0 : b->units[i];

		if (x == GLOB_STAR || y == GLOB_STAR)
			return false;
		/* nothing, or a blank */
		if (x == GLOB_OPEN || y == GLOB_OPEN) {
			const unsigned other = x == GLOB_OPEN ? y : x;

			return other > 0 && other < 256 && other != ' ';
		}
		if (ends(a, i) || ends(b, i))
			return !(ends(a, i) && ends(b, i));
		if (x < 256 && y < 256 && x != y)
			return true;
	}
}

static bool ends_differ(const struct glob *a, const struct glob *b)
{
	for (size_t i = 1; i <= a->n && i <= b->n; i++) {
		const unsigned x = a->units[a->n - i], y = b->units[b->n - i];

		if (x == GLOB_STAR || y == GLOB_STAR || x == GLOB_OPEN || y == GLOB_OPEN)
			return false;
		if (x < 256 && y < 256 && x != y)
			return true;
	}
	return false;
}

bool glob_may_meet(const struct glob *a, const struct glob *b, struct glob_effort *effort)
{
	if (effort->left < a->n + b->n)
		return true;
	effort->left -= a->n + b->n;
	if (starts_differ(a, b) || ends_differ(a, b))
		return false;
	if (glob_exact(a))
		return glob_covers(b, a, effort) || effort->left == 0;
	if (glob_exact(b))
		return glob_covers(a, b, effort) || effort->left == 0;
	return true;
}

/* b is read as a text whose wildcards only a star of a takes. */
bool glob_covers(const struct glob *a, const struct glob *b, struct glob_effort *effort)
{
	size_t i = 0, k = 0, retry = SIZE_MAX, retry_at = 0;

	for (;;) {
		const unsigned x = i < a->n ? a->units[i] : 0, y = k < b->n ? b->units[k] : 0;

		if (effort->left == 0)
			return false;
		effort->left--;
		if (i < a->n && x == GLOB_STAR) {
			retry = ++i;
			retry_at = k;
			continue;
		}
		if (i < a->n && x == GLOB_OPEN &&
			(k == b->n || y == ' ' || (y == GLOB_OPEN && k + 1 == b->n)))
			return true;
		if (i == a->n && k == b->n)
			return true;
		if (i < a->n && k < b->n && x < 256 && x == y) {
			i++;
			k++;
			continue;
		}
		if (i < a->n && k < b->n && x == GLOB_ONE && (y < 256 || y == GLOB_ONE)) {
			i++;
			k++;
			continue;
		}
		if (retry == SIZE_MAX || retry_at == b->n)
			return false;
		i = retry;
		k = ++retry_at;
	}
}
