/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "broker/io/folder.h"
#include "broker/io/workspace.h"
#include "broker/service.h"

#define LISTEN_FDS_START 3
#define LISTEN_FDS_MOST	 16
#define STATUS_MOST	 256

/* ---- folders ---- */

/* printf into memory; NULL in *out and -ENOMEM on failure. */
static int text_make(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int text_make(char **out, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(out, format, ap);
	va_end(ap);
	if (n >= 0)
		return 0;
	*out = NULL;
	return -ENOMEM;
}

/* An argument of the command line, relative to the present folder. */
static int argument_path(char **out, const char *arg)
{
	char *cwd;
	int rc;

	if (!arg[0])
		return -EINVAL;
	if (arg[0] == '/')
		return text_make(out, "%s", arg);
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return -errno;
	rc = text_make(out, "%s/%s", cwd, arg);
	free(cwd);
	return rc;
}

/* An absolute path from the environment; others are to be ignored, says XDG. */
static const char *environment_path(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] == '/' ? v : NULL;
}

static int runtime_find(char **out, const char *arg)
{
	const char *xdg = environment_path("XDG_RUNTIME_DIR");

	if (arg)
		return argument_path(out, arg);
	if (xdg)
		return text_make(out, "%s/approvald", xdg);
	return text_make(out, "/tmp/approvald-%u", (unsigned)getuid());
}

/* $variable/approvald, else HOME/fallback/approvald. */
static int xdg_find(char **out, const char *variable, const char *home, const char *fallback)
{
	const char *xdg = environment_path(variable);

	if (xdg)
		return text_make(out, "%s/approvald", xdg);
	if (!home)
		return -ENOENT;
	return text_make(out, "%s/%s/approvald", home, fallback);
}

static int config_find(struct service_paths *p, const char *home, const char *arg)
{
	char *folder = NULL;
	int rc = text_make(&p->rules[0], "%s/rules.d", PKG_SYSCONFDIR);

	if (rc)
		return rc;
	if (arg) {
		p->config_given = true;
		p->n_config = 1;
		rc = argument_path(&p->config[0], arg);
		if (!rc) /* it is absolute */
			rc = text_make(&p->rules[1], "%.*s",
				(int)(strrchr(p->config[0], '/') - p->config[0]), p->config[0]);
		return rc;
	}
	rc = text_make(&p->config[0], "%s/approvald.conf", PKG_SYSCONFDIR);
	if (rc)
		return rc;
	p->n_config = 1;
	rc = xdg_find(&folder, "XDG_CONFIG_HOME", home, ".config");
	if (!rc)
		rc = text_make(&p->config[1], "%s/approvald.conf", folder);
	if (!rc)
		p->n_config = 2;
	p->rules[1] = folder;
	return rc == -ENOENT ? 0 : rc;
}

int service_paths_find(
	struct service_paths *out, const char *runtime, const char *state, const char *config)
{
	struct service_paths p = {0};
	char *home = NULL;
	int rc = workspace_home(getuid(), &home);

	if (!rc)
		rc = runtime_find(&p.runtime, runtime);
	if (!rc)
		rc = text_make(&p.agent, "%s/agent", p.runtime);
	if (!rc)
		rc = text_make(&p.frontend, "%s/frontend", p.runtime);
	if (!rc)
		rc = state ? argument_path(&p.state, state)
			   : xdg_find(&p.state, "XDG_STATE_HOME", home, ".local/state");
	if (!rc)
		rc = config_find(&p, home, config);
	free(home);
	if (rc)
		service_paths_release(&p);
	else
		*out = p;
	return rc;
}

void service_paths_release(struct service_paths *p)
{
	free(p->runtime);
	free(p->state);
	free(p->agent);
	free(p->frontend);
	free(p->config[0]);
	free(p->config[1]);
	free(p->rules[0]);
	free(p->rules[1]);
	*p = (struct service_paths){0};
}

int service_folder(const char *path)
{
	return folder_open(path, 0700, NULL);
}

/* ---- the environment's numbers ---- */

/* 1: *out is the number in the variable; 0: it is unset; -EINVAL. */
static int environment_number(const char *name, uint64_t *out)
{
	const char *s = getenv(name);
	uint64_t v = 0;

	if (!s)
		return 0;
	if (!*s || strlen(s) > 18)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*out = v;
	return 1;
}

/* Whether the variable, if it is set, names this process. */
static int environment_is_us(const char *name, bool unset)
{
	uint64_t pid;
	int rc = environment_number(name, &pid);

	if (rc < 0)
		return rc;
	return rc == 0 ? unset : pid == (uint64_t)getpid();
}

/* ---- sockets ---- */

