/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const answer_names[] = {
	[ANSWER_NONE] = "none",
	[ANSWER_ALLOW] = "allow",
	[ANSWER_DEFER] = "defer",
	[ANSWER_ASK] = "ask",
	[ANSWER_DENY] = "deny",
};

const char *answer_name(enum answer a)
{
	return answer_names[a];
}

enum answer answer_parse(struct bytes word)
{
	for (unsigned a = ANSWER_ALLOW; a <= ANSWER_DENY; a++)
		if (bytes_is(word, answer_names[a]))
			return (enum answer)a;
	return ANSWER_NONE;
}

struct policy *policy_ref(struct policy *p)
{
	p->refs++;
	return p;
}

void policy_free(struct policy *p)
{
	if (!p || (p->refs && p->refs--))
		return;
	for (size_t i = 0; i < p->n_sections; i++) {
		for (size_t k = 0; k < p->sections[i].n_matchers; k++)
			matcher_free(&p->sections[i].matchers[k]);
		explain_rules_free(p->sections[i].rules);
	}
	for (size_t i = 0; i < p->n_runs; i++) {
		free(p->runs[i].program.path);
		explain_rules_free(p->runs[i].rules);
	}
	free(p->sections);
	free(p->runs);
	free(p->name);
	free(p->text);
	free(p);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct bytes policy_line(const struct policy *p, uint32_t line)
{
	const char *s = p->text, *const end = p->text + p->len;
	const char *stop;

	for (; line > 1 && s < end; line--) {
		stop = memchr(s, '\n', (size_t)(end - s));
		s = stop ? stop + 1 : end;
	}
	stop = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
	if (!stop)
		stop = end;
	while (s < stop && is_space(*s))
		s++;
	while (stop > s && is_space(stop[-1]))
		stop--;
	return (struct bytes){s, (size_t)(stop - s)};
}

/* ---- what it says of a call ---- */

void verdict_add(struct verdict *v, bool covers, enum answer answer, uint32_t line)
{
	static const char narrow[] = "a program allowed more than its rule is for";

	if (answer == ANSWER_ALLOW && !covers)
		answer = ANSWER_DEFER;
	else
		covers = true;
	if (answer <= v->answer)
		return;
	v->answer = answer;
	v->line = line;
	v->note = covers ? NULL : narrow;
}

/* A person is asked, if nothing is tighter. */
static void verdict_doubt(struct verdict *v, const char *why)
{
	if (v->answer >= ANSWER_ASK)
		return;
	v->answer = ANSWER_ASK;
	v->line = 0;
	v->note = why;
}

static bool section_holds(const struct section *s, const struct subject *subject)
{
	for (size_t i = 0; i < s->n_matchers; i++)
		if (!matcher_holds(&s->matchers[i], subject))
			return false;
	return true;
}

/* The sets that are looked at: those of sections, then those of their `run` lines. */
struct looked {
	const struct section *sections[POLICY_SECTIONS];
	struct explain_rules *sets[POLICY_SECTIONS + POLICY_PROGRAMS];
	struct explain_match found[POLICY_SECTIONS + POLICY_PROGRAMS];
	const struct run *runs[POLICY_PROGRAMS];
	bool holds[POLICY_SECTIONS];
	size_t n, n_sections;
};

static void look_choose(const struct policy *p, const struct subject *subject, struct looked *l)
{
	l->n = 0;
	for (size_t i = 0; i < p->n_sections; i++) {
		l->holds[i] = section_holds(&p->sections[i], subject);
		if (!l->holds[i])
			continue;
		l->sections[l->n] = &p->sections[i];
		l->sets[l->n++] = p->sections[i].rules;
	}
	l->n_sections = l->n;
	for (size_t i = 0; i < p->n_runs; i++)
		if (l->holds[p->runs[i].section]) {
			l->runs[l->n - l->n_sections] = &p->runs[i];
			l->sets[l->n++] = p->runs[i].rules;
		}
}

/* The tightest of the sections that have one; without any, the file's. */
static void otherwise(const struct policy *p, const struct looked *l, struct verdict *v)
{
	const struct section *const first = &p->sections[0];

	for (size_t i = 1; i < p->n_sections; i++)
		if (l->holds[i] && p->sections[i].otherwise != ANSWER_NONE)
			verdict_add(v, true, p->sections[i].otherwise,
				p->sections[i].otherwise_line);
	if (v->answer == ANSWER_NONE && first->otherwise != ANSWER_NONE)
		verdict_add(v, true, first->otherwise, first->otherwise_line);
	if (v->answer == ANSWER_NONE)
		v->answer = ANSWER_DEFER;
}

int policy_judge(const struct policy *p, struct explainer *x, const struct subject *s,
	const struct explain_call *call, struct verdict *out)
{
	struct looked l;
	int err;

	out->answer = ANSWER_NONE;
	out->line = 0;
	out->note = NULL;
	out->n_runs = 0;
	look_choose(p, s, &l);
	err = explainer_match(x, call, l.sets, l.n, l.found);
	if (err == -EINVAL) {
		verdict_doubt(out, "its folders, mode or kind make no sense");
		return 0;
	}
	if (err < 0)
		return err;
	for (size_t i = 0; i < l.n_sections; i++) {
		const struct explain_match *const m = &l.found[i];
		const uint32_t before = l.sections[i]->first - 1;

		if (m->deny)
			verdict_add(out, true, ANSWER_DENY, before + m->deny);
		if (m->ask)
			verdict_add(out, true, ANSWER_ASK, before + m->ask);
		if (m->allow)
			verdict_add(out, true, ANSWER_ALLOW, before + m->allow);
	}
	for (size_t i = 0; i < l.n; i++)
		if (l.found[i].doubt)
			verdict_doubt(out, "it is too much to be compared with every rule");
	/* nothing that a program says would change a denial */
	for (size_t i = l.n_sections; i < l.n && out->answer != ANSWER_DENY; i++) {
		if (!l.found[i].ask && !l.found[i].allow)
			continue;
		out->runs[out->n_runs].run = l.runs[i - l.n_sections];
		out->runs[out->n_runs++].covers = l.found[i].allow != 0;
	}
	if (out->answer == ANSWER_NONE && out->n_runs == 0)
		otherwise(p, &l, out);
	return 0;
}
