/* SPDX-License-Identifier: MIT */
#include "broker/core/pipeline.h"

#include <string.h>

#include "broker/core/turn.h"

/* One call on its way through the steps; its command is read when the first step wants it. */
struct run {
	const struct pipeline_call *c;
	struct judged judged;
	bool prepared;
};

typedef int step_fn(struct run *run, struct pipeline_result *out);

static int say(struct pipeline_result *out, enum pipeline_answer answer, enum step step,
	enum source source)
{
	*out = (struct pipeline_result){.answer = answer, .step = step, .source = source};
	return 0;
}

static bool is_tool_call(const struct run *r)
{
	return r->c->type == REQUEST_TYPE_TOOL_CALL;
}

static const struct judged *judged(struct run *r)
{
	if (!r->prepared)
		judge_prepare(r->c->judge, &r->c->call, &r->judged);
	r->prepared = true;
	return &r->judged;
}

static int ended(const struct turn *t, struct pipeline_result *out)
{
	say(out, PIPELINE_DENY, STEP_SUSPENDED,
		t->s.r.ended_by == SOURCE_NONE ? SOURCE_ABORT : t->s.r.ended_by);
	out->reason = str_bytes(t->s.r.reason);
	return 0;
}

/*
 * 1: a suspended turn releases nothing, an ended one denies, and so does that of
 * an ancestor that a person or a ceiling ended, which stays the present one.
 */
static int suspended(const struct session *s, const struct turn *t, struct pipeline_result *out)
{
	if (turn_state_over(t->s.r.state))
		return ended(t, out);
	for (const struct session *p = s->s.parent; p; p = p->s.parent)
		if (p->s.turn && p->s.turn->s.r.state == TURN_ENDED)
			return ended(p->s.turn, out);
	if (t->s.r.state == TURN_SUSPENDED)
		say(out, PIPELINE_HOLD, STEP_SUSPENDED, SOURCE_NONE);
	return 0;
}

static int step_suspended(struct run *r, struct pipeline_result *out)
{
	return r->c->turn ? suspended(r->c->session, r->c->turn, out) : 0;
}

/* A command that is seen to read only is the one thing that its tool does not tell. */
static bool command_reads(struct run *r)
{
	return r->c->judge && r->c->call.kind == KIND_EXECUTE &&
	       !(r->c->call.facts & FACT_SAID_MUTATING) && judged_reads(judged(r));
}

/* 2: plan mode changes nothing */
static int step_plan(struct run *r, struct pipeline_result *out)
{
	if (is_tool_call(r) && r->c->mode == MODE_PLAN && r->c->mutating && !command_reads(r))
		say(out, PIPELINE_DENY, STEP_PLAN, SOURCE_MODE);
	return 0;
}

/* What rules say can't be told: it is as a command that can't be read. */
static int not_known(const char *about, struct pipeline_result *out)
{
	say(out, PIPELINE_ASK, STEP_FLOOR, SOURCE_FLOOR);
	out->floor = (struct floor_hit){"unread", about, bytes_of(""), SHELL_NONE, 0};
	return 0;
}

static int by_rules(struct run *r, enum verdict verdict, enum pipeline_answer answer,
	enum step step, struct pipeline_result *out)
{
	struct rule_match match;
	int found;

	if (!is_tool_call(r) || !r->c->judge || !ruleset_count(r->c->judge->rules))
		return 0;
	found = ruleset_match(r->c->judge->rules, verdict, &judged(r)->rule, &match);
	if (found <= 0)
		return found;
	if (found > 1)
		return not_known("it is too much to be compared with the rules", out);
	say(out, answer, step, SOURCE_RULE);
	out->rule = match;
	return 0;
}

/* 3 */
static int step_deny_rules(struct run *r, struct pipeline_result *out)
{
	return by_rules(r, VERDICT_DENY, PIPELINE_DENY, STEP_DENY_RULES, out);
}

/* 4: a model that tries what was denied again and again */
static int step_repeat(struct run *r, struct pipeline_result *out)
{
	if (is_tool_call(r) && r->c->denials > r->c->repeat_limit)
		say(out, PIPELINE_DENY, STEP_REPEAT, SOURCE_REPEAT);
	return 0;
}

/* 5: what always asks */
static int step_floor(struct run *r, struct pipeline_result *out)
{
	struct floor_hit hit;

	if (!is_tool_call(r) || !r->c->judge)
		return 0;
	if (!floor_check(r->c->judge->floor, &judged(r)->floor, &hit))
		return r->c->call.facts & FACT_UNREAD
			       ? not_known("its input is not one that this tool is known to have",
					 out)
			       : 0;
	say(out, PIPELINE_ASK, STEP_FLOOR, SOURCE_FLOOR);
	out->floor = hit;
	return 0;
}

