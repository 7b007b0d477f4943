/* SPDX-License-Identifier: MIT */
#include "broker/io/flood.h"

#include "libapproval/limits.h"

static bool is_over(const struct flood_kind *k, int64_t now)
{
	return now - k->since >= (int64_t)TIME_FLOOD_MS * 1000;
}

/* A kind of which nothing came for a minute has no place of its own any more. */
static bool is_free(const struct flood_kind *k, int64_t now)
{
	return !k->used || (is_over(k, now) && !k->more);
}

/* The kind's own place, or the one of all others; *fresh: it is not taken. */
static struct flood_kind *kind_find(struct flood *f, uint64_t key, int64_t now, bool *fresh)
{
	struct flood_kind *k = &f->kinds[FLOOD_KINDS - 1];

	*fresh = is_free(k, now);
	for (unsigned i = FLOOD_KINDS - 1; i-- > 0;) {
		struct flood_kind *other = &f->kinds[i];

		if (!is_free(other, now) && other->key == key) {
			*fresh = false;
			return other;
		}
		if (is_free(other, now)) {
			*fresh = true;
			k = other;
		}
	}
	return k;
}

bool flood_pass(struct flood *f, uint64_t key, int64_t now)
{
	struct flood_kind *k;
	bool fresh;

	k = kind_find(f, key, now, &fresh);
	if (!fresh) {
		k->more++;
		return false;
	}
	if (k == &f->kinds[FLOOD_KINDS - 1])
		key = FLOOD_OTHERS;
	*k = (struct flood_kind){.key = key, .since = now, .used = true};
	return true;
}

uint64_t flood_over(struct flood *f, int64_t now, uint64_t *key)
{
	for (unsigned i = 0; i < FLOOD_KINDS; i++) {
		struct flood_kind *k = &f->kinds[i];
		uint64_t more = k->more;

		if (!k->used || !more || !is_over(k, now))
			continue;
		*key = k->key;
		/* what goes on is counted for another minute */
		k->more = 0;
		k->since = now;
		return more;
	}
	return 0;
}
