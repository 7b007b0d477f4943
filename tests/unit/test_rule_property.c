/* SPDX-License-Identifier: MIT */
/*
 * Commands and rules made of words that are known here, and then written down in many
 * ways, so that what the reader and the rules say can be compared with a slow oracle
 * that has read neither.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rule_fixture.h"

#define N(a)	     (sizeof(a) / sizeof(*(a)))
#define MAX_WORDS    5
#define MAX_RULES    4
#define MAX_COMMANDS 4
#define ROUNDS	     60000

struct words {
	size_t n;
	const char *w[MAX_WORDS];
};

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static const char *pick(uint64_t *seed, const char *const *list, size_t n)
{
	return list[next(seed) % n];
}

/* No name here is known for anything, so nothing but its words counts. */
static const char *const names[] = {"foo", "bar", "./foo", "/opt/x/foo", "foo bar", "fo"};
static const char *const operands[] = {"a", "b", "ab", "a b", "", "a;b", "$x", "a*b", "#",
	"x=y", "it's", "\"", "\\", "-r", "-f", "-rf", "-fr", "--all", "--", "a/../b", "a\nb",
	"{a,b}"};
/* in patterns * is a wildcard, and + stands for a literal star */
static const char *const pattern_names[] = {
	"foo", "bar", "./foo", "foo", "fo*", "*", "*/foo", "foo bar"};
static const char *const pattern_operands[] = {"a", "b", "ab", "a b", "", "a;b", "$x", "a+b",
	"*", "a*", "*b", "a*b", "-r", "-f", "-rf", "-r*", "--all", "--a*", "--", "*", "it's",
	"{a,b}"};

/* ---- the oracle ---- */

#define JOINT '\x1f'

static bool slow(const char *p, const char *t)
{
	if (*p == 0)
		return *t == 0;
	if (*p == '*')
		return slow(p + 1, t) || (*t && slow(p, t + 1));
	return *t && (*p == '+' ? '*' : *p) == *t && slow(p + 1, t + 1);
}

static void join(char *out, const struct words *w, const char *name)
{
	char *to = stpcpy(out, name);

	for (size_t i = 1; i < w->n; i++) {
		*to++ = JOINT;
		to = stpcpy(to, w->w[i]);
	}
}

/* All words in their order. */
static bool words_match(const struct words *p, const struct words *c, const char *name)
{
	char pattern[128], text[128];

	join(pattern, p, p->w[0]);
	join(text, c, name);
	return slow(pattern, text);
}

/* The same; a last word that is a wildcard may be missing. */
static bool whole_matches(const struct words *p, const struct words *c, const char *name)
{
	char pattern[128], text[128];
	size_t n;

	if (words_match(p, c, name))
		return true;
	join(pattern, p, p->w[0]);
	join(text, c, name);
	n = strlen(pattern);
	if (p->n < 2 || strcmp(p->w[p->n - 1], "*") != 0)
		return false;
	pattern[n - 2] = 0;
	return slow(pattern, text);
}

static bool is_option(const char *w)
{
	return w[0] == '-' && w[1] != 0;
}

/* Whether the command has the option, or the short ones of a cluster, before its `--`. */
static bool has_option(const struct words *c, const char *option)
{
	if (strchr(option, '*')) {
		for (size_t i = 1; i < c->n && strcmp(c->w[i], "--") != 0; i++)
			if (is_option(c->w[i]) && slow(option, c->w[i]))
				return true;
		return false;
	}
	if (option[1] == '-') {
		for (size_t i = 1; i < c->n && strcmp(c->w[i], "--") != 0; i++)
			if (strcmp(c->w[i], option) == 0)
				return true;
		return false;
	}
	for (const char *o = option + 1; *o; o++) {
		bool found = false;

		for (size_t i = 1; i < c->n && strcmp(c->w[i], "--") != 0; i++)
			found |= is_option(c->w[i]) && c->w[i][1] != '-' &&
				 strchr(c->w[i] + 1, *o);
		if (!found)
			return false;
	}
	return true;
}

/* What a path is to a person: the one case here that is not written as it is compared. */
static const char *normal(const char *w)
{
	return strcmp(w, "a/../b") == 0 ? "b" : w;
}

static struct words without_options(const struct words *c, bool *open)
{
	struct words out = {1, {c->w[0]}};
	bool ended = false;

	for (size_t i = 1; i < c->n; i++) {
		if (!ended && strcmp(c->w[i], "--") == 0) {
			ended = true;
			continue;
		}
		if (ended || !is_option(c->w[i])) {
			out.w[out.n++] = normal(c->w[i]);
			continue;
		}
		/* a wildcard at the end of an option goes on over what follows */
		if (open && i + 1 == c->n && c->w[i][strlen(c->w[i]) - 1] == '*')
			*open = true;
	}
	return out;
}

