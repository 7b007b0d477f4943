/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/io/path.h"
#include "broker/io/resolver_job.h"
#include "broker/io/workspace.h"

void resolver_result_free(struct resolver_result *result)
{
	if (!result || result->borrowed)
		return;
	for (size_t i = 0; i < result->n; i++) {
		free(result->paths[i].lexical);
		free(result->paths[i].resolved);
	}
	free(result->paths);
	free(result->workspace);
	free(result->alias);
	project_file_free(result->file);
	free(result);
}

void resolver_job_free(struct resolver_job *job)
{
	if (!job)
		return;
	for (size_t i = 0; i < job->n; i++) {
		if (job->absolute)
			free(job->absolute[i]);
		if (job->resolved)
			free(job->resolved[i]);
	}
	free(job->absolute);
	free(job->resolved);
	free(job->cwd);
	free(job->home);
	free(job->claimed);
	free(job->workspace);
	free(job->alias);
	free(job->found);
	free(job->found_alias);
	project_file_free(job->file);
	project_file_free(job->unread);
	if (job->root >= 0)
		close(job->root);
	resolver_result_free(job->result);
	free(job);
}

static int copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int resolver_job_new(
	struct resolver_job **out, const struct resolver_spec *spec, const char *claimed)
{
	struct resolver_job *job = calloc(1, sizeof(*job));
	size_t n = spec->n;
	int rc;

	if (!job)
		return -ENOMEM;
	job->root = -1;
	job->result = calloc(1, sizeof(*job->result));
	rc = job->result ? 0 : -ENOMEM;
	if (!rc && n > 0) {
		job->absolute = calloc(n, sizeof(*job->absolute));
		job->resolved = calloc(n, sizeof(*job->resolved));
		job->result->paths = calloc(n, sizeof(*job->result->paths));
		if (!job->absolute || !job->resolved || !job->result->paths)
			rc = -ENOMEM;
		else
			job->n = job->result->n = n;
	}
	if (!rc)
		rc = copy(&job->cwd, spec->cwd);
	if (!rc)
		rc = copy(&job->home, spec->home);
	if (!rc)
		rc = copy(&job->workspace, spec->workspace);
	if (!rc)
		rc = copy(&job->alias, spec->alias);
	if (!rc)
		rc = copy(&job->claimed, claimed);
	for (size_t i = 0; i < n && !rc; i++) {
		rc = path_absolute(spec->paths[i], job->cwd, job->home, &job->absolute[i]);
		if (!rc)
			rc = path_lexical(spec->paths[i], job->cwd, job->home,
				&job->result->paths[i].lexical);
	}
	if (rc) {
		resolver_job_free(job);
		return rc;
	}
	*out = job;
	return 0;
}

/*
 * The name of the workspace in the agent's own words: where the folder that it
 * claims to be in is the one that it is in, and ends alike below the workspace.
 */
static int alias_find(struct resolver_job *job, int root, bool only_cached)
{
	char *claimed = NULL, *resolved = NULL;
	const char *below;
	size_t n, tail;
	int rc;

	if (!job->claimed || !job->found)
		return 0;
	rc = path_lexical(bytes_of(job->claimed), NULL, NULL, &claimed);
	if (!rc && claimed && strcmp(claimed, job->cwd) != 0)
		rc = path_resolve(root, claimed, only_cached, &resolved);
	below = path_below(job->found, job->cwd);
	if (!rc && resolved && below && strcmp(resolved, job->cwd) == 0) {
		n = strlen(claimed);
		tail = below[1] ? strlen(below) : 0;
		if (n > tail && strcmp(claimed + n - tail, tail ? below : "") == 0) {
			claimed[n - tail] = '\0';
			job->found_alias = claimed;
			claimed = NULL;
		}
	}
	free(claimed);
	free(resolved);
	return rc;
}

int resolver_job_run(struct resolver_job *job, int own_root, bool only_cached)
{
	int root = job->root >= 0 ? job->root : own_root, rc = 0;

	if (job->read_file)
		return only_cached ? -EAGAIN
				   : project_file_read(root, job->workspace,
					     job->has_known ? job->known : NULL, job->file);
	for (; job->at < job->n; job->at++) {
		if (!job->absolute[job->at])
			continue;
		rc = path_resolve(
			root, job->absolute[job->at], only_cached, &job->resolved[job->at]);
		if (rc)
			return rc;
	}
	if (job->find_workspace && !job->found) {
		rc = workspace_find(root, job->cwd, job->home, only_cached, &job->found);
		if (rc)
			return rc;
	}
	return job->find_workspace ? alias_find(job, root, only_cached) : 0;
}

bool resolver_inside(const struct resolver_path *p, const char *workspace, const char *alias)
{
	return workspace && p->lexical && p->resolved && path_inside(workspace, p->resolved) &&
	       (path_inside(workspace, p->lexical) ||
		       (alias && path_inside(alias, p->lexical)));
}

struct resolver_result *resolver_job_answer(struct resolver_job *job, bool complete)
{
	struct resolver_result *result = job->result;

	job->result = NULL;
	result->timed_out = !complete;
	result->file = job->unread;
	job->unread = NULL;
	if (!complete)
		return result;
	if (job->read_file) {
		project_file_free(result->file);
		result->file = job->file;
		job->file = NULL;
		return result;
	}
	for (size_t i = 0; i < job->n; i++) {
		struct resolver_path *p = &result->paths[i];

		p->resolved = job->resolved[i];
		job->resolved[i] = NULL;
		p->inside = resolver_inside(p, job->workspace, job->alias);
	}
	result->workspace = job->found;
	result->alias = job->found_alias;
	job->found = job->found_alias = NULL;
	return result;
}
