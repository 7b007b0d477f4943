/* SPDX-License-Identifier: MIT */
#include "broker/core/pipeline.h"

#include <string.h>

#include "broker/core/turn.h"

typedef struct pipeline_result step_fn(const struct pipeline_call *call);

static const struct pipeline_result pass = {PIPELINE_PASS, STEP_NONE, SOURCE_NONE, {NULL, 0}};

static bool is_tool_call(const struct pipeline_call *c)
{
	return c->request->s.r.type == REQUEST_TYPE_TOOL_CALL;
}

static struct pipeline_result ended(const struct turn *t)
{
	return (struct pipeline_result){PIPELINE_DENY, STEP_SUSPENDED,
		t->s.r.ended_by == SOURCE_NONE ? SOURCE_ABORT : t->s.r.ended_by,
		str_bytes(t->s.r.reason)};
}

/*
 * 1: a suspended turn releases nothing, an ended one denies, and so does that of
 * an ancestor that a person or a ceiling ended, which stays the present one.
 */
static struct pipeline_result step_suspended(const struct pipeline_call *c)
{
	const struct turn *t = c->turn;

	if (turn_state_over(t->s.r.state))
		return ended(t);
	for (const struct session *p = c->session->s.parent; p; p = p->s.parent)
		if (p->s.turn && p->s.turn->s.r.state == TURN_ENDED)
			return ended(p->s.turn);
	if (t->s.r.state == TURN_SUSPENDED)
		return (struct pipeline_result){
			PIPELINE_HOLD, STEP_SUSPENDED, SOURCE_NONE, {NULL, 0}};
	return pass;
}

/* 2: plan mode changes nothing */
static struct pipeline_result step_plan(const struct pipeline_call *c)
{
	if (is_tool_call(c) && session_mode(c->session) == MODE_PLAN &&
		c->request->s.r.mutating)
		return (struct pipeline_result){
			PIPELINE_DENY, STEP_PLAN, SOURCE_MODE, {NULL, 0}};
	return pass;
}

/* 4: a model that tries what was denied again and again */
static struct pipeline_result step_repeat(const struct pipeline_call *c)
{
	if (is_tool_call(c) && denials_count(c->turn->s.denials, c->request->s.signature) >
				       c->config->repeat_limit)
		return (struct pipeline_result){
			PIPELINE_DENY, STEP_REPEAT, SOURCE_REPEAT, {NULL, 0}};
	return pass;
}

/* 5: what always asks, here by the paths that the edge found protected */
static struct pipeline_result step_floor(const struct pipeline_call *c)
{
	if (is_tool_call(c) && c->request->s.facts & FACT_PROTECTED)
		return (struct pipeline_result){
			PIPELINE_ASK, STEP_FLOOR, SOURCE_FLOOR, {NULL, 0}};
	return pass;
}

/* 8: harmless tools, and what only reads inside the workspace */
static struct pipeline_result step_mode(const struct pipeline_call *c)
{
	const struct request *q = c->request;
	bool reads = !q->s.r.mutating &&
		     (q->s.r.kind == KIND_READ || q->s.r.kind == KIND_SEARCH) &&
		     q->s.facts & FACT_INSIDE && !(q->s.facts & FACT_UNRESOLVED);

	if (is_tool_call(c) && (q->s.facts & FACT_HARMLESS || reads))
		return (struct pipeline_result){
			PIPELINE_ALLOW, STEP_MODE, SOURCE_MODE, {NULL, 0}};
	return pass;
}

/* Step 3, 6 and 7 are the rules'. A step may be in the list of those that an edit passes again.
 */
static const struct {
	enum step step;
	step_fn *run;
	bool recheck;
} steps[] = {
	{STEP_SUSPENDED, step_suspended, false},
	{STEP_PLAN, step_plan, true},
	{STEP_REPEAT, step_repeat, false},
	{STEP_FLOOR, step_floor, true},
	{STEP_MODE, step_mode, false},
};

bool pipeline_bars(const struct session *s, const struct turn *t)
{
	struct pipeline_call call = {.session = s, .turn = t};

	return step_suspended(&call).answer != PIPELINE_PASS;
}

static struct pipeline_result run(const struct pipeline_call *call, bool recheck)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct pipeline_result r;

		if (recheck && !steps[i].recheck)
			continue;
		r = steps[i].run(call);
		if (r.answer != PIPELINE_PASS)
			return r;
	}
	return pass;
}

struct pipeline_result pipeline_run(const struct pipeline_call *call)
{
	return run(call, false);
}

struct pipeline_result pipeline_recheck(const struct pipeline_call *call)
{
	return run(call, true);
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
