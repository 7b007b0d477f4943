/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/table.h"

#define GAP	    2
#define SAYS_LITTLE 16 /* columns of a cell that is cut, unless its column says otherwise */

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

/* How narrow one may become that is not hidden. */
static size_t shape_least(const struct table_column *c, bool narrow)
{
	return narrow ? TEXT_MIN_COLUMNS : c->least ? c->least : SAYS_LITTLE;
}

/* The widest of those that may still shrink, of all or of those narrower than one; NULL: none. */
static struct shape *shape_widest(const struct table *t, struct shape *shapes, bool narrow,
	const struct shape *below)
{
	struct shape *widest = NULL;

	for (size_t i = 0; i < t->n_columns; i++) {
		struct shape *s = &shapes[i];

		if (s->cut && !s->hidden &&
			s->width > shape_least(&t->columns[i], narrow) &&
			(!below || s->width < below->width) &&
			(!widest || s->width > widest->width))
			widest = s;
	}
	return widest;
}

/* Takes from the widest of the columns that may shrink until the rest fits; false: it does
 * not, though all are as narrow as they may be. */
static bool shapes_shrink(
	const struct table *t, struct shape *shapes, bool narrow, size_t columns)
{
	size_t sum = shapes_sum(shapes, t->n_columns);

	while (sum > columns) {
		struct shape *widest = shape_widest(t, shapes, narrow, NULL);
		const struct shape *next;
		size_t excess = sum - columns, step;

		if (!widest)
			return false;
		step = widest->width - shape_least(&t->columns[widest - shapes], narrow);
		if (step > excess)
			step = excess;
		/* down to the next widest is enough for one round */
		next = shape_widest(t, shapes, narrow, widest);
		if (next && widest->width - next->width < step)
			step = widest->width - next->width;
		widest->width -= step;
		sum -= step;
	}
	return true;
}

/* Hides the least important one, of those alike the last; `all`: also one that is kept for as
 * long as may be. False: there is none, or it is the only one. */
static bool shapes_hide(const struct table *t, struct shape *shapes, bool all)
{
	size_t seen = 0, worst = t->n_columns;

	for (size_t i = t->n_columns; i-- > 0;) {
		if (shapes[i].hidden)
			continue;
		seen++;
		if (worst == t->n_columns || t->columns[i].rank > t->columns[worst].rank)
			worst = i;
	}
	if (seen < 2 || (!all && !t->columns[worst].rank))
		return false;
	shapes[worst].hidden = true;
	return true;
}

/*
 * First what is less important goes, as long as the rest would become narrow; then the rest
 * becomes narrow; then that goes, too, and what is left of the only one is cut.
 */
static int shapes_fit(const struct table *t, struct shape *shapes, size_t columns)
{
	size_t n = t->n_columns;
	struct shape *natural = calloc(n, sizeof(*natural));

	if (!natural)
		return -ENOMEM;
	shapes_natural(t, natural);
	for (int narrow = 0; narrow < 2; narrow++)
		do {
			memcpy(shapes, natural, n * sizeof(*shapes));
			if (shapes_shrink(t, shapes, narrow, columns))
				goto out;
		} while (shapes_hide(t, natural, narrow));
	for (size_t i = 0; i < n; i++) {
		shapes[i].cut = true;
		shapes[i].width = columns;
	}
out:
	free(natural);
	return 0;
}

static void faint_line(struct text *out, const struct output *o, const struct text *said)
{
	text_add(out, output_style(o, STYLE_FAINT));
	text_terminal(out, text_string(said), said->len, o->columns);
	text_add(out, output_plain(o, STYLE_FAINT));
	text_add(out, "\n");
	out->failed |= said->failed;
}

/* How many columns are not shown, and which, and what does show them. */
static void hidden_tell(const struct table *t, const struct shape *shapes, struct text *out,
	const struct output *o)
{
	static const char how[] = "a wider terminal or --json shows ";
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
	if (text_columns(text_string(&said), said.len) + sizeof(how) + strlen("; them") >
		o->columns) {
		text_add(&said, "]");
		faint_line(out, o, &said);
		text_reset(&said);
		text_add(&said, "[");
	} else {
		text_add(&said, "; ");
	}
	text_printf(&said, "%s%s]", how, hidden == 1 ? "it" : "them");
	faint_line(out, o, &said);
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
	bool first = true;

	for (size_t i = 0; i < t->n_columns; i++) {
		const char *title = t->columns[i].title;
		const struct cell head = {title, strlen(title), STYLE_BOLD};

		if (shapes[i].hidden)
			continue;
		cell_add(line, &t->columns[i], row ? table_at(t, row - 1, i) : &head,
			&shapes[i], first, o);
		first = false;
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
