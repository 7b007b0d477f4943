/* SPDX-License-Identifier: MIT */
/*
 * approvalctl. Each command is a function that reads its own options and returns
 * the exit status; what goes wrong is said where it is noticed.
 */
#ifndef CTL_H
#define CTL_H

#include <signal.h>

#include "frontends/common/exit.h"
#include "frontends/common/options.h"
#include "frontends/common/output.h"
#include "libapproval/approval.h"

struct ctl {
	struct output out, err;
	const char *socket; /* NULL: the usual places */
	bool json;
	struct approval *client;
	const char *method; /* of the last call, for what to do if it failed; NULL: none */
};

enum ctl_option {
	OPTION_JSON = 'j',
	OPTION_SOCKET = 256,
	OPTION_ALL,
	OPTION_YES,
	OPTION_SESSION,
	OPTION_REASON,
	OPTION_TOOL,
	OPTION_ALWAYS,
	OPTION_RULE,
	OPTION_OTHER, /* the first that a command may use as it likes */
};
#define OPTION_DEF_JSON                                                                        \
	{                                                                                      \
		OPTION_JSON, "json", NULL, "one JSON object on each line"                      \
	}
#define OPTION_DEF_SOCKET                                                                      \
	{                                                                                      \
		OPTION_SOCKET, "socket", "PATH",                                               \
			"the broker's socket (default: the usual places)"                      \
	}

int ctl_ask(void *ctl, struct options *o);
int ctl_budget(void *ctl, struct options *o);
int ctl_check(void *ctl, struct options *o);
int ctl_list(void *ctl, struct options *o);
int ctl_show(void *ctl, struct options *o);
int ctl_allow(void *ctl, struct options *o);
int ctl_deny(void *ctl, struct options *o);
int ctl_watch(void *ctl, struct options *o);
int ctl_sessions(void *ctl, struct options *o);
int ctl_turns(void *ctl, struct options *o);
int ctl_mode(void *ctl, struct options *o);
int ctl_suspend(void *ctl, struct options *o);
int ctl_resume(void *ctl, struct options *o);
int ctl_end_turn(void *ctl, struct options *o);
int ctl_kill(void *ctl, struct options *o);
int ctl_history(void *ctl, struct options *o);
int ctl_explain(void *ctl, struct options *o);
int ctl_stats(void *ctl, struct options *o);
int ctl_doctor(void *ctl, struct options *o);
int ctl_rules(void *ctl, struct options *o);
int ctl_floor(void *ctl, struct options *o);
/* `rules import` and others, which have options of their own. */
int ctl_rules_agents(void *ctl, struct options *o);
int ctl_rules_import(void *ctl, struct options *o);
int ctl_rules_trust(void *ctl, struct options *o);
int ctl_rules_test(void *ctl, struct options *o);

extern const struct option_def ctl_ask_options[], ctl_budget_options[], ctl_check_options[],
	ctl_list_options[],
	ctl_show_options[], ctl_allow_options[], ctl_deny_options[], ctl_watch_options[],
	ctl_sessions_options[], ctl_turns_options[], ctl_mode_options[], ctl_suspend_options[],
	ctl_resume_options[], ctl_end_turn_options[], ctl_kill_options[], ctl_history_options[],
	ctl_explain_options[], ctl_rules_options[], ctl_stats_options[],
	ctl_doctor_options[], ctl_rules_import_options[], ctl_rules_trust_options[],
	ctl_rules_test_options[], ctl_floor_options[];

/* --socket and --json, for a command's own loop. */
void ctl_option(struct ctl *c, const struct options *o, int key);
/* "approvalctl: …" on standard error; the arguments are taken as hostile. */
void ctl_say(const struct ctl *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* An own failure (-ENOMEM and the like): says it, STATUS_INTERNAL. 0: STATUS_OK. */
int ctl_own(const struct ctl *c, int r);

/* ---- client.c: talking to the broker ---- */

/* How long a command that does not wait tries: for a broker that is just starting, and its
 * hello. */
#define CTL_ONCE_MS 2000

/* A client in c->client, retry_ms and the rest as the caller has set it. An exit status. */
int ctl_open(struct ctl *c, struct approval_options *options);
/* The same for a command that does not wait for a broker to come. */
int ctl_open_once(struct ctl *c, struct approval_options *options);
/* The same as a human frontend. */
int ctl_open_frontend(struct ctl *c);
/* Of a command that waits for a broker: says so, and how to start one. */
#define CTL_PATIENCE_MS 1000 /* until that is said */
void ctl_missing(const struct ctl *c);
/* Says what went wrong and what to do, and returns the exit status for it. */
int ctl_broke(const struct ctl *c, int status, const struct approval_error *error);

struct param {
	const char *key;
	enum { PARAM_TEXT, PARAM_INT, PARAM_BOOL, PARAM_RAW } type;
	const char *text;		  /* left out if NULL */
	int64_t number;			  /* left out if negative */
	const struct approval_value *raw; /* left out if nil */
};
#define PARAM_TEXT(k, s) ((struct param){.key = (k), .type = PARAM_TEXT, .text = (s)})
#define PARAM_INT(k, n)	 ((struct param){.key = (k), .type = PARAM_INT, .number = (n)})
/* true if b, else left out; and false if b, else left out */
#define PARAM_TRUE(k, b)                                                                       \
	((struct param){.key = (k), .type = PARAM_BOOL, .number = (b) ? 1 : -1})
#define PARAM_FALSE(k, b)                                                                      \
	((struct param){.key = (k), .type = PARAM_BOOL, .number = (b) ? 0 : -1})
#define PARAM_RAW(k, v) ((struct param){.key = (k), .type = PARAM_RAW, .raw = (v)})

/* A call with these parameters. The status as from approval_call_wait; see ctl_broke. */
int ctl_try(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct approval_value **result);
/* The same, but an exit status: what went wrong has been said. */
int ctl_call(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct approval_value **result);

/* All pages of a list. */
struct items {
	struct approval_value **pages;
	size_t n_pages;
	const struct approval_value **items; /* in the pages */
	size_t n, size;
};
/* `params` without a cursor, at most PARAMS_MAX. An exit status. */
#define PARAMS_MAX 16
int items_fetch(struct ctl *c, const char *method, const struct param *params, size_t n,
	struct items *out);
void items_free(struct items *items);

/*
 * The whole id that a person meant by a full one or a part of one. `type` is
 * "session", "turn" or "request". An exit status; *id is to be freed.
 */
int ctl_resolve(struct ctl *c, const char *word, const char *type, char **id);

/* ---- loop.c: waiting for the broker and for signals ---- */

struct signals {
	int fd;
	int out;	 /* that nobody reads this pipe any more comes as SIGPIPE; -1: none */
	sigset_t before; /* the mask to give back to a child */
};
/* INT, TERM, HUP, QUIT and CHLD come by the descriptor from now on. Negative errno. */
int signals_open(struct signals *s);
void signals_close(struct signals *s);
/*
 * Waits for the client (NULL: none), a signal or the time (-1: none), and serves
 * the client. Negative errno, else the number of the signal that came, or 0.
 */
int loop_step(struct approval *client, struct signals *s, int timeout_ms);

#endif
