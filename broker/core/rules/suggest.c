/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/suggest.h"

#include <errno.h>
#include <stdlib.h>

#include "broker/core/rules/pathname.h"
#include "broker/core/rules/spec.h"
#include "broker/core/tool.h"
#include "libapproval/limits.h"

/* ---- lines ---- */

struct text {
	char *p;
	size_t n;
};

static void put(struct text *t, const char *text)
{
	const size_t n = strlen(text);

	memcpy(t->p + t->n, text, n);
	t->n += n;
}

static void put_bytes(struct text *t, struct bytes b)
{
	if (b.len)
		memcpy(t->p + t->n, b.data, b.len);
	t->n += b.len;
}

/* "allow NAME(" and what names every tool of the kind. */
static int begin(struct text *t, enum kind kind, size_t room)
{
	t->n = 0;
	t->p = malloc(room + 64);
	if (!t->p)
		return -ENOMEM;
	put(t, "allow ");
	switch (kind) {
	case KIND_EXECUTE: put(t, "Bash"); break;
	case KIND_READ: put(t, "Read"); break;
	case KIND_EDIT: put(t, "Edit"); break;
	case KIND_FETCH: put(t, "WebFetch"); break;
	default:
		put(t, "@");
		put(t, kind_name(kind));
		break;
	}
	put(t, "(");
	return 0;
}

/* Keeps the line, unless there is no room, or it would not be read back as a rule. */
static int finish(struct suggestions *out, enum suggestion_kind kind, struct text *t)
{
	struct rule *rule = NULL;
	enum rule_error error;
	size_t column;
	int how;

	t->p[t->n] = 0;
	how = rule_parse((struct bytes){t->p, t->n}, &rule, &error, &column);
	rule_free(rule);
	for (size_t i = 0; how == RULE_PARSED && i < out->n; i++)
		if (strcmp(out->items[i].text, t->p) == 0)
			how = RULE_BAD;
	if (how != RULE_PARSED || out->n == SUGGEST_MAX) {
		free(t->p);
		return how < 0 ? how : 0;
	}
	out->items[out->n++] = (struct suggestion){kind, t->p};
	return 0;
}

/* ---- commands ---- */

static int exact_command(const struct rule_call *call, struct suggestions *out)
{
	const struct bytes command = call->command;
	struct text t;

	if (command.len == 0 || command.len > LIMIT_RULE ||
		memchr(command.data, 0, command.len))
		return 0;
	if (begin(&t, KIND_EXECUTE, SPEC_GROWTH * command.len) < 0)
		return -ENOMEM;
	t.n += spec_escape(command, t.p + t.n);
	put(&t, ")");
	return finish(out, SUGGEST_EXACT, &t);
}

/* Only characters that mean nothing to a shell or in a rule. */
static bool is_plain(struct bytes word)
{
	const char *const p = word.data;

	for (size_t i = 0; i < word.len; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
			    (p[i] >= '0' && p[i] <= '9') ||
			    (p[i] && strchr("._/+-:@%,", p[i]))))
			return false;
	return word.len > 0 && p[0] != '-' && p[word.len - 1] != ':';
}

/* What is not offered for all operands, since it destroys, sends away or runs what it gets. */
static const char *const never[] = {"at", "batch", "bash", "chgrp", "chmod", "chown", "cp",
	"crontab", "curl", "dash", "dd", "doas", "docker", "env", "eval", "exec", "fish",
	"install", "kill", "killall", "ksh", "kubectl", "ln", "mkfs", "mount", "mv", "nc",
	"ncat", "npx", "perl", "pkexec", "pkill", "podman", "rm", "rmdir", "rsync", "scp",
	"sftp", "sh", "shred", "ssh", "su", "sudo", "systemctl", "tee", "truncate", "umount",
	"wget", "xargs", "zsh", NULL};

static bool is_never(struct bytes name)
{
	for (const char *const *n = never; *n; n++)
		if (bytes_is(name, *n))
			return true;
	return false;
}

