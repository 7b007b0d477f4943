/* SPDX-License-Identifier: MIT */
#include "broker/core/shell/reader.h"

#include <errno.h>
#include <stdlib.h>

#define ALIGN	       16u
#define ARENA_STACK    (LIMIT_SHELL_ARENA / 4)
#define ARENA_COMMANDS (LIMIT_SHELL_COMMANDS * sizeof(struct shell_command))
#define ARENA_NESTS    (LIMIT_SHELL_NESTS * sizeof(struct shell_nest))
#define ALIGNED(n)     (((n) + ALIGN - 1) & ~(size_t)(ALIGN - 1))

_Static_assert(
	ALIGNED(ARENA_COMMANDS) + ALIGNED(ARENA_NESTS) + ARENA_STACK < LIMIT_SHELL_ARENA / 2,
	"half of the arena is for words");

int shell_arena_init(struct shell_arena *arena)
{
	arena->size = 0;
	arena->base = malloc(LIMIT_SHELL_ARENA);
	if (!arena->base)
		return -ENOMEM;
	arena->size = LIMIT_SHELL_ARENA;
	return 0;
}

void shell_arena_free(struct shell_arena *arena)
{
	free(arena->base);
	*arena = (struct shell_arena){0};
}

/* ---- what is unread ---- */

uint32_t offset_at(const struct reader *r, const char *p)
{
	return r->in.fixed ? r->in.offset : r->in.offset + (uint32_t)(p - r->in.start);
}

void unread_at(struct reader *r, const char *reason, uint32_t offset)
{
	if (r->out->flags & SHELL_UNREAD)
		return;
	r->out->flags |= SHELL_UNREAD;
	r->out->reason = reason;
	r->out->offset = offset;
}

bool unread(struct reader *r, const char *reason)
{
	unread_at(r, reason, offset_at(r, r->in.p));
	return false;
}

/* ---- memory ---- */

static const char too_large[] = "more than can be read";

static char *result_take(struct reader *r, size_t size)
{
	char *const p = r->results;

	size = ALIGNED(size);
	if (size > (size_t)(r->results_end - p)) {
		unread(r, too_large);
		return NULL;
	}
	r->results += size;
	return p;
}

void *result_alloc(struct reader *r, size_t n, size_t size)
{
	char *const p = n <= LIMIT_SHELL_ARENA / size ? result_take(r, n * size) : NULL;

	if (p)
		memset(p, 0, n * size);
	else
		unread(r, too_large);
	return p;
}

char *result_text(struct reader *r, const char *text, size_t len)
{
	char *const p = result_take(r, len);

	if (p && len)
		memcpy(p, text, len);
	r->out->steps += (uint32_t)len;
	return p;
}

void *stack_alloc(struct reader *r, size_t size)
{
	char *const p = r->stack + (-(uintptr_t)r->stack & (ALIGN - 1));

	if (size > ARENA_STACK || p > r->stack_end || size > (size_t)(r->stack_end - p)) {
		unread(r, too_large);
		return NULL;
	}
	r->stack = p + size;
	return p;
}

void stack_put(struct reader *r, char c)
{
	if (r->stack < r->stack_end)
		*r->stack++ = c;
	else
		r->full = true;
}

void stack_run(struct reader *r, const char *p, size_t n)
{
	if (n > (size_t)(r->stack_end - r->stack)) {
		r->full = true;
		return;
	}
	memcpy(r->stack, p, n);
	r->stack += n;
}

/* ---- nesting ---- */

bool enter(struct reader *r)
{
	if (r->depth == LIMIT_SHELL_DEPTH)
		return unread(r, "nested too deeply");
	r->depth++;
	return true;
}

void leave(struct reader *r)
{
	r->depth--;
}

bool nest_enter(struct reader *r, enum shell_nest_kind kind, uint32_t owner, uint32_t *before)
{
	struct shell *const out = r->out;

	if (out->nnests == LIMIT_SHELL_NESTS)
		return unread(r, too_large);
	r->nests[out->nnests] =
		(struct shell_nest){.kind = (uint8_t)kind, .parent = r->nest, .owner = owner};
	*before = r->nest;
	r->nest = out->nnests++;
	return true;
}

uint32_t command_new(struct reader *r)
{
	struct shell *const out = r->out;

	if (out->n == LIMIT_SHELL_COMMANDS) {
		unread(r, too_large);
		return SHELL_NONE;
	}
	r->commands[out->n] = (struct shell_command){
		.cwd = r->place.here,
		.flags = r->command_flags,
		.offset = offset_at(r, r->in.p),
		.nest = r->nest,
		.via = r->via,
		.from = r->from,
		.from_end = r->from_end,
	};
	return out->n++;
}

/* ---- the whole ---- */

static void read_once(struct reader *r, struct bytes text, const struct shell_arena *arena)
{
	uint32_t top;
	char *p = arena->base;

	r->commands = (struct shell_command *)p;
	p += ALIGNED(ARENA_COMMANDS);
	r->nests = (struct shell_nest *)p;
	p += ALIGNED(ARENA_NESTS);
	r->stack = p;
	r->stack_end = p += ARENA_STACK;
	r->results = p;
	r->results_end = arena->base + arena->size;
	r->in = (struct source){.start = text.data, .p = text.data};
	r->in.end = r->in.p + text.len;
	r->docs_tail = &r->docs;
	r->nest = r->via = SHELL_NONE;
	r->sh = r->context->dialect == SHELL_SH;
	*r->out = (struct shell){
		.commands = r->commands, .nests = r->nests, .steps = r->out->steps};
	nest_enter(r, SHELL_TOP, SHELL_NONE, &top);
	place_set(r, r->context->cwd.len ? cwd_of(r, r->context->cwd) : &cwd_unknown);
	if (list_read(r, true) && !at_end(r))
		unread(r, "a word or sign that does not belong here");
	if (r->docs)
		unread(r, "a here-document without its end");
	if (r->arithmetic && r->bait)
		unread_at(r, "a text that an arithmetic expression might run", 0);
	if (r->out->n > 1)
		r->out->flags |= SHELL_COMPOUND;
}

void shell_read(struct bytes text, const struct shell_context *context,
	const struct shell_arena *arena, struct shell *out)
{
	struct reader r = {.context = context, .out = out, .known = true};

	*out = (struct shell){0};
	if (arena->size != LIMIT_SHELL_ARENA || text.len > LIMIT_SHELL_TEXT) {
		out->flags = SHELL_UNREAD;
		out->reason = too_large;
		return;
	}
	if (text.len == 0)
		text.data = "";
	read_once(&r, text, arena);
	if (r.touched) {
		/* what the text may assign is not known anywhere in it: it may run twice */
		r = (struct reader){.context = context, .out = out};
		read_once(&r, text, arena);
	}
	if (memchr(text.data, '\0', text.len))
		unread_at(&r, "a NUL character", 0);
}
