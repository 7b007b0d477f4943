/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/command_pattern.h"

#include <stdlib.h>

#include "broker/core/rules/operand.h"
#include "broker/core/rules/spec.h"
#include "broker/core/rules/spec_words.h"
#include "broker/core/rules/trie.h"

/*
 * What a pattern is made of lies in one block: parts first, then options, then text. It
 * is sized for the worst, and a glob's parts lie where they were built.
 */
struct maker {
	struct bytes *parts;
	char *to;
	char *part; /* where the current part began */
	struct glob *glob;
	struct command_option *options;
};

static bool is_wild(const char *p)
{
	return p[0] == COMMAND_MARK && p[1] == SPEC_MARK_WILD;
}

static void glob_begin(struct maker *m, struct glob *glob)
{
	*glob = (struct glob){.parts = m->parts, .n = 0};
	m->glob = glob;
	m->part = m->to;
}

static void glob_part(struct maker *m)
{
	*m->parts++ = (struct bytes){m->part, (size_t)(m->to - m->part)};
	m->glob->n++;
	m->part = m->to;
}

/* A word as spec_split wrote it; its wildcards end a part each. */
static void glob_word(struct maker *m, struct bytes word)
{
	const char *const p = word.data;

	for (size_t i = 0; i < word.len; i++) {
		if (p[i] != COMMAND_MARK) {
			*m->to++ = p[i];
		} else if (is_wild(p + i)) {
			glob_part(m);
			i++;
		} else {
			*m->to++ = p[i++];
			*m->to++ = p[i];
		}
	}
}

/* ---- the three ways ---- */

static void make_text(struct command_pattern *out, struct maker *m, struct bytes spec)
{
	char *const start = m->to;
	size_t at = 0;
	char c = 0;
	enum spec_unit unit;

	glob_begin(m, &out->text);
	while ((unit = spec_next(spec, &at, &c)) != SPEC_END) {
		if (unit == SPEC_WILD)
			glob_part(m);
		else
			*m->to++ = c;
	}
	glob_part(m);
	out->wild = out->text.n > 1;
	if (!out->wild)
		out->exact = (struct bytes){start, (size_t)(m->to - start)};
}

static struct bytes keep(struct maker *m, struct bytes text)
{
	const struct bytes kept = {m->to, text.len};

	if (!text.data)
		return text;
	if (text.len)
		memcpy(m->to, text.data, text.len);
	m->to += text.len;
	return kept;
}

/* What stands before the first mark, at most as much as a tree of words tells apart. */
static struct bytes lead_of(struct maker *m, struct bytes word)
{
	const char *const mark = memchr(word.data, COMMAND_MARK, word.len);
	const size_t n = (size_t)(mark - (const char *)word.data);

	return keep(m, (struct bytes){word.data, n < TRIE_LEAD_MAX ? n : TRIE_LEAD_MAX});
}

static void make_words(
	struct command_pattern *out, struct maker *m, const struct spec_words *words, bool open)
{
	glob_begin(m, &out->words);
	for (size_t i = 0; i < words->n; i++) {
		if (i > 0)
			*m->to++ = GLOB_SEPARATOR;
		glob_word(m, words->words[i].text);
	}
	glob_part(m);
	out->words.open = open;
	while (out->n_literal < words->n && !words->words[out->n_literal].marked)
		out->n_literal++;
	if (out->n_literal < words->n)
		out->lead = lead_of(m, words->words[out->n_literal].text);
}

static bool is_option(struct bytes word)
{
	return word.len > 1 && *(const char *)word.data == '-';
}

static void add_option(struct maker *m, const struct shell_arg *arg)
{
	struct command_option *const o = m->options++;

	*o = (struct command_option){
		.name = keep(m, arg->name),
		.global = arg->kind == SHELL_ARG_GLOBAL,
	};
	/* a value with a wildcard is any */
	if (arg->has_value &&
		(arg->value.len == 0 || !memchr(arg->value.data, COMMAND_MARK, arg->value.len)))
		o->value = keep(m, arg->value);
}

static void add_wild_option(struct maker *m, struct bytes word)
{
	struct command_option *const o = m->options++;

	*o = (struct command_option){.wild = true};
	glob_begin(m, &o->glob);
	glob_word(m, word);
	glob_part(m);
}

/* An operand of the pattern, written as the command's are before they are compared. */
static struct bytes normal_operand(struct bytes text, char *buf)
{
	if (text.len && memchr(text.data, COMMAND_MARK, text.len))
		return text;
	return (struct bytes){buf, operand_normal(text, buf)};
}

/* Without options, which are a set: shell is what is left of the words, its first the name. */
static void make_rest(struct command_pattern *out, struct maker *m, struct shell_word *shell,
	uint32_t n, char *buf)
{
	struct shell_args args;
	struct shell_arg arg;
	struct bytes leads = {NULL, 0}; /* the last operand that begins literally */

	/* the options lie before the parts of the rest */
	shell_args_begin(&args, shell, n);
	while (shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL)
			add_option(m, &arg);
	glob_begin(m, &out->rest);
	glob_word(m, shell[0].text);
	shell_args_begin(&args, shell, n);
	while (shell_args_next(&args, &arg)) {
		struct bytes text;
		char *at;

		if (arg.kind != SHELL_ARG_OPERAND && arg.kind != SHELL_ARG_SUBCOMMAND)
			continue;
		text = normal_operand(arg.word->text, buf);
		*m->to++ = GLOB_SEPARATOR;
		at = m->to;
		glob_word(m, text);
		if (!text.len || !memchr(text.data, COMMAND_MARK, text.len)) {
			out->key = (struct bytes){at, text.len};
			leads = (struct bytes){NULL, 0};
		} else if (*(const char *)text.data != COMMAND_MARK) {
			leads = text;
		}
	}
	glob_part(m);
	if (leads.data) {
		out->key = lead_of(m, leads);
		out->key_leads = true;
	}
}

