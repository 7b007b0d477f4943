/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/walk.h"
#include "broker/core/floor/wild.h"

static struct bytes after(struct bytes b, size_t n)
{
	return (struct bytes){(const char *)b.data + n, b.len - n};
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of what stands before `://`, with that; 0: this is no URL. */
static size_t scheme_length(struct bytes text)
{
	const char *const p = text.data;
	size_t i = 0;

	while (i < text.len &&
		(is_letter(p[i]) || (i > 0 && (p[i] == '+' || p[i] == '.' || p[i] == '-'))))
		i++;
	return i > 0 && text.len - i >= 3 && memcmp(p + i, "://", 3) == 0 ? i + 3 : 0;
}

static bool visit(
	struct walk *w, const struct shell_word *word, struct bytes text, unsigned use)
{
	const struct operand o = {.word = word, .text = text, .use = use};

	return text.len > 0 && w->visit(w, &o);
}

/*
 * A piece between separators: for reading only, since nothing more is known of it. What
 * stands before a `=` is a name, and before a `:` or `,` only what looks like a path is one.
 */
static bool visit_piece(
	struct walk *w, const struct shell_word *word, struct bytes piece, char end)
{
	const char *const p = piece.data;

	if (piece.len == 0 || end == '=')
		return false;
	if (end && !memchr(p, '/', piece.len) && *p != '.' && *p != '~')
		return false;
	if (piece.len > 1 && *p == '@') /* as curl has it */
		piece = after(piece, 1);
	return visit(w, word, piece, FLOOR_READ);
}

/* NAME=path, REV:path, one:other, a,b; what is a URL is left out. */
static bool visit_pieces(struct walk *w, const struct shell_word *word, struct bytes text)
{
	const char *const p = text.data;
	size_t start = 0;

	for (size_t i = 0; i <= text.len; i++) {
		const char end = i < text.len ? p[i] : 0;
		const struct bytes piece = {p + start, i - start};

		if (i < text.len && end != '=' && end != ':' && end != ',')
			continue;
		if (end == ':' && scheme_length(after(text, start)) == piece.len + 3) {
			if (!bytes_is(piece, "file"))
				return false; /* to the end of the word */
			start = i + 3;
			i = start - 1;
			continue;
		}
		if (visit_piece(w, word, piece, end))
			return true;
		start = i + 1;
	}
	return false;
}

bool walk_text(struct walk *w, const struct shell_word *word, struct bytes text, unsigned use)
{
	const char *const p = text.data;
	bool colon = false, parts;

	/* longer than a path can be */
	if (text.len == 0 || text.len > LIMIT_TEXT)
		return false;
	parts = *p == '@';
	for (size_t i = 0; i < text.len; i++) {
		colon |= p[i] == ':';
		parts |= p[i] == '=' || p[i] == ',';
	}
	if (!(colon && scheme_length(text)) && visit(w, word, text, use))
		return true;
	/* an option with its value: -I/path, -f.env */
	if (text.len > 2 && *p == '-' && is_letter(p[1]) &&
		(p[2] == '/' || p[2] == '~' || p[2] == '.') &&
		visit(w, word, after(text, 2), FLOOR_READ))
		return true;
	return (colon || parts) && visit_pieces(w, word, text);
}

bool walk_word(struct walk *w, const struct shell_word *word, unsigned use)
{
	if (word->flags & SHELL_GLOB && word->pattern.len <= LIMIT_TEXT) {
		const struct operand o = {.word = word,
			.text = word->pattern,
			.use = use,
			.pattern = true,
			.flags = use & FLOOR_LOOK ? WILD_NAMED : 0};

		if (w->visit(w, &o))
			return true;
	}
	return walk_text(w, word, word->text, use);
}

bool walk_tokens(struct walk *w, const struct shell_word *word)
{
	const char *const p = word->text.data;
	size_t start = 0;

	for (size_t i = 0; i <= word->text.len; i++) {
		if (i < word->text.len && p[i] && !strchr(" \t\r\n\"'`();|&<>$", p[i]))
			continue;
		if (i > start && i - start <= LIMIT_TEXT &&
			walk_text(w, word, (struct bytes){p + start, i - start}, FLOOR_READ))
			return true;
		start = i + 1;
	}
	return false;
}
