/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "libapproval/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OVERFLOW_UID_DEFAULT 65534u
#define ANCESTORS_MAX	     4096 /* a longer chain is no chain but a race */

/* The content of a small file of /proc, NUL-terminated. Its length, or a negative errno. */
static ssize_t read_small(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while ((n > 0 && len < size - 1) || (n < 0 && errno == EINTR));
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buf[len] = '\0';
	return (ssize_t)len;
}

static int parse_number(const char *s, long max, long *out)
{
	char *end;
	long n;

	if (*s < '0' || *s > '9')
		return -EPROTO;
	errno = 0;
	n = strtol(s, &end, 10);
	if (errno || n > max || (*end != '\n' && *end != ' ' && *end != '\0'))
		return -EPROTO;
	*out = n;
	return 0;
}

/* Of a pid; 0 where it has none that we can see. */
static int parent_of(pid_t pid, pid_t *out)
{
	char path[64], buf[512], *p;
	long ppid;
	ssize_t n;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = read_small(path, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	/* "PID (NAME) STATE PPID …"; the name is anything, the last parenthesis ends it */
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
		return -EPROTO;
	rc = parse_number(p + 4, INT32_MAX, &ppid);
	if (rc < 0)
		return rc;
	*out = (pid_t)ppid;
	return 0;
}

int trust_descends(pid_t pid, pid_t ancestor)
{
	int i, rc;

	for (i = 0; i < ANCESTORS_MAX; i++) {
		if (pid == ancestor)
			return 1;
		if (pid <= 1)
			return 0;
		rc = parent_of(pid, &pid);
		if (rc < 0)
			return rc;
	}
	return -ELOOP;
}

pid_t trust_pid_of(int pidfd)
{
	char path[64], buf[1024], *p;
	ssize_t n;
	long pid;
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	n = read_small(path, buf, sizeof(buf));
	if (n < 0)
		return (pid_t)n;
	p = strstr(buf, "\nPid:\t");
	if (!p)
		return -EINVAL;
	/* -1: it has ended */
	if (p[6] == '-')
		return -ESRCH;
	rc = parse_number(p + 6, INT32_MAX, &pid);
	if (rc < 0)
		return rc;
	/* 0: of a namespace that we do not see into */
	return pid > 0 ? (pid_t)pid : -ESRCH;
}

/* The uid that stands for those that this user namespace does not know. */
static uid_t overflow_uid(void)
{
	char buf[32];
	long uid;

	if (read_small("/proc/sys/kernel/overflowuid", buf, sizeof(buf)) < 0 ||
		parse_number(buf, UINT32_MAX, &uid) < 0)
		return OVERFLOW_UID_DEFAULT;
	return (uid_t)uid;
}

static bool is_system_user(uid_t uid)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (uid == 0)
		return true;
	return getpwnam_r(TRUST_SYSTEM_USER, &pw, buf, sizeof(buf), &found) == 0 && found &&
	       found->pw_uid == uid;
}

/* Whether the socket stands in a folder that this process could not have filled. */
static int is_out_of_reach(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct statvfs fs;
	struct stat st;
	char *folder;
	int rc;

	folder = !slash ? strdup(".")
			: strndup(path, slash == path ? 1 : (size_t)(slash - path));
	if (!folder)
		return -ENOMEM;
	if (statvfs(folder, &fs) < 0 || stat(folder, &st) < 0)
		rc = -errno;
	else if (fs.f_flag & ST_RDONLY)
		rc = 1;
	else /* the owner of a folder gives itself the right to write in a moment */
		rc = st.st_uid != geteuid() &&
		     faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) < 0;
	free(folder);
	return rc;
}

int trust_judge(int fd, const struct place *p, pid_t subject)
{
	uid_t own = geteuid();
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int rc;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	if (len != sizeof(peer))
		return -EPROTO;

	if (peer.pid <= 0 || (peer.uid != own && peer.uid == overflow_uid())) {
		if (p->compiled && p->system)
			return TRUST_OK;
		rc = is_out_of_reach(p->path);
		return rc < 0 ? rc : rc ? TRUST_OK : TRUST_UNSEEN;
	}
	if (p->system && !is_system_user(peer.uid))
		return TRUST_NOT_SYSTEM;
	if (peer.uid != own)
		return is_system_user(peer.uid) ? TRUST_OK : TRUST_STRANGER;
	if (subject <= 0)
		return TRUST_OK;
	rc = trust_descends(peer.pid, subject);
	return rc < 0 ? rc : rc ? TRUST_OFFSPRING : TRUST_OK;
}

const char *trust_reason(enum trust t)
{
	switch (t) {
	case TRUST_OK: return "a broker of ours";
	case TRUST_STRANGER: return "belongs to another user";
	case TRUST_NOT_SYSTEM: return "is not the system broker that this machine has";
	case TRUST_UNSEEN:
		return "is of another namespace, behind a path that anybody here could have "
		       "made";
	case TRUST_OFFSPRING: return "is the agent itself or was started by it";
	}
	return "cannot be judged";
}
