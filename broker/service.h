/* SPDX-License-Identifier: MIT */
/*
 * What the broker is to whoever started it: inherited sockets and readiness (the
 * protocols of sd_listen_fds(3) and sd_notify(3), spoken without libsystemd), its
 * folders, its limits.
 */
#ifndef BROKER_SERVICE_H
#define BROKER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "broker/io/listener.h"

/* All absolute; released with service_paths_release. */
struct service_paths {
	char *runtime;	 /* holds agent/ and frontend/ */
	char *state;	 /* holds the store */
	char *config[2]; /* files in their order */
	size_t n_config;
	char *rules[2]; /* folders of rule files: administrator's; user's, NULL: none */
	bool config_given;	/* by --config: it must exist */
	char *agent, *frontend; /* folders of the sockets */
};

/*
 * User mode: $XDG_RUNTIME_DIR/approvald (or /tmp/approvald-UID where there is no
 * XDG_RUNTIME_DIR), $XDG_STATE_HOME/approvald (~/.local/state), and
 * SYSCONFDIR/approvald.conf then $XDG_CONFIG_HOME/approvald/approvald.conf
 * (~/.config). Rules are in SYSCONFDIR/rules.d, and beside
 * the user's configuration. Arguments that are not NULL replace the defaults. -ENOENT: there is
 * no home folder to find one in; -EINVAL: an argument is empty.
 */
int service_paths_find(
	struct service_paths *out, const char *runtime, const char *state, const char *config);
void service_paths_release(struct service_paths *p);

/*
 * Creates the folder (and, below an existing one, those above it that are missing)
 * with mode 0700 and checks what is there: a folder, no symlink, the broker's own,
 * and writable by nobody else. -EPERM, -ELOOP, -ENOTDIR otherwise.
 */
int service_folder(const char *path);

/* Sockets from the activation, by listener kind; -1: none. */
struct service_sockets {
	int fd[LISTENER_N];
};

/*
 * Takes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES out of the environment. Which
 * socket is which is told by its name ("agent", "frontend"), else by its path. All
 * are made close-on-exec; one that is neither is closed. Returns their number, or
 * -EINVAL where the variables do not parse or two are the same.
 */
int service_sockets_take(struct service_sockets *out, const struct service_paths *paths);

/* Where readiness is told; an unset NOTIFY_SOCKET makes all of it do nothing. */
struct service_notify {
	int fd; /* -1: nobody wants to know */
	struct sockaddr_un address;
	socklen_t address_len;
	uint64_t watchdog_us; /* WATCHDOG_USEC; 0: none */
};

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment. */
int service_notify_init(struct service_notify *n);
void service_notify_release(struct service_notify *n);
int service_notify_ready(const struct service_notify *n, const char *status); /* NULL: none */
int service_notify_reloading(const struct service_notify *n);
int service_notify_stopping(const struct service_notify *n);
int service_notify_watchdog(const struct service_notify *n);
/* status is one line; control characters are replaced. */
int service_notify_status(const struct service_notify *n, const char *status);

/* RLIMIT_NOFILE's soft limit to the hard one. Returns the limit that now stands, or an error.
 */
int64_t service_raise_nofile(void);

#endif
