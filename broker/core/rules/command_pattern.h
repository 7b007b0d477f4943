/* SPDX-License-Identifier: MIT */
/*
 * The SPEC of a rule for commands: the words of a simple command, split and unquoted as
 * a shell does, with wildcards; or, where it is more than that, a text.
 */
#ifndef CORE_RULES_COMMAND_PATTERN_H
#define CORE_RULES_COMMAND_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/rules/glob.h"
#include "broker/core/shell/shell.h"

/*
 * How words are written where they are compared: joined by NUL, with COMMAND_MARK before
 * itself, before an unquoted * ? or [ (only for allow), and before a `~` that stands for
 * the home folder (only for patterns with such a word).
 */
#define COMMAND_MARK '\1'

struct command_option {
	struct bytes name;  /* as shell_args gives it */
	struct bytes value; /* data NULL: any, or none */
	bool global;
	bool wild; /* name is a whole word with stars in it, as written: see glob */
	struct glob glob;
};

struct command_pattern {
	struct bytes exact; /* the very text; data NULL: SPEC has a wildcard */
	struct glob text;   /* of the whole text, with its wildcards */
	struct glob words;  /* of all words; only where simple */
	struct glob rest;   /* of the words that are no options; only where simple */
	const struct command_option *options;
	uint32_t n_options;
	uint32_t n_literal; /* words at the start without a wildcard */
	bool simple;	    /* it is the words of a simple command */
	bool wild;	    /* has a wildcard, or is open */
	bool homed;	    /* a word begins with `~` or $HOME */
	struct bytes name;  /* the first word; data NULL: it has a wildcard */
	/* what the first word that is not literal begins with; empty: nothing */
	struct bytes lead;
	/*
	 * A word that has to be among the operands of what tightens, or what one has to begin
	 * with; data NULL: none.
	 */
	struct bytes key;
	bool key_leads;
	void *memory;
};

enum command_error {
	COMMAND_OK,
	COMMAND_NO_MEMORY,
	COMMAND_EMPTY,
	COMMAND_ESCAPE,
	COMMAND_QUOTE,
};

/*
 * allow: what is compared as written; otherwise names of options are looked up and found
 * wherever they stand. *at is where an error stands. To be freed, whatever is returned.
 */
enum command_error command_pattern_parse(
	struct command_pattern *out, struct bytes spec, bool allow, size_t *at);
void command_pattern_free(struct command_pattern *pattern);

#endif
