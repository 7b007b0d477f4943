/* SPDX-License-Identifier: MIT */
/* Expansions that begin with `$` or a backquote. */
#include "broker/core/shell/reader.h"

/* ---- commands ---- */

/* What a process of its own leaves as it was. */
struct aside {
	struct place place;
	struct here_doc *docs, **docs_tail;
	uint32_t nest, loops;
};

static bool aside_begin(
	struct reader *r, struct aside *a, enum shell_nest_kind kind, uint32_t owner)
{
	a->place = r->place;
	a->docs = r->docs;
	a->docs_tail = r->docs_tail;
	a->loops = r->loops;
	if (!enter(r))
		return false;
	if (!nest_enter(r, kind, owner, &a->nest))
		return false;
	r->docs = NULL;
	r->docs_tail = &r->docs;
	r->loops = 0;
	return true;
}

static bool aside_end(struct reader *r, const struct aside *a)
{
	if (r->docs)
		return unread(r, "a here-document without its end");
	leave(r);
	r->place = a->place;
	r->docs = a->docs;
	r->docs_tail = a->docs ? a->docs_tail : &r->docs;
	r->nest = a->nest;
	r->loops = a->loops;
	return true;
}

bool expand_commands(struct reader *r, enum shell_nest_kind kind)
{
	const uint32_t from = r->from, from_end = r->from_end, owner = r->owner;
	struct aside a;

	r->out->flags |= SHELL_HAS_SUBST;
	if (!aside_begin(r, &a, kind, owner))
		return false;
	if (kind == SHELL_PROC_OUT && owner != SHELL_NONE) {
		r->from = owner;
		r->from_end = owner + 1;
	}
	r->in.p++;
	if (peek(r) == '(' && kind != SHELL_SUBSTITUTED)
		return unread(r, "an arithmetic expression that is not clear");
	r->substitutions++;
	if (!list_read(r, true))
		return false;
	r->substitutions--;
	if (peek(r) != ')')
		return unread(r, "a substitution without its end");
	r->in.p++;
	r->from = from;
	r->from_end = from_end;
	r->owner = owner;
	return aside_end(r, &a);
}

/*
 * The text between backquotes, which loses a level of backslashes. Between double
 * quotes shells differ on what becomes of \".
 */
static bool backquote_text(struct reader *r, bool quoted, struct bytes *text)
{
	const char *const start = r->in.p + 1, *p = start;
	bool escaped = false;
	char *copy;
	size_t n = 0;

	for (; p < r->in.end && *p != '`'; p++)
		if (*p == '\\') {
			escaped = true;
			if (++p == r->in.end)
				break;
			if (quoted && *p == '"')
				return unread(r, "a quote inside of backquotes");
		}
	if (p == r->in.end)
		return unread(r, "a substitution without its end");
	r->out->steps += (uint32_t)(p - start);
	r->in.p = p + 1;
	*text = (struct bytes){start, (size_t)(p - start)};
	if (!escaped)
		return true;
	copy = result_text(r, start, text->len);
	if (!copy)
		return false;
	for (const char *q = start; q < p; q++) {
		if (*q == '\\' && (q[1] == '$' || q[1] == '`' || q[1] == '\\'))
			q++;
		else if (*q == '\\')
			copy[n++] = *q++;
		copy[n++] = *q;
	}
	*text = (struct bytes){copy, n};
	return true;
}

bool expand_backquote(struct reader *r, struct word_state *w, bool quoted)
{
	const struct source before = r->in;
	const uint32_t offset = offset_at(r, r->in.p), owner = r->owner;
	struct source after;
	struct aside a;
	struct bytes text = {0};

	r->out->flags |= SHELL_HAS_SUBST;
	if (!backquote_text(r, quoted, &text))
		return false;
	after = r->in;
	r->in = (struct source){.start = text.data, .p = text.data, .offset = offset};
	r->in.end = r->in.p + text.len;
	r->in.fixed = before.fixed || text.data != before.p + 1;
	if (!r->in.fixed)
		r->in.offset = offset + 1;
	if (!aside_begin(r, &a, SHELL_SUBSTITUTED, owner) || !list_read(r, true))
		return false;
	if (!at_end(r))
		return unread(r, "a word or sign that does not belong here");
	if (!aside_end(r, &a))
		return false;
	r->owner = owner;
	r->in = after;
	put_unknown(r, w, quoted);
	w->flags |= SHELL_SUBST;
	return true;
}

/* ---- arithmetic ---- */

/* Whether an = or a doubled sign at p assigns; begin: of the expression. */
static bool assigns(const char *begin, const char *p, const char *end)
{
	const char next = p + 1 < end ? p[1] : 0, before = p > begin ? p[-1] : 0;

	if (*p == '+' || *p == '-')
		return next == *p;
	if (*p != '=' || next == '=' || before == '=' || before == '!')
		return false;
	return (before != '<' && before != '>') || (p - begin > 1 && p[-2] == before);
}

