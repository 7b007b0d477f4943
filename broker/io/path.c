/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/io/path.h"
#include "libapproval/limits.h"

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

#define TRIES 8 /* openat2 asks for another try while folders are being moved */

const char *path_below(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	if (n == 1 && folder[0] == '/')
		return path[0] == '/' ? path : NULL;
	if (n == 0 || strncmp(folder, path, n) != 0)
		return NULL;
	if (path[n] == '\0')
		return "/";
	return path[n] == '/' ? path + n : NULL;
}

bool path_inside(const char *folder, const char *path)
{
	return path_below(folder, path) != NULL;
}

/* The next component at *s, which is moved behind it; NULL at the end. */
static const char *component_next(const char **s, size_t *len)
{
	const char *start = *s;

	while (*start == '/')
		start++;
	*s = strchrnul(start, '/');
	*len = (size_t)(*s - start);
	return *len ? start : NULL;
}

static bool component_is(const char *c, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(c, text, len) == 0;
}

/* Takes the last component off; "" is the root. */
static void component_pop(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

/* What goes before *path to make it absolute; *path loses its "~". NULL: it can't be made so.
 */
static const char *path_base(struct bytes *path, const char *cwd, const char *home)
{
	const char *s = path->data, *base;

	if (path->len == 0 || path->len > LIMIT_TEXT || memchr(s, '\0', path->len))
		return NULL;
	if (s[0] == '/')
		return "";
	base = cwd;
	if (s[0] == '~') {
		if (path->len > 1 && s[1] != '/')
			return NULL;
		base = home;
		*path = (struct bytes){s + 1, path->len - 1};
	}
	return base && (base[0] == '/' || base[0] == '\0') ? base : NULL;
}

int path_absolute(struct bytes path, const char *cwd, const char *home, char **out)
{
	const char *base = path_base(&path, cwd, home);

	*out = NULL;
	if (!base)
		return 0;
	if (asprintf(out, "%s/%.*s", base, (int)path.len, (const char *)path.data) < 0) {
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* In place, since the result is never ahead of what is read. Returns the new length. */
static size_t normalize(char *path)
{
	const char *s = path, *c;
	char *to = path;
	size_t len;

	while ((c = component_next(&s, &len))) {
		if (component_is(c, len, "."))
			continue;
		if (component_is(c, len, "..")) {
			while (to > path && *--to != '/')
				;
			continue;
		}
		*to++ = '/';
		memmove(to, c, len);
		to += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
	return (size_t)(to - path);
}

int path_lexical(struct bytes path, const char *cwd, const char *home, char **out)
{
	int rc = path_absolute(path, cwd, home, out);

	if (!rc && *out)
		normalize(*out);
	return rc;
}

static int open_how(
	int root, const char *path, uint64_t flags, uint64_t resolve, bool only_cached)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | resolve | (only_cached ? RESOLVE_CACHED : 0),
	};
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != EAGAIN || only_cached)
			break;
	}
	/* a kernel without RESOLVE_CACHED, or a sandbox without openat2, can't tell */
	if (only_cached && (errno == EINVAL || errno == ENOSYS || errno == EPERM))
		return -EAGAIN;
	if (!only_cached && errno == EAGAIN)
		return -EBUSY;
	return -errno;
}

static int open_in(int root, const char *path, uint64_t flags, bool only_cached)
{
	return open_how(root, path, flags, 0, only_cached);
}

/* The path of a descriptor in the eyes of the broker. */
static int descriptor_path(int fd, char buf[PATH_MAX + 1])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, PATH_MAX + 1);
	if (n < 0)
		return -errno;
	if (n == 0 || n > PATH_MAX || buf[0] != '/')
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return 0;
}

/*
 * The path of a descriptor under root, without a trailing slash: "" is the root.
 * What has been removed has none.
 */
