/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "broker/core/rules/command_view.h"
#include "broker/core/rules/operand.h"
#include "broker/core/rules/pathname.h"
#include "broker/core/rules/ruleset_private.h"
#include "libapproval/limits.h"

/* 0; 1: it is too much to be compared; -ENOMEM */
static int view_make(
	struct matcher *m, const struct shell_command *command, struct command_view *view)
{
	const bool tighten = m->verdict != VERDICT_ALLOW;
	const bool homed = m->set->homed[m->verdict] > 0 && m->call->home.len > 1;
	const size_t size = command_view_size(command, m->call->home, tighten);
	char *mem;

	if (size == SIZE_MAX) {
		m->left = 0;
		return 1;
	}
	mem = matcher_scratch(m, size);
	if (!mem)
		return -ENOMEM;
	command_view_make(view, command, m->call->home, homed, tighten, mem);
	return 0;
}

/* ---- texts ---- */

static void match_text(struct matcher *m)
{
	const struct trie_node *node;

	if (!m->call->command.data || matcher_root(m, ROOT_TEXT)->children == 1)
		return;
	node = trie_step(&m->set->trie, matcher_root(m, ROOT_TEXT), m->call->command);
	for (const struct trie_link *l = node ? node->links : NULL; l; l = l->next) {
		const struct rule_entry *const e = all_entry(l);

		if (matcher_better(m, e) && matcher_applies(m, e))
			m->best = e;
	}
}

static void match_phrases(struct matcher *m)
{
	if (!m->call->command.data)
		return;
	for (const struct trie_link *l = matcher_root(m, ROOT_PHRASE)->links; l; l = l->next) {
		const struct rule_entry *const e = link_entry(l);

		if (matcher_better(m, e) && matcher_applies(m, e) &&
			matcher_spend(m, m->call->command.len) &&
			glob_match(&e->rule->command.text, m->call->command))
			m->best = e;
	}
}

/* ---- what tightens ---- */

static void consider_tighten(
	struct matcher *m, const struct rule_entry *e, const struct command_view *view)
{
	if (matcher_better(m, e) && matcher_applies(m, e) &&
		matcher_spend(m, 64 + view->words[0].len + view->rest[0].len) &&
		command_view_tightens(view, &e->rule->command))
		m->best = e;
}

static void consider_links(
	struct matcher *m, const struct trie_node *node, const struct command_view *view)
{
	for (const struct trie_link *l = node ? node->links : NULL; l; l = l->next)
		consider_tighten(m, link_entry(l), view);
}

/* The rules for what begins as the word does. */
static void consider_leads(struct matcher *m, const struct trie_node *node, struct bytes word,
	const struct command_view *view)
{
	const struct trie_node *next;

	for (size_t len = SIZE_MAX;
		node->leads && (next = trie_step_lead(&m->set->trie, node, word, &len));)
		consider_links(m, next, view);
}

/* One that is not made normal to look for it. */
static bool has_long_word(const struct shell_command *command)
{
	for (uint32_t i = 1; i < command->nwords; i++)
		if (command->words[i].text.len > LIMIT_TEXT)
			return true;
	return false;
}

/* The rules for a command of this name. */
static void tighten_name(struct matcher *m, struct bytes name, const struct command_view *view)
{
	const struct trie *const trie = &m->set->trie;
	const struct trie_node *const node =
		trie_step(trie, matcher_root(m, ROOT_COMMAND), name);

	if (!node)
		return;
	consider_links(m, node, view);
	if (node->children == 0)
		return;
	if (view->globs || view->unknown || has_long_word(view->command)) {
		const struct trie_node *const all = trie_step(trie, node, ALL_WORD);

		for (const struct trie_link *l = all ? all->links : NULL; l; l = l->next)
			consider_tighten(m, all_entry(l), view);
		return;
	}
	for (uint32_t i = 1; i < view->command->nwords; i++) {
		const struct bytes word = view->command->words[i].text;
		char normal[LIMIT_TEXT];
		struct bytes key;

		consider_links(m, trie_step(trie, node, word), view);
		consider_leads(m, node, word, view);
		if (word.len == 0 || !memchr(word.data, '/', word.len))
			continue;
		key = (struct bytes){normal, operand_normal(word, normal)};
		if (bytes_equal(key, word))
			continue;
		consider_links(m, trie_step(trie, node, key), view);
		consider_leads(m, node, key, view);
	}
}

