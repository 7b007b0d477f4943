/* SPDX-License-Identifier: MIT */
#include "broker/core/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/entity.h"
#include "broker/core/tool.h"

int judge_init(struct judge *j, enum floor_owner owner)
{
	int err;

	*j = (struct judge){.rules = ruleset_new(), .floor = floor_new(owner)};
	j->text = malloc(LIMIT_OPERAND_BYTES);
	err = j->rules && j->floor && j->text ? shell_arena_init(&j->arena) : -ENOMEM;
	if (err < 0)
		judge_fini(j);
	return err;
}

void judge_fini(struct judge *j)
{
	ruleset_free(j->rules);
	floor_free(j->floor);
	shell_arena_free(&j->arena);
	free(j->text);
	*j = (struct judge){.rules = NULL};
}

/* ---- what a command names ---- */

struct collect {
	struct judge_operands *out;
	char *text;
	size_t used;
};

static bool collect_one(void *arg, struct bytes path, unsigned use)
{
	struct collect *const c = arg;
	struct judge_operands *const o = c->out;

	for (unsigned i = 0; i < o->n; i++)
		if (bytes_equal(o->items[i].path, path)) {
			o->items[i].use |= use;
			return true;
		}
	if (o->n == LIMIT_OPERANDS || path.len > LIMIT_OPERAND_BYTES - c->used) {
		o->all = false;
		return false;
	}
	memcpy(c->text + c->used, path.data, path.len);
	o->items[o->n++] = (struct judge_operand){{c->text + c->used, path.len}, use};
	c->used += path.len;
	return true;
}

/* A word as a path from the one directory that its command runs in. */
static bool word_join(const struct shell_command *command, struct bytes word,
	char joined[LIMIT_TEXT], struct bytes *out)
{
	const struct shell_cwd *const cwd = command->cwd;

	if (word.len == 0 || word.len > LIMIT_TEXT || memchr(word.data, '\0', word.len))
		return false;
	*out = word;
	if (*(const char *)word.data == '/')
		return true;
	if (cwd->n != 1 || cwd->path[0].len + 1 + word.len > LIMIT_TEXT)
		return false;
	memcpy(joined, cwd->path[0].data, cwd->path[0].len);
	joined[cwd->path[0].len] = '/';
	memcpy(joined + cwd->path[0].len + 1, word.data, word.len);
	*out = (struct bytes){joined, cwd->path[0].len + 1 + word.len};
	return true;
}

/* The next word of a command that may be a file; *left arguments are looked at. */
static bool next_word(struct shell_args *args, unsigned *left, const struct shell_word **word,
	struct bytes *text)
{
	struct shell_arg arg;

	for (; *left > 0 && shell_args_next(args, &arg); --*left) {
		if (arg.kind == SHELL_ARG_END || arg.kind == SHELL_ARG_SUBCOMMAND ||
			arg.is_text || (arg.kind != SHELL_ARG_OPERAND && !arg.has_value))
			continue;
		*word = arg.kind != SHELL_ARG_OPERAND && arg.value_word ? arg.value_word
									: arg.word;
		*text = arg.kind == SHELL_ARG_OPERAND ? arg.word->text : arg.value;
		return true;
	}
	return false;
}

/* Whatever may be a file of those that only read, a bare word, too: it may be a link. */
static void find_read(struct collect *c, const struct shell *shell)
{
	unsigned left = LIMIT_READ_ARGS;

	for (uint32_t i = 0; i < shell->n && left > 0; i++) {
		const struct shell_command *const command = &shell->commands[i];
		const struct shell_word *word;
		char joined[LIMIT_TEXT];
		struct bytes text, path;
		struct shell_args args;

		if (!(shell_traits(command) & SHELL_READS_ONLY))
			continue;
		shell_args_begin(&args, command->words, command->nwords);
		for (; next_word(&args, &left, &word, &text); left--)
			if (!(word->flags & SHELL_DYNAMIC) &&
				word_join(command, text, joined, &path) &&
				!collect_one(c, path, 0))
				return;
	}
}

static void read_command(struct judge *j, struct bytes command, struct bytes cwd,
	struct bytes home, struct shell *out)
{
	const struct shell_context context = {.cwd = cwd, .home = home};

	shell_read(command, &context, &j->arena, out);
}

static void find_operands(
	struct judge *j, const struct floor_call *call, struct judge_operands *out)
{
	struct collect c = {.out = out, .text = j->text};
	bool all;

