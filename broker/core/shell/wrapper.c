/* SPDX-License-Identifier: MIT */
/* What commands run by their words: see wrapper_table.c. */
#include "broker/core/shell/wrapper.h"

#include "broker/core/shell/reader.h"

/* ---- running others ---- */

#define INHERITED                                                                              \
	(SHELL_COVERED | SHELL_BACKGROUND | SHELL_IN_FUNCTION | SHELL_STDIN_UNKNOWN |          \
		SHELL_ROOT)

bool wrapper_spawn(struct reader *r, uint32_t index, uint32_t k, uint32_t end, uint32_t flags,
	const struct shell_cwd *cwd)
{
	struct shell_command *const by = &r->commands[index];
	const uint32_t inner = command_new(r);
	struct shell_command *const c = &r->commands[inner];
	bool ok;

	if (inner == SHELL_NONE || !enter(r))
		return false;
	by->flags |= SHELL_WRAPS;
	c->words = by->words + k;
	c->nwords = end - k;
	c->redirects = by->redirects;
	c->nredirects = by->nredirects;
	c->cwd = cwd ? cwd : by->cwd;
	c->flags = (by->flags & INHERITED) | flags;
	c->flags |= by->flags & SHELL_OPAQUE ? SHELL_COVERED : 0;
	c->offset = c->words[0].offset;
	c->nest = by->nest;
	c->via = index;
	c->from = by->from;
	c->from_end = by->from_end;
	ok = command_finish(r, inner);
	leave(r);
	return ok;
}

/* Marks what the wrapper replaces in the words; they become a copy. */
static bool words_place(
	struct reader *r, struct shell_command *c, uint32_t k, uint32_t end, struct bytes what)
{
	struct shell_word *words = NULL;

	for (uint32_t i = k; i < end && what.len; i++) {
		const struct bytes text = c->words[i].text;

		r->out->steps += (uint32_t)text.len;
		if (!text.len || !memmem(text.data, text.len, what.data, what.len))
			continue;
		if (!words) {
			words = result_alloc(r, c->nwords, sizeof(*words));
			if (!words)
				return false;
			memcpy(words, c->words, c->nwords * sizeof(*words));
			c->words = words;
		}
		words[i].flags |= SHELL_PLACE;
	}
	return true;
}

/* ---- options ---- */

struct wrapping {
	const struct wrapper *wrapper;
	struct shell_command *command;
	uint32_t k;		       /* the word that is looked at */
	struct bytes place;	       /* what xargs -I replaces */
	struct bytes chdir;	       /* of env -C and the like */
	const struct shell_word *text; /* of -c */
	bool moves;
};

static bool is_static(const struct shell_word *word)
{
	return !(word->flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_PLACE));
}

static bool not_known(struct reader *r, const struct wrapping *w)
{
	const struct shell_command *const c = w->command;

	unread_at(r, "a wrapper's options that are not known",
		w->k < c->nwords ? c->words[w->k].offset : c->offset);
	return false;
}

/* What a value means for what is run. */
static void option_value(struct wrapping *w, char name, struct bytes value)
{
	const char *const command = w->wrapper->name;

	if (name == 'I' && *command == 'x')
		w->place = value;
	if ((name == 'C' && *command == 'e') || (name == 'D' && *command == 's')) {
		w->moves = true;
		w->chdir = value;
	}
}

/* The entry of a long option in the list: 0 not there, 1 plain, 2 with a value, 3 perhaps. */
static int long_find(const char *list, const char *name, size_t len)
{
	const char *p = list;

	while ((p = memmem(p, strlen(p), name, len)) != NULL) {
		const bool begins = p == list || p[-1] == ' ';

		p += len;
		if (begins && (*p == ' ' || *p == '=' || *p == '?'))
			return *p == '=' ? 2 : *p == '?' ? 3 : 1;
	}
	return 0;
}

