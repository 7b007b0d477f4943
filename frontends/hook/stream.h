/* SPDX-License-Identifier: MIT */
/* One event in, one answer out. */
#ifndef HOOK_STREAM_H
#define HOOK_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct json_object;

int64_t hook_now(void); /* CLOCK_MONOTONIC, milliseconds */

/*
 * Reads until the end of fd. -EFBIG when there is more than max, -ETIMEDOUT when
 * the end has not come in time. *data is NUL-terminated and to be freed.
 */
int stream_read(int fd, size_t max, int64_t timeout_ms, char **data, size_t *len);

/* Writes all of it. */
int stream_write(int fd, const void *data, size_t len);

/*
 * Parses exactly one JSON value, strictly, nested no deeper than
 * HOOK_MAX_JSON_DEPTH. -EBADMSG where it is none.
 */
int stream_parse(const char *data, size_t len, struct json_object **out);

/* Writes a JSON value and a line feed. */
int stream_answer(int fd, struct json_object *value);

/* A line on standard error; text from elsewhere must have been made harmless by the caller. */
void stream_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
