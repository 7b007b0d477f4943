/* SPDX-License-Identifier: MIT */
/*
 * A text as a command, as a path, and as an addition. Whatever it is: the floor answers,
 * what is unread is on it, an entry that is switched off is not hit, and the ways to write
 * one path are one path. The first byte says in what folders the command runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/floor/floor.h"
#include "broker/core/floor/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* abort() without a word is no help to whoever reads the log */
#define MUST(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);        \
			abort();                                                               \
		}                                                                              \
	} while (0)

static struct floor *new_floor(void)
{
	struct floor *const floor = floor_new(FLOOR_USER);

	MUST(floor != NULL);
	return floor;
}

/* Reads every byte, so that a sanitizer sees one that is not there. */
static void touch(struct bytes b)
{
	volatile unsigned sum = 0;

	for (size_t i = 0; i < b.len; i++)
		sum += ((const uint8_t *)b.data)[i];
}

static bool is_entry(const struct floor *floor, const char *name)
{
	struct floor_entry e;

	for (size_t i = 0; floor_at(floor, i, &e); i++)
		if (strcmp(e.name, name) == 0)
			return true;
	return false;
}

static bool count_operand(void *arg, struct bytes path, unsigned use)
{
	unsigned *const n = arg;

	MUST(path.len > 0 && path.len <= LIMIT_TEXT && *(const char *)path.data == '/');
	MUST(use != 0);
	touch(path);
	return ++*n < 1000;
}

/* ---- a command ---- */

static void check_hits(struct floor_call *call, const struct shell *shell)
{
	struct floor *const floor = new_floor();
	char before[32] = "";
	struct floor_hit hit;

	/* one entry after the other; what is left in the end is what can't be read */
	for (unsigned i = 0; floor_check(floor, call, &hit); i++) {
		MUST(hit.name && hit.about && is_entry(floor, hit.name));
		MUST(strcmp(hit.name, before) != 0 && i < 64);
		touch(hit.what);
		snprintf(before, sizeof(before), "%s", hit.name);
		if (floor_off(floor, bytes_of(hit.name), FLOOR_USER)) {
			MUST(strcmp(hit.name, "unread") == 0);
			break;
		}
	}
	if (shell->flags & SHELL_UNREAD)
		MUST(strcmp(before, "unread") == 0);
	floor_free(floor);
}

/* One for all: a sanitizer would mark all of a new one each time. */
static struct shell_arena arena;

__attribute__((constructor)) static void arena_make(void)
{
	MUST(shell_arena_init(&arena) == 0);
}

static void try_command(struct bytes text, unsigned where)
{
	static const char *const folders[] = {"/w/proj", "/home/u", "", "/home/u/.config"};
	struct floor_call call = {.cwd = bytes_of(folders[where & 3]),
		.workspace = bytes_of(where & 4 ? "" : "/w/proj"),
		.home = bytes_of(where & 8 ? "" : "/home/u")};
	const struct shell_context context = {.cwd = call.cwd, .home = call.home};
	struct shell shell;
	unsigned n = 0;

	shell_read(text, &context, &arena, &shell);
	call.shell = &shell;
	check_hits(&call, &shell);
	floor_operands(&call, count_operand, &n);
}

/* ---- a path ---- */

static void same(const struct normal *a, const struct normal *b)
{
	MUST(a->len == b->len && a->n == b->n && a->absolute == b->absolute);
	MUST(memcmp(a->text, b->text, a->len) == 0);
	MUST(memcmp(a->start, b->start, a->n * sizeof(a->start[0])) == 0);
}

static void try_path(struct bytes path)
{
	char other[LIMIT_TEXT + 16];
	struct normal n, m;

	if (path.len == 0 || path.len > LIMIT_TEXT - 8)
		return;
	MUST(normal_make(&n, path));
	MUST(n.len <= path.len);
	/* another way to write it, which is read in another way, too */
	memcpy(other, "./././/", 7);
	if (n.absolute)
		memcpy(other, "/./././", 7);
	memcpy(other + 7, path.data, path.len);
	MUST(normal_make(&m, (struct bytes){other, path.len + 7}));
	same(&n, &m);
	/* what is normal stays it */
	other[0] = '/';
	memcpy(other + 1, n.text, n.len);
	MUST(normal_make(&m, (struct bytes){other + !n.absolute, n.len + n.absolute}));
	if (n.len > 0)
		same(&n, &m);
	for (size_t i = 0; i < path.len; i++) {
		const char c = ((const char *)path.data)[i];

		other[i] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
	}
	MUST(path_protected(path, bytes_of("/home/u")) ==
		path_protected((struct bytes){other, path.len}, bytes_of("/home/u")));
	touch(bytes_of(path_protected(path, (struct bytes){NULL, 0})));
}

/* ---- an addition ---- */

static void try_addition(struct bytes line, struct bytes command)
{
	struct floor *const floor = new_floor();
	enum floor_error error;
	struct floor_hit hit;
	size_t column = 0;
	const int rc = floor_add(floor, line, FLOOR_USER, &error, &column);

	if (rc < 0)
		MUST(error != FLOOR_OK && column >= 1 && column <= line.len + 1 &&
			*floor_error_text(error));
	if (rc == 0) {
		const struct floor_path path = {command, command, FLOOR_ALL};
		const struct floor_call call = {
			.paths = &path, .n_paths = 1, .workspace = bytes_of("/w/proj")};

		if (floor_check(floor, &call, &hit))
			touch(bytes_of(hit.about));
	}
	floor_free(floor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes text = {data + 1, size > 0 ? size - 1 : 0};

	if (size == 0)
		return 0;
	try_command(text, data[0]);
	try_path(text);
	try_addition(text, (struct bytes){data, size < 4096 ? size : 4096});
	return 0;
}
