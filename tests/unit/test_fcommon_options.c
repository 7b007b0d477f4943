/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/common/exit.h"
#include "frontends/common/options.h"

enum { OPTION_REASON = 256 };

static const struct option_def common[] = {
	{'s', "socket", "PATH", "a socket"},
	{0},
};
static const struct option_def some[] = {
	{OPTION_REASON, "reason", "TEXT", "why"},
	{'a', "all", NULL, "all"},
	{0},
};
static const struct command commands[] = {
	{"deny", "ID...", "Deny", NULL, some, false, NULL},
	{"ask", "COMMAND\n--file FILE", "Ask",
		"What is longer than a line of eighty columns has is broken, and so is this, "
		"between words.\nA line feed stays.",
		some, true, NULL},
	{NULL},
};
static const struct program program = {"prog", "1.2", "A program", NULL, common, commands};

/* A command line, given as one string of words. */
struct line {
	char text[256];
	char *argv[16];
	int argc;
};

static void line_split(struct line *l, const char *words)
{
	char *save, *word;

	l->argc = 0;
	snprintf(l->text, sizeof(l->text), "prog %s", words);
	for (word = strtok_r(l->text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		l->argv[l->argc++] = word;
	l->argv[l->argc] = NULL;
}

static int begin(struct options *o, struct line *l, const char *words)
{
	line_split(l, words);
	return options_command(o, &program, l->argc, l->argv);
}

/* What was written to one of the standard files meanwhile. */
struct said {
	char text[4096];
};

static FILE *capture(int fd, int *saved)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	fflush(fd == STDOUT_FILENO ? stdout : stderr);
	*saved = dup(fd);
	ck_assert_int_ge(dup2(fileno(f), fd), 0);
	return f;
}

static void captured(FILE *f, int fd, int saved, struct said *said)
{
	size_t n;

	fflush(fd == STDOUT_FILENO ? stdout : stderr);
	dup2(saved, fd);
	close(saved);
	rewind(f);
	n = fread(said->text, 1, sizeof(said->text) - 1, f);
	said->text[n] = '\0';
	fclose(f);
}

START_TEST(mixed)
{
	struct options o;
	struct line l;

	ck_assert_int_eq(begin(&o, &l, "deny x --reason no y -a -s/p -- -z"), OPTIONS_END);
	ck_assert_str_eq(o.command->name, "deny");
	ck_assert_int_eq(options_next(&o), OPTION_REASON);
	ck_assert_str_eq(o.value, "no");
	ck_assert_int_eq(options_next(&o), 'a');
	ck_assert_int_eq(options_next(&o), 's');
	ck_assert_str_eq(o.value, "/p");
	ck_assert_int_eq(options_next(&o), OPTIONS_END);
	ck_assert_int_eq(o.n_operands, 3);
	ck_assert_str_eq(o.operands[0], "x");
	ck_assert_str_eq(o.operands[1], "y");
	ck_assert_str_eq(o.operands[2], "-z");
	ck_assert_ptr_null(o.operands[3]);
}
END_TEST

/* Keys beyond the characters have no short form, whatever their low byte would be. */
START_TEST(no_short_form)
{
	struct option_def many[OPTIONS_MAX + 1];
	const struct command one[] = {{"do", NULL, "Do", NULL, many, false, NULL}, {NULL}};
	const struct program p = {"prog", "1", "A program", NULL, NULL, one};

	memset(many, 0, sizeof(many));
	for (int first = 128; first < 4096; first += OPTIONS_MAX) {
		struct options o;
		struct line l;
		struct said said;
		int saved;
		FILE *f;

		for (int i = 0; i < OPTIONS_MAX; i++)
			many[i] = (struct option_def){first + i, "long", NULL, "an option"};
		line_split(&l, "do --help");
		f = capture(STDOUT_FILENO, &saved);
		ck_assert_int_eq(options_command(&o, &p, l.argc, l.argv), OPTIONS_END);
		ck_assert_int_eq(options_next(&o), OPTIONS_EXIT);
		captured(f, STDOUT_FILENO, saved, &said);
		ck_assert_ptr_nonnull(strstr(said.text, "      --long"));
		for (const char *at = strstr(said.text, ", --"); at;
			at = strstr(at + 1, ", --"))
			ck_abort_msg("a short form of %d..: %s", first, at - 4);
	}
}
END_TEST

START_TEST(stops)
{
	struct options o;
	struct line l;

	/* the options of the command to be run are its own */
	ck_assert_int_eq(begin(&o, &l, "ask -a rm -r --help"), OPTIONS_END);
	ck_assert_int_eq(options_next(&o), 'a');
	ck_assert_int_eq(options_next(&o), OPTIONS_END);
	ck_assert_int_eq(o.n_operands, 3);
	ck_assert_str_eq(o.operands[1], "-r");
	ck_assert_int_eq(begin(&o, &l, "ask -- -r"), OPTIONS_END);
	ck_assert_int_eq(options_next(&o), OPTIONS_END);
	ck_assert_int_eq(o.n_operands, 1);
}
END_TEST

static void wrong(const char *words, const char *says)
{
	struct options o;
	struct line l;
	struct said said;
	int saved, r;
	FILE *f = capture(STDERR_FILENO, &saved);

	r = begin(&o, &l, words);
	if (r == OPTIONS_END)
		while ((r = options_next(&o)) > OPTIONS_END)
			;
	captured(f, STDERR_FILENO, saved, &said);
	ck_assert_int_eq(r, OPTIONS_EXIT);
	ck_assert_int_eq(o.status, STATUS_USAGE);
	ck_assert_msg(strstr(said.text, says), "said '%s'", said.text);
	ck_assert_msg(strstr(said.text, "--help'"), "no help in '%s'", said.text);
}

START_TEST(errors)
{
	wrong("", "a command is missing");
	wrong("frobnicate", "unknown command 'frobnicate'");
	wrong("x\033[2J", "unknown command 'x\\x1b[2J'");
	wrong("--all", "unknown option '--all'");
	wrong("deny --frob", "unknown or ambiguous option '--frob'");
	wrong("deny -q", "unknown or ambiguous option '-q'");
	wrong("deny -aq", "unknown or ambiguous option '-q'");
	wrong("deny x --reason", "'--reason' needs a value");
	wrong("deny -s", "'-s' needs a value");
	wrong("deny --all=yes", "option '--all=yes'");
}
END_TEST

static void tells(const char *words, const char *says)
{
	struct options o;
	struct line l;
	struct said said;
	int saved, r;
	FILE *f = capture(STDOUT_FILENO, &saved);

	r = begin(&o, &l, words);
	if (r == OPTIONS_END)
		r = options_next(&o);
	captured(f, STDOUT_FILENO, saved, &said);
	ck_assert_int_eq(r, OPTIONS_EXIT);
	ck_assert_int_eq(o.status, STATUS_OK);
	ck_assert_msg(strstr(said.text, says), "said '%s'", said.text);
}

START_TEST(help)
{
	tells("--version", "prog 1.2\n");
	tells("--help", "Usage: prog COMMAND");
	tells("--help", "  deny         Deny\n");
	tells("deny --help", "Usage: prog deny [OPTION]... ID...\n\nDeny.\n");
	tells("deny --help", "      --reason TEXT ");
	tells("ask --help",
		"Usage: prog ask [OPTION]... COMMAND\n"
		"   or: prog ask [OPTION]... --file FILE\n\nAsk.\n\n"
		"What is longer than a line of eighty columns has is broken, and so is this,\n"
		"between words.\nA line feed stays.\n\nOptions:\n");
	tells("deny --help", "  -s, --socket PATH ");
	tells("ask --version", "prog 1.2\n");
}
END_TEST

START_TEST(single)
{
	static const struct command only = {.name = NULL, .operands = "FILE", .options = some};
	struct options o;
	struct line l;

	line_split(&l, "-a f");
	ck_assert_int_eq(options_single(&o, &program, &only, l.argc, l.argv), OPTIONS_END);
	ck_assert_int_eq(options_next(&o), 'a');
	ck_assert_int_eq(options_next(&o), OPTIONS_END);
	ck_assert_str_eq(o.operands[0], "f");
}
END_TEST

START_TEST(values)
{
	struct options o;
	struct line l;
	struct said said;
	uint64_t n = 0;
	int64_t ms;
	int saved;

	begin(&o, &l, "deny");
	ck_assert_int_eq(options_number(&o, "50", 100, &n), 0);
	ck_assert_uint_eq(n, 50);
	FILE *f = capture(STDERR_FILENO, &saved);
	ck_assert_int_lt(options_number(&o, "101", 100, &n), 0);
	ck_assert_int_lt(options_number(&o, "-1", 100, &n), 0);
	ck_assert_int_lt(options_number(&o, "", 100, &n), 0);
	ck_assert_int_lt(options_number(&o, "1x", 100, &n), 0);
	ck_assert_int_lt(options_number(&o, "99999999999999999999", UINT64_MAX, &n), 0);
	ck_assert_int_lt(options_duration(&o, "soon", &ms), 0);
	ck_assert_int_lt(options_time(&o, "never", &ms), 0);
	captured(f, STDERR_FILENO, saved, &said);
	ck_assert_ptr_nonnull(strstr(said.text, "'soon' is no duration; write"));
	ck_assert_uint_eq(n, 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("options");
	SRunner *sr = srunner_create(s);

	tcase_add_test(tc, mixed);
	tcase_add_test(tc, no_short_form);
	tcase_add_test(tc, stops);
	tcase_add_test(tc, errors);
	tcase_add_test(tc, help);
	tcase_add_test(tc, single);
	tcase_add_test(tc, values);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
