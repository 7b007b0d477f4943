/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/io/peer.h"
#include "broker/io/process.h"
#include "libapproval/limits.h"
#include "libapproval/wire/scan.h"

#define INPUT_LEAST  256u
#define OUTPUT_LEAST 512u

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
	uint8_t *buffer; /* LIMIT_READ_CHUNK */
};

int peers_new(struct peers **out, struct event_base *base, const struct peer_ops *ops,
	void *arg, size_t max_output)
{
	struct peers *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all->buffer = malloc(LIMIT_READ_CHUNK);
	if (!all->buffer) {
		free(all);
		return -ENOMEM;
	}
	all->base = base;
	all->ops = *ops;
	all->arg = arg;
	all->max_output = max_output;
	TAILQ_INIT(&all->dirty);
	TAILQ_INIT(&all->gone);
	TAILQ_INIT(&all->ready);
	*out = all;
	return 0;
}

void peers_free(struct peers *all)
{
	if (!all)
		return;
	assert(all->count == 0 && all->kept_fds == 0);
	free(all->buffer);
	free(all);
}

size_t peers_count(const struct peers *all)
{
	return all->count;
}

/* ---- input ---- */

static void fds_close(struct peers *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(all->fds[i]);
	all->n_fds -= n;
	memmove(all->fds, all->fds + n, all->n_fds * sizeof(*all->fds));
	all->n_old -= all->n_old < n ? all->n_old : n;
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

static void fds_receive(struct peers *all, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len;
			at += sizeof(int)) {
			int fd;

			memcpy(&fd, (char *)c + at, sizeof(fd));
			if (all->n_fds < LIMIT_FDS)
				all->fds[all->n_fds++] = fd;
			else
				close(fd);
		}
	}
}