	out->n = 0;
	out->all = true;
	if (!floor_operands(call, collect_one, &c))
		out->all = false;
	/* where its commands run, and where they go */
	for (uint32_t i = 0; i < call->shell->n; i++) {
		const struct shell_command *const command = &call->shell->commands[i];

		if (command->cwd->n == 1)
			collect_one(&c, command->cwd->path[0], 0);
		if (command->to && command->to->n == 1)
			collect_one(&c, command->to->path[0], 0);
	}
	/* rules and floor can do without the rest; see word_inside */
	all = out->all;
	find_read(&c, call->shell);
	out->all = all;
}

void judge_operands(struct judge *j, struct bytes command, struct bytes cwd, struct bytes home,
	struct bytes workspace, struct judge_operands *out)
{
	struct shell shell;
	const struct floor_call call = {
		.shell = &shell, .cwd = cwd, .workspace = workspace, .home = home};

	read_command(j, command, cwd, home, &shell);
	find_operands(j, &call, out);
}

/* ---- a call as rules and floor want it ---- */

/* The request's own path that was made of an operand; NULL: it was not resolved. */
static const struct request_path *resolved_as(const struct judge_call *call, struct bytes path)
{
	for (unsigned i = 0; i < call->n_operands; i++) {
		const struct request_path *const p = &call->paths[call->n_paths + i];

		if (bytes_equal(str_bytes(p->given), path))
			return p;
	}
	return NULL;
}

static void prepare_paths(struct judged *c)
{
	const struct judge_call *const call = c->call;
	const struct tool *const tool = tool_find(call->tool);
	const unsigned use = floor_use_of(call->kind) |
			     (tool && tool->flags & TOOL_CONTENT ? FLOOR_DEEP : 0);
	unsigned n = 0;

	for (unsigned i = 0; i < call->n_paths && i < LIMIT_PATHS; i++) {
		const struct request_path *const p = &call->paths[i];

		c->paths[i] = (struct rule_path){
			str_bytes(p->given), str_bytes(p->resolved), p->inside};
		c->floor_paths[n++] =
			(struct floor_path){str_bytes(p->given), str_bytes(p->resolved), use};
		c->rule.n_paths = i + 1;
	}
	for (unsigned i = 0; i < c->operands.n; i++) {
		const struct judge_operand *const o = &c->operands.items[i];
		const struct request_path *const p = resolved_as(call, o->path);

		if (p && p->resolved && o->use)
			c->floor_paths[n++] =
				(struct floor_path){o->path, str_bytes(p->resolved), o->use};
	}
	c->rule.paths = c->paths;
	c->floor.paths = c->floor_paths;
	c->floor.n_paths = n;
}

/* An operand of a command as a path of the request; from the one directory that it runs in. */
static const struct request_path *word_path(
	const struct judged *c, const struct shell_command *command, struct bytes word)
{
	char joined[LIMIT_TEXT];
	struct bytes path;

	return word_join(command, word, joined, &path) ? resolved_as(c->call, path) : NULL;
}

static bool is_read_redirect(const struct shell_redirect *r)
{
	return r->op == SHELL_READ || r->op == SHELL_READ_WRITE;
}

/* Where one is not known there are none, and no rule may say that they may be read. */
static void prepare_reads(struct judged *c)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < c->shell.n; i++)
		for (uint32_t k = 0; k < c->shell.commands[i].nredirects; k++) {
			const struct shell_command *const command = &c->shell.commands[i];
			const struct shell_redirect *const r = &command->redirects[k];
			const struct request_path *p;

			if (!is_read_redirect(r))
				continue;
			p = n < LIMIT_OPERANDS && !(r->target.flags & SHELL_DYNAMIC)
				    ? word_path(c, command, r->target.text)
				    : NULL;
			if (!p)
				return;
			c->reads[n++] = (struct rule_path){
				str_bytes(p->given), str_bytes(p->resolved), p->inside};
		}
	c->rule.reads = c->reads;
	c->rule.n_reads = n;
}

void judge_prepare(struct judge *j, const struct judge_call *call, struct judged *out)
{
	const struct tool *const tool = tool_find(call->tool);
	const enum kind own = tool ? (enum kind)tool->kind : KIND_OTHER;

	out->call = call;
	out->rule = (struct rule_call){
		.tool = call->tool,
		.kind = own,
		.claimed = call->kind == own ? KIND_OTHER : call->kind,
		.command = call->command,
		.url = call->url,
		.cwd = call->cwd,
		.workspace = call->workspace,
		.home = call->home,
		.unread = call->facts & FACT_UNRESOLVED,
		.uid = call->uid,
		.session = call->session,
		.turn = call->turn,
		.now = call->now,
	};
	out->floor = (struct floor_call){
		.cwd = call->cwd, .workspace = call->workspace, .home = call->home};
	out->operands.n = 0;
	out->operands.all = true;
	out->shell = (struct shell){.n = 0};
	if (call->command.data) {
		read_command(j, call->command, call->cwd, call->home, &out->shell);
		out->rule.shell = out->floor.shell = &out->shell;
		find_operands(j, &out->floor, &out->operands);
		prepare_reads(out);
	}
	prepare_paths(out);
}

