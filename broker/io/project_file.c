/* SPDX-License-Identifier: MIT */
#include "broker/io/project_file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/limits.h"

_Static_assert(PROJECT_HASH == SHA256_DIGEST_SIZE, "the hash is a SHA-256");

static int bad(struct project_file *file, const char *problem, int error)
{
	file->state = PROJECT_FILE_BAD;
	file->problem = problem;
	file->error = error;
	return 0;
}

static int failed(struct project_file *file, int error)
{
	if (error == ENOENT) {
		file->state = PROJECT_FILE_MISSING;
		return 0;
	}
	if (error == ELOOP)
		return bad(file, "it is a symbolic link", error);
	if (error == ENOTDIR)
		return bad(file, "there is a link, or no folder, on the way to it", error);
	return bad(file, strerrordesc_np(error) ? strerrordesc_np(error) : "it can't be read",
		error);
}

/* The last folder on the way; a negative errno. */
static int folder_open(int root, const char *project)
{
	char path[LIMIT_TEXT + sizeof("/" PROJECT_RULES)], *part, *rest = path, *slash;
	int fd = root, next;

	if (strlen(project) > LIMIT_TEXT)
		return -ENAMETOOLONG;
	strcpy(path, project);
	strcat(path, "/" PROJECT_RULES);
	slash = strrchr(path, '/');
	*slash = '\0';
	while ((part = strsep(&rest, "/"))) {
		if (!*part)
			continue;
		next = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = -errno;
		if (fd != root)
			close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
	return fd;
}

/* One byte more than there may be, so that what grows is seen. */
static ssize_t fill(int fd, char *text)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len <= LIMIT_PROJECT_FILE) {
		n = read(fd, text + len, LIMIT_PROJECT_FILE + 1 - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
		n = n < 0 ? 1 : n;
	}
	return (ssize_t)len;
}

static uint32_t lines_of(const char *text, size_t len)
{
	const char *at = text;
	uint32_t n = 1;

	while ((at = memchr(at, '\n', len - (size_t)(at - text)))) {
		at++;
		n++;
	}
	return n;
}

/* Lines that are neither blank nor a comment. */
static uint32_t rules_of(const char *text, size_t len)
{
	bool begun = false;
	uint32_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			begun = false;
		} else if (!begun && text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
			begun = true;
			n += text[i] != '#';
		}
	}
	return n;
}

static int take(int fd, const uint8_t known[PROJECT_HASH], struct project_file *file)
{
	struct sha256_ctx c;
	char *text, *fitting;
	ssize_t n;

	text = malloc(LIMIT_PROJECT_FILE + 1);
	if (!text)
		return -ENOMEM;
	n = fill(fd, text);
	if (n < 0 || n > (ssize_t)LIMIT_PROJECT_FILE) {
		free(text);
		return n < 0 ? failed(file, (int)-n)
			     : bad(file, "it is too large (256 KiB at most)", 0);
	}
	sha256_init(&c);
	sha256_update(&c, (size_t)n, (const uint8_t *)text);
	sha256_digest(&c, sizeof(file->hash), file->hash);
	if (known && memcmp(known, file->hash, PROJECT_HASH) == 0) {
		file->state = PROJECT_FILE_SAME;
		free(text);
		return 0;
	}
	file->rules = rules_of(text, (size_t)n);
	if (lines_of(text, (size_t)n) > LIMIT_PROJECT_LINES) {
		free(text);
		return bad(file, "it has too many lines (2000 at most)", 0);
	}
	fitting = realloc(text, (size_t)n + 1);
	file->text = fitting ? fitting : text;
	file->text[n] = '\0';
	file->len = (size_t)n;
	file->state = PROJECT_FILE_NEW;
	return 0;
}

int project_file_read(int root, const char *project, const uint8_t known[PROJECT_HASH],
	struct project_file *file)
{
	const int folder = folder_open(root, project);
	struct stat st;
	int fd, err;

	if (folder < 0)
		return failed(file, -folder);
	fd = openat(folder, strrchr(PROJECT_RULES, '/') + 1,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	err = fd < 0 ? errno : 0;
	close(folder);
	if (fd < 0)
		return failed(file, err);
	if (fstat(fd, &st) < 0) {
		err = failed(file, errno);
	} else if (!S_ISREG(st.st_mode)) {
		err = bad(file, "it is no regular file", 0);
	} else {
		file->changed =
			(int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
		err = take(fd, known, file);
	}
	close(fd);
	return err;
}

void project_file_free(struct project_file *file)
{
	if (!file)
		return;
	free(file->text);
	free(file);
}
