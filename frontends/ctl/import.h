/* SPDX-License-Identifier: MIT */
/*
 * Rules of other agents, compiled into ours. What is made never allows what the source
 * would not have allowed, and what the source denies is at least asked: a rule that can't
 * be said so is refused or narrowed, with a warning.
 */
#ifndef CTL_IMPORT_H
#define CTL_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

enum import_source {
	IMPORT_CLAUDE,	 /* settings.json */
	IMPORT_CODEX,	 /* *.rules, or config.toml */
	IMPORT_GEMINI,	 /* settings.json, or a policy in TOML */
	IMPORT_OPENCODE, /* opencode.json, with comments */
	IMPORT_SOURCE_N,
};

/* "claude", …; IMPORT_SOURCE_N for another name. */
enum import_source import_source_parse(const char *name);
const char *import_source_name(enum import_source source);

/* In the order of their strictness. */
enum import_verdict { IMPORT_ALLOW, IMPORT_ASK, IMPORT_DENY };
const char *import_verdict_name(enum import_verdict verdict);

/* Where something stands in the source, counted from 1; line 0: nowhere. */
struct import_place {
	unsigned line, column;
	const char *path; /* as permissions.allow[3]; NULL: none */
};

struct import_line {
	enum import_verdict verdict;
	const char *text; /* the whole rule, on one line of printable ASCII or UTF-8 */
	struct import_place place;
};

enum import_what {
	IMPORT_REFUSED,	 /* nothing stands for it */
	IMPORT_NARROWED, /* what stands for it is stricter */
	IMPORT_NOTED,	 /* it is no rule */
};
const char *import_what_name(enum import_what what);

struct import_warning {
	enum import_what what;
	struct import_place place;
	const char *text; /* hostile in parts */
};

struct import_options {
	enum import_source source;
	/* a rule for all the rest of a tool gives way to its exceptions, see approvalctl(1) */
	bool drop_rest;
};

struct import;

/*
 * 0, -ENOMEM, or -EINVAL where the text is not what it should be or too large: then the
 * one warning tells what and where. *out is to be freed, whatever is returned; NULL only
 * with -ENOMEM.
 */
int import_run(struct import **out, const struct import_options *options, const char *text,
	size_t len);
void import_free(struct import *im);

/* In the order of the source. */
size_t import_lines(const struct import *im, const struct import_line **lines);
size_t import_warnings(const struct import *im, const struct import_warning **warnings);

#endif
