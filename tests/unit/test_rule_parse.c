/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/rules/rule.h"
#include "broker/core/rules/spec.h"
#include "libapproval/limits.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

static struct rule *parse(const char *line)
{
	struct rule *rule;
	enum rule_error error;
	size_t column;
	const int how = rule_parse(bytes_of(line), &rule, &error, &column);

	ck_assert_msg(
		how == RULE_PARSED, "%s: %s at %zu", line, rule_error_text(error), column);
	return rule;
}

START_TEST(lines_that_are_rules)
{
	static const struct {
		const char *line;
		enum verdict verdict;
		enum rule_tool tool;
		enum kind kind;
		enum rule_spec spec;
		const char *printed;
	} cases[] = {
		{"allow Bash", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE, RULE_SPEC_ALL,
			NULL},
		{"  deny\t Bash(*)  ", VERDICT_DENY, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_ALL, "deny Bash"},
		{"ask Bash(git push:*)", VERDICT_ASK, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, NULL},
		{"allow Bash(ls) # why (not)", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, "allow Bash(ls)"},
		{"allow Bash(ls)#why", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, "allow Bash(ls)"},
		{"allow Bash(echo ')' (x))", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, NULL},
		{"allow Bash(echo \"a) # b\")", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, NULL},
		{"allow Bash((ls) # c)", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, NULL},
		{"deny Read(~/.x) # it's secret", VERDICT_DENY, RULE_TOOL_KIND, KIND_READ,
			RULE_SPEC_PATH, "deny Read(~/.x)"},
		{"deny Write(/src/**)", VERDICT_DENY, RULE_TOOL_KIND, KIND_EDIT, RULE_SPEC_PATH,
			NULL},
		{"deny @delete # all", VERDICT_DENY, RULE_TOOL_KIND, KIND_DELETE, RULE_SPEC_ALL,
			"deny @delete"},
		{"deny @move(//etc/**)", VERDICT_DENY, RULE_TOOL_KIND, KIND_MOVE,
			RULE_SPEC_PATH, NULL},
		{"ask @other", VERDICT_ASK, RULE_TOOL_KIND, KIND_OTHER, RULE_SPEC_ALL, NULL},
		{"allow WebFetch(domain:Example.ORG)", VERDICT_ALLOW, RULE_TOOL_KIND,
			KIND_FETCH, RULE_SPEC_HOST, NULL},
		{"allow WebFetch(domain:*.example.org)", VERDICT_ALLOW, RULE_TOOL_KIND,
			KIND_FETCH, RULE_SPEC_HOST, NULL},
		{"allow mcp__git__status", VERDICT_ALLOW, RULE_TOOL_NAME, KIND_OTHER,
			RULE_SPEC_ALL, NULL},
		{"deny mcp__github__*", VERDICT_DENY, RULE_TOOL_SERVER, KIND_OTHER,
			RULE_SPEC_ALL, NULL},
		{"deny mcp__github(*)", VERDICT_DENY, RULE_TOOL_SERVER, KIND_OTHER,
			RULE_SPEC_ALL, "deny mcp__github"},
		{"deny run_shell_command(git push)", VERDICT_DENY, RULE_TOOL_NAME, KIND_EXECUTE,
			RULE_SPEC_COMMAND, NULL},
		{"deny Grep(~/x/**)", VERDICT_DENY, RULE_TOOL_NAME, KIND_SEARCH, RULE_SPEC_PATH,
			NULL},
		{"ask FrobnicateAll", VERDICT_ASK, RULE_TOOL_NAME, KIND_OTHER, RULE_SPEC_ALL,
			NULL},
		{"ask *", VERDICT_ASK, RULE_TOOL_ANY, KIND_OTHER, RULE_SPEC_ALL, NULL},
		{"allow Bash(ls)\r", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, "allow Bash(ls)"},
		{"allow Bash(a\nb\x01)", VERDICT_ALLOW, RULE_TOOL_KIND, KIND_EXECUTE,
			RULE_SPEC_COMMAND, "allow Bash(a\\{0A}b\\{01})"},
		{"allow Bash(cat <<'EOF'\ndon't\nEOF)", VERDICT_ALLOW, RULE_TOOL_KIND,
			KIND_EXECUTE, RULE_SPEC_COMMAND,
			"allow Bash(cat <<'EOF'\\{0A}don't\\{0A}EOF)"},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct rule *rule = parse(cases[i].line);
		char *printed = malloc(rule_print_size(rule));
		size_t n;

		ck_assert_msg(
			rule->verdict == cases[i].verdict && rule->tool == cases[i].tool &&
				rule->kind == cases[i].kind && rule->spec == cases[i].spec,
			"%s: %d %d %d %d", cases[i].line, rule->verdict, rule->tool, rule->kind,
			rule->spec);
		n = rule_print(rule, printed);
		ck_assert_uint_eq(n, strlen(printed));
		ck_assert_str_eq(printed, cases[i].printed ? cases[i].printed : cases[i].line);
		rule_free(rule);
		free(printed);
	}
}
END_TEST

