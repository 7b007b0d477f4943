/* SPDX-License-Identifier: MIT */
/* From bytes to whole messages, and the descriptors that came with them. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/io/peer_private.h"

#define INPUT_LEAST 256u
#define FDS_MOST    253u /* the kernel's limit for one message, SCM_MAX_FD */

static void fds_close(struct peers *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		foreign_add(&all->foreign, all->fds[i]);
	all->n_fds -= n;
	memmove(all->fds, all->fds + n, all->n_fds * sizeof(*all->fds));
	all->n_old -= all->n_old < n ? all->n_old : n;
}

void peer_brief(struct peer *p, bool brief)
{
	p->brief = brief;
}

void peer_receive_fds(struct peer *p, bool receive)
{
	p->takes_fds = receive;
}

int peer_take_fd(struct peer *p)
{
	struct peers *all = p->all;
	int fd;

	if (!p->in_frame || all->n_fds == 0)
		return -1;
	fd = all->fds[0];
	all->n_fds--;
	memmove(all->fds, all->fds + 1, all->n_fds * sizeof(*all->fds));
	if (all->n_old > 0)
		all->n_old--;
	return fd;
}

/* Takes over the descriptors that were kept with a part of a message. */
static void fds_load(struct peers *all, struct peer *p)
{
	assert(all->n_fds == 0);
	if (!p->input)
		return;
	all->n_fds = p->input->n_fds;
	memcpy(all->fds, p->input->fds, all->n_fds * sizeof(*all->fds));
	p->input->n_fds = 0;
	all->kept_fds -= all->n_fds;
}

/*
 * Descriptors may belong to a message that is not complete yet, and are kept with
 * it. How many all peers keep is bounded, since the process's own are.
 */
static void fds_store(struct peers *all, struct peer *p)
{
	if (p->input && p->state == PEER_OPEN && all->kept_fds + all->n_fds <= LIMIT_FDS_KEPT) {
		memcpy(p->input->fds, all->fds, all->n_fds * sizeof(*all->fds));
		p->input->n_fds = all->n_fds;
		all->kept_fds += all->n_fds;
		all->n_fds = all->n_old = 0;
	}
	fds_close(all, all->n_fds);
}

void peer_close_fd(struct peer *p, int fd)
{
	foreign_add(&p->all->foreign, fd);
}

static void fds_receive(struct peers *all, struct msghdr *msg, bool wanted)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len;
			at += sizeof(int)) {
			int fd;

			memcpy(&fd, (char *)c + at, sizeof(fd));
			if (wanted && all->n_fds < LIMIT_FDS)
				all->fds[all->n_fds++] = fd;
			else
				foreign_add(&all->foreign, fd);
		}
	}
}

void peer_input_free(struct peer *p)
{
	struct peer_input *in = p->input;

	if (!in)
		return;
	for (size_t i = 0; i < in->n_fds; i++)
		foreign_add(&p->all->foreign, in->fds[i]);
	p->all->kept_fds -= in->n_fds;
	account_release_buffer(p->account, in->size);
	free(in->data);
	free(in);
	p->input = NULL;
}

/* Room for so many bytes more. What is over the uid's limit, or the memory, ends the peer. */
static int input_reserve(struct peer *p, size_t more)
{
	struct peer_input *in = p->input;
	size_t size;
	uint8_t *data;

	if (!in) {
		in = p->input = calloc(1, sizeof(*in));
		if (!in)
			goto no_memory;
		wire_scan_init(&in->scan);
	}
	if (in->size - in->len >= more)
		return 0;
	size = in->size > 0 ? in->size : INPUT_LEAST;
	while (size - in->len < more)
		size *= 2;
	if (account_charge_buffer(p->account, size - in->size)) {
		peer_goodbye(p, "unfinished messages over the uid's limit");
		return -EDQUOT;
	}
	data = realloc(in->data, size);
	if (!data) {
		account_release_buffer(p->account, size - in->size);
		goto no_memory;
	}
	in->data = data;
	in->size = size;
	return 0;
no_memory:
	peer_goodbye(p, "out of memory");
	return -ENOMEM;
}

static int input_append(struct peer *p, const uint8_t *data, size_t len)
{
	int rc;

	if (p->brief && len + (p->input ? p->input->len : 0) > LIMIT_READ_CHUNK) {
		peer_goodbye(p, "long message before hello");
		return -EMSGSIZE;
	}
	rc = input_reserve(p, len);
	if (rc)
		return rc;
	memcpy(p->input->data + p->input->len, data, len);
	p->input->len += len;
	return 0;
}

static void ready_insert(struct peer *p)
{
	if (p->ready)
		return;
	p->ready = true;
	p->all->n_ready++;
	TAILQ_INSERT_TAIL(&p->all->ready, p, again);
}

void peer_ready_remove(struct peer *p)
{
	if (!p->ready)
		return;
	p->ready = false;
	p->all->n_ready--;
	TAILQ_REMOVE(&p->all->ready, p, again);
}

/* Bytes that lie before the scan: messages that were held back. */
static bool has_backlog(const struct peer *p)
{
	return p->input && p->input->scanned < p->input->len;
}

/* A stretch of bytes from a message's begin on, and how far it was scanned. */
struct span {
	const uint8_t *data;
	size_t len, start, scanned;
	struct wire_scan *scan;
};

