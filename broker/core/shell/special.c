/* SPDX-License-Identifier: MIT */
/* What follows from a command's name and words for what is read after it. */
#include <stdlib.h>

#include "broker/core/shell/reader.h"

/* ---- variables ---- */

void name_assigned(struct reader *r, struct bytes name)
{
	static const char *const names[] = {"HOME", "PWD", "TMPDIR", "IFS", "CDPATH", NULL};

	if (name.len > 2 && name.len < 7 && bytes_in(name, names))
		r->touched = true;
}

void word_assigned(struct reader *r, const struct shell_word *word)
{
	const char *const p = word->text.data;
	const size_t n = word->text.len ? name_length(p, p + word->text.len) : 0;

	if (word->flags & (SHELL_DYNAMIC | SHELL_GLOB) &&
		(n == 0 || n == word->text.len || p[n] == '\0'))
		r->touched = true;
	else
		name_assigned(r, (struct bytes){p, n});
}

static bool has_text(const struct shell_word *word, const char *what)
{
	return word->text.len &&
	       memmem(word->text.data, word->text.len, what, strlen(what)) != NULL;
}

/* A subscript that is evaluated once more, with what is in it. */
static bool runs_in_subscript(const struct shell_word *word)
{
	return has_text(word, "[") &&
	       (has_text(word, "$(") || has_text(word, "`") || has_text(word, "${"));
}

/* ---- builtins ---- */

enum special {
	SPECIAL_CD,
	SPECIAL_POPD,
	SPECIAL_EXIT,
	SPECIAL_RETURN,
	SPECIAL_BREAK,
	SPECIAL_ASSIGNS,   /* its operands are names of variables */
	SPECIAL_EVALUATES, /* its operands may be evaluated as expressions */
	SPECIAL_SET,
	SPECIAL_SHOPT,
	SPECIAL_ALIAS,
	SPECIAL_MAPFILE,
	SPECIAL_CHANGES, /* the meaning of other commands */
	SPECIAL_HASH,
	SPECIAL_SOURCE,
};

struct named {
	const char *name;
	uint8_t special; /* enum special */
};

static const struct named specials[] = {
	{".", SPECIAL_SOURCE},
	{"[", SPECIAL_EVALUATES},
	{"alias", SPECIAL_ALIAS},
	{"bind", SPECIAL_CHANGES},
	{"break", SPECIAL_BREAK},
	{"cd", SPECIAL_CD},
	{"compgen", SPECIAL_CHANGES},
	{"continue", SPECIAL_BREAK},
	{"declare", SPECIAL_ASSIGNS},
	{"enable", SPECIAL_CHANGES},
	{"exit", SPECIAL_EXIT},
	{"export", SPECIAL_ASSIGNS},
	{"getopts", SPECIAL_ASSIGNS},
	{"hash", SPECIAL_HASH},
	{"let", SPECIAL_ASSIGNS},
	{"local", SPECIAL_ASSIGNS},
	{"mapfile", SPECIAL_MAPFILE},
	{"popd", SPECIAL_POPD},
	{"printf", SPECIAL_EVALUATES},
	{"pushd", SPECIAL_CD},
	{"read", SPECIAL_ASSIGNS},
	{"readarray", SPECIAL_MAPFILE},
	{"readonly", SPECIAL_ASSIGNS},
	{"return", SPECIAL_RETURN},
	{"set", SPECIAL_SET},
	{"shopt", SPECIAL_SHOPT},
	{"source", SPECIAL_SOURCE},
	{"test", SPECIAL_EVALUATES},
	{"typeset", SPECIAL_ASSIGNS},
	{"unset", SPECIAL_ASSIGNS},
	{"wait", SPECIAL_ASSIGNS},
};

