/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/ctl/floor_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/io/explain.h"
#include "frontends/common/text.h"
#include "libapproval/limits.h"

/* The floor as a broker would have it with these lines. */
static int line_take(const struct ctl *c, struct explainer *x, const char *where,
	const char *line, size_t len)
{
	struct explain_problem problem;
	const int r = explainer_floor_add(x, (struct bytes){line, len}, &problem);

	if (r <= 0)
		return ctl_own(c, r);
	ctl_say(c, "%s: column %u: %s", where, problem.column, problem.text);
	return STATUS_DATA;
}

int floor_line_check(const struct ctl *c, const char *where, const char *line, size_t len)
{
	static const char blank[] = " \t";
	struct explainer *x = NULL;
	int status = ctl_own(c, explainer_new(&x));

	if (!status && memchr(line, '\n', len)) {
		ctl_say(c, "%s: a line feed can't be part of it", where);
		status = STATUS_DATA;
	} else if (!status &&
		   (line[strspn(line, blank)] == '#' || !line[strspn(line, blank)])) {
		ctl_say(c, "%s: it says nothing", where);
		status = STATUS_DATA;
	}
	if (!status)
		status = line_take(c, x, where, line, len);
	explainer_free(x);
	return status;
}

/* ---- the text of the file ---- */

struct lines {
	const char *at, *end;
};

/* Without its line feed. */
static bool line_next(struct lines *l, const char **line, size_t *len)
{
	const char *eol;

	if (l->at >= l->end)
		return false;
	eol = memchr(l->at, '\n', (size_t)(l->end - l->at));
	*line = l->at;
	*len = (size_t)((eol ? eol : l->end) - l->at);
	l->at += *len + (eol != NULL);
	return true;
}

/* All of it, or nothing, is what the broker would take. */
static int text_check(const struct ctl *c, const char *file, const struct text *text)
{
	struct lines l = {text_string(text), text_string(text) + text->len};
	struct explainer *x = NULL;
	int status = ctl_own(c, explainer_new(&x));
	const char *line;
	unsigned n = 0;
	size_t len;

	if (!status && text->len > LIMIT_RULE_FILE) {
		ctl_say(c, "%s: it would be too large", file);
		status = STATUS_DATA;
	}
	while (!status && line_next(&l, &line, &len)) {
		struct text where = {0};

		text_printf(&where, "%s:%u", file, ++n);
		status = line_take(c, x, text_string(&where), line, len);
		text_free(&where);
	}
	explainer_free(x);
	return status;
}

static int text_read(const struct ctl *c, const char *file, struct text *out)
{
	const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char buffer[4096];
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return STATUS_OK;
	if (fd < 0) {
		ctl_say(c, "%s: %s", file, strerror(errno));
		return STATUS_NO_INPUT;
	}
	while ((n = read(fd, buffer, sizeof(buffer))) > 0 && out->len <= LIMIT_RULE_FILE)
		text_addn(out, buffer, (size_t)n);
	if (n < 0)
		ctl_say(c, "%s: %s", file, strerror(errno));
	close(fd);
	return n < 0 ? STATUS_NO_INPUT : ctl_own(c, out->failed ? -ENOMEM : 0);
}

/* ---- in its place ---- */

