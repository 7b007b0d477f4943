/* SPDX-License-Identifier: MIT */
/* Texts that a command has read as commands: -c, eval, trap, a shell's input. */
#include "broker/core/shell/reader.h"

/* What commands run by another take over from it. */
#define INHERITED                                                                              \
	(SHELL_COVERED | SHELL_BACKGROUND | SHELL_IN_FUNCTION | SHELL_STDIN_UNKNOWN |          \
		SHELL_ROOT)

bool text_read(struct reader *r, uint32_t index, struct bytes text, uint32_t offset,
	enum text_kind kind, bool sh)
{
	const struct reader before = *r;
	struct shell_command *const c = &r->commands[index];
	uint32_t nest;
	struct place place;

	c->flags |= SHELL_WRAPS;
	if (r->texts == LIMIT_SHELL_TEXTS)
		return unread(r, "nested too deeply");
	if (!enter(r) || !nest_enter(r, SHELL_TEXT, index, &nest))
		return false;
	r->texts++;
	r->in = (struct source){.start = text.len ? text.data : "", .fixed = true};
	r->in.p = r->in.start;
	r->in.end = r->in.start + text.len;
	r->in.offset = offset;
	r->docs = NULL;
	r->docs_tail = &r->docs;
	r->via = index;
	r->command_flags =
		(c->flags & INHERITED) | (c->flags & SHELL_OPAQUE ? SHELL_COVERED : 0);
	r->from = c->from;
	r->from_end = c->from_end;
	r->sh = sh;
	if (kind != TEXT_PRESENT)
		r->loops = 0;
	if (kind == TEXT_LATER) {
		r->command_flags |= SHELL_STDIN_UNKNOWN;
		place_set(r, &cwd_unknown);
	} else {
		place_set(r, c->cwd);
	}
	if (!list_read(r, true))
		return false;
	if (!at_end(r))
		return unread(r, "a word or sign that does not belong here");
	if (r->docs)
		return unread(r, "a here-document without its end");
	place = r->place;
	leave(r);
	r->texts--;
	r->in = before.in;
	r->docs = before.docs;
	r->docs_tail = r->docs ? before.docs_tail : &r->docs;
	r->via = before.via;
	r->command_flags = before.command_flags;
	r->from = before.from;
	r->from_end = before.from_end;
	r->sh = before.sh;
	r->loops = before.loops;
	r->nest = nest;
	r->owner = before.owner;
	r->place = before.place;
	if (kind == TEXT_PRESENT)
		r->place = place;
	else
		place_set(r, before.place.here);
	return true;
}

