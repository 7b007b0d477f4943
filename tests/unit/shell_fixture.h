/* SPDX-License-Identifier: MIT */
/* What the tests of the shell reader share: a text, and what is read as one line. */
#ifndef TEST_SHELL_FIXTURE_H
#define TEST_SHELL_FIXTURE_H

#include <check.h>

#include "broker/core/shell/shell.h"

/* Where and for whom the texts of tests are read. */
#define SHELL_CWD  "/w/proj"
#define SHELL_HOME "/home/u"

struct shell_case {
	struct shell_arena arena;
	struct shell shell;
	char line[16384];
};

/*
 * Reads a text; its commands are in line, separated by a space each: words as <word>, an
 * unknown part as @, assignments as name=<value>, redirections as a sign and <target>
 * (`<` `>` `>>` `<>` `&` `0` `<<` `<<<`); before the words # of a keyword, ^ of a
 * wrapper, ! of an opaque one, ~ of what runs below one, + with more operands, ? of an
 * unknown name, f in a function, b in the background. Ends with " UNREAD" where it is.
 */
void shell_case_read(struct shell_case *c, const char *text, enum shell_dialect dialect);
void shell_case_free(struct shell_case *c);

/* The text is read as this line; or, where that is NULL, as unread. */
void shell_expect(const char *text, const char *line);
void shell_expect_sh(const char *text, const char *line);

struct shell_pair {
	const char *text, *line;
};
void shell_expect_all(const struct shell_pair *pairs, size_t n);
void shell_refuse_all(const char *const *texts, size_t n);

/* {text, line} each; texts that are unread. */
#define EXPECT(...)                                                                            \
	shell_expect_all((const struct shell_pair[]){__VA_ARGS__},                             \
		sizeof((const struct shell_pair[]){__VA_ARGS__}) / sizeof(struct shell_pair))
#define REFUSE(...)                                                                            \
	shell_refuse_all((const char *const[]){__VA_ARGS__},                                   \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

#endif
