/* SPDX-License-Identifier: MIT */
#include "tests/unit/fail_alloc.h"

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

/* The linker's wrappers have no argument of ours: the one place that they look at. */
static struct {
	unsigned long count, fail;
	int held;
	bool failed;
} state;

unsigned long fail_alloc(unsigned long n)
{
	unsigned long count = state.count;

	state.count = 0;
	state.fail = n;
	if (n)
		state.failed = false;
	return count;
}

bool fail_alloc_did(void)
{
	return state.failed;
}

void fail_alloc_hold(int by)
{
	state.held += by;
}

static bool fails(void)
{
	if (state.held || ++state.count != state.fail)
		return false;
	state.failed = true;
	return true;
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

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}