/* The one command of the text that needs a rule, NULL: none or several, or no rule helps. */
static const struct shell_command *only_command(const struct shell *shell)
{
	const struct shell_command *found = NULL;
	const unsigned bars = SHELL_UNREAD | SHELL_HAS_DYNAMIC | SHELL_HAS_WRITE |
			      SHELL_HAS_ASSIGN | SHELL_HAS_FUNCTION | SHELL_HAS_SUBST;

	if (shell->flags & bars)
		return NULL;
	for (uint32_t i = 0; i < shell->n; i++) {
		const struct shell_command *const c = &shell->commands[i];

		if (c->flags & SHELL_OPAQUE)
			return NULL;
		if (c->nwords == 0 || c->to || c->flags & (SHELL_KEYWORD | SHELL_WRAPS))
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}

/* The name, its subcommand, and what `run` runs. */
static int prefix(const struct shell_command *c, struct suggestions *out)
{
	struct shell_args args;
	struct shell_arg arg = {.kind = SHELL_ARG_END};
	struct text t;
	size_t room = 8;
	bool run = false, subcommand = false;

	if (shell_traits(c) & (SHELL_RUNS_OTHERS | SHELL_INTERPRETS) ||
		c->flags & SHELL_READS_CODE || is_never(shell_name(c)) ||
		!is_plain(c->words[0].text))
		return 0;
	for (uint32_t i = 0; i < c->nwords; i++)
		room += c->words[i].text.len + 1;
	if (begin(&t, KIND_EXECUTE, room) < 0)
		return -ENOMEM;
	put_bytes(&t, c->words[0].text);
	shell_args_begin(&args, c->words, c->nwords);
	while (shell_args_next(&args, &arg)) {
		/* a rule has its words where they stand: nothing behind an option */
		if (arg.kind != SHELL_ARG_SUBCOMMAND && !(run && arg.kind == SHELL_ARG_OPERAND))
			break;
		if (!is_plain(arg.word->text)) {
			/* all subcommands would be more than was meant */
			if (arg.kind == SHELL_ARG_SUBCOMMAND) {
				free(t.p);
				return 0;
			}
			break;
		}
		put(&t, " ");
		put_bytes(&t, arg.word->text);
		if (run)
			break;
		subcommand = true;
		run = bytes_is(arg.word->text, "run");
	}
	if (arg.kind == SHELL_ARG_GLOBAL && !subcommand) {
		free(t.p);
		return 0;
	}
	put(&t, ":*)");
	return finish(out, SUGGEST_PREFIX, &t);
}

static int suggest_command(const struct rule_call *call, struct suggestions *out)
{
	const struct shell_command *c;
	int err;

	if (!call->shell || call->shell->flags & SHELL_UNREAD)
		return 0;
	err = exact_command(call, out);
	if (err < 0)
		return err;
	c = only_command(call->shell);
	return c ? prefix(c, out) : 0;
}

/* ---- paths ---- */

static void put_path(struct text *t, struct bytes path)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *const p = path.data;

	for (size_t i = 0; i < path.len; i++) {
		const unsigned char c = (unsigned char)p[i];
		/* a blank at the end, and what would begin a comment */
		const bool odd = c < ' ' || c == 0x7f || c == '#' ||
				 (c == ' ' && (i == 0 || i + 1 == path.len));

		if (odd) {
			t->p[t->n++] = '\\';
			t->p[t->n++] = '{';
			t->p[t->n++] = digits[c >> 4];
			t->p[t->n++] = digits[c & 15];
			t->p[t->n++] = '}';
			continue;
		}
		if (strchr("*?[]\\", c))
			t->p[t->n++] = '\\';
		t->p[t->n++] = (char)c;
	}
}

static int add_path(const char *anchor, struct bytes path, const char *end,
	enum suggestion_kind kind, enum kind tool, struct suggestions *out)
{
	struct text t;

	if (begin(&t, tool, 5 * path.len + 16) < 0)
		return -ENOMEM;
	put(&t, anchor);
	put_path(&t, path);
	put(&t, end);
	put(&t, ")");
	return finish(out, kind, &t);
}

static int exact_path(struct bytes path, enum kind kind, struct suggestions *out)
{
	struct pathname name;

	if (pathname_make(&name, path, (struct bytes){NULL, 0}) < 0 || name.len < 2)
		return 0;
	return add_path("//", (struct bytes){name.text + 1, name.len - 1}, "", SUGGEST_EXACT,
		kind, out);
}

