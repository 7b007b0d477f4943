/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/io/process.h"
#include "broker/io/procfs.h"

/* Linux 6.5; Debian 12's headers do not have it yet */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

RB_HEAD(process_tree, process);

struct process_table {
	struct process_tree tree;
	struct event_base *base;
	process_died died;
	void *arg;
	size_t count;
	int flags;
};

int process_id_compare(const struct process_id *a, const struct process_id *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static int process_compare(struct process *a, struct process *b)
{
	return process_id_compare(&a->id, &b->id);
}

/* bsd/sys/tree.h leaves this to libbsd's own <sys/cdefs.h> */
#ifndef __unused
#define __unused __attribute__((__unused__))
#endif
RB_GENERATE_STATIC(process_tree, process, entry, process_compare)

int process_table_new(struct process_table **out, struct event_base *base, int flags,
	process_died died, void *arg)
{
	struct process_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	RB_INIT(&t->tree);
	t->base = base;
	t->flags = flags;
	t->died = died;
	t->arg = arg;
	*out = t;
	return 0;
}

void process_table_free(struct process_table *t)
{
	assert(!t || RB_EMPTY(&t->tree));
	free(t);
}

size_t process_table_count(const struct process_table *t)
{
	return t->count;
}

/* A pidfd becomes readable when its process has exited, reaped or not. */
static bool pidfd_alive(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

bool process_alive(const struct process *p)
{
	return !p->dead && pidfd_alive(p->pidfd);
}

/* Takes the pidfd over on success; the process was seen alive after id was read. */
static int process_share(
	struct process_table *t, const struct process_id *id, int pidfd, struct process **out)
{
	struct process key = {.id = *id};
	struct process *p = RB_FIND(process_tree, &t->tree, &key);

	if (p) {
		if (p->dead)
			return -ESRCH;
		close(pidfd);
		*out = process_ref(p);
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->id = *id;
	p->table = t;
	p->pidfd = pidfd;
	p->refs = 1;
	RB_INSERT(process_tree, &t->tree, p);
	t->count++;
	*out = p;
	return 0;
}

/*
 * The process of a number and of a pidfd that is known to be its own. Its start
 * time is its own too if it is alive after it was read.
 */
static int process_pin(struct process_table *t, uint32_t pid, int pidfd, struct process **out)
{
	struct process_stat st;
	struct process_id id;
	int rc = process_stat_read(pid, &st);

	if (rc)
		return rc;
	if (!pidfd_alive(pidfd))
		return -ESRCH;
	id = (struct process_id){.pid = pid, .start = st.start};
	return process_share(t, &id, pidfd, out);
}

/*
 * The process of a number alone: whatever has the number while the pidfd is
 * opened is the one that had it before, if the start time is the same.
 */
static int process_open(
	struct process_table *t, uint32_t pid, const uint64_t *start, struct process **out)
{
	struct process_stat before, after;
	struct process_id id;
	int pidfd, rc;

	rc = process_stat_read(pid, &before);
	if (rc)
		return rc;
	if (start && before.start != *start)
		return -ESRCH;
	pidfd = pidfd_open((pid_t)pid, 0);
	if (pidfd < 0)
		/* EINVAL: of a thread that leads no process */
		return errno == EINVAL || errno == ENOENT ? -EBADF : -errno;
	rc = process_stat_read(pid, &after);
	if (!rc && (after.start != before.start || !pidfd_alive(pidfd)))
		rc = -ESRCH;
	if (!rc) {
		id = (struct process_id){.pid = pid, .start = after.start};
		rc = process_share(t, &id, pidfd, out);
	}
	if (rc)
		close(pidfd);
	return rc;
}

int process_from_peer(
	struct process_table *t, int sock, struct process_cred *cred, struct process **out)
{
	struct ucred u;
	socklen_t len = sizeof(u);
	int pidfd, rc;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &u, &len) < 0)
		return -errno;
	if (len != sizeof(u))
		return -EBADMSG;
	cred->uid = u.uid;
	cred->gid = u.gid;
	if (u.pid <= 0) /* of a pid namespace that is not below ours */
		return -ESRCH;
	len = sizeof(pidfd);
	if ((t->flags & PROCESS_NO_PEERPIDFD) ||
		getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) < 0) {
		if (!(t->flags & PROCESS_NO_PEERPIDFD) && errno != ENOPROTOOPT)
			return errno == ENODATA || errno == EINVAL ? -ESRCH : -errno;
		rc = process_open(t, (uint32_t)u.pid, NULL, out);
		return rc == -EBADF ? -ESRCH : rc;
	}
	rc = process_pin(t, (uint32_t)u.pid, pidfd, out);
	if (rc)
		close(pidfd);
	return rc;
}