static int descriptor_path_below(int root, int fd, char out[PATH_MAX + 1])
{
	static const char deleted[] = " (deleted)";
	char top[PATH_MAX + 1], path[PATH_MAX + 1];
	const char *rest;
	size_t n;
	int rc = descriptor_path(fd, path);

	if (!rc)
		rc = descriptor_path(root, top);
	if (rc)
		return rc;
	rest = path_below(top, path);
	if (!rest)
		return -EXDEV;
	n = strlen(rest);
	if (n >= sizeof(deleted) && strcmp(rest + n - (sizeof(deleted) - 1), deleted) == 0)
		return -ESTALE;
	if (n == 1)
		n = 0;
	memcpy(out, rest, n);
	out[n] = '\0';
	return 0;
}

/* Where a walk stands: done is resolved, of which `missing` components do not exist. */
struct walk {
	int root;
	bool only_cached;
	unsigned links;
	size_t missing;
	char done[PATH_MAX + 1];
	char *rest;
};

static int walk_append(struct walk *w, const char *c, size_t len)
{
	size_t n = strlen(w->done);

	if (n + 1 + len > PATH_MAX)
		return -ENAMETOOLONG;
	w->done[n] = '/';
	memcpy(w->done + n + 1, c, len);
	w->done[n + 1 + len] = '\0';
	return 0;
}

/*
 * The last component of w->done is not there, or is a link to what is not there:
 * then the walk goes on with its target. -EAGAIN: reading it may look at the disk.
 */
static int walk_dangling(struct walk *w, const char *rest)
{
	char target[PATH_MAX + 1], *joined;
	int fd = open_in(w->root, w->done, O_NOFOLLOW, w->only_cached);
	ssize_t n;

	if (fd == -ENOENT) {
		w->missing = 1;
		return 0;
	}
	if (fd < 0)
		return fd;
	if (w->only_cached) {
		close(fd);
		return -EAGAIN;
	}
	n = readlinkat(fd, "", target, sizeof(target));
	close(fd);
	if (n <= 0 || n > PATH_MAX)
		return -ELOOP;
	if (++w->links > LIMIT_SYMLINKS)
		return -ELOOP;
	target[n] = '\0';
	if (strlen(rest) + (size_t)n > 2 * PATH_MAX)
		return -ENAMETOOLONG;
	if (asprintf(&joined, "%s/%s", target, rest) < 0)
		return -ENOMEM;
	free(w->rest);
	w->rest = joined;
	if (target[0] == '/')
		w->done[0] = '\0';
	else
		component_pop(w->done);
	return 1;
}

static int walk_step(struct walk *w, const char *c, size_t len, const char *rest)
{
	size_t unused;
	const char *more = rest;
	int fd, rc;

	if (component_is(c, len, "."))
		return 0;
	if (component_is(c, len, "..")) {
		component_pop(w->done);
		if (w->missing > 0)
			w->missing--;
		return 0;
	}
	rc = walk_append(w, c, len);
	if (rc)
		return rc;
	if (w->missing > 0) {
		w->missing++;
		return 0;
	}
	/* only the last one may be something else than a folder */
	fd = open_in(w->root, w->done, component_next(&more, &unused) ? O_DIRECTORY : 0,
		w->only_cached);
	if (fd == -ENOENT)
		return walk_dangling(w, rest);
	if (fd < 0)
		return fd;
	rc = descriptor_path_below(w->root, fd, w->done);
	close(fd);
	return rc;
}

/* Component by component, for what does not exist as a whole. */
static int walk(struct walk *w)
{
	const char *s = w->rest, *c;
	size_t len;

	while ((c = component_next(&s, &len))) {
		int rc = walk_step(w, c, len, s);

		if (rc < 0)
			return rc;
		if (rc > 0)
			s = w->rest;
	}
	return 0;
}

static bool has_dotdot(const char *path)
{
	const char *c;
	size_t len;

	if (!strstr(path, ".."))
		return false;
	while ((c = component_next(&path, &len)))
		if (component_is(c, len, ".."))
			return true;
	return false;
}

/* What stands for the broker in /proc: the agent would find itself there, or nothing. */
static bool is_own_proc(const char *path)
{
	char self[32];

	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	snprintf(self, sizeof(self), "/proc/%d", (int)getpid());
	return path_inside(self, path);
}