bool is_opened(struct bytes path)
{
	static const char *const folders[] = {"/dev/stdin", "/dev/fd/", "/dev/tcp/",
		"/dev/udp/", "/proc/self/fd/", "/proc/thread-self/fd/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (path.len >= strlen(folders[i]) &&
			memcmp(path.data, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

static const char dynamic[] = "a text to run that is not known";

bool text_word(struct reader *r, uint32_t index, const struct shell_word *word,
	enum text_kind kind, bool sh)
{
	if (word->flags & (SHELL_DYNAMIC | SHELL_PLACE | SHELL_GLOB)) {
		unread_at(r, dynamic, word->offset);
		return true;
	}
	return text_read(r, index, word->text, word->offset, kind, sh);
}

bool text_joined(struct reader *r, uint32_t index, uint32_t k, enum text_kind kind, bool sh)
{
	const struct shell_command *const c = &r->commands[index];
	const uint32_t offset = k < c->nwords ? c->words[k].offset : c->offset;
	size_t len = 0;
	char *text, *p;

	if (k == c->nwords)
		return true;
	for (uint32_t i = k; i < c->nwords; i++) {
		if (c->words[i].flags & (SHELL_DYNAMIC | SHELL_PLACE | SHELL_GLOB)) {
			unread_at(r, dynamic, c->words[i].offset);
			return true;
		}
		len += c->words[i].text.len + 1;
	}
	p = text = result_alloc(r, 1, len);
	if (!text)
		return false;
	for (; k < c->nwords; k++) {
		memcpy(p, c->words[k].text.data, c->words[k].text.len);
		p += c->words[k].text.len;
		*p++ = ' ';
	}
	r->out->steps += (uint32_t)len;
	return text_read(r, index, (struct bytes){text, len - 1}, offset, kind, sh);
}

/* ---- a shell ---- */

/* The body of a here-document is read as commands as soon as it is there. */
static bool document_runs(
	struct reader *r, uint32_t index, const struct shell_redirect *redirect, bool sh)
{
	for (struct here_doc *doc = r->docs; doc; doc = doc->next)
		if (doc->redirect == redirect && doc->runs == SHELL_NONE) {
			doc->runs = index;
			doc->sh = sh;
			r->commands[index].flags |= SHELL_WRAPS;
			return true;
		} else if (doc->redirect == redirect) {
			break;
		}
	if (!redirect->target.text.data) {
		unread_at(r, dynamic, r->commands[index].offset);
		return true;
	}
	return text_word(r, index, &redirect->target, TEXT_OWN, sh);
}

static const struct shell_redirect *input_of(const struct shell_command *c)
{
	const struct shell_redirect *input = NULL;

	for (uint32_t i = 0; i < c->nredirects; i++)
		if (c->redirects[i].input)
			input = &c->redirects[i];
	return input;
}

/* What `echo` of plain words writes, or `cat` of a here-document. */
static bool pipe_runs(struct reader *r, uint32_t index, bool sh)
{
	const struct shell_command *const c = &r->commands[index];
	const struct shell_command *const source = &r->commands[c->from];
	const struct shell_redirect *const input = input_of(source);

	if (c->from_end - c->from == 1 && source->nwords == 1 && source->nassigns == 0 &&
		bytes_is(source->words[0].text, "cat") && input && source->nredirects == 1 &&
		input->op == SHELL_HERE_DOC)
		return document_runs(r, index, input, sh);
	if (c->from_end - c->from == 1 && source->nwords == 2 && source->nredirects == 0 &&
		bytes_is(source->words[0].text, "echo") && source->words[1].text.len &&
		*(const char *)source->words[1].text.data != '-' &&
		!memchr(source->words[1].text.data, '\\', source->words[1].text.len))
		return text_word(r, index, &source->words[1], TEXT_OWN, sh);
	unread_at(r, "a shell that runs what a pipe brings", c->offset);
	return true;
}

static bool input_runs(struct reader *r, uint32_t index, bool sh)
{
	struct shell_command *const c = &r->commands[index];
	const struct shell_redirect *const input = input_of(c);

	if (!input && c->flags & SHELL_STDIN_UNKNOWN)
		unread_at(r, "a shell whose input is not read", c->offset);
	if (!input && c->from < c->from_end)
		return pipe_runs(r, index, sh);
	if (!input) {
		c->flags |= SHELL_READS_CODE;
		return true;
	}
	switch (input->op) {
	case SHELL_HERE_DOC: return document_runs(r, index, input, sh);
	case SHELL_HERE_STRING: return text_word(r, index, &input->target, TEXT_OWN, sh);
	case SHELL_NULL: return true;
	case SHELL_READ:
		/* a file is a script by another way; what a command makes is not */
		if (!(input->target.flags & SHELL_PROC))
			return true;
		break;
	default: break;
	}
	unread_at(r, "a shell whose input is not read", c->offset);
	return true;
}

struct shell_options {
	bool text, input;
	uint32_t k; /* the first word that is no option */
};

/* One word of options; false, noted: not known. */
static bool option_read(
	struct reader *r, const struct shell_command *c, struct shell_options *o)
{
	static const char *const longs[] = {
		"--login", "--noprofile", "--norc", "--posix", "--verbose", NULL};
	static const char *const files[] = {"--rcfile", "--init-file", NULL};
	const struct shell_word *const word = &c->words[o->k++];
	const char *const p = word->text.data;
	bool value = false;

	if (bytes_in(word->text, longs))
		return true;
	if (bytes_in(word->text, files)) {
		if (o->k < c->nwords && c->words[o->k].flags & SHELL_SPLITS)
			unread_at(r, "a shell's words that are not known", word->offset);
		o->k++;
		return true;
	}
	for (size_t i = 1; i < word->text.len; i++) {
		o->text |= p[i] == 'c' && p[0] == '-';
		o->input |= p[i] == 's';
		value |= p[i] == 'o';
		if (!strchr("aceEfhlmnoprstTuvx", p[i]) || !p[i]) {
			unread_at(r, "a shell's options that are not known", word->offset);
			return false;
		}
	}
	if (value && o->k < c->nwords) {
		static const char *const names[] = {"errexit", "nounset", "pipefail", "xtrace",
			"noglob", "noclobber", "verbose", "allexport", NULL};

		if (!bytes_in(c->words[o->k].text, names))
			unread_at(r, "a shell's options that are not known", word->offset);
		o->k++;
	}
	return true;
}

/* A word of unknown value that can't be an option: the script then, and no text. */
static bool is_script(const struct shell_command *c, uint32_t k)
{
	const struct shell_word *const word = &c->words[k];

	if (word->flags & (SHELL_SPLITS | SHELL_PROC | SHELL_PLACE))
		return false;
	return k + 1 == c->nwords || memchr(word->text.data, '/', word->text.len);
}

bool text_of_shell(struct reader *r, uint32_t index, bool sh)
{
	struct shell_command *const c = &r->commands[index];
	struct shell_options o = {.k = 1};

	while (o.k < c->nwords) {
		const struct shell_word *const word = &c->words[o.k];
		const char first = word->text.len ? *(const char *)word->text.data : 'x';

		if (word->flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_PLACE)) {
			if (!o.text && first != '-' && first != '+' &&
				(first != '\0' || is_script(c, o.k)))
				break;
			unread_at(r, "a shell's words that are not known", word->offset);
			return true;
		}
		if (bytes_is(word->text, "--") || bytes_is(word->text, "-")) {
			o.k++;
			break;
		}
		if (first != '-' && first != '+')
			break;
		if (!option_read(r, c, &o))
			return true;
	}
	if (o.text) {
		if (o.k < c->nwords)
			return text_word(r, index, &c->words[o.k], TEXT_OWN, sh);
		if (c->flags & SHELL_MORE)
			unread_at(r, "a shell's words that are not known", c->offset);
		return true;
	}
	if (o.k >= c->nwords || o.input)
		return input_runs(r, index, sh);
	if (bytes_is(c->words[o.k].text, "/dev/stdin") ||
		bytes_is(c->words[o.k].text, "/dev/fd/0"))
		return input_runs(r, index, sh);
	if (is_opened(c->words[o.k].text))
		unread_at(r, "a script that is no file", c->words[o.k].offset);
	return true;
}
