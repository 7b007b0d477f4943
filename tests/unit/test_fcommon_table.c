/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/table.h"

static const struct table_column columns[] = {
	{"ID", 0, 0, 0},
	{"N", TABLE_RIGHT, 0, 0},
	{"WHAT", TABLE_SHRINK, 0, 0},
	{"WHY", TABLE_SHRINK, 0, 0},
};

static void utf8_locale(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

/* Prints into memory as if on a terminal of so many columns; 0: piped. To be freed. */
static char *printed(struct table *t, size_t width, bool colour)
{
	char *s = NULL;
	size_t len;
	struct output o = {
		.file = open_memstream(&s, &len),
		.terminal = width > 0,
		.columns = width,
		.colour = colour,
	};

	ck_assert_ptr_nonnull(o.file);
	ck_assert_int_eq(table_print(t, &o), 0);
	fclose(o.file);
	table_free(t);
	return s;
}

static struct table *table_of(const char *what, const char *why)
{
	struct table *t;

	ck_assert_int_eq(table_new(&t, columns, 4), 0);
	table_cell(t, "a1");
	table_printf(t, "%d", 7);
	table_cell(t, what);
	table_cell(t, why);
	table_cell(t, "b");
	table_cell(t, "100");
	table_cell(t, NULL);
	table_cell(t, "x");
	return t;
}

START_TEST(aligned)
{
	char *s = printed(table_of("ls", "because"), 80, false);

	ck_assert_str_eq(s, "ID    N  WHAT  WHY\n"
			    "a1    7  ls    because\n"
			    "b   100  -     x\n");
	free(s);
}
END_TEST

START_TEST(aligned_wide)
{
	char *s = printed(table_of("\346\227\245\346\234\254\350\252\236", "y"), 80, false);

	ck_assert_str_eq(s, "ID    N  WHAT    WHY\n"
			    "a1    7  \346\227\245\346\234\254\350\252\236  y\n"
			    "b   100  -       x\n");
	free(s);
}
END_TEST

static const char longer[] = "0123456789012345678901234567890123456789"
			     "0123456789012345678901234567890123456789";

/* No line is wider than the terminal; returns how many lines there are. */
static size_t lines_fit(const char *s, size_t width)
{
	size_t lines = 0;

	for (const char *end; (end = strchr(s, '\n')); s = end + 1, lines++)
		ck_assert_msg(text_columns(s, (size_t)(end - s)) <= width, "over %zu: '%.*s'",
			width, (int)(end - s), s);
	return lines;
}

START_TEST(shrinks)
{
	char *s = printed(table_of(longer, longer), 80, false);

	ck_assert_uint_eq(lines_fit(s, 80), 3);
	ck_assert_ptr_nonnull(strstr(s, " chars]"));
	free(s);
	/* where it is narrow the mark is short, but it stands there */
	s = printed(table_of(longer, longer), 36, false);
	ck_assert_uint_eq(lines_fit(s, 36), 3);
	ck_assert_ptr_nonnull(strstr(s, "[+"));
	ck_assert_ptr_null(strstr(s, " chars]"));
	free(s);
}
END_TEST

/* Whatever the width, no line is wider, and what is left out is told. */
START_TEST(any_width)
{
	for (size_t width = TEXT_MIN_COLUMNS; width < 200; width++) {
		char *s = printed(table_of(longer, longer), width, false);
		size_t lines = lines_fit(s, width);

		/* the last line is two where it would be too long */
		ck_assert_uint_eq(lines, width < 35 ? 5 : 3);
		ck_assert_ptr_nonnull(strstr(s, "a1"));
		ck_assert(width >= 171 || strstr(s, "[+"));
		free(s);
	}
}
END_TEST

START_TEST(leaves_out)
{
	char *s = printed(table_of(longer, "because"), 30, false);

	ck_assert_str_eq(s, "ID    N  WHAT          WHY\n"
			    "a1    7  0123456[+73]  because\n"
			    "b   100  -             x\n");
	free(s);
	s = printed(table_of(longer, "because"), 26, false);
	ck_assert_str_eq(s, "ID    N  WHAT\n"
			    "a1    7  012345678901[+68]\n"
			    "b   100  -\n"
			    "[+1 column: WHY]\n"
			    "[a wider termin[+22 chars]\n");
	free(s);
}
END_TEST

/* One that may go does so before the others say little. */
START_TEST(drops)
{
	static const struct table_column some[] = {
		{"ID", 0, 0, 0},
		{"AGENT", 0, 1, 0},
		{"TOOL", TABLE_SHRINK, 2, 0},
		{"WHAT", TABLE_SHRINK, 0, 0},
	};
	static const struct {
		size_t width;
		const char *head, *last;
	} cases[] = {
		{100, "ID  AGENT   TOOL  WHAT\n", ""},
		{34, "ID  AGENT   TOOL  WHAT\n", ""},
		{33, "ID  AGENT   WHAT\n", "\n[+1 column: TOOL]\n"},
		{28, "ID  AGENT   WHAT\n", "\n[+1 column: TOOL]\n"},
		{27, "ID  WHAT\n", "\n[+2 columns: AGENT TOOL]\n"},
		{24, "ID  WHAT\n", "\n[+2 columns: AGENT TOOL]\n"},
		{16, "ID  WHAT\n", "\n[+2 columns[+13]\n"},
		{15, "ID\n", "\n[+3 column[+19]\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t;
		char *s;

		ck_assert_int_eq(table_new(&t, some, 4), 0);
		table_cell(t, "b");
		table_cell(t, "claude");
		table_cell(t, "Bash");
		table_cell(t, longer);
		s = printed(t, cases[i].width, false);
		lines_fit(s, cases[i].width);
		ck_assert_msg(!strncmp(s, cases[i].head, strlen(cases[i].head)), "%zu: %s",
			cases[i].width, s);
		ck_assert_msg(strlen(cases[i].last) ? strstr(s, cases[i].last) != NULL
						    : !strstr(s, " column"),
			"%zu: %s", cases[i].width, s);
		free(s);
	}
}
END_TEST

/* The least important goes first, wherever it stands; what it is about has room before. */
START_TEST(ranks)
{
	static const struct table_column some[] = {
		{"SEQ", 0, 2, 0},
		{"WHAT", TABLE_SHRINK, 0, 30},
		{"AGE", TABLE_RIGHT, 3, 0},
		{"FROM", TABLE_SHRINK, 1, 0},
		{"PENDING", TABLE_RIGHT, 0, 0},
	};
	static const struct {
		size_t width;
		const char *head, *last;
	} cases[] = {
		{200, "SEQ  WHAT ", ""},
		{67, "SEQ  WHAT ", ""},
		{66, "SEQ  WHAT ",
			"\n[+1 column: AGE; a wider terminal or --json shows it]\n"},
		{62, "SEQ  WHAT ",
			"\n[+1 column: AGE; a wider terminal or --json shows it]\n"},
		{61, "WHAT ",
			"\n[+2 columns: SEQ AGE; a wider terminal or --json shows them]\n"},
		{57, "WHAT ", "\n[+2 columns: SEQ AGE]\n[a wider terminal or --json shows them]\n"},
		{56, "WHAT ", "\n[+3 columns: SEQ AGE FROM]\n[a wider "},
		{20, "WHAT\n", "\n[+4 columns: SE[+19]\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t;
		char *s;

		ck_assert_int_eq(table_new(&t, some, 5), 0);
		table_cell(t, "7");
		table_cell(t, longer);
		table_cell(t, "5s");
		table_cell(t, longer);
		table_cell(t, "1");
		s = printed(t, cases[i].width, false);
		lines_fit(s, cases[i].width);
		ck_assert_msg(!strncmp(s, cases[i].head, strlen(cases[i].head)), "%zu: %s",
			cases[i].width, s);
		ck_assert_msg((cases[i].width < 21) == !strstr(s, "PENDING\n"), "%s", s);
		ck_assert_msg(strlen(cases[i].last) ? strstr(s, cases[i].last) != NULL
						    : !strstr(s, " column"),
			"%zu: %s", cases[i].width, s);
		free(s);
	}
}
END_TEST

START_TEST(piped)
{
	char *s = printed(table_of("a\tb\nc\033[1m", "y"), 0, false);

	ck_assert_str_eq(s, "a1\t7\ta\\tb\\nc\\x1b[1m\ty\n"
			    "b\t100\t-\tx\n");
	free(s);
}
END_TEST

START_TEST(coloured)
{
	struct table *t;
	char *s;

	ck_assert_int_eq(table_new(&t, columns, 1), 0);
	table_cell_styled(t, "x\0y", 3, STYLE_RED);
	s = printed(t, 80, true);
	ck_assert_str_eq(s, "\033[1mID\033[0m\n\033[31mx\\x00y\033[0m\n");
	free(s);
}
END_TEST

START_TEST(incomplete_row)
{
	struct table *t;
	char *s;

	ck_assert_int_eq(table_new(&t, columns, 2), 0);
	table_cell(t, "a");
	table_cell(t, "b");
	table_cell(t, "c");
	ck_assert_uint_eq(table_rows(t), 1);
	s = printed(t, 0, false);
	ck_assert_str_eq(s, "a\tb\n");
	free(s);
}
END_TEST

START_TEST(fields)
{
	char *s = NULL;
	size_t len;
	struct output o = {.file = open_memstream(&s, &len), .terminal = true, .columns = 40};
	static const char hostile[] = "x\nState:       ALLOWED";

	ck_assert_int_eq(output_field(&o, "State", "HELD", 4), 0);
	ck_assert_int_eq(output_field(&o, "None", NULL, 0), 0);
	ck_assert_int_eq(output_field(&o, "Title", hostile, 10), 0);
	/* too long for its line: a block, so that it can't wrap to the left edge */
	ck_assert_int_eq(output_field(&o, "Title", "012345678901234567890123456789", 30), 0);
	ck_assert_int_eq(output_block(&o, "Command", hostile, strlen(hostile)), 0);
	fclose(o.file);
	ck_assert_str_eq(s, "State:        HELD\n"
			    "Title:        x\\nState:  \n"
			    "Title:\n"
			    "  | 012345678901234567890123456789\n"
			    "Command:\n"
			    "  | x\n"
			    "  | State:       ALLOWED\n");
	free(s);
}
END_TEST

START_TEST(not_a_terminal)
{
	FILE *f = tmpfile();
	struct output o;

	ck_assert_ptr_nonnull(f);
	setenv("TERM", "xterm", 1);
	setenv("COLUMNS", "20", 1);
	output_init(&o, f);
	ck_assert(!o.terminal);
	ck_assert(!o.colour);
	ck_assert_uint_eq(o.columns, 0);
	ck_assert_str_eq(output_style(&o, STYLE_RED), "");
	ck_assert_int_eq(output_finish(&o), 0);
	fclose(f);
}
END_TEST

START_TEST(full_disk)
{
	FILE *f = fopen("/dev/full", "w");
	struct output o;

	if (!f)
		return;
	output_init(&o, f);
	output_printf(&o, "x");
	ck_assert_int_lt(output_finish(&o), 0);
	fclose(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("table");
	TCase *tc = tcase_create("table");
	SRunner *sr = srunner_create(s);

	tcase_add_checked_fixture(tc, utf8_locale, NULL);
	tcase_add_test(tc, aligned);
	tcase_add_test(tc, aligned_wide);
	tcase_add_test(tc, shrinks);
	tcase_add_test(tc, any_width);
	tcase_add_test(tc, leaves_out);
	tcase_add_test(tc, drops);
	tcase_add_test(tc, ranks);
	tcase_add_test(tc, piped);
	tcase_add_test(tc, coloured);
	tcase_add_test(tc, incomplete_row);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, not_a_terminal);
	tcase_add_test(tc, full_disk);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
