/* SPDX-License-Identifier: MIT */
#include "broker/io/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/pipeline.h"
#include "broker/io/facts.h"
#include "broker/io/path.h"

struct explainer {
	struct judge judge;
	char *rule, *what; /* of the last answer */
};

int explainer_new(struct explainer **out)
{
	struct explainer *x = calloc(1, sizeof(*x));
	int err = x ? judge_init(&x->judge, FLOOR_USER) : -ENOMEM;

	if (err < 0) {
		free(x);
		return err;
	}
	*out = x;
	return 0;
}

void explainer_free(struct explainer *x)
{
	if (!x)
		return;
	judge_fini(&x->judge);
	free(x->rule);
	free(x->what);
	free(x);
}

int explainer_rules(struct explainer *x, struct bytes text, struct explain_problem *problem)
{
	const struct rule_origin origin = {
		.scope = RULE_USER, .uid = RULE_ANY_UID, .file = bytes_of("rules")};
	struct rule_problem p = {.line = 0};
	size_t n = 0;
	int err = ruleset_load(x->judge.rules, &origin, text, &p, 1, &n);

	if (err == -EFBIG || err == -ENOSPC) {
		*problem = (struct explain_problem){0, 0,
			err == -EFBIG ? "the rules are too long" : "there are too many rules"};
		return 1;
	}
	if (err == 1)
		*problem = (struct explain_problem){p.line, p.column, rule_error_text(p.error)};
	return err;
}

int explainer_floor_add(struct explainer *x, struct bytes line, struct explain_problem *problem)
{
	enum floor_error error = FLOOR_OK;
	size_t column = 0;
	int err = floor_add(x->judge.floor, line, FLOOR_USER, &error, &column);

	if (err != -EINVAL)
		return err < 0 ? err : 0;
	*problem = (struct explain_problem){1, (uint32_t)column, floor_error_text(error)};
	return 1;
}

bool explainer_floor_off(struct explainer *x, struct bytes name)
{
	return floor_off(x->judge.floor, name, FLOOR_USER) == 0;
}

/* ---- one call ---- */

static bool absolute(struct bytes path)
{
	return !path.len || (path.len <= LIMIT_TEXT && *(const char *)path.data == '/' &&
				    !memchr(path.data, '\0', path.len));
}

static char *copy(struct bytes text)
{
	return text.data ? strndup(text.data, text.len) : NULL;
}

struct folders {
	char *cwd, *workspace, *home;
};

static int path_take(struct bytes given, const struct folders *f, struct request_path *out)
{
	char *lexical = NULL;
	int err = path_lexical(given, f->cwd, f->home, &lexical);

	if (err < 0)
		return err;
	out->given = str_new(given.data, given.len);
	out->resolved = lexical ? str_new(lexical, strlen(lexical)) : NULL;
	out->inside = lexical && f->workspace && path_inside(f->workspace, lexical);
	err = out->given && (!lexical || out->resolved) ? 0 : -ENOMEM;
	free(lexical);
	return err;
}

static const char *answer_name(enum pipeline_answer answer)
{
	static const char *const names[] = {"pass", "allow", "deny", "ask", "hold"};

	return names[answer];
}

static int answer_fill(struct explainer *x, const struct pipeline_result *r,
	const struct pipeline_trace *trace, struct explanation *out)
{
	memset(out, 0, sizeof(*out));
	out->verdict = r->answer == PIPELINE_ALLOW  ? "allow"
		       : r->answer == PIPELINE_DENY ? "deny"
						    : "ask";
	out->source = r->source == SOURCE_NONE ? NULL : source_name(r->source);
	out->step = step_name(r->answer == PIPELINE_PASS ? STEP_HUMAN : r->step);
	if (r->answer == PIPELINE_DENY)
		out->message = denial_message(r->source, r->step, REQUEST_DENIED);
	free(x->rule);
	free(x->what);
	x->rule = x->what = NULL;
	/* it may be a part of what was made for this call alone */
	if (r->floor.what.len) {
		x->what = malloc(r->floor.what.len);
		if (!x->what)
			return -ENOMEM;
		memcpy(x->what, r->floor.what.data, r->floor.what.len);
	}
	if (r->rule.rule) {
		x->rule = malloc(rule_print_size(r->rule.rule->rule));
		if (!x->rule)
			return -ENOMEM;
		rule_print(r->rule.rule->rule, x->rule);
	}
	out->rule = x->rule;
	out->floor = r->floor.name;
	out->about = r->floor.about;
	out->what = (struct bytes){x->what, x->what ? r->floor.what.len : 0};
	for (unsigned i = 0; i < trace->n && i < EXPLAIN_STEPS_MAX; i++) {
		out->path[i].step = step_name(trace->items[i].step);
		out->path[i].answer = answer_name(trace->items[i].answer);
		out->n = i + 1;
	}
	return 0;
}

static int judge_facts(struct explainer *x, const struct facts_input *in, enum mode mode,
	const struct facts *facts, struct explanation *out)
{
	const struct pipeline_call c = {
		.type = REQUEST_TYPE_TOOL_CALL,
		.mode = mode,
		.mutating = facts->mutating,
		.judge = &x->judge,
		.call =
			{
				.tool = in->tool,
				.command = facts->command,
				.url = facts->url,
				.kind = facts->kind,
				.facts = facts->flags,
				.paths = facts->paths,
				.n_paths = facts->n_paths,
				.n_operands = facts->n_operands,
				.cwd = in->cwd,
				.workspace = in->workspace,
				.home = in->home,
			},
	};
	struct pipeline_trace trace = {.n = 0};
	struct pipeline_result r;
	int err = pipeline_run(&c, &trace, &r);

	return err < 0 ? err : answer_fill(x, &r, &trace, out);
}

int explain(struct explainer *x, const struct explain_call *call, struct explanation *out)
{
	struct facts_input in = {.tool = call->tool,
		.input = call->input,
		.type = REQUEST_TYPE_TOOL_CALL,
		.claimed_kind = -1,
		.cwd = call->cwd,
		.workspace = call->workspace,
		.home = call->home};
	const int mode = call->mode.data ? mode_parse(call->mode) : MODE_NORMAL;
	struct request_path paths[LIMIT_LOOKUPS] = {{NULL, NULL, false}};
	struct folders f;
	struct facts_draft draft;
	struct facts facts;
	unsigned n = 0;
	int err;

	/* nothing is as good as absent */
	if (!in.cwd.len)
		in.cwd.data = NULL;
	if (!in.workspace.len)
		in.workspace.data = NULL;
	if (!in.home.len)
		in.home.data = NULL;
	if (mode < 0 || !absolute(call->cwd) || !absolute(call->workspace) ||
		!absolute(call->home))
		return -EINVAL;
	f = (struct folders){copy(in.cwd), copy(in.workspace), copy(in.home)};
	err = (in.cwd.data && !f.cwd) || (in.workspace.data && !f.workspace) ||
			      (in.home.data && !f.home)
		      ? -ENOMEM
		      : facts_collect(&x->judge, &in, &draft);
	if (err < 0)
		goto out;
	for (; err == 0 && n < draft.n_paths; n++)
		err = path_take(draft.paths[n], &f, &paths[n]);
	if (err == 0)
		err = facts_finish(&draft, paths, n, &facts);
	if (err == 0)
		err = judge_facts(x, &in, (enum mode)mode, &facts, out);
	for (unsigned i = 0; i < n; i++) {
		str_unref(paths[i].given);
		str_unref(paths[i].resolved);
	}
	facts_release(&draft);
out:
	free(f.cwd);
	free(f.workspace);
	free(f.home);
	return err;
}
