/* SPDX-License-Identifier: MIT */
#include "broker/io/rule_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/limits.h"

#define PROBLEMS_TOLD 16u

struct loader {
	struct ruleset *rules;
	struct floor *floor;
	const struct log *log;
	bool wrong; /* told */
};

/* A file that was read. */
struct text {
	char *data;
	size_t len;
	int64_t changed;
};

static const char *owner_problem(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to another user";
	if (st->st_mode & 022)
		return "others may write to it (chmod go-w)";
	return NULL;
}

static int refuse(struct loader *l, const char *path, const char *why)
{
	log_error(l->log, "%s: %s", path, why);
	l->wrong = true;
	return 0;
}

static int fill(int fd, struct text *out)
{
	ssize_t n = 1;
	size_t room = out->len + 1;

	out->data = malloc(room);
	if (!out->data)
		return -ENOMEM;
	out->len = 0;
	/* as far as it goes now, though it grows or shrinks */
	while (out->len < room - 1 && n > 0) {
		n = read(fd, out->data + out->len, room - 1 - out->len);
		if (n < 0)
			return -errno;
		out->len += (size_t)n;
	}
	return 0;
}

/* out->data stays NULL where there is no such file, or it was refused. -ENOMEM. */
static int text_read(
	struct loader *l, int folder, const char *name, const char *path, struct text *out)
{
	const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *why = NULL;
	struct stat st;
	int err = 0;

	*out = (struct text){NULL, 0, 0};
	if (fd < 0) /* one that a folder lists is there */
		return folder == AT_FDCWD && (errno == ENOENT || errno == ENOTDIR)
			       ? 0
			       : refuse(l, path, strerror(errno));
	if (fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "not a file";
	else
		why = owner_problem(&st);
	if (!why && (uint64_t)st.st_size > LIMIT_RULE_FILE)
		why = "too large (4 MiB at most)";
	if (!why) {
		out->len = (size_t)st.st_size;
		out->changed = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
		err = fill(fd, out);
		if (err < 0 && err != -ENOMEM)
			why = strerror(-err);
	}
	if (why || err < 0) {
		free(out->data);
		*out = (struct text){NULL, 0, 0};
	}
	close(fd);
	return why ? refuse(l, path, why) : err;
}

/* ---- what is in a file ---- */

static int rules_take(
	struct loader *l, const char *path, const struct text *text, struct rule_origin *origin)
{
	struct rule_problem problems[PROBLEMS_TOLD];
	size_t n;
	int err;

	origin->file = bytes_of(path);
	origin->made = text->changed;
	err = ruleset_load(l->rules, origin, (struct bytes){text->data, text->len}, problems,
		PROBLEMS_TOLD, &n);
	if (err == -ENOSPC)
		return refuse(l, path, "there are too many rules");
	if (err != 1)
		return err;
	for (size_t i = 0; i < n && i < PROBLEMS_TOLD; i++)
		log_error(l->log, "%s:%u:%u: %s", path, problems[i].line, problems[i].column,
			rule_error_text(problems[i].error));
	if (n > PROBLEMS_TOLD)
		log_error(l->log, "%s: %zu more", path, n - PROBLEMS_TOLD);
	l->wrong = true;
	return 0;
}

static int floor_take(
	struct loader *l, const char *path, const struct text *text, enum floor_owner owner)
{
	const char *at = text->data;
	const char *const end = at + text->len;
	struct str *const file = str_new(path, strlen(path));
	size_t told = 0;
	int err = file ? 0 : -ENOMEM;