START_TEST(lines_that_are_none)
{
	static const struct {
		const char *line;
		enum rule_error error;
		size_t column;
	} cases[] = {
		{"alow Bash(ls)", RULE_ERROR_VERDICT, 1},
		{"  Allow Bash(ls)", RULE_ERROR_VERDICT, 3},
		{"defer Bash", RULE_ERROR_VERDICT, 1},
		{"allow", RULE_ERROR_NO_TOOL, 6},
		{"allow   ", RULE_ERROR_NO_TOOL, 9},
		{"allow (x)", RULE_ERROR_NO_TOOL, 7},
		{"allow # x", RULE_ERROR_TOOL, 7},
		{"allow Ba\x01h", RULE_ERROR_TOOL, 7},
		{"allow Ba*", RULE_ERROR_TOOL, 7},
		{"allow mcp__*__x", RULE_ERROR_TOOL, 7},
		{"allow @reed(x)", RULE_ERROR_KIND, 7},
		{"allow @", RULE_ERROR_KIND, 7},
		{"allow Bash x", RULE_ERROR_AFTER, 12},
		{"allow Bash (ls)", RULE_ERROR_AFTER, 12},
		{"allow Bash(ls) x", RULE_ERROR_AFTER, 16},
		{"allow Bash(ls", RULE_ERROR_UNCLOSED, 11},
		{"allow Bash()", RULE_ERROR_EMPTY, 12},
		{"allow Bash(:*)", RULE_ERROR_EMPTY, 12},
		{"allow Bash(echo 'x)", RULE_ERROR_QUOTE, 17},
		{"allow Bash(a \\{00}b)", RULE_ERROR_ESCAPE, 14},
		{"allow FrobnicateAll(x)", RULE_ERROR_NO_SPEC, 21},
		{"allow mcp__a__b(x)", RULE_ERROR_NO_SPEC, 17},
		{"allow @think(x)", RULE_ERROR_NO_SPEC, 14},
		{"allow Read(!x)", RULE_ERROR_NEGATED, 12},
		{"allow Read(~bob/x)", RULE_ERROR_USER, 12},
		{"allow Read(../x)", RULE_ERROR_UP, 12},
		{"allow Read(/a/[b)", RULE_ERROR_CLASS, 15},
		{"allow Read(a\\)", RULE_ERROR_ESCAPE, 13},
		{"allow Read(a\\{2F}b)", RULE_ERROR_ESCAPE, 13},
		{"allow Read( )", RULE_ERROR_EMPTY, 12},
		{"allow WebFetch(example.org)", RULE_ERROR_DOMAIN, 16},
		{"allow WebFetch(domain:)", RULE_ERROR_HOST, 16},
		{"allow WebFetch(domain:a b)", RULE_ERROR_HOST, 16},
		{"allow WebFetch(domain:*.127.0.0.1)", RULE_ERROR_HOST, 16},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct rule *rule;
		enum rule_error error;
		size_t column;
		const int how = rule_parse(bytes_of(cases[i].line), &rule, &error, &column);

		ck_assert_msg(how == RULE_BAD && error == cases[i].error, "%s: %d %s",
			cases[i].line, how, rule_error_text(error));
		ck_assert_ptr_null(rule);
		ck_assert_msg(
			column == cases[i].column, "%s: column %zu", cases[i].line, column);
		ck_assert_str_ne(rule_error_text(error), "");
	}
}
END_TEST

START_TEST(lines_that_are_blank)
{
	static const char *const cases[] = {"", "  \t", "# allow Bash", "   #", "\r", " \r"};

	for (size_t i = 0; i < N(cases); i++) {
		struct rule *rule;
		enum rule_error error;
		size_t column;

		ck_assert_int_eq(
			rule_parse(bytes_of(cases[i]), &rule, &error, &column), RULE_BLANK);
	}
}
END_TEST

