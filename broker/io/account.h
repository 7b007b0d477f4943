/* SPDX-License-Identifier: MIT */
/*
 * What each uid uses of the broker's edge, and may use: connections, buffers and calls.
 * What is charged is released by whoever holds it when it is destroyed; accounts_free
 * asserts that nothing is left. Sessions and pending requests are the engine's to count.
 */
#ifndef IO_ACCOUNT_H
#define IO_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/core/tree.h"

struct account_limits {
	uint32_t connections;
	uint32_t pending;
	uint64_t pending_bytes; /* of pending requests, and as many again of buffers */
	uint32_t rate;		/* requests a second, and the burst; 0: no limit */
	uint32_t sessions;
};

/* A charge is refused by the positive number of the limit that it would pass. */
enum account_limit {
	ACCOUNT_CONNECTIONS = 1,
	ACCOUNT_PENDING_BYTES,
	ACCOUNT_RATE,
};

struct accounts;

struct account {
	uint32_t uid;
	uint32_t connections;
	uint64_t buffered;
	/* private */
	RB_ENTRY(account) entry;
	struct accounts *all;
	uint64_t tokens; /* millionths of a request */
	int64_t filled;	 /* when tokens was last right, microseconds */
	uint32_t refs;
};

int accounts_new(struct accounts **out, const struct account_limits *limits);
/* NULL is fine. */
void accounts_free(struct accounts *all);
/* New limits; what is held already stays held. */
void accounts_set_limits(struct accounts *all, const struct account_limits *limits);
void account_limits_default(struct account_limits *limits);

/* The account of a uid, with a reference; 0 or -ENOMEM. */
int account_get(struct accounts *all, uint32_t uid, struct account **out);
struct account *account_ref(struct account *a);	  /* NULL stays NULL */
struct account *account_unref(struct account *a); /* returns NULL; NULL is fine */

/* 0, or the enum account_limit that is in the way. */
int account_charge_connection(struct account *a);
void account_release_connection(struct account *a);
/* Bytes kept for a peer, partial frames and queued output. */
int account_charge_buffer(struct account *a, uint64_t bytes);
void account_release_buffer(struct account *a, uint64_t bytes);
/* One request at a time in microseconds (CLOCK_MONOTONIC); given back by time alone. */
int account_charge_rate(struct account *a, int64_t now);

/* "connections", "pending-bytes", "rate": as in the configuration. */
const char *account_limit_name(int limit);

#endif
