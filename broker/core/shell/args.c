/* SPDX-License-Identifier: MIT */
/* A command's words as options and operands. */
#include "broker/core/shell/option.h"
#include "broker/core/shell/runner.h"

enum args_state {
	ARGS_SUBCOMMAND = 1, /* is to come */
	ARGS_TEXT = 2,	     /* the first operand is text */
};

static const struct option_table *table_of(const struct shell_args *args)
{
	return args->table;
}

/* The option gives what would be the first operand. */
static bool gives_text(const struct option_table *table, const struct shell_arg *arg)
{
	return (arg->kind == SHELL_ARG_OPTION || arg->kind == SHELL_ARG_GLOBAL) &&
	       words_have(table->gives, arg->name);
}

static void table_set(struct shell_args *args, const struct option_table *table)
{
	struct shell_args ahead;
	struct shell_arg arg;

	args->table = table;
	/* it may stand behind the operands */
	ahead = *args;
	if (table && table->flags & OPTION_TEXT_FIRST) {
		args->state |= ARGS_TEXT;
		while (*table->gives && shell_args_next(&ahead, &arg))
			if (gives_text(table, &arg))
				args->state &= ~(uint32_t)ARGS_TEXT;
	}
	if (table && table->flags & OPTION_SUBCOMMANDS)
		args->state |= ARGS_SUBCOMMAND;
}

void shell_args_begin(struct shell_args *args, const struct shell_word *words, uint32_t n)
{
	const struct shell_command command = {.words = words, .nwords = n};
	const struct bytes name = shell_name(&command);

	*args = (struct shell_args){.word = words + (n > 0), .end = words + n};
	args->name = name;
	table_set(args, name.len ? option_find(name, (struct bytes){0}) : NULL);
}

static bool take_value(struct shell_args *args, struct shell_arg *out)
{
	if (args->word == args->end)
		return false;
	out->has_value = true;
	out->value_word = args->word++;
	out->value = out->value_word->text;
	return true;
}

static const char *find(const char *letters, char c)
{
	return c ? strchr(letters, c) : NULL;
}

/* The next of clustered short options. */
static void short_next(struct shell_args *args, struct shell_arg *out)
{
	const struct option_table *const table = table_of(args);
	const char *const p = args->cluster.data;
	const char *valued;

	size_t n = 1;

	/* a number is one option, and letters may stand behind it: grep -5i */
	if (*p >= '0' && *p <= '9')
		while (n < args->cluster.len && p[n] >= '0' && p[n] <= '9')
			n++;
	out->word = args->word - 1;
	out->name = (struct bytes){p, n};
	args->cluster.data = p + n;
	args->cluster.len -= n;
	valued = table ? find(table->valued, *p) : NULL;
	if (!valued || (valued[1] == '?' && args->cluster.len == 0))
		return;
	out->is_text = find(table->text, *p) != NULL;
	if (args->cluster.len) {
		out->has_value = true;
		out->value = args->cluster;
		args->cluster.len = 0;
	} else {
		take_value(args, out);
	}
}

static void long_next(struct shell_args *args, struct shell_arg *out, size_t dashes)
{
	const struct option_table *const table = table_of(args);
	const struct bytes text = out->word->text;
	const char *const p = (const char *)text.data + dashes;
	const char *const end = (const char *)text.data + text.len;
	const char *const equal = memchr(p, '=', (size_t)(end - p));
	struct option_long known;

	out->name = (struct bytes){p, (size_t)((equal ? equal : end) - p)};
	if (equal) {
		out->has_value = true;
		out->value = (struct bytes){equal + 1, (size_t)(end - equal - 1)};
	}
	out->shortened = dashes == 2 && out->name.len < 2;
	if (!table || !option_long(table, out->name, &known))
		return;
	out->shortened |= !known.whole;
	out->name = known.letter ? (struct bytes){known.letter, 1} : known.name;
	if (known.named && !equal)
		take_value(args, out);
	if (known.value && !equal)
		take_value(args, out);
	out->is_text = known.text && out->has_value;
}

static void option_next(struct shell_args *args, struct shell_arg *out)
{
	const struct option_table *const table = table_of(args);
	const unsigned flags = table ? table->flags : 0;
	const struct bytes text = out->word->text;
	const char *const p = text.data;

	out->kind = args->state & ARGS_SUBCOMMAND ? SHELL_ARG_GLOBAL : SHELL_ARG_OPTION;
	if (p[1] == '-') {
		long_next(args, out, 2);
	} else if (flags & OPTION_SINGLE) {
		long_next(args, out, 1);
	} else if (flags & OPTION_NO_CLUSTER && text.len > 2 && !find(table->valued, p[1])) {
		out->name = (struct bytes){p + 1, text.len - 1};
	} else {
		args->cluster = (struct bytes){p + 1, text.len - 1};
		short_next(args, out);
	}
}

static void operand_next(struct shell_args *args, struct shell_arg *out)
{
	const struct option_table *const table = table_of(args);
	const struct option_table *found;

	out->value = out->word->text;
	if (args->state & ARGS_SUBCOMMAND) {
		out->kind = SHELL_ARG_SUBCOMMAND;
		args->state &= ~(uint32_t)ARGS_SUBCOMMAND;
		found = out->value.len && !(out->word->flags & SHELL_DYNAMIC)
				? option_find(args->name, out->value)
				: NULL;
		/* one dash is before its long options everywhere */
		if (found || !table || !(table->flags & OPTION_SINGLE))
			table_set(args, found);
		return;
	}
	out->kind = SHELL_ARG_OPERAND;
	out->is_text = (args->state & ARGS_TEXT) || (table && table->flags & OPTION_TEXT_ALL);
	args->state &= ~(uint32_t)ARGS_TEXT;
	args->no_more |= table && table->flags & OPTION_ORDERED;
	args->operands++;
}

bool shell_args_next(struct shell_args *args, struct shell_arg *out)
{
	const char *p;

	*out = (struct shell_arg){0};
	if (args->cluster.len) {
		out->kind = args->state & ARGS_SUBCOMMAND ? SHELL_ARG_GLOBAL : SHELL_ARG_OPTION;
		short_next(args, out);
		return true;
	}
	if (args->word == args->end)
		return false;
	out->word = args->word++;
	p = out->word->text.data;
	if (args->no_more || out->word->text.len < 2 || *p != '-') {
		operand_next(args, out);
	} else if (bytes_is(out->word->text, "--")) {
		out->kind = SHELL_ARG_END;
		args->no_more = true;
	} else {
		option_next(args, out);
	}
	return true;
}
