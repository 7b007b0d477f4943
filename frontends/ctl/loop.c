/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "frontends/ctl/ctl.h"

int signals_open(struct signals *s)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	sigset_t mask;

	s->fd = s->out = -1;
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* under nohup and the like: a blocked signal would come although ignored */
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler == SIG_IGN)
			continue;
		sigaddset(&mask, ends[i]);
	}
	/* where it was ignored, children would leave no status */
	action = (struct sigaction){.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &action, NULL);
	sigaddset(&mask, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &mask, &s->before))
		return -errno;
	s->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0) {
		int r = -errno;

		sigprocmask(SIG_SETMASK, &s->before, NULL);
		return r;
	}
	return 0;
}

void signals_close(struct signals *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

int loop_step(struct approval *client, struct signals *s, int timeout_ms)
{
	struct pollfd fds[3] = {{.fd = s->fd, .events = POLLIN}, {.fd = -1}, {.fd = s->out}};
	struct signalfd_siginfo info;

	if (client) {
		int64_t due = approval_timeout(client);

		fds[1].fd = approval_fd(client);
		fds[1].events = approval_events(client);
		if (due >= 0 && (timeout_ms < 0 || due < timeout_ms))
			timeout_ms = due < INT_MAX ? (int)due : INT_MAX;
	}
	if (poll(fds, 3, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	if (client) {
		int r = approval_dispatch(client);

		if (r < 0)
			return r;
	}
	if (read(s->fd, &info, sizeof(info)) == sizeof(info))
		return (int)info.ssi_signo;
	return fds[2].revents & POLLERR ? SIGPIPE : 0;
}
