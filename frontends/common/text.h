/* SPDX-License-Identifier: MIT */
/*
 * Text that came from an agent is hostile: it may try to move the cursor, to
 * reorder what is read, to hide a part, or to look like our own output. There
 * is one function for each surface that such text can reach; nothing else may
 * bring it there.
 *
 * What is not plainly visible is written out:
 *   \n \t \r \x1b   control characters of ASCII
 *   \x9f            a byte that is not part of valid UTF-8
 *   \u{202e}        C1, bidi and other format characters, zero-width ones, tags,
 *                   spaces other than U+0020, private use, and whatever the
 *                   locale can't print
 * Combining marks stay, but not without a base, and not more than four of them.
 *
 * Characters beyond ASCII are known by the locale of the program (LC_CTYPE): in
 * one that is not UTF-8 they are all written out. output_init sets it so.
 */
#ifndef FCOMMON_TEXT_H
#define FCOMMON_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string, NUL-terminated when data is not NULL. Without memory `failed` is set and
 * stays. */
struct text {
	char *data;
	size_t len, size;
	bool failed;
};

void text_free(struct text *t);		       /* back to all zeroes */
void text_reset(struct text *t);	       /* empty, the memory is kept */
const char *text_string(const struct text *t); /* never NULL */

/* For our own words only: these change nothing. */
void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t len);
void text_fill(struct text *t, char c, size_t n);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* A narrower bound counts as this, so that the mark of what is hidden fits. */
#define TEXT_MIN_COLUMNS 12
/* From here on the mark has a word; a block is never narrower. */
#define TEXT_WORD_COLUMNS 24

/*
 * Terminal, one line. What does not fit into `columns` is left out at the end and
 * the number of characters left out stands there: "rm -r /ho[+31 chars]", or where
 * it is narrow "rm -r /[+33]". columns 0: all of it.
 */
void text_terminal(struct text *out, const char *s, size_t len, size_t columns);

/*
 * Terminal, all lines, each behind the bar "  | " and, where a line is longer
 * than `columns` and had to be broken (0: never), behind "  + ". Neither a line
 * feed nor the terminal's own wrapping can therefore make the text look like
 * ours. Ends with a line feed.
 */
void text_block(struct text *out, const char *s, size_t len, size_t columns);

/* A word of a log line: in quotes, with \" and \\, at most max bytes of it (0: all). */
void text_log(struct text *out, const char *s, size_t len, size_t max);

/* A string for a JSON value or key: valid UTF-8; bytes that are not, as \x9f. */
void text_utf8(struct text *out, const char *s, size_t len);
/*
 * JSON text as a JSON writer made it, changed so that it can be shown on a
 * terminal: what is not plainly visible becomes \uXXXX. Its value stays the same.
 */
void text_json(struct text *out, const char *json, size_t len);

/* Columns that a string takes on a terminal once text_terminal has written it. */
size_t text_columns(const char *s, size_t len);

/* Words as a POSIX shell would read them back: quoted only where needed. */
void text_shell(struct text *out, const char *word);

#endif