static bool socket_is_at(int fd, const char *folder)
{
	struct sockaddr_un sa, want;
	socklen_t len = sizeof(sa);
	int n;

	memset(&sa, 0, sizeof(sa));
	n = snprintf(want.sun_path, sizeof(want.sun_path), "%s/sock", folder);
	return n > 0 && (size_t)n < sizeof(want.sun_path) &&
	       getsockname(fd, (struct sockaddr *)&sa, &len) == 0 && sa.sun_family == AF_UNIX &&
	       len > offsetof(struct sockaddr_un, sun_path) &&
	       strncmp(sa.sun_path, want.sun_path, sizeof(sa.sun_path)) == 0;
}

/* Which socket it is: by its name, else by its path; -1: neither. */
static int socket_kind(int fd, struct bytes name, const struct service_paths *paths)
{
	if (bytes_is(name, "agent"))
		return LISTENER_AGENT;
	if (bytes_is(name, "frontend"))
		return LISTENER_FRONTEND;
	if (socket_is_at(fd, paths->agent))
		return LISTENER_AGENT;
	if (socket_is_at(fd, paths->frontend))
		return LISTENER_FRONTEND;
	return -1;
}

static int sockets_sort(struct service_sockets *out, int n, const char *names,
	const struct service_paths *paths)
{
	int taken = 0, rc = 0;

	for (int fd = LISTEN_FDS_START; fd < LISTEN_FDS_START + n; fd++) {
		struct bytes name = {names, strcspn(names, ":")};
		int kind = -1;

		names += name.len;
		names += *names == ':';
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			rc = -EINVAL;
		else
			kind = socket_kind(fd, name, paths);
		if (kind >= 0 && out->fd[kind] >= 0) {
			rc = -EINVAL;
			kind = -1;
		}
		if (kind >= 0) {
			out->fd[kind] = fd;
			taken++;
		} else {
			close(fd);
		}
	}
	return rc ? rc : taken;
}

int service_sockets_take(struct service_sockets *out, const struct service_paths *paths)
{
	const char *names;
	uint64_t n = 0;
	int rc;

	for (int i = 0; i < LISTENER_N; i++)
		out->fd[i] = -1;
	rc = environment_is_us("LISTEN_PID", false);
	if (rc > 0) {
		rc = environment_number("LISTEN_FDS", &n);
		if (rc > 0 && n > LISTEN_FDS_MOST)
			rc = -EINVAL;
	}
	if (rc > 0) {
		names = getenv("LISTEN_FDNAMES");
		rc = sockets_sort(out, (int)n, names ? names : "", paths);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (int i = 0; i < LISTENER_N && rc < 0; i++) {
		if (out->fd[i] >= 0)
			close(out->fd[i]);
		out->fd[i] = -1;
	}
	return rc;
}

/* ---- readiness ---- */

static int notify_address(struct service_notify *n, const char *path)
{
	size_t len = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || len < 2)
		return -EPROTONOSUPPORT;
	if (len >= sizeof(n->address.sun_path))
		return -ENAMETOOLONG;
	n->address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(n->address.sun_path, path, len);
	n->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (path[0] == '@')
		n->address.sun_path[0] = '\0';
	else
		n->address_len++;
	return 0;
}

int service_notify_init(struct service_notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	uint64_t usec = 0;
	int rc = 0;

	*n = (struct service_notify){.fd = -1};
	if (path)
		rc = notify_address(n, path);
	if (!rc && path && environment_is_us("WATCHDOG_PID", true) == 1 &&
		environment_number("WATCHDOG_USEC", &usec) == 1)
		n->watchdog_us = usec;
	if (!rc && path) {
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		rc = n->fd < 0 ? -errno : 0;
	}
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	return rc;
}

void service_notify_release(struct service_notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

static int notify_send(const struct service_notify *n, const char *text)
{
	if (n->fd < 0)
		return 0;
	if (sendto(n->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		    (const struct sockaddr *)&n->address, n->address_len) < 0)
		return -errno;
	return 0;
}

/* The fields before a status, which is made one line. */
static int notify_status(const struct service_notify *n, const char *fields, const char *status)
{
	char text[STATUS_MOST + 64];
	size_t at;

	if (!status)
		return notify_send(n, fields);
	at = (size_t)snprintf(text, sizeof(text), "%sSTATUS=", fields);

	for (const char *s = status; *s && at < sizeof(text) - 2; s++)
		text[at++] = (unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s;
	text[at] = '\0';
	return notify_send(n, text);
}

int service_notify_ready(const struct service_notify *n, const char *status)
{
	return notify_status(n, "READY=1\n", status);
}

int service_notify_status(const struct service_notify *n, const char *status)
{
	return notify_status(n, "", status);
}

int service_notify_reloading(const struct service_notify *n)
{
	struct timespec ts;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		(unsigned long long)ts.tv_sec * 1000000 +
			(unsigned long long)ts.tv_nsec / 1000);
	return notify_send(n, text);
}

int service_notify_stopping(const struct service_notify *n)
{
	return notify_send(n, "STOPPING=1");
}

int service_notify_watchdog(const struct service_notify *n)
{
	return notify_send(n, "WATCHDOG=1");
}

int64_t service_raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			return -errno;
	}
	return limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
}
