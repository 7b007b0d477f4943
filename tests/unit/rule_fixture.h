/* SPDX-License-Identifier: MIT */
/* Calls and sets of rules for the tests of them. */
#ifndef TEST_RULE_FIXTURE_H
#define TEST_RULE_FIXTURE_H

#include "broker/core/rules/ruleset.h"

#define RULE_HOME      "/home/u"
#define RULE_WORKSPACE "/w/proj"

/* A call as the edge would describe it; its texts have to live as long. */
struct rule_fixture {
	struct shell_arena arena;
	struct shell shell;
	struct rule_path path;
	char resolved[4096];
	struct rule_call call;
};

void rule_fixture_init(struct rule_fixture *f);
void rule_fixture_free(struct rule_fixture *f);

/* One of three: a command, read; a path, resolved by its text alone; a URL. */
void rule_fixture_command(struct rule_fixture *f, const char *tool, struct bytes command);
void rule_fixture_path(struct rule_fixture *f, const char *tool, const char *path);
void rule_fixture_url(struct rule_fixture *f, const char *tool, const char *url);

/* A set of admin rules of one line each; the test fails where one does not parse. */
struct ruleset *rule_set_of(const char *lines);

/* The strictest verdict that a rule speaks, or VERDICT_NONE. */
enum verdict rule_verdict(struct ruleset *set, const struct rule_call *call);

#endif
