/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/lint.h"
#include "broker/core/rules/spec_words.h"

size_t rule_covers_size(const struct rule *b)
{
	size_t size = 8;

	if (b->spec != RULE_SPEC_COMMAND || !b->command.simple)
		return size;
	for (uint32_t i = 0; i < b->command.words.n; i++)
		size += b->command.words.parts[i].len + 2;
	return size;
}

static bool tool_covers(const struct rule *a, const struct rule *b)
{
	if (a->tool == RULE_TOOL_ANY)
		return true;
	if (a->tool == RULE_TOOL_SERVER && b->tool != RULE_TOOL_KIND) {
		size_t n = a->name.len;

		n -= ((const char *)a->name.data)[n - 1] == '*';
		return b->name.len >= n && memcmp(a->name.data, b->name.data, n) == 0 &&
		       (n < a->name.len || b->name.len == n ||
			       ((const char *)b->name.data)[n] == '_');
	}
	if (a->tool == RULE_TOOL_KIND && b->tool != RULE_TOOL_ANY &&
		b->tool != RULE_TOOL_SERVER)
		return a->kind == b->kind;
	return a->tool == b->tool && bytes_equal(a->name, b->name);
}

/*
 * A pattern covers another when it matches its text, with the wildcards in it as one
 * character more that only a wildcard matches.
 */
static bool command_covers(
	const struct command_pattern *a, const struct command_pattern *b, char *text)
{
	size_t n = 0;

	if (!a->simple)
		return a->text.n == 1 && b->text.n == 1 &&
		       bytes_equal(a->text.parts[0], b->text.parts[0]);
	if (!b->simple || (b->homed && !a->homed))
		return false;
	for (uint32_t i = 0; i < b->words.n; i++) {
		const struct bytes part = b->words.parts[i];

		if (i > 0) {
			text[n++] = COMMAND_MARK;
			text[n++] = SPEC_MARK_WILD;
		}
		if (part.len)
			memcpy(text + n, part.data, part.len);
		n += part.len;
	}
	if (!glob_match(&a->words, (struct bytes){text, n}))
		return false;
	if (!b->words.open)
		return true;
	text[n++] = GLOB_SEPARATOR;
	text[n++] = COMMAND_MARK;
	text[n++] = SPEC_MARK_WILD;
	return glob_match(&a->words, (struct bytes){text, n});
}

static bool path_covers(const struct path_pattern *a, const struct path_pattern *b)
{
	if (a->anchor != b->anchor)
		return false;
	if (bytes_equal(a->text, b->text))
		return a->flags == b->flags ||
		       (!(a->flags & PATH_BELOW) && !((a->flags ^ b->flags) & PATH_ANY_DEPTH));
	/* a class or ? would match the wildcards of the other */
	for (size_t i = 0; i < a->text.len; i++)
		if (strchr("?[\\", ((const char *)a->text.data)[i]))
			return false;
	if (b->flags & PATH_ANY_DEPTH && !(a->text.len == 0))
		return false;
	if (memmem(b->text.data, b->text.len, "**", 2) && a->text.len > 0 &&
		!(a->flags & PATH_LITERAL))
		return false;
	return path_pattern_match(a, b->text, b->flags & PATH_BELOW ? PATH_LOOSE : 0);
}

bool rule_covers(const struct rule *a, const struct rule *b, char *scratch)
{
	if (!tool_covers(a, b))
		return false;
	if (a->spec == RULE_SPEC_ALL)
		return true;
	if (a->spec != b->spec)
		return false;
	switch (a->spec) {
	case RULE_SPEC_COMMAND: return command_covers(&a->command, &b->command, scratch);
	case RULE_SPEC_PATH: return path_covers(&a->path, &b->path);
	case RULE_SPEC_HOST:
		return urlhost_within(&b->host->host, &a->host->host) &&
		       !(a->host->only_below && !b->host->only_below &&
			       a->host->host.len == b->host->host.len);
	default: return false;
	}
}
