/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontends/hook/guard.h"
#include "frontends/hook/hook.h"

#define GUARD_STACK 65536

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGXCPU,
	SIGXFSZ, SIGTRAP, SIGALRM, SIGVTALRM, SIGPROF, SIGQUIT, SIGUSR1, SIGUSR2};

static void guard_deny(int signal)
{
	static const char text[] = "approval-hook: internal failure; the call is denied\n";
	ssize_t r = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal;
	(void)r;
	_exit(HOOK_DENIED);
}

static void guard_fail(int signal)
{
	static const char text[] = "approval-hook: internal failure\n";
	ssize_t r = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal;
	(void)r;
	_exit(HOOK_FAILED);
}

static void guard_handle(void (*handler)(int))
{
	struct sigaction sa;
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	/* a second fault inside the handler must not loop */
	sa.sa_flags = (int)(SA_ONSTACK | SA_RESETHAND);
	sigfillset(&sa.sa_mask);
	for (i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++)
		sigaction(fatal_signals[i], &sa, NULL);
}

/* An own stack, so that an overflow of the ordinary one can still be answered. */
static int guard_stack(void)
{
	stack_t ss = {.ss_size = GUARD_STACK};

	ss.ss_sp = mmap(
		NULL, GUARD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ss.ss_sp == MAP_FAILED)
		return -errno;
	if (sigaltstack(&ss, NULL) < 0)
		return -errno;
	return 0;
}

static int guard_descriptors(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* standard output opened for reading: a write fails, as it must */
		if (open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) != fd)
			return -EBADF;
	}
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) < 0)
		for (fd = STDERR_FILENO + 1; fd < 1024; fd++)
			close(fd);
	return 0;
}

int guard_start(void)
{
	sigset_t set;
	int r, fd;

	r = guard_descriptors();
	if (r < 0)
		return r;
	r = guard_stack();
	if (r < 0)
		return r;
	guard_handle(guard_deny);
	/* an agent may have ignored or blocked what it starts us with */
	signal(SIGPIPE, SIG_IGN);
	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void guard_harmless(void)
{
	guard_handle(guard_fail);
}

void guard_stop(void)
{
	sigset_t set;

	guard_handle(SIG_DFL);
	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