/*
 * Delivers the messages that are complete. Positive: stopped before the end.
 * Negative: the peer has gone. span->start is where the first one not delivered
 * begins.
 */
static int span_deliver(struct peer *p, struct span *span)
{
	struct peers *all = p->all;

	while (span->scanned < span->len) {
		struct bytes frame;
		size_t used = 0;
		int rc = wire_scan_feed(span->scan, span->data + span->scanned,
			span->len - span->scanned, &used);

		span->scanned += used;
		if (rc < 0) {
			peer_goodbye(p, rc == -EMSGSIZE ? "message over the limits"
							: "not MessagePack-RPC");
			return -ECONNABORTED;
		}
		if (rc == WIRE_SCAN_MORE)
			break;
		frame = (struct bytes){span->data + span->start, span->scanned - span->start};
		wire_scan_init(span->scan);
		span->start = span->scanned;
		p->in_frame = true;
		rc = all->ops.frame(all->arg, p, frame);
		p->in_frame = false;
		/* they came with this message or not at all */
		fds_close(all, all->n_old);
		if (rc < 0)
			peer_goodbye(p, "message refused");
		if (p->state != PEER_OPEN)
			return -ECONNABORTED;
		if (p->paused || rc > 0)
			return 1;
	}
	return 0;
}

/*
 * After a stop nothing more is delivered in this loop turn, whether it is here
 * already or comes; a paused peer waits for peer_resume instead.
 */
static void schedule(struct peer *p)
{
	if (p->state == PEER_OPEN && !p->paused)
		ready_insert(p);
}

static void deliver_kept(struct peer *p)
{
	struct peer_input *in = p->input;
	struct span span = {
		.data = in->data,
		.len = in->len,
		.scanned = in->scanned,
		.scan = &in->scan,
	};
	int rc = span_deliver(p, &span);

	if (rc < 0)
		return;
	in->len -= span.start;
	in->scanned = span.scanned - span.start;
	if (in->len > 0)
		memmove(in->data, in->data + span.start, in->len);
	else
		peer_input_free(p);
	if (rc > 0)
		schedule(p);
}

/* Straight from the shared buffer: nothing is copied of what is complete. */
static void deliver_fresh(struct peer *p, const uint8_t *data, size_t len)
{
	struct wire_scan scan;
	struct span span = {.data = data, .len = len, .scan = &scan};
	int rc;

	wire_scan_init(&scan);
	rc = span_deliver(p, &span);
	if (rc < 0)
		return;
	if (span.start < len) {
		if (input_append(p, data + span.start, len - span.start))
			return;
		p->input->scan = scan;
		p->input->scanned = span.scanned - span.start;
	}
	if (rc > 0)
		schedule(p);
}

/* What is there, into all->buffer; the descriptors behind those in all->fds. */
static ssize_t receive(struct peer *p)
{
	struct peers *all = p->all;
	union {
		char bytes[CMSG_SPACE(FDS_MOST * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {all->buffer, LIMIT_READ_CHUNK};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n;

	/* also those that nobody wants: what the kernel throws away, it closes in the loop */
	n = recvmsg(p->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n > 0) {
		fds_load(all, p);
		all->n_old = all->n_fds;
		fds_receive(all, &msg, p->takes_fds);
	}
	return n;
}

static void on_readable(struct peer *p)
{
	struct peers *all = p->all;
	ssize_t n = receive(p);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			peer_goodbye(p, "connection lost");
		return;
	}
	if (n == 0) {
		peer_goodbye(p, "closed by the client");
		return;
	}
	if (!p->input)
		deliver_fresh(p, all->buffer, (size_t)n);
	else if (input_append(p, all->buffer, (size_t)n) == 0)
		deliver_kept(p);
	fds_store(all, p);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct peer *p = arg;

	if (what & EV_CLOSED)
		peer_goodbye(p, "closed by the client");
	else if (!p->ready) /* else its turn comes first in peers_turn */
		on_readable(p);
}

int peer_reading_watch(struct peer *p)
{
	/* epoll tells of a paused peer's death without reading from it */
	short what = p->paused ? EV_CLOSED : EV_READ;

	if (event_assign(&p->reading, p->all->base, p->fd, what | EV_PERSIST, on_event, p) <
			0 ||
		event_add(&p->reading, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static void pause_set(struct peer *p, bool paused)
{
	if (p->state != PEER_OPEN || p->paused == paused)
		return;
	p->paused = paused;
	event_del(&p->reading);
	if (peer_reading_watch(p)) {
		peer_goodbye(p, "out of memory");
		return;
	}
	if (paused)
		peer_ready_remove(p);
	else if (has_backlog(p))
		ready_insert(p);
}

void peer_pause(struct peer *p)
{
	pause_set(p, true);
}

void peer_resume(struct peer *p)
{
	pause_set(p, false);
}

bool peers_pending(const struct peers *all)
{
	return !TAILQ_EMPTY(&all->ready);
}

void peers_turn(struct peers *all)
{
	struct peer *p;

	/* those that stop again stand behind all that are there now, for the next turn */
	for (size_t n = all->n_ready; n > 0 && (p = TAILQ_FIRST(&all->ready)); n--) {
		peer_ready_remove(p);
		if (!has_backlog(p))
			continue;
		fds_load(all, p);
		deliver_kept(p);
		fds_store(all, p);
	}
}
