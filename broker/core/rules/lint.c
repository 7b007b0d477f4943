/* SPDX-License-Identifier: MIT */
#include "broker/core/rules/lint.h"

#include <errno.h>
#include <stdlib.h>

#include "broker/core/rules/ruleset_private.h"
#include "broker/core/tool.h"
#include "libapproval/limits.h"

const char *lint_code_name(enum lint_code code)
{
#define LINT_NAME(name, code, text) code,
	static const char *const names[] = {LINT_LIST(LINT_NAME)};

	return (unsigned)code < LINT_N ? names[code] : "?";
}

const char *lint_code_text(enum lint_code code)
{
#define LINT_TEXT(name, code, text) text,
	static const char *const texts[] = {LINT_LIST(LINT_TEXT)};

	return (unsigned)code < LINT_N ? texts[code] : "?";
}

struct linter {
	struct ruleset *set;
	struct lint_warning *warnings;
	size_t room, n;
	const struct rule_entry *entry;
	char *scratch;
	size_t size;
	uint64_t left; /* of LIMIT_LINT_STEPS */
	bool exhausted;
};

static void warn(struct linter *l, enum lint_code code, const struct rule_entry *other)
{
	if (l->n < l->room)
		l->warnings[l->n] = (struct lint_warning){code, l->entry, other};
	l->n++;
}

/* ---- one rule ---- */

/* Wrappers and the like, whose operands are commands whatever their options. */
static const char *const runners[] = {"bash", "busybox", "command", "dash", "doas", "docker",
	"env", "eval", "exec", "fish", "ksh", "nice", "nohup", "npx", "parallel", "pkexec",
	"podman", "setsid", "sh", "ssh", "stdbuf", "su", "sudo", "time", "timeout", "watch",
	"xargs", "zsh", NULL};

static struct bytes next_part(struct bytes *text, char at)
{
	const char *const end = text->len ? memchr(text->data, at, text->len) : NULL;
	const struct bytes head = {
		text->data, end ? (size_t)(end - (const char *)text->data) : text->len};

	*text = end ? (struct bytes){end + 1, text->len - head.len - 1}
		    : (struct bytes){NULL, 0};
	return head;
}

/* Whether what begins with the pattern's literal words can run others, by some option. */
static bool runs_others(const struct command_pattern *p)
{
	static const char *const options[] = {"x", "-c", "-e", "-exec", "-i"};
	struct shell_word words[8];
	struct shell_command command = {.words = words};
	struct bytes rest = p->words.parts[0];
	uint32_t n = 0;

	for (const char *const *r = runners; *r; r++)
		if (bytes_is(p->name, *r))
			return true;
	while (n < p->n_literal && n < sizeof(words) / sizeof(*words) - 2)
		words[n++] = (struct shell_word){.text = next_part(&rest, GLOB_SEPARATOR)};
	command.nwords = n + 2;
	words[n + 1] = (struct shell_word){.text = bytes_of("x")};
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		words[n] = (struct shell_word){.text = bytes_of(options[i])};
		if (shell_traits(&command) & SHELL_RUNS_OTHERS)
			return true;
	}
	return false;
}

static void lint_command(struct linter *l)
{
	const struct rule *const rule = l->entry->rule;
	const struct command_pattern *const p = &rule->command;
	const bool allow = rule->verdict == VERDICT_ALLOW;

	if (!p->simple) {
		if (p->wild && allow)
			warn(l, LINT_NEVER, NULL);
		else if (!allow)
			warn(l, LINT_TEXT_ONLY, NULL);
	} else if (allow && p->wild) {
		const struct bytes last = p->words.parts[p->words.n - 1];

		if (!p->name.data)
			warn(l, LINT_ANY_COMMAND, NULL);
		else if (runs_others(p))
			warn(l, LINT_RUNS_OTHERS, NULL);
		if (p->name.data &&
			(p->words.n > 2 ||
				(p->words.n == 2 && (last.len > 0 || p->words.open))))
			warn(l, LINT_INNER_STAR, NULL);
	}
}

