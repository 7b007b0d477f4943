/* SPDX-License-Identifier: MIT */
/* approval-run: what its files share. */
#ifndef RUN_H
#define RUN_H

#include <termios.h>

#include "frontends/common/exit.h"
#include "frontends/common/output.h"
#include "frontends/common/text.h"
#include "frontends/run/child.h"
#include "frontends/run/group.h"
#include "libapproval/approval.h"

/* ---- terminal.c: whose the terminal is ---- */

struct terminal {
	int fd; /* -1: there is none */
	pid_t own, child; /* groups */
	bool ours;  /* our job is in the foreground: neither another one of the shell, nor it */
	bool taken; /* from the child */
	struct termios mine, theirs; /* how each of us has it */
	char line[128];
	size_t len;
};

void terminal_open(struct terminal *t, pid_t child);
/* Has our job come into the foreground? True once for each time. */
bool terminal_foreground(struct terminal *t);
/* It will be stopped: whoever continues it decides where it goes on. */
void terminal_background(struct terminal *t);
/* The child's group has it from now on; nothing happens while it is not our job's. */
void terminal_give(struct terminal *t);
/* It is this program's again, from the child's group or whatever that one gave it to. */
void terminal_take(struct terminal *t);
/* Reads what is there: a whole line, valid until the next call, or NULL. */
const char *terminal_line(struct terminal *t);

/* ---- watch.c: whether the session is suspended, and the person's answer ---- */

struct run;

struct watch {
	struct run *run;
	struct approval *client; /* NULL: nobody can be asked */
	char session[64];	 /* ses_…; "" : not known yet */
	char turn[64];		 /* the one that is suspended; "" : none */
	struct text reason;
	bool changed; /* since it was last looked at */
};

int watch_open(struct watch *w, struct run *run);
void watch_session(struct watch *w, const char *session);
/* resume, end_turn or kill. */
void watch_answer(struct watch *w, const char *method);
void watch_close(struct watch *w);

struct run {
	struct output err;
	const char *socket, *name, *mode;
	const char *enforce; /* freeze, stop or protocol */
	bool forced;	     /* --freeze or --stop was given */
	struct approval_pack *budget;
	int64_t amounts[5]; /* -1: none */
	char session[64];
	char **argv;
	struct child child;
	struct group group;
	struct terminal terminal;
	struct watch watch;
	struct approval *client;
	int signals;
	sigset_t before;
};

/* ---- settings.c ---- */
/* An exit status; -1: go on. */
int settings_read(struct run *r, int argc, char **argv);
/* The ceilings as MessagePack, if any was given. */
int budget_make(struct run *r);

/* ---- main.c ---- */
void run_say(const struct run *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
