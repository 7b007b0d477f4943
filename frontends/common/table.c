/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/table.h"

#define GAP 2

struct cell {
	const char *text; /* not terminated */
	size_t len;
	enum output_style style;
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	struct cell *cells;
	size_t n_cells, size;
	bool failed;
};

int table_new(struct table **out, const struct table_column *columns, size_t n)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->columns = columns;
	t->n_columns = n;
	*out = t;
	return 0;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cells; i++)
		free((void *)t->cells[i].text);
	free(t->cells);
	free(t);
}

void table_cell_styled(struct table *t, const char *text, size_t len, enum output_style style)
{
	if (t->n_cells == t->size && !t->failed) {
		size_t size = t->size ? 2 * t->size : 16 * t->n_columns;
		struct cell *cells = reallocarray(t->cells, size, sizeof(*cells));

		if (cells) {
			t->cells = cells;
			t->size = size;
		} else {
			t->failed = true;
		}
	}
	if (t->failed)
		return;

	if (!text || !len) {
		text = "-";
		len = 1;
	}

	char *copy = malloc(len);
	if (copy)
		t->cells[t->n_cells++] = (struct cell){memcpy(copy, text, len), len, style};
	else
		t->failed = true;
}

void table_cell(struct table *t, const char *text)
{
	table_cell_styled(t, text, text ? strlen(text) : 0, STYLE_PLAIN);
}

void table_printf(struct table *t, const char *format, ...)
{
	struct text text = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&text, format, ap);
	va_end(ap);
	t->failed |= text.failed;
	table_cell(t, text_string(&text));
	text_free(&text);
}

size_t table_rows(const struct table *t)
{
	return t->n_cells / t->n_columns;
}

static const struct cell *table_at(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->n_columns + column];
}

static int table_print_plain(const struct table *t, const struct output *o)
{
	struct text line = {0};

	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			const struct cell *c = table_at(t, row, i);

			if (i)
				text_add(&line, "\t");
			text_terminal(&line, c->text, c->len, 0);
		}
		text_add(&line, "\n");
	}
	return output_text(o, &line);
}

/* Takes from the widest of the columns that may shrink until the rest fits. */
static void widths_shrink(const struct table *t, size_t *widths, size_t columns)
{
	size_t sum = GAP * (t->n_columns - 1);

	for (size_t i = 0; i < t->n_columns; i++)
		sum += widths[i];
	while (sum > columns) {
		size_t *widest = NULL;

		for (size_t i = 0; i < t->n_columns; i++)
			if (t->columns[i].flags & TABLE_SHRINK &&
				widths[i] > TEXT_MIN_COLUMNS &&
				(!widest || widths[i] > *widest))
				widest = &widths[i];
		if (!widest)
			return;

		size_t excess = sum - columns, give = *widest - TEXT_MIN_COLUMNS;
		size_t step = excess < give ? excess : give;

		/* down to the next widest is enough for one round */
		for (size_t i = 0; i < t->n_columns; i++)
			if (t->columns[i].flags & TABLE_SHRINK && widths[i] < *widest &&
				*widest - widths[i] < step)
				step = *widest - widths[i];
		*widest -= step;
		sum -= step;
	}
}

static void cell_add(struct text *line, const struct table_column *column, const struct cell *c,
	size_t width, bool last, const struct output *o)
{
	struct text shown = {0};

	text_terminal(&shown, c->text, c->len, column->flags & TABLE_SHRINK ? width : 0);

	/* what text_terminal wrote is plain, so its columns can be counted once more */
	size_t used = text_columns(text_string(&shown), shown.len);
	size_t pad = used < width ? width - used : 0;

	if (column->flags & TABLE_RIGHT)
		text_fill(line, ' ', pad);
	text_add(line, output_style(o, c->style));
	text_addn(line, text_string(&shown), shown.len);
	text_add(line, output_plain(o, c->style));
	if (!(column->flags & TABLE_RIGHT) && !last)
		text_fill(line, ' ', pad);
	if (!last)
		text_fill(line, ' ', GAP);
	line->failed |= shown.failed;
	text_free(&shown);
}

static int table_print_aligned(const struct table *t, const struct output *o)
{
	size_t rows = table_rows(t);
	size_t *widths = calloc(t->n_columns, sizeof(*widths));
	struct text line = {0};

	if (!widths)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++) {
		widths[i] = strlen(t->columns[i].title);
		for (size_t row = 0; row < rows; row++) {
			const struct cell *c = table_at(t, row, i);
			size_t width = text_columns(c->text, c->len);

			if (width > widths[i])
				widths[i] = width;
		}
	}
	widths_shrink(t, widths, o->columns);

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *title = t->columns[i].title;
		struct cell head = {title, strlen(title), STYLE_BOLD};

		cell_add(&line, &t->columns[i], &head, widths[i], i + 1 == t->n_columns, o);
	}
	text_add(&line, "\n");
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < t->n_columns; i++)
			cell_add(&line, &t->columns[i], table_at(t, row, i), widths[i],
				i + 1 == t->n_columns, o);
		text_add(&line, "\n");
	}
	free(widths);
	return output_text(o, &line);
}

int table_print(const struct table *t, const struct output *o)
{
	if (t->failed)
		return -ENOMEM;
	return o->terminal ? table_print_aligned(t, o) : table_print_plain(t, o);
}
