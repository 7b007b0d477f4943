/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/walk.h"

struct tar {
	bool creates, extracts;
	unsigned operand, folder, file; /* how each is used */
};

static void set_mode(struct tar *t, char c)
{
	if (c == 'c' || c == 'r' || c == 'u' || c == 'A')
		t->creates = true;
	if (c == 'x')
		t->extracts = true;
}

static void set_uses(struct tar *t)
{
	t->file = FLOOR_FILE | (t->creates ? FLOOR_WRITE : FLOOR_READ);
	t->folder = t->creates ? FLOOR_READ | FLOOR_DEEP : FLOOR_WRITE | FLOOR_FOLDER;
	t->operand = t->creates ? FLOOR_READ | FLOOR_DEEP : 0;
}

/* The old manner: letters without a dash, then the value of each that has one. */
static bool is_old(const struct shell_word *word)
{
	const char *const p = word->text.data;

	if (word->text.len == 0)
		return false;
	for (size_t i = 0; i < word->text.len; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z')))
			return false;
	return memchr(p, 'c', word->text.len) || memchr(p, 'x', word->text.len) ||
	       memchr(p, 't', word->text.len) || memchr(p, 'r', word->text.len) ||
	       memchr(p, 'u', word->text.len);
}

static bool walk_old(struct walk *w, const struct shell_command *c, struct tar *t, uint32_t *k)
{
	const struct bytes letters = c->words[1].text;

	for (size_t i = 0; i < letters.len; i++)
		set_mode(t, ((const char *)letters.data)[i]);
	set_uses(t);
	*k = 2;
	for (size_t i = 0; i < letters.len && *k < c->nwords; i++) {
		const char letter = ((const char *)letters.data)[i];

		if (!strchr("fCTXbgHIKNFV", letter))
			continue;
		if (strchr("fCTX", letter) &&
			walk_word(w, &c->words[*k], letter == 'C' ? t->folder : t->file))
			return true;
		(*k)++;
	}
	return false;
}

static bool walk_arg(struct walk *w, const struct tar *t, const struct shell_arg *arg)
{
	char name = arg->name.len == 1 ? *(const char *)arg->name.data : 0;
	unsigned use = FLOOR_READ;

	if (arg->kind == SHELL_ARG_OPERAND)
		return t->operand && walk_word(w, arg->word, t->operand);
	if (!arg->has_value || arg->is_text)
		return false;
	if (name == 'f')
		use = t->file;
	else if (name == 'C')
		use = t->folder;
	return walk_text(w, arg->value_word ? arg->value_word : arg->word, arg->value, use);
}

bool walk_tar(struct walk *w, const struct shell_command *c)
{
	struct shell_args args;
	struct shell_arg arg;
	struct tar t = {0};
	uint32_t k = 1;

	if (c->nwords < 2)
		return false;
	if (is_old(&c->words[1]) && walk_old(w, c, &t, &k))
		return true;
	shell_args_begin(&args, c->words, c->nwords);
	while (k == 1 && shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPTION && arg.name.len == 1)
			set_mode(&t, *(const char *)arg.name.data);
	set_uses(&t);
	shell_args_begin(&args, c->words, c->nwords);
	args.word = c->words + k;
	while (shell_args_next(&args, &arg))
		if (walk_arg(w, &t, &arg))
			return true;
	return false;
}
