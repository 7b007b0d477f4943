/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/common/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cgroup_mount(char root[PATH_MAX], char point[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0)
		found = strlen(line) < PATH_MAX && strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*d %*d %*s %s %s", root, point) == 2 &&
			!strchr(root, '\\') && !strchr(point, '\\');
	free(line);
	if (f)
		fclose(f);
	return found;
}

int cgroup_open(const char *folder, const char *name, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, flags | O_CLOEXEC);
}

bool cgroup_write(const char *folder, const char *name, const char *value)
{
	int fd = cgroup_open(folder, name, O_WRONLY);
	bool ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	int err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return ok;
}
