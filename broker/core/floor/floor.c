/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/floor.h"

#include <errno.h>
#include <stdlib.h>

#include "broker/core/floor/addition.h"
#include "libapproval/limits.h"

_Static_assert(ENTRY_N <= 64, "a bit for each");

struct floor *floor_new(enum floor_owner owner)
{
	struct floor *const floor = calloc(1, sizeof(*floor));

	if (floor)
		floor->owner = (uint8_t)owner;
	return floor;
}

void floor_free(struct floor *floor)
{
	if (!floor)
		return;
	for (uint32_t i = 0; i < floor->n; i++)
		addition_release(&floor->additions[i]);
	free(floor->additions);
	free(floor);
}

#define FLOOR_ERROR_TEXT(name, text) text,
const char *floor_error_text(enum floor_error error)
{
	static const char *const texts[] = {"", FLOOR_ERROR_LIST(FLOOR_ERROR_TEXT)};

	return error < FLOOR_ERROR_N ? texts[error] : "?";
}

int floor_add(struct floor *floor, struct bytes line, enum floor_owner owner,
	enum floor_error *error, size_t *column)
{
	return floor_add_from(floor, line, owner, NULL, 0, error, column);
}

int floor_add_from(struct floor *floor, struct bytes line, enum floor_owner owner,
	struct str *file, uint32_t number, enum floor_error *error, size_t *column)
{
	struct addition a, *more;
	int rc;

	rc = addition_parse(line, &a, error, column);
	if (rc)
		return rc;
	if (floor->n == LIMIT_FLOOR_ADDED) {
		addition_release(&a);
		*error = FLOOR_ERROR_MANY;
		*column = 1;
		return -EINVAL;
	}
	more = reallocarray(floor->additions, floor->n + 1, sizeof(*more));
	if (!more) {
		addition_release(&a);
		return -ENOMEM;
	}
	a.owner = (uint8_t)owner;
	a.file = str_ref(file);
	a.line = number;
	floor->additions = more;
	more[floor->n++] = a;
	return 0;
}

static uint64_t shipped_as(struct bytes name)
{
	uint64_t shipped = 0;

	for (int i = 0; i < ENTRY_N; i++)
		if (bytes_is(name, floor_entries[i].name))
			shipped = (uint64_t)1 << i;
	return shipped;
}

int floor_may_off(const struct floor *floor, struct bytes name, enum floor_owner owner)
{
	const uint64_t shipped = shipped_as(name);
	bool found = shipped != 0;

	if (shipped >> ENTRY_UNREAD & 1 || (shipped && owner > floor->owner))
		return -EPERM;
	for (uint32_t i = 0; i < floor->n; i++) {
		if (!bytes_is(name, floor->additions[i].name))
			continue;
		if (owner > floor->additions[i].owner)
			return -EPERM;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

int floor_off(struct floor *floor, struct bytes name, enum floor_owner owner)
{
	const int rc = floor_may_off(floor, name, owner);

	if (rc < 0)
		return rc;
	floor->off |= shipped_as(name);
	for (uint32_t i = 0; i < floor->n; i++)
		if (bytes_is(name, floor->additions[i].name))
			floor->additions[i].off = true;
	return 0;
}

bool floor_at(const struct floor *floor, size_t i, struct floor_entry *out)
{
	const struct addition *a;

	if (i < ENTRY_N) {
		*out = (struct floor_entry){floor_entries[i].name, floor_entries[i].about,
			floor_entries[i].guards, floor->owner, false, floor->off >> i & 1, NULL,
			0};
		return true;
	}
	if (i - ENTRY_N >= floor->n)
		return false;
	a = &floor->additions[i - ENTRY_N];
	*out = (struct floor_entry){
		a->name, a->pattern, a->guards, a->owner, true, a->off, a->file, a->line};
	return true;
}

unsigned floor_use_of(enum kind kind)
{
	switch (kind) {
	case KIND_READ:
	case KIND_SEARCH: return FLOOR_READ | FLOOR_FILE;
	case KIND_EDIT: return FLOOR_WRITE | FLOOR_FILE;
	case KIND_DELETE: return FLOOR_WRITE | FLOOR_FILE | FLOOR_DELETE;
	case KIND_MOVE: return FLOOR_WRITE | FLOOR_FILE | FLOOR_MOVE;
	default: return FLOOR_ALL | FLOOR_FILE;
	}
}
