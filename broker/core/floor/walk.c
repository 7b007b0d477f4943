/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/walk.h"

/* What has to be known of all words before the first is looked at. */
struct shape {
	const struct use *use;
	const struct shell_word *last; /* operand; NULL: there is none */
	uint32_t operands;	       /* that may be paths */
	bool deep, in_place, into, code;
};

/* ---- words of commands that run others ---- */

/* Where the words of the command begin that this one runs; nwords: it runs none by words. */
static uint32_t own_words(const struct walk *w, uint32_t index)
{
	const struct shell_command *const c = &w->shell->commands[index];

	if (!(c->flags & SHELL_WRAPS))
		return c->nwords;
	for (uint32_t i = index + 1; i < w->shell->n; i++) {
		const struct shell_command *const inner = &w->shell->commands[i];

		if (inner->via != index)
			continue;
		if (inner->words >= c->words && inner->words <= c->words + c->nwords)
			return (uint32_t)(inner->words - c->words);
		break; /* by a text, which has been read */
	}
	return 1;
}

/* ---- tests: only what is looked for is a path ---- */

static bool is_file_test(struct bytes word)
{
	const char *const p = word.data;

	return word.len == 2 && *p == '-' && p[1] && strchr("abcdefghkprsuwxGLNOS", p[1]);
}

static bool walk_test(struct walk *w, const struct shell_command *c)
{
	for (uint32_t k = 2; k < c->nwords; k++)
		if (is_file_test(c->words[k - 1].text) &&
			walk_word(w, &c->words[k], FLOOR_READ))
			return true;
	return false;
}

static bool walk_keyword(struct walk *w, const struct shell_command *c)
{
	if (c->nwords == 0)
		return false;
	if (bytes_is(c->words[0].text, "[["))
		return walk_test(w, c);
	if (!bytes_is(c->words[0].text, "for") && !bytes_is(c->words[0].text, "select"))
		return false;
	for (uint32_t k = 1; k < c->nwords; k++)
		if (walk_word(w, &c->words[k], FLOOR_READ))
			return true;
	return false;
}

/* ---- dd ---- */

static bool walk_dd(struct walk *w, const struct shell_command *c)
{
	for (uint32_t k = 1; k < c->nwords; k++) {
		const struct bytes text = c->words[k].text;
		bool ended;

		if (text.len > 3 && memcmp(text.data, "of=", 3) == 0)
			ended = walk_text(w, &c->words[k],
				(struct bytes){(const char *)text.data + 3, text.len - 3},
				FLOOR_WRITE | FLOOR_FILE);
		else
			ended = walk_word(w, &c->words[k], FLOOR_READ);
		if (ended)
			return true;
	}
	return false;
}

/* ---- options and operands ---- */

/* Does an option of an interpreter give the code, so that no operand is a script? */
static bool gives_code(const struct use *use, struct bytes option)
{
	return use->shape == USE_SCRIPT && use_lists(use->texts, option);
}

/* Until the words of another command begin. */
static bool next_arg(
	struct shell_args *args, const struct shell_word *end, struct shell_arg *out)
{
	return shell_args_next(args, out) && out->word < end;
}

static void shape_of(const struct shell_command *c, const struct use *use,
	const struct shell_word *end, struct shape *s)
{
	struct shell_args args;
	struct shell_arg arg;

	*s = (struct shape){.use = use};
	s->deep = use->always_deep;
	if (use->shape != USE_COPY && use->shape != USE_MOVE && use->shape != USE_SCRIPT &&
		!s->deep && !*use->deep && !*use->in_place)
		return; /* none of it matters */
	shell_args_begin(&args, c->words, c->nwords);
	while (next_arg(&args, end, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND && !arg.is_text) {
			s->last = arg.word;
			s->operands++;
		}
		if (arg.kind != SHELL_ARG_OPTION && arg.kind != SHELL_ARG_GLOBAL)
			continue;
		s->deep |= use_lists(s->use->deep, arg.name);
		s->in_place |= use_lists(s->use->in_place, arg.name);
		s->into |= use_lists(s->use->writes, arg.name);
		s->code |= gives_code(use, arg.name);
	}
}

