/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "broker/io/cgroup.h"
#include "broker/io/procfs.h"

/* The mount that a descriptor's file is reached by; the kernel tells it without the file
 * system's help. */
static int mount_of(int fd, int *id)
{
	char path[64], line[128];
	int rc = -EINVAL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -EINVAL;
	while (rc && fgets(line, sizeof(line), f))
		if (sscanf(line, "mnt_id: %d", id) == 1)
			rc = 0;
	fclose(f);
	return rc;
}

/* Of a mount of ours that is cgroup2: what it shows of the hierarchy, and where. */
static int mount_find(int id, char root[PATH_MAX], char point[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	int rc = -EINVAL;

	if (!f)
		return -EINVAL;
	while (rc == -EINVAL && getline(&line, &size, f) > 0) {
		const char *type = strstr(line, " - ");
		int found;

		if (!type || strncmp(type, " - cgroup2 ", 11) != 0 || strlen(line) >= PATH_MAX)
			continue;
		if (sscanf(line, "%d %*d %*s %s %s", &found, root, point) == 3 && found == id)
			rc = strchr(root, '\\') || strchr(point, '\\') ? -ELOOP : 0;
	}
	free(line);
	fclose(f);
	return rc ? -EINVAL : 0;
}

int cgroup_of_fd(int fd, const char *name, char **out)
{
	char root[PATH_MAX], point[PATH_MAX], link[64];
	size_t n, skip;
	struct statfs st;
	char *path;
	int id, rc, flags = fcntl(fd, F_GETFL);

	*out = NULL;
	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY)
		return -EINVAL;
	rc = mount_of(fd, &id);
	if (rc == 0)
		rc = mount_find(id, root, point);
	if (rc < 0)
		return rc;
	if (fstatfs(fd, &st) < 0 || st.f_type != CGROUP2_SUPER_MAGIC)
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	rc = procfs_link(link, &path);
	if (rc < 0 || !path)
		return rc < 0 ? rc : -EINVAL;
	rc = -EINVAL;
	skip = strcmp(point, "/") == 0 ? 0 : strlen(point);
	n = strlen(path);
	if (n < skip + strlen(name) + 2 || strncmp(path, point, skip) != 0 ||
		path[skip] != '/' || strcmp(path + n - strlen(name), name) != 0 ||
		path[n - strlen(name) - 1] != '/')
		goto out;
	path[n - strlen(name) - 1] = '\0';
	if (strcmp(root, "/") == 0)
		root[0] = '\0';
	if (!root[0] && !path[skip]) /* the root of all */
		goto out;
	rc = asprintf(out, "%s%s", root, path + skip) < 0 ? -ENOMEM : 0;
	if (rc < 0)
		*out = NULL;
out:
	free(path);
	return rc;
}

bool cgroup_within(const char *path, const char *cgroup)
{
	size_t n;

	if (!path || !cgroup)
		return false;
	n = strlen(cgroup);
	return strncmp(path, cgroup, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

int cgroup_write(int fd, const char *value)
{
	size_t len = strlen(value);
	ssize_t n;

	do
		n = pwrite(fd, value, len, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n == (ssize_t)len ? 0 : -EIO;
}
