/* SPDX-License-Identifier: MIT */
/* A place in a text that is read from its start to its end. */
#ifndef CTL_IMPORT_TEXT_H
#define CTL_IMPORT_TEXT_H

#include "frontends/ctl/import_node.h"

struct cursor {
	const char *text;
	size_t len, at;
	unsigned line, column;
	struct reader_error *error;
};

/* 0 behind the end. */
char cursor_ahead(const struct cursor *c, size_t n);
static inline char cursor_peek(const struct cursor *c)
{
	return cursor_ahead(c, 0);
}
bool cursor_is(const struct cursor *c, const char *set);
bool cursor_is_word(const struct cursor *c); /* a letter, a digit, - or _ */
void cursor_step(struct cursor *c);
void cursor_skip(struct cursor *c, size_t n);
/* false: *error has the present place. */
bool cursor_stop(const struct cursor *c, const char *why);
/* false: the text holds a NUL or is no UTF-8; *error says where. */
bool cursor_valid(const struct cursor *c);
/* At a u, x or U before so many hexadecimal digits: the character, in UTF-8, to out. */
bool cursor_unicode(struct cursor *c, struct text *out, unsigned digits);

#endif
