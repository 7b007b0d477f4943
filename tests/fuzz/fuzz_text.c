/* SPDX-License-Identifier: MIT */
/*
 * Whatever comes in: no surface lets a control, format or bidi character out, all
 * of it is valid UTF-8, no line is longer than asked for or begins with the text's
 * own first column, and JSON keeps its value.
 */
#include "config.h"

#include <json-c/json.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "frontends/common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* abort() without a word is no help to whoever reads the log */
#define MUST(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);        \
			abort();                                                               \
		}                                                                              \
	} while (0)

__attribute__((constructor)) static void locale_set(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		fputs("no locale C.UTF-8\n", stderr);
		exit(77);
	}
}

/* By rule rather than by table, and decoded by the C library: independent of what is tested. */
static bool is_dangerous(wchar_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa1) || c == 0xad || c == 0x61c ||
	       (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
	       (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
	       c >= 0xe0000 || wcwidth(c) < 0;
}

/* The columns of what is safe to show; newlines only if `lines` (then 0 comes back). */
static size_t must_be_safe(const char *s, size_t len, bool lines)
{
	size_t columns = 0;
	mbstate_t state = {0};
	wchar_t c;

	while (len) {
		size_t n = mbrtowc(&c, s, len, &state);

		MUST(n > 0 && n <= len);
		MUST((lines && c == '\n') || !is_dangerous(c));
		if (c != '\n')
			columns += (size_t)wcwidth(c);
		s += n;
		len -= n;
	}
	return columns;
}

static void fuzz_terminal(const char *s, size_t len, size_t columns)
{
	struct text t = {0};
	size_t least = columns < TEXT_MIN_COLUMNS ? TEXT_MIN_COLUMNS : columns;

	text_terminal(&t, s, len, columns);
	MUST(!t.failed);
	size_t used = must_be_safe(text_string(&t), t.len, false);
	MUST(used == text_columns(text_string(&t), t.len));
	MUST(!columns || used <= least);
	MUST(columns || used == text_columns(s, len));
	text_free(&t);
}

static void fuzz_block(const char *s, size_t len, size_t columns)
{
	struct text t = {0};
	size_t least = columns < TEXT_WORD_COLUMNS ? TEXT_WORD_COLUMNS : columns;
	char *line, *end;

	text_block(&t, s, len, columns);
	MUST(!t.failed && t.len && t.data[t.len - 1] == '\n');
	for (line = t.data; *line; line = end + 1) {
		end = strchr(line, '\n');
		MUST(end);
		MUST(!strncmp(line, "  | ", 4) || !strncmp(line, "  + ", 4));
		size_t used = must_be_safe(line, (size_t)(end - line), false);
		MUST(!columns || used <= least);
	}
	MUST((size_t)(line - t.data) == t.len);
	text_free(&t);
}

static void fuzz_log(const char *s, size_t len, size_t max)
{
	struct text t = {0};
	size_t i;

	text_log(&t, s, len, max);
	must_be_safe(text_string(&t), t.len, false);
	MUST(t.data[0] == '"');
	for (i = 1; t.data[i] != '"'; i++)
		if (t.data[i] == '\\' && (t.data[i + 1] == '"' || t.data[i + 1] == '\\'))
			i++;
	MUST(!max || i - 1 <= max);
	MUST(!t.data[i + 1] || t.data[i + 1] == '[');
	text_free(&t);
}

static unsigned int unit16(const char *p)
{
	unsigned int v = 0;

	MUST(sscanf(p, "\\u%4x", &v) == 1);
	return v;
}

/*
 * Reads a JSON string back. json-c's own reader can't be used: it takes U+1D800
 * to U+1DFFF and the like, written as surrogates, for surrogates left alone.
 */
static void unescape(struct text *out, const char *p)
{
	static const char letters[] = "nrtbf\"\\/", means[] = "\n\r\t\b\f\"\\/";
	char utf8[MB_LEN_MAX + 1] = "";
	mbstate_t state = {0};

	MUST(*p++ == '"');
	while (*p != '"') {
		if (*p != '\\') {
			text_addn(out, p++, 1);
		} else if (p[1] == 'u') {
			unsigned int v = unit16(p);

			p += 6;
			if (v >= 0xd800 && v < 0xdc00) {
				v = 0x10000 + ((v & 0x3ff) << 10) + (unit16(p) & 0x3ff);
				p += 6;
			}
			size_t n = wcrtomb(utf8, (wchar_t)v, &state);
			MUST(n > 0 && n <= MB_LEN_MAX);
			text_addn(out, utf8, n);
		} else {
			const char *letter = strchr(letters, p[1]);

			MUST(letter && *letter);
			text_addn(out, &means[letter - letters], 1);
			p += 2;
		}
	}
	MUST(!p[1]);
}

static void fuzz_json(const char *s, size_t len)
{
	struct text clean = {0}, t = {0}, back = {0};
	struct json_object *j;
	size_t json_len;
	const char *json;

	text_utf8(&clean, s, len);
	j = json_object_new_string_len(text_string(&clean), (int)clean.len);
	MUST(j);
	json = json_object_to_json_string_length(j, JSON_C_TO_STRING_PLAIN, &json_len);
	text_json(&t, json, json_len);
	must_be_safe(text_string(&t), t.len, false);
	unescape(&back, text_string(&t));
	MUST(back.len == clean.len);
	MUST(!memcmp(text_string(&back), text_string(&clean), clean.len));
	json_object_put(j);
	text_free(&back);
	text_free(&t);
	text_free(&clean);
}

/* A shell that knows quotes only must read the word back. */
static void fuzz_shell(const char *s, size_t len)
{
	char *word = strndup(s, len), *back, *to;
	struct text t = {0};
	bool quoted = false;

	MUST(word);
	text_shell(&t, word);
	MUST(t.len);
	to = back = malloc(t.len + 1);
	MUST(back);
	for (const char *p = t.data; *p; p++) {
		if (*p == '\'') {
			quoted = !quoted;
		} else if (!quoted && *p == '\\') {
			*to++ = *++p;
		} else {
			MUST(quoted || !strchr(" \t\n\"$`&|;<>(){}*?[]~#!^", *p));
			*to++ = *p;
		}
	}
	*to = '\0';
	MUST(!quoted && !strcmp(back, word));
	free(back);
	free(word);
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;

	size_t bound = data[0] % 128;
	const char *s = (const char *)data + 1;

	size--;
	fuzz_terminal(s, size, 0);
	fuzz_terminal(s, size, bound);
	fuzz_block(s, size, 0);
	fuzz_block(s, size, bound);
	fuzz_log(s, size, bound);
	fuzz_json(s, size);
	fuzz_shell(s, size);
	return 0;
}