static void lint_path(struct linter *l)
{
	static const char *const folders[] = {"bin", "boot", "dev", "etc", "home", "lib", "mnt",
		"opt", "proc", "root", "run", "srv", "sys", "tmp", "usr", "var", NULL};
	const struct path_pattern *const p = &l->entry->rule->path;
	const char *const slash = memchr(p->text.data, '/', p->text.len);
	const struct bytes top = {p->text.data,
		slash ? (size_t)(slash - (const char *)p->text.data) : p->text.len};

	if (p->anchor != PATH_PROJECT)
		return;
	for (const char *const *f = folders; *f; f++)
		if (bytes_is(top, *f))
			warn(l, LINT_PROJECT_ROOT, NULL);
}

static void lint_text(struct linter *l)
{
	const struct bytes text = l->entry->rule->text;
	const char *const p = text.data;

	for (size_t i = 0; i < text.len; i++) {
		size_t k = i;

		if (p[i] != '#')
			continue;
		while (k > 0 && (p[k - 1] == ' ' || p[k - 1] == '\t'))
			k--;
		if (k > 0 && p[k - 1] == ')') {
			warn(l, LINT_COMMENT_INSIDE, NULL);
			return;
		}
	}
}

/* ---- shadows ---- */

/* Whether a is in force wherever and as long as b is. */
static bool reaches(const struct rule_entry *a, const struct rule_entry *b)
{
	if (a == b || a->inert ||
		(a->expires != 0 && (b->expires == 0 || b->expires > a->expires)))
		return false;
	if (a->uid != RULE_ANY_UID && a->uid != b->uid)
		return false;
	switch (a->scope) {
	case RULE_ADMIN:
	case RULE_USER: return true;
	case RULE_PROJECT:
		return b->scope == RULE_PROJECT && a->project && b->project &&
		       bytes_equal(str_bytes(a->project), str_bytes(b->project));
	default: return a->scope == b->scope && uuid_compare(&a->owner, &b->owner) == 0;
	}
}

/* At the worst each wildcard of one is tried at each character of the other. */
static bool spend(struct linter *l, const struct rule_entry *a, const struct rule_entry *b)
{
	const uint64_t cost =
		(uint64_t)(a->rule->text.len + 1) * (uint64_t)(b->rule->text.len + 1);

	l->exhausted |= cost > l->left;
	if (!l->exhausted)
		l->left -= cost;
	return !l->exhausted;
}

static bool shadows(struct linter *l, const struct rule_entry *a)
{
	const struct rule_entry *const b = l->entry;

	if (!reaches(a, b) || !spend(l, a, b) || !rule_covers(a->rule, b->rule, l->scratch))
		return false;
	/* of two that are the same the later one is said to be superfluous */
	if (a->rule->verdict == b->rule->verdict && reaches(b, a) && a->number > b->number) {
		char *const other = l->scratch + rule_covers_size(b->rule);

		return !rule_covers(b->rule, a->rule, other);
	}
	return true;
}

static const struct rule_entry *shadow_in(struct linter *l, const struct trie_node *node)
{
	for (const struct trie_link *k = node ? node->links : NULL; k && !l->exhausted;
		k = k->next)
		if (shadows(l, link_entry(k)))
			return link_entry(k);
	return NULL;
}

/* Those below what the word begins with, too. */
static const struct rule_entry *shadow_lead(
	struct linter *l, const struct trie_node *node, struct bytes word)
{
	const struct rule_entry *found = NULL;
	size_t len = SIZE_MAX;

	while (!found && node->leads) {
		const struct trie_node *const lead =
			trie_step_lead(&l->set->trie, node, word, &len);

		if (!lead)
			break;
		found = shadow_in(l, lead);
	}
	return found;
}

/* Along the words, or the components, that the rule begins with. */
static const struct rule_entry *shadow_along(
	struct linter *l, const struct trie_node *node, struct bytes text, char separator)
{
	const struct rule_entry *found = shadow_in(l, node);

	while (!found && text.data) {
		const struct bytes word = next_part(&text, separator);

		found = shadow_lead(l, node, word);
		node = trie_step(&l->set->trie, node, word);
		if (!node || found)
			return found;
		found = shadow_in(l, node);
	}
	return found;
}