/* 6 */
static int step_ask_rules(struct run *r, struct pipeline_result *out)
{
	const struct judge *const j = r->c->judge;
	const char *why = NULL;

	if (is_tool_call(r) && j && j->unknown)
		why = j->unknown(j->unknown_arg, r->c->call.uid, r->c->call.workspace);
	if (why)
		return not_known(why, out);
	return by_rules(r, VERDICT_ASK, PIPELINE_ASK, STEP_ASK_RULES, out);
}

/* 7 */
static int step_allow_rules(struct run *r, struct pipeline_result *out)
{
	/* what a link leads to may be on the floor */
	if (r->c->judge && ruleset_count(r->c->judge->rules) && !judged_known(judged(r)))
		return 0;
	return by_rules(r, VERDICT_ALLOW, PIPELINE_ALLOW, STEP_ALLOW_RULES, out);
}

/* What could not be looked at, not in time or not at all, may lead to the floor. */
static bool paths_seen(const struct judge_call *call)
{
	if (call->facts & FACT_UNSEEN)
		return false;
	for (unsigned i = 0; i < call->n_paths + call->n_operands; i++)
		if (!call->paths[i].resolved)
			return false;
	return true;
}

/* 8: harmless tools; what only reads inside the workspace; and what the mode lets pass */
static int step_mode(struct run *r, struct pipeline_result *out)
{
	const struct judge_call *const call = &r->c->call;
	const bool inside = call->facts & FACT_INSIDE && !(call->facts & FACT_UNRESOLVED);
	bool allow;

	if (!is_tool_call(r))
		return 0;
	allow = call->facts & FACT_HARMLESS || (r->c->mode == MODE_YOLO && paths_seen(call));
	if (!r->c->mutating && (call->kind == KIND_READ || call->kind == KIND_SEARCH))
		allow = allow || inside;
	if (r->c->mode == MODE_AUTO_EDIT && call->kind == KIND_EDIT)
		allow = allow || inside;
	if (allow || command_reads(r))
		say(out, PIPELINE_ALLOW, STEP_MODE, SOURCE_MODE);
	return 0;
}

/* A step may be in the list of those that an edit passes again. */
static const struct {
	enum step step;
	step_fn *run;
	bool recheck;
} steps[] = {
	{STEP_SUSPENDED, step_suspended, false},
	{STEP_PLAN, step_plan, true},
	{STEP_DENY_RULES, step_deny_rules, true},
	{STEP_REPEAT, step_repeat, false},
	{STEP_FLOOR, step_floor, true},
	{STEP_ASK_RULES, step_ask_rules, true},
	{STEP_ALLOW_RULES, step_allow_rules, false},
	{STEP_MODE, step_mode, false},
};

bool pipeline_bars(const struct session *s, const struct turn *t)
{
	struct pipeline_result r = {.answer = PIPELINE_PASS};

	suspended(s, t, &r);
	return r.answer != PIPELINE_PASS;
}

static int run(const struct pipeline_call *call, bool recheck, struct pipeline_trace *trace,
	struct pipeline_result *out)
{
	struct run r;

	r.c = call;
	r.prepared = false;
	*out = (struct pipeline_result){.answer = PIPELINE_PASS};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int err;

		if (recheck && !steps[i].recheck)
			continue;
		err = steps[i].run(&r, out);
		if (err < 0)
			return err;
		if (trace) {
			trace->items[trace->n].step = steps[i].step;
			trace->items[trace->n++].answer = out->answer;
		}
		if (out->answer != PIPELINE_PASS)
			return 0;
	}
	return 0;
}

int pipeline_run(const struct pipeline_call *call, struct pipeline_trace *trace,
	struct pipeline_result *out)
{
	return run(call, false, trace, out);
}

int pipeline_recheck(const struct pipeline_call *call, struct pipeline_result *out)
{
	return run(call, true, NULL, out);
}

uint32_t denials_count(const struct str *denials, const uint8_t signature[16])
{
	struct denial d;

	for (size_t at = 0; denials && at + sizeof(d) <= denials->len; at += sizeof(d)) {
		memcpy(&d, denials->data + at, sizeof(d));
		if (memcmp(d.signature, signature, sizeof(d.signature)) == 0)
			return d.count;
	}
	return 0;
}

struct str *denials_add(const struct str *denials, const uint8_t signature[16])
{
	struct denial list[DENIALS_MAX + 1];
	size_t n = 0;

	if (denials) {
		n = denials->len / sizeof(list[0]);
		memcpy(list, denials->data, n * sizeof(list[0]));
	}
	for (size_t i = 0; i < n; i++)
		if (memcmp(list[i].signature, signature, sizeof(list[i].signature)) == 0) {
			list[i].count++;
			return str_new(list, n * sizeof(list[0]));
		}
	memcpy(list[n].signature, signature, sizeof(list[n].signature));
	list[n++].count = 1;
	if (n > DENIALS_MAX) {
		memmove(list, list + 1, DENIALS_MAX * sizeof(list[0]));
		n--;
	}
	return str_new(list, n * sizeof(list[0]));
}
