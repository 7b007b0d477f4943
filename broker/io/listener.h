/* SPDX-License-Identifier: MIT */
/* A listening socket in a folder of its own, and who may come in. */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <event2/event.h>

#include "broker/io/process.h"
#include "broker/log.h"

enum listener_kind {
	LISTENER_AGENT,
	LISTENER_FRONTEND,
};
#define LISTENER_N 2

struct listener;

/*
 * A connection from the kernel's point of view. The callee owns the socket and the
 * reference on the process from here on, whatever it returns not: it closes what
 * it does not want.
 */
typedef void (*listener_accepted)(void *arg, enum listener_kind kind, int fd,
	const struct process_cred *cred, struct process *process);

struct listener_config {
	enum listener_kind kind;
	const char *folder; /* of the socket "sock"; created below an existing one */
	mode_t folder_mode; /* 0700 in user mode */
	mode_t socket_mode; /* 0600 in user mode */
	gid_t socket_gid;   /* (gid_t)-1: leave it */
	bool own_uid_only;  /* user mode: only the broker's own uid and root come in */
};

/*
 * Creates the folder where there is none, takes its lock, replaces a socket that
 * nobody listens on, and listens. Errors: -EADDRINUSE (a broker lives there),
 * -ENOTDIR, -ELOOP (a symlink), -EPERM (owned by somebody else, or open to
 * others), -ENOTSOCK (something else is in the way), -ENAMETOOLONG.
 */
int listener_open(struct listener **out, const struct listener_config *c,
	struct event_base *base, struct process_table *processes, struct log *log,
	listener_accepted accepted, void *arg);
/* A socket that was inherited listening; -EINVAL when it is none. Not unlinked at the end. */
int listener_adopt(struct listener **out, int fd, const struct listener_config *c,
	struct event_base *base, struct process_table *processes, struct log *log,
	listener_accepted accepted, void *arg);
/* Accepts no more, for a broker that stops; the socket file is removed if it is still ours. */
void listener_close(struct listener *l); /* NULL is fine */
/* A pause in accepting. */
void listener_pause(struct listener *l);
void listener_resume(struct listener *l);

#endif