static bool set_matches(const struct words *p, const struct words *c, const char *name)
{
	bool open = false, ended = false;
	struct words rest = without_options(p, &open);
	const struct words of_command = without_options(c, NULL);

	for (size_t i = 1; i < p->n; i++) {
		ended |= strcmp(p->w[i], "--") == 0;
		if (!ended && is_option(p->w[i]) && !has_option(c, p->w[i]))
			return false;
	}
	if (p->n > 1 && strcmp(p->w[p->n - 1], "*") == 0) {
		/* what was open before the options were taken out is now, too */
		rest.n--;
		open = true;
	}
	if (!open)
		return words_match(&rest, &of_command, name);
	if (rest.n < MAX_WORDS)
		rest.w[rest.n++] = "*";
	return whole_matches(&rest, &of_command, name);
}

static const char *base(const char *name)
{
	const char *const slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool oracle_tightens(const struct words *p, const struct words *c)
{
	return whole_matches(p, c, c->w[0]) || whole_matches(p, c, base(c->w[0])) ||
	       set_matches(p, c, c->w[0]) || set_matches(p, c, base(c->w[0]));
}

/* ---- writing down ---- */

struct out {
	char p[2048];
	size_t n;
};

static void put(struct out *o, const char *text)
{
	o->n += (size_t)sprintf(o->p + o->n, "%s", text);
}

static void put_char(struct out *o, char c)
{
	o->p[o->n++] = c;
	o->p[o->n] = 0;
}

/* A word of a command, quoted in one of many ways that mean the same. */
static void put_word(struct out *o, const char *w, uint64_t *seed)
{
	if (*w == 0)
		put(o, next(seed) & 1 ? "''" : "\"\"");
	for (; *w; w++) {
		const unsigned how = (unsigned)(next(seed) % 4);
		const bool plain = strchr("abforxlyt/.-", *w) != NULL;

		if (plain && how < 2) {
			put_char(o, *w);
		} else if (*w != '\'' && how != 3) {
			put_char(o, '\'');
			put_char(o, *w);
			put_char(o, '\'');
		} else {
			put_char(o, '"');
			if (strchr("$`\"\\", *w))
				put_char(o, '\\');
			put_char(o, *w);
			put_char(o, '"');
		}
	}
}

static void put_command(struct out *o, const struct words *c, uint64_t *seed)
{
	for (size_t i = 0; i < c->n; i++) {
		if (i > 0)
			put(o, next(seed) % 4 ? " " : " \t\\\n ");
		put_word(o, c->w[i], seed);
	}
}

/* One word of a pattern, always in quotes where it is not plain; wildcards as they are. */
static void put_pattern_word(struct out *o, const char *w, uint64_t *seed)
{
	if (*w == 0)
		put(o, "''");
	for (; *w; w++) {
		if (*w == '*') {
			put(o, next(seed) & 1 ? "*" : "\"*\"");
		} else if (*w == '+') {
			put(o, next(seed) & 1 ? "'\\*'" : "\"\\*\"");
		} else if (*w == '\'') {
			put(o, "\\'");
		} else if (strchr(" ;$#{},\"\\", *w)) {
			put_char(o, '\'');
			put_char(o, *w);
			put_char(o, '\'');
		} else {
			put_char(o, *w);
		}
	}
}

static void put_rule(struct out *o, const char *verdict, const struct words *p, uint64_t *seed)
{
	size_t n = p->n;

	put(o, verdict);
	put(o, " Bash(");
	if (n > 1 && strcmp(p->w[n - 1], "*") == 0 && next(seed) & 1)
		n--;
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			put(o, next(seed) % 4 ? " " : " \t ");
		put_pattern_word(o, p->w[i], seed);
	}
	put(o, n < p->n ? ":*)\n" : ")\n");
}

static struct words random_command(uint64_t *seed)
{
	struct words c = {1 + next(seed) % MAX_WORDS, {0}};

	c.w[0] = pick(seed, names, N(names));
	for (size_t i = 1; i < c.n; i++)
		c.w[i] = pick(seed, operands, N(operands));
	return c;
}

static struct words random_pattern(uint64_t *seed)
{
	struct words p = {1 + next(seed) % (MAX_WORDS - 1), {0}};

	p.w[0] = pick(seed, pattern_names, N(pattern_names));
	for (size_t i = 1; i < p.n; i++)
		p.w[i] = pick(seed, pattern_operands, N(pattern_operands));
	/* alone it would be the whole tool */
	if (p.n == 1 && strcmp(p.w[0], "*") == 0)
		p.w[0] = "foo";
	return p;
}

/* A pattern that has a chance: the command with some words replaced. */
static struct words near_pattern(const struct words *c, uint64_t *seed)
{
	struct words p = *c;

	for (size_t i = 0; i < p.n; i++) {
		if (strchr(p.w[i], '*'))
			p.w[i] = "a+b";
		if (strpbrk(p.w[i], "\n\"\\#") || (i > 0 && next(seed) % 3 == 0))
			p.w[i] = "*";
	}
	if (p.n > 1 && next(seed) % 3 == 0)
		p.n--;
	if (p.n == 1 && strcmp(p.w[0], "*") == 0)
		p.w[0] = "foo";
	return p;
}

