/* SPDX-License-Identifier: MIT */
/*
 * The floor: what a person is always asked about, singly, whatever rules and modes
 * allow. A tripwire, not a wall. Pure. See approval-floor(5).
 *
 * An entry has a name, by which it can be switched off, and guards reading, writing or
 * running a path, or else a form of command. Paths are compared by components, without
 * regard to case, as given and as resolved; what could not be read is on the floor.
 */
#ifndef CORE_FLOOR_H
#define CORE_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/shell/shell.h"
#include "broker/core/types.h"
#include "libapproval/bytes.h"

/* How a path is used. An entry guards some of the first three, or none but its command. */
enum floor_use {
	FLOOR_READ = 1,
	FLOOR_WRITE = 2,
	FLOOR_RUN = 4,
	FLOOR_ALL = 7,
	FLOOR_DEEP = 8,	    /* all that is below it is read */
	FLOOR_DELETE = 16,  /* with all that is below it */
	FLOOR_MOVE = 32,    /* moved away */
	FLOOR_PERMIT = 64,  /* its permissions or its owner are changed */
	FLOOR_PARTS = 128,  /* that happens to parts of what is below it, or puts some there */
	FLOOR_FOLDER = 256, /* it is a folder, or becomes one */
	FLOOR_FILE = 512,   /* it is surely a file's name, not some other word */
	FLOOR_LOOK = 1024,  /* its name is listed, or what kind of file it is */
};

/* Who wrote an entry, and whose right it is to remove it. */
enum floor_owner {
	FLOOR_ADMIN,
	FLOOR_USER,
};

struct floor_entry {
	const char *name;
	const char *about; /* what is on it; for one that was added, its pattern */
	uint8_t guards;	   /* enum floor_use; 0: a command */
	uint8_t owner;	   /* enum floor_owner */
	bool added;	   /* by configuration; otherwise as shipped */
	bool off;
	struct str *file; /* where it was added; NULL: not told */
	uint32_t line;
};

struct floor;

/* The defaults, which owner may switch off; NULL without memory. */
struct floor *floor_new(enum floor_owner owner);
void floor_free(struct floor *floor); /* NULL is fine */

/* Why a line is no addition; the text of each is what a person is told. */
#define FLOOR_ERROR_LIST(X)                                                                    \
	X(LONG, "the line is too long")                                                        \
	X(MANY, "there are too many entries")                                                  \
	X(BYTE, "a NUL can't be part of an entry")                                             \
	X(NAME, "a name is made of letters, digits, - and _")                                  \
	X(RESERVED, "this name is taken by what can't be read")                                \
	X(NO_GUARDS, "what it guards is missing: all, command, or some of read,write,run")     \
	X(GUARDS, "not all, command, or some of read,write,run")                               \
	X(NO_PATTERN, "the pattern is missing")                                                \
	X(NEGATED, "a pattern can't be negated; write \\! for a name that begins so")          \
	X(TILDE, "only ~/ is known; write ./~ for a name that begins so")                      \
	X(UP, "a pattern can't lead upwards")                                                  \
	X(CLASS, "a bracket is not closed")                                                    \
	X(ESCAPE, "a backslash needs a character behind it")                                   \
	X(WHOLE, "this would be on every path")                                                \
	X(COMMAND, "a command is given by plain words")

#define FLOOR_ERROR_ENTRY(name, text) FLOOR_ERROR_##name,
enum floor_error { FLOOR_OK, FLOOR_ERROR_LIST(FLOOR_ERROR_ENTRY) FLOOR_ERROR_N };

/* "" for FLOOR_OK. */
const char *floor_error_text(enum floor_error error);

/*
 * Adds one line, `NAME GUARDS PATTERN`. GUARDS is all, or some of read,write,run, with
 * PATTERN of paths as in rules; or it is command, with the words that such a command
 * begins with. A name may be given again, also a shipped one: each adds to it.
 * 0; 1: the line is empty or a comment; -EINVAL with *error and *column, counted in
 * bytes from 1; -ENOMEM.
 */
int floor_add(struct floor *floor, struct bytes line, enum floor_owner owner,
	enum floor_error *error, size_t *column);

/* The same for a line of a file, which is referred to. */
int floor_add_from(struct floor *floor, struct bytes line, enum floor_owner owner,
	struct str *file, uint32_t number, enum floor_error *error, size_t *column);

/*
 * Switches off all entries of that name. -ENOENT: there is none; -EPERM, with nothing
 * changed: one of them is the administrator's and owner is not, or it is "unread".
 */
int floor_off(struct floor *floor, struct bytes name, enum floor_owner owner);
/* What floor_off would return. */
int floor_may_off(const struct floor *floor, struct bytes name, enum floor_owner owner);

/* The i-th entry: those shipped, then those added; false past the end. */
bool floor_at(const struct floor *floor, size_t i, struct floor_entry *out);

/* ---- checking ---- */

/* A path that is known otherwise than by the words of a command. */
struct floor_path {
	struct bytes given;    /* absolute, from cwd, or ~/ */
	struct bytes resolved; /* data NULL: not known */
	unsigned use;	       /* enum floor_use */
};

struct floor_call {
	const struct shell *shell; /* the reading of its command; NULL: it has none */
	const struct floor_path *paths;
	uint32_t n_paths;
	struct bytes cwd, workspace, home, tmpdir; /* absolute; empty: not known */
};

struct floor_hit {
	const char *name;  /* of the entry; lives as long as the floor */
	const char *about; /* the entry's, or why a command is unread */
	struct bytes what; /* the word or path that hit it; lives as long as the call */
	uint32_t offset;   /* in the command; SHELL_NONE: it is a path of the call */
	uint16_t use;	   /* what was guarded against; 0: a form of command */
};

/*
 * Whether the call is on the floor, and the first reason: by its paths, then by its
 * command from the left to the right, then as unread.
 */
bool floor_check(
	const struct floor *floor, const struct floor_call *call, struct floor_hit *hit);

/* What a tool of this kind does to its paths. */
unsigned floor_use_of(enum kind kind);

/*
 * The paths of a command that are worth resolving, so that they can be checked as paths
 * of the call: absolute, as far as that is known. false from `each` ends it. false: it is
 * too much to be looked at, and there may be more.
 */
typedef bool floor_operand_fn(void *arg, struct bytes path, unsigned use);
bool floor_operands(const struct floor_call *call, floor_operand_fn *each, void *arg);

#endif
