/* SPDX-License-Identifier: MIT */
/*
 * The tables as approval-floor(5) has them. With --print they are written as they have to
 * stand there, each below its heading.
 */
#include <check.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/floor/entry.h"
#include "broker/core/floor/floor.h"
#include "broker/core/floor/form.h"
#include "broker/core/floor/name.h"
#include "broker/core/floor/place.h"
#include "broker/core/floor/use.h"

/* What scdoc would take for its own. */
static void put(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("*_\\~#[", *text))
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void put_guards(FILE *f, unsigned guards)
{
	static const char *const names[] = {"read", "write", "run"};
	bool any = false;

	if (guards == 0)
		fputs("command", f);
	if (guards == FLOOR_ALL)
		fputs("all", f);
	else
		for (unsigned i = 0; i < 3; i++)
			if (guards >> i & 1) {
				fprintf(f, "%s%s", any ? ", " : "", names[i]);
				any = true;
			}
}

static void put_place(FILE *f, const struct place *p, bool root, bool *any)
{
	fputs(*any ? " " : "\n\t", f);
	*any = true;
	put(f, root ? "/" : p->flags & PLACE_HOME ? "~/" : "");
	put(f, p->path);
	put(f, p->flags & PLACE_PREFIX ? "*" : "");
	put(f, p->flags & PLACE_EXACT ? "" : "/");
}

static void put_places(FILE *f, int entry)
{
	bool any = false;

	for (size_t i = 0; i < n_floor_places; i++)
		if (floor_places[i].entry == entry)
			put_place(f, &floor_places[i], false, &any);
	for (size_t i = 0; i < n_floor_roots; i++)
		if (floor_roots[i].entry == entry)
			put_place(f, &floor_roots[i], true, &any);
	if (any)
		fputc('\n', f);
}

static void put_names(FILE *f, int entry)
{
	char text[1024];
	int of;

	for (unsigned i = 0; name_rule_print(i, &of, text, sizeof(text)) > 0; i++) {
		if (strlen(text) == sizeof(text) - 1)
			abort(); /* cut off */
		if (of != entry)
			continue;
		fputs("\n\t", f);
		put(f, text);
		fputc('\n', f);
	}
}

static void put_forms(FILE *f, int entry)
{
	const char *name;
	bool any = false;
	int of;

	for (unsigned i = 0; (name = form_at(i, &of)); i++) {
		if (of != entry)
			continue;
		fputs(any ? " " : "\n\tOf: ", f);
		put(f, name);
		any = true;
	}
	if (any)
		fputc('\n', f);
}

static void put_free(FILE *f, int entry)
{
	const char *name;

	if (entry == ENTRY_SYSTEM)
		fputs("\n\tNot /var/tmp, $TMPDIR, and a workspace that lies below one of "
		      "them.\n",
			f);
	if (entry != ENTRY_DEVICE)
		return;
	fputs("\n\tNot", f);
	for (unsigned i = 0; (name = place_plain_device_at(i)); i++) {
		fputc(' ', f);
		put(f, name);
	}
	fputc('\n', f);
}

static void put_entries(FILE *f)
{
	for (int i = 0; i < ENTRY_N; i++) {
		fprintf(f, "\n*%s* (", floor_entries[i].name);
		put_guards(f, floor_entries[i].guards);
		fputs(")\n\t", f);
		put(f, floor_entries[i].about);
		fputc('\n', f);
		put_places(f, i);
		put_names(f, i);
		put_forms(f, i);
		put_free(f, i);
	}
}

static const struct {
	enum use_shape shape;
	const char *what;
} shapes[] = {
	{USE_FILES, "files that are read"},
	{USE_WRITE, "files that are written"},
	{USE_COPY, "read, the last one written"},
	{USE_MOVE, "moved, the last one written"},
	{USE_REMOVE, "deleted"},
	{USE_PERMIT, "given other permissions or another owner"},
	{USE_FOLDER, "folders that are written"},
	{USE_FIRST, "the first one written, the others read"},
	{USE_SECOND, "read, a second one written"},
	{USE_SCRIPT, "the first one run"},
	{USE_SOURCE, "the first one run, in the same shell"},
	{USE_NAMES, "looked at"},
	{USE_TEST, "looked at, where an option asks for it"},
	{USE_TAR, "by its mode"},
	{USE_FIND, "by its expression"},
	{USE_DD, "by if= and of="},
	{USE_OTHER, "anything: words may be paths that are read"},
};

