/* SPDX-License-Identifier: MIT */
#include "broker/core/shell/reader.h"

#define NAME  CHAR_NAME
#define DIGIT (CHAR_NAME | CHAR_DIGIT)

const uint8_t char_classes[256] = {
	['\t'] = CHAR_END,
	['\n'] = CHAR_END,
	[' '] = CHAR_END,
	['|'] = CHAR_END,
	['&'] = CHAR_END,
	[';'] = CHAR_END,
	['('] = CHAR_END,
	[')'] = CHAR_END,
	['<'] = CHAR_END,
	['>'] = CHAR_END,
	['\\'] = CHAR_QUOTE | CHAR_ESCAPE | CHAR_DOUBLE,
	['\''] = CHAR_QUOTE,
	['"'] = CHAR_QUOTE | CHAR_DOUBLE,
	['$'] = CHAR_QUOTE | CHAR_DOUBLE,
	['`'] = CHAR_QUOTE | CHAR_DOUBLE,
	['*'] = CHAR_GLOB | CHAR_ESCAPE,
	['?'] = CHAR_GLOB | CHAR_ESCAPE,
	['['] = CHAR_GLOB | CHAR_ESCAPE,
	[']'] = CHAR_GLOB | CHAR_ESCAPE,
	['!'] = CHAR_ESCAPE,
	['^'] = CHAR_ESCAPE,
	['{'] = CHAR_MARK,
	['~'] = CHAR_MARK,
	['_'] = NAME,
	['0' ... '9'] = DIGIT,
	['A' ... 'Z'] = NAME,
	['a' ... 'z'] = NAME,
};

static bool at_joined(const struct reader *r)
{
	return peek(r) == '\\' && peek_at(r, 1) == '\n';
}

void skip_joined(struct reader *r)
{
	while (at_joined(r)) {
		r->in.p += 2;
		r->out->steps += 2;
	}
}

void skip_blanks(struct reader *r)
{
	const char *const start = r->in.p;

	for (;;) {
		const int c = peek(r);

		if (c == ' ' || c == '\t')
			r->in.p++;
		else if (c == '\\' && at_joined(r))
			r->in.p += 2;
		else
			break;
	}
	if (peek(r) == '#') {
		const char *const end = memchr(r->in.p, '\n', (size_t)(r->in.end - r->in.p));

		r->in.p = end ? end : r->in.end;
	}
	r->out->steps += (uint32_t)(r->in.p - start) + 1;
}

bool skip_newlines(struct reader *r)
{
	skip_blanks(r);
	while (peek(r) == '\n') {
		r->in.p++;
		if (r->docs && !here_docs_read(r))
			return false;
		skip_blanks(r);
	}
	return true;
}

bool word_follows(const struct reader *r)
{
	const int c = peek(r);

	return c >= 0 && (!(char_class((char)c) & CHAR_END) ||
				 ((c == '<' || c == '>') && peek_at(r, 1) == '('));
}

bool take(struct reader *r, const char *op)
{
	const char *const before = r->in.p;

	for (; *op; op++) {
		if (peek(r) != *op) {
			r->in.p = before;
			return false;
		}
		r->in.p++;
		/* within the operator, or blank after it */
		skip_joined(r);
	}
	return true;
}

bool at_word(const struct reader *r, const char *word)
{
	const char *p = r->in.p;

	for (; *word; word++, p++)
		if (p == r->in.end || *p != *word)
			return false;
	while (r->in.end - p > 1 && p[0] == '\\' && p[1] == '\n')
		p += 2;
	if (p == r->in.end)
		return true;
	/* `<(` and `>(` are parts of a word */
	return char_class(*p) & CHAR_END &&
	       !((*p == '<' || *p == '>') && r->in.end - p > 1 && p[1] == '(');
}

bool take_word(struct reader *r, const char *word)
{
	if (!at_word(r, word))
		return false;
	r->in.p += strlen(word);
	r->out->steps += (uint32_t)strlen(word);
	skip_blanks(r);
	return true;
}

size_t name_length(const char *p, const char *end)
{
	const char *const start = p;

	if (p == end || char_class(*p) & CHAR_DIGIT)
		return 0;
	while (p < end && char_class(*p) & CHAR_NAME)
		p++;
	return (size_t)(p - start);
}

bool bytes_in(struct bytes word, const char *const *list)
{
	for (; *list; list++)
		if (bytes_is(word, *list))
			return true;
	return false;
}

bool shell_is_reserved(struct bytes word)
{
	static const char *const words[] = {"!", "[[", "]]", "case", "coproc", "do", "done",
		"elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
		"time", "until", "while", "{", "}", NULL};

	return bytes_in(word, words);
}
