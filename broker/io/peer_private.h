/* SPDX-License-Identifier: MIT */
/* What peer.c and peer_input.c share; nobody else includes it. */
#ifndef IO_PEER_PRIVATE_H
#define IO_PEER_PRIVATE_H

#include "broker/io/foreign.h"
#include "broker/io/peer.h"
#include "libapproval/limits.h"
#include "libapproval/wire/scan.h"

struct peer_input {
	struct wire_scan scan; /* over the first `scanned` bytes */
	size_t size, len, scanned;
	size_t n_fds;
	int fds[LIMIT_FDS];
	uint8_t *data;
};

struct peer_output {
	size_t size, head, len; /* bytes head to head + len wait */
	uint8_t data[];
};

TAILQ_HEAD(peer_list, peer);

struct peers {
	struct event_base *base;
	struct peer_ops ops;
	void *arg;
	size_t max_output, count, kept_fds, n_ready;
	struct peer_list dirty, gone, ready;
	/* descriptors of the message that is being delivered; the first n_old from an earlier
	 * read */
	int fds[LIMIT_FDS];
	size_t n_fds, n_old;
	uint8_t *buffer;	/* LIMIT_READ_CHUNK */
	struct foreign foreign; /* closed after the loop turn */
};

/* Asks for the events that the peer's state wants: 0 or -ENOMEM. */
int peer_reading_watch(struct peer *p);
/* What peers_turn would have delivered stays undelivered. */
void peer_ready_remove(struct peer *p);
void peer_input_free(struct peer *p);

#endif