static bool long_read(struct reader *r, struct wrapping *w)
{
	const struct shell_command *const c = w->command;
	const struct bytes text = c->words[w->k].text;
	const char *const p = (const char *)text.data + 2, *const end = p + text.len - 2;
	const char *const equal = memchr(p, '=', (size_t)(end - p));
	const size_t len = (size_t)((equal ? equal : end) - p);
	const int found = long_find(w->wrapper->longs, p, len);
	struct bytes value = {0};

	if (len == 0 || !found || (found == 1 && equal))
		return not_known(r, w);
	if (equal)
		value = (struct bytes){equal + 1, (size_t)(end - equal - 1)};
	w->k++;
	if (found == 2 && !equal) {
		if (w->k == c->nwords || !is_static(&c->words[w->k]))
			return not_known(r, w);
		value = c->words[w->k++].text;
	}
	if (len == 5 && memcmp(p, "chdir", 5) == 0)
		option_value(w, *w->wrapper->name == 'e' ? 'C' : 'D', value);
	if (len == 17 && memcmp(p, "working-directory", 17) == 0)
		option_value(w, 'D', value);
	return true;
}

static bool short_read(struct reader *r, struct wrapping *w)
{
	const struct wrapper *const wrapper = w->wrapper;
	const struct shell_command *const c = w->command;
	const struct bytes text = c->words[w->k].text;
	const char *const p = text.data;

	if (wrapper->flags & WRAPPER_NUMBER && char_class(p[1]) & CHAR_DIGIT) {
		w->k++;
		return true;
	}
	for (size_t i = 1; i < text.len; i++) {
		struct bytes value = {p + i + 1, text.len - i - 1};
		const bool is_text = p[i] == 'c' && wrapper->kind == KIND_OPTION;

		if (!p[i] || !(is_text || strchr(wrapper->valued, p[i]))) {
			if (!p[i] || !strchr(wrapper->plain, p[i]))
				return not_known(r, w);
			if (p[i] == 'i' && wrapper->flags & WRAPPER_MORE) {
				w->place = i + 1 < text.len ? value : bytes_of("{}");
				break;
			}
			/* these take what is left of the word */
			if (wrapper->flags & WRAPPER_MORE && (p[i] == 'e' || p[i] == 'l'))
				break;
			continue;
		}
		if (value.len == 0) {
			if (++w->k == c->nwords || (!is_text && !is_static(&c->words[w->k])))
				return not_known(r, w);
			value = c->words[w->k].text;
			if (is_text)
				w->text = &c->words[w->k];
		} else if (is_text) {
			return not_known(r, w);
		}
		option_value(w, p[i], value);
		break;
	}
	w->k++;
	return true;
}

/* Up to the first word that is no option; false, noted: it is not known which that is. */
static bool options_read(struct reader *r, struct wrapping *w)
{
	const struct shell_command *const c = w->command;

	while (w->k < c->nwords) {
		const struct shell_word *const word = &c->words[w->k];
		const char *const p = word->text.data;

		/* a command or an operand may be dynamic, but not what could be an option */
		if (!is_static(word) && (word->flags & SHELL_SPLITS || !word->text.len ||
						*p == '\0' || *p == '-'))
			return not_known(r, w);
		if (word->text.len < 2 || *p != '-')
			break;
		if (bytes_is(word->text, "--")) {
			w->k++;
			break;
		}
		if (p[1] == '-' ? !long_read(r, w) : !short_read(r, w))
			return false;
	}
	return true;
}

/* NAME=value before the command. */
static bool assigns_read(struct reader *r, struct wrapping *w)
{
	struct shell_command *const c = w->command;

	/* a lone `-` is env's -i */
	if (w->k < c->nwords && bytes_is(c->words[w->k].text, "-"))
		w->k++;
	for (; w->k < c->nwords; w->k++) {
		const struct shell_word *const word = &c->words[w->k];
		const char *const p = word->text.data;
		const char *const equal =
			word->text.len ? memchr(p, '=', word->text.len) : NULL;

		if (!equal)
			return true;
		if (word->flags & (SHELL_SPLITS | SHELL_GLOB) ||
			memchr(p, 0, (size_t)(equal - p)))
			return not_known(r, w);
		c->flags |= SHELL_OPAQUE;
		r->out->flags |= SHELL_HAS_ASSIGN;
		name_assigned(r, (struct bytes){p, (size_t)(equal - p)});
	}
	return true;
}

