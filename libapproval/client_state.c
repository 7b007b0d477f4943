/* SPDX-License-Identifier: MIT */
#include "libapproval/client_state.h"

struct cell {
	unsigned char next;
	unsigned short actions;
};

#define CELL(next, actions)                                                                    \
	{                                                                                      \
		CONN_##next, (actions)                                                         \
	}
/* cannot happen or changes nothing there: stay */
#define STAY(here)                                                                             \
	{                                                                                      \
		CONN_##here, 0                                                                 \
	}

/* clang-format off */
static const struct cell table[CONN_STATES][CONN_EVENTS] = {
	[CONN_DISCONNECTED] = {
		[CONN_DUE]     = CELL(CONNECTING, CONN_DO_CONNECT),
		[CONN_OPENED]  = STAY(DISCONNECTED),
		[CONN_FAILED]  = STAY(DISCONNECTED),
		[CONN_WELCOME] = STAY(DISCONNECTED),
		[CONN_LOST]    = STAY(DISCONNECTED),
		[CONN_REFUSED] = CELL(CLOSED, CONN_DO_GIVE_UP),
		[CONN_EXPIRED] = CELL(CLOSED, CONN_DO_GIVE_UP),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_CANCEL),
	},
	[CONN_CONNECTING] = {
		[CONN_DUE]     = STAY(CONNECTING),
		[CONN_OPENED]  = CELL(GREETING, CONN_DO_HELLO),
		[CONN_FAILED]  = CELL(WAITING, CONN_DO_DROP),
		[CONN_WELCOME] = STAY(CONNECTING),
		[CONN_LOST]    = CELL(WAITING, CONN_DO_DROP),
		[CONN_REFUSED] = CELL(CLOSED, CONN_DO_DROP | CONN_DO_GIVE_UP),
		[CONN_EXPIRED] = CELL(CLOSED, CONN_DO_DROP | CONN_DO_GIVE_UP),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_DROP | CONN_DO_CANCEL),
	},
	[CONN_GREETING] = {
		[CONN_DUE]     = STAY(GREETING),
		[CONN_OPENED]  = STAY(GREETING),
		[CONN_FAILED]  = CELL(WAITING, CONN_DO_DROP),
		[CONN_WELCOME] = CELL(READY, CONN_DO_CONNECTED),
		[CONN_LOST]    = CELL(WAITING, CONN_DO_DROP),
		[CONN_REFUSED] = CELL(CLOSED, CONN_DO_DROP | CONN_DO_GIVE_UP),
		[CONN_EXPIRED] = CELL(CLOSED, CONN_DO_DROP | CONN_DO_GIVE_UP),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_DROP | CONN_DO_CANCEL),
	},
	[CONN_READY] = {
		[CONN_DUE]     = STAY(READY),
		[CONN_OPENED]  = STAY(READY),
		[CONN_FAILED]  = CELL(WAITING, CONN_DO_DROP | CONN_DO_DISCONNECTED),
		[CONN_WELCOME] = STAY(READY),
		[CONN_LOST]    = CELL(WAITING, CONN_DO_DROP | CONN_DO_DISCONNECTED),
		[CONN_REFUSED] = CELL(CLOSED,
			CONN_DO_DROP | CONN_DO_DISCONNECTED | CONN_DO_GIVE_UP),
		[CONN_EXPIRED] = STAY(READY),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_DROP | CONN_DO_CANCEL),
	},
	[CONN_WAITING] = {
		[CONN_DUE]     = CELL(CONNECTING, CONN_DO_CONNECT),
		[CONN_OPENED]  = STAY(WAITING),
		[CONN_FAILED]  = STAY(WAITING),
		[CONN_WELCOME] = STAY(WAITING),
		[CONN_LOST]    = STAY(WAITING),
		[CONN_REFUSED] = CELL(CLOSED, CONN_DO_GIVE_UP),
		[CONN_EXPIRED] = CELL(CLOSED, CONN_DO_GIVE_UP),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_CANCEL),
	},
	[CONN_CLOSED] = {
		[CONN_DUE]     = STAY(CLOSED),
		[CONN_OPENED]  = STAY(CLOSED),
		[CONN_FAILED]  = STAY(CLOSED),
		[CONN_WELCOME] = STAY(CLOSED),
		[CONN_LOST]    = STAY(CLOSED),
		[CONN_REFUSED] = STAY(CLOSED),
		[CONN_EXPIRED] = STAY(CLOSED),
		[CONN_CLOSE]   = CELL(CLOSED, CONN_DO_CANCEL),
	},
};
/* clang-format on */

