/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/table.h"

#define GAP	    2
#define SAYS_LITTLE 16 /* columns of a cell that is cut */

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

/* ---- on a terminal ---- */

/* A column as it is printed. */
struct shape {
	size_t width;
	bool hidden;
	bool cut; /* what is longer than the width is shortened */
};

static void shapes_natural(const struct table *t, struct shape *shapes)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		struct shape *s = &shapes[i];

		s->width = strlen(t->columns[i].title);
		s->cut = t->columns[i].flags & TABLE_SHRINK;
		for (size_t row = 0; row < table_rows(t); row++) {
			const struct cell *c = table_at(t, row, i);
			size_t width = text_columns(c->text, c->len);

			if (width > s->width)
				s->width = width;
		}
	}
}

static size_t shapes_sum(const struct shape *shapes, size_t n)
{
	size_t sum = 0, gaps = 0;

	for (size_t i = 0; i < n; i++)
		if (!shapes[i].hidden) {
			sum += shapes[i].width;
			gaps++;
		}
	return gaps ? sum + GAP * (gaps - 1) : 0;
}

static bool shape_shrinks(const struct shape *s, size_t least)
{
	return s->cut && !s->hidden && s->width > least;
}

/* Takes from the widest of the columns that may shrink until the rest fits; false: it does
 * not, though all are down to the least. */
static bool shapes_shrink(struct shape *shapes, size_t n, size_t least, size_t columns)
{
	size_t sum = shapes_sum(shapes, n);

	while (sum > columns) {
		struct shape *widest = NULL;

		for (size_t i = 0; i < n; i++)
			if (shape_shrinks(&shapes[i], least) &&
				(!widest || shapes[i].width > widest->width))
				widest = &shapes[i];
		if (!widest)
			return false;

		size_t excess = sum - columns, give = widest->width - least;
		size_t step = excess < give ? excess : give;

		/* down to the next widest is enough for one round */
		for (size_t i = 0; i < n; i++)
			if (shape_shrinks(&shapes[i], least) &&
				shapes[i].width < widest->width &&
				widest->width - shapes[i].width < step)
				step = widest->width - shapes[i].width;
		widest->width -= step;
		sum -= step;
	}
	return true;
}

/* The last column with the flag, or with none, that is to be seen; never the first. */
static bool shapes_hide(const struct table *t, struct shape *shapes, unsigned flag)
{
	for (size_t i = t->n_columns; i-- > 1;)
		if (!shapes[i].hidden && (!flag || t->columns[i].flags & flag)) {
			shapes[i].hidden = true;
			return true;
		}
	return false;
}

/*
 * First what may be left out goes, as long as the rest would become narrow; then the rest
 * becomes narrow; then the last ones go, and what is left of the first is cut.
 */
static int shapes_fit(const struct table *t, struct shape *shapes, size_t columns)
{
	static const struct {
		unsigned flag;
		size_t least;
	} rounds[] = {{TABLE_DROP, SAYS_LITTLE}, {0, TEXT_MIN_COLUMNS}};
	size_t n = t->n_columns;
	struct shape *natural = calloc(n, sizeof(*natural));

	if (!natural)
		return -ENOMEM;
	shapes_natural(t, natural);
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
		do {
			memcpy(shapes, natural, n * sizeof(*shapes));
			if (shapes_shrink(shapes, n, rounds[i].least, columns))
				goto out;
		} while (shapes_hide(t, natural, rounds[i].flag));
	shapes[0].cut = true;
	shapes[0].width = columns;
out:
	free(natural);
	return 0;
}

/* How many columns are not shown, and which. */
static void hidden_tell(const struct table *t, const struct shape *shapes, struct text *out,
	const struct output *o)
{
	struct text said = {0};
	size_t hidden = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		hidden += shapes[i].hidden;
	if (!hidden)
		return;
	text_printf(&said, "[+%zu column%s:", hidden, hidden == 1 ? "" : "s");
	for (size_t i = 0; i < t->n_columns; i++)
		if (shapes[i].hidden)
			text_printf(&said, " %s", t->columns[i].title);
	text_add(&said, "]");
	text_add(out, output_style(o, STYLE_FAINT));
	text_terminal(out, text_string(&said), said.len, o->columns);
	text_add(out, output_plain(o, STYLE_FAINT));
	text_add(out, "\n");
	out->failed |= said.failed;
	text_free(&said);
}

static void cell_add(struct text *line, const struct table_column *column, const struct cell *c,
	const struct shape *shape, bool first, const struct output *o)
{
	struct text shown = {0};

	text_terminal(&shown, c->text, c->len, shape->cut ? shape->width : 0);

	/* what text_terminal wrote is plain, so its columns can be counted once more */
	size_t used = text_columns(text_string(&shown), shown.len);
	size_t pad = used < shape->width ? shape->width - used : 0;

	if (!first)
		text_fill(line, ' ', GAP);
	if (column->flags & TABLE_RIGHT)
		text_fill(line, ' ', pad);
	text_add(line, output_style(o, c->style));
	text_addn(line, text_string(&shown), shown.len);
	text_add(line, output_plain(o, c->style));
	if (!(column->flags & TABLE_RIGHT))
		text_fill(line, ' ', pad);
	line->failed |= shown.failed;
	text_free(&shown);
}

/* Row 0 is the heading. */
static void row_add(const struct table *t, const struct shape *shapes, size_t row,
	struct text *line, const struct output *o)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *title = t->columns[i].title;
		const struct cell head = {title, strlen(title), STYLE_BOLD};

		if (!shapes[i].hidden)
			cell_add(line, &t->columns[i], row ? table_at(t, row - 1, i) : &head,
				&shapes[i], i == 0, o);
	}
	/* what the last cell was filled up with */
	while (line->len && line->data[line->len - 1] == ' ')
		line->data[--line->len] = '\0';
	text_add(line, "\n");
}

static int table_print_aligned(const struct table *t, const struct output *o)
{
	struct shape *shapes = calloc(t->n_columns, sizeof(*shapes));
	struct text line = {0};
	int r = shapes ? shapes_fit(t, shapes, o->columns) : -ENOMEM;

	for (size_t row = 0; !r && row <= table_rows(t); row++)
		row_add(t, shapes, row, &line, o);
	if (!r) {
		hidden_tell(t, shapes, &line, o);
		r = output_text(o, &line);
	}
	free(shapes);
	return r;
}

int table_print(const struct table *t, const struct output *o)
{
	if (t->failed)
		return -ENOMEM;
	return o->terminal ? table_print_aligned(t, o) : table_print_plain(t, o);
}