int process_from_pidfd(struct process_table *t, int pidfd, struct process **out)
{
	struct process *p;
	uint32_t pid;
	int rc;

	/* signal 0 tells a pidfd from other descriptors; EPERM is somebody else's */
	if (pidfd_send_signal(pidfd, 0, NULL, 0) < 0 && errno != EPERM)
		return errno == ESRCH ? -ESRCH : -EBADF;
	rc = procfs_pidfd_pid(pidfd, &pid);
	if (rc)
		return rc;
	/* our own pidfd: the one that was sent may be of a thread, or not to be polled */
	rc = process_open(t, pid, NULL, &p);
	if (rc)
		return rc;
	/* the number was still that of the sent pidfd when ours was open */
	if (pidfd_send_signal(pidfd, 0, NULL, 0) < 0 && errno != EPERM) {
		process_unref(p);
		return -ESRCH;
	}
	*out = p;
	return 0;
}

int process_from_id(struct process_table *t, const struct process_id *id, struct process **out)
{
	struct process key = {.id = *id};
	struct process *p = RB_FIND(process_tree, &t->tree, &key);
	int rc;

	if (id->pid == 0 || id->pid > INT32_MAX)
		return -ESRCH;
	/* most often a peer, which is pinned already */
	if (p) {
		if (!process_alive(p))
			return -ESRCH;
		*out = process_ref(p);
		return 0;
	}
	rc = process_open(t, id->pid, &id->start, out);
	return rc == -EBADF ? -ESRCH : rc;
}

int process_self(struct process_table *t, struct process **out)
{
	struct process_cred cred;
	int pair[2], rc;

	/* as the peer of itself, on the same way as everybody else */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	rc = process_from_peer(t, pair[0], &cred, out);
	close(pair[0]);
	close(pair[1]);
	return rc;
}

struct process *process_ref(struct process *p)
{
	if (p)
		p->refs++;
	return p;
}

struct process *process_unref(struct process *p)
{
	if (!p)
		return NULL;
	assert(p->refs > 0);
	if (--p->refs > 0)
		return NULL;
	assert(p->watchers == 0 && !p->death);
	RB_REMOVE(process_tree, &p->table->tree, p);
	p->table->count--;
	close(p->pidfd);
	free(p->chain);
	free(p);
	return NULL;
}

static void on_death(evutil_socket_t fd, short what, void *arg)
{
	struct process *p = process_ref(arg);

	p->dead = true;
	event_free(p->death);
	p->death = NULL;
	if (p->table->died)
		p->table->died(p->table->arg, p);
	process_unref(p);
}

int process_watch(struct process *p)
{
	if (!process_alive(p))
		return -ESRCH;
	if (p->watchers == 0) {
		p->death = event_new(p->table->base, p->pidfd, EV_READ, on_death, p);
		if (!p->death || event_add(p->death, NULL) < 0) {
			if (p->death)
				event_free(p->death);
			p->death = NULL;
			return -ENOMEM;
		}
	}
	p->watchers++;
	return 0;
}

void process_unwatch(struct process *p)
{
	assert(p->watchers > 0);
	if (--p->watchers == 0 && p->death) {
		event_free(p->death);
		p->death = NULL;
	}
}
