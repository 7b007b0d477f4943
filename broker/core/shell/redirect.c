/* SPDX-License-Identifier: MIT */
/* Redirections. */
#include "broker/core/shell/reader.h"

static const char not_clear[] = "a redirection that is not clear";

/* The length of what may stand before the operator: digits, or {name}. */
static size_t prefix_length(const struct reader *r)
{
	const char *const p = r->in.p;
	size_t n = 0, name;

	while (p + n < r->in.end && char_class(p[n]) & CHAR_DIGIT)
		n++;
	if (n || peek(r) != '{')
		return n;
	name = name_length(p + 1, r->in.end);
	return name && peek_at(r, name + 1) == '}' ? name + 2 : 0;
}

bool redirect_follows(const struct reader *r)
{
	const int first = peek(r);
	size_t n;
	int c;

	if (first == '&')
		return peek_at(r, 1) == '>';
	if (first != '<' && first != '>' && first != '{' && (first < '0' || first > '9'))
		return false;
	n = prefix_length(r);
	c = peek_at(r, n);
	return (c == '<' || c == '>') && peek_at(r, n + 1) != '(';
}

/* An operator: its sign, what it does, its descriptor by default. */
struct operator
{
	const char *sign;
	uint8_t op, fd;
	bool bash; /* sh reads it otherwise */
};

static const struct operator operators[] = {
	{"<<<", SHELL_HERE_STRING, 0, true},
	{"<<", SHELL_HERE_DOC, 0, false},
	{"<&", SHELL_COPY, 0, false},
	{"<>", SHELL_READ_WRITE, 0, false},
	{"<", SHELL_READ, 0, false},
	{"&>>", SHELL_APPEND, 1, true},
	{"&>", SHELL_WRITE, 1, true},
	{">>", SHELL_APPEND, 1, false},
	{">&", SHELL_COPY, 1, false},
	{">|", SHELL_WRITE, 1, false},
	{">", SHELL_WRITE, 1, false},
};

static bool is_descriptor(struct bytes text)
{
	const char *const p = text.data;
	size_t n = 0;

	while (n < text.len && char_class(p[n]) & CHAR_DIGIT)
		n++;
	if (n < text.len && p[n] == '-')
		n++;
	return n && n == text.len;
}

/* The class of a redirection by the file that it names. */
static uint8_t file_class(const struct shell_word *word, uint8_t op)
{
	static const char *const copies[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr", NULL};
	const struct bytes path = word->text;

	if (word->flags & SHELL_DYNAMIC)
		return op;
	if (bytes_is(path, "/dev/null"))
		return SHELL_NULL;
	if (bytes_in(path, copies))
		return SHELL_COPY;
	if (path.len > 8 && memcmp(path.data, "/dev/fd/", 8) == 0 &&
		is_descriptor((struct bytes){(const char *)path.data + 8, path.len - 8}))
		return SHELL_COPY;
	return op;
}

/* `>&` and `<&`: a copy of a descriptor, or of the older spelling of `&>`. */
static bool copy_read(struct reader *r, struct item *item, bool write, bool prefix)
{
	const struct shell_word *const word = &item->word;

	if (is_descriptor(word->text) && !(word->flags & SHELL_DYNAMIC))
		return true;
	if (r->sh || prefix || (!write && !(word->flags & SHELL_DYNAMIC)))
		return unread(r, not_clear);
	item->op = file_class(word, write ? SHELL_WRITE : SHELL_READ);
	return true;
}

static bool target_read(struct reader *r, struct item *item, bool write, bool prefix)
{
	const unsigned mode = item->op == SHELL_HERE_STRING ? WORD_NO_BRACE | WORD_NO_SPLIT : 0;
	bool brace;

	skip_blanks(r);
	if (!word_follows(r))
		return unread(r, "a redirection without its target");
	if (!word_read(r, mode, &item->word, &brace))
		return false;
	if (brace)
		return unread(r, not_clear);
	if (item->op == SHELL_HERE_STRING)
		return true;
	if (item->word.flags & SHELL_GLOB) {
		item->word.flags |= SHELL_DYNAMIC; /* the file that matches, if there is one */
		r->out->flags |= SHELL_HAS_DYNAMIC;
	}
	if (item->op == SHELL_COPY)
		return copy_read(r, item, write, prefix);
	item->op = file_class(&item->word, item->op);
	return true;
}

static bool document_read(struct reader *r, struct item *item)
{
	const bool strip = peek(r) == '-';

	r->in.p += strip;
	skip_blanks(r);
	if (!word_follows(r))
		return unread(r, "a redirection without its target");
	return here_doc_begin(r, item, strip);
}

static bool descriptor_read(struct reader *r, int *fd)
{
	const char *const p = r->in.p;
	const size_t n = prefix_length(r);

	*fd = -1;
	r->in.p += n;
	if (n == 0)
		return true;
	if (*p == '{') {
		if (r->sh)
			return unread(r, not_clear);
		name_assigned(r, (struct bytes){p + 1, n - 2});
		*fd = 1024;
		return true;
	}
	if (n > 4)
		return unread(r, not_clear);
	*fd = 0;
	for (size_t i = 0; i < n; i++)
		*fd = *fd * 10 + (p[i] - '0');
	return true;
}

static void note(struct reader *r, const struct item *item)
{
	if (item->op == SHELL_WRITE || item->op == SHELL_APPEND || item->op == SHELL_READ_WRITE)
		r->out->flags |= SHELL_HAS_WRITE;
	if (item->op == SHELL_READ || item->op == SHELL_READ_WRITE)
		r->out->flags |= SHELL_HAS_READ;
}

bool redirect_read(struct reader *r)
{
	struct item *const item = stack_alloc(r, sizeof(*item));
	const struct operator* o = operators;
	const char *sign;
	int fd;

	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_REDIRECT};
	if (!descriptor_read(r, &fd))
		return false;
	sign = r->in.p;
	while (!take(r, o->sign))
		if (++o == operators + sizeof(operators) / sizeof(*operators))
			return unread(r, not_clear);
	/* joined lines may hide that it goes on */
	if (r->in.p != sign + strlen(o->sign) && strchr("<>&|(-", peek(r)) && !at_end(r))
		return unread(r, not_clear);
	if (o->bash && r->sh)
		return unread(r, "a redirection that sh reads otherwise");
	item->op = o->op;
	item->input = fd < 0 ? o->fd == 0 : fd == 0;
	if (o->op == SHELL_HERE_DOC)
		return document_read(r, item);
	if (!target_read(r, item, o->fd == 1, fd >= 0))
		return false;
	note(r, item);
	return true;
}
