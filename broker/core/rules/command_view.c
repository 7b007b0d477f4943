/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/command_view.h"

#include "broker/core/rules/operand.h"
#include "broker/core/rules/path_pattern.h"
#include "broker/core/rules/spec_words.h"
#include "libapproval/limits.h"

/* ---- making ---- */

static uint32_t count_args(const struct shell_command *c)
{
	struct shell_args args;
	struct shell_arg arg;
	uint32_t n = 0;

	shell_args_begin(&args, c->words, c->nwords);
	while (n <= LIMIT_RULE_ARGS && shell_args_next(&args, &arg))
		n++;
	return n;
}

size_t command_view_size(const struct shell_command *command, struct bytes home, bool tighten)
{
	size_t size = 2 * home.len + 2;

	for (uint32_t i = 0; i < command->nwords; i++)
		size += 2 * command->words[i].text.len + 1;
	/* each of the two forms, of the words and of the rest */
	size *= tighten ? 4 : 2;
	if (tighten) {
		const uint32_t n = count_args(command);

		if (n > LIMIT_RULE_ARGS)
			return SIZE_MAX;
		size += n * sizeof(struct shell_arg);
	}
	return size;
}

static char *put_text(char *to, struct bytes text)
{
	const char *const p = text.data;

	for (size_t i = 0; i < text.len; i++) {
		if (p[i] == COMMAND_MARK)
			*to++ = COMMAND_MARK;
		*to++ = p[i];
	}
	return to;
}

/* What the shell would expand is marked. */
static char *put_pattern(char *to, struct bytes pattern)
{
	const char *const p = pattern.data;

	for (size_t i = 0; i < pattern.len; i++) {
		const bool escaped = p[i] == '\\' && i + 1 < pattern.len;

		if (escaped)
			i++;
		if (p[i] == COMMAND_MARK || (!escaped && p[i] && strchr("*?[", p[i])))
			*to++ = COMMAND_MARK;
		*to++ = p[i];
	}
	return to;
}

/* Writes the home folder at the start of the word [from, to) as `~`; the new end. */
static char *put_home(char *from, char *to, struct bytes home)
{
	const size_t n = (size_t)(to - from);

	if (home.len < 2 || n < home.len || memcmp(from, home.data, home.len) != 0 ||
		(n > home.len && from[home.len] != '/'))
		return to;
	from[0] = COMMAND_MARK;
	from[1] = SPEC_MARK_HOME;
	memmove(from + 2, from + home.len, n - home.len);
	return from + 2 + (n - home.len);
}

/* home is empty for the form with nothing replaced; it holds no mark. */
static char *put_words(
	char *to, const struct shell_command *c, struct bytes home, bool globs, size_t *base)
{
	for (uint32_t i = 0; i < c->nwords; i++) {
		const struct shell_word *const w = &c->words[i];
		char *const from = i ? to + 1 : to;

		if (i)
			*to++ = GLOB_SEPARATOR;
		to = globs && w->flags & SHELL_GLOB ? put_pattern(to, w->pattern)
						    : put_text(to, w->text);
		to = put_home(from, to, home);
		if (i == 0) {
			const char *const slash = memrchr(from, '/', (size_t)(to - from));

			*base = slash ? (size_t)(slash + 1 - from) : 0;
		}
	}
	return to;
}

static char *put_rest(char *to, const struct command_view *view, struct bytes home)
{
	char *from = to;

	to = put_text(to, view->command->words[0].text);
	to = put_home(from, to, home);
	for (uint32_t i = 0; i < view->n_args; i++) {
		const struct shell_arg *const arg = &view->args[i];
		struct bytes text;

		if (arg->kind != SHELL_ARG_OPERAND && arg->kind != SHELL_ARG_SUBCOMMAND)
			continue;
		*to++ = GLOB_SEPARATOR;
		from = to;
		text = arg->word->text;
		/* a mark in it makes it longer, so it is left as it is */
		if (text.len && memchr(text.data, COMMAND_MARK, text.len))
			to = put_text(to, text);
		else
			to += operand_normal(text, to);
		to = put_home(from, to, home);
	}
	return to;
}

void command_view_make(struct command_view *view, const struct shell_command *command,
	struct bytes home, bool homed, bool tighten, char *mem)
{
	static const struct bytes none = {NULL, 0};
	char *to;

