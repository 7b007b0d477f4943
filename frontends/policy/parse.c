/* SPDX-License-Identifier: MIT */
/* Reads the text of a policy. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontends/common/duration.h"
#include "frontends/policy/policy.h"
#include "libapproval/limits.h"

struct parser {
	struct policy *p;
	struct policy_problem *problem;
	const char *line; /* the present one */
	size_t len;
	uint32_t number;
	/* of the present section: its lines, those that are no rules empty */
	struct text rules;
	int64_t timeout_ms;
};

/* 1 */
static int wrong(const struct parser *r, size_t at, const char *text)
{
	*r->problem = (struct policy_problem){r->number, (uint32_t)at + 1, text};
	return 1;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_space(const struct parser *r, size_t at)
{
	while (at < r->len && is_space(r->line[at]))
		at++;
	return at;
}

static size_t skip_word(const struct parser *r, size_t at)
{
	while (at < r->len && !is_space(r->line[at]))
		at++;
	return at;
}

/* Whether nothing follows but a comment. */
static bool at_end(const struct parser *r, size_t at)
{
	at = skip_space(r, at);
	return at == r->len || r->line[at] == '#';
}

/* ---- sections ---- */

static int section_add(struct parser *r)
{
	struct policy *const p = r->p;
	struct section *grown;

	if (p->n_sections == POLICY_SECTIONS)
		return wrong(r, 0, "there are too many sections");
	grown = reallocarray(p->sections, p->n_sections + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->sections = grown;
	grown[p->n_sections] = (struct section){.otherwise = ANSWER_NONE};
	if (explain_rules_new(&grown[p->n_sections].rules) < 0)
		return -ENOMEM;
	p->n_sections++;
	text_reset(&r->rules);
	grown[p->n_sections - 1].first = p->n_sections == 1 ? 1 : r->number + 1;
	return 0;
}

static struct section *section_now(const struct parser *r)
{
	return &r->p->sections[r->p->n_sections - 1];
}

/* The rules of the present section are complete. */
static int section_end(struct parser *r)
{
	struct explain_problem e;
	const struct bytes text = {text_string(&r->rules), r->rules.len};
	int err =
		r->rules.failed ? -ENOMEM : explain_rules_load(section_now(r)->rules, text, &e);

	if (err == 1)
		*r->problem = (struct policy_problem){
			e.line ? section_now(r)->first + e.line - 1 : 0, e.column, e.text};
	return err;
}

/* Where a word of a section's head ends: at a space or the bracket, outside of quotes. */
static size_t matcher_end(const struct parser *r, size_t at)
{
	bool quoted = false;

	for (; at < r->len; at++) {
		const char c = r->line[at];

		if (quoted && c == '\\' && at + 1 < r->len && r->line[at + 1] == '"')
			at++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (is_space(c) || c == ']'))
			break;
	}
	return at;
}

static int section_head(struct parser *r, size_t at)
{
	int err = section_end(r);
	struct section *s;

	if (err == 0)
		err = section_add(r);
	if (err)
		return err;
	s = section_now(r);
	for (at = skip_space(r, at + 1); at < r->len && r->line[at] != ']';
		at = skip_space(r, at)) {
		const size_t end = matcher_end(r, at);
		size_t column = 1;
		const char *why;

		if (s->n_matchers == POLICY_MATCHERS)
			return wrong(r, at, "there are too many words");
		why = matcher_parse((struct bytes){r->line + at, end - at},
			&s->matchers[s->n_matchers], &column);
		if (why)
			return wrong(r, at + column - 1, why);
		s->n_matchers++;
		at = end;
	}
	if (at == r->len)
		return wrong(r, at, "the bracket is not closed");
	if (!at_end(r, at + 1))
		return wrong(r, at + 1, "there is text behind the section");
	return 0;
}

/* ---- lines of our own ---- */

static int line_default(struct parser *r, size_t at)
{
	struct section *const s = section_now(r);
	const size_t word = skip_space(r, at), end = skip_word(r, word);
	const enum answer a = answer_parse((struct bytes){r->line + word, end - word});

	if (a == ANSWER_NONE)
		return wrong(r, word, "allow, deny, ask or defer is expected");
	if (!at_end(r, end))
		return wrong(r, end, "there is text behind the default");
	if (s->otherwise != ANSWER_NONE)
		return wrong(r, 0, "the section has a default already");
	s->otherwise = a;
	s->otherwise_line = r->number;
	return 0;
}

static int line_timeout(struct parser *r, size_t at)
{
	const size_t word = skip_space(r, at), end = skip_word(r, word);
	char text[32];

	if (end - word >= sizeof(text))
		return wrong(r, word, "no duration");
	memcpy(text, r->line + word, end - word);
	text[end - word] = '\0';
	if (duration_parse(text, &r->timeout_ms) < 0)
		return wrong(r, word, "no duration; write 500ms or 2s");
	if (r->timeout_ms < 1 || r->timeout_ms > POLICY_PROGRAM_MS_MAX)
		return wrong(r, word, "a program has from 1ms to 1m");
	if (!at_end(r, end))
		return wrong(r, end, "there is text behind the time");
	return 0;
}

/* The path of a `run` line, in quotation marks or not; *at moves behind it. */
static int path_take(struct parser *r, size_t *at, char **out)
{
	const size_t start = *at;
	const bool quoted = start < r->len && r->line[start] == '"';
	size_t i = start + quoted, n = 0;
	char path[POLICY_WORD + 1];

	for (; i < r->len && (quoted ? r->line[i] != '"' : !is_space(r->line[i])); i++) {
		if (quoted && r->line[i] == '\\' && i + 1 < r->len)
			i++;
		if (n == POLICY_WORD)
			return wrong(r, start, "the path is too long");
		path[n++] = r->line[i];
	}
	path[n] = '\0';
	if (quoted && i == r->len)
		return wrong(r, start, "a quotation mark is not closed");
	if (path[0] != '/')
		return wrong(r, start, "the program's absolute path is expected");
	*at = i + quoted;
	*out = strdup(path);
	return *out ? 0 : -ENOMEM;
}

/* The rule of a `run` line twice; what is wrong is said of where it stands. */
static int run_rules(struct parser *r, struct run *run, size_t at)
{
	static const char ask[] = "ask ", allow[] = "\nallow ";
	struct explain_problem e;
	struct text t = {0};
	int err;

	text_add(&t, ask);
	text_addn(&t, r->line + at, r->len - at);
	text_add(&t, allow);
	text_addn(&t, r->line + at, r->len - at);
	err = t.failed ? -ENOMEM
		       : explain_rules_load(
				 run->rules, (struct bytes){text_string(&t), t.len}, &e);
	text_free(&t);
	if (err == 1)
		return wrong(r, at + (e.column > sizeof(ask) - 1 ? e.column - sizeof(ask) : 0),
			e.text);
	return err;
}

static int line_run(struct parser *r, size_t at)
{
	struct policy *const p = r->p;
	struct run *run, *grown;
	int err;

	if (p->n_runs == POLICY_PROGRAMS)
		return wrong(r, 0, "there are too many programs");
	grown = reallocarray(p->runs, p->n_runs + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->runs = grown;
	run = &grown[p->n_runs];
	*run = (struct run){.section = p->n_sections - 1,
		.program = {.line = r->number, .timeout_ms = r->timeout_ms}};
	if (explain_rules_new(&run->rules) < 0)
		return -ENOMEM;
	p->n_runs++;
	at = skip_space(r, at);
	err = path_take(r, &at, &run->program.path);
	if (err == 0) {
		at = skip_space(r, at);
		if (at_end(r, at))
			return wrong(r, at, "the name of a tool is missing");
		err = run_rules(r, run, at);
	}
	return err;
}

/* ---- all lines ---- */

static int line_parse(struct parser *r)
{
	static const struct {
		const char *word;
		int (*parse)(struct parser *r, size_t at);
	} own[] = {{"default", line_default}, {"timeout", line_timeout}, {"run", line_run}};
	const size_t at = skip_space(r, 0), end = skip_word(r, at);
	const struct bytes word = {r->line + at, end - at};

	if (at_end(r, at)) {
		text_add(&r->rules, "\n");
		return 0;
	}
	if (r->line[at] == '[')
		return section_head(r, at);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (bytes_is(word, own[i].word)) {
			text_add(&r->rules, "\n");
			return own[i].parse(r, end);
		}
	if (!bytes_is(word, "allow") && !bytes_is(word, "ask") && !bytes_is(word, "deny"))
		return wrong(r, at,
			"a line begins with allow, ask, deny, run, default, timeout or [");
	text_addn(&r->rules, r->line, r->len);
	text_add(&r->rules, "\n");
	r->p->n_rules++;
	return 0;
}

static int lines_parse(struct parser *r)
{
	const char *s = r->p->text, *const end = s + r->p->len;
	int err = section_add(r);

	while (err == 0 && s < end) {
		const char *const stop = memchr(s, '\n', (size_t)(end - s));

		r->number++;
		r->line = s;
		r->len = (size_t)((stop ? stop : end) - s);
		if (r->len > LIMIT_RULE)
			return wrong(r, 0, "the line is too long");
		if (memchr(s, '\0', r->len))
			return wrong(r, 0, "there is a NUL in the line");
		err = line_parse(r);
		s = stop ? stop + 1 : end;
	}
	return err ? err : section_end(r);
}

int policy_parse(const char *name, struct bytes text, struct policy **out,
	struct policy_problem *problem)
{
	struct parser r = {.problem = problem, .timeout_ms = POLICY_PROGRAM_MS};
	int err = -ENOMEM;

	if (text.len > LIMIT_RULE_FILE) {
		*problem = (struct policy_problem){0, 0, "the file is too long"};
		return 1;
	}
	r.p = calloc(1, sizeof(*r.p));
	if (!r.p)
		return -ENOMEM;
	r.p->name = strdup(name);
	r.p->text = malloc(text.len + 1);
	if (r.p->name && r.p->text) {
		if (text.len)
			memcpy(r.p->text, text.data, text.len);
		r.p->len = text.len;
		err = lines_parse(&r);
	}
	text_free(&r.rules);
	if (err)
		policy_free(r.p);
	else
		*out = r.p;
	return err;
}
