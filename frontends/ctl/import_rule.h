/* SPDX-License-Identifier: MIT */
/* A rule of a source, on its way to ours. */
#ifndef CTL_IMPORT_RULE_H
#define CTL_IMPORT_RULE_H

#include "frontends/ctl/import.h"
#include "frontends/ctl/import_glob.h"

enum fate {
	FATE_KEPT,
	FATE_LEFT,   /* nothing stands for it, as was said */
	FATE_BURIED, /* the same, since one before it decides in its place */
};

struct source_rule {
	enum import_verdict verdict; /* the source's */
	enum import_verdict out;     /* ours */
	enum fate fate;
	const struct node *at;
	const char *tool; /* ours; "*" for all */
	/*
	 * What the source compares with, of the tool's command, path, …; n 0 and units NULL:
	 * all of the tool.
	 */
	struct glob glob;
	bool unknown;	  /* what it matches of its tool isn't known */
	bool sometimes;	  /* it holds under conditions that we can't have */
	bool silent;	  /* made by us: nothing is said about it */
	bool guard;	  /* a limit of an allow, which stands whatever the order */
	const char *spec; /* ours, escaped; NULL: the whole tool */
	const char *also; /* a second one, ask, that narrows an allow; NULL */
};

/* A tool of a source, by our kinds ("@edit") and our name for it. */
struct known_tool {
	const char *kind, *tool;
};

struct import {
	struct memory memory;
	const struct import_options *options;
	struct source_rule *rules; /* the first that matches decides */
	size_t n_rules;
	struct import_line *lines;
	size_t n_lines;
	struct import_warning *warnings;
	size_t n_warnings, size_warnings;
	const struct known_tool *known; /* ends with kind NULL */
	struct glob_effort effort;
	struct reader_error error;
};

/* A warning; at NULL: about the whole. */
void import_say(struct import *im, enum import_what what, const struct node *at,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* -EINVAL, with the reason kept. */
int import_bad(struct import *im, const struct node *at, const char *why);

/*
 * A new rule with the lowest precedence so far; NULL: -ENOMEM, or there are too many
 * (memory.failed, or error).
 */
struct source_rule *rule_new(struct import *im, enum import_verdict verdict,
	const struct node *at, const char *tool);

/*
 * What ours is called for the whole of a tool by the source's name; false: no rule can
 * have this name.
 */
bool tool_name_valid(const char *name);

/*
 * Sets the SPEC of a rule for the words of a command, or a path, by its glob. An allow that
 * can't be said is left, what tightens is widened to an ask; both with a warning. 0, -ENOMEM
 */
int rule_command(struct import *im, struct source_rule *r);
int rule_path(struct import *im, struct source_rule *r);
/* The words of a command and, with open, any behind them. */
int rule_words(struct import *im, struct source_rule *r, const char *const *words, size_t n,
	bool open);
/* A rule that can't be said: an allow is left, what tightens asks for the whole tool. */
void rule_unsayable(struct import *im, struct source_rule *r, const char *why);
/* Whether a text is the name of a host, and can be read as nothing else. */
bool spec_host_valid(const char *host);
/* An own SPEC from text in which only controls and the like have to be escaped. */
const char *spec_raw(struct import *im, const char *text, size_t len);

/*
 * Brings the order of the source into ours, and writes the lines. known: all tools that the
 * source has and that are not of the kind other.
 */
int import_compile(struct import *im, const struct known_tool *known);

/* The sources. 0, -ENOMEM, -EINVAL */
int import_claude(struct import *im, const struct node *top);
int import_codex_rules(struct import *im, const struct node *top);
int import_codex_config(struct import *im, const struct node *top);
int import_gemini_settings(struct import *im, const struct node *top);
int import_gemini_policy(struct import *im, const struct node *top);
int import_opencode(struct import *im, const struct node *top);

#endif
