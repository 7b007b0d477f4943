/* SPDX-License-Identifier: MIT */
/*
 * What rules cost: of a decision with ten of them and with ten thousand, and of a command
 * that none is for compared with a scan of the same by fnmatch. Each number is the least of
 * several runs, which take turns.
 */
#include <fnmatch.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/ruleset.h"
#include "tests/bench/bench.h"

#define RUNS 15

static void add_lines(struct ruleset *set, const char *verdict, const char *format, unsigned n)
{
	const struct rule_origin origin = {
		.scope = RULE_ADMIN, .uid = RULE_ANY_UID, .file = bytes_of(verdict)};
	char *const text = malloc((size_t)n * 96 + 1);
	struct rule_problem problem;
	size_t len = 0, problems;

	bench_need(text != NULL, "memory");
	for (unsigned i = 0; i < n; i++) {
		len += (size_t)sprintf(text + len, "%s Bash(", verdict);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		len += (size_t)sprintf(text + len, format, i);
#pragma GCC diagnostic pop
		len += (size_t)sprintf(text + len, ")\n");
	}
	bench_need(ruleset_load(set, &origin, (struct bytes){text, len}, &problem, 1,
			   &problems) == 0,
		"rules");
	free(text);
}

struct work {
	struct ruleset *set;
	struct rule_call call;
	struct shell_arena arena;
	struct shell shell;
};

static const struct shell_context context;

static void work_init(struct work *w, const char *command)
{
	memset(w, 0, sizeof(*w));
	w->set = ruleset_new();
	bench_need(w->set && shell_arena_init(&w->arena) == 0, "memory");
	shell_read(bytes_of(command), &context, &w->arena, &w->shell);
	w->call = (struct rule_call){.tool = bytes_of("Bash"),
		.kind = KIND_EXECUTE,
		.command = bytes_of(command),
		.shell = &w->shell};
}

/* Nanoseconds of one question: all three verdicts, or one. */
static double decide(struct work *w, bool all, unsigned times, bool expect)
{
	struct rule_match m;
	unsigned allowed = 0;
	const int64_t start = bench_ns();

	for (unsigned i = 0; i < times; i++) {
		if (all && (ruleset_match(w->set, VERDICT_DENY, &w->call, &m) == 1 ||
				   ruleset_match(w->set, VERDICT_ASK, &w->call, &m) == 1))
			continue;
		allowed += ruleset_match(w->set, VERDICT_ALLOW, &w->call, &m) == 1;
	}
	bench_need(allowed == (expect ? times : 0), "the verdict");
	return (double)(bench_ns() - start) / times;
}

static double least(double a, double b)
{
	return b < a ? b : a;
}

/* Rules of one form, ten and ten thousand of them, for a command that the last one allows. */
static void many(const char *what, const char *allow, const char *deny, const char *command)
{
	struct work few, lots;
	double a = 1e9, b = 1e9;

	work_init(&few, command);
	work_init(&lots, command);
	add_lines(few.set, "allow", allow, 10);
	add_lines(few.set, "deny", deny, 10);
	add_lines(lots.set, "allow", allow, 10000);
	add_lines(lots.set, "deny", deny, 10000);
	for (int i = 0; i < RUNS; i++) {
		a = least(a, decide(&few, true, 5000, true));
		b = least(b, decide(&lots, true, 5000, true));
	}
	printf("%-34s 10: %6.0f ns   10000: %6.0f ns   ratio %.2f (at most 1.50)\n", what, a, b,
		b / a);
	ruleset_free(few.set);
	ruleset_free(lots.set);
	shell_arena_free(&few.arena);
	shell_arena_free(&lots.arena);
}

static double scan(char **patterns, unsigned n, const char *command, unsigned times)
{
	const int64_t start = bench_ns();
	unsigned found = 0;

	for (unsigned k = 0; k < times; k++)
		for (unsigned i = 0; i < n; i++)
			found += fnmatch(patterns[i], command, 0) == 0;
	bench_need(found == 0, "a miss");
	return (double)(bench_ns() - start) / times;
}

/* A thousand rules, none for the command. */
static void miss(const char *what, const char *rule, const char *pattern, const char *command)
{
	enum { COUNT = 1000 };
	char *patterns[COUNT];
	struct work w;
	double ours = 1e9, theirs = 1e9;

	work_init(&w, command);
	add_lines(w.set, "allow", rule, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		bench_need(asprintf(&patterns[i], pattern, i) > 0, "memory");
#pragma GCC diagnostic pop
	}
	for (int i = 0; i < RUNS; i++) {
		ours = least(ours, decide(&w, false, 2000, false));
		theirs = least(theirs, scan(patterns, COUNT, command, 100));
	}
	printf("%-34s ours: %5.0f ns fnmatch: %7.0f ns   ratio %.4f (at most 0.25)\n", what,
		ours, theirs, ours / theirs);
	for (unsigned i = 0; i < COUNT; i++)
		free(patterns[i]);
	ruleset_free(w.set);
	shell_arena_free(&w.arena);
}

int main(void)
{
	bench_need(setlocale(LC_ALL, "C") != NULL, "setlocale");
	bench_pin();
	many("prefix, another name each", "cmd%u sub:*", "bad%u sub:*",
		"cmd7 sub -x --long a b c");
	many("prefix, one name", "npm run task%u:*", "npm run bad%u:*",
		"npm run task7 -x a b c");
	many("exact", "npm run task%u -x", "npm run bad%u -x", "npm run task7 -x");
	many("a pipeline", "cmd%u a:*", "bad%u a:*",
		"cmd1 a b | cmd2 a c | cmd3 a d && cmd4 a e");
	miss("a miss, another name each", "cmd%u sub:*", "cmd%u sub *",
		"other sub -x --long a b c");
	miss("a miss, one name", "npm run task%u:*", "npm run task%u *",
		"npm run other -x --long a b c");
	miss("a miss, no boundary", "npm run task%u*", "npm run task%u*",
		"npm run other -x --long a b c");
	return 0;
}