/* The folder of a path, below the project, below home, or anywhere but in the root. */
static int folder_of(const struct rule_call *call, struct bytes path, enum kind kind,
	struct suggestions *out)
{
	const char *const slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
	struct bytes folder, below;
	struct pathname base;

	if (!slash || slash == path.data)
		return 0;
	folder = (struct bytes){path.data, (size_t)(slash - (const char *)path.data)};
	if (call->workspace.len &&
		pathname_make(&base, call->workspace, (struct bytes){NULL, 0}) == 0) {
		below = pathname_below(folder, pathname_bytes(&base));
		if (below.data)
			return add_path("/", below, below.len ? "/**" : "**", SUGGEST_FOLDER,
				kind, out);
	}
	if (call->home.len && pathname_make(&base, call->home, (struct bytes){NULL, 0}) == 0) {
		if (pathname_below(pathname_bytes(&base), folder).data)
			return 0; /* home itself, or above it */
		below = pathname_below(folder, pathname_bytes(&base));
		if (below.data)
			return add_path("~/", below, "/**", SUGGEST_FOLDER, kind, out);
	}
	return add_path("/", folder, "/**", SUGGEST_FOLDER, kind, out);
}

static int suggest_paths(const struct rule_call *call, struct suggestions *out)
{
	struct pathname given;
	int err = 0;

	/* each path may need two; what is not whole is no use */
	if (call->n_paths == 0 || call->n_paths > 2)
		return 0;
	for (size_t i = 0; i < call->n_paths; i++)
		if (!call->paths[i].resolved.data)
			return 0;
	for (size_t i = 0; i < call->n_paths && err == 0; i++) {
		const struct rule_path *const p = &call->paths[i];
		int how = pathname_tilde(&given, p->given, call->home);

		if (how == 1)
			how = pathname_make(&given, p->given, call->cwd);
		if (how < 0)
			continue;
		err = exact_path(pathname_bytes(&given), call->kind, out);
		if (err == 0)
			err = exact_path(p->resolved, call->kind, out);
	}
	if (err == 0 && call->n_paths == 1 &&
		bytes_equal(call->paths[0].resolved, pathname_bytes(&given)))
		err = folder_of(call, pathname_bytes(&given), call->kind, out);
	return err;
}

/* ---- the rest ---- */

static int suggest_host(const struct rule_call *call, struct suggestions *out)
{
	struct url_reading reading;
	struct text t;

	url_read(call->url, &reading);
	if (!reading.certain)
		return 0;
	if (begin(&t, KIND_FETCH, URLHOST_MAX + 16) < 0)
		return -ENOMEM;
	put(&t, "domain:");
	put_bytes(&t, (struct bytes){reading.hosts[0].text, reading.hosts[0].len});
	put(&t, ")");
	return finish(out, SUGGEST_HOST, &t);
}

static int suggest_tool(const struct rule_call *call, struct suggestions *out)
{
	struct text t = {.n = 0};
	struct rule probe;

	/* a name that stands for more than this tool would allow more */
	if (call->tool.len == 0 || call->tool.len > LIMIT_NAME ||
		rule_tool_parse(call->tool, &probe) != RULE_OK || probe.tool != RULE_TOOL_NAME)
		return 0;
	t.p = malloc(call->tool.len + 16);
	if (!t.p)
		return -ENOMEM;
	put(&t, "allow ");
	put_bytes(&t, call->tool);
	return finish(out, SUGGEST_TOOL, &t);
}

int suggest(const struct rule_call *call, struct suggestions *out)
{
	*out = (struct suggestions){.n = 0};
	/* a claim that changed the kind bars every allow by it */
	if (call->unread || kind_tighten(call->kind, call->claimed) != call->kind)
		return 0;
	switch (call->kind) {
	case KIND_EXECUTE: return call->command.data ? suggest_command(call, out) : 0;
	case KIND_READ:
	case KIND_EDIT:
	case KIND_DELETE:
	case KIND_MOVE:
	case KIND_SEARCH: return suggest_paths(call, out);
	case KIND_FETCH:
		return call->url.data ? suggest_host(call, out) : suggest_tool(call, out);
	default: return suggest_tool(call, out);
	}
}

void suggestions_free(struct suggestions *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i].text);
	list->n = 0;
}
