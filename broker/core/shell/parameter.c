/* SPDX-License-Identifier: MIT */
/* ${…} */
#include "broker/core/shell/reader.h"

static const char not_clear[] = "a parameter expansion that is not clear";

/* Up to the closing character, which is taken: a subscript or what follows an operator. */
static bool inside_read(struct reader *r, struct word_state *w, char close, bool quoted)
{
	for (;;) {
		const int c = peek(r);

		r->out->steps++;
		if (c == close)
			break;
		switch (c) {
		case -1: return unread(r, "a parameter expansion without its end");
		case '\\':
			if (peek_at(r, 1) < 0)
				return unread(r, not_clear);
			r->in.p += 2;
			break;
		case '\'':
			if (quoted)
				return unread(r, not_clear);
			if (!quote_single(r, w))
				return false;
			break;
		case '"':
			if (w->document || (quoted && r->sh))
				return unread(r, not_clear);
			if (!quote_double(r, w))
				return false;
			break;
		case '$':
			if (!expand_dollar(r, w, quoted))
				return false;
			break;
		case '`':
			if (!expand_backquote(r, w, quoted))
				return false;
			break;
		case '<':
		case '>':
			if (!quoted && peek_at(r, 1) == '(')
				return unread(r, not_clear);
			r->in.p++;
			break;
		case '{': return unread(r, not_clear);
		case '[':
			if (close == ']')
				return unread(r, not_clear);
			r->in.p++;
			break;
		default: r->in.p++; break;
		}
	}
	r->in.p++;
	return true;
}

/* The name, number or sign of the parameter, with its subscript; *all: may be several words.
 */
static bool name_read(struct reader *r, struct word_state *w, bool quoted, bool *all)
{
	size_t n = name_length(r->in.p, r->in.end);
	const int c = peek(r);

	if (n == 0 && c >= '0' && c <= '9') {
		while (peek(r) >= '0' && peek(r) <= '9')
			r->in.p++;
		return true;
	}
	if (n == 0) {
		if (c <= 0 || !strchr("@*#?-$!", c))
			return unread(r, not_clear);
		*all |= c == '@';
		r->in.p++;
		return true;
	}
	r->in.p += n;
	if (peek(r) != '[')
		return true;
	r->in.p++;
	if ((peek(r) == '@' || peek(r) == '*') && peek_at(r, 1) == ']') {
		*all |= peek(r) == '@';
		r->in.p += 2;
		return true;
	}
	r->arithmetic = true;
	return inside_read(r, w, ']', quoted);
}

/* At what follows the parameter, unless that is the end. */
static bool operator_read(
	struct reader *r, struct word_state *w, struct bytes name, bool quoted)
{
	const int c = peek(r), next = peek_at(r, 1);

	switch (c) {
	case ':':
		if (next == '=')
			name_assigned(r, name);
		else if (next < 0 || !strchr("-?+", next))
			r->arithmetic = true;
		break;
	case '=': name_assigned(r, name); break;
	case '-':
	case '?':
	case '+':
	case '#':
	case '%':
	case '/':
	case '^':
	case ',': break;
	case '@':
		/* @P runs what is in the value */
		if (next <= 0 || !strchr("QEAaUuLKk", next) || peek_at(r, 2) != '}')
			return unread(r, not_clear);
		break;
	default: return unread(r, not_clear);
	}
	r->in.p++;
	return inside_read(r, w, '}', quoted);
}

static bool rest_read(struct reader *r, struct word_state *w, bool quoted, bool *all)
{
	const int first = peek(r), next = peek_at(r, 1);
	const char *name;
	struct bytes whole;
	char *const mark = r->stack;
	bool only = true;

	/* ${#x} and ${!x}, but ${#}, ${!}, ${#-…} are parameters */
	if ((first == '#' || first == '!') && next > 0 &&
		(char_class((char)next) & CHAR_NAME ||
			(first == '#' && (next == '@' || next == '*') &&
				peek_at(r, 2) == '}'))) {
		r->in.p++;
		only = false;
		if (first == '!')
			r->arithmetic = true; /* the value names it, with a subscript even */
	}
	name = r->in.p;
	if (!name_read(r, w, quoted, all))
		return false;
	whole = (struct bytes){name, (size_t)(r->in.p - name)};
	if (peek(r) == '}') {
		r->stack = mark;
		r->in.p++;
		if (only)
			put_parameter(r, w, whole, quoted && !*all);
		else
			put_unknown(r, w, quoted && !*all);
		return true;
	}
	if (first == '!' && !only && (peek(r) == '@' || peek(r) == '*') &&
		peek_at(r, 1) == '}') {
		*all = true;
		r->in.p += 2;
	} else if (!only && first == '#') {
		return unread(r, not_clear);
	} else if (!operator_read(r, w, whole, quoted)) {
		return false;
	}
	r->stack = mark;
	put_unknown(r, w, quoted && !*all);
	return true;
}

bool parameter_read(struct reader *r, struct word_state *w, bool quoted)
{
	struct word_state inner = *w;
	bool all = false;

	if (!enter(r))
		return false;
	r->in.p++;
	/* what is inside says nothing of the word, but of the commands in it */
	if (!rest_read(r, &inner, quoted, &all))
		return false;
	w->flags |= inner.flags & (SHELL_DYNAMIC | SHELL_SPLITS | SHELL_SUBST | SHELL_HOMED);
	w->escaped |= inner.escaped;
	w->literal |= inner.literal;
	leave(r);
	return true;
}
