/* SPDX-License-Identifier: MIT */
/* What find looks for, where, and what it does with what it finds. */
#include <stdlib.h>

#include "broker/core/floor/walk.h"
#include "broker/core/floor/wild.h"

#define DEPTH 8u /* of parentheses; deeper ones narrow nothing */

enum primary_kind {
	PRIMARY_PLAIN,	/* says nothing of what is found */
	PRIMARY_VALUE,	/* likewise, with a value */
	PRIMARY_NAME,	/* narrows, its value is a pattern of names */
	PRIMARY_PATH,	/* narrows, its value is a pattern of paths */
	PRIMARY_REGEX,	/* narrows, where more than signs are in its value */
	PRIMARY_NARROW, /* narrows, with a value */
	PRIMARY_EMPTY,	/* narrows, without one */
	PRIMARY_FILE,	/* its value is a file that is looked at */
	PRIMARY_OUT,	/* its value is a file that is written */
	PRIMARY_OUT_FORMAT,
	PRIMARY_DELETE,
	PRIMARY_RUN,
};

struct primary {
	const char *name;
	uint8_t kind; /* enum primary_kind */
};

/* In the order of their names. */
static const struct primary primaries[] = {
	{"-amin", PRIMARY_NARROW},
	{"-anewer", PRIMARY_FILE},
	{"-atime", PRIMARY_NARROW},
	{"-cmin", PRIMARY_NARROW},
	{"-cnewer", PRIMARY_FILE},
	{"-context", PRIMARY_NARROW},
	{"-ctime", PRIMARY_NARROW},
	{"-delete", PRIMARY_DELETE},
	{"-empty", PRIMARY_EMPTY},
	{"-exec", PRIMARY_RUN},
	{"-execdir", PRIMARY_RUN},
	{"-fls", PRIMARY_OUT},
	{"-fprint", PRIMARY_OUT},
	{"-fprint0", PRIMARY_OUT},
	{"-fprintf", PRIMARY_OUT_FORMAT},
	{"-fstype", PRIMARY_VALUE},
	{"-gid", PRIMARY_NARROW},
	{"-group", PRIMARY_NARROW},
	{"-ilname", PRIMARY_NARROW},
	{"-iname", PRIMARY_NAME},
	{"-inum", PRIMARY_NARROW},
	{"-ipath", PRIMARY_PATH},
	{"-iregex", PRIMARY_REGEX},
	{"-iwholename", PRIMARY_PATH},
	{"-links", PRIMARY_NARROW},
	{"-lname", PRIMARY_NARROW},
	{"-maxdepth", PRIMARY_VALUE},
	{"-mindepth", PRIMARY_VALUE},
	{"-mmin", PRIMARY_NARROW},
	{"-mtime", PRIMARY_NARROW},
	{"-name", PRIMARY_NAME},
	{"-newer", PRIMARY_FILE},
	{"-ok", PRIMARY_RUN},
	{"-okdir", PRIMARY_RUN},
	{"-path", PRIMARY_PATH},
	{"-perm", PRIMARY_NARROW},
	{"-printf", PRIMARY_VALUE},
	{"-regex", PRIMARY_REGEX},
	{"-regextype", PRIMARY_VALUE},
	{"-samefile", PRIMARY_FILE},
	{"-size", PRIMARY_VALUE},
	{"-type", PRIMARY_VALUE},
	{"-uid", PRIMARY_NARROW},
	{"-used", PRIMARY_NARROW},
	{"-user", PRIMARY_NARROW},
	{"-wholename", PRIMARY_PATH},
	{"-xtype", PRIMARY_VALUE},
};

/* An expression while it is read. */
struct find {
	const struct shell_command *command;
	uint32_t starts, starts_end, k; /* of the folders; the word that is read */
	struct {
		bool narrowed; /* the present branch */
		bool all;      /* every branch before it */
		bool negated;  /* the group as a whole */
	} level[DEPTH + 1];
	unsigned depth;
	bool negated;
	bool deletes, runs;
	bool whole; /* an action takes all that is there */
};

static bool is_start(struct bytes text)
{
	const char *const p = text.data;

	return text.len == 0 || (*p != '-' && !bytes_is(text, "!") && !bytes_is(text, "("));
}

static void find_begin(struct find *f, const struct shell_command *command)
{
	*f = (struct find){.command = command, .k = 1};
	f->level[0].all = true;
	while (f->k < command->nwords) {
		const struct bytes text = command->words[f->k].text;

		if (bytes_is(text, "-D"))
			f->k++;
		else if (!bytes_is(text, "-H") && !bytes_is(text, "-L") &&
			 !bytes_is(text, "-P") &&
			 !(text.len > 2 && memcmp(text.data, "-O", 2) == 0))
			break;
		f->k++;
	}
	f->starts = f->k;
	while (f->k < command->nwords && is_start(command->words[f->k].text))
		f->k++;
	f->starts_end = f->k < command->nwords ? f->k : command->nwords;
	if (f->starts > f->starts_end)
		f->starts = f->starts_end;
}

/* One branch after the other; a group narrows when each of its branches does. */
static bool read_structure(struct find *f, struct bytes text)
{
	const unsigned d = f->depth < DEPTH ? f->depth : DEPTH;

	if (bytes_is(text, "!") || bytes_is(text, "-not")) {
		f->negated = !f->negated;
		return true;
	}
	if (bytes_is(text, "-o") || bytes_is(text, "-or") || bytes_is(text, ",")) {
		f->level[d].all &= f->level[d].narrowed;
		f->level[d].narrowed = false;
	} else if (bytes_is(text, "(")) {
		f->depth++;
		if (f->depth <= DEPTH) {
			f->level[f->depth].all = true;
			f->level[f->depth].narrowed = false;
			f->level[f->depth].negated = f->negated;
		}
	} else if (bytes_is(text, ")")) {
		if (f->depth > 0 && f->depth-- <= DEPTH && f->level[d].all &&
			f->level[d].narrowed && !f->level[d].negated)
			f->level[d - 1].narrowed = true;
	} else {
		return bytes_is(text, "-a") || bytes_is(text, "-and");
	}
	f->negated = false;
	return true;
}

