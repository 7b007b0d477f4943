/* SPDX-License-Identifier: MIT */
/* A journal that keeps nothing: for measuring, and for a broker that shall leave no trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/store/journal_private.h"

static void none_close(struct journal *j)
{
	free(j);
}

static int none_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state)
{
	(void)j;
	(void)l;
	(void)arg;
	*state = (struct journal_state){0};
	return 0;
}

static int none_nothing(struct journal *j)
{
	(void)j;
	return 0;
}

static int none_put(struct journal *j, enum journal_op op, const void *arg)
{
	(void)j;
	(void)op;
	(void)arg;
	return 0;
}

static void none_rollback(struct journal *j)
{
	(void)j;
}

static int none_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached)
{
	(void)j;
	(void)q;
	(void)row;
	(void)arg;
	(void)reached;
	return 0;
}

static int none_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out)
{
	(void)j;
	(void)after;
	(void)limit;
	*out = (struct history_verification){0};
	return 0;
}

static int none_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit)
{
	(void)j;
	(void)r;
	(void)now;
	(void)limit;
	return 0;
}

static void none_stats(struct journal *j, struct journal_stats *out)
{
	out->commits = j->commits;
	out->rows = j->rows;
}

static const struct journal_ops none_ops = {
	.close = none_close,
	.load = none_load,
	.begin = none_nothing,
	.put = none_put,
	.commit = none_nothing,
	.rollback = none_rollback,
	.history = none_history,
	.verify = none_verify,
	.prune = none_prune,
	.probe = none_nothing,
	.stats = none_stats,
};

int journal_open_none(struct journal **out)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->ops = &none_ops;
	*out = j;
	return 0;
}
