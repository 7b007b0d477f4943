/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/path.h"

#include "broker/core/floor/addition.h"
#include "broker/core/floor/wild.h"
#include "broker/core/floor/name.h"
#include "broker/core/floor/place.h"

bool path_normal(const struct floor_world *world, struct normal *out, struct bytes folder,
	struct bytes path)
{
	const char *const p = path.data;

	if (path.len > 0 && *p == '~' && world->home.len > 0 &&
		(path.len == 1 || p[1] == '/')) {
		while (path.len > 1 && ((const char *)path.data)[1] == '/')
			path = (struct bytes){(const char *)path.data + 1, path.len - 1};
		path = (struct bytes){(const char *)path.data + 1, path.len - 1};
		return normal_join(out, world->home, path);
	}
	return normal_join(out, folder, path);
}

static uint64_t off_of(const struct floor_world *world)
{
	return world->floor ? world->floor->off : 0;
}

static bool found_entry(int entry, unsigned use, struct floor_found *out)
{
	*out = (struct floor_found){floor_entries[entry].name, floor_entries[entry].about,
		floor_entries[entry].guards & use};
	return true;
}

/* ---- places ---- */

/* Whether the i-th component lies directly below home, or home is not known. */
static bool is_home(const struct floor_world *world, const struct normal *path, unsigned i)
{
	struct normal home;

	if (world->home.len == 0)
		return true;
	if (!path->absolute)
		return i == 1 && path->text[0] == '~' && path->start[1] == 2;
	if (!normal_make(&home, world->home) || !home.absolute || home.n != i)
		return false;
	return i == 0 || (path->start[i] == home.len + 1u &&
				 memcmp(path->text, home.text, home.len) == 0);
}

/*
 * A workspace that somebody chose below a guarded folder, a working tree in .claude or a
 * web server's in /var, is worked in: what guards from writing alone ends above it.
 */
static bool is_chosen(const struct floor_world *world, const struct normal *path, size_t end)
{
	struct normal ws;

	return world->workspace.len > 0 && normal_make(&ws, world->workspace) &&
	       normal_within(path, &ws) && end < ws.len;
}

static bool path_within(const struct normal *path, struct bytes folder)
{
	struct normal f;

	return folder.len > 0 && normal_make(&f, folder) && normal_within(path, &f);
}

/* What of the system directories is free. */
static bool is_free(const struct floor_world *world, const struct normal *path, int entry)
{
	if (entry == ENTRY_DEVICE)
		return path->n > 1 && place_is_plain_device(normal_component(path, 1));
	if (entry != ENTRY_SYSTEM)
		return false;
	return path_within(path, bytes_of("/var/tmp")) || path_within(path, world->tmpdir);
}

static bool is_on(const struct floor_world *world, const struct normal *path,
	const struct place *place, unsigned i, size_t len)
{
	if (place->flags & PLACE_HOME && !is_home(world, path, i))
		return false;
	if (floor_entries[place->entry].guards & FLOOR_READ)
		return true;
	return !is_free(world, path, place->entry) &&
	       !is_chosen(world, path, path->start[i] + len);
}

static int find_in(const struct floor_world *world, const struct normal *path, unsigned i,
	const struct place *table, size_t n, unsigned use)
{
	const uint64_t off = off_of(world);
	size_t from, to;

	place_range(table, n, path->text + path->start[i], &from, &to);
	for (; from < to; from++) {
		const struct place *const place = &table[from];
		size_t len;

		if (!entry_guards(place->entry, use, off))
			continue;
		len = place_match(place, path, i);
		if (len > 0 && is_on(world, path, place, i, len))
			return place->entry;
	}
	return ENTRY_NONE;
}

static int find_place(const struct floor_world *world, const struct normal *path, unsigned use)
{
	for (unsigned i = 0; i < path->n; i++) {
		const char *const text = path->text + path->start[i];
		const char second = place_second[(uint8_t)text[0]];
		int entry;

		if (second != text[1] && second != PLACE_ANY)
			continue;
		entry = find_in(world, path, i, floor_places, n_floor_places, use);
		if (entry != ENTRY_NONE)
			return entry;
	}
	return path->absolute && place_roots[(uint8_t)path->text[0]]
		       ? find_in(world, path, 0, floor_roots, n_floor_roots, use)
		       : ENTRY_NONE;
}

/* ---- names ---- */

