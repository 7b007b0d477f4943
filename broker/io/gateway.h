/* SPDX-License-Identifier: MIT */
/*
 * The gateway: messages become commands, commands become steps of the engine,
 * their effects become records and messages. All that one turn of the loop
 * produced is one transaction: it is committed, then the messages go out. Nobody
 * is told what is not recorded.
 */
#ifndef IO_GATEWAY_H
#define IO_GATEWAY_H

#include <event2/event.h>

#include "broker/config.h"
#include "broker/io/listener.h"
#include "broker/log.h"
#include "broker/store/journal.h"

struct gateway;

/* All but config outlive the gateway. */
struct gateway_options {
	struct event_base *base;
	struct journal *journal;
	const char *store_name; /* for people: the path, or "memory" */
	struct log *log;
	const struct config *config; /* read during the call; its budgets last as below */
	/* folders of rule files where the configuration names none; NULL: none */
	const char *admin_rules, *user_rules;
	bool user_mode;
	/* Reads configuration and rules again, as on SIGHUP: see gateway_configure. What is
	 * wrong with them comes in *why, too. */
	int (*reload)(void *arg, struct log_copy *why);
	void *reload_arg;
};

int gateway_new(struct gateway **out, const struct gateway_options *o);
/* Loads what the store has. Before the listeners open. */
int gateway_load(struct gateway *g);
struct process_table *gateway_processes(struct gateway *g);
/* A connection that a listener accepted. */
void gateway_accepted(void *gateway, enum listener_kind kind, int fd,
	const struct process_cred *cred, struct process *process);
/* Reads the files of rules, and the floor's, for the first time. Errors as below. */
int gateway_rules(struct gateway *g, const struct config *config);
/*
 * New configuration, of which the budgets last until the next one is in force or the gateway
 * ends; and rules read anew; takes effect at once, as a whole. -EINVAL: there
 * is something wrong in the rules, which is in the log, and nothing has changed. -ENOMEM.
 */
int gateway_configure(struct gateway *g, const struct config *config);

/*
 * One turn of the loop: waits for events, then commits and sends. Returns a
 * negative errno only when the loop itself is broken.
 */
int gateway_run_once(struct gateway *g);
/* Commits what there is and closes every connection. */
void gateway_stop(struct gateway *g);
/* Instead of it after a start that failed: nothing is written. */
void gateway_abandon(struct gateway *g);
/* Asserts that every charge was given back. NULL is fine. */
void gateway_free(struct gateway *g);

#endif
