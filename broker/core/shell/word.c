/* SPDX-License-Identifier: MIT */
/* Words: what of them is known after expansion and quote removal. */
#include "broker/core/shell/reader.h"

#define SPECIAL (CHAR_END | CHAR_QUOTE | CHAR_GLOB | CHAR_MARK)

void word_begin(struct reader *r, struct word_state *w)
{
	*w = (struct word_state){.start = r->stack};
}

void put_plain(struct reader *r, struct word_state *w, const char *p, size_t n)
{
	(void)w;
	stack_run(r, p, n);
}

void put_quoted(struct reader *r, struct word_state *w, const char *p, size_t n)
{
	for (const char *const end = p + n; p < end; p++) {
		const unsigned class = char_class(*p);

		if (class & CHAR_ESCAPE) {
			stack_put(r, '\\');
			w->escaped = true;
		} else if (*p == '$' || *p == '`') {
			w->literal = true;
		}
		stack_put(r, *p);
	}
}

void put_unknown(struct reader *r, struct word_state *w, bool quoted)
{
	stack_put(r, '\0');
	w->flags |= SHELL_DYNAMIC | (quoted ? 0 : SHELL_SPLITS);
}

/* Whether an evaluation of it as a subscript would run something: `a[$(…)]`. */
static bool is_bait(struct bytes text)
{
	const char *const p = text.len ? memchr(text.data, '[', text.len) : NULL;
	const size_t n = p ? text.len - (size_t)(p - (const char *)text.data) : 0;

	return p && (memchr(p, '`', n) || memmem(p, n, "$(", 2) || memmem(p, n, "${", 2));
}

/* Takes the escapes away in place; the new length. */
static size_t unescape(char *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\\')
			i++;
		p[n++] = p[i];
	}
	return n;
}

bool word_finish(struct reader *r, struct word_state *w, struct shell_word *out)
{
	const size_t len = (size_t)(r->stack - w->start);
	char *text;

	r->stack = w->start;
	if (r->full)
		return unread(r, "more than can be read");
	text = result_text(r, w->start, len);
	if (!text)
		return false;
	out->pattern = (struct bytes){0};
	if (w->flags & SHELL_GLOB)
		out->pattern = (struct bytes){text, len};
	out->text = (struct bytes){text, len};
	if (w->escaped) {
		if (w->flags & SHELL_GLOB) {
			text = result_text(r, w->start, len);
			if (!text)
				return false;
		}
		out->text = (struct bytes){text, unescape(text, len)};
	}
	out->flags = w->flags;
	if (w->flags & SHELL_DYNAMIC)
		r->out->flags |= SHELL_HAS_DYNAMIC;
	if (w->literal && is_bait(out->text))
		r->bait = true;
	return true;
}

/* ---- ~ ---- */

/* Whether a `~` here begins a word, or a part of a value after = or : */
static bool tilde_counts(const struct reader *r, const char *start, unsigned mode)
{
	const char *const p = r->in.p;
	const char *name = start;
	size_t n;

	if (p == start)
		return true;
	if ((p[-1] != ':' && p[-1] != '=') || (p - start > 1 && p[-2] == '\\'))
		return false;
	if (mode & WORD_VALUE)
		return p[-1] == ':';
	if (mode & WORD_NO_BRACE)
		return false; /* out of braces, or no operand */
	n = name_length(name, p);
	name += n;
	if (n && name < p && *name == '+')
		name++;
	return n && name < p && *name == '=' && (p[-1] == ':' || name == p - 1);
}

static bool tilde_read(struct reader *r, struct word_state *w, const char *start, unsigned mode)
{
	const bool value = mode & WORD_VALUE || r->in.p != start;
	const char *const name = r->in.p + 1;
	const char *p = name;
	struct bytes home;

	if (!tilde_counts(r, start, mode)) {
		put_plain(r, w, r->in.p++, 1);
		return true;
	}
	while (p < r->in.end && !(char_class(*p) & (CHAR_END | CHAR_QUOTE)) && *p != '/' &&
		!(value && *p == ':'))
		p++;
	if (p < r->in.end &&
		(char_class(*p) & CHAR_QUOTE ||
			((*p == '<' || *p == '>') && r->in.end - p > 1 && p[1] == '('))) {
		if (*p == '\\' && r->in.end - p > 1 && p[1] == '\n')
			return unread(r, "a joined line after ~");
		put_plain(r, w, r->in.p++, 1);
		return true;
	}
	/* the name of a user may come out of braces */
	w->brace |= memchr(name, '{', (size_t)(p - name)) != NULL;
	if (r->sh && r->in.p != start && !(mode & WORD_VALUE))
		put_unknown(r, w, true); /* in an operand NAME=~ not every sh expands it */
	else if (r->sh && p > name)
		put_unknown(r, w, true);
	else if (p == name ? parameter_known(r, bytes_of("HOME"), &home)
			   : p == name + 1 && *name == '+' &&
				     parameter_known(r, bytes_of("PWD"), &home)) {
		if (r->stack == w->start)
			w->flags |= SHELL_HOMED;
		put_quoted(r, w, home.data, home.len);
	} else {
		put_unknown(r, w, true);
	}
	r->in.p = p;
	return true;
}