static bool in_secrets(const struct floor_world *world, const struct normal *path)
{
	struct normal ws;
	struct bytes folder;

	if (path->n < 2)
		return false;
	folder = normal_component(path, path->n - 2u);
	if (!name_is_secret_folder(folder))
		return false;
	/* a workspace may be called so, too */
	return !(world->workspace.len > 0 && normal_make(&ws, world->workspace) &&
		 normal_within(path, &ws) && path->start[path->n - 1] == ws.len + 1);
}

/* ---- additions ---- */

static bool find_addition(const struct floor_world *world, const struct normal *path,
	unsigned use, bool wild, struct floor_found *out)
{
	for (uint32_t i = 0; world->floor && i < world->floor->n; i++) {
		const struct addition *const a = &world->floor->additions[i];

		if (a->off || !(a->guards & use) || !addition_matches(world, a, path, wild))
			continue;
		*out = (struct floor_found){a->name, a->pattern, a->guards & use};
		return true;
	}
	return false;
}

/* ---- the whole ---- */

bool path_guarded(const struct floor_world *world, const struct normal *path, unsigned use,
	struct floor_found *out)
{
	int entry = ENTRY_NONE;

	if (path->slash || path->dot)
		use |= FLOOR_FOLDER;
	if (path->n == 0 && path->absolute && entry_guards(ENTRY_SYSTEM, use, off_of(world)))
		entry = ENTRY_SYSTEM; /* the root holds them all */
	if (path->n > 0) {
		entry = find_place(world, path, use);
		if (entry == ENTRY_NONE)
			entry = name_entry(path, use, off_of(world), in_secrets(world, path));
	}
	if (entry != ENTRY_NONE)
		return found_entry(entry, use, out);
	return find_addition(world, path, use, false, out);
}

/* ---- patterns ---- */

/* As place_match, but each component of the path may be a pattern. */
static size_t place_match_pattern(
	const struct place *place, const struct normal *path, unsigned i, unsigned flags)
{
	const char *at = place->path;
	const unsigned first = i;

	for (; i < path->n; i++) {
		const char *const slash = strchr(at, '/');
		const size_t len = slash ? (size_t)(slash - at) : strlen(at);
		const struct bytes want = {at, len};

		if (!bytes_is(want, "*") &&
			!wild_may_mean(normal_component(path, i), want, flags))
			return 0;
		if (!slash) {
			if (place->flags & PLACE_EXACT && i + 1u < path->n)
				return 0;
			return (i + 1u < path->n ? path->start[i + 1] - 1u : path->len) -
			       path->start[first];
		}
		at = slash + 1;
	}
	return 0;
}

static int find_pattern(const struct floor_world *world, const struct normal *path,
	const struct place *table, size_t n, unsigned from, unsigned to, unsigned use,
	unsigned flags)
{
	const uint64_t off = off_of(world);

	for (size_t k = 0; k < n; k++) {
		if (!entry_guards(table[k].entry, use, off))
			continue;
		for (unsigned i = from; i < to; i++) {
			const size_t len = place_match_pattern(&table[k], path, i, flags);

			if (len > 0 && is_on(world, path, &table[k], i, len))
				return table[k].entry;
		}
	}
	return ENTRY_NONE;
}

/* Does a pattern end as an extension is written, wildcards aside: *.[pk]em */
static bool ends_as(struct bytes pattern, const char *extension)
{
	const char *const p = pattern.data;
	size_t at = pattern.len;

	while (at > 0 && p[at - 1] != '*')
		at--;
	pattern = (struct bytes){p + at, pattern.len - at};
	while (pattern.len > 0 && !wild_match(pattern, bytes_of(extension)))
		pattern = (struct bytes){(const char *)pattern.data + 1, pattern.len - 1};
	return pattern.len > 0 && wild_literals(pattern) > 1;
}

static int find_name(struct bytes pattern, unsigned use, uint64_t off, unsigned flags)
{
	const char *name;
	int entry;

	for (unsigned i = 0; (name = name_at(i, &entry)); i++)
		if (entry_guards(entry, use, off) &&
			wild_may_mean(pattern, bytes_of(name), flags))
			return entry;
	for (unsigned i = 0; (name = name_extension_at(i, &entry)); i++)
		if (entry_guards(entry, use, off) && ends_as(pattern, name))
			return entry;
	return ENTRY_NONE;
}

