/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/review.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/json.h"

int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int reviewer_init(struct reviewer *r, const sigset_t *mask)
{
	programs_init(&r->programs, mask);
	return explainer_new(&r->explainer);
}

void reviewer_fini(struct reviewer *r)
{
	programs_fini(&r->programs);
	while (r->reviews)
		review_end(r->reviews);
	explainer_free(r->explainer);
	policy_free(r->policy);
	summary_free(&r->summary);
}

void review_end(struct review *v)
{
	struct review **at = &v->reviewer->reviews;

	programs_cancel(&v->reviewer->programs, v);
	while (*at && *at != v)
		at = &(*at)->next;
	if (*at) {
		*at = v->next;
		v->reviewer->n--;
	}
	policy_free(v->policy);
	approval_value_free(v->item);
	text_free(&v->reason);
	free(v);
}

void review_withdraw(struct reviewer *r, const char *request)
{
	struct review *next;

	for (struct review *v = r->reviews; v; v = next) {
		next = v->next;
		/* one that is answered ends with the reply */
		if (!v->answered && !strcmp(approval_value_text(v->item, "request"), request))
			review_end(v);
	}
}

void review_why(struct text *out, const struct review *v)
{
	const struct bytes line = policy_line(v->policy, v->verdict.line);
	const char *name = strrchr(v->policy->name, '/');

	if (v->wrong) {
		text_add(out, v->wrong);
		return;
	}
	if (v->verdict.line) {
		name = name ? name + 1 : v->policy->name;
		text_printf(out, "%s:%u: ", name, v->verdict.line);
		text_addn(out, line.data, line.len < LIMIT_NAME ? line.len : LIMIT_NAME);
	} else {
		text_add(out, "no rule speaks");
	}
	if (v->verdict.note)
		text_printf(out, "; %s", v->verdict.note);
	if (v->reason.len)
		text_printf(out, "; %s", text_string(&v->reason));
}

/* ---- telling ---- */

static void tell_text(struct text *t, const struct review *v, const char *why, const char *note)
{
	const char *const request = approval_value_text(v->item, "request");

	text_printf(t, "%-5s ", answer_name(v->verdict.answer));
	if (*request) {
		text_terminal(t, request, strlen(request), 0);
		text_add(t, " ");
	}
	call_show(t, v->item);
	text_add(t, "  (");
	text_terminal(t, why, strlen(why), 0);
	text_add(t, ")");
	if (note) {
		text_add(t, "  ");
		text_terminal(t, note, strlen(note), 0);
	}
	text_add(t, "\n");
}

static void add_shown(struct json_object *map, const char *key, const char *s, int *r)
{
	struct text t = {0};

	text_utf8(&t, s, strlen(s));
	if (t.failed)
		*r = -ENOMEM;
	json_add_text(map, key, text_string(&t), r);
	text_free(&t);
}

static int tell_json(const struct review *v, const char *why, const char *note)
{
	struct json_object *const map = json_object_new_object();
	static const char *const keys[] = {"request", "agent", "title", "project", "tool"};
	int r = map ? 0 : -ENOMEM;

	json_add_text(map, "event", v->reviewer->dry_run ? "would" : "answer", &r);
	json_add_text(map, "verdict", answer_name(v->verdict.answer), &r);
	json_add(map, "line", v->verdict.line ? json_object_new_int64(v->verdict.line) : NULL,
		&r);
	add_shown(map, "why", why, &r);
	json_add_text(map, "note", note, &r);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_add_value(map, keys[i], approval_value_get(v->item, keys[i]), &r);
	if (!r)
		r = json_write(&v->reviewer->out, map);
	json_object_put(map);
	return r;
}

int review_tell(struct review *v, const char *note)
{
	struct reviewer *const r = v->reviewer;
	struct text why = {0}, line = {0};
	int err = 0;

	if (r->quiet)
		return 0;
	review_why(&why, v);
	if (why.failed)
		err = -ENOMEM;
	else if (r->json)
		err = tell_json(v, text_string(&why), note);
	else
		tell_text(&line, v, text_string(&why), note);
	if (!err && !r->json)
		err = output_text(&r->out, &line);
	text_free(&line);
	text_free(&why);
	return err;
}

