/* SPDX-License-Identifier: MIT */
/* Lists and pipelines. */
#include "broker/core/shell/reader.h"

/* Whether what stands here, where a command could begin, ends the list. */
static bool list_ends(const struct reader *r)
{
	switch (peek(r)) {
	case -1:
	case ')': return true;
	case ';': return peek_at(r, 1) == ';' || peek_at(r, 1) == '&';
	case '}': return at_word(r, "}");
	case 't': return at_word(r, "then");
	case 'd': return at_word(r, "do") || at_word(r, "done");
	case 'e': return at_word(r, "else") || at_word(r, "elif") || at_word(r, "esac");
	case 'f': return at_word(r, "fi");
	default: return false;
	}
}

/* ---- pipelines ---- */

static bool prefix_read(struct reader *r, bool *negated)
{
	for (;;) {
		skip_blanks(r);
		if (take_word(r, "!")) {
			*negated = !*negated;
		} else if (!r->sh && take_word(r, "time")) {
			take_word(r, "-p");
			take_word(r, "--");
		} else {
			return true;
		}
	}
}

/* A `|` or `|&`; false: another sign. */
static bool take_pipe(struct reader *r)
{
	const struct source before = r->in;

	if (peek(r) != '|')
		return false;
	if (take(r, "||")) {
		r->in = before;
		return false;
	}
	return take(r, "|&") || take(r, "|");
}

static bool pipeline_read(struct reader *r)
{
	const struct place before = r->place;
	const uint32_t from = r->from, from_end = r->from_end;
	uint32_t stage = r->out->n;
	bool negated = false, several = false;

	if (!prefix_read(r, &negated) || !command_read(r))
		return false;
	for (;;) {
		const char *sign;

		skip_blanks(r);
		sign = r->in.p;
		if (!take_pipe(r))
			break;
		if (r->sh && memchr(sign, '&', (size_t)(r->in.p - sign)))
			return unread(r, "|&, which sh reads otherwise");
		if (!skip_newlines(r))
			return false;
		several = true;
		r->place = before;
		r->from = stage;
		r->from_end = stage = r->out->n;
		if (!command_read(r))
			return false;
	}
	r->from = from;
	r->from_end = from_end;
	if (several) {
		r->place = before;
		place_set(r, before.here);
	}
	if (negated) {
		const struct shell_cwd *const ok = r->place.ok;

		r->place.ok = r->place.bad;
		r->place.bad = ok;
	}
	return true;
}

/* ---- lists ---- */

static bool and_or_read(struct reader *r)
{
	if (!pipeline_read(r))
		return false;
	for (;;) {
		struct place *const place = &r->place;
		const struct shell_cwd *const ok = place->ok, *const bad = place->bad;
		bool both;

		skip_blanks(r);
		both = peek(r) == '&' && take(r, "&&");
		if (!both && !(peek(r) == '|' && take(r, "||")))
			return true;
		if (!skip_newlines(r))
			return false;
		if (both ? ok != NULL : bad != NULL)
			place->here = both ? ok : bad;
		if (!pipeline_read(r))
			return false;
		if (both)
			place->bad = cwd_join(r, bad, place->bad);
		else
			place->ok = cwd_join(r, ok, place->ok);
	}
}

/* `&` after the commands from the first on. */
static bool background(struct reader *r, uint32_t first, const struct place *before)
{
	const char *const sign = r->in.p;

	for (uint32_t i = first; i < r->out->n; i++)
		r->commands[i].flags |= SHELL_BACKGROUND;
	r->out->steps += r->out->n - first;
	take(r, "&");
	/* a joined line could make `&>` or the like of it */
	if (r->in.p != sign + 1 && !at_end(r) && strchr("&>", peek(r)))
		return unread(r, "a joined line after &");
	r->place = *before;
	place_set(r, before->here);
	return true;
}

/* *more: a separator was there. */
static bool separator_read(
	struct reader *r, uint32_t first, const struct place *before, bool *more)
{
	const struct shell_cwd *next;
	int c;

	skip_blanks(r);
	c = peek(r);
	*more = c == '&' || c == '\n' || (c == ';' && !list_ends(r));
	if (c == '&' && !background(r, first, before))
		return false;
	if (c == ';' && *more)
		take(r, ";");
	next = cwd_join(r, r->place.ok, r->place.bad);
	if (next)
		r->place.here = next;
	return true;
}

bool list_read(struct reader *r, bool empty)
{
	bool more = true;

	if (!enter(r) || !skip_newlines(r))
		return false;
	if (!empty && list_ends(r))
		return unread(r, "a command is missing");
	while (more && !list_ends(r)) {
		const struct place before = r->place;
		const uint32_t first = r->out->n;

		if (!and_or_read(r) || !separator_read(r, first, &before, &more))
			return false;
		if (more && !skip_newlines(r))
			return false;
	}
	leave(r);
	return true;
}

bool command_read(struct reader *r)
{
	if (compound_follows(r))
		return compound_read(r);
	if (list_ends(r) || at_word(r, "!") || at_word(r, "in"))
		return unread(r, "a command is missing");
	return simple_read(r);
}
