/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "frontends/common/text.h"
#include "frontends/hook/hook.h"
#include "frontends/hook/stream.h"

int64_t hook_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Throws away what is left, so that a writer is not killed by our leaving early. */
static void stream_drain(int fd, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char waste[65536];
	ssize_t n;

	while (hook_now() < deadline) {
		if (poll(&p, 1, 1000) <= 0)
			return;
		n = read(fd, waste, sizeof(waste));
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return;
	}
}

int stream_read(int fd, size_t max, int64_t timeout_ms, char **data, size_t *len)
{
	int64_t deadline = hook_now() + timeout_ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t used = 0, size = 0, want;
	char *buf = NULL, *grown;
	ssize_t n;
	int r;

	for (;;) {
		if (used + 1 >= size) {
			/* one byte more than the limit, so that too much can be seen */
			want = size ? size * 2 : 16384;
			if (want > max + 2)
				want = max + 2;
			grown = realloc(buf, want);
			if (!grown) {
				r = -ENOMEM;
				goto fail;
			}
			buf = grown;
			size = want;
		}
		r = poll(&p, 1, (int)(deadline > hook_now() ? deadline - hook_now() : 0));
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0) {
			r = r < 0 ? -errno : -ETIMEDOUT;
			goto fail;
		}
		n = read(fd, buf + used, size - used - 1);
		if (n < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			r = -errno;
			goto fail;
		}
		if (n == 0)
			break;
		used += (size_t)n;
		if (used > max) {
			stream_drain(fd, deadline);
			r = -EFBIG;
			goto fail;
		}
	}
	buf[used] = '\0';
	*data = buf;
	*len = used;
	return 0;
fail:
	free(buf);
	return r;
}

int stream_write(int fd, const void *data, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	const char *at = data;
	ssize_t n;

	while (len > 0) {
		n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (poll(&p, 1, HOOK_CALL_MS) == 0)
				return -ETIMEDOUT;
			continue;
		}
		if (n < 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int stream_parse(const char *data, size_t len, struct json_object **out)
{
	struct json_tokener *tok;
	struct json_object *value;
	size_t end;
	int r = 0;

	*out = NULL;
	if (len > HOOK_INPUT_MAX)
		return -EFBIG;
	/* json-c takes a NUL for the end */
	if (len == 0 || memchr(data, '\0', len))
		return -EBADMSG;
	tok = json_tokener_new_ex(HOOK_MAX_JSON_DEPTH);
	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	value = json_tokener_parse_ex(tok, data, (int)len);
	if (json_tokener_get_error(tok) != json_tokener_success) {
		r = json_tokener_get_error(tok) == json_tokener_error_size ? -EFBIG : -EBADMSG;
		goto out;
	}
	for (end = json_tokener_get_parse_end(tok); end < len; end++)
		if (!strchr(" \t\r\n", data[end]))
			r = -EBADMSG;
out:
	if (r < 0)
		json_object_put(value);
	else
		*out = value;
	json_tokener_free(tok);
	return r;
}

int stream_answer(int fd, struct json_object *value)
{
	struct text line = {0};
	const char *s;
	size_t len;
	int r;

	s = json_object_to_json_string_length(
		value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (!s)
		return -ENOMEM;
	/* one write where the pipe takes it, so that a reader never sees half an answer */
	text_addn(&line, s, len);
	text_add(&line, "\n");
	r = line.failed ? -ENOMEM : stream_write(fd, line.data, line.len);
	text_free(&line);
	return r;
}

void stream_error(const char *format, ...)
{
	char line[2 * HOOK_TEXT_MAX];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	stream_write(STDERR_FILENO, line, (size_t)n + 1);
}
