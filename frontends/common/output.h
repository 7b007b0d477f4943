/* SPDX-License-Identifier: MIT */
/* Where a program writes, and what may be written there. */
#ifndef FCOMMON_OUTPUT_H
#define FCOMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "frontends/common/text.h"

struct output {
	FILE *file;
	bool terminal;
	bool colour;	/* only on a terminal, and not under NO_COLOR or TERM=dumb */
	size_t columns; /* of the terminal; 0 where there is none: nothing is shortened */
};

enum output_style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_FAINT,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_N,
};

/* To be called once, first of all: takes the locale's character set, or plain ASCII (see
 * text.h). */
void output_locale(void);
void output_init(struct output *o, FILE *file);

/* The escape sequence that begins a style, and the one that ends it; "" without colour. */
const char *output_style(const struct output *o, enum output_style style);
const char *output_plain(const struct output *o, enum output_style style);

/* For our own words. */
void output_printf(const struct output *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void output_styled(const struct output *o, enum output_style style, const char *s);
/* Writes what a surface function made; -ENOMEM where it had failed. Frees it. */
int output_text(const struct output *o, struct text *t);
/*
 * "label: text", the text hostile, whole, and on one line if it fits, else as a
 * block. NULL or len 0: nothing is written.
 */
int output_field(const struct output *o, const char *label, const char *text, size_t len);
/* The same as a block below the label (see text_block). */
int output_block(const struct output *o, const char *label, const char *text, size_t len);

/* Flushes: 0, or why what was written could not be (a full disk, a closed pipe). */
int output_finish(struct output *o);

#endif