START_TEST(lines_with_limits)
{
	char *line = malloc(LIMIT_RULE + 2);
	struct rule *rule;
	enum rule_error error;
	size_t column;
	static const char nul[] = "allow Bash(a\0b)";

	memset(line, 'a', LIMIT_RULE + 1);
	memcpy(line, "allow Bash(", 11);
	line[LIMIT_RULE - 1] = ')';
	ck_assert_int_eq(rule_parse((struct bytes){line, LIMIT_RULE}, &rule, &error, &column),
		RULE_PARSED);
	rule_free(rule);
	ck_assert_int_eq(
		rule_parse((struct bytes){line, LIMIT_RULE + 1}, &rule, &error, &column),
		RULE_BAD);
	ck_assert_int_eq(error, RULE_ERROR_LONG);
	line[10] = 'a';
	ck_assert_int_eq(
		rule_parse((struct bytes){line, 300}, &rule, &error, &column), RULE_BAD);
	ck_assert_int_eq(error, RULE_ERROR_LONG); /* the name */
	free(line);
	ck_assert_int_eq(
		rule_parse((struct bytes){nul, sizeof(nul) - 1}, &rule, &error, &column),
		RULE_BAD);
	ck_assert_int_eq(error, RULE_ERROR_BYTE);
	ck_assert_uint_eq(column, 13);
}
END_TEST

/* The words, with NUL as /, wildcards as *, marks as they are. */
static void words_text(const struct glob *g, char *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		const char *const p = g->parts[i].data;

		if (i > 0)
			out[n++] = '*';
		for (size_t k = 0; k < g->parts[i].len; k++)
			out[n++] = (char)(p[k] ? p[k] : '|');
	}
	if (g->open)
		out[n++] = '>';
	out[n] = 0;
}

START_TEST(commands_are_split)
{
	static const struct {
		const char *spec;
		const char *words; /* NULL: a text only */
	} cases[] = {
		{"ls", "ls"},
		{"git  diff\t--stat", "git|diff|--stat"},
		{"git diff:*", "git|diff>"},
		{"git diff *", "git|diff>"},
		{"git sta*", "git|sta*"},
		{"git * main", "git|*|main"},
		{"git ** main", "git|*|main"},
		{"* --version", "*|--version"},
		{"**", "*"},
		{"npm run 'a.\\*b'", "npm|run|a.*b"},
		{"npm run 'a b' \"c d\"", "npm|run|a b|c d"},
		{"a 'x*y'", "a|x*y"},
		{"a b'c'\"d\"\\e", "a|bcde"},
		{"a '' \"\"", "a||"},
		{"a 'b\\c' \"\\d\\\"\\\\\"", "a|b\\c|\\d\"\\"},
		{"ls \\\\*", "ls|*"}, /* of the shell's \* */
		{"a ~/x", "a|\1~/x"},
		{"a ~", "a|\1~"},
		{"a \"$HOME\"/x $HOME ${HOME}/y", "a|\1~/x|\1~|\1~/y"},
		{"a b~ '~' \\~", "a|b~|~|~"},
		{"a $", "a|$"},
		{"a \\$HOME", "a|$HOME"},
		{"a '$HOME'", "a|$HOME"},
		{"a b#c", "a|b#c"},
		{"a {} {b} x{", "a|{}|{b}|x{"},
		{"a \\\nb", NULL}, /* see below */
		{"a && b", NULL},
		{"a | b:*", NULL},
		{"a > b", NULL},
		{"a $(b)", NULL},
		{"a `b`", NULL},
		{"a $B", NULL},
		{"a \"$B\"", NULL},
		{"a $HOMES", NULL},
		{"a x$HOME", NULL},
		{"a $'b'", NULL},
		{"a # b", NULL},
		{"A=1 b", NULL},
		{"A+=1 b", NULL},
		{"if a", NULL},
		{"! a", NULL},
		{"a {b,c}", NULL},
		{"a {1..3}", NULL},
		{"a ~root", NULL},
		{"a\\{0A}b", NULL},
		{"cat <<'EOF'\\{0A}don't", NULL},
	};

	for (size_t i = 0; i < N(cases); i++) {
		for (int allow = 0; allow < 2; allow++) {
			struct command_pattern p;
			char words[64];
			size_t at;

			ck_assert_msg(command_pattern_parse(&p, bytes_of(cases[i].spec), allow,
					      &at) == COMMAND_OK,
				"%s", cases[i].spec);
			if (strcmp(cases[i].spec, "a \\\nb") == 0) {
				/* a line that goes on */
				words_text(&p.words, words);
				ck_assert_str_eq(words, "a|b");
			} else if (strcmp(cases[i].spec, "ls \\\\*") == 0 && allow) {
				/* quoted: not what the shell would expand */
				words_text(&p.words, words);
				ck_assert_str_eq(words, "ls|*");
			} else if (!cases[i].words) {
				ck_assert_msg(!p.simple, "%s", cases[i].spec);
			} else {
				ck_assert_msg(p.simple, "%s", cases[i].spec);
				words_text(&p.words, words);
				ck_assert_str_eq(words, cases[i].words);
			}
			command_pattern_free(&p);
		}
	}
}
END_TEST