void conn_init(struct conn *c, int64_t retry_ms, bool once)
{
	*c = (struct conn){
		.state = CONN_DISCONNECTED,
		.once = once,
		.retry_ms = retry_ms,
		.backoff_ms = CONN_BACKOFF_MIN_MS,
		.alone = -1,
	};
}

/* A quarter to either side, so that the clients of a restarted broker do not come as one. */
static int64_t pause_of(int64_t backoff, uint32_t jitter)
{
	return backoff - backoff / 4 + jitter % (uint32_t)(backoff / 2 + 1);
}

unsigned int conn_step(struct conn *c, enum conn_event event, int64_t now, uint32_t jitter)
{
	enum conn_state before = c->state;
	const struct cell *cell;

	if (event == CONN_LOST && c->once && before == CONN_READY)
		event = CONN_REFUSED;
	cell = &table[before][event];
	c->state = cell->next;
	if (c->state == before)
		return cell->actions;

	switch (c->state) {
	case CONN_CONNECTING:
		if (c->alone < 0)
			c->alone = now;
		break;
	case CONN_READY:
		c->alone = -1;
		c->ready = now;
		break;
	case CONN_WAITING:
		if (before == CONN_READY) {
			c->alone = now;
			/* one that is lost at once each time must not be tried in a tight loop
			 */
			if (now - c->ready >= CONN_BACKOFF_MAX_MS)
				c->backoff_ms = CONN_BACKOFF_MIN_MS;
		}
		c->due = now + pause_of(c->backoff_ms, jitter);
		c->backoff_ms *= 2;
		if (c->backoff_ms > CONN_BACKOFF_MAX_MS)
			c->backoff_ms = CONN_BACKOFF_MAX_MS;
		break;
	case CONN_DISCONNECTED:
	case CONN_GREETING:
	case CONN_CLOSED:
	case CONN_STATES: break;
	}
	return cell->actions;
}

static int64_t expiry(const struct conn *c)
{
	return c->alone < 0 || c->retry_ms < 0 ? -1 : c->alone + c->retry_ms;
}

int64_t conn_deadline(const struct conn *c, int64_t now)
{
	int64_t end = expiry(c);

	switch (c->state) {
	case CONN_DISCONNECTED: return now;
	case CONN_WAITING: return end >= 0 && end < c->due ? end : c->due;
	case CONN_CONNECTING:
	case CONN_GREETING: return end;
	case CONN_READY:
	case CONN_CLOSED:
	case CONN_STATES: break;
	}
	return -1;
}

int conn_poll(const struct conn *c, int64_t now, enum conn_event *event)
{
	int64_t deadline = conn_deadline(c, now), end = expiry(c);

	if (deadline < 0 || now < deadline)
		return 0;
	*event = c->state != CONN_DISCONNECTED && end >= 0 && now >= end ? CONN_EXPIRED
									 : CONN_DUE;
	return 1;
}

const char *conn_state_name(enum conn_state state)
{
	static const char *const names[CONN_STATES] = {
		[CONN_DISCONNECTED] = "not connected",
		[CONN_CONNECTING] = "connecting",
		[CONN_GREETING] = "waiting for the broker's hello",
		[CONN_READY] = "connected",
		[CONN_WAITING] = "waiting to connect again",
		[CONN_CLOSED] = "closed",
	};

	return state < CONN_STATES ? names[state] : "unknown";
}
