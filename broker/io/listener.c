/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "broker/io/ancestry.h"
#include "broker/io/flood.h"
#include "broker/io/folder.h"
#include "broker/io/foreign.h"
#include "broker/io/listener.h"
#include "libapproval/limits.h"

#define NAME "sock"

struct listener {
	struct listener_config config;
	struct process_table *processes;
	struct log *log;
	listener_accepted accepted;
	void *arg;
	struct event *readable, *retry;
	int fd;
	int folder;  /* holds the lock; -1: the socket was inherited */
	int reserve; /* given up for a moment to turn somebody away */
	int most;    /* descriptors from here on are kept for the broker */
	dev_t dev;
	ino_t ino;
	bool full, paused;
	struct flood flood;	/* of what is said when it is full */
	struct foreign foreign; /* connections that were turned away */
};

static const char *kind_text(const struct listener *l)
{
	return l->config.kind == LISTENER_AGENT ? "agent" : "frontend";
}

/* ---- accepting ---- */

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	if (!l->paused)
		event_add(l->readable, NULL);
}

/* The system has nothing to give: look away for a while, instead of spinning. */
static void back_off(struct listener *l)
{
	static const struct timeval tv = {0, TIME_ACCEPT_RETRY_MS * 1000};

	event_del(l->readable);
	event_add(l->retry, &tv);
}

static void reserve_open(struct listener *l)
{
	if (l->reserve < 0)
		l->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Whoever holds many descriptors can let it come and go as often as it likes. */
static void report_full(struct listener *l)
{
	struct timespec ts;
	uint64_t more, kind;
	int64_t now;

	if (l->full)
		return;
	l->full = true;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
	more = flood_over(&l->flood, now, &kind);
	if (more)
		log_warning(l->log, "%s socket: out of descriptors %llu more times",
			kind_text(l), (unsigned long long)more);
	if (flood_pass(&l->flood, 0, now))
		log_warning(l->log,
			"%s socket: out of descriptors, connections are turned away",
			kind_text(l));
}

/* Accepts with the reserve descriptor and closes, so that the client knows. */
static void turn_away(struct listener *l)
{
	int fd;

	report_full(l);
	if (l->reserve >= 0)
		close(l->reserve);
	l->reserve = -1;
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		back_off(l);
	else
		foreign_add_connection(&l->foreign, fd);
	reserve_open(l);
}

static int admit(struct listener *l, int fd)
{
	struct process_cred cred;
	struct process *process;
	int rc;

	if (fd >= l->most)
		return -EMFILE;
	rc = process_from_peer(l->processes, fd, &cred, &process);
	if (rc)
		return rc;
	if (l->config.own_uid_only && cred.uid != geteuid() && cred.uid != 0)
		rc = -EPERM;
	/* its ancestors as they are now: an agent's process may leave its tree later */
	if (!rc && l->config.kind == LISTENER_FRONTEND)
		rc = process_record(process);
	if (rc) {
		process_unref(process);
		return rc;
	}
	l->full = false;
	l->accepted(l->arg, l->config.kind, fd, &cred, process);
	return 0;
}

static void connections_accept(struct listener *l)
{
	for (unsigned i = 0; i < LIMIT_ACCEPT_BURST && !l->paused; i++) {
		int rc, fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			if (errno == EMFILE || errno == ENFILE)
				turn_away(l);
			else if (errno != EAGAIN)
				back_off(l);
			return;
		}
		rc = admit(l, fd);
		if (rc == 0)
			continue;
		foreign_add_connection(&l->foreign, fd);
		if (rc == -EMFILE || rc == -ENFILE)
			report_full(l);
		else
			log_debug(l->log, "%s socket: connection refused: %s", kind_text(l),
				strerror(-rc));
	}
}

static void on_connection(evutil_socket_t sock, short what, void *arg)
{
	struct listener *l = arg;

	connections_accept(l);
	/* what they have sent already is not to hold up the loop */
	foreign_flush(&l->foreign);
}

/* ---- the socket ---- */

static int address_make(struct sockaddr_un *sa, const char *folder, const char *name)
{
	int n;

	*sa = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "%s/%s", folder, name);
	return n < 0 || (size_t)n >= sizeof(sa->sun_path) ? -ENAMETOOLONG : 0;
}

