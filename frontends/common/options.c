/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/common/exit.h"
#include "frontends/common/options.h"
#include "frontends/common/text.h"

enum { KEY_HELP = 1, KEY_VERSION = 2 };

static const struct option_def builtin[] = {
	{KEY_HELP, "help", NULL, "show this help"},
	{KEY_VERSION, "version", NULL, "show the version"},
	{0},
};

static const char *command_separator(const struct options *o)
{
	return o->command && o->command->name ? " " : "";
}

static const char *command_name(const struct options *o)
{
	return o->command && o->command->name ? o->command->name : "";
}

int options_wrong(const struct options *o, const char *format, ...)
{
	struct text said = {0}, shown = {0};
	va_list ap;

	va_start(ap, format);
	text_vprintf(&said, format, ap);
	va_end(ap);
	text_terminal(&shown, text_string(&said), said.len, 0);
	fprintf(stderr, "%s%s%s: %s\nTry '%s%s%s --help'.\n", o->program->name,
		command_separator(o), command_name(o), text_string(&shown), o->program->name,
		command_separator(o), command_name(o));
	text_free(&said);
	text_free(&shown);
	return STATUS_USAGE;
}

static int options_exit(struct options *o, int status)
{
	o->status = status;
	return OPTIONS_EXIT;
}

/* Most keys are no characters, which isalnum must not be asked about. */
static bool key_is_letter(int key)
{
	return key > 0 && key < 128 && isalnum(key);
}

/* ---- help ---- */

#define HELP_COLUMNS 80
#define HELP_OPTION  32 /* where the text of an option begins */
#define HELP_COMMAND 15

/* Words up to the last column; further lines begin with so many blanks. A line feed of the text
 * stays one. */
static void help_words(const char *text, size_t column, size_t indent)
{
	size_t blanks = 0;

	while (*text) {
		const size_t len = strcspn(text, " \n");

		if (column > indent && column + blanks + len > HELP_COLUMNS) {
			printf("\n%*s", (int)indent, "");
			column = indent;
			blanks = 0;
		}
		printf("%*s%.*s", (int)blanks, "", (int)len, text);
		column += blanks + len;
		text += len;
		blanks = strspn(text, " ");
		text += blanks;
		if (*text == '\n') {
			printf("\n%*s", (int)indent, "");
			column = indent;
			blanks = 0;
			text++;
		}
	}
	printf("\n");
}

/* What is told about something beside it, or below where it is too long for that. */
static void help_entry(const char *left, const char *text, size_t column)
{
	printf("%s", left);
	if (strlen(left) + 2 > column)
		printf("\n%*s", (int)column, "");
	else
		printf("%*s", (int)(column - strlen(left)), "");
	help_words(text, column, column);
}

static void help_options(const struct option_def *d)
{
	for (; d && d->key; d++) {
		struct text left = {0};

		if (key_is_letter(d->key))
			text_printf(&left, "  -%c, --%s", d->key, d->name);
		else
			text_printf(&left, "      --%s", d->name);
		if (d->value)
			text_printf(&left, " %s", d->value);
		help_entry(text_string(&left), d->help, HELP_OPTION);
		text_free(&left);
	}
}

/* One line for each form of the operands. */
static void help_usage(const struct options *o)
{
	const char *form = o->command->operands ? o->command->operands : "";
	const char *word = "Usage: ";

	do {
		const size_t len = strcspn(form, "\n");
		struct text line = {0};

		text_printf(&line, "%s%s%s%s [OPTION]...%s%.*s", word, o->program->name,
			command_separator(o), command_name(o), len ? " " : "", (int)len, form);
		help_words(text_string(&line), 0, strlen(word));
		text_free(&line);
		form += len + (form[len] == '\n');
		word = "   or: ";
	} while (*form);
}

static void help_command(const struct options *o)
{
	const struct command *c = o->command;
	struct text line = {0};

	help_usage(o);
	text_printf(&line, "%s.", c->summary);
	printf("\n");
	help_words(text_string(&line), 0, 0);
	text_free(&line);
	if (c->more) {
		printf("\n");
		help_words(c->more, 0, 0);
	}
	printf("\nOptions:\n");
	help_options(c->options);
	help_options(o->program->common);
	help_options(builtin);
}

static void help_program(const struct options *o)
{
	const struct program *p = o->program;

	printf("Usage: %s COMMAND [OPTION]... [OPERAND]...\n\n%s.\n\nCommands:\n", p->name,
		p->summary);
	for (const struct command *c = p->commands; c->name; c++) {
		struct text left = {0};

		text_printf(&left, "  %s", c->name);
		help_entry(text_string(&left), c->summary, HELP_COMMAND);
		text_free(&left);
	}
	printf("\nOptions of every command:\n");
	help_options(p->common);
	help_options(builtin);
	if (p->more) {
		printf("\n");
		help_words(p->more, 0, 0);
	}
}

/* ---- reading ---- */

int options_command(struct options *o, const struct program *program, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	*o = (struct options){.program = program};
	if (!word)
		return options_exit(o, options_wrong(o, "a command is missing"));
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		help_program(o);
		return options_exit(o, STATUS_OK);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		printf("%s %s\n", program->name, program->version);
		return options_exit(o, STATUS_OK);
	}
	if (*word == '-')
		return options_exit(
			o, options_wrong(
				   o, "unknown option '%s' (the command comes first)", word));
	for (const struct command *c = program->commands; c->name; c++)
		if (!strcmp(c->name, word))
			o->command = c;
	if (!o->command)
		return options_exit(o, options_wrong(o, "unknown command '%s'", word));
	o->argc = argc - 1;
	o->argv = argv + 1;
	return OPTIONS_END;
}

