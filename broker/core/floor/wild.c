/* SPDX-License-Identifier: MIT */
#include "broker/core/floor/wild.h"

static struct bytes after(struct bytes b, size_t n)
{
	return (struct bytes){(const char *)b.data + n, b.len - n};
}

static char first(struct bytes b)
{
	return *(const char *)b.data;
}

static bool is_negated(struct bytes class)
{
	const char *const p = class.data;

	return class.len > 1 && (p[1] == '!' || p[1] == '^');
}

/* The length of the class that begins the pattern; 0: it has no end, and is a plain [. */
static size_t class_length(struct bytes pattern)
{
	const char *const p = pattern.data;
	size_t i = 1;

	if (i < pattern.len && (p[i] == '!' || p[i] == '^'))
		i++;
	for (const size_t start = i; i < pattern.len; i++) {
		if (p[i] == ']' && i > start)
			return i + 1;
		if (p[i] == '\\')
			i++;
		else if (p[i] == '[' && i + 1 < pattern.len && p[i + 1] == ':') {
			const char *const end = memmem(p + i + 2, pattern.len - i - 2, ":]", 2);

			if (end)
				i = (size_t)(end + 1 - p);
		}
	}
	return 0;
}

/* Named classes are taken for any letter, digit or sign: what is near enough is on the floor.
 */
static bool class_has(struct bytes class, char c)
{
	const char *p = (const char *)class.data + 1;
	const char *const end = (const char *)class.data + class.len - 1;
	const bool negated = *p == '!' || *p == '^';
	bool found = false;

	for (p += negated; p < end; p++) {
		char to;

		if (*p == '[' && p + 1 < end && p[1] == ':')
			return true;
		if (*p == '\\' && p + 1 < end)
			p++;
		to = *p;
		if (p + 2 < end && p[1] == '-') {
			to = p[2];
			found |= c >= *p && c <= to;
			p += 2;
			continue;
		}
		found |= c == to;
	}
	return found != negated;
}

/* One element of the pattern (not a *) against one character; both are moved on. */
static bool step(struct bytes *pattern, struct bytes *name)
{
	size_t n = 1;
	bool found;

	if (pattern->len == 0 || name->len == 0)
		return false;
	switch (first(*pattern)) {
	case '?': found = true; break;
	case '[':
		n = class_length(*pattern);
		found = n ? class_has((struct bytes){pattern->data, n}, first(*name))
			  : first(*name) == '[';
		n = n ? n : 1;
		break;
	case '\\':
		if (pattern->len > 1) {
			*pattern = after(*pattern, 1);
			found = first(*pattern) == first(*name);
			break;
		}
		/* fall through */
	default: found = first(*pattern) == first(*name); break;
	}
	*pattern = after(*pattern, n);
	*name = after(*name, 1);
	return found;
}

bool wild_match(struct bytes pattern, struct bytes name)
{
	struct bytes retry = {NULL, 0}, retry_name = {NULL, 0};

	while (pattern.len > 0 || name.len > 0) {
		if (pattern.len > 0 && first(pattern) == '*') {
			pattern = retry = after(pattern, 1);
			retry_name = name;
			continue;
		}
		if (step(&pattern, &name))
			continue;
		/* the last * takes one more */
		if (!retry.data || retry_name.len == 0)
			return false;
		retry_name = name = after(retry_name, 1);
		pattern = retry;
	}
	return true;
}

bool wild_is(struct bytes pattern)
{
	const char *const p = pattern.data;

	for (size_t i = 0; i < pattern.len; i++) {
		if (p[i] == '\\')
			i++;
		else if (p[i] == '*' || p[i] == '?' || p[i] == '[')
			return true;
	}
	return false;
}

unsigned wild_literals(struct bytes pattern)
{
	unsigned n = 0;

	while (pattern.len > 0) {
		size_t len = 1;

		switch (first(pattern)) {
		case '*':
		case '?': break;
		case '[':
			len = class_length(pattern);
			/* one that leaves some out stands for nearly all */
			n += len == 0 || !is_negated(pattern);
			len = len ? len : 1;
			break;
		case '\\': len = pattern.len > 1 ? 2 : 1; /* fall through */
		default: n++; break;
		}
		pattern = after(pattern, len);
	}
	return n;
}

bool wild_may_mean(struct bytes pattern, struct bytes name, unsigned flags)
{
	const bool dot = pattern.len > 0 && first(pattern) == '.';
	unsigned literals;

	if (!wild_is(pattern))
		return wild_match(pattern, name);
	if (!(flags & WILD_HIDDEN) && name.len > 0 && first(name) == '.' && !dot)
		return false;
	literals = wild_literals(pattern);
	/* `.*` of a shell is every hidden name, and hardly used but for them */
	if (dot && !flags ? literals == 0 : literals * 3 <= name.len)
		return false;
	return wild_match(pattern, name);
}
