/* SPDX-License-Identifier: MIT */
/* A broker whose rules are files of the test's, and agents that ask it. */
#ifndef TEST_RULED_H
#define TEST_RULED_H

#include <check.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

/* Of the test that runs: each has a process of its own. It is not started yet. */
extern struct broker b;

/* A file in its folder: "admin/NAME.rules", "rules", "floor". */
void file_write(const char *name, const char *text);
/* SIGHUP: returns when the files have been read, for good or bad. */
void reload(void);
/* An agent's question, in a child: an agent may not stand above a frontend. rule NULL: any. */
void ask(const char *method, const char *command, const char *want, const char *rule);
/* The same in this process, which is the agent's then. */
void ask_body(const char *method, const char *command, const char *want, const char *rule);

#define allowed(command, rule) ask("request", command, "allow", rule)
#define denied(command, rule)  ask("request", command, "deny", rule)
#define asked(command)	       ask("check", command, "ask", NULL)

/* Adds the case, whose tests begin with the folder. */
TCase *ruled_tcase(Suite *s);

#endif
