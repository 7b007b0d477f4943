/* SPDX-License-Identifier: MIT */
#include "config.h"

/* A client's life: made, dispatched, freed; the state machine's hands. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "libapproval/client.h"
#include "libapproval/trust.h"

/* What is read in one dispatch before others in the caller's loop get their turn. */
#define DISPATCH_BYTES (4 * LIMIT_READ_CHUNK)
/* Further than this is for ever, and can be added to any time. */
#define RETRY_MAX_MS (INT64_C(1) << 52)

int64_t client_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* At most 256 bytes: they come whole or not at all. */
static int fill_random(void *data, size_t len)
{
	ssize_t n;

	do
		n = getrandom(data, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
}

int client_make_id(char id[CLIENT_ID_SIZE], const char *prefix)
{
	uint64_t r[2];
	int rc = fill_random(r, sizeof(r));

	if (rc < 0)
		return rc;
	snprintf(id, CLIENT_ID_SIZE, "%s_%016" PRIx64 "%016" PRIx64, prefix, r[0], r[1]);
	return 0;
}

/* The status is one line for people: what others wrote into it stays on it. */
void client_say(struct approval *a, const char *format, ...)
{
	va_list args;
	char *p;

	va_start(args, format);
	vsnprintf(a->status, sizeof(a->status), format, args);
	va_end(args);
	for (p = a->status; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
}

void client_emit(struct approval *a, enum approval_event event, const char *name,
	const struct approval_value *value, const struct approval_error *error)
{
	if (!a->event_fn)
		return;
	a->depth++;
	a->event_fn(a, event, name, value, error, a->event_arg);
	a->depth--;
}

static void say_errno(struct approval *a, const char *what, int error)
{
	char buf[128];

	client_say(a, "%s %s: %s", what, a->place.path, strerror_r(error, buf, sizeof(buf)));
}

/* ---- the machine's hands ---- */

static int judge(struct approval *a)
{
	pid_t subject = 0;

	if (a->trust_socket)
		return TRUST_OK;
	if (a->side == APPROVAL_AGENT) {
		subject = a->subject_pidfd < 0 ? getpid() : trust_pid_of(a->subject_pidfd);
		if (subject == -ESRCH) /* it is dead, but we are not */
			subject = getpid();
		if (subject < 0)
			return subject;
	}
	return trust_judge(a->link.fd, &a->place, subject);
}

static enum conn_event refuse(struct approval *a, const char *why)
{
	client_say(a, "%s %s", a->place.path, why);
	failure_text(&a->why, a->status);
	a->final = -EACCES;
	return CONN_REFUSED;
}

/* Connects and judges: what happened is the machine's next event. */
static enum conn_event attempt(struct approval *a)
{
	int rc = a->trust_socket ? 0 : place_verify(&a->place, geteuid());

	if (rc == -EPERM)
		return refuse(a, "stands in a folder that others may write");
	if (!rc)
		rc = link_open(&a->link, a->place.path);
	if (rc < 0) {
		say_errno(a, "no broker at", -rc);
		return CONN_FAILED;
	}
	rc = judge(a);
	if (rc < 0) {
		say_errno(a, "cannot see who serves", -rc);
		return CONN_FAILED;
	}
	return rc == TRUST_OK ? CONN_OPENED : refuse(a, trust_reason((enum trust)rc));
}

static void drop(struct approval *a)
{
	link_drop(&a->link);
	a->subscription.active = false;
	approval_value_free(a->hello);
	a->hello = NULL;
}

static void give_up(struct approval *a)
{
	if (a->final == -ETIMEDOUT || a->final == -ENOTCONN)
		failure_text(&a->why, a->status);
	calls_end(a, a->final, &a->why.view);
	client_emit(a, APPROVAL_GAVE_UP, NULL, NULL, &a->why.view);
}

static uint32_t next_jitter(struct approval *a)
{
	/* xorshift: spreads clients, guards nothing */
	a->jitter ^= a->jitter << 13;
	a->jitter ^= a->jitter >> 17;
	a->jitter ^= a->jitter << 5;
	return a->jitter;
}

void client_happen(struct approval *a, enum conn_event event)
{
	static const struct approval_error cancelled = {
		.code = "", .message = "the client was closed"};
	enum conn_state before = a->conn.state;
	unsigned int todo = conn_step(&a->conn, event, client_now(), next_jitter(a));

	if (a->conn.state == CONN_CLOSED && before != CONN_CLOSED && !a->final)
		a->final = event == CONN_EXPIRED ? -ETIMEDOUT
			   : event == CONN_CLOSE ? -ECANCELED
						 : -ENOTCONN;
	if (todo & CONN_DO_DROP)
		drop(a);
	if (todo & CONN_DO_DISCONNECTED) {
		struct approval_error lost = {.code = "", .message = a->status};

		client_emit(a, APPROVAL_DISCONNECTED, NULL, NULL, &lost);
		calls_lost(a);
	}
	if (todo & CONN_DO_CONNECT)
		client_happen(a, attempt(a));
	if (todo & CONN_DO_HELLO) {
		client_say(a, "waiting for the broker at %s", a->place.path);
		if (hello_send(a) < 0)
			client_happen(a, CONN_LOST);
	}
	if (todo & CONN_DO_CONNECTED) {
		client_say(a, "connected");
		client_emit(a, APPROVAL_CONNECTED, NULL, a->hello, NULL);
	}
	if (todo & CONN_DO_GIVE_UP)
		give_up(a);
	if (todo & CONN_DO_CANCEL)
		calls_end(a, -ECANCELED, &cancelled);
}

/* ---- dispatch ---- */

int client_message(struct approval *a, struct bytes object)
{
	struct approval_value *params;
	char name[LIMIT_NAME + 1];
	struct wire_frame f;
	int rc;

	if (wire_frame_decode(object, &f) != 0 || f.type == WIRE_CALL)
		return -EPROTO;
	if (f.type == WIRE_REPLY) {
		if (a->conn.state == CONN_GREETING && f.id == a->hello_id)
			return hello_reply(a, &f);
		return calls_reply(a, &f);
	}
	rc = value_decode(f.params, &params);
	if (rc < 0)
		return rc;
	rc = subscription_event(a, params);
	if (!rc && f.method.len < sizeof(name)) {
		memcpy(name, f.method.data, f.method.len);
		name[f.method.len] = '\0';
		client_emit(a, APPROVAL_NOTIFICATION, name, params, NULL);
	}
	approval_value_free(params);
	return rc;
}

static int receive(struct approval *a)
{
	struct bytes object;
	size_t total = 0;
	int n, rc;

	while (total < DISPATCH_BYTES) {
		n = link_receive(&a->link);
		if (n == 0)
			return a->link.broken ? -ECONNRESET : 0;
		if (n < 0)
			return n;
		total += (size_t)n;
		while ((rc = link_next(&a->link, &object)) > 0) {
			rc = client_message(a, object);
			if (rc)
				return rc;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int transfer(struct approval *a)
{
	int rc;

	link_send(&a->link);
	rc = receive(a);
	if (!rc && a->conn.state == CONN_READY) {
		/* what the callbacks asked for goes out now */
		rc = calls_pump(a);
		if (!rc)
			link_send(&a->link);
	}
	return rc;
}

static void trouble(struct approval *a, int rc)
{
	switch (rc) {
	case -ENOMEM: client_say(a, "out of memory"); break;
	case -EPROTO:
	case -EBADMSG:
	case -EMSGSIZE: client_say(a, "what %s says is not the protocol", a->place.path); break;
	default: say_errno(a, "lost the broker at", -rc); break;
	}
}

int approval_dispatch(struct approval *a)
{
	enum conn_event due;
	int rc = 0;

	if (a->depth)
		return -EDEADLK;
	a->depth++;
	if (conn_poll(&a->conn, client_now(), &due))
		client_happen(a, due);
	if (a->link.fd >= 0) {
		if (a->conn.state == CONN_READY)
			rc = calls_pump(a);
		if (!rc)
			rc = transfer(a);
		if (rc < 0) {
			trouble(a, rc);
			client_happen(a, CONN_LOST);
		} else if (rc > 0) {
			client_happen(a, (enum conn_event)rc);
		}
	}
	a->depth--;
	return a->final ? a->final : rc == -ENOMEM ? rc : 0;
}

int approval_fd(const struct approval *a)
{
	return a->link.fd;
}

short approval_events(const struct approval *a)
{
	short events = POLLIN;

	if (a->link.fd < 0)
		return 0;
	if (link_queued(&a->link) > 0 ||
		(a->conn.state == CONN_READY && !TAILQ_EMPTY(&a->calls.unsent)))
		events |= POLLOUT;
	return events;
}

int64_t approval_timeout(const struct approval *a)
{
	int64_t now = client_now(), deadline = conn_deadline(&a->conn, now);

	if (a->link.broken)
		return 0;
	return deadline < 0 ? -1 : deadline > now ? deadline - now : 0;
}

/* ---- life ---- */

static int keep_fd(int fd, int *out)
{
	if (fd <= 0)
		return 0;
	*out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *out < 0 ? -errno : 0;
}

static int set_up(struct approval *a, const struct approval_options *o)
{
	int64_t retry = o->retry_ms ? o->retry_ms : TIME_CONNECT_RETRY_MS;
	int rc;

	conn_init(&a->conn, retry > RETRY_MAX_MS ? -1 : retry, o->no_reconnect);
	rc = fill_random(&a->jitter, sizeof(a->jitter));
	if (rc < 0)
		return rc;
	a->jitter |= 1; /* 0 stays 0 */
	if (a->side == APPROVAL_AGENT) {
		if ((o->freeze_fd > 0) != (o->kill_fd > 0))
			return -EINVAL;
		rc = keep_fd(o->subject_pidfd, &a->subject_pidfd);
		if (!rc)
			rc = keep_fd(o->freeze_fd, &a->freeze_fd);
		if (!rc)
			rc = keep_fd(o->kill_fd, &a->kill_fd);
		if (rc < 0)
			return rc;
	}
	rc = hello_prepare(a, o);
	return rc < 0 ? rc : place_find(&a->place, a->side, o->socket);
}

int approval_new(struct approval **out, const struct approval_options *options)
{
	struct approval_options o;
	struct approval *a;
	int rc;

	*out = NULL;
	rc = struct_take(&o, sizeof(o), options, options->size);
	if (rc < 0)
		return rc;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->side = o.side;
	a->trust_socket = o.trust_socket;
	a->subject_pidfd = a->freeze_fd = a->kill_fd = -1;
	link_init(&a->link);
	calls_init(&a->calls);
	wire_buffer_init(&a->hello_params, LIMIT_FRAME);
	failure_clear(&a->why);
	failure_clear(&a->last);
	client_say(a, "not connected");
	rc = set_up(a, &o);
	if (rc < 0) {
		approval_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void approval_free(struct approval *a)
{
	if (!a)
		return;
	client_happen(a, CONN_CLOSE);
	link_drop(&a->link);
	wire_buffer_free(&a->link.out);
	wire_buffer_free(&a->hello_params);
	approval_value_free(a->hello);
	approval_value_free(a->decision_value);
	failure_clear(&a->why);
	failure_clear(&a->last);
	if (a->subject_pidfd >= 0)
		close(a->subject_pidfd);
	if (a->freeze_fd >= 0)
		close(a->freeze_fd);
	if (a->kill_fd >= 0)
		close(a->kill_fd);
	free(a->agent_session);
	free(a->place.path);
	free(a);
}

void approval_on_event(struct approval *a, approval_event_fn fn, void *arg)
{
	a->event_fn = fn;
	a->event_arg = arg;
}

const char *approval_status(const struct approval *a)
{
	return a->status;
}

const struct approval_value *approval_hello(const struct approval *a)
{
	return a->hello;
}

const char *approval_socket(const struct approval *a)
{
	return a->place.path;
}