/* ---- judging ---- */

/* The broker takes an allow for a defer there: it is told so. */
static void respect_broker(struct review *v)
{
	if (v->verdict.answer != ANSWER_ALLOW || !v->reviewer->live)
		return;
	if (approval_value_get(v->item, "floor"))
		v->verdict.note = "it is on the floor, a person is asked";
	else if (approval_value_type(approval_value_get(v->item, "rule")) != APPROVAL_NIL)
		v->verdict.note = "a rule of the broker asks a person";
	else
		return;
	v->verdict.answer = ANSWER_DEFER;
}

static void review_done(struct review *v)
{
	respect_broker(v);
	if (!v->reviewer->done(v->reviewer->arg, v))
		review_end(v);
}

/* NULL reason or "": nothing to say. The strongest answer's is kept. */
static void answer_take(
	struct review *v, bool covers, enum answer answer, uint32_t line, const char *reason)
{
	const enum answer before = v->verdict.answer;

	verdict_add(&v->verdict, covers, answer, line);
	if (v->verdict.answer == before)
		return;
	text_reset(&v->reason);
	text_add(&v->reason, reason);
}

static void program_answered(void *arg, unsigned id, enum answer answer, const char *reason)
{
	struct review *const v = arg;

	v->asked--;
	answer_take(v, v->verdict.runs[id].covers, answer,
		v->verdict.runs[id].run->program.line, reason);
	if (v->verdict.answer == ANSWER_DENY) {
		programs_cancel(&v->reviewer->programs, v);
		v->asked = 0;
	}
	if (!v->asked)
		review_done(v);
}

/* What a program reads: the rule that it is asked for, and the request. */
static int program_input(const struct review *v, const struct run *run, struct text *out)
{
	const struct bytes line = policy_line(v->policy, run->program.line);
	struct json_object *const map = json_object_new_object();
	struct text rule = {0};
	int r = map ? 0 : -ENOMEM;

	text_utf8(&rule, line.data, line.len);
	json_add_text(map, "rule", text_string(&rule), &r);
	json_add_value(map, "request", v->item, &r);
	if (!r) {
		text_add(out, json_object_to_json_string_ext(map,
				      JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
		text_add(out, "\n");
	}
	if (rule.failed || out->failed)
		r = -ENOMEM;
	text_free(&rule);
	json_object_put(map);
	return r;
}

static void program_ask(struct review *v, unsigned id)
{
	const struct run *const run = v->verdict.runs[id].run;
	const char *why = "out of memory";
	struct text input = {0};

	if (program_input(v, run, &input) == 0 &&
		program_start(&v->reviewer->programs, &run->program,
			(struct bytes){text_string(&input), input.len}, clock_ms(), id,
			program_answered, v, &why))
		v->asked++;
	else
		answer_take(v, true, ANSWER_DEFER, run->program.line, why);
	text_free(&input);
}

static int judge(struct review *v, const struct tm *tm)
{
	struct call call;
	int err = 0;

	v->wrong = call_read(v->item, v->reviewer->live, tm, &call);
	if (v->wrong)
		v->verdict.answer = ANSWER_ASK;
	else
		err = policy_judge(v->policy, v->reviewer->explainer, &call.subject, &call.call,
			&v->verdict);
	call_release(&call);
	return err;
}

int review_begin(struct reviewer *r, struct approval_value *item, const struct tm *tm)
{
	struct review *const v = r->n < REVIEWS_MAX ? calloc(1, sizeof(*v)) : NULL;
	int err;

	if (!v) {
		approval_value_free(item);
		return -ENOMEM;
	}
	v->reviewer = r;
	v->policy = policy_ref(r->policy);
	v->item = item;
	v->next = r->reviews;
	r->reviews = v;
	r->n++;
	err = judge(v, tm);
	if (err) {
		review_end(v);
		return err;
	}
	for (unsigned i = 0; i < v->verdict.n_runs; i++)
		program_ask(v, i);
	if (!v->asked)
		review_done(v);
	return 0;
}
