/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/io/folder.h"

/* The folders above path; those that exist are left as they are. */
static int parents_make(const char *path)
{
	char *copy = strdup(path), *slash;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	for (slash = strchr(copy + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST && errno != EROFS)
			rc = -errno;
		*slash = '/';
	}
	free(copy);
	return rc;
}

static int folder_check(int fd, mode_t mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 022 & ~mode) != 0)
		return -EPERM;
	if ((st.st_mode & 0777 & ~mode) != 0 && fchmod(fd, mode) < 0)
		return -errno;
	return 0;
}

int folder_open(const char *path, mode_t mode, int *out)
{
	int fd, rc;

	if (path[0] != '/')
		return -EINVAL;
	rc = parents_make(path);
	if (rc)
		return rc;
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		struct stat st;

		rc = -errno;
		/* a symlink to anything is ENOTDIR here */
		if (rc == -ENOTDIR && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			rc = -ELOOP;
		return rc;
	}
	rc = folder_check(fd, mode);
	if (rc || !out)
		close(fd);
	else
		*out = fd;
	return rc;
}
