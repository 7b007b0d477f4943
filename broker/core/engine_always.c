/* SPDX-License-Identifier: MIT */
/* Decisions that are to hold for longer than once: the rules that they leave behind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/engine_private.h"
#include "broker/core/pipeline.h"
#include "libapproval/limits.h"

static const char allow_word[] = "allow";

int request_suggest(struct engine *e, const struct request *q, struct suggestions *out)
{
	struct pipeline_call call;
	struct judged judged;

	out->n = 0;
	if (!e->judge || q->s.r.type != REQUEST_TYPE_TOOL_CALL || q->s.r.step == STEP_FLOOR)
		return 0;
	judge_request(e, q, &call);
	judge_prepare(e->judge, &call.call, &judged);
	return suggest(&judged.rule, out);
}

/* The same rule with another verdict. */
static struct str *with_verdict(const char *rule, enum verdict verdict)
{
	const char *const word = verdict_name(verdict);
	const size_t n = strlen(word), rest = strlen(rule + sizeof(allow_word) - 1);
	char *const text = malloc(n + rest + 1);
	struct str *s;

	if (!text)
		return NULL;
	memcpy(text, word, n);
	memcpy(text + n, rule + sizeof(allow_word) - 1, rest + 1);
	s = str_new(text, n + rest);
	free(text);
	return s;
}

static int list_add(struct always *a, struct str *text)
{
	if (!text)
		return -ENOMEM;
	a->items[a->n++] = text;
	return 0;
}

static int exact(struct judged *judged, const struct command_decision *d, struct always *a)
{
	struct suggestions list;
	int err = suggest(&judged->rule, &list);

	for (size_t i = 0; err == 0 && i < list.n; i++)
		if (list.items[i].kind == SUGGEST_EXACT)
			err = list_add(a, with_verdict(list.items[i].text, d->verdict));
	suggestions_free(&list);
	return err;
}

/* Whether these rules, by themselves, decide the call so. 1, 0, -ENOMEM. */
static int decide_it(const struct always *a, enum verdict verdict, const struct rule_call *call)
{
	const struct rule_origin origin = {.scope = RULE_USER, .uid = RULE_ANY_UID};
	struct ruleset *const set = ruleset_new();
	struct rule_problem problem;
	struct rule_match match;
	int err = set ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < a->n; i++)
		err = ruleset_add(set, &origin, i + 1, str_bytes(a->items[i]), &problem);
	if (err == 0)
		err = ruleset_match(set, verdict, call, &match);
	else if (err > 0)
		err = 0;
	ruleset_free(set);
	/* 2: it was too much to be compared, and nobody knows */
	return err > 1 ? 0 : err;
}

void always_free(struct always *a)
{
	for (size_t i = 0; i < a->n; i++)
		str_unref(a->items[i]);
	a->n = 0;
}

static int find(struct engine *e, const struct request *q, const struct command_decision *d,
	struct always *a, const char **why, enum step *step)
{
	struct pipeline_call call;
	struct pipeline_result r;
	struct judged judged;
	int err;

	judge_request(e, q, &call);
	if (d->verdict == VERDICT_ALLOW) {
		TRY(pipeline_recheck(&call, &r));
		if (q->s.r.step == STEP_FLOOR || r.step == STEP_FLOOR) {
			*why = "what is on the floor is allowed once only";
			*step = STEP_FLOOR;
			return 0;
		}
	}
	judge_prepare(e->judge, &call.call, &judged);
	err = d->rule.data ? list_add(a, str_new(d->rule.data, d->rule.len))
			   : exact(&judged, d, a);
	if (err < 0)
		return err;
	if (a->n == 0) {
		*why = "no rule can stand for this very call";
		return 0;
	}
	err = decide_it(a, d->verdict, &judged.rule);
	if (err == 0)
		*why = d->rule.data ? "the rule is none that decides this call so"
				    : "no rule can stand for this very call";
	return err < 0 ? err : 0;
}

/* Rules that earlier decisions of this step leave behind: they are not in the set yet. */
static size_t coming(const struct engine *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->out.n; i++)
		n += e->out.items[i].type == EFFECT_RULE;
	return n;
}

static bool has_room(const struct engine *e)
{
	const size_t n = ruleset_count(e->judge->rules) + SUGGEST_MAX;

	/* it is counted only where it may matter */
	return n + LIMIT_DECISIONS * SUGGEST_MAX <= LIMIT_RULES ||
	       n + coming(e) <= LIMIT_RULES;
}

int always_find(struct engine *e, const struct request *q, const struct command_decision *d,
	struct always *a, struct decided *out)
{
	const char *why = NULL;
	enum step step = STEP_NONE;
	int err = 0;

	a->n = 0;
	if (!e->judge || q->s.r.type != REQUEST_TYPE_TOOL_CALL)
		why = "only what is said of a tool call can hold for longer than once";
	else if (d->updated_input.data)
		why = "an edited input is allowed once only";
	else if (d->scope == SCOPE_PROJECT && !request_session(q)->s.r.workspace)
		why = "the session has no project";
	else if (!has_room(e))
		why = "there are too many rules";
	else
		err = find(e, q, d, a, &why, &step);
	if (why) {
		out->result = step == STEP_NONE ? RESULT_INVALID : RESULT_REFUSED;
		out->step = step;
		out->message = why;
	}
	if (why || err < 0)
		always_free(a);
	return err;
}

int always_emit(struct engine *e, const struct request *q, const struct command_decision *d,
	struct always *a)
{
	const struct session *const s = request_session(q);

	for (size_t i = 0; i < a->n; i++) {
		struct effect *x = effect_add(e, EFFECT_RULE);

		if (!x)
			return -ENOMEM;
		x->rule.text = a->items[i];
		x->rule.scope = d->scope;
		x->rule.uid = s->s.r.uid;
		x->rule.request = q->s.r.id;
		if (d->scope == SCOPE_SESSION)
			x->rule.owner = s->s.r.id;
		if (d->scope == SCOPE_TURN)
			x->rule.owner = q->s.turn->s.r.id;
		if (d->scope == SCOPE_PROJECT)
			x->rule.project = s->s.r.workspace;
		TRY(effect_keep(e, x->rule.text));
		TRY(effect_keep(e, x->rule.project));
	}
	return 0;
}
