/* SPDX-License-Identifier: MIT */
/* Gemini CLI: what a rule of its policy engine is in ours. The highest priority wins there. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "frontends/ctl/import_gemini.h"
#include "libapproval/limits.h"

const struct known_tool gemini_known[] = {{"@execute", "Bash"}, {"@read", "read_file"},
	{"@read", "read_many_files"}, {"@edit", "write_file"}, {"@edit", "replace"},
	{"@search", "list_directory"}, {"@search", "glob"}, {"@search", "grep_search"},
	{"@search", "search_file_content"}, {"@fetch", "web_fetch"},
	{"@fetch", "google_web_search"}, {"@think", "write_todos"}, {"@think", "update_topic"},
	{NULL, NULL}};

bool gemini_is_shell(const char *tool)
{
	return !strcmp(tool, "run_shell_command") || !strcmp(tool, "ShellTool");
}

static const char *const aliases[] = {"grep_search", "search_file_content"};

/* The other name of a tool; NULL: it has one. */
static const char *alias(const char *tool)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(tool, aliases[i]))
			return aliases[1 - i];
	return NULL;
}

/* ---- patterns ---- */

static int prefix(struct import *im, struct source_rule *r, const char *text)
{
	if (!*text || !glob_new(&im->memory, &r->glob, text, strlen(text), false, false)) {
		r->unknown = true;
		rule_unsayable(
			im, r, *text ? "the pattern is too long" : "the prefix is empty");
		return im->memory.failed ? -ENOMEM : 0;
	}
	return glob_append(&im->memory, &r->glob, GLOB_OPEN) ? rule_command(im, r) : -ENOMEM;
}

/*
 * A regular expression of literal characters and `.*`, as a glob; NULL: it is more. It is
 * matched from the command's start, with anything behind it. inner: it has a `.*` that is
 * not at its end.
 */
static const char *regex_glob(struct import *im, const char *regex, bool *inner)
{
	struct text t = {0};
	const char *p = regex + (*regex == '^');

	*inner = false;
	for (; *p; p++) {
		if (!strncmp(p, ".*", 2)) {
			*inner |= p[2] != 0;
			text_add(&t, "*");
			p++;
			if (strchr("?+", p[1]) && p[1])
				break;
		} else if (*p == '\\' && p[1] && strchr(".-/+", p[1])) {
			text_addn(&t, ++p, 1);
		} else if (strchr(" -_/:,@%=", *p) || (*p >= 'a' && *p <= 'z') ||
			   (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')) {
			text_addn(&t, p, 1);
			if (p[1] && strchr("?*+{", p[1]))
				break;
		} else {
			break;
		}
	}
	if (*p) {
		text_free(&t);
		return NULL;
	}
	if (!t.len || t.data[t.len - 1] != '*')
		text_add(&t, "*");
	return memory_take(&im->memory, &t);
}

static int regex(struct import *im, struct source_rule *r, const char *text)
{
	bool inner = false;
	const char *const glob = *text == '^' ? NULL : regex_glob(im, text, &inner);

	if (!glob || !glob_new(&im->memory, &r->glob, glob, strlen(glob), true, false)) {
		r->unknown = true;
		rule_unsayable(im, r, "this regular expression is more than text and .*");
		return im->memory.failed ? -ENOMEM : 0;
	}
	/* what a `.*` takes may lie in the other arguments of the call */
	if (inner && r->verdict != IMPORT_ALLOW) {
		const size_t n = strcspn(glob, "*");

		r->unknown = true;
		if (!glob_new(&im->memory, &r->glob, glob, n + 1, true, false))
			return -ENOMEM;
		r->out = IMPORT_ASK;
		import_say(im, IMPORT_NARROWED, r->at,
			"a .* may reach into other arguments: "
			"all that begins so asks");
	}
	return rule_command(im, r);
}

/* ---- rules ---- */

/* Ours for the tool; NULL: none can be about it. */
static const char *our_tool(const char *tool)
{
	if (gemini_is_shell(tool))
		return "Bash";
	if (!strcmp(tool, "*"))
		return "*";
	return strchr(tool, '*') || !tool_name_valid(tool) ? NULL : tool;
}

static int one(struct import *im, const struct gemini_rule *g, const char *tool)
{
	struct source_rule *const r = rule_new(im, g->verdict, g->at, tool ? tool : "@other");
	int err = 0;

	if (!r)
		return im->memory.failed ? -ENOMEM : -EINVAL;
	r->silent = g->silent;
	if (!tool) {
		r->unknown = true;
		rule_unsayable(im, r, "a rule can't be about all tools of such a name");
	} else if (g->when && g->verdict == IMPORT_ALLOW) {
		r->unknown = true;
		rule_unsayable(im, r, g->when);
	} else if (g->pattern || ((g->prefix || g->regex) && strcmp(tool, "Bash") != 0)) {
		r->unknown = true;
		rule_unsayable(im, r, "a pattern of arguments can't be said");
	} else if (g->prefix) {
		err = prefix(im, r, g->prefix);
	} else if (g->regex) {
		err = regex(im, r, g->regex);
	}
	if (err || !g->when || r->fate != FATE_KEPT)
		return err;
	r->sometimes = true;
	if (r->out == IMPORT_DENY) {
		r->out = IMPORT_ASK;
		import_say(im, IMPORT_NARROWED, r->at, "%s: it always asks", g->when);
	} else {
		import_say(im, IMPORT_NARROWED, r->at, "%s: here it always does", g->when);
	}
	return 0;
}

#define GROUPS_MAX	 4
#define ALTERNATIVES_MAX 16u

/* Where a group of plain words begins and ends, as in `git (log|diff)`; NULL: there is none. */
static const char *plain_group(const char *regex, const char **end)
{
	const char *const open = strchr(regex, '(');
	size_t n, bars = 0;

	if (!open || (open > regex && open[-1] == '\\'))
		return NULL;
	for (n = 1; open[n] && open[n] != ')'; n++) {
		bars += open[n] == '|';
		if (strchr("()?*+[]{}^$.\\", open[n]))
			return NULL;
	}
	if (!open[n] || n == 1 || bars >= ALTERNATIVES_MAX ||
		(open[n + 1] && strchr("?*+{", open[n + 1])))
		return NULL;
	*end = open + n;
	return open;
}

/* A rule for each way through the groups of a regular expression. */
static int each(
	struct import *im, const struct gemini_rule *g, const char *tool, unsigned depth)
{
	const char *end = NULL, *const open = g->regex && depth < GROUPS_MAX
						      ? plain_group(g->regex, &end)
						      : NULL;

	if (!open)
		return one(im, g, tool);
	for (const char *p = open + 1; p <= end;) {
		const size_t n = strcspn(p, "|)");
		struct gemini_rule way = *g;
		int err;

		way.regex = memory_printf(&im->memory, "%.*s%.*s%s", (int)(open - g->regex),
			g->regex, (int)n, p, end + 1);
		err = way.regex ? each(im, &way, tool, depth + 1) : -ENOMEM;
		if (err)
			return err;
		p += n + 1;
	}
	return 0;
}

int gemini_rule(struct import *im, const struct gemini_rule *g)
{
	const char *const other = alias(g->tool);
	const int err = each(im, g, our_tool(g->tool), 0);
	struct gemini_rule twin = *g;

	if (err || !other)
		return err;
	twin.silent = true;
	return one(im, &twin, other);
}