/* The words that are no options with a wildcard, as shell_args wants them; their number. */
static uint32_t plain_words(
	const struct spec_words *words, struct shell_word *shell, struct maker *m)
{
	uint32_t n = 0;
	bool ended = false;

	for (size_t i = 0; i < words->n; i++) {
		const struct spec_word *const w = &words->words[i];

		ended |= bytes_is(w->text, "--");
		if (i == 0 || ended || !w->marked || !is_option(w->text))
			shell[n++] = (struct shell_word){.text = w->text};
		else if (m)
			add_wild_option(m, w->text);
	}
	return n;
}

static size_t count_options(const struct spec_words *words, struct shell_word *shell)
{
	const uint32_t n = plain_words(words, shell, NULL);
	size_t options = words->n - n;
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, shell, n);
	while (shell_args_next(&args, &arg))
		options += arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL;
	return options;
}

static void make_tightening(struct command_pattern *out, struct maker *m,
	const struct spec_words *words, bool open, struct shell_word *shell, char *buf)
{
	struct command_option *const first = m->options;
	const struct spec_word *const last = &words->words[words->n - 1];
	const uint32_t n = plain_words(words, shell, m);

	make_rest(out, m, shell, n, buf);
	out->rest.open = open || (last->wild && is_option(last->text));
	out->options = first;
	out->n_options = (uint32_t)(m->options - first);
}

/* ---- */

static bool bad_escape(struct bytes spec, size_t *at)
{
	size_t next = 0;
	char c;

	for (;;) {
		*at = next;
		switch (spec_next(spec, &next, &c)) {
		case SPEC_END: return false;
		case SPEC_BAD: return true;
		default: break;
		}
	}
}

/* Takes `:*` off the end. */
static bool take_prefix(struct bytes *spec)
{
	const char *const p = spec->data;

	if (spec->len < 2 || memcmp(p + spec->len - 2, ":*", 2) != 0)
		return false;
	spec->len -= 2;
	return true;
}

static size_t count_wild(struct bytes spec)
{
	size_t n = 0;

	for (size_t i = 0; i < spec.len; i++)
		n += ((const char *)spec.data)[i] == '*';
	return n;
}

static int allocate(
	struct command_pattern *out, struct maker *m, size_t parts, size_t options, size_t text)
{
	out->memory = malloc(
		parts * sizeof(struct bytes) + options * sizeof(struct command_option) + text);
	if (!out->memory)
		return -1;
	m->parts = out->memory;
	m->options = (struct command_option *)(void *)(m->parts + parts);
	m->to = (char *)(m->options + options);
	return 0;
}

/* What is needed while a pattern is made. */
struct scratch {
	struct spec_words words;
	struct shell_word *shell;
	char *text;
};

static int scratch_init(struct scratch *s, size_t len)
{
	const size_t words = len / 2 + 2;

	*s = (struct scratch){
		.words.words = calloc(words, sizeof(struct spec_word)),
		.shell = calloc(words, sizeof(struct shell_word)),
		.text = malloc(4 * len + 1), /* the words, and one of them made normal */
	};
	return s->words.words && s->shell && s->text ? 0 : -1;
}

static void scratch_free(struct scratch *s)
{
	free(s->words.words);
	free(s->shell);
	free(s->text);
}

static enum command_error make(struct command_pattern *out, struct scratch *s,
	struct bytes spec, bool open, bool allow)
{
	struct spec_words *const words = &s->words;
	const bool tightens = words->simple && !allow;
	const size_t options = tightens ? count_options(words, s->shell) : 0;
	struct maker m;

	/* text, words and rest each have a part more than wildcards, and so has each option */
	if (allocate(out, &m, 5 * count_wild(spec) + 4, options,
		    (tightens ? 10 : 5) * spec.len + 16) < 0)
		return COMMAND_NO_MEMORY;
	make_text(out, &m, spec);
	out->simple = words->simple;
	out->homed = words->homed;
	if (!words->simple)
		return COMMAND_OK;
	if (!open && words->n > 1 && words->words[words->n - 1].lone) {
		open = true;
		words->n--;
	}
	make_words(out, &m, words, open);
	if (!words->words[0].marked)
		out->name = keep(&m, words->words[0].text);
	if (tightens)
		make_tightening(out, &m, words, open, s->shell, s->text + 2 * spec.len);
	return COMMAND_OK;
}

enum command_error command_pattern_parse(
	struct command_pattern *out, struct bytes spec, bool allow, size_t *at)
{
	struct bytes head = spec;
	struct scratch s;
	bool open;
	enum command_error error;

	*out = (struct command_pattern){.memory = NULL};
	*at = 0;
	if (bad_escape(spec, at))
		return COMMAND_ESCAPE;
	*at = 0;
	open = take_prefix(&head);
	if (head.len == 0)
		return COMMAND_EMPTY;
	if (scratch_init(&s, spec.len) < 0)
		error = COMMAND_NO_MEMORY;
	else if (!spec_split(head, allow, &s.words, s.text, at))
		error = COMMAND_QUOTE;
	else
		error = make(out, &s, spec, open, allow);
	scratch_free(&s);
	return error;
}

void command_pattern_free(struct command_pattern *pattern)
{
	free(pattern->memory);
	pattern->memory = NULL;
}