int options_single(struct options *o, const struct program *program,
	const struct command *command, int argc, char **argv)
{
	*o = (struct options){
		.program = program, .command = command, .argc = argc, .argv = argv};
	return OPTIONS_END;
}

struct table_for_getopt {
	struct option all[OPTIONS_MAX + 3];
	char letters[2 * OPTIONS_MAX + 4];
	size_t n, n_letters;
};

static void table_add(struct table_for_getopt *t, const struct option_def *d)
{
	for (; d && d->key && t->n < OPTIONS_MAX + 2; d++) {
		int has = d->value ? required_argument : no_argument;

		t->all[t->n++] = (struct option){d->name, has, NULL, d->key};
		if (!key_is_letter(d->key))
			continue;
		t->letters[t->n_letters++] = (char)d->key;
		if (d->value)
			t->letters[t->n_letters++] = ':';
	}
}

/* The word in which getopt found what it complains of. */
static const char *option_word(const struct options *o, char buffer[3])
{
	const char *word = optind > 0 && optind <= o->argc ? o->argv[optind - 1] : "";

	if (!strncmp(word, "--", 2) || !optopt || !isprint(optopt))
		return word;
	snprintf(buffer, 3, "-%c", optopt);
	return buffer;
}

static const struct option_def *option_find(const struct option_def *d, int key)
{
	for (; d && d->key; d++)
		if (d->key == key)
			return d;
	return NULL;
}

/* An empty name is one that a script failed to fill in. NULL: the value is not missing. */
static const struct option_def *value_missing(const struct options *o, int key)
{
	const struct option_def *d = option_find(o->command->options, key);

	if (!d)
		d = option_find(o->program->common, key);
	return d && d->value && !d->empty && !*o->value ? d : NULL;
}

/* The number of the first operand that is empty; 0: none. */
static int operand_missing(const struct options *o)
{
	int n = o->command->stops && o->n_operands ? 1 : o->n_operands;

	for (int i = 0; i < n; i++)
		if (!*o->operands[i])
			return i + 1;
	return 0;
}

int options_next(struct options *o)
{
	struct table_for_getopt t = {.n_letters = 0};
	const struct option_def *missing;
	char buffer[3];

	if (o->command->stops)
		t.letters[t.n_letters++] = '+';
	t.letters[t.n_letters++] = ':';
	table_add(&t, o->command->options);
	table_add(&t, o->program->common);
	table_add(&t, builtin);

	if (!o->started)
		optind = 0; /* GNU: begin anew */
	o->started = true;

	int key = getopt_long(o->argc, o->argv, t.letters, t.all, NULL);
	o->value = optarg;
	switch (key) {
	case -1:
		o->operands = o->argv + optind;
		o->n_operands = o->argc - optind;
		if (operand_missing(o))
			return options_exit(o, options_wrong(o, "operand %d is empty",
						       operand_missing(o)));
		return OPTIONS_END;
	case KEY_HELP: help_command(o); return options_exit(o, STATUS_OK);
	case KEY_VERSION:
		printf("%s %s\n", o->program->name, o->program->version);
		return options_exit(o, STATUS_OK);
	case ':':
		return options_exit(
			o, options_wrong(o, "'%s' needs a value", option_word(o, buffer)));
	case '?':
		return options_exit(o, options_wrong(o, "unknown or ambiguous option '%s'",
					       option_word(o, buffer)));
	default: break;
	}
	missing = value_missing(o, key);
	if (missing)
		return options_exit(o, options_wrong(o, "'--%s' needs a value that is not empty",
					       missing->name));
	return key;
}

int options_duration(const struct options *o, const char *value, int64_t *ms)
{
	if (!duration_parse(value, ms))
		return 0;
	options_wrong(o, "'%s' is no duration; write 90, 30s, 5m, 1h30m or 2d", value);
	return -EINVAL;
}

int options_time(const struct options *o, const char *value, int64_t *ms)
{
	if (!time_parse(value, time_now(), ms))
		return 0;
	options_wrong(
		o, "'%s' is no time; write 2026-01-31, '2026-01-31 12:00' or 2h (ago)", value);
	return -EINVAL;
}

int options_number(const struct options *o, const char *value, uint64_t max, uint64_t *n)
{
	char *end;

	errno = 0;
	unsigned long long v = strtoull(value, &end, 10);
	if (isdigit((unsigned char)*value) && !*end && !errno && v <= max) {
		*n = v;
		return 0;
	}
	options_wrong(o, "'%s' is no number from 0 to %llu", value, (unsigned long long)max);
	return -EINVAL;
}

int options_word(const struct options *o, const char *value, const char *const *words)
{
	struct text list = {0};

	for (size_t i = 0; words[i]; i++)
		if (!strcmp(words[i], value))
			return 0;
	for (size_t i = 0; words[i]; i++)
		text_printf(&list, "%s%s", i ? ", " : "", words[i]);
	options_wrong(o, "'%s' is none of %s", value, text_string(&list));
	text_free(&list);
	return -EINVAL;
}
