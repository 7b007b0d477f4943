/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontends/hook/watch_lock.h"

static uint64_t lock_hash(const char *agent, const char *session)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	const char *s;

	for (s = agent; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	h *= UINT64_C(0x100000001b3);
	for (s = session; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return h;
}

/* Each folder of base + below, ours alone. */
static int lock_folder(char *path, size_t size, const char *base, const char *const *below)
{
	struct stat st;
	size_t len;
	int n;

	n = snprintf(path, size, "%s", base);
	for (; n >= 0 && (size_t)n < size && *below; below++) {
		len = (size_t)n;
		n = snprintf(path + len, size - len, "/%s", *below);
		if (n < 0 || (size_t)n >= size - len)
			return -ENAMETOOLONG;
		n += (int)len;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	if (lstat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? 0 : -EPERM;
}

static int lock_base(char *path, size_t size)
{
	static const char *const runtime[] = {"approvald", "watch", NULL};
	static const char *const home[] = {".local", "state", "approvald", "watch", NULL};
	const char *base = getenv("XDG_RUNTIME_DIR");
	int r = -ENOENT;

	if (base && *base == '/')
		r = lock_folder(path, size, base, runtime);
	if (r == 0)
		return 0;
	base = getenv("XDG_STATE_HOME");
	if (base && *base == '/')
		return lock_folder(path, size, base, runtime);
	base = getenv("HOME");
	return base && *base == '/' ? lock_folder(path, size, base, home) : r;
}

int watch_lock_path(char *out, size_t size, const char *agent, const char *session)
{
	size_t len;
	int n, r;

	r = lock_base(out, size);
	if (r < 0)
		return r;
	len = strlen(out);
	/* session ids are the agent's and may hold anything */
	n = snprintf(out + len, size - len, "/%016" PRIx64, lock_hash(agent, session));
	return n < 0 || (size_t)n >= size - len ? -ENAMETOOLONG : 0;
}

bool watch_lock_valid(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int watch_lock_take(const char *path)
{
	int fd, tries, r;

	for (tries = 0; tries < 8; tries++) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			r = -errno;
			close(fd);
			return r;
		}
		if (watch_lock_valid(fd))
			return fd;
		/* removed between the two calls */
		close(fd);
	}
	return -EBUSY;
}
