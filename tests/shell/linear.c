/* SPDX-License-Identifier: MIT */
/*
 * The reader's work, which it counts itself, grows no faster than the text: of twice a
 * text it takes at most 2.2 times the steps. Over forms that are hard for readers, and
 * random ones. Fails by the count alone, never by the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/shell/shell.h"
#include "libapproval/limits.h"
#include "tests/shell/generate.h"

#define TEXT_MAX (256u << 10)

static const char *const repeated[] = {"a", "a ", "a;", "a\n", "a|", "a&&", "(", ")", "$(", "`",
	"\\`", "((", "$((", "{", "{a,", "{a,b}", "{1..9}", "[", "[[ ", "'", "\"", "\"$(", "${",
	"${x:-", "${x[", "<<E ", "<<E\nE\n", "<<'E' a\nx\nE\n", "cat <<E\n$(", "\\\n", "#\n",
	"~", "~:", "A=~:", "if a; then ", "case x in a) ", "f() { ", "eval ", "sudo ",
	"find -exec ", "xargs ", "env A=1 ", "timeout 5 ", "bash -c 'a' ", "bash -c '",
	"cd a && ", "cd a; ", "! ", "<(", ">(", "&>", "2>&1 ", "a=(", "a=(b ", "x[1",
	"$'\\x41'", "$'", "for x in a; do ", "while a; do cd b; ", "a {b,c} ", "$HOME",
	"${HOME}", "\"a b\" ", "'a' ", "*", "[a", "a[$(b)]", "\xff", "HOME=x; ", "& ", "| b ",
	"{ a; } <x ", "(a) | ", "$(a) ", "`a` ", "a\\\n", "=", "=~", "trap 'a' ",
	"echo a | sh; ", "-x ", "git -c a ", "{}", "{,}", "..", "{a..", "a{b}c,d}"};

struct work {
	struct shell_arena arena;
	unsigned failures, texts;
};

static uint32_t steps_of(struct work *w, const char *text, size_t len)
{
	const struct shell_context context = {
		.cwd = bytes_of("/w"), .home = bytes_of("/home/u")};
	struct shell shell;

	shell_read((struct bytes){text, len}, &context, &w->arena, &shell);
	return shell.steps;
}

/* A form, then another, n times each in turns. */
static size_t repeat(char *to, size_t n, const char *a, size_t len, const char *b, size_t blen)
{
	size_t at = 0;

	for (; n > 0; n--) {
		memcpy(to + at, a, len);
		memcpy(to + at + len, b, blen);
		at += len + blen;
	}
	return at;
}

static void compare(struct work *w, char *text, size_t max, struct bytes a, struct bytes b)
{
	/* a number that divides well: quotes and the like then close in both, or in none */
	const size_t n = max / 2 / (a.len + b.len) / 12 * 12;
	const size_t len = repeat(text, n, a.data, a.len, b.data, b.len);
	const uint32_t once = steps_of(w, text, len);
	uint32_t twice;

	repeat(text, 2 * n, a.data, a.len, b.data, b.len);
	twice = steps_of(w, text, 2 * len);
	w->texts++;
	/* what is unread at once may be read a little further */
	if (twice <= 2.2 * (once < len ? len : once))
		return;
	printf("%zu bytes %u steps, twice that %u: %.40s\n", len, once, twice, text);
	w->failures++;
}

static void forms(struct work *w, char *text)
{
	const size_t n = sizeof(repeated) / sizeof(*repeated);

	for (size_t i = 0; i < n; i++) {
		compare(w, text, TEXT_MAX, bytes_of(repeated[i]), (struct bytes){"", 0});
		for (size_t k = 0; k < n; k++)
			if (k != i)
				compare(w, text, TEXT_MAX / 16, bytes_of(repeated[i]),
					bytes_of(repeated[k]));
	}
}

static void random_texts(struct work *w, char *text)
{
	static struct generator g = {.seed = 7};

	for (unsigned i = 0; i < 500; i++) {
		generate_text(&g, i % 2);
		compare(w, text, TEXT_MAX / 2, (struct bytes){g.text, g.len}, bytes_of("\n"));
	}
}

int main(void)
{
	char *const text = malloc(TEXT_MAX + 64);
	struct work w = {0};

	if (!text || shell_arena_init(&w.arena))
		return 2;
	forms(&w, text);
	random_texts(&w, text);
	printf("%u texts, %u that take more than their length\n", w.texts, w.failures);
	shell_arena_free(&w.arena);
	free(text);
	return w.failures != 0;
}
