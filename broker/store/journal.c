/* SPDX-License-Identifier: MIT */
#include "broker/store/journal_private.h"

#include <errno.h>

static void trace(struct journal *j)
{
	j->traced++;
	if (j->trace)
		j->trace(j->trace_arg, j->traced);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	journal_rollback(j);
	trace(j);
	j->ops->close(j);
}

int journal_load(struct journal *j, const struct journal_loader *l, void *arg,
	struct journal_state *state)
{
	if (j->open)
		return -EINVAL;
	trace(j);
	return j->ops->load(j, l, arg, state);
}

int journal_begin(struct journal *j)
{
	int err;

	if (j->open)
		return -EINVAL;
	trace(j);
	err = j->ops->begin(j);
	if (err)
		return err;
	j->open = true;
	j->failed = 0;
	j->rows_open = 0;
	return 0;
}

int journal_put(struct journal *j, enum journal_op op, const void *arg)
{
	if (!j->open)
		return -EINVAL;
	if (j->failed)
		return j->failed;
	trace(j);
	j->failed = j->ops->put(j, op, arg);
	if (!j->failed)
		j->rows_open++;
	return j->failed;
}

int journal_commit(struct journal *j)
{
	if (!j->open)
		return -EINVAL;
	if (j->failed)
		return j->failed;
	trace(j);
	j->failed = j->ops->commit(j);
	if (j->failed)
		return j->failed;
	j->open = false;
	j->commits++;
	j->rows += j->rows_open;
	if (j->committed)
		j->committed(j->committed_arg, j->commits);
	return 0;
}

void journal_rollback(struct journal *j)
{
	if (!j->open)
		return;
	trace(j);
	j->ops->rollback(j);
	j->open = false;
}

int journal_history(struct journal *j, const struct history_query *q,
	int (*row)(void *arg, const struct history_row *row), void *arg, uint64_t *reached)
{
	uint64_t at = 0;
	int err;

	trace(j);
	err = j->ops->history(j, q, row, arg, &at);
	if (reached)
		*reached = at;
	return err;
}

int journal_verify(
	struct journal *j, uint64_t after, uint32_t limit, struct history_verification *out)
{
	trace(j);
	*out = (struct history_verification){0};
	return j->ops->verify(j, after, limit, out);
}

int journal_prune(struct journal *j, const struct retention *r, int64_t now, uint32_t limit)
{
	if (j->open)
		return -EINVAL;
	trace(j);
	return j->ops->prune(j, r, now, limit);
}

int journal_probe(struct journal *j)
{
	if (j->open)
		return j->failed;
	trace(j);
	return j->ops->probe(j);
}

void journal_stats(struct journal *j, struct journal_stats *out)
{
	*out = (struct journal_stats){.commits = j->commits, .rows = j->rows};
	j->ops->stats(j, out);
}

void journal_set_trace(struct journal *j, void (*fn)(void *arg, uint64_t n), void *arg)
{
	j->trace = fn;
	j->trace_arg = arg;
}

void journal_set_committed(struct journal *j, void (*fn)(void *arg, uint64_t n), void *arg)
{
	j->committed = fn;
	j->committed_arg = arg;
}