/* ---- kinds ---- */

static const struct shell_cwd *wrapping_cwd(struct reader *r, const struct wrapping *w)
{
	return w->moves ? cwd_enter(r, w->command->cwd, w->chdir) : NULL;
}

static bool words_run(struct reader *r, struct wrapping *w, uint32_t index)
{
	struct shell_command *const c = w->command;
	const unsigned flags = w->wrapper->flags;
	uint32_t added = flags & WRAPPER_ROOT ? SHELL_ROOT : 0;

	if (flags & WRAPPER_MORE && !w->place.len)
		added |= SHELL_MORE;
	for (uint32_t skip = w->wrapper->skip; skip && w->k < c->nwords; skip--, w->k++)
		if (c->words[w->k].flags & SHELL_SPLITS)
			return not_known(r, w), true;
	if (w->k >= c->nwords)
		return true;
	if (!words_place(r, c, w->k, c->nwords, w->place))
		return false;
	return wrapper_spawn(r, index, w->k, c->nwords, added, wrapping_cwd(r, w));
}

static bool option_run(struct reader *r, struct wrapping *w, uint32_t index)
{
	struct shell_command *const c = w->command;
	const bool is_su = w->wrapper->flags & WRAPPER_ROOT;

	uint32_t operands = 0;

	if (is_su)
		c->flags |= SHELL_ROOT;
	/* options may follow the operands, as in `su USER -c TEXT` */
	while (!w->text && w->k < c->nwords) {
		const struct shell_word *const word = &c->words[w->k];

		if (!is_static(word))
			return not_known(r, w), true;
		if (bytes_is(word->text, "-c") || bytes_is(word->text, "--command")) {
			if (w->k + 1 < c->nwords)
				w->text = word + 1;
			break;
		}
		if (word->text.len > 2 && *(const char *)word->text.data == '-')
			return not_known(r, w), true;
		/* flock FILE COMMAND */
		if (w->wrapper->skip && ++operands > w->wrapper->skip)
			return wrapper_spawn(r, index, w->k, c->nwords, 0, NULL);
		w->k++;
	}
	return w->text ? text_word(r, index, w->text, TEXT_OWN, true) : true;
}

static bool find_run(struct reader *r, uint32_t index)
{
	static const char *const actions[] = {"-exec", "-execdir", "-ok", "-okdir", NULL};
	struct shell_command *const c = &r->commands[index];

	for (uint32_t k = 1; k < c->nwords; k++) {
		uint32_t end = k + 1;
		const bool moves = bytes_is(c->words[k].text, "-execdir") ||
				   bytes_is(c->words[k].text, "-okdir");

		if (!bytes_in(c->words[k].text, actions))
			continue;
		while (end < c->nwords && !bytes_is(c->words[end].text, ";") &&
			!(bytes_is(c->words[end].text, "+") &&
				bytes_is(c->words[end - 1].text, "{}")))
			end++;
		c->flags |= SHELL_OPAQUE;
		r->out->steps += end - k;
		if (end == k + 1)
			continue;
		if (!words_place(r, c, k + 1, end, bytes_of("{}")) ||
			!wrapper_spawn(r, index, k + 1, end, 0, moves ? &cwd_unknown : NULL))
			return false;
		k = end;
	}
	return true;
}

static bool trap_run(struct reader *r, uint32_t index)
{
	const struct shell_command *const c = &r->commands[index];
	uint32_t k = 1;

	if (k < c->nwords && bytes_is(c->words[k].text, "--"))
		k++;
	if (k + 1 >= c->nwords || bytes_is(c->words[k].text, "-") ||
		bytes_is(c->words[k].text, "-p") || bytes_is(c->words[k].text, "-l"))
		return true;
	return text_word(r, index, &c->words[k], TEXT_LATER, r->sh);
}

