/* SPDX-License-Identifier: MIT */
/* [[ … ]] */
#include "broker/core/shell/reader.h"

static const char not_clear[] = "a condition that is not clear";

static bool or_read(struct reader *r);

static bool operand_read(struct reader *r, struct shell_word **word)
{
	struct item *item;
	bool brace;

	if (!word_follows(r) || at_word(r, "]]"))
		return unread(r, not_clear);
	item = stack_alloc(r, sizeof(*item));
	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_WORD};
	*word = &item->word;
	return word_read(r, WORD_NO_BRACE | WORD_NO_SPLIT, &item->word, &brace);
}

/* After =~ a word may hold parentheses and bars. */
static bool regex_read(struct reader *r)
{
	struct item *const item = stack_alloc(r, sizeof(*item));
	struct word_state w;
	unsigned depth = 0;
	int c;

	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_WORD};
	item->word.offset = offset_at(r, r->in.p);
	word_begin(r, &w);
	while ((c = peek(r)) >= 0 &&
		(depth || (c != ' ' && c != '\t' && c != '\n' && c != ')'))) {
		bool ok = true;

		r->out->steps++;
		switch (c) {
		case '\'': ok = quote_single(r, &w); break;
		case '"': ok = quote_double(r, &w); break;
		case '$': ok = expand_dollar(r, &w, true); break;
		case '`': ok = expand_backquote(r, &w, true); break;
		case '\\':
			if (peek_at(r, 1) < 0 || peek_at(r, 1) == '\n')
				return unread(r, not_clear);
			put_quoted(r, &w, r->in.p + 1, 1);
			r->in.p += 2;
			break;
		case ' ':
		case '\t':
		case '\n':
		case ';':
		case '&':
		case '<':
		case '>': return unread(r, not_clear);
		default:
			depth += c == '(';
			depth -= c == ')';
			put_plain(r, &w, r->in.p++, 1);
			break;
		}
		if (!ok)
			return false;
	}
	return (r->stack > w.start || unread(r, not_clear)) && word_finish(r, &w, &item->word);
}

static bool is_unary(const struct shell_word *word)
{
	const char *const p = word->text.data;

	return !word->flags && word->text.len == 2 && p[0] == '-' && p[1] &&
	       strchr("abcdefghknoprstuvwxzGLNORS", p[1]);
}

/* A binary operator that stands here; blanks follow it. */
static bool binary_take(struct reader *r, bool *regex, bool *arithmetic)
{
	static const char *const words[] = {"==", "=", "!=", "-eq", "-ne", "-lt", "-le", "-gt",
		"-ge", "-nt", "-ot", "-ef", NULL};

	*arithmetic = false;
	*regex = take_word(r, "=~");
	if (*regex)
		return true;
	if ((peek(r) == '<' || peek(r) == '>') && peek_at(r, 1) != '(') {
		r->in.p++;
		if (!at_end(r) && strchr("<>&|", peek(r)))
			return false;
		skip_blanks(r);
		return true;
	}
	for (const char *const *w = words; *w; w++)
		if (at_word(r, *w)) {
			*arithmetic = **w == '-' && (*w)[1] != 'o' && (*w)[2] != 't' &&
				      (*w)[2] != 'f';
			r->arithmetic |= *arithmetic;
			return take_word(r, *w);
		}
	return false;
}

/* What is evaluated as an expression may assign. */
static void expression_assigns(struct reader *r, const struct shell_word *word)
{
	const struct bytes text = word->text;

	if (memchr(text.data, '=', text.len) || memmem(text.data, text.len, "++", 2) ||
		memmem(text.data, text.len, "--", 2))
		r->out->flags |= SHELL_HAS_ASSIGN;
}

static bool term_ends(const struct reader *r)
{
	const int c = peek(r);

	return c == ')' || c == '&' || c == '|' || c == '\n' || at_word(r, "]]");
}

static bool term_read(struct reader *r)
{
	struct shell_word *word, *left;
	bool regex, arithmetic;

	if (!skip_newlines(r))
		return false;
	if (take_word(r, "!"))
		return term_read(r);
	if (peek(r) == '(') {
		r->in.p++;
		if (!or_read(r))
			return false;
		if (peek(r) != ')')
			return unread(r, not_clear);
		r->in.p++;
		return skip_newlines(r);
	}
	if (!operand_read(r, &word))
		return false;
	skip_blanks(r);
	if (is_unary(word)) {
		const char op = ((const char *)word->text.data)[1];

		r->arithmetic |= op == 'v' || op == 't';
		if (!operand_read(r, &word))
			return false;
		if (op == 'v')
			expression_assigns(r, word);
		return skip_newlines(r);
	}
	if (term_ends(r))
		return skip_newlines(r);
	left = word;
	if (!binary_take(r, &regex, &arithmetic))
		return unread(r, not_clear);
	if (regex ? !regex_read(r) : !operand_read(r, &word))
		return false;
	if (arithmetic) {
		expression_assigns(r, left);
		expression_assigns(r, word);
	}
	return skip_newlines(r);
}

static bool and_read(struct reader *r)
{
	do {
		if (!term_read(r))
			return false;
	} while (peek(r) == '&' && take(r, "&&"));
	return true;
}

static bool or_read(struct reader *r)
{
	if (!enter(r))
		return false;
	do {
		if (!and_read(r))
			return false;
	} while (peek(r) == '|' && take(r, "||"));
	leave(r);
	return true;
}

bool cond_read(struct reader *r)
{
	const uint32_t owner = r->owner;
	char *mark;
	const uint32_t index = keyword_new(r, "[[", &mark);

	if (r->sh)
		return unread(r, "[[, which sh reads otherwise");
	if (index == SHELL_NONE)
		return false;
	r->owner = index;
	take_word(r, "[[");
	if (!or_read(r))
		return false;
	if (!take_word(r, "]]"))
		return unread(r, not_clear);
	r->owner = owner;
	place_set(r, r->place.here);
	return items_take(r, mark, index);
}