/* How the n-th operand is used; last: it is the last of several. */
static unsigned operand_use(const struct shape *s, uint32_t n, bool last)
{
	const unsigned deep = s->deep ? FLOOR_DEEP : FLOOR_FILE;

	last = last && n > 0 && !s->into;
	switch ((enum use_shape)s->use->shape) {
	case USE_FILES: return FLOOR_READ | deep | (s->in_place ? FLOOR_WRITE : 0);
	case USE_WRITE: return FLOOR_WRITE | deep;
	case USE_COPY: return last ? FLOOR_WRITE | FLOOR_FILE : FLOOR_READ | deep;
	case USE_MOVE: return FLOOR_WRITE | FLOOR_FILE | FLOOR_MOVE | (last ? FLOOR_PARTS : 0);
	case USE_REMOVE: return FLOOR_WRITE | (s->deep ? FLOOR_DELETE : FLOOR_FILE);
	case USE_PERMIT: return FLOOR_WRITE | FLOOR_FILE | FLOOR_PERMIT;
	case USE_FOLDER: return FLOOR_WRITE | FLOOR_FOLDER;
	case USE_FIRST: return n == 0 ? FLOOR_WRITE | FLOOR_FILE : FLOOR_READ | deep;
	case USE_SECOND: return n == 1 ? FLOOR_WRITE | FLOOR_FILE : FLOOR_READ;
	case USE_SCRIPT:
		return FLOOR_READ | (n == 0 && !s->code ? FLOOR_RUN : 0) |
		       (s->in_place ? FLOOR_WRITE : 0);
	case USE_SOURCE: return FLOOR_READ | (n == 0 ? FLOOR_RUN | FLOOR_FILE : 0);
	case USE_NAMES: return FLOOR_READ | FLOOR_LOOK;
	default: return FLOOR_READ;
	}
}

#define TARGET (FLOOR_DELETE | FLOOR_MOVE | FLOOR_PERMIT)

/* What find or xargs puts in the place of a word, or behind the others. */
static bool walk_placed(
	struct walk *w, const struct shape *s, const struct shell_word *word, unsigned use)
{
	const struct shell_command *const c = w->command;
	const struct shell_command *by =
		c->via == SHELL_NONE ? NULL : &w->shell->commands[c->via];
	const struct operand unknown = {.word = word, .use = use};

	if (s->use->shape == USE_REMOVE)
		use |= FLOOR_DELETE;
	if (!(use & TARGET) || !by)
		return false;
	/* find … | xargs rm -rf */
	if (bytes_is(shell_name(by), "xargs") && c->from_end == c->from + 1) {
		by = &w->shell->commands[c->from];
		if (!s->deep && s->use->shape == USE_REMOVE)
			return false;
	}
	if (bytes_is(shell_name(by), "find"))
		return walk_found(w, by, word, use);
	return s->deep && s->use->shape == USE_REMOVE && w->visit(w, &unknown);
}

/* The use of the next operand, where an option of which nothing is known may have it. */
enum pending {
	PENDING_NONE,
	PENDING_TEXT,
	PENDING_OUTPUT,
};

static enum pending pending_of(
	const struct shape *s, const struct shell_args *args, const struct shell_arg *arg)
{
	if (gives_code(s->use, arg->name))
		return PENDING_NONE;
	if (use_lists(s->use->texts, arg->name) || (!args->table && use_is_prose(arg->name)))
		return PENDING_TEXT;
	if (use_lists(s->use->writes, arg->name) ||
		(!args->table && s->use->shape == USE_OTHER && use_is_output(arg->name)))
		return PENDING_OUTPUT;
	return PENDING_NONE;
}

/*
 * Text for curl and the like, in which @ or < stands before a file: -d @FILE, -F name=@FILE,
 * -F name=<FILE, --data-urlencode name@FILE, the last where it looks like a path.
 */
static bool walk_at(struct walk *w, const struct shell_word *word, struct bytes text)
{
	const char *const p = text.data;

	for (size_t i = 0; i + 1 < text.len; i++) {
		if ((p[i] != '@' && p[i] != '<') ||
			(i > 0 && p[i - 1] != '=' && (p[i] == '<' || !strchr("/~.", p[i + 1]))))
			continue;
		return walk_text(
			w, word, (struct bytes){p + i + 1, text.len - i - 1}, FLOOR_READ);
	}
	return false;
}

static bool walk_option(struct walk *w, const struct shape *s, const struct shell_args *args,
	const struct shell_arg *arg, enum pending *pending)
{
	const struct shell_word *const word = arg->value_word ? arg->value_word : arg->word;
	const enum pending mine = pending_of(s, args, arg);
	unsigned use = FLOOR_READ;

	if (!arg->has_value) {
		if (args->cluster.len == 0)
			*pending = mine;
		/* letters of one word come one by one */
		return arg->word->text.len > 2 && args->cluster.len == 0 &&
		       walk_text(w, arg->word, arg->word->text, FLOOR_READ);
	}
	if (mine == PENDING_TEXT)
		return false;
	if (arg->is_text) /* code is no prose: it is tried as one path */
		return walk_at(w, word, arg->value) ||
		       (gives_code(s->use, arg->name) &&
			       walk_text(w, word, arg->value, FLOOR_READ));
	if (mine == PENDING_OUTPUT)
		use = FLOOR_WRITE | FLOOR_FILE;
	if (s->use->shape == USE_MOVE && mine == PENDING_OUTPUT)
		use |= FLOOR_MOVE | FLOOR_PARTS;
	if (arg->value_word)
		return walk_word(w, word, use);
	return walk_text(w, word, arg->value, use);
}

