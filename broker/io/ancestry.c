/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/io/ancestry.h"
#include "libapproval/limits.h"

#define TRIES 8 /* a tree that changes so often while it is read is given up */

/*
 * Reads the parent of child, which was read before. That it still is the parent
 * when read again shows that its number was not given to another in between.
 * Positive: the tree changed meanwhile.
 */
static int parent_read(const struct process_stat *child, struct process_stat *parent)
{
	struct process_stat again;
	int rc = process_stat_read(child->ppid, parent);

	if (rc == -ESRCH)
		return 1;
	if (rc)
		return rc;
	rc = process_stat_read(child->pid, &again);
	if (rc == -ESRCH)
		return 1;
	if (rc)
		return rc;
	return again.start != child->start || again.ppid != child->ppid;
}

static int chain_walk(const struct process *p, struct process_id *chain, size_t max)
{
	struct process_stat child, parent;
	size_t n = 0;
	int rc = process_stat_read(p->id.pid, &child);

	if (rc)
		return rc;
	if (child.start != p->id.start)
		return -ESRCH;
	for (; child.ppid != 0; child = parent) {
		if (n == max)
			return -ELOOP;
		rc = parent_read(&child, &parent);
		if (rc)
			return rc < 0 ? rc : -EAGAIN;
		chain[n++] = (struct process_id){.pid = parent.pid, .start = parent.start};
	}
	return (int)n;
}

int process_ancestors(const struct process *p, struct process_id *chain, size_t max)
{
	int rc = -EAGAIN;

	if (max > LIMIT_ANCESTORS)
		max = LIMIT_ANCESTORS;
	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		rc = chain_walk(p, chain, max);
		if (!process_alive(p))
			return -ESRCH;
	}
	return rc;
}

int process_record(struct process *p)
{
	struct process_id chain[LIMIT_ANCESTORS];
	int n;

	if (p->chain)
		return 0;
	n = process_ancestors(p, chain, LIMIT_ANCESTORS);
	if (n < 0)
		return n;
	p->chain = malloc(n > 0 ? (size_t)n * sizeof(*chain) : 1);
	if (!p->chain)
		return -ENOMEM;
	memcpy(p->chain, chain, (size_t)n * sizeof(*chain));
	p->n_chain = (uint16_t)n;
	return 0;
}

int process_is_or_descends(
	struct process *p, bool (*member)(void *arg, const struct process_id *id), void *arg)
{
	struct process_id chain[LIMIT_ANCESTORS];
	int n;

	if (member(arg, &p->id))
		return 1;
	for (size_t i = 0; i < p->n_chain; i++)
		if (member(arg, &p->chain[i]))
			return 1;
	n = process_ancestors(p, chain, LIMIT_ANCESTORS);
	for (int i = 0; i < n; i++)
		if (member(arg, &chain[i]))
			return 1;
	return n < 0 ? n : 0;
}

static bool is_id(void *arg, const struct process_id *id)
{
	return process_id_compare(arg, id) == 0;
}

int process_is_or_descends_from(struct process *p, const struct process_id *id)
{
	struct process_id copy = *id;

	return process_is_or_descends(p, is_id, &copy);
}
