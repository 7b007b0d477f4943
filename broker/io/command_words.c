/* SPDX-License-Identifier: MIT */
#include "broker/io/command_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libapproval/limits.h"
#include "libapproval/wire/value.h"

/* Neither special to a shell nor, like "=", in the place of a command's name. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_@%+:,./-", c));
}

static bool is_reserved(struct bytes word)
{
	static const char *const words[] = {"if", "then", "elif", "else", "fi", "do", "done",
		"case", "esac", "while", "until", "for", "in", "select", "function", "time",
		"coproc", NULL};

	for (const char *const *w = words; *w; w++)
		if (bytes_is(word, *w))
			return true;
	return false;
}

static bool needs_quotes(struct bytes word, bool first)
{
	const char *const p = word.data;

	for (size_t i = 0; i < word.len; i++)
		if (!is_plain(p[i]))
			return true;
	return word.len == 0 || (first && is_reserved(word));
}

/* Writes a word, or with out NULL only counts; a quote within quotes becomes '\''. */
static size_t put_word(struct bytes word, bool first, char *out)
{
	static const char quote[] = "'\\''";
	const char *const p = word.data;
	size_t n = 0;

	if (!needs_quotes(word, first)) {
		if (out)
			memcpy(out, p, word.len);
		return word.len;
	}
	if (out)
		out[n] = '\'';
	n++;
	for (size_t i = 0; i < word.len; i++) {
		const size_t len = p[i] == '\'' ? sizeof(quote) - 1 : 1;

		if (out)
			memcpy(out + n, len > 1 ? quote : p + i, len);
		n += len;
	}
	if (out)
		out[n] = '\'';
	return n + 1;
}

/* The length of the whole in *len; out NULL only counts. */
static int put_words(struct bytes array, char *out, size_t *len)
{
	struct wire_iter it;
	struct bytes raw, word;
	size_t n = 0;
	bool first = true;

	if (wire_iter_array(&it, array) || it.left == 0)
		return -EINVAL;
	while (wire_array_next(&it, &raw)) {
		if (wire_text(raw, &word))
			return -EINVAL;
		if (!first) {
			if (out)
				out[n] = ' ';
			n++;
		}
		n += put_word(word, first, out ? out + n : NULL);
		if (n > LIMIT_INPUT)
			return -EMSGSIZE;
		first = false;
	}
	*len = n;
	return it.left == 0 ? 0 : -EINVAL;
}

int command_join(struct bytes array, char **text, struct bytes *command)
{
	size_t len;
	char *p;
	int rc = put_words(array, NULL, &len);

	if (rc < 0)
		return rc;
	p = malloc(len + 1);
	if (!p)
		return -ENOMEM;
	rc = put_words(array, p, &len);
	if (rc < 0) {
		free(p);
		return rc;
	}
	p[len] = '\0';
	*text = p;
	*command = (struct bytes){p, len};
	return 0;
}
