/* SPDX-License-Identifier: MIT */
/*
 * Agents as processes: children of the test that say hello, which is the person.
 * What fails in one of them ends it, and the test with it.
 */
#ifndef TEST_AGENT_PROCESS_H
#define TEST_AGENT_PROCESS_H

#include <sys/types.h>

#include "tests/ctl/run.h"
#include "tests/daemon/broker.h"
#include "tests/daemon/raw.h"

struct agent {
	pid_t pid;
	int to, from; /* pipes: a byte each way is one step */
	const char *key;
	const struct broker *broker;
	struct raw link; /* in the agent's own process */
	char request[64], session[64];
};

void step_tell(int fd);
/* Until the other has told; its end fails the test. */
void step_await(int fd);

/* Starts an agent's process, which runs body and must end well. */
void agent_start(struct agent *a, const struct broker *broker, const char *key,
	void (*body)(struct agent *a));
void agent_end(struct agent *a);
/* In its process: the session whose subject it is. */
void agent_hello(struct agent *a);
/* The request that an agent has just made, as the person's own watch tells of it. */
void agent_offered(struct agent *a, struct run *watch);
/* To be given to an agent's process, which learns no ids otherwise. */
void ids_tell(int fd, const struct agent *of);
void ids_await(int fd, char request[64], char session[64]);

/* approvalctl, refused, with words that say why and what to do; or taken. */
void refused(const char *const *words);
void taken(const char *const *words);
#define REFUSED(...) refused((const char *const[]){__VA_ARGS__, NULL})
#define TAKEN(...)   taken((const char *const[]){__VA_ARGS__, NULL})
/* The request still waits. */
void pending(const struct agent *a);

struct bytes error_code(const struct wire_frame *f);
/* A reply that refuses whoever belongs to an agent, and the end of the connection. */
void forbidden(struct raw *r, struct wire_frame *f);

/*
 * A grandchild that runs `inside`, and `outside` once its parent is gone and another
 * process has adopted it.
 */
void orphan_run(struct agent *a, void (*inside)(void), void (*outside)(struct agent *a));

#endif
