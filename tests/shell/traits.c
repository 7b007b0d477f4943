/* SPDX-License-Identifier: MIT */
/*
 * What the tables say of each command on standard input, a line each, for options.py:
 * `reads` or `-`, then as the test of arguments has it, one after the other behind a tab;
 * what would end a field or a line is a blank.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/shell/shell.h"

static void put(struct bytes text)
{
	const char *const p = text.data;

	for (size_t i = 0; i < text.len; i++)
		putchar(p[i] == '\n' || p[i] == '\t' || !p[i] ? ' ' : p[i]);
}

static void tell(const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;

	fputs(shell_traits(command) & SHELL_READS_ONLY ? "reads" : "-", stdout);
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		const bool option =
			arg.kind == SHELL_ARG_OPTION || arg.kind == SHELL_ARG_GLOBAL;

		fputs(option ? "\t-" : "\t", stdout);
		if (option)
			put(arg.name);
		fputs(option && arg.has_value ? "=" : "", stdout);
		put(arg.value);
	}
}

int main(void)
{
	const struct shell_context context = {
		.cwd = bytes_of("/w/proj"), .home = bytes_of("/home/u")};
	struct shell_arena arena = {0};
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (shell_arena_init(&arena) < 0)
		return 2;
	while ((n = getline(&line, &size, stdin)) > 0) {
		struct shell shell;

		shell_read((struct bytes){line, (size_t)n}, &context, &arena, &shell);
		if (shell.n > 0 && !(shell.flags & SHELL_UNREAD))
			tell(&shell.commands[0]);
		else
			fputs("unread", stdout);
		putchar('\n');
	}
	free(line);
	shell_arena_free(&arena);
	return 0;
}
