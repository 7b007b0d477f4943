/* SPDX-License-Identifier: MIT */
#include "broker/store/rowmap.h"

#include <errno.h>
#include <stdlib.h>

#define ROWMAP_MIN 64u

/* The ids are the broker's own, so nobody chooses them to collide. */
static size_t home(const struct rowmap *m, const struct uuid *id)
{
	uint64_t high, low;

	memcpy(&high, id->b, 8);
	memcpy(&low, id->b + 8, 8);
	high = (high ^ low * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
	return (size_t)(high ^ high >> 32) & (m->size - 1);
}

/* The slot of the id, or the free one where it belongs. */
static size_t find(const struct rowmap *m, const struct uuid *id)
{
	size_t i = home(m, id);

	while (m->slots[i].row && uuid_compare(&m->slots[i].id, id) != 0)
		i = (i + 1) & (m->size - 1);
	return i;
}

static int resize(struct rowmap *m, size_t size)
{
	struct rowmap bigger = {calloc(size, sizeof(*m->slots)), size, m->used};

	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->size; i++) {
		if (m->slots[i].row)
			bigger.slots[find(&bigger, &m->slots[i].id)] = m->slots[i];
	}
	free(m->slots);
	*m = bigger;
	return 0;
}

void rowmap_free(struct rowmap *m)
{
	free(m->slots);
	*m = (struct rowmap){0};
}

int64_t rowmap_get(const struct rowmap *m, const struct uuid *id)
{
	return m->used ? m->slots[find(m, id)].row : 0;
}

int rowmap_add(struct rowmap *m, const struct uuid *id, int64_t row)
{
	/* full at seven eighths: what a slot takes counts more here than a few probes */
	if ((m->used + 1) * 8 > m->size * 7) {
		int err = resize(m, m->size ? m->size * 2 : ROWMAP_MIN);

		if (err)
			return err;
	}
	m->slots[find(m, id)] = (struct rowmap_slot){*id, row};
	m->used++;
	return 0;
}

void rowmap_remove(struct rowmap *m, const struct uuid *id)
{
	size_t mask = m->size - 1, gap, i;

	if (!m->used)
		return;
	gap = find(m, id);
	if (!m->slots[gap].row)
		return;
	/* close the gap: whatever probed past it moves back */
	for (i = (gap + 1) & mask; m->slots[i].row; i = (i + 1) & mask) {
		size_t probes = (i - home(m, &m->slots[i].id)) & mask;

		if (probes >= ((i - gap) & mask)) {
			m->slots[gap] = m->slots[i];
			gap = i;
		}
	}
	m->slots[gap].row = 0;
	m->used--;
}

void rowmap_trim(struct rowmap *m)
{
	/* without memory for the smaller one the larger one does as well */
	if (m->size > ROWMAP_MIN && m->used < m->size / 8)
		(void)!resize(m, m->size / 4);
}