bool judged_known(const struct judged *c)
{
	if (!c->operands.all)
		return false;
	for (unsigned i = 0; i < c->operands.n; i++) {
		const struct judge_operand *const o = &c->operands.items[i];
		const struct request_path *const p = resolved_as(c->call, o->path);

		if (o->use && (!p || !p->resolved))
			return false;
	}
	return true;
}

/* ---- reading only ---- */

#define READS_BARRED                                                                           \
	(SHELL_UNREAD | SHELL_HAS_DYNAMIC | SHELL_HAS_WRITE | SHELL_HAS_ASSIGN |               \
		SHELL_HAS_FUNCTION | SHELL_HAS_SUBST)
#define COMMAND_BARRED                                                                         \
	(SHELL_KEYWORD | SHELL_OPAQUE | SHELL_COVERED | SHELL_MORE | SHELL_BACKGROUND |        \
		SHELL_ROOT | SHELL_NAME_DYNAMIC | SHELL_READS_CODE)

/* What is not known to be inside may be a link that leads elsewhere, also a bare word. */
static bool word_inside(const struct judged *c, const struct shell_command *command,
	const struct shell_word *word, struct bytes text)
{
	const struct request_path *p;

	if (word->flags & (SHELL_DYNAMIC | SHELL_GLOB | SHELL_SUBST | SHELL_PROC | SHELL_PLACE))
		return false;
	p = word_path(c, command, text);
	return text.len == 0 || (p && p->resolved && p->inside);
}

static bool command_inside(
	const struct judged *c, const struct shell_command *command, unsigned *left)
{
	const struct shell_word *word;
	struct shell_args args;
	struct bytes text;

	shell_args_begin(&args, command->words, command->nwords);
	for (; next_word(&args, left, &word, &text); --*left)
		if (!word_inside(c, command, word, text))
			return false;
	if (*left == 0)
		return false;
	for (uint32_t i = 0; i < command->nredirects; i++) {
		const struct shell_redirect *const r = &command->redirects[i];
		const struct request_path *p;

		if (!is_read_redirect(r))
			continue;
		p = word_path(c, command, r->target.text);
		if (!p || !p->resolved || !p->inside)
			return false;
	}
	return true;
}

static bool folder_inside(const struct judged *c, const struct shell_cwd *cwd)
{
	const struct request_path *p = cwd->n == 1 ? resolved_as(c->call, cwd->path[0]) : NULL;

	return p && p->resolved && p->inside;
}

static bool is_workspace(const struct judged *c, struct bytes path)
{
	const struct request_path *const p = resolved_as(c->call, path);

	return p && p->resolved && p->inside &&
	       bytes_equal(str_bytes(p->resolved), c->call->workspace);
}

/*
 * git runs programs that the configuration of its repository names, and takes a folder for
 * a repository that looks like one inside: such a folder may have come with any download,
 * or been written file by file. Only that of the workspace itself is known, whose .git is
 * on the floor.
 */
static bool git_known(const struct judged *c, const struct shell_command *command)
{
	bool known = command->cwd->n == 1 && is_workspace(c, command->cwd->path[0]);
	struct shell_args args;
	struct shell_arg arg;

	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg) && arg.kind == SHELL_ARG_GLOBAL)
		if (bytes_is(arg.name, "C") && !bytes_is(arg.value, "."))
			known = is_workspace(c, arg.value);
	return known;
}

bool judged_reads(const struct judged *c)
{
	unsigned left = LIMIT_READ_ARGS;

	if (!c->call->command.data || c->shell.n == 0 || c->shell.flags & READS_BARRED ||
		!c->operands.all || c->call->facts & FACT_UNRESOLVED)
		return false;
	for (uint32_t i = 0; i < c->shell.n; i++) {
		const struct shell_command *const command = &c->shell.commands[i];

		if (command->flags & COMMAND_BARRED || command->nwords == 0 ||
			!folder_inside(c, command->cwd))
			return false;
		/* what it wraps follows, and is looked at by itself */
		if (command->flags & SHELL_WRAPS)
			continue;
		if (command->to ? !folder_inside(c, command->to)
				: !(shell_traits(command) & SHELL_READS_ONLY) ||
					  !command_inside(c, command, &left))
			return false;
		if (bytes_is(shell_name(command), "git") && !git_known(c, command))
			return false;
	}
	return true;
}
