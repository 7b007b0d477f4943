/* SPDX-License-Identifier: MIT */
/*
 * A scripted broker: the test says what it reads and writes, step by step. While
 * it waits it runs the given client in a poll loop of its own, so that every
 * test of an asynchronous client is one of a client in a foreign loop, too.
 */
#ifndef TEST_LIB_PEER_H
#define TEST_LIB_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/approval.h"
#include "libapproval/bytes.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"

#define PEER_PATIENCE_MS 10000
#define PEER_INPUT	 (LIMIT_FRAME + 65536)

struct peer {
	enum approval_side side;
	char folder[32], path[64];
	int listener, fd;
	const char *epoch;
	uint64_t seq; /* of the last event */
	bool trickle; /* send byte by byte, the client running after each */
	uint8_t *in;  /* PEER_INPUT bytes */
	size_t in_len;
	int passed_fd; /* the last descriptor that came along; -1: none */

	/* the last call that was read */
	uint32_t id;
	char method[64];
	struct approval_value *params;
};

void peer_open(struct peer *p, enum approval_side side);
void peer_close(struct peer *p);
/* Nobody listens any more; the folder stays. */
void peer_stop(struct peer *p);
void peer_listen(struct peer *p);

/* Options of a client of this peer. */
struct approval_options peer_options(const struct peer *p);
struct approval *peer_client(const struct peer *p);

/* a may be NULL everywhere: then the client runs in another thread. */
void peer_accept(struct peer *p, struct approval *a);
void peer_hang_up(struct peer *p);
/* Reads a call, which must be of that method. */
void peer_expect(struct peer *p, struct approval *a, const char *method);
/* Takes a call from what has come; false: there is none yet, or the client hung up. */
bool peer_take(struct peer *p);
/* Nothing has come, though the client was run. */
void peer_expect_nothing(struct peer *p, struct approval *a);
/* Reads the end of the connection. */
void peer_expect_end(struct peer *p, struct approval *a);

void peer_send(struct peer *p, struct approval *a, const void *data, size_t len);
/* Sends what is in b and frees it. */
void peer_send_buffer(struct peer *p, struct approval *a, struct wire_buffer *b);
/* {text, text, …} ended by NULL */
void peer_reply(struct peer *p, struct approval *a, uint32_t id, ...) __attribute__((sentinel));
void peer_error(struct peer *p, struct approval *a, uint32_t id, enum wire_code code,
	const char *message);
/* A verdict for the last call; allow gets a digest. */
void peer_verdict(struct peer *p, struct approval *a, uint32_t id, const char *tool_call_id,
	const char *verdict);
void peer_notify(struct peer *p, struct approval *a, const char *method, ...)
	__attribute__((sentinel));
/* An event {epoch, seq, item: {name}}. */
void peer_event(struct peer *p, struct approval *a, const char *method, const char *name);

/* The only page of a snapshot without items. */
void peer_page(struct peer *p);

/* The reply to a hello that was read. */
void peer_welcome(struct peer *p, struct approval *a);
/* accept, hello, reply */
void peer_greet(struct peer *p, struct approval *a);

/* A param of the last call; "" where there is none. */
const char *peer_param(const struct peer *p, const char *key);

/* Runs the client until *done. Fails after PEER_PATIENCE_MS. */
void peer_run(struct approval *a, const bool *done);
int64_t peer_now(void);

#endif
