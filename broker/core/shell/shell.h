/* SPDX-License-Identifier: MIT */
/*
 * Reads the text of a command as Bash does, as far as that can be known without
 * running it: into the simple commands that it may run, with their words after
 * quote removal, assignments, redirections and working directories.
 *
 * Pure, linear in the text, and bounded: all memory comes from one arena. What can't
 * be read, or not with certainty, is unread with a reason, never left out silently:
 * where the flag SHELL_UNREAD is not set, every simple command that Bash would run by
 * this text (other than from inside a program or file that it names) is in the array.
 */
#ifndef CORE_SHELL_H
#define CORE_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

#define SHELL_NONE    UINT32_MAX /* no index */
#define SHELL_CWD_MAX 4		 /* directories that one command may run in; more: unknown */

/* ---- what a text is read with ---- */

enum shell_dialect {
	SHELL_BASH,
	SHELL_SH, /* what a plain sh reads otherwise than Bash is unread */
};

/* Absolute paths, or empty where they aren't known: then what depends on them is dynamic. */
struct shell_context {
	struct bytes cwd;
	struct bytes home;   /* of `~` and $HOME, unless the text may assign it */
	struct bytes tmpdir; /* of $TMPDIR, likewise */
	enum shell_dialect dialect;
};

/* The memory of one reading. The next one with the same arena overwrites its result. */
struct shell_arena {
	char *base;
	size_t size;
};

/* Allocates LIMIT_SHELL_ARENA, untouched; -ENOMEM. */
int shell_arena_init(struct shell_arena *arena);
/* Also of a zeroed arena. */
void shell_arena_free(struct shell_arena *arena);

/* ---- words ---- */

enum shell_word_flag {
	SHELL_DYNAMIC = 1, /* a part of the value is unknown: each is a NUL in the text */
	SHELL_SPLITS = 2,  /* dynamic and unquoted: may be none, one or several words */
	SHELL_QUOTED = 4,  /* some of it was quoted */
	SHELL_GLOB = 8,	   /* holds unquoted * ? or [: see pattern */
	SHELL_BRACE = 16,  /* one of the words of a brace expansion */
	SHELL_HOMED = 32,  /* begins with an expanded `~`, $HOME or $PWD */
	SHELL_SUBST = 64,  /* holds a command substitution; its commands are in the array */
	SHELL_PROC = 128,  /* holds a process substitution, likewise */
	SHELL_PLACE =
		256, /* the {} of find -exec or xargs -I: replaced by operands of theirs */
};

struct shell_word {
	struct bytes text;    /* after expansion as far as known, and quote removal */
	struct bytes pattern; /* with SHELL_GLOB: text with what was quoted escaped by \ */
	uint32_t offset;      /* in the text that was read */
	uint32_t flags;	      /* enum shell_word_flag */
};

struct shell_assign {
	struct bytes name;	 /* without a subscript */
	struct shell_word value; /* an array gives one for each of its words */
};

enum shell_redirect_op {
	SHELL_READ,	   /* < */
	SHELL_WRITE,	   /* > >| &> and >&FILE */
	SHELL_APPEND,	   /* >> &>> */
	SHELL_READ_WRITE,  /* <> */
	SHELL_COPY,	   /* of a descriptor, or closing it; /dev/std*, /dev/fd/N */
	SHELL_NULL,	   /* /dev/null, in either direction */
	SHELL_HERE_DOC,	   /* target is the body */
	SHELL_HERE_STRING, /* target is the data */
};

struct shell_redirect {
	uint8_t op; /* enum shell_redirect_op */
	bool input; /* its descriptor is 0, standard input */
	struct shell_word target;
};

/* ---- where a command stands ---- */

enum shell_nest_kind {
	SHELL_TOP,
	SHELL_SUBSHELL,	   /* ( ) */
	SHELL_FUNCTION,	   /* the body of a function, whether called or not */
	SHELL_SUBSTITUTED, /* $( ) or ` `: its output is in a word of the owner */
	SHELL_PROC_IN,	   /* <( ): the owner reads its output by a file name */
	SHELL_PROC_OUT,	   /* >( ): the owner writes to its standard input */
	SHELL_TEXT,	   /* the text given to eval, trap, or a shell's -c by the owner */
};

struct shell_nest {
	uint8_t kind;	 /* enum shell_nest_kind */
	uint32_t parent; /* index among nests; SHELL_NONE for the first, SHELL_TOP */
	uint32_t owner;	 /* index of the command, where a kind has one; or SHELL_NONE */
};

/* Every directory that a command may run in; n 0: unknown. Lexical: no `.`, `..` or `//`. */
struct shell_cwd {
	uint32_t n;
	struct bytes path[SHELL_CWD_MAX];
};

enum shell_command_flag {
	/*
	 * Runs nothing by itself: the head of a compound command, whose words[0] is for,
	 * select, case, [[ or ((, or, without words, its redirections.
	 */
	SHELL_KEYWORD = 1,
	/*
	 * Runs what it was given: those commands follow it in the array, their `via` is
	 * its index. For allow it is seen through and needs no rule, unless SHELL_OPAQUE.
	 */
	SHELL_WRAPS = 2,
	/*
	 * A wrapper that allow does not see through (sudo, env with assignments, xargs,
	 * find -exec and the like): the rule has to be for it, as for any command.
	 */
	SHELL_OPAQUE = 4,
	/*
	 * Runs below an opaque wrapper, directly or in -c text: it needs no allow rule,
	 * since the wrapper does, and none for it counts.
	 */
	SHELL_COVERED = 512,
	SHELL_MORE = 8,		  /* further operands, which aren't known, are added */
	SHELL_BACKGROUND = 16,	  /* in a background list or coprocess */
	SHELL_IN_FUNCTION = 32,	  /* in a function's body: runs whenever that is called */
	SHELL_STDIN_UNKNOWN = 64, /* in a function's body or trap: from anywhere */
	SHELL_ROOT = 128,	  /* under sudo, doas and the like */
	SHELL_NAME_DYNAMIC = 256, /* its name is not known; SHELL_UNREAD is set as well */
	SHELL_READS_CODE = 1024,  /* a shell that runs what its standard input gives */
};

