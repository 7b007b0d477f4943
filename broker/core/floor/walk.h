/* SPDX-License-Identifier: MIT */
/* Goes through the words of a command that may be paths, and says how each is used. */
#ifndef CORE_FLOOR_WALK_H
#define CORE_FLOOR_WALK_H

#include "broker/core/floor/path.h"
#include "broker/core/floor/use.h"

struct walk;

/* What may be a path: a word, or a part of one. */
struct operand {
	const struct shell_word *word;
	struct bytes text; /* data NULL: a recursive delete of what is not known */
	unsigned use;	   /* enum floor_use */
	bool pattern;	   /* text is a pattern of names */
	uint8_t flags;	   /* enum wild_flag, of a pattern */
};

/* true ends the walk. */
typedef bool walk_fn(struct walk *walk, const struct operand *operand);

struct walk {
	struct floor_world world;
	const struct shell *shell;
	const struct shell_command *command; /* that is gone through */
	walk_fn *visit;
	void *arg;
	uint32_t left;	/* of LIMIT_FLOOR_STEPS */
	bool exhausted; /* there was more to do: the walk was ended by that */
};

/* Takes from what is left; false: the walk has to end. */
static inline bool walk_spend(struct walk *walk, size_t steps)
{
	if (steps > walk->left)
		walk->exhausted = true;
	else
		walk->left -= (uint32_t)steps;
	return !walk->exhausted;
}

/* All of a command; what it runs is a command of its own. true: it was ended. */
bool walk_command(struct walk *walk, uint32_t index);

/* ---- word.c ---- */
/* A word as a whole, and the parts of it that may be paths. */
bool walk_word(struct walk *walk, const struct shell_word *word, unsigned use);
/* A text within a word that is a path as a whole, with its parts. */
bool walk_text(
	struct walk *walk, const struct shell_word *word, struct bytes text, unsigned use);
/* A word that is a text: what stands in it between blanks and the signs of a shell. */
bool walk_tokens(struct walk *walk, const struct shell_word *word);

/* ---- find.c ---- */
bool walk_find(struct walk *walk, const struct shell_command *find);
/* What is found, as an operand of a command that find runs. */
bool walk_found(struct walk *walk, const struct shell_command *find,
	const struct shell_word *word, unsigned use);

/* ---- archive.c ---- */
bool walk_tar(struct walk *walk, const struct shell_command *tar);

#endif
