/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that others have sent. Closing the last reference to one may take as long
 * as its sender likes: a socket that lingers, a file of a FUSE, a Unix socket that holds
 * such ones in its queue. So the loop never closes them: a thread does, and if it
 * hangs, nothing else does.
 */
#ifndef IO_FOREIGN_H
#define IO_FOREIGN_H

#include <stddef.h>

struct foreign {
	int *fds;
	size_t n, size;
};

/* Takes the descriptor over; foreign_flush closes it. */
void foreign_add(struct foreign *f, int fd);
/*
 * The same for a connection to a client, which is shut down. What the client has sent,
 * and nobody has read, may hold descriptors; one without is closed at once.
 */
void foreign_add_connection(struct foreign *f, int fd);
/* Gives all to a thread. Those that none can be had for stay until the next time. */
void foreign_flush(struct foreign *f);
/* Those that are left stay open. */
void foreign_release(struct foreign *f);

#endif
