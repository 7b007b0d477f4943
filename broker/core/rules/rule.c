/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/rule.h"

#include <errno.h>
#include <stdlib.h>

#include "broker/core/rules/spec.h"
#include "broker/core/tool.h"
#include "libapproval/limits.h"

const char *rule_error_text(enum rule_error error)
{
#define RULE_ERROR_TEXT(name, text) text,
	static const char *const texts[] = {"", RULE_ERROR_LIST(RULE_ERROR_TEXT)};

	return (unsigned)error < RULE_ERROR_N ? texts[error] : "?";
}

/* ---- the tool ---- */

static const struct {
	const char *name;
	enum kind kind;
} kind_names[] = {
	{"Bash", KIND_EXECUTE},
	{"Read", KIND_READ},
	{"Edit", KIND_EDIT},
	{"Write", KIND_EDIT},
	{"WebFetch", KIND_FETCH},
};

static struct bytes after(struct bytes b, size_t n)
{
	return (struct bytes){(const char *)b.data + n, b.len - n};
}

static bool starts(struct bytes text, const char *start)
{
	const size_t n = strlen(start);

	return text.len >= n && memcmp(text.data, start, n) == 0;
}

static bool has(struct bytes text, char c)
{
	return text.len > 0 && memchr(text.data, c, text.len);
}

static enum rule_error parse_mcp(struct bytes name, struct rule *out)
{
	const struct bytes server = after(name, strlen("mcp__"));
	const char *const star = memchr(name.data, '*', name.len);

	if (star && star != (const char *)name.data + name.len - 1)
		return RULE_ERROR_TOOL;
	/* the server alone stands for all of its tools, and so does it with `__*` */
	if (star || !memmem(server.data, server.len, "__", 2))
		out->tool = RULE_TOOL_SERVER;
	return RULE_OK;
}

enum rule_error rule_tool_parse(struct bytes name, struct rule *out)
{
	const struct tool *known;

	out->name = name;
	out->tool = RULE_TOOL_NAME;
	out->kind = KIND_OTHER;
	if (name.len == 0)
		return RULE_ERROR_NO_TOOL;
	if (name.len > LIMIT_NAME)
		return RULE_ERROR_LONG;
	if (bytes_is(name, "*")) {
		out->tool = RULE_TOOL_ANY;
		return RULE_OK;
	}
	for (size_t i = 0; i < name.len; i++) {
		const unsigned char c = ((const unsigned char *)name.data)[i];

		if (c <= ' ' || c == 0x7f || strchr("()#\"'\\", c))
			return RULE_ERROR_TOOL;
	}
	if (*(const char *)name.data == '@') {
		const int kind = kind_parse(after(name, 1));

		if (kind < 0)
			return RULE_ERROR_KIND;
		out->tool = RULE_TOOL_KIND;
		out->kind = (uint8_t)kind;
		return RULE_OK;
	}
	if (starts(name, "mcp__") && name.len > strlen("mcp__"))
		return parse_mcp(name, out);
	if (has(name, '*'))
		return RULE_ERROR_TOOL;
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(*kind_names); i++)
		if (bytes_is(name, kind_names[i].name)) {
			out->tool = RULE_TOOL_KIND;
			out->kind = (uint8_t)kind_names[i].kind;
			return RULE_OK;
		}
	known = tool_find(name);
	if (known)
		out->kind = known->kind;
	return RULE_OK;
}

/* ---- SPEC ---- */

static enum rule_error parse_command(struct rule *rule, size_t *at)
{
	switch (command_pattern_parse(
		&rule->command, rule->text, rule->verdict == VERDICT_ALLOW, at)) {
	case COMMAND_OK: return RULE_OK;
	case COMMAND_EMPTY: return RULE_ERROR_EMPTY;
	case COMMAND_ESCAPE: return RULE_ERROR_ESCAPE;
	case COMMAND_QUOTE: return RULE_ERROR_QUOTE;
	default: return RULE_ERROR_N; /* no memory */
	}
}

/*
 * The escapes of bytes become those of paths; the pattern's text follows in the same
 * buffer, of four times the SPEC's size.
 */
static enum rule_error parse_path(struct rule *rule, char *buf, size_t *at)
{
	static const enum rule_error errors[] = {
		[PATH_OK] = RULE_OK,
		[PATH_EMPTY] = RULE_ERROR_EMPTY,
		[PATH_NEGATED] = RULE_ERROR_NEGATED,
		[PATH_USER] = RULE_ERROR_USER,
		[PATH_UP] = RULE_ERROR_UP,
		[PATH_CLASS] = RULE_ERROR_CLASS,
		[PATH_ESCAPE] = RULE_ERROR_ESCAPE,
		[PATH_BYTE] = RULE_ERROR_BYTE,
	};
	struct bytes text = rule->text;
	size_t n = 0, next = 0;
	enum path_error error;

