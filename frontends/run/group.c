/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/run/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "frontends/common/cgroup.h"

#define SCOPE_MS     5000 /* until a process is in its scope */
#define POPULATED_MS 5000 /* until what was killed is gone */

/* The folder of a process's cgroup; NULL: it is in none, or one that is not shown. */
static char *folder_of(pid_t pid)
{
	char root[PATH_MAX], point[PATH_MAX], path[64];
	char *line = NULL, *folder = NULL;
	size_t size = 0, skip;
	FILE *f;

	if (!cgroup_mount(root, point))
		return NULL;
	skip = strcmp(root, "/") ? strlen(root) : 0;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && !folder && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) || strncmp(line + 3, root, skip))
			continue;
		if (asprintf(&folder, "%s%s", point, line + 3 + skip) < 0)
			folder = NULL;
	}
	free(line);
	if (f)
		fclose(f);
	return folder;
}

static bool files_open(struct group *g)
{
	g->freeze = cgroup_open(g->path, "cgroup.freeze", O_RDWR);
	g->kill = cgroup_open(g->path, "cgroup.kill", O_WRONLY);
	return g->freeze >= 0 && g->kill >= 0;
}

static void files_close(struct group *g)
{
	int err = errno;

	if (g->freeze >= 0)
		close(g->freeze);
	if (g->kill >= 0)
		close(g->kill);
	g->freeze = g->kill = -1;
	errno = err;
	free(g->path);
	g->path = NULL;
}

/* What an earlier one left, who was killed: what is in use is not removed. */
static void sweep(const char *parent)
{
	const struct dirent *e;
	DIR *d = opendir(parent);

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, CGROUP_RUN_PREFIX, sizeof(CGROUP_RUN_PREFIX) - 1))
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
}

static bool below(struct group *g, const char *parent, const char *name, pid_t pid)
{
	char text[16];

	if (asprintf(&g->path, "%s/%s", strcmp(parent, "/") ? parent : "", name) < 0)
		g->path = NULL;
	if (!g->path)
		return false;
	snprintf(text, sizeof(text), "%d", (int)pid);
	/* another's sweep may remove it while it is empty */
	for (int i = 0; i < 3 && mkdir(g->path, 0755) == 0; i++) {
		if (cgroup_write(g->path, "cgroup.procs", text) && files_open(g)) {
			g->made = true;
			sweep(parent);
			return true;
		}
		if (errno != ENOENT && errno != ENODEV)
			rmdir(g->path);
	}
	files_close(g);
	return false;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool in_scope(struct group *g, const char *name, pid_t pid, struct text *why)
{
	const int64_t until = now_ms() + SCOPE_MS;
	char scope[64];

	snprintf(scope, sizeof(scope), "%s.scope", name);
	if (!scope_make(scope, pid, why))
		return false;
	/* systemd answers when it has begun with that */
	while (now_ms() < until) {
		g->path = folder_of(pid);
		if (g->path && strstr(g->path, scope)) {
			if (files_open(g))
				return true;
			text_printf(why, "%s: %s", g->path, strerror(errno));
			files_close(g);
			return false;
		}
		free(g->path);
		g->path = NULL;
		poll(NULL, 0, 5);
	}
	text_printf(why, "systemd does not move a process into %s", scope);
	return false;
}

bool group_make(struct group *g, pid_t pid, struct text *why)
{
	char root[PATH_MAX], point[PATH_MAX], name[48];
	char *own = folder_of(getpid());
	unsigned r[2];

	*g = (struct group){.freeze = -1, .kill = -1};
	if (!cgroup_mount(root, point)) {
		text_add(why, "no cgroup hierarchy of version 2 is mounted");
		free(own);
		return false;
	}
	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		r[0] = r[1] = (unsigned)getpid();
	snprintf(name, sizeof(name), CGROUP_RUN_PREFIX "%08x%08x", r[0], r[1]);
	if (own && below(g, own, name, pid)) {
		free(own);
		return true;
	}
	text_printf(why, "%s: %s; ", own ? own : point, strerror(errno));
	free(own);
	if (in_scope(g, name, pid, why))
		return true;
	if (geteuid() == 0 && below(g, point, name, pid))
		return true;
	if (geteuid() == 0)
		text_printf(why, "; %s: %s", point, strerror(errno));
	return false;
}

/* Until none is in it: the kernel tells of changes as an exception. */
static void await_empty(const char *folder)
{
	const int64_t until = now_ms() + POPULATED_MS;
	struct pollfd p = {
		.fd = cgroup_open(folder, "cgroup.events", O_RDONLY), .events = POLLPRI};
	char text[256];
	ssize_t n;

	while (p.fd >= 0 && (n = pread(p.fd, text, sizeof(text) - 1, 0)) > 0) {
		int64_t left = until - now_ms();

		text[n] = '\0';
		if (strstr(text, "populated 0") || left <= 0 || poll(&p, 1, (int)left) < 0)
			break;
	}
	if (p.fd >= 0)
		close(p.fd);
}

void group_end(struct group *g)
{
	if (!g->path)
		return;
	if (write(g->kill, "1", 1) == 1)
		await_empty(g->path);
	if (g->made)
		rmdir(g->path);
	files_close(g);
}