	*view = (struct command_view){.command = command};
	if (home.len && memchr(home.data, COMMAND_MARK, home.len))
		homed = false;
	if (tighten) {
		struct shell_arg *const list = (struct shell_arg *)(void *)mem;
		struct shell_args args;
		struct shell_arg arg;

		shell_args_begin(&args, command->words, command->nwords);
		while (shell_args_next(&args, &arg))
			list[view->n_args++] = arg;
		view->args = list;
		mem = (char *)(list + view->n_args);
	}
	for (uint32_t i = 0; i < command->nwords; i++) {
		view->globs |= (command->words[i].flags & SHELL_GLOB) != 0;
		view->unknown |= (command->words[i].flags & SHELL_DYNAMIC) != 0;
	}
	for (unsigned form = 0; form <= (unsigned)homed; form++) {
		to = put_words(mem, command, form ? home : none, !tighten, &view->base[form]);
		view->words[form] = (struct bytes){mem, (size_t)(to - mem)};
		mem = to;
		if (!tighten)
			continue;
		to = put_rest(mem, view, form ? home : none);
		view->rest[form] = (struct bytes){mem, (size_t)(to - mem)};
		mem = to;
	}
}

/* ---- comparing ---- */

bool command_view_allows(const struct command_view *view, const struct command_pattern *pattern)
{
	const struct bytes text = view->words[pattern->homed];

	return text.data && glob_match(&pattern->words, text);
}

static bool has_wild_option(const struct command_view *view, const struct glob *glob)
{
	const struct bytes start = glob->parts[0];
	/* --name=*: also where the value is a word of its own */
	const bool any_value = glob->n == 2 && glob->parts[1].len == 0 && start.len > 3 &&
			       ((const char *)start.data)[start.len - 1] == '=';

	for (uint32_t i = 1; i < view->command->nwords; i++) {
		const struct bytes word = view->command->words[i].text;

		if (word.len == 0 || *(const char *)word.data != '-')
			continue;
		if (bytes_is(word, "--"))
			return false;
		if (glob_match(glob, word) ||
			(any_value &&
				bytes_equal(word, (struct bytes){start.data, start.len - 1})))
			return true;
	}
	return false;
}

static bool has_option(const struct command_view *view, const struct command_option *option)
{
	if (option->wild)
		return has_wild_option(view, &option->glob);
	for (uint32_t i = 0; i < view->n_args; i++) {
		const struct shell_arg *const arg = &view->args[i];

		if (arg->kind != (option->global ? SHELL_ARG_GLOBAL : SHELL_ARG_OPTION) ||
			!bytes_equal(arg->name, option->name))
			continue;
		if (!option->value.data ||
			(arg->has_value && bytes_equal(arg->value, option->value)))
			return true;
	}
	return false;
}

static bool has_options(const struct command_view *view, const struct command_pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->n_options; i++)
		if (!has_option(view, &pattern->options[i]))
			return false;
	return true;
}

static struct bytes cut(struct bytes *text, char at)
{
	const char *const end = text->len ? memchr(text->data, at, text->len) : NULL;
	const size_t n = end ? (size_t)(end - (const char *)text->data) : text->len;
	const struct bytes head = {text->data, n};

	*text = end ? (struct bytes){end + 1, text->len - n - 1} : (struct bytes){NULL, 0};
	return head;
}

/* Whether the shell may expand the word to this text. */
static bool may_expand(const struct shell_word *word, struct bytes text)
{
	struct bytes pattern = word->pattern;

	if (!(word->flags & SHELL_GLOB))
		return bytes_equal(word->text, text);
	while (pattern.data && text.data)
		if (!path_component_match(cut(&pattern, '/'), cut(&text, '/'), 0))
			return false;
	return !pattern.data && !text.data;
}

/* A pattern without wildcards against words of which some are to be expanded. */
static bool expands_to(const struct command_view *view, const struct command_pattern *pattern)
{
	struct bytes rest = pattern->rest.parts[0];
	const struct bytes name = cut(&rest, GLOB_SEPARATOR);

	if (pattern->rest.n > 1 || pattern->homed ||
		(!bytes_equal(name, view->command->words[0].text) &&
			!bytes_equal(name, shell_name(view->command))))
		return false;
	for (uint32_t i = 0; i < view->n_args; i++) {
		const struct shell_arg *const arg = &view->args[i];

		if (arg->kind != SHELL_ARG_OPERAND && arg->kind != SHELL_ARG_SUBCOMMAND)
			continue;
		if (!rest.data)
			return pattern->rest.open;
		if (!may_expand(arg->word, cut(&rest, GLOB_SEPARATOR)))
			return false;
	}
	return !rest.data;
}

static struct bytes without(struct bytes text, size_t n)
{
	return (struct bytes){(const char *)text.data + n, text.len - n};
}

bool command_view_tightens(
	const struct command_view *view, const struct command_pattern *pattern)
{
	const struct bytes words = view->words[pattern->homed];
	const struct bytes rest = view->rest[pattern->homed];
	const size_t base = view->base[pattern->homed];

	if (!words.data)
		return false;
	if (glob_match(&pattern->words, words) ||
		(base && glob_match(&pattern->words, without(words, base))))
		return true;
	if (!has_options(view, pattern))
		return false;
	return glob_match(&pattern->rest, rest) ||
	       (base && glob_match(&pattern->rest, without(rest, base))) ||
	       (view->globs && expands_to(view, pattern));
}