static void input_free(struct peer *p)
{
	struct peer_input *in = p->input;

	if (!in)
		return;
	for (size_t i = 0; i < in->n_fds; i++)
		close(in->fds[i]);
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
	int rc = input_reserve(p, len);

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

static void ready_remove(struct peer *p)
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

/* After a stop: the rest comes when the peer is resumed, or else in the next loop turn. */
static void schedule(struct peer *p)
{
	if (p->state == PEER_OPEN && !p->paused && has_backlog(p))
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

	if (span_deliver(p, &span) < 0)
		return;
	in->len -= span.start;
	in->scanned = span.scanned - span.start;
	if (in->len == 0) {
		input_free(p);
		return;
	}
	memmove(in->data, in->data + span.start, in->len);
	schedule(p);
}

/* Straight from the shared buffer: nothing is copied of what is complete. */
static void deliver_fresh(struct peer *p, const uint8_t *data, size_t len)
{
	struct wire_scan scan;
	struct span span = {.data = data, .len = len, .scan = &scan};

	wire_scan_init(&scan);
	if (span_deliver(p, &span) < 0 || span.start == len)
		return;
	if (input_append(p, data + span.start, len - span.start))
		return;
	p->input->scan = scan;
	p->input->scanned = span.scanned - span.start;
	schedule(p);
}

static void on_readable(struct peer *p)
{
	struct peers *all = p->all;
	union {
		char bytes[CMSG_SPACE(LIMIT_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {all->buffer, LIMIT_READ_CHUNK};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(p->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			peer_goodbye(p, "connection lost");
		return;
	}
	if (n == 0) {
		peer_goodbye(p, "closed by the client");
		return;
	}
	fds_load(all, p);
	all->n_old = all->n_fds;
	fds_receive(all, &msg);
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

static int reading_watch(struct peer *p)
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
	if (reading_watch(p)) {
		peer_goodbye(p, "out of memory");
		return;
	}
	if (paused)
		ready_remove(p);
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
		ready_remove(p);
		fds_load(all, p);
		deliver_kept(p);
		fds_store(all, p);
	}
}

/* ---- output ---- */

size_t peer_queued(const struct peer *p)
{
	return p->output ? p->output->len : 0;
}

static void output_free(struct peer *p)
{
	if (!p->output)
		return;
	account_release_buffer(p->account, p->output->size);
	free(p->output);
	p->output = NULL;
}

static int output_reserve(struct peer *p, size_t more)
{
	struct peer_output *o = p->output;
	size_t size = o ? o->size : 0, need = (o ? o->len : 0) + more, grown;

	if (o && o->head > 0 && o->head + need > o->size) {
		memmove(o->data, o->data + o->head, o->len);
		o->head = 0;
	}
	if (need <= size)
		return 0;
	for (grown = size ? size : OUTPUT_LEAST; grown < need; grown *= 2)
		;
	if (account_charge_buffer(p->account, grown - size))
		return -EDQUOT;
	o = realloc(o, sizeof(*o) + grown);
	if (!o) {
		account_release_buffer(p->account, grown - size);
		return -ENOMEM;
	}
	if (!p->output)
		o->head = o->len = 0;
	o->size = grown;
	p->output = o;
	return 0;
}

static void dirty_insert(struct peer *p)
{
	/* a peer that is waiting to be written to is written to when it can be */
	if (p->dirty || p->writing)
		return;
	p->dirty = true;
	TAILQ_INSERT_TAIL(&p->all->dirty, p, work);
}

static void dirty_remove(struct peer *p)
{
	if (!p->dirty)
		return;
	p->dirty = false;
	TAILQ_REMOVE(&p->all->dirty, p, work);
}

void peer_send(struct peer *p, struct bytes message)
{
	struct peer_output *o;

	if (p->state != PEER_OPEN || message.len == 0)
		return;
	if (message.len > p->all->max_output ||
		peer_queued(p) > p->all->max_output - message.len) {
		peer_goodbye(p, "slow reader");
		return;
	}
	if (output_reserve(p, message.len)) {
		peer_goodbye(p, "no room for its output");
		return;
	}
	o = p->output;
	memcpy(o->data + o->head + o->len, message.data, message.len);
	o->len += message.len;
	dirty_insert(p);
}

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* 0: all is written or waits for the socket; negative: the peer has gone. */
static int output_write(struct peer *p)
{
	struct peer_output *o = p->output;
	ssize_t n = 0;

	if (o) {
		n = send(p->fd, o->data + o->head, o->len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
			peer_goodbye(p, "closed by the client");
			return -EPIPE;
		}
		if (n > 0) {
			o->head += (size_t)n;
			o->len -= (size_t)n;
		}
		if (o->len == 0)
			output_free(p);
	}
	if (!p->output && p->writing) {
		event_free(p->writing);
		p->writing = NULL;
	} else if (p->output && !p->writing) {
		p->writing =
			event_new(p->all->base, p->fd, EV_WRITE | EV_PERSIST, on_writable, p);
		if (!p->writing || event_add(p->writing, NULL) < 0) {
			peer_goodbye(p, "out of memory");
			return -ENOMEM;
		}
	}
	return 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	output_write(arg);
}

void peers_flush(struct peers *all)
{
	struct peer *p;

	while ((p = TAILQ_FIRST(&all->dirty))) {
		dirty_remove(p);
		if (output_write(p) == 0 && p->state == PEER_FINISHING)
			peer_goodbye(p, p->reason);
	}
}

/* ---- life and death ---- */

int peer_new(struct peers *all, struct peer **out, int fd, uint8_t kind, uint32_t uid,
	uint32_t gid, struct process *process, struct account *account)
{
	struct peer *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	rc = account_charge_connection(account);
	if (rc) {
		free(p);
		return rc;
	}
	p->all = all;
	p->fd = fd;
	p->kind = kind;
	p->uid = uid;
	p->gid = gid;
	p->account = account;
	rc = reading_watch(p);
	if (rc) {
		account_release_connection(account);
		free(p);
		return rc;
	}
	account_ref(account);
	p->process = process_ref(process);
	all->count++;
	*out = p;
	return 0;
}

void peer_finish(struct peer *p, const char *reason)
{
	if (p->state != PEER_OPEN)
		return;
	p->state = PEER_FINISHING;
	p->reason = reason;
	event_del(&p->reading);
	ready_remove(p);
	/* also when it is waiting to be written to: one more try, then it goes */
	if (!p->dirty) {
		p->dirty = true;
		TAILQ_INSERT_TAIL(&p->all->dirty, p, work);
	}
}

void peer_goodbye(struct peer *p, const char *reason)
{
	if (p->state == PEER_GONE)
		return;
	p->state = PEER_GONE;
	event_del(&p->reading);
	if (p->writing)
		event_free(p->writing);
	p->writing = NULL;
	ready_remove(p);
	dirty_remove(p);
	close(p->fd);
	p->fd = -1;
	TAILQ_INSERT_TAIL(&p->all->gone, p, work);
	p->all->ops.closed(p->all->arg, p, reason);
}

struct peer *peers_gone(struct peers *all)
{
	return TAILQ_FIRST(&all->gone);
}

void peer_free(struct peer *p)
{
	assert(p->state == PEER_GONE && p->fd < 0);
	assert(!p->writing && !p->dirty && !p->ready && !p->in_frame);
	TAILQ_REMOVE(&p->all->gone, p, work);
	input_free(p);
	output_free(p);
	account_release_connection(p->account);
	account_unref(p->account);
	process_unref(p->process);
	p->all->count--;
	free(p);
}
