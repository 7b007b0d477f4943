/* SPDX-License-Identifier: MIT */
/* The life of a connection, and its output. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/io/peer_private.h"
#include "broker/io/process.h"

#define OUTPUT_LEAST 512u

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
	foreign_flush(&all->foreign);
	foreign_release(&all->foreign);
	free(all->buffer);
	free(all);
}

size_t peers_count(const struct peers *all)
{
	return all->count;
}

/* ---- output ---- */

size_t peer_queued(const struct peer *p)
{
	return p->output && p->state != PEER_GONE ? p->output->len : 0;
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

void peer_patient(struct peer *p, bool patient)
{
	p->patient = patient;
}

void peer_send(struct peer *p, struct bytes message)
{
	struct peer_output *o;

	if (p->state != PEER_OPEN || message.len == 0)
		return;
	if (message.len > p->all->max_output ||
		(!p->patient && peer_queued(p) > p->all->max_output - message.len)) {
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

/* What was sent, 0 when the socket takes nothing now; negative: the peer has gone. */
static ssize_t send_some(struct peer *p, const void *data, size_t len)
{
	ssize_t n = send(p->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return 0;
	peer_goodbye(p, "closed by the client");
	return -EPIPE;
}

void peer_send_now(struct peer *p, struct bytes message)
{
	ssize_t n = 0;

	if (p->state == PEER_OPEN && !p->output && !p->writing)
		n = send_some(p, message.data, message.len);
	if (n < 0 || (size_t)n == message.len)
		return;
	peer_send(p, (struct bytes){(const char *)message.data + n, message.len - (size_t)n});
}

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* 0: all is written or waits for the socket; negative: the peer has gone. */
static int output_write(struct peer *p)
{
	struct peer_output *o = p->output;
	ssize_t n = 0;

	if (o) {
		n = send_some(p, o->data + o->head, o->len);
		if (n < 0)
			return -EPIPE;
		o->head += (size_t)n;
		o->len -= (size_t)n;
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
	foreign_flush(&all->foreign);
}

/* ---- life and death ---- */

int peer_new(struct peers *all, struct peer **out, int fd, uint8_t kind, uint32_t uid,
	struct process *process, struct account *account)
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
	p->account = account;
	p->takes_fds = true;
	rc = peer_reading_watch(p);
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

void peers_turn_away(struct peers *all, int fd)
{
	foreign_add_connection(&all->foreign, fd);
}

void peer_finish(struct peer *p, const char *reason)
{
	if (p->state != PEER_OPEN)
		return;
	p->state = PEER_FINISHING;
	event_del(&p->reading);
	peer_ready_remove(p);
	p->reason = reason;
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
	peer_ready_remove(p);
	dirty_remove(p);
	foreign_add_connection(&p->all->foreign, p->fd);
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
	peer_input_free(p);
	foreign_flush(&p->all->foreign);
	output_free(p);
	account_release_connection(p->account);
	account_unref(p->account);
	process_unref(p->process);
	p->all->count--;
	free(p);
}