static int tighten_command(struct matcher *m, const struct shell_command *command)
{
	const struct trie_node *const root = matcher_root(m, ROOT_COMMAND);
	const struct bytes name = shell_name(command);
	struct command_view view;
	int err;

	if (command->nwords == 0 || command->flags & SHELL_KEYWORD)
		return 0;
	/* most commands have no rule: nothing is written down for them */
	if (!root->links && !root->leads &&
		!trie_step(&m->set->trie, root, command->words[0].text) &&
		!trie_step(&m->set->trie, root, name))
		return 0;
	err = view_make(m, command, &view);
	if (err != 0)
		return err < 0 ? err : 0;
	consider_links(m, root, &view);
	consider_leads(m, root, command->words[0].text, &view);
	tighten_name(m, command->words[0].text, &view);
	if (!bytes_equal(name, command->words[0].text)) {
		consider_leads(m, root, name, &view);
		tighten_name(m, name, &view);
	}
	return 0;
}

/* A path within a command, from each folder that it may run in. */
static void tighten_path(struct matcher *m, const struct shell_command *command,
	const struct shell_word *word, enum kind kind)
{
	static const struct bytes none = {NULL, 0};

	if (word->flags & SHELL_DYNAMIC)
		return;
	if (command->cwd->n == 0)
		match_path_tighten(m, word->text, none, m->call->cwd, kind);
	for (uint32_t i = 0; i < command->cwd->n; i++)
		match_path_tighten(m, word->text, none, command->cwd->path[i], kind);
}

/* What a command reads or writes by redirection, and the operands of one that only reads. */
static void tighten_paths(struct matcher *m, const struct shell_command *command)
{
	struct shell_args args;
	struct shell_arg arg;

	for (uint32_t i = 0; i < command->nredirects; i++) {
		const struct shell_redirect *const r = &command->redirects[i];

		if (r->op == SHELL_READ || r->op == SHELL_READ_WRITE)
			tighten_path(m, command, &r->target, KIND_READ);
		if (r->op == SHELL_WRITE || r->op == SHELL_APPEND || r->op == SHELL_READ_WRITE)
			tighten_path(m, command, &r->target, KIND_EDIT);
	}
	if (command->nwords == 0 || command->flags & SHELL_KEYWORD ||
		!(shell_traits(command) & SHELL_READS_ONLY))
		return;
	shell_args_begin(&args, command->words, command->nwords);
	while (shell_args_next(&args, &arg))
		if (arg.kind == SHELL_ARG_OPERAND && !arg.is_text)
			tighten_path(m, command, arg.word, KIND_READ);
}

static bool has_path_rules(const struct matcher *m)
{
	for (unsigned i = 0; i < PATH_ANCHOR_N; i++) {
		const struct trie_node *const root = matcher_root(m, ROOT_PATH + i);

		if (root->links || root->children > 1)
			return true;
	}
	return false;
}

int match_command_tighten(struct matcher *m)
{
	const struct shell *const shell = m->call->shell;
	const bool paths = has_path_rules(m);

	match_text(m);
	match_phrases(m);
	for (uint32_t i = 0; shell && i < shell->n && m->left > 0; i++) {
		const int err = tighten_command(m, &shell->commands[i]);

		if (err < 0)
			return err;
		if (paths)
			tighten_paths(m, &shell->commands[i]);
	}
	return 0;
}

/* ---- what allows ---- */

static void consider_allow(struct matcher *m, const struct trie_node *node,
	const struct command_view *view, bool exact)
{
	for (const struct trie_link *l = node->links; l; l = l->next) {
		const struct rule_entry *const e = link_entry(l);

		if (!(exact && e->rule->command.wild) && matcher_better(m, e) &&
			matcher_applies(m, e) && matcher_spend(m, 64 + view->words[0].len) &&
			command_view_allows(view, &e->rule->command))
			m->best = e;
	}
}