struct world {
	struct words commands[MAX_COMMANDS], rules[MAX_RULES];
	size_t n_commands, n_rules;
	struct out text, lines;
	bool barred; /* something in the text that no rule for its words covers */
};

static void random_world(struct world *w, const char *verdict, bool bars, uint64_t *seed)
{
	static const char *const joints[] = {"; ", " && ", " || ", " | ", "\n", " & ", " |& "};
	static const char *const barriers[] = {" > f", " \"$Y\"", " $(foo)", " >> g", " `foo`"};
	static const char *const wrappers[] = {
		"timeout 5 ", "nohup ", "nice -n 3 ", "command ", "! ", "time "};

	w->text.n = w->lines.n = 0;
	w->barred = false;
	w->n_commands = 1 + next(seed) % MAX_COMMANDS;
	w->n_rules = 1 + next(seed) % MAX_RULES;
	for (size_t i = 0; i < w->n_commands; i++) {
		const unsigned how = (unsigned)(next(seed) % 12);
		const char *joint = i > 0 ? pick(seed, joints, N(joints)) : "";

		w->commands[i] = random_command(seed);
		put(&w->text, joint);
		if (how == 0)
			put(&w->text, "(");
		if (how == 1 && joint[0] && joint[1] == '|' && joint[2] != '|')
			put(&w->text, "nohup "); /* no `!` or `time` within a pipeline */
		else if (how == 1)
			put(&w->text, pick(seed, wrappers, N(wrappers)));
		if (how == 2)
			put(&w->text, "cd src; ");
		put_command(&w->text, &w->commands[i], seed);
		if (how == 0)
			put(&w->text, ")");
		if (how == 3)
			put(&w->text, " >/dev/null 2>&1");
		if (how == 4 && bars) {
			put(&w->text, pick(seed, barriers, N(barriers)));
			w->barred = true;
		}
	}
	for (size_t i = 0; i < w->n_rules; i++) {
		w->rules[i] =
			next(seed) % 2
				? random_pattern(seed)
				: near_pattern(&w->commands[next(seed) % w->n_commands], seed);
		put_rule(&w->lines, verdict, &w->rules[i], seed);
	}
}

START_TEST(allowed_when_each_is)
{
	struct rule_fixture f;
	struct world w;
	uint64_t seed = 21;
	unsigned allowed = 0, barred = 0;

	rule_fixture_init(&f);
	for (int round = 0; round < ROUNDS; round++) {
		struct ruleset *set;
		struct rule_match match;
		bool expect = true;
		int how;

		random_world(&w, "allow", true, &seed);
		set = rule_set_of(w.lines.p);
		rule_fixture_command(&f, "Bash", (struct bytes){w.text.p, w.text.n});
		ck_assert_msg(
			!(f.shell.flags & SHELL_UNREAD), "%s: %s", w.text.p, f.shell.reason);
		for (size_t i = 0; i < w.n_commands; i++) {
			bool any = false;

			for (size_t k = 0; k < w.n_rules; k++)
				any |= whole_matches(
					&w.rules[k], &w.commands[i], w.commands[i].w[0]);
			expect &= any;
		}
		how = ruleset_match(set, VERDICT_ALLOW, &f.call, &match);
		ck_assert_msg(how == (expect && !w.barred), "%d, not %d:\n%s\n%s", how,
			expect && !w.barred, w.lines.p, w.text.p);
		allowed += how == 1;
		barred += expect && w.barred;
		ruleset_free(set);
	}
	ck_assert_uint_gt(allowed, ROUNDS / 50);
	ck_assert_uint_gt(barred, ROUNDS / 1000);
	rule_fixture_free(&f);
}
END_TEST

START_TEST(denied_when_any_is)
{
	struct rule_fixture f;
	struct world w;
	uint64_t seed = 22;
	unsigned denied = 0;

	rule_fixture_init(&f);
	for (int round = 0; round < ROUNDS; round++) {
		struct ruleset *set;
		struct rule_match match;
		bool expect = false;
		int how;

		random_world(&w, "deny", false, &seed);
		set = rule_set_of(w.lines.p);
		rule_fixture_command(&f, "Bash", (struct bytes){w.text.p, w.text.n});
		for (size_t i = 0; i < w.n_commands; i++)
			for (size_t k = 0; k < w.n_rules; k++)
				expect |= oracle_tightens(&w.rules[k], &w.commands[i]);
		how = ruleset_match(set, VERDICT_DENY, &f.call, &match);
		ck_assert_msg(
			how == expect, "%d, not %d:\n%s\n%s", how, expect, w.lines.p, w.text.p);
		denied += how == 1;
		ruleset_free(set);
	}
	ck_assert_uint_gt(denied, ROUNDS / 20);
	ck_assert_uint_lt(denied, ROUNDS - ROUNDS / 20);
	rule_fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_property");
	TCase *t = tcase_create("properties");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, allowed_when_each_is);
	tcase_add_test(t, denied_when_any_is);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