/* Options of git before the subcommand; its subcommands that run something. */
static bool git_run(struct reader *r, uint32_t index)
{
	static const char *const valued[] = {"-C", "-c", "--git-dir", "--work-tree",
		"--namespace", "--exec-path", "--super-prefix", "--config-env", NULL};
	struct shell_command *const c = &r->commands[index];
	uint32_t k = 1;

	while (k < c->nwords && c->words[k].text.len &&
		*(const char *)c->words[k].text.data == '-')
		k += bytes_in(c->words[k].text, valued) ? 2 : 1;
	if (k + 1 >= c->nwords)
		return true;
	if (bytes_is(c->words[k].text, "bisect") && bytes_is(c->words[k + 1].text, "run") &&
		k + 2 < c->nwords) {
		c->flags |= SHELL_OPAQUE;
		return wrapper_spawn(r, index, k + 2, c->nwords, 0, NULL);
	}
	if (bytes_is(c->words[k].text, "submodule")) {
		while (++k < c->nwords && !bytes_is(c->words[k].text, "foreach"))
			;
		if (k >= c->nwords)
			return true;
		for (k++; k < c->nwords && bytes_is(c->words[k].text, "--recursive");)
			k++;
		c->flags |= SHELL_OPAQUE;
		return text_joined(r, index, k, TEXT_OWN, true);
	}
	if (!bytes_is(c->words[k].text, "rebase"))
		return true;
	while (++k + 1 < c->nwords)
		if (bytes_is(c->words[k].text, "-x") || bytes_is(c->words[k].text, "--exec")) {
			c->flags |= SHELL_OPAQUE;
			if (!text_word(r, index, &c->words[k + 1], TEXT_OWN, true))
				return false;
		}
	return true;
}

/* A shell of which only this is known: whether it has a script. */
static void foreign_run(struct reader *r, const struct shell_command *c)
{
	const struct shell_word *const word = c->nwords > 1 ? &c->words[1] : NULL;

	if (!word || !is_static(word) || !word->text.len ||
		*(const char *)word->text.data == '-')
		unread_at(r, "a shell of another kind", c->offset);
}

static bool kind_run(struct reader *r, struct wrapping *w, uint32_t index)
{
	struct shell_command *const c = w->command;

	switch ((enum wrapper_kind)w->wrapper->kind) {
	case KIND_SHELL: return text_of_shell(r, index, false);
	case KIND_SH: return text_of_shell(r, index, true);
	case KIND_FOREIGN: foreign_run(r, c); return true;
	case KIND_EVAL:
		if (c->nwords > 1 && bytes_is(c->words[1].text, "--"))
			w->k++;
		return text_joined(r, index, w->k, TEXT_PRESENT, r->sh);
	case KIND_TRAP: return trap_run(r, index);
	case KIND_FIND: return find_run(r, index);
	case KIND_GIT: return git_run(r, index);
	default: break;
	}
	/* `command -v` only tells */
	if (bytes_is(bytes_of(w->wrapper->name), "command") && c->nwords > 1 &&
		(bytes_is(c->words[1].text, "-v") || bytes_is(c->words[1].text, "-V")))
		return true;
	if (!options_read(r, w))
		return true;
	if (w->wrapper->flags & WRAPPER_ASSIGNS && !assigns_read(r, w))
		return true;
	switch ((enum wrapper_kind)w->wrapper->kind) {
	case KIND_OPTION: return option_run(r, w, index);
	case KIND_JOINED: return text_joined(r, index, w->k, TEXT_OWN, true);
	default: return words_run(r, w, index);
	}
}

bool wrapper_read(struct reader *r, uint32_t index)
{
	struct shell_command *const c = &r->commands[index];
	const struct bytes name = shell_name(c);
	struct wrapping w = {.command = c, .k = 1};
	const struct place before = r->place;

	w.wrapper = wrapper_find(name);
	if (!w.wrapper)
		return true;
	if (w.wrapper->flags & WRAPPER_OPAQUE || name.len != c->words[0].text.len)
		c->flags |= SHELL_OPAQUE; /* by another path it is another program */
	if (!kind_run(r, &w, index))
		return false;
	if (!(w.wrapper->flags & WRAPPER_HERE)) {
		r->place = before;
		place_set(r, before.here);
	}
	return true;
}