struct shell_command {
	const struct shell_word *words; /* the first is the name; none: see nwords */
	const struct shell_assign *assigns;
	const struct shell_redirect *redirects;
	const struct shell_cwd *cwd; /* never NULL */
	const struct shell_cwd *to;  /* cd and pushd: where they lead, each; else NULL */
	uint32_t nwords;	     /* 0: assignments or redirections alone */
	uint32_t nassigns;
	uint32_t nredirects;
	uint32_t flags;	 /* enum shell_command_flag */
	uint32_t offset; /* in the text that was read; inside of -c text: of that word */
	uint32_t nest;	 /* index among nests */
	uint32_t via;	 /* index of the wrapper that runs it, or SHELL_NONE */
	/*
	 * The commands [from, from_end) of the array are those that may write to its
	 * standard input by a pipe; empty: none. Never one that leads back to it.
	 */
	uint32_t from, from_end;
};

/* ---- the whole ---- */

enum shell_flag {
	SHELL_UNREAD = 1,      /* see reason */
	SHELL_HAS_DYNAMIC = 2, /* a word, target or assigned value is dynamic */
	SHELL_HAS_WRITE = 4,   /* a redirection that writes to a file */
	SHELL_HAS_READ = 8,    /* one that reads a file */
	SHELL_HAS_ASSIGN = 16, /* an assignment, also by env, export, read, for and the like */
	SHELL_HAS_FUNCTION = 32, /* a function is defined */
	SHELL_HAS_SUBST = 64,	 /* a command or process substitution */
	SHELL_COMPOUND = 128,	 /* more than one command */
};

struct shell {
	const struct shell_command *commands; /* in the order in which they begin */
	const struct shell_nest *nests;
	uint32_t n, nnests;
	uint32_t flags;	    /* enum shell_flag */
	uint32_t offset;    /* of the first thing unread */
	const char *reason; /* why, a constant; NULL unless SHELL_UNREAD */
	uint32_t steps;	    /* work done: characters looked at */
};

/*
 * Reads a text. Words point into it, into the context and into the arena, so all have
 * to live as long as *out. With SHELL_UNREAD the commands are those that were read.
 */
void shell_read(struct bytes text, const struct shell_context *context,
	const struct shell_arena *arena, struct shell *out);

/* ---- what is known of commands (option.c, runner.c, readonly.c) ---- */

enum shell_arg_kind {
	SHELL_ARG_OPTION, /* clustered ones one by one */
	SHELL_ARG_GLOBAL, /* an option before the subcommand, as git -C has */
	SHELL_ARG_SUBCOMMAND,
	SHELL_ARG_OPERAND,
	SHELL_ARG_END, /* `--` */
};

struct shell_arg {
	uint8_t kind;	/* enum shell_arg_kind */
	bool has_value; /* of an option: by = or the next word */
	bool is_text;	/* the operand or value is known to be no path */
	bool shortened; /* a long option that is not named whole: another program's own differs
			 */
	struct bytes
		name; /* of an option without dashes: the short one where the table knows it */
	struct bytes value;
	const struct shell_word *word;	     /* that it stands in */
	const struct shell_word *value_word; /* that the value stands in, or NULL */
};

/* Goes through the words after a command's name. */
struct shell_args {
	const struct shell_word *word, *end;
	const void *table;    /* what is known of this command's options */
	struct bytes name;    /* the command's */
	struct bytes cluster; /* the rest of clustered short options */
	bool no_more;	      /* `--` was seen */
	uint32_t operands;    /* seen so far */
	uint32_t state;
};

/* words[0] is the name; looked up by its basename. */
void shell_args_begin(struct shell_args *args, const struct shell_word *words, uint32_t n);
bool shell_args_next(struct shell_args *args, struct shell_arg *out);

/* The name as it is compared: after the last slash. Empty without a static name. */
struct bytes shell_name(const struct shell_command *command);

enum shell_trait {
	SHELL_RUNS_OTHERS = 1, /* runs or writes by its options: no allow by a prefix */
	SHELL_READS_ONLY = 2,  /* on the published table, with options that only read */
	SHELL_FETCHES = 4,     /* brings data from the network, or decodes it */
	SHELL_INTERPRETS = 8,  /* runs its standard input, or files that it is given */
};

/* Bits of enum shell_trait; of a keyword or a dynamic name 0. */
unsigned shell_traits(const struct shell_command *command);

/*
 * The index of a command that runs code which another in the text fetched or decoded:
 * `curl … | sh`, `bash <(curl …)`, `echo "$(curl …)" | sh`; or SHELL_NONE.
 */
uint32_t shell_runs_fetched(const struct shell *shell);

/* Whether a word of that text stands for a name (the reserved ones don't). */
bool shell_is_reserved(struct bytes word);

#endif
