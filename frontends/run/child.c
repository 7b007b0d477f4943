/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void program_run(char *const *argv, const char *socket, const char *session,
	const sigset_t *mask, int go, int failed, pid_t parent)
{
	const struct sigaction def = {.sa_handler = SIG_DFL};
	ssize_t n;
	char c;
	int err;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	do
		n = read(go, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(126);
	sigaction(SIGTTOU, &def, NULL);
	sigaction(SIGPIPE, &def, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (setenv("APPROVAL_SOCKET", socket, 1) == 0 &&
		setenv("APPROVAL_SESSION", session, 1) == 0)
		execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int child_make(struct child *c, char *const *argv, const char *socket, const char *session,
	const sigset_t *mask)
{
	int go[2], failed[2];
	pid_t self = getpid();

	*c = (struct child){.pid = -1, .pidfd = -1, .go = -1, .failed = -1};
	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		int err = -errno;

		close(go[0]);
		close(go[1]);
		return err;
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		program_run(argv, socket, session, mask, go[0], failed[1], self);
	}
	c->go = go[1];
	c->failed = failed[0];
	close(go[0]);
	close(failed[1]);
	if (c->pid < 0)
		return -errno;
	setpgid(c->pid, c->pid);
	c->pidfd = pidfd_open(c->pid, 0);
	return c->pidfd < 0 ? -errno : 0;
}

int child_go(struct child *c)
{
	ssize_t n;
	int err = 0;

	if (write(c->go, "g", 1) != 1)
		return -errno;
	do
		n = read(c->failed, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(c->go);
	close(c->failed);
	c->go = c->failed = -1;
	return n == sizeof(err) ? -err : 0;
}

void child_drop(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->failed >= 0)
		close(c->failed);
	if (c->pidfd >= 0) { /* where it has ended, nobody is meant */
		pidfd_send_signal(c->pidfd, SIGKILL, NULL, 0);
		close(c->pidfd);
	}
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
}

void children_end(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	/* those of the dead become ours, until there are none */
	for (;;) {
		FILE *f = fopen(path, "re");
		int pid, n = 0;

		while (f && fscanf(f, "%d", &pid) == 1) {
			kill(pid, SIGKILL);
			n++;
		}
		if (f)
			fclose(f);
		if (!n || waitpid(-1, NULL, 0) < 0)
			return;
	}
}