/* ---- the parts of a word ---- */

static bool process_read(struct reader *r, struct word_state *w)
{
	const enum shell_nest_kind kind = *r->in.p++ == '<' ? SHELL_PROC_IN : SHELL_PROC_OUT;

	if (r->sh)
		return unread(r, "a process substitution for sh");
	if (!expand_commands(r, kind))
		return false;
	put_unknown(r, w, true);
	w->flags |= SHELL_PROC;
	return true;
}

static bool backslash_read(struct reader *r, struct word_state *w)
{
	const int next = peek_at(r, 1);

	if (next < 0)
		return unread(r, "a backslash at the end");
	if (next == '\n') {
		w->continued = true;
	} else {
		put_quoted(r, w, r->in.p + 1, 1);
		w->flags |= SHELL_QUOTED;
	}
	r->in.p += 2;
	return true;
}

static void glob_read(struct reader *r, struct word_state *w, char c)
{
	if (c == '[')
		w->bracket = true;
	else if (c != ']' || w->bracket)
		w->flags |= SHELL_GLOB;
	put_plain(r, w, r->in.p++, 1);
}

/* One part; *end: here the word ends. */
static bool part_read(
	struct reader *r, struct word_state *w, const char *start, unsigned mode, bool *end)
{
	const char *const from = r->in.p, *p = from;

	while (p < r->in.end && !(char_class(*p) & SPECIAL))
		p++;
	put_plain(r, w, from, (size_t)(p - from));
	r->in.p = p;
	if (p == r->in.end) {
		*end = true;
		return true;
	}
	switch (*p) {
	case '\\': return backslash_read(r, w);
	case '\'': return quote_single(r, w);
	case '"': return quote_double(r, w);
	case '$': return expand_dollar(r, w, false);
	case '`': return expand_backquote(r, w, false);
	case '~': return tilde_read(r, w, start, mode);
	case '*':
	case '?':
	case '[':
	case ']': glob_read(r, w, *p); return true;
	case '{':
		w->brace = true;
		put_plain(r, w, r->in.p++, 1);
		return true;
	case '<':
	case '>':
		if (peek_at(r, 1) == '(')
			return process_read(r, w);
		break;
	default: break;
	}
	*end = true;
	return true;
}

/* Whether joined lines can't make a keyword or an assignment of a word: they end it. */
static bool joined_is_clear(const struct reader *r, const char *start)
{
	const char *p = start;

	while (p < r->in.p && *p != '\\')
		p++;
	/* nothing but blanks follows what was joined */
	while (r->in.p - p > 1 && p[0] == '\\' && p[1] == '\n')
		p += 2;
	return p == r->in.p;
}

bool word_read(struct reader *r, unsigned mode, struct shell_word *out, bool *brace)
{
	const char *const start = r->in.p;
	const char *p = start;
	struct word_state w;
	bool end = false;

	*brace = false;
	while (p < r->in.end && !(char_class(*p) & SPECIAL))
		p++;
	if (p == r->in.end || (char_class(*p) & CHAR_END && *p != '<' && *p != '>')) {
		/* the usual one: it is what stands there */
		*out = (struct shell_word){
			.text = {start, (size_t)(p - start)}, .offset = offset_at(r, start)};
		r->in.p = p;
		r->out->steps += (uint32_t)(p - start) + 1;
		return true;
	}
	word_begin(r, &w);
	out->offset = offset_at(r, start);
	while (!end)
		if (!part_read(r, &w, start, mode, &end))
			return false;
	r->out->steps += (uint32_t)(r->in.p - start) + 1;
	if (w.continued && (w.brace || peek(r) == '<' || peek(r) == '>' ||
				   (mode & WORD_FIRST && !joined_is_clear(r, start))))
		return unread(r, "a joined line inside of a word");
	if (mode & WORD_NO_SPLIT)
		w.flags &= ~(unsigned)(SHELL_SPLITS | SHELL_GLOB);
	if (w.brace && !(mode & WORD_NO_BRACE)) {
		const size_t len = (size_t)(r->in.p - start);

		*brace = memchr(start, ',', len) || memmem(start, len, "..", 2);
	}
	return word_finish(r, &w, out);
}

bool words_read(struct reader *r, unsigned mode, uint32_t *n)
{
	const char *const start = r->in.p;
	struct shell_word word;
	struct item *item;
	bool brace;

	if (!word_read(r, mode, &word, &brace))
		return false;
	/* substitutions are read once, so it is not known which words come of them */
	if (brace && (word.flags & (SHELL_SUBST | SHELL_PROC) ||
			     memmem(start, (size_t)(r->in.p - start), "$(", 2)))
		return unread(r, "a substitution inside of braces");
	if (brace)
		return brace_words(r, start, r->in.p, mode, n);
	item = stack_alloc(r, sizeof(*item));
	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_WORD, .word = word};
	++*n;
	return true;
}