bool expand_arithmetic(struct reader *r, unsigned separators)
{
	struct word_state w;
	unsigned depth = 0;
	const char *const begin = r->in.p;

	if (!enter(r))
		return false;
	word_begin(r, &w);
	w.document = true;
	for (;;) {
		const char *const p = r->in.p;
		const int c = peek(r);
		const size_t name = c < 0 ? 0 : name_length(p, r->in.end);

		r->out->steps += (uint32_t)name + 1;
		if (name) {
			r->arithmetic = true;
			name_assigned(r, (struct bytes){p, name});
			r->in.p += name;
		} else if (c == '(') {
			depth++;
			r->in.p++;
		} else if (c == ')' && depth) {
			depth--;
			r->in.p++;
		} else if (c == ')') {
			break;
		} else if (c == '$') {
			r->arithmetic = true;
			if (!expand_dollar(r, &w, true))
				return false;
		} else if (c == '`') {
			r->arithmetic = true;
			if (!expand_backquote(r, &w, true))
				return false;
		} else if (c == ';' && separators && depth == 0) {
			separators--;
			r->in.p++;
		} else if (c < 0 || (c == '\n' && r->docs) || strchr("\\'\";{}", c)) {
			return unread(r, "an arithmetic expression that is not clear");
		} else {
			if (assigns(begin, p, r->in.end))
				r->out->flags |= SHELL_HAS_ASSIGN;
			r->in.p++;
		}
		r->stack = w.start;
	}
	if (peek_at(r, 1) != ')' || separators)
		return unread(r, "an arithmetic expression that is not clear");
	r->in.p += 2;
	leave(r);
	return true;
}

/* ---- $ ---- */

bool parameter_known(const struct reader *r, struct bytes name, struct bytes *value)
{
	const struct shell_cwd *const here = r->place.here;

	if (!r->known)
		return false;
	if (bytes_is(name, "HOME"))
		*value = r->context->home;
	else if (bytes_is(name, "TMPDIR"))
		*value = r->context->tmpdir;
	else if (bytes_is(name, "PWD") && here->n == 1)
		*value = here->path[0];
	else
		return false;
	return value->len != 0;
}

static bool splits(struct bytes value)
{
	const char *const p = value.data;

	for (size_t i = 0; i < value.len; i++)
		if (p[i] == ' ' || p[i] == '\t' || p[i] == '\n' ||
			char_class(p[i]) & CHAR_GLOB || p[i] == '\\')
			return true;
	return false;
}

void put_parameter(struct reader *r, struct word_state *w, struct bytes name, bool quoted)
{
	struct bytes value;

	if (!parameter_known(r, name, &value) || (!quoted && splits(value))) {
		put_unknown(r, w, quoted);
		return;
	}
	if (r->stack == w->start)
		w->flags |= SHELL_HOMED;
	put_quoted(r, w, value.data, value.len);
}

static bool dollar_paren(struct reader *r, struct word_state *w, bool quoted)
{
	if (peek_at(r, 1) == '\\' && peek_at(r, 2) == '\n')
		return unread(r, "a joined line after $(");
	if (peek_at(r, 1) == '(') {
		r->in.p += 2;
		if (!expand_arithmetic(r, 0))
			return false;
		put_unknown(r, w, quoted);
		return true;
	}
	if (!expand_commands(r, SHELL_SUBSTITUTED))
		return false;
	put_unknown(r, w, quoted);
	w->flags |= SHELL_SUBST;
	return true;
}

bool expand_dollar(struct reader *r, struct word_state *w, bool quoted)
{
	const char *const dollar = r->in.p++;
	const int c = peek(r);
	const size_t name = c < 0 ? 0 : name_length(r->in.p, r->in.end);

	if (name) {
		put_parameter(r, w, (struct bytes){r->in.p, name}, quoted);
		r->in.p += name;
		return true;
	}
	switch (c) {
	case '(': return dollar_paren(r, w, quoted);
	case '{': return parameter_read(r, w, quoted);
	case '\'':
		if (!quoted)
			return quote_ansi(r, w);
		break;
	case '"':
		if (quoted)
			break;
		if (r->sh)
			return unread(r, "$\"…\", which sh reads otherwise");
		put_unknown(r, w, true); /* it may be translated */
		return quote_double(r, w);
	case '[': return unread(r, "$[…], which not every Bash reads");
	case '\\':
		if (peek_at(r, 1) == '\n')
			return unread(r, "a joined line after $");
		break;
	case '0' ... '9':
	case '@':
	case '*':
	case '#':
	case '?':
	case '-':
	case '$':
	case '!':
		r->in.p++;
		put_unknown(r, w, quoted && c != '@');
		return true;
	default: break;
	}
	put_plain(r, w, dollar, 1);
	return true;
}
