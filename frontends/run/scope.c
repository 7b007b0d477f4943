/* SPDX-License-Identifier: MIT */
/*
 * StartTransientUnit of the user's systemd. busctl makes the call: it comes with every
 * systemd, so that this program needs no library for the bus.
 */
#include "config.h"

#include "frontends/run/group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void busctl_exec(const char *name, const char *pid, int out)
{
	static const char manager[] = "org.freedesktop.systemd1.Manager";
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	execlp("busctl", "busctl", "--user", "--quiet", "--timeout=5", "call",
		"org.freedesktop.systemd1", "/org/freedesktop/systemd1", manager,
		"StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail", "3", "PIDs", "au", "1",
		pid, "CollectMode", "s", "inactive-or-failed", "Delegate", "b", "true", "0",
		(char *)NULL);
	_exit(127);
}

bool scope_make(const char *name, pid_t pid, struct text *why)
{
	char number[16], said[256] = "";
	const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS"),
		   *runtime = getenv("XDG_RUNTIME_DIR");
	int out[2], status = 0;
	size_t len = 0;
	ssize_t n;
	pid_t child;

	if ((!bus || !*bus) && (!runtime || !*runtime)) {
		text_add(why, "no user's systemd can be reached");
		return false;
	}
	if (pipe2(out, O_CLOEXEC) < 0) {
		text_add(why, strerror(errno));
		return false;
	}
	snprintf(number, sizeof(number), "%d", (int)pid);
	child = fork();
	if (child == 0)
		busctl_exec(name, number, out[1]);
	close(out[1]);
	while (child > 0 && len < sizeof(said) - 1 &&
		(n = read(out[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	said[strcspn(said, "\n")] = '\0';
	close(out[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0)
		return true;
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		text_add(why, "there is no busctl, to ask the user's systemd");
	else
		text_printf(why, "the user's systemd: %s", *said ? said : "no answer");
	return false;
}
