/* SPDX-License-Identifier: MIT */
/*
 * Command lines of the form `program [OPTION…] command [OPTION…] [OPERAND…]`, or
 * without commands, over getopt_long. --help and --version are answered here,
 * and so is what is wrong: it is said together with what to do next.
 */
#ifndef FCOMMON_OPTIONS_H
#define FCOMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_MAX 32 /* of a command, the common ones included */

struct option_def {
	int key; /* what options_next returns; a letter or digit is the short form, too */
	const char *name;
	const char *value; /* how the help calls its value; NULL: it takes none */
	const char *help;
	bool empty; /* the value may be empty: text that says nothing is none */
};

struct options;

struct command {
	const char *name; /* NULL: a program without commands */
	const char *operands;		  /* of several forms each on a line; NULL: none */
	const char *summary;		  /* a sentence, without its full stop */
	const char *more;		  /* the rest of --help, which breaks lines; NULL: none */
	const struct option_def *options; /* ends with key 0; NULL: none */
	bool stops;			  /* what follows the first operand is not looked at */
	int (*run)(void *arg, struct options *o); /* for the program to call */
};

struct program {
	const char *name, *version;
	const char *summary;
	const char *more;		 /* at the end of the program's --help */
	const struct option_def *common; /* options of every command */
	const struct command *commands;	 /* ends with name NULL */
};

struct options {
	const struct program *program;
	const struct command *command; /* set by options_command */
	int argc;
	char **argv;
	const char *value; /* of the option that options_next returned */
	int status;	   /* exit status, once something returned OPTIONS_EXIT */
	char **operands;   /* after OPTIONS_END; ends with NULL */
	int n_operands;
	bool started;
};

enum {
	OPTIONS_END = 0,
	OPTIONS_EXIT = -1, /* all has been said; end with `status` */
};

/* Finds the command and takes --help and --version. OPTIONS_END or OPTIONS_EXIT. */
int options_command(struct options *o, const struct program *program, int argc, char **argv);
/* The same for a program that is one command. */
int options_single(struct options *o, const struct program *program,
	const struct command *command, int argc, char **argv);
/* The key of the next option (its value in `value`), OPTIONS_END or OPTIONS_EXIT. Neither a value
 * nor an operand is empty, but for those of the options that say so and the arguments of a
 * command line. */
int options_next(struct options *o);

/* Says what is wrong and how to get help; returns STATUS_USAGE. */
int options_wrong(const struct options *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Values; on failure they say so and return -EINVAL. */
int options_duration(const struct options *o, const char *value, int64_t *ms);
int options_time(const struct options *o, const char *value, int64_t *ms);
int options_number(const struct options *o, const char *value, uint64_t max, uint64_t *n);
/* One of the words, which end with NULL. */
int options_word(const struct options *o, const char *value, const char *const *words);

#endif