	while (text.len > 0 && strchr(" \t", *(const char *)text.data))
		text = after(text, 1);
	while (text.len > 0 && strchr(" \t", ((const char *)text.data)[text.len - 1]))
		text.len--;
	while (next < text.len) {
		char c = 0;
		const char *const p = text.data;
		const size_t from = next;

		switch (spec_next(text, &next, &c)) {
		case SPEC_BAD: *at = from; return RULE_ERROR_ESCAPE;
		case SPEC_BYTE:
			if (c == '/') {
				*at = from;
				return RULE_ERROR_ESCAPE;
			}
			if (strchr("*?[]\\!", c))
				buf[n++] = '\\';
			buf[n++] = c;
			break;
		case SPEC_STAR:
			buf[n++] = '\\';
			buf[n++] = c;
			break;
		default:
			buf[n++] = c;
			/* what a backslash is before is part of its escape */
			if (c == '\\' && next < text.len)
				buf[n++] = p[next++];
			break;
		}
	}
	error = path_pattern_parse(&rule->path, (struct bytes){buf, n}, buf + 2 * text.len, at);
	return errors[error];
}

static enum rule_error parse_host(struct rule *rule)
{
	struct bytes text = rule->text;
	int how;

	if (!starts(text, "domain:"))
		return RULE_ERROR_DOMAIN;
	text = after(text, strlen("domain:"));
	if (starts(text, "*.")) {
		rule->host->only_below = true;
		text = after(text, 2);
	}
	how = urlhost_parse(text, &rule->host->host);
	if (how < 0 || (rule->host->only_below && rule->host->host.address))
		return RULE_ERROR_HOST;
	return RULE_OK;
}

static enum rule_spec spec_of(const struct rule *rule)
{
	if (rule->tool != RULE_TOOL_KIND && rule->tool != RULE_TOOL_NAME)
		return RULE_SPEC_ALL;
	switch (rule->kind) {
	case KIND_EXECUTE: return RULE_SPEC_COMMAND;
	case KIND_READ:
	case KIND_EDIT:
	case KIND_DELETE:
	case KIND_MOVE:
	case KIND_SEARCH: return RULE_SPEC_PATH;
	case KIND_FETCH: return RULE_SPEC_HOST;
	default: return RULE_SPEC_ALL;
	}
}

/* The parts of a line, before anything is allocated. */
struct line {
	struct rule head;
	struct bytes spec;
	size_t name_at, spec_at;
	bool has_spec;
};

static size_t skip(struct bytes line, size_t at, bool blanks)
{
	const char *const p = line.data;

	while (at < line.len && (p[at] == ' ' || p[at] == '\t') == blanks)
		at++;
	return at;
}

static enum rule_error parse_verdict(struct bytes word, struct rule *out)
{
	const int verdict = verdict_parse(word);

	if (verdict != VERDICT_ALLOW && verdict != VERDICT_ASK && verdict != VERDICT_DENY)
		return RULE_ERROR_VERDICT;
	out->verdict = (uint8_t)verdict;
	return RULE_OK;
}

/* line begins with a byte that is no blank. */
static enum rule_error split(struct bytes line, struct line *out, size_t *at)
{
	const char *const p = line.data;
	size_t i = skip(line, 0, false);
	enum rule_error error = parse_verdict((struct bytes){p, i}, &out->head);
	bool followed = false;
	long close;

	*at = 0;
	if (error)
		return error;
	*at = out->name_at = i = skip(line, i, true);
	while (i < line.len && !strchr(" \t(", p[i]))
		i++;
	error = rule_tool_parse((struct bytes){p + out->name_at, i - out->name_at}, &out->head);
	if (error)
		return error;
	*at = i;
	if (i == line.len || p[i] != '(') {
		i = skip(line, i, true);
		*at = i;
		return i < line.len && p[i] != '#' ? RULE_ERROR_AFTER : RULE_OK;
	}
	out->has_spec = true;
	out->spec_at = i + 1;
	close = spec_close(after(line, out->spec_at), &followed);
	if (close < 0)
		return RULE_ERROR_UNCLOSED;
	out->spec = (struct bytes){p + out->spec_at, (size_t)close};
	*at = skip(line, out->spec_at + (size_t)close + 1, true);
	return followed ? RULE_ERROR_AFTER : RULE_OK;
}

