/* SPDX-License-Identifier: MIT */
/*
 * The real daemon in a temporary folder, for tests. It is started detached, so
 * that the test's own process is no ancestor of it and may stand for an agent.
 */
#ifndef TEST_BROKER_H
#define TEST_BROKER_H

#include <stdbool.h>
#include <sys/types.h>

struct broker {
	char dir[64];
	char agent[96], frontend[96]; /* paths of the sockets */
	char config[96];
	pid_t pid;
	int pidfd;
	int status;		/* pipe that brings the exit status */
	int life;		/* pipe whose end ends it: the test's death */
	const int *listening;	/* agent's and frontend's socket, to be inherited; NULL: none */
	const char *const *env; /* further NAME=VALUE, NULL-terminated; NULL: none */
};

/* Makes the folder. Failures end the test (ck_abort). */
void broker_init(struct broker *b);
/* Starts it and returns when it says that it is ready. args: further options, NULL-terminated.
 */
void broker_start(struct broker *b, const char *const *args);
/* The same, but gives back the exit status when it ends before it is ready; -1 when it is
 * ready. */
int broker_try(struct broker *b, const char *const *args);
/* Writes the configuration file that it is started with. */
void broker_configure(struct broker *b, const char *text);
/* SIGTERM; waits for the end and fails the test unless it ends with status 0. */
void broker_stop(struct broker *b);
/* SIGHUP; returns when its files have been read, for good or bad. */
void broker_reload(const struct broker *b);
/* SIGKILL; waits for the end. */
void broker_kill(struct broker *b);
/* Waits until it ends by itself; its exit status, or -signal. */
int broker_wait(struct broker *b);
/* Ends it if it runs and removes the folder. */
void broker_fini(struct broker *b);

/* The program under test: $APPROVALD, else ./approvald. Others: ./NAME. */
const char *broker_program(void);
/* It runs under valgrind, which lacks system calls (see doc/hacking.md) and takes memory. */
bool broker_valgrind(void);

#endif
