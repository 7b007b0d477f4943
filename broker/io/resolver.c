/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include "broker/io/path.h"
#include "broker/io/resolver.h"
#include "broker/io/resolver_job.h"
#include "libapproval/limits.h"

#define STACK_SIZE (256u << 10)	     /* of the worker */
#define PLAIN_TEXT (4u * LIMIT_TEXT) /* of the paths that need no job */

TAILQ_HEAD(job_list, resolver_job);

/* What the loop and the worker share; the last of them frees it. */
struct shared {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct job_list queue, finished;
	size_t n_queue;
	struct resolver_hook hook;
	unsigned refs;
	int done_fd; /* eventfd */
	int root;
	bool stop, busy;
	bool stuck; /* the running job is past its deadline */
};

struct resolver {
	struct shared *shared;
	struct event *done;
	struct job_list waiting; /* in the order of their deadlines */
	size_t n_waiting;
	pthread_t worker;
	bool started;
	struct resolver_result plain; /* the last answer that took no job */
	struct resolver_path plain_paths[LIMIT_LOOKUPS];
	char plain_text[PLAIN_TEXT];
};

static void shared_unref(struct shared *s)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = --s->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	assert(TAILQ_EMPTY(&s->queue) && TAILQ_EMPTY(&s->finished));
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	if (s->done_fd >= 0)
		close(s->done_fd);
	if (s->root >= 0)
		close(s->root);
	free(s);
}

static void *worker_run(void *arg)
{
	struct shared *s = arg;
	struct resolver_job *job;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		job = TAILQ_FIRST(&s->queue);
		if (!job) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		TAILQ_REMOVE(&s->queue, job, link);
		s->n_queue--;
		job->state = JOB_RUNNING;
		s->busy = true;
		pthread_mutex_unlock(&s->lock);
		if (s->hook.before)
			s->hook.before(s->hook.arg);
		/* an error leaves the rest unresolved */
		resolver_job_run(job, s->root, false);
		pthread_mutex_lock(&s->lock);
		s->busy = s->stuck = false;
		if (job->abandoned) {
			resolver_job_free(job);
			continue;
		}
		job->state = JOB_FINISHED;
		TAILQ_INSERT_TAIL(&s->finished, job, link);
		eventfd_write(s->done_fd, 1);
	}
	pthread_mutex_unlock(&s->lock);
	shared_unref(s);
	return NULL;
}

static int worker_start(struct resolver *r)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	if (r->started)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	/* signals are the loop's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r->shared->refs++;
	rc = pthread_create(&r->worker, &attr, worker_run, r->shared);
	if (rc)
		r->shared->refs--;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	r->started = rc == 0;
	return -rc;
}

/*
 * The loop gives a job up, or takes it over: afterwards it belongs to the caller
 * (true), or to the worker, which is at it and frees it (false).
 */
static bool job_detach(struct resolver *r, struct resolver_job *job, bool late)
{
	struct shared *s = r->shared;
	bool ours = true;

	TAILQ_REMOVE(&r->waiting, job, waiting);
	r->n_waiting--;
	pthread_mutex_lock(&s->lock);
	if (job->state == JOB_QUEUED) {
		TAILQ_REMOVE(&s->queue, job, link);
		s->n_queue--;
		/* what it waited behind may be abandoned already */
		if (late)
			s->stuck = true;
	} else if (job->state == JOB_FINISHED) {
		TAILQ_REMOVE(&s->finished, job, link);
	} else {
		job->abandoned = true;
		if (late)
			s->stuck = true;
		ours = false;
	}
	pthread_mutex_unlock(&s->lock);
	return ours;
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct resolver *r = arg;
	struct shared *s = r->shared;
	struct resolver_job *job;
	struct resolver_result *result;
	eventfd_t n;

	eventfd_read(fd, &n);
	for (;;) {
		pthread_mutex_lock(&s->lock);
		job = TAILQ_FIRST(&s->finished);
		pthread_mutex_unlock(&s->lock);
		if (!job)
			return;
		job_detach(r, job, false);
		result = resolver_job_answer(job, true);
		job->done(job->arg, result);
		resolver_job_free(job);
	}
}

int resolver_new(
	struct resolver **out, struct event_base *base, const struct resolver_hook *hook)
{
	struct resolver *r = calloc(1, sizeof(*r));
	struct shared *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	if (!r || !s) {
		free(r);
		free(s);
		return rc;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	TAILQ_INIT(&s->queue);
	TAILQ_INIT(&s->finished);
	TAILQ_INIT(&r->waiting);
	s->refs = 1;
	if (hook)
		s->hook = *hook;
	r->shared = s;
	s->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->done_fd < 0 || s->root < 0) {
		rc = -errno;
		goto fail;
	}
	r->done = event_new(base, s->done_fd, EV_READ | EV_PERSIST, on_done, r);
	if (!r->done || event_add(r->done, NULL) < 0)
		goto fail;
	*out = r;
	return 0;
fail:
	resolver_free(r);
	return rc;
}

void resolver_free(struct resolver *r)
{
	struct resolver_job *job;
	bool busy;

	if (!r)
		return;
	while ((job = TAILQ_FIRST(&r->waiting)))
		resolver_cancel(r, job);
	if (r->done)
		event_free(r->done);
	pthread_mutex_lock(&r->shared->lock);
	r->shared->stop = true;
	busy = r->shared->busy;
	pthread_cond_signal(&r->shared->wake);
	pthread_mutex_unlock(&r->shared->lock);
	if (r->started && busy)
		pthread_detach(r->worker);
	else if (r->started)
		pthread_join(r->worker, NULL);
	shared_unref(r->shared);
	free(r);
}

