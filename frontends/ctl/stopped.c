/* SPDX-License-Identifier: MIT */
/*
 * Whoever was started by approval-run has its session in the environment. A session of which all
 * processes are stopped, but not what launched it, was stopped by a broker, or by hand; where
 * the launcher is stopped, too, it is a job that a shell has stopped.
 */
#include "config.h"

#include "frontends/ctl/stopped.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION "APPROVAL_SESSION=run_"
/* Of what the environment holds, so much is looked at. */
#define ENVIRONMENT (256u << 10)

struct member {
	pid_t pid, parent;
	char state;
	char session[40]; /* as in the environment, behind "run_" */
};

struct members {
	struct member *items;
	size_t n, size;
};

static bool state_read(pid_t pid, char *state, pid_t *parent)
{
	char path[64], line[512], *at;
	bool read = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	/* the name, which may hold anything, ends at the last parenthesis */
	if (fgets(line, sizeof(line), f) && (at = strrchr(line, ')')))
		read = sscanf(at + 1, " %c %d", state, parent) == 2;
	fclose(f);
	return read;
}

static bool session_read(pid_t pid, char out[40])
{
	char path[64], *text = NULL, *at;
	size_t n = 0;
	FILE *f;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re"); /* of others' processes it is not ours to read */
	if (!f)
		return false;
	text = malloc(ENVIRONMENT + 1);
	if (text)
		n = fread(text, 1, ENVIRONMENT, f);
	fclose(f);
	for (at = text; n && at < text + n; at += strlen(at) + 1) {
		text[n] = '\0';
		if (strncmp(at, SESSION, sizeof(SESSION) - 1) == 0)
			snprintf(out, 40, "%s", at + sizeof(SESSION) - 1);
	}
	free(text);
	return out[0] != '\0';
}

static bool member_add(struct members *all, pid_t pid)
{
	struct member m = {.pid = pid};

	if (!session_read(pid, m.session) || !state_read(pid, &m.state, &m.parent))
		return true;
	if (all->n == all->size) {
		size_t size = all->size ? all->size * 2 : 32;
		struct member *items = reallocarray(all->items, size, sizeof(*items));

		if (!items)
			return false;
		all->items = items;
		all->size = size;
	}
	all->items[all->n++] = m;
	return true;
}

static bool members_read(struct members *all)
{
	const struct dirent *e;
	DIR *dir = opendir("/proc");
	bool ok = true;

	while (dir && ok && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			ok = member_add(all, atoi(e->d_name));
	if (dir)
		closedir(dir);
	return ok;
}

static const struct member *member_find(const struct members *all, pid_t pid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].pid == pid)
			return &all->items[i];
	return NULL;
}

/* Do all of the session stand, and does what launched it not? */
static bool session_stands(const struct members *all, const char *session)
{
	bool stopped = false, launched = false;

	for (size_t i = 0; i < all->n; i++) {
		const struct member *m = &all->items[i], *above;
		char state = 'X';
		pid_t parent;

		if (strcmp(m->session, session))
			continue;
		if (!strchr("TZX", m->state))
			return false;
		stopped |= m->state == 'T';
		above = member_find(all, m->parent);
		if (above && !strcmp(above->session, session))
			continue;
		if (m->parent > 1 && state_read(m->parent, &state, &parent) && state == 'T')
			return false;
		launched = true;
	}
	return stopped && launched;
}

static bool session_held(
	const struct items *sessions, const struct members *all, const char *session)
{
	for (size_t i = 0; i < sessions->n; i++) {
		const struct approval_value *s = sessions->items[i];
		const struct member *m = member_find(
			all, (pid_t)approval_value_int(approval_value_get(s, "pid")));

		if (m && !strcmp(m->session, session) &&
			approval_value_bool(approval_value_get(s, "held")))
			return true;
	}
	return false;
}

/* Only if it still is what was seen. */
static bool member_continue(const struct member *m)
{
	int fd = pidfd_open(m->pid, 0);
	char session[40];
	bool done = fd >= 0 && session_read(m->pid, session) &&
		    !strcmp(session, m->session) &&
		    pidfd_send_signal(fd, SIGCONT, NULL, 0) == 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static void session_continue(
	struct doctor *d, const struct members *all, const struct member *first)
{
	unsigned n = 0, failed = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].state == 'T' &&
			!strcmp(all->items[i].session, first->session)) {
			n++;
			failed += !member_continue(&all->items[i]);
		}
	if (failed)
		doctor_findf(d, FINDING_PROBLEM, "continue them as their owner, or as root",
			"%u of %u processes with pid %d can't be continued", failed, n,
			(int)first->pid);
	else
		doctor_findf(d, FINDING_NOTE, NULL, "continued: pid %d, with %u processes in all",
			(int)first->pid, n);
}

static bool seen_before(const struct members *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(all->items[k].session, all->items[i].session))
			return true;
	return false;
}

void stopped_look(struct doctor *d, bool wanted)
{
	const bool broker = d->c->client && approval_hello(d->c->client);
	struct items sessions = {0};
	struct members all = {0};

	if (!members_read(&all))
		d->failed = true;
	if (broker && all.n)
		items_fetch(d->c, "sessions", NULL, 0, &sessions);
	for (size_t i = 0; i < all.n; i++) {
		const struct member *m = &all.items[i];

		if (seen_before(&all, i) || !session_stands(&all, m->session) ||
			session_held(&sessions, &all, m->session))
			continue;
		if (wanted)
			session_continue(d, &all, m);
		else if (broker) /* another one may be there */
			doctor_findf(d, FINDING_NOTE,
				"if there is no other broker, 'approvalctl doctor --thaw', or kill "
				"it",
				"pid %d and what it has started are stopped, but not by this "
				"broker",
				(int)m->pid);
		else
			doctor_findf(d, FINDING_WARNING,
				"start the broker: approval-run says hello again; else "
				"'approvalctl doctor --thaw', or kill it",
				"pid %d and what it has started are stopped, and no broker holds "
				"them",
				(int)m->pid);
	}
	free(all.items);
	items_free(&sessions);
}
