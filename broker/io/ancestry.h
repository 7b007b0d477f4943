/* SPDX-License-Identifier: MIT */
/* Who stands above a process. */
#ifndef IO_ANCESTRY_H
#define IO_ANCESTRY_H

#include "broker/io/process.h"

/*
 * The ancestors of a live process, nearest first, without itself. Returns their
 * number, or an error: -ELOOP when there are more than max or LIMIT_ANCESTORS.
 */
int process_ancestors(const struct process *p, struct process_id *chain, size_t max);

/*
 * Remembers the ancestors as they are now, once; they count in
 * process_is_or_descends from then on, although a parent may die and the process
 * be given to another. The listener does it for frontends at accept.
 */
int process_record(struct process *p);

/*
 * 1 if the process itself, one of its recorded ancestors, or one that it has
 * now, is a member; 0 if none is; negative: it can't be told, and the caller
 * refuses. A dead process is judged by itself and by what was recorded, then -ESRCH.
 */
int process_is_or_descends(
	struct process *p, bool (*member)(void *arg, const struct process_id *id), void *arg);

/* The same question for one process. */
int process_is_or_descends_from(struct process *p, const struct process_id *id);

#endif
