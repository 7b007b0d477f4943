/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "frontends/harness/rawlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frontends/harness/packing.h"

#define RAW_MAX (8u << 20)

static int rawlink_connect(struct rawlink *l, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return -errno;
	return connect(l->fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}

int rawlink_send(struct rawlink *l, const char *path, const char *hex)
{
	unsigned char *bytes;
	size_t len;
	int r = packing_hex(hex, &bytes, &len);

	if (r)
		return r;
	if (l->fd < 0)
		r = rawlink_connect(l, path);
	for (size_t at = 0; !r && at < len;) {
		ssize_t n = send(l->fd, bytes + at, len - at, MSG_NOSIGNAL);

		if (n > 0)
			at += (size_t)n;
		else if (errno == EPIPE || errno == ECONNRESET)
			break;
		else if (errno != EINTR)
			r = -errno;
	}
	free(bytes);
	return r;
}

/* No beginning of a value is a value itself: the first length that parses is the message. */
static int message_take(struct rawlink *l, struct approval_value **out)
{
	for (size_t n = 1; n <= l->len; n++) {
		if (approval_value_parse(l->data, n, out))
			continue;
		memmove(l->data, l->data + n, l->len - n);
		l->len -= n;
		return 1;
	}
	return 0;
}

int rawlink_next(struct rawlink *l, struct approval_value **out)
{
	unsigned char *more;
	ssize_t n;

	if (message_take(l, out))
		return 1;
	if (l->len > RAW_MAX)
		return -EMSGSIZE;
	more = realloc(l->data, l->len + 65536);
	if (!more)
		return -ENOMEM;
	l->data = more;
	n = recv(l->fd, l->data + l->len, 65536, MSG_DONTWAIT);
	if (n <= 0)
		return n == 0 ? -EPIPE : errno == EINTR ? -EAGAIN : -errno;
	l->len += (size_t)n;
	return message_take(l, out) ? 1 : -EAGAIN;
}

void rawlink_close(struct rawlink *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->data);
	*l = (struct rawlink){.fd = -1};
}
