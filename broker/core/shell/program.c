/* SPDX-License-Identifier: MIT */
/* Programs for sed, awk and jq: whether they only read and print. In doubt they don't. */
#include <string.h>

#include "broker/core/shell/runner.h"

struct cursor {
	const char *p, *end;
};

static int look(const struct cursor *c)
{
	return c->p < c->end ? (unsigned char)*c->p : -1;
}

static void skip(struct cursor *c, const char *set)
{
	while (c->p < c->end && *c->p && strchr(set, *c->p))
		c->p++;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* ---- sed ---- */

/* Up to an unescaped delimiter, which is taken. */
static bool sed_part(struct cursor *c, char delimiter)
{
	bool bracket = false;

	for (; c->p < c->end; c->p++) {
		if (*c->p == '\\') {
			if (++c->p == c->end)
				return false;
		} else if (*c->p == delimiter) {
			c->p++;
			return !bracket; /* within brackets seds differ on it */
		} else if (*c->p == '[') {
			bracket = true;
		} else if (*c->p == ']') {
			bracket = false;
		}
	}
	return false;
}

static bool sed_address(struct cursor *c)
{
	char delimiter = '/';

	switch (look(c)) {
	case '0' ... '9': skip(c, "0123456789~"); return true;
	case '+':
	case '~':
		c->p++;
		skip(c, "0123456789");
		return true;
	case '$': c->p++; return true;
	case '\\':
		c->p++;
		if (look(c) <= 0)
			return false;
		delimiter = *c->p;
		break;
	case '/': break;
	default: return true;
	}
	c->p++;
	if (!sed_part(c, delimiter))
		return false;
	skip(c, "IM");
	return true;
}

static void to_line_end(struct cursor *c, bool joined)
{
	for (; c->p < c->end && *c->p != '\n'; c->p++)
		if (joined && *c->p == '\\' && c->end - c->p > 1)
			c->p++;
}

/*
 * Behind a label seds differ on what ends it: with GNU's a blank does, and a command may
 * follow; with busybox neither } nor # does. So nothing may follow but what ends all.
 */
static bool sed_label_ends(struct cursor *c, bool defines)
{
	if (look(c) == '}' && !defines) {
		struct cursor after = {c->p + 1, c->end};

		skip(&after, " \t");
		return look(&after) < 0 || memchr(";\n}", look(&after), 3);
	}
	skip(c, " \t");
	return look(c) < 0 || look(c) == ';' || look(c) == '\n';
}

static bool sed_command(struct cursor *c)
{
	const int command = look(c);

	if (command <= 0)
		return command < 0;
	c->p++;
	switch (command) {
	case '{':
	case '}': return true;
	case '#': to_line_end(c, false); return true;
	case 's':
	case 'y': {
		const int delimiter = look(c);

		if (delimiter <= 0 || delimiter == '\n' || delimiter == '\\')
			return false;
		c->p++;
		if (!sed_part(c, (char)delimiter) || !sed_part(c, (char)delimiter))
			return false;
		if (command == 's')
			skip(c, "gpiImM0123456789");
		break;
	}
	case 'a':
	case 'i':
	case 'c': to_line_end(c, true); return true;
	case ':':
	case 'b':
	case 't':
	case 'T':
		skip(c, " \t");
		while (c->p < c->end && is_name(*c->p))
			c->p++;
		return sed_label_ends(c, command == ':');
	case 'l':
	case 'q':
	case 'Q':
		skip(c, " \t");
		skip(c, "0123456789");
		break;
	default:
		if (!strchr("=dDgGhHnNpPxzF", command))
			return false;
		break;
	}
	skip(c, " \t");
	return look(c) < 0 || look(c) == ';' || look(c) == '\n' || look(c) == '}' ||
	       look(c) == '#';
}

static bool sed_reads(struct bytes script)
{
	struct cursor c = {script.data, (const char *)script.data + script.len};

	for (;;) {
		skip(&c, " \t\n;");
		if (look(&c) < 0)
			return true;
		if (!sed_address(&c))
			return false;
		skip(&c, " \t");
		if (look(&c) == ',') {
			c.p++;
			skip(&c, " \t");
			if (!sed_address(&c))
				return false;
		}
		skip(&c, " \t!");
		if (!sed_command(&c))
			return false;
	}
}

bool sed_runs(const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		const struct shell_word *const word =
			arg.kind == SHELL_ARG_OPERAND || !arg.value_word ? arg.word
									 : arg.value_word;

		if (arg.kind == SHELL_ARG_END ||
			(arg.kind == SHELL_ARG_OPERAND && !arg.is_text))
			continue;
		if (word->flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_PLACE))
			return true;
		if (arg.kind == SHELL_ARG_OPERAND || bytes_is(arg.name, "e")) {
			if (!sed_reads(arg.value))
				return true;
		} else if (!words_have("n E r s z u l debug posix sandbox version help ",
				   arg.name)) {
			return true; /* -i and -f among them */
		}
	}
	return false;
}

