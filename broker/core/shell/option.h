/* SPDX-License-Identifier: MIT */
/* What is known of commands' options: data. */
#ifndef CORE_SHELL_OPTION_H
#define CORE_SHELL_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

enum option_flag {
	OPTION_SUBCOMMANDS = 1, /* the first operand is one; options before it are global */
	OPTION_SINGLE = 2,	/* long options have one dash: find, java */
	OPTION_TEXT_FIRST = 4,	/* the first operand is text, unless an option gave it */
	OPTION_TEXT_ALL = 8,	/* operands are text */
	OPTION_NO_CLUSTER = 16, /* short options aren't clustered: cc -Wall */
	OPTION_ORDERED = 32,	/* no options after the first operand */
};

/*
 * A command, or "command subcommand". valued: short options with a value, X? one
 * with a value only in the same word; those of them in text take no path. longs: long ones,
 * each followed by a space: NAME [=] [:SHORT] [!], where = has a value, == a name and a value,
 * ? a value only after =, and ! is one that is no path.
 */
struct option_table {
	const char *name;
	const char *valued, *text;
	const char *longs;
	uint8_t flags;	   /* enum option_flag */
	const char *gives; /* "e f files ": options that give the text of OPTION_TEXT_FIRST */
};

extern const struct option_table option_tables[]; /* option_table.c, in the order of names */
extern const size_t option_tables_n;

/* NULL: nothing is known. subcommand may be empty. */
const struct option_table *option_find(struct bytes command, struct bytes subcommand);

struct option_long {
	struct bytes name;  /* the whole one */
	const char *letter; /* of the short one, or NULL */
	bool value, text;
	bool named; /* a name stands before the value: jq --arg NAME VALUE */
	bool whole; /* it was named whole */
};

/* A long option by its name or the only one that it begins; false: not known. */
bool option_long(const struct option_table *table, struct bytes name, struct option_long *out);

#endif
