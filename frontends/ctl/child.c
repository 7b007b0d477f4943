/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontends/ctl/child.h"

static int child_spawn(char **argv, const struct signals *signals, pid_t *pid)
{
	posix_spawnattr_t attr;
	int r = posix_spawnattr_init(&attr);

	if (r)
		return -r;
	r = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (!r)
		r = posix_spawnattr_setsigmask(&attr, &signals->before);
	if (!r)
		r = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return -r;
}

static void child_ended(struct child_end *end, int wstatus)
{
	if (WIFSIGNALED(wstatus)) {
		end->status = STATUS_SIGNAL + WTERMSIG(wstatus);
		snprintf(end->summary, sizeof(end->summary), "killed by signal %d",
			WTERMSIG(wstatus));
	} else {
		end->status = WEXITSTATUS(wstatus);
		snprintf(end->summary, sizeof(end->summary), "exit status %d", end->status);
	}
}

void child_run(
	char **argv, struct approval *client, struct signals *signals, struct child_end *end)
{
	pid_t pid;
	int wstatus, r = child_spawn(argv, signals, &pid);

	*end = (struct child_end){.ran = !r};
	if (r) {
		end->status = r == -ENOENT ? STATUS_NO_PROGRAM : STATUS_CANNOT_RUN;
		snprintf(end->summary, sizeof(end->summary), "%s", strerror(-r));
		return;
	}
	for (;;) {
		pid_t got = waitpid(pid, &wstatus, WNOHANG);

		if (got == pid)
			break;
		r = loop_step(client, signals, -1);
		if (r < 0 && !client) {
			waitpid(pid, &wstatus, 0);
			break;
		}
		if (r < 0)
			client = NULL; /* gone for good: its descriptor would keep us busy */
		else if (r == SIGTERM || r == SIGHUP)
			kill(pid, r);
	}
	child_ended(end, wstatus);
}
