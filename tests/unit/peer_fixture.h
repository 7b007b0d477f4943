/* SPDX-License-Identifier: MIT */
/* Peers over socket pairs, and what their callbacks saw. */
#ifndef TEST_PEER_FIXTURE_H
#define TEST_PEER_FIXTURE_H

#include "broker/io/account.h"
#include "broker/io/peer.h"
#include "libapproval/limits.h"
#include "tests/unit/io_util.h"

#define MAX_OUTPUT (1u << 20)

/* What the callbacks saw, and what they are to do. */
struct seen {
	unsigned frames, closed, stop_after;
	size_t last_len, total_len;
	uint8_t last[64];
	struct peer *last_peer;
	const char *reason;
	int result;	       /* of the frame callback */
	unsigned result_after; /* from this frame on */
	unsigned take;	       /* descriptors to take from each frame */
	int taken[16];
	unsigned n_taken;
	struct peer *pause, *goodbye;
	unsigned goodbye_at;
};

/* Of the test that runs: each has a process of its own. */
extern struct account *account;
extern struct peers *peers;
extern struct seen seen;

/* Frees those that are gone. */
void reap(void);
/* Waits until there are so many descriptors: those that came from others are closed by a thread. */
void fds_become(int n);
/* One loop turn as the gateway does it, without sleeping. */
void turn(void);
/* A peer, and the other end of its connection. */
struct peer *peer_make(int *client);
void put(int fd, const void *data, size_t len);
/* The begin of [bin of n bytes]; and all of it, returning its size. */
void header_make(uint8_t out[6], uint32_t n);
size_t frame_make(uint8_t *out, uint32_t n);

/* The smallest message. */
static const uint8_t small[] = {0x92, 0x01, 0xc0};

/* Adds a case whose tests begin without a peer, and leave none. */
TCase *peer_tcase(Suite *s);

#endif