/*
 * A path without ".." on whose way there is no symlink, as far as it exists, is
 * resolved as it stands, and so most are in one step. -ELOOP: there is one.
 */
static int resolve_plain(int root, const char *absolute, bool only_cached, char **out)
{
	int fd;

	if (has_dotdot(absolute))
		return -ELOOP;
	fd = open_how(root, absolute, 0, RESOLVE_NO_SYMLINKS, only_cached);
	if (fd >= 0)
		close(fd);
	else if (fd != -ENOENT)
		return fd;
	*out = strdup(absolute);
	if (!*out)
		return -ENOMEM;
	normalize(*out);
	if (!is_own_proc(*out))
		return 0;
	free(*out);
	*out = NULL;
	return -EXDEV;
}

static int resolve_links(int root, const char *absolute, bool only_cached, char **out)
{
	struct walk w = {.root = root, .only_cached = only_cached};
	int rc, fd = open_in(root, absolute, 0, only_cached);

	if (fd >= 0) {
		rc = descriptor_path_below(root, fd, w.done);
		close(fd);
	} else if (fd == -ENOENT) {
		w.rest = strdup(absolute);
		rc = w.rest ? walk(&w) : -ENOMEM;
		free(w.rest);
	} else {
		rc = fd;
	}
	if (!rc && is_own_proc(w.done))
		rc = -EXDEV;
	if (!rc)
		*out = strdup(w.done[0] ? w.done : "/");
	return rc || *out ? rc : -ENOMEM;
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/*
 * What is open in a process already, and what /proc tells it of itself: not to be followed,
 * since whoever asks for it is another process, and no name of another file. What leads on
 * from there (root, cwd, exe, a folder that is open) is not among these.
 */
static bool names_itself(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr",
		"/dev/fd", "/proc/self/fd", "/proc/self/cgroup", "/proc/self/cmdline",
		"/proc/self/comm", "/proc/self/io", "/proc/self/limits", "/proc/self/maps",
		"/proc/self/mountinfo", "/proc/self/mounts", "/proc/self/smaps",
		"/proc/self/stat", "/proc/self/statm", "/proc/self/status"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return (strncmp(path, "/dev/fd/", 8) == 0 && is_number(path + 8)) ||
	       (strncmp(path, "/proc/self/fd/", 14) == 0 && is_number(path + 14));
}

int path_resolve(int root, const char *absolute, bool only_cached, char **out)
{
	const char *once = absolute;
	int rc;

	*out = NULL;
	while (once[0] == '/' && once[1] == '/')
		once++;
	if (names_itself(once)) {
		*out = strdup(once);
		return *out ? 0 : -ENOMEM;
	}
	rc = resolve_plain(root, absolute, only_cached, out);
	if (rc == -ELOOP)
		rc = resolve_links(root, absolute, only_cached, out);
	return rc == -ENOMEM || (rc == -EAGAIN && only_cached) ? rc : 0;
}

int path_resolve_plain(int root, struct bytes path, const char *cwd, const char *home,
	char *buf, size_t size, size_t *len)
{
	const char *base = path_base(&path, cwd, home);
	size_t n = base ? strlen(base) : 0;
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_DIRECTORY,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_CACHED |
			   (root >= 0 ? RESOLVE_IN_ROOT : 0),
	};
	int fd;

	if (!base || n + path.len + 2 > size)
		return 0;
	memcpy(buf, base, n);
	buf[n] = '/';
	memcpy(buf + n + 1, path.data, path.len);
	buf[n + 1 + path.len] = '\0';
	if (has_dotdot(buf))
		return 0;
	*len = normalize(buf);
	/* a file is refused as no folder, but only after all of the way: that saves the close
	 */
	fd = (int)syscall(SYS_openat2, root >= 0 ? root : AT_FDCWD, buf, &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	else if (errno != ENOTDIR && errno != ENOENT)
		return 0;
	return !is_own_proc(buf);
}

int path_exists(int root, const char *absolute, bool only_cached)
{
	int fd = open_in(root, absolute, O_NOFOLLOW, only_cached);

	if (fd == -EAGAIN && only_cached)
		return -EAGAIN;
	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}
