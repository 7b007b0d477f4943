/* SPDX-License-Identifier: MIT */
/* What a process runs, and where: the part of process.h that looks around it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "broker/io/process.h"
#include "broker/io/procfs.h"
#include "broker/io/path.h"

#define ROOT_TRUSTED_US 1000000 /* a process's root is looked at again after so long */

static const char deleted[] = " (deleted)";

static int64_t now_coarse(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	/* never 0, which stands for "not yet" */
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000 + 1;
}

/* A link in /proc/PID, as a path under the process's own root. */
static int link_read(const struct process *p, const char *name, char **out)
{
	char path[64], *root = NULL, *target = NULL;
	const char *rest;
	int rc;

	*out = NULL;
	snprintf(path, sizeof(path), "/proc/%u/root", p->id.pid);
	rc = procfs_link(path, &root);
	if (!rc) {
		snprintf(path, sizeof(path), "/proc/%u/%s", p->id.pid, name);
		rc = procfs_link(path, &target);
	}
	if (!rc && !process_alive(p))
		rc = -ESRCH;
	if (!rc && root && target) {
		rest = path_below(root, target);
		if (rest) {
			*out = strdup(rest);
			rc = *out ? 0 : -ENOMEM;
		}
	}
	free(root);
	free(target);
	return rc;
}

int process_exe(const struct process *p, char **out)
{
	return link_read(p, "exe", out);
}

int process_cwd(const struct process *p, char **out)
{
	int rc = link_read(p, "cwd", out);
	size_t n = *out ? strlen(*out) : 0;

	/* a folder whose name really ends so is not worth being fooled for */
	if (n >= sizeof(deleted) && strcmp(*out + n - (sizeof(deleted) - 1), deleted) == 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

int process_cgroup(const struct process *p, char **out)
{
	char buf[PROCFS_FILE], *line, *end;
	size_t len;
	int rc = procfs_read(p->id.pid, "cgroup", buf, &len);

	*out = NULL;
	if (!process_alive(p))
		return -ESRCH;
	if (rc)
		return rc == -ESRCH || rc == -ENOMEM ? rc : -EBADMSG;
	line = strncmp(buf, "0::/", 4) == 0 ? buf : strstr(buf, "\n0::/");
	if (!line)
		return 0;
	line = strchr(line, '/');
	end = line ? strchr(line, '\n') : NULL;
	if (!end)
		return 0;
	*end = '\0';
	*out = strdup(line);
	return *out ? 0 : -ENOMEM;
}

int process_has_uid(const struct process *p, uint32_t uid)
{
	char buf[PROCFS_FILE];
	size_t len;
	int rc = procfs_read(p->id.pid, "status", buf, &len);

	if (!rc)
		rc = procfs_status_uid((struct bytes){buf, len}, uid);
	return process_alive(p) ? rc : -ESRCH;
}

static int namespace_read(const char *pid, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	return stat(path, st) < 0 ? -errno : 0;
}

/* Does not wait for the file system: an agent may have a root that never answers. */
static int root_read(int fd, struct statx *sx)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, sx) < 0 ? -errno
										    : 0;
}

static bool root_same(int a, int b)
{
	struct statx x, y;

	return root_read(a, &x) == 0 && root_read(b, &y) == 0 && x.stx_ino == y.stx_ino &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

static int root_look(const struct process *p, int *fd, bool *own)
{
	struct stat theirs, ours;
	char pid[16], path[64];
	int root, mine, rc;

	snprintf(pid, sizeof(pid), "%u", p->id.pid);
	rc = namespace_read(pid, &theirs);
	if (!rc)
		rc = namespace_read("self", &ours);
	if (rc)
		return rc == -ENOENT ? -ESRCH : rc;
	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*own = false;
	if (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino) {
		mine = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		*own = mine >= 0 && root_same(root, mine);
		if (mine >= 0)
			close(mine);
	}
	*fd = root;
	return 0;
}

int process_root(struct process *p, int *out)
{
	int64_t now = now_coarse();
	int fd = -1, rc;
	bool own;

	if (p->dead)
		return -ESRCH;
	if (p->root_own && now - p->root_checked < ROOT_TRUSTED_US) {
		*out = -1;
		return 0;
	}
	rc = root_look(p, &fd, &own);
	if (!rc && !process_alive(p))
		rc = -ESRCH;
	if (rc) {
		p->root_own = false;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	p->root_own = own;
	p->root_checked = now;
	if (own) {
		close(fd);
		fd = -1;
	}
	*out = fd;
	return 0;
}
