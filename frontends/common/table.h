/* SPDX-License-Identifier: MIT */
/*
 * Rows and columns. On a terminal they are aligned under a heading, and no line is
 * longer than the terminal is wide: columns that may shrink do so, then whole columns
 * are left out, the least important first, and a last line says how many, which, and how to
 * see them. Elsewhere there is no heading, nothing is shortened or left out, and the cells of
 * a row are separated by one tab (which no cell contains: text_terminal writes it out as \t).
 */
#ifndef FCOMMON_TABLE_H
#define FCOMMON_TABLE_H

#include "frontends/common/output.h"

enum table_flag {
	TABLE_RIGHT = 1,  /* numbers */
	TABLE_SHRINK = 2, /* may be shortened */
};

struct table_column {
	const char *title;
	unsigned flags;
	/* 0: what the table is about, kept for as long as it can be read at all. Others go
	 * before that becomes narrow, the largest rank first. */
	unsigned rank;
	/* How narrow it may become before others go, if it may shrink; 0: the usual. */
	unsigned least;
};

struct table;

/* The columns must outlive the table. -ENOMEM. */
int table_new(struct table **out, const struct table_column *columns, size_t n);
void table_free(struct table *t);

/*
 * The next cell, row by row. The text is taken as hostile; where there is none
 * "-" stands. A failure shows in table_print.
 */
void table_cell(struct table *t, const char *text);
void table_cell_styled(struct table *t, const char *text, size_t len, enum output_style style);
void table_printf(struct table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

size_t table_rows(const struct table *t);
/* 0 or -ENOMEM. A row that is not complete is left out. */
int table_print(const struct table *t, const struct output *o);

#endif
