/* SPDX-License-Identifier: MIT */
/* Compound commands and functions. */
#include "broker/core/shell/reader.h"

static bool need(struct reader *r, const char *word)
{
	return take_word(r, word) || unread(r, "a compound command without its end");
}

/* ---- groups ---- */

static bool brace_read(struct reader *r)
{
	return list_read(r, false) && need(r, "}");
}

static bool subshell_read(struct reader *r)
{
	const struct place before = r->place;
	const uint32_t loops = r->loops;
	uint32_t nest;

	r->in.p++;
	if (peek(r) == '\\' && peek_at(r, 1) == '\n')
		return unread(r, "a joined line after (");
	r->loops = 0;
	if (!nest_enter(r, SHELL_SUBSHELL, SHELL_NONE, &nest) || !list_read(r, false))
		return false;
	if (peek(r) != ')')
		return unread(r, "a subshell without its end");
	r->in.p++;
	r->nest = nest;
	r->loops = loops;
	r->place = before;
	place_set(r, before.here);
	return true;
}

static bool arithmetic_read(struct reader *r)
{
	char *mark;
	const uint32_t index = keyword_new(r, "((", &mark);
	const uint32_t owner = r->owner;

	if (r->sh)
		return unread(r, "((, which sh reads otherwise");
	if (index == SHELL_NONE)
		return false;
	r->owner = index;
	r->in.p += 2;
	if (!expand_arithmetic(r, 0))
		return false;
	r->owner = owner;
	place_set(r, r->place.here);
	return items_take(r, mark, index);
}

/* ---- conditions and loops ---- */

/* After a condition: what runs if it holds, or fails. */
static void place_after(struct reader *r, const struct shell_cwd *where)
{
	if (where)
		r->place.here = where;
}

static bool if_read(struct reader *r)
{
	const struct shell_cwd *result = NULL, *bad;

	for (;;) {
		if (!list_read(r, false) || !need(r, "then"))
			return false;
		bad = r->place.bad;
		place_after(r, r->place.ok);
		if (!list_read(r, false))
			return false;
		result = cwd_join(r, result, cwd_join(r, r->place.ok, r->place.bad));
		place_after(r, bad);
		if (!take_word(r, "elif"))
			break;
	}
	if (take_word(r, "else")) {
		if (!list_read(r, false))
			return false;
		bad = cwd_join(r, r->place.ok, r->place.bad);
	}
	result = cwd_join(r, result, bad);
	r->place.ok = r->place.bad = result;
	return need(r, "fi");
}

static bool body_read(struct reader *r, uint32_t first, const struct place *before)
{
	r->loops++;
	if (!need(r, "do") || !list_read(r, false) || !need(r, "done"))
		return false;
	r->loops--;
	place_loop(r, first, before);
	return true;
}

static bool while_read(struct reader *r)
{
	const struct place before = r->place;
	const uint32_t first = r->out->n;

	if (!list_read(r, false))
		return false;
	place_after(r, cwd_join(r, r->place.ok, r->place.bad));
	return body_read(r, first, &before);
}

/* The body of for and select, which braces may hold as well. */
static bool for_body(struct reader *r)
{
	const struct place before = r->place;
	const uint32_t first = r->out->n;

	if (!at_word(r, "{"))
		return body_read(r, first, &before);
	take_word(r, "{");
	r->loops++;
	if (!brace_read(r))
		return false;
	r->loops--;
	place_loop(r, first, &before);
	return true;
}

/* The words after `in`, up to the separator, which is taken. */
static bool for_words(struct reader *r)
{
	uint32_t n = 0;

	for (;;) {
		skip_blanks(r);
		if (!word_follows(r))
			break;
		if (!words_read(r, 0, &n))
			return false;
	}
	if (peek(r) == ';' && !(peek_at(r, 1) == ';' || peek_at(r, 1) == '&'))
		r->in.p++;
	else if (peek(r) != '\n')
		return unread(r, "a loop that is not clear");
	return skip_newlines(r);
}

static bool for_head(struct reader *r)
{
	const size_t n = name_length(r->in.p, r->in.end);
	const struct bytes name = {r->in.p, n};

	r->in.p += n;
	if (n == 0 || (!at_end(r) && !(char_class(*r->in.p) & CHAR_END)))
		return unread(r, "a loop that is not clear");
	name_assigned(r, name);
	r->out->flags |= SHELL_HAS_ASSIGN;
	if (!skip_newlines(r))
		return false;
	if (take_word(r, "in"))
		return for_words(r);
	/* over the positional parameters, which aren't known */
	r->out->flags |= SHELL_HAS_DYNAMIC;
	if (peek(r) == ';' && !(peek_at(r, 1) == ';' || peek_at(r, 1) == '&'))
		r->in.p++;
	return skip_newlines(r);
}