static int folders_make(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

static int fill(int fd, const struct text *text, mode_t mode)
{
	const char *p = text_string(text);
	size_t left = text->len;

	/* as the broker wants it: nobody else may write to it */
	if (fchmod(fd, mode & 0755) < 0)
		return -errno;
	while (left > 0) {
		const ssize_t n = write(fd, p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		left -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static int folder_sync(char *path)
{
	char *const slash = strrchr(path, '/');
	int fd, r = 0;

	*slash = '\0';
	fd = open(slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	if (fd < 0 || fsync(fd) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

/* The old text or the new one is there, whatever happens. */
static int replace(const char *file, const struct text *text)
{
	char *path = realpath(file, NULL), *fresh = NULL;
	struct stat st;
	int fd = -1, r = 0;

	/* a link stays one */
	if (!path && errno == ENOENT)
		path = strdup(file);
	if (!path)
		return -errno;
	if (stat(path, &st) < 0)
		st.st_mode = 0600;
	if (asprintf(&fresh, "%s.XXXXXX", path) < 0) {
		fresh = NULL;
		r = -ENOMEM;
	}
	if (!r)
		r = folders_make(path);
	if (!r)
		fd = mkostemp(fresh, O_CLOEXEC);
	if (!r && fd < 0)
		r = -errno;
	if (!r)
		r = fill(fd, text, st.st_mode);
	if (fd >= 0)
		close(fd);
	if (!r && rename(fresh, path) < 0)
		r = -errno;
	if (r && fd >= 0)
		unlink(fresh);
	if (!r)
		r = folder_sync(path);
	free(fresh);
	free(path);
	return r;
}

/*
 * From reading it to having replaced it nobody else does: two that add at once both stay.
 * Its folder is locked, which is made for that; -1: it has been said why not.
 */
static int folder_lock(const struct ctl *c, const char *file)
{
	char *path = strdup(file), *slash = path ? strrchr(path, '/') : NULL;
	int fd = -1, r = slash ? folders_make(path) : path ? -EINVAL : -ENOMEM;

	if (!r) {
		slash[slash == path] = '\0';
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = fd < 0 ? -errno : 0;
	}
	while (!r && flock(fd, LOCK_EX) < 0)
		r = errno == EINTR ? 0 : -errno;
	if (r) {
		ctl_say(c, "%s: %s", file, strerror(-r));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

static int text_write(const struct ctl *c, const char *file, const struct text *text)
{
	int status = text->failed ? ctl_own(c, -ENOMEM) : text_check(c, file, text);
	int r;

	if (status)
		return status;
	r = replace(file, text);
	if (r == -ENOMEM)
		return ctl_own(c, r);
	if (r)
		ctl_say(c, "%s: %s", file, strerror(-r));
	return r ? STATUS_NO_OUTPUT : STATUS_OK;
}

int floor_file_add(
	const struct ctl *c, const char *file, const char *line, size_t len, bool *there)
{
	const int lock = folder_lock(c, file);
	struct text text = {0};
	struct lines l;
	const char *one;
	size_t n;
	int status = lock < 0 ? STATUS_NO_OUTPUT : text_read(c, file, &text);

	*there = false;
	l = (struct lines){text_string(&text), text_string(&text) + text.len};
	while (!status && line_next(&l, &one, &n))
		if (n == len && memcmp(one, line, len) == 0)
			*there = true;
	if (!status && !*there) {
		if (text.len && text_string(&text)[text.len - 1] != '\n')
			text_add(&text, "\n");
		text_addn(&text, line, len);
		text_add(&text, "\n");
		status = text_write(c, file, &text);
	}
	text_free(&text);
	if (lock >= 0)
		close(lock);
	return status;
}

static bool has_name(const char *line, size_t len, const char *name)
{
	const size_t n = strlen(name);

	while (len > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	return len > n && memcmp(line, name, n) == 0 && (line[n] == ' ' || line[n] == '\t');
}

int floor_file_remove(const struct ctl *c, const char *file, const char *name, size_t *n)
{
	struct text text = {0}, fresh = {0};
	struct lines l;
	const char *line;
	size_t len;
	const int lock = folder_lock(c, file);
	int status = lock < 0 ? STATUS_NO_OUTPUT : text_read(c, file, &text);

	*n = 0;
	if (!status)
		status = text_check(c, file, &text);
	l = (struct lines){text_string(&text), text_string(&text) + text.len};
	while (!status && line_next(&l, &line, &len)) {
		if (has_name(line, len, name)) {
			++*n;
			continue;
		}
		text_addn(&fresh, line, len);
		text_add(&fresh, "\n");
	}
	if (!status && *n > 0)
		status = text_write(c, file, &fresh);
	text_free(&text);
	text_free(&fresh);
	if (lock >= 0)
		close(lock);
	return status;
}
