/* SPDX-License-Identifier: MIT */
#include "tests/daemon/sandbox.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int text_write(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* As root, else as the same user in a user namespace. */
static int namespace_new(void)
{
	const unsigned uid = getuid(), gid = getgid();
	char map[64];
	int err;

	if (unshare(CLONE_NEWNS) == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	err = text_write("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (err == 0)
		err = text_write("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return err == 0 ? text_write("/proc/self/gid_map", map) : err;
}

static int entry_bind(const char *from, const char *to)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(from, &st) < 0)
		return 0; /* it has gone */
	if (S_ISLNK(st.st_mode)) {
		n = readlink(from, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		return symlink(target, to) < 0 ? -errno : 0;
	}
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (mkdir(to, 0755) < 0 || mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		return -errno;
	return 0;
}

/* What is in a folder, but for one name, stands in the other as well. */
static int folder_bind(const char *from, const char *to, const char *const but[])
{
	char a[PATH_MAX], b[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(*from ? from : "/");
	int err = 0;

	while (d && err == 0 && (e = readdir(d))) {
		bool skip = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;

		for (size_t i = 0; but[i]; i++)
			skip |= strcmp(e->d_name, but[i]) == 0;
		if (skip)
			continue;
		snprintf(a, sizeof(a), "%s/%s", from, e->d_name);
		snprintf(b, sizeof(b), "%s/%s", to, e->d_name);
		err = entry_bind(a, b);
	}
	if (d)
		closedir(d);
	return err;
}

int sandbox_enter(const char *root)
{
	char cwd[PATH_MAX], home[PATH_MAX];
	int err;

	if (!getcwd(cwd, sizeof(cwd)))
		return -errno;
	err = namespace_new();
	if (err < 0)
		return err;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", root, "tmpfs", 0, "mode=0755") < 0)
		return -errno;
	err = folder_bind("", root, (const char *const[]){"w", "home", NULL});
	if (err < 0)
		return err;
	snprintf(home, sizeof(home), "%s/home", root);
	if (mkdir(home, 0755) < 0)
		return -errno;
	err = folder_bind("/home", home, (const char *const[]){"u", NULL});
	if (err < 0)
		return err;
	return chroot(root) < 0 || chdir(cwd) < 0 ? -errno : 0;
}

int sandbox_owns(const char *path)
{
	return strncmp(path, "/w/", 3) == 0 || strncmp(path, "/home/u/", 8) == 0;
}

void sandbox_project(const char *path)
{
	char part[PATH_MAX];

	ck_assert(sandbox_owns(path));
	snprintf(part, sizeof(part), "%s/.git/", path);
	for (char *p = part + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		ck_assert_msg(mkdir(part, 0755) == 0 || errno == EEXIST, "%s: %s", part,
			strerror(errno));
		*p = '/';
	}
}
