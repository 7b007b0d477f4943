/* SPDX-License-Identifier: MIT */
/* Agents that make the calls of cases, each one in a workspace of its own. */
#ifndef TEST_CASE_AGENT_H
#define TEST_CASE_AGENT_H

#include <json-c/json.h>
#include <sys/types.h>

#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

/* What became of a call. */
struct said {
	char verdict[16], source[16], step[16];
	char request[64], floor[32];
};

struct agent {
	const char *workspace;
	char session[64];
	char mode[16];
	pid_t pid;
	int to, from;
};

#define AGENTS_MAX 16

struct agents {
	const struct broker *broker;
	struct json_object *const *cases;
	struct agent list[AGENTS_MAX];
	size_t n;
};

/* A member of a case; "" where there is none. */
const char *case_text(struct json_object *c, const char *key);
/* Its tool, input and cwd, into a call's map. */
void case_pack(struct wire_open *m, struct json_object *c);
void said_put(char *out, size_t size, struct bytes text);

/* The agent of a workspace ("": none), started where there is none yet. */
struct agent *agent_of(struct agents *all, const char *workspace);
/* The call of the i-th case: answered, or it waits for a person, and has a request then. */
void agent_call(const struct agent *a, int i, struct said *out);
/* What waits is withdrawn. */
void agent_withdraw(const struct agent *a);
void agents_end(struct agents *all);

#endif