static const struct rule_entry *shadow_command(struct linter *l, enum verdict verdict)
{
	const struct trie *const trie = &l->set->trie;
	const struct command_pattern *const p = &l->entry->rule->command;
	const struct trie_node *node = l->set->roots[verdict][ROOT_COMMAND];
	const struct rule_entry *found;
	struct bytes words, word;

	if (!p->simple) {
		node = p->exact.data
			       ? trie_step(trie, l->set->roots[verdict][ROOT_TEXT], p->exact)
			       : NULL;
		for (const struct trie_link *k = node ? node->links : NULL; k; k = k->next)
			if (shadows(l, all_entry(k)))
				return all_entry(k);
		return NULL;
	}
	words = p->words.parts[0];
	if (verdict == VERDICT_ALLOW)
		return shadow_along(l, node, words, GLOB_SEPARATOR);
	word = next_part(&words, GLOB_SEPARATOR);
	found = shadow_in(l, node);
	if (!found)
		found = shadow_lead(l, node, word);
	if (found || !p->name.data)
		return found;
	node = trie_step(trie, node, word);
	found = shadow_in(l, node);
	while (node && !found && words.data) {
		word = next_part(&words, GLOB_SEPARATOR);
		found = shadow_in(l, trie_step(trie, node, word));
		if (!found)
			found = shadow_lead(l, node, word);
	}
	return found;
}

static const struct rule_entry *shadow_host(struct linter *l, enum verdict verdict)
{
	struct bytes name = {l->entry->rule->host->host.text, l->entry->rule->host->host.len};
	const struct rule_entry *found = NULL;

	while (!found && name.data) {
		found = shadow_in(
			l, trie_step(&l->set->trie, l->set->roots[verdict][ROOT_HOST], name));
		next_part(&name, '.');
	}
	return found;
}

static const struct rule_entry *shadow_whole(struct linter *l, enum verdict verdict)
{
	const struct trie *const trie = &l->set->trie;
	struct trie_node *const *const roots = l->set->roots[verdict];
	const struct rule *const rule = l->entry->rule;
	const char kind = (char)rule->kind;
	const struct rule_entry *found = shadow_in(l, roots[ROOT_LIST]);

	if (!found)
		found = shadow_in(
			l, trie_step(trie, roots[ROOT_KIND], (struct bytes){&kind, 1}));
	return found ? found : shadow_in(l, trie_step(trie, roots[ROOT_NAME], rule->name));
}

static void lint_shadow(struct linter *l)
{
	static const enum verdict order[] = {VERDICT_DENY, VERDICT_ASK, VERDICT_ALLOW};
	const struct rule *const rule = l->entry->rule;

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		const struct rule_entry *found = shadow_whole(l, order[i]);

		if (!found && rule->spec == RULE_SPEC_COMMAND)
			found = shadow_command(l, order[i]);
		if (!found && rule->spec == RULE_SPEC_PATH)
			found = shadow_along(l,
				l->set->roots[order[i]][ROOT_PATH + rule->path.anchor],
				rule->path.text, '/');
		if (!found && rule->spec == RULE_SPEC_HOST)
			found = shadow_host(l, order[i]);
		if (found) {
			warn(l, LINT_SHADOWED, found);
			return;
		}
		if (order[i] == rule->verdict)
			return;
	}
}

/* ---- */

static int make_room(struct linter *l)
{
	/* for the rule, and for one that shadows it: a text can't be longer than twice a rule
	 */
	const size_t size = rule_covers_size(l->entry->rule) + 4 * (size_t)LIMIT_RULE + 16;

	if (size <= l->size)
		return 0;
	free(l->scratch);
	l->scratch = malloc(size);
	l->size = l->scratch ? size : 0;
	return l->scratch ? 0 : -ENOMEM;
}

int ruleset_lint(struct ruleset *set, struct lint_warning *warnings, size_t room, size_t *n)
{
	struct linter l = {
		.set = set, .warnings = warnings, .room = room, .left = LIMIT_LINT_STEPS};
	int err = 0;

	while (err == 0 && (l.entry = ruleset_next(set, l.entry))) {
		const struct rule *const rule = l.entry->rule;

		err = make_room(&l);
		if (err < 0)
			break;
		if (rule->tool == RULE_TOOL_NAME && !tool_find(rule->name) &&
			!(rule->name.len > 5 && memcmp(rule->name.data, "mcp__", 5) == 0))
			warn(&l, LINT_UNKNOWN_TOOL, NULL);
		if (rule->spec == RULE_SPEC_COMMAND)
			lint_command(&l);
		if (rule->spec == RULE_SPEC_PATH)
			lint_path(&l);
		if (rule->spec != RULE_SPEC_ALL)
			lint_text(&l);
		if (!l.exhausted)
			lint_shadow(&l);
	}
	free(l.scratch);
	*n = l.n;
	return err < 0 ? err : l.exhausted;
}
