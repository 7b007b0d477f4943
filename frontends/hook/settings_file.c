/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontends/hook/jsontext.h"
#include "frontends/hook/settings_file.h"
#include "frontends/hook/stream.h"

#define BACKUPS_MAX 1000

static int file_read(struct settings_file *f, const char **why)
{
	int fd, r;

	fd = open(f->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = fstat(fd, &f->st) < 0 ? -errno : 0;
	if (r == 0 && !S_ISREG(f->st.st_mode)) {
		*why = "it is no regular file";
		r = -EINVAL;
	}
	if (r == 0)
		r = stream_read(fd, JSONTEXT_SIZE_MAX, 10000, &f->text, &f->len);
	close(fd);
	f->exists = r == 0;
	return r;
}

int settings_file_read(struct settings_file *f, const char *path, const char **why)
{
	int n, r;

	memset(f, 0, sizeof(*f));
	*why = NULL;
	n = snprintf(f->path, sizeof(f->path), "%s", path);
	if (n < 0 || (size_t)n >= sizeof(f->path))
		return -ENAMETOOLONG;
	if (realpath(path, f->real))
		return file_read(f, why);
	r = -errno;
	if (r != -ENOENT)
		return r;
	/* a link to where nothing is yet: it is not ours to guess what was meant */
	if (lstat(path, &f->st) == 0) {
		*why = "it is a symbolic link that leads nowhere";
		return -ENOENT;
	}
	snprintf(f->real, sizeof(f->real), "%s", path);
	f->text = strdup("");
	return f->text ? 0 : -ENOMEM;
}

/* Makes the folder of the path, and those above it. */
static int file_folder(const char *path)
{
	char copy[PATH_MAX];
	char *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int file_fill(int fd, const char *text, size_t len)
{
	int r = stream_write(fd, text, len);

	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r;
}

static int file_backup(struct settings_file *f)
{
	int i, fd, r;

	for (i = 1; i <= BACKUPS_MAX; i++) {
		snprintf(f->backup, sizeof(f->backup), "%s.approvald-backup-%d", f->real, i);
		fd = open(f->backup, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			f->st.st_mode & 07777);
		if (fd >= 0)
			break;
		if (errno != EEXIST)
			return -errno;
	}
	if (i > BACKUPS_MAX)
		return -EEXIST;
	r = file_fill(fd, f->text, f->len);
	if (r == 0 && fchmod(fd, f->st.st_mode & 07777) < 0)
		r = -errno;
	close(fd);
	if (r < 0)
		unlink(f->backup);
	return r;
}

static bool file_changed(const struct settings_file *f)
{
	struct stat st;

	if (stat(f->real, &st) < 0)
		return f->exists || errno != ENOENT;
	return !f->exists || st.st_ino != f->st.st_ino || st.st_size != f->st.st_size ||
	       st.st_mtim.tv_sec != f->st.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != f->st.st_mtim.tv_nsec;
}

/* So that the new name, too, is there after a power cut. */
static int file_sync_folder(const char *path)
{
	char copy[PATH_MAX];
	int fd, r;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int file_replace(struct settings_file *f, const char *text, size_t len)
{
	mode_t mode = f->exists ? f->st.st_mode & 07777 : 0600;
	char temporary[PATH_MAX + 16];
	int fd, r;

	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", f->real);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = file_fill(fd, text, len);
	if (r == 0 && f->exists && f->st.st_uid != geteuid() &&
		fchown(fd, f->st.st_uid, f->st.st_gid) < 0)
		r = -errno;
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	close(fd);
	if (r == 0 && file_changed(f))
		r = -EBUSY;
	if (r == 0 && rename(temporary, f->real) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	return r < 0 ? r : file_sync_folder(f->real);
}

int settings_file_write(struct settings_file *f, const char *text, size_t len, const char **why)
{
	int r = 0;

	*why = NULL;
	f->backup[0] = '\0';
	if (f->exists && !(f->st.st_mode & 0222)) {
		*why = "it is read-only (perhaps it is made by another program)";
		return -EROFS;
	}
	if (f->exists)
		r = file_backup(f);
	else
		r = file_folder(f->real);
	if (r == 0)
		r = file_replace(f, text, len);
	if (r == -EBUSY)
		*why = "it was changed in the meantime; try again";
	return r;
}

void settings_file_free(struct settings_file *f)
{
	free(f->text);
	f->text = NULL;
}
