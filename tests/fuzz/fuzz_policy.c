/* SPDX-License-Identifier: MIT */
/*
 * A policy's text. What parses is asked about a call; what it says comes from a line of its
 * own that has such a word. What does not parse is wrong at a place that is there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool begins(struct bytes line, const char *word)
{
	const size_t n = strlen(word);

	return line.len > n && memcmp(line.data, word, n) == 0;
}

static void line_speaks(const struct policy *p, const struct verdict *v)
{
	const struct bytes line = policy_line(p, v->line);

	if (v->line == 0) {
		need(v->answer == ANSWER_DEFER || v->n_runs, "an answer from nowhere");
		return;
	}
	need(begins(line, answer_name(v->answer)) || begins(line, "default"),
		"a line that does not say so");
}

static void ask(const struct policy *p, const char *command, const struct subject *s)
{
	/* {"command": command}, which is short */
	uint8_t input[64] = {0x81, 0xa7, 'c', 'o', 'm', 'm', 'a', 'n', 'd'};
	const size_t len = strlen(command);
	struct explain_call call = {.tool = bytes_of("Bash"),
		.cwd = bytes_of("/w"),
		.workspace = bytes_of("/w"),
		.home = bytes_of("/h")};
	struct explainer *x;
	struct verdict v;

	input[9] = (uint8_t)(0xa0 | len);
	memcpy(input + 10, command, len);
	call.input = (struct bytes){input, 10 + len};
	need(explainer_new(&x) == 0, "memory");
	need(policy_judge(p, x, s, &call, &v) == 0, "no judgement");
	line_speaks(p, &v);
	for (size_t i = 0; i < v.n_runs; i++)
		need(begins(policy_line(p, v.runs[i].run->program.line), "run"),
			"a program without its line");
	explainer_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct subject s = {.agent = bytes_of("claude"),
		.title = bytes_of("ci"),
		.session = bytes_of("ses_1"),
		.project = bytes_of("p"),
		.workspace = bytes_of("/w/p"),
		.mode = bytes_of("yolo"),
		.has_uid = true,
		.uid = 1000,
		.minute = 600,
		.day = 2};
	struct policy_problem problem = {0, 0, NULL};
	struct policy *p = NULL;
	const int err = policy_parse("f", (struct bytes){data, size}, &p, &problem);

	need(err >= 0, "memory");
	if (err == 1) {
		size_t lines = 1;

		for (size_t i = 0; i < size; i++)
			lines += data[i] == '\n';
		need(problem.text && problem.line <= lines, "a problem nowhere");
		need(!problem.line == !problem.column, "a line without a column");
		return 0;
	}
	ask(p, "git status", &s);
	ask(p, "rm -rf x; make", &s);
	policy_free(p);
	return 0;
}
