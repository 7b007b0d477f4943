/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontends/common/text.h"
#include "frontends/hook/channel.h"
#include "frontends/hook/stream.h"
#include "libapproval/approval.h"

#define CHANNEL_CLIENT "approval-hook " PACKAGE_VERSION
#define CHANNEL_EXIT_MS                                                                        \
	100 /* from a dying process' closed descriptors to its pidfd being ready */

int channel_subject(void)
{
	pid_t parent = getppid();
	int fd;

	/* 0: it is outside our pid namespace and can't be named */
	if (parent <= 0)
		return -ESRCH;
	fd = (int)syscall(SYS_pidfd_open, parent, 0);
	if (fd < 0)
		return -errno;
	/* it may have died before, and the number be another's */
	if (getppid() != parent) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

static void channel_say(struct channel *l, const char *code, const char *message)
{
	struct text t = {0};

	text_terminal(&t, message, strlen(message), 0);
	if (code && *code) {
		snprintf(l->code, sizeof(l->code), "%s", code);
		text_add(&t, " (");
		text_terminal(&t, l->code, strlen(l->code), 0);
		text_add(&t, ")");
	}
	snprintf(l->text, sizeof(l->text), "%s", text_string(&t));
	text_free(&t);
}

static void channel_event(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error, void *arg)
{
	struct channel *l = arg;

	(void)name;
	(void)value;
	switch (event) {
	case APPROVAL_CONNECTED: l->connected = true; break;
	case APPROVAL_DISCONNECTED: l->connected = false; break;
	case APPROVAL_GAVE_UP:
		l->connected = false;
		l->failed = true;
		l->refused = error && error->code && *error->code;
		if (l->refused)
			channel_say(l, error->code, error->message);
		else
			channel_say(l, NULL, approval_status(a));
		break;
	case APPROVAL_NOTIFICATION:
	case APPROVAL_SNAPSHOT: break;
	}
}

/* Of a terminal or a file nobody can be seen to have gone away. */
static bool channel_has_reader(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

int channel_open(struct channel *l, const struct channel_options *o)
{
	struct approval_options ao;
	int r;

	memset(l, 0, sizeof(*l));
	l->subject = o->subject;
	l->signals = o->signals;
	l->answers = o->answers && channel_has_reader();
	approval_options_init(&ao, APPROVAL_AGENT);
	ao.socket = o->hook->socket;
	ao.client = CHANNEL_CLIENT;
	/* 0 would mean the library's own default */
	ao.retry_ms = o->wait_ms > 0 ? o->wait_ms : 1;
	ao.agent = o->agent;
	ao.session = o->session;
	ao.parent = o->parent;
	ao.title = o->title;
	ao.cwd = o->cwd;
	ao.mode = o->mode;
	ao.subject_pidfd = o->subject;
	ao.channel_ms = o->hook->timeout_ms;
	r = approval_new(&l->client, &ao);
	if (r == 0)
		approval_on_event(l->client, channel_event, l);
	return r;
}

void channel_close(struct channel *l)
{
	approval_free(l->client);
	l->client = NULL;
}

static bool channel_subject_dead(const struct channel *l, int timeout_ms)
{
	struct pollfd p = {.fd = l->subject, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0 && (p.revents & POLLIN);
}

static int channel_timeout(const struct channel *l, int64_t deadline)
{
	int64_t timeout = approval_timeout(l->client), left;

	if (deadline >= 0) {
		left = deadline - hook_now();
		left = left < 0 ? 0 : left;
		if (timeout < 0 || left < timeout)
			timeout = left;
	}
	return timeout > INT_MAX ? INT_MAX : (int)timeout;
}

enum channel_end channel_run(struct channel *l, const bool *done, int64_t deadline)
{
	struct pollfd fds[4];
	int r;

	while (!*done) {
		if (l->failed)
			return CHANNEL_FAILED;
		if (deadline >= 0 && hook_now() >= deadline)
			return CHANNEL_DEADLINE;
		fds[0] = (struct pollfd){
			.fd = approval_fd(l->client), .events = approval_events(l->client)};
		fds[1] = (struct pollfd){.fd = l->signals, .events = POLLIN};
		fds[2] = (struct pollfd){.fd = l->subject, .events = POLLIN};
		/* no events wanted: only that the other end is gone */
		fds[3] = (struct pollfd){.fd = l->answers ? STDOUT_FILENO : -1};
		r = poll(fds, 4, channel_timeout(l, deadline));
		if (r < 0 && errno != EINTR) {
			channel_say(l, NULL, strerror(errno));
			l->failed = true;
			return CHANNEL_FAILED;
		}
		if (r > 0 && (fds[2].revents & POLLIN))
			return CHANNEL_SUBJECT_DEAD;
		if (r > 0 && (fds[1].revents & POLLIN))
			return CHANNEL_SIGNAL;
		if (r > 0 && (fds[3].revents & (POLLERR | POLLHUP | POLLNVAL)))
			return channel_subject_dead(l, CHANNEL_EXIT_MS) ? CHANNEL_SUBJECT_DEAD
									: CHANNEL_UNREAD;
		r = approval_dispatch(l->client);
		if (r < 0 && !*done && !l->failed) {
			channel_say(l, NULL, strerror(-r));
			l->failed = true;
		}
	}
	return CHANNEL_DONE;
}

enum channel_end channel_connect(struct channel *l, int64_t deadline)
{
	return channel_run(l, &l->connected, deadline);
}
