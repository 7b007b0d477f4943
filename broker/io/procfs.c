/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/procfs.h"
#include "broker/io/process.h"

static int file_read(const char *path, char *buf, size_t *len)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (used < PROCFS_FILE) {
		n = read(fd, buf + used, PROCFS_FILE - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (n < 0) {
		n = -errno;
		close(fd);
		return (int)n;
	}
	close(fd);
	if (used == PROCFS_FILE)
		return -EBADMSG;
	buf[used] = '\0';
	*len = used;
	return 0;
}

int procfs_read(uint32_t pid, const char *name, char buf[PROCFS_FILE], size_t *len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return file_read(path, buf, len);
}

int procfs_number(const char **text, const char *end, uint64_t max, uint64_t *out)
{
	const char *s = *text;
	uint64_t v = 0;

	if (s >= end || *s < '0' || *s > '9')
		return -EBADMSG;
	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		unsigned digit = (unsigned)(*s - '0');

		if (v > max / 10 || v * 10 > max - digit)
			return -EBADMSG;
		v = v * 10 + digit;
	}
	*text = s;
	*out = v;
	return 0;
}

static bool skip_char(const char **s, const char *end, char c)
{
	if (*s >= end || **s != c)
		return false;
	++*s;
	return true;
}

/* One field that may have a sign, and the blank after it. */
static int skip_field(const char **s, const char *end)
{
	uint64_t unused;

	skip_char(s, end, '-');
	if (procfs_number(s, end, UINT64_MAX, &unused) || !skip_char(s, end, ' '))
		return -EBADMSG;
	return 0;
}

int process_stat_parse(struct bytes text, struct process_stat *out)
{
	const char *s = text.data, *end, *close;
	struct process_stat st = {0};
	uint64_t v;

	if (text.len == 0)
		return -EBADMSG;
	end = s + text.len;
	if (procfs_number(&s, end, INT32_MAX, &v) || v == 0)
		return -EBADMSG;
	st.pid = (uint32_t)v;
	if (!skip_char(&s, end, ' ') || !skip_char(&s, end, '('))
		return -EBADMSG;
	/* the name may hold parentheses, what follows it can't: the last one ends it */
	close = memrchr(s, ')', (size_t)(end - s));
	if (!close)
		return -EBADMSG;
	s = close + 1;
	if (!skip_char(&s, end, ' ') || s >= end || *s < 'A' || *s > 'z')
		return -EBADMSG;
	st.state = *s++;
	if (!skip_char(&s, end, ' ') || procfs_number(&s, end, INT32_MAX, &v) ||
		!skip_char(&s, end, ' '))
		return -EBADMSG;
	st.ppid = (uint32_t)v;
	for (int field = 5; field < 22; field++)
		if (skip_field(&s, end))
			return -EBADMSG;
	if (procfs_number(&s, end, UINT64_MAX, &st.start) || !skip_char(&s, end, ' '))
		return -EBADMSG;
	*out = st;
	return 0;
}

int process_stat_read(uint32_t pid, struct process_stat *out)
{
	char buf[PROCFS_FILE];
	size_t len;
	int rc = procfs_read(pid, "stat", buf, &len);

	if (!rc)
		rc = process_stat_parse((struct bytes){buf, len}, out);
	if (!rc && out->pid != pid)
		rc = -EBADMSG;
	return rc;
}

/* The rest of the line that starts with key; NULL: there is none. *end is its end. */
static const char *line_find(struct bytes text, const char *key, const char **end)
{
	const char *s = text.data, *stop = s + text.len;
	size_t n = strlen(key);

	while (s < stop) {
		const char *eol = memchr(s, '\n', (size_t)(stop - s));

		if (!eol)
			return NULL;
		if ((size_t)(eol - s) >= n && memcmp(s, key, n) == 0) {
			*end = eol;
			return s + n;
		}
		s = eol + 1;
	}
	return NULL;
}

int procfs_pidfd_pid(int pidfd, uint32_t *pid)
{
	char path[64], buf[PROCFS_FILE];
	const char *s, *end;
	uint64_t v;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	rc = file_read(path, buf, &len);
	if (rc)
		return rc == -ESRCH ? -EBADF : rc;
	s = line_find((struct bytes){buf, len}, "Pid:\t", &end);
	if (!s)
		return -EBADF;
	if (end - s == 2 && memcmp(s, "-1", 2) == 0)
		return -ESRCH;
	if (procfs_number(&s, end, INT32_MAX, &v) || s != end)
		return -EBADMSG;
	if (v == 0) /* of a pid namespace that is not below ours */
		return -ESRCH;
	*pid = (uint32_t)v;
	return 0;
}

int procfs_status_uid(struct bytes text, uint32_t uid)
{
	const char *end, *s = line_find(text, "Uid:", &end);
	bool all = true;

	if (!s)
		return -EBADMSG;
	/* real, effective, saved, and that of the file system */
	for (int i = 0; i < 4; i++) {
		uint64_t v;

		if (!skip_char(&s, end, '\t') || procfs_number(&s, end, UINT32_MAX, &v))
			return -EBADMSG;
		all = all && v == uid;
	}
	return s == end ? all : -EBADMSG;
}

int procfs_link(const char *path, char **out)
{
	char buf[PATH_MAX + 1];
	ssize_t n = readlink(path, buf, sizeof(buf));

	*out = NULL;
	if (n <= 0 || (size_t)n >= sizeof(buf))
		return 0;
	buf[n] = '\0';
	*out = strdup(buf);
	return *out ? 0 : -ENOMEM;
}