/* Does a pattern or expression leave anything out? `*`, `.*` and `*.*` do not. */
static bool is_narrow(struct bytes pattern)
{
	for (size_t i = 0; i < pattern.len; i++) {
		const char c = ((const char *)pattern.data)[i];

		if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			return true;
		if ((c >= '0' && c <= '9') || c == '_' || c == '-' || (unsigned char)c >= 0x80)
			return true;
	}
	return false;
}

static void narrow(struct find *f)
{
	if (!f->negated && f->depth <= DEPTH)
		f->level[f->depth].narrowed = true;
}

/* An action stands here. */
static void act(struct find *f, bool *what)
{
	bool narrowed = false;

	for (unsigned d = 0; d <= f->depth && d <= DEPTH; d++)
		narrowed |= f->level[d].narrowed;
	*what = true;
	f->whole |= !narrowed;
}

static int compare(const void *key, const void *entry)
{
	const struct primary *const e = entry;

	return bytes_compare(*(const struct bytes *)key, bytes_of(e->name));
}

static int primary_of(struct bytes text)
{
	const struct primary *const found =
		text.len ? bsearch(&text, primaries, sizeof(primaries) / sizeof(primaries[0]),
				   sizeof(primaries[0]), compare)
			 : NULL;

	return found ? found->kind : PRIMARY_PLAIN;
}

static void skip_run(struct find *f)
{
	const struct shell_word *const words = f->command->words;

	while (f->k < f->command->nwords && !bytes_is(words[f->k].text, ";") &&
		!(bytes_is(words[f->k].text, "+") && bytes_is(words[f->k - 1].text, "{}")))
		f->k++;
	f->k++;
}

static bool visit_pattern(struct walk *w, const struct find *f, const struct shell_word *word)
{
	const struct operand o = {.word = word,
		.text = word->text,
		.use = FLOOR_READ,
		.pattern = true,
		.flags = WILD_HIDDEN};

	return w && !f->negated && word->text.len <= LIMIT_TEXT && w->visit(w, &o);
}

/* The value of a primary. w NULL: only what narrows is wanted. */
static bool read_value(struct walk *w, struct find *f, enum primary_kind kind)
{
	const struct shell_word *const word = &f->command->words[f->k++];

	switch (kind) {
	case PRIMARY_NAME:
	case PRIMARY_PATH:
		if (is_narrow(word->text))
			narrow(f);
		return visit_pattern(w, f, word);
	case PRIMARY_FILE: narrow(f); return w && walk_word(w, word, FLOOR_READ);
	case PRIMARY_OUT_FORMAT:
		f->k++;
		/* fall through */
	case PRIMARY_OUT: return w && walk_word(w, word, FLOOR_WRITE | FLOOR_FILE);
	case PRIMARY_REGEX:
		if (is_narrow(word->text))
			narrow(f);
		return false;
	case PRIMARY_NARROW: narrow(f); return false;
	default: return false;
	}
}

/* The whole expression. true: the walk was ended. */
static bool find_read(struct walk *w, struct find *f)
{
	while (f->k < f->command->nwords) {
		const struct bytes text = f->command->words[f->k++].text;
		const int kind = primary_of(text);

		if (read_structure(f, text))
			continue;
		switch (kind) {
		case PRIMARY_PLAIN: break;
		case PRIMARY_EMPTY: narrow(f); break;
		case PRIMARY_DELETE: act(f, &f->deletes); break;
		case PRIMARY_RUN:
			act(f, &f->runs);
			skip_run(f);
			break;
		default:
			if (f->k < f->command->nwords && read_value(w, f, kind))
				return true;
			break;
		}
		f->negated = false;
	}
	/* what is printed may go to xargs */
	if (!f->deletes && !f->runs)
		f->whole = !(f->level[0].all && f->level[0].narrowed);
	return false;
}

/* Each folder that it starts from, for a use. */
static bool visit_starts(
	struct walk *w, const struct find *f, const struct shell_word *word, unsigned use)
{
	if (f->starts == f->starts_end) {
		const struct operand here = {.word = word ? word : f->command->words,
			.text = bytes_of("."),
			.use = use};

		return w->visit(w, &here);
	}
	for (uint32_t k = f->starts; k < f->starts_end; k++)
		if (walk_word(w, &f->command->words[k], use))
			return true;
	return false;
}

bool walk_find(struct walk *w, const struct shell_command *command)
{
	struct find f;
	unsigned use = FLOOR_READ;

	find_begin(&f, command);
	if (find_read(w, &f))
		return true;
	if (f.deletes)
		use |= FLOOR_DELETE | (f.whole ? 0 : FLOOR_PARTS);
	if (f.runs && f.whole)
		use |= FLOOR_DEEP;
	return visit_starts(w, &f, NULL, use);
}

bool walk_found(struct walk *w, const struct shell_command *command,
	const struct shell_word *word, unsigned use)
{
	struct find f;

	if (!walk_spend(w, (size_t)command->nwords * 16))
		return true;
	find_begin(&f, command);
	find_read(NULL, &f);
	/* only deleting is as bad for all that is there as for the folder itself */
	if (!(use & FLOOR_DELETE) || !f.whole)
		use |= FLOOR_PARTS;
	return visit_starts(w, &f, word, use);
}
