/* SPDX-License-Identifier: MIT */
/* The table of commands that run what their words say: wrapper_table.c. */
#ifndef CORE_SHELL_WRAPPER_H
#define CORE_SHELL_WRAPPER_H

#include <stdint.h>

#include "libapproval/bytes.h"

enum wrapper_flag {
	WRAPPER_OPAQUE = 1,  /* allow does not see through it */
	WRAPPER_ROOT = 2,    /* with other rights */
	WRAPPER_MORE = 4,    /* it adds operands */
	WRAPPER_ASSIGNS = 8, /* NAME=value may stand before the command */
	WRAPPER_HERE = 16,   /* in the same shell */
	WRAPPER_NUMBER = 32, /* -NUMBER is an option, as for nice */
};

enum wrapper_kind {
	KIND_WORDS,   /* options, `skip` operands, then the command */
	KIND_SHELL,   /* a shell: -c or its input */
	KIND_SH,      /* the same, read by the rules of sh as well */
	KIND_FOREIGN, /* a shell that reads otherwise */
	KIND_EVAL,
	KIND_TRAP,
	KIND_FIND,
	KIND_OPTION, /* its option -c has the text, for sh */
	KIND_JOINED, /* its operands are joined to a text for sh */
	KIND_GIT,
};

struct wrapper {
	const char *name;
	uint8_t kind, flags, skip;
	const char *valued; /* short options with a value */
	const char *plain;  /* without */
	const char *longs;  /* "a b= c? ": long ones, = with a value, ? with one only after = */
};

/* By its basename; NULL: it is none. */
const struct wrapper *wrapper_find(struct bytes name);

#endif