static bool for_arithmetic(struct reader *r)
{
	if (r->sh)
		return unread(r, "a loop for Bash");
	r->in.p += 2;
	if (!expand_arithmetic(r, 2))
		return false;
	skip_blanks(r);
	if (peek(r) == ';' && !(peek_at(r, 1) == ';' || peek_at(r, 1) == '&'))
		r->in.p++;
	return skip_newlines(r);
}

static bool for_read(struct reader *r, const char *word)
{
	const uint32_t owner = r->owner;
	const bool arithmetic = peek(r) == '(' && peek_at(r, 1) == '(' && *word == 'f';
	char *mark;
	const uint32_t index = keyword_new(r, word, &mark);

	if (*word == 's' && r->sh)
		return unread(r, "select for sh");
	if (index == SHELL_NONE)
		return false;
	r->owner = index;
	if (arithmetic ? !for_arithmetic(r) : !for_head(r))
		return false;
	r->owner = owner;
	return items_take(r, mark, index) && for_body(r);
}

/* ---- case ---- */

static bool pattern_read(struct reader *r)
{
	struct shell_word pattern;
	bool brace;

	if (peek(r) == '(') {
		r->in.p++;
		skip_blanks(r);
	}
	for (;;) {
		if (!word_follows(r))
			return unread(r, "a pattern is missing");
		if (!word_read(r, WORD_NO_BRACE, &pattern, &brace))
			return false;
		skip_blanks(r);
		if (peek(r) != '|')
			break;
		r->in.p++;
		skip_blanks(r);
	}
	if (peek(r) != ')')
		return unread(r, "a pattern that is not clear");
	r->in.p++;
	return true;
}

static bool clauses_read(struct reader *r)
{
	const struct shell_cwd *const before = r->place.here;
	const struct shell_cwd *result = before;

	for (;;) {
		bool more;

		if (!skip_newlines(r))
			return false;
		if (at_word(r, "esac"))
			break;
		r->place.here = before;
		if (!pattern_read(r))
			return false;
		place_set(r, before);
		if (!list_read(r, true))
			return false;
		result = cwd_join(r, result, cwd_join(r, r->place.ok, r->place.bad));
		more = take(r, ";;&") || take(r, ";;") || take(r, ";&");
		if (!more)
			break;
	}
	place_set(r, result);
	return need(r, "esac");
}

static bool case_read(struct reader *r)
{
	const uint32_t owner = r->owner;
	char *mark;
	const uint32_t index = keyword_new(r, "case", &mark);
	struct item *item;
	bool brace;

	if (index == SHELL_NONE)
		return false;
	r->owner = index;
	item = stack_alloc(r, sizeof(*item));
	if (!item)
		return false;
	*item = (struct item){.kind = ITEM_WORD};
	if (!word_follows(r))
		return unread(r, "a word is missing");
	if (!word_read(r, WORD_NO_BRACE | WORD_NO_SPLIT, &item->word, &brace) ||
		!items_take(r, mark, index) || !skip_newlines(r) || !need(r, "in"))
		return false;
	if (!clauses_read(r))
		return false;
	r->owner = owner;
	return true;
}

/* ---- functions and coprocesses ---- */

static bool function_body(struct reader *r, bool *moves)
{
	const struct place before = r->place;
	const uint32_t flags = r->command_flags, loops = r->loops;
	const uint32_t from = r->from, from_end = r->from_end;
	uint32_t nest;

	if (!compound_follows(r))
		return unread(r, "a function without a body");
	if (!nest_enter(r, SHELL_FUNCTION, SHELL_NONE, &nest))
		return false;
	r->command_flags |= SHELL_IN_FUNCTION | SHELL_STDIN_UNKNOWN;
	r->loops = r->from = r->from_end = 0;
	place_set(r, &cwd_unknown);
	if (!compound_read(r))
		return false;
	*moves = r->place.moves != before.moves;
	r->place = before;
	r->command_flags = flags;
	r->loops = loops;
	r->from = from;
	r->from_end = from_end;
	r->nest = nest;
	return true;
}

bool function_read(struct reader *r, struct bytes name)
{
	/* what is read by its name here must be what it is known for */
	static const char *const own[] = {".", "[", "alias", "bg", "break", "builtin", "cd",
		"command", "continue", "declare", "dirs", "disown", "enable", "eval", "exec",
		"exit", "export", "fg", "getopts", "hash", "let", "local", "mapfile", "popd",
		"printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "set",
		"shift", "shopt", "source", "test", "time", "trap", "type", "typeset", "unset",
		"unalias", "wait", NULL};
	const struct shell_cwd *here;
	bool moves = false;

	if (bytes_in(name, own))
		unread(r, "a function in the place of a builtin");
	r->out->flags |= SHELL_HAS_FUNCTION;
	if (!skip_newlines(r) || !function_body(r, &moves))
		return false;
	here = r->place.here;
	if (moves) {
		r->lost = true; /* wherever it is called */
		r->place.moves++;
	}
	place_set(r, here);
	return true;
}

