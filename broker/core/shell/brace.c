/* SPDX-License-Identifier: MIT */
/*
 * Brace expansion. It comes before all others and works on the source of a word, so
 * each result is then read as a word of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "broker/core/shell/reader.h"

struct piece {
	struct piece *next;
	struct bytes text;
};

struct pieces {
	struct piece *first, **tail;
};

static const char not_clear[] = "braces that are not clear";

static void pieces_init(struct pieces *list)
{
	list->first = NULL;
	list->tail = &list->first;
}

/* Adds the three joined. */
static bool pieces_add(
	struct reader *r, struct pieces *list, struct bytes a, struct bytes b, struct bytes c)
{
	const size_t len = a.len + b.len + c.len;
	struct piece *piece;
	char *p;

	r->brace_words++;
	r->brace_bytes += (uint32_t)len;
	if (r->brace_words > LIMIT_SHELL_BRACES || r->brace_bytes > LIMIT_SHELL_BRACE_BYTES)
		return unread(r, "braces that make too many words");
	piece = result_alloc(r, 1, sizeof(*piece) + len);
	if (!piece)
		return false;
	p = (char *)(piece + 1);
	piece->text = (struct bytes){p, len};
	if (a.len)
		memcpy(p, a.data, a.len);
	if (b.len)
		memcpy(p + a.len, b.data, b.len);
	if (c.len)
		memcpy(p + a.len + b.len, c.data, c.len);
	r->out->steps += (uint32_t)len;
	*list->tail = piece;
	list->tail = &piece->next;
	return true;
}

/*
 * From i on, the first unquoted `want` outside of inner braces; n: none. A closing
 * brace counts only after a comma or `..`, others are passed over.
 */
static size_t find(struct reader *r, const char *s, size_t n, size_t i, char want)
{
	bool parts = want != '}';
	unsigned level = 0;
	char quote = 0;

	for (; i < n; i++) {
		const char c = s[i], next = i + 1 < n ? s[i + 1] : '\0';

		r->out->steps++;
		if (c == '\\' && quote != '\'') {
			i++;
		} else if (c == '$' && next == '{' && quote != '\'') {
			i++;
			level += !quote;
		} else if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == want && level == 0 && parts) {
			if (c != '{' || i > 0 || next != '}')
				return i;
		} else if (c == '{') {
			level++;
		} else if (c == '}' && level) {
			level--;
		} else if (level == 0 && want == '}') {
			parts |= c == ',' ||
				 (c == '.' && next == '.' && i + 2 < n && s[i + 2] != '}');
		}
	}
	return n;
}

static struct bytes slice(const char *s, size_t from, size_t to)
{
	return (struct bytes){s + from, to - from};
}

/* ---- {1..9} and {a..z} ---- */

enum { SEQUENCE_NONE = 1 }; /* it is no sequence */

struct sequence {
	long from, to, step;
	int width; /* 0: as they are */
	bool letters;
};

/* One part, up to the next `..` or the end; also where it ends. */
static const char *part_end(const char *p, const char *end)
{
	const char *const dots = memmem(p, (size_t)(end - p), "..", 2);

	return dots ? dots : end;
}

static bool is_number(const char *p, const char *end, long *value)
{
	const bool minus = p < end && *p == '-';
	long n = 0;

	p += minus;
	if (p == end || end - p > 9)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		n = n * 10 + (*p - '0');
	}
	*value = minus ? -n : n;
	return true;
}

static bool is_padded(const char *p, const char *end)
{
	p += *p == '-';
	return end - p > 1 && *p == '0';
}

static bool is_letter(const char *p, const char *end)
{
	return end - p == 1 && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'));
}

/* 0, SEQUENCE_NONE, or -1: not clear. */
static int sequence_parse(struct bytes text, struct sequence *q)
{
	const char *const p = text.data, *const end = p + text.len;
	const char *const first = part_end(p, end);
	const char *const second = first < end ? first + 2 : end;
	const char *const last = part_end(second, end);

	*q = (struct sequence){.step = 1};
	if (first == end)
		return SEQUENCE_NONE;
	for (const char *c = p; c < end; c++)
		if (!(char_class(*c) & CHAR_NAME) && *c != '.' && *c != '-')
			return *c == '+' ? -1 : SEQUENCE_NONE;
	if (last < end && !is_number(last + 2, end, &q->step))
		return end - last > 6 ? -1 : SEQUENCE_NONE;
	if (is_letter(p, first) && is_letter(second, last)) {
		q->letters = true;
		q->from = *p;
		q->to = *second;
		return (*p ^ *second) & 32 ? -1 : 0;
	}
	if (!is_number(p, first, &q->from) || !is_number(second, last, &q->to))
		return first - p > 9 || last - second > 9 ? -1 : SEQUENCE_NONE;
	if (is_padded(p, first) || is_padded(second, last))
		q->width = (int)(first - p > last - second ? first - p : last - second);
	return 0;
}

