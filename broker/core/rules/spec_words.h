/* SPDX-License-Identifier: MIT */
/* A SPEC split into words and unquoted, as a shell does with a simple command. */
#ifndef CORE_RULES_SPEC_WORDS_H
#define CORE_RULES_SPEC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libapproval/bytes.h"

/* What follows a COMMAND_MARK in a word. */
#define SPEC_MARK_WILD 'w'
#define SPEC_MARK_HOME '~'

struct spec_word {
	struct bytes text; /* see command_pattern.h */
	bool marked;	   /* has a COMMAND_MARK */
	bool wild;	   /* has a wildcard */
	bool lone;	   /* is one */
};

struct spec_words {
	struct spec_word *words;
	size_t n;
	bool simple; /* false: more than the words of a simple command, or other than known */
	bool homed;
};

/*
 * words has room for spec.len / 2 + 1 words, buf for 2 * spec.len bytes. With globs an
 * unquoted * ? or [ is marked. false: a quotation mark is not closed, opened at *at.
 */
bool spec_split(struct bytes spec, bool globs, struct spec_words *out, char *buf, size_t *at);

#endif
