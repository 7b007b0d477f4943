/* SPDX-License-Identifier: MIT */
#include "broker/io/foreign.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libapproval/limits.h"

#define LEAST 16u

void foreign_add(struct foreign *f, int fd)
{
	if (f->n == f->size) {
		size_t size = f->size ? f->size * 2 : LEAST;
		int *fds = reallocarray(f->fds, size, sizeof(*fds));

		if (!fds) /* a descriptor less beats a loop that hangs */
			return;
		f->fds = fds;
		f->size = size;
	}
	f->fds[f->n++] = fd;
}

void foreign_add_connection(struct foreign *f, int fd)
{
	int unread = 0;

	/* from here on the client can send nothing */
	shutdown(fd, SHUT_RDWR);
	if (ioctl(fd, FIONREAD, &unread) == 0 && unread == 0)
		close(fd);
	else
		foreign_add(f, fd);
}

static void *closer_run(void *arg)
{
	struct foreign *f = arg;

	for (size_t i = 0; i < f->n; i++)
		close(f->fds[i]);
	free(f->fds);
	free(f);
	return NULL;
}

/* So many threads hang already that no more are to be risked. */
static int closers_full(void)
{
	struct stat st;

	/* a folder for each, beside "." and the one above */
	return stat("/proc/self/task", &st) == 0 && st.st_nlink > LIMIT_CLOSERS;
}

void foreign_flush(struct foreign *f)
{
	struct foreign *given;
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int rc;

	if (f->n == 0 || closers_full())
		return;
	given = malloc(sizeof(*given));
	if (!given)
		return;
	*given = *f;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN * 4);
	/* signals are the loop's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, closer_run, given);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (rc)
		free(given);
	else
		*f = (struct foreign){0};
}

void foreign_release(struct foreign *f)
{
	free(f->fds);
	*f = (struct foreign){0};
}
