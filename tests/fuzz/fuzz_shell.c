/* SPDX-License-Identifier: MIT */
/* The reader of commands: whatever it is given, what it hands out is whole. */
#include <stdlib.h>

#include "broker/core/shell/shell.h"
#include "libapproval/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long sum;

static void check(int ok)
{
	if (!ok)
		abort();
}

/* Reads every byte, so that a sanitizer sees whether it may be. */
static void bytes_check(struct bytes b)
{
	const unsigned char *const p = b.data;

	check(b.len == 0 || p);
	for (size_t i = 0; i < b.len; i++)
		sum += p[i];
}

static void word_check(const struct shell_word *word, size_t size)
{
	bytes_check(word->text);
	bytes_check(word->pattern);
	check(word->offset <= size);
	check(!(word->flags & SHELL_SPLITS) || word->flags & SHELL_DYNAMIC);
	check(!(word->flags & SHELL_GLOB) == !word->pattern.data);
}

static void cwd_check(const struct shell_cwd *cwd)
{
	check(cwd->n <= SHELL_CWD_MAX);
	for (uint32_t i = 0; i < cwd->n; i++) {
		bytes_check(cwd->path[i]);
		check(cwd->path[i].len && *(const char *)cwd->path[i].data == '/');
	}
}

static void args_check(const struct shell_command *c)
{
	struct shell_args args;
	struct shell_arg arg;
	uint32_t n = 0;
	size_t len = 0;

	for (uint32_t i = 0; i < c->nwords; i++)
		len += c->words[i].text.len;
	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg)) {
		check(++n <= c->nwords + len);
		bytes_check(arg.name);
		bytes_check(arg.value);
	}
}

static void command_check(const struct shell *shell, uint32_t i, size_t size)
{
	const struct shell_command *const c = &shell->commands[i];

	for (uint32_t k = 0; k < c->nwords; k++)
		word_check(&c->words[k], size);
	for (uint32_t k = 0; k < c->nassigns; k++) {
		bytes_check(c->assigns[k].name);
		word_check(&c->assigns[k].value, size);
	}
	for (uint32_t k = 0; k < c->nredirects; k++)
		word_check(&c->redirects[k].target, size);
	cwd_check(c->cwd);
	if (c->to)
		cwd_check(c->to);
	check(c->nest < shell->nnests);
	check(c->via == SHELL_NONE || c->via < i);
	check(c->from <= c->from_end && c->from_end <= shell->n);
	check(!(c->flags & SHELL_NAME_DYNAMIC) || shell->flags & SHELL_UNREAD);
	sum += shell_traits(c);
	args_check(c);
}

static void read_check(const uint8_t *data, size_t size, enum shell_dialect dialect)
{
	const struct shell_context context = {
		.cwd = bytes_of("/home/u/p"), .home = bytes_of("/home/u"), .dialect = dialect};
	struct shell_arena arena;
	struct shell shell;

	check(shell_arena_init(&arena) == 0);
	shell_read((struct bytes){data, size}, &context, &arena, &shell);
	check(!(shell.flags & SHELL_UNREAD) == !shell.reason);
	check(shell.offset <= size);
	check(shell.n <= LIMIT_SHELL_COMMANDS);
	for (uint32_t i = 0; i < shell.n && shell.commands; i++)
		command_check(&shell, i, size);
	for (uint32_t i = 0; i < shell.nnests; i++)
		check(i == 0 || shell.nests[i].parent < i);
	sum += shell_runs_fetched(&shell);
	shell_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_check(data, size, SHELL_BASH);
	read_check(data, size, SHELL_SH);
	return 0;
}
