/* SPDX-License-Identifier: MIT */
/* A tool call whose input is written as JSON, and a resolver without a disk. */
#ifndef TESTS_FACTS_FIXTURE_H
#define TESTS_FACTS_FIXTURE_H

#include "broker/io/facts.h"
#include "libapproval/wire/pack.h"

#define CWD  "/w/proj"
#define HOME "/home/u"

/* flags of facts, for tables */
enum {
	NO_FLAGS = 0,
	HARMLESS = FACT_HARMLESS,
	INSIDE = FACT_INSIDE,
	UNSURE = FACT_UNRESOLVED,
};

struct call {
	struct wire_buffer buffer;
	struct facts_draft draft;
	struct request_path paths[LIMIT_PATHS];
	struct facts facts;
};

/* A call from CWD, which is the workspace, without claims. */
extern const struct facts_input usual;

void collect(struct call *c, const char *tool, const char *json);
void collect_with(
	struct call *c, const struct facts_input *with, const char *tool, struct bytes input);
/* As the resolver would, where there are no symlinks: absolute paths are what they are. */
void finish(struct call *c);
void done(struct call *c);

#endif
