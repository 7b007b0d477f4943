/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "broker/io/procfs.h"
#include "broker/io/stop.h"
#include "libapproval/limits.h"

/* Processes that are still to be looked at. */
struct walk {
	const struct stop_root *root;
	uint32_t *pids, *parents;
	size_t n, at, size;
};

static int walk_add(struct walk *w, uint32_t pid, uint32_t parent)
{
	if (w->n == LIMIT_STOPPED)
		return -E2BIG;
	if (w->n == w->size) {
		size_t size = w->size ? w->size * 2 : 64;
		uint32_t *pids = reallocarray(w->pids, size, sizeof(*pids));
		uint32_t *parents;

		if (!pids)
			return -ENOMEM;
		w->pids = pids;
		parents = reallocarray(w->parents, size, sizeof(*parents));
		if (!parents)
			return -ENOMEM;
		w->parents = parents;
		w->size = size;
	}
	w->pids[w->n] = pid;
	w->parents[w->n++] = parent;
	return 0;
}

static int children_of_thread(struct walk *w, uint32_t pid, const char *thread)
{
	char path[64];
	unsigned child;
	int rc = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "/proc/%u/task/%.16s/children", pid, thread) >=
		(int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? -errno : 0;
	while (rc == 0 && fscanf(f, "%u", &child) == 1)
		if (child != w->root->subject.pid)
			rc = walk_add(w, child, pid);
	fclose(f);
	return rc;
}