START_TEST(expansions_are_marked)
{
	static const char *const cases[][2] = {
		{"ls \\*.c", "ls|\1*.c"},
		{"ls '\\*.c'", "ls|*.c"},
		{"ls [ab]?", "ls|\1[ab]\1?"},
		{"ls '[ab]?'", "ls|[ab]?"},
		{"ls \1x", "ls|\1\1x"},
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct command_pattern p;
		char words[64];
		size_t at;

		ck_assert_int_eq(
			command_pattern_parse(&p, bytes_of(cases[i][0]), true, &at), 0);
		words_text(&p.words, words);
		ck_assert_str_eq(words, cases[i][1]);
		command_pattern_free(&p);
	}
}
END_TEST

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Any text can be written as a SPEC, and is read back as this text and no other. */
START_TEST(texts_come_back)
{
	static const char pieces[] = "*\\{}0A4#() \t\n'\"$`;:~|&\x01\x7f\xc3\xff[]?!ab-";
	uint64_t seed = 3;

	for (int round = 0; round < 100000; round++) {
		char text[24], spec[24 * SPEC_GROWTH], line[24 * SPEC_GROWTH + 16], back[160];
		const size_t n = 1 + next(&seed) % sizeof(text);
		size_t len, back_len;
		bool followed;

		for (size_t i = 0; i < n; i++)
			text[i] = pieces[next(&seed) % (sizeof(pieces) - 1)];
		len = spec_escape((struct bytes){text, n}, spec);
		for (size_t i = 0; i < len; i++)
			ck_assert(spec[i] != '\n' && spec[i] != '\r' && spec[i] != 0);
		ck_assert(spec_text((struct bytes){spec, len}, back, &back_len));
		ck_assert_uint_eq(back_len, n);
		ck_assert_mem_eq(back, text, n);
		/* with its parenthesis, and a comment with another */
		memcpy(line, spec, len);
		memcpy(line + len, ")", 1);
		ck_assert_int_eq(
			spec_close((struct bytes){line, len + 1}, &followed), (long)len);
		ck_assert(!followed);
	}
}
END_TEST

/* What parses is printed in a form that parses to the same, and that is its own form. */
START_TEST(prints_come_back)
{
	/* no control, which is printed as its escape */
	static const char pieces[] = "*\\{}0A#() '\"$:~|[]?!ab-/.";
	static const char *const heads[] = {"allow Bash(", "deny Read(",
		"ask WebFetch(domain:", "deny Bash(", "allow @edit(/"};
	uint64_t seed = 5;
	unsigned parsed = 0;

	for (int round = 0; round < 200000; round++) {
		char line[64], *first, *second;
		struct rule *rule, *again;
		enum rule_error error;
		size_t column, n;

		strcpy(line, heads[next(&seed) % N(heads)]);
		n = strlen(line);
		for (size_t end = n + 1 + next(&seed) % 12; n < end; n++)
			line[n] = pieces[next(&seed) % (sizeof(pieces) - 1)];
		line[n++] = ')';
		line[n] = 0;
		if (rule_parse((struct bytes){line, n}, &rule, &error, &column) != RULE_PARSED)
			continue;
		parsed++;
		first = malloc(rule_print_size(rule));
		n = rule_print(rule, first);
		ck_assert_uint_lt(n, rule_print_size(rule));
		again = parse(first);
		second = malloc(rule_print_size(again));
		rule_print(again, second);
		ck_assert_str_eq(first, second);
		ck_assert(again->verdict == rule->verdict && again->spec == rule->spec &&
			  bytes_equal(again->text, rule->text));
		rule_free(rule);
		rule_free(again);
		free(first);
		free(second);
	}
	ck_assert_uint_gt(parsed, 50000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rule_parse");
	TCase *t = tcase_create("lines");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(t, lines_that_are_rules);
	tcase_add_test(t, lines_that_are_none);
	tcase_add_test(t, lines_that_are_blank);
	tcase_add_test(t, lines_with_limits);
	tcase_add_test(t, commands_are_split);
	tcase_add_test(t, expansions_are_marked);
	tcase_add_test(t, texts_come_back);
	tcase_add_test(t, prints_come_back);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
