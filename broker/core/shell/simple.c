/* SPDX-License-Identifier: MIT */
/* Simple commands: assignments, words and redirections. */
#include "broker/core/shell/reader.h"
#include "libapproval/limits.h"

static struct item *items_at(char *mark)
{
	return (struct item *)(void *)(mark + (-(uintptr_t)mark & (_Alignof(struct item) - 1)));
}

/* An array of as many of the results as there are items of a kind. */
static void *items_array(
	struct reader *r, char *mark, enum item_kind kind, size_t size, uint32_t *n)
{
	*n = 0;
	for (const struct item *i = items_at(mark); (const char *)(i + 1) <= r->stack; i++)
		*n += i->kind == kind;
	return *n ? result_alloc(r, *n, size) : r->results;
}

/* Each letter of such a word is looked at as an option, and by more than one reader. */
static bool letters_count(struct reader *r, struct bytes word)
{
	const char *const p = word.data;

	if (word.len > 2 && p[0] == '-' && p[1] != '-')
		r->letters += (uint32_t)word.len;
	return r->letters <= LIMIT_SHELL_LETTERS || unread(r, "too many options");
}

bool items_take(struct reader *r, char *mark, uint32_t index)
{
	struct shell_command *const c = &r->commands[index];
	uint32_t n_words, n_assigns, n_redirects;
	struct shell_word *const words =
		items_array(r, mark, ITEM_WORD, sizeof(*words), &n_words);
	struct shell_assign *const assigns =
		items_array(r, mark, ITEM_ASSIGN, sizeof(*assigns), &n_assigns);
	struct shell_redirect *const redirects =
		items_array(r, mark, ITEM_REDIRECT, sizeof(*redirects), &n_redirects);

	/* on the way out it has none: nobody counts what is not there */
	if (!words || !assigns || !redirects)
		return false;
	n_words = n_assigns = n_redirects = 0;
	for (const struct item *i = items_at(mark); (const char *)(i + 1) <= r->stack; i++) {
		struct shell_redirect *redirect;

		switch (i->kind) {
		case ITEM_WORD:
			if (!letters_count(r, i->word.text))
				return false;
			words[n_words++] = i->word;
			break;
		case ITEM_ASSIGN:
			assigns[n_assigns++] = (struct shell_assign){i->name, i->word};
			break;
		default:
			redirect = &redirects[n_redirects++];
			*redirect = (struct shell_redirect){i->op, i->input, i->word};
			if (i->doc)
				i->doc->redirect = redirect;
			break;
		}
	}
	c->words = words;
	c->nwords = n_words;
	c->assigns = assigns;
	c->nassigns = n_assigns;
	c->redirects = redirects;
	c->nredirects = n_redirects;
	r->stack = mark;
	return true;
}

/* ---- assignments ---- */

/*
 * The length of NAME=, NAME+= or NAME[SUBSCRIPT]= that stands here, and of the name; 0:
 * none. Of subscripts the plain ones: others make a command of an unknown name.
 */
static size_t assign_length(const struct reader *r, size_t *name)
{
	const char *const p = r->in.p, *const end = r->in.end;
	size_t n = name_length(p, end);

	*name = n;
	if (n == 0)
		return 0;
	if (p + n < end && p[n] == '[') {
		while (++n, p + n < end && n < LIMIT_NAME &&
				    (char_class(p[n]) & CHAR_NAME || memchr("$@*-+.", p[n], 6)))
			;
		if (p + n == end || p[n++] != ']')
			return 0;
	}
	if (p + n < end && p[n] == '+')
		n++;
	return p + n < end && p[n] == '=' ? n + 1 : 0;
}

static bool assign_push(struct reader *r, struct bytes name, const struct shell_word *value)
{
	struct item *const item = stack_alloc(r, sizeof(*item));

	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_ASSIGN, .name = name, .word = *value};
	return true;
}

/* `[SUBSCRIPT]=value` may hold anything up to its end: only the plain ones are read. */
static bool element_is_clear(const struct reader *r)
{
	const char *p = r->in.p;

	if (*p != '[')
		return true;
	while (++p < r->in.end && char_class(*p) & CHAR_NAME)
		;
	return p < r->in.end && *p == ']';
}

/* The words between parentheses, at the first of those. */
static bool array_read(struct reader *r, struct bytes name)
{
	const struct shell_word none = {.offset = offset_at(r, r->in.p)};
	const char *const start = r->in.p;
	char *const mark = r->stack;
	uint32_t n = 0;

	if (r->sh)
		return unread(r, "an array for sh");
	if (r->docs)
		return unread(r, "an array before a here-document's body");
	r->in.p++;
	for (;;) {
		if (!skip_newlines(r))
			return false;
		if (peek(r) == ')')
			break;
		if (!word_follows(r))
			return unread(r, "an array that is not clear");
		if (!element_is_clear(r))
			return unread(r, "an array that is not clear");
		if (!words_read(r, 0, &n))
			return false;
	}
	r->in.p++;
	/* there Bash 5.2 takes the quotes of backslashes away before it reads the array */
	if (r->substitutions && memchr(start, '\\', (size_t)(r->in.p - start)))
		return unread(r, "an array inside of a substitution");
	/* the words on the stack become assignments */
	for (struct item *i = items_at(mark); (char *)(i + 1) <= r->stack; i++) {
		i->kind = ITEM_ASSIGN;
		i->name = name;
	}
	return n || assign_push(r, name, &none);
}

