/* SPDX-License-Identifier: MIT */
#include "tests/unit/rule_fixture.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "broker/core/rules/pathname.h"
#include "broker/core/tool.h"

void rule_fixture_init(struct rule_fixture *f)
{
	memset(f, 0, sizeof(*f));
	ck_assert_int_eq(shell_arena_init(&f->arena), 0);
}

void rule_fixture_free(struct rule_fixture *f)
{
	shell_arena_free(&f->arena);
}

static void begin(struct rule_fixture *f, const char *tool)
{
	const struct tool *const known = tool_find(bytes_of(tool));

	f->call = (struct rule_call){
		.tool = bytes_of(tool),
		.kind = known ? known->kind : KIND_OTHER,
		.claimed = KIND_OTHER,
		.cwd = bytes_of(RULE_WORKSPACE),
		.workspace = bytes_of(RULE_WORKSPACE),
		.home = bytes_of(RULE_HOME),
		.uid = 1000,
		.now = 1000,
	};
}

void rule_fixture_command(struct rule_fixture *f, const char *tool, struct bytes command)
{
	const struct shell_context context = {
		.cwd = bytes_of(RULE_WORKSPACE), .home = bytes_of(RULE_HOME)};

	begin(f, tool);
	shell_read(command, &context, &f->arena, &f->shell);
	f->call.command = command;
	f->call.shell = &f->shell;
}

void rule_fixture_path(struct rule_fixture *f, const char *tool, const char *path)
{
	struct pathname name;

	begin(f, tool);
	f->path = (struct rule_path){.given = bytes_of(path)};
	if (pathname_tilde(&name, f->path.given, f->call.home) == 0 ||
		pathname_make(&name, f->path.given, f->call.cwd) == 0) {
		memcpy(f->resolved, name.text, name.len);
		f->path.resolved = (struct bytes){f->resolved, name.len};
	}
	f->call.paths = &f->path;
	f->call.n_paths = 1;
}

void rule_fixture_url(struct rule_fixture *f, const char *tool, const char *url)
{
	begin(f, tool);
	f->call.url = bytes_of(url);
}

struct ruleset *rule_set_of(const char *lines)
{
	const struct rule_origin origin = {
		.scope = RULE_ADMIN, .uid = RULE_ANY_UID, .file = bytes_of("rules")};
	struct ruleset *set = ruleset_new();
	struct rule_problem problem;
	size_t n;
	int how;

	ck_assert_ptr_nonnull(set);
	how = ruleset_load(set, &origin, bytes_of(lines), &problem, 1, &n);
	ck_assert_msg(how == 0, "%s: %d: line %u, column %u: %s", lines, how,
		how > 0 ? problem.line : 0, how > 0 ? problem.column : 0,
		how > 0 ? rule_error_text(problem.error) : "");
	return set;
}

enum verdict rule_verdict(struct ruleset *set, const struct rule_call *call)
{
	static const enum verdict order[] = {VERDICT_DENY, VERDICT_ASK, VERDICT_ALLOW};

	for (int i = 0; i < 3; i++) {
		struct rule_match match;
		const int how = ruleset_match(set, order[i], call, &match);

		ck_assert_int_ge(how, 0);
		ck_assert_int_eq(how, match.rule != NULL);
		if (how == 1) {
			ck_assert_int_eq(match.rule->rule->verdict, order[i]);
			return order[i];
		}
	}
	return VERDICT_NONE;
}
