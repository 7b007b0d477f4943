/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/hook/channel.h"
#include "frontends/hook/guard.h"
#include "frontends/hook/report.h"
#include "frontends/hook/stream.h"
#include "frontends/hook/transcript.h"
#include "frontends/hook/watch_lock.h"
#include "frontends/hook/watcher.h"
#include "libapproval/approval.h"

#define WATCH_SETTLE_MS 100	   /* lines come in bursts: one report for each */
#define WATCH_POLL_MS	1000	   /* where there is nothing to watch, or not yet */
#define WATCH_READ	(8u << 20) /* in one go */
#define WATCH_FILE	(IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

struct watch {
	struct channel *channel;
	struct tally tally;
	char transcript[LIMIT_TEXT + 1];
	int lock, subject, inotify;
	int file;    /* inotify's number of the transcript; -1: not watched */
	bool seen;   /* there has been a transcript */
	bool over;   /* end */
	bool begun;  /* the hook had read, or we have, what is history: interrupts are news */
	int64_t due; /* read then; -1: nothing known to be new */
};

/* The person stopped the turn: what waits will not be taken, and there is no Stop. */
static void watch_interrupted(struct watch *w)
{
	struct approval *a = w->channel->client;
	const char *turn = w->tally.named ? w->tally.turn : NULL;

	report_settled(a, NULL, NULL, NULL, NULL, HOOK_CALL_MS);
	approval_turn_end(a, turn, NULL, HOOK_CALL_MS);
}

static void watch_line(const struct tally *t, enum tally_event event, void *arg)
{
	struct watch *w = arg;

	if (event == TALLY_INTERRUPTED) {
		if (w->begun)
			watch_interrupted(w);
	} else if (t->named) {
		report_usage(w->channel->client, t);
	}
}

static void watch_read(struct watch *w)
{
	uint64_t before = tally_seq(&w->tally);
	int r;

	r = tally_read(&w->tally, w->transcript, TALLY_BEGIN, WATCH_READ, watch_line, w);
	w->due = r == 1 ? hook_now() : -1;
	if (r != 1)
		w->begun = true;
	if (r >= 0)
		w->seen = true;
	if (r == -ENOENT && w->seen)
		w->over = true;
	/* which turn it is, only the file can say here */
	if (r >= 0 && w->tally.named && tally_seq(&w->tally) != before)
		report_usage(w->channel->client, &w->tally);
}

static void watch_files(struct watch *w)
{
	if (w->inotify >= 0 && w->file < 0)
		w->file = inotify_add_watch(w->inotify, w->transcript, WATCH_FILE);
}

static void watch_soon(struct watch *w)
{
	if (w->due < 0)
		w->due = hook_now() + WATCH_SETTLE_MS;
}

static void watch_events(struct watch *w)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	ssize_t n, at;

	while ((n = read(w->inotify, buf, sizeof(buf))) > 0)
		for (at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
			e = (const void *)(buf + at);
			if (e->mask & (IN_IGNORED | IN_Q_OVERFLOW))
				w->file = e->wd == w->file ? -1 : w->file;
			if (e->wd == w->file && (e->mask & (IN_MOVE_SELF | IN_DELETE_SELF))) {
				inotify_rm_watch(w->inotify, w->file);
				w->file = -1;
			}
			watch_soon(w);
		}
	if (!watch_lock_valid(w->lock))
		w->over = true;
}

static int watch_timeout(const struct watch *w)
{
	int64_t timeout = approval_timeout(w->channel->client), left;

	if (w->due >= 0) {
		left = w->due > hook_now() ? w->due - hook_now() : 0;
		timeout = timeout < 0 || left < timeout ? left : timeout;
	}
	if (w->file < 0 && (timeout < 0 || timeout > WATCH_POLL_MS))
		timeout = WATCH_POLL_MS;
	return timeout > INT_MAX ? INT_MAX : (int)timeout;
}

static void watch_run(struct watch *w)
{
	struct pollfd fds[3];
	int r;

	while (!w->over && !w->channel->failed) {
		watch_files(w);
		fds[0] = (struct pollfd){.fd = approval_fd(w->channel->client),
			.events = approval_events(w->channel->client)};
		fds[1] = (struct pollfd){.fd = w->subject, .events = POLLIN};
		fds[2] = (struct pollfd){.fd = w->inotify, .events = POLLIN};
		r = poll(fds, 3, watch_timeout(w));
		if (r < 0 && errno != EINTR)
			return;
		if (r > 0 && (fds[1].revents & POLLIN))
			break;
		if (r > 0 && (fds[2].revents & POLLIN))
			watch_events(w);
		if (w->file < 0 || r == 0) {
			if (!watch_lock_valid(w->lock))
				return;
			watch_soon(w);
		}
		if (approval_dispatch(w->channel->client) < 0 && w->channel->failed)
			return;
		/* a connection made anew would not be one of the agent's own */
		if (!w->channel->connected)
			return;
		if (w->due >= 0 && hook_now() >= w->due)
			watch_read(w);
	}
	if (!w->channel->failed && w->channel->connected) {
		watch_read(w);
		approval_flush(w->channel->client, HOOK_WITHDRAW_MS);
	}
}

/* In the detached process; does not come back. */
static void watch_main(struct watch *w, const char *lock_path)
{
	int null;

	guard_stop();
	if (chdir("/") < 0)
		_exit(HOOK_FAILED);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(HOOK_FAILED);
	if (null > 2)
		close(null);
	w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->file = -1;
	w->due = -1;
	if (w->inotify >= 0 && inotify_add_watch(w->inotify, lock_path, IN_ATTRIB) < 0) {
		close(w->inotify);
		w->inotify = -1;
	}
	watch_soon(w);
	watch_run(w);
	if (watch_lock_valid(w->lock))
		unlink(lock_path);
	_exit(HOOK_OK);
}

int watcher_start(const struct watch_options *o, struct channel *c)
{
	char path[WATCH_PATH_MAX];
	struct watch w = {.channel = c, .subject = o->subject, .begun = !o->behind};
	pid_t pid;
	int r;

	r = watch_lock_path(path, sizeof(path), o->agent, o->session);
	if (r < 0)
		return r;
	w.lock = watch_lock_take(path);
	if (w.lock < 0)
		return w.lock == -EWOULDBLOCK ? 1 : w.lock;
	snprintf(w.transcript, sizeof(w.transcript), "%s", o->transcript);
	w.tally = *o->tally;
	pid = fork();
	if (pid == 0) {
		/* the second one leads no session, so that it can't come by a terminal */
		pid = setsid() < 0 ? -1 : fork();
		if (pid == 0)
			watch_main(&w, path);
		_exit(pid < 0 ? HOOK_FAILED : HOOK_OK);
	}
	r = pid < 0 ? -errno : 0;
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(w.lock);
	return r;
}

void watcher_end(const struct watch_options *o)
{
	char path[WATCH_PATH_MAX];

	if (watch_lock_path(path, sizeof(path), o->agent, o->session) == 0)
		unlink(path);
}