static int job_queue(struct resolver *r, struct resolver_job *job)
{
	struct shared *s = r->shared;
	bool hopeless;

	if (worker_start(r))
		return -EAGAIN;
	pthread_mutex_lock(&s->lock);
	hopeless = s->stuck || s->n_queue >= LIMIT_RESOLVE_QUEUE;
	if (!hopeless) {
		job->state = JOB_QUEUED;
		TAILQ_INSERT_TAIL(&s->queue, job, link);
		s->n_queue++;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
	return hopeless ? -EAGAIN : 0;
}

/* root: of the subject, as process_root gives it; rc: what that returned. */
static int job_submit(struct resolver *r, struct resolver_job *job, int root, int rc,
	int64_t now, struct resolver_result **result, struct resolver_job **out)
{
	bool complete;

	job->root = root;
	/* no right to look: nothing is resolved, and there is no workspace */
	if (rc) {
		complete = true;
		goto answer;
	}
	rc = r->shared->hook.no_fast_path ? -EAGAIN
					  : resolver_job_run(job, r->shared->root, true);
	if (rc == -ENOMEM) {
		resolver_job_free(job);
		return rc;
	}
	complete = rc == 0;
	if (complete || job_queue(r, job))
		goto answer;
	job->deadline = now + TIME_RESOLVE_MS * 1000;
	TAILQ_INSERT_TAIL(&r->waiting, job, waiting);
	r->n_waiting++;
	*out = job;
	return 0;
answer:
	*result = resolver_job_answer(job, complete);
	resolver_job_free(job);
	return 1;
}

/* Whether all of the paths are as most are: then the answer is in r->plain. */
static bool plain_answer(struct resolver *r, const struct resolver_spec *spec)
{
	size_t used = 0;

	if (r->shared->hook.no_fast_path)
		return false;
	for (size_t i = 0; i < spec->n; i++) {
		struct resolver_path *p = &r->plain_paths[i];
		size_t len;

		p->lexical = p->resolved = r->plain_text + used;
		if (!path_resolve_plain(-1, spec->paths[i], spec->cwd, spec->home, p->lexical,
			    sizeof(r->plain_text) - used, &len))
			return false;
		p->inside = resolver_inside(p, spec->workspace, spec->alias);
		used += len + 1;
	}
	r->plain = (struct resolver_result){
		.paths = r->plain_paths, .n = spec->n, .borrowed = true};
	return true;
}

int resolver_paths(struct resolver *r, const struct resolver_spec *spec, int64_t now,
	resolver_done done, void *arg, struct resolver_result **result,
	struct resolver_job **out)
{
	struct resolver_job *job;
	int rc, root = -1, root_rc;

	if (spec->n > LIMIT_LOOKUPS)
		return -E2BIG;
	root_rc = spec->subject ? process_root(spec->subject, &root) : 0;
	if (!root_rc && root < 0 && plain_answer(r, spec)) {
		*result = &r->plain;
		return 1;
	}
	rc = resolver_job_new(&job, spec, NULL);
	if (rc) {
		if (root >= 0)
			close(root);
		return rc;
	}
	job->done = done;
	job->arg = arg;
	return job_submit(r, job, root, root_rc, now, result, out);
}

int resolver_workspace(struct resolver *r, const struct resolver_spec *spec,
	const char *claimed, int64_t now, resolver_done done, void *arg,
	struct resolver_result **result, struct resolver_job **out)
{
	struct resolver_spec bare = {
		.subject = spec->subject,
		.cwd = spec->cwd,
		.home = spec->home,
	};
	struct resolver_job *job;
	int rc = resolver_job_new(&job, &bare, claimed), root = -1;

	if (rc)
		return rc;
	job->find_workspace = true;
	job->done = done;
	job->arg = arg;
	rc = spec->subject ? process_root(spec->subject, &root) : 0;
	return job_submit(r, job, root, rc, now, result, out);
}

int resolver_file(struct resolver *r, const struct resolver_spec *spec,
	const uint8_t known[PROJECT_HASH], int64_t now, resolver_done done, void *arg,
	struct resolver_result **result, struct resolver_job **out)
{
	const struct resolver_spec bare = {.subject = spec->subject,
		.workspace = spec->workspace};
	struct resolver_job *job;
	int rc = resolver_job_new(&job, &bare, NULL), root = -1;

	if (rc)
		return rc;
	job->read_file = true;
	job->file = calloc(1, sizeof(*job->file));
	job->unread = calloc(1, sizeof(*job->unread));
	if (!job->file || !job->unread) {
		resolver_job_free(job);
		return -ENOMEM;
	}
	job->has_known = known != NULL;
	if (known)
		memcpy(job->known, known, PROJECT_HASH);
	job->done = done;
	job->arg = arg;
	rc = spec->subject ? process_root(spec->subject, &root) : 0;
	return job_submit(r, job, root, rc, now, result, out);
}

void resolver_cancel(struct resolver *r, struct resolver_job *job)
{
	if (job && job_detach(r, job, false))
		resolver_job_free(job);
}

int64_t resolver_next(const struct resolver *r)
{
	const struct resolver_job *job = TAILQ_FIRST(&r->waiting);

	return job ? job->deadline : INT64_MAX;
}

void resolver_expire(struct resolver *r, int64_t now)
{
	struct resolver_job *job;

	while ((job = TAILQ_FIRST(&r->waiting)) && job->deadline <= now) {
		struct resolver_result *result = resolver_job_answer(job, false);
		resolver_done done = job->done;
		void *arg = job->arg;

		/* not even looked at after this, if the worker has it */
		if (job_detach(r, job, true))
			resolver_job_free(job);
		done(arg, result);
	}
}

size_t resolver_waiting(const struct resolver *r)
{
	return r->n_waiting;
}