static int compare(const void *key, const void *entry)
{
	const struct named *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

static void cd_finish(struct reader *r, struct shell_command *c)
{
	const struct shell_word *word = NULL;
	const bool pushd = *(const char *)c->words[0].text.data == 'p';
	const struct shell_cwd *to = &cwd_unknown;
	struct bytes home;
	uint32_t k = 1;

	while (k < c->nwords && !(c->words[k].flags & SHELL_DYNAMIC) &&
		c->words[k].text.len > 1 && *(const char *)c->words[k].text.data == '-') {
		const bool end = bytes_is(c->words[k++].text, "--");

		if (end)
			break;
	}
	if (k < c->nwords)
		word = &c->words[k];
	if (word && k + 1 == c->nwords && !(word->flags & (SHELL_DYNAMIC | SHELL_GLOB)) &&
		!bytes_is(word->text, "-") && !(pushd && has_text(word, "+"))) {
		/* CDPATH could lead elsewhere where it is set */
		if (++r->cds > LIMIT_SHELL_CDS)
			to = &cwd_unknown;
		else if (r->known || *(const char *)word->text.data == '/' ||
			 *(const char *)word->text.data == '.')
			to = cwd_enter(r, r->place.here, word->text);
	} else if (!word && !pushd && parameter_known(r, bytes_of("HOME"), &home)) {
		to = cwd_of(r, home);
	}
	c->to = to;
	r->place.moves++;
	r->place.bad = r->place.here;
	r->place.ok = to;
}

/* Options that leave the reading of what follows as it is. */
static void set_finish(struct reader *r, const struct shell_command *c, bool shopt)
{
	static const char *const plain[] = {"allexport", "errexit", "errtrace", "functrace",
		"noclobber", "noexec", "noglob", "nounset", "onecmd", "pipefail", "verbose",
		"xtrace", "monitor", "notify", "nullglob", "dotglob", "globstar", "failglob",
		"nocaseglob", "nocasematch", "inherit_errexit", "checkwinsize", "histappend",
		"hashall", "physical", NULL};
	bool names = shopt;

	for (uint32_t k = 1; k < c->nwords; k++) {
		const struct shell_word *const word = &c->words[k];
		const char *p = word->text.data;

		if (!shopt && (bytes_is(word->text, "--") || bytes_is(word->text, "-")))
			return;
		if (word->flags & (SHELL_DYNAMIC | SHELL_GLOB)) {
			unread_at(r, "a shell option that is not known", word->offset);
			return;
		}
		if (word->text.len > 1 && (*p == '-' || *p == '+')) {
			for (size_t i = 1; i < word->text.len; i++)
				if (!strchr(shopt ? "supqo" : "abCeEfhmnopPtTuvx", p[i]))
					unread_at(r, "a shell option that changes the reading",
						word->offset);
			names = shopt || p[word->text.len - 1] == 'o';
		} else if (names) {
			if (!bytes_in(word->text, plain))
				unread_at(r, "a shell option that changes the reading",
					word->offset);
			names = shopt;
		} else {
			return; /* positional parameters */
		}
	}
}

static void words_finish(struct reader *r, const struct shell_command *c, bool assigns)
{
	const bool let = bytes_is(c->words[0].text, "let");

	if (let)
		r->arithmetic = true;
	for (uint32_t k = 1; k < c->nwords; k++) {
		const struct shell_word *const word = &c->words[k];

		if (runs_in_subscript(word))
			unread_at(r, "a subscript that runs commands", word->offset);
		/* printf and test name one after -v */
		if (assigns || bytes_is(c->words[k - 1].text, "-v")) {
			r->out->flags |= SHELL_HAS_ASSIGN;
			word_assigned(r, word);
		}
	}
}

static bool special_finish(struct reader *r, struct shell_command *c, enum special special)
{
	switch (special) {
	case SPECIAL_CD: cd_finish(r, c); break;
	case SPECIAL_POPD:
		c->to = &cwd_unknown;
		r->place.moves++;
		place_set(r, &cwd_unknown);
		break;
	case SPECIAL_EXIT: r->place.ok = r->place.bad = NULL; break;
	case SPECIAL_RETURN:
		if (c->flags & SHELL_IN_FUNCTION)
			r->place.ok = r->place.bad = NULL;
		break;
	case SPECIAL_BREAK:
		if (r->loops)
			r->place.ok = r->place.bad = NULL;
		break;
	case SPECIAL_ASSIGNS: words_finish(r, c, true); break;
	case SPECIAL_EVALUATES: words_finish(r, c, false); break;
	case SPECIAL_SET:
	case SPECIAL_SHOPT: set_finish(r, c, special == SPECIAL_SHOPT); break;
	case SPECIAL_ALIAS:
		for (uint32_t k = 1; k < c->nwords; k++)
			if (c->words[k].flags & SHELL_DYNAMIC || has_text(&c->words[k], "="))
				unread_at(r, "an alias", c->words[k].offset);
		break;
	case SPECIAL_MAPFILE:
		words_finish(r, c, true);
		for (uint32_t k = 1; k < c->nwords; k++)
			if (c->words[k].flags & SHELL_DYNAMIC || has_text(&c->words[k], "C"))
				unread_at(r, "a command that runs for each line",
					c->words[k].offset);
		break;
	case SPECIAL_CHANGES:
		if (c->nwords > 1)
			unread_at(r, "a builtin that changes or runs others", c->offset);
		break;
	case SPECIAL_HASH:
		/* -p names the program that another name stands for */
		for (uint32_t k = 1; k < c->nwords; k++)
			if (c->words[k].flags & SHELL_DYNAMIC || has_text(&c->words[k], "-"))
				unread_at(r, "a builtin that changes or runs others",
					c->words[k].offset);
		break;
	case SPECIAL_SOURCE:
		if (c->nwords > 1 &&
			(c->words[1].flags & SHELL_PROC || is_opened(c->words[1].text)))
			unread_at(r, "a script that is made by a command", c->words[1].offset);
		break;
	}
	return true;
}

bool command_finish(struct reader *r, uint32_t index)
{
	struct shell_command *const c = &r->commands[index];
	const struct named *named;

	place_set(r, r->place.here);
	if (c->nwords == 0)
		return true;
	if (c->words[0].flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_PLACE)) {
		c->flags |= SHELL_NAME_DYNAMIC;
		unread_at(r, "a command whose name is not known", c->offset);
		return true;
	}
	named = bsearch(&c->words[0].text, specials, sizeof(specials) / sizeof(*specials),
		sizeof(*specials), compare);
	if (named)
		return special_finish(r, c, named->special);
	return wrapper_read(r, index);
}
