/* SPDX-License-Identifier: MIT */
/* Code that one command of a text brings from elsewhere and another runs. */
#include "broker/core/shell/shell.h"
#include "libapproval/limits.h"

struct taint {
	const struct shell *shell;
	uint8_t bits[LIMIT_SHELL_COMMANDS / 8]; /* commands whose output was fetched */
};

static bool is_tainted(const struct taint *t, uint32_t i)
{
	return t->bits[i / 8] >> (i % 8) & 1;
}

static bool taint_add(struct taint *t, uint32_t i)
{
	const bool before = is_tainted(t, i);

	t->bits[i / 8] = (uint8_t)(t->bits[i / 8] | 1 << (i % 8));
	return !before;
}

/* The outermost wrapper whose words these are: substitutions in them are its own. */
static uint32_t owner_of(const struct shell *shell, uint32_t i)
{
	const struct shell_command *c = &shell->commands[i];

	while (c->via != SHELL_NONE && shell->commands[c->via].nest == c->nest) {
		i = c->via;
		c = &shell->commands[i];
	}
	return i;
}

static bool input_tainted(const struct taint *t, const struct shell_command *c)
{
	for (uint32_t i = c->from; i < c->from_end && i < t->shell->n; i++)
		if (is_tainted(t, i))
			return true;
	return false;
}

/* One round over all; whether anything was new. */
static bool taint_round(struct taint *t)
{
	const struct shell *const shell = t->shell;
	bool more = false;

	for (uint32_t i = 0; i < shell->n; i++) {
		const struct shell_command *const c = &shell->commands[i];
		uint32_t nest = c->nest;

		if (!is_tainted(t, i) && input_tainted(t, c))
			more |= taint_add(t, i);
		if (!is_tainted(t, i))
			continue;
		/* a wrapper writes what it runs writes, and a word holds what it was made of */
		if (c->via != SHELL_NONE)
			more |= taint_add(t, c->via);
		for (; nest != SHELL_NONE; nest = shell->nests[nest].parent) {
			const struct shell_nest *const n = &shell->nests[nest];

			if (n->owner == SHELL_NONE || n->kind == SHELL_PROC_OUT)
				continue;
			more |= taint_add(t, n->owner);
			break;
		}
	}
	return more;
}

static bool is_code_option(const struct shell_arg *arg)
{
	return arg->kind == SHELL_ARG_OPTION &&
	       (bytes_is(arg->name, "c") || bytes_is(arg->name, "e") ||
		       bytes_is(arg->name, "E") || bytes_is(arg->name, "p") ||
		       bytes_is(arg->name, "r") || bytes_is(arg->name, "eval"));
}

/* Whether substitutions stand where an interpreter finds its code. */
static bool code_substituted(const struct shell_command *c)
{
	const unsigned made = SHELL_SUBST | SHELL_PROC;
	struct shell_args args;
	struct shell_arg arg;
	bool code = false;

	for (uint32_t i = 0; i < c->nredirects; i++)
		if (c->redirects[i].input && c->redirects[i].target.flags & made)
			return true;
	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND)
			return arg.word->flags & (code ? made : SHELL_PROC);
		code |= is_code_option(&arg);
		if (code && arg.value_word && arg.value_word->flags & made)
			return true;
	}
	return false;
}

/* Without a script, or with `-`, an interpreter runs its standard input. */
static bool input_is_code(const struct shell_command *c)
{
	struct shell_args args;
	struct shell_arg arg;

	if (c->flags & SHELL_READS_CODE)
		return true;
	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND)
			return bytes_is(arg.value, "-") || bytes_is(arg.value, "/dev/stdin");
		if (arg.kind == SHELL_ARG_OPTION && bytes_is(arg.name, "s"))
			return true;
		if (is_code_option(&arg) || bytes_is(arg.name, "m"))
			return false;
	}
	return true;
}

static bool runs_fetched(const struct taint *t, uint32_t i)
{
	const struct shell_command *const c = &t->shell->commands[i];
	const uint32_t owner = owner_of(t->shell, i);
	const struct bytes name = shell_name(c);

	if (bytes_is(name, "eval"))
		return is_tainted(t, owner);
	if (!(shell_traits(c) & SHELL_INTERPRETS))
		return false;
	if (input_is_code(c) && input_tainted(t, c))
		return true;
	return is_tainted(t, owner) && code_substituted(c);
}

uint32_t shell_runs_fetched(const struct shell *shell)
{
	struct taint t = {.shell = shell};
	bool any = false;

	for (uint32_t i = 0; i < shell->n; i++)
		if (shell_traits(&shell->commands[i]) & SHELL_FETCHES)
			any |= taint_add(&t, i);
	if (!any)
		return SHELL_NONE;
	/* each round follows pipes all the way, and substitutions one level out */
	for (unsigned round = 0; round <= LIMIT_SHELL_DEPTH && taint_round(&t); round++)
		;
	for (uint32_t i = 0; i < shell->n; i++)
		if (runs_fetched(&t, i))
			return i;
	return SHELL_NONE;
}