static bool function_keyword(struct reader *r)
{
	struct shell_word name;
	bool brace;

	if (r->sh)
		return unread(r, "function, which sh reads otherwise");
	if (!word_follows(r))
		return unread(r, "a function without a name");
	if (!word_read(r, WORD_FIRST, &name, &brace))
		return false;
	if (name.flags || brace)
		return unread(r, "a function's name that is not clear");
	skip_blanks(r);
	if (peek(r) == '(' && peek_at(r, 1) != '(') {
		r->in.p++;
		skip_blanks(r);
		if (peek(r) != ')')
			return unread(r, "a function that is not clear");
		r->in.p++;
	}
	return function_read(r, name.text);
}

static bool coproc_read(struct reader *r)
{
	const struct place before = r->place;
	const struct source start = r->in;
	const uint32_t flags = r->command_flags;
	const size_t n = name_length(r->in.p, r->in.end);
	bool ok;

	if (r->sh)
		return unread(r, "coproc for sh");
	r->command_flags |= SHELL_BACKGROUND | SHELL_STDIN_UNKNOWN;
	if (!compound_follows(r) && n) {
		r->in.p += n;
		skip_blanks(r);
		if (compound_follows(r) && r->in.p > start.p + n)
			name_assigned(r, (struct bytes){start.p, n});
		else
			r->in = start;
	}
	ok = compound_follows(r) ? compound_read(r) : simple_read(r);
	r->command_flags = flags;
	r->place = before;
	place_set(r, before.here);
	return ok;
}

/* ---- which ---- */

bool compound_follows(const struct reader *r)
{
	switch (peek(r)) {
	case '(': return true;
	case '{': return at_word(r, "{");
	case '[': return at_word(r, "[[");
	case 'c': return at_word(r, "case") || at_word(r, "coproc");
	case 'f': return at_word(r, "for") || at_word(r, "function");
	case 'i': return at_word(r, "if");
	case 's': return at_word(r, "select");
	case 'u': return at_word(r, "until");
	case 'w': return at_word(r, "while");
	default: return false;
	}
}

static bool kind_read(struct reader *r)
{
	if (peek(r) == '(')
		return peek_at(r, 1) == '(' ? arithmetic_read(r) : subshell_read(r);
	if (take_word(r, "{"))
		return brace_read(r);
	if (at_word(r, "[["))
		return cond_read(r);
	if (take_word(r, "if"))
		return if_read(r);
	if (take_word(r, "while") || take_word(r, "until"))
		return while_read(r);
	if (take_word(r, "for"))
		return for_read(r, "for");
	if (take_word(r, "select"))
		return for_read(r, "select");
	return need(r, "case") && case_read(r);
}

/* The input that a compound command is given is what the commands in it read. */
static void input_given(struct reader *r, uint32_t first, uint32_t index)
{
	const struct shell_command *const head = &r->commands[index];
	bool given = false;

	for (uint32_t i = 0; i < head->nredirects; i++) {
		const struct shell_redirect *const redirect = &head->redirects[i];

		given |= redirect->input && redirect->op != SHELL_NULL;
	}
	if (!given)
		return;
	r->out->steps += index - first;
	for (uint32_t i = first; i < index; i++) {
		struct shell_command *const c = &r->commands[i];

		if (c->flags & SHELL_READS_CODE)
			unread_at(r, "a shell whose input is not read", c->offset);
		if (c->from == c->from_end) {
			c->from = index;
			c->from_end = index + 1;
		}
	}
}

static bool redirects_read(struct reader *r, uint32_t first)
{
	const uint32_t owner = r->owner;
	uint32_t index;
	char *mark;

	skip_blanks(r);
	if (!redirect_follows(r))
		return true;
	index = keyword_new(r, NULL, &mark);
	if (index == SHELL_NONE)
		return false;
	r->owner = index;
	for (; redirect_follows(r); skip_blanks(r))
		if (!redirect_read(r))
			return false;
	r->owner = owner;
	if (!items_take(r, mark, index))
		return false;
	input_given(r, first, index);
	return true;
}

bool compound_read(struct reader *r)
{
	const uint32_t first = r->out->n;

	/* these end with a command that takes the redirections itself */
	if (take_word(r, "function"))
		return function_keyword(r);
	if (take_word(r, "coproc"))
		return coproc_read(r);
	if (!enter(r) || !kind_read(r) || !redirects_read(r, first))
		return false;
	leave(r);
	return true;
}