	for (unsigned line = 1; err != -ENOMEM && at < end && told < PROBLEMS_TOLD; line++) {
		const char *const eol = memchr(at, '\n', (size_t)(end - at));
		const struct bytes one = {at, (size_t)((eol ? eol : end) - at)};
		enum floor_error error;
		size_t column;

		at += one.len + (eol != NULL);
		err = floor_add_from(l->floor, one, owner, file, line, &error, &column);
		if (err == -EINVAL) {
			log_error(l->log, "%s:%u:%zu: %s", path, line, column,
				floor_error_text(error));
			l->wrong = true;
			told++;
		}
	}
	str_unref(file);
	return err == -ENOMEM ? err : 0;
}

enum file_kind {
	FILE_OTHER,
	FILE_RULES,
	FILE_FLOOR,
};

static int file_load(struct loader *l, int folder, const char *name, const char *path,
	enum file_kind kind, struct rule_origin *origin)
{
	struct text text;
	int err = text_read(l, folder, name, path, &text);

	if (err < 0 || !text.data)
		return err;
	if (kind == FILE_RULES)
		err = rules_take(l, path, &text, origin);
	else
		err = floor_take(
			l, path, &text, origin->scope == RULE_ADMIN ? FLOOR_ADMIN : FLOOR_USER);
	free(text.data);
	return err;
}

/* ---- a folder of files ---- */

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static enum file_kind kind_of(const char *name)
{
	if (name[0] == '.')
		return FILE_OTHER;
	return ends_with(name, ".rules")   ? FILE_RULES
	       : ends_with(name, ".floor") ? FILE_FLOOR
					   : FILE_OTHER;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char *items[LIMIT_RULE_FILES];
	size_t n;
};

static int names_read(DIR *dir, struct names *names)
{
	const struct dirent *entry;

	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (kind_of(entry->d_name) == FILE_OTHER)
			continue;
		if (names->n == LIMIT_RULE_FILES)
			return -E2BIG;
		names->items[names->n] = strdup(entry->d_name);
		if (!names->items[names->n])
			return -ENOMEM;
		names->n++;
	}
	return -errno;
}

static int files_load(struct loader *l, int fd, const char *path, struct names *names)
{
	struct rule_origin origin = {.scope = RULE_ADMIN, .uid = RULE_ANY_UID};
	int err = 0;

	qsort(names->items, names->n, sizeof(*names->items), by_name);
	for (size_t i = 0; i < names->n && err == 0; i++) {
		char *whole;

		if (asprintf(&whole, "%s/%s", path, names->items[i]) < 0)
			return -ENOMEM;
		err = file_load(
			l, fd, names->items[i], whole, kind_of(names->items[i]), &origin);
		free(whole);
	}
	return err;
}

static int folder_load(struct loader *l, const char *path)
{
	struct names *names = NULL;
	struct stat st;
	DIR *dir = opendir(path);
	const char *why;
	int err;

	if (!dir)
		return errno == ENOENT ? 0 : refuse(l, path, strerror(errno));
	why = fstat(dirfd(dir), &st) < 0 ? strerror(errno) : owner_problem(&st);
	if (why) {
		err = refuse(l, path, why);
		goto out;
	}
	names = calloc(1, sizeof(*names));
	err = names ? names_read(dir, names) : -ENOMEM;
	if (err == 0)
		err = files_load(l, dirfd(dir), path, names);
	else if (err != -ENOMEM)
		err = refuse(l, path,
			err == -E2BIG ? "there are too many files in it" : strerror(-err));
	for (size_t i = 0; names && i < names->n; i++)
		free(names->items[i]);
out:
	free(names);
	closedir(dir);
	return err;
}

int rule_files_load(struct ruleset *rules, struct floor *floor, const struct rule_places *p,
	const struct log *log)
{
	struct loader l = {.rules = rules, .floor = floor, .log = log};
	struct rule_origin user = {.scope = RULE_USER, .uid = p->uid};
	int err = p->admin_dir ? folder_load(&l, p->admin_dir) : 0;

	if (err == 0 && p->user_rules)
		err = file_load(&l, AT_FDCWD, p->user_rules, p->user_rules, FILE_RULES, &user);
	if (err == 0 && p->user_floor)
		err = file_load(&l, AT_FDCWD, p->user_floor, p->user_floor, FILE_FLOOR, &user);
	return err == 0 && l.wrong ? -EINVAL : err;
}