static bool walk_operands(struct walk *w, const struct shell_command *c, const struct use *use,
	const struct shell_word *end)
{
	enum pending pending = PENDING_NONE;
	bool placed = false;
	struct shell_args args;
	struct shell_arg arg;
	struct shape s;
	uint32_t n = 0;

	shape_of(c, use, end, &s);
	shell_args_begin(&args, c->words, c->nwords);
	while (next_arg(&args, end, &arg)) {
		const enum pending before = pending;
		unsigned how;

		pending = PENDING_NONE;
		/* letters of one word are options of their own */
		if (!walk_spend(w, 32))
			return true;
		if (arg.kind == SHELL_ARG_END)
			continue;
		if (arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL) {
			if (walk_option(w, &s, &args, &arg, &pending))
				return true;
			continue;
		}
		if (before == PENDING_TEXT || (arg.is_text && s.use->shape != USE_PERMIT))
			continue;
		how = operand_use(&s, n, arg.word == s.last);
		if (before == PENDING_OUTPUT)
			how = FLOOR_WRITE | FLOOR_FILE;
		else
			n += arg.kind == SHELL_ARG_OPERAND;
		if (arg.word->flags & SHELL_PLACE) {
			/* a second one stands for the same */
			if (!placed && walk_placed(w, &s, arg.word, how))
				return true;
			placed = true;
		} else if (walk_word(w, arg.word, how)) {
			return true;
		}
	}
	if (c->flags & SHELL_MORE && walk_placed(w, &s, c->words, operand_use(&s, n, false)))
		return true;
	if (s.deep && s.operands == 0 && s.use->shape == USE_FILES) {
		const struct operand here = {.word = c->words,
			.text = bytes_of("."),
			.use = FLOOR_READ | FLOOR_DEEP};

		return w->visit(w, &here);
	}
	return false;
}

/* ---- what echo and printf give to others ---- */

static bool is_echo(const struct shell_command *c)
{
	const struct bytes name = shell_name(c);

	return !(c->flags & SHELL_KEYWORD) &&
	       (bytes_is(name, "echo") || bytes_is(name, "printf"));
}

/* A command that takes what comes from a pipe as operands or as code. */
static bool walk_given(struct walk *w, const struct shell_command *c)
{
	bool tokens = false, asked = false;

	if (!walk_spend(w, c->from_end - c->from))
		return true;
	for (uint32_t i = c->from; i < c->from_end; i++) {
		const struct shell_command *const by = &w->shell->commands[i];

		if (!is_echo(by))
			continue;
		if (!asked) {
			tokens =
				c->flags & SHELL_READS_CODE || bytes_is(shell_name(c), "xargs");
			if (!tokens && !(shell_traits(c) & SHELL_INTERPRETS))
				return false;
			asked = true;
		}
		for (uint32_t k = 1; k < by->nwords; k++)
			if (tokens ? walk_tokens(w, &by->words[k])
				   : walk_word(w, &by->words[k], FLOOR_READ))
				return true;
	}
	return false;
}

/* ---- the whole ---- */

static bool walk_redirects(struct walk *w, const struct shell_command *c)
{
	for (uint32_t i = 0; i < c->nredirects; i++) {
		const struct shell_redirect *const r = &c->redirects[i];
		unsigned use = FLOOR_FILE;

		switch ((enum shell_redirect_op)r->op) {
		case SHELL_READ: use |= FLOOR_READ; break;
		case SHELL_WRITE:
		case SHELL_APPEND: use |= FLOOR_WRITE; break;
		case SHELL_READ_WRITE: use |= FLOOR_READ | FLOOR_WRITE; break;
		default: continue;
		}
		if (walk_word(w, &r->target, use))
			return true;
	}
	return false;
}

static bool walk_assigns(struct walk *w, const struct shell_command *c)
{
	for (uint32_t i = 0; i < c->nassigns; i++)
		if (walk_word(w, &c->assigns[i].value, FLOOR_READ))
			return true;
	return false;
}

bool walk_command(struct walk *w, uint32_t index)
{
	const struct shell_command *const c = &w->shell->commands[index];
	const struct use *use;

	w->command = c;
	/* what it runs has the same redirections */
	if ((c->via == SHELL_NONE && walk_redirects(w, c)) || walk_assigns(w, c))
		return true;
	if (c->flags & SHELL_KEYWORD)
		return walk_keyword(w, c);
	if (c->nwords == 0)
		return false;
	if (walk_word(w, c->words, FLOOR_RUN) || walk_given(w, c))
		return true;
	use = use_find(shell_name(c));
	switch ((enum use_shape)use->shape) {
	case USE_TEST: return walk_test(w, c);
	case USE_FIND: return walk_find(w, c);
	case USE_TAR: return walk_tar(w, c);
	case USE_DD: return walk_dd(w, c);
	default: break;
	}
	return walk_operands(w, c, use, c->words + own_words(w, index));
}
