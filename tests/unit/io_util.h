/* SPDX-License-Identifier: MIT */
/* What the tests of the broker's edge have in common. */
#ifndef TEST_IO_UTIL_H
#define TEST_IO_UTIL_H

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* How many descriptors this process has open. */
static UNUSED int fd_count(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -1; /* the folder's own */

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static UNUSED char *folder_make(void)
{
	static char path[64];

	strcpy(path, "/tmp/approvald-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static UNUSED int folder_unlink(
	const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static UNUSED void folder_remove(const char *path)
{
	nftw(path, folder_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* path below a folder; good until the next call but three. */
static UNUSED const char *below(const char *folder, const char *name)
{
	static char paths[4][512];
	static unsigned n;
	char *p = paths[n++ % 4];

	ck_assert_uint_lt(strlen(folder) + 1 + strlen(name), sizeof(paths[0]));
	snprintf(p, sizeof(paths[0]), "%.255s/%.255s", folder, name);
	return p;
}

static UNUSED struct sockaddr_un address(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	ck_assert_uint_lt(strlen(path), sizeof(sa.sun_path));
	strcpy(sa.sun_path, path);
	return sa;
}

static UNUSED int connect_to(const char *path)
{
	struct sockaddr_un sa = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	close(fd);
	return -1;
}

static UNUSED int listen_at(const char *path)
{
	struct sockaddr_un sa = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(fd, 128), 0);
	return fd;
}

/* One byte as a signal between processes. */
static UNUSED void tell(int fd)
{
	ck_assert_int_eq(write(fd, "x", 1), 1);
}

static UNUSED void hear(int fd)
{
	char c;
	ssize_t n;

	while ((n = read(fd, &c, 1)) < 0 && errno == EINTR)
		;
	ck_assert_int_eq(n, 1);
}

static UNUSED void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

#define EXIT_SKIPPED 77

/* Old valgrinds know neither of these, and neither does a kernel before 5.6. */
static UNUSED bool kernel_is_known(void)
{
	return !(syscall(SYS_pidfd_open, -1, 0) < 0 && errno == ENOSYS) &&
	       !(syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS);
}

static UNUSED int run_suite(Suite *s)
{
	SRunner *sr = srunner_create(s);
	int failed;

	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
