/* SPDX-License-Identifier: MIT */
#include "config.h"

/* The bytes of a connection. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libapproval/client.h"

#define INPUT_MIN   4096
#define OUTPUT_KEEP 65536

void link_init(struct link *l)
{
	*l = (struct link){.fd = -1};
	/* one message on top of what calls_pump calls enough */
	wire_buffer_init(&l->out, LIMIT_FRAME + 2 * OUTPUT_KEEP);
	wire_scan_init(&l->scan);
}

void link_drop(struct link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	wire_buffer_free(&l->out);
	free(l->in);
	link_init(l);
}

int link_open(struct link *l, const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int fd;

	if (len >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* a Unix socket connects at once, or not at all: -EAGAIN is a full backlog */
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	l->fd = fd;
	return 0;
}

size_t link_queued(const struct link *l)
{
	return l->broken ? 0 : l->out.len - l->out_sent;
}

static ssize_t send_some(struct link *l)
{
	struct iovec iov = {l->out.data + l->out_sent, l->out.len - l->out_sent};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(LINK_FDS * sizeof(int))];
	} control;
	struct cmsghdr *c;

	if (l->n_pass_fds) {
		const size_t size = l->n_pass_fds * sizeof(int);

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.space;
		msg.msg_controllen = CMSG_SPACE(size);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(c), l->pass_fds, size);
	}
	return sendmsg(l->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void link_send(struct link *l)
{
	ssize_t n;

	while (l->fd >= 0 && link_queued(l) > 0) {
		n = send_some(l);
		if (n > 0) {
			l->n_pass_fds = 0;
			l->out_sent += (size_t)n;
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			return;
		} else if (n < 0 && errno != EINTR) {
			l->broken = true;
			return;
		}
	}
	wire_buffer_reset(&l->out, OUTPUT_KEEP);
	l->out_sent = 0;
}

int link_queue(struct link *l, const void *data, size_t len)
{
	struct wire_buffer *out = &l->out;

	if (l->out_sent) {
		out->len -= l->out_sent;
		memmove(out->data, out->data + l->out_sent, out->len);
		l->out_sent = 0;
	}
	wire_buffer_append(out, data, len);
	return out->error;
}

/* Makes room for a chunk behind what is there. The scan has bounded what is there. */
static int make_room(struct link *l)
{
	size_t cap = l->in_cap ? l->in_cap : INPUT_MIN;
	uint8_t *in;

	if (l->in_start) {
		memmove(l->in, l->in + l->in_start, l->in_len);
		l->in_start = 0;
	}
	while (cap - l->in_len < INPUT_MIN / 2)
		cap *= 2;
	if (cap > LIMIT_FRAME + LIMIT_READ_CHUNK)
		cap = LIMIT_FRAME + LIMIT_READ_CHUNK;
	if (cap <= l->in_cap)
		return 0;
	in = realloc(l->in, cap);
	if (!in)
		return -ENOMEM;
	l->in = in;
	l->in_cap = cap;
	return 0;
}

int link_receive(struct link *l)
{
	size_t want;
	ssize_t n;
	int rc = make_room(l);

	if (rc < 0)
		return rc;
	want = l->in_cap - l->in_len;
	if (want > LIMIT_READ_CHUNK)
		want = LIMIT_READ_CHUNK;
	/* without room for control data the kernel closes descriptors that come along */
	do
		n = recv(l->fd, l->in + l->in_len, want, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		l->in_len += (size_t)n;
		return (int)n;
	}
	if (n == 0)
		return -ECONNRESET;
	return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
}

int link_next(struct link *l, struct bytes *object)
{
	size_t used;
	int rc;

	rc = wire_scan_feed(
		&l->scan, l->in + l->in_start + l->in_seen, l->in_len - l->in_seen, &used);
	if (rc < 0)
		return rc;
	l->in_seen += used;
	if (rc != WIRE_SCAN_DONE)
		return 0;
	*object = (struct bytes){l->in + l->in_start, l->scan.size};
	l->in_start += l->in_seen;
	l->in_len -= l->in_seen;
	l->in_seen = 0;
	wire_scan_init(&l->scan);
	return 1;
}
