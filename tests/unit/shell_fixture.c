/* SPDX-License-Identifier: MIT */
#include "tests/unit/shell_fixture.h"

#include <stdlib.h>
#include <string.h>

struct output {
	char *p;
	size_t left;
};

static void put(struct output *o, const char *text, size_t len)
{
	for (size_t i = 0; i < len && o->left > 1; i++) {
		*o->p++ = text[i] ? text[i] : '@';
		o->left--;
	}
	*o->p = '\0';
}

static void puts_to(struct output *o, const char *text)
{
	put(o, text, strlen(text));
}

static void put_word(struct output *o, const struct shell_word *word)
{
	puts_to(o, "<");
	put(o, word->text.data, word->text.len);
	puts_to(o, ">");
}

static void put_command(struct output *o, const struct shell_command *c)
{
	static const struct {
		unsigned flag;
		const char *sign;
	} signs[] = {{SHELL_KEYWORD, "#"}, {SHELL_WRAPS, "^"}, {SHELL_OPAQUE, "!"},
		{SHELL_COVERED, "~"}, {SHELL_MORE, "+"}, {SHELL_NAME_DYNAMIC, "?"},
		{SHELL_IN_FUNCTION, "f"}, {SHELL_BACKGROUND, "b"}};
	static const char *const ops[] = {"<", ">", ">>", "<>", "&", "0", "<<", "<<<"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (c->flags & signs[i].flag)
			puts_to(o, signs[i].sign);
	for (uint32_t i = 0; i < c->nassigns; i++) {
		put(o, c->assigns[i].name.data, c->assigns[i].name.len);
		puts_to(o, "=");
		put_word(o, &c->assigns[i].value);
	}
	for (uint32_t i = 0; i < c->nwords; i++)
		put_word(o, &c->words[i]);
	/* those of a wrapper are its own */
	for (uint32_t i = 0; i < c->nredirects && c->via == SHELL_NONE; i++) {
		puts_to(o, ops[c->redirects[i].op]);
		put_word(o, &c->redirects[i].target);
	}
}

void shell_case_read(struct shell_case *c, const char *text, enum shell_dialect dialect)
{
	const struct shell_context context = {
		.cwd = bytes_of(SHELL_CWD), .home = bytes_of(SHELL_HOME), .dialect = dialect};
	struct output o = {c->line, sizeof(c->line)};

	ck_assert_int_eq(shell_arena_init(&c->arena), 0);
	shell_read(bytes_of(text), &context, &c->arena, &c->shell);
	c->line[0] = '\0';
	for (uint32_t i = 0; i < c->shell.n; i++) {
		if (i)
			puts_to(&o, " ");
		put_command(&o, &c->shell.commands[i]);
	}
	if (c->shell.flags & SHELL_UNREAD)
		puts_to(&o, " UNREAD");
}

void shell_case_free(struct shell_case *c)
{
	shell_arena_free(&c->arena);
}

static void expect(const char *text, const char *line, enum shell_dialect dialect)
{
	struct shell_case *const c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	shell_case_read(c, text, dialect);
	if (line)
		ck_assert_msg(strcmp(c->line, line) == 0,
			"%s\nis read as %s\nnot as     %s\n(%s)", text, c->line, line,
			c->shell.reason ? c->shell.reason : "");
	else
		ck_assert_msg(
			c->shell.flags & SHELL_UNREAD, "%s\nis read, as %s", text, c->line);
	shell_case_free(c);
	free(c);
}

void shell_expect(const char *text, const char *line)
{
	expect(text, line, SHELL_BASH);
}

void shell_expect_sh(const char *text, const char *line)
{
	expect(text, line, SHELL_SH);
}

void shell_expect_all(const struct shell_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		shell_expect(pairs[i].text, pairs[i].line);
}

void shell_refuse_all(const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		shell_expect(texts[i], NULL);
}
