/* SPDX-License-Identifier: MIT */
/* The allocator of the tests that link with --wrap: fails where it is told to. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/model/world.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

static struct {
	unsigned long count, fail;
} state;

unsigned long starve(unsigned long n)
{
	unsigned long count = state.count;

	state.count = 0;
	state.fail = n;
	return count;
}

static bool fails(void)
{
	return ++state.count == state.fail;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, n, size);
}