/* What is left of it without the stars at its end, by the rules for names. */
static int find_stem(const struct floor_world *world, const struct normal *path, unsigned use)
{
	struct normal stem = *path;
	const uint32_t start = stem.start[stem.n - 1];

	while (stem.len > start && stem.text[stem.len - 1] == '*')
		stem.len--;
	if (stem.len == start)
		return ENTRY_NONE;
	return name_entry(&stem, use, off_of(world), in_secrets(world, &stem));
}

bool pattern_guarded(const struct floor_world *world, const struct normal *path, unsigned use,
	unsigned flags, struct floor_found *out)
{
	const uint64_t off = off_of(world);
	int entry;

	if (path->n == 0)
		return false;
	entry = find_name(normal_component(path, path->n - 1u), use, off, flags);
	if (entry == ENTRY_NONE)
		entry = find_pattern(
			world, path, floor_places, n_floor_places, 0, path->n, use, flags);
	if (entry == ENTRY_NONE && path->absolute)
		entry = find_pattern(world, path, floor_roots, n_floor_roots, 0, 1, use, flags);
	if (entry == ENTRY_NONE)
		entry = find_stem(world, path, use);
	if (entry != ENTRY_NONE)
		return found_entry(entry, use, out);
	return find_addition(world, path, use, true, out);
}

/* ---- regions ---- */

/* Whether path is strictly below folder; *same: it is that folder. */
static bool is_below(const struct normal *path, struct bytes folder, bool *same)
{
	struct normal f;

	*same = false;
	if (folder.len == 0 || !normal_make_exact(&f, folder) || !normal_within(path, &f))
		return false;
	*same = path->len == f.len;
	return !*same;
}

enum path_region path_region(
	const struct floor_world *world, struct bytes folder, struct bytes path)
{
	const struct bytes free[] = {bytes_of("/tmp"), bytes_of("/var/tmp"), world->tmpdir};
	struct normal n, ws;
	bool same, top = false;

	if (!normal_join_exact(&n, folder, path) || !n.absolute)
		return PATH_OUTSIDE;
	if (is_below(&n, world->workspace, &same))
		return PATH_INSIDE;
	if (same)
		return PATH_TOP;
	/* without regard to case, what holds the workspace is not inside of anything */
	if (world->workspace.len > 0 && normal_make(&ws, world->workspace)) {
		struct normal folded;

		if (!normal_join(&folded, folder, path) || normal_within(&ws, &folded))
			return PATH_OUTSIDE;
	}
	for (size_t i = 0; i < sizeof(free) / sizeof(free[0]); i++) {
		if (is_below(&n, free[i], &same))
			return PATH_INSIDE;
		top |= same;
	}
	return top ? PATH_TOP : PATH_OUTSIDE;
}

static bool holds_place(
	const struct normal *path, const struct place *table, size_t n, unsigned from)
{
	const uint32_t start = from < path->n ? path->start[from] : path->len;
	const size_t len = path->len - start;

	for (size_t i = 0; i < n; i++) {
		if (!(floor_entries[table[i].entry].guards & FLOOR_READ))
			continue;
		/* home and what is above it hold all of them */
		if (len == 0 || (table[i].len > len && table[i].path[len] == '/' &&
					memcmp(path->text + start, table[i].path, len) == 0))
			return true;
	}
	return false;
}

bool path_holds_protected(const struct floor_world *world, const struct normal *path)
{
	struct normal folder;

	if (!path->absolute || path->n == 0)
		return path->absolute;
	if (world->workspace.len > 0 && normal_make(&folder, world->workspace) &&
		normal_within(path, &folder))
		return false;
	if (world->home.len > 0 && normal_make(&folder, world->home) && folder.absolute) {
		if (normal_within(&folder, path))
			return true;
		if (normal_within(path, &folder))
			return holds_place(path, floor_places, n_floor_places, folder.n);
	}
	/* other people's homes */
	if (path->n <= 2 && bytes_is(normal_component(path, 0), "home"))
		return true;
	if (path->n == 1 && bytes_is(normal_component(path, 0), "root"))
		return true;
	return holds_place(path, floor_roots, n_floor_roots, 0);
}

const char *path_protected(struct bytes path, struct bytes home)
{
	const struct floor_world world = {.home = home};
	struct floor_found found;
	struct normal n;

	if (!path_normal(&world, &n, (struct bytes){NULL, 0}, path))
		return "unreadable";
	return path_guarded(&world, &n, FLOOR_READ | FLOOR_FILE, &found) ? found.name : NULL;
}
