/* SPDX-License-Identifier: MIT */
/* One question to the resolver; nobody but resolver.c includes it. */
#ifndef IO_RESOLVER_JOB_H
#define IO_RESOLVER_JOB_H

#include <bsd/sys/queue.h>

#include "broker/io/resolver.h"

enum job_state {
	JOB_NEW,
	JOB_QUEUED,
	JOB_RUNNING,
	JOB_FINISHED,
};

/*
 * Before it is queued a job belongs to the loop. From then on the worker may write
 * what is marked so while the job is RUNNING, and everything else of it is only
 * read; state and abandoned are guarded by the lock.
 */
struct resolver_job {
	TAILQ_ENTRY(resolver_job) link;	   /* in queue or finished; guarded */
	TAILQ_ENTRY(resolver_job) waiting; /* the loop's */
	enum job_state state;
	bool abandoned; /* nobody wants it: the worker frees it */

	resolver_done done;
	void *arg;
	int64_t deadline;
	struct resolver_result *result; /* the loop's; its lexical paths are complete */

	int root; /* -1: the broker's own */
	char *cwd, *home, *claimed, *workspace, *alias;
	char **absolute; /* the paths, not normal */
	size_t n;
	struct project_file *unread; /* the loop's: what is answered when it takes too long */
	bool find_workspace, read_file, has_known;
	uint8_t known[PROJECT_HASH];

	/* the worker's */
	struct project_file *file;
	size_t at; /* paths done so far */
	char **resolved;
	char *found, *found_alias;
};

/* Copies the question; what the text alone tells of the paths is in job->result. */
int resolver_job_new(
	struct resolver_job **out, const struct resolver_spec *spec, const char *claimed);
void resolver_job_free(struct resolver_job *job); /* NULL is fine */
/*
 * Does the work, from where it stopped. 0, -ENOMEM, or -EAGAIN when only_cached:
 * it would have to look at the disk.
 */
int resolver_job_run(struct resolver_job *job, int own_root, bool only_cached);
/* Whether a path is of the workspace, which may have another name (NULL: none). */
bool resolver_inside(const struct resolver_path *path, const char *workspace, const char *alias);
/* The job's answer, which leaves the job; complete: the job was done in time. */
struct resolver_result *resolver_job_answer(struct resolver_job *job, bool complete);

#endif