static int children_of(struct walk *w, uint32_t pid)
{
	const struct dirent *e;
	char path[32];
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (rc == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			rc = children_of_thread(w, pid, e->d_name);
	closedir(d);
	return rc;
}

static bool same_uid(uint32_t pid, uint32_t uid)
{
	char text[PROCFS_FILE];
	size_t len;

	return procfs_read(pid, "status", text, &len) == 0 &&
	       procfs_status_uid((struct bytes){text, len}, uid) == 1;
}

/*
 * A pidfd of the process that was seen with that start time, below that parent (0: whoever
 * it is), and that is of the uid. -EPERM: it is of another, or not ours to signal; -ESRCH: it
 * has ended, or was given away.
 */
static int pin(const struct process_stat *seen, uint32_t parent, uint32_t uid)
{
	struct process_stat again;
	int fd = pidfd_open((pid_t)seen->pid, 0), err = -ESRCH;

	if (fd < 0)
		return errno == ESRCH ? -ESRCH : -errno;
	if (process_stat_read(seen->pid, &again) == 0 && again.start == seen->start &&
		(!parent || again.ppid == parent)) {
		if (!same_uid(seen->pid, uid))
			err = -EPERM;
		else if (pidfd_send_signal(fd, 0, NULL, 0) == 0)
			return fd;
		else
			err = -errno;
	}
	close(fd);
	return err;
}

static bool stands(char state)
{
	return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

static const struct process_id *tree_find(
	const struct stop_tree *t, const struct process_id *id)
{
	for (size_t i = t->n; i-- > 0;)
		if (process_id_compare(&t->items[i], id) == 0)
			return &t->items[i];
	return NULL;
}

static bool is_there(const struct process_id *id)
{
	struct process_stat st;

	return process_stat_read(id->pid, &st) == 0 && st.start == id->start;
}

static void tree_prune(struct stop_tree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (is_there(&t->items[i]))
			t->items[n++] = t->items[i];
	t->n = n;
}

static int tree_add(struct stop_tree *t, const struct process_id *id)
{
	if (t->n == LIMIT_STOPPED)
		tree_prune(t);
	if (t->n == LIMIT_STOPPED)
		return -E2BIG;
	if (t->n == t->size) {
		size_t size = t->size ? t->size * 2 : 16;
		struct process_id *items = reallocarray(t->items, size, sizeof(*items));

		if (!items)
			return -ENOMEM;
		t->items = items;
		t->size = size;
	}
	t->items[t->n++] = *id;
	return 0;
}

/* STOP_STILL, STOP_WAITS or STOP_MOVES, of this process; or negative. */
static int stop_one(
	struct stop_tree *t, struct walk *w, uint32_t pid, uint32_t parent, bool take_over)
{
	struct process_stat st;
	struct process_id id;
	int fd, rc;

	if (pid == (uint32_t)getpid())
		return STOP_STILL;
	/* it has ended, and may have left another one; or was given away, and is found elsewhere */
	if (process_stat_read(pid, &st) < 0 || (parent && st.ppid != parent))
		return parent ? STOP_MOVES : STOP_STILL;
	id = (struct process_id){.pid = pid, .start = st.start};
	if (process_id_compare(&id, &w->root->launcher) == 0 ||
		(!parent && process_id_compare(&id, &w->root->subject) != 0))
		return STOP_STILL;
	if (tree_find(t, &id))
		return stands(st.state) ? STOP_STILL : STOP_WAITS;
	/* what it left when it ended may have come after the list that we read */
	if (st.state == 'Z' || st.state == 'X') {
		rc = tree_add(t, &id);
		return rc < 0 ? rc : STOP_MOVES;
	}
	if (stands(st.state) && !(take_over && st.state == 'T'))
		return STOP_STILL;
	fd = pin(&st, parent, w->root->uid);
	if (fd < 0) /* without a descriptor to be had it must not count as standing */
		return fd == -ESRCH ? STOP_MOVES : fd == -EPERM ? STOP_STILL : fd;
	rc = tree_add(t, &id);
	if (rc == 0 && pidfd_send_signal(fd, SIGSTOP, NULL, 0) < 0)
		t->n--;
	close(fd);
	return rc < 0 ? rc : STOP_MOVES;
}

static void walk_free(struct walk *w)
{
	free(w->pids);
	free(w->parents);
}

static int walk_begin(struct walk *w, const struct stop_root *root)
{
	int rc;

	*w = (struct walk){.root = root};
	rc = walk_add(w, root->subject.pid, 0);
	if (rc == 0 && root->launcher.pid)
		rc = children_of(w, root->launcher.pid);
	return rc;
}

int stop_pass(struct stop_tree *t, const struct stop_root *root, bool take_over)
{
	struct walk w;
	int how = STOP_STILL, rc = walk_begin(&w, root);

	for (; rc >= 0 && w.at < w.n; w.at++) {
		/* children come after their parent was seen to stand still, or in the next pass
		 */
		rc = stop_one(t, &w, w.pids[w.at], w.parents[w.at], take_over);
		how = rc > how ? rc : how;
		if (rc >= 0)
			rc = children_of(&w, w.pids[w.at]);
	}
	walk_free(&w);
	return rc < 0 ? rc : how;
}

static void signal_one(const struct process_id *id, int signal)
{
	struct process_stat st;
	int fd = pidfd_open((pid_t)id->pid, 0);

	if (fd < 0)
		return;
	if (process_stat_read(id->pid, &st) == 0 && st.start == id->start)
		pidfd_send_signal(fd, signal, NULL, 0);
	close(fd);
}

void stop_signal(const struct stop_tree *t, int signal)
{
	for (size_t i = t->n; i-- > 0;)
		signal_one(&t->items[i], signal);
}

void stop_continue(struct stop_tree *t)
{
	stop_signal(t, SIGCONT);
	t->n = 0;
}

int stop_tell(const struct stop_root *root, int signal)
{
	struct process_stat st;
	struct walk w;
	int rc = walk_begin(&w, root);

	for (; rc >= 0 && w.at < w.n; w.at++)
		rc = children_of(&w, w.pids[w.at]);
	/* the youngest first: whoever ends does not start others in their place */
	for (size_t i = w.n; i-- > 0;) {
		int fd;

		if (w.pids[i] == (uint32_t)getpid() || process_stat_read(w.pids[i], &st) < 0)
			continue;
		if (w.parents[i] ? st.ppid != w.parents[i] : st.start != root->subject.start)
			continue;
		fd = pin(&st, w.parents[i], root->uid);
		if (fd < 0)
			continue;
		pidfd_send_signal(fd, signal, NULL, 0);
		close(fd);
	}
	walk_free(&w);
	return rc < 0 ? rc : 0;
}

void stop_release(struct stop_tree *t)
{
	free(t->items);
	*t = (struct stop_tree){0};
}

bool stop_possible(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, R_OK) == 0;
}