/* ---- awk ---- */

/* `>`: a comparison is told from a redirection by a number after it, without print before. */
static bool awk_compares(const struct cursor *c, bool prints)
{
	struct cursor after = {c->p + 1, c->end};

	if (look(&after) == '=')
		return true;
	skip(&after, " ");
	return !prints && look(&after) >= '0' && look(&after) <= '9';
}

/* What runs or reads by its name, in whatever it stands: a number may stand before it. */
static bool awk_names(struct bytes program)
{
	static const char *const names[] = {"system", "getline", "nextfile", "extension",
		"ARGV", "ARGC", "SYMTAB", "FUNCTAB"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (memmem(program.data, program.len, names[i], strlen(names[i])))
			return true;
	return false;
}

/* A string on one line; it is taken. */
static bool awk_string(struct cursor *c)
{
	while (++c->p < c->end && *c->p != '"') {
		if (*c->p == '\\' && ++c->p == c->end)
			return false;
		if (*c->p == '\n' || *c->p == '\0')
			return false;
	}
	return c->p++ < c->end;
}

/*
 * At a slash; before: what stands before it, blanks aside. A regular expression that is
 * surely one is taken. Where it may be a division as well nothing is hidden by either
 * reading, else it is a doubt.
 */
static bool awk_slash(struct cursor *c, char before)
{
	const bool divides = is_name(before) || strchr(")]$\"+-", before);
	bool bracket = false;
	const char *p;

	for (p = c->p + 1; p < c->end && *p != '/' && *p != '\n'; p++) {
		if (*p == '\0' || (divides && (*p == '"' || *p == '#')))
			return false;
		if (*p == '\\' && ++p == c->end)
			return false;
		if (*p == '[')
			bracket = true;
		else if (*p == ']')
			bracket = false;
	}
	if (divides) {
		c->p++;
		return true;
	}
	if (p == c->end || *p != '/' || bracket)
		return false; /* within brackets awks differ on it */
	c->p = p + 1;
	return true;
}

static bool awk_reads(struct bytes program)
{
	struct cursor c = {program.data, (const char *)program.data + program.len};
	char before = ';';
	bool prints = false;

	if (program.len && awk_names(program))
		return false;
	while (c.p < c.end) {
		const char *const p = c.p;
		bool ok = true;

		if (is_name(*p)) {
			while (c.p < c.end && is_name(*c.p))
				c.p++;
			prints |= memmem(p, (size_t)(c.p - p), "print", 5) != NULL;
			before = *p;
			continue;
		}
		switch (*p) {
		case '"': ok = awk_string(&c); break;
		case '/': ok = awk_slash(&c, before); break;
		case '#':
			while (c.p < c.end && *c.p != '\n')
				c.p++;
			break;
		case '|':
			ok = c.end - p > 1 && p[1] == '|';
			c.p += 2;
			break;
		case '>':
			ok = awk_compares(&c, prints);
			c.p++;
			break;
		case '\\': /* joins lines */
			ok = c.end - p > 1 && p[1] == '\n';
			c.p += 2;
			break;
		case '@':
		case '\0': return false;
		default:
			if (*p == ';' || *p == '}')
				prints = false;
			c.p++;
			break;
		}
		if (!ok)
			return false;
		if (*p == '/')
			before = '"'; /* an operand, whichever it was */
		else if (!strchr(" \t\\#", *p))
			before = *p;
	}
	return true;
}

bool awk_runs(const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;
	bool program = false;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg)) {
		if (arg.kind == SHELL_ARG_OPERAND && arg.is_text) {
			program = true;
			if (arg.word->flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_PLACE) ||
				!awk_reads(arg.value))
				return true;
		} else if (arg.kind == SHELL_ARG_OPTION &&
			   !words_have("F v version help ", arg.name)) {
			return true; /* -f among them */
		}
	}
	return !program;
}

/* ---- jq ---- */

/* Whether the word stands there by itself, and not as a field's name. */
static bool names_word(struct bytes text, const char *word)
{
	const size_t n = strlen(word);
	const char *p = text.data, *end;

	if (text.len == 0)
		return false;
	end = p + text.len;
	for (; (p = memmem(p, (size_t)(end - p), word, n)) != NULL; p += n) {
		const char before = p > (const char *)text.data ? p[-1] : ' ';

		if (before != '.' && !is_name(before) && (p + n == end || !is_name(p[n])))
			return true;
	}
	return false;
}

bool jq_loads(const struct shell_command *command)
{
	for (uint32_t i = 1; i < command->nwords; i++)
		if (names_word(command->words[i].text, "import") ||
			names_word(command->words[i].text, "include") ||
			names_word(command->words[i].text, "modulemeta"))
			return true;
	return false;
}
