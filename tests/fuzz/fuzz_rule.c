/* SPDX-License-Identifier: MIT */
/*
 * Lines of rules, and behind the first NUL what they are asked about: as a command, as a
 * path and as a URL. What parses is printed, and read back as the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/lint.h"
#include "broker/core/rules/suggest.h"

#define ARENA (256u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void comes_back(const struct rule *rule)
{
	const size_t room = rule_print_size(rule);
	char *const first = malloc(room), *second;
	struct rule *again;
	enum rule_error error;
	size_t column, n;
	int how;

	need(first != NULL, "memory");
	n = rule_print(rule, first);
	need(n < room && strlen(first) == n, "the size of a printed rule");
	need(!memchr(first, '\n', n) && !memchr(first, '\r', n), "a rule on two lines");
	how = rule_parse((struct bytes){first, n}, &again, &error, &column);
	/* escapes are longer than what they stand for */
	if (how == RULE_BAD && error == RULE_ERROR_LONG) {
		free(first);
		return;
	}
	need(how == RULE_PARSED, "a printed rule does not parse");
	need(again->verdict == rule->verdict && again->tool == rule->tool &&
			again->kind == rule->kind && again->spec == rule->spec &&
			bytes_equal(again->name, rule->name),
		"a printed rule is another");
	second = malloc(rule_print_size(again));
	need(second != NULL, "memory");
	need(rule_print(again, second) == n && memcmp(first, second, n) == 0,
		"a printed rule is printed otherwise");
	rule_free(again);
	free(first);
	free(second);
}

static void match(struct ruleset *set, const struct rule_call *call)
{
	struct rule_match m;

	need(ruleset_match(set, VERDICT_DENY, call, &m) >= 0, "memory");
	need(ruleset_match(set, VERDICT_ASK, call, &m) >= 0, "memory");
	need(ruleset_match(set, VERDICT_ALLOW, call, &m) >= 0, "memory");
	if (m.rule && call->shell && call->shell->flags & SHELL_UNREAD)
		need(m.rule->rule->spec == RULE_SPEC_ALL || m.rule->rule->command.exact.data,
			"what is unread is allowed by its words");
	if (m.rule && call->n_paths && m.rule->rule->spec == RULE_SPEC_PATH)
		need(call->paths[0].resolved.data != NULL,
			"a path that is not resolved is allowed");
}

static void ask(struct ruleset *set, struct bytes about)
{
	const struct shell_context context = {.cwd = bytes_of("/w"), .home = bytes_of("/h")};
	struct rule_path path = {.given = about};
	struct rule_call call = {.tool = bytes_of("Bash"),
		.kind = KIND_EXECUTE,
		.command = about,
		.cwd = context.cwd,
		.workspace = context.cwd,
		.home = context.home};
	struct suggestions list;
	/* a small one: a large one costs more than all else here */
	struct shell_arena arena = {malloc(ARENA), ARENA};
	struct shell shell;

	need(arena.base != NULL, "memory");
	shell_read(about, &context, &arena, &shell);
	call.shell = &shell;
	match(set, &call);
	need(suggest(&call, &list) == 0, "memory");
	suggestions_free(&list);
	shell_arena_free(&arena);

	call.command = (struct bytes){NULL, 0};
	call.shell = NULL;
	call.tool = bytes_of("Read");
	call.kind = KIND_READ;
	call.paths = &path;
	call.n_paths = 1;
	match(set, &call);
	path.resolved = about;
	match(set, &call);
	need(suggest(&call, &list) == 0, "memory");
	suggestions_free(&list);

	call.n_paths = 0;
	call.tool = bytes_of("WebFetch");
	call.kind = KIND_FETCH;
	call.url = about;
	match(set, &call);
	need(suggest(&call, &list) == 0, "memory");
	suggestions_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rule_origin origin = {
		.scope = RULE_ADMIN, .uid = RULE_ANY_UID, .file = bytes_of("f")};
	const uint8_t *const nul = size ? memchr(data, 0, size) : NULL;
	const size_t n = nul ? (size_t)(nul - data) : size;
	struct ruleset *const set = ruleset_new();
	const struct rule_entry *e = NULL;
	struct rule_problem problem;
	struct lint_warning warnings[4];
	size_t count, line_end = 0;

	need(set != NULL, "memory");
	/* line by line, so that one that does not parse spares the others */
	for (size_t at = 0, id = 1; at < n; at = line_end + 1, id++) {
		const uint8_t *const eol = memchr(data + at, '\n', n - at);

		line_end = eol ? (size_t)(eol - data) : n;
		need(ruleset_add(set, &origin, id, (struct bytes){data + at, line_end - at},
			     &problem) >= 0,
			"memory");
	}
	while ((e = ruleset_next(set, e)))
		comes_back(e->rule);
	need(ruleset_lint(set, warnings, 4, &count) == 0, "memory");
	if (nul)
		ask(set, (struct bytes){nul + 1, size - n - 1});
	need(ruleset_load(set, &origin, (struct bytes){data, n}, &problem, 1, &count) >= 0,
		"memory");
	ruleset_free(set);
	return 0;
}