/* What Bash expands each time that it prints it. */
static bool runs_when_printed(struct bytes name, const struct shell_word *value)
{
	static const char *const names[] = {"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", NULL};
	const struct bytes text = value->text;

	return bytes_in(name, names) &&
	       (value->flags & SHELL_DYNAMIC ||
		       (text.len && (memchr(text.data, '$', text.len) ||
					    memchr(text.data, '`', text.len))));
}

static bool assign_read(struct reader *r, size_t name_len, size_t len)
{
	const struct bytes name = {r->in.p, name_len};
	const bool plain = len == name_len + 1;
	struct shell_word value;
	bool brace;

	if (!plain && r->sh)
		return unread(r, "an assignment that sh reads otherwise");
	if (r->in.p[name_len] == '[')
		r->arithmetic = true;
	r->out->flags |= SHELL_HAS_ASSIGN;
	r->out->steps += (uint32_t)len;
	name_assigned(r, name);
	r->in.p += len;
	if (peek(r) == '(')
		return array_read(r, name);
	if (!word_read(r, WORD_VALUE | WORD_NO_BRACE | WORD_NO_SPLIT, &value, &brace))
		return false;
	if (runs_when_printed(name, &value))
		unread(r, "a prompt that runs commands");
	return assign_push(r, name, &value);
}

/* NAME[ where an assignment may stand: the word goes on to the `]`, blanks and all. */
static bool subscript_follows(const struct reader *r)
{
	const size_t n = name_length(r->in.p, r->in.end);

	return n && peek_at(r, n) == '[';
}

/* ---- the command ---- */

struct simple {
	char *mark; /* the items' place on the stack */
	uint32_t index;
	uint32_t nwords;
	bool prefixed; /* something stands before the name */
	bool declares; /* its operands may be arrays */
};

static const struct shell_word *first_word(const struct simple *s)
{
	const struct item *i = items_at(s->mark);

	while (i->kind != ITEM_WORD)
		i++;
	return &i->word;
}

/* `NAME=(…)` as an operand of declare and the like; the word was read up to the `(`. */
static bool operand_array(struct reader *r, const struct simple *s)
{
	struct item *const last = (struct item *)(void *)(r->stack - sizeof(*last));
	const struct bytes text = last->word.text;
	const char *const p = text.data;
	const size_t n = name_length(p, p + text.len);
	char *unknown;

	if (peek(r) != '(' || !s->declares || n == 0 || text.len - n > 2 ||
		p[text.len - 1] != '=' || last->word.flags)
		return true;
	unknown = result_alloc(r, 1, text.len + 1);
	if (!unknown)
		return false;
	memcpy(unknown, p, text.len);
	last->word.text = (struct bytes){unknown, text.len + 1};
	last->word.flags |= SHELL_DYNAMIC;
	r->out->flags |= SHELL_HAS_DYNAMIC;
	return array_read(r, (struct bytes){p, n});
}

static bool name_read(struct reader *r, struct simple *s, bool *function)
{
	static const char *const declaring[] = {
		"declare", "typeset", "local", "export", "readonly", NULL};
	const struct shell_word *word;

	if (subscript_follows(r))
		return unread(r, "a subscript that is not clear");
	if (!words_read(r, WORD_FIRST, &s->nwords))
		return false;
	if (s->nwords == 0)
		return true;
	word = first_word(s);
	s->declares = bytes_in(word->text, declaring);
	if (s->prefixed || s->nwords > 1 || word->flags)
		return true;
	skip_blanks(r);
	if (peek(r) != '(')
		return true;
	*function = true;
	return true;
}

/* What was begun turns out to define a function: after its name, at the `(`. */
static bool function_defined(struct reader *r, struct simple *s)
{
	const struct shell_word word = *first_word(s);

	r->stack = s->mark;
	r->out->n--; /* a plain word: nothing has begun inside of it */
	r->in.p++;
	skip_blanks(r);
	if (peek(r) != ')')
		return unread(r, "a word or sign that does not belong here");
	r->in.p++;
	return function_read(r, word.text);
}

bool simple_read(struct reader *r)
{
	const uint32_t owner = r->owner;
	struct simple s = {.mark = r->stack, .index = command_new(r)};
	bool function = false;

	if (s.index == SHELL_NONE)
		return false;
	r->owner = s.index;
	for (;;) {
		size_t name, len;

		skip_blanks(r);
		if (redirect_follows(r)) {
			s.prefixed = true;
			if (!redirect_read(r))
				return false;
		} else if (!word_follows(r)) {
			break;
		} else if (s.nwords) {
			if (s.declares && subscript_follows(r))
				return unread(r, "a subscript that is not clear");
			if (!words_read(r, 0, &s.nwords) || !operand_array(r, &s))
				return false;
		} else if ((len = assign_length(r, &name)) != 0) {
			s.prefixed = true;
			if (!assign_read(r, name, len))
				return false;
		} else {
			if (!name_read(r, &s, &function))
				return false;
			if (function)
				return r->owner = owner, function_defined(r, &s);
		}
	}
	r->owner = owner;
	if (r->stack == s.mark)
		return unread(r, "a word or sign that does not belong here");
	return items_take(r, s.mark, s.index) && command_finish(r, s.index);
}

uint32_t keyword_new(struct reader *r, const char *word, char **mark)
{
	const uint32_t index = command_new(r);
	struct item *item;

	*mark = r->stack;
	if (index == SHELL_NONE)
		return SHELL_NONE;
	r->commands[index].flags |= SHELL_KEYWORD;
	if (!word)
		return index;
	item = stack_alloc(r, sizeof(*item));
	if (!item)
		return SHELL_NONE;
	*item = (struct item){.kind = ITEM_WORD};
	item->word.text = bytes_of(word);
	item->word.offset = offset_at(r, r->in.p);
	return index;
}