/* The best rule for one command, by its words; exact: none with a wildcard. */
static int allow_words(struct matcher *m, const struct shell_command *command, bool exact)
{
	const struct trie_node *node = matcher_root(m, ROOT_COMMAND);
	struct command_view view;
	int err;

	m->best = NULL;
	if (!node->links && !node->leads &&
		!trie_step(&m->set->trie, node, command->words[0].text))
		return 0;
	err = view_make(m, command, &view);
	if (err != 0)
		return err < 0 ? err : 0;
	for (uint32_t i = 0; node; i++) {
		const struct trie_node *lead;
		size_t len = SIZE_MAX;

		consider_allow(m, node, &view, exact);
		if (i == command->nwords)
			break;
		while (node->leads && (lead = trie_step_lead(&m->set->trie, node,
					       command->words[i].text, &len)))
			consider_allow(m, lead, &view, exact);
		node = trie_step(&m->set->trie, node, command->words[i].text);
	}
	return 0;
}

/* A `cd` that leads nowhere but into the workspace. */
static bool harmless_cd(const struct matcher *m, const struct shell_command *command)
{
	struct pathname workspace, to;

	if (!command->to || command->to->n == 0 || !m->call->workspace.len ||
		!bytes_is(command->words[0].text, "cd") ||
		pathname_make(&workspace, m->call->workspace, (struct bytes){NULL, 0}) < 0)
		return false;
	for (uint32_t i = 0; i < command->to->n; i++)
		if (pathname_make(&to, command->to->path[i], (struct bytes){NULL, 0}) < 0 ||
			!pathname_below(pathname_bytes(&to), pathname_bytes(&workspace)).data)
			return false;
	return true;
}

/* An interpreter whose program is what its standard input gives. */
static bool runs_input(const struct shell_command *command)
{
	if (command->flags & SHELL_READS_CODE)
		return true;
	if (!(shell_traits(command) & SHELL_INTERPRETS))
		return false;
	for (uint32_t i = 1; i < command->nwords; i++)
		if (bytes_is(command->words[i].text, "-") ||
			bytes_is(command->words[i].text, "/dev/stdin"))
			return true;
	return command->nwords == 1;
}

/*
 * 1: the command needs no rule, or has one, which was added; 0: neither. -ENOMEM.
 * What runs others is allowed exactly, and that covers what it runs.
 */
static int allow_command(
	struct matcher *m, const struct shell_command *command, struct rule_match *out)
{
	int err;

	if (command->nwords == 0 || command->flags & (SHELL_KEYWORD | SHELL_COVERED))
		return 1;
	if (command->flags & SHELL_WRAPS && !(command->flags & SHELL_OPAQUE))
		return 1;
	if (runs_input(command))
		return 0;
	if (harmless_cd(m, command))
		return 1;
	err = allow_words(m, command,
		command->flags & SHELL_OPAQUE || shell_traits(command) & SHELL_RUNS_OTHERS);
	if (err < 0)
		return err;
	if (!m->best)
		return 0;
	match_add(out, m->best);
	return 1;
}

const struct shell_redirect *rule_reads_next(
	const struct shell *shell, struct rule_reads *at, const struct shell_command **command)
{
	for (; at->command < shell->n; at->command++, at->redirect = 0) {
		*command = &shell->commands[at->command];
		while (at->redirect < (*command)->nredirects) {
			const struct shell_redirect *const r =
				&(*command)->redirects[at->redirect++];

			if (r->op == SHELL_READ || r->op == SHELL_READ_WRITE)
				return r;
		}
	}
	return NULL;
}

/* Each file that is read, as the edge resolved it. */
static bool allow_reads(struct matcher *m, struct rule_match *out)
{
	const struct shell_command *command;
	struct rule_reads at = {0, 0};
	size_t n = 0;

	while (rule_reads_next(m->call->shell, &at, &command))
		if (n == m->call->n_reads || !match_read_allow(m, &m->call->reads[n++], out))
			return false;
	return n == m->call->n_reads;
}

int match_command_allow(struct matcher *m, struct rule_match *out)
{
	const struct shell *const shell = m->call->shell;
	const unsigned bars = SHELL_UNREAD | SHELL_HAS_DYNAMIC | SHELL_HAS_WRITE |
			      SHELL_HAS_ASSIGN | SHELL_HAS_FUNCTION | SHELL_HAS_SUBST;

	m->best = NULL;
	match_text(m);
	if (m->best) {
		match_add(out, m->best);
		return 1;
	}
	if (!shell || shell->flags & bars)
		return 0;
	for (uint32_t i = 0; i < shell->n; i++) {
		const int how = m->left > 0 ? allow_command(m, &shell->commands[i], out) : 0;

		if (how <= 0)
			return how;
	}
	/* what needs no rule is not allowed by one */
	return out->rule && allow_reads(m, out);
}