/* The rule, its host and copies of its texts lie in one block. */
static struct rule *make(const struct line *line, char **rest)
{
	const enum rule_spec spec = line->has_spec ? spec_of(&line->head) : RULE_SPEC_ALL;
	const size_t path = spec == RULE_SPEC_PATH ? 3 * line->spec.len : 0;
	const size_t host = spec == RULE_SPEC_HOST ? sizeof(struct rule_host) : 0;
	struct rule *rule =
		calloc(1, sizeof(*rule) + host + line->head.name.len + line->spec.len + path);
	char *to;

	if (!rule)
		return NULL;
	*rule = line->head;
	rule->spec = (uint8_t)spec;
	to = (char *)(rule + 1) + host;
	if (host)
		rule->host = (struct rule_host *)(void *)(rule + 1);
	rule->name.data = memcpy(to, rule->name.data, rule->name.len);
	to += rule->name.len;
	if (line->spec.len)
		memcpy(to, line->spec.data, line->spec.len);
	rule->text = (struct bytes){to, line->spec.len};
	*rest = to + line->spec.len;
	return rule;
}

static enum rule_error parse_spec(struct rule *rule, char *rest, size_t *at)
{
	switch (rule->spec) {
	case RULE_SPEC_COMMAND: return parse_command(rule, at);
	case RULE_SPEC_PATH: return parse_path(rule, rest, at);
	case RULE_SPEC_HOST: return parse_host(rule);
	default: return RULE_OK;
	}
}

static enum rule_error parse(struct bytes line, struct rule **out, size_t *at)
{
	struct line parts = {.has_spec = false};
	enum rule_error error = split(line, &parts, at);
	struct rule *rule;
	char *rest;

	if (error)
		return error;
	if (parts.has_spec) {
		*at = parts.spec_at;
		if (parts.spec.len == 0)
			return RULE_ERROR_EMPTY;
		if (bytes_is(parts.spec, "*")) {
			parts.has_spec = false;
			parts.spec = (struct bytes){NULL, 0};
		} else if (spec_of(&parts.head) == RULE_SPEC_ALL) {
			return RULE_ERROR_NO_SPEC;
		}
	}
	rule = make(&parts, &rest);
	if (!rule)
		return RULE_ERROR_N;
	if (parts.has_spec) {
		size_t inner = 0;

		error = parse_spec(rule, rest, &inner);
		*at = parts.spec_at + inner;
	}
	if (error)
		rule_free(rule);
	else
		*out = rule;
	return error;
}

int rule_parse(struct bytes line, struct rule **out, enum rule_error *error, size_t *column)
{
	const char *const p = line.data;
	size_t start, at = 0;

	*out = NULL;
	*error = RULE_OK;
	*column = 1;
	if (line.len > LIMIT_RULE) {
		*error = RULE_ERROR_LONG;
		return RULE_BAD;
	}
	if (line.len > 0 && p[line.len - 1] == '\r')
		line.len--;
	start = skip(line, 0, true);
	if (start == line.len || p[start] == '#')
		return RULE_BLANK;
	if (has(line, 0)) {
		*error = RULE_ERROR_BYTE;
		*column = (size_t)((const char *)memchr(p, 0, line.len) - p) + 1;
		return RULE_BAD;
	}
	*error = parse(after(line, start), out, &at);
	*column = start + at + 1;
	if (*error == RULE_ERROR_N)
		return -ENOMEM;
	return *error ? RULE_BAD : RULE_PARSED;
}

void rule_free(struct rule *rule)
{
	if (rule && rule->spec == RULE_SPEC_COMMAND)
		command_pattern_free(&rule->command);
	free(rule);
}

/* ---- printing ---- */

/* A control within SPEC (only where a line was not read from a file) is written as its escape.
 */
static size_t print_spec(struct bytes text, char *out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = ((const unsigned char *)text.data)[i];

		if (c >= ' ' && c != 0x7f) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '\\';
		out[n++] = '{';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
		out[n++] = '}';
	}
	return n;
}

size_t rule_print_size(const struct rule *rule)
{
	return strlen(verdict_name(rule->verdict)) + 1 + rule->name.len + 2 +
	       SPEC_GROWTH * rule->text.len + 1;
}

size_t rule_print(const struct rule *rule, char *out)
{
	const struct bytes verdict = bytes_of(verdict_name(rule->verdict));
	size_t n = verdict.len;

	memcpy(out, verdict.data, n);
	out[n++] = ' ';
	memcpy(out + n, rule->name.data, rule->name.len);
	n += rule->name.len;
	if (rule->spec != RULE_SPEC_ALL) {
		out[n++] = '(';
		n += print_spec(rule->text, out + n);
		out[n++] = ')';
	}
	out[n] = 0;
	return n;
}

char *rule_text(const struct rule *rule, size_t *len)
{
	char *const text = malloc(rule_print_size(rule));
	const size_t n = text ? rule_print(rule, text) : 0;

	if (len)
		*len = n;
	return text;
}