/* 0: nobody listens there, there may be nothing at all. */
static int address_check_free(int folder, const struct sockaddr_un *sa)
{
	struct stat st;
	int fd, rc = 0;

	if (fstatat(folder, NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* only a refusal proves it; EAGAIN is a full queue of somebody alive */
	if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 ||
		(errno != ECONNREFUSED && errno != ENOENT))
		rc = -EADDRINUSE;
	close(fd);
	return rc;
}

static int socket_place(struct listener *l, const char *name)
{
	const struct listener_config *c = &l->config;
	struct stat st;

	if (fchmodat(l->folder, name, c->socket_mode, 0) < 0)
		return -errno;
	if (c->socket_gid != (gid_t)-1 &&
		fchownat(l->folder, name, (uid_t)-1, c->socket_gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (listen(l->fd, SOMAXCONN) < 0 ||
		fstatat(l->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		renameat(l->folder, name, l->folder, NAME) < 0)
		return -errno;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

/* Under a temporary name first, so that nobody ever finds a socket that does not answer. */
static int socket_bind(struct listener *l)
{
	struct sockaddr_un sa, temporary;
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "." NAME ".%d", (int)getpid());
	rc = address_make(&sa, l->config.folder, NAME);
	if (!rc)
		rc = address_make(&temporary, l->config.folder, name);
	if (!rc)
		rc = address_check_free(l->folder, &sa);
	if (rc)
		return rc;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return -errno;
	if (unlinkat(l->folder, name, 0) < 0 && errno != ENOENT)
		return -errno;
	if (bind(l->fd, (const struct sockaddr *)&temporary, sizeof(temporary)) < 0)
		return -errno;
	rc = socket_place(l, name);
	if (rc)
		unlinkat(l->folder, name, 0);
	return rc;
}

static int listener_new(struct listener **out, const struct listener_config *c,
	struct process_table *processes, struct log *log, listener_accepted accepted, void *arg)
{
	struct listener *l = calloc(1, sizeof(*l));
	struct rlimit limit;
	int rc;

	if (!l)
		return -ENOMEM;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		rc = -errno;
		free(l);
		return rc;
	}
	l->config = *c;
	l->config.folder = NULL;
	l->processes = processes;
	l->log = log;
	l->accepted = accepted;
	l->arg = arg;
	l->fd = l->folder = l->reserve = -1;
	l->most = limit.rlim_cur > INT32_MAX ? INT32_MAX : (int)limit.rlim_cur;
	l->most -= (int)LIMIT_RESERVE_FDS;
	/* and some for people: whatever agents take, they can be suspended */
	if (c->kind == LISTENER_AGENT)
		l->most -= l->most / 4 < (int)LIMIT_FRONTEND_FDS ? l->most / 4
								 : (int)LIMIT_FRONTEND_FDS;
	*out = l;
	return 0;
}

static int listener_start(struct listener *l, struct event_base *base)
{
	reserve_open(l);
	l->readable = event_new(base, l->fd, EV_READ | EV_PERSIST, on_connection, l);
	l->retry = evtimer_new(base, on_retry, l);
	if (l->reserve < 0)
		return -errno;
	if (!l->readable || !l->retry || event_add(l->readable, NULL) < 0)
		return -ENOMEM;
	return 0;
}

int listener_open(struct listener **out, const struct listener_config *c,
	struct event_base *base, struct process_table *processes, struct log *log,
	listener_accepted accepted, void *arg)
{
	struct listener *l;
	int rc = listener_new(&l, c, processes, log, accepted, arg);

	if (rc)
		return rc;
	l->config.folder = c->folder;
	rc = folder_open(c->folder, c->folder_mode, &l->folder);
	/* two brokers that start at once can't both find a dead socket and replace it */
	if (!rc && flock(l->folder, LOCK_EX | LOCK_NB) < 0)
		rc = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
	if (!rc)
		rc = socket_bind(l);
	l->config.folder = NULL;
	if (!rc)
		rc = listener_start(l, base);
	if (rc)
		listener_close(l);
	else
		*out = l;
	return rc;
}

static bool is_listening_socket(int fd)
{
	int domain, type, listening;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening;
}

int listener_adopt(struct listener **out, int fd, const struct listener_config *c,
	struct event_base *base, struct process_table *processes, struct log *log,
	listener_accepted accepted, void *arg)
{
	struct listener *l;
	int rc;

	if (!is_listening_socket(fd))
		return -EINVAL;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		return -errno;
	rc = listener_new(&l, c, processes, log, accepted, arg);
	if (rc)
		return rc;
	l->fd = fd;
	rc = listener_start(l, base);
	if (rc) {
		l->fd = -1;
		listener_close(l);
		return rc;
	}
	*out = l;
	return 0;
}

void listener_pause(struct listener *l)
{
	l->paused = true;
	event_del(l->readable);
	event_del(l->retry);
}

void listener_resume(struct listener *l)
{
	if (l->paused)
		event_add(l->readable, NULL);
	l->paused = false;
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (!l)
		return;
	if (l->readable)
		event_free(l->readable);
	if (l->retry)
		event_free(l->retry);
	if (l->folder >= 0) {
		if (l->ino && fstatat(l->folder, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_dev == l->dev && st.st_ino == l->ino)
			unlinkat(l->folder, NAME, 0);
		close(l->folder);
	}
	if (l->fd >= 0)
		close(l->fd);
	if (l->reserve >= 0)
		close(l->reserve);
	foreign_flush(&l->foreign);
	foreign_release(&l->foreign);
	free(l);
}