static void put_uses(FILE *f)
{
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		const struct use *u;

		fprintf(f, "\n*%s*\n\t", shapes[k].what);
		if (shapes[k].shape == USE_OTHER)
			fputs("all others, and", f);
		for (unsigned i = 0, n = 0; (u = use_at(i)); i++) {
			if (u->shape != shapes[k].shape)
				continue;
			fputs(n++ || u->shape == USE_OTHER ? " " : "", f);
			put(f, u->name);
		}
		fputc('\n', f);
	}
}

static const struct {
	const char *heading;
	void (*print)(FILE *f);
} sections[] = {
	{"# SHIPPED ENTRIES\n", put_entries},
	{"# KNOWN COMMANDS\n", put_uses},
};

static char *expected(size_t section)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	sections[section].print(f);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static char *page_read(void)
{
	char *page = calloc(1, 1 << 20);
	FILE *f = fopen(FLOOR_PAGE, "re");

	ck_assert_ptr_nonnull(page);
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(page, 1, (1 << 20) - 1, f), 0);
	fclose(f);
	return page;
}

START_TEST(page)
{
	char *const text = page_read();

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		char *const want = expected(i);
		const char *at = strstr(text, sections[i].heading);

		ck_assert_msg(at != NULL, "no section %s", sections[i].heading);
		/* behind what is said at its start, to the next heading */
		at = strstr(at, "\n\n*");
		ck_assert_msg(at && strncmp(at + 1, want, strlen(want)) == 0 &&
				      strncmp(at + 1 + strlen(want), "\n# ", 3) == 0,
			"%s differs from what test_floor_doc --print says",
			sections[i].heading);
		free(want);
	}
	free(text);
}
END_TEST

/* What the tables rely on. */
START_TEST(tables)
{
	char last[3] = "";
	const struct use *u;

	for (size_t i = 0; i < n_floor_places; i++) {
		const struct place *const p = &floor_places[i];
		const char second = place_second[(unsigned char)p->path[0]];

		ck_assert_msg(strncmp(last, p->path, 2) <= 0, "%s", p->path);
		ck_assert_uint_eq(p->len, strlen(p->path));
		ck_assert_uint_ge(p->len, 3);
		ck_assert_msg(second == PLACE_ANY || second == p->path[1], "%s", p->path);
		ck_assert_int_eq((p->flags & PLACE_WILD) != 0, strchr(p->path, 0x2a) != NULL);
		memcpy(last, p->path, 2);
	}
	last[0] = 0;
	for (size_t i = 0; i < n_floor_roots; i++) {
		const struct place *const p = &floor_roots[i];

		ck_assert_msg(strncmp(last, p->path, 2) <= 0, "%s", p->path);
		ck_assert_uint_eq(p->len, strlen(p->path));
		ck_assert_uint_ge(p->len, 3);
		ck_assert_msg(place_roots[(unsigned char)p->path[0]], "%s", p->path);
		memcpy(last, p->path, 2);
	}
	for (unsigned i = 0; (u = use_at(i)); i++) {
		if (i > 0)
			ck_assert_msg(strcmp(use_at(i - 1)->name, u->name) < 0, "%s", u->name);
		ck_assert_msg(use_find(bytes_of(u->name)) == u, "%s", u->name);
	}
	ck_assert_ptr_eq(use_find(bytes_of("python3.11")), use_find(bytes_of("python")));
	ck_assert_int_eq(use_find(bytes_of("no-such"))->shape, USE_OTHER);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("floor_doc");
	TCase *tc = tcase_create("doc");
	SRunner *sr;
	int failed;

	if (argc > 1 && strcmp(argv[1], "--print") == 0) {
		for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
			fputs(sections[i].heading, stdout);
			sections[i].print(stdout);
			putchar('\n');
		}
		return EXIT_SUCCESS;
	}
	tcase_add_test(tc, page);
	tcase_add_test(tc, tables);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
