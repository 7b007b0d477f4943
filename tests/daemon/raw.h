/* SPDX-License-Identifier: MIT */
/* A client of the wire, for tests: sends what it is told and gives back what comes. */
#ifndef TEST_RAW_H
#define TEST_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "libapproval/wire/frame.h"
#include "libapproval/wire/message.h"
#include "libapproval/wire/pack.h"
#include "libapproval/wire/scan.h"
#include "libapproval/wire/value.h"

struct raw {
	int fd;
	uint32_t id; /* of the last call */
	uint8_t *data;
	size_t len, taken, cap;
	struct wire_buffer out;
};

/* All of these end the test when they fail (ck_abort). */
void raw_connect(struct raw *r, const char *path);
void raw_close(struct raw *r);
/* A call: begins it, returns the buffer that wants one map; raw_send sends it. */
struct wire_buffer *raw_call(struct raw *r, const char *method);
uint32_t raw_send(struct raw *r);
/* The next message, complete; valid until the next call. timeout_ms: fails the test. */
struct wire_frame raw_next(struct raw *r);
/* 0 when the broker has closed the connection, 1 when a message came. */
int raw_next_or_end(struct raw *r, struct wire_frame *f);
/* Skips notifications up to the reply of a call. */
struct wire_frame raw_reply(struct raw *r, uint32_t id);
/* Skips everything up to a notification of that name. */
struct wire_frame raw_notification(struct raw *r, const char *name);
/* A str member of a raw map; data NULL: none. */
struct bytes raw_text(struct bytes map, const char *key);
struct bytes raw_member(struct bytes map, const char *key); /* raw */
uint64_t raw_uint(struct bytes map, const char *key);

/* A listing, page by page. Begins zeroed but for these three. */
struct raw_pages {
	struct raw *r;
	const char *method;
	unsigned limit; /* 0: as the broker likes */
	uint8_t cursor[512];
	size_t len;
	bool last;
};
/* The next page, whose items are to be walked; false: there was none more. */
bool raw_pages_next(struct raw_pages *p, struct bytes *result, struct wire_iter *items);

/* hello of an agent: agent "test", session key (NULL: none). */
struct wire_frame raw_hello_agent(struct raw *r, const char *key);
struct wire_frame raw_hello_frontend(struct raw *r, const char *role);
/* Submits a tool call with input {"x": text} and returns the id of the call. */
uint32_t raw_request(struct raw *r, const char *call, const char *tool, const char *text);
uint32_t raw_decide(
	struct raw *r, struct bytes request, struct bytes digest, const char *verdict);

#endif
