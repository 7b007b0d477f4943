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

static int rules_load(struct ruleset *set, struct bytes text, struct explain_problem *problem)
{
	const struct rule_origin origin = {
		.scope = RULE_USER, .uid = RULE_ANY_UID, .file = bytes_of("rules")};
	struct rule_problem p = {.line = 0};
	size_t n = 0;
	int err = ruleset_load(set, &origin, text, &p, 1, &n);

	if (err == -EFBIG || err == -ENOSPC) {
		*problem = (struct explain_problem){0, 0,
			err == -EFBIG ? "the rules are too long" : "there are too many rules"};
		return 1;
	}
	if (err == 1)
		*problem = (struct explain_problem){p.line, p.column, rule_error_text(p.error)};
	return err;
}

int explainer_rules(struct explainer *x, struct bytes text, struct explain_problem *problem)
{
	return rules_load(x->judge.rules, text, problem);
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

static int path_lookup(struct bytes given, const struct explain_call *call,
	const struct folders *f, struct request_path *out)
{
	char *lexical = NULL;
	int err;

	if (call->resolved) {
		for (unsigned i = 0; i < call->n_paths; i++) {
			const struct explain_path *const p = &call->paths[i];

			if (!bytes_equal(p->path, given) || !p->resolved.data)
				continue;
			out->resolved = str_new(p->resolved.data, p->resolved.len);
			out->inside = p->inside;
			return out->resolved ? 0 : -ENOMEM;
		}
		return 0;
	}
	err = path_lexical(given, f->cwd, f->home, &lexical);
	if (err < 0 || !lexical)
		return err;
	out->resolved = str_new(lexical, strlen(lexical));
	out->inside = f->workspace && path_inside(f->workspace, lexical);
	free(lexical);
	return out->resolved ? 0 : -ENOMEM;
}

static int path_take(struct bytes given, const struct explain_call *call,
	const struct folders *f, struct request_path *out)
{
	out->given = str_new(given.data, given.len);
	return out->given ? path_lookup(given, call, f, out) : -ENOMEM;
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
		x->rule = rule_text(r->rule.rule->rule, NULL);
		if (!x->rule)
			return -ENOMEM;
		out->line = r->rule.rule->line;
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

/* A call whose facts are known, for as long as it is looked at. */
struct prepared {
	struct folders f;
	struct facts_input in;
	struct request_path paths[LIMIT_LOOKUPS];
	struct facts_draft draft;
	struct facts facts;
	struct judge_call call;
	enum mode mode;
	unsigned n;
};

static void call_release(struct prepared *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		str_unref(p->paths[i].given);
		str_unref(p->paths[i].resolved);
	}
	facts_release(&p->draft);
	free(p->f.cwd);
	free(p->f.workspace);
	free(p->f.home);
}

static int call_facts(struct explainer *x, const struct explain_call *call, struct prepared *p)
{
	int err;

	p->f = (struct folders){copy(p->in.cwd), copy(p->in.workspace), copy(p->in.home)};
	if ((p->in.cwd.data && !p->f.cwd) || (p->in.workspace.data && !p->f.workspace) ||
		(p->in.home.data && !p->f.home))
		return -ENOMEM;
	err = facts_collect(&x->judge, &p->in, &p->draft);
	while (err == 0 && p->n < p->draft.n_paths) {
		err = path_take(p->draft.paths[p->n], call, &p->f, &p->paths[p->n]);
		p->n++;
	}
	return err < 0 ? err : facts_finish(&p->draft, p->paths, p->n, &p->facts);
}

/* nothing is as good as absent */
static struct bytes given(struct bytes text)
{
	return text.len ? text : (struct bytes){NULL, 0};
}

/* To be released, whatever is returned. As explain. */
static int call_prepare(
	struct explainer *x, const struct explain_call *call, struct prepared *p)
{
	const int mode = call->mode.data ? mode_parse(call->mode) : MODE_NORMAL;
	const int kind = call->kind.data ? kind_parse(call->kind) : -1;
	int err;

	*p = (struct prepared){.mode = MODE_NORMAL};
	if (mode < 0 || (call->kind.data && kind < 0) || !absolute(call->cwd) ||
		!absolute(call->workspace) || !absolute(call->home))
		return -EINVAL;
	p->mode = (enum mode)mode;
	p->in = (struct facts_input){.tool = call->tool,
		.input = call->input,
		.type = REQUEST_TYPE_TOOL_CALL,
		.claimed_kind = kind,
		.cwd = given(call->cwd),
		.workspace = given(call->workspace),
		.home = given(call->home)};
	err = call_facts(x, call, p);
	p->call = (struct judge_call){
		.tool = p->in.tool,
		.command = p->facts.command,
		.url = p->facts.url,
		.kind = p->facts.kind,
		.facts = p->facts.flags,
		.paths = p->facts.paths,
		.n_paths = p->facts.n_paths,
		.n_operands = p->facts.n_operands,
		.cwd = p->in.cwd,
		.workspace = p->in.workspace,
		.home = p->in.home,
	};
	return err;
}

static int call_judge(struct explainer *x, const struct prepared *p, struct explanation *out)
{
	const struct pipeline_call c = {
		.type = REQUEST_TYPE_TOOL_CALL,
		.mode = p->mode,
		.mutating = p->facts.mutating,
		.judge = &x->judge,
		.call = p->call,
	};
	struct pipeline_trace trace = {.n = 0};
	struct pipeline_result r;
	int err = pipeline_run(&c, &trace, &r);

	return err < 0 ? err : answer_fill(x, &r, &trace, out);
}

int explain(struct explainer *x, const struct explain_call *call, struct explanation *out)
{
	struct prepared p;
	int err = call_prepare(x, call, &p);

	if (err == 0)
		err = call_judge(x, &p, out);
	call_release(&p);
	return err;
}

/* ---- sets of rules by themselves ---- */

struct explain_rules {
	struct ruleset *set;
};

int explain_rules_new(struct explain_rules **out)
{
	struct explain_rules *r = calloc(1, sizeof(*r));

	if (r)
		r->set = ruleset_new();
	if (!r || !r->set) {
		free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void explain_rules_free(struct explain_rules *r)
{
	if (!r)
		return;
	ruleset_free(r->set);
	free(r);
}

int explain_rules_load(
	struct explain_rules *r, struct bytes text, struct explain_problem *problem)
{
	return rules_load(r->set, text, problem);
}

static int verdict_line(struct ruleset *set, enum verdict verdict, const struct judged *judged,
	struct explain_match *out, uint32_t *line)
{
	struct rule_match match;
	int found = ruleset_match(set, verdict, &judged->rule, &match);

	if (found == 1)
		*line = match.rule->line;
	else if (found > 1)
		out->doubt = true;
	return found < 0 ? found : 0;
}

static int set_match(
	struct ruleset *set, const struct judged *judged, struct explain_match *out)
{
	int err;

	*out = (struct explain_match){.doubt = false};
	err = verdict_line(set, VERDICT_DENY, judged, out, &out->deny);
	if (err == 0)
		err = verdict_line(set, VERDICT_ASK, judged, out, &out->ask);
	return err < 0 ? err : verdict_line(set, VERDICT_ALLOW, judged, out, &out->allow);
}

int explainer_match(struct explainer *x, const struct explain_call *call,
	struct explain_rules *const *sets, size_t n, struct explain_match *out)
{
	struct prepared p;
	struct judged judged;
	int err = call_prepare(x, call, &p);

	if (err == 0)
		judge_prepare(&x->judge, &p.call, &judged);
	for (size_t i = 0; err == 0 && i < n; i++)
		err = set_match(sets[i]->set, &judged, &out[i]);
	call_release(&p);
	return err;
}
