/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/ctl/import_rule.h"
#include "libapproval/limits.h"

static const char *const source_names[] = {
	[IMPORT_CLAUDE] = "claude",
	[IMPORT_CODEX] = "codex",
	[IMPORT_GEMINI] = "gemini",
	[IMPORT_OPENCODE] = "opencode",
};

enum import_source import_source_parse(const char *name)
{
	unsigned i = 0;

	while (i < IMPORT_SOURCE_N && strcmp(source_names[i], name))
		i++;
	return (enum import_source)i;
}

const char *import_source_name(enum import_source source)
{
	return source_names[source];
}

const char *import_verdict_name(enum import_verdict verdict)
{
	static const char *const names[] = {"allow", "ask", "deny"};

	return names[verdict];
}

const char *import_what_name(enum import_what what)
{
	static const char *const names[] = {"refused", "narrowed", "note"};

	return names[what];
}

/* ---- what is said ---- */

static void warn(
	struct import *im, enum import_what what, struct import_place place, const char *text)
{
	if (im->n_warnings == im->size_warnings) {
		const size_t size = im->size_warnings ? 2 * im->size_warnings : 16;
		struct import_warning *const list =
			memory_get(&im->memory, size * sizeof(*list));

		if (!list)
			return;
		if (im->n_warnings)
			memcpy(list, im->warnings, im->n_warnings * sizeof(*list));
		im->warnings = list;
		im->size_warnings = size;
	}
	im->warnings[im->n_warnings++] = (struct import_warning){what, place, text};
}

void import_say(struct import *im, enum import_what what, const struct node *at,
	const char *format, ...)
{
	struct import_place place = {0};
	struct text t = {0};
	const char *text;
	va_list ap;

	va_start(ap, format);
	text_vprintf(&t, format, ap);
	va_end(ap);
	text = memory_take(&im->memory, &t);
	if (at)
		place = (struct import_place){at->line, at->column, node_path(&im->memory, at)};
	if (text)
		warn(im, what, place, text);
}

int import_bad(struct import *im, const struct node *at, const char *why)
{
	im->error = (struct reader_error){at ? at->line : 1, at ? at->column : 1, why};
	return -EINVAL;
}

struct source_rule *rule_new(
	struct import *im, enum import_verdict verdict, const struct node *at, const char *tool)
{
	struct source_rule *r;

	if (im->n_rules == LIMIT_IMPORT_RULES) {
		import_bad(im, at, "there are too many rules");
		return NULL;
	}
	if (!im->rules)
		im->rules = memory_get(&im->memory, LIMIT_IMPORT_RULES * sizeof(*im->rules));
	if (!im->rules)
		return NULL;
	r = &im->rules[im->n_rules++];
	*r = (struct source_rule){.verdict = verdict, .out = verdict, .at = at, .tool = tool};
	return r;
}

/* ---- reading ---- */

/* JSON begins with a brace; Starlark and TOML don't, but for a comment. */
static bool begins_with_brace(const char *text, size_t len)
{
	while (len > 0 && strchr(" \t\r\n", *text) && *text) {
		text++;
		len--;
	}
	return len > 0 && (*text == '{' || *text == '/');
}

/* A file of rules has calls; in TOML no line begins like one. */
static bool looks_like_calls(const char *text, size_t len)
{
	static const char *const names[] = {"prefix_rule", "host_executable", "network_rule"};

	for (size_t i = 0; i < len; i++) {
		if (i > 0 && text[i - 1] != '\n')
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			size_t n = strlen(names[k]);

			if (len - i <= n || memcmp(text + i, names[k], n))
				continue;
			while (i + n < len && strchr(" \t", text[i + n]) && text[i + n])
				n++;
			if (i + n < len && text[i + n] == '(')
				return true;
		}
	}
	return false;
}

static int read_source(struct import *im, const char *text, size_t len)
{
	const enum import_source source = im->options->source;
	struct memory *const m = &im->memory;
	const bool json = source == IMPORT_CLAUDE || source == IMPORT_OPENCODE ||
			  (source == IMPORT_GEMINI && begins_with_brace(text, len));
	const bool calls = source == IMPORT_CODEX && looks_like_calls(text, len);
	struct node *top;

	if (json)
		top = import_json_read(m, text, len, source != IMPORT_CLAUDE, &im->error);
	else if (calls)
		top = import_starlark_read(m, text, len, &im->error);
	else
		top = import_toml_read(m, text, len, &im->error);
	if (!top)
		return m->failed ? -ENOMEM : -EINVAL;
	switch (source) {
	case IMPORT_CLAUDE: return import_claude(im, top);
	case IMPORT_CODEX:
		return calls ? import_codex_rules(im, top) : import_codex_config(im, top);
	case IMPORT_GEMINI:
		return json ? import_gemini_settings(im, top) : import_gemini_policy(im, top);
	default: return import_opencode(im, top);
	}
}

int import_run(
	struct import **out, const struct import_options *options, const char *text, size_t len)
{
	struct import *const im = calloc(1, sizeof(*im));
	int r;

	*out = im;
	if (!im)
		return -ENOMEM;
	im->options = options;
	im->effort.left = LIMIT_IMPORT_STEPS;
	if (len > LIMIT_IMPORT_FILE)
		r = import_bad(im, NULL, "the file is too large");
	else
		r = read_source(im, text, len);
	if (im->memory.failed)
		r = -ENOMEM;
	im->options = NULL;
	if (r == -EINVAL) {
		im->n_lines = im->n_warnings = 0;
		warn(im, IMPORT_REFUSED,
			(struct import_place){im->error.line, im->error.column, NULL},
			im->error.text);
	}
	return r;
}

void import_free(struct import *im)
{
	if (!im)
		return;
	memory_free(&im->memory);
	free(im);
}

size_t import_lines(const struct import *im, const struct import_line **lines)
{
	*lines = im->lines;
	return im->n_lines;
}

size_t import_warnings(const struct import *im, const struct import_warning **warnings)
{
	*warnings = im->warnings;
	return im->n_warnings;
}