static bool sequence_make(struct reader *r, const struct sequence *q, struct pieces *list)
{
	const long step = q->step < 0 ? -q->step : q->step ? q->step : 1;
	const struct bytes none = {0};

	for (long i = q->from; q->from <= q->to ? i <= q->to : i >= q->to;
		i += q->from <= q->to ? step : -step) {
		char text[24];
		int len = 1;

		if (q->letters)
			text[0] = (char)i;
		else
			len = snprintf(text, sizeof(text), "%0*ld", q->width, i);
		if (!pieces_add(r, list, (struct bytes){text, (size_t)len}, none, none))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

static bool expand(struct reader *r, struct bytes text, struct pieces *list);

/* What stands between a pair of braces, which holds commas. */
static bool expand_list(struct reader *r, struct bytes text, struct pieces *list)
{
	const char *const s = text.data;
	size_t from = 0;

	for (;;) {
		const size_t comma = find(r, s, text.len, from, ',');

		/* the whole has to be split, or the braces are Bash's own riddle */
		if (from == 0 && comma == text.len)
			return unread(r, not_clear);
		if (!expand(r, slice(s, from, comma), list))
			return false;
		if (comma == text.len)
			return true;
		from = comma + 1;
	}
}

static bool has_comma(struct bytes text)
{
	const char *const s = text.data;

	for (size_t i = 0; i < text.len; i++) {
		if (s[i] == '\\')
			i++;
		else if (s[i] == ',')
			return true;
	}
	return false;
}

/* The results of text, added to the list. */
static bool expand(struct reader *r, struct bytes text, struct pieces *list)
{
	const char *const s = text.data;
	const struct bytes none = {0};
	struct pieces middle, rest;
	struct sequence sequence;
	size_t open = 0, close;
	struct bytes inside;

	for (;; open++) {
		open = find(r, s, text.len, open, '{');
		if (open == text.len)
			return pieces_add(r, list, text, none, none);
		close = find(r, s, text.len, open + 1, '}');
		if (close < text.len)
			break;
	}
	inside = slice(s, open + 1, close);
	if (!enter(r))
		return false;
	pieces_init(&middle);
	pieces_init(&rest);
	if (has_comma(inside)) {
		if (!expand_list(r, inside, &middle))
			return false;
	} else {
		const int rc = sequence_parse(inside, &sequence);

		if (rc < 0)
			return unread(r, not_clear);
		if (rc == SEQUENCE_NONE) {
			if (close + 1 == text.len) {
				leave(r);
				return pieces_add(r, list, text, none, none);
			}
			if (!pieces_add(r, &middle, slice(s, open, close + 1), none, none))
				return false;
		} else if (!sequence_make(r, &sequence, &middle)) {
			return false;
		}
	}
	if (!expand(r, slice(s, close + 1, text.len), &rest))
		return false;
	leave(r);
	for (const struct piece *m = middle.first; m; m = m->next)
		for (const struct piece *e = rest.first; e; e = e->next)
			if (!pieces_add(r, list, slice(s, 0, open), m->text, e->text))
				return false;
	return true;
}

/* A result is read as the source of one word. */
static bool piece_read(struct reader *r, struct bytes text, unsigned mode, struct item *item)
{
	bool brace;

	r->in.start = r->in.p = text.data;
	r->in.end = r->in.p + text.len;
	return word_read(r, mode, &item->word, &brace) && (at_end(r) || unread(r, not_clear));
}

bool brace_words(
	struct reader *r, const char *start, const char *end, unsigned mode, uint32_t *n)
{
	const struct source before = r->in;
	const uint32_t offset = offset_at(r, start);
	const size_t len = (size_t)(end - start);
	struct pieces list;
	bool several;

	if (len > LIMIT_SHELL_BRACE_WORD || memmem(start, len, "$'", 2))
		return unread(r, not_clear);
	pieces_init(&list);
	if (!expand(r, (struct bytes){start, len}, &list))
		return false;
	several = list.first->next || list.first->text.len != len;
	if (several)
		mode |= WORD_NO_BRACE;
	r->in.fixed = true;
	r->in.offset = offset;
	for (const struct piece *piece = list.first; piece; piece = piece->next) {
		struct item *item;

		if (piece->text.len == 0)
			continue;
		item = stack_alloc(r, sizeof(*item));
		if (!item)
			return false;
		*item = (struct item){.kind = ITEM_WORD};
		if (!piece_read(r, piece->text, mode, item))
			return false;
		if (several)
			item->word.flags |= SHELL_BRACE;
		++*n;
	}
	r->in = before;
	return true;
}
