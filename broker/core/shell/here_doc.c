/* SPDX-License-Identifier: MIT */
/* Here-documents: their bodies come after the line that asks for them. */
#include "broker/core/shell/reader.h"

/* Quotes are taken away, nothing is expanded. */
static bool delimiter_read(struct reader *r, struct here_doc *doc)
{
	char *const start = r->stack;
	char quote = 0;
	const char *text;
	size_t len;

	for (; !at_end(r); r->in.p++) {
		const char c = *r->in.p;

		if (c == '\n' && quote)
			break;
		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
			doc->quoted = true;
		} else if (quote == '\'') {
			stack_put(r, c);
		} else if (c == '$' || c == '`' || (c == '\\' && quote)) {
			return unread(r, "the end mark of a here-document");
		} else if (c == '\\') {
			if (peek_at(r, 1) < 0 || peek_at(r, 1) == '\n')
				return unread(r, "the end mark of a here-document");
			doc->quoted = true;
			stack_put(r, *++r->in.p);
		} else if (!quote && char_class(c) & CHAR_END) {
			break;
		} else {
			stack_put(r, c);
		}
	}
	len = (size_t)(r->stack - start);
	if (quote || (len == 0 && !doc->quoted) || r->full || peek(r) == '<' || peek(r) == '>')
		return unread(r, "the end mark of a here-document");
	text = result_text(r, start, len);
	r->stack = start;
	doc->delimiter = (struct bytes){text, len};
	r->out->steps += (uint32_t)len;
	return text != NULL;
}

bool here_doc_begin(struct reader *r, struct item *item, bool strip)
{
	struct here_doc *const doc = result_alloc(r, 1, sizeof(*doc));

	if (!doc || !delimiter_read(r, doc))
		return false;
	doc->strip = strip;
	doc->runs = SHELL_NONE;
	item->doc = doc;
	item->word.offset = offset_at(r, r->in.p);
	*r->docs_tail = doc;
	r->docs_tail = &doc->next;
	return true;
}

static bool ends_joined(const char *line, const char *end)
{
	size_t n = 0;

	while (end > line && *--end == '\\')
		n++;
	return n & 1;
}

/* Passes the body by; *end is where it ends, before the line with the mark. */
static bool body_find(struct reader *r, const struct here_doc *doc, const char **end)
{
	const struct bytes mark = doc->delimiter;
	bool joined = false;

	for (;;) {
		const char *line = r->in.p;
		const char *stop = memchr(line, '\n', (size_t)(r->in.end - line));

		if (line == r->in.end)
			return unread(r, "a here-document without its end");
		*end = line;
		if (!stop)
			stop = r->in.end;
		r->out->steps += (uint32_t)(stop - line) + 1;
		while (doc->strip && !joined && line < stop && *line == '\t')
			line++;
		r->in.p = stop < r->in.end ? stop + 1 : stop;
		if (!joined && bytes_equal(mark, (struct bytes){line, (size_t)(stop - line)}))
			return true;
		/* within a substitution, some take the mark and a `)` for the end of both */
		if ((size_t)(stop - line) > mark.len && line[mark.len] == ')' &&
			memcmp(line, mark.len ? mark.data : "", mark.len) == 0)
			return unread(r, "a here-document whose end is not clear");
		if (doc->quoted)
			continue;
		joined = ends_joined(line, stop);
		/* lines that could join to the mark */
		if (joined && (doc->strip || ((size_t)(stop - line - 1) <= mark.len &&
						     memcmp(line, mark.data,
							     (size_t)(stop - line - 1)) == 0)))
			return unread(r, "a here-document whose end is not clear");
	}
}

/* The body without the tabs that begin its lines. */
static bool body_strip(struct reader *r, struct bytes *body)
{
	char *const copy = result_text(r, body->data, body->len);
	bool begins = true;
	size_t n = 0;

	if (!copy)
		return false;
	for (size_t i = 0; i < body->len; i++) {
		if (begins && copy[i] == '\t')
			continue;
		begins = copy[i] == '\n';
		copy[n++] = copy[i];
	}
	*body = (struct bytes){copy, n};
	return true;
}

/* What is expanded in it. */
static bool body_expand(struct reader *r, struct shell_word *word, bool fixed)
{
	const struct source after = r->in;
	struct word_state w;

	word_begin(r, &w);
	w.document = true;
	r->in.offset = word->offset;
	r->in.fixed |= fixed;
	r->in.start = r->in.p = word->text.data;
	r->in.end = r->in.p + word->text.len;
	while (!at_end(r)) {
		const char *const from = r->in.p, *p = from;

		while (p < r->in.end && (*p == '"' || !(char_class(*p) & CHAR_DOUBLE)))
			p++;
		put_quoted(r, &w, from, (size_t)(p - from));
		r->out->steps += (uint32_t)(p - from) + 1;
		r->in.p = p;
		if (p < r->in.end && !quote_special(r, &w))
			return false;
	}
	r->in = after;
	w.flags &= ~(unsigned)SHELL_HOMED;
	return word_finish(r, &w, word);
}

static bool body_read(struct reader *r, struct here_doc *doc)
{
	struct shell_word word = {.offset = offset_at(r, r->in.p)};
	const char *const start = r->in.p;
	const char *end = start;
	bool special;

	if (!body_find(r, doc, &end))
		return false;
	word.text = (struct bytes){start, (size_t)(end - start)};
	special = memchr(start, '$', word.text.len) || memchr(start, '`', word.text.len) ||
		  memchr(start, '\\', word.text.len);
	r->out->steps += (uint32_t)word.text.len;
	if (doc->strip && !body_strip(r, &word.text))
		return false;
	if (doc->quoted) {
		word.flags = SHELL_QUOTED;
		r->bait |= special && memchr(start, '[', word.text.len) &&
			   (memmem(start, word.text.len, "[$(", 3) ||
				   memmem(start, word.text.len, "[`", 2));
	} else if (special && !body_expand(r, &word, doc->strip)) {
		return false;
	}
	if (!doc->redirect)
		return unread(r, "a here-document inside of a command's words");
	doc->redirect->target = word;
	if (doc->runs == SHELL_NONE)
		return true;
	return text_word(r, doc->runs, &doc->redirect->target, TEXT_OWN, doc->sh);
}

bool here_docs_read(struct reader *r)
{
	struct here_doc *doc = r->docs;

	r->docs = NULL;
	r->docs_tail = &r->docs;
	for (; doc; doc = doc->next)
		if (!body_read(r, doc))
			return false;
	return true;
}
